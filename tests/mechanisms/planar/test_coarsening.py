"""The matrix of noise on cells against sums over all lattice points, and against simulated reports."""

from fractions import Fraction

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise, coarsen

PLANE = Projection(48.86, 2.34)
CELLS = sf.Grid.covering("2 km x 2 km around 48.86,2.34", cell="500 m")
X = np.random.default_rng(4).normal(size=(30, 2)) * 500
RAW = CoordinateNoise("4/km", "40 m", PLANE, "30 km")
REMAPPED = RAW.for_places(X, np.ones(30), fineness=0.5)


def by_sums(noise, coarse, points):
    """Every lattice point within 4 km of a point, its probability, and the cell that its report counts for."""
    rate, step = float(noise.noise.rate), float(noise.step_m)
    line = np.arange(-100, 101)
    steps = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    weights = np.exp(-rate * np.hypot(*steps.T))
    rows = []
    for point in points:
        reports = steps + np.floor(point / step + 0.5).astype(int)
        distinct, where = np.unique(coarse.table.places(reports), axis=0, return_inverse=True)
        found = CELLS.locate(*np.round(PLANE.inverse(distinct), 7).T)  # as reports are written
        middles = PLANE.forward(*CELLS.latlon.T)
        nearest = np.argmin(np.hypot(*(distinct[:, None] - middles).transpose(2, 0, 1)), axis=1)
        cells = np.where(found < 0, nearest, found)[where.ravel()]
        rows.append(np.bincount(cells, weights=weights / weights.sum(), minlength=len(coarse.cells)))
    return np.array(rows)


@pytest.mark.slow
@pytest.mark.parametrize(("noise", "spread"), [(RAW, False), (REMAPPED, True)])
def test_probabilities_are_those_of_all_lattice_points(noise, spread):
    coarse = coarsen(noise, CELLS, spread=spread)
    points = PLANE.forward(*CELLS.latlon.T)
    if spread:
        quarter = np.array([(i, j) for i in (-125.0, 125.0) for j in (-125.0, 125.0)])
        truth = (
            by_sums(noise, coarse, (points[:, None, :] + quarter).reshape(-1, 2)).reshape(16, 4, 16).mean(axis=1)
        )
    else:
        truth = by_sums(noise, coarse, points)
    assert np.abs(coarse.mechanism.matrix - truth).max() <= coarse.off + 1e-5
    assert coarse.off < 0.05
    assert f"one of {len(CELLS)}" in coarse.sentence


def test_reports_are_counted_where_the_matrix_says():
    """A chi-squared statistic below the mean plus six standard deviations."""
    size = 40_000
    for noise in (RAW, REMAPPED):
        coarse = coarsen(noise, CELLS)
        lat, lon = CELLS.latlon[5]
        reports = sf.simulator(noise, 2).blur([lat] * size, [lon] * size)
        counts = np.bincount(coarse.positions(*reports.T), minlength=16)
        expected = size * coarse.mechanism.matrix[5]
        used = expected > 5
        assert ((counts - expected)[used] ** 2 / expected[used]).sum() < 16 + 6 * 32**0.5


def test_the_promise_holds_between_middles():
    """Coarsening looks at the report alone, so ratios keep the promise but for what probabilities are off."""
    coarse = coarsen(REMAPPED, CELLS)
    points = PLANE.forward(*CELLS.latlon.T)
    apart = np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))
    factor = np.exp(0.004 * (apart + REMAPPED.promise.slack_m))
    p = coarse.mechanism.matrix
    assert (p[:, None, :] <= factor[:, :, None] * (p[None, :, :] + coarse.off) + coarse.off).all()


def test_usual_cells_are_over_the_table():
    cells = coarsen(REMAPPED).cells
    assert 60 <= len(cells) <= 150
    assert (cells.locate(*PLANE.inverse(X[:5] * 0.5).T) >= 0).all()


def test_what_cannot_be_coarsened():
    with pytest.raises(InputError, match="no table of where people are"):
        coarsen(RAW)
    with pytest.raises(InputError, match="farther from the centre"):
        coarsen(RAW, sf.Grid.covering("2 km x 2 km around 50,2.34", cell="500 m"))
    with pytest.raises(InputError, match="points of a plane"):
        coarsen(CoordinateNoise("1/km"), CELLS)
    with pytest.raises(InputError, match="too many"):
        coarsen(RAW, sf.Grid.covering("20 km x 20 km around 48.86,2.34", cell="500 m"))
    with pytest.raises(InputError, match="report number 2"):
        coarsen(RAW, CELLS).positions([48.8, 91.0], [2.3, 2.3])


@pytest.mark.parametrize("seed", range(5))
def test_the_blind_error_is_the_least_over_a_fine_mesh(seed):
    rng = np.random.default_rng(seed)
    x, w = rng.normal(size=(7, 2)) * 300, rng.dirichlet(np.full(7, 0.4))
    found = CoordinateNoise("1/km").blind(x, w)
    line = np.linspace(-900, 900, 361)
    mesh = np.concatenate([np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2), x])
    errors = np.hypot(*(mesh[:, None] - x).transpose(2, 0, 1)) @ w
    assert found.lower <= errors.min() + 1e-9
    assert found.lower <= found.value <= found.upper <= errors.min() * (1 + 1e-3)
    assert found.width < 1e-6 * found.value + 1e-6


def test_one_place_needs_no_guess():
    assert CoordinateNoise("1/km").blind([[3.0, 4.0]], [2.0]).upper < 1e-6
    assert Fraction(CoordinateNoise("1/km").blind([[0.0, 0.0], [2.0, 0.0]], [1.0, 1.0]).upper) >= 1


@pytest.mark.parametrize(("epsilon", "step"), [("1000/km", "10 km"), ("1e6/km", "1 km"), ("1/m", "1e7 m")])
def test_noise_that_hardly_moves_anything(epsilon, step):
    """Its rate per step has no exponential; every report is the lattice point next to the place."""
    noise = CoordinateNoise(epsilon, step, Projection(48.86, 2.34), "1000 km")
    coarse = coarsen(noise, sf.Grid.covering("4 km x 4 km around 48.86,2.34", "1 km"))
    assert coarse.off < 1e-8
    assert ((coarse.mechanism.matrix > 1 - 1e-8).sum(axis=1) == 1).all()
