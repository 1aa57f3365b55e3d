"""The game between an attacker without a prior and a prior, solved with few of its guesses and secrets."""

from __future__ import annotations

import time
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from ..core.arrays import Floats
from ..errors import SolverError

_SECRETS: Final = 12  # that join in a round
_ROUNDS: Final = 1000
_ENTRIES: Final = 2**22  # products held at a time
_LEAST: Final = 1e-12  # smaller shares are the solver's rounding

Positions = NDArray[np.intp]


class GameAnswer(NamedTuple):
    """Strategies of both sides; how good they are must be found again from them.

    Attributes:
        strategy: q(guess|o), array (observables, guesses).
        prior: Array (secrets,).
    """

    strategy: Floats
    prior: Floats


class _Mixed(NamedTuple):
    """A strategy: the shares of some guesses, arrays (k,), and of which reports they are."""

    reports: Positions
    guesses: Positions
    shares: Floats


def solve_game(matrix: Floats, distance: Floats, gap: float, time_limit: float | None = None) -> GameAnswer:
    """Return the strategy of least largest error, and the prior that is worst for every strategy.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s)

    The linear program has few guesses for each report and few secrets at first. Its answer is held against all:
    secrets at which the strategy errs most join, and so does the best guess for each report under the prior. It
    ends when what the strategy guarantees is near what the prior proves.

    Args:
        matrix: Array (secrets, observables), p(o|s).
        distance: Array (guesses, secrets), entries of magnitude at most one.
        gap: How near the two must be.
        time_limit: Seconds; None for no limit.

    Raises:
        SolverError: If the time is over, or the solver fails.

    Source:
        McMahan, Gordon and Blum, "Planning in the presence of cost functions controlled by an adversary",
        ICML 2003 (the double oracle algorithm).
    """
    started, everyone = time.monotonic(), np.arange(matrix.shape[1])
    groups = matrix.argmax(axis=1)
    prior = np.full(len(matrix), 1 / len(matrix))
    best, lower = _best_guesses(matrix, distance, prior)
    mixed = _Mixed(everyone, best, np.ones(len(everyone)))
    errors = _errors(matrix, distance, mixed)
    upper = float(errors.max())
    known = _Mixed(everyone, best, np.ones(0))
    secrets = _worst(errors, groups)
    for _ in range(_ROUNDS):
        if upper - lower <= gap:
            break
        left = None if time_limit is None else time_limit - (time.monotonic() - started)
        shares, weights = _solved(matrix, distance, known, secrets, left)
        found = np.zeros(len(matrix))
        found[secrets] = weights
        best, proved = _best_guesses(matrix, distance, found)
        used = shares > _LEAST
        tried = _Mixed(known.reports[used], known.guesses[used], shares[used])
        errors = _errors(matrix, distance, tried)
        if errors.max() < upper:
            upper, mixed = float(errors.max()), tried
        if proved > lower:
            lower, prior = proved, found
        size = len(known.reports) + len(secrets)
        codes = np.union1d(known.reports * len(distance) + known.guesses, everyone * len(distance) + best)
        known = _Mixed(*np.divmod(codes, len(distance)), np.ones(0))
        secrets = np.union1d(secrets, _worst(errors, groups))
        if len(codes) + len(secrets) == size:
            break  # neither side has anything better
    strategy = np.zeros((len(everyone), len(distance)))
    strategy[mixed.reports, mixed.guesses] = mixed.shares
    return GameAnswer(strategy, prior)


def _worst(errors: Floats, groups: Positions) -> Positions:
    """Return some secrets of large error, at most one of those that share their likeliest report."""
    order = np.argsort(-errors, kind="stable")
    _, first = np.unique(groups[order], return_index=True)
    return np.unique(order[np.sort(first)[:_SECRETS]])


def _best_guesses(matrix: Floats, distance: Floats, prior: Floats) -> tuple[Positions, float]:
    """Return the guess of least error for each report under a prior, array (observables,), and that error."""
    likely = np.flatnonzero(prior > 0)
    joint = prior[likely, None] * matrix[likely]
    errors = distance[:, likely] @ joint
    best = errors.argmin(axis=0)
    return best, float(np.take_along_axis(errors, best[None], axis=0).sum())


def _errors(matrix: Floats, distance: Floats, mixed: _Mixed) -> Floats:
    """Return the expected error of a strategy at each secret, array (secrets,)."""
    errors, size = np.zeros(len(matrix)), max(1, _ENTRIES // len(matrix))
    for begin in range(0, len(mixed.shares), size):
        part = slice(begin, begin + size)
        weights = matrix[:, mixed.reports[part]].T * mixed.shares[part, None]
        errors += np.einsum("gs,gs->s", weights, distance[mixed.guesses[part]])
    return errors


def _solved(
    matrix: Floats, distance: Floats, known: _Mixed, secrets: Positions, seconds: float | None
) -> tuple[Floats, Floats]:
    """Return the best shares of the known guesses for the known secrets, and the weights of these."""
    if seconds is not None and seconds <= 0:
        raise _unsolved(known, "the time is over.")
    size = len(known.reports)
    rows = matrix[np.ix_(secrets, known.reports)] * distance[np.ix_(known.guesses, secrets)].T
    cost = np.zeros(size + 1)
    cost[-1] = 1.0
    shape = matrix.shape[1], size + 1
    result = linprog(
        cost,
        A_ub=np.hstack([rows, -np.ones((len(secrets), 1))]),
        b_ub=np.zeros(len(secrets)),
        A_eq=csr_array((np.ones(size), (known.reports, np.arange(size))), shape=shape),
        b_eq=np.ones(matrix.shape[1]),
        bounds=[(0.0, None)] * size + [(None, None)],
        method="highs",
        options={} if seconds is None else {"time_limit": seconds},
    )
    if result.status != 0:
        raise _unsolved(known, str(result.message))
    shares = np.maximum(result.x[:-1], 0.0)
    shares /= np.bincount(known.reports, shares)[known.reports]
    weights = np.maximum(-result.ineqlin.marginals, 0.0)
    return shares, weights / weights.sum()


def _unsolved(known: _Mixed, why: str) -> SolverError:
    return SolverError(
        f"the prior-free attack, with {len(known.reports):,} guesses at a time, was not solved: {why}",
        "allow more time, or use fewer guesses; attacks.unweighted needs no solver.",
    )
