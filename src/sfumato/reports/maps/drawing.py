"""Outlines, contours, names and scale bars on maps in kilometres."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from ...core import Space
from ...core.arrays import Floats, floats
from ...errors import InputError
from ...escaping import figure as outside
from ...geo import Places, Projection
from ..theme import LIGHT, ON_MAP
from .outline import Name, Outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path


_SIZE: Final = 8.0  # points: names
_HALO: Final = 2.0  # points around a name
_LINE: Final = 1.7  # height of a line of text with its halo, in font sizes
_MOST: Final = 8  # names on one map
_SHARE = 0.32  # largest width of a scale bar, as a share of the map
_BELOW = -0.05  # its position below the map, as a share of the height
_SLACK = 1e-12  # of a share, for sums of floats
_SAME = 1e-3  # of the length of an edge: nearer corners are merged
Ring = NDArray[np.intp]


def draw_outline(ax: Axes, outline: Outline, projection: Projection) -> None:
    """Draw land and water below everything else, and shores, borders and lines above the cells."""
    from matplotlib.patches import PathPatch

    colours = {"land": LIGHT.land, "water": LIGHT.water}
    for shape in outline.shapes:
        path = _path([_km(ring, projection) for ring in shape.rings])
        if shape.kind in colours:
            ax.add_patch(PathPatch(path, facecolor=colours[shape.kind], edgecolor="none", zorder=0.2))
        for colour, width, alpha in ((ON_MAP[1], 1.3, 0.3), (ON_MAP[0], 0.6, 0.75)):
            line = PathPatch(path, fill=False, edgecolor=colour, linewidth=width, alpha=alpha, zorder=2.1)
            ax.add_patch(line)


def draw_often(ax: Axes, geometry: dict[str, Any], projection: Projection, *, label: str) -> None:
    """Draw the outline of cells as `often` returns it."""
    from matplotlib.patches import PathPatch
    from matplotlib.patheffects import withStroke

    rings = [np.array(ring)[:, ::-1] for polygon in geometry["coordinates"] for ring in polygon]
    ax.add_patch(
        PathPatch(
            _path([_km(ring, projection) for ring in rings]),
            fill=False,
            edgecolor=ON_MAP[0],
            linewidth=1.6,
            zorder=1.9,
            clip_on=False,
            label=label,
            path_effects=[withStroke(linewidth=3.4, foreground=ON_MAP[1])],
        )
    )


def draw_names(ax: Axes, names: Sequence[Name], projection: Projection, width_inches: float) -> None:
    """Write names on a map in their order, without those that would overlap earlier ones."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.patheffects import withStroke
    from matplotlib.textpath import text_to_path

    font, measured = FontProperties(size=_SIZE), text_to_path.get_text_width_height_descent
    (west, east), (south, north) = ax.get_xlim(), ax.get_ylim()
    km_per_point = (east - west) / (72 * width_inches)
    taken: list[tuple[float, float, float, float]] = []
    for name in names:
        x, y = projection.forward(name.lat, name.lon)[0] / 1000
        half = (measured(name.text, font, False)[0] / 2 + _HALO) * km_per_point
        low, high = 2.0 * km_per_point, (2.0 + _LINE * _SIZE) * km_per_point
        box = (x - half, x + half, y - low, y + high)
        inside = west <= box[0] and box[1] <= east and south <= box[2] and box[3] <= north
        if len(taken) >= _MOST or not inside or any(_meet(box, other) for other in taken):
            continue
        taken.append(box)
        halo = [withStroke(linewidth=2.2, foreground=ON_MAP[1])]
        ax.plot(x, y, marker="o", markersize=2.6, color=ON_MAP[0], path_effects=halo, zorder=2.8)
        ax.annotate(  # on a box, not with a halo, which would turn letters into shapes
            outside(name.text),
            (x, y),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=_SIZE,
            color=ON_MAP[0],
            bbox={"facecolor": ON_MAP[1], "alpha": 0.62, "edgecolor": "none", "pad": 1.2},
            zorder=3.2,
        )


