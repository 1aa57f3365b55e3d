"""Figures 2 to 5 and 8 of "Privacy Games" from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import RunTables
from ..results import distinct, where
from .games import DISTORTION, GAMES, JOINT, METRIC, NAMES, GameRow, triples
from .pruning import ATTACKS, CORRECTED, EXACT, PAIRS, PRUNED, TIMES, AttackRow, PairRow, TimeRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Row = TypeVar("_Row")
_Series = tuple[dict[str, Any], Iterable[tuple[float, float]]]  # how marks are drawn, and where
_Panel = tuple[str, str, str, list[_Series]]  # the title, the labels of both axes, and the marks

CAPTIONS: Final = {
    "figure-2a": "Figure 2a: the error of the best attacker against metric for each epsilon. Each thin "
    "line is a user, the thick one the median.",
    "figure-2b": "Figure 2b: the cost of each mechanism against the error of the best attacker, which distortion "
    "and joint are designed to match. Thin lines are users, marks medians for each epsilon.",
    "figure-3": "Figure 3: each mark is a user at an epsilon. Above the line the Bayesian attacker's "
    "error is larger against metric than against distortion of the same distortion privacy.",
    "figure-4": "Figure 4: the error of the best attacker against the Bayesian one's, for each mechanism. "
    "Each mark is a user at an epsilon; on the line both are equal.",
    "figure-5": "Figure 5: the errors that joint, metric and distortion force, in scenarios 1 and 2.",
    "figure-8": "Figure 8: metric without pairs of cells farther apart than a threshold, and distortion without "
    "guesses farther than it from the report. Boxes show median, quartiles, least and largest over the users.",
    "figure-8-seconds": "Figure 8: the CPU time of the designs of figure-8, and of the exact ones (all).",
}
_BEST: Final = "error of the best attacker (km)"
_PERCENT: Final = "cost, % of the exact program's"
_APART: Final = 0.05  # of the largest error, between the numbers of two users
_STYLES: Final = {
    METRIC: (LIGHT.series[0], "o", "-"),
    DISTORTION: (LIGHT.series[1], "^", "--"),
    JOINT: (LIGHT.ink, "x", ":"),
}
_KINDS: Final = {  # of a design with a threshold: its colour, and its name in the legend
    PRUNED: (LIGHT.series[1], "far ones left out"),
    CORRECTED: (LIGHT.series[0], "far ones left out, epsilon / dilation"),
    EXACT: (LIGHT.ink, "exact program"),
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    every = tables.rows(GAMES, GameRow)
    games = where(every, gap_asked=max(row.gap_asked for row in every))
    return {
        "figure-2a": error_figure(games),
        "figure-2b": cost_figure(games),
        "figure-3": bayes_figure(games),
        "figure-4": attackers_figure(games),
        "figure-5": joint_figure(games),
        "figure-8": threshold_figure(tables.rows(PAIRS, PairRow), tables.rows(ATTACKS, AttackRow)),
        "figure-8-seconds": time_figure(tables.rows(TIMES, TimeRow)),
    }


def _style(name: str) -> dict[str, Any]:
    """Return how the line of a mechanism is drawn."""
    colour, marker, line = _STYLES[name]
    return {"color": colour, "marker": marker, "linestyle": line, "label": name, "markersize": 5}


def _marks(name: str, label: str = "") -> dict[str, Any]:
    """Return how the marks of a mechanism are drawn, without a line."""
    return _style(name) | {"linestyle": "none", "markersize": 4.5, "alpha": 0.75, "label": label or name}


def _column(rows: Iterable[object], field: str) -> list[float]:
    return [getattr(row, field) for row in rows]


def _group_by(rows: Iterable[_Row], field: str) -> list[list[_Row]]:
    """Return rows by the value of a field, in the order of the values."""
    ordered = sorted(rows, key=attrgetter(field))
    return [where(ordered, **{field: value}) for value in distinct(ordered, field)]


def _medians(rows: Iterable[GameRow], *fields: str) -> list[list[float]]:
    """Return the medians of fields over the users, by epsilon."""
    return [[float(np.median(_column(group, field))) for group in _group_by(rows, "epsilon")] for field in fields]


def _finish(ax: Axes, **legend: Any) -> None:
    """Give axes a light grid and a legend."""
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, **legend)


def error_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 2a: the best attacker's error against *metric*, with a line for each user."""
    metric = where(games, mechanism=METRIC)
    figure = blank(7, 4.5)
    ax = figure.subplots()
    ends: list[GameRow] = []
    for user in _group_by(metric, "user"):
        (thin,) = ax.plot(
            _column(user, "epsilon"), _column(user, "error_best"), color=LIGHT.muted, linewidth=0.9, alpha=0.6
        )
        ends.append(max(user, key=attrgetter("epsilon")))
    # Each user's number is at the end of their line, one above the other where lines are near.
    apart, least = _APART * max(row.error_best for row in ends), 0.0
    for row in sorted(ends, key=lambda row: row.error_best):
        height = max(row.error_best, least)
        look: dict[str, Any] = {"va": "center", "fontsize": 7, "color": LIGHT.muted}
        ax.annotate(f"{row.user}", (row.epsilon, height), (5, 0), textcoords="offset points", **look)
        least = height + apart
    thin.set_label("each user (numbered)")
    ax.plot(*_medians(metric, "epsilon", "error_best"), **_style(METRIC) | {"label": "median", "linewidth": 2})
    ax.axhline(1, color=LIGHT.muted, linewidth=0.8, linestyle="--", label="1 km")
    ax.set(xlabel="epsilon (per km)", ylabel=_BEST)
    ax.set_ylim(bottom=0)
    _finish(ax)
    return figure


