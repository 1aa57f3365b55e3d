"""AIPO compared with certified noise for coordinates, on points of cities: loss and epsilon between points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import CoordinatePrivacy, Loss, MetricPrivacy, Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.geo import Projection, Region, Visits
from sfumato.optimal import Auto, choose_lattice, coordinate_bound, design

from ..reproduction import SECONDS, Made
from ..results import columns_of
from .anchors import AnchorNoise, Anchors, anchored, broken, distances
from .grounds import around

ANCHORS: Final = "anchors"
ANCHOR_TIMES: Final = f"{ANCHORS}{SECONDS}"

AIPO: Final = "AIPO"
AIPO_WIDE: Final = "AIPO, reports at all anchors"
RELAXED: Final = "AIPO-R"
LP: Final = "LP on cells"
EM: Final = "exponential"
CERTIFIED: Final = "certified"
BOUND: Final = "bound of all mechanisms"

_BOX_KM: Final = (8.0, 6.0)
_SPACING_KM: Final = 1.0
_REPORTS: Final = 20  # places that can be reported, drawn at random, as published
_CELLS: Final = 11  # of the program on cells, along each side, as published
_PAIRS: Final = 300  # points whose pairs are looked at
_GAP: Final = 1e-3
_BOUND_GAP: Final = 0.03
_BOUND_S: Final = 10_000.0  # the bound ends by its gap, long before


@dataclass(frozen=True, slots=True, repr=False)
class AnchorRow(CompactRepr):
    """A mechanism on points of a city; lengths in km, epsilons per km.

    Attributes:
        city: Where the points are.
        epsilon: The requested epsilon.
        mechanism: Its name.
        seed: Of the draw of the reports; None where nothing is drawn.
        loss: The mean distance from the true point to the report; for the bound, a proved lower bound
            for every mechanism with this epsilon.
        broken: The share of pairs of points with a larger epsilon; None where epsilon is proved.
        epsilon_seen: The largest epsilon of these pairs.
        epsilon_upper: An upper bound of epsilon for all points of the box; None without one.
    """

    city: str
    epsilon: float
    mechanism: str
    seed: int | None
    loss: float
    broken: float | None
    epsilon_seen: float | None
    epsilon_upper: float | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Points(CompactRepr):
    """Points of a city in a box: the visits, and where they are on a plane, km."""

    visits: Visits
    region: Region
    xy: Floats


def interpolated(city: str, visits: Visits, epsilon: float, most: int, splits: int, seed: int) -> Made:
    """Measure AIPO, its relaxed variant, a program on cells and the exponential mechanism, with 20 random reports.

    Args:
        city: What it is called.
        visits: Its visits.
        epsilon: Per km.
        most: The most points.
        splits: Parts of epsilon that are tried for x; 10 as published.
        seed: Of the reports.
    """
    found = _points(visits, most)
    rng = np.random.default_rng(seed)
    reports = found.xy[rng.choice(len(found.xy), size=_REPORTS, replace=False)]
    anchors = _anchors()
    rows = [
        _row(city, epsilon, AIPO, seed, found, _best(anchors, found.xy, reports, epsilon, splits), reports),
        _row(city, epsilon, RELAXED, seed, found, anchored(anchors, found.xy, reports, epsilon, epsilon), reports),
    ]
    far = distances(found.xy, reports)
    noise = np.exp(-epsilon / 2 * (far - far.min(axis=1, keepdims=True)))
    for name, beliefs, upper in (
        (LP, _on_cells(found.xy, reports, epsilon), None),
        (EM, noise / noise.sum(axis=1, keepdims=True), epsilon),
    ):
        share, seen = _between(beliefs, found.xy, epsilon)
        lost = float((beliefs * far).sum() / len(far))
        rows.append(AnchorRow(city, epsilon, name, seed, lost, share, seen, upper))
    return {ANCHORS: [columns_of(row) for row in rows]}


def certified(
    city: str, visits: Visits, epsilon: float, most: int, splits: int, vertices: int, heads: int
) -> Made:
    """Design the certified mechanism for the same points, bound all mechanisms, and let AIPO report all anchors.

    Args:
        city: What it is called.
        visits: Its visits.
        epsilon: Per km.
        most: The most points.
        splits: As for `interpolated`.
        vertices: The most vertices of the lattice.
        heads: The most places of the bound's program.
    """
    found = _points(visits, most)
    promise = CoordinatePrivacy(f"{epsilon}/km")
    lattice = choose_lattice(found.region, promise, most=vertices).lattice
    prior = Prior.from_visits(lattice, found.visits)
    made = design(prior, loss=lattice.loss(found.visits), guarantees=promise, solver=Auto(1), gap=_GAP)
    lost, upper = made.value, made.certificate.epsilon_upper if made.has_program else epsilon
    least = coordinate_bound(found.visits, f"{epsilon}/km", points=heads, gap=_BOUND_GAP, time_limit=_BOUND_S)
    anchors = _anchors()
    wide = _best(anchors, found.xy, anchors.points, epsilon, splits)
    rows = [
        AnchorRow(city, epsilon, CERTIFIED, None, lost, None, None, upper),
        AnchorRow(city, epsilon, BOUND, None, least.lower, None, None, None),
        _row(city, epsilon, AIPO_WIDE, None, found, wide, anchors.points),
    ]
    times = {"city": city, "epsilon": epsilon, "certified": made.seconds, "bound": least.seconds}
    return {ANCHORS: [columns_of(row) for row in rows], ANCHOR_TIMES: [times]}


def _points(visits: Visits, most: int) -> _Points:
    """Return at most so many visits of a box around the middle of the city."""
    region = around(visits, *_BOX_KM)
    inside = visits.inside(region)
    if len(inside) > most:
        inside = inside.select(np.sort(np.random.default_rng(1).choice(len(inside), most, replace=False)))
    plane = Projection(*region.centre)
    return _Points(inside, region, plane.forward(inside.lat, inside.lon) / 1000)


def _anchors() -> Anchors:
    width, height = _BOX_KM
    room = 0.01  # km, for what the plane makes of the box
    columns, rows = round(width / _SPACING_KM), round(height / _SPACING_KM)
    sides = ((width + 2 * room) / columns, (height + 2 * room) / rows)
    return Anchors((-width / 2 - room, -height / 2 - room), columns, rows, sides)


def _best(anchors: Anchors, points: Floats, reports: Floats, epsilon: float, splits: int) -> AnchorNoise:
    """Return the noise of least loss over ways to split epsilon between the two axes."""
    far = distances(points, reports)
    shares = [part / splits for part in range(1, splits)]
    tried = [
        anchored(anchors, points, reports, epsilon * share / 2, epsilon * math.sqrt(1 - share**2) / 2)
        for share in shares
    ]
    return min(tried, key=lambda noise: float((noise.at(points) * far).sum()))


def _row(
    city: str, epsilon: float, name: str, seed: int | None, found: _Points, noise: AnchorNoise, reports: Floats
) -> AnchorRow:
    beliefs = noise.at(found.xy)
    lost = float((beliefs * distances(found.xy, reports)).sum() / len(beliefs))
    share, seen = _between(beliefs, found.xy, epsilon)
    return AnchorRow(city, epsilon, name, seed, lost, share, seen, noise.epsilon)


def _between(beliefs: Floats, points: Floats, epsilon: float) -> tuple[float, float]:
    """Return the share of violating pairs of some points, and their largest epsilon."""
    distinct = np.unique(points, axis=0, return_index=True)[1]
    chosen = np.random.default_rng(2).permutation(distinct)[:_PAIRS]
    return broken(beliefs[chosen], points[chosen], epsilon)


def _on_cells(points: Floats, reports: Floats, epsilon: float) -> Floats:
    """Return p(o|x) of the program of least loss on cells, with metric privacy between their centres."""
    low, high = points.min(axis=0), points.max(axis=0)
    side = (high - low) / _CELLS
    place = np.minimum(((points - low) / side).astype(np.intp), _CELLS - 1)
    cell = place[:, 0] + _CELLS * place[:, 1]
    index = np.arange(_CELLS**2)
    centres = low + side * (np.column_stack([index % _CELLS, index // _CELLS]) + 0.5)
    mass = np.bincount(cell, minlength=len(index)).astype(np.float64)
    lost = np.zeros((len(index), len(reports)))
    np.add.at(lost, cell, distances(points, reports))
    space = Space(index, centres, "km")
    found = design(
        Prior(space, mass / mass.sum()),
        loss=Loss(lost / np.maximum(mass, 1.0)[:, None], "km"),
        guarantees=MetricPrivacy(epsilon, space.metric("euclidean")),
        observables=Space([f"report {k}" for k in range(len(reports))]),
        solver=Auto(1),
        gap=_GAP,
        tie_break=False,
        method="table",
    )
    beliefs: Floats = found.mechanism.matrix[cell]
    return beliefs
