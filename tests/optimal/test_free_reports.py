"""Games with reports anywhere on the plane: their value by a linear program, and mechanisms that attain it."""

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, vstack

import sfumato as sf
from sfumato.errors import InfeasibleError
from sfumato.geo import DISTANCES, TruePoints
from sfumato.geo.vertices import TRIANGLE, VertexTable, block, strewn, strip
from sfumato.optimal import LatticeChoice, refine_lattice
from sfumato.proofs import prove_guarantees, prove_optimality
from sfumato_papers.invented_city import invented_city

CITY = invented_city(users=50, days=7)
THREE = sf.Visits(*np.repeat([[37.76, -122.44], [37.771, -122.4187], [37.787, -122.44]], 20, axis=0).T)


def lattice_over(visits, spacing="500 m"):
    lattice = sf.Lattice.covering(visits, spacing)
    return lattice, sf.Prior.from_visits(lattice, visits), lattice.loss(visits)


def game(visits, limit, spacing="500 m", **options):
    lattice, prior, loss = lattice_over(visits, spacing)
    target = sf.PlaceDistortion(0, lattice, visits)
    return sf.maximise_distortion(prior, loss=loss, distance=target, max_loss=limit, **options)


def value_of_game(places, masses, reports, limit, kind="euclidean"):
    """The game by HiGHS, with reports as guesses: maximise the sum of y, y(o) at most the error of any guess."""
    n, m = len(places), len(reports)
    distances = DISTANCES[kind](places, reports) * masses[:, None]
    o, g = (ends.ravel() for ends in np.meshgrid(np.arange(m), np.arange(m), indexing="ij"))
    row = np.arange(m * m)
    columns = np.concatenate([np.arange(n)[:, None] * m + o, [n * m + o]]).ravel()
    entries = np.concatenate([-distances[:, g], np.ones((1, m * m))]).ravel()
    attack = coo_array((entries, (np.tile(row, n + 1), columns)), shape=(m * m, n * m + m))
    loss = coo_array(np.concatenate([distances.ravel(), np.zeros(m)])[None, :])
    sums = coo_array((np.ones(n * m), (np.repeat(np.arange(n), m), np.arange(n * m))), shape=(n, n * m + m))
    answer = linprog(
        np.concatenate([np.zeros(n * m), -np.ones(m)]),
        vstack([attack, loss]),
        np.concatenate([np.zeros(m * m), [limit]]),
        sums,
        np.ones(n),
    )
    assert answer.status == 0
    return -answer.fun


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_program_has_the_value_of_the_lesser_of_limit_and_blind_error(seed):
    rng = np.random.default_rng(seed)
    places, masses = rng.uniform(-1000, 1000, (4, 2)), rng.dirichlet(np.ones(4))
    ticks = np.linspace(-1000, 1000, 6)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    blind = sf.mechanisms.geometric_median(places, masses)
    reports = np.concatenate([places, grid, [blind.point]])
    for share in (0.1, 0.7, 1.5):
        value = value_of_game(places, masses, reports, share * blind.total.value)
        assert value == pytest.approx(min(share, 1.0) * blind.total.value, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_program_on_a_grid_has_the_same_value_for_the_manhattan_distance(seed):
    rng = np.random.default_rng(seed)
    places, masses = rng.uniform(-1000, 1000, (4, 2)), rng.dirichlet(np.ones(4))
    grid = np.stack(np.meshgrid(*places.T), axis=-1).reshape(-1, 2)  # holds every median of every posterior
    more = rng.uniform(-1000, 1000, (14, 2))
    sums = DISTANCES["manhattan"](places, grid).T @ masses
    for share in (0.2, 0.7, 1.5):
        value = value_of_game(places, masses, np.concatenate([grid, more]), share * sums.min(), "manhattan")
        assert value == pytest.approx(min(share, 1.0) * sums.min(), rel=1e-6)


def manhattan_game(visits, limit, spacing="1 km", guarantees=()):
    lattice = sf.Lattice.covering(visits, spacing)
    prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits, "manhattan")
    target = sf.PlaceDistortion(0, lattice, visits, kind="manhattan")
    return sf.maximise_distortion(prior, loss=loss, distance=target, max_loss=limit, guarantees=guarantees)


