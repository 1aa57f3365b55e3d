import importlib
import importlib.util
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Bracket, Metric, Prior, Space
from sfumato.errors import InputError
from sfumato.transport import Coupling, north_west_corner, wasserstein

from .problems import distributions, least_cost, most_violation, problems

INF = np.inf


@given(problems(), st.sampled_from([1.0, 1.5, 2.0, 3.0]))
def test_value_by_a_general_solver_and_from_below(problem, p):
    first, second, d = problem
    found = wasserstein(first, second, d, p)
    assert found.distance.value**p == pytest.approx(
        least_cost(first, second, d**p), rel=1e-6, abs=1e-6 * d.max() ** p
    )
    assert found.coupling.expected_distance(d, p) == pytest.approx(found.distance.value, rel=1e-12, abs=1e-12)
    assert found.distance.lower <= found.distance.value <= found.distance.upper
    assert found.distance.upper == pytest.approx(found.distance.value, rel=1e-12, abs=1e-12 * d.max())
    assert found.distance.lower**p == pytest.approx(found.distance.value**p, rel=1e-12, abs=1e-12 * d.max() ** p)
    assert np.count_nonzero(found.coupling.joint) <= np.count_nonzero(first) + np.count_nonzero(second) - 1


@given(problems())
def test_largest_distance_by_strassen(problem):
    first, second, d = problem
    found = wasserstein(first, second, d, INF)
    assert found.ignored <= 1e-12
    assert found.coupling.joint[d > found.distance.value].sum() <= 1e-12
    levels = np.unique(d)
    feasible = [level for level in levels if most_violation(first, second, d <= level) <= 1e-12]
    assert found.distance.value == feasible[0]


@given(problems(), st.data())
def test_infinite_distances_carry_no_mass(problem, data):
    first, second, d = problem
    beyond = np.array(data.draw(st.lists(st.booleans(), min_size=d.size, max_size=d.size))).reshape(d.shape)
    d = np.where(beyond, INF, d)
    outside = most_violation(first, second, ~beyond)
    for p in (1.0, 2.0):
        found = wasserstein(first, second, d, p)
        if outside > 1e-9:
            assert found.distance.value == INF
        else:
            slack = 1e-6 * max(1.0, d[np.isfinite(d)].max(initial=0.0)) ** p
            assert found.distance.value**p == pytest.approx(least_cost(first, second, d**p), rel=1e-6, abs=slack)
            assert found.distance.lower**p == pytest.approx(found.distance.value**p, abs=slack)
    assert (wasserstein(first, second, d, INF).distance.value == INF) == (outside > 1e-9)


@given(st.data(), st.integers(2, 7))
def test_on_the_line_the_corner_rule_is_optimal_for_every_order(data, n):
    steps = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    x = np.cumsum(steps, dtype=float)
    d = np.abs(x[:, None] - x)
    first, second = data.draw(distributions(n)), data.draw(distributions(n))
    for p in (1.0, 2.0, 3.0, INF):
        corner = north_west_corner(first, second, d, p).expected_distance(d, p)
        assert corner == pytest.approx(
            wasserstein(first, second, d, p, tolerance=0.0).distance.value, rel=1e-6, abs=1e-6
        )
    gaps = np.abs(np.cumsum(first - second))[:-1] @ np.diff(x)
    assert wasserstein(first, second, d).distance.value == pytest.approx(gaps, abs=1e-12)


@given(st.data(), st.integers(2, 7), st.sampled_from([1, 2, 3, INF]))
def test_the_bounds_hold_for_the_exact_distance_on_the_line(data, n, p):
    """The sorted coupling, whose cost is computed in fractions of the given floats."""
    x = np.cumsum(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))) * data.draw(st.floats(0.1, 1.0))
    d = np.abs(x[:, None] - x)
    first, second = data.draw(distributions(n)), data.draw(distributions(n))
    left, right = ([Fraction(mass) for mass in row.tolist()] for row in (first, second))
    left, right = [mass * sum(right) for mass in left], [mass * sum(left) for mass in right]
    whole, moved, i, j = sum(left), [], 0, 0
    while i < n and j < n:
        mass = min(left[i], right[j])
        left[i], right[j] = left[i] - mass, right[j] - mass
        moved += [(mass / whole, Fraction(d[i, j]))] if mass else []
        i, j = i + (left[i] == 0), j + (i < n and right[j] == 0)
    found = wasserstein(first, second, d, p, tolerance=0.0).distance
    if p == INF:
        assert found == Bracket.exact(float(max(step for _, step in moved)))
    else:
        exact = sum(mass * step**p for mass, step in moved)
        assert Fraction(found.lower) ** p <= exact <= Fraction(found.upper) ** p


