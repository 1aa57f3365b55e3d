"""Example 1: its payoffs by another route, and the game played with two targets."""

from itertools import product

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.learning import BayesVulnerability, CrossEntropy, MutualInformation
from sfumato_papers.mipan import CLASSIFIERS, GENERATORS, payoffs, play_swapping, swapping_figure


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
    assert chase.swaps >= 8
    assert chase.accuracy[-12:].max() > 0.8
    late = np.sign(calm.reports_a[-12:, 0] - calm.reports_a[-12:, 1])
    assert (late == late[0]).all()
    assert calm.accuracy[-1] < 0.55


def test_the_figure_shows_every_game(torch):
    games = [play_swapping(CrossEntropy(), rounds=5), play_swapping(MutualInformation(), rounds=5)]
    figure = swapping_figure(games)
    assert [ax.get_title().split(":")[0] for ax in figure.axes] == [
        "Trained with cross entropy",
        "Trained with mutual information",
    ]
    assert np.asarray(figure.axes[0].lines[0].get_ydata())[0] == pytest.approx(0.9)
    with pytest.raises(InputError, match="no game"):
        swapping_figure([])
