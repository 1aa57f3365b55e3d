"""Comparisons on one prior: rows, tables, sentences and the figure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf, isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..core.units import per_unit
from ..escaping import figure as outside
from ..reports.document import PageTable
from ..reports.sentences import (
    PANEL_WORDS,
    TUPLE_LOSS_WORDS,
    at_epsilon,
    drawn_words,
    no_report_words,
    simulated_words,
    table_bound_words,
    unmade_words,
)
from ..reports.theme import LIGHT, blank
from ..rounding import about, amount_at_least, amount_at_most, at_least, at_most, percent_at_most
from .engine import NOT_REACHED
from .results import BROAD, NARROW, TOP, Comparison, ComparisonRow, LossLine, loss_figure

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OPTIMUM: Final = "optimum"

DRAWS: Final = 4000
"""Tuples that are simulated for a mechanism among dummies."""

_BLUE, _ORANGE, _GREY, _BLACK = LIGHT.series[0], LIGHT.series[1], LIGHT.muted, LIGHT.ink
_PER_INCH: Final = 12  # letters of a sentence above the panels
_NAME: Final = 22  # letters of a line of a name on a narrow screen
_REMAP: Final = " + remap"
_MARKS: Final = "osv^<>pd"
_ZERO_LIMIT: Final = 1e-6  # bits, percent or units of length: as good as nothing
_SPREAD: Final = 0.1  # of the largest value: a sentence replaces a panel of values that near


@dataclass(frozen=True, slots=True, repr=False)
class PriorRow(ComparisonRow):
    """One mechanism of a comparison, and what it achieves.

    Attributes:
        parameter: The family's parameter, per unit of the metric; None for the optimum.
        epsilon_upper: Proved, per unit of the metric; ``inf`` where two secrets can be distinguished.
        loss: The expected loss, rounded up.
        worst_case_loss: The largest expected loss of any secret, rounded up.
        attacker_error: The expected error of the best attack.
        bayes_error: The probability that the best guess of the secret is wrong.
        information_bits: The mutual information of secret and report.
        entropy_bits: The entropy of the secret given the report.
        loss_lower_bound: A lower bound of the loss of all mechanisms of this epsilon; only for the optimum.
        spread: The standard error of the attacker's error from simulated tuples; None where it is computed.
        problem: Why there is no mechanism; the numbers are then infinite, and empty in a saved table.
        stopped: Why the optimum was not reached, and its gap; "" where it was.
        epsilon: What the mechanism was made for, per unit of the metric; None at equal loss.
        infeasible: Whether the family has no such member, so that nothing is missing.
    """

    name: str
    parameter: float | None
    epsilon_upper: float
    loss: float
    worst_case_loss: float
    attacker_error: float
    bayes_error: float
    information_bits: float
    entropy_bits: float
    loss_lower_bound: float | None = None
    spread: float | None = None
    problem: str = ""
    stopped: str = ""
    epsilon: float | None = None
    infeasible: bool = False

    @classmethod
    def of_problem(cls, name: str, problem: str, *, infeasible: bool = False) -> PriorRow:
        """Return the row of a mechanism that does not exist or could not be made."""
        return cls(name, None, inf, inf, inf, inf, inf, inf, inf, problem=problem, infeasible=infeasible)

    def cells(self) -> dict[str, object]:
        """Return the columns of a table; without a mechanism there are no numbers."""
        return {
            name: None if self.problem and name != "epsilon" and isinstance(value, float) else value
            for name, value in asdict(self).items()
        }

    @property
    def hit_rate(self) -> float:
        """The probability that the best guess of the secret is right."""
        return 1 - self.bayes_error


@dataclass(frozen=True, slots=True, repr=False)
class PriorComparison(Comparison[PriorRow]):
    """Several mechanisms on one prior.

    Attributes:
        metric_unit: The unit that epsilon counts per.
        blind_error: The attacker's error without a report: no mechanism can force more.
        blind_hit_rate: The probability of the most probable secret: every mechanism allows it.
    """

    metric_unit: str
    blind_error: float
    blind_hit_rate: float

    @property
    def margin(self) -> float | None:
        """Two standard errors of the attackers' errors from simulated tuples; None if there are none."""
        return max((2 * row.spread for row in self.rows if row.spread is not None), default=None)

    @property
    def caption(self) -> str:
        """The caption of the figure."""
        return PANEL_WORDS if len(self.values) == 1 else drawn_words(unreached=False, files=bool(self.files))

    def tables(self, source: str) -> tuple[PageTable, ...]:
        """Return a table for each epsilon, or one for a loss; mechanisms that cannot exist are left out."""
        unit, per = self.unit, per_unit(self.metric_unit)
        headings = (
            "mechanism",
            f"epsilon{per} (proved)",
            "loss",
            "attacker's error",
            "finds the secret",
            "information (bits)",
            "remaining entropy (bits)",
        )
        tables = []
        for value in self.values:
            common = f"equal loss, {amount_at_most(value, unit)}"
            if self.equal == "epsilon":
                common = f"equal {at_epsilon(value, self.metric_unit)}"
            rows = tuple(
                _cells(row, unit) for row in self.rows if row.epsilon in (None, value) and not row.infeasible
            )
            tables.append(PageTable(f"Mechanisms at {common} ({source})", headings, rows))
        return tuple(tables)

    def sentences(self) -> tuple[str, ...]:
        """Return what is proved of all mechanisms, the success without a report, and what is missing."""
        unit, sentences = self.unit, []
        for row in self.rows:
            if row.problem or row.loss_lower_bound is None:
                continue
            epsilon = row.epsilon_upper if row.epsilon is None else row.epsilon
            units = (unit, self.metric_unit)
            sentences.append(
                table_bound_words(epsilon, row.loss_lower_bound, units, tuples=self.margin is not None)
            )
        sentences.append(no_report_words(self.blind_error, self.blind_hit_rate, unit))
        if self.margin is not None:
            sentences += [TUPLE_LOSS_WORDS, simulated_words(DRAWS, self.margin, unit)]
        for row in self.rows:
            name = row.name
            if len(self.values) > 1 and row.epsilon is not None:
                name = f"{row.name} at {at_epsilon(row.epsilon, self.metric_unit)}"
            if row.stopped or row.problem:
                ending = NOT_REACHED if row.problem == NOT_REACHED else row.stopped
                sentences.append(unmade_words(name, ending=ending, problem=row.problem))
        return tuple(sentences)

    def figure(self, *, narrow: bool = False) -> Figure:
        """Return the losses of several epsilons as lines, or for one value up to four panels.

        The panels are loss or epsilon, attacker's error, hits and information; one in which all mechanisms are
        nearly alike is left out, and its values are in the title. A hollow square is a mechanism after the remap.
        """
        rows = self.valid_rows()
        if len({row.epsilon for row in rows}) > 1:
            families = [row for row in rows if row.name not in self.files]
            return _lines(families, self, NARROW if narrow else BROAD)
        return _panels(rows, self, narrow=narrow)


