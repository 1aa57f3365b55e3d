"""The attacker who guesses where somebody truly is: any point on the map, not a cell or a vertex."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket, Mechanism, units
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..errors import DataError, InputError, python, row_value
from ..geo import Places, Projection, Visits
from ..geo.true_points import Guesses, TruePoints
from ..rounding import amount_at_least, amount_at_most, down, up

_PROJECTION_M = 2e-6  # float arithmetic of the projection is off by less


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlaceAttack:
    """The best attacker who guesses where somebody truly is, and how far they are off.

    Attributes:
        error: The expected distance on the ground from the true point to the guess. The lower bound is proved of
            every attacker who knows the mechanism and the visits, wherever they guess; the upper one is what the
            guesses here err at most.
        blind: The same of an attacker who sees no report.
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
        return f"PlaceAttack{reports}: errs by {low} to {high} from the true point"


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

    def serves(self, lat: Floats, lon: Floats) -> NDArray[np.bool_]:
        """Return which points it takes."""

    def error(self, points_m: ArrayLike, weights: ArrayLike) -> PlaneErrors:
        """Return how far reports and guesses are from weighted places."""

    def blind(self, points_m: ArrayLike, weights: ArrayLike) -> Bracket:
        """Return how far the best guess without a report is."""


@checked
def true_place(
    mechanism: Mechanism | PlaceNoise, visits: Visits, *, unit: str = "km", user: Hashable | None = None
) -> PlaceAttack:
    """Return the attack that errs least from where visits truly were.

    error = sum over o of min over points g of the mean over visits x of sum over s of w_s(x) p(o|s) |x - g|

    A point x is taken for the secret s with probability w_s(x): for its cell, or for the vertices around it.
    Guesses are any points. Guesses at centres or vertices alone would overstate the error.

    Args:
        mechanism: The mechanism that is attacked; its secrets are places. Of noise for coordinates the report
            before its table is attacked: whoever sees it after the table errs by no less.
        visits: What the attacker knows of where people are, and what is true: a report is made at one of these
            visits, each equally likely. Those outside are left out.
        unit: The unit of the errors.
        user: Only this user's visits.

    Raises:
        InputError: If the secrets are not places.
        DataError: If no visit is inside.

    Source:
        Weighted geometric medians (Weiszfeld), with their dual bound; docs/proofs/true-place.md.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city()
        >>> city = sf.Grid.covering(visits, "2 km", region=visits.region(trim=0.02))
        >>> same = sf.Mechanism(np.eye(len(city)), city, city)
        >>> sf.attacks.true_place(same, visits)
        PlaceAttack on 6 reports: errs by 558 m to 559 m from the true point
    """
    if not isinstance(mechanism, Mechanism):
        return _behind_noise(mechanism, visits if user is None else visits.of_user(user), unit)
    places = mechanism.secrets
    if not isinstance(places, Places):
        raise InputError(
            f"the secrets are not places ({places!r}), so there is no true point to guess.",
            python("use attacks.optimal."),
        )
    points = places.true_points(visits, user)
    found, silent = points.guesses(mechanism.matrix), points.guesses(np.ones((len(places), 1)))
    guesses = readonly(places.projection.inverse(found.points))
    blind = _on_ground(silent, points, places, unit)
    error = _on_ground(found, points, places, unit)
    most = min(error.upper, blind.upper)  # they may leave the report aside
    return PlaceAttack(Bracket(error.lower, min(error.value, most), most), blind, guesses, units.canonical(unit))


def _behind_noise(noise: PlaceNoise, visits: Visits, unit: str) -> PlaceAttack:
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
    most = min(error.upper, blind.upper)  # they may leave the report aside
    found = Bracket(error.lower, min(error.value, most), most)
    none = readonly(np.empty((0, 2)))
    return PlaceAttack(_in(found, scale), _in(blind, scale), none, units.canonical(unit))


def _in(found: Bracket, scale: float) -> Bracket:
    lower = down(found.lower * scale) if found.lower > 0 else 0.0
    return Bracket(lower, found.value * scale, up(found.upper * scale))


def _on_ground(found: Guesses, points: TruePoints, places: Places, unit: str) -> Bracket:
    """Return bounds on the ground: distances there are shorter than on the plane, at most by the stretch."""
    scale = units.factor("m", unit)
    stretch = places.projection.stretch(points.reach * (1 + 1e-12) + 1.0)
    lower = max(0.0, (found.lower - _PROJECTION_M) / stretch * scale)
    upper = (found.value + _PROJECTION_M) * scale
    return Bracket(down(down(lower)) if lower > 0 else 0.0, min(found.value * scale, up(upper)), up(upper))
