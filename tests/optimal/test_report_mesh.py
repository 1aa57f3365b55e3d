"""Reports anywhere on the plane: losses that a mesh does not undercut, and games against linear programs."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array, kron, vstack

import sfumato as sf
from sfumato.core import Loss
from sfumato.geo import TruePoints
from sfumato.optimal.extensions.report_mesh import ReportMesh

KINDS = ["euclidean", "manhattan"]


def points_of(rng, count=30, secrets=5):
    xy = rng.normal(0, 900, (count, 2))
    shares = csr_array(
        (np.ones(count), (np.arange(count), rng.integers(0, secrets, count))), shape=(count, secrets)
    )
    return TruePoints.of(xy, shares)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_report_loses_no_less_than_corners_at_random_with_the_report_as_their_mean(seed, kind):
    rng = np.random.default_rng(seed)
    points = points_of(rng)
    mesh = ReportMesh.over(points, kind)
    for _ in range(2):
        corners, losses, place = mesh.corners()
        part = rng.integers(0, len(place), 200)
        across, up = rng.uniform(-1, 1, (2, 200))
        reports = mesh.middles[part] + mesh.half[part] * np.column_stack([across, up])
        signs = (
            (1 - across) * (1 - up),
            (1 + across) * (1 - up),
            (1 - across) * (1 + up),
            (1 + across) * (1 + up),
        )
        shares = np.array(signs) / 4
        np.testing.assert_allclose((corners[place[part]] * shares.T[:, :, None]).sum(axis=1), reports, atol=1e-6)
        true = (points.distances(reports, kind).T / np.asarray(points.masses.sum(axis=0))).T
        mixed = np.einsum("nrc,cr->nr", losses[:, place[part]], shares)
        assert (mixed <= true + 1e-9).all()
        gap = np.max(true - mixed)
        mesh = mesh.split(np.ones(len(place), dtype=bool))
    assert gap < 0.02 * true.max()


def best_program(prior, loss, errors, limit=None, least=None):
    """The largest error of the best guess within a loss, or the least loss with an error, by HiGHS."""
    n, m, k = len(prior), loss.shape[1], len(errors)
    attack = [kron(csr_array(-(prior * errors[guess])[None]), np.eye(m)) for guess in range(k)]
    rows = [csr_array(np.hstack([block.toarray(), np.eye(m)])) for block in attack]
    cost = np.concatenate([(prior[:, None] * loss).ravel(), np.zeros(m)])
    error = np.concatenate([np.zeros(n * m), np.ones(m)])
    sums = kron(np.eye(n), np.ones((1, m))).toarray()
    goal, row, end = (-error, cost, limit) if least is None else (cost, -error, -least)
    answer = linprog(
        goal,
        vstack([*rows, csr_array(row[None])]),
        np.concatenate([np.zeros(m * k), [end]]),
        np.hstack([sums, np.zeros((n, m))]),
        np.ones(n),
    )
    assert answer.status == 0
    return abs(answer.fun)


def city_of(seed):
    rng = np.random.default_rng(seed)
    visits = sf.Visits(48.85 + rng.normal(0, 0.01, 60), 2.35 + rng.normal(0, 0.015, 60))
    grid = sf.Grid.covering(visits, shape=(3, 3))
    shares = rng.dirichlet(np.full(3, 0.4), 9).T
    return visits, grid, sf.Prior.from_visits(grid, visits), Loss(1 - shares, name="chance of a wrong guess")


def losses_at_many(visits, grid, kind, extra):
    xy = grid.true_points(visits).xy
    ends = np.linspace(xy.min(axis=0), xy.max(axis=0), 30)
    reports = np.concatenate([np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 2), extra])
    space = sf.Space(range(len(reports)), reports, crs=grid.crs, unit=grid.unit)
    return grid.loss(visits, kind, observables=space).array


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_a_game_about_kinds_has_the_value_of_a_program_with_900_reports(seed, kind):
    visits, grid, prior, errors = city_of(seed)
    loss = grid.loss(visits, kind)
    points = grid.true_points(visits)
    medians = points.guesses(np.eye(9)[:, prior.support], kind)
    limit = 1.1 * medians.value / 1000
    design = sf.maximise_distortion(prior, loss=loss, distance=errors, max_loss=limit, medians=visits)
    certificate = design.certificate
    assert certificate.free_reports
    assert not certificate.all_secrets
    assert certificate.loss <= limit
    assert certificate.gap <= 0.02
    more = np.concatenate([medians.points, grid.projection.forward(*design.mechanism.observables.latlon.T)])
    value = best_program(
        prior.probabilities, losses_at_many(visits, grid, kind, more), errors.array, limit * (1 + 1e-7)
    )
    assert certificate.value * (1 - 1e-6) <= value <= certificate.bound * (1 + 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_a_least_chance_of_a_wrong_guess_costs_what_a_program_with_900_reports_loses(seed):
    visits, grid, prior, errors = city_of(seed)
    silent = (errors.array @ prior.probabilities).min()
    target = sf.DistortionPrivacy(0.9 * silent, errors)
    design = sf.design(prior, loss=grid.loss(visits), guarantees=target, medians=visits)
    certificate = design.certificate
    assert certificate.holds
    assert certificate.free_reports
    assert certificate.gap <= 0.02
    more = grid.projection.forward(*design.mechanism.observables.latlon.T)
    losses = losses_at_many(visits, grid, "euclidean", more)
    value = best_program(prior.probabilities, losses, errors.array, least=0.9 * silent)
    assert certificate.bound * (1 - 1e-6) <= value <= certificate.loss * (1 + 1e-6)


def test_a_limit_below_that_of_medians_is_out_of_reach_for_all_reports():
    visits, grid, prior, errors = city_of(0)
    least = grid.true_points(visits).guesses(np.eye(9)[:, prior.support]).value / 1000
    request = {"loss": grid.loss(visits), "distance": errors, "medians": visits}
    with pytest.raises(sf.errors.InfeasibleError, match="out of reach"):
        sf.maximise_distortion(prior, max_loss=0.999 * least, **request)
    design = sf.maximise_distortion(prior, max_loss=1.001 * least, stop=lambda: True, **request)
    assert design.certificate.loss <= 1.001 * least


def test_a_mesh_that_is_too_coarse_for_a_gap_still_bounds_the_game():
    visits, grid, prior, errors = city_of(0)
    limit = 1.1 * grid.true_points(visits).guesses(np.eye(9)[:, prior.support]).value / 1000
    request = {"loss": grid.loss(visits), "distance": errors, "max_loss": limit, "medians": visits}
    certificate = sf.maximise_distortion(prior, **request, gap=0.3).certificate
    assert certificate.free_reports
    assert certificate.value <= 0.2886  # a program with 900 reports: 0.28856
    assert 0.2885 <= certificate.bound <= 1.3 * certificate.value


def test_without_time_the_bound_is_for_the_reports_of_the_design():
    visits, grid, prior, errors = city_of(1)
    limit = 1.05 * grid.true_points(visits).guesses(np.eye(9)[:, prior.support]).value / 1000
    request = {"loss": grid.loss(visits), "distance": errors, "max_loss": limit, "medians": visits}
    design = sf.maximise_distortion(prior, **request, gap=1e-9, stop=lambda: True)
    assert not design.certificate.free_reports
    assert design.certificate.loss <= limit


def test_reports_move_only_for_the_distance_of_true_points():
    visits, grid, prior, errors = city_of(2)
    with pytest.raises(sf.errors.InputError, match="distance of the true point"):
        sf.maximise_distortion(prior, loss=grid.metric("euclidean"), distance=errors, max_loss=1.0, medians=visits)


def test_one_place_and_one_visit_leave_nothing_to_choose():
    visits = sf.Visits([48.85] * 3, [2.35] * 3)
    grid = sf.Grid.covering(visits, cell="500 m", region="1 km x 1 km around 48.85,2.35")
    prior = sf.Prior.from_visits(grid, visits)
    errors = Loss(np.linspace(0, 1, 2 * len(grid)).reshape(2, -1))
    design = sf.maximise_distortion(
        prior, loss=grid.loss(visits), distance=errors, max_loss="100 m", medians=visits
    )
    silent = (errors.array @ prior.probabilities).min()
    assert design.certificate.value == pytest.approx(silent, rel=1e-6)
