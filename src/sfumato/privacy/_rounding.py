"""How far floating point may be off in what the notions compute.

The entries of a mechanism are integers over a power of two, read as floats: each is
right to a relative 2**-53. Sums of numbers that are not negative keep relative errors.
The bounds are derived in docs/proofs/rounding-of-notions.md.
"""

from __future__ import annotations

import math

_UNIT = 2.0**-53


def log_error(value: float, terms: int = 1) -> float:
    """Return the most by which the logarithm of a ratio of two sums may be off.

    Args:
        value: The computed logarithm.
        terms: How many products each sum adds up; 1 for entries of the matrix.
    """
    if math.isinf(value):
        return 0.0
    return (2 * (terms + 4) + 4 * abs(value)) * _UNIT


def mass_error(value: float, terms: int, inner: int = 1) -> float:
    """Return the most by which a computed excess of mass, sum of max(0, p - c q), may be off.

    Args:
        value: The computed sum.
        terms: How many differences were added.
        inner: How many products each p and q adds up; 1 for entries of the matrix.
    """
    return (4 * (inner + 4) * (1 + value) + terms * value) * _UNIT
