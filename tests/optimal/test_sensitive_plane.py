"""The least leak with reports anywhere on the plane: its bound, against reports on fine grids."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Loss
from sfumato.errors import InfeasibleError, InputError
from sfumato.optimal import INFORMATION, VULNERABILITY, least_information, least_leak_on_plane, least_vulnerability
from tests.thinned import thinned

CELLS = sf.Grid.covering("3 km x 3 km around 48.85,2.35", "1 km")
CENTRES = np.asarray(CELLS.coordinates)


def people(seed, classes=3, visits=60):
    """Points of people on the plane of the cells, with class and cell, and the joint distribution."""
    rng = np.random.default_rng(seed)
    homes = rng.uniform(-1000, 1000, (classes, 2))
    labels = rng.integers(0, classes, visits)
    points = np.clip(homes[labels] + 400 * rng.standard_normal((visits, 2)), -1490, 1490)
    cells = np.argmin(np.hypot(*(points[:, None] - CENTRES[None]).transpose(2, 0, 1)), axis=1)
    joint = np.zeros((classes, len(CELLS)))
    np.add.at(joint, (labels, cells), 1 / visits)
    return joint, points, cells


def mean_losses(points, cells, reports):
    apart = np.hypot(*(points[:, None] - reports[None]).transpose(2, 0, 1))
    rows = [apart[cells == cell].mean(axis=0) if (cells == cell).any() else 0 * apart[0] for cell in range(9)]
    return np.array(rows)


@pytest.mark.parametrize("objective", [VULNERABILITY, INFORMATION])
@pytest.mark.parametrize("seed", thinned(range(3), 2))
def test_no_grid_of_reports_leaks_less_than_the_bound(objective, seed):
    joint, points, cells = people(seed)
    design = least_leak_on_plane(joint, CELLS, points, cells, 600.0, objective=objective, gap=0.1)
    assert design.free_reports
    assert design.lower_bound <= design.value
    assert design.gap <= 0.1 or design.status.name == "INACCURATE"
    solve = least_vulnerability if objective == VULNERABILITY else least_information
    ticks = np.linspace(-1500, 1500, 22)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    losses = mean_losses(points, cells, grid)
    other = solve(joint, CELLS, Loss(losses, "m"), 600.0, observables=sf.Space(range(len(grid))), gap=1e-3)
    assert design.lower_bound <= other.value * (1 + 1e-9)
    assert design.value <= other.value * 1.02  # it is at least nearly as good itself
    centres = solve(joint, CELLS, Loss(mean_losses(points, cells, CENTRES), "m"), 600.0, gap=1e-3)
    assert design.value <= centres.value * (1 + 1e-3)


def test_the_loss_is_that_of_its_reports_and_unseen_cells_report_as_their_neighbours():
    joint, points, cells = people(4)
    design = least_leak_on_plane(joint, CELLS, points, cells, 600.0, gap=0.1)
    reports = CELLS.on_plane(design.mechanism.observables)
    weights = joint.sum(axis=0)
    matrix = design.mechanism.matrix
    assert weights @ (matrix * mean_losses(points, cells, reports)).sum(axis=1) <= 600
    support = np.flatnonzero(weights)
    for cell in np.flatnonzero(weights == 0):
        away = np.hypot(*(CENTRES[support] - CENTRES[cell]).T)
        near = support[np.isclose(away, away.min())]
        assert any(np.allclose(matrix[cell], matrix[other], atol=1e-12) for other in near)


def test_much_loss_hides_all_and_little_is_refused():
    joint, points, cells = people(5)
    design = least_leak_on_plane(joint, CELLS, points, cells, 50_000.0)
    assert design.value == pytest.approx(joint.sum(axis=1).max(), rel=1e-6)
    assert design.status.name == "OPTIMAL"
    with pytest.raises(InfeasibleError, match="the least possible"):
        least_leak_on_plane(joint, CELLS, points, cells, 1.0)
    with pytest.raises(InputError, match="gap"):
        least_leak_on_plane(joint, CELLS, points, cells, 600.0, gap=0)


def test_one_place_of_all_visits_needs_no_loss():
    joint = np.zeros((2, len(CELLS)))
    joint[:, 4] = 0.5
    design = least_leak_on_plane(joint, CELLS, np.zeros((4, 2)), np.full(4, 4), 1.0)
    assert design.value == pytest.approx(0.5, rel=1e-9)
