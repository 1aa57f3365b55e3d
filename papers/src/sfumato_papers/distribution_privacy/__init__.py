"""Distribution privacy: how well dummies hide which group of people a report comes from.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from .attackers import ConfidenceRow, SuccessRow
from .groups import Groups, by_day
from .measurements import DistributionRow
from .paper import confidence_figure, success_figure, sweep_figure

__all__ = [
    "ConfidenceRow",
    "DistributionRow",
    "Groups",
    "SuccessRow",
    "by_day",
    "confidence_figure",
    "success_figure",
    "sweep_figure",
]
