"""A private mechanism in closed form, for where no solver has an answer, with a bound that is always known.

Tried are the best constant report and the exponential mechanism at half the exponents with
the best report for what it reveals; without metric privacy, the cheapest report of every
secret. The dual game mixes the two up to its limit of the loss.
"""

from __future__ import annotations

import numpy as np

from ..core import Mechanism
from ..core.arrays import Floats
from ..mechanisms import made_private
from ..mechanisms.repair import joined
from ..proofs import Multipliers
from .problem import DISTORTION, WORST_CASE, Problem
from .solver import Answer, Status, objective_of, proved_bound

_ROOM = 1e-9  # left for rounding


def fallback(problem: Problem, status: Status, why: str) -> Answer | None:
    """Return the better closed form that keeps what is asked, or None if neither keeps the limit of the loss.

    Args:
        problem: The problem.
        status: How the solver ended.
        why: Why there is no better answer, for the report.
    """
    constant, telling = _constant(problem), _telling(problem)
    candidates = {"exponential mechanism" if problem.exponents is not None else "cheapest reports": telling}
    if problem.objective == DISTORTION:
        candidates["mixture with a constant report"] = _mixed(problem, telling, constant)
    else:
        candidates["constant report"] = constant
    prices = plain_prices(problem)
    bound = proved_bound(problem, prices)
    sign = -1.0 if problem.objective == DISTORTION else 1.0
    answers = []
    distance = problem.distance.array if problem.distance is not None and problem.minimum > 0 else None
    for name, matrix in candidates.items():
        # Their ratios are within by construction; only the distortion may lack something.
        kept, share = made_private(
            matrix, None, prior=problem.prior.probabilities, distance=distance, minimum=problem.minimum
        )
        value = objective_of(problem, kept)
        answers.append(Answer(kept, share, value, bound, status, (), f"closed form: {name} ({why})", prices))
    usable = [answer for answer in answers if answer.usable]
    return min(usable, key=lambda answer: sign * answer.value) if usable else None


def standing_in(problem: Problem, mechanism: Mechanism) -> Answer:
    """Return a mechanism of least loss as the answer to a game whose limit leaves no room for another one."""
    prices = plain_prices(problem)
    matrix = mechanism.matrix
    value, bound = objective_of(problem, matrix), proved_bound(problem, prices)
    name = "design of least loss (its limit leaves no room for more distortion)"
    return Answer(matrix, 0.0, value, bound, Status.INACCURATE, (), name, prices, mechanism=mechanism)


def _constant(problem: Problem) -> Floats:
    n, m = problem.shape
    loss = problem.loss.array
    costs = loss.max(axis=0) if problem.objective == WORST_CASE else problem.prior.probabilities @ loss
    matrix = np.zeros((n, m))
    matrix[:, int(np.argmin(costs))] = 1.0
    return matrix


def _telling(problem: Problem) -> Floats:
    n, m = problem.shape
    loss, prior = problem.loss.array, problem.prior.probabilities
    if problem.exponents is None:
        closest = np.zeros((n, m))
        closest[np.arange(n), loss.argmin(axis=1)] = 1.0
        return closest
    seen = np.exp(-joined(problem.exponents) * (0.5 - _ROOM))
    seen /= seen.sum(axis=1, keepdims=True)
    weights = np.full(n, 1.0 / n) if problem.objective == WORST_CASE else prior
    best = ((seen * weights[:, None]).T @ loss).argmin(axis=1)
    matrix = np.zeros((n, m))
    np.add.at(matrix.T, best, seen.T)
    return matrix


def _mixed(problem: Problem, telling: Floats, constant: Floats) -> Floats:
    """Return the mixture whose loss is just below the limit; mixtures of private mechanisms are private."""
    weighted = problem.prior.probabilities[:, None] * problem.loss.array
    low, high = float((weighted * telling).sum()), float((weighted * constant).sum())
    room = (problem.max_loss - low) * (1 - _ROOM)
    if room <= 0:
        return telling
    share = 1.0 if high - low <= room else room / (high - low)
    return (1 - share) * telling + share * constant


def plain_prices(problem: Problem) -> Multipliers:
    """Return prices of the worst secret alone, or of the best guess without a report."""
    none, nothing = np.empty(0, dtype=np.intp), np.empty(0)
    guesses = worst = None
    if problem.objective == WORST_CASE:
        worst = np.zeros(problem.shape[0])
        worst[int(np.argmax(problem.loss.array.min(axis=1)))] = 1.0
    if problem.objective == DISTORTION and problem.distance is not None:
        distance = problem.distance.array
        guesses = np.zeros((len(distance), problem.shape[1]))
        guesses[int(np.argmin(distance @ problem.prior.probabilities))] = 1.0
    return Multipliers(none, none, none, nothing, nothing, guesses, worst)
