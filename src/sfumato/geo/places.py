"""Places on the ground: common interface of grids, hexagons and lattices, their sizes, and subsets of places."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import WGS84, Loss, LossPoints, Space, great_circle_m, naming, units
from ..core.arguments import check_arguments
from ..core.arrays import Floats, integer, numbers, readonly, round_degrees
from ..core.immutable import assign
from ..core.units import show
from ..errors import DataError, InputError, argument, python, row_value
from ..rounding import plural
from .projection import Projection
from .region import Region
from .served_parts import ServedParts
from .true_points import DISTANCES, TruePoints
from .vertices import Draw, Rounding
from .visits import Visits

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_BLOCK: Final = 1 << 10  # points at a time, each with its distance to every place

TRUE_POINT: Final = naming.TRUE_POINT
"""How the names of losses end that are counted from true points."""

MOST_CELLS: Final = 10_000
"""A mechanism has a number for every pair of cells: 800 MB for 10,000 cells."""

Length = float | str


class OnePoint(Protocol):
    """Sampler of the secret that one point is taken for."""

    def draw_secret(self, lat: float, lon: float, words: Draw, *, nearest: bool = False) -> int | None:
        """Return the position of the secret; None where `Places.draw_secrets` has to decide."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Places(Space, ABC):
    """Cells or vertices on the ground, named by labels, on the plane of a local projection in metres, the CRS."""

    def confirms_coordinates(self, _secrets: Space) -> bool:
        """Return True: rows are matched with places by position, so the coordinates follow."""
        return True

    @abstractmethod
    def draw_secrets(self, lat: ArrayLike, lon: ArrayLike, words: Draw) -> NDArray[np.intp]:
        """Return the position of the secret that each point is taken for, array (n,); -1 for points not served.

        A guarantee for points is about this step and a mechanism on the places together. Cells take a point for
        its cell; a lattice draws a vertex near it at random. Points are arrays (n,) in degrees, and ``words``
        returns a given number of fresh, uniform 64-bit words.
        """

    @abstractmethod
    def rounding(self, lat: ArrayLike, lon: ArrayLike) -> Rounding:
        """Return the secrets that points in degrees, arrays (n,), may be taken for, with their probabilities."""

    @abstractmethod
    def nearest(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]:
        """Return points in degrees, arrays (n,), those outside but on Earth moved to the nearest place."""

    @abstractmethod
    def singly(self) -> OnePoint:
        """Return a sampler that draws as `draw_secrets` does, prepared for many single points."""

    @abstractmethod
    def outlines_latlon(self) -> Floats:
        """Return the corners of each cell, counter-clockwise: array (n, corners, 2), degrees."""

    @abstractmethod
    def supports(self) -> tuple[Floats, float]:
        """Return corners (n, k, 2) around the points that may be taken for each place, and metres to add to them.

        They are on the plane. A point is at most so many metres outside the corners' convex hull.
        """

    @abstractmethod
    def parts(self) -> tuple[ServedParts, float]:
        """Return parts that cover all points that are served, and metres that a point may be outside them."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return a description of the places as JSON values, from which `places_from` builds them again."""

    @property
    def projection(self) -> Projection:
        """The projection of the coordinates."""
        return Projection.from_crs(self.crs or "")

    @property
    def latlon(self) -> Floats:
        """The centres as latitude and longitude in degrees, array (n, 2)."""
        return readonly(self.projection.inverse(self._centres()))

    def inside(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.bool_]:
        """Return which points are served, array (n,)."""
        return self.rounding(lat, lon).inside

    def counts(self, values: Visits | Iterable[Hashable], user: Hashable | None = None) -> NDArray[Any]:
        """Return the sum of the probabilities with which visits are taken for each secret, array (n,).

        A visit in a cell counts one there. Visits outside are not counted. ``values`` are visits, or a sequence of
        labels; with ``user`` only this user's visits count. Raises `DataError` if no visit is inside. Raises
        `InputError` if the values are neither visits nor labels of places.
        """
        if not isinstance(values, Visits):
            hint = python("pass visits, from sf.read_visits or sf.Visits(lat, lon).")
            if isinstance(values, str):  # its letters are no labels
                raise InputError(f"the visits are the text {values!r}.", hint)
            try:
                return Space.counts(self, values, user)
            except InputError as wrong:
                raise InputError(wrong.text, *wrong.hints, hint) from None
        return np.asarray(self._shares(values, user)[0].sum(axis=0))

    def kinds(self, points: Visits, labels: ArrayLike) -> dict[str, Floats]:
        """Return the probability of each kind of place in each secret, array (n,) by kind: a semantic map.

        ``labels`` are the kinds of the points of a map, array (k,). Of the points taken for a secret each is
        equally probable; a secret without points is of the kind ``""``. With visits as points, and their prior, it
        gives the joint distribution of kinds and secrets. Raises `DataError` if no point is inside.
        """
        names, inside = np.asarray(labels).astype(str), self.inside(points.lat, points.lon)
        if not inside.any():
            raise DataError("no place of the map is in the region.", "name a map of this region.")
        within = {
            name: points.select(inside & (names == name)) for name in dict.fromkeys(sorted(names[inside].tolist()))
        }
        counts = {name: self.counts(group).astype(np.float64) for name, group in within.items()}
        totals = np.asarray(sum(counts.values()))
        shares = {
            name: np.divide(count, totals, out=np.zeros(len(self)), where=totals > 0)
            for name, count in counts.items()
        }
        return shares | ({"": (totals == 0).astype(np.float64)} if (totals == 0).any() else {})

    @check_arguments
    def loss(
        self,
        visits: Visits,
        kind: str = "euclidean",
        unit: str = "km",
        *,
        observables: Space | None = None,
        user: Hashable | None = None,
    ) -> Loss:
        """Return the mean distance from the true point to a report over the visits taken for each secret.

        With the prior of the same visits, the expected loss of a mechanism on these places is exactly the expected
        distance from the true point to the report. It is an average: nothing follows for the worst point. A place
        without visits counts from its centre. Raises `InputError` if the kind is unknown, or the reports have no
        places on the same plane. Raises `DataError` if no visit is inside. Visits outside are left out, and with
        ``user`` all but those of this user. The kind is ``euclidean`` or ``manhattan``, on the plane.
        ``observables`` are the reports, on the same plane or in degrees (WGS84); by default the places themselves.
        """
        if kind not in DISTANCES:
            raise InputError(f"the loss {kind!r} is unknown.", f"use one of {', '.join(DISTANCES)}.")
        targets = self._centres() if observables is None else self.on_plane(observables)
        points = self.true_points(visits, user)
        masses, total = points.masses.sum(axis=0), points.distances(targets, kind)
        has_visits = masses > 0
        total[has_visits] /= masses[has_visits, None]
        total[~has_visits] = DISTANCES[kind](self._centres()[~has_visits], targets)
        origin = LossPoints(points.xy, points.masses.sum(axis=1), masses)
        return Loss(total * units.factor("m", unit), unit, points=origin, true_point=kind)

    def true_points(
        self, visits: Visits, user: Hashable | None = None, *, times: NDArray[np.int64] | None = None
    ) -> TruePoints:
        """Return the positions of visits on the plane, and the secrets they are taken for.

        Visits outside are left out, and so are those of other users than ``user``. ``times`` is how often each
        visit counts, where all are inside; by default once. Raises `DataError` if no visit is inside.
        """
        shares, degrees = self._shares(visits, user)
        return TruePoints.of(self.projection.forward(*degrees.T), shares, times)

    def on_plane(self, reports: Space) -> Floats:
        """Return the places of reports, on this plane or in degrees (else `InputError`), array (m, 2), metres."""
        if reports.coordinates is not None and reports.crs == WGS84:
            return self.projection.forward(*reports.coordinates.T)
        if reports.coordinates is None or reports.crs != self.crs or reports.unit != self.unit:
            raise InputError(
                "the reports are not places on the same plane.",
                f"use places of the same CRS, or latitudes and longitudes with {argument('crs', WGS84)}.",
            )
        return reports.coordinates

    @property
    def _served_by(self) -> str:
        return f"the {len(self)} cells"

    def _shares(self, visits: Visits, user: Hashable | None) -> tuple[csr_array, Floats]:
        """Return the probabilities of visits inside, sparse (visits, n), and their degrees, array (visits, 2)."""
        from scipy.sparse import csr_array

        sample = visits if user is None else visits.of_user(user)
        rounding = self.rounding(sample.lat, sample.lon)
        inside = rounding.inside
        if not inside.any():
            suffix = "" if user is None else f" of user {user!r}"
            lat, lon = self.latlon.min(axis=0), self.latlon.max(axis=0)
            raise DataError(
                f"of {plural(len(sample), 'visit')}{suffix} none falls into {self._served_by} "
                f"({lat[0]:.5f} to {lon[0]:.5f} N, {lat[1]:.5f} to {lon[1]:.5f} E).",
                f"choose a region where they are{row_value(f' ({sample.extent})', '')}, "
                "or check whether lat and lon are swapped.",
            )
        positions, shares = rounding.positions[inside], rounding.shares[inside]
        flat, rows = shares.ravel(), np.repeat(np.arange(len(positions)), positions.shape[1])
        mask = flat > 0
        masses = csr_array((flat[mask], (rows[mask], positions.ravel()[mask])), shape=(len(positions), len(self)))
        return masses, np.column_stack([sample.lat[inside], sample.lon[inside]])

    def _centres(self) -> Floats:
        if self.coordinates is None:
            raise InputError("the cells have no centres.", "build them with covering().")
        return self.coordinates


