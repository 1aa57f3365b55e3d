"""Pairs of labels and places, the square of the experiments, and the Bayes error on its grids."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.attacks.learned import Examples
from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.learn import (
    LaplaceDraws,
    NoNoise,
    Pairs,
    TableDraws,
    cell_counts,
    compare,
    grid_error,
    loss_of_cells,
    plug_in_error,
    square_cells,
    square_data,
)
from sfumato.learn.pairs import nearest
from sfumato.mechanisms import PlanarLaplace

EPSILON = np.log(2) / 100


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


def test_the_square_has_the_paper_s_shape():
    train, test = square_data(600, seed=4)
    assert (len(train), len(test)) == (1920, 480)
    assert train.shares.tolist() == [0.25] * 4
    corners = np.array([[-150, -150], [150, -150], [150, 150], [-150, 150]], dtype=float)
    apart = np.linalg.norm(train.points - corners[train.classes], axis=1)
    assert apart.max() <= 45.8
    # Uniform in a disc: the mean distance is two thirds of the radius, its square one half.
    assert apart.mean() == pytest.approx(45.8 * 2 / 3, rel=0.03)
    assert (apart**2).mean() == pytest.approx(45.8**2 / 2, rel=0.04)
    with pytest.raises(InputError):
        square_data(0)


def test_the_loss_of_cells_is_the_mean_over_their_records():
    train, _ = square_data(100, seed=1)
    cells = square_cells(50.0)
    loss = loss_of_cells(train, cells, cells)
    joint = train.joint(cells)
    report = cells.position((0, 0))
    exact = np.linalg.norm(train.points, axis=1).mean()
    assert joint.sum(axis=0) @ loss[:, report] == pytest.approx(exact)
    empty = cells.position((0, 0))
    assert joint[:, empty].sum() == 0
    assert loss[empty, cells.position((1, 0))] == pytest.approx(50.0)


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
        corrected.append(found.corrected)
        tested.append(found.tested)
        covered += found.lower <= 0.5 <= found.upper
    assert np.mean(plug_in) < 0.40
    # The truth is the largest possible error here, so no correction can err on both sides of it.
    assert abs(np.mean(corrected) - 0.5) < 0.3 * abs(np.mean(plug_in) - 0.5)
    assert np.mean(tested) == pytest.approx(0.5, abs=0.01)
    assert covered >= 190


def test_the_published_grids_of_planar_laplace():
    # Golden values of section C.7, tolerance .01 there; other records here, so a little more.
    _, test = square_data(600, radius_m=45.0, seed=0)
    train, _ = square_data(600, radius_m=45.0, seed=0)
    rows = compare(
        {"none": NoNoise(), "laplace": LaplaceDraws(PlanarLaplace(EPSILON))},
        {"train": train, "test": test},
        hits=(10,),
        seed=5,
    )
    found = {(row.name, row.part): [grid.plug_in for grid in row.grids] for row in rows}
    assert found["none", "train"] == pytest.approx([0.75, 0, 0, 0], abs=1e-12)
    assert found["laplace", "train"] == pytest.approx([0.599, 0.405, 0.407, 0.388], abs=0.015)
    assert found["laplace", "test"] == pytest.approx([0.591, 0.385, 0.384, 0.340], abs=0.03)
    fine = next(row for row in rows if (row.name, row.part) == ("laplace", "test")).grids[-1]
    # The limit of fine grids is .4015: the correction comes nearer to it.
    assert abs(fine.corrected - 0.4015) < abs(fine.plug_in - 0.4015)
    loss = next(row for row in rows if row.name == "laplace")
    assert loss.loss == pytest.approx(288.539, abs=4 * 288.5 / np.sqrt(19_200))


def test_a_table_is_drawn_as_its_rows_say():
    places = Space(range(3), [[0.0, 0.0], [10.0, 0.0], [20.0, 0.0]])
    matrix = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    draws = TableDraws(Mechanism(matrix, places, places))
    given_places = np.tile([[1.0, 1.0], [11.0, 0.0]], (4000, 1))
    reports = draws.draw(given_places, seed=3)[:, 0]
    assert (reports[1::2] == 10.0).all()
    shares = [np.mean(reports[::2] == x) for x in (0.0, 10.0, 20.0)]
    assert shares == pytest.approx(matrix[0], abs=4 * np.sqrt(0.25 / 4000))
    with pytest.raises(InputError, match="coordinates"):
        TableDraws(Mechanism(np.eye(2)))


def test_a_prior_of_the_joint_is_that_of_the_places():
    train, _ = square_data(200, seed=2)
    cells = square_cells(100.0)
    assert Prior(cells, train.joint(cells).sum(axis=0)).entropy_bits > 2


@pytest.mark.parametrize("labels", [2, 4])
def test_no_estimate_of_the_error_exceeds_that_of_a_guess_without_the_report(labels):
    # Reports that say nothing of the label, few of each cell: the correction overshoots most often.
    rng = np.random.default_rng(labels)
    for _ in range(60):
        seen = rng.integers(0, labels, 120)
        reports = Examples(seen, rng.integers(0, 30, 120).astype(float), Space(range(labels)))
        found = grid_error(reports, 1.0, seed=int(rng.integers(10**9)))
        blind = 1 - np.bincount(seen, minlength=labels).max() / len(seen)
        assert found.plug_in <= found.corrected <= blind + 1e-12
