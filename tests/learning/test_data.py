"""Pairs of labels and places, and the Bayes error on grids."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.attacks.classifiers import Examples
from sfumato.core import Mechanism, Space
from sfumato.errors import InputError
from sfumato.geo import Grid, Visits
from sfumato.learning import Pairs, cell_counts, grid_error, hiding, nearest, plug_in_error


def test_joint_counts_labels_in_nearest_cells():
    cells = Space(["west", "east", "empty"], [[0.0, 0.0], [10.0, 0.0], [0.0, 99.0]])
    pairs = Pairs(["a", "a", "b", "b"], [[1, 0], [9, 1], [8, 0], [7, 0]], space=Space(["a", "b", "never"]))
    assert pairs.joint(cells).tolist() == [[0.25, 0.25, 0], [0, 0.5, 0], [0, 0, 0]]
    assert pairs.shares.tolist() == [0.5, 0.5, 0.0]
    assert pairs.blind_error == 0.5


def test_a_split_keeps_every_record_once():
    pairs = Pairs(list("abcd") * 5, np.arange(20.0))
    one, two = pairs.split(0.25, seed=2)
    assert (len(one), len(two)) == (5, 15)
    assert sorted(np.r_[one.points, two.points].ravel()) == list(range(20))
    assert all(
        "abcd"[int(p) % 4] == one.space.labels[c] for p, c in zip(one.points[:, 0], one.classes, strict=True)
    )


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=60).filter(lambda labels: len(set(labels)) > 1),
    st.floats(0.05, 0.95),
    st.integers(0, 9),
)
def test_a_split_by_label_takes_that_share_of_each(labels, share, seed):
    assume(1 <= round(share * len(labels)) < len(labels))
    pairs = Pairs(labels, np.arange(float(len(labels))), space=Space([*"abc", "never"]))
    one, two = pairs.split(share, by_label=True, seed=seed)
    assert len(one) == round(share * len(labels))
    assert sorted(np.r_[one.points, two.points].ravel()) == list(range(len(labels)))
    taken, given_ = np.bincount(one.classes, minlength=4), np.bincount(pairs.classes, minlength=4)
    assert (abs(taken - share * given_) <= 1.5).all()


@pytest.mark.parametrize(
    ("labels", "points"), [(["a", "a"], [1.0, 2.0]), (["a", "b"], [1.0]), ([], []), (["a", "b"], [1.0, np.inf])]
)
def test_what_are_no_pairs_is_refused(labels, points):
    with pytest.raises(InputError):
        Pairs(labels, points)


@pytest.mark.parametrize("share", [0.0, 1.0, 0.01])
def test_an_empty_part_is_refused(share):
    with pytest.raises(InputError, match="share"):
        Pairs(["a", "b"], [1.0, 2.0]).split(share)


def test_cells_without_coordinates_are_refused():
    with pytest.raises(InputError, match="coordinates"):
        nearest(np.zeros((1, 2)), Space(["a", "b"]))


@given(arrays(np.int64, (3, 5), elements=st.integers(0, 9)).filter(lambda a: a.sum() > 0))
def test_the_plug_in_is_equation_27(counts):
    total = counts.sum()
    by_hand = sum(
        (1 - max(counts[j, i] / counts[:, i].sum() for j in range(3))) * counts[:, i].sum() / total
        for i in range(5)
        if counts[:, i].sum()
    )
    assert plug_in_error(counts) == pytest.approx(by_hand, abs=1e-12)


def test_one_cell_gives_the_blind_error_and_single_hits_give_none():
    rng = np.random.default_rng(1)
    reports = Examples(rng.integers(0, 4, 200), rng.random((200, 2)), Space(range(4)))
    assert grid_error(reports, 100.0, seed=1).plug_in == pytest.approx(1 - reports.shares.max())
    assert grid_error(reports, 1e-6, seed=1).plug_in == 0.0


def test_cells_are_centred_or_cornered_on_the_origin():
    reports = Examples([0, 0, 1, 1], [[-0.4], [0.4], [0.6], [1.4]], Space(range(2)))
    assert cell_counts(reports, 1.0).tolist() == [[2, 0], [0, 2]]
    assert cell_counts(reports, 1.0, even=True).tolist() == [[1, 1, 0], [0, 1, 1]]
    with pytest.raises(InputError, match="side"):
        cell_counts(reports, 0.0)


def test_the_plug_in_is_too_low_and_the_correction_nearer():
    # H11 on a channel of known error: 40 labels-blind cells, so that the truth is .5.
    rng = np.random.default_rng(7)
    plug_in, corrected, tested, covered = [], [], [], 0
    for _ in range(200):
        cells = rng.integers(0, 40, 400).astype(float)
        found = grid_error(
            Examples(rng.integers(0, 2, 400), cells, Space(range(2))),
            1.0,
            seed=int(rng.integers(10**9)),
        )
        plug_in.append(found.plug_in)
        corrected.append(found.error.value)
        tested.append(found.holdout)
        covered += found.error.lower <= 0.5 <= found.error.upper
    assert np.mean(plug_in) < 0.40
    # The truth is the largest possible error here, so no correction can err on both sides of it.
    assert abs(np.mean(corrected) - 0.5) < 0.3 * abs(np.mean(plug_in) - 0.5)
    assert np.mean(tested) == pytest.approx(0.5, abs=0.01)
    assert covered >= 190


@pytest.mark.parametrize("labels", [2, 4])
def test_no_estimate_of_the_error_exceeds_that_of_a_guess_without_the_report(labels):
    # Reports that say nothing of the label, few of each cell: the correction overshoots most often.
    rng = np.random.default_rng(labels)
    for _ in range(60):
        seen = rng.integers(0, labels, 120)
        reports = Examples(seen, rng.integers(0, 30, 120).astype(float), Space(range(labels)))
        found = grid_error(reports, 1.0, seed=int(rng.integers(10**9)))
        blind = 1 - np.bincount(seen, minlength=labels).max() / len(seen)
        assert found.plug_in <= found.error.value <= blind + 1e-12


def test_the_loss_of_records_is_from_their_true_values():
    """Against the mean over records, one by one; a cell without records counts from its centre."""
    rng = np.random.default_rng(4)
    grid = Grid.covering("3 km x 2 km around 48.85,2.35", "1 km")
    points = rng.uniform(-1400, 400, (80, 2)) * (1, 0.6)
    data = Pairs(rng.integers(0, 3, 80), points)
    matrix = rng.dirichlet(np.ones(len(grid)), len(grid))
    mechanism = Mechanism(matrix, grid, grid)
    found = hiding(mechanism, data.joint(grid), data.loss(grid)).loss
    total = 0.0
    for point in points:
        away = np.hypot(*(grid.coordinates - point).T)
        total += mechanism.matrix[int(np.argmin(away))] @ away
    assert found == pytest.approx(total / 80, rel=1e-12)
    empty = np.flatnonzero(data.joint(grid).sum(axis=0) == 0)
    assert len(empty)
    np.testing.assert_allclose(data.loss(grid).array[empty], grid.metric(unit="m").array[empty])
    assert data.loss(grid).unit == "m"
    lat, lon = grid.projection.inverse(points).T
    np.testing.assert_allclose(
        data.loss(grid).array, grid.loss(Visits(lat, lon), unit="m").array, rtol=1e-9, atol=1e-6
    )
