"""Distribution privacy: how well dummies hide which group of people a report comes from.

Source: Kawamoto and Murakami, "Local obfuscation mechanisms for hiding probability distributions", ESORICS 2019.
"""

from .attackers import ConfidenceRow, SuccessRow
from .groups import Groups, by_day
from .measurements import DistributionRow
from .optimum import (
    LeastLossRow,
    OptimumRow,
    TransferRow,
    best_dummies,
    best_report,
    least_variation,
    partner_dummies,
)
from .paper import confidence_figure, optimum_figure, success_figure, sweep_figure

__all__ = [
    "ConfidenceRow",
    "DistributionRow",
    "Groups",
    "LeastLossRow",
    "OptimumRow",
    "SuccessRow",
    "TransferRow",
    "best_dummies",
    "best_report",
    "by_day",
    "confidence_figure",
    "least_variation",
    "optimum_figure",
    "partner_dummies",
    "success_figure",
    "sweep_figure",
]
