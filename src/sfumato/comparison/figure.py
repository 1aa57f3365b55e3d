"""Figure of a comparison: a line for each mechanism, a panel for each measure."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite
from textwrap import fill
from typing import TYPE_CHECKING, Final

from ..errors import InputError
from ..escaping import figure as outside
from ..reports.theme import LIGHT, blank
from ..rounding import about
from .comparison_rows import Comparison, ComparisonRow
from .loss_lines import TOP, LossLine, draw_losses, label_losses, leaving
from .measured_rows import OPTIMUM

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _ORANGE, _GREY, _BLACK = LIGHT.series[0], LIGHT.series[1], LIGHT.muted, LIGHT.ink
_PER_INCH: Final = 12  # letters of a sentence above the panels
_BROAD: Final = 8.6  # inches, of the figure of several epsilons
_NARROW: Final = 4.4  # inches, of figures for a narrow screen
_NAME: Final = 22  # letters of a line of a name there
_REMAP: Final = " + remap"
_MARKS: Final = "osv^<>pd"
_NOTHING: Final = 1e-6  # bits, percent or units of length: as good as nothing
_ALIKE: Final = 0.1  # of the largest value: a panel of values that near is told in words


@dataclass(frozen=True, slots=True)
class _Measure:
    """A panel: what it shows of each row, how far it reaches at least, and what holds without a report."""

    label: str
    values: list[float]
    blind: float | None = None

    @property
    def alike(self) -> bool:
        """Whether it would be one line of marks."""
        known = [value for value in self.values if isfinite(value)]
        most = max([*known, self.blind or 0.0], default=0.0)
        return bool(known) and max(known) - min(known) <= max(_ALIKE * most, _NOTHING)

    @property
    def told(self) -> str:
        """The sentence in place of its panel."""
        known = [value for value in self.values if isfinite(value)]
        low, high = _about(min(known)), _about(max(known))
        blind = "" if self.blind is None else f", {_about(self.blind)} without a report"
        return f"{self.label}: {low if low == high else f'{low} to {high}'}{blind}"


def _about(value: float) -> str:
    return about(value, 3) if value == 0 or value > _NOTHING else "nearly 0"


def comparison_figure(comparison: Comparison, *, narrow: bool = False) -> Figure:
    """Return the losses of several epsilons as lines, or of one up to four panels with a line per mechanism.

    The panels are cost or epsilon, attacker's error, hits and information.

    A filled circle is a mechanism as it is, a hollow square the same after the remap. In
    the panel of attacks both are read against what is achieved without a report. A panel in which all
    mechanisms are nearly alike is left out, and told in words. The best mechanism stands on top.

    Args:
        comparison: A comparison with at least one mechanism.
        narrow: Whether the panels stand one below the other, for a narrow screen.

    Raises:
        InputError: If no mechanism exists.
        MissingExtraError: If matplotlib is not installed.
    """
    rows = [row for row in comparison.rows if not row.problem]
    if not rows:
        raise InputError("none of the mechanisms exists.", "compare at another epsilon or loss.")
    if len({row.epsilon for row in rows}) > 1:
        return _lines(rows, comparison, _NARROW if narrow else _BROAD)
    unit = f" ({outside(comparison.unit)})" if comparison.unit else ""
    per = f" (per {outside(comparison.metric_unit)})" if comparison.metric_unit else ""
    at_epsilon = comparison.equal == "epsilon"
    first = (
        _Measure(f"expected loss{unit}", [row.loss for row in rows])
        if at_epsilon
        else _Measure(f"proved epsilon{per}", [row.epsilon_upper for row in rows])
    )
    others = (
        _Measure(f"error of the best attack{unit}", [row.attacker_error for row in rows], comparison.blind_error),
        _Measure("the secret is found (%)", [100 * row.hit_rate for row in rows], 100 * comparison.blind_hit_rate),
        _Measure("mutual information (bits)", [row.information_bits for row in rows]),
    )
    shown = [first, *(each for each in others if not each.alike)]
    least: dict[str, float] = {}
    for row, value in zip(rows, first.values, strict=True):
        family = row.name.replace(_REMAP, "")
        least[family] = min(value, least.get(family, inf))
    families = sorted(least, key=lambda family: least[family])
    longest = max(map(len, families))
    across, down = (1, len(shown)) if narrow else (len(shown), 1)
    width = _NARROW if narrow else 2.9 * across + 0.08 * longest + 0.4
    figure = blank(width, (1.9 if not narrow else 0.8) + (0.36 * len(families) + 0.7 * narrow) * down)
    axes = figure.subplots(down, across, sharey=True, squeeze=False).flat
    for ax, measure in zip(axes, shown, strict=True):
        _panel(ax, rows, families, measure.values, measure.blind or 0.0)
        ax.set_xlabel(measure.label)
        if measure.blind is not None:
            ax.axvline(measure.blind, color=_GREY, linestyle="--", linewidth=1, label="without a report")
    bound = next((row.loss_lower_bound for row in rows if row.loss_lower_bound is not None), None)
    if at_epsilon and bound is not None:
        said = "proved: with one of these reports no mechanism loses less"
        axes[0].axvline(bound, color=_BLACK, linewidth=1, label=said)
    axes[0].set_yticks(range(len(families)), [outside(fill(name, _NAME) if narrow else name) for name in families])
    axes[0].invert_yaxis()
    alike = [each.told for each in others if each.alike]
    if alike:
        told = f"Nearly the same for all, and not drawn: {'; '.join(alike)}."
        figure.suptitle(fill(told, int(_PER_INCH * figure.get_figwidth())), fontsize=9, color=_GREY)
    _legend(figure, list(axes), remapped=any(_REMAP in row.name for row in rows))
    return figure


def _lines(rows: list[ComparisonRow], comparison: Comparison, width: float) -> Figure:
    """Return the loss of each mechanism against its epsilon, with the bound of the optimum below all."""
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
    figure = blank(width, 5.6 if width == _BROAD else 7.0)
    ax = figure.subplots()
    said = "proved at the marks: with these reports no mechanism loses less"
    draw_losses(ax, lines, bounds, said, blind, per)
    label_losses(ax, "expected loss", unit)
    above = [
        f"{each.label} {leaving(each, max(each.losses, key=lambda epsilon: each.losses[epsilon]), unit, per)}"
        for each in lines
        if max(each.losses.values()) > TOP * blind
    ]
    if above:
        text = fill(f"Above the figure: {'; '.join(above)}.", int(_PER_INCH * width))
        figure.suptitle(text, fontsize=9, color=_GREY)
    columns = 2 if width == _BROAD else 1
    figure.legend(loc="outside lower center", ncols=columns, fontsize=8.5, frameon=False)
    return figure


def _panel(
    ax: Axes, rows: list[ComparisonRow], families: list[str], values: list[float], reach: float = 0.0
) -> None:
    """Draw one measure, as far as ``reach`` at least; a mechanism and its remap share a line, a little apart."""
    paired = {row.name.replace(_REMAP, "") for row in rows if _REMAP in row.name}
    for row, value in zip(rows, values, strict=True):
        family, remapped = row.name.replace(_REMAP, ""), _REMAP in row.name
        height = families.index(family) + (0.0 if family not in paired else 0.17 if remapped else -0.17)
        if not isfinite(value):
            ax.text(0.02, height, "none", transform=ax.get_yaxis_transform(), va="center", fontsize=8, color=_GREY)
            continue
        colour = _BLACK if row.name == OPTIMUM else _ORANGE if remapped else _BLUE
        marker = "*" if row.name == OPTIMUM else "s" if remapped else "o"
        size = 11 if row.name == OPTIMUM else 6
        hollow = "white" if remapped else colour
        ax.plot(
            [value],
            [height],
            linestyle="none",
            marker=marker,
            markersize=size,
            color=colour,
            markerfacecolor=hollow,
            zorder=3,
            clip_on=False,
        )
    ax.set_xlim(0, 1.08 * max([reach, _NOTHING, *filter(isfinite, values)]))
    ax.grid(axis="x", alpha=0.3)
    for k in range(len(families)):
        ax.axhline(k, color=_GREY, linewidth=0.4, alpha=0.4, zorder=0)
    ax.set_axisbelow(True)


def _legend(figure: Figure, axes: list[Axes], *, remapped: bool) -> None:
    from matplotlib.lines import Line2D

    marks = [("*", _BLACK, _BLACK, "optimum"), ("o", _BLUE, _BLUE, "mechanism as it is")]
    if remapped:
        marks.append(("s", _ORANGE, "white", "after the optimal remap"))
    named: dict[str, Artist] = {
        text: Line2D([], [], linestyle="none", marker=marker, color=edge, markerfacecolor=face, label=text)
        for marker, edge, face, text in marks
    }
    for ax in axes:
        named |= {text: line for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    columns = 1 if figure.get_figwidth() <= _NARROW else len(named) if len(axes) > 2 else len(axes)
    figure.legend(list(named.values()), list(named), loc="outside lower center", ncols=columns, fontsize=9)
