"""Statements of Tables II and III of the paper, each a number and its bound on an instance.

An instance is two mechanisms on the same secrets, distributions of secrets, a relation and a metric. A statement
holds on it if the number is at most the bound. Numbers are measured by the notions of `sfumato.privacy` on the
reports themselves; bounds are what its theorems promise from single secrets, or what was printed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

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
    Renyi,
    max_divergence,
)
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
    ProbabilisticDistributionPrivacy,
    Promise,
    Relation,
    close_beliefs,
    independent_inputs,
    lifted_differential_privacy,
    lifted_divergence_privacy,
    lifted_metric_privacy,
    post_processed,
    pre_processed,
    privacy_of_points,
    product_channel,
    same_input,
)

FIVE: Final = (KL, REVERSE_KL, TOTAL_VARIATION, CHI_SQUARED, HELLINGER)
ADDING: Final = (KL, REVERSE_KL, TOTAL_VARIATION, HELLINGER, Renyi(2.0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Instance(CompactRepr):
    """Two mechanisms, and what their privacy is asked for.

    Attributes:
        first: Array (n, m).
        second: Array (n, m).
        family: Distributions of secrets whose pairs are in the lifting of the relation.
        metric: On the secrets.
        deltas: Of the two mechanisms.
        merge: From reports to coarser ones, array (m, l).
        move: A transformation before the mechanism, array (n, n).
    """

    first: Floats
    second: Floats
    family: Family
    metric: Metric
    deltas: tuple[float, float]
    merge: Floats
    move: Floats

    @property
    def relation(self) -> Relation:
        """The relation that was lifted."""
        return self.family.lifted_from or Relation.all(self.family.size)

    @property
    def pairs_alone(self) -> Family:
        """The same distributions, without the relation that joins them."""
        return _alone(self.family)


@dataclass(frozen=True, slots=True)
class Checked:
    """A number, and the bound that a statement gives it; the number is rounded down, the bound up."""

    value: float
    bound: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Statement(CompactRepr):
    """A statement that instances can confirm or refute.

    Attributes:
        key: A short name.
        where: Its table.
        says: What it says, in a sentence.
        check: Returns the number and its bound, or None where the instance is not one of the statement's.
        small: Whether it is tried on small instances only.
    """

    key: str
    where: str
    says: str
    check: Callable[[Instance], Checked | None]
    small: bool = False


def lifted(one: Instance) -> Checked:
    """Differential privacy lifts with the same delta."""
    promise = _promise(one)
    return Checked(_measured(promise, one.first), promise.value)


def lifted_with_factor(one: Instance) -> Checked:
    """The delta of distributions is at most that of points times the size of the relation."""
    delta = one.deltas[0]
    epsilon = DifferentialPrivacy(one.relation, delta).measure(one.first).upper
    needed = DivergenceDistributionPrivacy(one.family, HockeyStick(epsilon)).measure(one.first).lower
    return Checked(needed, min(1.0, delta * len(one.relation.pairs)))


def points(one: Instance) -> Checked:
    """Distribution privacy for a whole lifting is differential privacy."""
    delta = one.deltas[0]
    whole = DistributionPrivacy(Family.of_points(one.relation), delta).measure(one.first)
    promise = privacy_of_points(Promise.measured(whole), one.relation)
    return Checked(promise.notion.measure(one.first).lower, promise.value)


def metric_lifted(one: Instance) -> Checked:
    """Metric privacy lifts to the largest step of a coupling."""
    promise = _metric_promise(one, one.first, one.deltas[0])
    return Checked(promise.notion.measure(one.first).lower, promise.value)


def metric_lifted_by_mean(one: Instance) -> Checked:
    """The same with the mean step, W_1, which is not enough."""
    epsilon = MetricDifferentialPrivacy(one.metric).measure(one.first).upper
    near = FamilyDistance.wasserstein(one.family, one.metric, 1.0)
    return Checked(MetricDistributionPrivacy(one.family, near).measure(one.first).lower, epsilon)


def divergence_lifted(divergence: Divergence) -> Callable[[Instance], Checked]:
    """Divergence privacy of related secrets lifts to distributions."""

    def check(one: Instance) -> Checked:
        value = DivergencePrivacy(divergence, one.relation).measure(one.first).upper
        exactly = Family.lifted(_named(one.family), one.relation)
        if exactly.outside.any():  # rounding, which a divergence without bound does not forgive
            notion = DivergenceDistributionPrivacy(one.family, divergence)
            return Checked(notion.measure(one.first).lower, value * (1 + 1e-9))
        promise = lifted_divergence_privacy(value, divergence, exactly)
        return Checked(promise.notion.measure(one.first).lower, promise.value)

    return check


def divergence_by_mean(divergence: Divergence) -> Callable[[Instance], Checked]:
    """Divergence privacy per unit of a metric lifts to W_1, for divergences that are jointly convex."""

    def check(one: Instance) -> Checked:
        epsilon = DivergenceMetricPrivacy(divergence, one.metric).measure(one.first).upper
        near = FamilyDistance.wasserstein(one.family, one.metric, 1.0)
        notion = DivergenceMetricDistributionPrivacy(one.family, divergence, near)
        return Checked(notion.measure(one.first).lower, epsilon)

    return check


def probabilistic(one: Instance) -> Checked:
    """Probabilistic distribution privacy implies distribution privacy with the same numbers."""
    delta = one.deltas[0]
    bound = ProbabilisticDistributionPrivacy(one.family, delta).measure(one.first).upper
    return Checked(DistributionPrivacy(one.family, delta).measure(one.first).lower, bound)


def probabilistic_back(one: Instance) -> Checked:
    """The converse, which is false."""
    delta = one.deltas[0]
    bound = DistributionPrivacy(one.family, delta).measure(one.first).upper
    return Checked(ProbabilisticDistributionPrivacy(one.family, delta).measure(one.first).lower, bound)


def together(one: Instance) -> Checked:
    """Two reports about one secret: epsilons and deltas add, for promises of a whole lifting."""
    promise = same_input(_promise(one), _promise(one, second=True))
    return Checked(_measured(promise, product_channel(one.first, one.second).matrix), promise.value)


def together_for_pairs(one: Instance) -> Checked:
    """The same for promises of the pairs alone, which is false."""
    pairs = one.pairs_alone
    parts = [
        DistributionPrivacy(pairs, delta).measure(each).upper
        for each, delta in zip((one.first, one.second), one.deltas, strict=True)
    ]
    both = DistributionPrivacy(pairs, min(1.0, sum(one.deltas)))
    return Checked(both.measure(product_channel(one.first, one.second)).lower, sum(parts))


def together_by_metric(one: Instance) -> Checked:
    """Two reports about one secret, with the metric of the largest step."""
    promises = [
        _metric_promise(one, each, delta) for each, delta in zip((one.first, one.second), one.deltas, strict=True)
    ]
    promise = same_input(*promises)
    return Checked(promise.notion.measure(product_channel(one.first, one.second)).lower, promise.value)


def apart(one: Instance) -> Checked:
    """Two reports about two independent secrets: epsilons and deltas add, for any pairs."""
    promise = independent_inputs(
        *(
            Promise.measured(DistributionPrivacy(one.pairs_alone, delta).measure(each))
            for each, delta in zip((one.first, one.second), one.deltas, strict=True)
        )
    )
    values = [max_divergence(p, q, min(1.0, sum(one.deltas))).value for p, q in _both(one)]
    return Checked(max(values) - 1e-12, promise.value)


def apart_by_metric(one: Instance) -> Checked | None:
    """The same per unit of a distance of distributions."""
    pairs = one.pairs_alone
    distance = FamilyDistance.wasserstein(pairs, one.metric)
    notion = MetricDistributionPrivacy(pairs, distance)
    parts = [notion.measure(each) for each in (one.first, one.second)]
    if not all(math.isfinite(part.upper) for part in parts):
        return None  # distributions that only rounding parts
    promise = independent_inputs(*(Promise.measured(part) for part in parts))
    lengths = distance.array[tuple(pairs.pairs.T)]
    values = [
        max_divergence(p, q).value / length
        for (p, q), length in zip(_both(one), lengths, strict=True)
        if length > 0
    ]
    return Checked(max(values, default=0.0) - 1e-12, promise.value)


def divergences_add(divergence: Divergence) -> Callable[[Instance], Checked]:
    """Two reports about two independent secrets: divergences add."""

    def check(one: Instance) -> Checked:
        notion = DivergenceDistributionPrivacy(one.pairs_alone, divergence)
        parts = [notion.measure(each).upper for each in (one.first, one.second)]
        values = [divergence(p, q) for p, q in _both(one)]
        return Checked(max(values) - 1e-12, sum(parts))

    return check


def chi_square_with_product(one: Instance) -> Checked:
    """Chi-square divergences of independent reports: their sum and their product."""
    notion = DivergenceDistributionPrivacy(one.pairs_alone, CHI_SQUARED)
    a, b = (notion.measure(each).upper for each in (one.first, one.second))
    return Checked(max(CHI_SQUARED(p, q) for p, q in _both(one)) - 1e-12, a + b + a * b)


def processed(one: Instance) -> Checked:
    """Post-processing keeps distribution privacy."""
    found = DistributionPrivacy(one.family, one.deltas[0]).measure(one.first)
    promise = post_processed(Promise.measured(found))
    return Checked(_measured(promise, one.first @ one.merge), promise.value)


def probabilistic_processed(one: Instance) -> Checked:
    """Post-processing keeps probabilistic distribution privacy, which is false."""
    notion = ProbabilisticDistributionPrivacy(one.family, one.deltas[0])
    return Checked(notion.measure(one.first @ one.merge).lower, notion.measure(one.first).upper)


def before(one: Instance) -> Checked | None:
    """A stable transformation before the mechanism, with the sum of growing deltas."""
    promise = _before(one)
    return None if promise is None else Checked(_measured(promise, one.move @ one.first), promise.value)


def before_with_printed_delta(one: Instance) -> Checked | None:
    """The delta of the sum is at most the printed one, c e^((c - 1) epsilon) delta."""
    promise, own = _before(one), _promise(one)
    if promise is None:
        return None
    steps = round(promise.value / own.value) if own.value > 0 else 1
    printed = steps * math.exp((steps - 1) * own.value) * _delta(own)
    return Checked(_delta(promise) * (1 - 1e-9) - 1e-12, min(1.0, printed))


def before_by_metric(one: Instance) -> Checked:
    """A transformation that stretches distances by c multiplies epsilon by c."""
    promise = _metric_promise(one, one.first, one.deltas[0])
    distance = FamilyDistance.wasserstein(one.family, one.metric)
    after = pre_processed(promise, one.pairs_alone, one.move, distance)
    return Checked(after.notion.measure(one.move @ one.first).lower, after.value)


def believed(one: Instance) -> Checked | None:
    """Attackers who believe in slightly wrong distributions: three steps."""
    names = one.family.names
    if len(names) != 4:
        return None
    promise = close_beliefs(_promise(one), names)
    return Checked(promise.notion.measure(one.first).lower, promise.value)


def _promise(one: Instance, *, second: bool = False) -> Promise:
    matrix, delta = (one.second, one.deltas[1]) if second else (one.first, one.deltas[0])
    epsilon = DifferentialPrivacy(one.relation, delta).measure(matrix).upper
    return lifted_differential_privacy(epsilon, one.family, delta)


def _metric_promise(one: Instance, matrix: Floats, delta: float) -> Promise:
    epsilon = MetricDifferentialPrivacy(one.metric, delta).measure(matrix).upper
    return lifted_metric_privacy(MetricPrivacy(epsilon, one.metric), one.family, delta)


def _before(one: Instance) -> Promise | None:
    promise = _promise(one)
    try:
        return pre_processed(promise, one.pairs_alone, one.move)
    except ValueError:
        return None


def _measured(promise: Promise, matrix: Floats) -> float:
    return promise.notion.measure(matrix).lower


def _delta(promise: Promise) -> float:
    return float(getattr(promise.notion, "delta", 0.0))


def _alone(family: Family) -> Family:
    return Family(_named(family), [(family.names[i], family.names[j]) for i, j in family.pairs])


def _named(family: Family) -> dict[str, Floats]:
    return dict(zip(family.names, family.distributions, strict=True))


def _both(one: Instance) -> list[tuple[Floats, Floats]]:
    """Return the laws of two reports about two independent secrets, for each pair of the family."""
    laws = one.family.distributions @ one.first, one.family.distributions @ one.second
    joint: NDArray[np.float64] = np.array([np.outer(p, q).ravel() for p, q in zip(*laws, strict=True)])
    return [(joint[i], joint[j]) for i, j in one.family.pairs]
