"""Outlines, contours, names and scale bars on the axes of a map, whose units are kilometres east and north."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...core.arrays import Floats
from ...escaping import figure as outside
from ...geo import Projection
from ..theme import LIGHT, ON_MAP
from .outline import Name, Outline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.path import Path


_SIZE: Final = 8.0  # points: names
_HALO: Final = 2.0  # points around a name
_LINE: Final = 1.7  # of the size: the height of a line of text with its halo
_MOST: Final = 8  # names on one map
_SHARE = 0.32  # of the width that a scale bar takes at most
_BELOW = -0.035  # of the height: how far below the map it stands


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


def draw_often(
    ax: Axes, geometry: dict[str, Any], projection: Projection, *, dashed: bool = False, label: str
) -> None:
    """Draw the outline of cells as `often` returns it."""
    from matplotlib.patches import PathPatch
    from matplotlib.patheffects import withStroke

    solid = {"dash_offset": 0, "dash_list": None}
    rings = [np.array(ring)[:, ::-1] for polygon in geometry["coordinates"] for ring in polygon]
    ax.add_patch(
        PathPatch(
            _path([_km(ring, projection) for ring in rings]),
            fill=False,
            edgecolor=ON_MAP[0],
            linewidth=1.6 if dashed else 2.0,
            linestyle=(0, (3.5, 3)) if dashed else "-",
            zorder=2.6,
            clip_on=False,
            label=label,
            path_effects=[withStroke(linewidth=3.2 if dashed else 4.4, foreground=ON_MAP[1], dashes=solid)],
        )
    )


def draw_names(ax: Axes, names: Sequence[Name], projection: Projection, width_inches: float) -> None:
    """Write names on a map, the first ones first, and leave out those that would not be free of the others."""
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

    kept = [ring for ring in rings if len(ring)]
    codes = [np.r_[Path.MOVETO, np.full(len(ring) - 1, Path.LINETO)] for ring in kept]
    return Path(np.concatenate(kept), np.concatenate(codes)) if kept else Path(np.empty((0, 2)))


def bar_length(width_m: float) -> tuple[float, str]:
    """Return the length of a scale bar in metres, and in words: 1, 2 or 5 times a power of ten."""
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
