"""Figures of one panel, and sentences in place of curves that would show nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .canvas import blank
from .palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def one_panel() -> tuple[Figure, Axes]:
    """Return a figure with a single panel on a grid.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    figure = blank(6.2, 5.4)
    ax: Any = figure.subplots()
    ax.grid(alpha=0.3)
    return figure, ax


def say_instead(ax: Axes, sentence: str) -> None:
    """Put a sentence where there is nothing to see otherwise."""
    box = {"facecolor": LIGHT.paper, "edgecolor": LIGHT.muted, "pad": 8}
    ax.text(0.5, 0.5, sentence, transform=ax.transAxes, ha="center", va="center", fontsize=9.5, bbox=box, zorder=5)
