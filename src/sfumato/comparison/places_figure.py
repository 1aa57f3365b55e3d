"""Figure of a comparison for places: the loss of the true point against epsilon, with the bound below all."""

from __future__ import annotations

import math
from textwrap import fill
from typing import TYPE_CHECKING, Final

from ..errors import InputError
from ..reports.theme import LIGHT, blank
from ..rounding import about, amount, amount_at_most
from .loss_lines import LossLine, draw_losses, label_losses, mark_leaving
from .place_contestants import CELLS, HAT, RAW, REMAPPED, SPLINE
from .place_rows import ANY, PlaceComparison, PlaceRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours that most colour-blind readers tell apart (Okabe and Ito), and marks for everybody.
_STYLES: Final = {
    RAW: (LIGHT.series[0], "v", "-", "planar Laplace noise (about 2 / epsilon)"),
    HAT: (LIGHT.series[3], "^", "-", "program on triangles (hat)"),
    REMAPPED: (LIGHT.series[2], "s", "-", "planar Laplace noise, each report moved to the best place"),
    SPLINE: (LIGHT.series[1], "o", "-", "program on squares (spline)"),
    CELLS: (LIGHT.muted, "x", "--", "program on cells: no promise between two points"),
}
_WIDE: Final = 1.22  # of the longest bar, with its number
_LONGEST: Final = 2.5  # times all the other lengths: a bar beyond is cut off
_BLACK: Final = LIGHT.ink
_BROAD, _NARROW = 8.6, 4.4  # inches
_PER_INCH, _LABEL = 13, 14  # letters of a label below the axis, and above a bar


def places_figure(comparison: PlaceComparison, *, narrow: bool = False) -> Figure:
    """Return the loss of the true point of each mechanism against its epsilon, and a bound for all of them.

    With one epsilon the losses are bars, and so are the epsilons at equal loss.

    Args:
        comparison: A comparison with at least one mechanism.
        narrow: Whether it is for a narrow screen.

    Raises:
        InputError: If no mechanism exists.
        MissingExtraError: If matplotlib is not installed.
    """
    rows = [row for row in comparison.rows if not row.problem]
    if not any(row.name != ANY for row in rows):
        raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
    several = len({row.epsilon for row in rows}) > 1
    if comparison.equal == "epsilon" and several:
        return _lines(rows, comparison, _NARROW if narrow else _BROAD)
    return _bars(rows, comparison, _NARROW if narrow else _BROAD)


def _lines(rows: list[PlaceRow], comparison: PlaceComparison, width: float) -> Figure:
    figure = blank(width, 5.6)
    ax = figure.subplots()
    unit = comparison.unit
    lines = {}
    for name, (colour, mark, line, label) in _STYLES.items():
        losses = {row.epsilon: _proved(row) for row in rows if row.name == name}
        if losses:
            lines[name] = LossLine(label, colour, mark, line, losses)
    bounds = {row.epsilon: _proved(row) for row in rows if row.name == ANY and math.isfinite(row.loss.lower)}
    said = "proved at the marks: no mechanism with this promise loses less"
    draw_losses(ax, list(lines.values()), bounds, said, comparison.blind_error.value, unit)
    label_losses(ax, "mean distance from the true point to the report", unit)
    if RAW in lines:
        mark_leaving(ax, lines[RAW], unit)
    columns = 2 if width == _BROAD else 1
    figure.legend(loc="outside lower center", ncols=columns, fontsize=8.5, frameon=False)
    return figure


def _proved(row: PlaceRow) -> float:
    """Return what is proved of a loss, as the table has it: at most so much, but at least for a bound of all."""
    if row.name == ANY:
        return row.loss.lower
    return row.loss.upper if math.isfinite(row.loss.upper) else row.loss.value


def _bars(rows: list[PlaceRow], comparison: PlaceComparison, width: float) -> Figure:
    """Return a bar for each mechanism: its loss at the one epsilon, or its epsilon at the one loss."""
    unit, at_loss = comparison.unit, comparison.equal == "loss"
    lengths = {row.name: row.epsilon if at_loss else _proved(row) for row in rows}
    names = sorted((name for name in _STYLES if name in lengths), key=lambda name: lengths[name])
    blind = 0.0 if at_loss else comparison.blind_error.value
    others = [blind, *(length for name, length in lengths.items() if name != names[-1])]
    end = min(lengths[names[-1]], _LONGEST * max(others)) if max(others) else lengths[names[-1]]
    end = max(end, *others)
    figure = blank(width, 0.9 + 0.62 * (len(names) + 1))
    ax = figure.subplots()
    for at, name in enumerate(names):
        colour, _, _, label = _STYLES[name]
        shown = f"{about(lengths[name], 3)}/{unit}" if at_loss else amount_at_most(lengths[name], unit)
        open_bar = {"fill": False, "hatch": "////"} if name == CELLS else {"color": colour}
        length = min(lengths[name], end)
        shown = shown if length == lengths[name] else f"{shown}, cut off"
        ax.barh(at, length, height=0.5, edgecolor=colour, **open_bar)
        ax.annotate(shown, (length, at), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
        ax.annotate(
            fill(label, int(_LABEL * width)),
            (0, at + 0.28),
            xytext=(3, 2),
            textcoords="offset points",
            va="bottom",
            fontsize=8.5 if width == _BROAD else 7.5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
        ).set_in_layout(False)
    narrow = width == _NARROW
    if not at_loss:
        _mark(ax, blind, ":", "always the same report", len(names) - 0.25, end, narrow=narrow)
    if ANY in lengths:
        ax.axvspan(0, lengths[ANY], color=_BLACK, alpha=0.07, linewidth=0, zorder=0)
        said = "too small for any mechanism" if at_loss else "no mechanism with this promise loses less"
        _mark(ax, lengths[ANY], "-", f"proved: {said}", len(names) + 0.05 + 0.2 * narrow, end, narrow=narrow)
    if at_loss:
        loss = amount(comparison.values[0], unit)
        said = f"epsilon (per {unit}) with a mean distance of {loss} to the true point; less promises more"
    else:
        at_epsilon = f"{about(comparison.values[0], 4)}/{unit}"
        said = f"mean distance from the true point to the report ({unit}) at epsilon {at_epsilon}"
    ax.set_xlabel(fill(said, int(_PER_INCH * width)))
    ax.set_xlim(0, _WIDE * end)
    ax.set_ylim(-0.5, len(names) + 0.35 + 0.3 * narrow)
    ax.set_yticks([])
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    return figure


def _mark(ax: Axes, at: float, line: str, label: str, row: float, end: float, *, narrow: bool) -> None:
    """Draw a line across all bars, with its label on the side that has room."""
    ax.axvline(at, color=_BLACK, linewidth=1.2, linestyle=line)
    left = at > 0.4 * end
    ax.annotate(
        fill(label, 28) if narrow else label,
        (at, row),
        xytext=(-4 if left else 4, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        va="center",
        fontsize=7.5 if narrow else 8,
    ).set_in_layout(False)
