"""Outlines, contours, names and scale bars on maps in kilometres."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter

from ...core.arrays import Floats, floats
from ...errors import InputError
from ...escaping import figure as outside
from ...geo import CREDIT, Projection
from ..theme import LIGHT, ON_MAP, colour_bar, share_scale
from .outline import Name, Outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path

_SIZE: Final = 8.0  # points: names
_HALO: Final = 2.0  # points around a name
_LINE: Final = 1.7  # height of a line of text with its halo, in font sizes
_MOST_NAMES: Final = 8  # names on one map
_SHARE = 0.32  # largest width of a scale bar, as a share of the map
_LINE_STYLE: Final[Any] = {"clip_on": False, "scalex": False, "scaley": False, "color": LIGHT.ink}
_BAR_Y = -0.05  # its position below the map, as a share of the height
_SLACK = 1e-12  # of a share, for sums of floats
_LOWER: Final = 0.8  # of the height at the last point inside: contours pass around it, not through it
_TOLERANCE: Final = 1e-6  # relative difference of the levels of two contours, at least
_PIXELS: Final = 240  # along the longer side of a map
_MARGIN: Final = 4.0  # blurs around a map that contours are computed on
_SHARES: Final = (0.9, 0.75, 0.5, 0.25)
_HEIGHTS: Final = (0.3, 0.45, 0.6, 0.8)  # of the peak, at most: so that a single point has contours, too
_LINES: Final = {0.5: "solid", 0.9: "dashed"}


def draw_outline(ax: Axes, outline: Outline, projection: Projection) -> None:
    """Draw land, water and rivers below everything else, and shores, borders and lines above the cells."""
    from matplotlib.patches import PathPatch

    fills = {"land": LIGHT.land, "water": LIGHT.water}
    lines = {"shore": (LIGHT.muted, 0.7, 0.3), "river": (LIGHT.water, 2.2, 0.4), "border": (LIGHT.muted, 0.7, 0.5)}
    for shape in outline.shapes:
        path = _path(shape.rings, projection)
        if shape.kind in fills:
            ax.add_patch(PathPatch(path, facecolor=fills[shape.kind], edgecolor="none", zorder=0.2))
        if shape.kind in lines:
            colour, width, order = lines[shape.kind]
            line = PathPatch(path, fill=False, edgecolor=colour, linewidth=width, zorder=order)
            ax.add_patch(line)
        elif shape.edge:
            for colour, width, alpha in ((ON_MAP[1], 1.3, 0.3), (ON_MAP[0], 0.6, 0.75)):
                line = PathPatch(path, fill=False, edgecolor=colour, linewidth=width, alpha=alpha, zorder=2.1)
                ax.add_patch(line)


def draw_contours(ax: Axes, points: Floats, weights: Floats, width: float, label: str) -> None:
    """Draw smooth contours inside which 25, 50, 75 and 90 % of weighted points lie, and the bar of their colours.

    The map, with its limits, the points, array (n, 2), east and north, and the width by which each is blurred are
    in kilometres. Weights, array (n,), are at least 0 and not all 0.
    """
    from matplotlib.colors import BoundaryNorm, ListedColormap

    (west, east), (south, north) = ax.get_xlim(), ax.get_ylim()
    step = max(east - west, north - south) / _PIXELS
    low = np.array([west, south]) - _MARGIN * width
    size = np.ceil((np.array([east, north]) + _MARGIN * width - low) / step).astype(int)
    at = np.floor((points - low) / step).astype(int)
    mask = ((at >= 0) & (at < size)).all(axis=1)
    heights = np.zeros(size)
    np.add.at(heights, tuple(at[mask].T), weights[mask])
    heights = gaussian_filter(heights, width / step, mode="constant")
    blur = weights * step**2 / (2 * math.pi * width**2)
    of_points = np.array(
        [blur @ np.exp(-((points - point) ** 2).sum(axis=1) / (2 * width**2)) for point in points]
    )
    peak, levels, least = float(max(of_points.max(), heights.max())), [], 0.0
    for share, most in zip(_SHARES, _HEIGHTS, strict=True):
        order = np.argsort(-of_points, kind="stable")
        is_enough = np.cumsum(weights[order]) >= share * weights.sum() * (1 - _SLACK)
        level = min(float(of_points[order[int(np.argmax(is_enough))]]), most * peak)
        least = max(_LOWER * level, least * (1 + _TOLERANCE))
        levels.append(least)
    x, y = (low[axis] + step * (np.arange(size[axis]) + 0.5) for axis in (0, 1))
    colours = share_scale()(np.linspace(0.25, 0.95, len(levels)))
    ax.contourf(x, y, heights.T, [*levels, 2 * peak], colors=colours, zorder=1)
    look: dict[str, Any] = {"colors": LIGHT.ink, "linewidths": 1.2, "zorder": 1.9}
    for share, form in _LINES.items():
        level = levels[_SHARES.index(share)]
        if heights.max() > level:
            ax.contour(x, y, heights.T, [level], linestyles=form, **look)
        text = f"{100 * share:g} % are inside"
        ax.plot(np.nan, np.nan, color=LIGHT.ink, linewidth=1.2, linestyle=form, label=text)
    edges = [0.0, *(100 * share for share in _SHARES[::-1])]
    scale = ListedColormap(colours[::-1]), BoundaryNorm(edges, len(levels))
    colour_bar(*scale, ax, label, ticks=edges)


def draw_names(ax: Axes, names: Sequence[Name], projection: Projection, width_inches: float) -> None:
    """Write names on a map in their order, without those that would overlap earlier ones."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font, measure = FontProperties(size=_SIZE), text_to_path.get_text_width_height_descent
    (west, east), (south, north) = ax.get_xlim(), ax.get_ylim()
    km_per_point = (east - west) / (72 * width_inches)
    boxes: list[tuple[float, float, float, float]] = []
    for name in names:
        x, y = projection.forward(name.lat, name.lon)[0] / 1000
        half = (measure(name.text, font, False)[0] / 2 + _HALO) * km_per_point
        low, high = 2.0 * km_per_point, (2.0 + _LINE * _SIZE) * km_per_point
        box = (x - half, x + half, y - low, y + high)
        inside = west <= box[0] and box[1] <= east and south <= box[2] and box[3] <= north
        meet = (box[0] < e and w < box[1] and box[2] < n and s < box[3] for w, e, s, n in boxes)
        if len(boxes) >= _MOST_NAMES or not inside or any(meet):
            continue
        boxes.append(box)
        ax.plot(x, y, marker="o", markersize=2.6, color=LIGHT.ink, zorder=2.8)
        ax.annotate(  # on a box, not with a halo, which would turn letters into shapes
            outside(name.text),
            (x, y),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=_SIZE,
            color=LIGHT.ink,
            bbox={"facecolor": LIGHT.paper, "alpha": 0.7, "edgecolor": "none", "pad": 0.8},
            zorder=3.2,
        )


