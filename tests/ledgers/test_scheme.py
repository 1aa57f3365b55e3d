"""Beliefs of an observer of many reports, against sums over all memos and sequences."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.ledgers import Scheme
from sfumato.proofs import prove_metric_privacy

from .cases import PRIOR, SPACE, both, noise, response, two_steps

D = sf.Metric([[0, 1, 2], [1, 0, 1], [2, 1, 0]])


def likelihood(scheme, sequence):
    """p(o_1, ..., o_t|s) as it is defined, array (secrets,)."""
    total = np.zeros(scheme.permanent.shape[0])
    for memo in range(scheme.permanent.shape[1]):
        chance = np.prod([scheme.instantaneous.matrix[memo, o] for o in sequence])
        total += scheme.permanent.matrix[:, memo] * chance
    return total


SCHEMES = [
    Scheme.fresh(noise(1)),
    Scheme.memo(noise(2)),
    two_steps(3),
    Scheme(response(), noise(5, sf.Space("abc?"))),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=repr)
@pytest.mark.parametrize("t", [1, 2, 3])
def test_likelihoods_are_sums_over_memos(scheme, t):
    m = scheme.instantaneous.shape[1]
    total = np.zeros(scheme.permanent.shape[0])
    for sequence in product(range(m), repeat=t):
        counts = np.bincount(sequence, minlength=m)
        found = np.exp(scheme.log_likelihood(counts))
        np.testing.assert_allclose(found, likelihood(scheme, sequence), atol=1e-15, rtol=1e-12)
        total += found
    np.testing.assert_allclose(total, 1, rtol=1e-12)


@given(st.integers(0, 10**6), st.lists(st.integers(0, 1), min_size=1, max_size=6))
def test_the_posterior_is_bayes_rule(seed, sequence):
    scheme = two_steps(seed)
    joint = PRIOR.probabilities * likelihood(scheme, sequence)
    found = scheme.posterior(PRIOR, np.bincount(sequence, minlength=3))
    np.testing.assert_allclose(found.probabilities, joint / joint.sum(), rtol=1e-9, atol=1e-300)


def test_fresh_noise_names_the_secret_in_time_and_a_memo_never_does():
    secret, mechanism = 2, response(1.0)
    drawn = sf.simulator(mechanism, 5).draw(np.full(2_000, secret))
    fresh = Scheme.fresh(mechanism).posterior(PRIOR, np.bincount(drawn, minlength=4))
    assert fresh.probabilities[secret] > 1 - 1e-12
    kept = Scheme.memo(mechanism).posterior(PRIOR, 2_000 * np.eye(4)[drawn[0]])
    once = Scheme.memo(mechanism).posterior(PRIOR, np.eye(4)[drawn[0]])
    np.testing.assert_allclose(kept.probabilities, once.probabilities, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("t", [1, 2, 3])
def test_no_number_of_reports_exceeds_the_stated_epsilon(seed, t):
    scheme = two_steps(seed)
    rows = [
        [likelihood(scheme, sequence)[s] for sequence in product(range(3), repeat=t)] for s in range(len(SPACE))
    ]
    seen = prove_metric_privacy(sf.Mechanism(rows), sf.MetricPrivacy(1.0, D)).upper
    assert seen <= scheme.epsilon_upper(D, t) * (1 + 1e-9)


def test_epsilons_of_fresh_noise_add_up_and_of_a_memo_do_not():
    mechanism = noise(4)
    once = prove_metric_privacy(mechanism, sf.MetricPrivacy(1.0, D)).upper
    for t in (1, 2, 7):
        np.testing.assert_allclose(Scheme.fresh(mechanism).epsilon_upper(D, t), t * once, rtol=1e-10)
        np.testing.assert_allclose(Scheme.memo(mechanism).epsilon_upper(D, t), once, rtol=1e-10)
    tiny = sf.mechanisms.randomised_response(SPACE, 40.0)  # of two words: the integers must be the mechanism's own
    claim = sf.MetricPrivacy(1.0, sf.hamming(SPACE))
    alone = prove_metric_privacy(tiny, claim).upper
    np.testing.assert_allclose(Scheme.fresh(tiny).epsilon_upper(claim.metric, 1), alone, rtol=1e-12)
    together = prove_metric_privacy(both(mechanism, mechanism), sf.MetricPrivacy(1.0, D)).upper
    np.testing.assert_allclose(Scheme.fresh(mechanism).epsilon_upper(D, 2), together, rtol=1e-10)


def test_long_runs_do_not_underflow():
    scheme = two_steps(7)
    logs = scheme.log_likelihood([300_000, 200_000, 0])
    assert np.isfinite(logs).all()
    found = scheme.posterior(PRIOR, [300_000, 200_000, 0])
    memo = np.argmax(
        300 * np.log(scheme.instantaneous.matrix[:3, 0]) + 200 * np.log(scheme.instantaneous.matrix[:3, 1])
    )
    joint = PRIOR.probabilities * scheme.permanent.matrix[:, memo]  # in the long run the memo is known
    np.testing.assert_allclose(found.probabilities, joint / joint.sum(), rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Scheme(response(), response()), "takes"),
        (lambda: Scheme.fresh(response()).log_likelihood([1, 2]), "counts"),
        (lambda: Scheme.fresh(response()).log_likelihood([1, -2, 0, 0]), "counts"),
        (lambda: Scheme.fresh(response()).posterior(PRIOR, [0, 0, 0, 1]), "no secret"),
        (lambda: Scheme.memo(response()).posterior(PRIOR, [1, 1, 0, 0]), "no secret"),
        (lambda: Scheme.fresh(response()).posterior(sf.Prior(sf.Space("xy"), [0.5, 0.5]), [1, 0, 0, 0]), "prior"),
        (lambda: Scheme.fresh(response()).epsilon_upper(D, 0), "at least one"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(sf.errors.InputError, match=said):
        call()
