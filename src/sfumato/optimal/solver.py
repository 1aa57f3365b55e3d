"""Solver interface, its limits, and its answer: a repaired matrix with a proved bound."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Loss, Mechanism, StatedGuarantee
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION, WORST_CASE
from ..errors import InputError, argument
from ..geo import among
from ..mechanisms import repair_to_private
from ..proofs import Certificate, ManyMultipliers, Multipliers, certify, distortion_bound, loss_bound, relative_gap
from .problem import Problem

Stop = Callable[[], bool]
_PAIRS: Final = ("generated", "all", "spanner")
_MARGINS = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)


class Status(Enum):
    """Outcome of a solve; the value says what to try next."""

    OPTIMAL = "solved to the wanted gap"
    TIME_LIMIT = "stopped at the time limit: allow more time for a smaller gap"
    INTERRUPTED = "stopped on request: run again for a smaller gap"
    INACCURATE = "the solver stopped short of the wanted gap"
    RESTRICTED = "optimal for the rows of a spanner only: pairs='generated' reaches the wanted gap"
    INFEASIBLE = "no mechanism satisfies the constraints"


@dataclass(frozen=True, slots=True)
class Progress:
    """One line of a running design, at a round of row generation or an iteration of the interior point.

    ``rows`` are those of metric privacy in the program; value and bound are the best so far, infinite where there
    is none, and the gap is their relative distance. ``coarse`` is the number of secrets of a coarser problem that
    is solved first, and whose own value and bound do not hold for the whole; 0 for the problem itself.
    """

    step: int
    rows: int
    value: float
    bound: float
    gap: float
    seconds: float
    coarse: int = 0


OnProgress = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Control:
    """Limits of a solve: the relative gap to reach, and a deadline on the clock of `time.monotonic`.

    The deadline is ``inf`` for none. ``stop`` is called from time to time, and True stops the solve; for pairs and
    dilation see `design`.
    """

    gap: float
    deadline: float
    stop: Stop
    progress: OnProgress | None
    pairs: str = "generated"
    dilation: float = 1.1

    @property
    def remaining(self) -> float:
        """Seconds until the deadline."""
        return self.deadline - time.monotonic()

    @property
    def cutoff(self) -> Status | None:
        """The reason to stop now, or None."""
        if self.stop():
            return Status.INTERRUPTED
        return Status.TIME_LIMIT if self.remaining <= 0 else None


class BoundedSearch:
    """The best value and the best bound of a minimisation so far, and its progress."""

    def __init__(self, control: Control, negligible: float) -> None:
        self.control, self.negligible = control, negligible
        self.start = time.monotonic()
        self.value, self.bound = np.inf, -np.inf
        self.log: list[Progress] = []

    @property
    def gap(self) -> float:
        """The relative gap of value and bound; infinite without a value."""
        return relative_gap(self.value, self.bound, self.negligible) if np.isfinite(self.value) else np.inf

    def report(self, rows: int = 0) -> None:
        """Add a line of progress, and pass it on."""
        seconds = time.monotonic() - self.start
        self.log.append(Progress(len(self.log) + 1, rows, self.value, self.bound, self.gap, seconds))
        if self.control.progress is not None:
            self.control.progress(self.log[-1])

    def repeat(self, step: Callable[[], Status | None], most: int, patience: int, share: float) -> Status:
        """Repeat a step until it returns a status, a share of the gap is reached, or ``patience`` gain nothing."""
        idle = 0
        for _ in range(most):
            before = self.value, self.bound
            status = step()
            if status is not None:
                return status
            idle = idle + 1 if before == (self.value, self.bound) else 0
            if self.gap <= share * self.control.gap:
                return Status.OPTIMAL
            if idle >= patience:
                break
            if (reason := self.control.cutoff) is not None:
                return reason
        return Status.INACCURATE


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(CompactRepr):
    """The best repaired matrix found, with its proved bound.

    Attributes:
        matrix: Array (n, m), row-stochastic and strictly private; or (n, k) with the columns ``used`` only.
        share: The constant mechanism's share in it.
        value: Its objective.
        bound: Proved bound of the objective.
        status: How the solve ended.
        log: The progress, step by step.
        solver: The solver that found it, and why it was chosen.
        prices: The multipliers that prove the bound; None where there is no bound.
        state: What the same solver can start a similar problem from.
        mechanism: The integers, where the solver chose them itself; else the matrix is quantised.
        used: Positions of the k observables that are ever reported, ascending; None where the matrix has all m.
        has_proof: Whether the bound was proved from prices that are too many to store.
        constrained: The prices of a general program, instead of ``prices``.
    """

    matrix: Floats
    share: float
    value: float
    bound: float
    status: Status
    log: tuple[Progress, ...]
    solver: str
    prices: Multipliers | None = None
    state: Any = None
    mechanism: Mechanism | None = None
    used: NDArray[np.intp] | None = None
    has_proof: bool = False
    constrained: ManyMultipliers | None = None

    @property
    def usable(self) -> bool:
        """Whether the matrix satisfies all guarantees and limits."""
        return bool(np.isfinite(self.value))


class Solver(ABC):
    """Interface: from a problem to a repaired matrix with a proved bound."""

    name: str

    @abstractmethod
    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem.

        Raises `InfeasibleError` if no mechanism satisfies the constraints. Raises `SolverError` if there is no
        usable answer in time. ``start`` is an answer of this solver to a similar problem, to start from.
        """


