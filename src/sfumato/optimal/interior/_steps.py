"""Mehrotra's predictor and corrector with Gondzio's centrality correctors.

Source:
    Mehrotra, SIAM J. Optim. 2 (1992); Gondzio, Comput. Optim. Appl. 6 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._arrays import Floats
from ._newton import Direction, System
from ._rows import Point

CORRECTORS = 3
GOOD_STEP = 0.95
BAND = (0.1, 10.0)
TO_BOUNDARY = 0.995


@dataclass(frozen=True, slots=True)
class Step:
    """A direction with its primal and dual step lengths, short of the boundary."""

    direction: Direction
    primal: float
    dual: float


def lengths(direction: Direction, z: Floats, lam: Floats) -> tuple[float, float]:
    """Return the longest steps in [0, 1] that keep slacks and multipliers non-negative."""
    primal, dual = float((direction.z / z).min()), float((direction.lam / lam).min())
    return min(1.0, 1 / max(-primal, 1e-300)), min(1.0, 1 / max(-dual, 1e-300))


def compute(system: System, point: Point, z: Floats, least: float) -> Step:
    """Return the step of one iteration.

    Args:
        system: The factored Newton system at the iterate.
        point: The iterate.
        z: Array (rows,), its slacks.
        least: The aimed mean of slack times multiplier stays at or above this.
    """
    lam = point.lam
    product = lam * z
    mean = float(product.sum()) / len(z)
    affine = system.direction(-product, refine=False)
    primal, dual = lengths(affine, z, lam)
    after = float((lam + dual * affine.lam) @ (z + primal * affine.z)) / len(z)
    target = max((after / mean) ** 3 * mean, min(mean, least))
    wanted = target - product - affine.z * affine.lam
    best = system.direction(wanted)
    primal, dual = lengths(best, z, lam)
    for _ in range(CORRECTORS):
        if min(primal, dual) > GOOD_STEP:
            break
        longer = min(1.0, 1.08 * primal + 0.08), min(1.0, 1.08 * dual + 0.08)
        reached = (z + longer[0] * best.z) * (lam + longer[1] * best.lam)
        push = np.maximum(np.clip(reached, BAND[0] * target, BAND[1] * target) - reached, -BAND[1] * target)
        trial = system.direction(wanted + push)
        gained = lengths(trial, z, lam)
        if min(gained) < min(primal, dual) + 1e-3 and sum(gained) < primal + dual + 1e-2:
            break
        wanted, best, (primal, dual) = wanted + push, trial, gained
    return Step(best, min(1.0, TO_BOUNDARY * primal), min(1.0, TO_BOUNDARY * dual))
