"""Directions of one iteration: predictor, weighted second-order term, centrality correctors.

The predictor's step is often short, and then its second-order term is far too large; so that
term and every corrector enter with the shares that give the longest steps, found separately for the
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

from ...core.arrays import Floats
from .form import Iterate
from .newton import Direction, System
from .workers import Workers

CORRECTORS = 5
GOOD_STEP = 0.95
GAIN = 0.02
AHEAD = 0.5
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


def end(point: Iterate, step: Step, share: float) -> Iterate:
    """Return the end of a whole dual step, where negative multipliers are set to zero.

    Args:
        point: The iterate.
        step: Its directions.
        share: Of the direction taken; the rest is the central one.
    """
    one, other = step.direction, step.central
    lam = point.lam + share * one.lam + (1 - share) * other.lam
    mu = point.mu + share * one.mu + (1 - share) * other.mu
    return Iterate(point.u, point.w, point.v, np.maximum(lam, 0.0, out=lam), mu)


def length(change: Floats, value: Floats, workers: Workers) -> float:
    """Return the longest step in [0, 1] that keeps value + step * change non-negative."""
    lows = workers.pieces(lambda part: float((change[part] / value[part]).min()), len(value))
    return _reach(float(np.min(lows)))


def _reach(least: float) -> float:
    """Return the longest step in [0, 1] by the least of change over value."""
    return min(1.0, 1 / max(-least, 1e-300))


def best_share(
    change: Floats, extra: Floats, value: Floats, least: float, workers: Workers
) -> tuple[float, float]:
    """Return the share of ``extra`` that makes the step along the change longest, and that step.

    Args:
        change: Array (rows,), the direction so far.
        extra: Array (rows,), what may be added to it.
        value: Array (rows,), positive; what the step must keep so.
        least: The step without the extra.
        workers: The pool.

    Returns:
        (0, least) where no share helps.
    """

    def lows(part: slice) -> list[float]:
        plain, more = change[part] / value[part], extra[part] / value[part]
        return [float((plain + share * more).min()) for share in SHARES]

    reaches = [_reach(low) for low in np.min(workers.pieces(lows, len(value)), axis=0)]
    best = int(np.argmax(reaches))
    return (SHARES[best], reaches[best]) if reaches[best] > least else (0.0, least)


def compute(system: System, point: Iterate, z: Floats, least: float, most: float, workers: Workers) -> Step:
    """Return the step of one iteration.

    Args:
        system: The factored Newton system at the iterate.
        point: The iterate.
        z: Array (rows,), its slacks.
        least: The aimed mean of slack times multiplier stays at or above this.
        most: It stays at or below this share of the present mean.
        workers: The pool.
    """
    lam = point.lam
    product = lam * z
    mean = float(product.sum()) / len(z)
    affine = system.direction(np.negative(product, out=product))
    del product
    primal, dual = length(affine.z, z, workers), length(affine.lam, lam, workers)
    after = float((lam + dual * affine.lam) @ (z + primal * affine.z)) / len(z)
    target = max(min(min(after / mean, 1.0) ** POWER, most) * mean, min(mean, least))
    centre = system.correction(np.full(len(z), mean))
    central = affine.plus(centre, 1.0, 1.0, workers)
    best = affine.plus(centre, target / mean, target / mean, workers, last=True)
    change = -affine.z * affine.lam
    del affine, centre
    primal, dual = length(best.z, z, workers), length(best.lam, lam, workers)
    for count in range(CORRECTORS + 1):
        if min(primal, dual) > GOOD_STEP:
            break
        if count:
            change = _lacking(best, point, z, (primal, dual), target, workers)
        extra = system.correction(change)
        one, longer = best_share(best.z, extra.z, z, primal, workers)
        other, further = best_share(best.lam, extra.lam, lam, dual, workers)
        gain, primal, dual = longer - primal + further - dual, longer, further
        best = best.plus(extra, one, other, workers, last=True)
        del extra
        if count and gain < GAIN:
            break
    best = system.refined(best)
    primal, dual = length(best.z, z, workers), length(best.lam, lam, workers)
    return Step(best, central, min(1.0, TO_BOUNDARY * primal), min(1.0, TO_BOUNDARY * dual))


def _lacking(
    way: Direction, point: Iterate, z: Floats, lengths: tuple[float, float], target: float, workers: Workers
) -> Floats:
    """Return what the products lack to lie in the band around their target, half a step ahead."""
    primal, dual = (min(1.0, reach + AHEAD) for reach in lengths)
    out = np.empty_like(z)

    def lack(part: slice) -> None:
        reached = (z[part] + primal * way.z[part]) * (point.lam[part] + dual * way.lam[part])
        np.clip(reached, BAND[0] * target, BAND[1] * target, out=out[part])
        out[part] -= reached
        np.maximum(out[part], -BAND[1] * target, out=out[part])

    workers.pieces(lack, len(z))
    return out
