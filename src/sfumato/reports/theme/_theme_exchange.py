"""Figures with the look of the package, and the exchange of their colours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import Collection
from matplotlib.colors import ListedColormap, to_hex, to_rgba, to_rgba_array
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from .palette import LIGHT, Theme

_LEGEND_EDGE = "#cccccc"  # as matplotlib draws it
_SIZES = {"axes.titlesize": 11.0, "axes.labelsize": 10.0, "tick": 9.0}


class ThemedFigure(Figure):
    """A figure whose axes are drawn in the colours of `LIGHT`: an open frame on a light grid."""

    def add_subplot(self, *args: Any, **kwargs: Any) -> Any:
        """Add axes with the look of the package."""
        axes = super().add_subplot(*args, **kwargs)
        axes.set_prop_cycle(color=LIGHT.series)
        axes.tick_params(which="both", colors=LIGHT.ink, labelsize=_SIZES["tick"], grid_color=LIGHT.grid)
        for side, spine in axes.spines.items():
            spine.set_color(LIGHT.muted)
            spine.set_visible(side in ("left", "bottom"))
        axes.set_axisbelow(True)
        axes.title.set(fontsize=_SIZES["axes.titlesize"], color=LIGHT.ink)
        for axis in (axes.xaxis, axes.yaxis):
            axis.label.set(fontsize=_SIZES["axes.labelsize"], color=LIGHT.ink)
        return axes


def exchange_colours(figure: Figure, theme: Theme) -> Callable[[], None]:
    """Give a figure the colours of a theme, and return a function that undoes it.

    Black and white count as ink and paper, and the frame of a legend as a line of the grid. Other colours outside
    `LIGHT` stay.
    """
    new = {old: theme.colours[name] for name, old in LIGHT.colours.items()}
    new |= {"#000000": theme.ink, "#ffffff": theme.paper, _LEGEND_EDGE: theme.grid}
    undo = [_position_restorer(axes) for axes in figure.axes]
    figure.draw_without_rendering()  # ticks are made when they are first drawn
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            params: Any = axis.get_tick_params()
            old = {key: params[key] for key in ("color", "labelcolor", "grid_color") if key in params}
            old = {"color": "black", "labelcolor": "black", "grid_color": LIGHT.grid} | old
            axis.set_tick_params(which="both", **{key: _counterpart(value, new) for key, value in old.items()})
            undo.append(partial(axis.set_tick_params, which="both", **old))
    for artist in _artists(figure):
        if isinstance(artist, ScalarMappable):
            scale = artist.get_cmap()
            colours = scale(np.arange(scale.N))
            other = _counterpart(colours, new)
            if other is not colours:
                artist.set_cmap(ListedColormap(other))
                undo.append(partial(artist.set_cmap, scale))
        for name in _colour_properties(artist):
            before = getattr(artist, f"get_{name}")()
            if isinstance(before, str) and before in ("none", "auto", "inherit"):
                continue
            after = _counterpart(before, new)
            if after is not before:
                getattr(artist, f"set_{name}")(after)
                undo.append(partial(getattr(artist, f"set_{name}"), before))

    def restore() -> None:
        for step in reversed(undo):
            step()

    return restore


def _position_restorer(axes: Axes) -> Callable[[], None]:
    """Return a function that restores the position of axes, on which the next layout depends."""
    original, active, laid_out = axes.get_position(original=True), axes.get_position(), axes.get_in_layout()

    def restore() -> None:
        axes.set_position(original.frozen(), which="original")
        axes.set_position(active.frozen(), which="active")
        axes.set_in_layout(laid_out)

    return restore


def _artists(figure: Figure) -> Iterator[Artist]:
    for artist in figure.findobj():
        yield artist
        if isinstance(artist, Text):
            beside = (artist.get_bbox_patch(), getattr(artist, "arrow_patch", None))
            yield from (patch for patch in beside if patch is not None)


def _colour_properties(artist: Artist) -> tuple[str, ...]:
    """Return the colour properties of an artist that do not come from a scale."""
    if isinstance(artist, Line2D):
        return ("markerfacecolor", "markeredgecolor", "color")
    if isinstance(artist, Text):
        return ("color",)
    if isinstance(artist, Patch):
        return ("facecolor", "edgecolor")
    if isinstance(artist, Collection):
        return ("facecolor", "edgecolor") if artist.get_array() is None else ()
    return ()


def _counterpart(colour: Any, new: dict[str, str]) -> Any:
    """Return a colour's counterpart with the same opacity, or the same object if it has none."""
    if not (isinstance(colour, str) or (isinstance(colour, tuple) and np.ndim(colour) == 1)):
        rows = to_rgba_array(colour)
        if not any(to_hex(row) in new for row in rows):
            return colour
        return np.array([_counterpart(tuple(row), new) for row in rows]).reshape(-1, 4)
    red, green, blue, opacity = to_rgba(colour)
    counterpart = new.get(to_hex((red, green, blue))) if opacity else None
    return colour if counterpart is None else to_rgba(counterpart, opacity)
