"""Trade-off curves: how well tests distinguish two secrets, and composition of many reports."""

from typing import Final

from ..notion import notions_of
from . import gaussian, trade_off_privacy
from .curve import Curve, FunctionTradeOff, LaplaceTradeOff
from .gaussian import GaussianPrivacy, GaussianTradeOff
from .loss_distribution import LossDistribution
from .trade_off import TestingRegion, TradeOff, power, product
from .trade_off_privacy import TradeOffPrivacy

NOTION_CLASSES: Final = notions_of(gaussian, trade_off_privacy)
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