@pytest.mark.parametrize(("limit", "guarantees"), [("800 m", ()), ("1.7 km", sf.CoordinatePrivacy("2/km"))])
def test_a_manhattan_limit_is_attained_against_every_guess_of_the_grid_of_points(limit, guarantees):
    design = manhattan_game(CITY, limit, guarantees=guarantees)
    most = sf.core.units.parse(limit, unit="km", subject="the limit")
    assert design.certificate.free_reports
    assert design.is_finished
    assert design.certificate.loss <= most == design.certificate.bound
    points = design.mechanism.secrets.true_points(CITY)
    joint = points.masses @ design.mechanism.matrix
    sums = [np.abs(axis[:, None] - axis[None]).T @ joint for axis in points.xy.T]
    brute = sum(values.min(axis=0).sum() for values in sums) / 1000
    assert most * (1 - 1e-5) <= design.certificate.value <= brute <= most


@pytest.mark.parametrize("seed", range(5))
def test_medians_of_coordinates_have_the_least_manhattan_distance(seed):
    rng = np.random.default_rng(seed)
    xy, shares = rng.normal(0, 1000, (40, 2)).round(-2), rng.dirichlet(np.ones(5), 40)
    points = TruePoints.of(xy, csr_array(shares))
    channel = rng.dirichlet(np.full(6, 0.3), 5) * (rng.random((5, 6)) < 0.6)
    guesses = points.guesses(channel, "manhattan")
    joint = points.masses @ channel
    grid = np.stack(np.meshgrid(*points.xy.T), axis=-1).reshape(-1, 2)
    least = (DISTANCES["manhattan"](points.xy, grid).T @ joint).min(axis=0).sum()
    assert guesses.lower <= least <= guesses.value
    assert guesses.value - guesses.lower <= 1e-11 * guesses.value
    at_guesses = (DISTANCES["manhattan"](points.xy, guesses.points) * joint).sum()
    assert at_guesses == pytest.approx(least, rel=1e-12)


def test_a_least_manhattan_error_is_proved_again_from_the_file(tmp_path):
    lattice = sf.Lattice.covering(THREE, "500 m")
    prior, loss = sf.Prior.from_visits(lattice, THREE), lattice.loss(THREE, "manhattan")
    target = sf.PlaceDistortion("900 m", lattice, THREE, kind="manhattan")
    design = sf.design(prior, loss=loss, guarantees=[target])
    assert design.certificate.free_reports
    assert design.certificate.bound == 0.9
    assert design.certificate.loss <= 0.9 * (1 + 1e-5)
    design.save(tmp_path / "a.sfm")
    file = sf.files.read_mechanism_file(tmp_path / "a.sfm")
    (guarantee,) = file.guarantees
    assert guarantee.kind == "manhattan"
    assert "manhattan" in str(guarantee)
    _, (proof,) = prove_guarantees(file.report_channel, file.prior, file.guarantees)
    assert proof.holds
    assert proof.lower == pytest.approx(0.9, rel=1e-5)


@pytest.mark.parametrize("limit", ["1 m", "400 m", "1.4 km"])
def test_three_places_attain_the_limit(limit):
    design = game(THREE, limit)
    limit_km = sf.core.units.parse(limit, unit="km", subject="the limit")
    assert design.certificate.free_reports
    assert design.is_finished
    assert design.certificate.loss <= limit_km
    assert design.certificate.bound == limit_km
    assert design.certificate.gap <= 5e-6
    attack = sf.attacks.true_place(design.mechanism, THREE)
    assert design.certificate.value == pytest.approx(attack.error.lower, rel=1e-6)


