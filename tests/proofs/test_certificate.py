import json
import math

import numpy as np
import pytest

from sfumato.core import DistortionPrivacy, Guarantee, Metric, MetricPrivacy, hamming
from sfumato.proofs import as_dict, certify, prove_guarantees, relative_gap

from ..catalogue import CASES, Case
from . import exact


def by_name(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


LINE = by_name("geometric on a line")
LOSS = np.abs(np.arange(5.0)[:, None] - np.arange(6.0))


def certificate(epsilon=0.7, distortion=0.5, **changes):
    guarantees: list[Guarantee] = [MetricPrivacy(epsilon, LINE.metric), DistortionPrivacy(distortion, LINE.metric)]
    options = {"objective": "expected", "bound": 0.5, **changes}
    return certify(LINE.mechanism, LINE.prior, LOSS, guarantees, **options)


def test_everything_is_recomputed_from_the_integers():
    found = certificate()
    expected = exact.expected(LINE.mechanism, LINE.prior, LOSS)
    assert found.loss == found.value == pytest.approx(float(expected), rel=1e-14)
    assert found.worst_case_loss == pytest.approx(float(exact.worst(LINE.mechanism, LOSS)), rel=1e-14)
    assert found.epsilon_upper == pytest.approx(math.log(2), rel=1e-12)
    assert found.worst_pair == found.metric_privacy[0].worst_pair
    assert found.gap == pytest.approx(1 - 0.5 / float(expected))
    assert (found.lower_bound, found.holds) == (0.5, True)
    assert certificate(objective="worst-case").value == found.worst_case_loss


def test_the_dual_game_is_measured_the_other_way():
    error = float(exact.distortion(LINE.mechanism, LINE.prior, LINE.metric.array))
    found = certificate(objective="distortion", bound=error + 0.1, distance=LINE.metric)
    assert found.value == pytest.approx(error, rel=1e-14)
    assert found.gap == pytest.approx(0.1 / error)
    assert found.lower_bound == -math.inf


def test_claims_that_fail_are_shown_as_such():
    assert not certificate(epsilon=0.69).holds
    assert not certificate(distortion=2.0).holds
    error = float(exact.distortion(LINE.mechanism, LINE.prior, LINE.metric.array))
    assert certificate(distortion=error * (1 - 1e-12)).holds
    assert not certificate(distortion=error * (1 + 1e-12)).holds


def test_a_value_at_its_bound_has_no_gap():
    loss = certificate().loss
    assert certificate(bound=loss).gap == 0
    assert certificate(bound=loss + 1e-12).gap == 0


@pytest.mark.parametrize(
    ("value", "bound", "least", "gap"),
    [
        (2.0, 1.0, 0.0, 0.5),
        (1.0, 2.0, 0.0, 0.0),
        (-1.0, -1.5, 0.0, 0.5),
        (0.0, 0.0, 0.0, 0.0),
        (0.0, -1e-12, 0.0, math.inf),  # a loss of zero has no relative gap
        (0.0, -1e-12, 1e-3, 1e-9),
        (1e-12, 0.0, 0.0, 1.0),
        (1.0, -math.inf, 0.0, math.inf),
    ],
)
def test_the_relative_gap(value, bound, least, gap):
    assert relative_gap(value, bound, least) == pytest.approx(gap)
    assert relative_gap(-value, -bound, least, maximise=True) == pytest.approx(gap)


def test_one_far_loss_does_not_hide_the_gap():
    loss = LOSS.copy()
    loss[0, -1] = 1e10
    found = certify(LINE.mechanism, LINE.prior, loss, [], objective="expected", bound=0.0)
    near = certify(LINE.mechanism, LINE.prior, loss, [], objective="expected", bound=found.value * (1 - 0.014))
    assert near.gap == pytest.approx(0.014)


def test_without_metric_privacy_epsilon_is_infinite():
    found = certify(LINE.mechanism, LINE.prior, LOSS, [], objective="expected", bound=-math.inf)
    assert found.epsilon_upper == math.inf
    assert found.worst_pair is None
    assert found.holds  # nothing was claimed


def test_as_plain_values():
    plain = as_dict(certificate())
    assert plain["holds"] is True
    assert plain["gap"] == certificate().gap
    text = json.dumps(plain)
    assert json.loads(text)["metric_privacy"][0]["claimed"] == 0.7


@pytest.mark.parametrize("case", CASES, ids=str)
def test_several_guarantees_at_once(case):
    ground = Metric(np.minimum(case.metric.array, 9.0))
    epsilons, distortions = prove_guarantees(
        case.mechanism,
        case.prior,
        [MetricPrivacy(2.0, case.metric), DistortionPrivacy(0.0, ground), MetricPrivacy(1.0, hamming_of(case))],
    )
    assert [proof.claimed for proof in epsilons] == [2.0, 1.0]
    assert epsilons[0].upper == pytest.approx(case.epsilon, rel=1e-6, abs=1e-9)
    assert epsilons[1].upper == pytest.approx(
        exact.epsilon(case.mechanism, hamming_of(case).array), rel=1e-9, abs=1e-9
    )
    assert len(distortions) == 1
    assert distortions[0].lower <= exact.distortion(case.mechanism, case.prior, ground.array)


def hamming_of(case: Case) -> Metric:
    return hamming(case.mechanism.secrets)
