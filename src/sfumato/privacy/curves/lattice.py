"""Losses on a lattice: how they are split over it, how they are added, and what either may add to delta."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from scipy import fft
from scipy.special import log_ndtr

from ...core.arrays import Floats
from ...errors import InputError
from ...rounding import UNIT, power

LARGEST: Final = 2**25
"""Points of a lattice that are held at once."""

_REACHES = (3.0, 4.5, 6.0, 8.0, 10.0, 14.0)  # in deviations of the moves
_EDGE = 12.0  # deviations beyond which a loss hardly counts


def split(masses: Floats, losses: Floats, spacing: float, shift: float) -> tuple[int, Floats, bool]:
    """Return the first point, the masses on the lattice, and whether every loss lay on it."""
    if len(losses) == 0:
        return 0, np.zeros(1), True
    first = math.floor(float(losses.min()) / spacing) - 1
    size = math.floor(float(losses.max()) / spacing) + 3 - first
    if size > LARGEST:
        raise InputError(f"losses {spacing:g} apart need {size:,} points.", "use a larger spacing.")
    steps = np.floor(losses / spacing)
    offset = losses - spacing * steps
    # A loss so close to a point is taken to be there: ``shift`` allows for it.
    offset = np.where(np.abs(offset) <= shift, 0.0, np.where(np.abs(offset - spacing) <= shift, spacing, offset))
    share = np.clip(np.expm1(-offset) / math.expm1(-spacing), 0.0, 1.0)
    below = steps.astype(np.intp) - first
    lattice = np.zeros(size)
    np.add.at(lattice, below, masses * (1 - share))
    np.add.at(lattice, below + 1, masses * share)
    return first, lattice, bool(((offset == 0) | (offset == spacing)).all())


def added_by_splits(
    masses: Floats, losses: Floats, spacing: float, splits: int, lost: float, epsilon: float
) -> float:
    """Return a bound of what the splits have added to delta at an epsilon.

    The moves of a loss are independent, each within an interval of one spacing, so that
    their sum is sub-Gaussian of deviation s = spacing sqrt(splits) / 2. A move adds something
    only where it crosses epsilon, which few losses are near enough to do.

    Args:
        masses: Array (k,), after the splits.
        losses: Array (k,), rising.
        spacing: The distance of the points.
        splits: How many splits each loss has gone through.
        lost: How much mass may be at the wrong place.
        epsilon: Where delta is asked for.
    """
    if splits == 0:
        return 0.0
    s = spacing * math.sqrt(splits) / 2
    most = splits * spacing
    peak = math.sqrt(2 * math.pi) * s * math.exp(s * s / 2)
    bounds = [peak]
    for deviations in _REACHES:
        reach = min(most, s * s / 2 + deviations * s)
        beyond = 0.0 if reach == most else 2 * math.exp(-deviations * deviations / 2)
        first, last = np.searchsorted(losses, [epsilon - reach - _EDGE * s, epsilon + reach + _EDGE * s])
        distances = np.maximum(0.0, np.abs(losses[first:last] - epsilon) - reach)
        near = float(np.sum(masses[first:last] * np.exp(log_ndtr(s - distances / s))))
        far = math.exp(float(log_ndtr(s - _EDGE)))
        bounds.append(peak * (near + far + beyond + lost))
    return (1 + 1e-9) * min(bounds)


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
