"""Statements of section V and Table III, tried on random and on real distributions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.core import Metric
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import CHI_SQUARED, HockeyStick, Renyi
from sfumato.privacy import Family, Relation

from ..reproduction import Made
from ..results import columns_of
from . import statements as about
from .statements import ADDING, FIVE, Instance, Statement

THEOREMS: Final = "theorems"
TIGHTNESS: Final = "tightness"

LIFTING, COMPOSITION = "Section V", "Table III"
_SHOWN: Final = 60  # ratios of each statement that a part keeps
_LARGE: Final = 1e-12
_DISTINCT: Final = 1e-3

STATEMENTS: Final = (
    Statement(
        "dp",
        LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta)-DistP for the lifting of Phi.",
        about.lifted,
    ),
    Statement(
        "dp-factor",
        LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta |Phi|)-DistP for the lifting of Phi.",
        about.lifted_with_factor,
    ),
    Statement("points", LIFTING, "DistP for the lifting of Phi gives DP for Phi.", about.points, small=True),
    Statement(
        "xdp", LIFTING, "(epsilon, delta, d)-XDP gives XDistP for W_inf with the same delta.", about.metric_lifted
    ),
    Statement("xdp-mean", LIFTING, "(epsilon, d)-XDP gives XDistP for W_1.", about.metric_lifted_by_mean),
    *(
        Statement(
            f"divergence {each.name}",
            LIFTING,
            f"(epsilon, D)-DP for Phi gives (epsilon, D)-DistP for its lifting, D the {each.name}.",
            about.divergence_lifted(each),
            small=True,
        )
        for each in (*FIVE, Renyi(2.0))
    ),
    *(
        Statement(
            f"mean {each.name}",
            LIFTING,
            f"(epsilon, d, D)-XDP gives XDistP for W_1, D the {each.name}.",
            about.divergence_by_mean(each),
        )
        for each in (*FIVE, Renyi(0.5), Renyi(2.0), Renyi(8.0))
    ),
    Statement("pdistp", LIFTING, "(epsilon, delta)-PDistP gives (epsilon, delta)-DistP.", about.probabilistic),
    Statement(
        "pdistp-back", LIFTING, "(epsilon, delta)-DistP gives (epsilon, delta)-PDistP.", about.probabilistic_back
    ),
    Statement(
        "beliefs",
        LIFTING,
        "Against beliefs one step off on both sides, three steps: 3 epsilon and delta (1 + e^epsilon + e^(2 "
        "epsilon)).",
        about.believed,
        small=True,
    ),
    Statement(
        "same-input",
        COMPOSITION,
        "Two reports about one secret, guaranteed for a lifting: epsilons and deltas add.",
        about.together,
    ),
    Statement(
        "same-input-pairs",
        COMPOSITION,
        "Two reports about one secret, guaranteed for pairs alone: epsilons and deltas add.",
        about.together_for_pairs,
    ),
    Statement(
        "same-input-metric",
        COMPOSITION,
        "Two reports about one secret, guaranteed for W_inf: epsilons and deltas add.",
        about.together_by_metric,
    ),
    Statement(
        "independent",
        COMPOSITION,
        "Two reports about independent secrets, any pairs: epsilons and deltas add.",
        about.apart,
        small=True,
    ),
    Statement(
        "independent-metric",
        COMPOSITION,
        "Two reports about independent secrets, guaranteed for W_inf: epsilons add.",
        about.apart_by_metric,
        small=True,
    ),
    *(
        Statement(
            f"sum {each.name}",
            COMPOSITION,
            f"Two reports about independent secrets: the values of the {each.name} add.",
            about.divergences_add(each),
            small=True,
        )
        for each in (*ADDING, CHI_SQUARED, HockeyStick(0.2))
    ),
    Statement(
        "sum and product chi-square",
        COMPOSITION,
        "Two reports about independent secrets: the chi-square divergence is at most the sum and the product.",
        about.chi_square_with_product,
        small=True,
    ),
    Statement("post", COMPOSITION, "Post-processing keeps (epsilon, delta)-DistP.", about.processed),
    Statement(
        "post-pdistp", COMPOSITION, "Post-processing keeps (epsilon, delta)-PDistP.", about.probabilistic_processed
    ),
    Statement(
        "pre",
        COMPOSITION,
        "A c-stable transformation before: c epsilon and delta (1 + e^epsilon + ... + e^((c - 1) epsilon)).",
        about.before,
        small=True,
    ),
    Statement(
        "pre-printed",
        COMPOSITION,
        "This delta is at most the printed one, c e^((c - 1) epsilon) delta.",
        about.before_with_printed_delta,
        small=True,
    ),
    Statement(
        "pre-metric",
        COMPOSITION,
        "A transformation that stretches W_inf by c: c epsilon, delta.",
        about.before_by_metric,
        small=True,
    ),
)
"""All statements, in the order of the tables."""


@dataclass(frozen=True, slots=True, repr=False)
class StatementRow(CompactRepr):
    """One statement, tried on the instances of a part.

    Attributes:
        key: The statement.
        where: Its table.
        says: What it says.
        instances: Where they are from: ``random``, or groups of people.
        seed: Of random instances.
        tried: How many it was tried on.
        violations: On how many the number is above its bound, rounding aside.
        median_ratio: The median of the number over its bound, where both are positive.
        largest_ratio: The largest.
        shown: The instance of the largest ratio.
        value: The number there.
        bound: The bound there.
    """

    key: str
    where: str
    says: str
    instances: str
    seed: int
    tried: int
    violations: int
    median_ratio: float | None
    largest_ratio: float | None
    shown: str
    value: float | None
    bound: float | None


def random_instances(seed: int, number: int) -> Iterator[tuple[str, Instance]]:
    """Yield random instances with their names: four secrets on a plane, three or four reports, four distributions.

    Args:
        seed: Of the draw.
        number: How many.
    """
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
    if random.random() < 0.5:
        point: Floats = np.eye(n)[random.integers(n)]
        return point
    found: Floats = random.dirichlet(np.full(n, 0.5))
    return found


def _stochastic(random: np.random.Generator, allowed: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Floats:
    """Return a random matrix of transitions that are allowed."""
    sharp = 8.0 if random.random() < 0.5 else 1.0  # with a sharp one nearly all mass of a secret moves alike
    weights = np.where(allowed, random.exponential(size=allowed.shape) ** sharp, 0.0)
    found: Floats = weights / weights.sum(axis=1, keepdims=True)
    return found


def tried(instances: Iterable[tuple[str, Instance]], kind: str, seed: int, *, small: bool) -> Made:
    """Try all statements on instances.

    Args:
        instances: With their names.
        kind: Where they are from.
        seed: Of random ones; 0 for others.
        small: Whether they are small enough for the statements that need that.
    """
    found: dict[str, list[tuple[str, float, float]]] = {each.key: [] for each in STATEMENTS}
    for name, instance in instances:
        for each in STATEMENTS:
            if small or not each.small:
                outcome = each.check(instance)
                if outcome is not None:
                    found[each.key].append((name, outcome.value, outcome.bound))
    rows, ratios = [], []
    for each in STATEMENTS:
        own = found[each.key]
        if not own:
            continue
        rows.append(columns_of(_row(each, own, kind, seed)))
        positive = [(value, bound) for _, value, bound in own if _counts(value, bound)]
        ratios += [
            {"key": each.key, "instances": kind, "value": value, "bound": bound}
            for value, bound in positive[:_SHOWN]
        ]
    return {THEOREMS: rows, TIGHTNESS: ratios}


def tried_at_random(seed: int, number: int) -> Made:
    """Try all statements on random instances."""
    return tried(random_instances(seed, number), "random", seed, small=True)


def _row(each: Statement, own: list[tuple[str, float, float]], kind: str, seed: int) -> StatementRow:
    over = [each for each in own if each[1] > each[2] + _LARGE]
    rated = [(value / bound, name, value, bound) for name, value, bound in own if _counts(value, bound)]
    about_it = (each.key, each.where, each.says, kind, seed, len(own), len(over))
    if not rated:
        return StatementRow(*about_it, None, None, own[0][0], own[0][1], own[0][2])
    largest, name, value, bound = max(rated)
    return StatementRow(*about_it, float(np.median([row[0] for row in rated])), largest, name, value, bound)


def _counts(value: float, bound: float) -> bool:
    """Whether a number over its bound says how tight the statement is."""
    return value > _LARGE and _LARGE < bound < np.inf
