"""The planar Gaussian on cells: integrals of the normal density, and its guarantees against the matrix."""

import math

import numpy as np
import pytest
from scipy.integrate import dblquad
from scipy.stats import norm as normal

from sfumato.core import Mechanism, Row, Space
from sfumato.core.arrays import Floats
from sfumato.errors import InputError
from sfumato.geo import Grid
from sfumato.mechanisms import Gaussian, LatticeBasis, PlanarGaussian


def points_of(space: Space) -> Floats:
    assert space.coordinates is not None
    return space.coordinates


CRS = Grid.covering("2 km x 1 km around 48.85,2.35", cell="500 m").crs or ""
GRID = Grid(5, 4, (500.0, 400.0), (-900.0, 300.0), CRS)
RING = Space(
    [label for i, label in enumerate(GRID.labels) if i not in (6, 7, 11)],
    [xy for i, xy in enumerate(points_of(GRID).tolist()) if i not in (6, 7, 11)],
    "m",
    GRID.crs,
)


def worst_delta(mechanism: Mechanism, s: int, t: int, epsilon: float) -> float:
    p, q = mechanism.matrix[s], mechanism.matrix[t]
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


def test_cells_are_integrals_of_the_density():
    sigma, matrix = 350.0, PlanarGaussian(GRID, "350 m").mechanism().matrix
    for secret, cell in [(7, 7), (7, 12), (12, 6)]:
        (x, y), (a, b) = points_of(GRID)[secret], points_of(GRID)[cell]
        mass, _ = dblquad(
            lambda v, u, x=x, y=y: normal.pdf(u, x, sigma) * normal.pdf(v, y, sigma),
            a - 250,
            a + 250,
            b - 200,
            b + 200,
        )
        assert matrix[secret, cell] == pytest.approx(mass, rel=1e-7)


def test_reports_beyond_the_border_go_to_its_cells():
    sigma, matrix = 600.0, PlanarGaussian(GRID, 600).mechanism().matrix
    noisy = np.random.default_rng(5).normal(points_of(GRID)[8], sigma, (400_000, 2))
    ij = np.clip(np.floor((noisy - GRID.origin) / GRID.cell_m).astype(int), 0, [4, 3])
    seen = np.bincount(ij[:, 1] * 5 + ij[:, 0], minlength=20) / len(noisy)
    assert np.abs(seen - matrix[8]).max() < 6 * math.sqrt(0.25 / len(noisy))
    low, high = points_of(GRID)[0] - points_of(GRID)[8] + np.array([250, 200]), points_of(GRID)[19]
    assert matrix[8, 0] == pytest.approx(normal.cdf(low / sigma).prod(), rel=1e-9)
    assert (high > points_of(GRID)[0]).all()


@pytest.mark.parametrize("space", [GRID, RING], ids=["grid", "with holes"])
@pytest.mark.parametrize("sigma", [200.0, 700.0])
def test_delta_bounds_every_pair(space, sigma):
    family = PlanarGaussian(space, sigma)
    mechanism, metric = family.mechanism(), space.metric("euclidean")
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        for s in range(len(space)):
            for t in range(len(space)):
                if s != t:
                    assert worst_delta(mechanism, s, t, epsilon) <= family.delta(
                        epsilon, float(metric.array[s, t])
                    )
    assert family.delta(1.0, 0.0) == 0.0


def test_delta_is_nearly_attained_by_small_cells():
    fine = Grid(60, 2, (50.0, 50.0), (0.0, 0.0), CRS)
    family = PlanarGaussian(fine, "500 m")
    mechanism = family.mechanism()
    for epsilon in (0.0, 0.5, 1.5):
        found = worst_delta(mechanism, 35, 20, epsilon)
        assert 0.97 * family.delta(epsilon, "750 m") < found <= family.delta(epsilon, "750 m")


@pytest.mark.parametrize("space", [GRID, RING], ids=["grid", "with holes"])
def test_rho_bounds_every_renyi_divergence(space):
    family = PlanarGaussian(space, 450.0)
    matrix, d = family.mechanism().matrix, space.metric("euclidean").array
    for order in (1.5, 2.0, 6.0):
        for s in range(len(space)):
            powers = (matrix[s] ** order * matrix ** (1 - order)).sum(axis=1)
            bounds = [order * family.rho(float(distance)) for distance in d[s]]
            assert (np.log(powers) / (order - 1) <= np.array(bounds) + 1e-12).all()


def test_no_epsilon_holds_per_unit_of_distance():
    from sfumato.core import MetricPrivacy
    from sfumato.proofs import prove_metric_privacy

    uppers = []
    for columns in (4, 8, 16):
        grid = Grid(columns, 2, (500.0, 500.0), (0.0, 0.0), CRS)
        mechanism = PlanarGaussian(grid, "500 m").mechanism()
        uppers.append(prove_metric_privacy(mechanism, MetricPrivacy(1.0, grid.metric(unit="km"))).upper)
    assert uppers[0] * 1.5 < uppers[1] < uppers[2] / 1.5


def test_what_it_says_of_itself():
    family = PlanarGaussian(GRID, "0.5 km")
    assert family.epsilon == math.inf
    assert family.mu("250 m") == 0.5
    assert family.rho("250 m") == 0.125
    assert family.delta(0.2, "250 m") == pytest.approx(Gaussian(1.0, 0.5).delta(0.2), abs=1e-9)
    assert family.expected_distance == pytest.approx(
        np.linalg.norm(np.random.default_rng(1).normal(0, 500, (400_000, 2)), axis=1).mean(), rel=5e-3
    )
    mechanism = family.mechanism()
    assert family.recipe() == Row(mechanism)
    assert family.hamming_loss == pytest.approx(1 - np.trace(mechanism.matrix) / 20)
    row = PlanarGaussian(Space("ab", [[0, 0], [100, 0]], "m"), 100, LatticeBasis([[100, 0], [0, 100]]))
    np.testing.assert_allclose(row.mechanism().matrix[0], [normal.cdf(0.5), normal.cdf(-0.5)], rtol=1e-9)


def test_what_is_refused():
    hexes = LatticeBasis.hexagonal(100.0)
    with pytest.raises(InputError, match="not along the axes"):
        PlanarGaussian(Space("abc", [[0, 0], [100, 0], hexes.steps[1]], "m"), 50.0)
    with pytest.raises(InputError, match="sigma must be a positive number"):
        PlanarGaussian(GRID, 0.0)
    with pytest.raises(InputError, match="distance -1 is negative"):
        PlanarGaussian(GRID, 1.0).mu(-1)