def cost_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 2b: cost against the best attacker's error in scenario 1."""
    figure = blank(7, 4.5)
    ax = figure.subplots()
    for name in NAMES:
        designs, look = where(games, scenario=1, mechanism=name), _style(name)
        thin = {key: look[key] for key in ("color", "linestyle")} | {"linewidth": 0.6, "alpha": 0.4}
        for user in _group_by(designs, "user"):
            ordered = sorted(user, key=attrgetter("epsilon"))
            ax.plot(_column(ordered, "error_best"), _column(ordered, "cost"), **thin)
        ax.plot(*_medians(designs, "error_best", "cost"), **look)
    ax.set(xlabel=_BEST, ylabel="cost (share of false cells)", ylim=(0, 1))
    ax.set_xlim(left=0)
    _finish(ax)
    return figure


def _comparison(*panels: _Panel) -> Figure:
    """Return panels of marks on both sides of the line where both axes are equal."""
    figure = blank(8, 5.5) if len(panels) == 1 else blank(10.5, 5)
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    for ax, (title, across, up, series) in zip(axes, panels, strict=True):
        for look, points in series:
            ax.plot(*zip(*points, strict=True), **look)
        ax.set(title=title, xlabel=across, ylabel=up)
        end = max(ax.get_xlim()[1], ax.get_ylim()[1])
        ax.plot([0, end], [0, end], color=LIGHT.muted, linewidth=0.8, linestyle="--", label="equal errors")
        ax.set(xlim=(0, end), ylim=(0, end))
        _finish(ax, loc="lower right")
    return figure


def bayes_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 3: the Bayesian attacker's error against *metric* and against *distortion*."""
    first = triples(games, 1)
    series: list[_Series] = []
    for k, epsilon in enumerate(sorted({m.epsilon for m, *_ in first})):
        look = {"linestyle": "none", "marker": "os^Dv*Px"[k % 8], "color": LIGHT.series[k % 8], "markersize": 5}
        points = [(d.error_bayes, m.error_bayes) for m, d, _ in first if m.epsilon == epsilon]
        series.append((look | {"label": f"epsilon {epsilon:g}/km"}, points))
    error = "Bayesian attacker's error against"
    return _comparison(("", f"{error} distortion (km)", f"{error} metric (km)", series))


