"""Distribution privacy: how well dummies hide which group of people a report comes from.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from .figure import PANELS, figures, sweep_figure
from .groups import Groups
from .lines import RADII_KM, SLOPES, TUPLED, Line, published_lines
from .rows import (
    DELTA,
    DUMMIES,
    NONE,
    DistributionRow,
    accountant_seconds,
    best_within,
    measured,
    of_neighbours,
    sweep,
)
from .study import LEVELS_KM, DistributionPrivacyResults, study

__all__ = [
    "DELTA",
    "DUMMIES",
    "LEVELS_KM",
    "NONE",
    "PANELS",
    "RADII_KM",
    "SLOPES",
    "TUPLED",
    "DistributionPrivacyResults",
    "DistributionRow",
    "Groups",
    "Line",
    "accountant_seconds",
    "best_within",
    "figures",
    "measured",
    "of_neighbours",
    "published_lines",
    "study",
    "sweep",
    "sweep_figure",
]
