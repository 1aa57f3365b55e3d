"""Attacks without a prior: unweighted, minimax, and minimax per guess."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky, solve_triangular
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack, kron

from .._system import single_blas_thread
from ..core import AnyLoss, Bracket, Prior, Randomizer, matrix_of
from ..core.arrays import Floats, Positions
from ..errors import SolverError
from .known_prior import Attack, Minimax, evaluate, fitting, misinformed_attack, optimal

_GAP = 1e-6  # of the largest distance
_OFF = 1e-6  # how far from probabilities the solver's answer may be
_CLOSE: Final = 1e-8  # gap of programs with at most _FEW coefficients, of the largest distance
_FEW: Final = 1_000_000
_STEPS: Final = 200
_STEP: Final = 0.9  # of the way to the border
_GUESSES: Final = 4  # for each report at first; twice as many after a slow step
_SLOW: Final = 0.9  # of the gap is left
_DROPPED: Final = 0.05  # largest share that is dropped
_JOINING: Final = 0.1  # largest share of a guess that joins
_NEAR: Final = 2.0  # margin, in parts of the mean product, at which a guess joins
_SECRETS: Final = 500  # up to which all are solved for at once
_LEAST: Final = 0.01  # of the gap that the next mean product leaves
_TINY: Final = 1e-300
_MORE_TIME: Final = "allow more time, or use fewer guesses; attacks.unweighted_attack needs no solver."
_MILDER: Final = "use a distance whose values differ less in size; attacks.unweighted_attack needs no solver."


class _Mixture(NamedTuple):
    """A strategy: the shares of some guesses for some reports, arrays (k,)."""

    reports: Positions
    guesses: Positions
    shares: Floats


def solve_game(
    matrix: Floats, distance: Floats, gap: float, time_limit: float | None = None
) -> tuple[Floats, Floats]:
    """Return the strategy of least largest error, array (observables, guesses), and the prior worst for all.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s), with entries of d of magnitude at most one

    The strategy's largest error and the prior's least error bound the value. They are within ``gap`` of each other
    unless rounding stops the method. Raises `SolverError` if the time is over.

    Source:
        Mehrotra, "On the implementation of a primal-dual interior point method", SIAM J. Optimization 1992, with
        guesses that join and leave.
    """
    start = time.monotonic()
    point = _InteriorPoint(matrix, distance)
    for _ in range(_STEPS):
        if point.upper - point.lower <= gap:
            break
        if time_limit is not None and time.monotonic() - start >= time_limit:
            raise SolverError("the prior-free attack was not solved: the time is over.", _MORE_TIME)
        before = point.upper - point.lower
        try:
            with single_blas_thread(), np.errstate(all="ignore"):
                point.advance()
        except LinAlgError:
            break  # the best bounds so far may suffice
        if point.upper - point.lower > _SLOW * before:
            point.most *= 2
    strategy = np.zeros((matrix.shape[1], len(distance)))
    mixture, prior = point.strategy, point.worst
    strategy[mixture.reports, mixture.guesses] = mixture.shares
    return strategy, prior


class _InteriorPoint:
    """A strategy and a prior inside their simplices, moved towards a saddle point of the expected error.

    Every report has a level that is below the expected error of all its guesses under the prior, and the value is
    above the error of all secrets. The products of shares and margins, and of probabilities and slacks, stay near
    their mean, which falls.
    """

    def __init__(self, matrix: Floats, distance: Floats) -> None:
        secrets, observables = matrix.shape
        self.matrix, self.distance, self.columns = matrix, distance, np.ascontiguousarray(matrix.T)
        self.prior = np.full(secrets, 1 / secrets)
        self.costs = distance @ (self.prior[:, None] * matrix)
        self.mixture = _Mixture(np.arange(observables), self.costs.argmin(axis=0), np.ones(observables))
        self.errors = self.columns * distance[self.mixture.guesses]
        self.upper, self.lower = np.inf, -np.inf
        self._record()
        self.mean = (self.upper - self.lower) / (secrets + observables)
        self.value = self.upper + secrets * self.mean
        self.slack = self.value - self.errors.sum(axis=0)
        self.levels = self.costs.min(axis=0) - self.mean
        self.ahead = self.costs - self.levels
        self.most = _GUESSES

    def _record(self) -> None:
        """Store the strategy and the prior if they are the best so far."""
        reports, guesses, shares = self.mixture
        shares = shares / np.bincount(reports, shares)[reports]
        upper, lower = float((shares @ self.errors).max()), float(self.costs.min(axis=0).sum() / self.prior.sum())
        if upper < self.upper:
            self.upper, self.strategy = upper, _Mixture(reports, guesses, shares)
        if lower > self.lower:
            self.lower, self.worst = lower, self.prior / self.prior.sum()

    def _choose_guesses(self) -> None:
        """Drop guesses of least share, and let one join for each report that stopped the step or soon might."""
        reports, guesses, shares = self.mixture
        order = np.lexsort((-shares, reports))
        sizes = np.bincount(reports)
        rank = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        large = shares[order] >= min(_DROPPED, self.upper - self.lower) * _GUESSES / self.most
        order = order[(rank == 0) | large & (rank < self.most)]
        margins = self.costs - self.levels
        self.ahead[guesses[order], reports[order]] = np.inf
        columns = np.arange(len(sizes))
        best = self.ahead.argmin(axis=0)
        near = margins[best, columns]
        joins = (self.ahead[best, columns] < 0) | (near < _NEAR * self.mean)
        joins &= np.isfinite(self.ahead[best, columns])
        reports = np.append(reports[order], columns[joins])
        guesses = np.append(guesses[order], best[joins])
        shares = np.append(shares[order], np.minimum(self.mean / near[joins], _JOINING))
        self.mixture = _Mixture(reports, guesses, shares / np.bincount(reports, shares)[reports])
        self.errors = self.columns[reports]
        self.errors *= self.distance[guesses]

    def advance(self) -> None:
        """Take a step of Mehrotra's predictor and corrector."""
        self._choose_guesses()
        reports, guesses, shares = self.mixture
        margins = (self.costs - self.levels)[guesses, reports]
        size = len(shares) + len(self.prior)
        self.mean = float(shares @ margins + self.prior @ self.slack) / size
        direction = self._factor(margins)
        dq, _, dw, dp, _, dz = direction(np.zeros(len(shares)), np.zeros(len(self.prior)))
        primal = min(_reach(shares, dq), _reach(self.slack, dw))
        dual = min(_reach(self.prior, dp), _reach(margins, dz))
        left = (shares + primal * dq) @ (margins + dual * dz)
        left += (self.prior + dual * dp) @ (self.slack + primal * dw)
        target = self.mean * float(left / size / self.mean) ** 3
        target = max(target, min(self.mean, _LEAST * (self.upper - self.lower) / size))
        dq, dv, dw, dp, dy, dz = direction(target - dq * dz, target - dp * dw)
        changes = self.distance @ (dp[:, None] * self.matrix)
        rates = changes - dy
        primal = min(_reach(shares, dq), _reach(self.slack, dw))
        known = min(_reach(self.prior, dp), _reach(margins, dz))
        dual = min(known, _reach(self.costs - self.levels, rates))
        if not np.isfinite(primal + dual):
            raise LinAlgError
        self.mixture = _Mixture(reports, guesses, shares + primal * dq)
        self.value += primal * dv
        self.slack = self.slack + primal * dw
        self.prior = self.prior + dual * dp
        self.levels = self.levels + dual * dy
        self.costs += dual * changes
        self.ahead = self.costs - self.levels + known * rates
        self._record()

    def _factor(self, margins: Floats) -> Callable[[Floats, Floats], tuple[Any, ...]]:
        """Return the solution of Newton's equations for the products that shares and probabilities should have.

        Its changes are those of shares, value, slack, prior, levels and margins. The matrix is diagonal but for as
        many dimensions as reports have guesses after the first.
        """
        reports, _, shares = self.mixture
        weights, ratios = shares / margins, self.slack / self.prior
        sums = np.bincount(reports, weights)
        order = np.lexsort((weights, reports))
        last = np.cumsum(np.bincount(reports)) - 1
        first, rest = order[last], np.delete(order, last)
        owners = reports[rest]
        # Square root of the matrix diag(w) - w w'/sum(w) of a report's weights but the largest.
        units = np.sqrt(weights[rest] / sums[owners])
        factors = 1 / (1 + np.sqrt(weights[first] / sums))
        rows = self.errors[rest]
        rows -= self.errors[first[owners]]
        rows *= np.sqrt(weights[rest])[:, None]
        mixing = csr_array((units, (owners, np.arange(len(rest)))), shape=(len(sums), len(rest)))
        rows -= (factors[owners] * units)[:, None] * (mixing @ rows)[owners]
        # A multiple of the square of the prior's sum, which changes nothing else, makes the system regular.
        solve = _solve_system(np.vstack([rows, np.ones(len(ratios))]), ratios)
        ones = solve(np.ones(len(ratios)))

        def direction(of_shares: Floats, of_prior: Floats) -> tuple[Any, ...]:
            new = of_shares / margins
            missing = 1 - np.bincount(reports, new)
            right = (new + weights * (missing / sums)[reports]) @ self.errors + of_prior / self.prior - self.value
            short = 1 - self.prior.sum()
            dp = solve(right + short)
            dv = (dp.sum() - short) / ones.sum()
            dp -= dv * ones
            dc = self.errors @ dp
            dy = (np.bincount(reports, weights * dc) + missing) / sums
            dz = dc - dy[reports]
            return new - shares - weights * dz, dv, of_prior / self.prior - self.slack - ratios * dp, dp, dy, dz

        return direction


