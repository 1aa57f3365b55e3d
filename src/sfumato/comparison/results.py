"""Results of comparisons: rows that a table, a page and a figure of losses against epsilon are made of."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from ..core.immutable import CompactRepr
from ..errors import InputError, MissingExtraError
from ..reports.document import Page, PageFigure, PageSection, PageTable, notebook_html, tables_html
from ..reports.sentences import COLUMN_WORDS, compared_words, partial_words
from ..reports.theme import LIGHT, as_svg, blank
from ..rounding import about, amount_at_most
from ..tables import write_rows
from .engine import ANY, NOT_REACHED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BROAD: Final = 8.6  # inches
NARROW: Final = 4.4  # inches, for a narrow screen
TOP: Final = 1.25  # of the loss of always the same report: what loses more leaves the figure
_PER_LINE: Final = 44  # letters of the label of the losses


class ComparisonRow(CompactRepr, ABC):
    """Row of a comparison."""

    __slots__ = ()

    name: str
    epsilon: float | None
    problem: str
    stopped: str
    infeasible: bool = False

    @abstractmethod
    def cells(self) -> dict[str, Any]:
        """Return the columns of a table; without a mechanism there are no numbers."""


_Row = TypeVar("_Row", bound=ComparisonRow)


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(CompactRepr, ABC, Generic[_Row]):
    """Several mechanisms compared.

    Attributes:
        rows: One for each mechanism and epsilon; a mechanism that does not exist has a problem.
        equal: ``epsilon`` or ``loss``: what the mechanisms have in common.
        values: The epsilons, or the one loss.
        files: The names of mechanisms that were given; their rows are in the tables of all values.
    """

    rows: tuple[_Row, ...]
    equal: str
    values: tuple[float, ...]
    unit: str
    files: tuple[str, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def tables(self, source: str) -> tuple[PageTable, ...]:
        """Return a table for each epsilon, or one for a loss; ``source`` names the visits or the prior."""

    @abstractmethod
    def sentences(self) -> tuple[str, ...]:
        """Return what is proved of all mechanisms, what the numbers mean, and what is missing."""

    @abstractmethod
    def figure(self, *, narrow: bool = False) -> Figure:
        """Return the figure, ``narrow`` for a narrow screen.

        Raises `InputError` if no mechanism exists. Raises `MissingExtraError` if matplotlib is not installed.
        """

    @property
    @abstractmethod
    def caption(self) -> str:
        """The caption of the figure."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Sentences on the columns of the tables after loss, error and epsilon."""
        return ()

    @property
    def complete(self) -> bool:
        """Whether every mechanism that exists was made, in the time."""
        return not any(row.stopped or (row.problem and not row.infeasible) for row in self.rows)

    @property
    def timed_out(self) -> bool:
        """Whether there was not time for all."""
        return any(row.stopped or row.problem == NOT_REACHED for row in self.rows)

    def row(self, name: str, epsilon: float | None = None) -> _Row:
        """Return the row of a mechanism.

        Where a mechanism was made for several epsilons, name one. Raises `InputError` if it is not in the
        comparison.
        """
        for row in self.rows:
            if row.name == name and epsilon in (None, row.epsilon):
                return row
        names = dict.fromkeys(row.name for row in self.rows)
        raise InputError(f"{name!r} is not in the comparison.", f"there are {', '.join(names)}.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all; `FileError` if the file cannot be written."""
        table = [row.cells() for row in self.rows]
        write_rows(list(table[0]), (row.values() for row in table), path)

    def page(self, source: str) -> Page:
        """Return the page of the comparison; ``source`` names the visits or the prior."""
        title = f"Mechanisms at equal {self.equal}"
        unfinished = () if self.complete else (partial_words(timed_out=self.timed_out),)
        tables, figures = self.tables(source), self._figures(title)
        sections = (
            PageSection("Side by side", (*COLUMN_WORDS, *self.columns), tables=tables, figures=figures),
            PageSection("In words", self.sentences()),
        )
        return Page(title, (*unfinished, compared_words(source)), sections, warning=bool(unfinished))

    def valid_rows(self) -> list[_Row]:
        """Return the rows without a problem, or raise InputError if none of them is of a mechanism."""
        rows = [row for row in self.rows if not row.problem]
        if all(row.name == ANY or row.name in self.files for row in rows):
            raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
        return rows

    def _figures(self, title: str) -> tuple[PageFigure, ...]:
        try:
            figures = [self.figure(narrow=narrow) for narrow in (False, True)]
        except (MissingExtraError, InputError):  # InputError: no mechanism exists, so there is nothing to draw
            return ()
        broad, narrow = (as_svg(figure, title=title, description=self.caption) for figure in figures)
        return (PageFigure(broad, self.caption, narrow=narrow),)


@notebook_html.register
def _of_comparison(comparison: Comparison) -> str:  # type: ignore[type-arg]
    tables = ((table.caption, table.headings, table.rows) for table in comparison.tables(""))
    return tables_html(tables, " ".join(comparison.sentences()))


class LossLine(NamedTuple):
    """A mechanism's losses by epsilon, with its label and style."""

    label: str
    colour: str
    mark: str
    line: str
    losses: dict[float, float]
    hollow: bool = False

    def outlier(self, epsilon: float, unit: str, per: str) -> str:
        """Return the words for a loss above the figure, with its epsilon per a unit."""
        at = f"{about(epsilon, 3)}{f'/{per}' if per else ''}"
        return f"up to {amount_at_most(self.losses[epsilon], unit)} at {at}"


def loss_figure(
    lines: Sequence[LossLine],
    bounds: dict[float, float],
    labels: tuple[str, str],
    blind: float,
    units: tuple[str, str],
    size: tuple[float, float],
) -> Figure:
    """Return a figure of losses against epsilon, with lower bounds and the loss of always the same report.

    The labels are those of the bounds and of the losses, the units those of losses and of epsilon.
    """
    figure = blank(*size)
    ax = figure.subplots()
    for line in lines:
        epsilons = sorted(line.losses)
        losses, face = [line.losses[epsilon] for epsilon in epsilons], LIGHT.paper if line.hollow else line.colour
        style: Any = {"color": line.colour, "marker": line.mark, "linestyle": line.line, "label": line.label}
        ax.plot(epsilons, losses, markerfacecolor=face, markersize=6, linewidth=1.6, **style)
    if bounds:
        x = sorted(bounds)
        y = [bounds[epsilon] for epsilon in x]
        (bound,) = ax.plot(x, y, color=LIGHT.ink, linewidth=1.2, marker="D", label=labels[0], zorder=1.5)
        bound.set(markersize=8, markerfacecolor=LIGHT.paper)
        ax.fill_between(x, 0, y, color=LIGHT.ink, alpha=0.07, linewidth=0)
    ax.axhline(blind, color=LIGHT.ink, linewidth=0.8, linestyle=":")
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
    unit, per = units
    epsilons = sorted({*bounds, *(epsilon for line in lines for epsilon in line.losses)})
    ax.set_xscale("log")
    ax.set_xticks(epsilons, [about(tick, 3) for tick in epsilons])
    ax.set_xticks([], minor=True)
    ax.set_xlabel(f"epsilon{f' (per {per})' if per else ''}: larger guarantees less")
    ax.set(ylabel=fill(f"{labels[1]} ({unit})" if unit else labels[1], _PER_LINE), ylim=(0, TOP * blind))
    ax.grid(alpha=0.25)
    ax.set_axisbelow(True)
    columns = 2 if size[0] == BROAD else 1
    figure.legend(loc="outside lower center", ncols=columns, fontsize=8.5, frameon=False)
    return figure


def mark_leaving(ax: Axes, line: LossLine, unit: str) -> None:
    """Write the largest loss of a line that leaves the figure at the top."""
    top = ax.get_ylim()[1]
    epsilons = sorted(line.losses)
    above = [epsilon for epsilon in epsilons if line.losses[epsilon] > top]
    if not above:
        return
    first, at = above[0], above[-1]
    if len(epsilons) > len(above):
        after, last = epsilons[len(above)], line.losses[above[-1]]
        at *= (after / at) ** ((last - top) / (last - line.losses[after]))
    ax.annotate(
        line.outlier(first, unit, unit),
        (at, top),
        xytext=(-8, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        fontsize=8,
        color=line.colour,
    )
