"""Figure of a comparison for places: the loss of the true point against epsilon, with the bound below all."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from ...errors import InputError
from ...report.drawing import blank
from ...rounding import about, amount
from .place_contestants import CELLS, HAT, RAW, REMAPPED, SPLINE
from .place_rows import ANY, PlaceComparison, PlaceRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that most colour-blind readers tell apart (Okabe and Ito), and marks for everybody.
_STYLES: Final = {
    RAW: ("#0072B2", "v", "-", "planar Laplace noise (about 2 / epsilon)"),
    HAT: ("#CC79A7", "^", "-", "program on triangles (hat)"),
    REMAPPED: ("#56B4E9", "s", "-", "planar Laplace noise, each report moved to the best place"),
    SPLINE: ("#D55E00", "o", "-", "program on squares (spline)"),
    CELLS: ("#777777", "x", "--", "program on cells: no promise between two points"),
}
_TOP: Final = 1.25  # of the loss of always the same report
_WIDE: Final = 1.22  # of the longest bar, with its number
_BLACK: Final = "#000000"


def places_figure(comparison: PlaceComparison) -> Figure:
    """Return the loss of the true point of each mechanism against its epsilon, and a bound for all of them.

    With one epsilon the losses are bars, and so are the epsilons at equal loss.

    Args:
        comparison: A comparison with at least one mechanism.

    Raises:
        InputError: If no mechanism exists.
        MissingExtraError: If matplotlib is not installed.
    """
    rows = [row for row in comparison.rows if not row.problem]
    if not any(row.name != ANY for row in rows):
        raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
    several = len({row.epsilon for row in rows}) > 1
    if comparison.equal == "epsilon" and several:
        return _lines(rows, comparison)
    return _bars(rows, comparison)


def _lines(rows: list[PlaceRow], comparison: PlaceComparison) -> Figure:
    figure = blank(8.6, 5.6)
    ax = figure.subplots()
    for name, (colour, mark, line, label) in _STYLES.items():
        _line(ax, [row for row in rows if row.name == name], colour, mark, line, label)
    _bound(ax, [row for row in rows if row.name == ANY])
    blind, unit = comparison.blind_error.value, comparison.unit
    ax.axhline(blind, color=_BLACK, linewidth=0.8, linestyle=":")
    ax.annotate(
        "always the same report, which reveals nothing",
        (0.995, blind),
        xycoords=("axes fraction", "data"),
        xytext=(0, 1.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=8,
    )
    top = _TOP * blind  # noise that loses more than a constant report leaves the figure
    _leaving(ax, [row for row in rows if row.name == RAW], top, unit)
    epsilons = sorted({row.epsilon for row in rows})
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [about(each, 3) for each in epsilons])
    ax.set_xticks([], minor=True)
    ax.set_xlabel(f"epsilon (per {unit}): larger promises less")
    ax.set_ylabel(f"mean distance from the true point to the report ({unit})")
    ax.set_ylim(0, top)
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


def _leaving(ax: Axes, rows: list[PlaceRow], top: float, unit: str) -> None:
    """Say how far up a line goes on that leaves the figure to the left."""
    rows = sorted(rows, key=lambda row: row.epsilon)
    above = [row for row in rows if row.loss.value > top]
    if not above:
        return
    first, last, at = above[0], above[-1], above[-1].epsilon
    if len(rows) > len(above):
        after = rows[len(above)]
        at *= (after.epsilon / at) ** ((last.loss.value - top) / (last.loss.value - after.loss.value))
    ax.annotate(
        f"up to {amount(first.loss.value, unit)} at {about(first.epsilon, 3)}/{unit}",
        (at, top),
        xytext=(-8, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color=_STYLES[RAW][0],
    )


def _bound(ax: Axes, rows: list[PlaceRow]) -> None:
    """Shade what no mechanism reaches."""
    rows = sorted((row for row in rows if math.isfinite(row.loss.lower)), key=lambda row: row.epsilon)
    if not rows:
        return
    label = "proved at the marks: no mechanism with this promise loses less"
    x, y = [row.epsilon for row in rows], [row.loss.lower for row in rows]
    ax.plot(x, y, color=_BLACK, linewidth=1.2, linestyle="-", marker="D", markersize=5, label=label)
    ax.fill_between(x, 0, y, color=_BLACK, alpha=0.07, linewidth=0)


def _bars(rows: list[PlaceRow], comparison: PlaceComparison) -> Figure:
    """Return a bar for each mechanism: its loss at the one epsilon, or its epsilon at the one loss."""
    unit, at_loss = comparison.unit, comparison.equal == "loss"
    lengths = {row.name: row.epsilon if at_loss else row.loss.value for row in rows}
    names = sorted((name for name in _STYLES if name in lengths), key=lambda name: lengths[name])
    figure = blank(8.6, 0.9 + 0.62 * (len(names) + 1))
    ax = figure.subplots()
    for at, name in enumerate(names):
        colour, _, _, label = _STYLES[name]
        shown = f"{about(lengths[name], 3)}/{unit}" if at_loss else amount(lengths[name], unit)
        open_bar = {"fill": False, "hatch": "////"} if name == CELLS else {"color": colour}
        ax.barh(at, lengths[name], height=0.5, edgecolor=colour, **open_bar)
        ax.annotate(shown, (lengths[name], at), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
        ax.annotate(
            label,
            (0, at + 0.28),
            xytext=(3, 2),
            textcoords="offset points",
            va="bottom",
            fontsize=8.5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
        )
    end = max(lengths.values())
    if not at_loss:
        blind = comparison.blind_error.value
        end = max(end, blind)
        _mark(ax, blind, ":", "always the same report", len(names))
    if ANY in lengths:
        ax.axvspan(0, lengths[ANY], color=_BLACK, alpha=0.07, linewidth=0, zorder=0)
        said = "too small for any mechanism" if at_loss else "no mechanism with this promise loses less"
        _mark(ax, lengths[ANY], "-", f"proved: {said}", len(names))
    if at_loss:
        loss = amount(comparison.values[0], unit)
        ax.set_xlabel(f"epsilon (per {unit}) with a mean distance of {loss} to the true point; less promises more")
    else:
        at_epsilon = f"{about(comparison.values[0], 4)}/{unit}"
        ax.set_xlabel(f"mean distance from the true point to the report ({unit}) at epsilon {at_epsilon}")
    ax.set_xlim(0, _WIDE * end)
    ax.set_ylim(-0.5, len(names) + 0.2)
    ax.set_yticks([])
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    return figure


def _mark(ax: Axes, at: float, line: str, label: str, row: int) -> None:
    ax.axvline(at, color=_BLACK, linewidth=1.2, linestyle=line)
    ax.annotate(label, (at, row - 0.15), xytext=(-4, 0), textcoords="offset points", ha="right", fontsize=8)
