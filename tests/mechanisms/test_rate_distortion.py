"""The least information for a loss: golden values, plain iterations, duality, and 2 b on the integers."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core import MetricPrivacy, Prior, Space
from sfumato.errors import InfeasibleError, InputError, SolverError
from sfumato.leakage import conditional_entropy_bits, mutual_information_bits
from sfumato.mechanisms import (
    coin_of_distortion,
    exponential,
    rate_distortion,
    rate_distortion_of_loss,
    remap_mechanism,
)
from sfumato.proofs import distortion_below, prove_metric_privacy

LINE = Space.numbers(range(5))
STEPS = LINE.metric("absolute")
EVEN = Prior.uniform(LINE)


def iterated(prior, loss, slope, iterations, allowed=True):
    """Blahut and Arimoto as printed: q <- sum of prior p(.|s); p(o|s) proportional to q(o) exp(-b l)."""
    decay = np.where(allowed, np.exp(-slope * loss), 0.0)
    q = np.full(loss.shape[1], 1 / loss.shape[1])
    for _ in range(iterations):
        rows = q * decay
        rows /= rows.sum(axis=1, keepdims=True)
        q = prior @ rows
    return rows


@pytest.mark.parametrize(
    ("slope", "loss", "bits"), [(0.5, 1.085839, 0.074116), (1.0, 0.618127, 0.581181), (2.0, 0.213114, 1.398022)]
)
def test_golden(slope, loss, bits):
    found = rate_distortion(EVEN, STEPS, slope)
    assert found.loss == pytest.approx(loss, abs=1e-6)
    assert found.information_bits.value == pytest.approx(bits, abs=1e-6)
    assert distortion_below(found.mechanism, EVEN, STEPS) == pytest.approx(found.loss, abs=1e-7)
    assert found.gap_bits < 1e-8
    if slope == 0.5:
        expected = [0, 0.233058, 0.533884, 0.233058, 0]
        np.testing.assert_allclose(found.mechanism.marginal(EVEN), expected, atol=1e-6)
        assert (found.mechanism.weights[:, [0, 4]] == 0).all()


@st.composite
def problems(draw):
    n, m = draw(st.integers(2, 7)), draw(st.integers(2, 7))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    secrets, reports = Space(range(n), rng.uniform(0, 4, (n, 2))), Space(range(m), rng.uniform(0, 4, (m, 2)))
    belief = rng.dirichlet(np.full(n, draw(st.sampled_from([0.2, 2.0]))))
    if n > 2:
        belief[0] = 0.0
    return Prior.from_counts(secrets, belief), sf.loss(secrets, reports), reports, rng


@settings(max_examples=15)
@given(problems(), st.floats(0.05, 6))
def test_against_plain_iterations_and_any_other_mechanism(problem, slope):
    prior, loss, reports, rng = problem
    found = rate_distortion(prior, loss, slope, reports)
    p, cost = prior.probabilities, loss.array

    def priced(rows):
        marginal = p @ rows
        ratios = np.divide(rows, marginal, out=np.ones_like(rows), where=(rows > 0) & (marginal > 0))
        return float((p[:, None] * rows * (np.log(ratios) + slope * cost)).sum())

    ours = priced(found.mechanism.matrix)
    assert ours <= priced(iterated(p, cost, slope, 500)) + 1e-7
    for _ in range(5):
        assert ours <= priced(rng.dirichlet(np.ones(len(reports)), size=len(prior))) + 1e-7
    assert found.gap_bits <= 1e-8 + 1e-10 * found.information_bits.value
    # The bound for the loss: no other mechanism of at most this loss tells less.
    other = sf.Mechanism(rng.dirichlet(np.full(len(reports), 0.3), size=len(prior)), prior.space, reports)
    lower = found.information_bits.lower * math.log(2) + slope * (found.loss - other.expected_loss(prior, loss))
    assert mutual_information_bits(other, prior) * math.log(2) >= lower - 1e-12


@settings(max_examples=15)
@given(problems(), st.floats(0.05, 200))
def test_twice_the_slope_is_proved_on_the_integers(problem, slope):
    prior, _, _, _ = problem
    metric = prior.space.metric("euclidean")
    found = rate_distortion(prior, metric, slope)
    assert found.epsilon == 2 * slope
    assert prove_metric_privacy(found.mechanism, MetricPrivacy(2 * slope, metric)).holds


@given(problems(), st.floats(0.05, 3))
def test_for_other_losses_privacy_is_for_the_largest_difference(problem, slope):
    prior, loss, reports, _ = problem
    found = rate_distortion(prior, loss, slope, reports)
    differences = sf.Metric(np.abs(loss.array[:, None] - loss.array[None]).max(axis=2))
    assert prove_metric_privacy(found.mechanism, MetricPrivacy(2 * slope, differences)).holds


def test_an_asymmetric_loss_is_private_for_the_largest_difference_as_others_are():
    streets = sf.Metric([[0, 1, 2], [4, 0, 1], [3, 4, 0]], symmetric=False)
    mechanism = rate_distortion(Prior.uniform(Space(range(3))), streets, 0.7).mechanism
    differences = sf.Metric(np.abs(streets.array[:, None] - streets.array).max(axis=2), triangle=True)
    assert prove_metric_privacy(mechanism, MetricPrivacy(1.4, differences)).holds


def test_a_limited_worst_loss():
    grid = sf.Grid.covering("3 km x 3 km around 48.85,2.35", cell="500 m")
    prior = Prior.from_counts(grid, np.random.default_rng(4).gamma(0.3, size=len(grid)).round(1))
    assert (prior.probabilities == 0).any()
    metric = grid.metric("euclidean", unit="km")
    free = rate_distortion(prior, metric, "1/km")
    found = rate_distortion(prior, metric, "1/km", largest_loss="1 km")
    assert metric.array[found.mechanism.weights > 0].max() <= 1.0 + 1e-9
    assert found.epsilon == math.inf
    assert found.gap_bits < 1e-7
    possible = prior.support
    plain = iterated(
        prior.probabilities[possible], metric.array[possible], 1.0, 4000, metric.array[possible] <= 1.0 + 1e-9
    )
    loss = float((prior.probabilities[possible, None] * plain * metric.array[possible]).sum())
    assert found.loss == pytest.approx(loss, abs=1e-3)
    assert (
        found.information_bits.value
        > free.information_bits.value - 1 / math.log(2) * (found.loss - free.loss) - 1e-6
    )
    with pytest.raises(InfeasibleError, match="have no report"):
        rate_distortion(
            prior, sf.loss(grid, Space([0], [[0, 0]], "m", grid.crs)), 1.0, Space([0]), largest_loss=1.0
        )


def test_a_wanted_loss():
    prior = Prior(LINE, [0.0, 0.1, 0.4, 0.3, 0.2])
    silent = float((prior.probabilities @ STEPS.array).min())
    last = math.inf
    for target in (0.02, 0.2, 0.5, 0.99 * silent):
        found = rate_distortion_of_loss(prior, STEPS, target)
        assert target * (1 - 1e-6) <= found.loss <= target
        assert found.gap_bits < 1e-7
        assert found.information_bits.value < last
        last = found.information_bits.value
        # No mechanism of this loss tells less: the coin and the remapped exponential do not.
        assert (
            mutual_information_bits(coin_of_distortion(prior, STEPS, target), prior)
            > found.information_bits.value - 1e-9
        )
    for bad in (silent, 0.0, -1.0):
        with pytest.raises(InfeasibleError, match="between the two"):
            rate_distortion_of_loss(prior, STEPS, bad)


def test_ex_post_leaves_the_most_entropy_at_equal_loss():
    grid = sf.Grid.covering("4 km x 4 km around 48.85,2.35", cell="500 m")
    prior = Prior.from_counts(grid, np.random.default_rng(9).gamma(0.5, size=len(grid)))
    metric = grid.metric("euclidean", unit="km")
    other = remap_mechanism(exponential(grid, metric, "4/km"), prior, metric)
    loss = other.expected_loss(prior, metric)
    ours = rate_distortion_of_loss(prior, metric, loss).mechanism
    coin = coin_of_distortion(prior, metric, loss * (1 - 1e-9))
    entropies = [conditional_entropy_bits(m, prior) for m in (ours, other, coin)]
    assert entropies[0] > entropies[1] > entropies[2]
    assert distortion_below(ours, prior, metric) <= loss + 1e-9


def test_what_it_says_and_refuses():
    found = rate_distortion(EVEN, STEPS, 1.0)
    assert "RateDistortion of slope 1" in repr(found)
    assert found.largest_loss == math.inf
    with pytest.raises(InputError, match="slope must be a positive"):
        rate_distortion(EVEN, STEPS, 0.0)
    with pytest.raises(InputError, match="for 4 secrets"):
        rate_distortion(EVEN, np.ones((4, 5)), 1.0)
    with pytest.raises(SolverError, match="was requested"):
        rate_distortion(Prior(LINE, [0.0, 0.1, 0.4, 0.3, 0.2]), STEPS, 0.3, tolerance_bits=1e-40)


@pytest.mark.slow
def test_a_thousand_places():
    rng = np.random.default_rng(0)
    space = Space(range(1000), rng.uniform(0, 10, (1000, 2)), "km")
    prior = Prior(space, rng.dirichlet(np.full(1000, 0.3)))
    metric = space.metric("euclidean")
    found = rate_distortion(prior, metric, "1/km")
    assert found.gap_bits < 1e-8
    assert prove_metric_privacy(found.mechanism, MetricPrivacy("2/km", metric)).holds