def _cells(row: PriorRow, unit: str) -> tuple[str, ...]:
    if row.problem:
        return f"{row.name} ({NOT_REACHED if row.problem == NOT_REACHED else 'failed'})", *["-"] * 6
    return (
        row.name,
        at_most(row.epsilon_upper, 5) if isfinite(row.epsilon_upper) else "none",
        amount_at_most(row.loss, unit),
        amount_at_least(row.attacker_error, unit),
        percent_at_most(row.hit_rate),
        at_most(row.information_bits, 3),
        at_least(row.entropy_bits, 3),
    )


class _Measure(NamedTuple):
    """A panel: its label, the values of the rows, and the value without a report."""

    label: str
    values: list[float]
    blind: float | None = None

    @property
    def is_flat(self) -> bool:
        known = [value for value in self.values if isfinite(value)]
        most = max([*known, self.blind or 0.0], default=0.0)
        return bool(known) and max(known) - min(known) <= max(_SPREAD * most, _ZERO_LIMIT)

    @property
    def sentence(self) -> str:
        known = [value for value in self.values if isfinite(value)]
        low, high = _number_text(min(known)), _number_text(max(known))
        blind = "" if self.blind is None else f", {_number_text(self.blind)} without a report"
        return f"{self.label}: {low if low == high else f'{low} to {high}'}{blind}"


def _number_text(value: float) -> str:
    return about(value, 3) if value == 0 or value > _ZERO_LIMIT else "nearly 0"


def _panels(rows: list[PriorRow], comparison: PriorComparison, *, narrow: bool) -> Figure:
    unit = f" ({outside(comparison.unit)})" if comparison.unit else ""
    per = f" (per {outside(comparison.metric_unit)})" if comparison.metric_unit else ""
    at_epsilon = comparison.equal == "epsilon"
    first = (
        _Measure(f"expected loss{unit}", [row.loss for row in rows])
        if at_epsilon
        else _Measure(f"proved epsilon{per}", [row.epsilon_upper for row in rows])
    )
    measures = (
        _Measure(f"error of the best attack{unit}", [row.attacker_error for row in rows], comparison.blind_error),
        _Measure("the secret is found (%)", [100 * row.hit_rate for row in rows], 100 * comparison.blind_hit_rate),
        _Measure("mutual information (bits)", [row.information_bits for row in rows]),
    )
    panels = [first, *(measure for measure in measures if not measure.is_flat)]
    least: dict[str, float] = {}
    for row, value in zip(rows, first.values, strict=True):
        family = row.name.replace(_REMAP, "")
        least[family] = min(value, least.get(family, inf))
    families = sorted(least, key=lambda family: least[family])
    longest = max(map(len, families))
    across, down = (1, len(panels)) if narrow else (len(panels), 1)
    width = NARROW if narrow else 2.9 * across + 0.08 * longest + 0.4
    figure = blank(width, (1.9 if not narrow else 0.8) + (0.36 * len(families) + 0.7 * narrow) * down)
    axes = figure.subplots(down, across, sharey=True, squeeze=False).flat
    for ax, measure in zip(axes, panels, strict=True):
        _panel(ax, rows, families, measure.values, measure.blind or 0.0)
        ax.set_xlabel(measure.label)
        if measure.blind is not None:
            ax.axvline(measure.blind, color=_GREY, linestyle="--", linewidth=1, label="without a report")
    bound = next((row.loss_lower_bound for row in rows if row.loss_lower_bound is not None), None)
    if at_epsilon and bound is not None:
        label = "proved: with one of these reports no mechanism loses less"
        axes[0].axvline(bound, color=_BLACK, linewidth=1, label=label)
    axes[0].set_yticks(range(len(families)), [outside(fill(name, _NAME) if narrow else name) for name in families])
    axes[0].invert_yaxis()
    alike = [measure.sentence for measure in measures if measure.is_flat]
    if alike:
        text = f"Nearly the same for all, and not drawn: {'; '.join(alike)}."
        figure.suptitle(fill(text, int(_PER_INCH * figure.get_figwidth())), fontsize=9, color=_GREY)
    _legend(figure, list(axes), remapped=any(_REMAP in row.name for row in rows))
    return figure


