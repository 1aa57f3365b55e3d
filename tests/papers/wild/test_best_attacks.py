"""Attackers who know the law of a scheme: against brute force and simulations of their own."""

import numpy as np
import pytest
from scipy.optimize import minimize

import sfumato as sf
from sfumato_papers.wild import (
    SCHEMES,
    CertifiedNoise,
    DriftingOffset,
    PrivacyZone,
    RadialNoise,
    even_radius,
    geometric_medians,
    homes_by_law,
    laplace_radius,
    least_error,
)
from sfumato_papers.wild.published_attacks import drift_averaged, end_density, home_guesses

DONUT = RadialNoise(even_radius(400, 1200), renewed=True)


def generator(seed=1):
    return np.random.default_rng(seed)


def turned(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def away(points):
    return np.hypot(points[..., 0], points[..., 1])


@pytest.mark.parametrize("k", [2, 7, 40])
def test_the_likeliest_place_of_laplace_noise_is_the_geometric_median(k):
    reports = generator(k).normal(0, 300, (5, k, 2))
    exact = [sf.mechanisms.geometric_median(own, np.ones(k)) for own in reports]
    found = geometric_medians(reports)
    for own, best, other in zip(reports, exact, found, strict=True):
        least = away(own - np.asarray(best.point)).sum()
        assert away(own - other).sum() <= least * (1 + 1e-4)


def test_equal_reports_are_their_own_median():
    np.testing.assert_allclose(geometric_medians(np.full((2, 3, 2), 7.0)), 7.0)
    noise = CertifiedNoise.of_mean(500, renewed=False)
    reports = noise.reports(np.zeros((3, 2)), 4, generator())
    assert (noise.guesses(reports) == reports[:, 0]).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_guess_behind_a_donut_is_that_of_brute_force(seed):
    reports = 800.0 + generator(seed).uniform(400, 1200, 10)[:, None] * turned(generator(9).uniform(0, 7, 10))
    draws = generator(seed + 50).uniform(-1200, 2800, (600_000, 2))
    apart = away(draws[:, None] - reports)
    possible = ((apart >= 400) & (apart <= 1200)).all(axis=1)
    weights = 1 / apart[possible].prod(axis=1)
    weights /= weights.sum()
    best = minimize(
        lambda x: weights @ away(draws[possible] - x), weights @ draws[possible], method="Nelder-Mead"
    ).x
    spread = np.sqrt(weights @ away(draws[possible] - best) ** 2)
    assert away(least_error(DONUT, reports[None])[0] - best) < 0.3 * spread


def test_who_knows_the_law_of_a_donut_comes_far_closer_than_the_mean():
    for count, most, least in ((10, 0.6, 215), (100, 0.2, 71)):
        reports = DONUT.reports(np.zeros((200, 2)), count, generator(count))
        mean = np.median(away(reports.mean(axis=1)))
        assert mean == pytest.approx(least, rel=0.2)
        assert np.median(away(DONUT.guesses(reports))) < most * mean


def test_planar_laplace_noise_is_known_better_by_its_median_than_by_the_mean():
    noise = RadialNoise(laplace_radius(0.004), renewed=True)
    reports = noise.reports(np.zeros((600, 2)), 100, generator(4))
    mean, likeliest = (np.median(away(own)) for own in (reports.mean(axis=1), noise.guesses(reports)))
    # Fisher information of each coordinate is epsilon**2 / 2 for one report; the mean has variance 3 / epsilon**2.
    rayleigh = np.sqrt(2 * np.log(2))
    assert likeliest == pytest.approx(rayleigh * np.sqrt(2) / 0.004 / 10, rel=0.1)
    assert mean == pytest.approx(rayleigh * np.sqrt(3) / 0.004 / 10, rel=0.1)


@pytest.mark.parametrize("home", [(0.0, 0.0), (50.0, 0.0), (-200.0, 300.0), (0.0, 449.0)])
def test_ends_are_somewhere_on_the_circle(home):
    angle = 2 * np.pi * np.arange(20_000) / 20_000
    density = end_density(np.array([home]), 500.0, 500 * turned(angle))[0]
    assert density.sum() * 2 * np.pi * 500 / 20_000 == pytest.approx(1)
    assert (density > 0).all()


def test_ends_are_as_dense_as_tracks_make_them():
    centre = np.array([[250.0, -150.0]])
    ends = PrivacyZone(500, shifted=True, error_m=0).ends(centre, 200_000, generator())[0] - centre
    angle = np.arctan2(ends[:, 1], ends[:, 0])
    counts, edges = np.histogram(angle, bins=60, range=(-np.pi, np.pi))
    middle = 500 * turned((edges[1:] + edges[:-1]) / 2)
    expected = end_density(-centre, 500.0, middle)[0] * 2 * np.pi * 500 / 60
    np.testing.assert_allclose(counts / 200_000, expected, rtol=0.1)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_home_in_a_shifted_zone_is_where_rejection_finds_it(seed):
    seen = generator(seed).uniform(-np.pi, np.pi, 3)
    draws = 1_500_000
    own = generator(seed + 10)
    homes = own.uniform(50, 450, draws)[:, None] * turned(own.uniform(0, 2 * np.pi, draws))
    fits = np.ones(draws, dtype=bool)
    for angle in seen:
        way = turned(own.uniform(0, 2 * np.pi, draws))
        along = (homes * way).sum(axis=1)
        out = homes + (np.sqrt(along**2 + 500**2 - away(homes) ** 2) - along)[:, None] * way
        off = np.angle(np.exp(1j * (np.arctan2(out[:, 1], out[:, 0]) - angle)))
        fits &= np.abs(off) < 0.22
    kept = homes[fits]
    best = minimize(lambda x: away(kept - x).mean(), kept.mean(axis=0), method="Nelder-Mead").x
    guess = homes_by_law(PrivacyZone(500, shifted=True, error_m=0), 500 * turned(seen)[None])[0]
    assert len(kept) > 200
    assert away(guess - best) < 40


def test_uneven_ends_lead_to_a_home_that_the_circle_does_not_show():
    zone = PrivacyZone(500, shifted=True)
    ends = zone.ends(zone.centres(80, generator(5)), 100, generator(6))
    law, circle = (np.median(away(own)) for own in (homes_by_law(zone, ends), home_guesses(ends)))
    assert law < 90 < 200 < circle
    assert (homes_by_law(zone, ends[:, :2]) == ends[:, :2].mean(axis=1)).all()


def test_cells_are_part_of_the_law_of_rare_trips():
    (channel,) = (each.channel for each in SCHEMES if each.key == "trips-louisville-rare")
    assert isinstance(channel, RadialNoise)
    assert channel.cells is not None
    places = generator().uniform(0, 1e5, (100_000, 2))
    off = away(channel.reports(places, 1, generator(2))[:, 0] - places)
    assert channel.mean_m == pytest.approx(off.mean(), rel=0.005)
    assert off.max() < 510
    # The chance of one report from several places, drawn often.
    centre = np.array(channel.cells.sides_m) / 2
    candidates = centre + np.array([[40.0, 10.0], [150.0, -60.0], [-300.0, 200.0], [430.0, 60.0]])
    chance = []
    for place in candidates:
        drawn = channel.reports(np.tile(place, (200_000, 1)), 1, generator(3))[:, 0]
        chance.append((away(drawn - centre) < 1).mean())
    likely = np.exp(channel.log_likelihood(centre[None], candidates))
    np.testing.assert_allclose(likely / likely.sum(), np.array(chance) / sum(chance), atol=0.02)


def test_means_of_reports_under_the_grid_are_those_of_joint_offsets():
    channel = DriftingOffset(2000.0, 500.0, 0.03)
    hours = np.arange(25)
    covariance = 500.0**2 * channel.memory ** np.abs(hours[:, None] - hours[None, :])
    root = np.linalg.cholesky(covariance)
    own = generator(7)
    place = own.uniform(0, 2000, (4000, 1, 2))
    offsets = np.einsum("hk,nkc->nhc", root, own.normal(size=(4000, 25, 2)))
    reports = (np.floor((place + offsets) / 2000) + 0.5) * 2000
    expected = away(reports.mean(axis=1) - place[:, 0]).mean()
    assert drift_averaged(channel, 25, 3, 4000)[1].mean_m == pytest.approx(expected, rel=0.03)
    assert drift_averaged(channel, 1, 3, 8000)[1].mean_m == pytest.approx(channel.mean_m, rel=0.03)