def check_pairs(pairs: str) -> None:
    """Raise `InputError` for an unknown value of ``pairs``."""
    if pairs not in _PAIRS:
        raise InputError(f"{argument('pairs', pairs)} is unknown.", f"use one of {', '.join(_PAIRS)}.")


def check_gap(gap: float) -> None:
    """Raise `InputError` for a relative gap outside (0, 1)."""
    if not 0 < gap < 1:
        raise InputError(
            f"{argument('gap', gap)} is not between 0 and 1.",
            f"use {argument('gap', 0.01)} for a loss within 1 % of the best possible.",
        )


def checked_time_limit(time_limit: float) -> float:
    """Return a time limit in seconds; raise `InputError` where it is not positive."""
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 60)}."
        )
    return time_limit


def with_promises(mechanism: Mechanism, guarantees: Sequence[object]) -> Mechanism:
    """Return a mechanism that states the guarantees without a prior, which are proved for it."""
    return mechanism.promising([guarantee for guarantee in guarantees if isinstance(guarantee, StatedGuarantee)])


def objective_of(problem: Problem, matrix: Floats, used: NDArray[np.intp] | None = None) -> float:
    """Return the objective of a matrix (n, m), or (n, k) of columns ``used``; -inf above the limit of the loss."""
    prior, loss = problem.prior.probabilities, problem.loss.array
    losses = np.einsum("so,so->s", matrix, loss if used is None else loss[:, used])
    if problem.objective == DISTORTION and problem.distance is not None:
        if float(prior @ losses) > problem.max_loss:
            return -np.inf
        return float(((problem.distance.array * prior) @ matrix).min(axis=0).sum())
    return float(losses.max() if problem.objective == WORST_CASE else prior @ losses)


def spread(matrix: Floats, used: NDArray[np.intp], size: int) -> Floats:
    """Return a matrix (n, k) of used observables as one of all, array (n, size)."""
    whole = np.zeros((len(matrix), size))
    whole[:, used] = matrix
    return whole


def repair_answer(problem: Problem, matrix: Floats, margin: float = 1e-9) -> tuple[Floats, float]:
    """Return the repaired matrix of an answer and the constant's share in it."""
    dual = problem.objective == DISTORTION
    distance = None if problem.distance is None or dual else problem.distance.array
    return repair_to_private(
        matrix,
        problem.exponents,
        prior=problem.prior.probabilities,
        distance=distance,
        minimum=problem.minimum,
        margin=margin,
    )


def proved_bound(problem: Problem, prices: Multipliers) -> float:
    """Return the bound on the objective that prices prove."""
    prior, loss = problem.prior.probabilities, problem.loss.array
    distance = None if problem.distance is None else problem.distance.array
    if problem.objective == DISTORTION and distance is not None:
        return distortion_bound(prior, loss, distance, problem.max_loss, prices)
    return loss_bound(prior, loss, prices, distance, problem.minimum)


def gap_of(problem: Problem, value: float, bound: float) -> float:
    """Return the gap relative to the value, or to `Problem.negligible` where the value is smaller."""
    if not np.isfinite(value):
        return np.inf
    return relative_gap(value, bound, problem.negligible, maximise=problem.objective == DISTORTION)


def certify_mechanism(
    problem: Problem, mechanism: Mechanism, bound: float, share: float = 0.0, loss: Loss | None = None
) -> Certificate:
    """Return the certificate of a mechanism; ``loss`` is that of its observables, if they are only some."""
    return certify(
        mechanism,
        problem.prior,
        problem.loss if loss is None else loss,
        problem.guarantees,
        objective=problem.objective,
        bound=bound,
        distance=problem.distance,
        repair_weight=share,
        constraints=problem.constraints,
    )


def prove_answer(problem: Problem, answer: Answer) -> tuple[Mechanism, Certificate] | None:
    """Quantise and prove an answer, with more and more room for rounding; None if no proof succeeds."""
    matrix, share, integers = answer.matrix, answer.share, answer.mechanism
    observables, loss = problem.observables, problem.loss
    if answer.used is not None:
        subset = among(observables, answer.used)
        if subset is None:
            matrix = spread(matrix, answer.used, len(observables))
        else:
            observables, loss = subset, loss.of_columns(answer.used)
    first = matrix
    for margin in _MARGINS:
        mechanism = integers or Mechanism(matrix, problem.prior.space, observables)
        certificate = certify_mechanism(problem, mechanism, answer.bound, share, loss)
        if certificate.holds and (problem.objective != DISTORTION or certificate.loss <= problem.max_loss):
            return mechanism, certificate
        integers = None
        matrix, share = repair_answer(problem, first, margin=10 * margin)
        share = max(share, answer.share)
    return None
