"""Places for the follow-ups: grids, the most visited spots of a city, the cells of PRIVIC, and points of a box."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import Metric, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.errors import DataError, InputError
from sfumato.geo import Grid, Projection, Region, Visits

GRID: Final = "grid"
_DEGREES: Final = 4  # decimals of a degree: spots are some 10 m wide
TRIM: Final = 0.02  # of the visits, left out at each side where the whole city is meant
_SHAPE: Final = (16, 12)  # columns and rows of the cells of other cities
_FEWEST: Final = 1_000  # visits in a published box for which it is taken
_SPREAD: Final = 0.5  # of the random prior on a grid: how uneven it is


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class VisitedPlaces(CompactRepr):
    """Places with how often they are visited."""

    name: str
    prior: Prior  # how often each is visited; coordinates in metres

    @property
    def distances_km(self) -> Metric:
        """The distances between the places in kilometres."""
        return self.prior.space.metric("euclidean", unit="km")


def grid_ground(side: int, cell_km: float, seed: int) -> VisitedPlaces:
    """Return a square grid whose cells are visited at random, unevenly."""
    corners = positions(side, side)
    space = Space(range(len(corners)), 1000 * cell_km * corners, "m")
    shares = np.random.default_rng(seed).dirichlet(np.full(len(corners), _SPREAD))
    return VisitedPlaces(GRID, Prior(space, shares))


def spots(visits: Visits, region: Region, count: int) -> Prior:
    """Return how often the most visited spots of a region are visited, points of a raster of 0.0001 degrees."""
    if count < 2:
        raise InputError(f"{count} spots leave nothing to hide.", "use at least 2.")
    inside = visits.inside(region)
    points, counts = np.unique(
        np.round(np.column_stack([inside.lat, inside.lon]), _DEGREES), axis=0, return_counts=True
    )
    if len(points) < 2:
        raise DataError(f"all visits to {region} are at one spot.", "give visits to several places.")
    order = np.argsort(-counts, kind="stable")[:count]
    projection = Projection(*region.centre)
    labels = [f"{lat:.4f},{lon:.4f}" for lat, lon in points[order]]
    space = Space(labels, projection.forward(*points[order].T), "m", projection.crs)
    return Prior.from_counts(space, counts[order])


def around(visits: Visits, width_km: float, height_km: float) -> Region:
    """Return a box of a given size around the median of visits."""
    lat, lon = float(np.median(visits.lat)), float(np.median(visits.lon))
    return Region.around(lat, lon, f"{width_km} km", f"{height_km} km")


@dataclass(frozen=True, slots=True, repr=False)
class PublishedBox(CompactRepr):
    """A rectangle whose check-ins a paper uses."""

    city: str
    region: Region
    shape: tuple[int, int]  # columns and rows of its cells

    @property
    def request(self) -> str:
        """The visits that a claim on this city needs, and the command that takes them."""
        return (
            f"It needs a file with {_FEWEST:,} visits or more in {self.city} (the box {self.region}): "
            "`sfumato reproduce follow-ups visits.csv`. Those of Gowalla are public "
            "(snap.stanford.edu/data/loc-gowalla.html)."
        )


PARIS: Final = PublishedBox("Paris", Region(48.8286, 2.2855, 48.8798, 2.3909), (16, 12))
SAN_FRANCISCO: Final = PublishedBox("San Francisco", Region(37.7228, -122.5153, 37.7946, -122.3789), (24, 17))
BOXES: Final = (PARIS, SAN_FRANCISCO)  # of PRIVIC, from the README of its code


def box_of(visits: Visits) -> PublishedBox | None:
    """Return the published box with most of the visits; None where each has fewer than a thousand."""
    counts = {box: int(box.region.contains(visits.lat, visits.lon).sum()) for box in BOXES}
    box = max(BOXES, key=lambda box: counts[box])
    return box if counts[box] >= _FEWEST else None


def box_name(visits: Visits) -> str:
    """Return the city of the published box of visits; "" for none."""
    box = box_of(visits)
    return "" if box is None else box.city


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CityCells(CompactRepr):
    """A city in cells, with distances counted in cells, as PRIVIC does."""

    city: Grid
    prior: Prior
    distance: Metric  # sqrt(a^2 + b^2) of cells that are a columns and b rows apart
    shape: tuple[int, int]  # columns and rows
    box: str  # city of the published box that the cells divide; "" for the region of other visits

    @classmethod
    def of(cls, visits: Visits) -> CityCells:
        """Return the cells of the published box of visits, or of their whole region where they are in none."""
        box = box_of(visits)
        shape = _SHAPE if box is None else box.shape
        city = Grid.covering(visits.region(trim=TRIM) if box is None else box.region, shape=shape)
        prior = Prior.from_visits(city, visits)
        between = Metric(cell_distances(shape, 0), name="distance in cells", triangle=True)
        return cls(city, prior, between, shape, "" if box is None else box.city)


def cell_distances(shape: tuple[int, int], margin: int) -> Floats:
    """Return distances from cells to the same cells and some more on each side, array (cells, more cells)."""
    return distances(positions(*shape), positions(*shape, margin))


def positions(columns: int, rows: int, margin: int = 0) -> Floats:
    """Return column and row of each cell, row by row, and of some more on each side, array (cells, 2)."""
    x, y = (np.arange(-margin, count + margin) for count in (columns, rows))
    return np.column_stack([np.tile(x, len(y)), np.repeat(y, len(x))]).astype(np.float64)


def distances(points: Floats, targets: Floats) -> Floats:
    """Return the distances of points from targets, array (points, targets)."""
    lengths: Floats = np.hypot(*(points[:, None] - targets[None]).transpose(2, 0, 1))
    return lengths


def pair_epsilons(matrix: Floats, apart: Floats) -> Floats:
    """Return the epsilon of p(o|s) > 0 between each two secrets, in floating point, array (pairs,)."""
    logs, (first, second) = np.log(matrix), np.triu_indices(len(matrix), k=1)
    ratios = [np.abs(logs[s] - logs[s + 1 :]).max(axis=1) for s in range(len(logs) - 1)]
    epsilons: Floats = np.concatenate(ratios) / apart[first, second]
    return epsilons