def _meet(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def _km(degrees: Floats, projection: Projection) -> Floats:
    found: Floats = projection.forward(degrees[:, 0], degrees[:, 1]) / 1000
    return found[np.isfinite(found).all(axis=1)]


def _path(rings: Iterable[Floats]) -> Path:
    from matplotlib.path import Path

    lines = [ring for ring in rings if len(ring)]
    codes = [np.r_[Path.MOVETO, np.full(len(ring) - 1, Path.LINETO)] for ring in lines]
    return Path(np.concatenate(lines), np.concatenate(codes)) if lines else Path(np.empty((0, 2)))


def bar_length(width_m: float) -> tuple[float, str]:
    """Return the length of a scale bar, 1, 2 or 5 times a power of ten metres, and its label."""
    most = _SHARE * width_m
    power = 10.0 ** math.floor(math.log10(most))
    length = next(digit * power for digit in (5, 2, 1) if digit * power <= most * (1 + 1e-9))
    return length, f"{length / 1000:g} km" if length >= 1000 else f"{length:g} m"


def scale_bar(ax: Axes) -> None:
    """Draw a scale bar below the left corner of a map in kilometres."""
    low, high = ax.get_xlim()
    length, text = bar_length(1000 * (high - low))
    across = ax.get_xaxis_transform()
    ends = [low, low + length / 1000]
    ax.plot(
        ends,
        [_BELOW, _BELOW],
        transform=across,
        color=LIGHT.ink,
        linewidth=1.6,
        marker="|",
        markersize=7,
        clip_on=False,
        scalex=False,
        scaley=False,
    )
    ax.annotate(
        text,
        (ends[1], _BELOW),
        xycoords=across,
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=9,
        color=LIGHT.ink,
        annotation_clip=False,
    )


def north_arrow(ax: Axes) -> None:
    """Draw an arrow to the north below the right corner of a map whose up is north."""
    ax.annotate(
        "N",
        (0.985, _BELOW),
        xycoords=ax.transAxes,
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=9,
        color=LIGHT.ink,
        annotation_clip=False,
    )
    ax.plot(
        [0.985],
        [_BELOW],
        transform=ax.transAxes,
        marker="^",
        markersize=6,
        linestyle="none",
        color=LIGHT.ink,
        clip_on=False,
        scalex=False,
        scaley=False,
    )


def often_cells(row: ArrayLike, share: float) -> NDArray[np.bool_]:
    """Return the smallest set of cells that holds at least a share, in (0, 1], of probabilities (n,).

    Cells are taken by probability, and ties by position. Raises `InputError` for another share, or if the
    probabilities have no finite positive sum.
    """
    shares = floats(row, "the probabilities", shape=(None,))
    if not 0 < share <= 1:
        raise InputError(f"the share {share!r} is not above 0 and at most 1.", "use .5 for half of the reports.")
    total = shares.sum() if (shares >= 0).all() else 0.0
    if not (np.isfinite(total) and total > 0):
        raise InputError("these are no probabilities.", "pass numbers of at least 0, some of them above.")
    order = np.argsort(-shares, kind="stable")
    needed = int(np.searchsorted(np.cumsum(shares[order]), share * total * (1 - _SLACK))) + 1
    chosen = np.zeros(len(shares), dtype=bool)
    chosen[order[:needed]] = True
    return chosen & (shares > 0)


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
    """Return the probability of a report in each cell, array (n,); see `often`."""
    shares = floats(row, "the probabilities", shape=(len(reports),))
    if reports == places:
        return shares
    centres = places.on_plane(places)
    nearest = cKDTree(centres).query(places.on_plane(reports))[1]
    return np.bincount(nearest, shares, minlength=len(places)).astype(float)


def boundary(corners: Floats) -> tuple[Floats, list[Ring]]:
    """Return the points (p, 2) and rings around cells, whose corners (n, k, 2) run counter-clockwise."""
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
    """Yield the edges as rings that visit no point twice."""
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
