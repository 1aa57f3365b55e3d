"""Attacks without a prior: unweighted, minimax, and minimax per guess."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack, kron

from ..core import AnyLoss, Bracket, Prior, Randomizer, matrix_of
from ..core.arrays import Floats, Positions
from ..errors import SolverError
from .known_prior import Attack, Minimax, evaluate, fitting, misinformed, optimal

_GAP = 1e-6  # of the largest distance
_WHOLE = 1_000_000  # coefficients of a program that is solved as a whole
_OFF = 1e-6  # how far from probabilities the solver's answer may be
_SECRETS: Final = 12  # that join in a round
_ROUNDS: Final = 1000
_ENTRIES: Final = 2**22  # products held at a time
_LEAST: Final = 1e-12  # smaller shares are the solver's rounding
_MORE_TIME: Final = "allow more time, or use fewer guesses; attacks.unweighted needs no solver."
_MILDER: Final = "use a distance whose values differ less in size; attacks.unweighted needs no solver."


class _Mixed(NamedTuple):
    """A strategy: the shares of some guesses for some reports, arrays (k,)."""

    reports: Positions
    guesses: Positions
    shares: Floats


def solve_game(
    matrix: Floats, distance: Floats, gap: float, time_limit: float | None = None
) -> tuple[Floats, Floats]:
    """Return the strategy of least largest error, array (observables, guesses), and the prior worst for all.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s), with entries of d of magnitude at most one

    The linear program has few guesses for each report and few secrets at first. Its answer is compared with all:
    secrets of the largest error join, and so does the best guess for each report under the prior. It ends when the
    strategy's guarantee is within ``gap`` of the prior's bound; `SolverError` if the time is over or the solver
    fails.

    Source:
        McMahan, Gordon and Blum, "Planning in the presence of cost functions controlled by an adversary", ICML
        2003 (the double oracle algorithm).
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
        shares, weights = _solve_part(matrix, distance, known, secrets, left)
        worst = np.zeros(len(matrix))
        worst[secrets] = weights
        best, proved = _best_guesses(matrix, distance, worst)
        used = shares > _LEAST
        tried = _Mixed(known.reports[used], known.guesses[used], shares[used])
        errors = _errors(matrix, distance, tried)
        if errors.max() < upper:
            upper, mixed = float(errors.max()), tried
        if proved > lower:
            lower, prior = proved, worst
        size = len(known.reports) + len(secrets)
        codes = np.union1d(known.reports * len(distance) + known.guesses, everyone * len(distance) + best)
        known = _Mixed(*np.divmod(codes, len(distance)), np.ones(0))
        secrets = np.union1d(secrets, _worst(errors, groups))
        if len(codes) + len(secrets) == size:
            break  # neither side has anything better
    strategy = np.zeros((len(everyone), len(distance)))
    strategy[mixed.reports, mixed.guesses] = mixed.shares
    return strategy, prior


def _worst(errors: Floats, groups: Positions) -> Positions:
    """Return some secrets of large error, at most one of those that share their most probable report."""
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


def _solve_part(
    matrix: Floats, distance: Floats, known: _Mixed, secrets: Positions, seconds: float | None
) -> tuple[Floats, Floats]:
    """Return the best shares of the known guesses for the known secrets, and the weights of these."""
    size = len(known.reports)
    errors = matrix[np.ix_(secrets, known.reports)] * distance[np.ix_(known.guesses, secrets)].T
    rows = np.hstack([errors, -np.ones((len(secrets), 1))])
    sums = csr_array((np.ones(size), (known.reports, np.arange(size))), shape=(matrix.shape[1], size))
    what = f"the prior-free attack, with {size:,} guesses at a time, was not solved"
    if seconds is not None and seconds <= 0:
        raise SolverError(f"{what}: the time is over.", _MORE_TIME)
    shares, weights = _solve_minimax(rows, sums, seconds, what)
    shares = np.maximum(shares, 0.0)
    shares /= np.bincount(known.reports, shares)[known.reports]
    weights = np.maximum(weights, 0.0)
    return shares, weights / weights.sum()


def _solve_minimax(rows: Any, sums: csr_array, seconds: float | None, failure: str) -> tuple[Floats, Floats]:
    """Return the x >= 0 with sums @ x = 1 that minimises v with rows @ (x, v) <= 0, and the dual weights."""
    cases, size = rows.shape[0], sums.shape[1]
    cost = np.zeros(size + 1)
    cost[-1] = 1.0
    result = linprog(
        cost,
        A_ub=rows,
        b_ub=np.zeros(cases),
        A_eq=hstack([sums, csr_array((sums.shape[0], 1))], format="csr"),
        b_eq=np.ones(sums.shape[0]),
        bounds=[(0.0, None)] * size + [(None, None)],
        method="highs",
        options={} if seconds is None else {"time_limit": seconds},
    )
    if result.status != 0:
        raise SolverError(f"{failure}: {result.message}", _MORE_TIME)
    return result.x[:-1], -result.ineqlin.marginals


