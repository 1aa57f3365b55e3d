"""Intervals: ends by other routes, and how often they cover."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, chi2

import sfumato as sf
from sfumato.estimation import (
    Reports,
    bootstrap_intervals,
    estimate_population,
    maximum_likelihood,
    profile_intervals,
    unbiased_estimate,
)

from .cases import channel, collected, population, response

REPETITIONS = 200
LEAST = int(binom.ppf(1e-5, REPETITIONS, 0.95))  # so few or fewer cover with probability about 1e-5


def coverage(make, truth, weights, mechanism, total):
    hits = np.zeros(len(weights), dtype=int)
    for seed in range(REPETITIONS):
        found = make(collected(mechanism, total, 1000 + seed, truth), seed)
        hits += (found.lower <= weights @ truth) & (weights @ truth <= found.upper)
    return hits


INSIDE = np.array([0.3, 0.5, 0.2])
CELLS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 2.0]])


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda r, seed: unbiased_estimate(r).intervals(CELLS),
        lambda r, seed: profile_intervals(r, CELLS),
        pytest.param(
            lambda r, seed: bootstrap_intervals(r, CELLS, replicates=200, seed=seed), marks=pytest.mark.slow
        ),
        pytest.param(
            lambda r, seed: bootstrap_intervals(r, CELLS, method="least-squares", replicates=100, seed=seed),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["normal", "profile", "bootstrap", "bootstrap of least squares"],
)
def test_intervals_of_95_percent_cover_in_95_percent(make):
    hits = coverage(make, INSIDE, CELLS, response(3), 2000)
    assert (hits >= LEAST).all(), hits
    assert (hits < REPETITIONS).any(), "intervals that always cover are too wide to be of 95 %"


@pytest.mark.slow
def test_profile_intervals_cover_a_secret_that_nobody_has():
    truth = population(4)
    assert truth[0] == 0
    cells = np.eye(4)[:1]
    hits = coverage(lambda r, seed: profile_intervals(r, cells), truth, cells, response(4), 1000)
    assert (hits >= LEAST).all(), hits


def test_profile_ends_of_two_secrets_are_roots_of_the_likelihood():
    reports = Reports(sf.Mechanism([[0.8, 0.2], [0.3, 0.7]]), [560, 440])
    matrix = reports.mechanism.matrix

    def lost(p):
        received = np.array([p, 1 - p]) @ matrix
        best = np.array([0.56, 0.44])
        return 2 * float(reports.counts @ (np.log(best) - np.log(received))) - chi2.ppf(0.9, 1)

    middle = float(maximum_likelihood(reports).probabilities[0])
    np.testing.assert_allclose(middle, 0.52, atol=1e-6)
    found = profile_intervals(reports, [[1, 0]], failure=0.1)
    np.testing.assert_allclose(found.lower, brentq(lost, 0.2, middle), atol=2e-6)
    np.testing.assert_allclose(found.upper, brentq(lost, middle, 0.9), atol=2e-6)


@pytest.mark.parametrize("seed", range(4))
def test_no_permitted_distribution_lies_outside_a_profile_interval(seed):
    reports = collected(channel(seed, 3, 3), 150, seed)
    weights = np.random.default_rng(seed).normal(size=(4, 3))
    found = profile_intervals(reports, weights)
    side = np.linspace(0, 1, 401)
    a, b = np.meshgrid(side, side)
    grid = np.column_stack([a.ravel(), b.ravel(), 1 - a.ravel() - b.ravel()])
    grid = grid[grid[:, 2] >= 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(reports.counts > 0, reports.counts * np.log(grid @ reports.mechanism.matrix), 0.0)
    best = maximum_likelihood(reports)
    permitted = grid[terms.sum(axis=1) >= best.log_likelihood + best.gap - chi2.ppf(0.95, 1) / 2]
    values = permitted @ weights.T
    assert (values.min(axis=0) >= found.lower - 1e-12).all()
    assert (values.max(axis=0) <= found.upper + 1e-12).all()
    spread = weights.max(axis=1) - weights.min(axis=1)
    np.testing.assert_allclose(values.max(axis=0), found.upper, atol=0.02 * spread.max())
    np.testing.assert_allclose(values.min(axis=0), found.lower, atol=0.02 * spread.max())


def test_inside_all_three_agree_as_reports_become_many():
    reports = Reports(response(3), [*np.rint(1e6 * INSIDE @ response(3).matrix[:, :3]), 0])
    normal = unbiased_estimate(reports).intervals()
    profile = profile_intervals(reports)
    bootstrap = bootstrap_intervals(reports, replicates=2000, seed=1)
    np.testing.assert_allclose(profile.upper - profile.lower, normal.upper - normal.lower, rtol=5e-3)
    np.testing.assert_allclose(bootstrap.upper - bootstrap.lower, normal.upper - normal.lower, rtol=0.1)
    np.testing.assert_allclose(profile.lower, normal.lower, atol=1e-4)


def test_what_is_not_identified_has_a_wide_interval_and_its_sum_a_narrow_one():
    twins = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    found = profile_intervals(Reports(twins, [50_000, 50_000]), [[0, 1, 0], [0, 1, 1], [1, 1, 1]])
    np.testing.assert_allclose(found.lower, [0, 0.4961, 1], atol=1e-3)
    np.testing.assert_allclose(found.upper, [0.5039, 0.5039, 1], atol=1e-3)


def test_more_confidence_is_wider():
    reports = collected(response(4), 500, 4)
    narrow, wide = (profile_intervals(reports, failure=failure) for failure in (0.5, 0.01))
    assert (wide.lower <= narrow.lower).all()
    assert (wide.upper > narrow.upper).all()


def test_the_bootstrap_repeats_with_its_seed():
    reports = collected(response(4), 500, 4)
    a, b, c = (bootstrap_intervals(reports, replicates=50, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(a.lower, b.lower)
    assert not np.array_equal(a.lower, c.lower)


def test_batches_are_resampled_each_for_itself():
    batches = [collected(response(3), 400, 1, INSIDE), collected(channel(2, 3, 3), 300, 2, INSIDE)]
    together = bootstrap_intervals(batches, replicates=400, seed=1)
    normal = unbiased_estimate(batches).intervals()
    np.testing.assert_allclose(together.upper - together.lower, normal.upper - normal.lower, rtol=0.25)


@pytest.mark.parametrize(
    ("method", "intervals", "kind"),
    [
        ("maximum-likelihood", "profile", "profile-likelihood"),
        ("maximum-likelihood", "bootstrap", "bootstrap (maximum-likelihood)"),
        ("least-squares", "bootstrap", "bootstrap (least-squares)"),
        ("inversion", "normal", "normal"),
    ],
)
def test_one_verb_for_all(method, intervals, kind):
    reports = collected(response(3), 3000, 1, INSIDE)
    found = estimate_population(reports, method, intervals=intervals, seed=3)
    assert found.intervals is not None
    assert found.intervals.method == kind
    assert (found.intervals.lower < found.probabilities).all()
    assert (found.intervals.upper > found.probabilities).all()
    assert estimate_population(reports, method).intervals is None


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: estimate_population(r, "guess"), "unknown"),  # type: ignore[arg-type]
        (lambda r: estimate_population(r, "inversion", intervals="profile"), "do not go with"),
        (lambda r: estimate_population(r, intervals="bootstrap"), "seed"),
        (lambda r: estimate_population(r, "early-stopped"), "seed"),
        (lambda r: estimate_population(r, "early-stopped", intervals="profile"), "do not go with"),
        (lambda r: profile_intervals(r, failure=0.0), "is not between 0 and 1"),
        (lambda r: profile_intervals(r, [[1, 2]]), "functionals"),
        (lambda r: bootstrap_intervals(r, replicates=3, seed=1), "replicates"),
        (lambda r: bootstrap_intervals(r, method="none", seed=1), "unknown"),  # type: ignore[arg-type]
        (lambda r: maximum_likelihood(r).with_intervals(profile_intervals(r, [[1, 0, 0]])), "not for these"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(sf.errors.InputError, match=said):
        call(collected(response(3), 50, 2))
