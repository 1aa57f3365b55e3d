"""What all divisions of the ground into cells have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Space
from ..core.arrays import Floats, readonly
from ..core.units import show
from ..errors import DataError, InputError, argument
from .projection import Projection
from .region import Region
from .visits import Visits

MOST_CELLS: Final = 10_000
"""A mechanism has a number for every pair of cells: 800 MB for so many."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Places(Space, ABC):
    """Cells on the ground; each visit falls into one of them, or outside.

    The labels name the cells, the coordinates are their centres in metres on the plane
    of a local projection, whose PROJ string is the CRS.
    """

    @abstractmethod
    def locate(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of the cell of each point, array (n,); -1 outside all cells.

        Args:
            lat: Latitudes, array (n,) in degrees.
            lon: Longitudes, array (n,) in degrees.
        """

    @abstractmethod
    def outlines_latlon(self) -> Floats:
        """Return the corners of each cell, counter-clockwise: array (n, corners, 2), degrees."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return all that is needed to build the cells again, in terms that JSON knows."""

    @property
    def projection(self) -> Projection:
        """The projection of the coordinates."""
        return Projection.from_crs(self.crs or "")

    @property
    def latlon(self) -> Floats:
        """The centres as latitude and longitude in degrees, array (n, 2)."""
        return readonly(self.projection.inverse(self._centres()))

    def counts(self, values: Visits | Iterable[Hashable], user: Hashable | None = None) -> NDArray[np.int64]:
        """Count the visits in each cell, array (n,); those outside all cells count nowhere.

        Args:
            values: Visits, or a sequence of labels.
            user: Only this user's visits.

        Raises:
            DataError: If no visit falls into a cell.
        """
        if not isinstance(values, Visits):
            return Space.counts(self, values, user)
        chosen = values if user is None else values.of_user(user)
        cells = self.locate(chosen.lat, chosen.lon)
        if not (cells >= 0).any():
            whose = "" if user is None else f" of user {user!r}"
            lat, lon = self.latlon.min(axis=0), self.latlon.max(axis=0)
            raise DataError(
                f"none of the {len(chosen):,} visits{whose} falls into the {len(self)} cells "
                f"({lat[0]:.5f} to {lon[0]:.5f} N, {lat[1]:.5f} to {lon[1]:.5f} E).",
                f"they lie within {chosen.extent}: choose a region there, or see whether lat and lon are swapped.",
            )
        return np.bincount(cells[cells >= 0], minlength=len(self)).astype(np.int64)

    def _centres(self) -> Floats:
        if self.coordinates is None:
            raise InputError("the cells have no centres.", "build them with covering().")
        return self.coordinates


def area_of(places: Visits | Region | str, region: Region | str | None) -> Region:
    """Return the region to cover: the one named, or that of the places."""
    chosen = places if region is None else region
    if isinstance(chosen, Visits):
        return Region.of(chosen)
    return Region.parse(chosen) if isinstance(chosen, str) else chosen


def check_size(cells: float, region: Region, visits: Visits | None, by: str) -> None:
    """Refuse one cell, and more cells than a mechanism can have.

    Args:
        cells: How many there would be.
        region: What they cover.
        visits: The visits, where the region is theirs or they are to be inside.
        by: The argument that decides how many there are, with its function.

    Raises:
        InputError: With the size of the region and what to choose instead.
    """
    if cells <= 1:
        raise InputError(
            f"a region of {region.size} gives one cell, and a mechanism on one cell has nothing to hide.",
            f"choose smaller cells with {argument(by)}",
            f"choose a wider region with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
        )
    if cells <= MOST_CELLS:
        return
    width, height = region.size_m
    hints = [f"choose fewer cells with {argument(by, _fewer(width, height, by))}"]
    core = _core(cells, region, visits)
    if core is not None and not by.endswith("shape"):
        hints.append(
            f"keep to the middle with {argument('region', core)} ({core.size}), which leaves out up to 5 % of the "
            "visits on each side."
        )
    raise InputError(
        f"a region of {region.size} gives {cells:,.0f} cells, but at most {MOST_CELLS:,} are possible.", *hints
    )


def _fewer(width: float, height: float, by: str) -> object:
    """Return what to ask for to have some hundred cells over a rectangle in metres."""
    if by == "resolution":
        return ""
    side = max(width, height, (width * height) ** 0.5) / 30
    if by.endswith("shape"):
        return max(2, round(width / side)), max(1, round(height / side))
    digits = -int(np.floor(np.log10(side)))
    return show(float(np.ceil(side * 10.0**digits) / 10.0**digits), "m")


def _core(cells: float, region: Region, visits: Visits | None) -> Region | None:
    """Return where most of the visits are, if the cells over it are few enough."""
    if visits is None or not (inside := region.contains(visits.lat, visits.lon)).any():
        return None
    core = Region.of(visits.select(inside), trim=0.05)
    (width, height), (wide, high) = core.size_m, region.size_m
    left = cells * (width / wide) * (height / high)
    return core if 4 < left < MOST_CELLS / 2 else None
