"""Rounds: the generator that they keep, and their end."""

import pytest

from sfumato.errors import InputError
from sfumato.learning.training import Ending, Rules, TrainingOutcome, TrainingRound, loss_at_most


def measured(number=1, *, loss=100.0, error=1.0, target=0.5, accuracy=0.5, averaged=1):
    return TrainingRound(number, accuracy, 0.5, 0.0, 0.5, target, loss, error, 0.0, 0.0, averaged)


def rules(**settings):
    base = {"rounds": 9, "max_loss": 102.0, "blind_accuracy": 0.25, "tolerance": 0.01, "patience": 3}
    return Rules(**(base | settings))


def test_the_limit_of_a_measured_loss_is_the_normal_one():
    assert loss_at_most(100.0, 1.0, 0.05) == pytest.approx(101.644854)
    assert loss_at_most(100.0, float("inf"), 0.5) == 100.0


@pytest.mark.parametrize(("failure", "allowed"), [(0.5, True), (0.05, True), (0.01, False)])
def test_the_less_failure_is_allowed_the_smaller_the_loss_must_be(failure, allowed):
    assert rules(failure=failure).meets_limit(measured()) is allowed


def test_what_is_within_the_bound_comes_first_and_then_a_mean_and_then_the_target():
    ours = rules()
    assert ours.better(measured(target=0.9), None)
    assert ours.better(measured(target=0.9), measured(loss=103.0))
    assert not ours.better(measured(loss=103.0, averaged=5, target=0.1), measured())
    assert ours.better(measured(averaged=5, target=0.6), measured())
    assert ours.better(measured(target=0.4), measured())
    assert not ours.better(measured(target=0.6), measured())
    assert ours.better(measured(loss=110.0, target=0.9), measured(loss=120.0))


def test_it_ends_hidden_unless_it_is_to_play_on():
    played = TrainingOutcome([measured(accuracy=0.255)], best=1)
    assert rules().ending(played) is Ending.HIDDEN
    assert rules(tolerance=None).ending(played) is None
    played.history[0] = measured(accuracy=0.27)
    assert rules().ending(played) is None


@pytest.mark.parametrize("settings", [{"failure": 0.6}, {"failure": 0.0}, {"tolerance": -0.1}, {"patience": 0}])
def test_rules_that_make_no_sense_are_refused(settings):
    with pytest.raises(InputError):
        rules(**settings)
