"""Spanners against a plain Floyd and the figures of the reference."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import floyd_warshall

from sfumato.core import Metric, Space, direct_pairs, greedy_spanner, neighbours
from sfumato.errors import InputError

from ..catalogue import directed_metrics


def floyd(metric: Metric, edges: Any) -> Any:
    n = len(metric)
    paths = np.full((n, n), np.inf)
    np.fill_diagonal(paths, 0.0)
    for i, j in edges:
        paths[i, j] = paths[j, i] = metric.array[i, j]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                paths[i, j] = min(paths[i, j], paths[i, k] + paths[k, j])
    return paths


def dilation(metric: Metric, edges: Any) -> float:
    paths, d = floyd(metric, edges), metric.array
    worst = 1.0
    for i, j in np.argwhere(np.triu(np.isfinite(d), 1)):
        worst = max(worst, paths[i, j] / d[i, j] if d[i, j] > 0 else 1.0 if paths[i, j] == 0 else np.inf)
    return worst


def greedy(metric: Metric, target: float) -> list[tuple[int, int]]:
    """The textbook algorithm, recomputing all paths for every pair."""
    d = metric.array
    edges: list[tuple[int, int]] = []
    pairs = [(d[i, j], i, j) for i, j in np.argwhere(np.triu(np.isfinite(d), 1))]
    for length, i, j in sorted(pairs):
        if floyd(metric, edges)[i, j] > target * length * (1 + 1e-12):
            edges.append((int(i), int(j)))
    return edges


def grid(columns: int, rows: int, width: float = 1.0, height: float = 1.0) -> Space:
    points = [(x * width, y * height) for y in range(rows) for x in range(columns)]
    return Space(range(len(points)), points, unit="km")


@st.composite
def metrics(draw, most=8):
    n = draw(st.integers(2, most))
    points = draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=n, max_size=n))
    kind = draw(st.sampled_from(["euclidean", "manhattan"]))
    array = Space(range(n), np.array(points, float)).metric(kind).array.copy()
    if draw(st.booleans()):  # two groups that need no protection from each other
        cut = draw(st.integers(1, n - 1))
        array[:cut, cut:] = array[cut:, :cut] = np.inf
    return Metric(array)


@given(metrics(most=6), st.sampled_from([1.0, 1.05, 1.2, 1.5, 3.0]))
@settings(max_examples=15)
def test_greedy_is_the_textbook_algorithm(metric, target):
    assert [tuple(edge) for edge in greedy_spanner(metric, target).edges] == greedy(metric, target)


@given(metrics(), st.floats(1.0, 3.0))
def test_the_dilation_is_realised_and_below_the_target(metric, target):
    spanner = greedy_spanner(metric, target)
    assert spanner.dilation <= target * (1 + 1e-9)
    assert spanner.dilation == pytest.approx(dilation(metric, spanner.edges), rel=1e-12)
    assert (spanner.edges[:, 0] < spanner.edges[:, 1]).all()
    np.testing.assert_array_equal(spanner.lengths, metric.array[tuple(spanner.edges.T)])


@given(metrics(), st.floats(0.5, 6.0))
def test_neighbours_are_all_pairs_within_the_limit(metric, limit):
    assume(not np.isclose(metric.array, limit, rtol=1e-9).any())  # where rounding decides
    spanner = neighbours(metric, limit)
    wanted = {(i, j) for i, j in np.ndindex(*metric.array.shape) if i < j and metric.array[i, j] <= limit}
    assert {tuple(edge) for edge in spanner.edges} == wanted
    assert spanner.dilation == pytest.approx(dilation(metric, spanner.edges), rel=1e-12)


@given(metrics())
def test_direct_pairs_lose_nothing(metric):
    spanner = direct_pairs(metric)
    assert spanner.dilation == pytest.approx(1.0, abs=1e-11)
    kept = {tuple(edge) for edge in spanner.edges}
    d = metric.array
    for i, j in np.argwhere(np.triu(np.isfinite(d), 1)):
        chains = [z for z in range(len(d)) if max(d[i, z], d[z, j]) < d[i, j]]
        chained = any(d[i, z] + d[z, j] <= d[i, j] * (1 + 1e-12) for z in chains)
        assert ((i, j) not in kept) == chained


def test_a_manhattan_grid_keeps_its_unit_edges():
    spanner = direct_pairs(grid(5, 4).metric("manhattan"))
    assert len(spanner) == 4 * 4 + 5 * 3
    assert set(spanner.lengths) == {1.0}


# Reference D.8: limit in km, ordered pairs, dilation.
TABLE = [
    (0.54, 560, np.inf),
    (0.76, 1130, 1.414),
    (0.93, 2194, 1.125),
    (1.50, 4242, 1.050),
    (2.00, 7578, 1.0245),
    (3.00, 15312, 1.0095),
    (5.00, 37038, 1.0028),
    (17.0, 89700, 1.0),
]


@pytest.mark.parametrize(("limit", "pairs", "realised"), TABLE)
def test_appendix_c_of_privacy_games(limit, pairs, realised):
    spanner = neighbours(grid(20, 15, 0.75, 0.533).metric(), f"{limit} km")
    assert 2 * len(spanner) == pairs
    assert spanner.dilation == pytest.approx(realised, abs=5e-4)


# Reference D.9: the realised dilation for a target.
@pytest.mark.parametrize(("target", "realised"), [(1.05, 1.0274), (1.1, 1.0823), (1.2, 1.0823)])
def test_realised_dilation_of_a_grid(target, realised):
    assert greedy_spanner(grid(10, 10).metric(), target).dilation == pytest.approx(realised, abs=5e-5)


def test_400_values_take_seconds_at_most():
    spanner = greedy_spanner(grid(20, 20).metric(), 1.05)
    assert spanner.dilation <= 1.05
    assert repr(spanner).startswith("Spanner of 2,850 pairs, dilation 1.02")


def test_values_at_distance_zero_are_joined():
    metric = Metric([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    spanner = greedy_spanner(metric, 1.0)
    assert [tuple(edge) for edge in spanner.edges] == [(0, 1), (0, 2)]
    assert spanner.dilation == 1.0
    assert neighbours(metric, 0).dilation == np.inf
    assert len(direct_pairs(metric)) == 3


def test_refused_dilations():
    for value in (0.99, np.nan, np.inf):
        with pytest.raises(InputError, match="not a number of at least 1"):
            greedy_spanner(grid(2, 2).metric(), value)


@pytest.mark.parametrize("far", [5e-324, 1e300, 1.7e308])
def test_spanners_at_the_ends_of_the_floats(far):
    metric = Metric(far * (1 - np.eye(4)))
    for spanner in (greedy_spanner(metric, 1.5), direct_pairs(metric)):
        assert len(spanner) == 6
        assert spanner.dilation == 1.0
    mixed = Metric([[0, 5e-324, 1e300], [5e-324, 0, 1e300], [1e300, 1e300, 0]])
    assert greedy_spanner(mixed, 1.0).dilation == 1.0
    assert len(direct_pairs(mixed)) == 3
    line = Metric([[0, 1e308, 1.7e308], [1e308, 0, 1e308], [1.7e308, 1e308, 0]])  # the way around is longer
    assert len(direct_pairs(line)) == len(greedy_spanner(line, 1.1)) == 3


def test_spanners_of_asymmetric_metrics_are_directed_and_realise_their_dilation():
    for metric in directed_metrics(60, seed=11):
        d = metric.array
        off = np.isfinite(d) & ~np.eye(len(d), dtype=bool)
        for spanner, most in (
            (greedy_spanner(metric, 1.4), 1.4),
            (direct_pairs(metric), 1.0),
            (neighbours(metric, 9), 1.0),
        ):
            steps = np.full_like(d, np.inf)
            steps[tuple(spanner.ordered_pairs.T)] = d[tuple(spanner.ordered_pairs.T)]
            np.fill_diagonal(steps, 0)
            realised = (floyd_warshall(steps)[off] / d[off]).max(initial=1.0)
            assert spanner.dilation == pytest.approx(realised, rel=1e-12)
            assert spanner.dilation <= most * (1 + 1e-9)
