"""Comparisons for places: rows, tables, sentences and the figure."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from textwrap import fill
from typing import TYPE_CHECKING, Final

from ..core import Bracket
from ..optimal import CoordinateBound
from ..reports.document import PageTable
from ..reports.sentences import (
    EXCESS_WORDS,
    METRE_WORDS,
    at_epsilon,
    border_words,
    drawn_words,
    every_mechanism_words,
    needed_epsilon_words,
    slack_words,
    unmade_words,
    visits_words,
)
from ..reports.theme import LIGHT, blank
from ..rounding import about, amount, amount_at_least, amount_at_most, at_most, percent_at_most
from .engine import ANY, NOT_REACHED
from .results import BROAD, NARROW, Comparison, ComparisonRow, LossLine, loss_figure, mark_leaving

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPLINE: Final = "program, spline"
HAT: Final = "program, hat"
REMAP: Final = "planar Laplace + remap"
RAW: Final = "planar Laplace"
CELLS: Final = "cells"
NAMES: Final = (SPLINE, HAT, REMAP, RAW, CELLS, ANY)
"""The order of rows."""

# Colours that most colour-blind readers tell apart (Okabe and Ito), and marks for everybody.
_STYLES: Final = {
    RAW: (LIGHT.series[0], "v", "-", "planar Laplace noise (about 2 / epsilon)"),
    HAT: (LIGHT.series[3], "^", "-", "program on triangles (hat)"),
    REMAP: (LIGHT.series[2], "s", "-", "planar Laplace noise, each report moved to the best place"),
    SPLINE: (LIGHT.series[1], "o", "-", "program on squares (spline)"),
    CELLS: (LIGHT.muted, "x", "--", "program on cells: no guarantee between two points"),
}
_WIDE: Final = 1.22  # of the longest bar, with its number
_LONGEST: Final = 2.5  # times all the other lengths: a bar beyond is cut off
_BLACK: Final = LIGHT.ink
_PER_INCH, _LABEL = 13, 14  # letters of a label below the axis, and above a bar


@dataclass(frozen=True, slots=True, repr=False)
class PlaceRow(ComparisonRow):
    """One mechanism for places, and what it achieves for the true points.

    Attributes:
        name: The mechanism; ``any mechanism`` is the bound.
        epsilon: What it was made for, per unit of length; for cells between their middles.
        epsilon_upper: Proved for any two points, per unit of length; ``inf`` for cells.
        slack_m: How much farther apart two points may be treated, in metres.
        loss: The mean distance from the true point to the report.
        attacker_error: The mean distance from the true point to the best guess anywhere; None for the bound, and
            where there was no time for the attack.
        metre_factor: The largest ratio of a report's probabilities from two points a metre apart; for cells at
            the worst border, None for the bound.
        problem: Why there is no mechanism; the numbers are then infinite, and empty in a saved table.
        stopped: Why a program is not the best on its lattice or cells, and its gap; "" where it is.
    """

    name: str
    epsilon: float
    epsilon_upper: float
    slack_m: float
    loss: Bracket
    attacker_error: Bracket | None
    metre_factor: Bracket | None
    detail: str
    problem: str = ""
    stopped: str = ""

    @classmethod
    def of_problem(cls, name: str, epsilon: float, problem: str) -> PlaceRow:
        """Return the row of a mechanism that could not be made."""
        infinity = Bracket.exact(math.inf)
        return cls(name, epsilon, math.inf, math.inf, infinity, infinity, infinity, "", problem)

    def cells(self) -> dict[str, str | float | None]:
        """Return the columns of a table, each bracket as three; without a mechanism there are no numbers."""
        columns: dict[str, str | float | None] = {}
        for field in fields(PlaceRow):
            name, value = field.name, getattr(self, field.name)
            if name in ("loss", "attacker_error", "metre_factor"):
                bracket = None if self.problem else value
                for column, end in ((f"{name}_lower", "lower"), (name, "value"), (f"{name}_upper", "upper")):
                    columns[column] = None if bracket is None else getattr(bracket, end)
            else:
                columns[name] = None if self.problem and name in ("epsilon_upper", "slack_m") else value
        return columns


@dataclass(frozen=True, slots=True, repr=False)
class PlaceComparison(Comparison[PlaceRow]):
    """Several mechanisms for places, on the same visits; epsilon counts per the unit of losses.

    Attributes:
        visits: The number of visits that all were made for and measured on.
        population: The number of visits that these were drawn from.
        blind_error: The error of an attacker who sees no report.
        bounds: Lower bounds for every mechanism with the same guarantee, one for each epsilon.
    """

    visits: int
    population: int
    blind_error: Bracket
    bounds: tuple[CoordinateBound, ...]

    @property
    def caption(self) -> str:
        """The caption of the figure."""
        late = any(row.problem == NOT_REACHED for row in self.rows)
        return drawn_words(unreached=late, files=bool(self.files))

    @property
    def columns(self) -> tuple[str, ...]:
        """Sentences on the columns of the tables after loss, error and epsilon."""
        return (EXCESS_WORDS, METRE_WORDS) if self.equal == "epsilon" else (METRE_WORDS,)

    def excess(self, row: PlaceRow) -> float:
        """Return the relative excess, at most, of a loss over the least with the same guarantee: 0.06 for 6 %.

        It is ``inf`` for cells and files, which have another guarantee. Raises `InputError` if the loss is less
        than any mechanism with the guarantee can have.
        """
        bound = next((candidate for candidate in self.bounds if candidate.epsilon == row.epsilon), None)
        if row.name == ANY:
            return 0.0
        if bound is None or not math.isfinite(row.epsilon_upper) or row.name in self.files:
            return math.inf
        if row.slack_m and row.loss.upper < bound.lower:
            return 0.0  # with a slack less is promised than the bound is for
        return bound.excess(row.loss.upper)

    def tables(self, source: str) -> tuple[PageTable, ...]:
        """Return a table for each epsilon, or one for a loss."""
        unit, bounded = self.unit, self.equal == "epsilon"
        headings = (
            "mechanism",
            f"epsilon/{unit} (any two points)",
            "loss",
            *(["above the bound"] if bounded else []),
            "attacker's error",
            "times as probable, a metre apart",
        )
        tables = []
        for value in self.values:
            rows = tuple(
                self._cells(row, bounded=bounded)
                for row in self.rows
                if row.problem in ("", NOT_REACHED) and row.name != ANY and (not bounded or row.epsilon == value)
            )
            common = (
                at_epsilon(value, unit)
                if bounded
                else f"equal loss of the true point, {amount_at_most(value, unit)}"
            )
            tables.append(PageTable(f"Mechanisms for points at {common} ({source})", headings, rows))
        return tuple(tables)

    def sentences(self) -> tuple[str, ...]:
        """Return what is proved of all mechanisms, what the numbers are, and what is missing."""
        unit, sentences = self.unit, []
        for bound in self.bounds:
            sentences.append(every_mechanism_words(bound))
            if self.equal == "loss":
                sentences.append(needed_epsilon_words(self.values[0], bound.epsilon, unit))
        sentences.append(visits_words(self.visits, self.population, self.blind_error.value, unit))
        slacks = {
            group: max((row.slack_m for row in self.rows if not row.problem and row.name in names), default=0.0)
            for names, group in (
                ((REMAP, RAW), "planar Laplace"),
                ((SPLINE, HAT), "programs"),
                *(((name,), name) for name in self.files),
            )
        }
        if any(slacks.values()):
            sentences.append(slack_words({group: slack for group, slack in slacks.items() if slack}))
        sentences += [
            border_words(row.epsilon, row.metre_factor.lower, unit)
            for row in self.rows
            if row.name == CELLS and not row.problem and row.metre_factor and math.isinf(row.epsilon_upper)
        ]
        for row in self.rows:
            if row.stopped:
                sentences.append(
                    unmade_words(f"{row.name} at {at_epsilon(row.epsilon, unit)}", ending=row.stopped)
                )
            elif row.problem == NOT_REACHED and row.name == ANY:
                sentences.append(unmade_words("The bound of any mechanism", ending=NOT_REACHED))
            elif row.problem and row.problem != NOT_REACHED:  # those not reached are in the table
                sentences.append(unmade_words(row.name, problem=row.problem))
        return tuple(sentences)

    def figure(self, *, narrow: bool = False) -> Figure:
        """Return the loss of the true point of each mechanism against its epsilon, and a bound for all of them.

        With one epsilon the losses are bars, and so are the epsilons at equal loss.
        """
        rows = self.valid_rows()
        several = len({row.epsilon for row in rows}) > 1
        return (_lines if self.equal == "epsilon" and several else _bars)(rows, self, NARROW if narrow else BROAD)

    def _cells(self, row: PlaceRow, *, bounded: bool) -> tuple[str, ...]:
        if row.problem:
            return f"{row.name} ({row.problem})", *["-"] * (5 if bounded else 4)
        above = self.excess(row)
        error, factor = row.attacker_error, row.metre_factor
        return (
            row.name,
            at_most(row.epsilon_upper, 5) if math.isfinite(row.epsilon_upper) else "none",
            amount_at_most(row.loss.upper, self.unit),
            *([percent_at_most(above) if math.isfinite(above) else "-"] if bounded else []),
            "-" if error is None else amount_at_least(error.lower, self.unit),
            "-" if factor is None or math.isinf(factor.upper) else at_most(factor.upper, 4),
        )


def _lines(rows: list[PlaceRow], comparison: PlaceComparison, width: float) -> Figure:
    unit, lines = comparison.unit, {}
    for name, (colour, mark, line, label) in _STYLES.items():
        losses = {row.epsilon: _bound(row) for row in rows if row.name == name}
        if losses:
            lines[name] = LossLine(label, colour, mark, line, losses)
    bounds = {row.epsilon: _bound(row) for row in rows if row.name == ANY and math.isfinite(row.loss.lower)}
    labels = (
        "proved at the marks: no mechanism with this guarantee loses less",
        "mean distance from the true point to the report",
    )
    figure = loss_figure(
        list(lines.values()), bounds, labels, comparison.blind_error.value, (unit, unit), (width, 5.6)
    )
    if RAW in lines:
        mark_leaving(figure.axes[0], lines[RAW], unit)
    return figure


def _bound(row: PlaceRow) -> float:
    """Return the upper bound of a loss, or the lower one of the bound for all mechanisms."""
    if row.name == ANY:
        return row.loss.lower
    return row.loss.upper if math.isfinite(row.loss.upper) else row.loss.value


def _bars(rows: list[PlaceRow], comparison: PlaceComparison, width: float) -> Figure:
    unit, at_loss = comparison.unit, comparison.equal == "loss"
    lengths = {row.name: row.epsilon if at_loss else _bound(row) for row in rows}
    names = sorted((name for name in _STYLES if name in lengths), key=lambda name: lengths[name])
    blind = 0.0 if at_loss else comparison.blind_error.value
    rest = [blind, *(length for name, length in lengths.items() if name != names[-1])]
    end = min(lengths[names[-1]], _LONGEST * max(rest)) if max(rest) else lengths[names[-1]]
    end = max(end, *rest)
    figure = blank(width, 0.9 + 0.62 * (len(names) + 1))
    ax = figure.subplots()
    for at, name in enumerate(names):
        colour, _, _, label = _STYLES[name]
        text = f"{about(lengths[name], 3)}/{unit}" if at_loss else amount_at_most(lengths[name], unit)
        open_bar = {"fill": False, "hatch": "////"} if name == CELLS else {"color": colour}
        length = min(lengths[name], end)
        text = text if length == lengths[name] else f"{text}, cut off"
        ax.barh(at, length, height=0.5, edgecolor=colour, **open_bar)
        ax.annotate(text, (length, at), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
        ax.annotate(
            fill(label, int(_LABEL * width)),
            (0, at + 0.28),
            xytext=(3, 2),
            textcoords="offset points",
            va="bottom",
            fontsize=8.5 if width == BROAD else 7.5,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.8},
        ).set_in_layout(False)
    narrow = width == NARROW
    if not at_loss:
        _mark(ax, blind, ":", "always the same report", len(names) - 0.25, end, narrow=narrow)
    if ANY in lengths:
        ax.axvspan(0, lengths[ANY], color=_BLACK, alpha=0.07, linewidth=0, zorder=0)
        caption = "too small for any mechanism" if at_loss else "no mechanism with this guarantee loses less"
        _mark(ax, lengths[ANY], "-", f"proved: {caption}", len(names) + 0.05 + 0.2 * narrow, end, narrow=narrow)
    if at_loss:
        loss = amount(comparison.values[0], unit)
        caption = f"epsilon (per {unit}) with a mean distance of {loss} to the true point; smaller guarantees more"
    else:
        at_epsilon = f"{about(comparison.values[0], 4)}/{unit}"
        caption = f"mean distance from the true point to the report ({unit}) at epsilon {at_epsilon}"
    ax.set_xlabel(fill(caption, int(_PER_INCH * width)))
    ax.set(xlim=(0, _WIDE * end), ylim=(-0.5, len(names) + 0.35 + 0.3 * narrow), yticks=[])
    ax.grid(axis="x", alpha=0.25)
    ax.set_axisbelow(True)
    return figure


def _mark(ax: Axes, at: float, line: str, label: str, row: float, end: float, *, narrow: bool) -> None:
    """Draw a line across all bars, labelled on the side with room."""
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
