"""Leakage: how much a report tells about the secret, as the chance of a right guess, as gain and in bits."""

from .additive import AdditiveCapacity, additive_capacity
from .additive_of_gain import additive_g_capacity
from .capacity import ShannonCapacity, min_entropy_capacity_bits, shannon_capacity
from .factorisation import Factorisation, factorise
from .gain import g_leakage_bits, g_vulnerability, prior_g_vulnerability
from .guessing import guessing_entropy, prior_guessing_entropy
from .hyper import HyperDistribution, hyper_distribution
from .mixing import LeftFactorisation, left_factorise
from .refinement import Refinement, refines
from .refinement_metric import RefinementMetric, refinement_metric
from .security import BayesSecurity, bayes_security
from .shannon import conditional_entropy_bits, joint_information_bits, mutual_information_bits
from .vulnerability import (
    additive_leakage,
    bayes_error,
    bayes_vulnerability,
    min_entropy_leakage_bits,
    multiplicative_leakage,
    prior_vulnerability,
)

__all__ = [
    "AdditiveCapacity",
    "BayesSecurity",
    "Factorisation",
    "HyperDistribution",
    "LeftFactorisation",
    "Refinement",
    "RefinementMetric",
    "ShannonCapacity",
    "additive_capacity",
    "additive_g_capacity",
    "additive_leakage",
    "bayes_error",
    "bayes_security",
    "bayes_vulnerability",
    "conditional_entropy_bits",
    "factorise",
    "g_leakage_bits",
    "g_vulnerability",
    "guessing_entropy",
    "hyper_distribution",
    "joint_information_bits",
    "left_factorise",
    "min_entropy_capacity_bits",
    "min_entropy_leakage_bits",
    "multiplicative_leakage",
    "mutual_information_bits",
    "prior_g_vulnerability",
    "prior_guessing_entropy",
    "prior_vulnerability",
    "refinement_metric",
    "refines",
    "shannon_capacity",
]
