"""The structured method against HiGHS with every row written out, on all kinds of program."""

import numpy as np
import pytest

from sfumato.core import WGS84, Space

from .programs import KINDS, Case, check, drawn, grid, limited, skewed

QUICK = range(6)
MANY = range(6, 36)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("seed", [*QUICK, *(pytest.param(seed, marks=pytest.mark.slow) for seed in MANY)])
@pytest.mark.parametrize("kind", KINDS)
def test_random_programs(seed, kind):
    case = drawn(seed, kind)
    check(case, case.solve(gap=1e-7, threads=1), case.optimum())


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "columns"), [(4, 3), pytest.param(5, 4, marks=pytest.mark.slow)])
def test_skewed_priors_on_a_grid(rows, columns, kind):
    d = grid(rows, columns)
    n = len(d)
    worst = kind.endswith("worst")
    case = Case(skewed(n, seed=n, unvisited=3), 1 - np.eye(n), 0.8 * d, worst=worst)
    if kind.startswith("game"):
        case = limited(case, d, 0.5)
    elif kind.startswith("joint"):
        case = Case(case.prior, case.cost, case.ratio, d, 0.7 * float((d @ case.prior).min()), worst)
    result = case.solve(gap=1e-7)
    check(case, result, case.optimum(), tolerance=2e-6)
    if not worst:
        assert len(result.kept) == n - 3  # Hamming: what is never visited need not be reported


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("kind", "n"), [("worst", 14), ("game", 12), ("game worst", 10)])
def test_scattered_places(kind, n):
    rng = np.random.default_rng(n)
    place = rng.random((n, 2))
    d = np.sqrt(((place[:, None] - place[None]) ** 2).sum(-1))
    case = Case(skewed(n, seed=n, unvisited=2), d, 3.0 * d, worst=kind.endswith("worst"))
    if kind.startswith("game"):
        case = limited(case, d, 0.4)
    check(case, case.solve(gap=1e-7), case.optimum(), tolerance=2e-6)


@pytest.mark.parametrize("loss", ["great-circle", "square"])
def test_great_circle_distances(loss):
    # A parallel near the pole: the shortest way between its places is no sum of the steps along it.
    latlon = [(lat, lon) for lat in (78.0, 79.5) for lon in np.linspace(-60, 60, 6)]
    metric = Space(range(len(latlon)), latlon, crs=WGS84).metric("great-circle", "km")
    cost = metric.array if loss == "great-circle" else (metric.array / 1000) ** 2
    case = Case(skewed(len(latlon), seed=4, unvisited=1), cost, 0.002 * metric.array)
    check(case, case.solve(gap=1e-7), case.optimum(), tolerance=2e-6)


def test_great_circle_distances_along_the_equator():
    # All on one line: pairs in between imply the others, to the rounding of the distances.
    latlon = [(0.0, float(lon)) for lon in range(12)]
    metric = Space(range(12), latlon, crs=WGS84).metric("great-circle", "km")
    case = Case(np.full(12, 1 / 12), metric.array, 0.005 * metric.array)
    check(case, case.solve(gap=1e-7), case.optimum(), tolerance=2e-6)


def test_equal_secrets_get_equal_rows():
    d = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    ratio = d.copy()
    ratio[1] = ratio[0]
    ratio[:, 1] = ratio[:, 0]
    case = Case(np.array([0.1, 0.2, 0.3, 0.4, 0.0]), d, ratio)
    result = case.solve(gap=1e-7)
    np.testing.assert_array_equal(result.matrix[0], result.matrix[1])
    check(case, result, case.optimum())


@pytest.mark.parametrize("n", [1, 3])
def test_secrets_that_are_all_equal_get_the_cheapest_report(n):
    rng = np.random.default_rng(n)
    prior, cost = rng.dirichlet(np.ones(n)), rng.random((n, 4))
    case = Case(prior, cost, np.zeros((n, n)))
    check(case, case.solve(gap=1e-7), float((prior @ cost).min()))
