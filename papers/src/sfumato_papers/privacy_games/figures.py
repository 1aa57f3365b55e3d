"""Figures 2 to 8 of "Privacy Games" from the tables of a run, and those of prices and of the attacker."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import SECONDS, RunTables
from ..results import distinct, where
from .games import (
    APART,
    DISTORTION,
    GAMES,
    INFORMED,
    JOINT,
    METRIC,
    NAMES,
    PRICES,
    ApartRow,
    GameRow,
    InformedRow,
    PriceRow,
    apart_triples,
    triples,
)
from .pruning import (
    ATTACK_TIMES,
    ATTACKS,
    CORRECTED,
    EXACT,
    PAIR_TIMES,
    PAIRS,
    PRUNED,
    AttackRow,
    PairRow,
    TimeRow,
)
from .slopes import GUESSES, HABITS, SLOPES, GuessRow, HabitRow, SlopeRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Row = TypeVar("_Row")

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
    "figure-6": "Figure 6: users have stronger habits than the design assumed, and the attacker knows "
    "it. On the left medians over epsilons, for each user (thin) and for all (thick); on the right "
    "each user at each epsilon, at the largest share moved.",
    "figure-7": "Figure 7: epsilon and d_m chosen separately. Top: privacy and cost of joint against the "
    "larger of the two others. Bottom: the same for the first user.",
    "figure-8": "Figure 8: rows left out beyond a threshold. Top: metric privacy without far pairs: the "
    "true epsilon and the cost, where near pairs connect all cells. Bottom: "
    "distortion without far guesses, and joint without far guesses and far pairs (on a coarser map in the "
    "full size): the remaining shares of the requested error and of the cost.",
    f"figure-8{SECONDS}": "Figure 8: solver times, which differ from run to run. Programs "
    "without far guesses are solved by a general back-end, all others by the structured method.",
    "prices": "The cost of one more metre of error. Left: scenarios 1 and 2. Right: the "
    "price (mark) between the proved slopes of the least cost on both sides (bar).",
    "attacker": "The equilibrium of one user. Arrows lead from reports to guesses, wider for more probable "
    "pairs of report and guess; a ring is a report that the attacker guesses itself. Pairs rarer than 1 in 500 "
    "are omitted. Discs show how often the user visits each cell.",
}
_BEST: Final = "error of the best attacker (km)"
_BAYES: Final = "error of the Bayesian attacker (km)"
_COST: Final = "cost (share of false cells)"
_EPSILON: Final = "epsilon (per km)"
_PRICE: Final = "price (percentage points per metre)"
_THRESHOLD: Final = "threshold (km)"
_PER_METRE: Final = 0.1  # percentage points per metre in shares per km
_APART: Final = 0.05  # of the largest error, between the numbers of two users
_WIDEST, _OWN, _LARGEST = 2.5, 12.0, 350.0  # arrows and rings (points), discs (square points)
_LEAST: Final = 0.002  # of all guesses: rarer arrows would hide the others
_LINES: Final = ("-", "--", ":", "-.")
_LABELS: Final = {PRUNED: "left out", CORRECTED: "left out, epsilon / dilation", EXACT: "nothing left out"}
_KINDS: Final = {PRUNED: (LIGHT.series[1], "^"), CORRECTED: (LIGHT.series[0], "o"), EXACT: (LIGHT.ink, "")}
_PAIRS: Final = [{"kind": kind} for kind in _KINDS]
_ATTACKS: Final = [{"kind": PRUNED, "mechanism": name} for name in (DISTORTION, JOINT)]
_STYLES: Final = {
    METRIC: (LIGHT.series[0], "o", "-"),
    DISTORTION: (LIGHT.series[1], "^", "--"),
    JOINT: (LIGHT.ink, "x", ":"),
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    every = tables.rows(GAMES, GameRow)
    coarse = max(row.gap_asked for row in every)
    games = [row for row in every if row.gap_asked == coarse]
    pairs, attacks = tables.rows(PAIRS, PairRow), tables.rows(ATTACKS, AttackRow)
    return {
        "figure-2a": error_figure(games),
        "figure-2b": cost_figure(games),
        "figure-3": bayes_figure(games),
        "figure-4": attackers_figure(games),
        "figure-5": joint_figure(games),
        "figure-6": informed_figure(tables.rows(INFORMED, InformedRow)),
        "figure-7": apart_figure(tables.rows(APART, ApartRow)),
        "figure-8": pruned_figure(pairs, attacks),
        f"figure-8{SECONDS}": times_figure(tables.rows(PAIR_TIMES, TimeRow), tables.rows(ATTACK_TIMES, TimeRow)),
        "prices": prices_figure(tables.rows(PRICES, PriceRow), tables.rows(SLOPES, SlopeRow)),
        "attacker": attacker_figure(tables.rows(GUESSES, GuessRow), tables.rows(HABITS, HabitRow)),
    }


def _style(name: str) -> dict[str, Any]:
    """Return how the line of a mechanism is drawn."""
    colour, marker, line = _STYLES[name]
    return {"color": colour, "marker": marker, "linestyle": line, "label": name, "markersize": 5}


def _marks(name: str) -> dict[str, Any]:
    """Return how the marks of a mechanism are drawn, without a line."""
    return _style(name) | {"linestyle": "none", "markersize": 4.5, "alpha": 0.75}


def _column(rows: Iterable[object], field: str) -> list[float]:
    return [getattr(row, field) or 0.0 for row in rows]


def _plot(ax: Axes, rows: Sequence[object], x: str, y: str, **look: Any) -> None:
    """Draw one field of rows against another."""
    ax.plot(_column(rows, x), _column(rows, y), **look)


def _grouped(rows: Iterable[_Row], field: str) -> list[list[_Row]]:
    """Return rows by the value of a field, in the order of the values."""
    ordered = sorted(rows, key=attrgetter(field))
    return [where(ordered, **{field: value}) for value in distinct(ordered, field)]


def _medians(rows: Iterable[object], group: str, *fields: str) -> list[list[float]]:
    """Return the medians of fields over each group, in the order of the groups."""
    groups = _grouped(rows, group)
    return [[float(np.median(_column(each, field))) for each in groups] for field in fields]


def _equal_line(ax: Axes, label: str = "equal errors") -> None:
    """Draw where both axes are equal, over what is drawn already, and let both begin at 0."""
    end = max(ax.get_xlim()[1], ax.get_ylim()[1])
    ax.plot([0, end], [0, end], color=LIGHT.muted, linewidth=0.8, linestyle="--", label=label)
    ax.set(xlim=(0, end), ylim=(0, end))


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
    for user in _grouped(metric, "user"):
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
    epsilons, middle = _medians(metric, "epsilon", "epsilon", "error_best")
    ax.plot(epsilons, middle, **_style(METRIC) | {"label": "median", "linewidth": 2})
    ax.axhline(1, color=LIGHT.muted, linewidth=0.8, linestyle="--", label="1 km")
    ax.set(xlabel=_EPSILON, ylabel=_BEST)
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
        for user in _grouped(designs, "user"):
            _plot(ax, sorted(user, key=attrgetter("epsilon")), "error_best", "cost", **thin)
        errors, costs = _medians(designs, "epsilon", "error_best", "cost")
        ax.plot(errors, costs, **look)
    ax.set(xlabel=_BEST, ylabel=_COST, ylim=(0, 1))
    ax.set_xlim(left=0)
    _finish(ax)
    return figure


def bayes_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 3: the Bayesian attacker's error against *metric* and against *distortion*."""
    first = triples(games, 1)
    figure = blank(8, 5.5)
    ax = figure.subplots()
    for k, epsilon in enumerate(sorted({m.epsilon for m, *_ in first})):
        ax.plot(
            [d.error_bayes for m, d, _ in first if m.epsilon == epsilon],
            [m.error_bayes for m, *_ in first if m.epsilon == epsilon],
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
    _equal_line(ax)
    _finish(ax, loc="lower right")
    return figure


def attackers_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 4: the best attacker's error against the Bayesian one's."""
    figure = blank(8, 5.5)
    ax = figure.subplots()
    for name in NAMES:
        _plot(ax, where(games, scenario=1, mechanism=name), "error_best", "error_bayes", **_marks(name))
    ax.set(xlabel=_BEST, ylabel=_BAYES)
    _equal_line(ax)
    _finish(ax, loc="lower right")
    return figure


def joint_figure(games: Sequence[GameRow]) -> Figure:
    """Return Figure 5: the privacy of *joint* against that of each, in scenarios 1 and 2."""
    figure = blank(10.5, 5)
    for ax, scenario in zip(figure.subplots(1, 2), (1, 2), strict=True):
        cases = triples(games, scenario)
        for k, name in enumerate((METRIC, DISTORTION)):
            others = [case[k].error_best for case in cases]
            ax.plot(others, [j.error_best for *_, j in cases], **_marks(name) | {"label": f"against {name}"})
        ax.set(
            title=f"Scenario {scenario}",
            xlabel="best attacker's error against metric or distortion (km)",
            ylabel="best attacker's error against joint (km)",
        )
        _equal_line(ax)
        _finish(ax, loc="lower right")
    return figure


def informed_figure(rows: Sequence[InformedRow]) -> Figure:
    """Return Figure 6: what is left of the error as habits grow stronger, and the two mechanisms side by side."""
    figure = blank(10.5, 5)
    left, right = figure.subplots(1, 2)
    for name in NAMES:
        designs = where(rows, mechanism=name)
        shares, middle = _medians(designs, "sharper", "sharper", "error_informed")
        if name in (METRIC, DISTORTION):  # the lines of joint would lie on those of metric
            for user in _grouped(designs, "user"):
                (line,) = _medians(user, "sharper", "error_informed")
                left.plot(shares, line, color=_style(name)["color"], linewidth=0.6, alpha=0.4)
        left.plot(shares, middle, **_style(name))
    left.set_xlabel("share of visits moved to the two most likely cells")
    left.set_ylabel("error of the informed attacker (km)")
    left.set_ylim(bottom=0)
    _finish(left)
    share = max(row.sharper for row in rows)
    last = {(row.user, row.epsilon, row.mechanism): row.error_informed for row in where(rows, sharper=share)}
    pairs = [
        (last[user, epsilon, DISTORTION], error) for (user, epsilon, name), error in last.items() if name == METRIC
    ]
    right.plot(*zip(*pairs, strict=True), **_marks(METRIC) | {"label": "a user at an epsilon"})
    right.set(
        title=f"A share of {share:g} moved",
        xlabel="informed attacker's error against distortion (km)",
        ylabel="informed attacker's error against metric (km)",
    )
    _equal_line(right)
    _finish(right, loc="lower right")
    return figure


def apart_figure(rows: Sequence[ApartRow]) -> Figure:
    """Return Figure 7: privacy and cost of *joint* against the larger of the others', and costs of one user."""
    cases = apart_triples(rows)
    figure = blank(10.5, 9)
    (privacy, cost), (errors, costs) = figure.subplots(2, 2)
    kinds = (
        ("metric keeps d_m", LIGHT.series[0], "o", True),
        ("metric does not", LIGHT.series[1], "^", False),
    )
    for label, colour, marker, met in kinds:
        mine = [each for each in cases if each[2].met is met]
        look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 4.5, "alpha": 0.75}
        for ax, field in ((privacy, "error_best"), (cost, "cost")):
            value = attrgetter(field)
            larger = [max(value(m), value(d)) for m, d, _ in mine]
            ax.plot(larger, [value(j) for *_, j in mine], label=label, **look)
    privacy.set(
        title="Privacy",
        xlabel="larger error against metric or distortion (km)",
        ylabel="best attacker's error against joint (km)",
    )
    cost.set(title="Cost", xlabel="larger cost of metric or distortion", ylabel="cost of joint")
    for ax in (privacy, cost):
        _equal_line(ax, "equal")
        _finish(ax, loc="lower right")
    first = where(rows, user=rows[0].user)
    _first_user(errors, first, "error_best")
    errors.set(ylabel="error of the best attacker (km)")
    end = max(_column(first, "distortion_asked"))
    errors.plot([0, end], [0, end], color=LIGHT.muted, linewidth=0.8, linestyle="--", label="d_m")
    _first_user(costs, first, "cost")
    costs.set(ylabel=_COST, ylim=(0, 1))
    for ax in (errors, costs):
        ax.set_ylim(bottom=0)
        _finish(ax, loc="lower right", ncols=2)
    return figure


