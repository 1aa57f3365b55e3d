import warnings
from collections import deque

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import floyd_warshall

from sfumato.core import Metric
from sfumato.errors import InputError, MetricWarning, UnitError

from .arrays import distances, refused

TRIANGLE = [[0, 1, 5], [1, 0, 1], [5, 1, 0]]  # 5 > 1 + 1


@pytest.mark.parametrize(
    ("array", "says"),
    [
        ([[0, -1], [-1, 0]], "negative: -1 between values 0 and 1"),
        ([[0, 1], [1, 0.5]], "value 1 at distance 0.5 from itself"),
        ([[0, 1], [2, 0]], "not symmetric: 1 from value 0 to 1, but 2 back"),
        ([[0, np.inf], [1, 0]], "not symmetric"),
        ([[0, np.nan], [np.nan, 0]], "holds nan"),
        ([[0, -np.inf], [-np.inf, 0]], "holds -inf"),
        ([[0, 1, 2], [1, 0, 1]], "shape 2 x 3"),
        ([0, 1], "shape 2"),
        (3.0, "a single number"),
        ([[0, 1], [1]], "not an array of numbers"),
        ([["a", "b"], ["c", "d"]], "not an array of numbers"),
    ],
)
def test_what_is_no_metric_is_refused(array, says):
    refused(lambda: Metric(array), says)


def test_rounding_noise_is_no_asymmetry():
    metric = Metric([[0.0, 1.0], [1 + 1e-12, 0.0]])
    np.testing.assert_array_equal(metric.array, metric.array.T)
    assert metric.array[0, 1] == 1.0  # the smaller one protects more


def test_a_broken_triangle_warns_and_says_where():
    with pytest.warns(MetricWarning, match="5 between values 0 and 2, but 2 by way of 1"):
        metric = Metric(TRIANGLE)
    assert not metric.triangle
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        closed = metric.closure()
    np.testing.assert_array_equal(closed.array, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert closed.triangle


def test_infinite_distances_are_allowed():
    metric = Metric(np.array([[0, 1, np.inf], [1, 0, np.inf], [np.inf, np.inf, 0]]))
    assert metric.triangle
    assert metric.diameter == 1.0
    with pytest.warns(MetricWarning, match="inf between values 0 and 2"):
        Metric(np.array([[0, 1, np.inf], [1, 0, 1], [np.inf, 1, 0]]))


@given(distances())
def test_shortest_paths_are_metrics(array):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metric = Metric(array)
    assert metric.triangle
    assert metric.closure() is metric
    np.testing.assert_array_equal(metric.array, array)


@given(st.integers(1, 7), st.integers(0, 2**32))
def test_closure_is_floyd_warshall(n, seed):
    rng = np.random.default_rng(seed)
    array = np.triu(rng.exponential(size=(n, n)) ** 3 + 1e-3, 1)
    array[np.triu(rng.random((n, n)) < 0.2, 1)] = np.inf
    array += array.T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MetricWarning)
        metric = Metric(array)
    np.testing.assert_allclose(metric.closure().array, floyd_warshall(array), rtol=1e-12)
    assert (metric.closure().array <= metric.array).all()


def test_zero_steps_of_the_closure_are_kept():
    with pytest.warns(MetricWarning):
        metric = Metric([[0, 0, 3], [0, 0, 1], [3, 1, 0]])
    np.testing.assert_array_equal(metric.closure().array, [[0, 0, 1], [0, 0, 1], [1, 1, 0]])


@given(distances(), st.floats(1e-3, 1e3))
def test_scaled(array, factor):
    metric = Metric(array, "km").scale(factor)
    np.testing.assert_array_equal(metric.array, array * factor)
    assert metric.unit == "km"
    np.testing.assert_allclose(Metric(array, "km").to("m").array, array * 1000)


@pytest.mark.parametrize("factor", [0, -1, np.nan, np.inf])
def test_scaling_needs_a_positive_factor(factor):
    with pytest.raises(InputError, match="cannot be scaled"):
        Metric([[0, 1], [1, 0]]).scale(factor)


def test_units():
    metric = Metric([[0, 2], [2, 0]], "kilometres")
    assert metric.unit == "km"
    assert metric.to("m").array[0, 1] == 2000
    assert metric.to("m").unit == "m"
    with pytest.raises(UnitError, match="'km' does not fit 'h'"):
        metric.to("h")
    assert "in km" in repr(metric)
    with pytest.raises(ValueError, match="read-only"):
        metric.array[0, 1] = 3


def test_within_reads_units_and_includes_the_limit():
    x = np.array([0.0, 0.5, 0.8, 3.0])
    metric = Metric(np.abs(x[:, None] - x), "km")
    near = metric.near_pairs("500 m")
    np.testing.assert_array_equal(np.argwhere(np.triu(near)), [[0, 1], [1, 2]])
    np.testing.assert_array_equal(metric.near_pairs(0.5), near)
    assert not near.diagonal().any()
    with pytest.raises(UnitError):
        metric.near_pairs("1 h")


@given(distances(smallest=2), st.floats(0.01, 10))
def test_threshold_counts_hops(array, limit):
    metric = Metric(array)
    near = (array <= limit * (1 + 1e-12)) & ~np.eye(len(array), dtype=bool)
    if not near.any():
        refused(lambda: metric.threshold(limit), "no two distinct values are within")
        return
    hops = metric.threshold(limit).array
    for start in range(len(array)):
        np.testing.assert_array_equal(hops[start], _steps(near, start))


