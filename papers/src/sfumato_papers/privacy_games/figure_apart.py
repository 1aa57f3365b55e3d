"""Figure 7: epsilon and d_m chosen apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from sfumato.reports.theme import LIGHT, blank

from .apart import ApartRow, apart_triples
from .games import DISTORTION, JOINT
from .look import COST, equal_line, finish, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def apart_figure(rows: Sequence[ApartRow]) -> Figure:
    """Return Figure 7: privacy and cost of *joint* against the larger of the others', and costs of one user."""
    found = apart_triples(rows)
    figure = blank(10.5, 9)
    (privacy, cost), (errors, costs) = figure.subplots(2, 2)
    kinds = (
        ("metric keeps d_m", LIGHT.series[0], "o", True),
        ("metric does not", LIGHT.series[1], "^", False),
    )
    for label, colour, marker, met in kinds:
        mine = [each for each in found if each[2].met is met]
        look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 4.5, "alpha": 0.75}
        privacy.plot(
            [max(m.error_best, d.error_best) for m, d, _ in mine],
            [j.error_best for *_, j in mine],
            label=label,
            **look,
        )
        cost.plot([max(m.cost, d.cost) for m, d, _ in mine], [j.cost for *_, j in mine], label=label, **look)
    privacy.set(
        title="Privacy",
        xlabel="larger error against metric or distortion (km)",
        ylabel="best attacker's error against joint (km)",
    )
    cost.set(title="Cost", xlabel="larger cost of metric or distortion", ylabel="cost of joint")
    for ax in (privacy, cost):
        equal_line(ax, "equal")
        finish(ax, loc="lower right")
    _one(errors, rows, lambda row: row.error_best)
    errors.set(ylabel="error of the best attacker (km)")
    end = max(row.distortion_asked or 0.0 for row in rows if row.user == rows[0].user)
    errors.plot([0, end], [0, end], color=LIGHT.muted, linewidth=0.8, linestyle="--", label="d_m")
    _one(costs, rows, lambda row: row.cost)
    costs.set(ylabel=COST, ylim=(0, 1))
    for ax in (errors, costs):
        ax.set_ylim(bottom=0)
        finish(ax, loc="lower right", ncols=2)
    return figure


def _one(ax: Axes, rows: Sequence[ApartRow], value: Callable[[ApartRow], float]) -> None:
    """Draw a value of *joint* for each epsilon, and of *distortion*, against d_m, for the first user."""
    mine = [row for row in rows if row.user == rows[0].user]
    epsilons = sorted({row.epsilon for row in mine if row.epsilon is not None})
    for k, epsilon in enumerate(epsilons):
        line = [row for row in mine if row.mechanism == JOINT and row.epsilon == epsilon]
        ax.plot(
            [row.distortion_asked or 0.0 for row in line],
            [value(row) for row in line],
            marker="os^Dv"[k % 5],
            markersize=4,
            color=LIGHT.series[(0, 2, 3, 5, 7)[k % 5]],
            label=f"joint, {epsilon:g}/km",
        )
    alone = [row for row in mine if row.mechanism == DISTORTION]
    ax.plot([row.distortion_asked or 0.0 for row in alone], [value(row) for row in alone], **style(DISTORTION))
    ax.set_title(f"User {rows[0].user}", pad=14)
    ax.set_xlabel("d_m (km)")
