"""Attacks in the wild: against what is known exactly."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato_papers.invented_city import invented_city
from sfumato_papers.wild import (
    FixedCells,
    PeopleMap,
    PrivacyZone,
    RadialNoise,
    RoundedDistance,
    best_guesses,
    circle_through,
    copies_averaged,
    crossings,
    even_radius,
    laplace_radius,
    trilaterate,
)
from sfumato_papers.wild.attack_errors import scheme_errors, town_of
from sfumato_papers.wild.published_attacks import distance_errors, home_guesses, straight_walks, zone_errors


def generator(seed=1):
    return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def town():
    return town_of("city", invented_city())


def test_copies_average_as_their_closed_form_says():
    for count in (1, 10):
        row = copies_averaged(count, 2, 4000)
        assert row.mean_m == pytest.approx(row.closed_m, rel=0.03)


def test_a_circle_is_found_exactly_and_refused_from_two_points():
    angle = np.array([0.1, 0.7, 2.0, 4.0])
    ends = np.array([120.0, -50.0]) + 500 * np.column_stack([np.cos(angle), np.sin(angle)])
    centre, radius = circle_through(ends)
    np.testing.assert_allclose([*centre, radius], [120, -50, 500], atol=1e-6)
    with pytest.raises(InputError, match="2 points"):
        circle_through(ends[:2])


@pytest.mark.parametrize("shifted", [False, True])
def test_ends_of_tracks_lie_on_the_zone_and_home_inside(shifted):
    zone = PrivacyZone(500, shifted=shifted, error_m=0)
    centres = zone.centres(300, generator())
    ends = zone.ends(centres, 6, generator(2))
    np.testing.assert_allclose(np.linalg.norm(ends - centres[:, None], axis=2), 500)
    away = np.hypot(*centres.T)
    assert (away <= 450).all()
    np.testing.assert_allclose(home_guesses(ends), centres, atol=0.5)
    if shifted:
        assert away.mean() == pytest.approx(250, rel=0.1)  # even between 50 and 450 m
        assert away.min() >= 50


def test_zones_beside_certified_noise():
    known, blurred = zone_errors("zone", PrivacyZone(), 5, 1, 40)
    assert known.median_m < 20 < 200 < blurred.median_m
    assert known.within_50 > 0.9


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trilateration_finds_the_place_that_distances_are_counted_from(seed):
    place = generator(seed).uniform(-9000, 9000, 2)
    cells = FixedCells(111.0, 85.0)
    for rule, goal in ((RoundedDistance(), place), (RoundedDistance(cells=cells), cells.centres(place))):
        found = trilaterate(rule.of(place), rule.step_m, place + np.array([3000.0, -2000.0]), 100)
        assert np.hypot(*(found - goal)) < 0.01


def test_everybody_is_found_by_an_exact_distance():
    exact, _ = distance_errors("miles", RoundedDistance(), 100, 7, 200)
    assert exact.within_50 == 1.0


def test_few_questions_leave_what_there_is():
    rule = RoundedDistance(1000.0)
    start = np.array([5000.0, 0.0])
    for questions in (1, 2, 3, 4, 9):
        assert np.isfinite(trilaterate(rule.of(np.zeros(2)), 1000.0, start, questions)).all()
    assert (trilaterate(rule.of(np.zeros(2)), 1000.0, start, 1) == start).all()
    with pytest.raises(InputError, match="0 questions"):
        trilaterate(rule.of(np.zeros(2)), 1000.0, start, 0)
    exact, blurred = distance_errors("miles", RoundedDistance(), 100, 1, 10)
    assert exact.median_m < 1 < 100 < blurred.median_m


def test_a_crossing_is_known_to_half_a_step():
    grid = FixedCells(5000, 5000, (123.0, 456.0))
    walks = straight_walks(300, 12_000, 100, 50_000, generator())
    across, on_road = crossings(grid, walks, generator())
    assert len(across) == len(walks)
    assert (across <= 50 + 1e-6).all()
    # Along the road: but for walks that cut a corner within one step.
    assert np.mean(on_road <= 50 + 1e-6) > 0.97


def test_a_walk_needs_two_reports():
    with pytest.raises(InputError, match="no two reports"):
        straight_walks(1, 100, 200, 1, generator())


def test_bayes_stays_in_the_cell_and_beats_its_centre(town):
    grid = FixedCells(2500, 2500, (400.0, -300.0))
    truths = town.truths_m[:60]
    reports = grid.reports(truths, 1, generator())
    best = best_guesses(grid, reports, town.people)
    for guesses in best:
        assert (grid.centres(guesses) == reports[:, 0]).all()
    errors, centre = (np.hypot(*(own - truths).T).mean() for own in (best[0], reports[:, 0]))
    assert errors < centre


def test_bayes_with_many_reports_is_near_and_with_a_flat_map_is_the_median():
    people = PeopleMap.of(generator().uniform(-4000, 4000, (200_000, 2)))
    noise = RadialNoise(laplace_radius(0.004), renewed=True)
    truths = generator(2).uniform(-2000, 2000, (20, 2))
    reports = noise.reports(truths, 60, generator(3))
    best, _ = best_guesses(noise, reports, people)
    assert np.median(np.hypot(*(best - truths).T)) < 90
    # On a flat map the likeliest place of Laplace noise is the geometric median of the reports.
    medians = np.array([sf.mechanisms.geometric_median(own, np.ones(60)).point for own in reports])
    assert np.median(np.hypot(*(best - medians).T)) < 25


def test_a_donut_excludes_what_is_too_near(town):
    donut = RadialNoise(even_radius(400, 1200), renewed=True)
    found = donut.log_likelihood(np.zeros((1, 2)), np.array([[0.0, 100.0], [0.0, 800.0], [0.0, 2000.0]]))
    assert found[1] > found[0] + 5
    assert found[1] > found[2] + 5


def test_rows_of_what_was_found(town):
    rows = scheme_errors("grid", FixedCells(1000, 1000), town, 1, alone=50, knowing=5, reports=(1, 4))
    assert len(rows) == 3 * 2 * 2
    again = scheme_errors("grid", FixedCells(1000, 1000), town, 1, alone=50, knowing=5, reports=(1, 4))
    assert [row.median_m for row in rows] == [row.median_m for row in again]
    same = [row.median_m for row in rows if row.mechanism == "as documented" and row.city == ""]
    assert same[0] == same[1]
    fresh = [row for row in rows if row.mechanism.startswith("certified, fresh") and row.city == ""]
    assert fresh[1].epsilon_per_km == pytest.approx(4 * fresh[0].epsilon_per_km)
    assert fresh[1].median_m < fresh[0].median_m
    with pytest.raises(InputError, match="do not rise"):
        scheme_errors("grid", FixedCells(1000, 1000), town, 1, alone=5, knowing=5, reports=(4, 1))


def test_a_map_needs_a_town():
    with pytest.raises(DataError, match="farther than a town"):
        PeopleMap.of(np.array([[0.0, 0.0], [1e6, 1e6]]))
    with pytest.raises(DataError, match="visits are within 6 km"):
        town_of("few", sf.Visits([40.0, 40.001], [-30.0, -30.001], user=["a", "b"]))
