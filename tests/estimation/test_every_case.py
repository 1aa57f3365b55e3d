"""Every mechanism of the catalogue can be estimated through, whatever was received."""

import numpy as np
import pytest

from sfumato.estimation import (
    Reports,
    bootstrap_intervals,
    identifiability,
    least_squares,
    maximum_likelihood,
    profile_intervals,
    unbiased_estimate,
)

from ..catalogue import CASES


def received(case, total, seed):
    chances = case.mechanism.marginal(case.prior)
    return Reports(case.mechanism, np.random.default_rng(seed).multinomial(total, chances / chances.sum()))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("total", [1, 300])
def test_all_estimates_are_sound(case, total):
    reports = received(case, total, 5)
    known = identifiability(reports)
    likeliest, nearest = maximum_likelihood(reports), least_squares(reports)
    for found in (likeliest, nearest):
        assert found.converged
        np.testing.assert_allclose(found.prior.probabilities.sum(), 1, atol=1e-12)
    assert likeliest.log_likelihood >= nearest.log_likelihood - likeliest.gap - 1e-9
    profile = profile_intervals(reports)
    bootstrap = bootstrap_intervals(reports, replicates=20, seed=1)
    told = np.array([known.identifies(row) for row in np.eye(len(known.secrets))])
    p = likeliest.probabilities
    assert (profile.lower <= p + 1e-9)[told].all()
    assert (profile.upper >= p - 1e-9)[told].all()
    assert (profile.lower >= 0).all()
    assert (profile.upper <= 1).all()
    assert (bootstrap.lower <= bootstrap.upper).all()
    if known.complete:
        inverse = unbiased_estimate(reports).estimate.probabilities
        if (inverse >= 0).all():
            np.testing.assert_allclose(nearest.probabilities, inverse, atol=1e-6)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_truth_of_many_reports_is_within_its_interval(case):
    reports = received(case, 20_000, 6)
    found = profile_intervals(reports, failure=1e-7)
    assert (found.lower <= case.prior.probabilities).all()
    assert (case.prior.probabilities <= found.upper).all()
