import numpy as np
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.leakage import bayes_error, bayes_security
from sfumato.privacy import DeltaOfDifferentialPrivacy

from .channels import cases, symmetric

CLOSE = 1e-12


@given(cases())
def test_the_pair_attains_it_and_no_prior_goes_below(case):
    mechanism, prior = case
    found = bayes_security(mechanism)
    if len(mechanism.secrets) == 1:
        assert (found.value, found.pair) == (1.0, (0, 0))
        return
    assert bayes_error(mechanism, prior) >= found.value * (1 - prior.probabilities.max()) - CLOSE
    if found.value < 1:
        weights = np.zeros(len(prior))
        weights[list(found.pair)] = 0.5
        assert bayes_error(mechanism, sf.Prior(mechanism.secrets, weights)) == pytest.approx(found.value / 2)


@given(cases())
def test_it_is_one_less_the_delta_at_epsilon_zero(case):
    mechanism, _ = case
    delta = DeltaOfDifferentialPrivacy(0.0).measure(mechanism).value
    assert bayes_security(mechanism).value == pytest.approx(1 - delta, abs=CLOSE)


def test_randomised_response():
    assert bayes_security(symmetric(4, 0.3)).value == pytest.approx(0.3 + 0.1, abs=CLOSE)
