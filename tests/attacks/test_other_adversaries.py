import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import attacks
from sfumato.core import Mechanism, Metric, Prior, Space
from sfumato.errors import InputError

from ..leakage.channels import cases, exponential_on_line, line, sparse_case

CLOSE = 1e-12


@given(cases())
def test_the_bayesian_attack_errs_no_less_than_the_optimal_one(case):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    bayes = attacks.bayes(mechanism, prior, d)
    assert bayes.error >= attacks.optimal(mechanism, prior, d).error - CLOSE
    joint, posterior = mechanism.joint(prior), mechanism.posterior(prior)
    assert bayes.error == pytest.approx(np.einsum("so,og,gs->", joint, posterior, d.array), abs=CLOSE)
    assert bayes.hit_rate == pytest.approx((joint * posterior.T).sum(), abs=CLOSE)


@given(cases())
def test_with_a_metric_the_bayesian_error_is_at_most_twice_the_optimal(case):
    # d(guess, s) <= d(guess, best) + d(best, s), and each term is on average the optimal error.
    mechanism, prior = case
    d = Metric(line(len(prior)))
    optimal = attacks.optimal(mechanism, prior, d).error
    assert attacks.bayes(mechanism, prior, d).error <= 2 * optimal + CLOSE


def test_without_information_the_bayesian_guess_is_drawn_from_the_prior():
    mechanism, prior = sparse_case()
    strategy = attacks.bayes(mechanism, prior, line(4)).strategy
    assert strategy[0].tolist() == [0.8, 0.2, 0.0, 0.0]
    assert strategy[3].tolist() == strategy[4].tolist() == prior.probabilities.tolist()


def test_the_bayesian_attack_guesses_secrets():
    mechanism, prior = sparse_case()
    with pytest.raises(InputError, match="for 3 guesses and 4 secrets"):
        attacks.bayes(mechanism, prior, np.ones((3, 4)))


@given(cases(), st.data())
def test_a_false_belief_never_helps(case, data):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(prior), max_size=len(prior)).filter(any))
    belief = Prior.from_counts(mechanism.secrets, weights)
    best = attacks.optimal(mechanism, prior, d)
    assert attacks.misinformed(mechanism, prior, d, belief).error >= best.error - CLOSE
    same = attacks.misinformed(mechanism, prior, d, prior)
    assert same.error == best.error
    assert np.array_equal(same.strategy, best.strategy)


def test_a_report_that_the_belief_holds_impossible_gets_its_blind_guess():
    mechanism = Mechanism(np.eye(3), Space("abc"))
    prior = Prior(mechanism.secrets, [0.25, 0.25, 0.5])
    belief = Prior(mechanism.secrets, [0.75, 0.25, 0.0])
    attack = attacks.misinformed(mechanism, prior, Metric(line(3)), belief)
    assert attack.estimates.tolist() == [0, 1, 0]
    assert attack.error == 1.0
    assert attack.name == "misinformed"


@given(cases(), st.floats(0, 1))
def test_a_sharper_belief_of_the_likeliest_secret(case, weight):
    mechanism, prior = case
    d = Metric(line(len(prior)))
    sharper = prior.sharpened(weight, places=1)
    claimed = attacks.misinformed(mechanism, prior, d, sharper)
    known = attacks.optimal(mechanism, sharper, d)
    assert np.array_equal(claimed.strategy, known.strategy)
    assert claimed.error >= attacks.optimal(mechanism, prior, d).error - CLOSE


@given(cases())
def test_the_unweighted_attack_has_the_least_sum_of_errors(case):
    mechanism, prior = case
    d = line(len(prior))
    attack = attacks.unweighted(mechanism, prior, d)
    least = (d @ mechanism.matrix).min(axis=0).sum()
    assert attack.per_secret.sum() == pytest.approx(least, abs=CLOSE)
    assert attack.error >= attacks.optimal(mechanism, prior, d).error - CLOSE


def test_the_unweighted_attack_is_optimal_under_the_uniform_prior():
    mechanism = exponential_on_line()
    prior = Prior.uniform(mechanism.secrets)
    d = Metric(line(5))
    attack = attacks.unweighted(mechanism, prior, d)
    assert attack.error == attacks.optimal(mechanism, prior, d).error
    assert attack.name == "unweighted"
