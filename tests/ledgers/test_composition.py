"""Composition against the product channel, written out and proved."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.ledgers import compose
from sfumato.proofs import prove_metric_privacy

from ..catalogue import CASES
from .cases import both, noise, response


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_two_reports_are_the_product_channel(first, second):
    a, b = noise(first), noise(second, observables=4)
    metric = sf.Metric([[0.0, 1.0, 2.0], [1.0, 0.0, 1.5], [2.0, 1.5, 0.0]])
    found = compose([a, b], metric)
    together = prove_metric_privacy(both(a, b), sf.MetricPrivacy(1.0, metric))
    np.testing.assert_allclose(found.epsilon_upper, together.upper, rtol=1e-10)
    alone = [prove_metric_privacy(one, sf.MetricPrivacy(1.0, metric)).upper for one in (a, b)]
    np.testing.assert_allclose(found.summed, sum(alone), rtol=1e-10)
    assert found.epsilon_upper <= found.summed


@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_report_is_the_mechanism_itself_and_three_are_three_times_it(case):
    one, three = (compose([case.mechanism] * k, case.metric) for k in (1, 3))
    np.testing.assert_allclose(one.epsilon_upper, case.epsilon, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(three.epsilon_upper, 3 * one.epsilon_upper, rtol=1e-12)
    np.testing.assert_allclose(three.summed, 3 * one.summed, rtol=1e-12)
    assert one.epsilon_upper <= one.summed


def test_mechanisms_weak_on_different_pairs_together_spend_less_than_the_sum():
    a = sf.Mechanism([[0.8, 0.2], [0.2, 0.8], [0.5, 0.5]])
    b = sf.Mechanism([[0.5, 0.5], [0.4, 0.6], [0.9, 0.1]])
    found = compose([a, b], sf.hamming(sf.Space(range(3))))
    assert found.summed > found.epsilon_upper + 0.3
    assert "2 reports" in str(found)


def exact_log(mechanism, s, t):
    """The largest log-ratio of two rows of integers, in extended precision."""
    pairs = zip(mechanism.weights[s].tolist(), mechanism.weights[t].tolist(), strict=True)
    return max(np.log(np.longdouble(p)) - np.log(np.longdouble(q)) for p, q in pairs if p)


def test_it_is_never_understated():
    for seed in range(20):
        mechanisms = [noise(seed + i) for i in range(5)]
        found = compose(mechanisms, sf.hamming(mechanisms[0].secrets))
        exact = max(sum(exact_log(one, s, t) for one in mechanisms) for s in range(3) for t in range(3) if s != t)
        assert found.epsilon_upper >= exact
        assert found.epsilon_upper <= exact * (1 + 1e-12)


def test_a_report_that_rules_secrets_out_hides_nothing():
    found = compose([response(), sf.Mechanism(np.eye(3))], sf.hamming(response().secrets))
    assert found.epsilon_upper == found.summed == np.inf


def test_what_makes_no_sense_is_refused():
    with pytest.raises(sf.errors.InputError, match="no report"):
        compose([], sf.hamming(sf.Space(range(3))))
    with pytest.raises(sf.errors.InputError, match="3 secrets"):
        compose([response()], sf.hamming(sf.Space(range(4))))
