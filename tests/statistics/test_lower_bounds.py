"""Lower bounds of epsilon and delta: below the truth as often as stated, and near it for many samples."""

import math

import numpy as np
import pytest

from sfumato.core import Mechanism, Metric, Space
from sfumato.divergences import HockeyStick
from sfumato.errors import InputError
from sfumato.statistics import Sample, delta_lower, epsilon_lower

from ..catalogue import CASES, discrete, geometric, line, randomised_response, unused
from .boxes import counts_of, most_failures, rows_of

REPETITIONS, FAILURE = 100, 0.2
PAIRS = [case for case in CASES if case.mechanism.shape[0] > 1]


def sample_of(case, size, rng, fixed=False):
    """Samples of a case; its last secret is left out, as one of prior zero is."""
    sizes = np.full(len(case.mechanism.matrix), size)
    if len(sizes) > 2:
        sizes[-1] = 0
    observables = case.mechanism.observables if fixed else None
    return Sample(counts_of(rows_of(case.mechanism), sizes, rng), case.mechanism.secrets, observables)


def true_epsilon(case):
    """The epsilon between the sampled secrets, by brute force over pairs and outputs."""
    rows, d = case.mechanism.matrix, case.metric.array
    n = len(rows) - (len(rows) > 2)
    found = 0.0
    for s in range(n):
        for t in range(n):
            if s != t and np.isfinite(d[s, t]):
                for a, b in zip(rows[s], rows[t], strict=True):
                    if a > b:
                        scale = d[s, t]
                        ratio = math.inf if b == 0 else math.log(a / b)
                        found = max(found, ratio / scale if scale else math.inf)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fixed", [False, True], ids=["outputs as seen", "outputs fixed"])
@pytest.mark.parametrize("case", [case for case in PAIRS if case.epsilon < 50], ids=str)
def test_epsilon_is_overstated_no_more_often_than_stated(case, fixed):
    rng = np.random.default_rng(11)
    truth = true_epsilon(case)
    wrong = 0
    for seed in range(REPETITIONS):
        sample = sample_of(case, 60, rng, fixed)
        wrong += epsilon_lower(sample, case.metric, failure=FAILURE, seed=seed).value > truth
    assert wrong <= most_failures(REPETITIONS, FAILURE)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("dimensions", [1, 2])
def test_cells_chosen_from_samples_do_not_overstate_epsilon_either(dimensions):
    # Laplace noise of epsilon 1 per unit in each number, secrets at distance .5: cells can only show less.
    rng, wrong, truth = np.random.default_rng(19), 0, 0.5 * dimensions
    secrets = np.repeat([0.0, 0.5], 150)
    for seed in range(REPETITIONS):
        values = secrets[:, None] + rng.laplace(size=(300, dimensions))
        sample = Sample.of_values(secrets, values, 8, seed=seed)
        wrong += epsilon_lower(sample, failure=FAILURE, seed=seed).value > truth
    assert wrong <= most_failures(REPETITIONS, FAILURE)
    values = np.repeat(secrets, 60)[:, None] + rng.laplace(size=(18_000, dimensions))
    many = epsilon_lower(Sample.of_values(np.repeat(secrets, 60), values, 8, seed=1), seed=1)
    assert 0.6 * truth < many.value <= truth


def test_the_naive_choice_and_judgement_on_the_same_samples_would_fail():
    # The same count of failures for the plug-in shows that the test above can fail.
    rng = np.random.default_rng(12)
    wrong = 0
    for _ in range(REPETITIONS):
        shares = (counts_of(randomised_response(4, 0.5), 60, rng) + 0.5) / 62
        wrong += np.log(shares[:, None] / shares[None]).max() > 0.5
    assert wrong > most_failures(REPETITIONS, FAILURE)


@pytest.mark.parametrize("case", PAIRS, ids=str)
def test_many_samples_come_near_the_truth_from_below(case):
    truth = true_epsilon(case)
    for fixed in (False, True):
        sample = sample_of(case, 20_000, np.random.default_rng(13), fixed)
        found = epsilon_lower(sample, case.metric, failure=1e-6, seed=1)
        assert found.value <= truth
        assert found.value >= min(0.7 * truth, 5.0)
        assert found.unit == case.metric.unit
        if found.value > 0:
            (s, t), (low, high) = (case.mechanism.secrets.positions(found.pair), found.rates)
            event = case.mechanism.observables.positions(found.event) if fixed else list(found.event)
            chances = case.mechanism.matrix[:, event].sum(axis=1)
            assert low <= chances[s]
            assert chances[t] <= high
            assert found.value * case.metric.array[s, t] <= math.log(low / high) or case.metric.array[s, t] == 0


