"""Closed forms: mechanisms that need no solver, families by name, and the sensitivity of queries."""

from .coin import coin, coin_of_distortion
from .constant import constant
from .discrete_gaussian import DiscreteGaussian
from .discrete_laplace import DiscreteLaplace
from .exponential import exponential
from .family import Family, FrequencyOracle
from .geometric import geometric
from .hashing import LocalHashing
from .noise import Clamped, Noise
from .permute_and_flip import PermuteAndFlip
from .queries import JointQueries
from .real import Gaussian, Laplace, RealNoise
from .remap import remapped
from .response import RandomisedResponse, randomised_response
from .sensitivity import (
    Sensitivity,
    count_sensitivity,
    datasets,
    histogram_sensitivity,
    mean_sensitivity,
    sensitivity,
    sum_sensitivity,
)
from .staircase import ContinuousStaircase, Staircase
from .steps import Bits, GaussianNoise, Hashed, LaplaceNoise, Row, StaircaseNoise, Steps, Subset
from .subset import SubsetSelection
from .tight import tight_constraints
from .unary import UnaryEncoding
from .utility import ExponentialMechanism, UtilityTable

__all__ = [
    "Bits",
    "Clamped",
    "ContinuousStaircase",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "ExponentialMechanism",
    "Family",
    "FrequencyOracle",
    "Gaussian",
    "GaussianNoise",
    "Hashed",
    "JointQueries",
    "Laplace",
    "LaplaceNoise",
    "LocalHashing",
    "Noise",
    "PermuteAndFlip",
    "RandomisedResponse",
    "RealNoise",
    "Row",
    "Sensitivity",
    "Staircase",
    "StaircaseNoise",
    "Steps",
    "Subset",
    "SubsetSelection",
    "UnaryEncoding",
    "UtilityTable",
    "coin",
    "coin_of_distortion",
    "constant",
    "count_sensitivity",
    "datasets",
    "exponential",
    "geometric",
    "histogram_sensitivity",
    "mean_sensitivity",
    "randomised_response",
    "remapped",
    "sensitivity",
    "sum_sensitivity",
    "tight_constraints",
]
