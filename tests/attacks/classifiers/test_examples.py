"""Examples of mechanisms, labels and black boxes."""

import numpy as np
import pytest

from sfumato.attacks.classifiers import Examples
from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError

ROWS = np.array([[0.7, 0.3, 0.0, 0.0], [0.1, 0.2, 0.7, 0.0], [0.25, 0.5, 0.25, 0.0]])
SECRETS = Space(["a", "b", "never"])
PRIOR = Prior(SECRETS, [0.25, 0.75, 0.0])


def test_simulated_examples_follow_the_joint_distribution():
    mechanism = Mechanism(ROWS, SECRETS, Space(range(4)))
    found = Examples.of_mechanism(mechanism, PRIOR, 40_000, seed=3)
    counts = np.zeros((3, 4))
    np.add.at(counts, (found.secrets, found.points.argmax(axis=1)), 1)
    joint = mechanism.joint(PRIOR)
    # Four standard errors of a share.
    assert (np.abs(counts / 40_000 - joint) <= 4 * np.sqrt(joint / 40_000)).all()
    assert counts[2].sum() == counts[:, 3].sum() == 0


def test_observables_with_coordinates_become_points():
    places = Space(range(4), [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    found = Examples.of_mechanism(Mechanism(ROWS, SECRETS, places), PRIOR, 50, seed=1)
    assert {tuple(p) for p in found.points} <= {(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)}


def test_a_black_box_is_asked_for_secrets_of_the_prior():
    asked = []

    def ask(label):
        asked.append(label)
        return [float(label == "a"), 2.0]

    found = Examples.of_black_box(ask, PRIOR, 500, seed=2)
    assert "never" not in asked
    assert found.points[:, 0].tolist() == [float(label == "a") for label in asked]
    assert found.shares[0] == pytest.approx(0.25, abs=0.08)


def test_a_split_keeps_every_example_once():
    found = Examples.of(["x", "y", "z", "x"] * 10, np.arange(40.0))
    one, two = found.split(0.3, seed=1)
    assert (len(one), len(two)) == (12, 28)
    assert sorted(np.concatenate([one.points, two.points]).ravel()) == list(range(40))
    for part in (one, two):
        assert [found.space.labels[s] for s in part.secrets] == [
            ["x", "y", "z", "x"][int(p) % 4] for p in part.points[:, 0]
        ]


@pytest.mark.parametrize(
    ("secrets", "points"),
    [([0, 3], [1.0, 2.0]), ([0.5, 1], [1.0, 2.0]), ([0, 1], [1.0, np.nan]), ([0, 1], [1.0]), ([0], [1.0])],
)
def test_what_are_no_examples_is_refused(secrets, points):
    with pytest.raises(InputError):
        Examples(secrets, points, SECRETS)


def test_a_split_that_leaves_a_part_empty_is_refused():
    with pytest.raises(InputError, match="without two"):
        Examples([0, 1, 1], [1.0, 2.0, 3.0], SECRETS).split(0.5)


def test_answers_of_different_shapes_are_refused():
    with pytest.raises(InputError, match="shape"):
        Examples.of_black_box(lambda label: [1.0] * (1 + (label == "a")), PRIOR, 200, seed=1)
