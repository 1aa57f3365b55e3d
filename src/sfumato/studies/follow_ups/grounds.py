"""Places for the follow-ups: grids, the most visited spots of a city, the cells of PRIVIC, and points of a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core import Metric, Prior, Space
from ...core.frozen import Short
from ...errors import DataError, InputError
from ...geo import Grid, Projection, Region, Visits

GRID: Final = "grid"
_DEGREES: Final = 4  # decimals of a degree: spots are some 10 m wide
_TRIM: Final = 0.02  # of the visits, left out at each side where the whole city is meant
_PARIS: Final = Region(48.8286, 2.2855, 48.8798, 2.3909)
_SHAPE: Final = (16, 12)  # columns and rows of the cells
_FEWEST: Final = 1_000  # visits in the box of Paris for which it is taken
_SPREAD: Final = 0.5  # of the random prior on a grid: how uneven it is


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VisitedPlaces(Short):
    """Places with how often they are visited.

    Attributes:
        name: What they are called.
        prior: How often each is visited; coordinates in metres.
    """

    name: str
    prior: Prior


def grid_ground(side: int, cell_km: float, seed: int) -> VisitedPlaces:
    """Return a square grid whose cells are visited at random, unevenly.

    Args:
        side: Cells along each side.
        cell_km: Their width.
        seed: Of the visits.
    """
    index = np.arange(side * side)
    corners = np.column_stack([index % side, index // side])
    space = Space(index, 1000 * cell_km * corners, "m")
    shares = np.random.default_rng(seed).dirichlet(np.full(len(index), _SPREAD))
    return VisitedPlaces(GRID, Prior(space, shares))


def spots_ground(name: str, visits: Visits, count: int) -> VisitedPlaces:
    """Return the most visited spots of a city."""
    return VisitedPlaces(name, spots(visits, visits.region(trim=_TRIM), count))


def spots(visits: Visits, region: Region, count: int) -> Prior:
    """Return how often the most visited spots of a region are visited.

    A spot is a point of a raster of 0.0001 degrees. Visits elsewhere are left out.

    Args:
        visits: The visits.
        region: The region.
        count: How many spots; fewer if there are no more.

    Raises:
        InputError: If fewer than two spots are wanted.
        DataError: If the region has no two.
    """
    if count < 2:
        raise InputError(f"{count} spots leave nothing to hide.", "use at least 2.")
    inside = visits.inside(region)
    points, counts = np.unique(
        np.round(np.column_stack([inside.lat, inside.lon]), _DEGREES), axis=0, return_counts=True
    )
    if len(points) < 2:
        raise DataError(f"all visits to {region} are at one spot.", "give visits to several places.")
    chosen = np.argsort(-counts, kind="stable")[:count]
    projection = Projection(*region.centre)
    labels = [f"{lat:.4f},{lon:.4f}" for lat, lon in points[chosen]]
    space = Space(labels, projection.forward(*points[chosen].T), "m", projection.crs)
    return Prior.from_counts(space, counts[chosen])


def around(visits: Visits, width_km: float, height_km: float) -> Region:
    """Return a box of a given size around the median of visits."""
    lat, lon = float(np.median(visits.lat)), float(np.median(visits.lon))
    return Region.around(lat, lon, f"{width_km} km", f"{height_km} km")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CityCells(Short):
    """A city in 16 x 12 cells, with distances counted in cells, as PRIVIC does.

    Attributes:
        city: The cells.
        prior: How often each is visited.
        distance: Between cells that are a and b columns and rows apart: sqrt(a^2 + b^2).
        published: Whether these are the cells of the published study: the box of Paris.
    """

    city: Grid
    prior: Prior
    distance: Metric
    published: bool

    @classmethod
    def of(cls, visits: Visits) -> CityCells:
        """Return the cells of the published box of Paris, or of the whole region where hardly a visit is in it."""
        published = int(_PARIS.contains(visits.lat, visits.lon).sum()) >= _FEWEST
        city = Grid.covering(_PARIS if published else visits.region(trim=_TRIM), shape=_SHAPE)
        prior = Prior.from_visits(city, visits)
        positions = cell_positions(0)
        between = np.hypot(*(positions[:, None] - positions[None]).transpose(2, 0, 1))
        return cls(city, prior, Metric(between, name="distance in cells", triangle=True), published)


def cell_positions(margin: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return column and row of each of the 16 x 12 cells, with some more on each side, array (cells, 2)."""
    columns, rows = _SHAPE
    x, y = np.arange(-margin, columns + margin), np.arange(-margin, rows + margin)
    return np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x))]).astype(np.float64)
