"""The neural game: it hides what it can, keeps its bound, and goes on after a kill."""

from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from sfumato.attacks.classifiers import NearestNeighbours, learn_attack
from sfumato.errors import InputError, MissingExtraError
from sfumato.learning import (
    BayesVulnerability,
    Ending,
    MutualInformation,
    Pairs,
    Training,
    learn_generator,
)
from sfumato.learning.table import learn_table
from sfumato.mechanisms import PlanarLaplace
from sfumato_papers.mipan import LaplaceDraws, square_cells, square_data

TINY = Training(
    width=16,
    start_steps=30,
    attack_steps=20,
    generator_steps=4,
    attack_batch=64,
    generator_batch=64,
)


def tiny(**settings):
    train, _ = square_data(60, seed=1)
    base: dict[str, Any] = {"training": TINY, "rounds": 4, "seed": 7, "device": "cpu"}
    return learn_generator(train, "270 m", **(base | settings))


def same(one, other):
    return one.parameters.keys() == other.parameters.keys() and all(
        np.array_equal(one.parameters[name], other.parameters[name]) for name in one.parameters
    )


def test_a_seed_makes_the_training_the_same(torch):
    one, two, other = tiny(), tiny(), tiny(seed=8)
    assert same(one, two)
    assert not same(one, other)
    assert one.ending in (Ending.PLAYED, Ending.HIDDEN)


@pytest.mark.parametrize("seed", [7, None])
def test_a_killed_training_ends_where_an_unbroken_one_does(torch, tmp_path, seed):
    class KilledError(Exception):
        pass

    def kill(found):
        if found.number == 3:
            raise KilledError

    path, copy = tmp_path / "half.ckpt", tmp_path / "copy.ckpt"
    with pytest.raises(KilledError):
        tiny(checkpoint=path, progress=kill, seed=seed, tolerance=0.0)
    copy.write_bytes(path.read_bytes())
    resumed = tiny(checkpoint=path, seed=seed, tolerance=0.0)
    # Without a seed the first call's own counts: two resumptions of one file agree.
    whole = tiny(seed=seed, tolerance=0.0) if seed is not None else tiny(checkpoint=copy, seed=None, tolerance=0.0)
    assert same(whole, resumed)
    assert [(r.number, r.loss, r.accuracy, r.multiplier) for r in whole.history] == [
        (r.number, r.loss, r.accuracy, r.multiplier) for r in resumed.history
    ]


def test_a_checkpoint_of_any_other_setting_is_refused(torch, tmp_path):
    """The last setting too: all of them make the identity, whatever a repr shows."""
    path = tmp_path / "one.ckpt"
    tiny(checkpoint=path, rounds=1)
    with pytest.raises(InputError, match="other data or settings"):
        tiny(checkpoint=path, rounds=1, training=replace(TINY, last_temperature=0.3))


def test_a_training_killed_among_the_averaged_rounds_ends_where_an_unbroken_one_does(torch, tmp_path):
    class KilledError(Exception):
        pass

    def kill(found):
        if found.number == 29:
            raise KilledError

    settings = {"rounds": 30, "tolerance": None, "patience": 30, "training": replace(TINY, attack_steps=5)}
    path = tmp_path / "half.ckpt"
    with pytest.raises(KilledError):
        tiny(checkpoint=path, progress=kill, **settings)
    whole, resumed = tiny(**settings), tiny(checkpoint=path, **settings)
    assert whole.history[-1].averaged == 2  # rounds 28 and 29 are in the last tenth
    assert same(whole, resumed)


@pytest.mark.parametrize("failure", [0.5, 0.05])
def test_the_last_round_spends_what_a_loose_limit_leaves(torch, failure):
    train, test = square_data(300, seed=1)
    found = learn_generator(
        train,
        "600 m",
        training=replace(TINY, attack_steps=5),
        rounds=30,
        patience=30,
        tolerance=None,
        failure=failure,
        seed=7,
        device="cpu",
    )
    assert found.best == 30
    assert found.within_max_loss
    limit = found.best_round.loss + NormalDist().inv_cdf(1 - failure) * found.best_round.loss_error
    assert 0.9999 * 600 <= limit <= 600
    # The place itself is never reported, and the rest of the bound goes into blur.
    for data in (train, test):
        apart = np.linalg.norm(found.draw(data.points, seed=2) - data.points, axis=1)
        assert apart.min() > 1.0
        assert apart.mean() == pytest.approx(600, rel=0.08)


def test_it_starts_near_planar_laplace_noise(torch):
    train, _ = square_data(200, seed=1)
    found = learn_generator(
        train,
        None,
        start_epsilon="10/km",
        rounds=1,
        seed=1,
        device="cpu",
        training=Training(width=48, start_steps=300, attack_steps=20, generator_steps=1, generator_batch=512),
    )
    apart = np.linalg.norm(found.draw(train.points, seed=2) - train.points, axis=1)
    expected = LaplaceDraws(PlanarLaplace("10/km")).draw(train.points, seed=3) - train.points
    assert apart.mean() == pytest.approx(np.linalg.norm(expected, axis=1).mean(), rel=0.15)
    assert np.median(apart) == pytest.approx(167.8, rel=0.15)


def test_what_cannot_be_trained_is_refused(torch):
    with pytest.raises(InputError, match="neither a largest loss"):
        learn_generator(square_data(20, seed=1)[0], None)
    with pytest.raises(InputError, match="coordinates"):
        learn_generator(Pairs(["a", "b"], [1.0, 2.0]), 10.0)
    with pytest.raises(InputError, match="margin"):
        tiny(margin=1.0)
    with pytest.raises(InputError, match="seeds"):
        Training(seeds=1)


def test_without_torch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    cells = square_cells(100.0)
    joint = square_data(20, seed=1)[0].joint(cells)
    with pytest.raises(MissingExtraError, match="uv sync --inexact --extra learn"):
        learn_table(joint, cells, cells.metric(), 100.0)
    with pytest.raises(MissingExtraError, match="uv sync --inexact --extra learn"):
        tiny()


@pytest.mark.slow
@pytest.mark.parametrize("target", [MutualInformation(), BayesVulnerability()], ids=lambda target: target.name)
def test_the_network_hides_more_than_planar_laplace_within_the_bound(torch, target):
    train, test = square_data(600, seed=0)
    settings = Training(width=64, attack_steps=100, generator_steps=20, attack_batch=256)
    found = learn_generator(
        train, "270 m", target=target, training=settings, rounds=12, patience=12, seed=0, device="cpu"
    )
    assert found.within_max_loss
    loss, error = found.loss(test, seed=1)
    assert loss - 2 * error <= 270
    ours = learn_attack(found.reports(train, 10, seed=2), NearestNeighbours(50), found.reports(test, 10, seed=3))
    noise = LaplaceDraws(PlanarLaplace(np.log(2) / 100))
    theirs = learn_attack(
        train.with_reports(noise.draw(train.points, seed=2)),
        NearestNeighbours(50),
        test.with_reports(noise.draw(test.points, seed=3)),
    )
    assert ours.error > theirs.error + 0.15
