"""Statements of section V and Table III, tried on random and on real distributions.

A statement holds on an instance if a number is at most its bound. Numbers are measured on the reports by the
notions of `sfumato.privacy`. Bounds follow from single secrets by its theorems, or are the printed ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sfumato.core import Metric, MetricPrivacy
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    HockeyStick,
    max_divergence,
)
from sfumato.geo import Grid
from sfumato.mechanisms import exponential, planar_geometric, randomised_response
from sfumato.privacy import (
    DifferentialPrivacy,
    DistributionPrivacy,
    DivergenceDistributionPrivacy,
    DivergenceMetricDistributionPrivacy,
    DivergenceMetricPrivacy,
    DivergencePrivacy,
    Family,
    FamilyDistance,
    MetricDifferentialPrivacy,
    MetricDistributionPrivacy,
    Notion,
    ProbabilisticDistributionPrivacy,
    Promise,
    Relation,
    close_beliefs,
    independent_inputs,
    lifted_differential_privacy,
    lifted_divergence_privacy,
    lifted_metric_privacy,
    post_process,
    pre_process,
    product_channel,
    same_input,
)

from ..reproduction import Tables
from .groups import Groups

_FIVE: Final = (KL, REVERSE_KL, TOTAL_VARIATION, CHI_SQUARED, HELLINGER)
_DIGITS: Final = 1e-12
_DISTINCT: Final = 1e-3
_DELTAS: Final = (1e-3, 1e-3)  # of mechanisms of real people


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Instance(CompactRepr):
    """Two mechanisms on the same secrets, distributions of these, a relation and a metric."""

    first: Floats  # (n, m)
    second: Floats  # (n, m)
    family: Family  # pairs are in the lifting of the relation
    metric: Metric
    deltas: tuple[float, float]  # of the two mechanisms
    merge: Floats  # from reports to coarser ones, (m, l)
    move: Floats  # a transformation before the mechanism, (n, n)

    @property
    def relation(self) -> Relation:
        """The relation that was lifted."""
        return self.family.lifted_from or Relation.all(self.family.size)

    @property
    def pairs_alone(self) -> Family:
        """The same distributions, without the relation that joins them."""
        names = self.family.names
        laws = dict(zip(names, self.family.distributions, strict=True))
        return Family(laws, [(names[i], names[j]) for i, j in self.family.pairs])

    @property
    def parts(self) -> tuple[tuple[Floats, float], tuple[Floats, float]]:
        """Each mechanism with its delta."""
        return (self.first, self.deltas[0]), (self.second, self.deltas[1])


class CheckResult(NamedTuple):
    """A number, rounded down, and the bound that a statement gives it, rounded up."""

    value: float
    bound: float


Check = Callable[[Instance], CheckResult | None]
"""The check of a statement; None where the instance is not one of the statement's."""


def _small(check: Check) -> Check:
    """Return a check of instances of few secrets alone: on a map it takes long."""
    return lambda case: check(case) if len(case.first) <= 4 else None


def _check_promise(promise: Promise, matrix: Floats) -> CheckResult:
    return CheckResult(promise.notion.measure(matrix).lower, promise.value)


def _promise(case: Instance, *, second: bool = False) -> Promise:
    matrix, delta = case.parts[second]
    epsilon = DifferentialPrivacy(case.relation, delta).measure(matrix).upper
    return lifted_differential_privacy(epsilon, case.family, delta)


def _metric_promise(case: Instance, *, second: bool = False) -> Promise:
    matrix, delta = case.parts[second]
    epsilon = MetricDifferentialPrivacy(case.metric, delta).measure(matrix).upper
    return lifted_metric_privacy(MetricPrivacy(epsilon, case.metric), case.family, delta)


def _with_factor(case: Instance) -> CheckResult:
    delta = case.deltas[0]
    epsilon = DifferentialPrivacy(case.relation, delta).measure(case.first).upper
    value = DivergenceDistributionPrivacy(case.family, HockeyStick(epsilon)).measure(case.first).lower
    return CheckResult(value, min(1.0, delta * len(case.relation.pairs)))


def _distribution(case: Instance) -> Notion:
    return DistributionPrivacy(case.family, case.deltas[0])


