"""How delta changes with the dummies' distribution; a search uses it, no claim rests on it."""

from __future__ import annotations

import math

import numpy as np
from scipy import fft

from ...core.arrays import Floats
from ...core.powers import power
from ._law import Atoms, Law, atoms, split, window
from ._sums import positive_part
from .accountant import first_spacing

_POINTS = 2**11


def delta_and_gradient(
    first: Floats, second: Floats, nu: Floats, dummies: int, epsilon: float
) -> tuple[float, Floats]:
    """Return delta(epsilon) and its derivatives by the entries of nu, up to the lattice's fineness.

    With S = sum of g over k draws and X one of its terms,

        d delta / d nu(y) = k E[X; g(y) + S > 0]

    because the best test may be held fixed (docs/proofs/tupling.md).

    Args:
        first: p, array (m,).
        second: q, array (m,).
        nu: Array (m,), positive.
        dummies: k, at least 1.
        epsilon: From 0 to 700.

    Returns:
        delta, and an array (m,).
    """
    values = (first - math.exp(epsilon) * second) / nu
    kept = atoms(values, nu, dummies + 1)
    if kept is None:
        return 0.0, np.zeros_like(nu)
    law = split(kept, first_spacing(kept, dummies + 1, _POINTS))
    part = positive_part(law, dummies + 1)
    if part is None:  # values too far apart for any lattice: as bad as no privacy, and no way to tell a better one
        return 1.0, np.zeros_like(nu)
    return max(0.0, part.value - part.moved / 2), dummies * _pivots(law, kept, values, dummies)


def _pivots(law: Law, kept: Atoms, values: Floats, copies: int) -> Floats:
    """Return E[X_1; value + X_1 + ... + X_copies > 0] for each value, array (m,)."""
    h = law.spacing
    low, high = window(law.values, law.masses, copies)
    first = math.floor(min(low, -float(kept.values.max())) / h) - 1
    last = max(1, math.ceil(high / h))
    length = 2 ** math.ceil(math.log2(last - first + 1))
    places = law.points % length
    one = fft.rfft(np.bincount(places, law.masses, length))
    weighted = fft.rfft(np.bincount(places, law.values * law.masses, length))
    w = np.arange(first, last + 1)
    sums = fft.irfft(power(one, copies - 1) * weighted, length)[w % length]
    terms = sums * np.exp(copies * law.log_scale - law.tilt * h * w)
    above = np.append(np.cumsum(terms[::-1])[::-1], 0.0)
    at = np.floor(-values / h) + 1 - first
    answer: Floats = above[np.clip(at, 0, len(terms)).astype(np.intp)]
    return answer