def _first_user(ax: Axes, rows: Sequence[ApartRow], field: str) -> None:
    """Draw a field of *joint* for each epsilon, and of *distortion*, against d_m, for one user."""
    for k, epsilon in enumerate(sorted({row.epsilon for row in rows if row.epsilon is not None})):
        look: dict[str, Any] = {"marker": "os^Dv"[k % 5], "color": LIGHT.series[(0, 2, 3, 5, 7)[k % 5]]}
        joint = where(rows, mechanism=JOINT, epsilon=epsilon)
        _plot(ax, joint, "distortion_asked", field, markersize=4, label=f"joint, {epsilon:g}/km", **look)
    _plot(ax, where(rows, mechanism=DISTORTION), "distortion_asked", field, **_style(DISTORTION))
    ax.set_title(f"User {rows[0].user}", pad=14)
    ax.set_xlabel("d_m (km)")


def prices_figure(prices: Sequence[PriceRow], slopes: Sequence[SlopeRow]) -> Figure:
    """Return the prices against epsilon, and those that were held against slopes."""
    figure = blank(10.5, 4.8)
    left, right = figure.subplots(1, 2)
    for name in (DISTORTION, JOINT):
        for scenario in (1, 2):
            epsilons, middle = _medians(
                where(prices, scenario=scenario, mechanism=name), "epsilon", "epsilon", "price"
            )
            look = _style(name) | {"label": f"{name}, scenario {scenario}", "alpha": 1.0 if scenario == 2 else 0.5}
            left.plot(epsilons, [_PER_METRE * price for price in middle], clip_on=False, zorder=3, **look)
    left.set(title="Medians over users", xlabel=_EPSILON, ylabel=_PRICE)
    left.set_ylim(bottom=0)
    users = sorted({row.user for row in slopes})
    for shift, name in ((-0.12, DISTORTION), (0.12, JOINT)):
        held = where(slopes, mechanism=name)
        at = [users.index(row.user) + shift for row in held]
        below, above, price = (
            [_PER_METRE * value for value in _column(held, field)]
            for field in ("slope_below", "slope_above", "price")
        )
        right.vlines(at, below, above, color=LIGHT.muted, linewidth=4, alpha=0.5)
        right.plot(at, price, **_marks(name) | {"alpha": 1.0})
    right.set_xticks(range(len(users)), [f"user {user}" for user in users])
    right.set(title="Prices between slopes", ylabel=_PRICE, xlim=(-0.5, len(users) - 0.5))
    right.set_ylim(0, 1.15 * _PER_METRE * max(max(row.price, row.slope_above) for row in slopes))
    for ax in (left, right):
        _finish(ax)
    return figure