def _probabilistic(case: Instance) -> Notion:
    return ProbabilisticDistributionPrivacy(case.family, case.deltas[0])


def _mean_distance(case: Instance) -> FamilyDistance:
    return FamilyDistance.wasserstein(case.family, case.metric, 1.0)


def _gives(
    premise: Callable[[Instance], Notion], conclusion: Callable[[Instance], Notion], *, is_merged: bool = False
) -> Check:
    """Return the check that the value of one notion is enough for another one, perhaps of merged reports."""

    def check(case: Instance) -> CheckResult:
        reports = case.first @ case.merge if is_merged else case.first
        return CheckResult(conclusion(case).measure(reports).lower, premise(case).measure(case.first).upper)

    return check


def _divergence_by_mean(divergence: Divergence) -> Check:
    return _gives(
        lambda case: DivergenceMetricPrivacy(divergence, case.metric),
        lambda case: DivergenceMetricDistributionPrivacy(case.family, divergence, _mean_distance(case)),
    )


def _lifting(divergence: Divergence) -> Check:
    def check(case: Instance) -> CheckResult:
        value = DivergencePrivacy(divergence, case.relation).measure(case.first).upper
        if case.family.outside.any():  # rounding, which a divergence without bound does not forgive
            notion = DivergenceDistributionPrivacy(case.family, divergence)
            return CheckResult(notion.measure(case.first).lower, value * (1 + 1e-9))
        return _check_promise(lifted_divergence_privacy(value, divergence, case.family), case.first)

    return check


def _composition(promise: Callable[..., Promise]) -> Check:
    def check(case: Instance) -> CheckResult:
        both = same_input(promise(case), promise(case, second=True))
        return _check_promise(both, product_channel(case.first, case.second).matrix)

    return check


def _pair_composition(case: Instance) -> CheckResult:
    pairs = case.pairs_alone
    parts = [DistributionPrivacy(pairs, delta).measure(matrix).upper for matrix, delta in case.parts]
    both = DistributionPrivacy(pairs, min(1.0, sum(case.deltas)))
    return CheckResult(both.measure(product_channel(case.first, case.second)).lower, sum(parts))


def _independent(case: Instance, *, by_metric: bool) -> CheckResult | None:
    pairs = case.pairs_alone
    distance = FamilyDistance.wasserstein(pairs, case.metric)
    notions: list[Notion] = [MetricDistributionPrivacy(pairs, distance)] * 2
    if not by_metric:
        notions = [DistributionPrivacy(pairs, delta) for delta in case.deltas]
    parts = [notion.measure(matrix) for notion, (matrix, _) in zip(notions, case.parts, strict=True)]
    if not all(math.isfinite(part.upper) for part in parts):
        return None  # distributions that only rounding parts
    promise = independent_inputs(*map(Promise.of, parts))
    delta = 0.0 if by_metric else min(1.0, sum(case.deltas))
    first, second = (case.family.distributions @ matrix for matrix, _ in case.parts)
    joint = np.array([np.outer(p, q).ravel() for p, q in zip(first, second, strict=True)])
    values = [
        max_divergence(joint[i], joint[j], delta).value / length
        for i, j in pairs.pairs
        if (length := distance.array[i, j] if by_metric else 1.0) > 0
    ]
    return CheckResult(max(values, default=0.0) - _DIGITS, promise.value)


def _post_processing(case: Instance) -> CheckResult:
    before = _distribution(case).measure(case.first)
    return _check_promise(post_process(Promise.of(before)), case.first @ case.merge)


def _pre_processing(case: Instance, *, printed_delta: bool) -> CheckResult | None:
    alone = _promise(case)
    try:
        after = pre_process(alone, case.pairs_alone, case.move)
    except ValueError:
        return None
    if not printed_delta:
        return _check_promise(after, case.move @ case.first)
    steps = round(after.value / alone.value) if alone.value > 0 else 1
    delta_after, delta = (float(getattr(promise.notion, "delta", 0.0)) for promise in (after, alone))
    printed = steps * math.exp((steps - 1) * alone.value) * delta
    return CheckResult(delta_after * (1 - 1e-9) - _DIGITS, min(1.0, printed))