def _solve_system(rows: Floats, diagonal: Floats) -> Callable[[Floats], Floats]:
    """Return the solution of (rows' rows + diagonal) x = right, as a function of the right side.

    Columns of large diagonal elements are eliminated first if there are many more than rows.
    """
    size = max(_SECRETS, 2 * len(rows))
    if len(diagonal) <= size:
        system = rows.T @ rows
        system[np.diag_indices(len(system))] += diagonal
        whole = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        return lambda right: np.asarray(cho_solve(whole, right, check_finite=False))
    order = np.argpartition(diagonal, size)
    small, large = order[:size], order[size:]
    free, spare = rows[:, large], diagonal[large]
    inner = cholesky((free / spare) @ free.T + np.eye(len(rows)), lower=True, check_finite=False)
    product = solve_triangular(inner, rows[:, small], lower=True, check_finite=False)
    outer = _solve_system(product, diagonal[small])

    def solve(right: Floats) -> Floats:
        solution = np.empty(len(right))
        first = solve_triangular(inner, free @ (right[large] / spare), lower=True, check_finite=False)
        solution[small] = outer(right[small] - product.T @ first)
        second = first + product @ solution[small]
        second = solve_triangular(inner, second, lower=True, trans=1, check_finite=False)
        solution[large] = (right[large] - free.T @ second) / spare
        return solution

    return solve


