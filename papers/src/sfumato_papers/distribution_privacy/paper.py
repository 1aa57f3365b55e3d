"""Distribution privacy as a paper to reproduce: the parts of its study, and where its equations are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sfumato.errors import InputError
from sfumato.reports.theme import LIGHT, blank
from sfumato.rounding import plural

from ..curve_labels import label_curve
from ..reproduction import Paper, RunTables, Setting, StudyPart, Tables, equations, interval
from ..results import distinct, where
from .attackers import IMAGINED, USERS, VISITS, ConfidenceRow, SuccessRow, confident, measure_coverage, run_attacks
from .claims import claims
from .counterexamples import counterexamples
from .distances import generators, group_distances
from .groups import Split, describe_groups, splits
from .measurements import (
    DELTA,
    DUMMIES,
    EVERYWHERE,
    LAPLACE,
    MIXTURE,
    NONE,
    RADII_KM,
    SLOPES,
    TUPLED,
    UNIFORM,
    DistributionRow,
    bounds,
    fewest,
    neighbours,
    published_lines,
    run_line,
    vary_noise,
)
from .optimum import REPORT, REPORT_AMONG, OptimumRow, compare, design_reports, transfer
from .statements import try_groups, try_random

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MORE: Final = (10_000, 100_000, 1_000_000)  # dummies, for the paper's bound alone
_IMAGINED: Final = tuple(10**power for power in range(3, 9))
_LEAST: Final = 0.01  # of both axes of the sweep
_SOURCES: Final = {MIXTURE: "dummies from the mixture", UNIFORM: "uniform dummies"}
_UNITS: Final = (
    (IMAGINED, "-", "from so many independent samples"),
    (USERS, "o", "users as samples"),
    (VISITS, "x", "visits as samples (not independent)"),
)


def _parts(setting: Setting) -> Sequence[StudyPart]:
    """Return the parts for a setting; lengths are in km, slopes per km."""
    size = setting.size
    cells = size("1 km", "400 m"), size("2 km", "1 km")
    fine, coarse = (splits(setting.data, cell, size(2, 3)) for cell in cells)
    parts = [
        StudyPart("groups", describe_groups, (fine,)),
        StudyPart("generators", generators, (1, size(100, 5000))),
        StudyPart("counterexamples", counterexamples),
    ]
    seeds = range(1, size(2, 9) + 1)
    parts += [StudyPart(f"theorems, seed {seed}", try_random, (seed, size(4, 150))) for seed in seeds]
    # A source of its own says more than another attribute of the same one.
    order = sorted(range(len(coarse)), key=lambda k: sum(split.source == coarse[k].source for split in coarse[:k]))
    parts += [
        StudyPart(f"{split.title}, theorems", try_groups, (split.title, (split.groups,), split.city))
        for split in (coarse[k] for k in order[: size(1, 2)])
    ]
    for split, wide in zip(fine, coarse, strict=True):
        parts += _of_split(setting, split, wide, first=split is fine[0])
    return parts


def _of_split(setting: Setting, split: Split, coarse: Split, *, first: bool) -> list[StudyPart]:
    """Return the parts of two groups; the first groups also have the parts that need one example only."""
    size = setting.size
    groups, city, title = split.groups, split.city, split.title
    slopes, radii, dummies = size(((1.0, 4.0), (2.0,), (0, 10)), (SLOPES, RADII_KM, DUMMIES))
    noises = size((1.0, 4.0), (0.5, 1.0, 2.0, 4.0, 8.0, 16.0))
    few = size((0, 10), (0, 10, 100))
    users = [(USERS, split.users)] if min(split.users) > 0 else []
    sizes = [(VISITS, split.counts), *users, *((IMAGINED, (n, n)) for n in _IMAGINED)]
    parts: list[tuple[str, Callable[..., Tables], tuple[Any, ...]]] = [
        ("coupling", group_distances, (groups, city)),
        ("confidence", confident, (split.by_user(), city, sizes, 1.0)),
    ]
    for seed in range(1, size(2, 6) + 1):
        halves = split.halves(seed)
        parts.append((f"halves {seed}", run_attacks, (halves, city, seed, few, noises)))
        parts.append((f"optimum, halves {seed}", transfer, (halves, seed, (1, *few[1:]))))
    levels = size((0.0, 0.5, 1.0), (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0))
    parts.append(("designs", design_reports, (groups, size((0.5, 1.0), (0.0, 0.1, 0.5, 1.0, 2.0)))))
    parts.append(("optimum", compare, (groups, city, slopes, levels, size((1, 10), (1, 10, 100)))))
    for line in published_lines(city, groups.metric, slopes=slopes, radii_km=radii):
        optimised = size((), (10,)) if first and line.name == TUPLED else ()
        many = (3000,) if line.name == TUPLED else ()
        if first or line.name in (LAPLACE, TUPLED):
            parts.append((line.name, run_line, (groups, city, line.name, slopes, radii, dummies, optimised, many)))
    if first:
        widths = size((2.0, EVERYWHERE), (0.6, 1.0, 2.0, 4.0, 8.0, EVERYWHERE))
        exact = size((10,), (1, 2, 5, 10, 20, 40, 100, 200, 500, 1000))
        epsilons = size((2.0, 1.0), (2.0, 1.0, 0.5, 0.2, 0.1, 0.05))
        parts += [
            ("tupling", vary_noise, (groups, city, widths, noises)),
            ("bounds", bounds, (groups, city, exact, _MORE)),
            ("fewest", fewest, (groups, city, noises, epsilons)),
            ("neighbours", neighbours, (groups, city, noises, few)),
        ]
        for n in size((300,), (300, 1000, 3000, 10_000)):
            case = (coarse.groups, coarse.city, n, 1, *size((100, 5), (1000, 50)))
            parts.append((f"coverage, {n} samples", measure_coverage, case))
    return [StudyPart(f"{title}, {name}", make, arguments) for name, make, arguments in parts]


def _figures(tables: RunTables) -> Mapping[str, Figure]:
    return {
        "experiments": sweep_figure(tables.rows("distribution-privacy", DistributionRow)),
        "success": success_figure(tables.rows("success", SuccessRow)),
        "confidence": confidence_figure(tables.rows("confidence", ConfidenceRow)),
        "optimum": optimum_figure(tables.rows("optimum", OptimumRow)),
    }


def sweep_figure(rows: Sequence[DistributionRow]) -> Figure:
    """Return epsilon against loss for the first groups and planar Laplace noise.

    There is a panel for each source of dummies, and a curve for each number.
    """
    if not rows:
        raise InputError("there are no rows to draw.", "run a sweep first.")
    rows = where(rows, groups=rows[0].groups, mechanism=LAPLACE)
    figure = blank(7.4, 3.7)
    axes = figure.subplots(1, 2, sharex=True, sharey=True)
    numbers = sorted({row.dummies for row in rows if row.dummies})[::2]  # names of more curves would overlap
    for ax, (source, title) in zip(axes, _SOURCES.items(), strict=True):
        for k in (0, *numbers):
            line = where(rows, dummies=k, source=source if k else NONE)
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
    axes[0].set_ylabel(f"proved epsilon at delta {DELTA:g}")
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
            cases = [where(rows, groups=group, dummies=k, slope_per_km=slope) for group in groups]
            shares = [interval([getattr(row, field) for row in case]) for case in cases]
            places = [place + shift for place in range(len(groups))]
            look = {"color": LIGHT.series[0], "linewidth": 1.2}
            for share, place in zip(shares, places, strict=True):
                ax.plot([share.lower, share.upper], [place, place], **look)
            ax.plot([share.value for share in shares], places, "o", markerfacecolor=fill, markersize=5, **look)
            if ax is axes[0] and shift < 0:
                label_curve(ax, (shares[0].lower, places[0]), name, LIGHT.series[0], (-5, 5), "right")
            elif ax is axes[0]:
                label_curve(ax, (shares[0].upper, places[0]), name, LIGHT.series[0], (5, -4))
        ax.axvline(0.5, color=LIGHT.muted, linewidth=1, linestyle=":")
        ax.set_title(f"{k} dummies" if k else "no dummies", fontsize=10)
        ax.grid(axis="x", alpha=0.3)
    axes[0].set_yticks(range(len(groups)), [group.replace(" (", "\n(") for group in groups], fontsize=8.5)
    axes[0].set(ylim=(len(groups) - 0.5, -0.5), xlim=(0.4, 0.9), xticks=(0.5, 0.6, 0.7, 0.8))
    figure.supxlabel("share of right guesses between two groups", fontsize=10)
    return figure


def optimum_figure(rows: Sequence[OptimumRow]) -> Figure:
    """Return the success of attackers against loss for the first groups, by the number of dummies.

    The shaded area is below the best mechanisms with one report. Mechanisms that another one of their curve beats
    in both are left out.
    """
    rows = where(rows, groups=rows[0].groups)
    figure = blank(7.4, 3.9)
    axes = figure.subplots(1, 2, sharey=True)
    numbers = sorted({row.dummies for row in rows if row.mechanism == LAPLACE})
    best = sorted((row.loss_km.lower, 100 * row.group_success.lower) for row in where(rows, mechanism=REPORT))
    farthest = best[-1][0] or 1.0
    panels = (
        (LAPLACE, LAPLACE, 2.2 * farthest, "planar Laplace noise,\nmixture dummies"),
        (REPORT, REPORT_AMONG, 1.1 * farthest, "best report,\nbest independent dummies"),
    )
    for ax, (alone, among, widest, title) in zip(axes, panels, strict=True):
        ax.fill_between(*np.transpose(best), 50, color=LIGHT.muted, alpha=0.18, linewidth=0)
        for k in numbers:
            line = where(rows, mechanism=among if k else alone, dummies=k)
            points = sorted((row.loss_km.upper, 100 * row.group_success.upper) for row in line)
            least = np.minimum.accumulate([share for _, share in points])
            x, y = np.transpose([point for point, share in zip(points, least, strict=True) if point[1] == share])
            colour, name = (LIGHT.series[0], plural(k, "dummy", "dummies")) if k else (LIGHT.ink, "no dummies")
            ax.plot(x, y, "o-", color=colour, markersize=2.5, linewidth=1.4)
            label_curve(ax, (x[0], y[0]), f"{k:,}" if k and ax is axes[1] else name, colour, (8, 5))
        ax.plot(0, 50, "*", color=LIGHT.series[1], markersize=13, clip_on=False, zorder=5)
        label_curve(ax, (0, 50), "one partner dummy", LIGHT.series[1], (10, -9))
        ax.set(xlim=(0, widest), ylim=(48, None), title=title)
        ax.grid(alpha=0.3)
    figure.supxlabel("expected distance to the best answer (km)", fontsize=10)
    axes[0].set_ylabel("right guesses of the group (%)")
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
    for ax, group in zip(axes, groups, strict=False):
        panel = where(rows, groups=group)
        for index, (unit, style, label) in enumerate(_UNITS):
            line = sorted(where(panel, unit=unit), key=lambda row: row.first)
            samples, epsilons = [min(row.first, row.second) for row in line], [row.epsilon_upper for row in line]
            ax.plot(samples, epsilons, style, color=LIGHT.series[index], markersize=8, label=label)
        case = panel[0]
        ax.axhline(case.estimated, color=LIGHT.ink, linewidth=1, linestyle=":", label="the estimates themselves")
        ax.axhline(case.anyone, color=LIGHT.muted, linewidth=1, linestyle="--", label="any distributions")
        ax.set(xscale="log", xlim=(10, None))
        ax.set_ylim(bottom=0)
        ax.set_title(group.replace(" (", "\n("), fontsize=8.5)
        ax.grid(alpha=0.3)
    handles = axes[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside upper center", frameon=False, ncols=2, fontsize=8.5)
    figure.supxlabel("samples of each group", fontsize=10)
    figure.supylabel(f"epsilon at delta 0, planar Laplace noise of {rows[0].slope_per_km:g}/km", fontsize=10)
    return figure


PAPER: Final = Paper(
    name="distribution-privacy",
    title="Distribution privacy: hiding the group a report comes from",
    source='Y. Kawamoto and T. Murakami, "Local Obfuscation Mechanisms for Hiding Probability Distributions", '
    "ESORICS 2019 (arXiv 1812.00939), Tables I and III, Figure 1, sections III to VI",
    version="Quoted from the abstract of arXiv 1812.00939 under its title of 2019. We know its theorems, tables "
    "and experiments by summaries and from memory: their wording and the numbers of sections, which are those "
    "of the first version, were not read.",
    about=(
        "A mechanism satisfies (epsilon, delta)-distribution privacy (DistP) for two groups if each set of "
        "reports has a probability of at most e^epsilon times its probability from the other group, plus delta. "
        "With XDistP epsilon is per unit of a Wasserstein distance. Tupling sends a noisy report among k dummies.",
        "Statements of the tables are tried on random mechanisms and distributions, and on groups of people; "
        "each number is measured on the reports themselves, with bounds of its rounding. Those that fail have a "
        "small counterexample.",
        "Groups are the two values of an attribute with most visits on a map of 8 km x 8 km around the middle "
        "of the visits (groups.csv). They are not the paper's groups, whose files are public but not part of the "
        "project; examples/home_area.py derives the attribute home_area from them.",
        "Epsilon at delta 0.001 is an upper bound that the exact accountant proves, at most 0.0001 above a "
        "proved lower bound. Loss is the expected distance to the best of the k + 1 answers, in km; the k + 1 "
        "requests are not part of it.",
        "Attackers' success on other users is an estimate: the dummies of 4,000 tuples are drawn, the rest is "
        "exact. Intervals are of 95 %, over random halves of the same users.",
    ),
    parts=_parts,
    claims=claims,
    figures=_figures,
    captions={
        "experiments": "Epsilon against loss for the first groups and planar Laplace noise, by the number of "
        "dummies. Left: dummies like the groups' reports. Right: uniform dummies. Mechanisms without a finite "
        "epsilon are left out; distribution-privacy.csv has the other mechanisms.",
        "success": "The share of right guesses of the best attacker under the weakest noise. The attacker learned "
        "the distributions from one half of the users, and is judged on these (filled) and on the others "
        "(hollow). Marks are means over random halves, lines 95 % intervals over them. Dotted: a random guess.",
        "confidence": "Estimated distributions: the epsilon that holds with 95 % confidence, by the "
        "number of samples. Dots mark the actual numbers of samples.",
        "optimum": "The share of right guesses of the group against loss for the first groups, by the number of "
        "independent dummies. The shaded area is below the best mechanisms with one report. The star marks the "
        "true place with one dummy that depends on it.",
    },
    equations=equations(
        ("Definition 1", "max divergence", "sf.divergences.max_divergence", "theorems"),
        ("Definition 2, Table I", "f-divergences", "sf.divergences.FDivergence", "generators"),
        ("Definition 3", "DP", "sf.privacy.DifferentialPrivacy", "theorems"),
        ("Definition 6", "XDP", "sf.privacy.MetricDifferentialPrivacy", "theorems"),
        ("Definition 7, Figure 1", "coupling", "sf.transport.Coupling"),
        ("Definition 8", "Wasserstein distances", "sf.transport.wasserstein", "distances"),
        ("Definition 9", "lifting of a relation", "sf.transport.lifting", "theorems"),
        ("Definition 10", "optimal lifting", "sf.transport.optimal_lifting"),
        ("Definition 11", "DistP", "sf.privacy.DistributionPrivacy", "theorems"),
        ("Definition 12", "XDistP", "sf.privacy.MetricDistributionPrivacy", "theorems"),
        ("Definition 13", "PDistP", "sf.privacy.ProbabilisticDistributionPrivacy", "theorems"),
        ("Definition 14", "DP with a divergence", "sf.privacy.DivergencePrivacy", "theorems"),
        ("Definition 15", "XDP with a divergence", "sf.privacy.DivergenceMetricPrivacy", "theorems"),
        ("Definition 16", "DistP with a divergence", "sf.privacy.DivergenceDistributionPrivacy", "theorems"),
        ("Definition 17", "XDistP, a divergence", "sf.privacy.DivergenceMetricDistributionPrivacy", "theorems"),
        ("Section III-E", "Bayes factors", "sf.privacy.bayes_factors"),
        ("Section III-F", "close beliefs", "sf.privacy.close_beliefs", "theorems"),
        ("Ours, on section III-F", "beliefs within a total variation", "sf.privacy.worst_beliefs", "confidence"),
        ("Section III-F", "samples of distributions", "sfumato.statistics.total_variation_radius", "coverage"),
        ("Section V", "from DP to DistP", "sf.privacy.lifted_differential_privacy", "theorems"),
        ("Section V", "from XDP to XDistP", "sf.privacy.lifted_metric_privacy", "theorems"),
        ("Section V", "the same with a divergence", "sf.privacy.lifted_divergence_privacy", "theorems"),
        ("Table III", "one secret, two reports", "sf.privacy.same_input", "theorems"),
        ("Table III", "where that fails", "sf.privacy.product_channel", "counterexamples"),
        ("Table III", "independent secrets", "sf.privacy.independent_inputs", "theorems"),
        ("Table III", "post-processing", "sf.privacy.post_process", "theorems"),
        ("Table III", "pre-processing", "sf.privacy.pre_process", "theorems"),
        ("Tupling mechanism", "a report among dummies", "sf.mechanisms.Tupling", "tupling"),
        ("Tupling theorem", "its bound, corrected", "sf.mechanisms.PublishedBound", "bounds"),
        ("Tupling", "exact epsilon", "sf.mechanisms.FamilyAccountant", "distribution-privacy"),
        ("Restricted Laplace", "within a radius", "sf.mechanisms.restricted_laplace", "distribution-privacy"),
        ("Service quality loss", "the best answer", "sf.mechanisms.quality_loss", "distribution-privacy"),
        ("Attack success rate", "between two groups", "sf.mechanisms.attack_success", "success"),
        ("Ours", "the best report", "sfumato_papers.distribution_privacy.best_report", "optimum"),
        ("Ours", "the best report at an epsilon", "sf.proofs.FamilyPrivacy", "designs"),
        ("Ours", "the best independent dummies", "sfumato_papers.distribution_privacy.best_dummies", "optimum"),
        ("Ours", "the best pair", "sfumato_papers.distribution_privacy.partner_dummies", "transfer"),
        ("Experiments", "groups", "sfumato_papers.distribution_privacy.Groups", "groups"),
        ("Experiments", "the fewest dummies", "sf.mechanisms.plan_dummies", "fewest"),
        ("Experiments", "group and person", "sf.mechanisms.FamilyAccountant", "neighbours"),
    ),
    minutes=28,
)
