"""Curves: how well tests tell two secrets apart, and what many reports add up to."""

from .gaussian import GaussianPrivacy, GaussianTradeOff
from .loss_distribution import LossDistribution
from .product import power, product
from .testing_region import TestingRegion
from .trade_off import TradeOff
from .trade_off_privacy import TradeOffPrivacy

__all__ = [
    "GaussianPrivacy",
    "GaussianTradeOff",
    "LossDistribution",
    "TestingRegion",
    "TradeOff",
    "TradeOffPrivacy",
    "power",
    "product",
]
