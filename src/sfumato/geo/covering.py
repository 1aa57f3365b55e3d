"""The block of vertices that serves a region, and which parts of it are near visits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..core.units import length_m
from ..errors import InputError, argument
from .projection import Projection
from .region import Region
from .sizes import area_of, check_size
from .vertices import KINDS, ROWS, Integers, Kind, block, strip
from .visits import Visits

Length = float | str


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """A block of vertices, and what of it is wanted.

    Attributes:
        vertices: Whole-numbered coordinates, array (n, 2).
        spacing_m: The distance of neighbours, metres.
        origin: Where vertex (0, 0) lies on the plane, metres.
        crs: The PROJ string of a `Projection`.
        kind: ``square`` or ``triangular``.
        visits_m: Visits on the plane, metres, array (k, 2), of which only what is near is wanted; None for all.
        near_m: How near, metres.
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
                "what is near visits was asked for, but no visits were given.",
                f"pass visits, or leave out {argument('near')}.",
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
        """Return which pieces may hold what is near a visit.

        Args:
            middles: Their middles on the plane, metres, array (pieces, 2).
        """
        if self.visits_m is None:
            return np.ones(len(middles), dtype=np.bool_)
        from scipy.spatial import cKDTree

        corner = self.spacing_m * (math.sqrt(0.5) if self.kind == "square" else math.sqrt(1 / 3))
        return np.asarray(cKDTree(self.visits_m).query(middles)[0] <= self.near_m + corner)
