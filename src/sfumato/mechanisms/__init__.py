"""Closed forms: mechanisms that need no solver, families by name, and the sensitivity of queries."""

from . import planar
from .basis import LatticeBasis
from .coin import coin, coin_of_distortion, constant
from .continuous import Gaussian, Laplace
from .discrete_gaussian import DiscreteGaussian, GaussianNoise
from .discrete_laplace import DiscreteLaplace, LaplaceNoise
from .elastic import elastic_metric, elastic_surplus
from .exponential import ExponentialMechanism, exponential
from .family import FrequencyOracle, MechanismFamily
from .geometric import geometric
from .geometric_median import GeometricMedian, geometric_median
from .hashing import Hashed, LocalHashing
from .matching import Matched, matched
from .noise import AdditiveNoise, Clamped, Noise, NoiseRecipe, RealNoise
from .noise_accuracy import NoiseAccuracy, noise_accuracy
from .permute_and_flip import PermuteAndFlip
from .planar_gaussian import PlanarGaussian
from .planar_geometric import PlanarGeometric, planar_geometric
from .planar_laplace import PlanarLaplace, epsilon_before_rounding, rounded_epsilon
from .queries import JointQueries
from .rate_distortion import RateDistortion, rate_distortion, rate_distortion_of_loss
from .remap import remapped, remapped_in_plane
from .repair import made_private
from .response import RandomisedResponse, randomised_response
from .restricted_laplace import restricted_laplace
from .sensitivity import (
    Sensitivity,
    count_sensitivity,
    datasets,
    histogram_sensitivity,
    mean_sensitivity,
    sensitivity,
    sum_sensitivity,
)
from .staircase import ContinuousStaircase, Staircase, StaircaseNoise
from .subset import Subset, SubsetSelection
from .tight import tight_constraints
from .tupling import (
    DummyChoice,
    DummyPlan,
    FamilyAccountant,
    PairAccountant,
    PublishedBound,
    TuplePrivacy,
    TupleProof,
    Tupling,
    Worst,
    attack_success,
    mass_above,
    mixture_dummies,
    optimised_dummies,
    plan_dummies,
    published_for_delta,
    published_for_epsilon,
    quality_loss,
    quality_loss_of_secrets,
    uniform_dummies,
)
from .unary import Bits, UnaryEncoding
from .utility_table import UtilityTable

__all__ = [
    "AdditiveNoise",
    "Bits",
    "Clamped",
    "ContinuousStaircase",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "DummyChoice",
    "DummyPlan",
    "ExponentialMechanism",
    "FamilyAccountant",
    "FrequencyOracle",
    "Gaussian",
    "GaussianNoise",
    "GeometricMedian",
    "Hashed",
    "JointQueries",
    "Laplace",
    "LaplaceNoise",
    "LatticeBasis",
    "LocalHashing",
    "Matched",
    "MechanismFamily",
    "Noise",
    "NoiseAccuracy",
    "NoiseRecipe",
    "PairAccountant",
    "PermuteAndFlip",
    "PlanarGaussian",
    "PlanarGeometric",
    "PlanarLaplace",
    "PublishedBound",
    "RandomisedResponse",
    "RateDistortion",
    "RealNoise",
    "Sensitivity",
    "Staircase",
    "StaircaseNoise",
    "Subset",
    "SubsetSelection",
    "TuplePrivacy",
    "TupleProof",
    "Tupling",
    "UnaryEncoding",
    "UtilityTable",
    "Worst",
    "attack_success",
    "coin",
    "coin_of_distortion",
    "constant",
    "count_sensitivity",
    "datasets",
    "elastic_metric",
    "elastic_surplus",
    "epsilon_before_rounding",
    "exponential",
    "geometric",
    "geometric_median",
    "histogram_sensitivity",
    "made_private",
    "mass_above",
    "matched",
    "mean_sensitivity",
    "mixture_dummies",
    "noise_accuracy",
    "optimised_dummies",
    "plan_dummies",
    "planar",
    "planar_geometric",
    "published_for_delta",
    "published_for_epsilon",
    "quality_loss",
    "quality_loss_of_secrets",
    "randomised_response",
    "rate_distortion",
    "rate_distortion_of_loss",
    "remapped",
    "remapped_in_plane",
    "restricted_laplace",
    "rounded_epsilon",
    "sensitivity",
    "sum_sensitivity",
    "tight_constraints",
    "uniform_dummies",
]
