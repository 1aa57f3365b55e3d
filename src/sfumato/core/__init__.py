"""Spaces, priors, metrics, losses, mechanisms and the guarantees asked of them."""

from .guarantees import (
    DistortionPrivacy,
    Guarantee,
    Guarantees,
    MetricPrivacy,
    ThresholdPrivacy,
    as_distance,
    blind_error,
)
from .loss import AnyLoss, Loss, as_loss, hamming, loss
from .mechanism import Mechanism
from .metric import Metric
from .prior import Prior
from .space import WGS84, Space

__all__ = [
    "WGS84",
    "AnyLoss",
    "DistortionPrivacy",
    "Guarantee",
    "Guarantees",
    "Loss",
    "Mechanism",
    "Metric",
    "MetricPrivacy",
    "Prior",
    "Space",
    "ThresholdPrivacy",
    "as_distance",
    "as_loss",
    "blind_error",
    "hamming",
    "loss",
]