def unweighted(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack of least summed error, in which every secret counts the same.

    The strategy minimises the sum over s, o, g of p(o|s) q(g|o) d(g, s), which is to believe in the uniform prior.
    It ignores the true prior, which averages the error. Arguments are those of `optimal`.

    Source:
        Shokri, "Privacy Games", equation 27.
    """
    mechanism = matrix_of(mechanism)
    belief = Prior.uniform(mechanism.secrets)
    return replace(misinformed(mechanism, prior, distance, belief), name="unweighted")


def prior_free(
    mechanism: Randomizer, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None
) -> Attack:
    """Return the attack whose largest expected error over all secrets is least.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s)

    The strategy is random in general, and ignores the prior, which averages ``error``. By the minimax theorem its
    value is the largest error of the optimal attack under any prior, so it is the distortion privacy of the
    mechanism for a user whose prior suits it best. ``minimax`` holds that value with its bounds, and the prior
    that attains the lower one.

    Up to a million coefficients (secrets x observables x guesses) the whole program is solved, which takes about a
    second; beyond, the parts of it that matter. The time limit is in seconds. Arguments are those of `optimal`.
    Raises `InputError` if the prior or the distance does not fit the mechanism. Raises `SolverError` if the solver
    finds no optimum, or recomputing its answer refutes it.

    Source:
        Shokri, "Privacy Games", equation 28.
    """
    mechanism = matrix_of(mechanism)
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    if mechanism.matrix.size * len(d.array) > _WHOLE:
        strategy, weights = solve_game(mechanism.matrix, d.array / scale, _GAP / 2, time_limit)
    else:
        rows = csr_array(np.hstack([row[:, None] * mechanism.matrix for row in d.array / scale]))
        strategy, weights = _solve_whole(rows, mechanism.shape[1], len(d.array), time_limit)
    attack = evaluate(mechanism, prior, d, strategy, name="prior-free")
    worst = Prior(mechanism.secrets, weights)
    upper = attack.worst_case_error
    game = Minimax(Bracket(optimal(mechanism, worst, d).error, upper, upper), worst)
    return replace(attack, minimax=_check_gap(game, scale))


def per_guess(
    mechanism: Randomizer, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None
) -> Attack:
    """Return the attack whose largest share of error in any one guess about any one secret is least.

    min over q of max over s, g of sum over o of p(o|s) q(g|o) d(g, s)

    ``minimax`` holds that value with its bounds; the attack's ``error`` and ``worst_case_error`` are the usual
    sums over guesses, and larger. The program is slower than that of `prior_free`, whose arguments it has: 50
    secrets, observables and guesses take about a second. Raises `InputError` if the prior or the distance does not
    fit the mechanism. Raises `SolverError` if the solver finds no optimum, or recomputing its answer refutes it.

    Source:
        Shokri, "Privacy Games", equation 29.
    """
    mechanism = matrix_of(mechanism)
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    rows = csr_array(block_diag([csr_array(row[:, None] * mechanism.matrix) for row in d.array / scale]))
    strategy, weights = _solve_whole(rows, mechanism.shape[1], len(d.array), time_limit)
    attack = evaluate(mechanism, prior, d, strategy, name="prior-free per guess")
    shares = (strategy.T @ mechanism.matrix.T) * d.array
    lower = ((weights.reshape(d.array.shape) * d.array) @ mechanism.matrix).min(axis=0).sum()
    upper = float(shares.max())
    return replace(attack, minimax=_check_gap(Minimax(Bracket(float(lower), upper, upper), None), scale))


def _scale(distance: Floats) -> float:
    return max(float(distance.max()), -float(distance.min())) or 1.0


def _check_gap(game: Minimax, scale: float) -> Minimax:
    if not game.value.width <= _GAP * scale:
        raise SolverError(
            f"the solver's strategy reaches {game.value.upper:.9g}, but its dual weights prove only "
            f"{game.value.lower:.9g}.",
            _MILDER,
        )
    return game


def _solve_whole(
    rows: csr_array, observables: int, guesses: int, time_limit: float | None
) -> tuple[Floats, Floats]:
    """Return the strategy, array (observables, guesses), of least largest rows @ q, and the dual weights."""
    # The variable of guess g at observable o is number g * observables + o of a row.
    sums = csr_array(kron(np.ones((1, guesses)), eye_array(observables)))
    limit = "" if time_limit is None else f" within {time_limit:g} s"
    what = f"the prior-free attack on {observables} observables with {guesses} guesses was not solved{limit}"
    with_value = hstack([rows, csr_array(-np.ones((rows.shape[0], 1)))], format="csr")
    shares, weights = _solve_minimax(with_value, sums, time_limit, what)
    return _probabilities(shares.reshape(guesses, observables).T), _probabilities(weights[None, :])[0]


def _probabilities(answer: Floats) -> Floats:
    positive = np.maximum(answer, 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    off = max(float((positive - answer).max()), float(np.abs(sums - 1.0).max()))
    if not off <= _OFF:
        raise SolverError(f"the solver's answer is off by {off:.2g} from being probabilities.", _MILDER)
    return np.asarray(positive / sums)