@pytest.mark.parametrize("p", [1.0, 2.0, 7.5])
def test_what_is_ignored_beyond_an_infinite_distance_moves_neither_bound(p):
    # Tenths are not exact in binary: 5.6e-17 has to leave the first two values, which are infinitely far.
    first, second = [0.1, 0.2, 0.7], [0.2, 0.1, 0.7]
    second[0], second[1] = 0.1 + 0.1, 0.1 + 1.4e-17
    d = np.array([[0.0, 3.0, INF], [3.0, 0.0, INF], [INF, INF, 0.0]])
    found = wasserstein(first, second, d, p)
    assert 0 < found.ignored < 1e-15
    assert found.distance.lower <= found.distance.value <= found.distance.upper
    assert found.distance.lower == pytest.approx(3 * 0.1 ** (1 / p), rel=1e-12)
    assert found.distance.upper == pytest.approx(3 * 0.1 ** (1 / p), rel=1e-12)


def test_in_the_plane_the_corner_rule_is_refused_and_would_be_wrong():
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    d = np.hypot(*(corners[:, None] - corners).transpose(2, 0, 1))
    first, second = [0.5, 0.5, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5]
    joint = np.zeros((4, 4))
    joint[0, 1] = joint[1, 3] = 0.5
    unordered = Coupling(joint, first, second)
    assert unordered.expected_distance(d) == pytest.approx(1.0)
    assert wasserstein(first, second, d).distance.value == pytest.approx(np.sqrt(2) / 2)
    for p, name in ((1.0, "Monge"), (2.0, "Monge"), (INF, "bottleneck Monge")):
        with pytest.raises(InputError, match=name):
            north_west_corner(first, second, d, p)


@given(problems(largest=4), st.sampled_from([1.0, INF]))
def test_the_corner_rule_is_refused_exactly_where_two_pairs_are_out_of_order(problem, p):
    first, second, d = problem
    n, m = d.shape
    add = np.maximum if p == INF else np.add
    quadruples = [
        (i, k, j, c) for i in range(n) for k in range(i + 1, n) for j in range(m) for c in range(j + 1, m)
    ]
    monge = all(
        add(d[i, j], d[k, c]) <= add(d[i, c], d[k, j]) + 1e-9 * max(1.0, d.max()) for i, k, j, c in quadruples
    )
    if monge:
        best = wasserstein(first, second, d, p, tolerance=0.0)
        assert north_west_corner(first, second, d, p).expected_distance(d, p) == pytest.approx(
            best.distance.value, abs=1e-9
        )
    else:
        with pytest.raises(InputError, match="wasserstein"):
            north_west_corner(first, second, d, p)


@given(st.data(), st.sampled_from([1.0, 2.0, INF]))
def test_wasserstein_distances_are_metrics_that_grow_with_the_order(data, p):
    points = np.array(data.draw(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=4)))
    d = np.abs(points[:, None] - points).sum(axis=2).astype(float)
    a, b, c = (data.draw(distributions(4)) for _ in range(3))
    ab, bc, ac = (wasserstein(x, y, d, p).distance.value for x, y in ((a, b), (b, c), (a, c)))
    assert wasserstein(a, a, d, p).distance.value == 0
    assert ab == pytest.approx(wasserstein(b, a, d, p).distance.value, abs=1e-6)
    assert ac <= ab + bc + 1e-6
    assert wasserstein(a, b, d, 1.0).distance.value <= ab + 1e-6 <= wasserstein(a, b, d, INF).distance.value + 2e-6


def test_discrete_distances_give_total_variation():
    first, second = np.array([0.5, 0.3, 0.2, 0.0]), np.array([0.1, 0.3, 0.2, 0.4])
    assert wasserstein(first, second, 1.0 - np.eye(4)).distance.value == pytest.approx(0.4)


@given(st.integers(0, 4), st.integers(0, 4))
def test_point_masses_are_as_far_as_their_points(s, t):
    d = np.abs(np.arange(5.0)[:, None] - np.arange(5.0)) ** 0.5
    for p in (1.0, 2.0, INF):
        assert wasserstein(np.eye(5)[s], np.eye(5)[t], d, p).distance.value == pytest.approx(d[s, t])


def test_large_orders_approach_the_largest_distance():
    rng = np.random.default_rng(5)
    x = rng.random((20, 2))
    d = np.hypot(*(x[:, None] - x).transpose(2, 0, 1)) + 0.01 * (1 - np.eye(20))
    a, b = rng.dirichlet(np.ones(20)), rng.dirichlet(np.ones(20))
    far = wasserstein(a, b, d, INF).distance.value
    for p, near in ((8.0, 1e-9), (32.0, 1.0), (100.0, 1.0)):  # large powers leave the dual no digits
        found = wasserstein(a, b, d, p).distance
        assert found.value * (1 - near) <= found.lower <= found.value <= found.upper <= far
    assert found.value == pytest.approx(far, rel=0.05)
    with pytest.raises(InputError, match="vanish"):
        wasserstein(a, b, d, 1e6)


