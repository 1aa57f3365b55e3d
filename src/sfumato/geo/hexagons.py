"""Hexagonal cells of Uber's H3 (extra ``hex``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Space
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.units import length_m, show
from ..errors import InputError, MissingExtraError, argument
from .covering import MOST_CELLS, area_of, check_size
from .places import Cells
from .projection import Projection
from .region import Region
from .visits import Visits

_MARGIN = 1e-7  # degrees, a centimetre: a region without extent is a polygon still


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Hexagons(Cells):
    """Hexagonal cells of one H3 resolution, labelled by their H3 index.

    Args:
        cells: The H3 indices, as text, all of one resolution.
        crs: The PROJ string of a `Projection`.

    Attributes:
        resolution: The H3 resolution, 0 to 15.

    Raises:
        InputError: If there are fewer than two cells or more than 10,000, a text is not an
            H3 index, or distances on the plane are more than 1 % off.
        MissingExtraError: If h3 is not installed.

    Source:
        H3, https://h3geo.org.
    """

    resolution: int = field(init=False)

    def __init__(self, cells: Iterable[str], crs: str) -> None:
        h3 = _h3()
        indices = list(cells)
        if len(indices) > MOST_CELLS:
            raise InputError(f"{len(indices):,} hexagons cannot be used.", f"use at most {MOST_CELLS:,}.")
        wrong = [index for index in indices if not h3.is_valid_cell(str(index))]
        if wrong:
            raise InputError(f"{wrong[0]!r} is not an H3 cell.", "pass indices such as '881fb46625fffff'.")
        resolutions = {h3.get_resolution(index) for index in indices}
        if len(indices) < 2 or len(resolutions) > 1:
            raise InputError(
                f"{len(indices)} cells of {len(resolutions)} resolutions cannot be one space of hexagons.",
                "pass at least two cells, all of one resolution.",
            )
        centres = np.array([h3.cell_to_latlng(index) for index in indices])
        projection = Projection.from_crs(crs)
        xy = projection.forward(*centres.T)
        projection.check_reach(xy)
        Space.__init__(self, indices, xy, "m", crs)
        object.__setattr__(self, "resolution", resolutions.pop())

    @classmethod
    @checked
    def covering(
        cls,
        places: Visits | Region | str,
        cell: float | str | None = None,
        *,
        resolution: int | None = None,
        region: Region | str | None = None,
    ) -> Hexagons:
        """Return all hexagons that touch a region, or the region of the visits.

        Args:
            places: What to cover: visits, a region, or a region as text.
            cell: The width of a hexagon between opposite sides. The resolution with the nearest mean width, in
                proportion, is used.
            resolution: The H3 resolution, 0 to 15, instead of ``cell``.
            region: The region to cover; by default that of the visits.

        Raises:
            InputError: If neither or both of cell and resolution are given, there would be
                one cell or more than 10,000, or the region is too wide for a flat map.
            MissingExtraError: If h3 is not installed.
        """
        h3 = _h3()
        if (cell is None) == (resolution is None):
            raise InputError(
                "hexagons need either their width or their resolution.",
                f"pass {argument('Hexagons.covering.cell', '500 m')}",
                f"pass {argument('resolution', 8)}.",
            )
        visits = places if isinstance(places, Visits) else None
        area = area_of(places, region)
        if resolution is None:
            resolution = _nearest_resolution(h3, cell or 0)
        if resolution not in range(16):
            raise InputError(f"the H3 resolution {resolution} does not exist.", "use 0 (coarse) to 15 (fine).")
        by = "Hexagons.covering.cell" if cell is not None else "resolution"
        width, height = area.size_m
        fewest = width * height / h3.average_hexagon_area(resolution, unit="m^2") / 2
        check_size(max(fewest, 2), area, visits, by)  # before the cells are listed
        indices = _touching(h3, area, resolution)
        check_size(len(indices), area, visits, by)
        return cls(indices, Projection(*area.centre).crs)

    @classmethod
    def from_description(cls, description: Mapping[str, Any]) -> Hexagons:
        """Return the hexagons of a description by `describe`."""
        try:
            cells, crs = list(description["cells"]), str(description["crs"])
        except (KeyError, TypeError) as error:
            raise InputError(
                f"the description of hexagons is incomplete or damaged ({error!r}).",
                "it needs cells and crs, as Hexagons.describe() gives them.",
            ) from None
        return cls(cells, crs)

    def describe(self) -> dict[str, Any]:
        """Return a description of the hexagons as JSON values."""
        return {"kind": "hexagons", "resolution": self.resolution, "cells": list(self.labels), "crs": self.crs}

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self), (self.labels, self.crs)

    def __repr__(self) -> str:
        width = show(_mean_width_m(_h3(), self.resolution), "m")
        return f"Hexagons: {len(self)} cells of resolution {self.resolution}, about {width} wide"

    def locate(self, lat: ArrayLike, lon: ArrayLike) -> NDArray[np.intp]:
        """Return the position of the hexagon of each point, array (n,); -1 outside all of them."""
        cell_of, resolution, positions = _h3().latlng_to_cell, self.resolution, self._positions
        north, east = np.asarray(lat, float), np.asarray(lon, float)
        known = (np.abs(north) <= 90) & np.isfinite(east)
        points = zip(np.where(known, north, 0.0).tolist(), np.where(known, east, 0.0).tolist(), strict=True)
        found = np.array([positions.get(cell_of(y, x, resolution), -1) for y, x in points], dtype=np.intp)
        return np.where(known, found, -1)

    def outlines_latlon(self) -> Floats:
        """Return the corners of each hexagon, counter-clockwise: array (n, corners, 2), degrees.

        The rare cells with fewer corners (pentagons) repeat their last one.
        """
        rings = [_h3().cell_to_boundary(label) for label in self.labels]
        most = max(map(len, rings))
        return readonly(np.array([ring + ring[-1:] * (most - len(ring)) for ring in rings]))


def _h3() -> ModuleType:
    try:
        import h3
    except ImportError:
        raise MissingExtraError("a space of hexagons", "hex") from None
    module: ModuleType = h3
    return module


def _mean_width_m(h3: ModuleType, resolution: int) -> float:
    area: float = h3.average_hexagon_area(resolution, unit="m^2")
    return math.sqrt(2 * area / math.sqrt(3))


def _nearest_resolution(h3: ModuleType, cell: float | str) -> int:
    width = length_m(cell, "the cell")
    if not width > 0:
        raise InputError(f"a cell of {cell} has no extent.", "use a positive length, such as '500 m'.")
    return min(range(16), key=lambda resolution: abs(np.log(_mean_width_m(h3, resolution) / width)))


def _touching(h3: ModuleType, area: Region, resolution: int) -> list[str]:
    """List the hexagons that share a point with the region, in the order of their indices."""
    south, west, north, east = area.south - _MARGIN, area.west - _MARGIN, area.north + _MARGIN, area.east + _MARGIN
    corners = [(south, west), (south, east), (north, east), (north, west)]
    return sorted(h3.polygon_to_cells_experimental(h3.LatLngPoly(corners), resolution, "overlap"))