def _pre_processing_by_metric(case: Instance) -> CheckResult:
    distance = FamilyDistance.wasserstein(case.family, case.metric)
    after = pre_process(_metric_promise(case), case.pairs_alone, case.move, distance)
    return _check_promise(after, case.move @ case.first)


class Statement(NamedTuple):
    """A statement that instances can confirm or refute."""

    where: str
    says: str
    checks: tuple[Check, ...]
    more: str = ""  # a sentence about the result
    is_ours: bool = False


_LIFTING, _COMPOSITION = "Section V", "Table III"
STATEMENTS: Final = {
    "dp": Statement(
        _LIFTING,
        "(epsilon, delta)-DP for Phi gives (epsilon, delta |Phi|)-DistP for the lifting of Phi.",
        (_with_factor, lambda case: _check_promise(_promise(case), case.first)),
        "The factor is not needed.",
    ),
    "xdp": Statement(
        _LIFTING,
        "(epsilon, d)-XDP gives XDistP for W_inf.",
        (lambda case: _check_promise(_metric_promise(case), case.first),),
        "Deltas above 0 stay the same.",
    ),
    "mean": Statement(
        _LIFTING,
        "XDP for each f-divergence of Table I gives XDistP for W_1.",
        tuple(_divergence_by_mean(divergence) for divergence in _FIVE),
    ),
    "divergence": Statement(
        _LIFTING,
        "DP for each f-divergence of Table I gives DistP for the lifting.",
        tuple(_small(_lifting(divergence)) for divergence in _FIVE),
    ),
    "pdistp": Statement(
        "Section III",
        "(epsilon, delta)-PDistP gives (epsilon, delta)-DistP.",
        (_gives(_probabilistic, _distribution),),
    ),
    "beliefs": Statement(
        "Section III-F",
        "Against beliefs that are wrong by one step on both sides 3 epsilon is enough.",
        (_small(lambda case: _check_promise(close_beliefs(_promise(case), case.family.names), case.first)),),
        "With a delta above 0 it is delta (1 + e^epsilon + e^(2 epsilon)).",
    ),
    "same-input": Statement(
        _COMPOSITION,
        "Two reports about one secret, guaranteed for the lifting of Phi or for W_inf: epsilons and deltas add, "
        "deltas times |Phi|.",
        (_composition(_metric_promise), _composition(_promise)),
        "The factor is not needed.",
    ),
    "independent": Statement(
        _COMPOSITION,
        "Two reports about independent secrets: epsilons and deltas add for any pairs, and epsilons for W_inf.",
        tuple(_small(partial(_independent, by_metric=by_metric)) for by_metric in (True, False)),
    ),
    "post": Statement(_COMPOSITION, "Post-processing preserves DistP.", (_post_processing,)),
    "pre": Statement(
        _COMPOSITION,
        "A c-stable transformation before the mechanism gives c epsilon, with delta times c e^((c - 1) epsilon); "
        "one that stretches W_inf by at most c gives c epsilon, with the same delta.",
        (
            *(_small(partial(_pre_processing, printed_delta=printed_delta)) for printed_delta in (False, True)),
            _small(_pre_processing_by_metric),
        ),
        "For the first the smaller delta (1 + e^epsilon + ... + e^((c - 1) epsilon)) is enough.",
    ),
    "pdistp-back": Statement(
        "Section III",
        "(epsilon, delta)-DistP does not give (epsilon, delta)-PDistP.",
        (_gives(_distribution, _probabilistic),),
    ),
    "xdp-mean": Statement(
        _LIFTING,
        "(epsilon, d)-XDP does not give XDistP for W_1.",
        (
            _gives(
                lambda case: MetricDifferentialPrivacy(case.metric),
                lambda case: MetricDistributionPrivacy(case.family, _mean_distance(case)),
            ),
        ),
        is_ours=True,
    ),
    "same-input-pairs": Statement(
        _COMPOSITION,
        "Two reports about one secret, guaranteed for a pair of distributions alone: epsilons do not add.",
        (_pair_composition,),
        is_ours=True,
    ),
    "post-pdistp": Statement(
        _COMPOSITION,
        "Post-processing can break PDistP.",
        (_gives(_probabilistic, _probabilistic, is_merged=True),),
        is_ours=True,
    ),
}
"""Statements by the key of their rows; those that fail are last, and `counterexamples` has their instances."""


