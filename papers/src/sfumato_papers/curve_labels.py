"""Names of curves, written next to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def label_curve(
    ax: Axes,
    point: tuple[float, float],
    text: str,
    colour: str,
    offset: tuple[float, float] = (6, 0),
    align: str = "left",
) -> None:
    """Write the name of a curve at one of its points, shifted by an offset in points, in the curve's colour."""
    annotation = ax.annotate(
        text,
        point,
        offset,
        textcoords="offset points",
        ha=align,
        va="center",
        fontsize=8.5,
        color=colour,
        annotation_clip=False,
    )
    annotation.set_in_layout(False)
