"""Coordinate privacy, proved by the integers of a mechanism on a lattice, or by the recipe of planar noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from .. import intervals
from ..core import Bracket, CoordinatePrivacy, Mechanism, MetricPrivacy, units
from ..core.arrays import Floats, numbers
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..geo import Lattice, implying_pairs
from ..rounding import amount_at_most, at_most, up
from .metric_privacy import EpsilonProof, prove_metric_privacy, prove_pairs, ratios_of
from .vertex_privacy import VertexPrivacy

_POLAR_AXIS_M: Final = 6_356_752.3  # of WGS84, rounded down: its curvature is nowhere above 1 / axis**2
_WIDEST_M: Final = 1_500_000  # within it the shortest path of two places stays within the reach
_REACH_ERROR: Final = 1e-12  # of the reach: by how much rounding may leave a place beyond it
_PROJECTED_M: Final = 1e-6  # how far a projected place may be from where exact arithmetic puts it


@dataclass(frozen=True, slots=True)
class CoordinateProof(EpsilonProof):
    """A proof of p(o|x) <= exp(epsilon (|x - x'| + slack)) p(o|x') for all points that a lattice serves.

    ``slack_m`` is the distance that snapping of positions to a fine lattice adds, metres.
    """

    slack_m: float


def prove_steps(mechanism: Mechanism, lattice: Lattice, epsilon: float) -> EpsilonProof:
    """Prove a bound on the epsilon per step of a lattice for all pairs of its vertices, from few that imply them.

    On a square lattice distances are rounded, and a way of neighbours may be longer than the distance of its ends
    by a share of 2**-50; claims that this leaves open are decided by all pairs.
    """
    steps = lattice.steps()
    s, t = implying_pairs(lattice.kind, lattice.vertices)
    proof = prove_pairs(mechanism, ratios_of(mechanism, s, t, steps.at(s, t)), epsilon, "", "")
    if lattice.kind == "triangular":
        return proof
    upper = up(proof.upper * (1 + 2.0**-49))
    if proof.holds and upper > epsilon:
        return prove_metric_privacy(mechanism, MetricPrivacy(epsilon, steps))
    return replace(proof, upper=upper)


def prove_coordinate_privacy(mechanism: Mechanism, guarantee: VertexPrivacy) -> CoordinateProof:
    """Prove a bound on the epsilon per unit of length of a mechanism on vertices; `InputError` for others."""
    promise, lattice = guarantee.promise, guarantee.lattice
    guarantee.check_secrets(mechanism.secrets)
    rows = prove_steps(mechanism, lattice, guarantee.epsilon)
    claimed = promise.epsilon if rows.holds else math.inf
    upper = min(claimed, per_unit_above(lattice, rows.upper, promise.unit))
    pair, report, unit = rows.worst_pair, rows.worst_observable, promise.unit
    claim, slack_m = str(promise), lattice.slack_m
    return CoordinateProof(promise.epsilon, upper, rows.holds, pair, report, unit, claim, slack_m)


def per_unit_above(lattice: Lattice, exponent: float, unit: str) -> float:
    """Return a proved bound on the epsilon per unit on the ground, for rows of an exponent."""
    if not math.isfinite(exponent):
        return math.inf
    if lattice.kind == "square":
        from .slope import octile_slope

        slope = octile_slope(exponent) if exponent > 0 else 0.0
    else:
        slope = intervals.upper_end(lambda: (intervals.exact(exponent).exp() - 1) * 2 / intervals.exact(3).sqrt())
    return up(slope / lattice.spacing_m * lattice.stretch / units.factor("m", unit) * (1 + 1e-14))


@dataclass(frozen=True, slots=True, repr=False)
class NoiseProof(CompactRepr):
    """A proof of p(o|x) <= exp(epsilon (|x - x'| + slack)) p(o|x') for planar noise on a fine lattice.

    ``upper`` is a proved upper bound on epsilon, per unit of the claim ``promise``, and ``slack_m`` one on the
    slack. ``reach_m`` is the largest distance of points from the centre of their plane, infinite for points of a
    plane; both are metres.
    """

    promise: CoordinatePrivacy
    upper: float
    slack_m: float
    reach_m: float
    holds: bool

    def factor(self, distance_m: ArrayLike) -> Floats:
        """Return upper bounds on the likelihood ratio at distances in metres; `InputError` if one is below 0."""
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
    """Proved facts about noise for coordinates on some weighted places; distances are metres.

    They are the expected distance from the true point to the report, the error of the best ``attacker``, who knows
    the places and their weights, and their error ``blind``, without a report; its upper bound is that of a guess.
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
    half-axis. docs/proofs/planar-noise.md. The rate is per step, ``step_m`` metres, and the reach the largest
    distance of points from the centre of an azimuthal equidistant plane, infinite for points and distances of a
    plane. Raises `InputError` if the rate or the step is not positive, or the reach not within 1,500 km.
    """
    if not (rate > 0 and step_m > 0):
        raise InputError(f"noise of rate {rate} on a lattice of {step_m} m cannot be drawn.", "use positive ones.")
    projected = not math.isinf(reach_m)
    if projected and not 0 < reach_m <= _WIDEST_M:
        raise InputError(f"a reach of {reach_m:g} m is not above 0 and up to 1,500 km.", "use a smaller region.")
    per_step = rate / step_m
    unit_m = Fraction(units.factor(promise.unit, "m"))

    def epsilon() -> intervals.Interval:
        on_plane = intervals.rational_interval(per_step * unit_m)
        if not projected:
            return on_plane
        angle = intervals.exact(reach_m) * (1 + intervals.exact(_REACH_ERROR)) / intervals.exact(_POLAR_AXIS_M)
        return on_plane * angle / angle.sin()

    def slack() -> intervals.Interval:
        return intervals.rational_interval(step_m) * intervals.exact(2).sqrt() + 2 * intervals.exact(
            _PROJECTED_M if projected else 0
        )

    upper, slack_upper = intervals.upper_end(epsilon), intervals.upper_end(slack)
    holds = upper <= promise.epsilon and slack_upper <= promise.slack_m
    return NoiseProof(promise, upper, slack_upper, reach_m, holds)
