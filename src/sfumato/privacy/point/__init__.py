"""Point privacy: how far a report may distinguish one secret from another."""

from typing import Final

from ..notion import notions_of
from . import concentrated, differential, divergence, metric, probabilistic
from .concentrated import BoundedRange, ConcentratedPrivacy
from .differential import DeltaOfDifferentialPrivacy, DifferentialPrivacy, PrivacyProfile
from .divergence import DivergenceMetricPrivacy, DivergencePrivacy, KLPrivacy, RenyiPrivacy
from .metric import MetricDifferentialPrivacy
from .probabilistic import (
    DeltaOfProbabilisticDifferentialPrivacy,
    IndistinguishablePrivacy,
    ProbabilisticDifferentialPrivacy,
)

NOTION_CLASSES: Final = notions_of(differential, probabilistic, metric, divergence, concentrated)
"""The notions of this package, in the order of the documentation."""

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
