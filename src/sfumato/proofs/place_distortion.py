"""Distortion of the true point: the best attacker's error, for guesses anywhere on the ground."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import DistortionPrivacy, Loss, Mechanism, Prior, Space, units
from ..core.arrays import Floats, distinct_points, readonly
from ..core.immutable import assign
from ..errors import InfeasibleError, InputError
from ..geo import DISTANCES, Guesses, Places, TruePoints, Visits
from ..rounding import amount, amount_at_least, down, up

_PROJECTION_M: Final = 2e-6  # float arithmetic of the projection is off by less
_ROOM: Final = 1e-6  # an error this close to the largest leaves no room for rounding
_LIKELY: Final = 64  # places among the guesses to begin with
_GRID, _PER_PLACE = 400, 3  # guesses on a grid, at most, and for each place
_MOST_VISITS: Final = 1 << 31  # at one place
_FARTHEST_M: Final = 2e7  # no place on the ground is farther from another
_APART: Final = 1e-4  # of the extent of the points: guesses nearer to each other are one


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class PlaceDistortion(DistortionPrivacy):
    """Distortion privacy of the true point: the best attacker's average error is at least ``minimum``.

    The error is the distance on the ground from the person's true point, not from a cell or a vertex, to the
    guess, which may be any point. With ``kind="manhattan"`` it is metres east plus metres north on the plane. A
    program knows finitely many guesses only, and an attacker with fewer guesses has at least as large an error. So
    `design` adds the best guesses against its result until none is missing; the proof covers all guesses. The
    average is over the visits, whose places the attacker knows, and nothing more. Mechanism files store these
    places for later proofs. Raises `InputError` if the minimum is not a length, or is negative. Raises `UnitError`
    if its unit is not one of length. Raises `DataError` if no visit is inside. ``minimum`` is the least expected
    error, a number in ``unit`` or text such as ``"800 m"``; the places are a lattice or cells. The attacker knows
    the visits, or with ``user`` those of this user; those outside are left out.

    Attributes:
        distance: The errors of the guesses that the program knows, array (guesses, secrets).
        degrees: Distinct latitudes and longitudes of the visits, array (k, 2).
        times: The number of visits at each, array (k,).
        points: The true points on the plane.
        guesses: Metres east and north of the guesses that the program knows, array (guesses, 2).

    Source:
        Shokri, "Privacy Games", equations 7 and 21, for points; docs/proofs/true-place.md.
    """

    places: Places
    degrees: Floats
    times: NDArray[np.int64]
    points: TruePoints
    guesses: Floats

    def __init__(
        self,
        minimum: float | str,
        places: Places,
        visits: Visits,
        *,
        unit: str = "km",
        user: Hashable | None = None,
        kind: str = "euclidean",
    ) -> None:
        if kind not in DISTANCES:
            raise InputError(f"the distance {kind!r} is unknown.", f"use one of {', '.join(DISTANCES)}.")
        sample = visits if user is None else visits.of_user(user)
        inside = places.inside(sample.lat, sample.lon)
        if inside.any():
            sample = sample.select(inside)
        degrees, _, times = distinct_points(np.column_stack([sample.lat, sample.lon]))
        self._set(minimum, places, degrees, times.astype(np.int64), None, unit, kind)

    def _set(
        self,
        minimum: float | str,
        places: Places,
        degrees: Floats,
        times: NDArray[np.int64],
        guesses: Floats | None,
        unit: str,
        kind: str,
    ) -> None:
        points = places.true_points(Visits(*degrees.T, polar=True), times=times)
        known = _first_guesses(places, points) if guesses is None else guesses
        masses, total = np.asarray(points.masses.sum(axis=0)), points.distances(known, kind)
        away = DISTANCES[kind](np.asarray(places.coordinates), known)
        errors = np.where(masses[:, None] > 0, total / np.where(masses > 0, masses, 1.0)[:, None], away)
        scale = units.factor("m", unit) / _stretch(places, points, kind)
        DistortionPrivacy.__init__(self, minimum, Loss((errors * scale).T, unit, true_point=kind))
        assign(self, places=places, degrees=readonly(degrees), times=readonly(times), points=points)
        assign(self, guesses=readonly(known))

    @classmethod
    def of_places(
        cls,
        minimum: float | str,
        places: Places,
        degrees: Floats,
        times: NDArray[np.int64],
        guesses: Floats,
        unit: str,
        kind: str = "euclidean",
    ) -> PlaceDistortion:
        """Return the distortion for distinct places of visits, from which the rest is computed.

        The arguments are those of the class and its attributes. Raises `InputError` if they do not fit, a place is
        outside, or one was visited less than once.
        """
        if len(degrees) == 0 or degrees.shape != (len(times), 2) or guesses.shape[1:] != (2,) or not len(guesses):
            raise InputError(
                "the places that were visited, their numbers of visits and the guesses do not fit each other.",
                "give a latitude and a longitude for each number, and metres east and north for each guess.",
            )
        if times.min() < 1 or times.max() > _MOST_VISITS:
            raise InputError("a place was visited less than once, or too often.", "give whole numbers above 0.")
        if not np.isfinite(guesses).all() or not np.abs(guesses).max() <= _FARTHEST_M:
            raise InputError("a guess is not on the ground.", "give metres east and north of the plane's centre.")
        if not places.inside(*degrees.T).all():
            raise InputError("a place that was visited is outside the region.", "leave it out.")
        distortion = object.__new__(cls)
        distortion._set(minimum, places, degrees, times, guesses, unit, kind)
        return distortion

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        parts = (self.minimum, self.places, self.degrees, self.times, self.guesses, self.distance.unit, self.kind)
        return self.of_places, parts

    def __str__(self) -> str:
        distance = "" if self.kind == "euclidean" else f" ({self.kind} distance)"
        minimum = amount_at_least(self.minimum, self.distance.unit)
        return f"distortion of at least {minimum} from the true point{distance}"

    @property
    def kind(self) -> str:
        """The distance from the true point to a guess: ``euclidean`` or ``manhattan``."""
        return self.distance.true_point

    @property
    def finite(self) -> DistortionPrivacy:
        """The guarantee against an attacker who only has the guesses that the program knows.

        Its distances are lowered to proved ones on the ground, and so is its minimum: each mechanism with this
        distortion satisfies it.
        """
        return DistortionPrivacy(max(0.0, down(self.minimum / self._stretch)), self.distance)

    def with_guesses(self, guesses: Floats, known: Floats | None = None) -> PlaceDistortion:
        """Return the same with more guesses (k, 2), in metres, for the program; near-duplicates are left out.

        ``known`` are the guesses to keep, array (g, 2); by default all.
        """
        side = _APART * max(1.0, float(np.ptp(self.points.xy, axis=0).max()))
        every = np.concatenate([self.guesses if known is None else known, guesses])
        _, first = np.unique(np.rint(every / side), axis=0, return_index=True)
        subset = every[np.sort(first)]
        parts = (self.minimum, self.places, self.degrees, self.times, subset, self.distance.unit, self.kind)
        return self.of_places(*parts)

    def check_secrets(self, secrets: Space) -> None:
        """Refuse other places; `InputError` if the secrets are not the places."""
        if secrets != self.places:
            raise InputError(
                f"the distortion is for {self.places!r}, but the mechanism's secrets are {secrets!r}.",
                "use the places of the mechanism.",
            )

    @property
    def visits(self) -> Visits:
        """The visits: each place as many times as it was visited."""
        return Visits(*np.repeat(self.degrees, self.times, axis=0).T, polar=True)

    def attack(self, mechanism: Mechanism, prior: Prior) -> Guesses:
        """Return the best guesses on the plane against a mechanism, with the proved bound on their error.

        ``prior`` has the probabilities of the places; the distribution within a place is that of the visits.
        Raises `InputError` if the mechanism is on other places.
        """
        self.check_secrets(mechanism.secrets)
        points = self.points.under(prior.probabilities, np.asarray(self.places.coordinates))
        return points.guesses(mechanism.matrix, self.kind)

    def lower(self, guesses: Guesses) -> float:
        """Return an attack's proved lower bound on the error on the ground, in the unit of the distance."""
        scale = units.factor("m", self.distance.unit) / self._stretch
        return max(0.0, down((guesses.lower - _PROJECTION_M) * scale * (1 - 1e-15)))

    def upper(self, bound: float) -> float:
        """Return the upper bound on errors on the ground that follows from a bound on the program's errors."""
        return up(bound * self._stretch * (1 + 1e-15))

    @property
    def _stretch(self) -> float:
        return _stretch(self.places, self.points, self.kind)

    def check_possible(self, prior: Prior) -> None:
        """Refuse an error not below that of an attacker who sees no report (`InfeasibleError`)."""
        silent = Mechanism(np.ones((len(prior), 1)), prior.space)
        most = self.lower(self.attack(silent, prior))
        if self.minimum > 0 == most:
            raise InfeasibleError(
                "all visits are at one place, and an attacker who knows them makes no error.",
                "use visits at several places, or ask for no distortion.",
            )
        if self.minimum > most * (1 - _ROOM):
            unit = self.distance.unit
            raise InfeasibleError(
                f"a distortion of {amount(self.minimum, unit)} was asked for, but an attacker who sees no report "
                f"guesses within about {amount(most, unit)} of the true point on average: no mechanism can force "
                "more.",
                f"ask for less than {amount_at_least(most * (1 - 1e-3), unit)}.",
            )


