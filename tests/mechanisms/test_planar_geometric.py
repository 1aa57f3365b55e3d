"""The planar geometric mechanism: sums by brute force, products on axes, proofs for regions of any shape."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Metric, MetricPrivacy, Prior, Row, Space
from sfumato.core.arrays import Floats
from sfumato.errors import InputError, UnitError
from sfumato.geo import Grid, Hexagons
from sfumato.mechanisms import LatticeBasis, PlanarGeometric, exponential, geometric, planar_geometric
from sfumato.mechanisms.cell_noise import ClampingWindow
from sfumato.proofs import prove_metric_privacy

GRID = Grid.covering("2 km x 1500 m around 48.85,2.35", cell="500 m")  # 4 x 3
NORMS = {"euclidean": 2, "manhattan": 1, "maximum": np.inf}


def points_of(space: Space) -> Floats:
    assert space.coordinates is not None
    return space.coordinates


def metric_of(space, norm="euclidean"):
    x = points_of(space)
    return Metric(np.linalg.norm(x[:, None] - x[None, :], ord=NORMS[norm], axis=2), space.unit)


def masked(grid, keep):
    kept = np.flatnonzero(keep)
    return Space([grid.labels[i] for i in kept], points_of(grid)[kept], grid.unit, grid.crs)


def hexagons(width, radius):
    ij = np.array(list(product(range(-9, 10), repeat=2)))
    xy = ij @ np.array([[width, 0], [width / 2, width * math.sqrt(0.75)]])
    inside = np.linalg.norm(xy, axis=1) <= radius
    return Space([f"h{i:+d}{j:+d}" for i, j in ij[inside]], xy[inside], "m")


def by_hand(space, steps, epsilon, norm, radius, move):
    """The mechanism by adding up the points of the lattice around each secret, one by one."""
    offsets = np.array(list(product(range(-radius, radius + 1), repeat=2))) @ steps
    weights = np.exp(-epsilon * np.linalg.norm(offsets, ord=NORMS[norm], axis=1))
    matrix = np.zeros((len(space), len(space)))
    for s, centre in enumerate(points_of(space)):
        np.add.at(matrix[s], move(centre + offsets), weights)
    return matrix / matrix.sum(axis=1, keepdims=True)


def nearest_of(space):
    """To the nearest cell of a full rectangle: each coordinate on its own."""
    low, high = points_of(space).min(axis=0), points_of(space).max(axis=0)

    def move(points):
        inside = np.clip(points, low, high)
        return np.abs(points_of(space)[None] - inside[:, None]).max(axis=2).argmin(axis=1)

    return move


@pytest.mark.thinned(2)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("epsilon", [0.002, 0.006])
def test_sums_over_single_points(norm, epsilon):
    found = planar_geometric(GRID, epsilon, norm).matrix
    expected = by_hand(GRID, np.diag(GRID.cell_m), epsilon, norm, 45, nearest_of(GRID))
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("norm", NORMS)
def test_a_report_outside_goes_to_the_nearest_cell(norm):
    points = points_of(GRID)[5] + np.random.default_rng(2).integers(-9, 10, (60, 2)) * np.array(GRID.cell_m)
    for point, cell in zip(points, nearest_of(GRID)(points), strict=True):
        away = np.linalg.norm(points_of(GRID) - point, ord=NORMS[norm], axis=1)
        assert away[cell] <= away.min() + 1e-6
    ring = REGIONS["ring"]
    region = ClampingWindow.of(ring, LatticeBasis.of(ring), norm, 2000.0)
    assert min(region.columns, region.rows) >= 7 + 2 * 4
    cells = np.stack(np.meshgrid(range(region.columns), range(region.rows)), axis=-1).reshape(-1, 2)
    away = region.basis.lengths(cells[:, None] - region.positions[None], norm)
    np.testing.assert_allclose(away[np.arange(len(cells)), region.nearest], away.min(axis=1))


def test_manhattan_noise_is_one_geometric_noise_per_axis():
    east, north = (np.unique(np.round(points_of(GRID)[:, k], 6)) for k in (0, 1))
    expected = np.kron(
        geometric(Space.numbers(north), 0.003).matrix,
        geometric(Space.numbers(east), 0.003).matrix,
    )
    np.testing.assert_allclose(planar_geometric(GRID, 0.003, "manhattan").matrix, expected, rtol=1e-7)


@pytest.mark.parametrize("epsilon", [0.0008, 0.004, 0.03])
def test_closed_forms_of_manhattan_noise(epsilon):
    family = PlanarGeometric(GRID, epsilon, "manhattan")
    found = family.normaliser
    step = epsilon * 500
    assert found.lower <= math.tanh(step / 2) ** -2 <= found.upper
    assert found.width < 1e-11 * found.lower
    assert family.expected_distance == pytest.approx(500 * 2 / math.sinh(step), rel=1e-10)


def test_the_normaliser_by_poisson_summation():
    # The sum of exp(-a |z|) over all pairs of integers is that of 2 pi a / (a^2 + 4 pi^2 |m|^2)^(3/2).
    a, total = 0.5, {}
    for r in (400, 800):
        m = np.arange(-r, r + 1)
        square = m[:, None] ** 2 + m**2
        inside = square <= (r + 0.5) ** 2
        terms = 2 * math.pi * a / (a**2 + 4 * math.pi**2 * square[inside]) ** 1.5
        # Beyond a circle that holds N points the integral starts at the radius of equal area.
        total[r] = float(np.sort(terms).sum()) + a / math.sqrt(a**2 + 4 * math.pi**2 * inside.sum() / math.pi)
    found = PlanarGeometric(GRID, a / 500).normaliser
    assert total[800] == pytest.approx(total[400], rel=1e-6)
    assert found.value == pytest.approx(total[800], rel=1e-6)


def test_small_cells_give_the_planar_laplace_distance():
    for epsilon in (0.0001, 0.0002):
        assert PlanarGeometric(GRID, epsilon).expected_distance == pytest.approx(2 / epsilon, rel=1e-3)
    assert PlanarGeometric(GRID, 0.05).expected_distance == pytest.approx(4 * 500 * math.exp(-25), rel=1e-3)


REGIONS = {
    "grid": Grid.covering("3 km x 3 km around 48.85,2.35", cell="500 m"),
    "oblong cells": Grid(5, 4, (300.0, 700.0), (-1e4, 2e4), GRID.crs or ""),
    "ring": masked(
        Grid(7, 7, (500.0, 500.0), (0.0, 0.0), GRID.crs or ""), np.add.outer(*[np.abs(np.arange(7) - 3)] * 2) > 2
    ),
    "hexagons": hexagons(400.0, 1500.0),
    "two towns": Space(
        [f"t{i}" for i in range(18)],
        [[x + far, y] for far in (0, 9000) for x in (0, 500, 1000) for y in (0, 500, 1000)],
        "m",
    ),
}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("epsilon", ["0.5/km", "4/km"])
def test_kept_exactly_by_regions_of_any_shape(region, norm, epsilon):
    space = REGIONS[region]
    mechanism = planar_geometric(space, epsilon, norm)
    assert prove_metric_privacy(mechanism, MetricPrivacy(epsilon, metric_of(space, norm))).holds


@pytest.mark.parametrize("region", ["grid", "oblong cells", "hexagons"])
def test_used_up_by_cells_inside(region):
    space = REGIONS[region]
    metric = space.metric("euclidean", unit="km")
    mechanism = planar_geometric(space, "2/km")
    assert prove_metric_privacy(mechanism, MetricPrivacy(2, metric)).upper == pytest.approx(2, rel=1e-7)
    assert not prove_metric_privacy(mechanism, MetricPrivacy(1.99, metric)).holds


@pytest.mark.parametrize(("epsilon", "bits"), [("0.3/km", 62), ("40/km", 126), ("200/km", 126)])
def test_from_broad_noise_to_almost_none(epsilon, bits):
    mechanism = planar_geometric(REGIONS["grid"], epsilon)
    assert mechanism.bits == bits
    assert prove_metric_privacy(mechanism, MetricPrivacy(epsilon, metric_of(REGIONS["grid"]))).holds


@settings(max_examples=8)
@given(st.integers(0, 2**32), st.floats(0.2, 6), st.sampled_from(sorted(NORMS)), st.floats(1e-3, 1e5))
def test_parts_of_any_lattice(seed, rate, norm, size):
    rng = np.random.default_rng(seed)
    steps = (np.eye(2) + rng.uniform(-0.4, 0.4, (2, 2))) * size
    ij = np.array([ij for ij in product(range(5), repeat=2) if rng.random() < 0.5 or ij in ((0, 0), (4, 4))])
    space = Space(range(len(ij)), ij @ steps + rng.normal(size=2) * size, "m")
    mechanism = planar_geometric(space, rate / size, norm, LatticeBasis(steps))
    assert prove_metric_privacy(mechanism, MetricPrivacy(rate / size, metric_of(space, norm))).holds
    own = PlanarGeometric(space, rate / size, norm, LatticeBasis(steps)).pmf([0, 0])
    assert (mechanism.matrix.diagonal() >= own * (1 - 1e-6)).all()


@pytest.mark.parametrize("region", ["ring", "hexagons"])
def test_beyond_the_window_reports_first_move_to_its_border(region):
    space, epsilon = REGIONS[region], 0.004
    basis = LatticeBasis.of(space)
    window = ClampingWindow.of(space, basis, "euclidean", 8 / epsilon)
    steps, first = window.basis.steps, window.positions[0] - window.basis.positions(space)[0]

    def move(points):
        ij = np.round(np.linalg.solve(steps.T, (points - points_of(space)[0]).T).T).astype(int) + first
        column, row = np.clip(ij, 0, [window.columns - 1, window.rows - 1]).T
        return window.nearest[row * window.columns + column]

    expected = by_hand(space, steps, epsilon, "euclidean", 40, move)
    np.testing.assert_allclose(planar_geometric(space, epsilon).matrix, expected, rtol=1e-7)


def test_the_family_and_its_function_are_one():
    family = PlanarGeometric(GRID, "1/km")
    mechanism = planar_geometric(GRID, 0.001)
    assert family.mechanism() == mechanism
    assert family.recipe() == Row(mechanism)
    assert family.epsilon == 0.001
    assert family.hamming_loss == pytest.approx(1 - np.trace(mechanism.matrix) / 12)
    assert "planar geometric mechanism, epsilon 0.001" in repr(family)
    grid, ij = REGIONS["grid"], np.stack(np.meshgrid(range(6), range(6)), axis=-1).reshape(-1, 2)
    inside = (ij > 0).all(axis=1) & (ij < 5).all(axis=1)
    big = PlanarGeometric(grid, "1/km")
    np.testing.assert_allclose(
        big.mechanism().matrix[:, inside], big.pmf(ij[None, inside] - ij[:, None]), rtol=1e-8
    )
    span = np.stack(np.meshgrid(range(-80, 81), range(-80, 81)), axis=-1)
    assert family.pmf(span).sum() == pytest.approx(1, abs=1e-12)


def test_less_is_lost_than_by_the_exponential_mechanism():
    grid = REGIONS["grid"]
    metric, even = grid.metric(), Prior.uniform(grid)
    ours = planar_geometric(grid, "3/km").expected_loss(even, metric)
    assert ours < 0.75 * exponential(grid, metric, "3/km").expected_loss(even, metric)


def test_what_is_refused():
    line = Space("abc", [[0, 0], [500, 0], [1000, 0]], "m")
    with pytest.raises(InputError, match="on a line"):
        planar_geometric(line, 0.001)
    on_line = planar_geometric(line, 0.001, basis=LatticeBasis([[500, 0], [0, 500]]))
    assert prove_metric_privacy(on_line, MetricPrivacy(0.001, metric_of(line))).holds
    with pytest.raises(InputError, match=r"'d' is 0\.5 steps off the lattice"):
        planar_geometric(Space("abcd", [[0, 0], [2, 0], [0, 2], [3, 2]]), 1.0, basis=LatticeBasis(np.eye(2) * 2))
    with pytest.raises(InputError, match="no coordinates on a plane"):
        planar_geometric(Space("abc", [[48.0, 2.0], [48.1, 2.0], [48.0, 2.1]], crs="EPSG:4326"), 1.0)
    with pytest.raises(InputError, match="too small for this epsilon"):
        planar_geometric(GRID, "0.001/km")
    with pytest.raises(InputError, match="norm 'taxi' is unknown"):
        planar_geometric(GRID, 1.0, "taxi")
    with pytest.raises(InputError, match="epsilon must be a positive number"):
        planar_geometric(GRID, 0.0)
    with pytest.raises(InputError, match="parallel"):
        LatticeBasis([[1, 2], [2, 4]])
    with pytest.raises(InputError, match="same point"):
        planar_geometric(Space("abcd", [[0, 0], [1, 0], [0, 1], [0, 1]]), 1.0, basis=LatticeBasis(np.eye(2)))
    with pytest.raises(InputError, match="pairs of integers"):
        PlanarGeometric(GRID, 1.0).pmf([0.5, 1])
    with pytest.raises(UnitError, match="epsilon"):
        planar_geometric(GRID, "1 km")


def test_hexagons_of_the_globe_are_on_no_lattice():
    cells = Hexagons.covering("2 km x 2 km around 48.85,2.35", cell="500 m")
    with pytest.raises(InputError, match=r"exponential\(\), which takes places anywhere"):
        planar_geometric(cells, "1/km")


def test_lattices_are_found():
    np.testing.assert_allclose(LatticeBasis.of(REGIONS["oblong cells"]).steps, [[300, 0], [0, 700]])
    for name in ("ring", "hexagons"):
        steps = LatticeBasis.of(REGIONS[name]).steps
        expected = LatticeBasis.hexagonal(400.0).steps if name == "hexagons" else np.eye(2) * 500
        change = np.linalg.solve(expected.T, steps.T)  # one basis in terms of the other: whole, of determinant 1
        np.testing.assert_allclose(change, np.round(change), atol=1e-6)
        assert abs(np.linalg.det(change)) == pytest.approx(1)


def test_lattices_of_small_and_large_units():
    for size in (1e-9, 1e9):
        ij = np.array(list(product(range(3), repeat=2)))
        space = Space(range(9), ij * [size, 2 * size])
        np.testing.assert_allclose(np.abs(LatticeBasis.of(space).steps), [[size, 0], [0, 2 * size]])
        assert prove_metric_privacy(
            planar_geometric(space, 1 / size), MetricPrivacy(1 / size, metric_of(space))
        ).holds
