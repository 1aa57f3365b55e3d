"""Bounds of the best guess: around the truth as often as stated."""

import math

import numpy as np
import pytest

from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.leakage import bayes_error, bayes_vulnerability, min_entropy_leakage_bits
from sfumato.statistics import Sample, estimate_guessing

from ..catalogue import CASES, geometric, randomised_response, unused
from .boxes import counts_of, most_failures, rows_of

REPETITIONS, FAILURE = 200, 0.2
SOME = [case for case in CASES if case.name in ("geometric on a line", "constant", "truth", "generalised cells")]


def pairs_of(case, size, rng):
    """Pairs drawn from the joint distribution; a secret of prior zero never occurs."""
    joint = case.mechanism.joint(case.prior)
    counts = rng.multinomial(size, (joint / joint.sum()).ravel()).reshape(joint.shape)
    return Sample(counts, case.mechanism.secrets)


def rows_sample(case, size, rng):
    """As many outputs of every secret of positive prior."""
    sizes = np.where(case.prior.probabilities > 0, size, 0)
    return Sample(counts_of(rows_of(case.mechanism), sizes, rng), case.mechanism.secrets)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("given", [False, True], ids=["pairs", "prior given"])
@pytest.mark.parametrize("case", SOME, ids=str)
def test_all_bounds_hold_together_as_often_as_stated(case, given):
    truth = bayes_vulnerability(case.mechanism, case.prior)
    blind, leak = case.prior.probabilities.max(), min_entropy_leakage_bits(case.mechanism, case.prior)
    rng, wrong = np.random.default_rng(31), 0
    for seed in range(REPETITIONS):
        sample = rows_sample(case, 25, rng) if given else pairs_of(case, 80, rng)
        found = estimate_guessing(sample, case.prior if given else None, failure=FAILURE, seed=seed)
        tiny = 1e-9
        inside = found.vulnerability.lower - tiny <= truth <= found.vulnerability.upper + tiny
        inside &= found.prior.lower <= blind <= found.prior.upper
        inside &= (
            found.min_entropy_leakage_bits.lower <= leak + tiny <= found.min_entropy_leakage_bits.upper + tiny
        )
        wrong += not inside
    assert wrong <= most_failures(REPETITIONS, FAILURE)


@pytest.mark.parametrize("given", [False, True], ids=["pairs", "prior given"])
def test_the_plug_in_is_above_the_truth_on_average_and_the_tested_guess_below(given):
    case = next(case for case in CASES if case.name == "geometric on a line")
    truth = bayes_vulnerability(case.mechanism, case.prior)
    rng = np.random.default_rng(32)
    found = [
        estimate_guessing(
            rows_sample(case, 12, rng) if given else pairs_of(case, 40, rng), case.prior if given else None, seed=i
        )
        for i in range(300)
    ]
    assert np.mean([one.plug_in for one in found]) > truth + 0.01
    assert np.mean([one.vulnerability.value for one in found]) < truth - 0.01


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 4.0])
def test_the_bayes_error_of_geometric_noise_is_met(epsilon):
    # Uniform prior on n numbers: the best guess is the report, wrong with (1 - 1/n) 2a / (1 + a), a = e^-epsilon.
    n, a = 10, math.exp(-epsilon)
    mechanism = Mechanism(unused(geometric(n, epsilon)), Space(range(n)))
    prior = Prior.uniform(mechanism.secrets)
    error = (1 - 1 / n) * 2 * a / (1 + a)
    assert bayes_error(mechanism, prior) == pytest.approx(error)
    counts = counts_of(rows_of(mechanism), 20_000, np.random.default_rng(33))
    for given in (None, prior):
        found = estimate_guessing(Sample(counts, mechanism.secrets), given, failure=1e-6, seed=1)
        assert found.error.lower <= error <= found.error.upper
        assert found.error.width < 0.03
        assert 1 - found.plug_in == pytest.approx(error, abs=0.01)


def test_leakage_of_a_perfect_channel_is_the_entropy():
    found = estimate_guessing(Sample(1000 * np.eye(4)), Prior.uniform(Space(range(4))), seed=1)
    assert found.plug_in == found.vulnerability.value == 1
    assert found.prior.lower == found.prior.upper == 0.25
    assert 1.9 < found.min_entropy_leakage_bits.lower < 2 <= found.min_entropy_leakage_bits.upper + 1e-12
    assert "0.25 to 0.25" in str(found)


def test_a_prior_weighs_the_secrets_however_often_they_were_sampled():
    mechanism = Mechanism(randomised_response(3, 1.0), Space("abc"))
    prior = Prior(Space("abc"), [0.8, 0.2, 0.0])
    truth = bayes_vulnerability(mechanism, prior)
    counts = counts_of(rows_of(mechanism), [2_000, 30_000, 0], np.random.default_rng(34))
    found = estimate_guessing(Sample(counts, Space("abc")), prior, failure=1e-6, seed=1)
    assert found.vulnerability.lower <= truth <= found.vulnerability.upper
    assert found.plug_in == pytest.approx(truth, abs=0.02)
    assert abs(estimate_guessing(Sample(counts, Space("abc")), seed=1).plug_in - truth) > 0.05


def test_a_prior_on_other_secrets_is_refused():
    prior = Prior.uniform(Space("abc"))
    with pytest.raises(InputError, match="3 values"):
        estimate_guessing(Sample([[1, 2], [3, 4]]), prior)
    with pytest.raises(InputError, match="no given order"):
        estimate_guessing(Sample.of("abc", "xyz"), prior)
    with pytest.raises(InputError, match="not sampled"):
        estimate_guessing(Sample([[1, 2], [3, 4], [0, 0]], Space("abc")), prior)
    with pytest.raises(InputError, match="failure"):
        estimate_guessing(Sample([[1, 2], [3, 4]]), failure=2.0)
