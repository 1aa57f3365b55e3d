"""Proofs over integers and with directed rounding; they use nothing of how a mechanism was made."""

from .borders import Border, worst_border
from .bounds import Multipliers, distortion_bound, exponents_above, loss_bound
from .certificate import Certificate, DistortionProof, as_dict, certify, prove, relative_gap
from .constraints import ConstraintProof, LinearConstraint, prove_constraint
from .coordinates import CoordinateProof, VertexPrivacy, bound_to, epsilon_between_points, prove_coordinate_privacy
from .coverage import covered
from .expectations import distortion_below, expected_loss_above, worst_loss_above
from .least_costs import LeastCosts
from .many_bounds import ManyMultipliers, many_loss_bound
from .metric_privacy import EpsilonProof, prove_metric_privacy, worst_ratios
from .optimality import Candidates, Optimality, check_optimality, prove_optimality
from .place_distortion import PlaceDistortion
from .planar import NoiseCertificate, NoiseProof, prove_planar_noise
from .recipes import bits_epsilon, gaussian_rho, laplace_epsilon, staircase_epsilon, subset_epsilon
from .sensitive import (
    class_error_below,
    class_information_above_bits,
    class_information_bound_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
)
from .slope import Steepest, steepest

__all__ = [
    "Border",
    "Candidates",
    "Certificate",
    "ConstraintProof",
    "CoordinateProof",
    "DistortionProof",
    "EpsilonProof",
    "LeastCosts",
    "LinearConstraint",
    "ManyMultipliers",
    "Multipliers",
    "NoiseCertificate",
    "NoiseProof",
    "Optimality",
    "PlaceDistortion",
    "Steepest",
    "VertexPrivacy",
    "as_dict",
    "bits_epsilon",
    "bound_to",
    "certify",
    "check_optimality",
    "class_error_below",
    "class_information_above_bits",
    "class_information_bound_bits",
    "class_loss_above",
    "class_vulnerability_above",
    "class_vulnerability_bound",
    "covered",
    "distortion_below",
    "distortion_bound",
    "epsilon_between_points",
    "expected_loss_above",
    "exponents_above",
    "gaussian_rho",
    "laplace_epsilon",
    "loss_bound",
    "many_loss_bound",
    "prove",
    "prove_constraint",
    "prove_coordinate_privacy",
    "prove_metric_privacy",
    "prove_optimality",
    "prove_planar_noise",
    "relative_gap",
    "staircase_epsilon",
    "steepest",
    "subset_epsilon",
    "worst_border",
    "worst_loss_above",
    "worst_ratios",
]
