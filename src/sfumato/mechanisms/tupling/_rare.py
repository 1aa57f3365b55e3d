"""Reports that dummies hardly ever imitate: what they add to delta, without a lattice.

Their values g = (p - e**epsilon q) / nu are so large that a lattice wide enough for them would
be too coarse for all others. docs/proofs/tupling.md derives the bounds.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...rounding import UNIT

_SHARE: Final = 1e-6  # how many of a tuple's reports may be such dummies, in the mean
_GAP: Final = 1e-6  # by what part the two bounds may differ


class Rare(NamedTuple):
    """Rare observables, and what tuples that hold one add to delta.

    Attributes:
        others: Which observables are not rare, array (m,) of truth values.
        lower: A lower bound of what is added.
        upper: An upper bound.
    """

    others: NDArray[np.bool_]
    lower: float
    upper: float


def rare(values: Floats, masses: Floats, copies: int) -> Rare:
    """Return the rarest observables of large values, as many as leave the bounds close; often none.

    Args:
        values: g, array (m,).
        masses: nu, array (m,), positive.
        copies: n, at least 2.
    """
    order = np.argsort(-values, kind="stable")
    few = np.cumsum(masses[order]) * copies <= _SHARE
    few &= values[order] > 0
    count = int(np.argmin(few)) if not few.all() else len(few)
    none = Rare(np.ones(len(values), dtype=bool), 0.0, 0.0)
    if count in (0, len(values)):
        return none
    others = none.others.copy()
    others[order[:count]] = False
    lower, upper = _added(values, masses, others, copies)
    return Rare(others, lower, upper) if 0 < upper <= lower * (1 + _GAP) else none


def _added(values: Floats, masses: Floats, others: NDArray[np.bool_], n: int) -> tuple[float, float]:
    mass, value = masses[~others], values[~others]
    plain = float(masses[others].sum())
    gains = masses[others] * values[others]
    mean, positive = float(gains.sum()), float(np.maximum(gains, 0.0).sum())
    missed = (n - 1) * float(mass.sum())  # at least 1 - plain**(n - 1)
    alone = value * plain ** (n - 1) + (n - 1) * plain ** (n - 2) * mean
    outweighed = value + (n - 1) * min(0.0, float(values[others].min())) < 0
    # Where others can outweigh it, (a + b)_+ <= a_+ + b_+.
    most = np.where(outweighed, value + (n - 1) * positive, alone)
    own = float((mass * value).sum())
    rounding = (64 + 32 * n) * UNIT * (own + float(mass.sum()) * (n - 1) * (abs(mean) + positive))
    lower = float((mass * np.maximum(alone, 0.0)).sum())
    upper = float((mass * most).sum()) + own * missed + positive * (n * float(mass.sum())) ** 2
    return max(0.0, lower - rounding), upper + rounding