def pruned_figure(pairs: Sequence[PairRow], attacks: Sequence[AttackRow]) -> Figure:
    """Return Figure 8: epsilon and cost without far pairs, and the error without far guesses."""
    figure = blank(10.5, 9)
    (epsilon, cost), (error, less) = figure.subplots(2, 2)
    joined = [row for row in pairs if math.isfinite(row.dilation)]
    _curves(epsilon, joined, lambda row: row.epsilon_true, _PAIRS[:2])
    first = where(joined, user=joined[0].user, kind=PRUNED)
    bounds = [row.epsilon * row.dilation for row in first]  # the same for all users
    epsilon.plot(_column(first, "threshold"), bounds, color=LIGHT.muted, linewidth=0.8, label="epsilon x dilation")
    epsilon.axhline(first[0].epsilon, color=LIGHT.ink, linewidth=1, linestyle="--", label="epsilon asked for")
    epsilon.set(title="Far pairs: guarantee", xlabel=_THRESHOLD, ylabel="true epsilon (per km)")
    epsilon.set_ylim(bottom=0)
    _curves(cost, joined, lambda row: row.cost, _PAIRS)
    cost.set(title="Far pairs: cost", xlabel=_THRESHOLD, ylabel=_COST)
    asked = {(row.user, row.mechanism): row.distortion_asked for row in attacks}
    _curves(error, attacks, lambda row: row.error_best / asked[row.user, row.mechanism], _ATTACKS)
    error.axhline(1, color=LIGHT.ink, linewidth=1, linestyle="--", label="asked for")
    error.set(title="Far guesses: privacy", xlabel=_THRESHOLD, ylabel="error of the best attacker / d_m")
    exact = {(row.user, row.mechanism): row.cost for row in attacks if row.kind == EXACT}
    _curves(less, attacks, lambda row: row.cost / exact[row.user, row.mechanism], _ATTACKS)
    less.axhline(1, color=LIGHT.ink, linewidth=1, linestyle="--", label="nothing left out")
    less.set(title="Far guesses: cost", xlabel=_THRESHOLD, ylabel="cost / least cost")
    for ax in (error, less):
        ax.set_ylim(-0.03, 1.1)
    for ax in (epsilon, cost, error, less):
        _finish(ax)
    return figure


