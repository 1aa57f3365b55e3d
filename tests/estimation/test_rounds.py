"""Incremental rounds: each mechanism is made for the last estimate."""

from itertools import pairwise

import numpy as np
import pytest

import sfumato as sf
from sfumato.estimation import Reports, bayesian_updates, incremental, maximum_likelihood

from .cases import population

LINE = sf.Space.numbers(range(8))
D = LINE.metric()


def rate_distortion(prior, slope=1.0, steps=8):
    """The mechanism of Blahut and Arimoto after a few steps (PRIVIC, section 3)."""
    marginal = np.full(8, 1 / 8)
    matrix = np.empty((8, 8))
    for _ in range(steps):
        matrix = marginal * np.exp(-slope * D.array)
        matrix /= matrix.sum(axis=1, keepdims=True)
        marginal = prior.probabilities @ matrix
    return sf.Mechanism(matrix, LINE, LINE)


def collector(users=4000, seed=5):
    truth = population(8)

    def collect(mechanism, number):
        rng = np.random.default_rng([seed, number])
        return Reports(mechanism, rng.multinomial(users, truth @ mechanism.matrix))

    return collect


def run(**options):
    first = sf.mechanisms.geometric(LINE, 1.0)
    return incremental(collector(), first, rate_distortion, 4, **options)


def test_each_round_runs_the_mechanism_of_the_last_estimate():
    rounds = run(iterations=10, pooled=False)
    assert rounds[0].reports.mechanism == sf.mechanisms.geometric(LINE, 1.0)
    for before, after in pairwise(rounds):
        assert after.reports.mechanism == rate_distortion(before.estimate.prior)
    for one in rounds:
        alone = bayesian_updates(one.reports, 10).probabilities
        np.testing.assert_array_equal(one.estimate.probabilities, alone)


def test_pooled_rounds_use_all_reports_so_far():
    rounds = run()
    assert [one.estimate.reports for one in rounds] == [4000, 8000, 12000, 16000]
    all_at_once = maximum_likelihood([one.reports for one in rounds])
    np.testing.assert_allclose(rounds[-1].estimate.probabilities, all_at_once.probabilities, atol=1e-9)
    truth = sf.Prior(LINE, population(8))
    distances = [one.estimate.distance_to(truth, D).distance.value for one in rounds]
    assert distances[-1] < distances[0]
    assert distances[-1] < 0.2


def test_mechanisms_of_the_loop_stay_within_twice_the_slope():
    for one in run(iterations=10, pooled=False)[1:]:
        proof = sf.proofs.prove_metric_privacy(one.reports.mechanism, sf.MetricPrivacy(2.0 + 1e-6, D))
        assert proof.holds  # 2 beta, formulas F.4


def test_reports_of_another_mechanism_are_refused():
    other = Reports(sf.mechanisms.geometric(LINE, 0.5), [1] * 8)
    with pytest.raises(sf.errors.InputError, match="another mechanism"):
        incremental(lambda mechanism, number: other, sf.mechanisms.geometric(LINE, 1.0), rate_distortion, 2)
    with pytest.raises(sf.errors.InputError, match="0 rounds"):
        incremental(collector(), sf.mechanisms.geometric(LINE, 1.0), rate_distortion, 0)
