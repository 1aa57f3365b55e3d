"""Sums of independent lattice variables by the fast Fourier transform, with a bound of its error."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import fft

from ...core.arrays import Floats
from ...core.powers import power
from ...rounding import UNIT


class Factor(NamedTuple):
    """A lattice variable and how many independent copies of it are added.

    Attributes:
        masses: Array (k,), not negative, of sum at most one.
        first: The lattice point of the first mass.
        copies: How many copies.
    """

    masses: Floats
    first: int
    copies: int


def convolved(factors: list[Factor], first: int, size: int) -> tuple[Floats, float]:
    """Return the masses of the sum on a window of the lattice, and a bound of their error.

    Masses outside the window are either missing or have been added to one inside.

    Args:
        factors: The variables.
        first: The first point of the window.
        size: The number of its points.

    Returns:
        Array (size,) of masses, and a bound of the sum of their absolute errors by rounding.

    Source:
        Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2; the bound is
        derived in docs/proofs/trade-off.md.
    """
    length = 2 ** max(1, math.ceil(math.log2(size)))
    level = 16 * UNIT * math.log2(length)
    product = np.ones(length // 2 + 1, dtype=np.complex128)
    norms, copies, within, by_norm, by_size = [], 0, 0, 0.0, 0.0
    for masses, start, count in factors:
        folded = _folded(masses, length)
        transform = fft.rfft(folded)
        product *= power(transform, count)
        norm = float(np.linalg.norm(folded))
        norms.append(norm)
        copies, within = copies + count, within + count * start
        by_norm += count * level * norm
        by_size += count * level * _mean(np.abs(transform) ** (count - 1), length)
    least = min(norms)
    by_norm += (8 * copies * UNIT + level) * least
    by_size += (8 * copies * UNIT + level) * _mean(np.abs(product), length)
    sums = fft.irfft(product, length)
    # No mass is negative: what rounding made so is nearer to the truth at zero.
    window = np.maximum(sums[(first - within + np.arange(size)) % length], 0.0)
    return window, 1.1 * min(math.sqrt(size) * by_norm, size * by_size)


def _folded(masses: Floats, length: int) -> Floats:
    """Return the masses modulo the length."""
    padded = np.zeros(-(-len(masses) // length) * length)
    padded[: len(masses)] = masses
    return np.asarray(padded.reshape(-1, length).sum(axis=0))


def _mean(half: Floats, length: int) -> float:
    """Return at least the mean over all frequencies of what is known for half of them."""
    return 2 * float(np.sum(half)) / length
