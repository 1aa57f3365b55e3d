"""From candidates and prices to a mechanism in integers and a proved bound."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ...core import Mechanism, Prior, units
from ...core.arrays import Floats, readonly
from ...errors import InfeasibleError
from ...proofs import Multipliers, prove_guarantees, relative_gap
from ...proofs.sensitive import (
    class_error_below,
    class_information_above_bits,
    class_information_bound_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
)
from ..solver import Progress, Status
from .problem import VULNERABILITY, LeakProgram, SensitiveDesign, SensitiveProblem

_DROPPED = (2.0**-26, 1e-10, 0.0)  # probabilities that are left out, if that costs nothing that counts


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The prices of the best bound that was found, and how the work ended.

    Attributes:
        strategy: Array (classes, m), the weights of the adversary's guesses.
        price: The price of the loss, in its own unit.
        status: How the work ended.
        log: The progress.
        rows: The prices of the rows of metric privacy; None where none is asked for.
    """

    strategy: Floats
    price: float
    status: Status
    log: tuple[Progress, ...]
    rows: Multipliers | None = None


def finished(
    problem: SensitiveProblem, candidates: Iterable[Mechanism], found: Found, gap: float, seconds: float
) -> SensitiveDesign:
    """Prove what was found, of the first mechanism within the gap or else of the one that leaks least.

    Raises:
        InfeasibleError: If no mechanism can be proved to keep the bound of the loss: it leaves no room
            above the least possible loss.
    """
    bound = _bound(problem, found)
    best: tuple[float, float, Mechanism] | None = None
    for mechanism in candidates:
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
            "no mechanism with these reports can be proved to lose at most "
            f"{units.show(problem.max_loss, unit)} on average: "
            f"the least that can be proved is {units.show(least, unit)} ({least:.17g}).",
            "allow at least that much, or add observables that lose less.",
        )
    value, loss, mechanism = best
    status = found.status
    if status in (Status.OPTIMAL, Status.INACCURATE):
        reached = relative_gap(value, bound, problem.negligible) <= gap
        status = Status.OPTIMAL if reached else Status.INACCURATE
    privacy, _ = prove_guarantees(mechanism, Prior(problem.secrets, problem.weights), problem.guarantees)
    return SensitiveDesign(
        mechanism.promising(problem.guarantees),
        problem,
        status,
        value,
        bound,
        class_vulnerability_above(mechanism, problem.joint),
        class_error_below(mechanism, problem.joint),
        class_information_above_bits(mechanism, problem.joint),
        loss,
        privacy,
        readonly(found.strategy),
        found.price,
        found.rows,
        found.log,
        seconds,
    )


def _bound(problem: SensitiveProblem, found: Found) -> float:
    joint, loss = problem.joint, problem.loss.array
    if problem.objective == VULNERABILITY:
        return class_vulnerability_bound(joint, loss, problem.max_loss, found.strategy, found.price, found.rows)
    return class_information_bound_bits(joint, loss, problem.max_loss, found.strategy, found.price)


def _leak(problem: SensitiveProblem, mechanism: Mechanism) -> float:
    if problem.objective == VULNERABILITY:
        return class_vulnerability_above(mechanism, problem.joint)
    return class_information_above_bits(mechanism, problem.joint)


def candidates_of(problem: SensitiveProblem, program: LeakProgram, rows: Floats) -> Iterator[Mechanism]:
    """Yield mechanisms of rows of possible secrets, the first without an interior answer's tiny probabilities.

    Args:
        problem: The problem.
        program: The same as it was solved.
        rows: Array (n, m), p(z|w) of possible secrets.
    """
    for threshold in _DROPPED:
        kept = program.within(np.where(rows < threshold, 0.0, rows))
        # Nothing is known of a secret that never occurs: its report reveals as little as possible.
        everyone = problem.weights[program.rows] @ kept
        matrix = np.tile(everyone / everyone.sum(), (len(problem.secrets), 1))
        matrix[program.rows] = kept
        yield Mechanism(matrix, problem.secrets, problem.observables)