def _steps(near, start):
    steps = np.full(len(near), np.inf)
    steps[start] = 0
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for there in np.flatnonzero(near[here]):
            if np.isinf(steps[there]):
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


def test_a_threshold_below_the_closest_pair_says_how_close_it_is():
    metric = Metric([[0, 2], [2, 0]], "km")
    with pytest.raises(InputError, match=r"within 1\.5 km of each other\.\nHint: the closest pair is 2 km apart"):
        metric.threshold("1500 m")
    assert metric.threshold("2 km").unit == ""
    assert metric.threshold("2 km").name == "hops of at most 2 km"


def test_scaling_and_units_keep_a_broken_triangle_broken():
    with pytest.warns(MetricWarning):
        metric = Metric(TRIANGLE, "km")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it was said when the metric was made
        for derived in (metric.scale(3), metric.to("m")):
            assert not derived.triangle
            np.testing.assert_allclose(derived.closure().array[0, 2], 2 * derived.array[0, 1])
    assert metric.closure().to("m").triangle


def test_a_scaled_metric_has_another_name_and_another_unit_has_the_same():
    metric = Metric([[0, 2], [2, 0]], "km", name="walk")
    assert metric.scale(10).name == "10 x walk"
    assert metric.to("m").name == "walk"


@pytest.mark.parametrize("factor", [1e300, 1e-310])
def test_a_scale_at_which_distances_vanish_or_overflow_is_refused(factor):
    metric = Metric([[0, 1e-20, 1e20], [1e-20, 0, 1e20], [1e20, 1e20, 0]])
    refused(lambda: metric.scale(factor), "cannot be scaled")


@pytest.mark.parametrize(
    ("array", "says"),
    [
        ([[0, -1], [-1, 0]], "negative: -1 between values 0 and 1"),
        ([[0, 1], [1, 0.5]], "value 1 at distance 0.5 from itself"),
        ([[0, 1], [2, 0]], "not symmetric"),
    ],
)
def test_whoever_knows_the_triangle_inequality_gets_the_other_axioms_checked(array, says):
    refused(lambda: Metric(array, triangle=True), says)


def test_ways_around_that_are_longer_than_all_floats():
    far = np.array([[0, 1.7e308, 1.0], [1.7e308, 0, 1.7e308], [1.0, 1.7e308, 0]])
    assert Metric(far).triangle
    with pytest.warns(MetricWarning, match="breaks the triangle inequality"):
        broken = Metric([[0, 1.7e308, 1.0], [1.7e308, 0, 1.0], [1.0, 1.0, 0]])
    assert broken.closure().array[0, 1] == 2.0


def test_no_limit_is_so_large_that_infinite_distances_are_within_it():
    metric = Metric([[0, 1.7e308, np.inf], [1.7e308, 0, np.inf], [np.inf, np.inf, 0]])
    assert np.argwhere(metric.near_pairs(np.finfo(float).max)).tolist() == [[0, 1], [1, 0]]


STREETS = np.array([[0, 1, 3], [2, 0, 2], [np.inf, np.inf, 0]])


def test_an_asymmetric_metric_is_accepted_on_request_and_keeps_its_directions():
    metric = Metric(STREETS, "km", symmetric=False)
    assert (metric.symmetric, metric.triangle) == (False, True)
    assert repr(metric) == "Asymmetric metric 'metric' on 3 values in km, diameter 3"
    for derived in (metric.to("m"), metric.scale(2), metric.trust(), metric.closure(), metric.threshold("2 km")):
        assert not derived.symmetric
    np.testing.assert_array_equal(metric.to("m").array, 1000 * STREETS)
    np.testing.assert_array_equal(metric.threshold(2).array, [[0, 1, 2], [1, 0, 1], [np.inf, np.inf, 0]])
    assert Metric(np.array([[0, 1], [1 + 1e-12, 0]]), symmetric=False).symmetric


def test_a_directed_graph_of_streets_closes_to_its_shortest_ways():
    rng = np.random.default_rng(5)
    for _ in range(50):
        size = int(rng.integers(2, 7))
        streets = np.where(rng.random((size, size)) < 0.5, rng.uniform(0.1, 3, (size, size)), np.inf)
        np.fill_diagonal(streets, 0)
        metric = Metric(streets, "km", symmetric=False, triangle=False).closure()
        np.testing.assert_allclose(metric.array, floyd_warshall(streets), rtol=1e-12)
        symmetric = metric.symmetrise()
        np.testing.assert_allclose(symmetric.array, floyd_warshall(np.minimum(streets, streets.T)), rtol=1e-12)
        assert symmetric.symmetric
        assert (symmetric.array <= metric.array).all()


def test_the_triangle_of_an_asymmetric_metric_is_checked_in_each_direction():
    with pytest.warns(MetricWarning, match="5 between values 0 and 2, but 2 by way of 1"):
        assert not Metric([[0, 1, 5], [1, 0, 1], [1, 1, 0]], symmetric=False).triangle


def test_distance_zero_in_one_direction_closes_to_zero_in_both():
    array = [[0, 0, 3], [2, 0, 2], [5, 4, 0]]
    for triangle in (None, True):
        with pytest.warns(MetricWarning, match="0 from value 0 to 1, but 2 back"):
            metric = Metric(array, symmetric=False, triangle=triangle)
        assert not metric.triangle
        np.testing.assert_array_equal(metric.closure().array, [[0, 0, 2], [0, 0, 2], [4, 4, 0]])


def test_an_error_names_distances_by_what_they_are():
    with pytest.raises(InputError, match="the metric called 'travel minutes' is not symmetric"):
        Metric([[0, 1], [2, 0]], name="travel minutes")