def attackers_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 4: the best attacker's error against the Bayesian one's."""
    series: list[_Series] = []
    for name in NAMES:
        designs = where(games, scenario=1, mechanism=name)
        series.append((_marks(name), [(row.error_best, row.error_bayes) for row in designs]))
    return _comparison(("", _BEST, "error of the Bayesian attacker (km)", series))


def joint_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 5: the privacy of *joint* against that of each, in scenarios 1 and 2."""
    panels: list[_Panel] = []
    for scenario in (1, 2):
        series: list[_Series] = []
        for k, name in enumerate((METRIC, DISTORTION)):
            points = [(case[k].error_best, case[2].error_best) for case in triples(games, scenario)]
            series.append((_marks(name, f"against {name}"), points))
        error = "best attacker's error against"
        panels.append(
            (f"Scenario {scenario}", f"{error} metric or distortion (km)", f"{error} joint (km)", series)
        )
    return _comparison(*panels)


def threshold_figure(pairs: Sequence[PairRow], attacks: Sequence[AttackRow]) -> Figure:
    """Return the guarantees and costs of Figure 8 against the threshold, with a box of all users for each."""
    figure = blank(10.5, 8)
    (epsilon, cost), (error, cheaper) = figure.subplots(2, 2)
    metric = {row.user: row.cost for row in where(pairs, kind=EXACT)}
    distortion = {row.user: row.cost for row in where(attacks, kind=EXACT)}
    _boxes(epsilon, pairs, lambda row: row.epsilon_true, PRUNED, CORRECTED)
    epsilon.axhline(pairs[0].epsilon, color=LIGHT.muted, linewidth=0.8, linestyle="--", label="epsilon asked for")
    epsilon.set(title="Metric: the guarantee", yscale="log", ylabel="epsilon for all pairs (per km)")
    epsilon.yaxis.set_major_formatter("{x:g}")
    _boxes(cost, pairs, lambda row: 100 * row.cost / metric[row.user], PRUNED, CORRECTED)
    cost.set(title="Metric: the cost", ylabel=_PERCENT)
    _boxes(error, attacks, lambda row: 100 * row.error_best / row.distortion_asked, PRUNED)
    error.set(title="Distortion: the guarantee", ylabel="best attacker's error, % of d_m")
    _boxes(cheaper, attacks, lambda row: 100 * row.cost / distortion[row.user], PRUNED)
    cheaper.set(title="Distortion: the cost", ylabel=_PERCENT)
    for ax in (cost, error, cheaper):
        ax.axhline(100, color=LIGHT.muted, linewidth=0.8, linestyle="--", label="exact program")
    for ax, left_out in ((epsilon, "pairs"), (cost, "pairs"), (error, "guesses"), (cheaper, "guesses")):
        ax.set_xlabel(f"{left_out} within (km)")
        _finish(ax)
    return figure


def time_figure(times: Sequence[TimeRow]) -> Figure:
    """Return the CPU time of Figure 8 against the threshold, with a box of all users for each."""
    figure = blank(10.5, 4.2)
    for ax, name, left_out in zip(figure.subplots(1, 2), (METRIC, DISTORTION), ("pairs", "guesses"), strict=True):
        _boxes(ax, where(times, mechanism=name), lambda row: row.seconds, PRUNED, EXACT)
        ax.set(title=name.capitalize(), xlabel=f"{left_out} within (km)", ylabel="CPU time (s)")
        ax.set_ylim(bottom=0)
        _finish(ax)
    return figure


def _boxes(ax: Axes, rows: Sequence[_Row], value: Callable[[_Row], float], *kinds: str) -> None:
    """Draw a value of all users for each threshold and kind, as median, quartiles, least and largest."""
    rows = [row for row in rows if getattr(row, "kind", "") in kinds]
    thresholds = sorted(distinct(rows, "threshold"), key=lambda km: inf if km is None else km)
    for kind in kinds:
        groups = {at: where(rows, kind=kind, threshold=km) for at, km in enumerate(thresholds)}
        groups = {at: group for at, group in groups.items() if group}
        colour, label = _KINDS[kind]
        line = {"color": colour}
        ax.boxplot(
            [list(map(value, group)) for group in groups.values()],
            positions=[at + 0.2 * (kind == CORRECTED) for at in groups],
            widths=0.18,
            whis=(0, 100),
            manage_ticks=False,
            label=label,
            boxprops=line,
            whiskerprops=line,
            capprops=line,
            medianprops=line | {"linewidth": 2.5},
        )
    ax.set_xticks(range(len(thresholds)), ["all" if km is None else f"{km:g}" for km in thresholds])
