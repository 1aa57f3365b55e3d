"""The zero-sum game between a user with a budget of loss and an adversary who knows the mechanism."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import DistortionPrivacy, MetricPrivacy, Prior, Space, hamming
from sfumato.optimal import design, maximise_distortion

from ..reference import adversary_value, requests, solved

some = settings(max_examples=15)
LINE = Space.numbers(range(5))
STEPS = LINE.metric("absolute")
PRIOR = Prior(LINE, [0.3, 0.0, 0.25, 0.35, 0.1])


def played(request):
    return maximise_distortion(
        request.belief,
        loss=request.loss,
        distance=request.distance,
        max_loss=request.max_loss,
        observables=request.observables,
    )


@pytest.mark.slow
@some
@given(requests(kinds=("dual",)))
def test_strong_duality(request_):
    result = played(request_)
    adversary = adversary_value(request_.prior, request_.loss, request_.distance, request_.max_loss)
    assert result.certificate.value == pytest.approx(adversary, rel=3e-6, abs=3e-6)
    assert result.certificate.value <= adversary + 1e-8
    assert result.certificate.bound >= adversary - 1e-8


@pytest.mark.slow
@some
@given(requests(kinds=("distortion",)))
def test_the_two_games_are_inverse(request_):
    cost = solved(request_)
    assert cost is not None
    blind = float((request_.prior @ request_.loss).min())
    truth = float(request_.prior @ request_.loss.min(axis=1))
    if not truth + 0.02 * blind < cost.value < blind - 1e-3 or request_.minimum < 1e-3:
        return  # at the ends of the frontier one costs nothing, or very much, of the other
    game = replace(request_, max_loss=cost.value)
    assert played(game).certificate.value >= request_.minimum * (1 - 1e-5) - 1e-6
    # One that is a little less private is cheaper, so the budget buys no more than this.
    less = solved(replace(request_, minimum=request_.minimum * 0.99))
    assert less is not None
    if truth + 0.02 * blind < less.value < cost.value - 1e-3:
        more = played(replace(request_, max_loss=less.value)).certificate.bound
        assert more < request_.minimum


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_there_and_back(share):
    minimum = share * float((STEPS.array @ PRIOR.probabilities).min())
    cost = design(PRIOR, loss=hamming(LINE), guarantees=[DistortionPrivacy(minimum, STEPS)]).certificate
    back = maximise_distortion(PRIOR, loss=hamming(LINE), distance=STEPS, max_loss=cost.loss).certificate
    assert back.value == pytest.approx(minimum, rel=1e-5)
    assert back.loss <= cost.loss


@pytest.mark.slow
@given(st.floats(0.05, 0.6))
@settings(max_examples=15)
def test_a_larger_budget_never_buys_less(budget):
    one = maximise_distortion(PRIOR, loss=hamming(LINE), distance=STEPS, max_loss=budget).certificate
    two = maximise_distortion(PRIOR, loss=hamming(LINE), distance=STEPS, max_loss=budget * 1.1).certificate
    assert two.bound >= one.value
    assert two.value >= one.value * (1 - 3e-6)


def test_by_default_the_adversary_measures_as_the_user_does():
    result = maximise_distortion(PRIOR, loss=STEPS, max_loss=0.5)
    assert result.certificate.value == pytest.approx(0.5, rel=1e-5)  # both are the distance: the game is fair
    assert result.certificate.loss <= 0.5


def test_metric_privacy_may_be_kept_besides():
    metric = MetricPrivacy(1.0, STEPS)
    least = design(PRIOR, loss=hamming(LINE), guarantees=[metric]).certificate.loss
    result = maximise_distortion(
        PRIOR, loss=hamming(LINE), distance=STEPS, max_loss=least * 1.1, guarantees=[metric]
    )
    assert result.certificate.epsilon_upper <= 1.0
    assert result.certificate.loss <= least * 1.1
    free = maximise_distortion(PRIOR, loss=hamming(LINE), distance=STEPS, max_loss=least * 1.1)
    assert free.certificate.bound >= result.certificate.value
    assert "distortion" in repr(result)


def test_units_of_the_budget():
    places = Space("abc", [[0, 0], [1, 0], [0, 1]], "km")
    metric = places.metric("euclidean")
    text = maximise_distortion(Prior.uniform(places), loss=metric, max_loss="300 m").certificate
    bare = maximise_distortion(Prior.uniform(places), loss=metric, max_loss=0.3).certificate
    assert text.value == pytest.approx(bare.value, rel=1e-9)
    assert text.loss <= 0.3
    np.testing.assert_allclose(text.value, 0.3, rtol=1e-5)
