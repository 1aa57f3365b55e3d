"""Check-ins of Paris through three mechanisms and back (PRIVIC's extract)."""

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.estimation import (
    Reports,
    estimate_population,
    least_squares,
    maximum_likelihood,
    profile_intervals,
    read_reports,
    unbiased_estimate,
)
from tests.sampling.mechanisms import fix_seeds

PARIS = "48.8286,2.2855,48.8798,2.3909"


@pytest.fixture(scope="module")
def paris(shared_data):
    visits = sf.read_visits(shared_data / "gowalla_paris.parquet")
    city = sf.Grid.covering(visits, shape=(8, 6), region=PARIS)
    return visits, sf.Prior.from_visits(city, visits), city.metric("euclidean", unit="km")


@pytest.mark.parametrize("name", ["exponential", "weak exponential", "randomised response"])
def test_the_estimate_is_nearer_to_the_truth_than_the_reports(paris, name):
    _, truth, d = paris
    city = truth.space
    mechanism = {
        "exponential": lambda: sf.mechanisms.exponential(city, d, "2/km"),
        "weak exponential": lambda: sf.mechanisms.exponential(city, d, "1/km"),
        "randomised response": lambda: sf.mechanisms.randomised_response(city, 3.0),
    }[name]()
    rng = np.random.default_rng(11)
    secrets = rng.choice(len(city), size=100_000, p=truth.probabilities)
    reports = Reports.at(mechanism, sf.simulator(mechanism, 12).draw(secrets))
    raw = sf.transport.wasserstein(reports.counts / len(reports), truth, d).distance.value
    likeliest, nearest = maximum_likelihood(reports), least_squares(reports)
    assert likeliest.converged
    assert nearest.converged
    assert likeliest.distance_to(truth, d).distance.value < raw / 3
    assert nearest.distance_to(truth, d).distance.value < raw / 3
    assert likeliest.distance_to(truth, d).distance.value < 0.2


def test_where_much_is_blurred_early_stopping_comes_nearer(paris):
    _, truth, d = paris
    mechanism = sf.mechanisms.exponential(truth.space, d, "1/km")
    received = mechanism.marginal(truth)
    counts = np.random.default_rng(8).multinomial(100_000, received / received.sum())
    reports = Reports(mechanism, counts)
    stopped = estimate_population(reports, "early-stopped", seed=1)
    assert (
        stopped.distance_to(truth, d).distance.value
        < 0.75 * maximum_likelihood(reports).distance_to(truth, d).distance.value
    )


def test_a_file_of_places_is_released_and_estimated(paris, tmp_path, monkeypatch):
    fix_seeds(monkeypatch)
    visits, truth, d = paris
    mechanism = sf.mechanisms.exponential(truth.space, d, "8/km")
    sf.release(mechanism, visits, tmp_path / "private.parquet", outside="drop")
    reports = read_reports(mechanism, tmp_path / "private.parquet")
    assert len(reports) == int(truth.space.counts(visits).sum())
    assert maximum_likelihood(reports).distance_to(truth, d).distance.value < 0.1


def repetitions(truth, mechanism, make, weights, count=200):
    received = truth.probabilities @ mechanism.matrix
    hits = np.zeros(len(weights), dtype=int)
    for seed in range(count):
        counts = np.random.default_rng([77, seed]).multinomial(100_000, received / received.sum())
        found = make(Reports(mechanism, counts))
        hits += (found.lower <= weights @ truth.probabilities) & (weights @ truth.probabilities <= found.upper)
    return hits


@pytest.mark.slow
def test_normal_intervals_of_all_cells_cover_in_200_repetitions(paris):
    _, truth, d = paris
    mechanism = sf.mechanisms.exponential(truth.space, d, "2/km")
    cells = np.eye(len(truth))
    hits = repetitions(truth, mechanism, lambda r: unbiased_estimate(r).intervals(), cells)
    # Of 48 cells each, none may be below what has probability 1e-5 at 95 %.
    assert hits.min() >= int(binom.ppf(1e-5, 200, 0.95)), hits
    assert abs(hits.mean() / 200 - 0.95) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize("name", ["2/km", "1/km", "response"])
def test_profile_intervals_cover_in_200_repetitions(paris, name):
    _, truth, d = paris
    city = truth.space
    mechanism = (
        sf.mechanisms.randomised_response(city, 3.0)
        if name == "response"
        else sf.mechanisms.exponential(city, d, name)
    )
    x = city.coordinates
    assert x is not None
    cells = np.eye(len(truth))
    weights = np.vstack(
        [x[:, 0] < x[:, 0].mean(), cells[np.argmax(truth.probabilities)], cells[np.argmin(truth.probabilities)]]
    )
    hits = repetitions(truth, mechanism, lambda r: profile_intervals(r, weights), weights)
    assert hits.min() >= int(binom.ppf(1e-5, 200, 0.95)), hits
