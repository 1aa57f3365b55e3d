"""Distribution privacy: how well dummies hide which group of people a report comes from.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from .attributes import Split, by_day, splits
from .confidence import ConfidenceRow
from .figure_sweep import sweep_figure
from .figure_tupling import confidence_figure, success_figure
from .groups import Groups
from .lines import PANELS, RADII_KM, SLOPES, TUPLED, Line, published_lines
from .rows import (
    DELTA,
    DUMMIES,
    NONE,
    DistributionRow,
    best_within,
    measured,
    of_neighbours,
    sweep,
)
from .success import SuccessRow

__all__ = [
    "DELTA",
    "DUMMIES",
    "NONE",
    "PANELS",
    "RADII_KM",
    "SLOPES",
    "TUPLED",
    "ConfidenceRow",
    "DistributionRow",
    "Groups",
    "Line",
    "Split",
    "SuccessRow",
    "best_within",
    "by_day",
    "confidence_figure",
    "measured",
    "of_neighbours",
    "published_lines",
    "splits",
    "success_figure",
    "sweep",
    "sweep_figure",
]
