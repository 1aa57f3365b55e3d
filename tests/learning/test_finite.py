"""From draws to a promise: counted intervals hold, and the proof is of the integers alone."""

import numpy as np
import pytest

from sfumato.core import Mechanism, Metric, MetricPrivacy, Space
from sfumato.errors import InputError, MetricWarning, SolverError
from sfumato.learning import count_reports, with_guarantee
from sfumato.mechanisms import PlanarLaplace
from sfumato.proofs import prove_metric_privacy
from sfumato.statistics import epsilon_lower
from sfumato_papers.mipan import LaplaceDraws, TableDraws

CELLS = Space([(i, j) for j in range(3) for i in range(3)], [[i, j] for j in range(3) for i in range(3)], "km")


def known():
    """A mechanism on the cells with zeros, so that its epsilon is infinite."""
    rng = np.random.default_rng(4)
    matrix = rng.dirichlet(np.ones(9), size=9)
    matrix[:, 8] = 0.0
    matrix[0, 1] = 0.0
    return Mechanism(matrix / matrix.sum(axis=1, keepdims=True), CELLS, CELLS)


def test_intervals_hold_the_true_probabilities():
    mechanism = known()
    missed = 0
    for seed in range(20):
        found = count_reports(TableDraws(mechanism), CELLS, draws=2000, failure=0.1, seed=seed)
        assert (found.counts.sum(axis=1) == 2000).all()
        missed += bool(((mechanism.matrix < found.lower) | (mechanism.matrix > found.upper)).any())
    # 20 trials that fail with probability .1: more than 7 have probability below .001.
    assert missed <= 7


def test_a_learned_matrix_is_repaired_and_proved():
    ground = CELLS.metric("euclidean")
    guarantee = MetricPrivacy(0.5, ground)
    mechanism = count_reports(TableDraws(known()), CELLS, draws=3000, seed=1).mechanism
    assert not prove_metric_privacy(mechanism, guarantee).holds
    found = with_guarantee(mechanism, guarantee)
    assert found.proof.holds
    # The promise by brute force, on the floats of the integers.
    rows = found.mechanism.matrix
    for s in range(9):
        for t in range(9):
            assert (rows[s] <= np.exp(0.5 * ground.array[s, t]) * rows[t] * (1 + 1e-12)).all()
    assert 0 <= found.shift <= 1
    assert found.shift == pytest.approx(np.abs(rows - mechanism.matrix).sum(axis=1).max() / 2)


def test_pairs_that_need_no_protection_are_left_alone():
    d = np.full((9, 9), np.inf)
    np.fill_diagonal(d, 0.0)
    d[0, 1] = d[1, 0] = 1.0
    found = with_guarantee(known(), MetricPrivacy(1.0, Metric(d)))
    assert found.proof.holds


def test_a_repair_that_does_not_repair_is_found_out(monkeypatch):
    monkeypatch.setattr(
        "sfumato.learning.post_processing.repair_to_private", lambda matrix, exponents: (matrix, 0.0)
    )
    guarantee = MetricPrivacy(0.5, CELLS.metric("euclidean"))
    with pytest.raises(SolverError, match="keeps only"):
        with_guarantee(known(), guarantee)


def test_samples_of_a_generator_bound_epsilon_from_below():
    # Planar Laplace noise of epsilon 1 per km, moved to cells: never shown to have more.
    found = count_reports(LaplaceDraws(PlanarLaplace("1/km", "km")), CELLS, draws=20_000, seed=2)
    shown = epsilon_lower(found.sample, CELLS.metric("euclidean"), seed=1)
    assert 0 < shown.value <= 1.0


def test_what_does_not_fit_is_refused():
    mechanism = known()
    with pytest.raises(InputError, match="metric"):
        with_guarantee(mechanism, MetricPrivacy(1.0, Metric([[0, 1], [1, 0]])))
    broken = np.full((9, 9), 1.0) - np.eye(9)
    broken[0, 1] = broken[1, 0] = 5.0
    with pytest.warns(MetricWarning):
        metric = Metric(broken)
    with pytest.raises(InputError, match="triangle"):
        with_guarantee(mechanism, MetricPrivacy(1.0, metric))
    with pytest.raises(InputError, match="coordinates"):
        count_reports(TableDraws(mechanism), Space(range(3)))
    with pytest.raises(InputError, match="draws"):
        count_reports(TableDraws(mechanism), CELLS, draws=0)