def _reach(position: Floats, change: Floats) -> float:
    """Return how far to go along a change, at most one, so that a tenth of each positive number is left."""
    return min(1.0, _STEP / max(float((-change / position).max()), _TINY))


def unweighted_attack(mechanism: Randomizer, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack of least summed error, in which every secret counts the same.

    The strategy minimises the sum over s, o, g of p(o|s) q(g|o) d(g, s), which is to believe in the uniform prior.
    It ignores the true prior, which averages the error. Arguments are those of `optimal`.

    Source:
        Shokri, "Privacy Games", equation 27.
    """
    mechanism = matrix_of(mechanism)
    belief = Prior.uniform(mechanism.secrets)
    return replace(misinformed_attack(mechanism, prior, distance, belief), name="unweighted")


def prior_free(
    mechanism: Randomizer, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None
) -> Attack:
    """Return the attack whose largest expected error over all secrets is least.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s)

    The strategy is random in general, and ignores the prior, which averages ``error``. By the minimax theorem its
    value is the largest error of the optimal attack under any prior, so it is the distortion privacy of the
    mechanism for a user whose prior suits it best. ``minimax`` holds that value with its bounds, and the prior
    that attains the lower one.

    A thousand secrets, observables and guesses take a few seconds. The time limit is in seconds. Arguments are
    those of `optimal`. Raises `InputError` if the prior or the distance does not fit the mechanism. Raises
    `SolverError` if the time is over, or recomputing the answer refutes it.

    Source:
        Shokri, "Privacy Games", equation 28.
    """
    mechanism = matrix_of(mechanism)
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    gap = _CLOSE if mechanism.matrix.size * len(d.array) <= _FEW else _GAP / 2
    strategy, weights = solve_game(mechanism.matrix, d.array / scale, gap, time_limit)
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
    # The variable of guess g at observable o is number g * observables + o of a row; the last one is the value.
    cases, size = rows.shape
    sums = csr_array(kron(np.ones((1, guesses)), eye_array(observables)))
    result = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=hstack([rows, csr_array(-np.ones((cases, 1)))], format="csr"),
        b_ub=np.zeros(cases),
        A_eq=hstack([sums, csr_array((observables, 1))], format="csr"),
        b_eq=np.ones(observables),
        bounds=[(0.0, None)] * size + [(None, None)],
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if result.status != 0:
        limit = "" if time_limit is None else f" within {time_limit:g} s"
        text = f"the prior-free attack on {observables} observables with {guesses} guesses was not solved{limit}"
        raise SolverError(f"{text}: {result.message}", _MORE_TIME)
    shares, weights = result.x[:-1], -result.ineqlin.marginals
    return _probabilities(shares.reshape(guesses, observables).T), _probabilities(weights[None, :])[0]


def _probabilities(answer: Floats) -> Floats:
    positive = np.maximum(answer, 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    off = max(float((positive - answer).max()), float(np.abs(sums - 1.0).max()))
    if not off <= _OFF:
        raise SolverError(f"the solver's answer is off by {off:.2g} from being probabilities.", _MILDER)
    return np.asarray(positive / sums)
