"""Proof of coordinate privacy for planar noise on a fine lattice, from its recipe alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .. import intervals
from ..core import Bracket, CoordinatePrivacy, units
from ..core.arrays import Floats, numbers
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..rounding import amount_at_most, at_most, up

_POLAR_AXIS_M: Final = 6_356_752.3  # of WGS84, rounded down: its curvature is nowhere above 1 / axis**2
_WIDEST_M: Final = 1_500_000  # within it the shortest path of two places stays within the reach
_MOVED: Final = 1e-12  # of the reach: by how much rounding may leave a place beyond it
_PROJECTED_M: Final = 1e-6  # how far a projected place may be from where exact arithmetic puts it


@dataclass(frozen=True, slots=True, repr=False)
class NoiseProof(CompactRepr):
    """A proof of p(o|x) <= exp(epsilon (|x - x'| + slack)) p(o|x') for planar noise on a fine lattice.

    Attributes:
        promise: The claim.
        upper: A proved upper bound on epsilon, per unit of the claim.
        slack_m: A proved upper bound on the slack, metres.
        reach_m: The largest distance of points from the centre of their plane, metres; infinite for points of a
            plane.
        holds: Whether the claim is proved.
    """

    promise: CoordinatePrivacy
    upper: float
    slack_m: float
    reach_m: float
    holds: bool

    def factor(self, distance_m: ArrayLike) -> Floats:
        """Return upper bounds on the likelihood ratio of a report from two points, at distances in metres.

        Raises `InputError` if a distance is negative or not a number.
        """
        apart = numbers(distance_m, "the distance")
        if not (apart >= 0).all():
            raise InputError("a distance is negative or not a number.", "use distances of at least 0.")
        per_m = up(self.upper * units.factor("m", self.promise.unit) * (1 + 2.0**-51))
        with np.errstate(over="ignore"):  # an exponent beyond all floats is infinite, which is a bound
            reach = np.nextafter(apart + self.slack_m, math.inf)
            return intervals.exp_above(np.nextafter(per_m * reach, math.inf))

    @property
    def sentence(self) -> str:
        """The proved statement, or the claim that was not proved, in words."""
        claim = self.promise.noise_sentence(self.reach_m)
        return claim if self.holds else f"NOT PROVED: {claim[0].lower()}{claim[1:]}"

    @property
    def proof(self) -> str:
        """The method of the proof, and the proved numbers."""
        return (
            "Proved from the recipe of the noise, which is drawn exactly: epsilon is at most "
            f"{at_most(self.upper, 7)}/{self.promise.unit}. Snapping places to a lattice adds at most "
            f"{amount_at_most(self.slack_m, 'm')} to a distance."
        )


@dataclass(frozen=True, slots=True, repr=False)
class NoiseCertificate(CompactRepr):
    """Proved facts about noise for coordinates on some weighted places.

    Attributes:
        privacy: The proof of its guarantee.
        loss: The expected distance from the true point to the report, metres.
        attacker: The expected error of the best attacker, who knows the places and their weights, metres.
        blind: Their expected error without a report, metres; the upper bound is that of a guess.
    """

    privacy: NoiseProof
    loss: Bracket
    attacker: Bracket
    blind: Bracket

    @property
    def holds(self) -> bool:
        """Whether the guarantee is proved."""
        return self.privacy.holds


def prove_planar_noise(
    promise: CoordinatePrivacy, rate: Fraction, step_m: Fraction, reach_m: float = math.inf
) -> NoiseProof:
    """Prove coordinate privacy of noise exp(-rate |z|) / Z on a square lattice, for any processing of its reports.

    Points are snapped to the nearest lattice point, and a vector z of whole steps is added. So the exponent per
    metre of the plane is rate / step, and two points seem at most sqrt(2) steps farther apart than they are. On
    the ground it is multiplied by the largest stretch C / sin C within the reach, C the reach over WGS84's polar
    half-axis. docs/proofs/planar-noise.md. Raises `InputError` if the rate or the step is not positive, or the
    reach not within 1,500 km.

    Args:
        promise: The claim.
        rate: Of the noise, per step.
        step_m: The step of the lattice, metres.
        reach_m: The largest distance of points from the centre of an azimuthal equidistant plane, metres; infinite
            for points and distances of a plane.
    """
    if not (rate > 0 and step_m > 0):
        raise InputError(f"noise of rate {rate} on a lattice of {step_m} m cannot be drawn.", "use positive ones.")
    projected = not math.isinf(reach_m)
    if projected and not 0 < reach_m <= _WIDEST_M:
        raise InputError(f"a reach of {reach_m:g} m is not above 0 and up to 1,500 km.", "use a smaller region.")
    per_step = rate / step_m
    unit_m = Fraction(units.factor(promise.unit, "m"))

    def epsilon() -> intervals.Interval:
        if not projected:
            return intervals.rational_interval(per_step * unit_m)
        angle = intervals.exact(reach_m) * (1 + intervals.exact(_MOVED)) / intervals.exact(_POLAR_AXIS_M)
        return intervals.rational_interval(per_step * unit_m) * angle / angle.sin()

    def slack() -> intervals.Interval:
        return intervals.rational_interval(step_m) * intervals.exact(2).sqrt() + 2 * intervals.exact(
            _PROJECTED_M if projected else 0
        )

    upper, added = intervals.above(epsilon), intervals.above(slack)
    holds = upper <= promise.epsilon and added <= promise.slack_m
    return NoiseProof(promise, upper, added, reach_m, holds)
