"""Statements of section V and Table III, tried on random and on real distributions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Metric
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import CHI_SQUARED, HockeyStick, Renyi
from sfumato.geo import Grid
from sfumato.mechanisms import exponential, planar_geometric, randomised_response
from sfumato.privacy import Family, Relation

from ..reproduction import Made
from ..results import columns_of
from . import checks
from .checks import ADDING, FIVE, Checked, Instance
from .groups import Groups

THEOREMS: Final = "theorems"
TIGHTNESS: Final = "tightness"

LIFTING, COMPOSITION = "Section V", "Table III"
_SHOWN: Final = 60  # ratios of each statement that a part keeps
_LARGE: Final = 1e-12
_DISTINCT: Final = 1e-3
_DELTAS: Final = (1e-3, 1e-3)  # of mechanisms of real people


class Statement(NamedTuple):
    """A statement that instances can confirm or refute."""

    key: str
    where: str
    says: str
    check: Callable[[Instance], Checked | None]  # None where the instance is not one of the statement's
    small: bool = False  # whether it is tried on small instances only


STATEMENTS: Final = (
    Statement(
        "dp",
        LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta)-DistP for the lifting of Phi.",
        checks.lifted,
    ),
    Statement(
        "dp-factor",
        LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta |Phi|)-DistP for the lifting of Phi.",
        checks.lifted_with_factor,
    ),
    Statement("points", LIFTING, "DistP for the lifting of Phi gives DP for Phi.", checks.points, small=True),
    Statement(
        "xdp", LIFTING, "(epsilon, delta, d)-XDP gives XDistP for W_inf with the same delta.", checks.metric_lifted
    ),
    Statement("xdp-mean", LIFTING, "(epsilon, d)-XDP gives XDistP for W_1.", checks.metric_lifted_by_mean),
    *(
        Statement(
            f"divergence {each.name}",
            LIFTING,
            f"(epsilon, D)-DP for Phi gives (epsilon, D)-DistP for its lifting, D the {each.name}.",
            checks.divergence_lifted(each),
            small=True,
        )
        for each in (*FIVE, Renyi(2.0))
    ),
    *(
        Statement(
            f"mean {each.name}",
            LIFTING,
            f"(epsilon, d, D)-XDP gives XDistP for W_1, D the {each.name}.",
            checks.divergence_by_mean(each),
        )
        for each in (*FIVE, Renyi(0.5), Renyi(2.0), Renyi(8.0))
    ),
    Statement("pdistp", LIFTING, "(epsilon, delta)-PDistP gives (epsilon, delta)-DistP.", checks.probabilistic),
    Statement(
        "pdistp-back", LIFTING, "(epsilon, delta)-DistP gives (epsilon, delta)-PDistP.", checks.probabilistic_back
    ),
    Statement(
        "beliefs",
        LIFTING,
        "Against beliefs one step off on both sides, three steps: 3 epsilon and delta (1 + e^epsilon + e^(2 "
        "epsilon)).",
        checks.believed,
        small=True,
    ),
    Statement(
        "same-input",
        COMPOSITION,
        "Two reports about one secret, guaranteed for a lifting: epsilons and deltas add.",
        checks.together,
    ),
    Statement(
        "same-input-pairs",
        COMPOSITION,
        "Two reports about one secret, guaranteed for pairs alone: epsilons and deltas add.",
        checks.together_for_pairs,
    ),
    Statement(
        "same-input-metric",
        COMPOSITION,
        "Two reports about one secret, guaranteed for W_inf: epsilons and deltas add.",
        checks.together_by_metric,
    ),
    Statement(
        "independent",
        COMPOSITION,
        "Two reports about independent secrets, any pairs: epsilons and deltas add.",
        checks.apart,
        small=True,
    ),
    Statement(
        "independent-metric",
        COMPOSITION,
        "Two reports about independent secrets, guaranteed for W_inf: epsilons add.",
        checks.apart_by_metric,
        small=True,
    ),
    *(
        Statement(
            f"sum {each.name}",
            COMPOSITION,
            f"Two reports about independent secrets: the values of the {each.name} add.",
            checks.divergences_add(each),
            small=True,
        )
        for each in (*ADDING, CHI_SQUARED, HockeyStick(0.2))
    ),
    Statement(
        "sum and product chi-square",
        COMPOSITION,
        "Two reports about independent secrets: the chi-square divergence is at most the sum and the product.",
        checks.chi_square_with_product,
        small=True,
    ),
    Statement("post", COMPOSITION, "Post-processing keeps (epsilon, delta)-DistP.", checks.processed),
    Statement(
        "post-pdistp",
        COMPOSITION,
        "Post-processing keeps (epsilon, delta)-PDistP.",
        checks.probabilistic_processed,
    ),
    Statement(
        "pre",
        COMPOSITION,
        "A c-stable transformation before: c epsilon and delta (1 + e^epsilon + ... + e^((c - 1) epsilon)).",
        checks.before,
        small=True,
    ),
    Statement(
        "pre-printed",
        COMPOSITION,
        "This delta is at most the printed one, c e^((c - 1) epsilon) delta.",
        checks.before_with_printed_delta,
        small=True,
    ),
    Statement(
        "pre-metric",
        COMPOSITION,
        "A transformation that stretches W_inf by c: c epsilon, delta.",
        checks.before_by_metric,
        small=True,
    ),
)
"""All statements, in the order of the tables."""


@dataclass(frozen=True, slots=True, repr=False)
class StatementRow(CompactRepr):
    """One statement, tried on the instances of a part."""

    key: str
    where: str
    says: str
    instances: str  # random, or groups of people
    seed: int
    tried: int
    violations: int  # instances where the number is above its bound, rounding aside
    median_ratio: float | None  # of the number over its bound, where both are positive
    largest_ratio: float | None
    shown: str  # the instance of the largest ratio
    value: float | None  # the number there
    bound: float | None


@dataclass(frozen=True, slots=True, repr=False)
class RatioRow(CompactRepr):
    """A number and its bound, of one instance of a statement."""

    key: str
    instances: str
    value: float
    bound: float


def random_instances(seed: int, number: int) -> Iterator[tuple[str, Instance]]:
    """Yield random instances by name: four secrets on a plane, three or four reports, four distributions."""
    random = np.random.Generator(np.random.PCG64(seed))
    for count in range(1, number + 1):
        yield f"random, seed {seed}, number {count}", _drawn(random)


def _drawn(random: np.random.Generator) -> Instance:
    n, m = 4, int(random.integers(3, 5))
    near = np.eye(n, k=1, dtype=np.bool_) | (random.random((n, n)) < 0.2)
    relation = Relation((near | near.T) & ~np.eye(n, dtype=np.bool_), "neighbours")
    steps = relation.array | np.eye(n, dtype=np.bool_)
    laws = [_law(random, n)]
    while len(laws) < 4:  # each distribution moves the one before it along the relation
        moved = laws[-1] @ _stochastic(random, steps)
        if min(float(np.abs(moved - law).sum()) for law in laws) > _DISTINCT:
            laws.append(moved)
    names = ("one", "two", "three", "four")
    family = Family.lifted({name: law / law.sum() for name, law in zip(names, laws, strict=True)}, relation)
    where = random.random((n, 2))
    d = np.sqrt(((where[:, None] - where) ** 2).sum(axis=2))
    spread = float(random.choice([0.5, 1.0, 3.0]))
    first, second = (0.98 * random.dirichlet(np.full(m, spread), n) + 0.02 / m for _ in range(2))
    deltas = 0.1 * random.random(2) ** 2 * (random.random() < 0.7)
    merge = np.eye(2)[random.integers(0, 2, m)] if random.random() < 0.5 else random.dirichlet(np.ones(2), m)
    return Instance(
        first,
        second,
        family,
        Metric((d + d.T) / 2, "km"),
        (float(deltas[0]), float(deltas[1])),
        merge,
        _stochastic(random, np.ones((n, n), dtype=np.bool_)),
    )


def _law(random: np.random.Generator, n: int) -> Floats:
    """Return a random distribution, often that of a single secret."""
    law: Floats = np.eye(n)[random.integers(n)] if random.random() < 0.5 else random.dirichlet(np.full(n, 0.5))
    return law


def _stochastic(random: np.random.Generator, allowed: NDArray[np.bool_]) -> Floats:
    """Return a random matrix of transitions that are allowed."""
    sharp = 8.0 if random.random() < 0.5 else 1.0  # with a sharp one nearly all mass of a secret moves alike
    weights = np.where(allowed, random.exponential(size=allowed.shape) ** sharp, 0.0)
    rows: Floats = weights / weights.sum(axis=1, keepdims=True)
    return rows


def _people(groups: Sequence[Groups], city: Grid) -> Iterator[tuple[str, Instance]]:
    """Yield instances of groups of people by name: pairs of four mechanisms on the map."""
    metric = groups[0].metric
    mechanisms = {
        "planar Laplace, 0.5/km": exponential(city, metric, 1.0),
        "planar Laplace, 2/km": exponential(city, metric, 4.0),
        "planar geometric, 1/km": planar_geometric(city, "1/km"),
        "randomised response, 4": randomised_response(city, 4.0),
    }
    centres = city.coordinates if city.coordinates is not None else np.zeros((len(city), 2))
    halves = np.eye(2)[(centres[:, 0] > centres[:, 0].mean()).astype(int)]
    for each in groups:
        laws = dict(zip(each.names, each.distributions, strict=True))
        family = Family.lifted(laws, Relation.all(len(city)))
        for (one, first), (other, second) in pairwise(mechanisms.items()):
            matrices = first.matrix, second.matrix
            yield (
                f"{each.title}: {one}; {other}",
                Instance(*matrices, family, metric, _DELTAS, halves, np.eye(len(city))),
            )


def tried_on(title: str, groups: Sequence[Groups], city: Grid) -> Made:
    """Try the statements on groups of one map."""
    return _tried(_people(groups, city), title, 0, small=False)


def tried_at_random(seed: int, number: int) -> Made:
    """Try all statements on random instances."""
    return _tried(random_instances(seed, number), "random", seed, small=True)


def _tried(instances: Iterable[tuple[str, Instance]], kind: str, seed: int, *, small: bool) -> Made:
    outcomes: dict[str, list[tuple[str, Checked]]] = {each.key: [] for each in STATEMENTS}
    for name, instance in instances:
        for each in STATEMENTS:
            if (small or not each.small) and (outcome := each.check(instance)) is not None:
                outcomes[each.key].append((name, outcome))
    rows, ratios = [], []
    for each in STATEMENTS:
        if not (checked := outcomes[each.key]):
            continue
        # The ratios that say how tight the statement is.
        rated = [
            (of.value / of.bound, name, of)
            for name, of in checked
            if of.value > _LARGE and _LARGE < of.bound < np.inf
        ]
        over = sum(of.value > of.bound + _LARGE for _, of in checked)
        median = float(np.median([ratio for ratio, *_ in rated])) if rated else None
        largest, name, shown = max(rated) if rated else (None, *checked[0])
        rows.append(
            StatementRow(
                *each[:3], kind, seed, len(checked), over, median, largest, name, shown.value, shown.bound
            )
        )
        ratios += [RatioRow(each.key, kind, *of) for _, _, of in rated[:_SHOWN]]
    return {THEOREMS: [columns_of(row) for row in rows], TIGHTNESS: [columns_of(row) for row in ratios]}
