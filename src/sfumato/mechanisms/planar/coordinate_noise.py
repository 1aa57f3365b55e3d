"""Coordinate noise: exact planar noise on a fine lattice, with its guarantee, loss and attacker."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Bracket, Capability, CoordinatePrivacy, PointRecipe, Randomizer, Words, units
from ...core.arrays import Floats, floats, round_degrees, round_point
from ...core.immutable import Immutable, assign
from ...errors import InputError, python
from ...geo import CLOSE_M, LIMIT_KM, Projection, TruePoints, Visits, pulled_in
from ...rounding import amount_at_most, down, exactly, up
from ...sampling import ScalarCoins, SeededWords, SystemWords
from ..family import positive
from ..noise import rational
from .lattice_noise import LatticeNoise, snap, snap_one
from .plane_remap import PlaneRemap, place_shares
from .quadrature import PlaneError, plane_error, raw_error

REACH_M: Final = 100_000.0
"""Default reach: the distance from a projection's centre to which places beyond it are moved."""

_BITS: Final = 64  # of the noise's rate per step
_LONGEST_M: Final = 20_000_000  # metres, half around the Earth
_SMALLEST: Final = Fraction(1, 1 << 900)  # rate per step; floats have it, and its inverse
_ROUNDING: Final = 1e-9  # of medians of places at the rim

PROJECTED_M: Final = 1e-6
"""A bound of the error of a projected place, metres; it is some nanometres at most."""

