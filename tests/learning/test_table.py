"""The tabular game against linear programs, closed forms and interrupted runs."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.core import Prior, Space
from sfumato.errors import FileError, InfeasibleError, InputError
from sfumato.learning import (
    BayesVulnerability,
    Ending,
    MutualInformation,
    Softplus,
    TrainingRound,
    learn_table,
)
from sfumato.mechanisms import rate_distortion_of_loss


def least_vulnerability(joint, costs, bound):
    """The linear program of section C.8: minimise sum of v(z) with v(z) >= sum over w of P(x, w) p(z|w)."""
    x, n = joint.shape
    m = costs.shape[1]
    weights = joint.sum(axis=0)
    upper = np.zeros((x * m + 1, n * m + m))
    for label in range(x):
        for z in range(m):
            upper[label * m + z, z : n * m : m] = joint[label]
            upper[label * m + z, n * m + z] = -1
    upper[-1, : n * m] = (weights[:, None] * costs).ravel()
    equal = np.zeros((n, n * m + m))
    for w in range(n):
        equal[w, w * m : (w + 1) * m] = 1
    found = linprog(
        np.r_[np.zeros(n * m), np.ones(m)], upper, np.r_[np.zeros(x * m), bound], equal, np.ones(n), (0, None)
    )
    return found.fun


def scene():
    """Three people on six places of a line, one place that nobody visits, one report that is far away."""
    at, reached = np.arange(6.0), np.r_[np.arange(6.0), 60.0]
    places, reports = Space(range(6), at), Space(range(7), reached)
    costs = np.abs(at[:, None] - reached)
    joint = np.array([[0.2, 0.1, 0, 0, 0, 0], [0, 0.15, 0.2, 0, 0, 0], [0, 0, 0, 0.15, 0.2, 0]])
    return joint, places, reports, costs


@pytest.mark.parametrize("bound", [0.3, 0.8, 1.2])
def test_the_table_nears_the_linear_program(torch, bound):
    joint, places, reports, costs = scene()
    found = learn_table(joint, places, costs, bound, reports=reports, device="cpu")
    optimum = least_vulnerability(joint, costs, bound)
    assert found.loss <= found.max_loss
    assert found.loss == pytest.approx((joint.sum(axis=0)[:, None] * found.mechanism.matrix * costs).sum())
    vulnerability = 1 - found.bayes_error
    # No mechanism within the bound can be below the program's optimum.
    assert optimum - 1e-9 <= vulnerability <= optimum + 0.02


def test_information_nears_the_rate_distortion_optimum(torch):
    # Where the label is the place itself, the least information is Blahut's and Arimoto's.
    line = Space.numbers(range(5))
    weights = np.array([0.3, 0.2, 0.2, 0.3, 0.0])
    metric = line.metric("absolute")
    found = learn_table(np.diag(weights), line, metric, 0.6, target=MutualInformation(), rounds=200, device="cpu")
    best = rate_distortion_of_loss(Prior(line, weights), metric, 0.6)
    assert found.loss <= found.max_loss
    assert best.information_bits.lower - 1e-6 <= found.information_bits <= best.information_bits.value + 0.01


def test_enough_room_hides_everything(torch):
    joint, places, reports, costs = scene()
    found = learn_table(joint, places, costs, 1.6, reports=reports, tolerance=1e-3, device="cpu")
    assert found.ending is Ending.HIDDEN
    assert found.bayes_error == pytest.approx(1 - joint.sum(axis=1).max(), abs=1.1e-3)


def test_a_frozen_classifier_is_beaten_too(torch):
    joint, places, reports, costs = scene()
    found = learn_table(
        joint, places, costs, 1.0, reports=reports, target=MutualInformation(), attacker="classifier", device="cpu"
    )
    assert found.loss <= found.max_loss
    assert found.history[-1].information_bits < 0.5 * found.history[0].information_bits


def test_the_paper_s_softplus_settles_near_the_bound(torch):
    joint, places, reports, costs = scene()
    found = learn_table(
        joint, places, costs, 0.8, reports=reports, utility=Softplus(1.0, 50.0), rounds=60, device="cpu"
    )
    assert 0.8 * 0.85 <= found.history[-1].loss <= 0.8 + 1e-9


def killed_and_resumed(tmp_path, at, **settings):
    joint, places, reports, costs = scene()

    def run(**more):
        return learn_table(joint, places, costs, 0.8, reports=reports, rounds=12, device="cpu", **settings, **more)

    class KilledError(Exception):
        pass

    def kill(found):
        if found.number == at:
            raise KilledError

    path = tmp_path / "training.ckpt"
    with pytest.raises(KilledError):
        run(checkpoint=path, progress=kill)
    return run(), run(checkpoint=path), path, run


@pytest.mark.parametrize("records", [None, 500])
def test_a_killed_training_ends_where_an_unbroken_one_does(torch, tmp_path, records):
    whole, resumed, path, run = killed_and_resumed(tmp_path, 7, records=records, seed=3)
    assert np.array_equal(whole.mechanism.weights, resumed.mechanism.weights)
    assert [(r.number, r.loss, r.accuracy) for r in whole.history] == [
        (r.number, r.loss, r.accuracy) for r in resumed.history
    ]
    # A finished training is read back, not repeated.
    assert run(checkpoint=path).mechanism == resumed.mechanism
    assert list(tmp_path.iterdir()) == [path]


def test_a_stopped_training_goes_on(torch, tmp_path):
    joint, places, reports, costs = scene()
    path = tmp_path / "training.ckpt"
    seen: list[TrainingRound] = []

    def run(**more):
        return learn_table(joint, places, costs, 0.8, reports=reports, rounds=10, device="cpu", **more)

    stopped = run(checkpoint=path, progress=seen.append, stop=lambda: len(seen) >= 4)
    assert stopped.ending is Ending.STOPPED
    assert len(stopped.history) == 4
    resumed = run(checkpoint=path)
    assert resumed.mechanism == run().mechanism
    assert resumed.ending is Ending.PLAYED


def test_a_checkpoint_of_other_data_is_refused(torch, tmp_path):
    joint, places, reports, costs = scene()
    path = tmp_path / "training.ckpt"
    learn_table(joint, places, costs, 0.8, reports=reports, rounds=2, checkpoint=path, device="cpu")
    with pytest.raises(InputError, match="other data or settings"):
        learn_table(joint, places, costs, 0.9, reports=reports, rounds=2, checkpoint=path, device="cpu")
    path.write_bytes(b"not a checkpoint")
    with pytest.raises(FileError, match="checkpoint"):
        learn_table(joint, places, costs, 0.8, reports=reports, rounds=2, checkpoint=path, device="cpu")


def test_a_bound_below_the_truest_reports_is_infeasible(torch):
    joint, places, reports, costs = scene()
    with pytest.raises(InfeasibleError, match="truest reports"):
        learn_table(joint, places, costs + 1.0, 0.9, reports=reports)


def test_what_is_above_the_bound_is_mended(torch):
    # Softplus with hardly a weight: the training itself would leave the bound.
    joint, places, reports, costs = scene()
    found = learn_table(
        joint, places, costs, 0.5, reports=reports, utility=Softplus(1e-6, 1.0), rounds=20, device="cpu"
    )
    assert found.loss <= 0.5
    assert found.loss == pytest.approx(0.5 * (1 - 1e-3), abs=1e-6)


@pytest.mark.parametrize(
    "change",
    [
        {"max_loss": -1.0},
        {"attacker": "lazy"},
        {"rate": 0.0},
        {"margin": 1.0},
        {"rounds": 0},
        {"start": np.ones((6, 7))},
        {"start_rate": -1.0},
        {"records": 0},
        {"tolerance": -1.0},
        {"every": 0},
    ],
)
def test_what_cannot_be_trained_is_refused(torch, change):
    joint, places, reports, costs = scene()
    settings = {"max_loss": 0.8, "reports": reports, "device": "cpu"} | change
    with pytest.raises(InputError):
        learn_table(joint, places, costs, settings.pop("max_loss"), **settings)


def test_what_is_no_joint_distribution_is_refused(torch):
    joint, places, reports, costs = scene()
    for wrong in (joint * 2, joint[:1], joint - 0.01):
        with pytest.raises(InputError, match="joint"):
            learn_table(wrong, places, costs, 0.8, reports=reports)


def test_a_learned_vulnerability_is_no_better_than_its_target_says(torch):
    joint, places, reports, costs = scene()
    found = learn_table(joint, places, costs, 0.8, reports=reports, target=BayesVulnerability(), device="cpu")
    kept = found.history[found.best - 1]
    assert 1 - found.bayes_error == pytest.approx(kept.accuracy, abs=1e-9)
    assert kept.loss == pytest.approx(found.loss)
