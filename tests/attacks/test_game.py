"""The attack without a prior by parts of its program, against the whole program."""

import importlib

import numpy as np
import pytest

from sfumato import Mechanism, Prior, attacks
from sfumato.attacks.prior_free import solve_game
from sfumato.errors import SolverError

MODULE = importlib.import_module("sfumato.attacks.prior_free")
CLOSE = 3e-6


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


@pytest.mark.parametrize("seed", range(16))
def test_parts_of_the_program_have_the_value_of_the_whole(seed, monkeypatch):
    mechanism, distance = case(seed)
    prior = Prior.uniform(mechanism.secrets)
    whole = attacks.prior_free(mechanism, prior, distance)
    monkeypatch.setattr(MODULE, "_WHOLE", 0)
    parts = attacks.prior_free(mechanism, prior, distance)
    assert parts.minimax is not None
    assert parts.worst_case_error == pytest.approx(whole.worst_case_error, abs=CLOSE)
    assert parts.minimax.value.lower <= whole.worst_case_error + 1e-9
    assert parts.minimax.value.width <= CLOSE


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