_REACH_ERROR: Final = 1e-12  # of the reach: by how much rounding may leave a place beyond it


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CoordinateNoise(Immutable, Randomizer, PointRecipe):
    """Planar geometric noise for coordinates, without cells: M(x, o) <= e^(epsilon (|x - x'| + slack)) M(x', o).

    A place is snapped to the nearest point of a square lattice of a few metres. A whole vector z of steps is added
    with probability proportional to exp(-epsilon |z|), drawn exactly on the infinite lattice. A table, if there is
    one, replaces each report by the best place for what it reveals. The slack, sqrt(2) steps, is the most that
    snapping adds to a distance.

    With a projection |x - x'| is the distance on the ground, of places within the reach; the noise is wider by the
    largest stretch of the plane there. `draw` moves places beyond the reach straight to it, so the guarantee holds
    for them, too; a sampler's `blur` refuses them. Without a projection it is the distance in the plane, of any
    two points. Raises `InputError` if epsilon or the step is not positive, the step longer than half around the
    Earth, or the reach not within the limits of projections. Raises `UnitError` if a unit does not fit. Epsilon is
    a number per kilometre, or text such as ``"1/km"``. The step is a length such as ``"2 m"`` or a fraction in
    metres: a small share of 1 / epsilon. The reach, with a projection, is the largest distance from its centre,
    such as ``"30 km"``. `for_places` makes the table, ``remap``.

    Source:
        Andrés, Bordenabe, Chatzikokolakis and Palamidessi, "Geo-indistinguishability", CCS 2013, with discrete
        noise; the remap: Chatzikokolakis, ElSalamouny and Palamidessi, PETS 2017. docs/proofs/planar-noise.md.

    Example:
        >>> noise = CoordinateNoise("1/km", "2 m")
        >>> noise.simulate([[0.0, 0.0], [120.0, -40.0]], seed=7)
        array([[...]])
        >>> noise.promise
        CoordinatePrivacy(epsilon 1/km between any two points, with 2.83 m of slack)
    """

    epsilon: float
    step_m: Fraction
    projection: Projection | None
    reach_m: float
    remap: PlaneRemap | None
    noise: LatticeNoise = field(init=False)
    secrets = observables = None  # points

    def __init__(
        self,
        epsilon: float | str,
        step: float | str | Fraction = "2 m",
        projection: Projection | None = None,
        reach: float | str = REACH_M,
        remap: PlaneRemap | None = None,
    ) -> None:
        rate = positive(units.parse(epsilon, per=True, unit="km", subject="epsilon"), "epsilon")
        size = step if isinstance(step, Fraction) else units.length_m(step, "the step")
        reach_m = math.inf if projection is None else units.length_m(reach, "the reach")
        assign(self, epsilon=rate, step_m=rational(size, "the step"))
        if self.step_m > _LONGEST_M:
            raise InputError("the step is longer than half around the Earth.", "use a step such as '2 m'.")
        assign(self, projection=projection, reach_m=reach_m, remap=remap)
        with np.errstate(over="ignore"):  # infinitely far away is beyond every reach
            farthest = 0.0 if remap is None else float(np.hypot(*remap.arrays()[1].T).max())
        if not farthest <= reach_m * (1 + _ROUNDING):
            raise InputError(
                f"a place of the table is farther than the reach of {reach_m / 1000:,.6g} km from the centre.",
                "make the table of places within the reach, with for_places.",
            )
        widest = 1.0 if projection is None else stretch(reach_m)
        per_step = Fraction(rate) / 1000 * self.step_m / Fraction(widest)
        object.__setattr__(self, "noise", LatticeNoise(_round_rate(per_step)))

    def __reduce__(self) -> tuple[type[CoordinateNoise], tuple[object, ...]]:
        reach = REACH_M if self.projection is None else self.reach_m
        return type(self), (self.epsilon, self.step_m, self.projection, reach, self.remap)

    @property
    def promise(self) -> CoordinatePrivacy:
        """The guarantee for any two places, with its slack; `sfumato.proofs.prove_planar_noise` proves it."""
        return CoordinatePrivacy(self.epsilon, "km", slack(self.step_m, projected=self.projection is not None))

    @property
    def stated_guarantees(self) -> tuple[CoordinatePrivacy, ...]:
        """The guarantee of `promise`."""
        return (self.promise,)

    def supports(self, capability: Capability) -> bool:
        """Return whether the capability is reports for points."""
        return capability is Capability.POINTS

    @classmethod
    def for_visits(
        cls, visits: Visits, epsilon: float | str, *, step: float | str | None = None, fineness: float = 0.1
    ) -> CoordinateNoise:
        """Return noise for the places of visits, with the remap that is best for them.

        The table is computed from these visits and may reveal where they were. If they are those of the protected
        person, it is a second release, which the guarantee does not cover. The plane is centred on the region of
        the visits, and its reach is at least 100 km. Epsilon is a number per kilometre, or text such as
        ``"1/km"``. The step of the lattice is by default a round length near 1 / (500 epsilon), and ``fineness``
        is the width of the table's cells in units of 1 / epsilon. Raises `InputError` if epsilon or the step is
        not positive, the table would have too many cells, or a visit is farther than 1,500 km from the centre.
        """
        rate = positive(units.parse(epsilon, per=True, unit="km", subject="epsilon"), "epsilon")
        plane = Projection(*visits.region().centre)
        points = plane.forward(visits.lat, visits.lon)
        plane.check_reach(points)
        reach = max(REACH_M, math.ceil(float(np.hypot(*points.T).max()) / 1000 + 1) * 1000.0)
        noise = cls(epsilon, _round(2 / rate) if step is None else step, plane, min(reach, 1000.0 * LIMIT_KM))
        return noise.for_places(points, np.ones(len(points)), fineness)

    def for_places(self, points_m: ArrayLike, weights: ArrayLike, fineness: float = 0.1) -> CoordinateNoise:
        """Return the same noise with the remap that is best for weighted places.

        They are metres east and north, array (n, 2), with weights (n,) of at least 0, not all 0, and ``fineness``
        is the width of the table's cells in units of 1 / epsilon. Raises `InputError` if an array is not as
        described, or the table would have too many cells.
        """
        table = PlaneRemap.of(self._inside(points_m), weights, self.rate_per_m, self.step_m, fineness)
        reach = REACH_M if self.projection is None else self.reach_m
        return CoordinateNoise(self.epsilon, self.step_m, self.projection, reach, table)

    def recipe(self) -> CoordinateNoise:
        """Return this noise itself, which draws for points."""
        return self

    def serves(self, lat: Floats, lon: Floats) -> NDArray[np.bool_]:
        """Return which points, in degrees, are on the Earth and within the reach, array (n,)."""
        return np.asarray(self.beyond_m(lat, lon) <= 0)

    def beyond_m(self, lat: Floats, lon: Floats) -> Floats:
        """Return how far each point is moved to be served, metres, array (n,); NaN if not on the Earth.

        It is at most 0 within the reach. Points on the far side of the Earth are moved on towards the centre.
        """
        points = self._plane.forward(lat, lon)
        shift = np.hypot(*(points - pulled_in(points, self.reach_m)).T)
        beyond = np.hypot(*points.T) - self.reach_m
        return np.asarray(np.where(beyond > 0, np.maximum(shift, beyond), beyond))

    def blur_points(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool = False) -> Floats:
        """Return a report for each point on the ground: latitudes and longitudes in degrees, array (n, 2).

        ``nearest`` moves points beyond the reach straight to it, instead of refusing them. This brings no two
        points farther apart, so the guarantee holds for all of them. Raises `InputError` if there is no
        projection, or a point is not on the Earth, or beyond the reach.
        """
        plane = self._plane
        points = plane.forward(lat, lon)
        away = np.hypot(*points.T)
        bad = np.flatnonzero(~(away <= (math.inf if nearest else self.reach_m)))
        if bad.size:
            first = int(bad[0])
            problem = (
                f"it is {away[first] / 1000:,.0f} km from the centre {plane.lat:.5f}, {plane.lon:.5f}, and points "
                f"are served up to {self.reach_m / 1000:,.6g} km"
                if math.isfinite(away[first])
                else "it is not a latitude and a longitude"
            )
            is_single = away.size == 1
            subject = (
                "the point cannot be blurred ("
                if is_single
                else f"{bad.size:,} of {away.size:,} points cannot be blurred (the first is number {first + 1}, "
            )
            raise InputError(
                f"{subject}{lat[first]:g}, {lon[first]:g}: {problem}).",
                self._slip(lat[bad], lon[bad]),
                "leave it out" if is_single else "leave them out",
                "design the noise for a wider region." if np.isfinite(away[bad]).all() else "",
            )
        return round_degrees(plane.inverse(self._reports(points, words)))

    def _slip(self, lat: Floats, lon: Floats) -> str:
        """Return a hint where all points that cannot be blurred have swapped coordinates."""
        if np.isnan(lat).any() or np.isnan(lon).any():
            return ""
        inside = self.serves(lon, lat) if (np.abs(lon) <= 90).all() else np.zeros(1, dtype=np.bool_)
        swapped = "check whether latitude and longitude are swapped: the other way round it is served"
        return swapped if inside.all() else ""

    def blur_point(self, lat: float, lon: float, words: Words, *, nearest: bool = False) -> tuple[float, float]:
        """Return a report for one point, latitude and longitude, in less time; see `blur_points`."""
        plane = self._plane
        x, y = plane.forward_one(lat, lon)
        if not math.hypot(x, y) < self.reach_m - CLOSE_M:
            north, east = self.blur_points(np.array([lat]), np.array([lon]), words, nearest=nearest)[0].tolist()
            return north, east
        i, j = self.noise.noise_one(ScalarCoins(words))
        i, j = i + snap_one(x, self.step_m), j + snap_one(y, self.step_m)
        if self.remap is None:
            x, y = i * float(self.step_m), j * float(self.step_m)
        else:
            x, y = self.remap.places(np.array([[i, j]]))[0].tolist()
        return round_point(*plane.inverse_one(x, y))

    def draw(self, points_m: ArrayLike) -> Floats:
        """Return reports for places, metres (n, 2), by the system's randomness; `InputError` for no numbers."""
        return self._reports(points_m, SystemWords())

    def simulate(self, points_m: ArrayLike, seed: int) -> Floats:
        """Return reproducible reports, for studies and tests, never for release; see `draw`."""
        return self._reports(points_m, SeededWords(seed))

    def log_likelihoods(self, points_m: Floats, reports_m: Floats) -> Floats:
        """Return log P(report | point) + constant, without a table, from metres (k, 2), (n, 2): array (n, k)."""
        away = np.hypot(*(reports_m[:, None] - self.origins(points_m)).T).T
        return np.asarray(-self.rate_per_m * away)

    def origins(self, points_m: Floats) -> Floats:
        """Return the lattice points that points (n, 2) are snapped to, where noise is added, metres (n, 2)."""
        return np.asarray(snap(points_m, self.step_m) * float(self.step_m))

    @property
    def rate_per_m(self) -> float:
        """The rate r of the noise exp(-r |z|) / Z, for vectors z in metres of the plane."""
        return float(self.noise.rate / self.step_m)

    def error(self, points_m: ArrayLike, weights: ArrayLike, fineness: float = 0.1) -> PlaneError:
        """Return the mean distances of reports and of the attacker's best guesses from the truth, between bounds.

        With a projection distances are on the ground, which are shorter than on the plane by at most its stretch.
        The attacker knows the places and their weights. If the table in use is that of other places, the lower
        bound of their error is poor. Arguments are those of `for_places`; the fineness is that of the table where
        none is in use.
        """
        x = self._inside(points_m)
        table = self.remap or PlaneRemap.of(x, weights, self.rate_per_m, self.step_m, fineness)
        on_plane = plane_error(x, weights, self.noise.rate, self.step_m, table)
        loss = raw_error(x, weights, self.noise.rate, self.step_m) if self.remap is None else on_plane.loss
        return PlaneError(self._on_ground(loss), self._on_ground(on_plane.attacker))

    def blind(self, points_m: ArrayLike, weights: ArrayLike) -> Bracket:
        """Return the mean distance of the best guess without a report, between bounds; see `for_places`."""
        from scipy.sparse import csr_array

        x, w = place_shares(self._inside(points_m), weights)
        bracket = TruePoints(x, csr_array(w[:, None])).guesses(np.ones((1, 1)))
        return self._on_ground(Bracket(bracket.lower, bracket.value, up(bracket.value * (1 + _ROUNDING))))

    def describe(self) -> tuple[str, ...]:
        """Return sentences about the noise and its guarantee."""
        step = amount_at_most(float(self.step_m), "m")
        does = f"Places are snapped to the nearest point of a lattice of {step} and moved by noise, drawn exactly"
        table = "" if self.remap is None else "; each report is replaced by the best place for what it reveals"
        return (f"{does}{table}.", self.promise.noise_sentence(self.reach_m))

    def __repr__(self) -> str:
        table = "" if self.remap is None else ", remapped"
        mean_m = 2 * float(self.step_m / self.noise.rate)
        return (
            f"CoordinateNoise(epsilon {exactly(self.epsilon)}/km, slack "
            f"{amount_at_most(self.promise.slack_m, 'm')}, noise of {units.show(mean_m, 'm')} on average{table})"
        )

    def _on_ground(self, bracket: Bracket) -> Bracket:
        if self.projection is None:
            return bracket
        lower = down(bracket.lower / stretch(self.reach_m)) if bracket.lower > 0 else 0.0
        return Bracket(lower, bracket.value, bracket.upper)

    @property
    def _plane(self) -> Projection:
        if self.projection is None:
            raise InputError(
                "this noise is for points of a plane, not for latitudes and longitudes.",
                python("use draw() with metres, or pass a Projection when you make it."),
            )
        return self.projection

    def _reports(self, points_m: ArrayLike, words: Words) -> Floats:
        x = self._inside(points_m)
        steps: NDArray[np.int64] = snap(x, self.step_m) + self.noise.noise(len(x), words)
        return steps.astype(np.float64) * float(self.step_m) if self.remap is None else self.remap.places(steps)

    def _inside(self, points_m: ArrayLike) -> Floats:
        points = floats(points_m, "the places", shape=(None, 2))
        return points if math.isinf(self.reach_m) else pulled_in(points, self.reach_m)