def _first_guesses(places: Places, points: TruePoints) -> Floats:
    """Return the best guess without a report, the most likely places, and a grid that covers all points."""
    centres, masses = np.asarray(places.coordinates), np.asarray(points.masses.sum(axis=0))
    likely = centres[np.argsort(-masses, kind="stable")[:_LIKELY]]
    low, extent = points.xy.min(axis=0), np.ptp(points.xy, axis=0)
    steps = min(_GRID, _PER_PLACE * len(places))
    side = max(float(np.sqrt(extent.prod() / steps)), float(extent.max()) / steps, 1.0)
    counts = [max(1, int(length / side)) for length in extent]
    ticks = [least + side * (np.arange(count) + 0.5) for least, count in zip(low, counts, strict=True)]
    grid = np.stack(np.meshgrid(*ticks), axis=-1).reshape(-1, 2)
    return np.concatenate([points.guesses(np.ones((len(places), 1))).points, likely, grid])


def _stretch(places: Places, points: TruePoints, kind: str) -> float:
    """Return by how much distances on the plane may exceed those on the ground; 1 for one that is of the plane."""
    if kind != "euclidean":
        return 1.0
    centres = float(np.hypot(*np.asarray(places.coordinates).T).max())
    return places.projection.stretch(max(points.reach, centres) * (1 + 1e-12) + 1.0)
