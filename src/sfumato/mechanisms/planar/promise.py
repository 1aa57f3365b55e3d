"""The promise of noise on a fine lattice for true points: per metre, up to a slack that is named."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, numbers
from ...core.frozen import Frozen
from ...errors import InputError
from ...geo import Projection
from ...geo.projection import LIMIT_KM
from ...intervals import exp_above
from ...rounding import amount_at_most, at_most, up
from ..family import positive

PROJECTED_M: Final = 1e-6
"""How far a projected place may be from where exact arithmetic puts it, in metres: some nanometres at most."""


@dataclass(frozen=True, slots=True, repr=False)
class PlanarPromise(Frozen):
    """M(x, o) <= exp(epsilon (|x - x'| + slack)) M(x', o) for all places x, x' and every report o.

    Attributes:
        epsilon: Per metre.
        slack_m: How much farther apart than they are two places may seem: snapping moves
            each by at most half of it.
        reach_m: How far from the plane's centre places may be; infinite for a promise
            in the plane itself.

    Source:
        docs/proofs/planar-noise.md.
    """

    epsilon: float
    slack_m: float
    reach_m: float = math.inf

    def __post_init__(self) -> None:
        positive(self.epsilon, "epsilon")
        if not 0 <= self.slack_m < math.inf:
            raise InputError(f"the slack {self.slack_m} m is not a length.", "use a number of at least 0.")

    def factor(self, distance_m: ArrayLike) -> Floats:
        """Return upper bounds of how many times likelier a report is from one place than from another.

        Args:
            distance_m: The distances of the two places, of any shape.

        Raises:
            InputError: If a distance is negative or not a number.
        """
        apart = numbers(distance_m, "the distance")
        if not (apart >= 0).all():
            raise InputError("a distance is negative or not a number.", "use distances of at least 0.")
        exponents = np.nextafter(self.epsilon * np.nextafter(apart + self.slack_m, math.inf), math.inf)
        return exp_above(exponents)

    def __repr__(self) -> str:
        return f"PlanarPromise(epsilon {at_most(self.epsilon, 6)}/m, slack {amount_at_most(self.slack_m, 'm')})"

    def __str__(self) -> str:
        where = (
            "of any two points"
            if math.isinf(self.reach_m)
            else f"of any two places within {amount_at_most(self.reach_m, 'm')} of the centre"
        )
        return (
            f"{where}, no report is more than e^({at_most(1000 * self.epsilon, 6)} x (their distance in km "
            f"+ {at_most(self.slack_m / 1000, 3)})) times likelier from one than from the other"
        )


def slack(step_m: Fraction, *, projected: bool) -> float:
    """Return the slack of a lattice in metres, rounded up: twice how far a place is from its lattice point."""
    found = math.sqrt(2.0) * float(step_m) * (1 + 2.0**-50)
    return up(found + 2 * PROJECTED_M) if projected else up(found)


def stretch(reach_m: float) -> float:
    """Return by how much the azimuthal equidistant plane stretches distances within a reach, rounded up.

    Raises:
        InputError: If the reach is not positive, or beyond the limit of projections.
    """
    if not 0 < reach_m <= 1000 * LIMIT_KM:
        raise InputError(
            f"the reach {reach_m:g} m is not above 0 and up to {LIMIT_KM:,} km.",
            "use the size of the town or country.",
        )
    return Projection(0.0, 0.0).stretch(reach_m)


def within(points_m: Floats, reach_m: float) -> Floats:
    """Return places, those beyond a reach moved straight to it.

    Args:
        points_m: Array (n, 2), metres from the centre.
        reach_m: In metres; infinite where nothing is moved.
    """
    away = np.hypot(points_m[:, 0], points_m[:, 1])
    factors = np.minimum(np.divide(reach_m, away, out=np.ones_like(away), where=away > reach_m), 1.0)
    found: Floats = points_m * factors[:, None]
    return found