def times_figure(pairs: Sequence[TimeRow], attacks: Sequence[TimeRow]) -> Figure:
    """Return the times of Figure 8."""
    figure = blank(10.5, 4.5)
    axes = figure.subplots(1, 2)
    _curves(axes[0], pairs, lambda row: row.seconds, _PAIRS)
    axes[0].set_title("Metric privacy, far pairs left out")
    _curves(axes[1], attacks, lambda row: row.seconds, _ATTACKS)
    axes[1].set_title("Far guesses left out")
    for ax in axes:
        ax.set(xlabel=_THRESHOLD, ylabel="seconds")
        ax.set_ylim(bottom=0)
        _finish(ax)
    return figure


def _curves(
    ax: Axes, rows: Sequence[Any], value: Callable[[Any], float], curves: Sequence[dict[str, str]]
) -> None:
    """Draw a value against the threshold for each user and curve, given by its fields; exact ones are levels."""
    users = sorted({row.user for row in rows})
    for (k, user), fields in product(enumerate(users), curves):
        kind, name = fields["kind"], fields.get("mechanism")
        points = [(row.threshold, value(row)) for row in where(rows, user=user, **fields)]
        colour, marker = _KINDS[kind] if name is None else _STYLES[name][:2]
        label = (name or _LABELS[kind]) + (f", user {user}" if len(users) > 1 else "")
        look: dict[str, Any] = {"color": colour, "linestyle": _LINES[k % 4], "markersize": 5, "label": label}
        if kind == EXACT:
            for _, level in points:
                ax.axhline(level, linewidth=1, **look)
        elif points:
            ax.plot(*zip(*points, strict=True), marker=marker, **look)


