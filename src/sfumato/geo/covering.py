"""Sizes of grids and lattices, and the vertices that serve a region or lie near visits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..core.units import length_m, show
from ..errors import InputError, argument
from .projection import Projection
from .region import Region
from .vertices import KINDS, ROWS, Integers, Kind, block, strip
from .visits import Visits

MOST_CELLS: Final = 10_000
"""A mechanism has a number for every pair of cells: 800 MB for 10,000 cells."""

Length = float | str


def area_of(places: Visits | Region | str, region: Region | str | None) -> Region:
    """Return the named region, or that of the places."""
    chosen = places if region is None else region
    if isinstance(chosen, Visits):
        return chosen.region()
    return Region.parse(chosen) if isinstance(chosen, str) else chosen


def check_size(cells: float, region: Region, visits: Visits | None, by: str) -> None:
    """Refuse one cell, or more than 10,000; the `InputError` names what to change of the argument ``by``."""
    if cells <= 1:
        raise InputError(
            f"a region of {region.size} gives one cell, and a mechanism on one cell has nothing to hide.",
            f"choose smaller cells with {argument(by)}",
            f"choose a wider region with {argument('region', '8 km x 6 km around 48.85,2.35')}.",
        )
    if cells <= MOST_CELLS:
        return
    width, height = region.size_m
    noun = "vertices" if by.startswith("Lattice") else "cells"
    hints = [f"choose fewer {noun} with {argument(by, _fewer(width, height, by))}{_least(width, height, by)}"]
    core = _core(cells, region, visits)
    if core is not None and not by.endswith("shape"):
        hints.append(
            f"keep to the middle with {argument('region', core)} ({core.size}), which leaves out up to 5 % of the "
            "visits on each side."
        )
    raise InputError(
        f"a region of {region.size} gives {cells:,.0f} {noun}, but at most {MOST_CELLS:,} are possible.", *hints
    )


def _fewer(width: float, height: float, by: str) -> object:
    """Return a value of the argument ``by`` that gives some hundred cells over a rectangle in metres."""
    if by == "resolution":
        return ""
    side = max(width, height, (width * height) ** 0.5) / 30
    if by.endswith("shape"):
        return max(2, round(width / side)), max(1, round(height / side))
    digits = -int(np.floor(np.log10(side)))
    return show(float(np.ceil(side * 10.0**digits) / 10.0**digits), "m")


def _least(width: float, height: float, by: str) -> str:
    """Return the least spacing or cell that fits, in words."""
    if by == "resolution" or by.endswith("shape") or not width * height > 0:
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


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """A block of vertices, array (n, 2) of integers; lengths are in metres.

    ``origin`` is the position of vertex (0, 0) on the plane, and ``crs`` the PROJ string of a `Projection`. Only
    pieces within ``near_m`` of a visit on the plane, array (k, 2), are wanted; without visits all are.
    """

    vertices: Integers
    spacing_m: float
    origin: tuple[float, float]
    crs: str
    kind: Kind
    visits_m: Floats | None
    near_m: float

    @classmethod
    def of(
        cls,
        places: Visits | Region | str,
        spacing: Length,
        kind: Kind,
        region: Region | str | None,
        near: Length | None,
    ) -> Self:
        """Return the block that serves all of a region; see `Lattice.covering`."""
        step = length_m(spacing, "the spacing")
        if near is not None and not length_m(near, "the distance") > 0:
            raise InputError(f"a distance of {near} to visits is not positive.", "use a length such as '500 m'.")
        if not (math.isfinite(step) and step > 0):
            raise InputError(f"a spacing of {spacing} is not positive.", "use a length such as '500 m'.")
        if kind not in KINDS:
            raise InputError(f"the kind of lattice {kind!r} is unknown.", f"use {' or '.join(KINDS)}.")
        area = area_of(places, region)
        visits = places if isinstance(places, Visits) else None
        if near is not None and visits is None:
            raise InputError(
                f"{argument('near')} needs visits, but none were given.",
                "pass visits, or leave it out.",
            )
        projection = Projection(*area.centre)
        if region is None and visits is not None:
            xy = projection.forward(visits.lat, visits.lon)
        else:
            xy = projection.forward(*area.sides())
        middle, extent = (xy.min(axis=0) + xy.max(axis=0)) / 2, np.ptp(xy, axis=0)
        check_size(
            float(np.prod(np.ceil(extent / (step, step * ROWS[kind])) + 2)),
            area,
            visits,
            "Lattice.covering.spacing",
        )
        vertices, corner = block(extent / step) if kind == "square" else strip(extent / step)
        origin = float(middle[0] + corner[0] * step), float(middle[1] + corner[1] * step)
        visits_m, near_m = None, math.inf
        if near is not None and visits is not None:
            chosen = visits if region is None else visits.select(area.contains(visits.lat, visits.lon))
            visits_m, near_m = projection.forward(chosen.lat, chosen.lon), length_m(near, "the distance")
        return cls(vertices, step, origin, projection.crs, kind, visits_m, near_m)

    def wants(self, middles: Floats) -> NDArray[np.bool_]:
        """Return which pieces may hold points near a visit; ``middles`` are on the plane, metres."""
        if self.visits_m is None:
            return np.ones(len(middles), dtype=np.bool_)
        from scipy.spatial import cKDTree

        corner = self.spacing_m * (math.sqrt(0.5) if self.kind == "square" else math.sqrt(1 / 3))
        return np.asarray(cKDTree(self.visits_m).query(middles)[0] <= self.near_m + corner)
