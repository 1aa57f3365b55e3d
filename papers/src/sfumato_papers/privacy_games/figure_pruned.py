"""Figure 8: programs without far pairs and without far guesses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from sfumato.reports.theme import LIGHT, blank

from .games import DISTORTION, JOINT
from .look import COST, finish, style
from .pruning import CORRECTED, EXACT, PRUNED, AttackRow, PairRow, TimeRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = ("-", "--", ":", "-.")
_THRESHOLD = "threshold (km)"
_LABELS = {PRUNED: "left out", CORRECTED: "left out, epsilon / dilation", EXACT: "nothing left out"}


def pruned_figure(pairs: Sequence[PairRow], attacks: Sequence[AttackRow]) -> Figure:
    """Return Figure 8: epsilon and cost without far pairs, and the error without far guesses."""
    figure = blank(10.5, 9)
    (epsilon, cost), (error, less) = figure.subplots(2, 2)
    joined = [row for row in pairs if math.isfinite(row.dilation)]
    _lines(epsilon, joined, lambda row: row.epsilon_true, (PRUNED, CORRECTED))
    _bound(epsilon, joined)
    epsilon.set(title="Far pairs: guarantee", xlabel=_THRESHOLD, ylabel="true epsilon (per km)")
    epsilon.set_ylim(bottom=0)
    _lines(cost, joined, lambda row: row.cost, (PRUNED, CORRECTED, EXACT))
    cost.set(title="Far pairs: cost", xlabel=_THRESHOLD, ylabel=COST)
    asked = {(row.user, row.mechanism): row.distortion_asked for row in attacks}
    _guesses(error, attacks, lambda row: row.error_best / asked[row.user, row.mechanism])
    error.axhline(1, color=LIGHT.ink, linewidth=1, linestyle="--", label="asked for")
    error.set(
        title="Far guesses: privacy",
        xlabel=_THRESHOLD,
        ylabel="error of the best attacker / d_m",
        ylim=(-0.03, 1.1),
    )
    exact = {(row.user, row.mechanism): row.cost for row in attacks if row.kind == EXACT}
    _guesses(less, attacks, lambda row: row.cost / exact[row.user, row.mechanism])
    less.axhline(1, color=LIGHT.ink, linewidth=1, linestyle="--", label="nothing left out")
    less.set(title="Far guesses: cost", xlabel=_THRESHOLD, ylabel="cost / least cost", ylim=(-0.03, 1.1))
    for ax in (epsilon, cost, error, less):
        finish(ax)
    return figure


def times_figure(pairs: Sequence[TimeRow], attacks: Sequence[TimeRow]) -> Figure:
    """Return the times of Figure 8."""
    figure = blank(10.5, 4.5)
    axes = figure.subplots(1, 2)
    _lines(axes[0], pairs, lambda row: row.seconds, (PRUNED, CORRECTED, EXACT))
    axes[0].set_title("Metric privacy, far pairs left out")
    _guesses(axes[1], attacks, lambda row: row.seconds)
    axes[1].set_title("Far guesses left out")
    for ax in axes:
        ax.set(xlabel=_THRESHOLD, ylabel="seconds")
        ax.set_ylim(bottom=0)
        finish(ax)
    return figure


def _look(kind: str, k: int) -> dict[str, Any]:
    colour, marker = {
        PRUNED: (LIGHT.series[1], "^"),
        CORRECTED: (LIGHT.series[0], "o"),
        EXACT: (LIGHT.ink, ""),
    }[kind]
    return {"color": colour, "marker": marker, "linestyle": _LINES[k % 4], "markersize": 5}


def _lines(ax: Axes, rows: Sequence[Any], value: Callable[[Any], float], kinds: Sequence[str]) -> None:
    """Draw a value against the threshold for each user; what has none is a level."""
    users = sorted({row.user for row in rows})
    for k, user in enumerate(users):
        for kind in kinds:
            mine = [row for row in rows if row.user == user and row.kind == kind]
            label = _LABELS[kind] + (f", user {user}" if len(users) > 1 else "")
            if kind == EXACT:
                for row in mine:
                    ax.axhline(value(row), label=label, linewidth=1, **_look(kind, k) | {"marker": None})
            elif mine:
                points = [(row.threshold, value(row)) for row in mine]
                ax.plot(*zip(*points, strict=True), label=label, **_look(kind, k))


def _bound(ax: Axes, pairs: Sequence[PairRow]) -> None:
    """Draw epsilon, and epsilon times the dilation, which are the same for all users."""
    mine = [row for row in pairs if row.user == pairs[0].user and row.kind == PRUNED]
    limit = [(row.threshold, row.epsilon * row.dilation) for row in mine]
    ax.plot(*zip(*limit, strict=True), color=LIGHT.muted, linewidth=0.8, label="epsilon x dilation")
    ax.axhline(mine[0].epsilon, color=LIGHT.ink, linewidth=1, linestyle="--", label="epsilon asked for")


def _guesses(ax: Axes, rows: Sequence[Any], value: Callable[[Any], float]) -> None:
    """Draw a value against the threshold for each user and mechanism."""
    users = sorted({row.user for row in rows})
    for k, user in enumerate(users):
        for name in (DISTORTION, JOINT):
            mine = [row for row in rows if (row.user, row.mechanism, row.kind) == (user, name, PRUNED)]
            if mine:
                label = name + (f", user {user}" if len(users) > 1 else "")
                points = [(row.threshold, value(row)) for row in mine]
                ax.plot(*zip(*points, strict=True), **style(name) | {"label": label, "linestyle": _LINES[k % 4]})
