"""Attackers without a prior: unweighted, minimax, and minimax per guess."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import block_diag, csr_array, eye_array, hstack, kron

from ..core import AnyLoss, Bracket, Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import SolverError
from .attack import Attack, Minimax, evaluate, fitting
from .game import solve_game
from .informed import misinformed
from .known_prior import optimal

_GAP = 1e-6  # of the largest distance
_WHOLE = 1_000_000  # coefficients of a program that is solved as a whole
_OFF = 1e-6  # how far from probabilities the solver's answer may be


@checked
def unweighted(mechanism: Mechanism, prior: Prior, distance: AnyLoss) -> Attack:
    """Return the attack of least summed error, every secret counting the same.

    The strategy minimises the sum over s, o, g of p(o|s) q(g|o) d(g, s), which is to
    believe in the uniform prior.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which the error is averaged; the strategy ignores it.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.

    Source:
        Shokri, "Privacy Games", equation 27.
    """
    belief = Prior.uniform(mechanism.secrets)
    return replace(misinformed(mechanism, prior, distance, belief), name="unweighted")


@checked
def prior_free(
    mechanism: Mechanism, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None
) -> Attack:
    """Return the attack whose largest expected error over all secrets is least.

    min over q of max over s of sum over o, g of p(o|s) q(g|o) d(g, s)

    The strategy is random in general. By the minimax theorem its value is the largest
    error of the optimal attack under any prior, so it is the distortion privacy that
    the mechanism offers to a user whose prior suits it best. ``minimax`` holds that
    value with its bounds, and the prior that attains the lower one.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which ``error`` is averaged; the strategy ignores it.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        time_limit: Seconds that the solver may take. Up to a million coefficients
            (secrets x observables x guesses) the whole program is solved, which takes
            about a second; beyond, the parts of it that matter.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.
        SolverError: If the solver finds no optimum, or its answer does not stand up to
            being recomputed.

    Source:
        Shokri, "Privacy Games", equation 28.
    """
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    if mechanism.matrix.size * len(d.array) > _WHOLE:
        strategy, weights = solve_game(mechanism.matrix, d.array / scale, _GAP / 2, time_limit)
    else:
        rows = csr_array(np.hstack([row[:, None] * mechanism.matrix for row in d.array / scale]))
        strategy, weights = _solve(rows, mechanism.shape[1], len(d.array), time_limit)
    attack = evaluate(mechanism, prior, d, strategy, name="prior-free")
    worst = Prior(mechanism.secrets, weights)
    upper = attack.worst_case_error
    found = Minimax(Bracket(optimal(mechanism, worst, d).error, upper, upper), worst)
    return replace(attack, minimax=_proved(found, scale))


@checked
def per_guess(mechanism: Mechanism, prior: Prior, distance: AnyLoss, *, time_limit: float | None = None) -> Attack:
    """Return the attack whose largest share of error in any one guess about any one secret is least.

    min over q of max over s, g of sum over o of p(o|s) q(g|o) d(g, s)

    ``minimax`` holds that value with its bounds; the attack's ``error`` and
    ``worst_case_error`` are the usual sums over guesses, and larger.

    Args:
        mechanism: The mechanism that is attacked.
        prior: The true prior, by which ``error`` is averaged; the strategy ignores it.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.
        time_limit: Seconds that the solver may take. The program is slower than that of
            `prior_free`: 50 secrets, observables and guesses take about a second.

    Raises:
        InputError: If the prior or the distance does not fit the mechanism.
        SolverError: If the solver finds no optimum, or its answer does not stand up to
            being recomputed.

    Source:
        Shokri, "Privacy Games", equation 29.
    """
    d = fitting(mechanism, prior, distance)
    scale = _scale(d.array)
    rows = csr_array(block_diag([csr_array(row[:, None] * mechanism.matrix) for row in d.array / scale]))
    strategy, weights = _solve(rows, mechanism.shape[1], len(d.array), time_limit)
    attack = evaluate(mechanism, prior, d, strategy, name="prior-free per guess")
    shares = (strategy.T @ mechanism.matrix.T) * d.array
    lower = ((weights.reshape(d.array.shape) * d.array) @ mechanism.matrix).min(axis=0).sum()
    upper = float(shares.max())
    return replace(attack, minimax=_proved(Minimax(Bracket(float(lower), upper, upper), None), scale))


def _scale(distance: Floats) -> float:
    return max(float(distance.max()), -float(distance.min())) or 1.0


def _proved(found: Minimax, scale: float) -> Minimax:
    gap = found.value.width
    if not gap <= _GAP * scale:
        raise SolverError(
            f"the solver's strategy reaches {found.value.upper:.9g}, but its dual weights prove only "
            f"{found.value.lower:.9g}.",
            "use a distance whose values differ less in size; attacks.unweighted needs no solver.",
        )
    return found


def _solve(rows: csr_array, observables: int, guesses: int, time_limit: float | None) -> tuple[Floats, Floats]:
    """Return the strategy q that minimises the largest entry of rows @ q, and the dual weights.

    Args:
        rows: Sparse array (cases, guesses * observables), entries of magnitude at most
            one; the variable of guess g at observable o is number g * observables + o.
        observables: How many observables there are.
        guesses: How many guesses there are.
        time_limit: Seconds, or None.

    Returns:
        The strategy, array (observables, guesses), and the weights of the cases, array
        (cases,). Both are probabilities: rounding of the solver below 1e-6 is removed,
        so values must be recomputed from them.

    Raises:
        SolverError: If there is no optimum, or it is not made of probabilities.
    """
    cases = rows.shape[0]
    cost = np.zeros(guesses * observables + 1)
    cost[-1] = 1.0
    sums = kron(np.ones((1, guesses)), eye_array(observables))
    result = linprog(
        cost,
        A_ub=hstack([rows, csr_array(-np.ones((cases, 1)))], format="csr"),
        b_ub=np.zeros(cases),
        A_eq=hstack([sums, csr_array((observables, 1))], format="csr"),
        b_eq=np.ones(observables),
        bounds=[(0.0, None)] * (guesses * observables) + [(None, None)],
        method="highs",
        options={} if time_limit is None else {"time_limit": time_limit},
    )
    if result.status != 0:
        limit = "" if time_limit is None else f" within {time_limit:g} s"
        raise SolverError(
            f"the prior-free attack on {observables} observables with {guesses} guesses was not solved"
            f"{limit}: {result.message}",
            "allow more time, or use fewer guesses; attacks.unweighted needs no solver.",
        )
    strategy = result.x[:-1].reshape(guesses, observables).T
    return _probabilities(strategy), _probabilities(-result.ineqlin.marginals[None, :])[0]


def _probabilities(found: NDArray[np.float64]) -> Floats:
    positive = np.maximum(found, 0.0)
    sums = positive.sum(axis=1, keepdims=True)
    off = max(float((positive - found).max()), float(np.abs(sums - 1.0).max()))
    if not off <= _OFF:
        raise SolverError(
            f"the solver's answer is off by {off:.2g} from being probabilities.",
            "use a distance whose values differ less in size; attacks.unweighted needs no solver.",
        )
    probabilities: Floats = positive / sums
    return probabilities
