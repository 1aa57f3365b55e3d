"""The number of updates that held-out reports favour, against trying every number."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.estimation import Reports, bayesian_updates, cross_validated_updates, estimate_population
from sfumato.estimation.population import _deal
from sfumato.estimation.reports import pool_reports

from .cases import collected, response

LINE = sf.Space.numbers(range(8))
BLUR = sf.mechanisms.geometric(LINE, 0.4)


def held_out_likelihood(reports, folds, seed, updates):
    """Fold by fold, each an estimate of its own."""
    held = _deal(pool_reports(reports), folds, np.random.default_rng(seed))
    total = 0.0
    for fold in held:
        rest = Reports(reports.mechanism, reports.counts - fold)
        received = bayesian_updates(rest, updates).probabilities @ reports.mechanism.matrix
        total += sum(n * np.log(q) for n, q in zip(fold, received, strict=True) if n)
    return total


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_best_of_all_numbers_that_it_tries(seed):
    reports = collected(BLUR, 400, seed, np.array([0, 0.3, 0.3, 0.2, 0.1, 0.1, 0, 0]))
    found = cross_validated_updates(reports, folds=5, most=40, seed=seed)
    values = {k: held_out_likelihood(reports, 5, seed, k) for k in range(1, 41)}
    best = max(values, key=values.__getitem__)
    assert abs(found - best) <= 0.2 * best + 1
    np.testing.assert_allclose(values[found], values[best], atol=0.02)


def test_folds_are_dealt_evenly_and_are_all_the_reports():
    pool = pool_reports(collected(response(), 103, 1))
    held = _deal(pool, 10, np.random.default_rng(1))
    np.testing.assert_array_equal(held.sum(axis=0), pool.counts)
    assert set(held.sum(axis=1).tolist()) == {10, 11}


def test_little_blur_takes_few_updates_and_truth_told_hardly_any():
    told = collected(sf.Mechanism(np.eye(4)), 1000, 1)
    assert cross_validated_updates(told, seed=1) <= 2
    found = estimate_population(told, "early-stopped", seed=1)
    np.testing.assert_allclose(found.probabilities, told.counts / 1000, atol=1e-12)


@pytest.mark.parametrize(
    "options",
    [{"folds": 1}, {"folds": 51}, {"most": 0}, {"patience": 1.0}, {"seed": -1}],
)
def test_what_makes_no_sense_is_refused(options):
    with pytest.raises(sf.errors.InputError, match="choose nothing"):
        cross_validated_updates(collected(response(), 50, 1), **{"seed": 1, **options})
