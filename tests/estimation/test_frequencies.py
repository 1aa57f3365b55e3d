"""Frequencies from supporting reports: exact coverage, exact variance, and real draws of every family."""

import numpy as np
import pytest
from scipy.stats import binom

import sfumato as sf
from sfumato.estimation import Reports, support_estimate, unbiased_estimate
from sfumato.mechanisms import LocalHashing, RandomisedResponse, SubsetSelection, UnaryEncoding

SPACE = sf.Space("abcdef")
ORACLES = [
    RandomisedResponse(SPACE, 1.5),
    UnaryEncoding(SPACE, 1.5, "symmetric"),
    UnaryEncoding(SPACE, 1.5, "optimised"),
    LocalHashing(SPACE, 1.5),
    SubsetSelection(SPACE, 1.5),
]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
def test_real_draws_give_the_frequencies_within_their_variance(oracle):
    reporters = np.repeat(np.arange(6), [0, 4800, 3600, 2400, 1080, 120])
    drawn = sf.sampler(oracle).draw(reporters)
    found = support_estimate(oracle, oracle.support_counts(drawn), len(reporters))
    truth = np.bincount(reporters, minlength=6) / len(reporters)
    errors = np.sqrt([oracle.estimate_variance(f, len(reporters)) for f in truth])
    assert (np.abs(found.probabilities - truth) < 7 * errors).all()  # by chance: 1e-10 (binomial, 30 shares)


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: oracle.name)
@pytest.mark.parametrize("frequency", [0.0, 0.03, 0.4, 1.0])
def test_mean_variance_and_coverage_over_all_counts(oracle, frequency):
    total = 40
    p, q = oracle.support
    chance = binom.pmf(np.arange(total + 1), total, q + frequency * (p - q))
    estimates, covered = np.empty(total + 1), np.empty(total + 1, dtype=bool)
    for hits in range(total + 1):
        found = support_estimate(oracle, [hits] * 6, total, failure=0.1)
        assert found.intervals is not None
        estimates[hits] = found.probabilities[0]
        covered[hits] = found.intervals.lower[0] <= frequency <= found.intervals.upper[0]
    np.testing.assert_allclose(chance @ estimates, frequency, atol=1e-12)
    variance = chance @ (estimates - frequency) ** 2
    drawn = oracle.estimate_variance(frequency, total) + frequency * (1 - frequency) / total
    np.testing.assert_allclose(variance, drawn, rtol=1e-9)
    assert chance @ covered >= 0.9 - 1e-9
    assert found.intervals is not None
    assert found.intervals.exact


def test_for_randomised_response_it_is_the_inverse():
    oracle = ORACLES[0]
    reports = Reports(oracle.mechanism(), [10, 50, 20, 20, 5, 15])
    found = support_estimate(oracle, reports.counts, len(reports))
    np.testing.assert_allclose(found.probabilities, unbiased_estimate(reports).estimate.probabilities, atol=1e-8)


@pytest.mark.parametrize(
    ("counts", "reports"),
    [([1, 2, 3], 10), ([1, 2, 3, 4, 5, 11], 10), ([0.5] * 6, 10), ([-1] * 6, 10), ([0] * 6, 0)],
)
def test_counts_that_are_none_are_refused(counts, reports):
    with pytest.raises(sf.errors.InputError):
        support_estimate(ORACLES[1], counts, reports)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("oracle", "drawn"),
    [
        (ORACLES[1], np.full((3, 5), 1)),
        (ORACLES[1], np.full((3, 6), 2)),
        (ORACLES[3], np.zeros((3, 2), dtype=int)),
        (ORACLES[0], np.array([6])),
        (ORACLES[0], np.array([-1])),
        (ORACLES[3], np.array([[1, 0, 5]])),
        (ORACLES[4], np.zeros((0, 2), dtype=int)),
        (ORACLES[0], np.array([[1], [2]])),
        (ORACLES[0], ["a"]),
    ],
)
def test_reports_of_another_family_are_refused(oracle, drawn):
    with pytest.raises(sf.errors.InputError):
        oracle.support_counts(drawn)
