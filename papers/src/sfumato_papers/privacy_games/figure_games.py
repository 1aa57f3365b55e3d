"""Figures 2 to 5: errors and costs of scenarios 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from sfumato.reports.theme import LIGHT, blank

from .games import DISTORTION, JOINT, METRIC, GameRow
from .look import BAYES, BEST, COST, EPSILON, NAMES, equal_line, finish, grouped, marks, medians, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_APART: Final = 0.05  # of the largest error, between the numbers of two users


def error_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 2a: the best attacker's error against *metric*, with a line for each user."""
    metric = [row for row in games if row.mechanism == METRIC]
    figure = blank(7, 4.5)
    ax = figure.subplots()
    ends: list[GameRow] = []
    for mine in grouped(metric, lambda row: row.user).values():
        (thin,) = ax.plot(
            [row.epsilon for row in mine],
            [row.error_best for row in mine],
            color=LIGHT.muted,
            linewidth=0.9,
            alpha=0.6,
        )
        ends.append(max(mine, key=lambda row: row.epsilon))
    _number(ax, ends)
    thin.set_label("each user (numbered)")
    epsilons, middle = medians(
        metric, lambda row: row.epsilon, lambda row: row.epsilon, lambda row: row.error_best
    )
    ax.plot(epsilons, middle, **style(METRIC) | {"label": "median", "linewidth": 2})
    ax.axhline(1, color=LIGHT.muted, linewidth=0.8, linestyle="--", label="1 km")
    ax.set(xlabel=EPSILON, ylabel=BEST)
    ax.set_ylim(bottom=0)
    finish(ax)
    return figure


def _number(ax: Axes, ends: Sequence[GameRow]) -> None:
    """Write each user's number at the end of their line, one above the other where lines are near."""
    apart = _APART * max(row.error_best for row in ends)
    least = 0.0
    for row in sorted(ends, key=lambda row: row.error_best):
        height = max(row.error_best, least)
        ax.annotate(
            f"{row.user}",
            (row.epsilon, height),
            (5, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
            color=LIGHT.muted,
        )
        least = height + apart


def cost_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 2b: cost against the best attacker's error in scenario 1."""
    figure = blank(7, 4.5)
    ax = figure.subplots()
    for name in NAMES:
        mine = [row for row in games if row.scenario == 1 and row.mechanism == name]
        look = style(name)
        for line in grouped(mine, lambda row: row.user).values():
            ordered = sorted(line, key=lambda row: row.epsilon)
            ax.plot(
                [row.error_best for row in ordered],
                [row.cost for row in ordered],
                color=look["color"],
                linestyle=look["linestyle"],
                linewidth=0.6,
                alpha=0.4,
            )
        errors, costs = medians(mine, lambda row: row.epsilon, lambda row: row.error_best, lambda row: row.cost)
        ax.plot(errors, costs, **look)
    ax.set(xlabel=BEST, ylabel=COST, ylim=(0, 1))
    ax.set_xlim(left=0)
    finish(ax)
    return figure


def bayes_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 3: the Bayesian attacker's error against *metric* and against *distortion*."""
    first = {(row.user, row.epsilon, row.mechanism): row for row in games if row.scenario == 1}
    figure = blank(8, 5.5)
    ax = figure.subplots()
    for k, epsilon in enumerate(sorted({row.epsilon for row in first.values()})):
        pairs = [
            (first[user, epsilon, DISTORTION].error_bayes, row.error_bayes)
            for (user, each, name), row in first.items()
            if each == epsilon and name == METRIC
        ]
        ax.plot(
            *zip(*pairs, strict=True),
            linestyle="none",
            marker="os^Dv*Px"[k % 8],
            color=LIGHT.series[k % 8],
            markersize=5,
            label=f"epsilon {epsilon:g}/km",
        )
    ax.set(
        xlabel="Bayesian attacker's error against distortion (km)",
        ylabel="Bayesian attacker's error against metric (km)",
    )
    equal_line(ax, "equal errors")
    finish(ax, loc="lower right")
    return figure


def attackers_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 4: the best attacker's error against the Bayesian one's."""
    figure = blank(8, 5.5)
    ax = figure.subplots()
    for name in NAMES:
        mine = [row for row in games if row.scenario == 1 and row.mechanism == name]
        ax.plot([row.error_best for row in mine], [row.error_bayes for row in mine], **marks(name))
    ax.set(xlabel=BEST, ylabel=BAYES)
    equal_line(ax, "equal errors")
    finish(ax, loc="lower right")
    return figure


def joint_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 5: the privacy of *joint* against that of each, in scenarios 1 and 2."""
    by = {(row.scenario, row.user, row.epsilon, row.mechanism): row for row in games}
    figure = blank(10.5, 5)
    for ax, scenario in zip(figure.subplots(1, 2), (1, 2), strict=True):
        joints = [row for row in games if row.scenario == scenario and row.mechanism == JOINT]
        for name in (METRIC, DISTORTION):
            where = 1 if name == METRIC else scenario
            others = [by[where, row.user, row.epsilon, name].error_best for row in joints]
            ax.plot(others, [row.error_best for row in joints], **marks(name) | {"label": f"against {name}"})
        ax.set(
            title=f"Scenario {scenario}",
            xlabel="best attacker's error against metric or distortion (km)",
            ylabel="best attacker's error against joint (km)",
        )
        equal_line(ax, "equal errors")
        finish(ax, loc="lower right")
    return figure
