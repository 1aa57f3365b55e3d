"""Planar noise with a remap as the rival of a program, on the same points."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Bracket, CoordinatePrivacy, DesignGuarantee, Loss, LossPoints, Prior, Space, units
from ...core.arrays import Floats, distinct_points
from ...core.immutable import CompactRepr
from ...geo import Lattice
from ...mechanisms import CELLS, LEVELS, raw_error, stretch
from ...mechanisms.planar import CoordinateNoise
from ...proofs import NoiseCertificate, prove_planar_noise
from ...rounding import down, up

ROUGH: Final = 0.5
"""The fineness of a first table, which gives the loss within about 2 %."""

FINE: Final = 0.25
"""The fineness of a second one, which gives it within 0.5 %."""

_STEP: Final = 1e-3  # of 1 / epsilon: the step of the noise
_SAME: Final = 1e-9  # relative, between a prior and the masses of the points
_REACH_M: Final = 100_000.0
_COARSEST_M: Final = 10.0
_COARSEST: Final = 0.7  # times 1 / epsilon: wider cells of a table are useless
_SECONDS: Final = 5e-7  # for a cell of the table and a point: to make it, and to certify it
_LONGEST: Final = 30.0  # seconds of a look
_FEWEST: Final = 200  # points that are never put together


@dataclass(frozen=True, slots=True, repr=False)
class Rival(CompactRepr):
    """Planar noise with a remap, and its loss."""

    noise: CoordinateNoise
    certificate: NoiseCertificate  # its proof, in metres
    loss: Bracket  # its loss in the unit of the program's


@dataclass(frozen=True, slots=True, repr=False)
class Rivalry(CompactRepr):
    """Guarantee that a program and planar noise can both give."""

    lattice: Lattice  # the lattice of the program, on whose plane the points of the loss are
    loss: Loss  # the loss of the true point
    points: LossPoints
    promise: CoordinatePrivacy


def rivalry(
    prior: Prior, loss: object, guarantees: tuple[DesignGuarantee, ...], objective: str, observables: Space | None
) -> Rivalry | str:
    """Return what a program and planar noise can both guarantee, or why noise cannot."""
    promise = guarantees[0] if len(guarantees) == 1 else None
    if not isinstance(promise, CoordinatePrivacy) or promise.slack_m:
        return "it gives a guarantee per metre, and no other"
    if not isinstance(prior.space, Lattice):
        return "the secrets are not the vertices of a lattice"
    if not isinstance(loss, Loss) or loss.points is None or loss.true_point != "euclidean":
        return "the loss is not the Euclidean distance of the true point, as lattice.loss(visits) returns it"
    if objective != "expected":
        return "it is for the expected loss"
    if observables is not None and observables != prior.space:
        return "the reports are limited to places of your own"
    masses = loss.points.masses / loss.points.masses.sum()
    if masses.shape != prior.probabilities.shape or not np.allclose(
        prior.probabilities, masses, rtol=_SAME, atol=_SAME * float(masses.max())
    ):
        return "the prior is not that of the visits of the loss"
    return Rivalry(prior.space, loss, loss.points, promise)


def noise_rival(field: Rivalry, fineness: float = ROUGH, seconds: float = _LONGEST) -> Rival:
    """Return planar noise with the best remap for the points of a loss, and its loss between bounds.

    ``fineness`` is the width of the remap table's cells in units of 1 / epsilon. Of too many points near ones are
    grouped, which widens the bounds. A table that does not fit, or does harm, is left out.
    """
    points = field.points
    noise, per_km = _raw(field)
    plain = raw_error(points.xy, points.weights, noise.noise.rate, noise.step_m)
    plain = replace(plain, lower=down(plain.lower / stretch(noise.reach_m)))
    candidate, certificate = noise, None
    if _cells(points.xy, per_km / 1000, _COARSEST) <= CELLS:
        most = max(_FEWEST, int(seconds / (_SECONDS * _cells(points.xy, per_km / 1000, fineness))))
        groups = _Groups.of(points, most)
        candidate = noise.for_places(groups.xy, groups.weights, fineness)
        certificate = groups.widen_certificate(certify_noise(candidate, groups.xy, groups.weights), per_km / 1000)
    if certificate is None:
        proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
        blind, attacker = noise.blind(points.xy, points.weights), Bracket.of_bounds(0.0, plain.upper)
        certificate = NoiseCertificate(proof, plain, attacker, blind)
    elif plain.upper < certificate.loss.upper:  # a coarse table for far places may do more harm than good
        guessed = certificate.attacker
        attacker = Bracket.of_bounds(min(guessed.lower, plain.upper), min(guessed.upper, plain.upper))
        candidate, certificate = noise, replace(certificate, loss=plain, attacker=attacker)
    scale = units.factor("m", field.loss.unit)
    loss = certificate.loss
    lower, upper = max(0.0, down(loss.lower * scale)), up(loss.upper * scale)
    return Rival(candidate, certificate, Bracket(lower, min(max(loss.value * scale, lower), upper), upper))


def noise_estimate(field: Rivalry, seconds: float) -> float:
    """Return an estimate of the loss of planar noise with the best remap, in the unit of the loss."""
    noise, per_km = _raw(field)
    loss, cells = 2000 / per_km, _cells(field.points.xy, per_km / 1000, ROUGH)
    if _cells(field.points.xy, per_km / 1000, _COARSEST) <= CELLS:
        groups = _Groups.of(field.points, max(_FEWEST, int(seconds / (_SECONDS * cells))))
        candidate = noise.for_places(groups.xy, groups.weights, ROUGH)
        loss = min(loss, candidate.error(groups.xy, groups.weights).loss.value)
    return loss * units.factor("m", field.loss.unit)


def _raw(field: Rivalry) -> tuple[CoordinateNoise, float]:
    """Return the noise without a table, and its epsilon per km."""
    promise = field.promise
    per_km = promise.epsilon * units.factor("km", promise.unit)
    reach_m = max(_REACH_M, math.ceil(float(np.hypot(*field.points.xy.T).max()) / 1000 + 1) * 1000.0)
    step_m = min(_COARSEST_M, _STEP * 1000 / per_km)
    size = 10.0 ** math.floor(math.log10(step_m))
    step_m = max(1.0, math.floor(step_m / size * (1 + 1e-9))) * size
    return CoordinateNoise(per_km, f"{step_m:g} m", field.lattice.projection, reach_m), per_km


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Groups:
    """Means of grouped points, with the largest and the mean distance of a point from its own."""

    xy: Floats
    weights: Floats
    farthest: float
    mean: float

    @classmethod
    def of(cls, points: LossPoints, most: int) -> _Groups:
        xy, weights = points.xy, points.weights / points.weights.sum()
        if len(xy) <= most:
            return cls(xy, weights, 0.0, 0.0)
        low, side = xy.min(axis=0), float(np.ptp(xy, axis=0).max()) / (4 * math.sqrt(most))
        while True:
            _, where, _ = distinct_points(np.floor((xy - low) / side))
            mass = np.asarray(np.bincount(where, weights=weights), dtype=np.float64)
            if len(mass) <= most:
                break
            side *= 1.25
        sums = [np.bincount(where, weights=weights * xy[:, axis]) for axis in (0, 1)]
        means = np.column_stack(sums) / mass[:, None]
        away = np.hypot(*(xy - means[where]).T)
        return cls(means, mass, float(away.max()), float(weights @ away))

    def widen_certificate(self, certificate: NoiseCertificate, per_m: float) -> NoiseCertificate:
        """Return what holds of the points, whose reports' ratio to their groups' is e^(epsilon (r + slack))."""
        if self.farthest == 0:
            return certificate
        times = math.exp(per_m * (self.farthest + certificate.privacy.slack_m)) * (1 + 1e-9)

        def of(bracket: Bracket) -> Bracket:
            lower, upper = max(0.0, bracket.lower - self.mean) / times, (bracket.upper + self.mean) * times
            return Bracket(lower, min(max(bracket.value, lower), upper), upper)

        return replace(
            certificate, loss=of(certificate.loss), attacker=of(certificate.attacker), blind=of(certificate.blind)
        )


def _cells(xy: Floats, per_m: float, fineness: float) -> float:
    """Return about how many cells a table has."""
    sides = np.ptp(xy, axis=0) * per_m
    return float(sum(np.prod((sides + 2 * reach) / (fineness * times)) for reach, times in LEVELS))


def certify_noise(noise: CoordinateNoise, points_m: ArrayLike, weights: ArrayLike) -> NoiseCertificate:
    """Return what is proved of noise for true points (n, 2), metres on its plane, with weights (n,)."""
    proof = prove_planar_noise(noise.promise, noise.noise.rate, noise.step_m, noise.reach_m)
    error = noise.error(points_m, weights)
    return NoiseCertificate(proof, error.loss, error.attacker, noise.blind(points_m, weights))
