"""Point privacy: how far a report may tell one secret from another."""

from typing import Final

from ..notion import Notion
from .concentrated import BoundedRange, ConcentratedPrivacy
from .differential import DeltaOfDifferentialPrivacy, DifferentialPrivacy, IndistinguishablePrivacy
from .divergence import DivergenceMetricPrivacy, DivergencePrivacy, KLPrivacy, RenyiPrivacy
from .metric import MetricDifferentialPrivacy
from .probabilistic import (
    DeltaOfProbabilisticDifferentialPrivacy,
    ProbabilisticDifferentialPrivacy,
)
from .profile import PrivacyProfile

NOTIONS: Final[tuple[type[Notion], ...]] = (
    DifferentialPrivacy,
    DeltaOfDifferentialPrivacy,
    ProbabilisticDifferentialPrivacy,
    DeltaOfProbabilisticDifferentialPrivacy,
    IndistinguishablePrivacy,
    MetricDifferentialPrivacy,
    DivergencePrivacy,
    DivergenceMetricPrivacy,
    KLPrivacy,
    RenyiPrivacy,
    ConcentratedPrivacy,
    BoundedRange,
)
"""The notions of this room, as the documentation lists them."""

__all__ = [
    "BoundedRange",
    "ConcentratedPrivacy",
    "DeltaOfDifferentialPrivacy",
    "DeltaOfProbabilisticDifferentialPrivacy",
    "DifferentialPrivacy",
    "DivergenceMetricPrivacy",
    "DivergencePrivacy",
    "IndistinguishablePrivacy",
    "KLPrivacy",
    "MetricDifferentialPrivacy",
    "PrivacyProfile",
    "ProbabilisticDifferentialPrivacy",
    "RenyiPrivacy",
]
