"""Checks of the paper's statements: a number and its bound on an instance.

A statement holds on an instance if the number is at most the bound. Numbers are measured on the reports by the
notions of `sfumato.privacy`. Bounds follow from single secrets by its theorems, or are the printed ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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
_DIGITS: Final = 1e-12


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
    def laws(self) -> dict[str, Floats]:
        """The distributions by name."""
        return dict(zip(self.family.names, self.family.distributions, strict=True))

    @property
    def pairs_alone(self) -> Family:
        """The same distributions, without the relation that joins them."""
        names = self.family.names
        return Family(self.laws, [(names[i], names[j]) for i, j in self.family.pairs])

    @property
    def parts(self) -> tuple[tuple[Floats, float], tuple[Floats, float]]:
        """Each mechanism with its delta."""
        return (self.first, self.deltas[0]), (self.second, self.deltas[1])


class Checked(NamedTuple):
    """A number, rounded down, and the bound that a statement gives it, rounded up."""

    value: float
    bound: float


Check = Callable[[Instance], Checked]


def lifted(one: Instance) -> Checked:
    """Check that differential privacy lifts with the same delta."""
    return _checked(_promise(one), one.first)


def lifted_with_factor(one: Instance) -> Checked:
    """Check that the delta of distributions is at most that of points times the size of the relation."""
    delta = one.deltas[0]
    epsilon = DifferentialPrivacy(one.relation, delta).measure(one.first).upper
    needed = DivergenceDistributionPrivacy(one.family, HockeyStick(epsilon)).measure(one.first).lower
    return Checked(needed, min(1.0, delta * len(one.relation.pairs)))


def points(one: Instance) -> Checked:
    """Check that distribution privacy for a whole lifting is differential privacy."""
    whole = DistributionPrivacy(Family.of_points(one.relation), one.deltas[0]).measure(one.first)
    return _checked(privacy_of_points(Promise.measured(whole), one.relation), one.first)


def metric_lifted(one: Instance) -> Checked:
    """Check that metric privacy lifts to the largest step of a coupling."""
    return _checked(_metric_promise(one), one.first)


def metric_lifted_by_mean(one: Instance) -> Checked:
    """Check the same for the mean step, W_1, which is not enough."""
    epsilon = MetricDifferentialPrivacy(one.metric).measure(one.first).upper
    near = FamilyDistance.wasserstein(one.family, one.metric, 1.0)
    return Checked(MetricDistributionPrivacy(one.family, near).measure(one.first).lower, epsilon)


def divergence_lifted(divergence: Divergence) -> Check:
    """Return the check that divergence privacy of related secrets lifts to distributions."""

    def check(one: Instance) -> Checked:
        value = DivergencePrivacy(divergence, one.relation).measure(one.first).upper
        exactly = Family.lifted(one.laws, one.relation)
        if exactly.outside.any():  # rounding, which a divergence without bound does not forgive
            notion = DivergenceDistributionPrivacy(one.family, divergence)
            return Checked(notion.measure(one.first).lower, value * (1 + 1e-9))
        return _checked(lifted_divergence_privacy(value, divergence, exactly), one.first)

    return check


def divergence_by_mean(divergence: Divergence) -> Check:
    """Return the check that divergence privacy per unit of a metric lifts to W_1: if it is jointly convex."""

    def check(one: Instance) -> Checked:
        epsilon = DivergenceMetricPrivacy(divergence, one.metric).measure(one.first).upper
        near = FamilyDistance.wasserstein(one.family, one.metric, 1.0)
        notion = DivergenceMetricDistributionPrivacy(one.family, divergence, near)
        return Checked(notion.measure(one.first).lower, epsilon)

    return check


def probabilistic(one: Instance) -> Checked:
    """Check that probabilistic distribution privacy implies distribution privacy with the same numbers."""
    delta = one.deltas[0]
    bound = ProbabilisticDistributionPrivacy(one.family, delta).measure(one.first).upper
    return Checked(DistributionPrivacy(one.family, delta).measure(one.first).lower, bound)


def probabilistic_back(one: Instance) -> Checked:
    """Check the converse, which is false."""
    delta = one.deltas[0]
    bound = DistributionPrivacy(one.family, delta).measure(one.first).upper
    return Checked(ProbabilisticDistributionPrivacy(one.family, delta).measure(one.first).lower, bound)


def together(one: Instance) -> Checked:
    """Check that epsilons and deltas of two reports about one secret add, for promises of a whole lifting."""
    promise = same_input(*(_promise(one, second=second) for second in (False, True)))
    return _checked(promise, product_channel(one.first, one.second).matrix)


def together_for_pairs(one: Instance) -> Checked:
    """Check the same for promises of the pairs alone, which is false."""
    pairs = one.pairs_alone
    parts = [DistributionPrivacy(pairs, delta).measure(each).upper for each, delta in one.parts]
    both = DistributionPrivacy(pairs, min(1.0, sum(one.deltas)))
    return Checked(both.measure(product_channel(one.first, one.second)).lower, sum(parts))


def together_by_metric(one: Instance) -> Checked:
    """Check two reports about one secret with the metric of the largest step."""
    promise = same_input(*(_metric_promise(one, second=second) for second in (False, True)))
    return _checked(promise, product_channel(one.first, one.second).matrix)


def apart(one: Instance) -> Checked:
    """Check that epsilons and deltas of two reports about independent secrets add, for any pairs."""
    pairs = one.pairs_alone
    parts = (DistributionPrivacy(pairs, delta).measure(each) for each, delta in one.parts)
    promise = independent_inputs(*(Promise.measured(part) for part in parts))
    values = [max_divergence(p, q, min(1.0, sum(one.deltas))).value for p, q in _both(one)]
    return Checked(max(values) - _DIGITS, promise.value)


def apart_by_metric(one: Instance) -> Checked | None:
    """Check the same per unit of a distance of distributions."""
    pairs = one.pairs_alone
    distance = FamilyDistance.wasserstein(pairs, one.metric)
    notion = MetricDistributionPrivacy(pairs, distance)
    parts = [notion.measure(each) for each in (one.first, one.second)]
    if not all(math.isfinite(part.upper) for part in parts):
        return None  # distributions that only rounding parts
    promise = independent_inputs(*(Promise.measured(part) for part in parts))
    lengths = distance.array[tuple(pairs.pairs.T)]
    laws = zip(_both(one), lengths, strict=True)
    values = [max_divergence(p, q).value / length for (p, q), length in laws if length > 0]
    return Checked(max(values, default=0.0) - _DIGITS, promise.value)


def divergences_add(divergence: Divergence) -> Check:
    """Return the check that divergences of two reports about independent secrets add."""
    return _independent(divergence, lambda a, b: a + b)


def chi_square_with_product(one: Instance) -> Checked:
    """Check that chi-square divergences of independent reports are at most their sum and their product."""
    return _independent(CHI_SQUARED, lambda a, b: a + b + a * b)(one)


def _independent(divergence: Divergence, bound: Callable[[float, float], float]) -> Check:
    def check(one: Instance) -> Checked:
        notion = DivergenceDistributionPrivacy(one.pairs_alone, divergence)
        a, b = (notion.measure(each).upper for each in (one.first, one.second))
        return Checked(max(divergence(p, q) for p, q in _both(one)) - _DIGITS, bound(a, b))

    return check


def processed(one: Instance) -> Checked:
    """Check that post-processing keeps distribution privacy."""
    before = DistributionPrivacy(one.family, one.deltas[0]).measure(one.first)
    return _checked(post_processed(Promise.measured(before)), one.first @ one.merge)


def probabilistic_processed(one: Instance) -> Checked:
    """Check that post-processing keeps probabilistic distribution privacy, which is false."""
    notion = ProbabilisticDistributionPrivacy(one.family, one.deltas[0])
    return Checked(notion.measure(one.first @ one.merge).lower, notion.measure(one.first).upper)


def before(one: Instance) -> Checked | None:
    """Check a stable transformation before the mechanism, with the sum of growing deltas."""
    promise = _before(one)
    return None if promise is None else _checked(promise, one.move @ one.first)


def before_with_printed_delta(one: Instance) -> Checked | None:
    """Check that the delta of the sum is at most the printed one, c e^((c - 1) epsilon) delta."""
    after, alone = _before(one), _promise(one)
    if after is None:
        return None
    steps = round(after.value / alone.value) if alone.value > 0 else 1
    printed = steps * math.exp((steps - 1) * alone.value) * _delta(alone)
    return Checked(_delta(after) * (1 - 1e-9) - _DIGITS, min(1.0, printed))


def before_by_metric(one: Instance) -> Checked:
    """Check that a transformation that stretches distances by c multiplies epsilon by c."""
    distance = FamilyDistance.wasserstein(one.family, one.metric)
    after = pre_processed(_metric_promise(one), one.pairs_alone, one.move, distance)
    return _checked(after, one.move @ one.first)


def believed(one: Instance) -> Checked | None:
    """Check three steps for attackers who believe in slightly wrong distributions."""
    names = one.family.names
    return _checked(close_beliefs(_promise(one), names), one.first) if len(names) == 4 else None


def _checked(promise: Promise, matrix: Floats) -> Checked:
    return Checked(promise.notion.measure(matrix).lower, promise.value)


def _promise(one: Instance, *, second: bool = False) -> Promise:
    matrix, delta = one.parts[second]
    epsilon = DifferentialPrivacy(one.relation, delta).measure(matrix).upper
    return lifted_differential_privacy(epsilon, one.family, delta)


def _metric_promise(one: Instance, *, second: bool = False) -> Promise:
    matrix, delta = one.parts[second]
    epsilon = MetricDifferentialPrivacy(one.metric, delta).measure(matrix).upper
    return lifted_metric_privacy(MetricPrivacy(epsilon, one.metric), one.family, delta)


def _before(one: Instance) -> Promise | None:
    try:
        return pre_processed(_promise(one), one.pairs_alone, one.move)
    except ValueError:
        return None


def _delta(promise: Promise) -> float:
    return float(getattr(promise.notion, "delta", 0.0))


def _both(one: Instance) -> list[tuple[Floats, Floats]]:
    """Return the laws of two reports about two independent secrets, for each pair of the family."""
    laws = one.family.distributions @ one.first, one.family.distributions @ one.second
    joint: NDArray[np.float64] = np.array([np.outer(p, q).ravel() for p, q in zip(*laws, strict=True)])
    return [(joint[i], joint[j]) for i, j in one.family.pairs]
