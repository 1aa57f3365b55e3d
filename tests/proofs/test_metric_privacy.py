import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, MetricPrivacy, ThresholdPrivacy
from sfumato.errors import InputError
from sfumato.proofs import prove_metric_privacy, worst_ratios

from ..catalogue import CASES, geometric, line, randomised_response, unused
from ..core.arrays import distances, stochastic
from . import exact

SLACK = 1e-9


@st.composite
def protected(draw):
    """A random mechanism, some of its rows mixed so that all is finite, and a random metric of any directions."""
    d = draw(distances(largest=4, symmetric=draw(st.booleans())))
    n, m = len(d), draw(st.integers(1, 4))
    matrix = draw(stochastic(n, m))
    mixed = draw(st.sampled_from([0.0, 0.5, 1.0]))
    matrix = (1 - mixed) * matrix + mixed * matrix.mean(axis=0)
    return Mechanism(matrix), Metric(d, symmetric=False, triangle=False), draw(st.floats(1e-3, 5))


@given(protected())
def test_the_proof_is_brute_force(case):
    mechanism, metric, claimed = case
    proof = prove_metric_privacy(mechanism, MetricPrivacy(claimed, metric))
    per_pair = exact.epsilons(mechanism, metric.array)
    true = max((float(e.mid()) for e in per_pair.values()), default=0.0)
    assert proof.upper >= true
    near = min([d for d in metric.array.flat if 0 < d < math.inf], default=1.0)
    assert proof.upper <= true * (1 + SLACK) + SLACK / near
    assert proof.holds == exact.private(mechanism, metric.array, claimed)
    assert proof.holds == (proof.upper <= claimed)
    if true > 1e-6:
        assert float(per_pair[proof.worst_pair].mid()) >= true * (1 - 1e-12)
        (s, t), o = proof.worst_pair, proof.worst_observable
        a, b = exact.weights(mechanism)[s][o], exact.weights(mechanism)[t][o]
        d = metric.array[s, t]
        witness = math.inf if b == 0 or (d == 0 and a > b) else (math.log(a) - math.log(b)) / d
        assert witness >= true * (1 - 1e-9) - 1e-12


@given(protected())
def test_ratios(case):
    mechanism, *_ = case
    rows = exact.probabilities(mechanism)
    ratios, where = worst_ratios(mechanism)
    for s, a in enumerate(rows):
        for t, b in enumerate(rows):
            expected = max(math.inf if y == 0 else float(x / y) for x, y in zip(a, b, strict=True) if x > 0)
            assert ratios[s, t] == pytest.approx(expected, rel=2.0**-49)
            o = where[s, t]
            assert (math.inf if b[o] == 0 else float(a[o] / b[o])) == pytest.approx(expected, rel=2.0**-49)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_catalogue_is_tight(case):
    proof = prove_metric_privacy(case.mechanism, MetricPrivacy(1.0, case.metric))
    assert proof.upper == pytest.approx(case.epsilon, rel=1e-6, abs=1e-9)
    if 0 < case.epsilon < math.inf:
        assert prove_metric_privacy(case.mechanism, MetricPrivacy(case.epsilon + 1e-5, case.metric)).holds
        assert not prove_metric_privacy(case.mechanism, MetricPrivacy(case.epsilon - 1e-5, case.metric)).holds


@pytest.mark.parametrize("epsilon", [0.1, math.log(2), 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 3, 9])
def test_private_at_epsilon_and_not_a_little_below(size, epsilon):
    for matrix, metric in (
        (geometric(size, epsilon), Metric(line(size))),
        (randomised_response(size, epsilon), Metric(1.0 - np.eye(size))),
    ):
        mechanism = Mechanism(unused(matrix))
        assert prove_metric_privacy(mechanism, MetricPrivacy(epsilon * (1 + 1e-7), metric)).holds
        below = prove_metric_privacy(mechanism, MetricPrivacy(epsilon - 0.01, metric))
        assert not below.holds
        assert below.upper == pytest.approx(epsilon, rel=1e-7)
        s, t = below.worst_pair
        assert metric.array[s, t] == 1  # every step is tight


