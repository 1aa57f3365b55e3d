"""Leakage: how much a report tells about the secret, as the chance of a right guess, as gain and in bits."""

from .capacity import ShannonCapacity, min_entropy_capacity_bits, shannon_capacity
from .gain import g_leakage_bits, g_vulnerability, prior_g_vulnerability
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
    "ShannonCapacity",
    "additive_leakage",
    "bayes_error",
    "bayes_vulnerability",
    "conditional_entropy_bits",
    "g_leakage_bits",
    "g_vulnerability",
    "joint_information_bits",
    "min_entropy_capacity_bits",
    "min_entropy_leakage_bits",
    "multiplicative_leakage",
    "mutual_information_bits",
    "prior_g_vulnerability",
    "prior_vulnerability",
    "shannon_capacity",
]
