"""Positive parts of sums on a lattice, by the fast Fourier transform, with bounds of all errors.

docs/proofs/tupling.md derives the bounds.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from scipy import fft

from ...core.arrays import Floats
from ...rounding import UNIT, power
from .law import LOG_TAIL, Law, window

LARGEST: Final = 2**21
"""Points of a lattice that are held at once."""

_TAIL: Final = 2 * math.exp(-LOG_TAIL)


class Part(NamedTuple):
    """The mean of the positive part of a sum, per draw.

    Attributes:
        value: (1/n) E[(S')_+] of the split law, as computed.
        error: A bound of its error.
        moved: E[D_1; S' > 0], what splitting adds at most, as computed.
        moved_error: A bound of its error.
        points: How many points the lattice took.
    """

    value: float
    error: float
    moved: float
    moved_error: float
    points: int


def positive_part(law: Law, copies: int) -> Part | None:
    """Return the mean positive part of a sum of independent draws, or None if the lattice were too large.

    Args:
        law: The law of one draw.
        copies: n, at least 2.
    """
    h, n = law.spacing, copies
    low, high = window(law.values, law.masses, n)
    last = max(1, math.ceil(high / h))
    size = last - min(0, math.floor(low / h)) + 1
    if size > LARGEST:
        return None
    length = 2 ** max(3, math.ceil(math.log2(size)))
    exponent = n * law.log_scale
    places = law.points % length
    masses = np.asarray(np.bincount(places, law.masses, length), dtype=np.float64)
    moves = np.asarray(np.bincount(places, law.moves, length), dtype=np.float64)
    one = fft.rfft(masses)
    others = power(one, n - 1)
    sums = fft.irfft(others * one, length)
    moved = fft.irfft(others * fft.rfft(moves), length)

    at = np.arange(1, last + 1) % length
    heights: Floats = h * np.arange(1, last + 1, dtype=np.float64)
    decay: Floats = np.exp(-law.tilt * heights)
    gain: Floats = heights * decay
    # No mass is negative: what rounding made so is nearer to the truth at zero.
    value = float(np.sum(gain * np.maximum(sums[at], 0.0)))
    extra = float(np.sum(decay * moved[at]))

    level = 16 * UNIT * math.log2(length)
    mass_norm, move_norm, move_sum = _norm(masses), _norm(moves), float(np.abs(moves).sum())
    relative = 1.1 * n * law.rounding + (128 + 2 * law.tilt * h * last) * UNIT
    value_error = (
        1.1 * _norm(gain) * mass_norm * ((n + 1) * level + 8 * n * UNIT) + relative * value + _TAIL * max(high, h)
    )
    extra_error = (
        1.1 * _norm(decay) * (move_norm * (2 * level + 8 * n * UNIT) + n * level * mass_norm * move_sum)
        + relative * move_sum
        + 2 * _TAIL * h
        + 8 * UNIT * h
    )
    scale = math.exp(exponent)
    scaling = (16 + 16 * abs(exponent)) * UNIT
    return Part(
        value=scale * value / n,
        error=scale * (value_error + scaling * value) / n,
        moved=scale * extra,
        moved_error=scale * (extra_error + scaling * abs(extra)),
        points=length,
    )


def _norm(array: Floats) -> float:
    return float(np.linalg.norm(array))