def test_three_places_report_another_one_with_the_probability_that_loses_the_limit():
    design = game(THREE, "400 m")
    lattice = design.mechanism.secrets
    degrees = np.unique(np.column_stack([THREE.lat, THREE.lon]), axis=0)
    xy = lattice.projection.forward(*degrees.T)
    sides = np.hypot(*(xy[:, None] - xy[None]).transpose(2, 0, 1)).sum()
    assert 2 * 400 / (sides / 3) == pytest.approx(0.1535, abs=1e-4)
    joint = lattice.true_points(THREE).masses @ design.mechanism.matrix
    success = np.sort(joint, axis=1)[:, -1].sum()
    assert success == pytest.approx(1 - 0.1535, abs=5e-3)  # the places are not all equally far apart


def test_no_guess_on_a_grid_beats_the_attacker_against_a_city():
    design = game(CITY, "800 m", "1 km")
    lattice = design.mechanism.secrets
    points = lattice.true_points(CITY)
    joint = points.masses @ design.mechanism.matrix
    ends = np.linspace(points.xy.min(axis=0), points.xy.max(axis=0), 25)
    guesses = np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 2)
    brute = (np.hypot(*(guesses[:, None] - points.xy[None]).transpose(2, 0, 1)) @ joint).min(axis=0).sum() / 1000
    assert 0.8 * (1 - 1e-4) <= design.certificate.value <= min(brute, 0.8)
    reports = lattice.projection.forward(*design.mechanism.observables.latlon.T)
    loss = (np.hypot(*(points.xy[:, None] - reports[None]).transpose(2, 0, 1)) * joint).sum() / 1000
    assert loss <= 0.8
    assert design.certificate.loss == pytest.approx(loss, rel=1e-6)


def test_more_loss_than_that_of_blind_guesses_adds_no_error():
    design = game(THREE, "5 km")
    blind = sf.attacks.true_place(design.mechanism, THREE).blind
    assert blind.lower <= design.certificate.bound <= blind.upper * (1 + 1e-6)
    assert design.certificate.value == pytest.approx(blind.lower, rel=1e-6)


def test_a_guarantee_per_kilometre_stays_and_the_limit_is_attained():
    design = game(THREE, "700 m", guarantees=sf.CoordinatePrivacy("2/km"))
    (proof,), _ = prove_guarantees(design.mechanism, design.problem.prior, sf.CoordinatePrivacy("2/km"))
    assert proof.holds
    assert proof.upper <= 2.0
    assert design.certificate.loss <= 0.7
    assert 0.7 * (1 - 1e-5) <= design.certificate.value <= 0.7
    assert design.certificate.bound == pytest.approx(0.7, rel=1e-15)


def test_a_least_error_costs_no_more_loss_than_the_error():
    lattice, prior, loss = lattice_over(THREE)
    for guarantees in ([], [sf.CoordinatePrivacy("3/km")]):
        target = sf.PlaceDistortion("900 m", lattice, THREE)
        design = sf.design(prior, loss=loss, guarantees=[*guarantees, target])
        assert design.certificate.holds
        assert design.certificate.free_reports
        assert design.certificate.bound == 0.9
        assert design.certificate.loss <= 0.9 * (1 + 1e-5)
        assert sf.attacks.true_place(design.mechanism, THREE).error.lower >= 0.9 * (1 - 1e-9)


