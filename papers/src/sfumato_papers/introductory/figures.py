"""Figures of the introduction: noise, epsilon as odds, revealing floats, and a factor of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import RunTables, interval
from .choices import BLOG, CLASSIC, MONOTONE, STEEP, SYMMETRIC, ChoiceRow
from .noise import ODDS_EPSILONS, PRIORS, REPORTS, FloatRow, OddsRow, ReportRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOOKS: Final = {0.01: ("o", 0), 0.1: ("s", 2), 0.5: ("^", 1)}

CAPTIONS: Final = {
    "what-noise-does": "Two counts that differ by one person, 10 and 11, with integer Laplace noise at epsilon "
    "1/2. Both can cause every report; its two probabilities differ at most by a factor e^(1/2).",
    "what-epsilon-means": "The largest belief in a fact after one report, against epsilon (left), and after "
    "several reports of epsilon 0.5 each (right). Odds grow at most by the factor e^(sum of epsilons).",
    "what-floats-give-away": "Textbook Laplace noise in floating point: the share of reports of the answer 0 that "
    "are impossible for the answer 1. Integer noise has none.",
    "two-conventions": "The exponential mechanism at epsilon 1 in both conventions. Left: one answer against "
    "growing numbers of others approaches the guaranteed epsilon (dotted). Right: random tables; monotone "
    "and symmetric ones have at most half of the first convention's epsilon.",
}


def figures(tables: RunTables) -> Mapping[str, Figure]:
    """Return the figures by the names of their files."""
    choices = tables.rows("choices", ChoiceRow)
    return {
        "what-noise-does": _noise(tables.rows("reports", ReportRow)),
        "what-epsilon-means": _odds(tables.rows("odds", OddsRow)),
        "what-floats-give-away": _floats(tables.rows("floats", FloatRow)),
        "two-conventions": _conventions(choices),
    }


def _noise(rows: Sequence[ReportRow]) -> Figure:
    figure = blank(9, 4)
    ax = figure.subplots()
    reports = np.array([row.report for row in rows])
    ax.bar(reports - 0.2, [row.from_10 for row in rows], 0.4, color=LIGHT.series[0], label="the true count is 10")
    ax.bar(reports + 0.2, [row.from_11 for row in rows], 0.4, color=LIGHT.series[1], label="the true count is 11")
    ax.set(xlabel="reported count", ylabel="probability of the report", xticks=reports[::2])
    ax.legend(frameon=False)
    ax.grid(axis="y", alpha=0.3)
    return figure


def _odds(rows: Sequence[OddsRow]) -> Figure:
    figure = blank(10, 4.4)
    once, often = figure.subplots(1, 2, sharey=True)
    chosen = ODDS_EPSILONS[1]
    for prior in PRIORS:
        marker, colour = _LOOKS[prior]
        look = {"marker": marker, "color": LIGHT.series[colour], "label": f"believed before: {100 * prior:g} %"}
        single = [row for row in rows if row.prior == prior and row.reports == 1]
        several = [row for row in rows if row.prior == prior and row.epsilon == chosen]
        once.plot([row.epsilon for row in single], [100 * row.posterior for row in single], **look)
        often.plot([row.reports for row in several], [100 * row.posterior for row in several], **look)
    once.set(xlabel="epsilon of one report", ylabel="largest belief afterwards (%)", ylim=(0, 103))
    often.set(xlabel=f"reports of epsilon {chosen:g}", xscale="log", xticks=REPORTS)
    often.set_xticks(REPORTS, [str(count) for count in REPORTS])
    often.minorticks_off()
    for ax in (once, often):
        ax.grid(alpha=0.3)
    handles, labels = once.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=9.5, frameon=False)
    return figure


def _floats(rows: Sequence[FloatRow]) -> Figure:
    figure = blank(7.5, 3.8)
    ax = figure.subplots()
    epsilons = sorted({row.epsilon for row in rows})
    for k, epsilon in enumerate(epsilons):
        share = interval([row.told_0 for row in rows if row.epsilon == epsilon])
        ax.bar(k, 100 * share.value, 0.6, color=LIGHT.series[1])
        ax.plot([k, k], [100 * share.lower, 100 * share.upper], color=LIGHT.ink, linewidth=1.5)
        ax.annotate(
            f"{100 * share.value:.0f} %",
            (k, 100 * share.upper),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
        )
    ax.set_xticks(range(len(epsilons)), [f"{each:g}" for each in epsilons])
    ax.set(xlabel="epsilon in real numbers", ylabel="reports that rule out the answer 1 (%)")
    ax.margins(y=0.15)
    ax.grid(axis="y", alpha=0.3)
    return figure


def _conventions(rows: Sequence[ChoiceRow]) -> Figure:
    figure = blank(10, 4.6)
    steep, random = figure.subplots(1, 2, sharey=True)
    kinds = {"any": 0, MONOTONE: 1, SYMMETRIC: 2}
    rng = np.random.default_rng(1)  # only to set marks apart
    for convention, colour, marker, guarantee, label in (
        (BLOG, LIGHT.series[1], "^", 2.0, "exp(epsilon u / Delta)"),
        (CLASSIC, LIGHT.series[0], "o", 1.0, "exp(epsilon u / (2 Delta))"),
    ):
        own = [row for row in rows if row.convention == convention]
        line = sorted((row for row in own if row.kind == STEEP), key=lambda row: row.answers)
        curve = [row.answers for row in line], [row.kept for row in line]
        steep.plot(*curve, marker=marker, color=colour, label=label)
        places = [kinds[row.kind] for row in own if row.kind != STEEP]
        random.plot(
            np.array(places) + (-0.17 if convention == BLOG else 0.17) + rng.uniform(-0.1, 0.1, len(places)),
            [row.kept for row in own if row.kind != STEEP],
            marker,
            color=colour,
            markersize=2.5,
            alpha=0.6,
            markeredgewidth=0,
        )
        for ax in (steep, random):
            ax.axhline(guarantee, color=colour, linestyle=":", linewidth=1.3)
    steep.set(xscale="log", xlabel="answers", ylabel="epsilon of the table", ylim=(0, 2.15))
    random.set_xticks(range(3), ["any", "monotone", "symmetric"])
    random.set_xlabel("utilities of random tables")
    for ax in (steep, random):
        ax.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure
