"""The least leak with reports anywhere on the plane: its bound, against reports on fine grids."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

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
    distances = np.hypot(*(points[:, None] - reports[None]).transpose(2, 0, 1))
    rows = [
        distances[cells == cell].mean(axis=0) if (cells == cell).any() else 0 * distances[0] for cell in range(9)
    ]
    return np.array(rows)


@pytest.mark.parametrize("objective", [VULNERABILITY, INFORMATION])
@pytest.mark.parametrize("seed", thinned(range(3), 2))
def test_no_grid_of_reports_leaks_less_than_the_bound(objective, seed):
    joint, points, cells = people(seed)
    design = least_leak_on_plane(joint, CELLS, points, cells, 600.0, objective=objective, gap=0.03)
    assert design.free_reports
    assert design.lower_bound <= design.value
    assert design.gap <= 0.03
    assert design.status.name == "OPTIMAL"
    solve = least_vulnerability if objective == VULNERABILITY else least_information
    ticks = np.linspace(-1500, 1500, 22)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    losses = mean_losses(points, cells, grid)
    reference = solve(joint, CELLS, Loss(losses, "m"), 600.0, observables=sf.Space(range(len(grid))), gap=1e-3)
    assert design.lower_bound <= reference.value * (1 + 1e-9)
    assert design.value <= reference.value * 1.02  # and is nearly as small
    centres = solve(joint, CELLS, Loss(mean_losses(points, cells, CENTRES), "m"), 600.0, gap=1e-3)
    assert design.value <= centres.value * (1 + 1e-3)


def test_the_loss_is_that_of_its_reports_and_cells_without_people_report_as_their_neighbours():
    joint, points, cells = people(4)
    design = least_leak_on_plane(joint, CELLS, points, cells, 600.0, gap=0.1)
    reports = CELLS.on_plane(design.mechanism.observables)
    weights = joint.sum(axis=0)
    matrix = design.mechanism.matrix
    assert weights @ (matrix * mean_losses(points, cells, reports)).sum(axis=1) <= 600
    support = np.flatnonzero(weights)
    for cell in np.flatnonzero(weights == 0):
        away = np.hypot(*(CENTRES[support] - CENTRES[cell]).T)
        neighbours = support[np.isclose(away, away.min())]
        assert any(np.allclose(matrix[cell], matrix[neighbour], atol=1e-12) for neighbour in neighbours)


def test_a_large_loss_leaks_nothing_and_a_small_one_is_refused():
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


def least_by_highs(joint, losses, limit_m):
    """The least vulnerability with these reports by another solver: one variable for the best guess of each."""
    (k, n), m = joint.shape, losses.shape[1]
    weights = joint.sum(axis=0)
    guesses = [np.kron(row[None, :], np.eye(m)) for row in joint]
    above = np.vstack([np.hstack([rows, -np.eye(m)]) for rows in guesses])
    cost = np.concatenate([(weights[:, None] * losses).ravel(), np.zeros(m)])
    equal = np.hstack([np.kron(np.eye(n), np.ones((1, m))), np.zeros((n, m))])
    answer = linprog(
        np.concatenate([np.zeros(n * m), np.ones(m)]),
        A_ub=csr_array(np.vstack([above, cost])),
        b_ub=np.append(np.zeros(k * m), limit_m),
        A_eq=csr_array(equal),
        b_eq=np.ones(n),
    )
    assert answer.status == 0
    return answer.fun


@pytest.mark.parametrize(("seed", "visits"), thinned([(1, 8), (0, 30), (2, 60), (3, 3)], 4))
def test_a_tight_loss_with_few_points_a_cell_is_solved_to_the_gap_and_highs_finds_no_less(seed, visits):
    joint, points, cells = people(seed, visits=visits)
    support = np.unique(cells)
    least = sum(
        min(np.hypot(*(points[cells == cell] - point).T).sum() for point in points[cells == cell])
        for cell in support
    )
    limit_m = 1.3 * least / visits + 50
    design = least_leak_on_plane(joint, CELLS, points, cells, limit_m, gap=0.01)
    assert design.status.name == "OPTIMAL"
    assert design.gap <= 0.01
    ticks = np.linspace(-1500, 1500, 13)
    near = CELLS.on_plane(design.mechanism.observables)[(joint.sum(axis=0) @ design.mechanism.matrix) > 1e-3]
    grid = np.concatenate([np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2), points, near])
    losses = mean_losses(points, cells, grid)[support]
    other = least_by_highs(joint[:, support], losses, limit_m)
    assert design.lower_bound <= other * (1 + 1e-9)
    assert design.value <= other * 1.011  # the reports of the design are among these, but for the rarest


@pytest.mark.parametrize(
    ("options", "status"), [({"stop": lambda: True}, "INTERRUPTED"), ({"time_limit": 1e-6}, "TIME_LIMIT")]
)
def test_a_search_that_is_stopped_says_so_and_its_bound_holds(options, status):
    joint, points, cells = people(1)
    full = least_leak_on_plane(joint, CELLS, points, cells, 500.0)
    design = least_leak_on_plane(joint, CELLS, points, cells, 500.0, **options)
    assert design.status.name == status
    assert design.lower_bound <= full.value
    assert design.value >= full.lower_bound


def test_a_secret_that_occurs_without_points_counts_from_its_centre_and_bounds_the_region():
    joint = np.zeros((2, len(CELLS)))
    joint[0, 0] = joint[1, 8] = 0.5
    one = least_leak_on_plane(joint, CELLS, CENTRES[:1], np.zeros(1, dtype=int), 500.0)
    both = least_leak_on_plane(joint, CELLS, CENTRES[[0, 8]], np.array([0, 8]), 500.0)
    assert one.lower_bound == pytest.approx(both.lower_bound, rel=1e-4)
    assert one.value == pytest.approx(both.value, rel=1e-4)
    # Two people at the ends of a line: as much of each is hidden as the loss allows.
    assert both.lower_bound <= 1 - 500 / np.hypot(2000, 2000) <= both.value * (1 + 1e-9)