def test_a_union_of_outputs_shows_what_no_single_output_can():
    # Each output is seen too rarely to show anything, but half of them come with twice the probability.
    m = 400
    rows = np.vstack([np.repeat([2.0, 1.0], m // 2), np.repeat([1.0, 2.0], m // 2)]) / (1.5 * m)
    counts = counts_of(rows, 3000, np.random.default_rng(14))
    found = epsilon_lower(Sample(counts), seed=1)
    assert 0.25 < found.value <= math.log(2)
    assert len(found.event) > 20
    alone = [np.column_stack([counts[:, o], counts.sum(axis=1) - counts[:, o]]) for o in range(0, m, 40)]
    assert max(epsilon_lower(Sample(pair), seed=1).value for pair in alone) < found.value / 2


def test_secrets_at_distance_zero_that_differ_have_no_epsilon():
    metric = Metric([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    same = Sample([[500, 500], [480, 520], [0, 0]], Space("abc"))
    other = Sample([[900, 100], [100, 900], [0, 0]], Space("abc"))
    assert epsilon_lower(same, metric, seed=2).value == 0
    found = epsilon_lower(other, metric, seed=2)
    assert found.value == math.inf
    assert "infinite" in str(found)


def test_an_output_never_seen_gives_a_bound_and_says_that_it_may_be_infinite():
    found = epsilon_lower(Sample([[1000, 0], [0, 1000]]), seed=3)
    assert found.is_unbounded
    assert "may be infinite" in str(found)
    # Two bounds for each of two events, at level .05 / 4: all of 700 against none of 700.
    level = 0.05 / 4
    low, high = level ** (1 / 700), 1 - level ** (1 / 700)
    assert found.value == pytest.approx(math.log(low / high), rel=1e-8)
    assert found.value <= math.log(low / high)


def test_epsilon_is_per_unit_of_the_metric():
    counts = counts_of(geometric(4, 0.6), 4000, np.random.default_rng(15))
    sample = Sample(counts, Space(range(4)))
    km = epsilon_lower(sample, Metric(line(4), "km"), seed=4)
    metres = epsilon_lower(sample, Metric(1000 * line(4), "m"), seed=4)
    assert km.value == pytest.approx(1000 * metres.value)
    assert "/km" in str(km)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.0])
def test_delta_is_below_the_hockey_stick_divergence_and_near_it(epsilon):
    rows = unused(randomised_response(4, 1.2))
    truth = max(HockeyStick(epsilon)(p, q) for p in rows for q in rows)
    rng, wrong = np.random.default_rng(16), 0
    for seed in range(60):
        wrong += delta_lower(Sample(counts_of(rows, 80, rng)), epsilon, failure=FAILURE, seed=seed).value > truth
    assert wrong <= most_failures(60, FAILURE)
    many = delta_lower(Sample(counts_of(rows, 50_000, rng)), epsilon, failure=1e-6, seed=1)
    assert 0.6 * truth < many.value <= truth
    assert "delta is at least" in str(many)


def test_epsilon_at_delta_and_delta_at_epsilon_agree():
    # Counterexample F of the golden values: (.98, .02, 0) and (.98, 0, .02): TV .02, epsilon infinite.
    rows = np.array([[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]])
    sample = Sample(counts_of(rows, 20_000, np.random.default_rng(17)))
    assert epsilon_lower(sample, delta=0.021, failure=1e-6, seed=1).value == 0
    assert epsilon_lower(sample, delta=0.01, failure=1e-6, seed=1).value > 1
    assert 0.01 < delta_lower(sample, 0.5, failure=1e-6, seed=1).value <= 0.02


def test_a_metric_needs_the_order_of_the_secrets_and_their_number():
    sample = Sample.of(["a", "b"], ["x", "y"])
    with pytest.raises(InputError, match="order"):
        epsilon_lower(sample, Metric(discrete(2)))
    with pytest.raises(InputError, match="3 values"):
        epsilon_lower(Sample([[1, 2], [3, 4]]), Metric(discrete(3)))
    apart = Metric([[0.0, math.inf], [math.inf, 0.0]])
    with pytest.raises(InputError, match="finite distance"):
        epsilon_lower(Sample([[1, 2], [3, 4]]), apart)


def test_arguments_out_of_range_are_refused():
    sample = Sample([[10, 20], [30, 40]])
    for bad in ({"failure": 0.0}, {"delta": 1.0}, {"share": 1.0}, {"candidates": 0}):
        with pytest.raises(InputError):
            epsilon_lower(sample, **bad)
    with pytest.raises(InputError, match="negative"):
        delta_lower(sample, -1.0)


def test_the_split_is_reproducible_by_its_seed_only():
    mechanism = Mechanism(randomised_response(3, 1.0))
    sample = Sample(counts_of(rows_of(mechanism), 300, np.random.default_rng(18)))
    values = {epsilon_lower(sample, seed=5).value for _ in range(3)}
    assert len(values) == 1
    assert len({epsilon_lower(sample).value for _ in range(8)}) > 1  # by chance: below 1e-12


def test_a_distance_too_small_for_any_epsilon():
    """The quotient is beyond all floats: the largest of them is a lower bound, infinity would not be one."""
    metric = Metric([[0, 5e-324], [5e-324, 0]])
    counts = np.array([[900, 100], [100, 900]])
    found = epsilon_lower(Sample(counts, Space("ab")), metric)
    assert found.value == pytest.approx(np.finfo(float).max)