def test_rounding_of_the_masses_is_ignored_and_reported():
    first, second = [0.3, 0.7], [0.1 + 0.2, 0.7]
    d = [[0.0, 9.0], [9.0, 0.0]]
    assert wasserstein(first, second, d, INF).distance.value == 0
    assert 0 < wasserstein(first, second, d, INF).ignored < 1e-15
    assert wasserstein(first, second, d, INF, tolerance=0.0).distance.value == 9.0


def test_tiny_masses_are_moved():
    d = np.abs(np.arange(3.0)[:, None] - np.arange(3.0))
    found = wasserstein([1.0, 0.0, 1e-200], [1.0, 1e-200, 0.0], d)
    assert found.distance.value == pytest.approx(1e-200, rel=1e-12)
    assert found.coupling.joint[2, 1] == 1e-200


def test_larger_problems_by_another_package_or_solver():
    rng = np.random.default_rng(3)
    x = rng.random((60, 2))
    d = np.hypot(*(x[:, None] - x).transpose(2, 0, 1))
    a, b = rng.dirichlet(np.full(60, 0.3)), rng.dirichlet(np.full(60, 0.3))
    for p in (1.0, 2.0):
        cost = d**p
        if importlib.util.find_spec("ot"):
            ot = importlib.import_module("ot")
            other = float((ot.emd(a, b, cost) * cost).sum())
        else:
            other = least_cost(a, b, cost)
        assert wasserstein(a, b, d, p).distance.value ** p == pytest.approx(other, abs=1e-6)


def test_uniform_masses_have_many_ties():
    n = 60
    x = np.arange(n) % 8
    d = np.abs(x[:, None] - x[::-1]).astype(float)
    found = wasserstein(np.full(n, 1 / n), np.full(n, 1 / n), d)
    line = np.abs(np.sort(x) - np.sort(x[::-1])).mean()
    assert found.distance.value == pytest.approx(line, abs=1e-12)


def test_priors_and_metrics_can_be_given():
    space = Space("abc")
    metric = Metric([[0, 1, 2], [1, 0, 1], [2, 1, 0]], "km")
    first, second = Prior(space, [1.0, 0.0, 0.0]), Prior(space, [0.5, 0.0, 0.5])
    assert wasserstein(first, second, metric).distance.value == pytest.approx(1.0)
    assert "order 1: 1" in repr(wasserstein(first, second, metric))


@pytest.mark.parametrize(
    ("first", "second", "distances", "p", "words"),
    [
        ([0.5, 0.6], [1.0], [[1.0], [1.0]], 1, "sums to 1.1"),
        ([1.5, -0.5], [1.0], [[1.0], [1.0]], 1, "negative"),
        ([0.5, 0.5], [1.0], [[1.0, 1.0]], 1, "shape 1 x 2"),
        ([0.5, 0.5], [1.0], [[1.0], [-1.0]], 1, "negative"),
        ([0.5, 0.5], [1.0], [[1.0], [np.nan]], 1, "nan"),
        ([0.5, 0.5], [1.0], [[1.0], [1.0]], 0.5, "p is 0.5"),
        ([0.5, 0.5], [1.0], Metric([[0, 1], [1, 0]]), 1, "metric is on 2"),
    ],
)
def test_refusals(first, second, distances, p, words):
    for ask in (wasserstein, north_west_corner):
        with pytest.raises(InputError, match=words):
            ask(first, second, distances, p)


def test_other_refusals():
    with pytest.raises(InputError, match="tolerance"):
        wasserstein([1.0], [1.0], [[0.0]], tolerance=-1)
    with pytest.raises(InputError, match="infinite"):
        north_west_corner([1.0], [1.0], [[INF]])


@given(problems())
def test_couplings_check_their_marginals(problem):
    first, second, d = problem
    product = Coupling.independent(first, second)
    assert product.expected_distance(d) == pytest.approx(float(first @ d @ second))
    assert product.expected_distance(d, INF) == d[np.ix_(first > 0, second > 0)].max()
    assert product.expected_distance(d) >= wasserstein(first, second, d).distance.value - 1e-9
    assert not product.joint.flags.writeable
    wrong = product.joint.copy()
    wrong[0, 0] += 1e-6
    with pytest.raises(InputError, match="row 0"):
        Coupling(wrong, first, second)
    wrong[0, 0] = -1
    with pytest.raises(InputError, match="negative"):
        Coupling(wrong, first, second)


def test_couplings_check_the_second_marginal_too():
    with pytest.raises(InputError, match="column 0"):
        Coupling([[0.5, 0.0], [0.0, 0.5]], [0.5, 0.5], [0.25, 0.75])
    with pytest.raises(InputError, match="shape 2 x 2"):
        Coupling(np.eye(2) / 2, [0.5, 0.5], [1.0])
