"""The additive capacity under one gain against enumeration: of sets of secrets, and of strategies."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import InputError
from sfumato.leakage import additive_capacity, additive_g_capacity, g_vulnerability, prior_g_vulnerability

from .channels import cases, line, maps, symmetric


def by_sets(matrix):
    """The largest additive Bayes leakage: of an even prior on some set of secrets."""
    n = len(matrix)
    sets = (list(each) for size in range(1, n + 1) for each in itertools.combinations(range(n), size))
    return max((matrix[each].max(axis=0).sum() - 1) / len(each) for each in sets)


def by_strategies(matrix, gain):
    """The largest additive leakage: over priors, for the best of all maps from reports to guesses."""
    n, m = matrix.shape
    best = -np.inf
    for guesses in maps(m, len(gain)):
        worth = sum(matrix[:, o] * gain[g] for o, g in enumerate(guesses))
        found = linprog(
            np.append(-worth, 1.0),
            A_ub=np.hstack([gain, -np.ones((len(gain), 1))]),
            b_ub=np.zeros(len(gain)),
            A_eq=[[1.0] * n + [0.0]],
            b_eq=[1.0],
            bounds=[(0, 1)] * n + [(None, None)],
        )
        best = max(best, -found.fun)
    return best


@settings(max_examples=15)
@given(cases(largest=4))
def test_the_bayes_vulnerability_by_sets(case):
    mechanism, _ = case
    found = additive_g_capacity(mechanism, np.eye(len(mechanism.secrets)))
    assert found.value.value == pytest.approx(by_sets(mechanism.matrix), abs=1e-6)
    assert found.value.width <= 1e-5


@settings(max_examples=10)
@given(cases(largest=3), st.integers(0, 1000))
def test_any_gain_by_strategies(case, seed):
    mechanism, prior = case
    rng = np.random.default_rng(seed)
    gain = rng.normal(size=(rng.integers(1, 4), len(prior))) * 10.0 ** rng.integers(-2, 3)
    span = float(np.ptp(gain, axis=0).max()) or 1.0
    found = additive_g_capacity(mechanism, gain)
    assert found.value.value == pytest.approx(by_strategies(mechanism.matrix, gain), abs=1e-5 * span)
    assert found.value.width <= 1e-5 * span
    attained = g_vulnerability(mechanism, found.prior, gain) - prior_g_vulnerability(found.prior, gain)
    assert attained == pytest.approx(found.value.lower, abs=1e-9 * span)
    here = g_vulnerability(mechanism, prior, gain) - prior_g_vulnerability(prior, gain)
    assert here <= found.value.upper + 1e-9 * span


def test_closed_forms():
    # A deterministic channel with k reports: one secret for each of them, evenly.
    merged = sf.Mechanism(np.eye(3)[[0, 0, 1, 2, 2, 2]])
    found = additive_g_capacity(merged, np.eye(6))
    assert found.value.value == pytest.approx(1 - 1 / 3, abs=1e-9)
    assert np.sort(found.prior.probabilities)[-3:] == pytest.approx(1 / 3, abs=1e-6)
    # Two secrets: the even prior, and half their total variation.
    assert additive_g_capacity(symmetric(2, 0.1), np.eye(2)).value.value == pytest.approx(0.4, abs=1e-9)
    # A distance on the line, with a perfect report: half the diameter, from the ends.
    found = additive_g_capacity(sf.Mechanism(np.eye(4)), -line(4))
    assert found.value.value == pytest.approx(1.5, abs=1e-6)


def test_a_gain_without_choice_leaks_nothing():
    for gain in ([[1.0, -2.0]], [[3.0, 3.0], [3.0, 3.0]]):
        assert additive_g_capacity(symmetric(2, 0.1), gain).value.upper == 0


def test_stopped_at_once_it_still_bounds():
    rng = np.random.default_rng(3)
    mechanism = sf.Mechanism(rng.dirichlet(np.ones(7), 7))
    found = additive_g_capacity(mechanism, np.eye(7), time_limit=1e-3)
    best = by_sets(mechanism.matrix)
    assert found.value.lower - 1e-9 <= best <= found.value.upper + 1e-6
    assert found.value.upper <= additive_capacity(mechanism).value.value + 1e-12


def test_what_is_refused():
    with pytest.raises(InputError, match="time limit"):
        additive_g_capacity(symmetric(3, 0.5), np.eye(3), time_limit=0.0)
    with pytest.raises(InputError, match="the gain"):
        additive_g_capacity(symmetric(3, 0.5), np.eye(4))
    with pytest.raises(InputError, match="entries"):
        additive_g_capacity(symmetric(60, 0.5), np.eye(60))
