"""The interior point of the attack without a prior, against the whole program."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato import Mechanism, Prior, attacks
from sfumato.attacks.prior_free import solve_game
from sfumato.errors import SolverError

SOLVED = 1e-7


def case(seed):
    """A mechanism that is not square, often with a report that nobody makes, and distances that often tie."""
    rng = np.random.default_rng(seed)
    n, m, guesses = rng.integers(1, 9, size=3)
    rows = rng.dirichlet(np.full(m, 0.5), size=n)
    if seed % 2 and m > 1:
        rows[:, 0] = 0
        rows /= rows.sum(axis=1, keepdims=True)
    distance = rng.integers(0, 4, size=(guesses, n)) / 4 if seed % 3 else rng.random((guesses, n))
    return Mechanism(rows), distance


def whole_program(matrix, distance):
    """The least largest error, by HiGHS: shares of all guesses for all reports, and the value."""
    guesses, observables = len(distance), matrix.shape[1]
    errors = np.hstack([row[:, None] * matrix for row in distance])
    sums = np.tile(np.eye(observables), (1, guesses))
    solution = linprog(
        np.append(np.zeros(sums.shape[1]), 1.0),
        A_ub=np.hstack([errors, -np.ones((len(matrix), 1))]),
        b_ub=np.zeros(len(matrix)),
        A_eq=np.hstack([sums, np.zeros((observables, 1))]),
        b_eq=np.ones(observables),
        bounds=[(0, None)] * sums.shape[1] + [(None, None)],
    )
    return solution.fun


@pytest.mark.parametrize("seed", range(40))
def test_the_value_is_that_of_the_whole_program(seed):
    mechanism, distance = case(seed)
    game = attacks.prior_free(mechanism, Prior.uniform(mechanism.secrets), distance).minimax
    assert game is not None
    value = whole_program(mechanism.matrix, distance)
    assert game.value.lower - SOLVED <= value <= game.value.upper + SOLVED
    assert game.value.width <= 2e-8


@pytest.mark.parametrize("reports", [1, 3])
def test_many_secrets_and_few_reports(reports):
    # Most secrets are eliminated before the others.
    rng = np.random.default_rng(reports)
    mechanism = Mechanism(rng.dirichlet(np.full(reports, 0.5), size=700))
    distance = rng.random((20, 700))
    strategy, prior = solve_game(mechanism.matrix, distance, 1e-8)
    errors = (mechanism.matrix * (strategy @ distance).T).sum(axis=1)
    proved = (distance @ (prior[:, None] * mechanism.matrix)).min(axis=0).sum()
    assert errors.max() <= proved + 1e-8
    assert errors.max() == pytest.approx(whole_program(mechanism.matrix, distance), abs=SOLVED)


def test_a_lattice_of_some_size_needs_few_guesses():
    at = np.stack(np.meshgrid(np.arange(12), np.arange(12)), axis=-1).reshape(-1, 2)
    d = np.hypot(*(at[:, None] - at[None]).transpose(2, 0, 1))
    rows = np.exp(-0.4 * d[:, ::5])
    mechanism = Mechanism(rows / rows.sum(axis=1, keepdims=True))
    strategy, prior = solve_game(mechanism.matrix, d / d.max(), 1e-6)
    errors = (mechanism.matrix * (strategy @ (d / d.max())).T).sum(axis=1)
    proved = (d / d.max() @ (prior[:, None] * mechanism.matrix)).min(axis=0).sum()
    assert proved <= errors.max() <= proved + 1e-6
    assert np.count_nonzero(strategy) < 4 * mechanism.shape[1]


def test_no_time_is_told():
    mechanism, distance = case(3)
    with pytest.raises(SolverError, match="allow more time"):
        solve_game(mechanism.matrix, distance, -1.0, time_limit=0.0)