def attacker_figure(guesses: Sequence[GuessRow], habits: Sequence[HabitRow]) -> Figure:
    """Return a map for *distortion* and one for *joint*: habits as circles, guesses as arrows from reports."""
    figure = blank(10.5, 3.5)
    axes = figure.subplots(1, 2)
    visited = [each for each in habits if each.probability > 0]
    sizes = np.array(_column(visited, "probability"))
    discs: dict[str, Any] = {"color": LIGHT.muted, "alpha": 0.4, "linewidth": 0, "clip_on": False}
    for ax, name in zip(axes, (DISTORTION, JOINT), strict=True):
        ax.scatter(_column(visited, "x"), _column(visited, "y"), _LARGEST * sizes / sizes.max(), **discs)
        colour, strategy = _STYLES[name][0], where(guesses, mechanism=name)
        arrow = {
            "arrowstyle": "-|>",
            "mutation_scale": 9,
            "color": colour,
            "shrinkA": 0,
            "shrinkB": 0,
            "alpha": 0.7,
        }
        most = max(each.report_probability * each.guess_probability for each in strategy)
        for each in strategy:
            share = each.report_probability * each.guess_probability
            if share < _LEAST:
                continue
            width, report, guess = (
                (share / most) ** 0.5,
                (each.report_x, each.report_y),
                (each.guess_x, each.guess_y),
            )
            if guess == report:
                ring: dict[str, Any] = {"color": colour, "fillstyle": "none", "clip_on": False}
                ax.plot(*guess, "o", markersize=_OWN * width, **ring)
            else:
                ax.annotate("", guess, report, arrowprops={**arrow, "linewidth": _WIDEST * width})
        ax.set(
            title=f"{name}: from reports to guesses",
            xlabel="km east",
            ylabel="km north",
            xlim=(0, max(each.x + each.width / 2 for each in habits)),
            ylim=(0, max(each.y + each.height / 2 for each in habits)),
            aspect="equal",
        )
    return figure
