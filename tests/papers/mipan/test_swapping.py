"""Example 1: its payoffs by another route, and the game played with two targets."""

from itertools import product

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.learning import BayesVulnerability, CrossEntropy, MutualInformation
from sfumato_papers.mipan import payoffs, play_swapping, swapping_figure
from sfumato_papers.mipan.games import CLASSIFIERS, GENERATORS, swaps


def test_payoffs_are_those_of_example_1():
    found, half = payoffs(), [0.5] * 4
    assert [row.success for row in found] == [1, 0, 0.5, 0.5, 0, 1, 0.5, 0.5, *half, *half]
    assert [row.information_bits for row in found] == [1, 1, 0, 0, 1, 1, 0, 0, *[0] * 8]
    assert [row.vulnerability for row in found] == [1, 1, 0.5, 0.5, 1, 1, 0.5, 0.5, *half, *half]
    assert [(row.generator, row.classifier) for row in found] == list(product(GENERATORS, CLASSIFIERS))


def test_payoffs_are_the_targets_of_deterministic_channels(torch):
    # Another route to the tables: the joint distribution of person and guess.
    reports = [np.eye(2), np.eye(2)[::-1], np.array([[1.0, 0], [1, 0]]), np.array([[0, 1.0], [0, 1]])]
    for row, (report, guess) in zip(payoffs(), product(reports, reports), strict=True):
        joint = torch.as_tensor(0.5 * report @ guess)
        assert float(MutualInformation().of_reports(joint)) == pytest.approx(row.information_bits)
        assert float(BayesVulnerability().of_reports(joint)) == pytest.approx(row.vulnerability)
        assert float(torch.trace(joint)) == pytest.approx(row.success)


def test_cross_entropy_swaps_and_information_settles(torch):
    chase, calm = play_swapping(CrossEntropy()), play_swapping(MutualInformation())
    assert swaps(chase) >= 8
    assert max(row.accuracy for row in chase[-12:]) > 0.8
    assert len({np.sign(row.alice_at_a - row.bob_at_a) for row in calm[-12:]}) == 1
    assert calm[-1].accuracy < 0.55


def test_the_figure_shows_every_game(torch):
    games = [play_swapping(target, rounds=5) for target in (CrossEntropy(), MutualInformation())]
    figure = swapping_figure([row for game in games for row in game])
    assert [ax.get_title().split(":")[0] for ax in figure.axes] == [
        "Trained with cross entropy",
        "Trained with mutual information",
    ]
    assert np.asarray(figure.axes[0].lines[0].get_ydata())[0] == pytest.approx(0.9)
    with pytest.raises(InputError, match="no game"):
        swapping_figure([])
