"""Distribution privacy as a paper to reproduce: the parts of its study, and where its equations are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ..reproduction import Equation, Paper, Setting, StudyPart
from .attackers import CONFIDENCE, COVERAGE, IMAGINED, SUCCESS, USERS, VISITS, attacked, confident, covered
from .claims import claims
from .counterexamples import COUNTEREXAMPLES, counterexamples
from .distances import COUPLING, DISTANCES, GENERATORS, coupled, generators
from .figures import CAPTIONS, figures
from .groups import GROUPS, Split, described, splits
from .measurements import (
    LAPLACE,
    NEIGHBOURS,
    RADII_KM,
    SLOPES,
    SWEEP,
    TUPLED,
    among_many,
    line_names,
    neighbours,
    swept,
)
from .statements import THEOREMS, tried_at_random, tried_on
from .tupling import BOUNDS, EVERYWHERE, FEWEST, TUPLING, bounds, fewest, tupled


class _Size(NamedTuple):
    """The full size of a run; lengths are in km, slopes per km."""

    cell: str = "400 m"
    coarse: str = "1 km"
    attributes: int = 3
    seeds: int = 9
    instances: int = 150
    pairs: int = 5000
    dummies: tuple[int, ...] = (0, 5, 10, 20, 50, 100)
    slopes: tuple[float, ...] = SLOPES
    radii: tuple[float, ...] = RADII_KM
    widths: tuple[float, ...] = (0.6, 1.0, 2.0, 4.0, 8.0, EVERYWHERE)
    optimised: tuple[int, ...] = (10,)
    tuples: tuple[int, ...] = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    exact: tuple[int, ...] = (1, 2, 5, 10, 20, 40, 100, 200, 500, 1000)
    noises: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
    asked: tuple[float, ...] = (2.0, 1.0, 0.5, 0.2, 0.1, 0.05)
    halves: int = 6
    attacked: tuple[int, ...] = (0, 10, 100)
    samples: tuple[int, ...] = (300, 1000, 3000, 10_000)
    draws: int = 1000
    checked: int = 50
    around: tuple[int, ...] = (0, 10, 100)
    statements: int = 2


_QUICK: Final = _Size(
    cell="1 km",
    coarse="2 km",
    attributes=2,
    seeds=2,
    instances=4,
    pairs=100,
    dummies=(0, 10),
    slopes=(1.0, 4.0),
    radii=(2.0,),
    widths=(2.0, EVERYWHERE),
    optimised=(),
    tuples=(0, 10),
    exact=(10,),
    noises=(1.0, 4.0),
    asked=(2.0, 1.0),
    halves=2,
    attacked=(0, 10),
    samples=(300,),
    draws=100,
    checked=5,
    around=(0, 10),
    statements=1,
)
_MORE: Final = (10_000, 100_000, 1_000_000)  # dummies, for the paper's bound alone
_MANY: Final = (3000,)
_CONFIDENT: Final = (0.25, 1.0)
_IMAGINED: Final = tuple(10**power for power in range(3, 9))


def _parts(setting: Setting) -> Sequence[StudyPart]:
    """Return the parts for a setting."""
    size = _QUICK if setting.quick else _Size()
    fine = splits(setting.data, size.cell, size.attributes)
    coarse = splits(setting.data, size.coarse, size.attributes)
    parts = [
        StudyPart("groups", described, (fine,)),
        StudyPart("generators", generators, (1, size.pairs)),
        StudyPart("counterexamples", counterexamples),
    ]
    parts += [
        StudyPart(f"theorems, seed {seed}", tried_at_random, (seed, size.instances))
        for seed in range(1, size.seeds + 1)
    ]
    # A source of its own says more than another attribute of the same one.
    chosen = sorted(range(len(coarse)), key=lambda k: sum(each.source == coarse[k].source for each in coarse[:k]))
    parts += [
        StudyPart(f"{coarse[k].title}, theorems", tried_on, (coarse[k].title, (coarse[k].groups,), coarse[k].city))
        for k in chosen[: size.statements]
    ]
    for split, wide in zip(fine, coarse, strict=True):
        parts += _of_split(split, wide, size, first=split is fine[0])
    return parts


def _of_split(split: Split, coarse: Split, size: _Size, *, first: bool) -> list[StudyPart]:
    """Return the parts of two groups; the first groups also have the parts that need one example only."""
    groups, city, who = split.groups, split.city, split.title
    parts = [
        StudyPart(f"{who}, coupling", coupled, (groups, city)),
        StudyPart(f"{who}, confidence", confident, (split.by_user(), city, _sizes(split), _CONFIDENT)),
    ]
    parts += [
        StudyPart(f"{who}, halves {seed}", attacked, (split.halves(seed), city, seed, size.attacked, size.noises))
        for seed in range(1, size.halves + 1)
    ]
    for name in line_names(size.radii) if first else (LAPLACE, TUPLED):
        more = size.optimised if first and name == TUPLED else ()
        line = (groups, city, name, size.slopes, size.radii, size.dummies, more)
        parts.append(StudyPart(f"{who}, {name}", swept, line))
    parts.append(StudyPart(f"{who}, many dummies", among_many, (groups, city, size.slopes, size.radii, _MANY)))
    if first:
        parts += [
            StudyPart(f"{who}, tupling", tupled, (groups, city, size.tuples, size.widths, size.noises)),
            StudyPart(f"{who}, bounds", bounds, (groups, city, size.exact, _MORE)),
            StudyPart(f"{who}, fewest", fewest, (groups, city, size.noises, size.asked)),
            StudyPart(f"{who}, neighbours", neighbours, (groups, city, size.noises, size.around)),
        ]
        parts += [
            StudyPart(
                f"coverage, {n} samples", covered, (coarse.groups, coarse.city, n, 1, size.draws, size.checked)
            )
            for n in size.samples
        ]
    return parts


def _sizes(split: Split) -> list[tuple[str, tuple[int, int]]]:
    """Return the units of samples, and the number of samples of each group."""
    users = [(USERS, split.users)] if min(split.users) > 0 else []
    return [(VISITS, split.counts), *users, *((IMAGINED, (n, n)) for n in _IMAGINED)]


_EQUATIONS: Final = (
    ("Definition 1", "max divergence", "divergences.max_divergence", THEOREMS),
    ("Definition 2, Table I", "f-divergences", "divergences.FDivergence", GENERATORS),
    ("Definition 3", "DP", "privacy.DifferentialPrivacy", THEOREMS),
    ("Definition 6", "XDP", "privacy.MetricDifferentialPrivacy", THEOREMS),
    ("Definition 7, Figure 1", "coupling", "transport.Coupling", COUPLING),
    ("Definition 8", "Wasserstein distances", "transport.wasserstein", DISTANCES),
    ("Definition 9", "lifting of a relation", "transport.lifting", THEOREMS),
    ("Definition 10", "optimal lifting", "transport.optimal_lifting", ""),
    ("Definition 11", "DistP", "privacy.DistributionPrivacy", THEOREMS),
    ("Definition 12", "XDistP", "privacy.MetricDistributionPrivacy", THEOREMS),
    ("Definition 13", "PDistP", "privacy.ProbabilisticDistributionPrivacy", THEOREMS),
    ("Definition 14", "DP with a divergence", "privacy.DivergencePrivacy", THEOREMS),
    ("Definition 15", "XDP with a divergence", "privacy.DivergenceMetricPrivacy", THEOREMS),
    ("Definition 16", "DistP with a divergence", "privacy.DivergenceDistributionPrivacy", THEOREMS),
    ("Definition 17", "XDistP with a divergence", "privacy.DivergenceMetricDistributionPrivacy", THEOREMS),
    ("Section III-E", "Bayes factors", "privacy.bayes_factors", ""),
    ("Section III-F", "close beliefs", "privacy.close_beliefs", THEOREMS),
    ("Ours, on section III-F", "all beliefs within a total variation", "privacy.worst_beliefs", CONFIDENCE),
    ("Section III-F", "distributions known from samples", "sfumato.statistics.total_variation_radius", COVERAGE),
    ("Section V", "from DP to DistP", "privacy.lifted_differential_privacy", THEOREMS),
    ("Section V", "from XDP to XDistP", "privacy.lifted_metric_privacy", THEOREMS),
    ("Section V", "the same with a divergence", "privacy.lifted_divergence_privacy", THEOREMS),
    ("Table III", "one secret, two reports", "privacy.same_input", THEOREMS),
    ("Table III", "where that fails", "privacy.product_channel", COUNTEREXAMPLES),
    ("Table III", "independent secrets", "privacy.independent_inputs", THEOREMS),
    ("Table III", "post-processing", "privacy.post_processed", THEOREMS),
    ("Table III", "pre-processing", "privacy.pre_processed", THEOREMS),
    ("Tupling mechanism", "a report among dummies", "mechanisms.Tupling", TUPLING),
    ("Tupling theorem", "its bound, corrected", "mechanisms.PublishedBound", BOUNDS),
    ("Tupling", "exact epsilon", "mechanisms.FamilyAccountant", SWEEP),
    ("Restricted Laplace", "noise within a radius", "mechanisms.restricted_laplace", SWEEP),
    ("Service quality loss", "distance to the best answer", "mechanisms.quality_loss", SWEEP),
    ("Attack success rate", "between two groups", "mechanisms.attack_success", SUCCESS),
    ("Experiments", "groups", "sfumato_papers.distribution_privacy.Groups", GROUPS),
    ("Experiments", "the fewest dummies", "mechanisms.plan_dummies", FEWEST),
    ("Experiments", "group and person", "mechanisms.FamilyAccountant", NEIGHBOURS),
)
"""Place in the paper, content, public call in `sfumato`, and table."""

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
    equations=tuple(
        Equation(
            number, what, call if call.startswith("sfumato") else f"sf.{call}", f"{table}.csv" if table else ""
        )
        for number, what, call, table in _EQUATIONS
    ),
    minutes=25,
)
