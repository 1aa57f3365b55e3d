"""Directions of one iteration: predictor, weighted second-order term, centrality correctors.

The predictor's step is often short, and then its second-order term is far too large; so that
term and every corrector enter with the shares that give the longest steps, found apart for the
primal and the dual part. A corrector asks for what products of slack and multiplier would
lack, half a step beyond the present one, to lie within a band around their target. It costs
two solves with the factors at hand, little beside the factors themselves.

Source:
    Mehrotra, SIAM J. Optim. 2 (1992); Gondzio, Comput. Optim. Appl. 6 (1996); Colombo and
    Gondzio, Comput. Optim. Appl. 41 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._arrays import Floats
from ._newton import Direction, System
from ._rows import Point

CORRECTORS = 5
MORE_CORRECTORS = 10
LARGE = 384
GOOD_STEP = 0.95
GAIN = 0.02
AHEAD = 0.5
MOST = 0.5
POWER = 4
SHARES = (1.0, 0.75, 0.5, 0.25, 0.1)
BAND = (0.1, 10.0)
TO_BOUNDARY = 0.995


@dataclass(frozen=True, slots=True)
class Step:
    """A direction with its primal and dual step lengths, short of the boundary.

    Attributes:
        direction: Where the iterate moves.
        central: The direction that keeps the mean of slack times multiplier. Its dual step is seldom cut,
            so its end proves a bound when the direction's own end does not.
        primal: Length of the primal step.
        dual: Length of the dual step.
    """

    direction: Direction
    central: Direction
    primal: float
    dual: float


def end(point: Point, direction: Direction) -> Point:
    """Return the end of the whole dual step, where negative multipliers are set to zero."""
    lam = point.lam + direction.lam
    return Point(point.u, point.w, point.v, np.maximum(lam, 0.0, out=lam), point.mu + direction.mu)


def length(change: Floats, value: Floats) -> float:
    """Return the longest step in [0, 1] that keeps value + step * change non-negative."""
    return min(1.0, 1 / max(-float((change / value).min()), 1e-300))


def best_share(change: Floats, extra: Floats, value: Floats, least: float) -> tuple[float, float]:
    """Return the share of ``extra`` that makes the step along the change longest, and that step.

    Args:
        change: Array (rows,), the direction so far.
        extra: Array (rows,), what may be added to it.
        value: Array (rows,), positive; what the step must keep so.
        least: The step without the extra.

    Returns:
        (0, least) where no share helps.
    """
    found = 0.0, least
    plain, more = change / value, extra / value
    for share in SHARES:
        reach = min(1.0, 1 / max(-float((plain + share * more).min()), 1e-300))
        if reach > found[1]:
            found = share, reach
        elif found[0]:
            break
    return found


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
    affine = system.direction(-product)
    primal, dual = length(affine.z, z), length(affine.lam, lam)
    after = float((lam + dual * affine.lam) @ (z + primal * affine.z)) / len(z)
    target = max(min((after / mean) ** POWER, MOST) * mean, min(mean, least))
    centre = system.correction(np.full(len(z), mean))
    central = affine.plus(centre, 1.0, 1.0)
    best = affine.plus(centre, target / mean, target / mean)
    change = -affine.z * affine.lam
    del affine, centre
    primal, dual = length(best.z, z), length(best.lam, lam)
    # The larger the blocks, the cheaper is a direction beside the factors that it uses.
    correctors = CORRECTORS if point.u.shape[1] < LARGE else MORE_CORRECTORS
    for count in range(correctors + 1):
        if min(primal, dual) > GOOD_STEP:
            break
        if count:
            reached = best.z * min(1.0, primal + AHEAD)
            reached += z
            reached *= lam + min(1.0, dual + AHEAD) * best.lam
            change = np.clip(reached, BAND[0] * target, BAND[1] * target)
            change -= reached
            np.maximum(change, -BAND[1] * target, out=change)
        extra = system.correction(change)
        one, longer = best_share(best.z, extra.z, z, primal)
        other, further = best_share(best.lam, extra.lam, lam, dual)
        gain, primal, dual = longer - primal + further - dual, longer, further
        best = best.plus(extra, one, other)
        if count and gain < GAIN:
            break
    best = system.refined(best)
    primal, dual = length(best.z, z), length(best.lam, lam)
    return Step(best, central, min(1.0, TO_BOUNDARY * primal), min(1.0, TO_BOUNDARY * dual))
