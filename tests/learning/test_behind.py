"""Learning behind a private mechanism: it keeps the promise, stays within the limit and hides more."""

import numpy as np
import pytest

from sfumato.core import Mechanism, MetricPrivacy, Prior, Space
from sfumato.errors import InfeasibleError, InputError
from sfumato.leakage import bayes_error, mutual_information_bits
from sfumato.learning import hiding, learn_behind, mixed_to_loss, promised_within, with_guarantee
from sfumato.optimal import design
from sfumato.proofs import prove_metric_privacy

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
    kept = with_guarantee(found.mechanism, PROMISE)
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
    mixed = Mechanism(mixed_to_loss(constant, certified.mechanism, PRIOR, METRIC, bound), PLACES, PLACES)
    assert mixed.expected_loss(PRIOR, METRIC) == pytest.approx(bound)
    assert prove_metric_privacy(mixed, PROMISE).upper <= 1 + 1e-9
    unchanged = mixed_to_loss(constant, certified.mechanism, PRIOR, METRIC, 99.0)
    np.testing.assert_array_equal(unchanged, constant.matrix)


def test_what_was_learned_gets_the_promise_within_the_limit(certified):
    """A mechanism without the promise that loses too much: repaired, proved, and brought down to the limit."""
    careless = Mechanism(np.eye(6)[[5] * 3 + [0] * 3], PLACES, PLACES)
    limit = 1.2 * certified.certificate.loss
    assert careless.expected_loss(PRIOR, METRIC) > limit
    found = promised_within(careless, certified.mechanism, PROMISE, PRIOR, METRIC, limit)
    assert found.proof.holds
    assert found.mechanism.expected_loss(PRIOR, METRIC) <= limit
    assert found.mechanism.expected_loss(PRIOR, METRIC) == pytest.approx(limit, rel=1e-5)
    assert prove_metric_privacy(found.mechanism, PROMISE).holds
    # Where there is room, it is the repaired mechanism itself.
    assert promised_within(careless, certified.mechanism, PROMISE, PRIOR, METRIC, 99.0).mechanism == (
        with_guarantee(careless, PROMISE).mechanism
    )


def test_hiding_is_the_leakage_of_the_channel_from_label_to_report(certified):
    """The label's own channel is P(w | x) p(z | w): its Bayes error and information, and the loss by a loop."""
    mechanism = certified.mechanism
    labels = JOINT.sum(axis=1)
    channel = Mechanism(JOINT / labels[:, None] @ mechanism.matrix, None, PLACES)
    prior = Prior(channel.secrets, labels)
    found = hiding(mechanism, JOINT, METRIC)
    assert found.error == pytest.approx(bayes_error(channel, prior))
    assert found.information_bits == pytest.approx(mutual_information_bits(channel, prior), abs=1e-9)
    lost = sum(
        JOINT[x, w] * mechanism.matrix[w, z] * METRIC.array[w, z]
        for x in range(2)
        for w in range(6)
        for z in range(6)
    )
    assert found.loss == pytest.approx(lost)
    with pytest.raises(InputError, match="sum"):
        hiding(mechanism, 2 * JOINT, METRIC)
