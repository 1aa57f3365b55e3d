"""Distribution privacy: how well dummies hide which group of people a report comes from.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from .attackers import ConfidenceRow, SuccessRow
from .groups import Groups, by_day
from .measurements import (
    DELTA,
    LAPLACE,
    TUPLED,
    DistributionRow,
    Line,
    best_within,
    measured,
    published_lines,
    sweep,
)
from .paper import confidence_figure, success_figure, sweep_figure

__all__ = [
    "DELTA",
    "LAPLACE",
    "TUPLED",
    "ConfidenceRow",
    "DistributionRow",
    "Groups",
    "Line",
    "SuccessRow",
    "best_within",
    "by_day",
    "confidence_figure",
    "measured",
    "published_lines",
    "success_figure",
    "sweep",
    "sweep_figure",
]
