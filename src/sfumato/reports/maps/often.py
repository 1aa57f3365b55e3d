"""The smallest set of cells that holds a share of the reports: there a place is reported most often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ...core import Space
from ...core.arrays import Floats, floats
from ...errors import InputError
from ...geo import Places

_SLACK = 1e-12  # of a share: what sums of floats may be off by
_SAME = 1e-3  # of the length of an edge: corners nearer than that are one

Ring = NDArray[np.intp]


def often_cells(row: ArrayLike, share: float) -> NDArray[np.bool_]:
    """Return the smallest set of cells that holds at least a share of the whole, array (n,).

    Of several sets of that size it holds the most. Among cells of equal probability those with the smallest
    positions come first.

    Args:
        row: The probabilities of cells, array (n,).
        share: A number above 0 and at most 1.

    Raises:
        InputError: If the share is not in that range, or the probabilities have no finite positive sum.
    """
    shares = floats(row, "the probabilities", shape=(None,))
    if not 0 < share <= 1:
        raise InputError(f"the share {share!r} is not above 0 and at most 1.", "use .5 for half of the reports.")
    total = shares.sum() if (shares >= 0).all() else 0.0
    if not (np.isfinite(total) and total > 0):
        raise InputError("these are no probabilities.", "pass numbers of at least 0, some of them above.")
    order = np.argsort(-shares, kind="stable")
    needed = int(np.searchsorted(np.cumsum(shares[order]), share * total * (1 - _SLACK))) + 1
    found = np.zeros(len(shares), dtype=bool)
    found[order[:needed]] = True
    return found & (shares > 0)


def often(row: ArrayLike, reports: Space, share: float, cells: Places | None = None) -> dict[str, Any]:
    """Return the outline of the smallest set of cells that holds a share of the reports, in degrees.

    Reports at free points count for the cell whose centre is nearest.

    Args:
        row: The probability of each report, array (m,), such as a row of a mechanism's matrix.
        reports: The reports: places, or points with latitude and longitude.
        share: A number above 0 and at most 1: .5 for half of the reports.
        cells: The cells to draw; by default the reports, if they are places.

    Returns:
        A geometry of GeoJSON: ``{"type": "MultiPolygon", "coordinates": [...]}``, longitude first. Rings
        around cells run counter-clockwise, those around holes clockwise.

    Raises:
        InputError: If there are no cells, sizes do not fit, or the share is out of range.
    """
    places = cells if cells is not None else reports
    if not isinstance(places, Places):
        raise InputError("the reports have no cells to draw.", "pass cells: a Grid, Hexagons or a Lattice.")
    chosen = often_cells(by_cell(row, reports, places), share)
    corners = places.outlines_latlon()
    flat = places.projection.forward(corners[..., 0].ravel(), corners[..., 1].ravel()).reshape(corners.shape)
    points, rings = boundary(flat[chosen])
    degrees = np.round(places.projection.inverse(points)[:, ::-1], 7)
    outer = [ring for ring in rings if _area(points[ring]) > 0]
    polygons = [[ring] for ring in outer]
    for ring in rings:
        if _area(points[ring]) < 0:
            inside = [k for k, around in enumerate(outer) if _holds(points[around], points[ring])]
            polygons[min(inside, key=lambda k: _area(points[outer[k]]))].append(ring)
    return {
        "type": "MultiPolygon",
        "coordinates": [[[*map(list, degrees[[*ring, ring[0]]].tolist())] for ring in each] for each in polygons],
    }


def by_cell(row: ArrayLike, reports: Space, places: Places) -> Floats:
    """Return the probability of a report in each cell, array (n,); see `often`.

    Raises:
        InputError: If sizes do not fit, or the reports are not on the plane of the cells.
    """
    shares = floats(row, "the probabilities", shape=(len(reports),))
    if reports == places:
        return shares
    centres = places.on_plane(places)
    nearest = cKDTree(centres).query(places.on_plane(reports))[1]
    found: Floats = np.bincount(nearest, shares, minlength=len(places)).astype(float)
    return found


def boundary(corners: Floats) -> tuple[Floats, list[Ring]]:
    """Return the rings around cells that share edges: their points, array (p, 2), and positions in it.

    Corners are counter-clockwise, array (n, corners, 2).
    """
    flat = corners.reshape(-1, 2)
    edge = float(np.median(np.linalg.norm(corners - np.roll(corners, -1, axis=1), axis=2)))
    pairs = cKDTree(flat).query_pairs(_SAME * edge, output_type="ndarray")
    same = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(flat), len(flat)))
    number, names = connected_components(same, directed=False)
    points = np.zeros((number, 2))
    points[names] = flat
    starts = names.reshape(corners.shape[:2])
    ends = np.roll(starts, -1, axis=1)
    edges = {(a, b) for a, b in zip(starts.ravel().tolist(), ends.ravel().tolist(), strict=True) if a != b}
    leads: dict[int, list[int]] = {}
    for a, b in sorted(edges):
        if (b, a) not in edges:
            leads.setdefault(a, []).append(b)
    return points, [np.array(ring, dtype=np.intp) for ring in _rings(leads)]


def _rings(leads: dict[int, list[int]]) -> Iterator[list[int]]:
    """Part the edges into rings that meet no point twice."""
    while leads:
        walk = [next(iter(leads))]
        at = {walk[0]: 0}
        while walk:
            here = walk[-1]
            onward = leads.get(here)
            if not onward:
                leads.pop(here, None)
                break
            after = onward.pop()
            if not onward:
                del leads[here]
            if after in at:
                ring = walk[at[after] :]
                for point in ring[1:]:
                    del at[point]
                walk = walk[: at[after] + 1]
                yield ring
            else:
                at[after] = len(walk)
                walk.append(after)


def _area(ring: Floats) -> float:
    """Return the area inside a ring, negative if it runs clockwise."""
    x, y = (ring - ring[0]).T
    return 0.5 * float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum())


def _holds(around: Floats, ring: Floats) -> bool:
    """Return whether the inside of a ring is inside another, whose corners it may touch."""
    middle = (ring + np.roll(ring, -1, axis=0)) / 2
    inward = np.roll(ring, -1, axis=0) - ring
    # A hole runs clockwise: just to the right of its edges is its inside.
    x, y = middle[0] + 1e-3 * np.array([inward[0, 1], -inward[0, 0]])
    (x0, y0), (x1, y1) = around.T, np.roll(around, -1, axis=0).T
    crosses = (y0 > y) != (y1 > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = x < x0 + (y - y0) / (y1 - y0) * (x1 - x0)
    return bool((crosses & right).sum() % 2)
