"""The introductory article as a paper to reproduce: Laplace noise, the exponential mechanism, composition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from sfumato.reports.theme import LIGHT, blank

from ..reproduction import Paper, RunTables, Setting, StudyPart, Tables, equations, interval
from ..results import distinct, where
from .claims import claims
from .experiments import (
    BLOG,
    CLASSIC,
    KINDS,
    ODDS_EPSILONS,
    PARTS,
    REPORTS,
    ChoiceRow,
    FloatRow,
    OddsRow,
    ReportRow,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _parts(setting: Setting) -> Sequence[StudyPart]:
    seeds, draws, tables = setting.size((3, 20_000, 30), (10, 1_000_000, 300))
    parts = [StudyPart(name, _make, (name,)) for name in ("noise and odds", "queries", "steep tables")]
    for seed in range(1, seeds + 1):
        parts.append(StudyPart(f"draws, seed {seed}", _make, ("draws", seed, draws)))
        parts.append(StudyPart(f"tables, seed {seed}", _make, ("tables", seed, tables)))
    return parts


def _make(part: str, *arguments: int) -> Tables:
    return {table: rows(*arguments) for table, rows in PARTS[part].items()}


def _figures(tables: RunTables) -> Mapping[str, Figure]:
    return {
        "what-noise-does": _noise(tables.rows("reports", ReportRow)),
        "what-epsilon-means": _odds(tables.rows("odds", OddsRow)),
        "what-floats-give-away": _floats(tables.rows("floats", FloatRow)),
        "two-conventions": _conventions(tables.rows("choices", ChoiceRow)),
    }


def _noise(rows: Sequence[ReportRow]) -> Figure:
    figure = blank(9, 4)
    ax = figure.subplots()
    reports = np.array([row.report for row in rows])
    for count, shift, k in ((10, -0.2, 0), (11, 0.2, 1)):
        heights, label = [getattr(row, f"from_{count}") for row in rows], f"the true count is {count}"
        ax.bar(reports + shift, heights, 0.4, color=LIGHT.series[k], label=label)
    ax.set(xlabel="reported count", ylabel="probability of the report", xticks=reports[::2])
    ax.legend(frameon=False)
    ax.grid(axis="y", alpha=0.3)
    return figure


def _odds(rows: Sequence[OddsRow]) -> Figure:
    figure = blank(10, 4.4)
    once, often = figure.subplots(1, 2, sharey=True)
    epsilon = ODDS_EPSILONS[1]
    for prior, marker, colour in ((0.01, "o", 0), (0.1, "s", 2), (0.5, "^", 1)):
        look = {"marker": marker, "color": LIGHT.series[colour], "label": f"believed before: {100 * prior:g} %"}
        for ax, field, line in (
            (once, "epsilon", where(rows, prior=prior, reports=1)),
            (often, "reports", where(rows, prior=prior, epsilon=epsilon)),
        ):
            ax.plot([getattr(row, field) for row in line], [100 * row.posterior for row in line], **look)
    once.set(xlabel="epsilon of one report", ylabel="largest belief afterwards (%)", ylim=(0, 103))
    often.set(xlabel=f"reports of epsilon {epsilon:g}", xscale="log", xticks=REPORTS)
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
    epsilons = sorted(distinct(rows, "epsilon"))
    for k, epsilon in enumerate(epsilons):
        share = interval([100 * row.told_0 for row in where(rows, epsilon=epsilon)])
        ax.bar(k, share.value, 0.6, color=LIGHT.series[1])
        ax.plot([k, k], [share.lower, share.upper], color=LIGHT.ink, linewidth=1.5)
        ax.annotate(f"{share.value:.0f} %", (k, share.upper), (0, 4), textcoords="offset points", ha="center")
    ax.set_xticks(range(len(epsilons)), [f"{epsilon:g}" for epsilon in epsilons])
    ax.set(xlabel="epsilon in real numbers", ylabel="reports that rule out the answer 1 (%)")
    ax.margins(y=0.15)
    ax.grid(axis="y", alpha=0.3)
    return figure


def _conventions(rows: Sequence[ChoiceRow]) -> Figure:
    figure = blank(10, 4.6)
    steep, random = figure.subplots(1, 2, sharey=True)
    rng = np.random.default_rng(1)  # only to set marks apart
    for convention, number, marker, guarantee, shift, label in (
        (BLOG, 1, "^", 2.0, -0.17, "exp(epsilon u / Delta)"),
        (CLASSIC, 0, "o", 1.0, 0.17, "exp(epsilon u / (2 Delta))"),
    ):
        colour, tables = LIGHT.series[number], where(rows, convention=convention)
        line = sorted(where(tables, kind="steep"), key=lambda row: row.answers)
        steep.plot(
            [row.answers for row in line], [row.kept for row in line], marker=marker, color=colour, label=label
        )
        points = [row for row in tables if row.kind != "steep"]
        places = np.array([KINDS.index(row.kind) for row in points]) + shift + rng.uniform(-0.1, 0.1, len(points))
        look = {"color": colour, "markersize": 2.5, "alpha": 0.6, "markeredgewidth": 0}
        random.plot(places, [row.kept for row in points], marker, **look)
        for ax in (steep, random):
            ax.axhline(guarantee, color=colour, linestyle=":", linewidth=1.3)
    steep.set(xscale="log", xlabel="answers", ylabel="epsilon of the table", ylim=(0, 2.15))
    random.set_xticks(range(3), KINDS)
    random.set_xlabel("utilities of random tables")
    for ax in (steep, random):
        ax.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    return figure


PAPER: Final = Paper(
    name="introductory",
    title="Privacy mechanisms, an introduction: noise, choices and composition",
    source='"Privacy Mechanisms", an introductory article on the Laplace and the exponential mechanism; F. '
    "McSherry and K. Talwar, FOCS 2007; I. Mironov, CCS 2012",
    version="Quoted from the abstract of Mironov (CCS 2012); the article's equations and the other claims are "
    "known from summaries.",
    about=(
        "Two data sets are neighbours if one is the other and one record more. The tables have each "
        "mechanism's epsilon between neighbours, measured on the sampled integers, and the guaranteed epsilon.",
        "Integer noise is drawn as for releases, but with seeds. Numbers over seeds are means with "
        "intervals of 95 %.",
    ),
    parts=_parts,
    claims=claims,
    figures=_figures,
    captions={
        "what-noise-does": "Two counts that differ by one person, 10 and 11, with integer Laplace noise at "
        "epsilon 1/2. Both can cause every report; its two probabilities differ at most by a factor e^(1/2).",
        "what-epsilon-means": "The largest belief in a fact after one report, against epsilon (left), and after "
        "several reports of epsilon 0.5 each (right). Odds grow at most by the factor e^(sum of epsilons).",
        "what-floats-give-away": "Textbook Laplace noise in floating point: the share of reports of the answer 0 "
        "that are impossible for the answer 1. Integer noise has none.",
        "two-conventions": "The exponential mechanism at epsilon 1 in both conventions. Left: one answer against "
        "growing numbers of others approaches the guaranteed epsilon (dotted). Right: random tables; monotone "
        "and symmetric ones have at most half of the first convention's epsilon.",
    },
    equations=equations(
        ("Definition", "differential privacy", "sf.privacy.DifferentialPrivacy", "noise"),
        ("Sensitivity", "sensitivity", "sf.mechanisms.sensitivity", "sensitivities"),
        ("Laplace mechanism", "its width, in real numbers", "sf.mechanisms.Laplace", "noise"),
        ("Laplace mechanism", "drawn in floats", "sf.mechanisms.Laplace", "floats"),
        ("Laplace mechanism", "in integers", "sf.mechanisms.DiscreteLaplace", "draws"),
        ("(4), (5)", "two queries", "sf.mechanisms.JointQueries", "queries"),
        ("(6), (7)", "the exponential mechanism", "sf.mechanisms.ExponentialMechanism", "choices"),
        ("In addition", "bounded range", "sf.privacy.BoundedRange", "choices"),
        ("In addition", "epsilon as odds", "sf.privacy.band", "odds"),
    ),
    minutes=2,
    visits=False,
)
