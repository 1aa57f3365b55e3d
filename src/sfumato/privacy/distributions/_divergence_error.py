"""How far a divergence of computed distributions may be from that of the true ones.

Each bound is derived in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

import numpy as np

from ...core.arrays import Floats
from ...divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    FDivergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from ...errors import InputError
from ...rounding import UNIT
from ...rounding.errors import log_error

_STEP = 2.0**-10


def divergence_error(divergence: Divergence, value: float, p: Floats, q: Floats, terms: int) -> float:
    """Return the most by which a computed divergence may be off; ``inf`` where that is not known.

    Args:
        divergence: The divergence.
        value: What it computed.
        p: Array (m,), whose entries add up ``terms`` products each.
        q: Array (m,), likewise.
        terms: How many products.

    Raises:
        InputError: If it is an approximate max divergence, which distribution privacy measures.
    """
    if np.isinf(value):
        return 0.0
    entry, adding = 2 * (terms + 12) * UNIT, len(p) * UNIT
    if divergence in (TOTAL_VARIATION, HELLINGER) or isinstance(divergence, HockeyStick):
        return 3 * entry + adding * value
    if divergence in (KL, REVERSE_KL) or divergence == Renyi(1.0):
        return entry * (value + 6) + adding * value
    if divergence == CHI_SQUARED:
        return entry * (4 * value + 10) + adding * value
    if isinstance(divergence, FDivergence):
        return _of_generator(divergence, p, q, entry) + adding * abs(value)
    if divergence in (MaxDivergence(), Renyi(np.inf)):
        return log_error(value, terms)
    if isinstance(divergence, Renyi):
        order = divergence.order
        return ((2 * order + 2) * entry + adding + 3000 * (order + 1) * UNIT) / abs(order - 1)
    if isinstance(divergence, MaxDivergence):
        raise InputError(
            f"the {divergence.name} was given as a divergence.",
            "measure DistributionPrivacy(family, delta) instead, which inverts it to a proved side.",
        )
    return float("inf")


def _of_generator(divergence: FDivergence, p: Floats, q: Floats, entry: float) -> float:
    """Bound the change of sum q f(p/q): convex, so a small step rises no faster than a large one."""
    both = (p > 0) & (q > 0)
    a, b = p[both], q[both]
    with np.errstate(over="ignore", invalid="ignore"):
        at = b * divergence.generator(a / b)
        corners = [
            b * v * divergence.generator(a * u / (b * v))
            for u in (1 - _STEP, 1 + _STEP)
            for v in (1 - _STEP, 1 + _STEP)
        ]
        rise = float((np.max(corners, axis=0) - at).sum())
    edges = float(p[q == 0].sum()) * divergence.slope if (p[q == 0] > 0).any() else 0.0
    edges += float(q[p == 0].sum()) * divergence.at_zero if (q[p == 0] > 0).any() else 0.0
    bound = entry / _STEP * rise + entry * abs(edges) + 8 * UNIT * (float(np.abs(at).sum()) + 1)
    return bound if np.isfinite(bound) else float("inf")
