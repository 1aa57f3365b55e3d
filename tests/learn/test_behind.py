"""What follows a private mechanism keeps its promise, stays within the bound and hides more."""

import numpy as np
import pytest

from sfumato.core import Mechanism, MetricPrivacy, Prior, Space
from sfumato.errors import InfeasibleError
from sfumato.evidence import prove_metric_privacy
from sfumato.learn import learn_behind, mixed_to_bound, with_guarantee
from sfumato.optimal import design, repaired

pytestmark = pytest.mark.usefixtures("torch")

PLACES = Space(range(6), [[float(i)] for i in range(6)], "km")
METRIC = PLACES.metric()
JOINT = np.array([[9, 4, 2, 1, 1, 0], [0, 1, 1, 2, 5, 8]]) / 34
PRIOR = Prior(PLACES, JOINT.sum(axis=0))
PROMISE = MetricPrivacy(1.0, METRIC)


@pytest.fixture(scope="module")
def certified():
    return design(PRIOR, loss=METRIC, guarantees=[PROMISE])


@pytest.mark.parametrize("factor", [1.0001, 1.2, 1.6])
def test_the_promise_and_the_bound_are_kept_and_more_is_hidden(certified, factor):
    bound = factor * certified.certificate.loss
    found = learn_behind(JOINT, certified.mechanism, METRIC, bound, rounds=15, seed=1)
    assert found.mechanism.expected_loss(PRIOR, METRIC) <= bound
    # Every likelihood ratio of the product, one by one.
    matrix = found.mechanism.matrix
    for s in range(6):
        for t in range(6):
            assert (matrix[s] <= np.exp(METRIC.array[s, t]) * matrix[t] * (1 + 1e-9) + 1e-15).all()
    kept = with_guarantee(found.mechanism, PROMISE, lambda m, e: repaired(m, e))
    assert kept.proof.holds
    assert kept.constant_share < 1e-6
    before = (JOINT @ certified.mechanism.matrix).max(axis=0).sum()
    after = (JOINT @ matrix).max(axis=0).sum()
    assert after <= before + 1e-9
    assert 1 - found.bayes_error == pytest.approx(after, abs=1e-9)
    if factor > 1.1:
        assert after < before - 0.01


def test_a_bound_below_the_least_loss_is_refused(certified):
    with pytest.raises(InfeasibleError, match="truest reports lose"):
        learn_behind(JOINT, certified.mechanism, METRIC, 0.9 * certified.certificate.loss, rounds=1)


def test_a_mixture_has_the_loss_asked_for_and_the_promise_of_both(certified):
    constant = Mechanism(np.eye(6)[[0] * 6], PLACES, PLACES)
    bound = 1.3 * certified.certificate.loss
    assert constant.expected_loss(PRIOR, METRIC) > bound
    mixed = Mechanism(mixed_to_bound(constant, certified.mechanism, PRIOR, METRIC, bound), PLACES, PLACES)
    assert mixed.expected_loss(PRIOR, METRIC) == pytest.approx(bound)
    assert prove_metric_privacy(mixed, PROMISE).upper <= 1 + 1e-9
    unchanged = mixed_to_bound(constant, certified.mechanism, PRIOR, METRIC, 99.0)
    np.testing.assert_array_equal(unchanged, constant.matrix)
