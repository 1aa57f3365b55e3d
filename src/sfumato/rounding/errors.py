"""Bounds of the rounding errors in what the notions compute.

The entries of a mechanism are integers over a power of two, read as floats: each is
right to a relative 2**-53. Sums of numbers that are not negative keep relative errors.
exp, log and similar functions are taken to be right to four units in the last place.
The bounds are derived in docs/proofs/rounding-of-notions.md.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .floats import UNIT

Floats = NDArray[np.float64]


def log_error(value: float, terms: int = 1) -> float:
    """Return the most by which the logarithm of a ratio of two sums may be off.

    Args:
        value: The computed logarithm.
        terms: How many products each sum adds up; 1 for entries of the matrix.
    """
    return float(log_errors(np.asarray(value), terms))


def log_errors(values: Floats, terms: int = 1) -> Floats:
    """Return `log_error` of many logarithms, array of the same shape."""
    sizes = np.where(np.isinf(values), 0.0, np.abs(values))
    return np.where(np.isinf(values), 0.0, 2 * (terms + 4) * UNIT + sizes * (16 * UNIT))


def mass_error(value: float, terms: int, inner: int = 1) -> float:
    """Return the most by which a computed excess of mass, sum of max(0, p - c q), may be off.

    Args:
        value: The computed sum.
        terms: How many differences were added.
        inner: How many products each p and q adds up; 1 for entries of the matrix.
    """
    return float(mass_errors(np.asarray(value), terms, inner))


def mass_errors(values: Floats, terms: int, inner: int = 1) -> Floats:
    """Return `mass_error` of many sums, array of the same shape."""
    return np.asarray((4 * (inner + 12) * (1 + values) + terms * values) * UNIT)


def inversion_error(terms: int, span: float) -> float:
    """Return a mass by which delta may be off where an epsilon was found for it.

    Args:
        terms: How many observables there are.
        span: The largest logarithm of 1/p over the positive probabilities.
    """
    return 2 * mass_error(1.0, terms) + (12 * terms + 64 * (1 + span)) * UNIT


def divergence_errors(values: Floats, terms: int, span: float) -> Floats:
    """Return the most by which computed f-divergences and Renyi divergences may be off, same shape.

    It holds for Kullback-Leibler in both orders, total variation, chi-square, Hellinger
    and Renyi divergences of every order, not for generators that users write.

    Args:
        values: The computed divergences.
        terms: How many observables there are.
        span: The largest logarithm of 1/p over the positive probabilities.
    """
    sizes = np.where(np.isinf(values), 0.0, values)
    errors = (128 * (1 + span) + 2 * terms) * UNIT * (1 + sizes)
    return np.where(np.isinf(values), 0.0, errors)
