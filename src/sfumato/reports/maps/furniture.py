"""Scale bars and arrows to the north, which a reader of a map needs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..theme import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SHARE = 0.32  # of the width that a scale bar takes at most
_BELOW = -0.035  # of the height: how far below the map it stands


def bar_length(width_m: float) -> tuple[float, str]:
    """Return the length of a scale bar in metres, and in words: 1, 2 or 5 times a power of ten.

    Args:
        width_m: The width of the map, metres.
    """
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
