"""Learned attackers meet known Bayes errors, and never beat them by more than chance."""

import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from sfumato.attacks.classifiers import Examples, GradientBoosting, NearestNeighbours, RandomForest, learn_attack
from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError, MissingExtraError
from sfumato.leakage import bayes_error

from ...catalogue import CASES


@pytest.fixture(autouse=True)
def one_thread():
    """Many threads on few examples only wait for each other."""
    with threadpool_limits(1):
        yield


RULES = [NearestNeighbours(), RandomForest(trees=20), GradientBoosting(rounds=20)]
SMALL = [case for case in CASES if 2 <= case.mechanism.shape[0] <= 4]
# The forests are slow to train: they meet three cases only.
MET = [(case, rule) for case in SMALL for rule in RULES[: 3 if case in SMALL[:3] else 1]]


@pytest.mark.thinned(3)
@pytest.mark.parametrize(("case", "rule"), MET, ids=lambda part: getattr(part, "name", None))
def test_on_finite_channels_the_error_is_near_the_bayes_error(case, rule):
    examples = Examples.of_mechanism(case.mechanism, case.prior, 3000, seed=11)
    attack = learn_attack(examples, rule, seed=5)
    true = bayes_error(case.mechanism, case.prior)
    # Below it only by chance: four standard errors. Above it by what is not learned yet.
    assert attack.error >= true - 4 * np.sqrt(0.25 / 1500)
    assert attack.error <= true + 0.08


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_two_normal_outputs_are_told_apart_as_well_as_can_be(rule):
    from scipy.stats import norm

    rng = np.random.default_rng(4)
    secrets = rng.integers(0, 2, 6000)
    examples = Examples(secrets, rng.normal(secrets * 2.0, 1.0), Space(["left", "right"]))
    attack = learn_attack(examples, rule, share=0.7, seed=1)
    assert attack.error == pytest.approx(norm.cdf(-1), abs=0.05)
    assert attack.advantage == pytest.approx(0.5 - attack.error, abs=0.05)


def test_nothing_is_gained_where_nothing_leaks():
    blank = Mechanism(np.tile([0.2, 0.8, 0.0], (3, 1)))
    prior = Prior(blank.secrets, [0.5, 0.5, 0.0])
    attack = learn_attack(Examples.of_mechanism(blank, prior, 4000, seed=3), RandomForest(trees=20), seed=3)
    assert abs(attack.advantage) < 4 * np.sqrt(0.25 / 2000)


def test_beliefs_are_probabilities_over_all_secrets():
    space = Space(["a", "b", "unseen"])
    examples = Examples([0, 1] * 50, np.tile([0.0, 1.0], 50), space)
    for rule in RULES:
        beliefs = rule.fit(examples, seed=1).probabilities(np.array([[0.0], [1.0]]))
        assert beliefs.shape == (2, 3)
        np.testing.assert_allclose(beliefs.sum(axis=1), 1.0)
        assert (beliefs[:, 2] == 0).all()


def test_examples_of_one_secret_teach_that_secret():
    examples = Examples([1, 1, 1, 1], [0.0, 1.0, 2.0, 3.0], Space(["a", "b"]))
    for rule in RULES:
        assert rule.fit(examples).guesses(np.zeros((3, 1))).tolist() == [1, 1, 1]


def test_one_neighbour_remembers_its_examples():
    examples = Examples([0, 1, 0, 1], [0.0, 1.0, 2.0, 3.0], Space(["a", "b"]))
    assert learn_attack(examples, NearestNeighbours(1), examples).error == 0.0


def test_no_neighbour_is_refused():
    with pytest.raises(InputError, match="at least one"):
        NearestNeighbours(0)


def test_neighbours_are_those_of_brute_force():
    rng = np.random.default_rng(8)
    examples = Examples(rng.integers(0, 3, 60), rng.integers(0, 4, (60, 2)), Space(range(3)))
    asked = rng.normal(1.5, 1.0, (20, 2))  # so that no two outputs are equally near
    beliefs = NearestNeighbours(7).fit(examples).probabilities(asked)
    for point, found in zip(asked, beliefs, strict=True):
        apart = np.linalg.norm(examples.points - point, axis=1)
        near = apart <= np.sort(apart)[6] + 1e-12
        expected = np.bincount(examples.secrets[near], minlength=3) / near.sum()
        np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("rule", RULES[1:], ids=lambda rule: rule.name)
def test_without_scikit_learn_the_message_says_what_to_install(rule, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(MissingExtraError, match="uv sync --inexact --extra learn"):
        rule.fit(Examples([0, 1], [0.0, 1.0], Space(["a", "b"])))
