"""Figures of matplotlib; it is an extra, and loaded only when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ...errors import MissingExtraError
from .palette import LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure


_STEPS: Final = 64
_TICKS: Final = 4


def blank(width: float, height: float) -> Figure:
    """Return an empty figure of a width and a height in inches, whose axes have the look of the package.

    It belongs to no window and no global state of matplotlib. Its colours are those of `LIGHT`;
    `save_picture` turns them into those of another theme.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingExtraError("A figure", "report") from None
    from ._themed import Themed

    return Themed(figsize=(width, height), layout="constrained", dpi=150)


def colour_bar(coloured: ScalarMappable, ax: Axes, label: str, *, counts: bool = False) -> None:
    """Draw a bar of colours below axes, made of shapes: an image would not scale in a page."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    figure: Any = ax.figure
    scale = ScalarMappable(norm=coloured.norm, cmap=coloured.get_cmap().resampled(_STEPS))
    bar = figure.colorbar(scale, ax=ax, label=label, location="bottom", shrink=0.9, aspect=30)
    bar.solids.set_rasterized(False)
    bar.solids.set_edgecolor("face")
    bar.solids.set_linewidth(0.3)
    bar.locator = MaxNLocator(_TICKS, integer=counts)  # a scale by square roots crowds those on the right
    if counts:
        bar.formatter = FuncFormatter(lambda number, _: f"{number:,.0f}")
    bar.update_ticks()


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
