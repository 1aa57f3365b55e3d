"""Distribution privacy as a paper to reproduce: the parts of its study, and where its equations are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..reproduction import Made, Paper, Setting, StudyPart, equations
from .attackers import IMAGINED, USERS, VISITS, attacked, confident, covered
from .claims import claims
from .counterexamples import counterexamples
from .distances import coupled, generators
from .figures import CAPTIONS, figures
from .groups import Split, described, splits
from .measurements import (
    DUMMIES,
    EVERYWHERE,
    LAPLACE,
    RADII_KM,
    SLOPES,
    TUPLED,
    bounds,
    fewest,
    neighbours,
    published_lines,
    swept,
    tupled,
)
from .statements import tried_at_random, tried_on

_MORE: Final = (10_000, 100_000, 1_000_000)  # dummies, for the paper's bound alone
_IMAGINED: Final = tuple(10**power for power in range(3, 9))


def _parts(setting: Setting) -> Sequence[StudyPart]:
    """Return the parts for a setting; lengths are in km, slopes per km."""
    size = setting.size
    cells = size("1 km", "400 m"), size("2 km", "1 km")
    fine, coarse = (splits(setting.data, cell, size(2, 3)) for cell in cells)
    parts = [
        StudyPart("groups", described, (fine,)),
        StudyPart("generators", generators, (1, size(100, 5000))),
        StudyPart("counterexamples", counterexamples),
    ]
    seeds = range(1, size(2, 9) + 1)
    parts += [StudyPart(f"theorems, seed {seed}", tried_at_random, (seed, size(4, 150))) for seed in seeds]
    # A source of its own says more than another attribute of the same one.
    chosen = sorted(range(len(coarse)), key=lambda k: sum(each.source == coarse[k].source for each in coarse[:k]))
    parts += [
        StudyPart(f"{each.title}, theorems", tried_on, (each.title, (each.groups,), each.city))
        for each in (coarse[k] for k in chosen[: size(1, 2)])
    ]
    for split, wide in zip(fine, coarse, strict=True):
        parts += _of_split(setting, split, wide, first=split is fine[0])
    return parts


def _of_split(setting: Setting, split: Split, coarse: Split, *, first: bool) -> list[StudyPart]:
    """Return the parts of two groups; the first groups also have the parts that need one example only."""
    size = setting.size
    groups, city, who = split.groups, split.city, split.title
    slopes, radii, dummies = size(((1.0, 4.0), (2.0,), (0, 10)), (SLOPES, RADII_KM, DUMMIES))
    noises = size((1.0, 4.0), (0.5, 1.0, 2.0, 4.0, 8.0, 16.0))
    few = size((0, 10), (0, 10, 100))
    users = [(USERS, split.users)] if min(split.users) > 0 else []
    sizes = [(VISITS, split.counts), *users, *((IMAGINED, (n, n)) for n in _IMAGINED)]
    parts: list[tuple[str, Callable[..., Made], tuple[Any, ...]]] = [
        ("coupling", coupled, (groups, city)),
        ("confidence", confident, (split.by_user(), city, sizes, 1.0)),
    ]
    seeds = range(1, size(2, 6) + 1)
    parts += [(f"halves {seed}", attacked, (split.halves(seed), city, seed, few, noises)) for seed in seeds]
    for line in published_lines(city, groups.metric, slopes=slopes, radii_km=radii):
        optimised = size((), (10,)) if first and line.name == TUPLED else ()
        many = (3000,) if line.name == TUPLED else ()
        if first or line.name in (LAPLACE, TUPLED):
            parts.append((line.name, swept, (groups, city, line.name, slopes, radii, dummies, optimised, many)))
    if first:
        widths = size((2.0, EVERYWHERE), (0.6, 1.0, 2.0, 4.0, 8.0, EVERYWHERE))
        exact = size((10,), (1, 2, 5, 10, 20, 40, 100, 200, 500, 1000))
        epsilons = size((2.0, 1.0), (2.0, 1.0, 0.5, 0.2, 0.1, 0.05))
        parts += [
            ("tupling", tupled, (groups, city, widths, noises)),
            ("bounds", bounds, (groups, city, exact, _MORE)),
            ("fewest", fewest, (groups, city, noises, epsilons)),
            ("neighbours", neighbours, (groups, city, noises, few)),
        ]
        for n in size((300,), (300, 1000, 3000, 10_000)):
            case = (coarse.groups, coarse.city, n, 1, *size((100, 5), (1000, 50)))
            parts.append((f"coverage, {n} samples", covered, case))
    return [StudyPart(f"{who}, {name}", make, arguments) for name, make, arguments in parts]


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
    figures=figures,
    captions=CAPTIONS,
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
        ("Table III", "post-processing", "sf.privacy.post_processed", "theorems"),
        ("Table III", "pre-processing", "sf.privacy.pre_processed", "theorems"),
        ("Tupling mechanism", "a report among dummies", "sf.mechanisms.Tupling", "tupling"),
        ("Tupling theorem", "its bound, corrected", "sf.mechanisms.PublishedBound", "bounds"),
        ("Tupling", "exact epsilon", "sf.mechanisms.FamilyAccountant", "distribution-privacy"),
        (
            "Restricted Laplace",
            "within a radius",
            "sf.mechanisms.restricted_laplace",
            "distribution-privacy",
        ),
        ("Service quality loss", "the best answer", "sf.mechanisms.quality_loss", "distribution-privacy"),
        ("Attack success rate", "between two groups", "sf.mechanisms.attack_success", "success"),
        ("Experiments", "groups", "sfumato_papers.distribution_privacy.Groups", "groups"),
        ("Experiments", "the fewest dummies", "sf.mechanisms.plan_dummies", "fewest"),
        ("Experiments", "group and person", "sf.mechanisms.FamilyAccountant", "neighbours"),
    ),
    minutes=25,
)
