"""Spaces, priors, metrics, losses, mechanisms, the guarantees asked of them, and brackets of numbers."""

from .bracket import Bracket, Side
from .guarantees import (
    CoordinatePrivacy,
    DistortionPrivacy,
    Guarantee,
    Guarantees,
    MetricPrivacy,
    ThresholdPrivacy,
    as_distance,
    blind_error,
)
from .joint_space import JointSpace
from .loss import AnyLoss, Loss, LossPoints, as_loss, hamming, loss
from .mechanism import Mechanism
from .metric import Metric
from .number_bins import NumberBins
from .prior import Prior
from .space import WGS84, Space
from .spanner import Spanner, direct_pairs, greedy_spanner, neighbours

__all__ = [
    "WGS84",
    "AnyLoss",
    "Bracket",
    "CoordinatePrivacy",
    "DistortionPrivacy",
    "Guarantee",
    "Guarantees",
    "JointSpace",
    "Loss",
    "LossPoints",
    "Mechanism",
    "Metric",
    "MetricPrivacy",
    "NumberBins",
    "Prior",
    "Side",
    "Space",
    "Spanner",
    "ThresholdPrivacy",
    "as_distance",
    "as_loss",
    "blind_error",
    "direct_pairs",
    "greedy_spanner",
    "hamming",
    "loss",
    "neighbours",
]