def _path(rings: Iterable[Floats], projection: Projection) -> Path:
    from matplotlib.path import Path

    every = (projection.forward(*ring.T) / 1000 for ring in rings)
    lines = [line for km in every if len(line := km[np.isfinite(km).all(axis=1)])]
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
    ax.plot(ends, [_BAR_Y, _BAR_Y], transform=across, linewidth=1.6, marker="|", markersize=7, **_LINE_STYLE)
    _note(ax, text, (ends[1], _BAR_Y), across, (6, 0), va="center")


def north_arrow(ax: Axes) -> None:
    """Draw an arrow to the north below the right corner of a map whose up is north."""
    ax.plot([0.985], [_BAR_Y], transform=ax.transAxes, marker="^", markersize=6, linestyle="none", **_LINE_STYLE)
    _note(ax, "N", (0.985, _BAR_Y), ax.transAxes, (-6, 0), ha="right", va="center")


def draw_credit(ax: Axes, outline: Outline | None) -> None:
    """Write the source of the map of the world into a corner of a map."""
    if outline is not None and outline.source == CREDIT:
        look = {"ha": "right", "va": "bottom", "fontsize": 4.5, "color": LIGHT.muted, "zorder": 3.4}
        _note(ax, CREDIT, (1, 0), ax.transAxes, (-2, 2), **look)


def _note(ax: Axes, text: str, at: tuple[float, float], coords: Any, offset: tuple[int, int], **look: Any) -> None:
    look = {"fontsize": 9, "color": LIGHT.ink, "annotation_clip": False, **look}
    ax.annotate(text, at, xycoords=coords, xytext=offset, textcoords="offset points", **look)


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
    count = int(np.searchsorted(np.cumsum(shares[order]), share * total * (1 - _SLACK))) + 1
    mask = np.zeros(len(shares), dtype=bool)
    mask[order[:count]] = True
    return mask & (shares > 0)
