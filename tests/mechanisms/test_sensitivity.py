"""Sensitivities by brute force over all pairs, bounds that are attained, and joint queries."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, MetricPrivacy
from sfumato.errors import InputError
from sfumato.mechanisms import (
    DiscreteLaplace,
    JointQueries,
    count_sensitivity,
    datasets,
    histogram_sensitivity,
    mean_sensitivity,
    sensitivity,
    sum_sensitivity,
)
from sfumato.mechanisms.sensitivity import Rule
from sfumato.proofs import prove_metric_privacy

RELATIONS = ("add-remove", "replace-one")


def neighbours(x, y, relation):
    more, less = Counter(x) - Counter(y), Counter(y) - Counter(x)
    apart = sorted((more.total(), less.total()))
    return apart == ([0, 1] if relation == "add-remove" else [1, 1])


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=4, unique=True),
    st.sets(st.integers(0, 3), min_size=1),
    st.sampled_from(RELATIONS),
    st.sampled_from([1, 2]),
)
def test_exact_sensitivity_by_brute_force(records, sizes, relation, norm):
    def query(data):
        return [sum(data), len(data) ** 2, max(data, default=7)]

    among = datasets(records, sizes)
    found = sensitivity(query, among, relation, norm)
    apart = [
        (np.linalg.norm(np.subtract(query(x), query(y)), ord=norm), x, y)
        for x, y in combinations(among, 2)
        if neighbours(x, y, relation)
    ]
    assert found.value == pytest.approx(max((d for d, _, _ in apart), default=0.0))
    if not apart:
        assert found.witness is None
    else:
        assert found.witness is not None
        x, y = found.witness
        assert neighbours(x, y, relation)
        assert np.linalg.norm(np.subtract(query(x), query(y)), ord=norm) == pytest.approx(found.value)


def test_data_sets_are_multisets():
    among = datasets([1, 2, 2, 3], range(4))
    assert len(among) == math.comb(3 + 3, 3)
    assert among[0] == ()
    again = [tuple(reversed(data)) for data in among] + among
    assert sensitivity(sum, again).value == sensitivity(sum, among).value == 3
    assert datasets([], [0, 2]) == [()]


@pytest.mark.parametrize("relation", RELATIONS)
def test_bounds_are_attained(relation):
    records = [-2, 0, 1, 5]
    among = datasets(records, range(2, 5))
    for query, bound in [
        (lambda data: sum(x > 0 for x in data), count_sensitivity(relation)),
        (lambda data: [data.count(x) for x in records], histogram_sensitivity(relation)),
        (sum, sum_sensitivity(-2, 5, relation)),
        (lambda data: np.mean(data), mean_sensitivity(-2, 5, 2, relation)),
    ]:
        found = sensitivity(query, among, relation)
        assert found.value <= bound.value
        assert found.value == pytest.approx(bound.value, rel=1e-12)
    found = sensitivity(lambda data: [data.count(x) for x in records], among, relation, 2)
    assert found.value <= histogram_sensitivity(relation, 2).value == pytest.approx(found.value)


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("norm", [1, 2])
def test_vector_bounds_are_attained(relation, norm):
    low, high = [-1.0, 0.0], [2.0, 3.0]
    corners = [(x, y) for x in (-1.0, 2.0) for y in (0.0, 3.0)]
    found = sensitivity(lambda data: np.sum(data, axis=0), datasets(corners, [1, 2]), relation, norm)
    bound = sum_sensitivity(low, high, relation, norm).value
    assert found.value <= bound == pytest.approx(found.value)
    mean = sensitivity(lambda data: np.mean(data, axis=0), datasets(corners, [1, 2, 3]), relation, norm)
    assert mean.value <= mean_sensitivity(low, high, 1, relation, norm).value
    if relation == "replace-one":
        assert mean.value == pytest.approx(mean_sensitivity(low, high, 1, relation, norm).value)


@given(st.floats(-1e9, 1e9), st.floats(0, 1e9))
def test_bounds_are_never_understated(low, width):
    from fractions import Fraction

    high = low + width
    bound = sum_sensitivity(low, high, "replace-one").value
    assert Fraction(bound) >= Fraction(high) - Fraction(low)
    assert Fraction(mean_sensitivity(low, high, 3, "add-remove").value) >= (Fraction(high) - Fraction(low)) / 4
    both = sum_sensitivity([low, low], [high, high], "replace-one").value
    assert Fraction(both) >= 2 * (Fraction(high) - Fraction(low))


def test_bad_queries():
    with pytest.raises(InputError, match="no data set"):
        sensitivity(sum, [])
    with pytest.raises(InputError, match="relation 'swap'"):
        sensitivity(sum, [()], "swap")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="norm 3"):
        sum_sensitivity(0, 1, "add-remove", 3)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="several sizes"):
        sensitivity(list, datasets([1.0, 2.0], [1, 2]))
    with pytest.raises(InputError, match="cannot be counted"):
        sensitivity(len, [([1],)])
    with pytest.raises(InputError, match="finite number"):
        sensitivity(lambda data: math.inf, [()])
    with pytest.raises(InputError, match="8,416,958,750,200 data sets"):
        datasets(range(1000), [5])
    with pytest.raises(InputError, match="lower one first"):
        sum_sensitivity(2, 1)
    with pytest.raises(InputError, match="have no mean"):
        mean_sensitivity(0, 1, 0)


def test_two_queries_with_the_sum_of_sensitivities():
    # Section E: noise of scale (Delta f1 + Delta f2) / epsilon on each is jointly epsilon-private.
    joint = JointQueries.allocate([1.0, 3.0], 0.5, "equal-noise")
    assert joint.scales == (8.0, 8.0)
    assert joint.epsilon == 0.5
    # On integers: secrets move both answers at once, by 1 and by 3; reports are pairs.
    first, second = (
        DiscreteLaplace(e, int(d)).clamp(0, 6).mechanism()
        for d, e in zip(joint.sensitivities, joint.epsilons, strict=True)
    )
    rows = [np.outer(first.matrix[s], second.matrix[3 * s]).ravel() for s in range(3)]
    metric = Metric(np.abs(np.arange(3.0)[:, None] - np.arange(3)))
    found = prove_metric_privacy(Mechanism(np.array(rows)), MetricPrivacy(0.5 * (1 + 1e-9), metric))
    assert found.holds
    assert found.upper == pytest.approx(0.5, rel=1e-8)
    # Moved one at a time, they cost less: the vector's own sensitivity knows.
    alone = sensitivity(lambda data: [data.count("a"), 3 * data.count("b")], datasets("ab", range(3)))
    assert alone.value == 3 < 1 + 3


@given(
    st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=6),
    st.floats(1e-3, 10),
    st.sampled_from(["equal-noise", "equal-epsilon", "least-variance", "least-error"]),
)
def test_allocations_spend_no_more_than_epsilon(sensitivities, epsilon, rule):
    joint = JointQueries.allocate(sensitivities, epsilon, rule)
    assert joint.epsilon <= epsilon
    assert joint.epsilon == pytest.approx(epsilon, rel=1e-12)
    if rule == "equal-noise":
        assert joint.scales == pytest.approx([math.fsum(sensitivities) / epsilon] * len(sensitivities))


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=5), st.integers(0, 2**32))
def test_least_rules_are_the_least(sensitivities, seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 10, len(sensitivities)).tolist()

    def cost(joint, power):
        return sum(w * scale**power for w, scale in zip(weights, joint.scales, strict=True))

    rules: list[tuple[Rule, int]] = [("least-variance", 2), ("least-error", 1)]
    for rule, power in rules:
        best = JointQueries.allocate(sensitivities, 1.0, rule, weights)
        for _ in range(20):
            shares = np.array(best.epsilons) * np.exp(rng.normal(size=len(weights)) * rng.choice([0.01, 1.0]))
            other = JointQueries(sensitivities, (shares / shares.sum()).tolist())
            assert cost(best, power) <= cost(other, power) * (1 + 1e-12)


def test_joint_queries_in_general():
    joint = JointQueries([1.0, 2.0, 5.0], [0.1, 0.2, 0.3])
    assert joint.epsilon >= 0.6
    assert joint.scales == pytest.approx((10.0, 10.0, 5 / 0.3))
    assert joint.variance == pytest.approx(2 * (100 + 100 + (5 / 0.3) ** 2))
    with pytest.raises(InputError, match="1 sensitivities and 2 epsilons"):
        JointQueries([1.0], [0.1, 0.1])
    with pytest.raises(InputError, match="weights"):
        JointQueries.allocate([1.0], 1.0, "equal-noise", [2.0])
    with pytest.raises(InputError, match="rule 'fair'"):
        JointQueries.allocate([1.0], 1.0, "fair")  # type: ignore[arg-type]
