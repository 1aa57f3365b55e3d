"""Attackers who guess a true position: any point on the map, not a cell or a vertex."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..core import Bracket, Mechanism, units
from ..core.arrays import Bools, Floats, readonly
from ..core.units import length_m
from ..errors import DataError, InputError, argument, python, row_value
from ..geo import LIMIT_KM, Guesses, Places, Projection, TruePoints, Visits
from ..rounding import UNIT, amount, amount_at_least, amount_at_most, down, up

_PROJECTION_M = 2e-6  # float arithmetic of the projection is off by less
_CHUNK: Final = 64  # squares at a time: neighbours, with few points around
_MOST: Final = 60_000  # squares in all
_PAD_M: Final = 1e-5  # float arithmetic of projected points is off by less,
_RELATIVE: Final = 1e-12  # and that of distances
_QUARTERS: Final = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)]) / 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlaceAttack:
    """The best attacker who guesses the true position, and bounds of their error.

    Attributes:
        error: The expected distance on the ground from the true point to the guess. The lower bound is proved for
            every attacker who knows the mechanism and the visits, for all guesses; the upper one bounds the error
            of the guesses here.
        blind: The same for an attacker who sees no report.
        guesses: Latitude and longitude of the guess for each report, array (observables, 2), degrees; none are
            listed for noise without numbered reports.
        unit: The unit of the errors.
    """

    error: Bracket
    blind: Bracket
    guesses: Floats
    unit: str

    def __repr__(self) -> str:
        low, high = (amount_at_least(self.error.lower, self.unit), amount_at_most(self.error.upper, self.unit))
        reports = f" on {len(self.guesses)} reports" if len(self.guesses) else ""
        return f"PlaceAttack{reports}: average error {low} to {high} from the true point"


class PlaneErrors(Protocol):
    """Mean distances of reports and of the best guesses from the truth, metres on the ground."""

    @property
    def attacker(self) -> Bracket:
        """The mean distance from the true place to the best guess."""


@runtime_checkable
class PlaceNoise(Protocol):
    """Noise for points on the ground, drawn without a matrix, such as `CoordinateNoise`."""

    @property
    def projection(self) -> Projection | None:
        """The plane of its coordinates."""

    @property
    def remap(self) -> object:
        """Its table; None without one."""

    def serves(self, lat: Floats, lon: Floats) -> Bools:
        """Return which points it serves."""

    def error(self, points_m: ArrayLike, weights: ArrayLike) -> PlaneErrors:
        """Return the mean distances of reports and guesses from weighted places."""

    def blind(self, points_m: ArrayLike, weights: ArrayLike) -> Bracket:
        """Return the mean distance of the best guess without a report."""


def true_place(
    mechanism: Mechanism | PlaceNoise, visits: Visits, *, unit: str = "km", user: Hashable | None = None
) -> PlaceAttack:
    """Return the attack with the least error from the true positions of visits.

    error = sum over o of min over points g of the mean over visits x of sum over s of w_s(x) p(o|s) |x - g|

    A point x is taken for the secret s with probability w_s(x): for its cell, or for the vertices around it.
    Guesses are any points. Guesses at centres or vertices alone would overstate the error. Raises `InputError` if
    the secrets are not places. Raises `DataError` if no visit is inside.

    Args:
        mechanism: The mechanism that is attacked; its secrets are places. Of noise for coordinates the report
            before its table is attacked: after the table the error is no less.
        visits: The attacker's knowledge of where people are, and the truth: a report is made at one of these
            visits, each equally likely. Those outside are left out.
        unit: The unit of the errors.
        user: Only this user's visits.

    Source:
        Weighted geometric medians (Weiszfeld), with their dual bound; docs/proofs/true-place.md.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city()
        >>> city = sf.Grid.covering(visits, "2 km", region=visits.region(trim=0.02))
        >>> same = sf.Mechanism(np.eye(len(city)), city, city)
        >>> sf.attacks.true_place(same, visits)
        PlaceAttack on 12 reports: average error 495 m to 496 m from the true point
    """
    if not isinstance(mechanism, Mechanism):
        return _attack_noise(mechanism, visits if user is None else visits.of_user(user), unit)
    places = mechanism.secrets
    if not isinstance(places, Places):
        raise InputError(
            f"the secrets are not places ({places!r}), so there is no true point to guess.",
            python("use attacks.optimal."),
        )
    points = places.true_points(visits, user)
    best, silent = points.guesses(mechanism.matrix), points.guesses(np.ones((len(places), 1)))
    guesses = readonly(places.projection.inverse(best.points))
    blind, error = _on_ground(silent, points, places, unit), _on_ground(best, points, places, unit)
    return PlaceAttack(_at_most_blind(error, blind), blind, guesses, units.canonical(unit))


def _at_most_blind(error: Bracket, blind: Bracket) -> Bracket:
    most = min(error.upper, blind.upper)  # they may leave the report aside
    return Bracket(error.lower, min(error.value, most), most)


def _attack_noise(noise: PlaceNoise, visits: Visits, unit: str) -> PlaceAttack:
    plane = noise.projection
    if plane is None:
        raise InputError("the noise is for points of a plane, not for visits.", "make it with a Projection.")
    inside = noise.serves(visits.lat, visits.lon)
    if not inside.any():
        raise DataError(
            f"none of the {len(visits):,} visits is served by {noise!r}.",
            f"check that visits and noise belong together{row_value(f' (they lie within {visits.extent})', '')}.",
        )
    points = plane.forward(visits.lat[inside], visits.lon[inside])
    weights, scale = np.ones(len(points)), units.factor("m", unit)
    blind, error = noise.blind(points, weights), noise.error(points, weights).attacker
    none, best = readonly(np.empty((0, 2))), _at_most_blind(error, blind)
    return PlaceAttack(_scale_bracket(best, scale), _scale_bracket(blind, scale), none, units.canonical(unit))


def _scale_bracket(bracket: Bracket, scale: float) -> Bracket:
    lower = down(bracket.lower * scale) if bracket.lower > 0 else 0.0
    return Bracket(lower, bracket.value * scale, up(bracket.upper * scale))


def _on_ground(guesses: Guesses, points: TruePoints, places: Places, unit: str) -> Bracket:
    """Return bounds on the ground, where distances are shorter than on the plane, at most by the stretch."""
    scale = units.factor("m", unit)
    stretch = places.projection.stretch(points.reach * (1 + 1e-12) + 1.0)
    lower = max(0.0, (guesses.lower - _PROJECTION_M) / stretch * scale)
    upper = (guesses.value + _PROJECTION_M) * scale
    return Bracket(down(down(lower)) if lower > 0 else 0.0, min(guesses.value * scale, up(upper)), up(upper))


def chance_within(
    mechanism: Mechanism,
    visits: Visits,
    radius: float | str,
    *,
    user: Hashable | None = None,
    tolerance: float = 5e-3,
) -> Bracket:
    """Return how often the best attacker's guess is within a radius of the true point.

    V = sum over o of max over g of the mean over visits x of [|x - g| <= radius] sum over s of w_s(x) p(o|s)

    Weights w_s(x) and guesses are as in `true_place`.

    The upper bound is proved: the plane is covered by squares, and a guess in a square of half-diagonal c is
    within the radius of no point that the middle of the square is not within radius + c of. Squares that could
    hold a better guess are quartered. The lower bound is achieved by middles of squares. The radius is on the
    ground; the stretch of the plane is on the safe side in both bounds. Visits and user are as for `true_place`;
    the radius is a length such as ``"500 m"``, and a Python number is in metres. The search ends where the answer
    is known up to the tolerance, as a share of it, or after 60,000 squares. Raises `InputError` if the secrets are
    not places, or the radius is not positive or too large for a plane. Raises `DataError` if no visit is inside.

    Source:
        docs/proofs/within-radius.md.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city()
        >>> city = sf.Grid.covering(visits, "2 km", region=visits.region(trim=0.02))
        >>> print(sf.attacks.chance_within(sf.Mechanism(np.eye(len(city)), city, city), visits, "500 m"))
        0.6349 (0.6336 to 0.6363)
    """
    places = mechanism.secrets
    if not isinstance(places, Places):
        raise InputError(
            f"guesses within a radius need places, but the secrets are {places!r}.",
            python("use cells or a lattice, or attacks.optimal, which takes any distance."),
        )
    reach = length_m(radius, "the radius")
    if not reach > 0:
        raise InputError(f"a radius of {radius} is not positive.", "use a length such as '500 m'.")
    if not tolerance > 0:
        raise InputError(f"a tolerance of {tolerance} is not positive.", f"use {argument('tolerance', 0.005)}.")
    points = places.true_points(visits, user)
    return chance_of_points(points, mechanism.matrix, reach, places.projection, tolerance=tolerance)


def chance_of_points(
    points: TruePoints,
    channel: Floats,
    reach: float,
    plane: Projection,
    *,
    off: float = 0.0,
    tolerance: float = 5e-3,
    squares: int = _MOST,
) -> Bracket:
    """Return how often the best attacker's guess is within a radius of weighted points; see `chance_within`.

    The channel is p(o|s), array (secrets, observables), each secret's probabilities off by at most ``off`` in sum,
    and the reach is in metres, above 0. The search ends at the tolerance, as a share of the answer, or after so
    many squares. Raises `InputError` if the radius is too large for a plane.
    """
    farthest = points.reach * (1 + _RELATIVE) + reach
    if not farthest <= 1000 * LIMIT_KM:
        raise InputError(
            f"a radius of {amount(reach, 'm')} reaches beyond {LIMIT_KM:,} km from the middle of the places.",
            "use a length such as '500 m'.",
        )
    least = max(0.0, reach * (1 - _RELATIVE) - _PAD_M)
    most = reach * plane.stretch(farthest) * (1 + _RELATIVE) + _PAD_M
    lower, upper = _cover(points, channel, least, most, tolerance, squares)
    slack = 2 * (len(points.xy) + sum(channel.shape) + channel.shape[1] + 32) * UNIT
    high = min(1.0, up(up(upper * (1 + slack)) + off))
    return Bracket.of_bounds(min(max(0.0, down(lower * (1 - slack) - off)), high), high)


def _cover(
    points: TruePoints, matrix: Floats, least: float, most: float, tolerance: float, most_squares: int
) -> tuple[float, float]:
    """Return the success of guesses within the lesser radius, and a bound of any guess's within the larger."""
    low, high = points.xy.min(axis=0), points.xy.max(axis=0)
    # Guesses outside the hull of the points are no better than the nearest inside.
    squares, side = ((low + high) / 2)[None, :], max(float((high - low).max()), least, 1e-3) * (1 + _RELATIVE)
    best, ceiling = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    count = 0
    while True:
        away = side * np.sqrt(0.5) * (1 + _RELATIVE)
        still, unsettled = [], ceiling
        for begin in range(0, len(squares), _CHUNK):
            block = squares[begin : begin + _CHUNK]
            near, far = _masses(points, block, least, most + away)
            best = np.maximum(best, (near @ matrix).max(axis=0))
            could = far @ matrix
            better = (could > best * (1 + tolerance / 2)).any(axis=1)
            ceiling = np.maximum(ceiling, could[~better].max(axis=0, initial=0.0))
            unsettled = np.maximum(unsettled, could.max(axis=0))
            still.append(block[better])
        count += len(squares)
        squares = np.concatenate(still)
        achieved, bound = float(best.sum()), float(np.maximum(best, np.maximum(ceiling, unsettled)).sum())
        if not len(squares) or bound <= achieved * (1 + tolerance) or count + 4 * len(squares) > most_squares:
            return achieved, bound
        squares, side = (squares[:, None, :] + side / 2 * _QUARTERS).reshape(-1, 2), side / 2


def _masses(points: TruePoints, squares: Floats, near: float, far: float) -> tuple[Floats, Floats]:
    """Return the probability of each secret with a point within two radii of the middles, arrays (squares, n)."""
    box = (points.xy >= squares.min(axis=0) - far) & (points.xy <= squares.max(axis=0) + far)
    inside = np.flatnonzero(box.all(axis=1))
    xy, joint = points.xy[inside], points.masses[inside]
    apart = (xy[:, :1] - squares[:, 0]) ** 2 + (xy[:, 1:] - squares[:, 1]) ** 2
    within_near, within_far = ((joint.T @ (apart <= radius**2).astype(np.float64)).T for radius in (near, far))
    return within_near, within_far
