"""Closed forms know what they promise: files keep it, and audits prove it from the integers."""

import math
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import mechanisms as m
from sfumato.errors import InputError
from sfumato.proofs import prove_guarantees, prove_metric_privacy

FIVE = sf.Space("abcde")
LINE = sf.Space.numbers(range(5))
GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
VOTES = m.UtilityTable([[3, 1, 0], [2, 2, 0], [0, 1, 3]])
PRIOR = sf.Prior(LINE, [0.4, 0.3, 0.2, 0.1, 0.0])

CLOSED_FORMS = {
    "randomised response": (lambda: m.randomised_response(FIVE, 1.0), 1.0),
    "randomised response, a family": (lambda: m.RandomisedResponse(FIVE, 1.0).mechanism(), 1.0),
    "exponential": (lambda: m.exponential(LINE, LINE.metric("absolute"), 0.5), 0.5),
    "geometric": (lambda: m.geometric(LINE, 0.5), 0.5),
    "tight constraints": (lambda: m.tight_constraints(LINE, LINE.metric("absolute"), 0.5), 0.5),
    "planar geometric": (lambda: m.planar_geometric(GRID, "2/km"), 0.002),
    "planar geometric, manhattan": (lambda: m.PlanarGeometric(GRID, "2/km", "manhattan").mechanism(), 0.002),
    "unary encoding": (lambda: m.UnaryEncoding(FIVE, 1.0, "optimised").mechanism(), 1.0),
    "symmetric unary encoding": (lambda: m.UnaryEncoding(FIVE, 1.0, "symmetric").mechanism(), 1.0),
    "local hashing": (lambda: m.LocalHashing(FIVE, 1.0).mechanism(), 1.0),
    "subset selection": (lambda: m.SubsetSelection(FIVE, 1.0).mechanism(), 1.0),
    "exponential mechanism": (lambda: m.ExponentialMechanism(VOTES, 1.0, "introductory").mechanism(), 2.0),
    "permute and flip": (lambda: m.PermuteAndFlip(VOTES, 1.0).mechanism(), 1.0),
    "discrete Laplace on a range": (lambda: m.DiscreteLaplace("1/3", 2).clamp(0, 8).mechanism(), 1 / 3),
    "staircase on a range": (lambda: m.Staircase("1/2", 3).clamp(0, 8).mechanism(), 0.5),
    "rate distortion": (lambda: m.rate_distortion(PRIOR, LINE.metric("absolute"), 0.5).mechanism, 1.0),
    "a design": (lambda: designed("1.5"), 1.5),
    "a remap": (lambda: m.remap_mechanism(m.geometric(LINE, 0.5), PRIOR, LINE.metric("absolute")), 0.5),
}


def designed(epsilon):
    d = LINE.metric("absolute")
    return sf.design(
        PRIOR, loss=d, guarantees=[sf.MetricPrivacy(epsilon, d), sf.DistortionPrivacy(0.1, d)]
    ).mechanism


@pytest.mark.parametrize("name", CLOSED_FORMS)
def test_a_saved_closed_form_keeps_its_promise(name, tmp_path):
    make, epsilon = CLOSED_FORMS[name]
    mechanism = make()
    (promise,) = mechanism.guarantees
    assert isinstance(promise, sf.MetricPrivacy)
    assert promise.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert prove_metric_privacy(mechanism, promise).holds
    sf.save(mechanism, tmp_path / "m.sfm")
    held = sf.read_mechanism_file(tmp_path / "m.sfm")
    (kept,) = held.guarantees
    assert isinstance(kept, sf.MetricPrivacy)
    assert kept.epsilon == promise.epsilon
    assert np.array_equal(kept.metric.array, promise.metric.array)
    assert (kept.metric.unit, kept.metric.name) == (promise.metric.unit, promise.metric.name)
    assert held.report_channel.guarantees == (kept,)
    assert str(sf.read_mechanism_file(tmp_path / "m.sfm").report_channel.guarantees[0]) == str(promise)


