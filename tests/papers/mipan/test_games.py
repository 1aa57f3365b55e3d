"""Games of Example 1 and theorems on random channels, by other routes."""

import numpy as np
import pytest

from sfumato.learning import MutualInformation
from sfumato_papers.mipan import GuessedLabel, alternate, payoffs, play_swapping, theorem_row


def test_saddle_points_of_figure_1_by_brute_force():
    """Over success, four pairs of pure choices are in equilibrium, and none of them is among truth and swap."""
    success = np.reshape([row.success for row in payoffs()], (4, 4))
    found = {
        (g, c)
        for g in range(4)
        for c in range(4)
        if success[g, c] == success[g].max() and success[g, c] == success[:, c].min()
    }
    assert found == {(2, 2), (2, 3), (3, 2), (3, 3)}


def test_what_a_guess_tells_is_counted_by_hand():
    shares = np.array([[0.3, 0.1, 0.1], [0.1, 0.3, 0.1]])  # guesses: 0, 1 and, on a tie, 0
    guess = GuessedLabel.of(shares)
    joint = np.array([[0.4, 0.1], [0.2, 0.3]])
    entropies = [-(p * np.log2(p)).sum() for p in (joint.sum(axis=1), joint.sum(axis=0), joint.ravel())]
    assert guess.error == pytest.approx(0.3)
    assert guess.information_bits == pytest.approx(entropies[0] + entropies[1] - entropies[2])
    assert guess.unknown_bits == pytest.approx(entropies[2] - entropies[1])


def test_random_channels_keep_the_propositions():
    row = theorem_row(3, 300)
    slack = (row.convex_slack_bits, row.information_slack_bits, row.error_slack, row.entropy_slack)
    assert min(slack) >= -1e-9
    assert row.best_error_gap <= 1e-9
    assert row.sharp_slack > 0.01


def test_a_game_begins_where_its_seed_says(torch):
    games = [play_swapping(MutualInformation(), rounds=1, steps=1, seed=seed) for seed in (0, 1, 1, 2)]
    starts = [(row.alice_at_a, row.bob_at_a) for (row,) in games]
    assert starts[0] == pytest.approx((0.9, 0.1))
    assert starts[1] == starts[2] != starts[3]
    assert all(alice > bob for alice, bob in starts)


def test_algorithm_1_hides_who_reports(torch):
    for reset in (True, False):
        rows = alternate(0, reset=reset)
        assert rows[0].best_right == pytest.approx(0.9)
        assert all(row.classifier_right <= row.best_right + 1e-12 for row in rows)
        assert rows[-1].best_right < 0.53
