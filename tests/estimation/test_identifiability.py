"""Identifiability: ranks, twins, and changes that nothing shows."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import hamming
from sfumato.estimation import (
    Reports,
    bootstrap_intervals,
    estimate_population,
    identifiability,
    maximum_likelihood,
    unbiased_estimate,
)

from ..catalogue import CASES
from .cases import channel, response


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_rank_is_that_of_the_matrix_and_hidden_changes_change_nothing(case):
    found = identifiability(case.mechanism)
    assert found.rank == np.linalg.matrix_rank(case.mechanism.matrix)
    assert found.null_space.shape == (len(found.secrets) - found.rank, len(found.secrets))
    np.testing.assert_allclose(found.null_space @ case.mechanism.matrix, 0, atol=1e-12)
    np.testing.assert_allclose(found.null_space.sum(axis=1), 0, atol=1e-12)
    assert found.complete == (not found.unidentified_secrets)


def test_twins_are_told_as_a_sum_only():
    case = next(case for case in CASES if case.name == "two names of one place")
    found = identifiability(case.mechanism)
    assert found.twins == (("s0", "s1"), ("s2", "s3"))
    assert found.unidentified_secrets == ("s0", "s1", "s2", "s3")
    assert found.identifies([1, 1, 0, 0])
    assert not found.identifies([1, 0, 0, 0])
    assert "do not settle 4 of the 4 shares" in str(found)


def test_fewer_observables_than_secrets_without_twins():
    mechanism = sf.Mechanism([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]])
    found = identifiability(mechanism)
    assert (found.rank, found.twins, found.condition) == (2, (), np.inf)
    assert found.identifies([0.8, 0.5, 0.2])
    counts = [500, 500]
    a = maximum_likelihood(Reports(mechanism, counts)).probabilities
    other = a + 0.1 * found.null_space[0] / np.abs(found.null_space[0]).max()
    assert other.min() >= 0
    np.testing.assert_allclose(a @ mechanism.matrix, other @ mechanism.matrix, atol=1e-12)


def test_a_second_mechanism_can_tell_what_the_first_hides():
    twins = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    other = sf.Mechanism([[0.1, 0.9], [0.1, 0.9], [0.9, 0.1]])
    assert not identifiability(twins).complete
    assert not identifiability(other).complete
    assert identifiability([Reports(twins, [5, 5]), Reports(other, [5, 5])]).complete


def test_the_condition_is_that_of_the_matrix():
    mechanism = response(5, 0.3)
    np.testing.assert_allclose(identifiability(mechanism).condition, np.linalg.cond(mechanism.matrix), rtol=1e-9)
    assert "All 5" in str(identifiability(mechanism))
    assert "is 50 points for about" in str(identifiability(mechanism))


def test_other_secrets_are_refused():
    with pytest.raises(sf.errors.InputError, match="different secrets"):
        identifiability([Reports(channel(1), [1] * 5 + [0]), Reports(channel(1, 3), [1] * 5 + [0])])


def test_reports_that_are_never_made_identify_nothing():
    # Of 12 reports 3 are used; the others have what a repair leaves, yet nearly all rows are independent.
    random = np.random.default_rng(3)
    likely = np.hstack([random.dirichlet(np.ones(3), 12), np.zeros((12, 9))])
    rest = np.hstack([np.zeros((12, 3)), random.dirichlet(np.ones(9), 12)])
    mechanism = sf.Mechanism((1 - 1e-12) * likely + 1e-12 * rest)
    assert np.linalg.matrix_rank(mechanism.matrix, tol=1e-18) == 11
    found = identifiability(mechanism)
    assert (found.rank, found.frequent_reports, found.reports) == (3, 3, 12)
    assert "Only 3 of 12 different reports are made in practice" in str(found)
    assert "they do not settle 12 of the 12 shares" in str(found)
    # The reports identify no single probability: another distribution gives the same likely reports.
    assert len(found.unidentified_secrets) == 12


@pytest.mark.parametrize("told", [0.55, 0.75, 1.0])
def test_the_least_number_of_reports_through_a_coin(told):
    # A share is (f - q) / (p - q): its variance is at most 1 / (4 n (p - q)^2), 1/4 from n = (p - q)^-2 on.
    coin = sf.Mechanism([[told, 1 - told], [1 - told, told]])
    found = identifiability(coin)
    assert found.least_reports == pytest.approx((2 * told - 1) ** -2, rel=1e-9)
    twice = [Reports(coin, [1, 1 if told < 1 else 0])] * 2
    assert identifiability(twice).least_reports == pytest.approx(found.least_reports, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_the_least_number_of_reports_holds_for_every_population(seed):
    mechanism = channel(seed, 3, 4)
    found = identifiability(mechanism)
    matrix = mechanism.matrix
    right = unbiased_estimate(Reports(mechanism, [9] * 4 + [0])).right
    np.testing.assert_allclose(matrix @ right, np.eye(3), atol=1e-9)
    populations = np.random.default_rng(seed).dirichlet(np.full(3, 0.3), 500)
    variances = populations @ matrix @ right**2 - populations**2
    assert 0.3 * found.least_reports / 4 < variances.max() <= found.least_reports / 4
    assert not found.doubt(round(found.least_reports) + 1)
    assert "mostly noise" in found.doubt(1)


def test_what_is_not_identified_takes_any_number_of_reports():
    twins = identifiability(sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]]))
    assert twins.least_reports == np.inf
    assert not twins.doubt(9)  # the finding itself says more


def near() -> sf.Mechanism:
    """Sixteen bins of ages, all but two of whose reports are left over from a solver's interior."""
    bins = sf.NumberBins(18, 5, 16)
    found: sf.Mechanism = sf.design(
        sf.Prior.uniform(bins), loss=bins.metric("absolute"), guarantees=sf.MetricPrivacy(1, hamming(bins))
    ).mechanism
    return found


def test_intervals_of_noise_say_that_all_is_possible():
    mechanism = near()
    found = identifiability(mechanism)
    assert found.complete
    assert found.least_reports > 1e9
    received = np.zeros(16, dtype=int)
    received[np.argsort(mechanism.matrix.max(axis=0))[-2:]] = 480, 520
    for counts in (received, received + 1):
        reports = Reports(mechanism, counts)
        sure = unbiased_estimate(reports).intervals()
        assert (sure.lower <= 0).all()
        assert (sure.upper >= 1).all()
        assert "mostly noise" in found.doubt(len(reports))
        again = bootstrap_intervals(reports, replicates=20, seed=1)
        assert (again.lower.tolist(), again.upper.tolist()) == ([0.0] * 16, [1.0] * 16)
        # The half that is older is known, however the single bins are not.
        older = unbiased_estimate(reports).intervals([[0] * 8 + [1] * 8, [1] * 16])
        assert older.upper[0] - older.lower[0] <= 1
        assert (older.lower[1], older.upper[1]) == (1, 1)


@pytest.mark.parametrize("method", ["maximum-likelihood", "least-squares"])
def test_shares_of_twins_are_unsettled_by_every_method_that_invents_them(method):
    twins = sf.Mechanism([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9]])
    reports = Reports(twins, [300, 700])
    assert identifiability(twins).unsettled_shares(estimate_population(reports, method)) == {1, 2}
    smooth = estimate_population(reports, "early-stopped", seed=1)
    assert identifiability(twins).unsettled_shares(smooth) == frozenset()
