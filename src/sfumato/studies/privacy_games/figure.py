"""Figure of the privacy games: cost and the attackers' errors against epsilon."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ...report.drawing import blank
from .study import DISTORTION, JOINT, METRIC, GameRow, PrivacyGamesResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PEOPLE: Final = ("#009E73", "#CC79A7", "#56B4E9", "#E69F00")


def figures(found: PrivacyGamesResults) -> dict[str, Figure]:
    """Return the figure ``privacy_games``, of the designs with the gap that was asked for.

    Args:
        found: What `study` returned.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    return {"privacy_games": games_figure([row for row in found.designs if row.gap_asked == found.gap])}


def games_figure(rows: Sequence[GameRow]) -> Figure:
    """Return the figure of designs: scenario 1 in five panels, and what the joint mechanism costs in scenario 2.

    Args:
        rows: Designs of the same gap.

    Raises:
        MissingExtraError: If matplotlib is not installed.
    """
    first = [row for row in rows if row.scenario == 1]
    names = (METRIC, DISTORTION, JOINT)
    figure = blank(13.5, 8)
    people = len({row.user for row in first})
    figure.suptitle(f"{people} users: lines with markers are medians over users, bands their range", fontsize=12)
    axes = figure.subplots(2, 3)
    _across(axes[0, 0], first, lambda row: row.error_best, (METRIC,))
    axes[0, 0].set(title="Scenario 1: the best attacker's error", ylabel="error of the best attacker (km)")
    _across(axes[0, 1], first, lambda row: row.cost, names)
    axes[0, 1].set(title="Scenario 1: cost", ylabel="cost (share of false cells)", ylim=(0, 1))
    for name in names:
        mine = [row for row in first if row.mechanism == name]
        for user in sorted({row.user for row in mine}):
            line = [(row.error_best, row.cost) for row in mine if row.user == user]
            thin = axes[0, 2].plot(
                *zip(*line, strict=True), color=_style(name)["color"], linewidth=0.6, alpha=0.35
            )
        if name == METRIC:
            thin[0].set_label("each user")
        axes[0, 2].plot(*_medians(mine, lambda row: row.error_best, lambda row: row.cost), **_style(name))
    axes[0, 2].set(
        title="Scenario 1: cost of each error",
        xlabel="error of the best attacker (km)",
        ylabel="cost (share of false cells)",
    )
    axes[0, 2].set_ylim(0, 1)
    _across(axes[1, 0], first, lambda row: row.error_bayes, names)
    axes[1, 0].set(title="Scenario 1: the Bayesian attacker's error", ylabel="error of the Bayesian attacker (km)")
    for name in names:
        mine = [row for row in first if row.mechanism == name]
        pairs = [(row.error_best, row.error_bayes) for row in mine]
        axes[1, 1].plot(*zip(*pairs, strict=True), **{**_style(name), "linestyle": "none", "markersize": 4.5})
    end = max(row.error_bayes for row in first)
    axes[1, 1].plot([0, end], [0, end], color="0.5", linewidth=0.8, linestyle="--", label="equal errors")
    axes[1, 1].set(
        title="Scenario 1: both attackers",
        xlabel="error of the best attacker (km)",
        ylabel="error of the Bayesian attacker (km)",
    )
    _second_scenario(axes[1, 2], rows)
    for ax in axes.flat:
        ax.grid(alpha=0.3)
        ax.title.set_fontsize(11)
        ax.legend(fontsize=8)
    return figure


def _second_scenario(ax: Axes, rows: Sequence[GameRow]) -> None:
    """Draw how much more joint costs than the more costly single mechanism, at the same epsilon and distortion."""
    joints = [row for row in rows if row.scenario == 2 and row.mechanism == JOINT]
    for k, user in enumerate(sorted({row.user for row in joints})):
        extra = [
            (row.epsilon, 100 * (row.cost_lower_bound / _more_costly(rows, row) - 1))
            for row in joints
            if row.user == user
        ]
        ax.plot(*zip(*extra, strict=True), marker="sDv^"[k % 4], color=_PEOPLE[k % 4], label=f"user {user}")
    ax.axhline(0, color="0.5", linewidth=0.8, linestyle="--", label="max of the two")
    ax.set(
        title="Scenario 2: what joint costs more than either",
        xlabel="epsilon (per km)",
        ylabel="proved extra cost of joint (%)",
    )


def _more_costly(rows: Sequence[GameRow], joint: GameRow) -> float:
    """Return the larger cost of the two single mechanisms that ask for one half of a joint one's promise."""
    here = [row for row in rows if row.user == joint.user and row.epsilon == joint.epsilon]
    metric = next(row for row in here if row.mechanism == METRIC)
    distortion = next(row for row in here if row.mechanism == DISTORTION and row.scenario == joint.scenario)
    return max(metric.cost, distortion.cost)


def _across(ax: Axes, rows: Iterable[GameRow], value: Callable[[GameRow], float], names: Sequence[str]) -> None:
    """Draw median (line) and range (band) over users against epsilon."""
    for name in names:
        mine = [row for row in rows if row.mechanism == name]
        epsilons, middle = _medians(mine, lambda row: row.epsilon, value)
        spans = [[value(row) for row in mine if row.epsilon == epsilon] for epsilon in epsilons]
        if name != JOINT or METRIC not in names:  # the joint band would lie on the metric one
            low, high = [min(span) for span in spans], [max(span) for span in spans]
            ax.fill_between(epsilons, low, high, color=_style(name)["color"], alpha=0.15, linewidth=0)
        ax.plot(epsilons, middle, **_style(name))
    ax.set_xlabel("epsilon (per km)")
    ax.set_ylim(bottom=0)


def _medians(
    rows: Iterable[GameRow], x: Callable[[GameRow], float], y: Callable[[GameRow], float]
) -> tuple[list[float], list[float]]:
    """Return the medians over users of two values, epsilon by epsilon."""
    groups: dict[float, list[GameRow]] = {}
    for row in rows:
        groups.setdefault(row.epsilon, []).append(row)
    ordered = [groups[epsilon] for epsilon in sorted(groups)]
    return [float(np.median([x(r) for r in g])) for g in ordered], [
        float(np.median([y(r) for r in g])) for g in ordered
    ]


def _style(name: str) -> dict[str, Any]:
    """Return how a mechanism is drawn: told apart by colour, by marker and by line."""
    look = {METRIC: ("#0072B2", "o", "-"), DISTORTION: ("#D55E00", "^", "--"), JOINT: ("#000000", "x", ":")}
    colour, marker, line = look[name]
    return {"color": colour, "marker": marker, "linestyle": line, "label": name}
