"""Trade-off curves: how well tests distinguish two secrets, and composition of many reports."""

from typing import Final

from ..notion import notions_of
from . import trade_off_privacy
from .curve import Curve, FunctionTradeOff, GaussianTradeOff, LaplaceTradeOff
from .loss_distribution import LossDistribution
from .trade_off import TestingRegion, TradeOff, power, product
from .trade_off_privacy import GaussianPrivacy, TradeOffPrivacy

NOTION_CLASSES: Final = notions_of(trade_off_privacy)
"""The notions of this package, in the order of the documentation."""

__all__ = [
    "Curve",
    "FunctionTradeOff",
    "GaussianPrivacy",
    "GaussianTradeOff",
    "LaplaceTradeOff",
    "LossDistribution",
    "TestingRegion",
    "TradeOff",
    "TradeOffPrivacy",
    "power",
    "product",
]