@pytest.mark.parametrize("gap", [pytest.param(None, marks=pytest.mark.slow), 1e-4])
def test_an_error_that_a_guarantee_leaves_anyway_is_bounded_for_all_reports_or_for_those_of_the_file(gap):
    rng = np.random.default_rng(0)
    visits = sf.Visits(48.85 + rng.normal(0, 0.006, 25), 2.35 + rng.normal(0, 0.009, 25))
    lattice, prior, loss = lattice_over(visits, "900 m")
    target = sf.PlaceDistortion("1 m", lattice, visits)
    limit = {} if gap is None else {"gap": gap, "time_limit": 3.0}
    design = sf.design(prior, loss=loss, guarantees=[sf.CoordinatePrivacy("2/km"), target], **limit)
    problem, certificate = design.problem, design.certificate
    assert certificate.holds
    assert certificate.free_reports == (gap is None)
    assert not certificate.all_secrets
    assert 0.001 < certificate.bound <= certificate.loss <= certificate.bound * 1.02
    assert design.optimality is not None
    proof = prove_optimality(prior, problem.loss, problem.guarantees, design.optimality)
    if gap is not None:
        assert certificate.bound == pytest.approx(proof, rel=1e-12)
    assert certificate.bound <= proof * (1 + 1e-12) <= certificate.loss * (1 + 1e-9)
    loss = (problem.loss.array * design.matrix * prior.probabilities[:, None]).sum()
    assert loss == pytest.approx(certificate.loss, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_the_least_loss_with_an_epsilon_is_that_of_a_program_with_900_reports(seed):
    rng = np.random.default_rng(seed)
    visits = sf.Visits(48.85 + rng.normal(0, 0.006, 25), 2.35 + rng.normal(0, 0.009, 25))
    lattice, prior, loss = lattice_over(visits, "1200 m")
    promise, target = sf.CoordinatePrivacy("1/km"), sf.PlaceDistortion("1 m", lattice, visits)
    design = sf.design(prior, loss=loss, guarantees=[promise, target])
    xy = lattice.true_points(visits).xy
    ends = np.linspace(xy.min(axis=0), xy.max(axis=0), 30)
    reports = np.stack(np.meshgrid(*ends.T), axis=-1).reshape(-1, 2)
    space = sf.Space(range(900), reports, crs=lattice.crs, unit=lattice.unit)
    many = sf.design(
        prior,
        loss=lattice.loss(visits, observables=space),
        guarantees=promise,
        observables=space,
        solver="highs",
        tie_break=False,
        method="table",
    )
    assert design.certificate.free_reports
    assert design.certificate.gap <= 0.02
    assert design.certificate.bound <= many.certificate.loss
    assert design.certificate.loss <= many.certificate.loss * (1 + 1e-3)


def test_a_least_error_below_that_of_a_lattice_is_bounded_for_all_reports():
    lattice, prior, loss = lattice_over(CITY, "1 km")
    design = sf.design(prior, loss=loss, guarantees=[sf.PlaceDistortion("1 m", lattice, CITY)])
    problem, certificate = design.problem, design.certificate
    assert design.is_finished
    assert certificate.free_reports
    assert not certificate.all_secrets
    points = lattice.true_points(CITY)
    xy, joint = points.xy, points.masses.toarray()
    brute = 0.0
    for weights in joint.T[joint.sum(axis=0) > 0]:
        brute += sf.mechanisms.geometric_median(xy[weights > 0], weights[weights > 0], 1e-7).total.value / 1000
    assert brute * (1 - 1e-4) <= certificate.bound <= min(brute * (1 + 1e-6), certificate.loss * (1 + 1e-12))
    assert certificate.loss <= certificate.bound * (1 + 1e-3)
    assert design.optimality is not None
    proof = prove_optimality(prior, problem.loss, problem.guarantees, design.optimality)
    assert proof == pytest.approx(certificate.bound, rel=1e-3)


def test_a_limit_below_the_least_loss_is_refused_and_the_least_loss_is_enough():
    with pytest.raises(InfeasibleError, match="the least possible") as refused:
        game(CITY, "1 m", "1 km")
    least = refused.value.hints[0].split()[3:5]
    assert game(CITY, " ".join(least).rstrip("."), "1 km").is_finished


@pytest.mark.parametrize(
    ("options", "status"),
    [({"time_limit": 1e-3}, "TIME_LIMIT"), ({"stop": lambda: True}, "INTERRUPTED")],
)
def test_a_least_error_that_is_not_finished_says_whether_time_or_the_caller_ended_it(options, status):
    lattice, prior, loss = lattice_over(CITY, "1 km")
    target = sf.PlaceDistortion("1 m", lattice, CITY)
    design = sf.design(prior, loss=loss, guarantees=[sf.CoordinatePrivacy("1/km"), target], **options)
    assert not design.is_finished
    assert design.status.name == status


def test_one_place_leaves_no_error():
    visits = sf.Visits([37.77] * 5 + [37.771], [-122.44] * 5 + [-122.439])
    lattice = sf.Lattice.covering(visits, "50 m")
    place = visits.select(np.arange(5))
    prior, loss = sf.Prior.from_visits(lattice, place), lattice.loss(place)
    target = sf.PlaceDistortion(0, lattice, place)
    design = sf.maximise_distortion(prior, loss=loss, distance=target, max_loss="10 m")
    assert design.certificate.value == 0
    assert design.certificate.bound <= 1e-9


def test_prescribed_reports_or_another_loss_are_solved_by_the_program():
    lattice, prior, loss = lattice_over(THREE)
    target = sf.PlaceDistortion(0, lattice, THREE)
    for costs, observables in ((loss, lattice), (lattice.loss(THREE, "manhattan"), None)):
        design = sf.maximise_distortion(
            prior, loss=costs, distance=target, max_loss="700 m", observables=observables, gap=0.05
        )
        assert not design.certificate.free_reports
        assert design.mechanism.observables.crs == lattice.crs


def test_a_lattice_is_refined_until_the_limit_is_possible():
    wide = sf.Visits([48.8, 48.85, 48.9, 48.8501], [2.2, 2.35, 2.4, 2.3502])
    coarse = LatticeChoice(sf.Lattice.covering(wide, "2 km"), "")
    assert refine_lattice(coarse, wide, 5_000, region=None, user=None) is coarse
    fine = refine_lattice(coarse, wide, 1, region=None, user=None)
    assert "Only places within" in fine.sentence
    assert fine.lattice.inside(wide.lat, wide.lon).all()
    assert game_on(fine.lattice, wide, "1 m").is_finished


def test_a_lattice_for_a_user_is_refined_near_the_visits_of_this_user():
    lat, lon = np.random.default_rng(2).uniform((48.7, 2.1), (49.0, 2.6), (900, 2)).T
    users = ["ann"] * 10 + ["others"] * 890
    crowd = sf.Visits(lat, lon, user=users)
    coarse = LatticeChoice(sf.Lattice.covering(crowd, "2 km"), "")
    assert refine_lattice(coarse, crowd, 20, region=None, user=None) is coarse
    fine = refine_lattice(coarse, crowd, 20, region=None, user="ann")
    assert "of a visit of ann are served" in fine.sentence
    ann = crowd.of_user("ann")
    assert fine.lattice.inside(ann.lat, ann.lon).all()
    assert game_on(fine.lattice, ann, "20 m").is_finished


def game_on(lattice, visits, limit):
    prior, loss = sf.Prior.from_visits(lattice, visits), lattice.loss(visits)
    target = sf.PlaceDistortion(0, lattice, visits)
    return sf.maximise_distortion(prior, loss=loss, distance=target, max_loss=limit)


@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_vertices_near_points_are_those_of_the_full_rectangle(kind):
    rng = np.random.default_rng(5)
    for _ in range(40):
        extent, reach = rng.uniform(0.3, 30, 2), rng.uniform(0.6, 3)
        points = (rng.random((rng.integers(1, 6), 2)) - 0.5) * extent
        vertices, corner = (block if kind == "square" else strip)(extent)
        strewn_vertices = strewn(kind, extent, points, reach)
        assert strewn_vertices is not None
        sparse, origin = strewn_vertices
        np.testing.assert_allclose(origin, corner)
        np.testing.assert_array_equal(*(near(kind, part, corner, points, reach) for part in (vertices, sparse)))


def near(kind, vertices, corner, points, reach):
    pieces = VertexTable.of(vertices).pieces(kind, vertices)
    xy = corner + vertices @ (TRIANGLE if kind == "triangular" else np.eye(2))
    away = np.hypot(*(xy[pieces].mean(axis=1)[:, None] - points[None]).transpose(2, 0, 1)).min(axis=1)
    return vertices[np.unique(pieces[away <= reach])]
