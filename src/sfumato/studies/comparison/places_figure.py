"""Figure of a comparison for places: the loss of the true point against epsilon, with the bound below all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ...errors import InputError
from ...report.drawing import blank
from .place_contestants import CELLS, HAT, RAW, REMAPPED, SPLINE
from .place_rows import ANY, PlaceComparison, PlaceRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that most colour-blind readers tell apart (Okabe and Ito), and marks for everybody.
_STYLES: Final = {
    RAW: ("#0072B2", "v", "-", "planar Laplace noise (2 / epsilon)"),
    HAT: ("#CC79A7", "^", "-", "program, triangles (hat)"),
    REMAPPED: ("#56B4E9", "s", "-", "planar Laplace noise, each report moved to the best place"),
    SPLINE: ("#D55E00", "o", "-", "program, squares (spline)"),
    CELLS: ("#777777", "x", "--", "program on cells: no promise between two points"),
}
_TOP: Final = 1.25  # of the loss of always the same report
_BLACK: Final = "#000000"


def places_figure(comparison: PlaceComparison) -> Figure:
    """Return the loss of the true point of each mechanism against its epsilon, and a bound for all of them.

    Args:
        comparison: A comparison with at least one mechanism.

    Raises:
        InputError: If no mechanism exists.
        MissingExtraError: If matplotlib is not installed.
    """
    rows = [row for row in comparison.rows if not row.problem]
    if not any(row.name != ANY for row in rows):
        raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
    figure = blank(8.6, 5.0)
    ax = figure.subplots()
    for name, (colour, mark, line, label) in _STYLES.items():
        _line(ax, [row for row in rows if row.name == name], colour, mark, line, label)
    _bound(ax, [row for row in rows if row.name == ANY], comparison)
    blind = comparison.blind_error.value
    ax.axhline(blind, color=_BLACK, linewidth=0.8, linestyle=":")
    ax.annotate(
        "always the same report",
        (0.995, blind),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        fontsize=8,
    )
    epsilons = sorted({row.epsilon for row in rows})
    if comparison.equal == "epsilon":
        ax.set_xscale("log")
        ax.set_xticks(epsilons, [f"{each:g}" for each in epsilons])
        ax.set_xticks([], minor=True)
    else:
        ax.set_xlim(0, 1.1 * max(epsilons))
    unit = comparison.unit
    ax.set_xlabel(f"epsilon (per {unit}): larger promises less")
    ax.set_ylabel(f"mean distance from the true point to the report ({unit})")
    ax.set_ylim(0, _TOP * blind)  # noise that loses more than a constant report leaves the figure
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8.5, frameon=False)
    return figure


def _line(ax: Axes, rows: list[PlaceRow], colour: str, mark: str, line: str, label: str) -> None:
    if not rows:
        return
    rows = sorted(rows, key=lambda row: row.epsilon)
    ax.plot(
        [row.epsilon for row in rows],
        [row.loss.value for row in rows],
        color=colour,
        marker=mark,
        linestyle=line,
        markersize=6,
        linewidth=1.6,
        label=label,
    )


def _bound(ax: Axes, rows: list[PlaceRow], comparison: PlaceComparison) -> None:
    """Shade what no mechanism reaches."""
    rows = sorted((row for row in rows if math.isfinite(row.loss.lower)), key=lambda row: row.epsilon)
    if not rows:
        return
    label = "proved at the marks: no mechanism with this promise loses less"
    x, y = [row.epsilon for row in rows], [row.loss.lower for row in rows]
    if comparison.equal == "loss":
        label = f"proved: no mechanism with epsilon {x[0]:.3g}/{comparison.unit} loses so little"
        ax.axvline(x[0], color=_BLACK, linewidth=1.8, label=label)
        return
    ax.plot(x, y, color=_BLACK, linewidth=1.2, linestyle="-", marker="D", markersize=5, label=label)
    ax.fill_between(x, 0, y, color=_BLACK, alpha=0.07, linewidth=0)
