"""Districts: ends by another solver, how often all intervals cover, and where there are none."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.stats import binom

import sfumato as sf
from sfumato.estimation import (
    Districts,
    Reports,
    estimate_population,
    expected_districts,
    settled_districts,
)
from sfumato.estimation.goodness_of_fit import chance_beyond, distance_within
from sfumato.leakage.likelihood import maximise

REPETITIONS = 200
MOST = int(binom.isf(1e-9, REPETITIONS, 0.05))  # so many miss with a probability of 1e-9 at most


@pytest.fixture(scope="module")
def lattice():
    return sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km")


@pytest.fixture(scope="module")
def blur(lattice):
    """Noise on 12 places, so that reports settle no share of 49 vertices."""
    km = np.linalg.norm(lattice.coordinates[:, None] - lattice.coordinates[None, ::4], axis=-1) / 1000
    weights = np.exp(-0.75 * km)
    return sf.Mechanism(weights / weights.sum(axis=1, keepdims=True), lattice)


@pytest.fixture(scope="module")
def truth(lattice):
    """A population most of whom live in the south-west."""
    x, y = (lattice.coordinates / 1000).T
    weights = np.exp(-((x + 1) ** 2 + (y + 1.5) ** 2) / 2) + 0.01
    weights[-1] = 0
    return weights / weights.sum()


def drawn(blur, truth, total, seed):
    return Reports(blur, np.random.default_rng(seed).multinomial(total, truth @ blur.matrix))


def settled(reports, failure=0.05) -> Districts:
    """Return the districts, of which there are some."""
    districts = settled_districts(reports, failure=failure)
    assert districts is not None
    return districts


@pytest.mark.slow
def test_all_intervals_cover_together(blur, truth):
    missed = 0
    settled = 0
    for seed in range(REPETITIONS):
        districts = settled_districts(drawn(blur, truth, 3000, seed))
        if districts is None:
            continue
        settled += 1
        shares = districts.parts @ truth
        sure = districts.intervals
        missed += not ((sure.lower <= shares) & (shares <= sure.upper)).all()
        assert (sure.lower <= districts.shares + 1e-9).all()
        assert (districts.shares <= sure.upper + 1e-9).all()
    assert settled > REPETITIONS / 2
    assert missed <= MOST


def test_the_shares_of_districts_are_those_of_the_truth_and_get_finer(blur, truth):
    few, many = (settled(drawn(blur, truth, total, 3)) for total in (3000, 10_000_000))
    assert many.side_m <= few.side_m
    assert len(many) >= len(few) >= 2
    np.testing.assert_allclose(many.shares, many.parts @ truth, atol=0.05)
    assert many.intervals.together
    assert many.intervals.exact
    assert many.intervals.lower.sum() >= 0.5


def test_the_ends_are_those_of_another_solver(blur, truth):
    reports = drawn(blur, truth, 3000, 5)
    districts = settled(reports, failure=0.1)
    frequencies = reports.counts / 3000
    # Another route to the set: a general solver on the probabilities themselves.
    allowed = distance_within(0.1, len(frequencies) - 1) / 3000

    def room(p):
        return allowed - frequencies @ np.log(frequencies / (p @ blur.matrix))

    n = len(truth)
    for part, low, high in zip(districts.parts, districts.intervals.lower, districts.intervals.upper, strict=True):
        for sign, end in ((1, low), (-1, high)):
            best = minimize(
                lambda p, sign=sign, part=part: sign * part @ p,
                np.full(n, 1 / n) * 0.5 + 0.5 * truth,
                jac=lambda p, sign=sign, part=part: sign * part,
                bounds=[(0, 1)] * n,
                constraints=[
                    {
                        "type": "ineq",
                        "fun": lambda p: 1e3 * room(p),
                        "jac": lambda p: 1e3 * blur.matrix @ (frequencies / (p @ blur.matrix)),
                    },
                    {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": np.ones_like},
                ],
                options={"maxiter": 500, "ftol": 1e-10},
            )
            assert best.success
            reached = float(part @ best.x)
            assert sign * (end - reached) <= 1e-6  # outside of what another solver reaches,
            assert abs(end - reached) <= 0.03 * abs(reached - part @ truth) + 0.01  # and near it


def test_parts_share_out_every_person(lattice, blur, truth):
    districts = settled(drawn(blur, truth, 10_000_000, 3))
    np.testing.assert_allclose(districts.parts.sum(axis=0), 1, atol=1e-12)
    assert districts.shares.sum() == pytest.approx(1)
    assert districts.sizes.sum() == len(lattice)
    middles = lattice.projection.forward(*districts.latlon.T)
    apart = np.abs(lattice.coordinates[:, None] - middles).max(axis=-1)
    for place, district in enumerate(districts.membership.tolist()):
        assert districts.parts[district, place] == districts.parts[:, place].max()
    outside = np.abs(lattice.coordinates).max(axis=1) > np.abs(middles).max()
    assert not districts.parts[(districts.side_m <= apart.T) & ~outside].any()
    # At a middle one counts fully.
    at = apart.min(axis=0) < 1e-6
    for d in np.flatnonzero(at):
        assert districts.parts[d, apart[:, d].argmin()] == pytest.approx(1)


def test_there_are_none_where_little_is_known(lattice, blur, truth):
    assert settled_districts(drawn(blur, truth, 20, 1)) is None
    deaf = sf.Mechanism(np.full((len(lattice), 3), 1 / 3), lattice)
    assert settled_districts(Reports(deaf, [100, 100, 100])) is None
    positions = np.random.default_rng(1).choice(blur.shape[1], 5000, p=truth @ blur.matrix)
    alone = sf.Mechanism(np.ones((len(lattice), 1)), lattice)
    assert settled_districts(Reports(alone, [100_000])) is None
    weighted = Reports.at(blur, positions, np.arange(1, 5001))
    assert settled_districts(weighted) is None
    coin = sf.mechanisms.randomised_response(sf.Space(["a", "b"]), 1.0)
    assert settled_districts(Reports(coin, [50, 50])) is None


def test_the_estimate_has_districts_where_it_does_not_settle_places(blur, truth):
    reports = drawn(blur, truth, 100_000, 2)
    found = estimate_population(reports)
    assert found.districts is not None
    assert "districts of about" in repr(found)
    assert estimate_population(reports, "early-stopped", seed=1).districts is None
    batches = estimate_population([reports, drawn(blur, truth, 50_000, 3)])
    assert batches.districts is not None
    sure = batches.districts.intervals
    shares = batches.districts.parts @ truth
    assert ((sure.lower <= shares) & (shares <= sure.upper)).all()


def test_districts_before_there_are_reports(lattice, blur, truth):
    prior = sf.Prior(lattice, truth)
    before = expected_districts(blur, prior, 100_000)
    after = settled(drawn(blur, truth, 100_000, 4))
    assert before is not None
    assert before.side_m == after.side_m
    assert expected_districts(blur, prior, 20) is None


@pytest.mark.parametrize("free", [1, 11, 250])
@pytest.mark.parametrize("failure", [0.05, 1e-6])
def test_the_distance_within_which_frequencies_are(free, failure):
    root = brentq(lambda t: -t + free * (1 + math.log(t / free)) - math.log(failure), free, 1e4)
    distance = distance_within(failure, free)
    assert distance == pytest.approx(root, rel=1e-6)
    assert chance_beyond(distance, free) <= failure


def test_few_reports_of_many_secrets_have_the_same_likelihood():
    rng = np.random.default_rng(8)
    matrix = rng.dirichlet(np.ones(5), 60)
    frequencies, slope = rng.dirichlet(np.ones(5)), rng.normal(size=60) / 50
    small = maximise(matrix, frequencies, slope, np.full(60, 1 / 60), 1e-10)
    # Columns that are split alike say the same, and there are then too many for the smaller system.
    split = np.repeat(matrix, 6, axis=1) / 6
    large = maximise(split, np.repeat(frequencies, 6) / 6, slope, np.full(60, 1 / 60), 1e-10)
    assert max(small.gap, large.gap) <= 1e-10
    assert small.value == pytest.approx(large.value + math.log(6), abs=1e-9)


@pytest.mark.parametrize(
    "places",
    [
        sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km", kind="triangular"),
        sf.Grid.covering("6 km x 4 km around -33.9,151.2", "1 km"),
        sf.Grid.covering("20 km x 1 km around 64,-170", "1 km"),
    ],
    ids=["triangular", "cells", "one row"],
)
def test_districts_of_other_places(places):
    far = np.linalg.norm(places.coordinates[:, None] - places.coordinates, axis=-1) / 1000
    weights = np.exp(-far)
    mechanism = sf.Mechanism(weights / weights.sum(axis=1, keepdims=True), places)
    truth = np.random.default_rng(2).dirichlet(np.ones(len(places)))
    districts = settled(drawn(mechanism, truth, 300_000, 1))
    shares, sure = districts.parts @ truth, districts.intervals
    assert ((sure.lower <= shares) & (shares <= sure.upper)).all()
    np.testing.assert_allclose(districts.shares, shares, atol=0.1)
    assert np.abs(districts.latlon[:, 0]).max() <= 90
    assert np.abs(districts.latlon[:, 1]).max() <= 180
