"""Identifiability: ranks, twins, and changes that nothing shows."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.releases.estimate import Reports, identifiability, maximum_likelihood

from ...catalogue import CASES
from .cases import channel, response


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_rank_is_that_of_the_matrix_and_hidden_changes_change_nothing(case):
    found = identifiability(case.mechanism)
    assert found.rank == np.linalg.matrix_rank(case.mechanism.matrix)
    assert found.hidden.shape == (len(found.secrets) - found.rank, len(found.secrets))
    np.testing.assert_allclose(found.hidden @ case.mechanism.matrix, 0, atol=1e-12)
    np.testing.assert_allclose(found.hidden.sum(axis=1), 0, atol=1e-12)
    assert found.complete == (not found.unidentified)


def test_twins_are_told_as_a_sum_only():
    case = next(case for case in CASES if case.name == "two names of one place")
    found = identifiability(case.mechanism)
    assert found.twins == (("s0", "s1"), ("s2", "s3"))
    assert found.unidentified == ("s0", "s1", "s2", "s3")
    assert found.identifies([1, 1, 0, 0])
    assert not found.identifies([1, 0, 0, 0])
    assert "2 of 4" in str(found)


def test_fewer_observables_than_secrets_without_twins():
    mechanism = sf.Mechanism([[0.8, 0.2], [0.5, 0.5], [0.2, 0.8]])
    found = identifiability(mechanism)
    assert (found.rank, found.twins, found.condition) == (2, (), np.inf)
    assert found.identifies([0.8, 0.5, 0.2])
    counts = [500, 500]
    a = maximum_likelihood(Reports(mechanism, counts)).probabilities
    other = a + 0.1 * found.hidden[0] / np.abs(found.hidden[0]).max()
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
    assert "all 5" in str(identifiability(mechanism))


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
    assert (found.rank, found.seen, found.reports) == (3, 3, 12)
    assert "Only 3 of 12 different reports are made in practice" in str(found)
    assert "identify 3 of 12 independent combinations" in str(found)
    # The reports identify no single probability: another distribution gives the same likely reports.
    assert len(found.unidentified) == 12
