"""From rows and prices to a mechanism in integers and a proved bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...core import Mechanism, units
from ...core.arrays import Floats, readonly
from ...errors import InfeasibleError
from ...evidence import relative_gap
from ...evidence.sensitive import (
    class_error_below,
    class_information_above_bits,
    class_information_bound_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
)
from ..solver import Progress, Status
from .problem import VULNERABILITY, SensitiveProblem
from .program import LeakProgram
from .result import SensitiveDesign

_DROPPED = (2.0**-26, 1e-10, 0.0)  # probabilities that are left out, if that costs nothing that counts


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The result of the steps: rows for possible secrets, and the prices of the best bound.

    Attributes:
        rows: Array (n, m), p(z|w) of possible secrets.
        guesses: Array (k, m), the strategy for possible classes.
        price: The price of the loss, in its own unit.
        status: How the steps ended.
        log: The progress.
    """

    rows: Floats
    guesses: Floats
    price: float
    status: Status
    log: tuple[Progress, ...]


def finished(
    problem: SensitiveProblem, program: LeakProgram, found: Found, gap: float, seconds: float
) -> SensitiveDesign:
    """Quantise the rows and prove what was found.

    Raises:
        InfeasibleError: If the loss of the mechanism cannot be proved to keep a bound
            that leaves no room above the least possible loss.
    """
    strategy = np.zeros((len(problem.classes), len(problem.observables)))
    strategy[program.kept] = found.guesses
    prove = class_vulnerability_bound if problem.objective == VULNERABILITY else class_information_bound_bits
    bound = prove(problem.joint, problem.loss.array, problem.max_loss, strategy, found.price)
    best: tuple[float, float, Mechanism] | None = None
    for mechanism in _candidates(problem, program, found.rows):
        loss = class_loss_above(mechanism, problem.joint, problem.loss.array)
        if loss > problem.max_loss:
            least = loss
            continue
        value = _leak(problem, mechanism)
        if best is None or value < best[0]:
            best = value, loss, mechanism
        if relative_gap(value, bound, problem.negligible) <= gap:
            break
    if best is None:
        unit = problem.loss.unit
        raise InfeasibleError(
            f"no mechanism can be proved to lose at most {units.show(problem.max_loss, unit)} on average: "
            f"the least that can be proved is {units.show(least, unit)} ({least:.17g}).",
            "allow at least that much, or add observables that lose less.",
        )
    value, loss, mechanism = best
    status = found.status
    if status in (Status.OPTIMAL, Status.INACCURATE):
        reached = relative_gap(value, bound, problem.negligible) <= gap
        status = Status.OPTIMAL if reached else Status.INACCURATE
    return SensitiveDesign(
        mechanism,
        problem,
        status,
        value,
        bound,
        class_vulnerability_above(mechanism, problem.joint),
        class_error_below(mechanism, problem.joint),
        class_information_above_bits(mechanism, problem.joint),
        loss,
        readonly(strategy),
        found.price,
        found.log,
        seconds,
    )


def _leak(problem: SensitiveProblem, mechanism: Mechanism) -> float:
    if problem.objective == VULNERABILITY:
        return class_vulnerability_above(mechanism, problem.joint)
    return class_information_above_bits(mechanism, problem.joint)


def _candidates(problem: SensitiveProblem, program: LeakProgram, rows: Floats) -> Iterator[Mechanism]:
    """Yield mechanisms of these rows, the first without the tiny probabilities of an interior answer."""
    for threshold in _DROPPED:
        kept = program.within(np.where(rows < threshold, 0.0, rows))
        # Nothing is known of a secret that never occurs: its report reveals as little as possible.
        everyone = problem.weights[program.rows] @ kept
        matrix = np.tile(everyone / everyone.sum(), (len(problem.secrets), 1))
        matrix[program.rows] = kept
        yield Mechanism(matrix, problem.secrets, problem.observables)