def _lines(rows: list[PriorRow], comparison: PriorComparison, width: float) -> Figure:
    lines = []
    names = dict.fromkeys(row.name for row in rows)
    families = [name for name in dict.fromkeys(name.replace(_REMAP, "") for name in names) if name != OPTIMUM]
    for name in names:
        losses = {row.epsilon: row.loss for row in rows if row.name == name and row.epsilon is not None}
        at = families.index(name.replace(_REMAP, "")) if name != OPTIMUM else 0
        hollow = _REMAP in name
        colour = _BLACK if name == OPTIMUM else LIGHT.series[at % len(LIGHT.series)]
        mark = "*" if name == OPTIMUM else _MARKS[at % len(_MARKS)]
        lines.append(LossLine(outside(name), colour, mark, "--" if hollow else "-", losses, hollow))
    bounds = {
        row.epsilon: row.loss_lower_bound
        for row in rows
        if row.epsilon is not None and row.loss_lower_bound is not None
    }
    unit, per, blind = outside(comparison.unit), outside(comparison.metric_unit), comparison.blind_error
    labels = ("proved at the marks: with these reports no mechanism loses less", "expected loss")
    size = (width, 5.6 if width == BROAD else 7.0)
    figure = loss_figure(lines, bounds, labels, blind, (unit, per), size)
    above = [
        f"{line.label} {line.outlier(max(line.losses, key=lambda epsilon: line.losses[epsilon]), unit, per)}"
        for line in lines
        if max(line.losses.values()) > TOP * blind
    ]
    if above:
        text = fill(f"Above the figure: {'; '.join(above)}.", int(_PER_INCH * width))
        figure.suptitle(text, fontsize=9, color=_GREY)
    return figure


def _panel(ax: Axes, rows: list[PriorRow], families: list[str], values: list[float], reach: float = 0.0) -> None:
    """Draw one measure, up to ``reach`` at least; a mechanism and its remap share a line."""
    paired = {row.name.replace(_REMAP, "") for row in rows if _REMAP in row.name}
    for row, value in zip(rows, values, strict=True):
        family, remapped = row.name.replace(_REMAP, ""), _REMAP in row.name
        height = families.index(family) + (0.0 if family not in paired else 0.17 if remapped else -0.17)
        if not isfinite(value):
            ax.text(0.02, height, "none", transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=_GREY)
            continue
        marker, size, colour = ("s", 6, _ORANGE) if remapped else ("o", 6, _BLUE)
        if row.name == OPTIMUM:
            marker, size, colour = "*", 11, _BLACK
        look: Any = {"linestyle": "none", "marker": marker, "markersize": size, "color": colour, "zorder": 3}
        ax.plot([value], [height], markerfacecolor="white" if remapped else colour, clip_on=False, **look)
    ax.set_xlim(0, 1.08 * max([reach, _ZERO_LIMIT, *filter(isfinite, values)]))
    ax.grid(axis="x", alpha=0.3)
    for k in range(len(families)):
        ax.axhline(k, color=_GREY, linewidth=0.4, alpha=0.4, zorder=0)
    ax.set_axisbelow(True)


def _legend(figure: Figure, axes: list[Axes], *, remapped: bool) -> None:
    from matplotlib.lines import Line2D

    marks = [("*", _BLACK, _BLACK, "optimum"), ("o", _BLUE, _BLUE, "mechanism as it is")]
    if remapped:
        marks.append(("s", _ORANGE, "white", "after the optimal remap"))
    handles: dict[str, Artist] = {
        text: Line2D([], [], linestyle="none", marker=marker, color=edge, markerfacecolor=face, label=text)
        for marker, edge, face, text in marks
    }
    for ax in axes:
        handles |= {text: line for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    columns = 1 if figure.get_figwidth() <= NARROW else len(handles) if len(axes) > 2 else len(axes)
    figure.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=columns, fontsize=9)
