"""Distribution privacy: how well dummies hide which group of people a report comes from.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from .attackers import ConfidenceRow, SuccessRow
from .figures import confidence_figure, success_figure, sweep_figure
from .groups import Groups, Split, by_day, splits
from .measurements import (
    DELTA,
    DUMMIES,
    NONE,
    PANELS,
    RADII_KM,
    SLOPES,
    TUPLED,
    DistributionRow,
    Line,
    best_within,
    measured,
    of_neighbours,
    published_lines,
    sweep,
)

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
