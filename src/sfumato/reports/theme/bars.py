"""Bars that tell what the colours of a map mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

_STEPS: Final = 64
_TICKS: Final = 4


def colour_bar(coloured: ScalarMappable, ax: Axes, label: str, *, counts: bool = False) -> None:
    """Draw a bar below axes that tells what colours mean, made of shapes: an image would not scale in a page.

    Args:
        coloured: What is coloured by a scale.
        ax: The axes that it is in.
        label: What the scale counts, with its unit.
        counts: Whether it has whole numbers only.
    """
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
