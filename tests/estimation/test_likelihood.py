"""Maximum likelihood against a general optimiser, closed forms, and its own bound."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

import sfumato as sf
from sfumato.estimation import Reports, bayesian_updates, estimators, maximum_likelihood, unbiased_estimate
from sfumato.estimation.estimators import fit
from sfumato.estimation.reports import pool_reports

from .cases import channel, collected, population, response


def log_likelihood(batches, p):
    """The sum of logarithms, written out."""
    total = 0.0
    for reports in batches:
        received = p @ reports.mechanism.matrix
        total += sum(n * np.log(q) for n, q in zip(reports.counts, received, strict=True) if n)
    return total


def by_slsqp(batches):
    """The largest log-likelihood that scipy's general optimiser finds, from several starts."""
    n = batches[0].mechanism.shape[0]
    total = sum(len(batch) for batch in batches)
    best = -np.inf
    for seed in range(3):
        start = np.random.default_rng(seed).dirichlet(np.ones(n))
        found = minimize(
            lambda p: -log_likelihood(batches, np.maximum(p, 1e-12)) / total,
            start,
            method="SLSQP",
            bounds=[(0, 1)] * n,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            options={"ftol": 1e-13, "maxiter": 500},
        )
        p = np.maximum(found.x, 0)
        best = max(best, log_likelihood(batches, p / p.sum()))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_it_reaches_what_a_general_optimiser_reaches(seed):
    reports = collected(channel(seed), 300, seed)
    found = maximum_likelihood(reports)
    other = by_slsqp([reports])
    assert found.converged
    assert found.gap <= 1e-6
    assert other <= found.log_likelihood + found.gap + 1e-9
    np.testing.assert_allclose(found.log_likelihood, other, atol=2e-4)
    np.testing.assert_allclose(found.log_likelihood, log_likelihood([reports], found.probabilities), rtol=1e-12)


def test_batches_through_several_mechanisms_are_one_likelihood():
    batches = [collected(channel(1), 150, 1), collected(response(), 400, 2)]
    found = maximum_likelihood(batches)
    assert found.reports == 550
    assert found.gap <= 1e-6
    np.testing.assert_allclose(found.log_likelihood, by_slsqp(batches), atol=2e-4)
    np.testing.assert_allclose(found.log_likelihood, log_likelihood(batches, found.probabilities), rtol=1e-12)


@given(st.integers(0, 10**6), st.integers(1, 40))
def test_no_distribution_is_better_by_more_than_the_gap(seed, iterations):
    reports = collected(channel(seed), 100, seed)
    found = bayesian_updates(reports, iterations)
    others = np.random.default_rng(seed).dirichlet(np.full(4, 0.5), size=30)
    best = max(log_likelihood([reports], other) for other in others)
    best = max(best, maximum_likelihood(reports).log_likelihood)
    assert best <= found.log_likelihood + found.gap + 1e-9


def test_an_update_is_the_published_formula():
    reports = collected(channel(3), 200, 3)
    matrix, f = reports.mechanism.matrix, reports.counts / len(reports)
    start = sf.Prior(reports.mechanism.secrets, [0.1, 0.2, 0.3, 0.4])
    p = start.probabilities
    for _ in range(3):
        joint = p[:, None] * matrix
        p = np.array([sum(f[o] * joint[s, o] / joint[:, o].sum() for o in range(5)) for s in range(4)])
    np.testing.assert_allclose(bayesian_updates(reports, 3, start).probabilities, p, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_plain_updates_never_lose_likelihood(seed):
    reports = collected(channel(seed, 6, 8), 500, seed)
    values = [bayesian_updates(reports, k).log_likelihood for k in (1, 2, 5, 20, 100)]
    assert (np.diff(values) >= -1e-9).all()


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("size", "total"), [(10, 1_000), (40, 1_000), (10, 100_000)])
def test_accelerated_updates_never_lose_likelihood_and_get_further(size, total):
    """Cases in which unguarded extrapolation loses up to 12 nats."""
    line = sf.Space.numbers(range(size))
    reports = collected(sf.mechanisms.geometric(line, 0.2), total, 1)
    pool = pool_reports(reports)
    seen = pool.counts > 0
    start = np.full((1, size), 1 / size)
    fits = [
        fit(pool.matrix[:, seen], pool.frequencies[None, seen], start, np.zeros(1), budget)
        for budget in range(1, 200, 3)
    ]
    values = [pool.log_likelihood(fit.probabilities[0]) for fit in fits]
    assert (np.diff(values) >= -1e-9).all()
    assert values[-1] > bayesian_updates(reports, 200).log_likelihood


def test_many_fits_at_once_are_each_as_if_alone():
    reports = collected(channel(8), 400, 8)
    pool = pool_reports(reports)
    rng = np.random.default_rng(1)
    many = rng.multinomial(400, pool.frequencies, size=5) / 400
    together = estimators.fit_pool(pool, many, 1e-9, 2_000)
    assert (together.gaps <= 1e-9).all()
    for row, p in zip(many, together.probabilities, strict=True):
        alone = maximum_likelihood(Reports(reports.mechanism, np.rint(row * 400)))
        np.testing.assert_allclose(pool.matrix.T @ p, pool.matrix.T @ alone.probabilities, atol=2e-4)


def test_truth_told_is_counted():
    found = maximum_likelihood(Reports(sf.Mechanism(np.eye(3)), [6, 0, 4]))
    np.testing.assert_allclose(found.probabilities, [0.6, 0, 0.4], atol=1e-7)


def test_where_the_inverse_is_a_distribution_it_is_the_likeliest():
    reports = Reports(response(3), [300, 400, 300, 0])
    inverse = unbiased_estimate(reports).estimate
    assert (inverse.probabilities > 0).all()
    np.testing.assert_allclose(maximum_likelihood(reports).probabilities, inverse.probabilities, atol=1e-6)


def test_newton_finishes_what_updates_would_take_for_ever():
    line = sf.Space.numbers(range(40))
    reports = collected(sf.mechanisms.geometric(line, 0.2), 100_000, 1, population(40))
    found = maximum_likelihood(reports)
    assert found.gap <= 1e-6
    assert found.iterations < 200
    assert bayesian_updates(reports, 2_000).gap > 0.1
    assert found.log_likelihood >= bayesian_updates(reports, 2_000).log_likelihood


def test_without_newton_an_estimate_cut_short_says_so(monkeypatch):
    monkeypatch.setattr(estimators, "_NEWTON", 0)
    reports = collected(channel(5), 1000, 5)
    short = maximum_likelihood(reports, max_updates=4)
    full = maximum_likelihood(reports)
    assert not short.converged
    assert "NOT converged" in repr(short)
    assert full.converged
    assert full.log_likelihood <= short.log_likelihood + short.gap


def test_it_finds_the_truth_from_many_reports():
    truth = population(4)
    exact = Reports(response(), np.rint(1e12 * truth @ response().matrix))
    np.testing.assert_allclose(maximum_likelihood(exact).probabilities, truth, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: maximum_likelihood(r, tolerance=0), "tolerance"),
        (lambda r: maximum_likelihood([]), "no reports"),
        (lambda r: bayesian_updates(r, 0), "iterations"),
        (lambda r: bayesian_updates(r, 5, sf.Prior(r.mechanism.secrets, [0, 0.5, 0.25, 0.25])), "impossible"),
        (lambda r: maximum_likelihood([r, collected(channel(1, 3), 10, 1)]), "different secrets"),
    ],
)
def test_what_makes_no_sense_is_refused(call, said):
    with pytest.raises(sf.errors.InputError, match=said):
        call(collected(channel(2), 50, 2))