@dataclass(frozen=True, slots=True, repr=False)
class StatementRow(CompactRepr):
    """One statement, tried on the instances of a part."""

    key: str
    instances: str
    tried: int
    violations: int  # instances where the number is above its bound, rounding aside
    largest_ratio: float | None  # of the number over its bound, where both are positive
    shown: str  # the instance of this ratio
    value: float  # the number there
    bound: float


def random_instances(seed: int, number: int) -> Iterator[tuple[str, Instance]]:
    """Yield random instances by name: four secrets on a plane, three or four reports, four distributions."""
    random = np.random.Generator(np.random.PCG64(seed))
    for count in range(1, number + 1):
        yield f"random, seed {seed}, number {count}", _random_instance(random)


def _random_instance(random: np.random.Generator) -> Instance:
    n, m = 4, int(random.integers(3, 5))
    near = np.eye(n, k=1, dtype=np.bool_) | (random.random((n, n)) < 0.2)
    relation = Relation((near | near.T) & ~np.eye(n, dtype=np.bool_), "neighbours")
    steps = relation.array | np.eye(n, dtype=np.bool_)
    alone = random.random() < 0.5  # whether the first distribution is of a single secret
    laws = [np.eye(n)[random.integers(n)] if alone else random.dirichlet(np.full(n, 0.5))]
    while len(laws) < 4:  # each distribution moves the one before it along the relation
        image = laws[-1] @ _stochastic(random, steps)
        if min(float(np.abs(image - law).sum()) for law in laws) > _DISTINCT:
            laws.append(image)
    names = ("one", "two", "three", "four")
    family = Family.lift({name: law / law.sum() for name, law in zip(names, laws, strict=True)}, relation)
    where = random.random((n, 2))
    d = np.sqrt(((where[:, None] - where) ** 2).sum(axis=2))
    spread = float(random.choice([0.5, 1.0, 3.0]))
    first, second = (0.98 * random.dirichlet(np.full(m, spread), n) + 0.02 / m for _ in range(2))
    first_delta, second_delta = (0.1 * random.random(2) ** 2 * (random.random() < 0.7)).tolist()
    merge = np.eye(2)[random.integers(0, 2, m)] if random.random() < 0.5 else random.dirichlet(np.ones(2), m)
    move = _stochastic(random, np.ones((n, n), dtype=np.bool_))
    return Instance(first, second, family, Metric((d + d.T) / 2, "km"), (first_delta, second_delta), merge, move)


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
    centres = np.asarray(city.coordinates)
    halves = np.eye(2)[(centres[:, 0] > centres[:, 0].mean()).astype(int)]
    for group in groups:
        laws = dict(zip(group.names, group.distributions, strict=True))
        family = Family.lift(laws, Relation.all(len(city)))
        for (left, first), (right, second) in pairwise(mechanisms.items()):
            matrices = first.matrix, second.matrix
            instance = Instance(*matrices, family, metric, _DELTAS, halves, np.eye(len(city)))
            yield f"{group.title}: {left}; {right}", instance


def try_groups(title: str, groups: Sequence[Groups], city: Grid) -> Tables:
    """Try the statements on groups of one map."""
    return _try_statements(_people(groups, city), title)


def try_random(seed: int, number: int) -> Tables:
    """Try all statements on random instances."""
    return _try_statements(random_instances(seed, number), f"random, seed {seed}")


def _try_statements(instances: Iterable[tuple[str, Instance]], title: str) -> Tables:
    cases, rows = list(instances), []
    for key, statement in STATEMENTS.items():
        outcomes = ((name, check(case)) for check in statement.checks for name, case in cases)
        checked = [(name, *outcome) for name, outcome in outcomes if outcome is not None]
        if checked:
            positive = [row for row in checked if row[1] > _DIGITS and _DIGITS < row[2] < np.inf]
            name, value, bound = max(positive, key=lambda row: row[1] / row[2], default=checked[0])
            ratio = value / bound if positive else None
            over = sum(value > bound + _DIGITS for _, value, bound in checked)
            rows.append(StatementRow(key, title, len(checked), over, ratio, name, value, bound))
    return {"theorems": rows}