class Cells(Places):
    """Cells on the ground; each visit falls into one of them, or outside."""

    __slots__ = ()

    @abstractmethod
    def locate(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of the cell of each point in degrees, array (n,); -1 outside all cells."""

    def draw_secrets(self, lat: ArrayLike, lon: ArrayLike, words: Draw) -> NDArray[np.intp]:  # noqa: ARG002
        """Return the position of the cell of each point, array (n,); -1 outside all cells. Nothing is drawn."""
        return self.locate(lat, lon)

    def nearest(self, lat: ArrayLike, lon: ArrayLike) -> tuple[Floats, Floats]:
        """Return points, those outside moved to the nearest centre; see `Places.nearest`."""
        north, east = numbers(lat, "the latitude").ravel(), numbers(lon, "the longitude").ravel()
        away = np.flatnonzero((self.locate(north, east) < 0) & (np.abs(north) <= 90) & np.isfinite(east))
        centres = self.latlon
        for start in range(0, len(away), _BLOCK):
            rows = away[start : start + _BLOCK]
            distances = great_circle_m(np.column_stack([north[rows], east[rows]]), centres)
            north[rows], east[rows] = centres[np.argmin(distances, axis=1)].T
        return north, east

    def singly(self) -> OnePoint:
        """Return a sampler that leaves single points to `locate`."""
        return _CellSampler()

    def rounding(self, lat: ArrayLike, lon: ArrayLike) -> Rounding:
        """Return the cell of each point, with probability one."""
        positions = self.locate(lat, lon)[:, None]
        return Rounding(positions, np.ones(positions.shape))


class _CellSampler:
    """Sampler of single points of cells, which leaves them to `Cells.draw_secrets`."""

    def draw_secret(self, lat: float, lon: float, words: Draw, *, nearest: bool = False) -> int | None:  # noqa: ARG002
        return None


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class ChosenPlaces(Space):
    """Places of a grid, hexagons or a lattice, at ascending positions (k,) (else `InputError`), as reports."""

    places: Places = field(init=False)
    indices: NDArray[np.intp] = field(init=False)

    def __init__(self, places: Places, indices: ArrayLike) -> None:
        array = np.asarray(indices)
        integers = [integer(position) for position in array.tolist()] if array.ndim == 1 else []
        if not integers or None in integers:
            raise InputError("the chosen places are not a list of positions.", "pass whole numbers from 0.")
        positions = array.astype(np.intp)
        if (np.diff(positions) <= 0).any() or positions[0] < 0 or positions[-1] >= len(places):
            raise InputError(
                f"the chosen places are not ascending positions from 0 to {len(places) - 1:,}.",
                "sort them, and give each once.",
            )
        coordinates = None if places.coordinates is None else places.coordinates[positions]
        labels = [places.labels[position] for position in positions]
        Space.__init__(self, labels, coordinates, places.unit, places.crs)
        assign(self, places=places, indices=readonly(positions))

    def confirms_coordinates(self, secrets: Space) -> bool:
        """Return whether the secrets are all places, so that the coordinates of reports follow from them."""
        return secrets == self.places

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.places, self.indices)

    def __repr__(self) -> str:
        return f"{len(self)} of the places of a {self.places!r}"

    @property
    def latlon(self) -> Floats:
        """The chosen places as latitude and longitude in degrees, array (k, 2)."""
        return readonly(self.places.latlon[self.indices])


def among(space: Space, positions: NDArray[np.intp]) -> Space | None:
    """Return the members of a space at ascending positions as a space; None where its kind has no such parts."""
    if isinstance(space, Places):
        return ChosenPlaces(space, positions)
    if isinstance(space, ChosenPlaces):
        return ChosenPlaces(space.places, space.indices[positions])
    if type(space) is not Space:
        return None
    coordinates = None if space.coordinates is None else space.coordinates[positions]
    return Space([space.labels[position] for position in positions], coordinates, space.unit, space.crs)


def latlon_of(space: Space) -> Floats | None:
    """Return latitudes and longitudes (n, 2) of the members of a space, as reports have them; None without any."""
    if isinstance(space, Places) or (space.crs == WGS84 and space.coordinates is not None):
        return round_degrees(space.latlon)
    if space.crs is None or space.coordinates is None:
        return None
    try:
        return round_degrees(Projection.from_crs(space.crs).inverse(space.coordinates))
    except InputError:  # a coordinate system of the user's own
        return None


@contextmanager
def parsing_of(noun: str, keys: str) -> Iterator[None]:
    """Refuse a description of places that is incomplete or damaged (`InputError`)."""
    try:
        yield
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"the description of {noun} is incomplete or damaged ({error!r}).",
            f"it needs {keys}, as in a mechanism file.",
        ) from None


def area_of(places: Visits | Region | str, region: Region | str | None) -> tuple[Region, Visits | None]:
    """Return the named region, else that of the places, and the visits among the places."""
    visits = places if isinstance(places, Visits) else None
    area = places if region is None else region
    if isinstance(area, Visits):
        return area.region(), visits
    return Region.parse(area) if isinstance(area, str) else area, visits


class Sizing(Enum):
    """The argument that decides how many places cover a region."""

    CELL = "Grid.covering.cell"
    SHAPE = "Grid.covering.shape"
    WIDTH = "Hexagons.covering.cell"
    RESOLUTION = "resolution"
    SPACING = "Lattice.covering.spacing"


def check_size(cells: float, region: Region, visits: Visits | None, by: Sizing) -> None:
    """Refuse one cell, or more than 10,000; the `InputError` names what to change of the argument ``by``."""
    if cells <= 1:
        raise InputError(
            f"a region of {region.size} gives one cell, and a mechanism on one cell has nothing to hide.",
            f"choose smaller cells with {argument(by.value)}",
            f"choose a wider region with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
        )
    if cells <= MOST_CELLS:
        return
    width, height = region.size_m
    noun = "vertices" if by is Sizing.SPACING else "cells"
    hints = [
        f"choose fewer {noun} with {argument(by.value, _fewer(width, height, by))}{_size_hint(width, height, by)}"
    ]
    core = _core(cells, region, visits)
    if core is not None and by is not Sizing.SHAPE:
        hints.append(
            f"keep to the middle with {argument('region', core)} ({core.size}), which leaves out up to 5 % of the "
            "visits on each side."
        )
    raise InputError(
        f"a region of {region.size} gives {cells:,.0f} {noun}, but at most {MOST_CELLS:,} are possible.", *hints
    )


def _fewer(width: float, height: float, by: Sizing) -> object:
    """Return a value of the argument ``by`` that gives some hundred cells over a rectangle in metres."""
    if by is Sizing.RESOLUTION:
        return ""
    side = max(width, height, (width * height) ** 0.5) / 30
    if by is Sizing.SHAPE:
        return max(2, round(width / side)), max(1, round(height / side))
    digits = -int(np.floor(np.log10(side)))
    return show(float(np.ceil(side * 10.0**digits) / 10.0**digits), "m")


def _size_hint(width: float, height: float, by: Sizing) -> str:
    """Return the least spacing or cell that fits, in words."""
    if by in (Sizing.RESOLUTION, Sizing.SHAPE) or not width * height > 0:
        return ""
    side = (width * height / MOST_CELLS) ** 0.5
    while (width / side + 4) * (height / side + 4) > MOST_CELLS:
        side *= 1.02
    digits = 1 - int(np.floor(np.log10(side)))
    return f" ({show(float(np.ceil(side * 10.0**digits) / 10.0**digits), 'm')} is about the least that fits)"


def _core(cells: float, region: Region, visits: Visits | None) -> Region | None:
    """Return the region of most of the visits, if the cells over it are few enough."""
    if visits is None or not (inside := region.contains(visits.lat, visits.lon)).any():
        return None
    core = visits.select(inside).region(trim=0.05)
    (width, height), (wide, high) = core.size_m, region.size_m
    left = cells * (width / wide) * (height / high)
    return core if 4 < left < MOST_CELLS / 2 else None
