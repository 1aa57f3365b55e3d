"""Figures of the experiments: tupling by its numbers, its bound, attackers, the triangle, and confidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Final

from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import interval
from .confidence import IMAGINED, USERS, VISITS, ConfidenceRow
from .lines import LAPLACE, TUPLED
from .rows import DELTA, NONE, DistributionRow
from .success import SuccessRow
from .tupled import BoundRow, FewestRow, TuplingRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_EPSILON: Final = f"epsilon at delta {DELTA:g}"
_LOSS: Final = "loss: distance to the best answer (km)"
_ACROSS: Final = 3
_MARKERS: Final = "o^sDvP"


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
        for index, source in enumerate(dict.fromkeys(row.source for row in rows)):
            own = [row for row in rows if row.varied == varied and row.source == source and isfinite(key(row))]
            own.sort(key=key)
            ax.plot(
                [key(row) for row in own],
                [row.epsilon.upper for row in own],
                ("o-", "^--")[index % 2],
                color=LIGHT.series[index],
                markersize=3.5,
                linewidth=1.4,
                label=f"{source} dummies",
            )
        ax.set(xscale="symlog" if varied == "k" else "log", yscale="log", xlabel=label)
        if varied != "k":
            ax.set_xticks(sorted({key(row) for row in rows if row.varied == varied and isfinite(key(row))}))
            ax.minorticks_off()
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel(_EPSILON)
    axes[0].legend(fontsize=8)
    figure.suptitle(rows[0].groups, fontsize=10.5)
    return figure


def bounds_figure(rows: Sequence[BoundRow]) -> Figure:
    """Return the bound of the paper and exact values."""
    figure = blank(10, 4.2)
    instances = list(dict.fromkeys(row.instance for row in rows))
    for ax, instance in zip(figure.subplots(1, len(instances), sharey=True), instances, strict=True):
        own = [row for row in rows if row.instance == instance]
        exact = [row for row in own if row.epsilon_upper is not None]
        stated = [row for row in own if row.published is not None]
        ax.plot(
            [row.dummies for row in exact],
            [row.epsilon_upper or 0.0 for row in exact],
            "o-",
            color=LIGHT.series[0],
            markersize=4,
            label="exact",
        )
        ax.plot(
            [row.dummies for row in stated],
            [row.published or 0.0 for row in stated],
            "^--",
            color=LIGHT.series[1],
            markersize=5,
            label="bound of the paper",
        )
        ax.set(xscale="log", yscale="log", xlabel="uniform dummies k")
        ax.set_title(f"{instance}, {own[0].observables} reports", fontsize=9.5)
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
        ax.legend(fontsize=8)
    figure.axes[0].set_ylabel(_EPSILON)
    return figure


def groups_figure(rows: Sequence[DistributionRow]) -> Figure:
    """Return epsilon against loss for all groups, without dummies and among those of the mixture."""
    groups = list(dict.fromkeys(row.groups for row in rows))
    across = _across(len(groups))
    figure = blank(4 * across + 1.5, 1.1 + 3.4 * -(-len(groups) // across))
    axes = figure.subplots(-(-len(groups) // across), across, squeeze=False, sharex=True, sharey=True).ravel()
    numbers = sorted({row.dummies for row in rows if row.dummies})
    shown = (0, *(numbers[:: max(1, len(numbers) - 1)] if len(numbers) > 1 else numbers))
    for ax, who in zip(axes, groups, strict=False):
        for name, style in ((LAPLACE, "o-"), (TUPLED, "^--")):
            for index, k in enumerate(shown):
                source = "mixture" if k else NONE
                own = [
                    row
                    for row in rows
                    if (row.groups, row.mechanism, row.dummies, row.source) == (who, name, k, source)
                    and isfinite(row.epsilon.upper)
                    and row.epsilon.upper > 0
                ]
                own.sort(key=lambda row: row.loss_km)
                ax.plot(
                    [row.loss_km for row in own],
                    [row.epsilon.upper for row in own],
                    style,
                    color=LIGHT.series[index],
                    markersize=3,
                    linewidth=1.3,
                    label=f"{name}, {f'{k} dummies' if k else 'no dummies'}",
                )
        ax.set(xscale="log", yscale="log", xlim=(0.003, 10), ylim=(0.003, 20))
        ax.set_title(who.replace(" (", "\n("), fontsize=9)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    for ax in axes[len(groups) :]:
        ax.set_axis_off()
    for ax in axes[len(groups) - across : len(groups)]:
        ax.tick_params(labelbottom=True)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=8, frameon=False)
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
            found = [interval([value(row) for row in case if row.slope_per_km == slope]) for case in cases]
            places = [place + shift for place in range(len(groups))]
            look = {"color": LIGHT.series[0], "markerfacecolor": fill, "markersize": 5, "linewidth": 1.2}
            for each, place in zip(found, places, strict=True):
                ax.plot([each.lower, each.upper], [place, place], color=LIGHT.series[0], linewidth=1.2)
            ax.plot([each.value for each in found], places, "o", **look)
            if ax is axes[0]:
                end, offset, align = (
                    (found[0].lower, (-5, 5), "right") if shift < 0 else (found[0].upper, (5, -4), "left")
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
    for index, epsilon in enumerate(sorted({row.epsilon_asked for row in rows}, reverse=True)):
        own = sorted(
            (row for row in rows if row.epsilon_asked == epsilon and row.dummies is not None),
            key=lambda row: row.slope_per_km,
        )
        ax.plot(
            [1 + (row.dummies or 0) for row in own],
            [row.loss_km or 0.0 for row in own],
            f"{_MARKERS[index % len(_MARKERS)]}-",
            markersize=4,
            color=LIGHT.series[index % len(LIGHT.series)],
            linewidth=1.4,
            label=f"epsilon {epsilon:g}",
        )
    ax.set(xscale="log", yscale="log", xlabel="requests: the report and the fewest dummies", ylabel=_LOSS)
    ax.xaxis.set_major_formatter("{x:g}")
    ax.yaxis.set_major_formatter("{x:g}")
    ax.set_title(rows[0].groups, fontsize=10)
    ax.grid(alpha=0.3)
    ax.legend(fontsize=8, title="at delta 0.001", title_fontsize=8)
    return figure


def confidence_figure(rows: Sequence[ConfidenceRow]) -> Figure:
    """Return the epsilon that holds with 95 % confidence against the number of samples."""
    groups = list(dict.fromkeys(row.groups for row in rows))
    slope = max(row.slope_per_km for row in rows)
    across = _across(len(groups))
    figure = blank(7.4, 1.3 + 2.1 * -(-len(groups) // across))
    axes = figure.subplots(-(-len(groups) // across), across, squeeze=False, sharex=True, sharey=True).ravel()
    for ax, who in zip(axes, groups, strict=False):
        own = [row for row in rows if row.groups == who and row.slope_per_km == slope]
        line = sorted((row for row in own if row.unit == IMAGINED), key=lambda row: row.first)
        ax.plot(
            [row.first for row in line],
            [row.epsilon_upper for row in line],
            "-",
            color=LIGHT.series[0],
            label="from so many independent samples",
        )
        for index, (unit, marker, label) in enumerate(
            ((USERS, "o", "users as samples"), (VISITS, "x", "visits as samples (not independent)")), 1
        ):
            there = [row for row in own if row.unit == unit]
            ax.plot(
                [min(row.first, row.second) for row in there],
                [row.epsilon_upper for row in there],
                marker,
                color=LIGHT.series[index],
                markersize=8,
                label=label,
            )
        ax.axhline(own[0].estimated, color=LIGHT.ink, linewidth=1, linestyle=":", label="the estimates themselves")
        ax.axhline(own[0].anyone, color=LIGHT.muted, linewidth=1, linestyle="--", label="any distributions")
        ax.set(xscale="log", xlim=(10, None))
        ax.set_ylim(bottom=0)
        ax.set_title(who.replace(" (", "\n("), fontsize=8.5)
        ax.grid(alpha=0.3)
    for ax in axes[len(groups) :]:
        ax.set_axis_off()
    for ax in axes[len(groups) - across : len(groups)]:
        ax.tick_params(labelbottom=True)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2, fontsize=8.5, frameon=False)
    figure.supxlabel("samples of each group", fontsize=10)
    figure.supylabel(f"epsilon at delta 0, planar Laplace noise of {slope:g}/km", fontsize=10)
    return figure


def _across(count: int) -> int:
    """Return the number of panels in a row, with few gaps in the last row."""
    return 2 if count == 4 else min(_ACROSS, count)
