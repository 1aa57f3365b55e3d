"""The least vulnerability under metric privacy: a game about distortion, solved as such.

An adversary who guesses the class x errs on the secret w with the probability 1 - P(x|w). With these errors as
distances of "guesses" x from secrets w, the error of the best attack is

    sum over z of min over x of sum over w of P(w) p(z|w) (1 - P(x|w)) = 1 - V(p),

so the mechanism of least Bayes vulnerability is that of most distortion privacy, and the strategy, the price of
the loss and the prices of the rows are the same in both. The bound is proved again from them and P(x, w) itself.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from ...core import Loss, Mechanism, Prior
from ...core.arrays import Floats
from ...evidence import relative_gap
from ..design import design_private
from ..solver import Control, OnProgress, Progress, Status
from .finish import Found
from .problem import SensitiveProblem

_SHARE: Final = 0.5  # of the wanted gap: the rest is for rounding to integers


def least_private(problem: SensitiveProblem, control: Control) -> tuple[Mechanism, Found]:
    """Return a private mechanism of least vulnerability, and the prices that prove how near it is.

    Raises:
        InfeasibleError: If no mechanism with the guarantees keeps the bound; the message says the least loss.
        SolverError: If there is no answer within the time.
    """
    weights, joint = problem.weights, problem.joint
    right = np.divide(joint, weights, out=np.zeros_like(joint), where=weights > 0)
    errors = Loss(np.maximum(1.0 - right, 0.0), name="chance of a wrong guess")
    blind = float(problem.classes.max())
    most = max(1.0 - blind, problem.negligible)
    told = control.progress
    found = design_private(
        Prior(problem.secrets, weights),
        loss=problem.loss,
        distance=errors,
        max_loss=problem.max_loss - problem.rounding,
        guarantees=problem.guarantees,
        observables=problem.observables,
        gap=min(_SHARE, _SHARE * control.gap * max(blind, problem.negligible) / most),
        time_limit=control.remaining if math.isfinite(control.deadline) else math.inf,
        stop=control.stop,
        progress=None if told is None else _turned(problem, told),
    )
    status = Status.INACCURATE if found.status is Status.OPTIMAL else found.status
    log = tuple(_of_vulnerability(problem, step) for step in found.log)
    prices = None if found.optimality is None else found.optimality.multipliers
    if prices is None or prices.guesses is None:
        blindly: Floats = np.tile(problem.classes[:, None], (1, len(problem.observables)))
        return found.mechanism, Found(blindly, 0.0, status, log)
    rows = replace(prices, guesses=None, loss=0.0)
    return found.mechanism, Found(prices.guesses, prices.loss, status, log, rows)


def _turned(problem: SensitiveProblem, told: OnProgress) -> OnProgress:
    return lambda step: told(_of_vulnerability(problem, step))


def _of_vulnerability(problem: SensitiveProblem, step: Progress) -> Progress:
    """Return a line of progress of the adversary's error as one of their success."""
    if step.coarse:
        return step
    value, bound = 1.0 - step.value, 1.0 - step.bound
    gap = relative_gap(value, bound, problem.negligible) if math.isfinite(value) else math.inf
    return replace(step, value=value, bound=bound, gap=gap)
