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
MORE_CORRECTORS = 6
LARGE = 384
GOOD_STEP = 0.95
BAND = (0.1, 10.0)
TO_BOUNDARY = 0.995


@dataclass(frozen=True, slots=True)
class Step:
    """A direction with its primal and dual step lengths, short of the boundary."""

    direction: Direction
    primal: float
    dual: float

    def full(self, point: Point) -> Point:
        """Return the end of the whole dual step, where negative multipliers are set to zero."""
        d, lam = self.direction, point.lam + self.direction.lam
        return Point(point.u, point.w, point.v, np.maximum(lam, 0.0, out=lam), point.mu + d.mu)


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
    np.negative(product, out=product)
    affine = system.direction(product, refine=False)
    primal, dual = lengths(affine, z, lam)
    after = float((lam + dual * affine.lam) @ (z + primal * affine.z)) / len(z)
    target = max((after / mean) ** 3 * mean, min(mean, least))
    np.multiply(affine.z, affine.lam, out=affine.z)
    wanted = np.add(product, target, out=product)
    wanted -= affine.z
    del affine
    best = system.direction(wanted)
    # The larger the blocks, the cheaper is a direction beside the factors that it uses.
    correctors = CORRECTORS if point.u.shape[1] < LARGE else MORE_CORRECTORS
    primal, dual = lengths(best, z, lam)
    for _ in range(correctors):
        if min(primal, dual) > GOOD_STEP:
            break
        longer = min(1.0, 1.08 * primal + 0.08), min(1.0, 1.08 * dual + 0.08)
        reached = best.z * longer[0]
        reached += z
        reached *= lam + longer[1] * best.lam
        push = np.clip(reached, BAND[0] * target, BAND[1] * target)
        push -= reached
        del reached
        np.maximum(push, -BAND[1] * target, out=push)
        push += wanted
        trial = system.direction(push)
        gained = lengths(trial, z, lam)
        if min(gained) < min(primal, dual) + 1e-3 and sum(gained) < primal + dual + 1e-2:
            break
        wanted, best, (primal, dual) = push, trial, gained
    return Step(best, min(1.0, TO_BOUNDARY * primal), min(1.0, TO_BOUNDARY * dual))