@given(st.integers(2**20, 2**59), st.floats(0.2, 1.0))
def test_one_unit_more_decides(small, epsilon):
    p, k = _exp(epsilon)
    large = (p * small) >> k  # the largest integer that keeps the ratio
    metric = Metric([[0, 1], [1, 0]])
    for a, holds in ((large, True), (large + 1, False)):
        weights = np.array([[a, 2**62 - a], [small, 2**62 - small]])
        mechanism = Mechanism.from_weights(weights, 62)
        proof = prove_metric_privacy(mechanism, MetricPrivacy(epsilon, metric))
        assert exact.private(mechanism, metric.array, epsilon) is holds
        assert proof.holds is holds
        assert proof.upper >= exact.epsilon(mechanism, metric.array) * (1 - 1e-15)
        assert (proof.upper <= epsilon) is holds


def _exp(epsilon):
    from flint import arb, ctx

    with ctx.workprec(exact.BITS):
        whole = (arb(epsilon).exp() * arb(2) ** 400).floor().unique_fmpz()
    assert whole is not None
    return int(whole), 400


def test_pairs_at_distance_zero_need_equal_integers():
    metric = Metric([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    weights = np.array([[2**61, 2**61], [2**61, 2**61], [2**60, 2**62 - 2**60]])
    equal = prove_metric_privacy(Mechanism.from_weights(weights, 62), MetricPrivacy(2, metric))
    assert equal.holds
    weights[1] += [1, -1]
    other = prove_metric_privacy(Mechanism.from_weights(weights, 62), MetricPrivacy(2, metric))
    assert not other.holds
    assert other.upper == math.inf
    assert set(other.worst_pair) == {0, 1}


def test_pairs_at_infinite_distance_may_be_told_apart():
    metric = Metric([[0, np.inf], [np.inf, 0]])
    proof = prove_metric_privacy(Mechanism(np.eye(2)), MetricPrivacy(0.01, metric))
    assert proof.holds
    assert proof.upper < 1e-300


def test_threshold_privacy_is_proved_in_hops():
    x = np.array([0.0, 1.0, 2.0, 9.0])
    far = ThresholdPrivacy(1.0, Metric(np.abs(x[:, None] - x), "km"), "1 km")
    block = np.zeros((4, 4))
    block[:3, :3], block[3, 3] = geometric(3, 0.999999), 1.0
    proof = prove_metric_privacy(Mechanism(block), far)
    assert proof.holds
    assert proof.guarantee == "epsilon 1, hops of at most 1 km"


def test_words_and_units():
    proof = prove_metric_privacy(Mechanism(geometric(3, 0.5)), MetricPrivacy("0.6/km", Metric(line(3), "km")))
    assert (proof.claimed, proof.unit, proof.guarantee) == (0.6, "km", "epsilon 0.6/km, metric")
    with pytest.raises(InputError, match="for 3 secrets, but there are 2"):
        prove_metric_privacy(Mechanism(np.eye(2)), MetricPrivacy(1, Metric(line(3))))


@given(protected(), st.floats(0.1, 10))
def test_epsilon_scales_with_the_unit(case, factor):
    mechanism, metric, claimed = case
    one = prove_metric_privacy(mechanism, MetricPrivacy(claimed, metric)).upper
    other = prove_metric_privacy(mechanism, MetricPrivacy(claimed, metric.scale(factor))).upper
    if one > 1e-6:
        assert other * factor == pytest.approx(one, rel=1e-6)


@pytest.mark.parametrize("far", [5e-324, 1e-310, 1e-300, 1e300, 1.7e308])
@pytest.mark.parametrize(
    ("rows", "log_ratio"),
    [([[0.5, 0.5], [0.25, 0.75]], math.log(2)), ([[0.5, 0.5], [0.5, 0.5]], 0.0), ([[1, 0], [0.5, 0.5]], math.inf)],
)
@pytest.mark.parametrize("claimed", [1e-10, 1.0, 1e300])
def test_distances_at_the_ends_of_the_floats(rows, log_ratio, far, claimed):
    mechanism, metric = Mechanism(np.array(rows)), Metric(np.array([[0, far], [far, 0]]))
    proof = prove_metric_privacy(mechanism, MetricPrivacy(claimed, metric))
    assert proof.holds == (proof.upper <= claimed)
    private = math.isfinite(log_ratio) and log_ratio <= claimed * far
    assert proof.holds <= private
    if far >= 1e-300:
        assert proof.holds == private
