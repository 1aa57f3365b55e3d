"""Figures of distribution privacy, from the tables of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import RunTables, interval
from .attackers import CONFIDENCE, IMAGINED, SUCCESS, USERS, VISITS, ConfidenceRow, SuccessRow
from .distances import COUPLING, LINE, MAP, MovedRow
from .measurements import DELTA, LAPLACE, MIXTURE, NONE, SWEEP, TUPLED, UNIFORM, DistributionRow
from .statements import STATEMENTS, TIGHTNESS, RatioRow
from .tupling import BOUNDS, FEWEST, TUPLING, BoundRow, FewestRow, TuplingRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_EPSILON: Final = f"epsilon at delta {DELTA:g}"
_LOSS: Final = "loss: distance to the best answer (km)"
_ACROSS: Final = 3  # panels in a row
_MARKERS: Final = "o^sDvP"
_HEIGHT: Final = 0.24  # inches for a statement
_MOST: Final = 3.0  # larger ratios are drawn there
_ARROWS: Final = 0.002  # of the mass: less is not drawn
_LEAST: Final = 0.01  # of both axes of the sweep
_SOURCES: Final = {MIXTURE: "dummies from the mixture", UNIFORM: "uniform dummies"}

CAPTIONS: Final = {
    "figure-1": "Figure 1: two groups of people, from west to east; the coupling that moves one distribution to "
    "the other at the least mean distance, on this line and on the map. Larger marks and wider arrows carry "
    "more mass; arrows of less than 0.2 % are left out.",
    "tightness": "Section V and Table III: the number that each statement is about, over its bound, for random "
    "instances and for groups of people (theorems.csv says what each name stands for). At 1 a bound is "
    "attained; to the right of the line the statement is false.",
    "experiments": "Epsilon against loss for the first groups and planar Laplace noise, by the number of dummies. "
    "Left: dummies like the groups' reports. Right: uniform dummies. Mechanisms without a finite epsilon are left "
    "out; sweep.csv has the other mechanisms.",
    "groups": "Epsilon against loss for all groups: each source by its attributes, without dummies and among "
    "dummies of the mixture.",
    "tupling": "Restricted Laplace noise among dummies: epsilon against the number of dummies, the radius and the "
    "epsilon of the noise, each with the other two fixed. Noise that reaches everywhere is in tupling.csv.",
    "bounds": "The bound of the paper at its best alpha and beta, and the exact epsilon, at delta 0.001, with "
    "uniform dummies. Bounds without a mark are vacuous.",
    "success": "The share of right guesses of the best attacker under the weakest noise. The attacker learned the "
    "distributions from one half of the users, and is judged on these (filled) and on the others (hollow). Marks "
    "are means over random halves, lines 95 % intervals over them. Dotted: a random guess.",
    "triangle": "Privacy, loss and dummies: the fewest dummies that an epsilon needs, and the loss that is "
    "left, over noise of several strengths. Each line is an epsilon; to the right noise is weaker.",
    "confidence": "Estimated distributions: the epsilon that holds with 95 % confidence, by the "
    "number of samples. Dots mark the actual numbers of samples.",
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    rows = tables.rows(SWEEP, DistributionRow)
    first = [row for row in rows if row.groups == rows[0].groups]
    return {
        "figure-1": coupling_figure(tables.rows(COUPLING, MovedRow)),
        "tightness": tightness_figure(tables.rows(TIGHTNESS, RatioRow)),
        "experiments": sweep_figure(first, mechanism=LAPLACE, delta=DELTA),
        "groups": groups_figure(rows),
        "tupling": tupling_figure(tables.rows(TUPLING, TuplingRow)),
        "bounds": bounds_figure(tables.rows(BOUNDS, BoundRow)),
        "success": success_figure(tables.rows(SUCCESS, SuccessRow)),
        "triangle": triangle_figure(tables.rows(FEWEST, FewestRow)),
        "confidence": confidence_figure(tables.rows(CONFIDENCE, ConfidenceRow)),
    }


def _plain(ax: Axes, **options: Any) -> None:
    """Set options of axes, with a faint grid and without powers of ten."""
    ax.set(**options)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.grid(alpha=0.3)


def _draw(
    ax: Axes,
    points: Iterable[tuple[float, float]],
    style: str,
    colour: str,
    size: float,
    label: str = "",
    width: float | None = None,
) -> None:
    """Draw points as a line or as marks."""
    x, y = np.reshape(list(points), (-1, 2)).T
    ax.plot(x, y, style, color=colour, markersize=size, linewidth=width, label=label)


def _panels(
    groups: Sequence[str], width: Callable[[int], float], height: Callable[[int], float]
) -> tuple[Figure, list[Axes]]:
    """Return a figure with a titled panel for each pair of groups, and few gaps in the last row.

    Width and height in inches depend on the number of panels in a row and of rows.
    """
    count = len(groups)
    across = 2 if count == 4 else min(_ACROSS, count)
    down = -(-count // across)
    figure = blank(width(across), height(down))
    axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for ax in axes[count:]:
        ax.set_axis_off()
    for ax in axes[count - across : count]:
        ax.tick_params(labelbottom=True)
    return figure, list(axes[:count])


def _legend_above(figure: Figure, ax: Axes, **options: Any) -> None:
    figure.legend(*ax.get_legend_handles_labels(), loc="outside upper center", frameon=False, **options)


def tightness_figure(rows: Sequence[RatioRow]) -> Figure:
    """Return the ratio of each number to its bound, a line for each statement."""
    keys = [each.key for each in STATEMENTS if any(row.key == each.key for row in rows)]
    figure = blank(9.5, 1.4 + _HEIGHT * len(keys))
    ax = figure.subplots()
    for real, marker, shift, alpha, label in (
        (False, "o", -0.12, 0.45, "random instances"),
        (True, "D", 0.22, 0.9, "groups of people"),
    ):
        shown = [row for row in rows if (row.instances != "random") is real]
        ax.plot(
            [min(row.value / row.bound, _MOST) for row in shown],
            [keys.index(row.key) + shift for row in shown],
            marker,
            color=LIGHT.series[real],
            markersize=3.2,
            alpha=alpha,
            markeredgewidth=0,
            linestyle="none",
            label=label,
        )
    ax.axvline(1, color=LIGHT.ink, linewidth=1.1)
    ax.set(
        yticks=range(len(keys)),
        yticklabels=[_named(key) for key in keys],
        ylim=(len(keys) - 0.4, -0.6),
        xlim=(0, _MOST + 0.05),
        xlabel="number over its bound (right of the line: violated; 3 stands for 3 or more)",
    )
    ax.tick_params(axis="y", labelsize=8)
    ax.grid(alpha=0.3)
    _legend_above(figure, ax, ncols=2, fontsize=9)
    return figure


def _named(key: str) -> str:
    """Return the label of a statement."""
    kind, _, what = key.partition(" ")
    places = {"divergence": "lifting", "mean": "W_1", "sum": "sum"}
    if kind not in places or key.startswith("sum and"):
        return key
    for long, short in ((" divergence of order", ""), (" divergence at epsilon 0.2", ""), (" divergence", "")):
        what = what.replace(long, short)
    return f"{places[kind]}, {what.removesuffix(' distance')}"


def coupling_figure(rows: Sequence[MovedRow]) -> Figure:
    """Return the mass that optimal couplings of the first two groups move, on the line and on the map."""
    first = [row for row in rows if row.groups == rows[0].groups and row.order == 1]
    line, flat = ([row for row in first if row.where == where] for where in (LINE, MAP))
    figure = blank(12.5, 4.6)
    axes = figure.subplots(1, 3, width_ratios=(1, 1, 1.05))
    _marginals(axes[0], line)
    _on_line(axes[1], line)
    _on_map(axes[2], flat)
    for ax, where in zip(axes, ("best", "upper left", "upper left"), strict=True):
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8, loc=where)
    figure.suptitle(rows[0].groups, fontsize=10.5)
    return figure


def _marginals(ax: Axes, rows: Sequence[MovedRow]) -> None:
    places = sorted({row.x for row in rows} | {row.to_x for row in rows})
    names = rows[0].groups.rpartition(" (")[0].split(" and ")
    first, second = names if len(names) == 2 else ("first group", "second group")
    for index, (name, key) in enumerate(((first, "x"), (second, "to_x"))):
        masses = [sum(row.mass for row in rows if getattr(row, key) == place) for place in places]
        ax.step(places, masses, where="mid", color=LIGHT.series[index], linewidth=1.6, label=name)
    ax.set(xlabel="km from west to east", ylabel="share of the visits", title="two distributions")
    ax.set_ylim(bottom=0)


def _on_line(ax: Axes, rows: Sequence[MovedRow]) -> None:
    masses = np.array([row.mass for row in rows])
    ends = [row.x for row in rows], [row.to_x for row in rows]
    ax.scatter(*ends, s=2 + 900 * masses, color=LIGHT.series[2], alpha=0.8)
    low, high = ax.get_xlim()
    ax.plot([low, high], [low, high], color=LIGHT.muted, linewidth=0.8, linestyle="--", label="not moved")
    title = "coupling of least W_1 on the line"
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal", xlabel="from (km)", ylabel="to (km)", title=title)


def _on_map(ax: Axes, rows: Sequence[MovedRow]) -> None:
    moved = [row for row in rows if (row.x, row.y) != (row.to_x, row.to_y)]
    stays = [row for row in rows if (row.x, row.y) == (row.to_x, row.to_y)]
    look = {"arrowstyle": "-|>", "color": LIGHT.series[0], "alpha": 0.75, "mutation_scale": 7}
    for row in moved:
        if row.mass > _ARROWS:
            arrow = {**look, "shrinkA": 0, "shrinkB": 0, "linewidth": 0.5 + 60 * row.mass}
            ax.annotate("", (row.to_x, row.to_y), (row.x, row.y), arrowprops=arrow)
    places = [row.x for row in stays], [row.y for row in stays]
    sizes = [2 + 900 * row.mass for row in stays]
    ax.scatter(*places, s=sizes, color=LIGHT.series[1], alpha=0.8, linewidth=0, label="stays")
    ends = np.array([[row.x, row.y] for row in rows] + [[row.to_x, row.to_y] for row in rows])
    (west, south), (east, north) = ends.min(axis=0) - 0.5, ends.max(axis=0) + 0.5
    ax.set(xlim=(west, east), ylim=(south, north), aspect="equal", xlabel="km east", ylabel="km north")
    ax.set_title("coupling of least W_1 on the map")


def sweep_figure(rows: Sequence[DistributionRow], *, mechanism: str, delta: float) -> Figure:
    """Return epsilon against loss of one mechanism: a panel for each source of dummies, a curve for each number.

    Raises:
        InputError: If there are no rows.
    """
    if not rows:
        raise InputError("there are no rows to draw.", "run a sweep first.")
    figure = blank(7.4, 3.7)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    numbers = sorted({row.dummies for row in rows if row.dummies})[::2]  # names of more curves would overlap
    for ax, (source, title) in zip(axes, _SOURCES.items(), strict=True):
        for k in (0, *numbers):
            curve = [row for row in _curve(rows, mechanism, k, source) if row.loss_km > 0]
            if curve:
                colour = LIGHT.series[0] if k else LIGHT.ink
                points = [(row.loss_km, row.epsilon.upper) for row in curve]
                _draw(ax, points, "o-", colour, 2.5, width=1.4)
                height = float(np.interp(_LEAST, *np.array(points).T))
                label_curve(ax, (_LEAST, height), f"{k} dummies" if k else "no dummies", colour, (6, -11))
        _plain(ax, xscale="log", yscale="log", xlim=(_LEAST, None), ylim=(_LEAST, None), title=title)
    figure.supxlabel("expected distance to the best answer (km)", fontsize=10)
    axes[0].set_ylabel(f"proved epsilon at delta {delta:g}")
    return figure


def _curve(rows: Sequence[DistributionRow], name: str, dummies: int, source: str) -> list[DistributionRow]:
    """Return the rows of a line with a positive and finite epsilon, sorted by loss."""
    wanted = (name, dummies, source if dummies else NONE)
    line = [row for row in rows if (row.mechanism, row.dummies, row.source) == wanted]
    return sorted((row for row in line if 0 < row.epsilon.upper < inf), key=lambda row: row.loss_km)


def tupling_figure(rows: Sequence[TuplingRow]) -> Figure:
    """Return epsilon against k, r and the epsilon of the noise."""
    figure = blank(12, 4.2)
    keys: tuple[tuple[str, str, Callable[[TuplingRow], float]], ...] = (
        ("k", "dummies k (2 km, 1/km)", lambda row: row.dummies),
        ("r", "radius r of the noise (km; 10 dummies, 1/km)", lambda row: row.radius_km),
        ("epsilon_A", "epsilon of the noise (per km; 10 dummies, 2 km)", lambda row: row.slope_per_km),
    )
    axes = figure.subplots(1, 3, sharey=True)
    for ax, (varied, label, key) in zip(axes, keys, strict=True):
        shown = sorted((row for row in rows if row.varied == varied and isfinite(key(row))), key=key)
        for index, source in enumerate(dict.fromkeys(row.source for row in rows)):
            points = [(key(row), row.epsilon.upper) for row in shown if row.source == source]
            _draw(ax, points, ("o-", "^--")[index % 2], LIGHT.series[index], 3.5, f"{source} dummies", 1.4)
        ax.set(xscale="symlog" if varied == "k" else "log", yscale="log", xlabel=label)
        if varied != "k":
            ax.set_xticks(sorted({key(row) for row in shown}))
            ax.minorticks_off()
        _plain(ax)
    axes[0].set_ylabel(_EPSILON)
    axes[0].legend(fontsize=8)
    figure.suptitle(rows[0].groups, fontsize=10.5)
    return figure


def bounds_figure(rows: Sequence[BoundRow]) -> Figure:
    """Return the bound of the paper and exact values."""
    figure = blank(10, 4.2)
    instances = list(dict.fromkeys(row.instance for row in rows))
    for ax, instance in zip(figure.subplots(1, len(instances), sharey=True), instances, strict=True):
        panel = [row for row in rows if row.instance == instance]
        for index, (column, style, size, label) in enumerate(
            (("epsilon_upper", "o-", 4, "exact"), ("published", "^--", 5, "bound of the paper"))
        ):
            points = [(row.dummies, value) for row in panel if (value := getattr(row, column)) is not None]
            _draw(ax, points, style, LIGHT.series[index], size, label)
        ax.set(xscale="log", yscale="log", xlabel="uniform dummies k")
        ax.set_title(f"{instance}, {panel[0].observables} reports", fontsize=9.5)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    figure.axes[0].set_ylabel(_EPSILON)
    return figure


def groups_figure(rows: Sequence[DistributionRow]) -> Figure:
    """Return epsilon against loss for all groups, without dummies and among those of the mixture."""
    groups = list(dict.fromkeys(row.groups for row in rows))
    figure, axes = _panels(groups, lambda across: 4 * across + 1.5, lambda down: 1.1 + 3.4 * down)
    numbers = sorted({row.dummies for row in rows if row.dummies})
    shown = (0, *(numbers[:: max(1, len(numbers) - 1)] if len(numbers) > 1 else numbers))
    for ax, who in zip(axes, groups, strict=True):
        panel = [row for row in rows if row.groups == who]
        for name, style in ((LAPLACE, "o-"), (TUPLED, "^--")):
            for index, k in enumerate(shown):
                points = [(row.loss_km, row.epsilon.upper) for row in _curve(panel, name, k, MIXTURE)]
                label = f"{name}, {f'{k} dummies' if k else 'no dummies'}"
                _draw(ax, points, style, LIGHT.series[index], 3, label, 1.3)
        _plain(ax, xscale="log", yscale="log", xlim=(0.003, 10), ylim=(0.003, 20))
        ax.set_title(who.replace(" (", "\n("), fontsize=9)
    _legend_above(figure, axes[0], ncols=3, fontsize=8)
    figure.supxlabel(_LOSS, fontsize=10)
    figure.supylabel(_EPSILON, fontsize=10)
    return figure


def success_figure(rows: Sequence[SuccessRow]) -> Figure:
    """Return the success of attackers under the weakest noise: on the users they learned from, and on others."""
    groups = list(dict.fromkeys(row.groups for row in rows))
    numbers = sorted({row.dummies for row in rows})
    shown = numbers if len(numbers) <= _ACROSS else [numbers[0], numbers[len(numbers) // 2], numbers[-1]]
    slope = max(row.slope_per_km for row in rows)
    figure = blank(7.4, 1.1 + 0.42 * len(groups))
    axes = figure.subplots(1, len(shown), squeeze=False, sharex=True, sharey=True)[0]
    kinds: tuple[tuple[str, Callable[[SuccessRow], float], str, float], ...] = (
        ("users learned from", lambda row: row.learned_from, LIGHT.series[0], -0.13),
        ("other users", lambda row: row.judged_on, LIGHT.paper, 0.13),
    )
    for k, ax in zip(shown, axes, strict=True):
        for name, value, fill, shift in kinds:
            cases = [[row for row in rows if (row.groups, row.dummies) == (who, k)] for who in groups]
            shares = [interval([value(row) for row in case if row.slope_per_km == slope]) for case in cases]
            places = [place + shift for place in range(len(groups))]
            look = {"color": LIGHT.series[0], "linewidth": 1.2}
            for each, place in zip(shares, places, strict=True):
                ax.plot([each.lower, each.upper], [place, place], **look)
            ax.plot([each.value for each in shares], places, "o", markerfacecolor=fill, markersize=5, **look)
            if ax is axes[0]:
                first = shares[0]
                end, offset, align = (
                    (first.lower, (-5, 5), "right") if shift < 0 else (first.upper, (5, -4), "left")
                )
                label_curve(ax, (end, places[0]), name, LIGHT.series[0], offset, align)
        ax.axvline(0.5, color=LIGHT.muted, linewidth=1, linestyle=":")
        ax.set_title(f"{k} dummies" if k else "no dummies", fontsize=10)
        ax.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(groups)), [who.replace(" (", "\n(") for who in groups], fontsize=8.5)
    axes[0].set(ylim=(len(groups) - 0.5, -0.5), xlim=(0.4, 0.9), xticks=(0.5, 0.6, 0.7, 0.8))
    figure.supxlabel("share of right guesses between two groups", fontsize=10)
    return figure


def triangle_figure(rows: Sequence[FewestRow]) -> Figure:
    """Return loss against the fewest dummies, a line for each epsilon."""
    figure = blank(7.5, 5)
    ax = figure.subplots()
    known = sorted((row for row in rows if row.dummies is not None), key=lambda row: row.slope_per_km)
    for index, epsilon in enumerate(sorted({row.epsilon_asked for row in rows}, reverse=True)):
        points = [(1 + (row.dummies or 0), row.loss_km or 0.0) for row in known if row.epsilon_asked == epsilon]
        style, colour = f"{_MARKERS[index % len(_MARKERS)]}-", LIGHT.series[index % len(LIGHT.series)]
        _draw(ax, points, style, colour, 4, f"epsilon {epsilon:g}", 1.4)
    _plain(ax, xscale="log", yscale="log", xlabel="requests: the report and the fewest dummies", ylabel=_LOSS)
    ax.set_title(rows[0].groups, fontsize=10)
    ax.legend(fontsize=8, title="at delta 0.001", title_fontsize=8)
    return figure


def confidence_figure(rows: Sequence[ConfidenceRow]) -> Figure:
    """Return the epsilon that holds with 95 % confidence against the number of samples."""
    groups = list(dict.fromkeys(row.groups for row in rows))
    slope = max(row.slope_per_km for row in rows)
    figure, axes = _panels(groups, lambda _: 7.4, lambda down: 1.3 + 2.1 * down)
    units = (
        (IMAGINED, "-", "from so many independent samples"),
        (USERS, "o", "users as samples"),
        (VISITS, "x", "visits as samples (not independent)"),
    )
    for ax, who in zip(axes, groups, strict=True):
        panel = [row for row in rows if row.groups == who and row.slope_per_km == slope]
        for index, (unit, style, label) in enumerate(units):
            line = sorted((row for row in panel if row.unit == unit), key=lambda row: row.first)
            points = [(min(row.first, row.second), row.epsilon_upper) for row in line]
            _draw(ax, points, style, LIGHT.series[index], 8, label)
        one = panel[0]
        ax.axhline(one.estimated, color=LIGHT.ink, linewidth=1, linestyle=":", label="the estimates themselves")
        ax.axhline(one.anyone, color=LIGHT.muted, linewidth=1, linestyle="--", label="any distributions")
        ax.set(xscale="log", xlim=(10, None))
        ax.set_ylim(bottom=0)
        ax.set_title(who.replace(" (", "\n("), fontsize=8.5)
        ax.grid(alpha=0.3)
    _legend_above(figure, axes[0], ncols=2, fontsize=8.5)
    figure.supxlabel("samples of each group", fontsize=10)
    figure.supylabel(f"epsilon at delta 0, planar Laplace noise of {slope:g}/km", fontsize=10)
    return figure