@pytest.mark.parametrize(
    "make",
    [
        lambda: m.DiscreteGaussian(4).clamp(0, 8).mechanism(),
        lambda: m.PlanarGaussian(GRID, "500 m").mechanism(),
        lambda: m.restricted_laplace(LINE, LINE.metric("absolute"), 1.0, 1.0),
        lambda: m.coin(LINE, 0.5, 0),
        lambda: sf.Mechanism(np.eye(5), LINE),
    ],
)
def test_what_has_no_pure_epsilon_promises_none(make):
    assert make().guarantees == ()


def test_a_promise_is_no_part_of_the_mechanism():
    plain = sf.Mechanism(np.full((5, 5), 0.2), LINE)
    promising = plain.promising(sf.MetricPrivacy(0.5, LINE.metric("absolute")))
    assert promising == plain
    assert hash(promising) == hash(plain)
    assert promising.weights is plain.weights
    assert plain.guarantees == ()
    assert promising.promising([]).guarantees == ()


def test_a_random_second_step_keeps_no_promise():
    first = m.geometric(LINE, 0.5)
    assert first.then(m.geometric(LINE, 3.0)).guarantees == ()
    assert len(first.then(sf.Mechanism(np.eye(5)[::-1], LINE)).guarantees) == 1


def test_a_false_promise_is_found_out(tmp_path):
    liar = sf.Mechanism(np.eye(5), LINE).promising(sf.MetricPrivacy(0.5, LINE.metric("absolute")))
    sf.save(liar, tmp_path / "m.sfm")
    held = sf.read_mechanism_file(tmp_path / "m.sfm")
    epsilons, _ = prove_guarantees(held.report_channel, sf.Prior.uniform(LINE), held.guarantees)
    assert [proof.holds for proof in epsilons] == [False]


def test_promises_that_do_not_fit():
    plain = sf.Mechanism(np.eye(5), LINE)
    with pytest.raises(InputError, match="depends on a prior"):
        plain.promising(sf.DistortionPrivacy(0.1, LINE.metric("absolute")))
    with pytest.raises(InputError, match="for 3 secrets"):
        plain.promising(sf.MetricPrivacy(1.0, sf.hamming(sf.Space("abc"))))
    others: list[Any] = [0.5, "1/km", None, sf.MetricPrivacy, [0.5]]
    for other in others:
        with pytest.raises(InputError, match="is not a guarantee"):
            plain.promising(other)


def test_one_guarantee_or_a_list_of_them():
    d = LINE.metric("absolute")
    one = sf.MetricPrivacy(1.0, d)
    for guarantees in (one, [one], (one,), iter([one])):
        found = sf.design(PRIOR, loss=d, guarantees=guarantees)
        assert found.certificate.holds
        assert found.mechanism.guarantees == (one,)
    assert sf.maximise_distortion(PRIOR, loss=d, max_loss=0.5, guarantees=one).certificate.holds
    mechanism = sf.mechanisms.geometric(LINE, 1.0)
    assert sf.MechanismFile(mechanism, guarantees=one).guarantees == (one,)
    assert prove_guarantees(mechanism, PRIOR, one)[0][0].holds
    others: list[Any] = [1.0, None, "1/km", {"epsilon": 1}, sf.MetricPrivacy]
    for wrong in others:
        with pytest.raises(
            InputError,
            match=r"is needed|is not a guarantee|without guarantees=",
        ):
            sf.design(PRIOR, loss=d, guarantees=wrong)


def test_the_metric_of_noise_counts_steps():
    mechanism = m.DiscreteLaplace("1/3", 2).clamp(0, 4).mechanism()
    (guarantee,) = mechanism.guarantees
    assert isinstance(guarantee, sf.MetricPrivacy)
    assert guarantee.metric.array[0].tolist() == [0, 1, 1, 2, 2]
    assert math.isclose(guarantee.epsilon, 1 / 3)
