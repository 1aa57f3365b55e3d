"""Proofs over integers and with directed rounding; nothing here knows how a mechanism was made."""

from .bounds import Multipliers, distortion_bound, exponents_above, loss_bound
from .certificate import Certificate, DistortionProof, as_dict, certify, prove, relative_gap
from .expectations import distortion_below, expected_loss_above, worst_loss_above
from .metric_privacy import EpsilonProof, prove_metric_privacy, worst_ratios
from .optimality import Optimality, check_optimality, prove_optimality
from .sensitive import (
    class_error_below,
    class_information_above_bits,
    class_information_bound_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
)

__all__ = [
    "Certificate",
    "DistortionProof",
    "EpsilonProof",
    "Multipliers",
    "Optimality",
    "as_dict",
    "certify",
    "check_optimality",
    "class_error_below",
    "class_information_above_bits",
    "class_information_bound_bits",
    "class_loss_above",
    "class_vulnerability_above",
    "class_vulnerability_bound",
    "distortion_below",
    "distortion_bound",
    "expected_loss_above",
    "exponents_above",
    "loss_bound",
    "prove",
    "prove_metric_privacy",
    "prove_optimality",
    "relative_gap",
    "worst_loss_above",
    "worst_ratios",
]