def _round(length: float) -> str:
    """Return a length with one digit, no longer than the one given, as text."""
    size = 10.0 ** math.floor(math.log10(length))
    return f"{math.floor(length / size * (1 + 1e-9)) * size:.12g} m"


def _round_rate(rate: Fraction) -> Fraction:
    """Return a rate rounded down to few bits, so that integers stay short."""
    if not _SMALLEST < rate < 1 / _SMALLEST:
        raise InputError(
            "the scale of the noise of this epsilon cannot be used with steps of this length.",
            "use an epsilon such as '1/km', and a step such as '2 m'.",
        )
    shift = _BITS - math.floor(math.log2(rate))
    return Fraction(math.floor(rate * 2**shift), 2**shift) if shift > 0 else rate


def slack(step_m: Fraction, *, projected: bool) -> float:
    """Return the slack of a lattice in metres, rounded up: twice a place's distance from its lattice point."""
    length = math.sqrt(2.0) * float(step_m) * (1 + 2.0**-50)
    return up(length + 2 * PROJECTED_M) if projected else up(length)


def stretch(reach_m: float) -> float:
    """Return the factor by which the azimuthal equidistant plane stretches distances within a reach, rounded up.

    Raises `InputError` if the reach is not positive, or beyond the limit of projections.
    """
    if not 0 < reach_m <= 1000 * LIMIT_KM:
        raise InputError(
            f"the reach {reach_m:g} m is not above 0 and up to {LIMIT_KM:,} km.",
            "use the size of the town or country.",
        )
    return Projection(0.0, 0.0).stretch(reach_m * (1 + _REACH_ERROR))
