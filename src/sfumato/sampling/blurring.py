"""Points on the ground: each is taken for a secret, and a report is drawn, in degrees both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import PointRecipe, Recipe, Row, Words
from ..core.arrays import Floats, numbers, round_degrees
from ..core.recipe import Uints
from ..errors import InputError, argument

Outside = Literal["error", "nearest"]
_OUTSIDE = ("error", "nearest")


class _Single(Protocol):
    def drawn(self, lat: float, lon: float, words: Callable[[int], Uints], *, nearest: bool) -> int | None: ...


@runtime_checkable
class _Ground(Protocol):
    """Places that know for which secret a point is taken."""

    def drawn(self, lat: ArrayLike, lon: ArrayLike, words: Callable[[int], Uints]) -> NDArray[np.intp]: ...

    def nearest(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]: ...

    def singly(self) -> _Single: ...


@dataclass(frozen=True, slots=True)
class MechanismPoints(PointRecipe):
    """Points under a mechanism on places: on a lattice they are first rounded at random, cells hold them.

    Attributes:
        row: How the mechanism is drawn from.
    """

    row: Row
    _ground: _Ground = field(init=False, repr=False, compare=False)
    _single: _Single = field(init=False, repr=False, compare=False)
    _places: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        mechanism = self.row.mechanism
        if not isinstance(mechanism.secrets, _Ground):
            raise _no_points(mechanism)
        object.__setattr__(self, "_ground", mechanism.secrets)
        object.__setattr__(self, "_single", mechanism.secrets.singly())
        object.__setattr__(self, "_places", round_degrees(mechanism.observables.latlon))

    def blurred(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Floats:
        """Return reports for points, array (n, 2), degrees; see `PointRecipe`."""
        if nearest:
            lat, lon = self._ground.nearest(lat, lon)
        secrets = self._ground.drawn(lat, lon, words.draw)
        if (secrets < 0).any():
            first = int(np.argmax(secrets < 0))
            missed = (
                f"{int((secrets < 0).sum()):,} of {secrets.size:,} points are not served by "
                f"{self.row.mechanism.secrets!r} (the first is number {first + 1}"
            )
            if not (abs(lat[first]) <= 90 and np.isfinite(lon[first])):
                raise InputError(
                    f"{missed}, which is not a latitude and a longitude).",
                    "pass degrees, the latitude first, and leave out points without them.",
                )
            swapped = self._ground.drawn(lon[first : first + 1], lat[first : first + 1], words.draw)[0] >= 0
            raise InputError(
                f"{missed}).",
                "pass the latitude first: the other way round it is served" if swapped else "",
                "" if nearest else f"pass {argument('outside', 'nearest')} to move them to the nearest place",
                "leave them out, or design for a wider region.",
            )
        reports: Floats = self._places[self.row.draw(secrets, words)]
        return reports

    def blurred_one(self, lat: float, lon: float, words: Words, *, nearest: bool) -> tuple[float, float]:
        """Return the report for one point, degrees; see `PointRecipe`."""
        secret = self._single.drawn(lat, lon, words.draw, nearest=nearest)
        if secret is None:
            north, east = self.blurred(np.array([lat]), np.array([lon]), words, nearest=nearest)[0].tolist()
        else:
            report = self.row.draw_one(secret, words)
            north, east = self._places.item(report, 0), self._places.item(report, 1)
        return north, east


def points_of(drawable: object, recipe: Recipe | PointRecipe) -> PointRecipe:
    """Return how something that can be drawn from reports points.

    Raises:
        InputError: If its secrets or reports are not places.
    """
    if isinstance(recipe, PointRecipe):
        return recipe
    if isinstance(recipe, Row):
        return MechanismPoints(recipe)
    raise _no_points(drawable)


def _no_points(drawable: object) -> InputError:
    return InputError(
        f"points cannot be blurred by {drawable!r}: its secrets are not places on the ground.",
        "design a mechanism on a Lattice, a Grid or Hexagons",
        "use draw() with positions of secrets.",
    )


def blurred(recipe: PointRecipe, words: Words, lat: ArrayLike, lon: ArrayLike, outside: Outside) -> Floats:
    """Return reports for points of any shape, degrees, array (..., 2); see `Sampler.blur`."""
    if outside not in _OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(_OUTSIDE)}.")
    nearest = outside == "nearest"
    one = _number(lat), _number(lon)
    if one[0] is not None and one[1] is not None:
        return np.array(recipe.blurred_one(one[0], one[1], words, nearest=nearest))
    north, east = numbers(lat, "the latitude"), numbers(lon, "the longitude")
    if north.shape != east.shape:
        raise InputError(
            f"latitudes of shape {north.shape} and longitudes of shape {east.shape} were given.",
            "pass as many latitudes as longitudes.",
        )
    return recipe.blurred(north.ravel(), east.ravel(), words, nearest=nearest).reshape(*north.shape, 2)


def _number(value: object) -> float | None:
    try:
        return float(value) if isinstance(value, float | int) else None
    except OverflowError:
        return None
