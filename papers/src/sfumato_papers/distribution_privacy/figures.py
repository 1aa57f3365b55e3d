"""Figures of distribution privacy, from the tables of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank

from ..curve_labels import label_curve
from ..reproduction import RunTables, interval
from ..results import distinct, where
from .attackers import IMAGINED, USERS, VISITS, ConfidenceRow, SuccessRow
from .measurements import DELTA, LAPLACE, MIXTURE, NONE, UNIFORM, DistributionRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEAST: Final = 0.01  # of both axes of the sweep
_SOURCES: Final = {MIXTURE: "dummies from the mixture", UNIFORM: "uniform dummies"}
_UNITS: Final = (
    (IMAGINED, "-", "from so many independent samples"),
    (USERS, "o", "users as samples"),
    (VISITS, "x", "visits as samples (not independent)"),
)

CAPTIONS: Final = {
    "experiments": "Epsilon against loss for the first groups and planar Laplace noise, by the number of dummies. "
    "Left: dummies like the groups' reports. Right: uniform dummies. Mechanisms without a finite epsilon are left "
    "out; distribution-privacy.csv has the other mechanisms.",
    "success": "The share of right guesses of the best attacker under the weakest noise. The attacker learned the "
    "distributions from one half of the users, and is judged on these (filled) and on the others (hollow). Marks "
    "are means over random halves, lines 95 % intervals over them. Dotted: a random guess.",
    "confidence": "Estimated distributions: the epsilon that holds with 95 % confidence, by the "
    "number of samples. Dots mark the actual numbers of samples.",
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    rows = tables.rows("distribution-privacy", DistributionRow)
    return {
        "experiments": sweep_figure(where(rows, groups=rows[0].groups), mechanism=LAPLACE, delta=DELTA),
        "success": success_figure(tables.rows("success", SuccessRow)),
        "confidence": confidence_figure(tables.rows("confidence", ConfidenceRow)),
    }


def sweep_figure(rows: Sequence[DistributionRow], *, mechanism: str, delta: float) -> Figure:
    """Return epsilon against loss of one mechanism: a panel for each source of dummies, a curve for each count."""
    if not rows:
        raise InputError("there are no rows to draw.", "run a sweep first.")
    figure = blank(7.4, 3.7)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    numbers = sorted({row.dummies for row in rows if row.dummies})[::2]  # names of more curves would overlap
    for ax, (source, title) in zip(axes, _SOURCES.items(), strict=True):
        for k in (0, *numbers):
            line = where(rows, mechanism=mechanism, dummies=k, source=source if k else NONE)
            points = [(row.loss_km, row.epsilon.upper) for row in line]
            if curve := sorted((x, y) for x, y in points if x > 0 and 0 < y < inf):
                colour = LIGHT.series[0] if k else LIGHT.ink
                x, y = np.transpose(curve)
                ax.plot(x, y, "o-", color=colour, markersize=2.5, linewidth=1.4)
                height = float(np.interp(_LEAST, x, y))
                label_curve(ax, (_LEAST, height), f"{k} dummies" if k else "no dummies", colour, (6, -11))
        ax.set(xscale="log", yscale="log", xlim=(_LEAST, None), ylim=(_LEAST, None), title=title)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:g}")
        ax.grid(alpha=0.3)
    figure.supxlabel("expected distance to the best answer (km)", fontsize=10)
    axes[0].set_ylabel(f"proved epsilon at delta {delta:g}")
    return figure


def success_figure(rows: Sequence[SuccessRow]) -> Figure:
    """Return the success of attackers under the weakest noise: on the users they learned from, and on others."""
    groups, numbers = distinct(rows, "groups"), sorted(distinct(rows, "dummies"))
    slope = max(row.slope_per_km for row in rows)
    figure = blank(7.4, 1.1 + 0.42 * len(groups))
    axes = figure.subplots(1, len(numbers), squeeze=False, sharex=True, sharey=True)[0]
    for k, ax in zip(numbers, axes, strict=True):
        for name, field, fill, shift in (
            ("users learned from", "learned_from", LIGHT.series[0], -0.13),
            ("other users", "judged_on", LIGHT.paper, 0.13),
        ):
            cases = [where(rows, groups=who, dummies=k, slope_per_km=slope) for who in groups]
            shares = [interval([getattr(row, field) for row in case]) for case in cases]
            places = [place + shift for place in range(len(groups))]
            look = {"color": LIGHT.series[0], "linewidth": 1.2}
            for each, place in zip(shares, places, strict=True):
                ax.plot([each.lower, each.upper], [place, place], **look)
            ax.plot([each.value for each in shares], places, "o", markerfacecolor=fill, markersize=5, **look)
            if ax is axes[0] and shift < 0:
                label_curve(ax, (shares[0].lower, places[0]), name, LIGHT.series[0], (-5, 5), "right")
            elif ax is axes[0]:
                label_curve(ax, (shares[0].upper, places[0]), name, LIGHT.series[0], (5, -4))
        ax.axvline(0.5, color=LIGHT.muted, linewidth=1, linestyle=":")
        ax.set_title(f"{k} dummies" if k else "no dummies", fontsize=10)
        ax.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(groups)), [who.replace(" (", "\n(") for who in groups], fontsize=8.5)
    axes[0].set(ylim=(len(groups) - 0.5, -0.5), xlim=(0.4, 0.9), xticks=(0.5, 0.6, 0.7, 0.8))
    figure.supxlabel("share of right guesses between two groups", fontsize=10)
    return figure


def confidence_figure(rows: Sequence[ConfidenceRow]) -> Figure:
    """Return the epsilon that holds with 95 % confidence against the number of samples."""
    groups = distinct(rows, "groups")
    across = 2 if len(groups) == 4 else min(3, len(groups))
    down = -(-len(groups) // across)
    figure = blank(7.4, 1.3 + 2.1 * down)
    axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for ax in axes[len(groups) :]:
        ax.set_axis_off()
    for ax in axes[len(groups) - across : len(groups)]:
        ax.tick_params(labelbottom=True)
    for ax, who in zip(axes, groups, strict=False):
        panel = where(rows, groups=who)
        for index, (unit, style, label) in enumerate(_UNITS):
            line = sorted(where(panel, unit=unit), key=lambda row: row.first)
            samples, epsilons = [min(row.first, row.second) for row in line], [row.epsilon_upper for row in line]
            ax.plot(samples, epsilons, style, color=LIGHT.series[index], markersize=8, label=label)
        one = panel[0]
        ax.axhline(one.estimated, color=LIGHT.ink, linewidth=1, linestyle=":", label="the estimates themselves")
        ax.axhline(one.anyone, color=LIGHT.muted, linewidth=1, linestyle="--", label="any distributions")
        ax.set(xscale="log", xlim=(10, None))
        ax.set_ylim(bottom=0)
        ax.set_title(who.replace(" (", "\n("), fontsize=8.5)
        ax.grid(alpha=0.3)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", frameon=False, ncols=2, fontsize=8.5)
    figure.supxlabel("samples of each group", fontsize=10)
    figure.supylabel(f"epsilon at delta 0, planar Laplace noise of {rows[0].slope_per_km:g}/km", fontsize=10)
    return figure
