"""One run of a design: its options and its clock, from a problem to the proved result.

Problems are solved in units that suit floating point: losses and distances are divided by powers of two, so that
the largest is between one and two, and prior masses that cannot matter are dropped. Multiplying back is exact.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from ..core import Loss, Mechanism, Prior
from ..core.arrays import Floats, readonly
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION
from ..errors import InputError, SolverError, argument
from ..proofs import Candidates, Certificate, Multipliers, Optimality
from .baseline import Baseline, fallback
from .effort import check_time
from .extensions.constrained import general_answer
from .problem import Problem
from .result import Design, SolvedProgram
from .solver import (
    Answer,
    Control,
    OnProgress,
    Progress,
    Solver,
    Status,
    Stop,
    check_gap,
    check_pairs,
    checked_time_limit,
    gap_of,
    objective_of,
    prove_answer,
    proved_bound,
    with_promises,
)
from .solver_registry import solver_of

_MODERATE = 100  # binary exponents of units in which nothing that matters underflows
_NO_MASS = 2.0**-900  # of a prior: smaller masses underflow in products with losses and probabilities
_AIM, _ENOUGH = 1e-6, 1e-4  # defaults: the gap aimed at, and the largest that counts as reached


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ScaledProblem(CompactRepr):
    """A problem in units of powers of two."""

    problem: Problem  # the scaled problem, for a solver
    original: Problem  # the problem in its own units
    loss: int  # binary exponent of the unit of losses
    distance: int  # binary exponent of the unit of the adversary's distances

    @property
    def exact(self) -> bool:
        """Whether a bound for the scaled problem, times a power of two, is one for the original."""
        same = self.problem.prior is self.original.prior
        return same and max(abs(self.loss), abs(self.distance)) <= _MODERATE

    @property
    def objective(self) -> int:
        """Binary exponent of the unit of the objective."""
        return self.distance if self.problem.objective == DISTORTION else self.loss

    def answer(self, scaled: Answer) -> Answer:
        """Return an answer to the scaled problem as one to the original."""
        prices, bound = scaled.prices, math.nan
        with np.errstate(over="ignore", invalid="ignore"):
            if prices is not None:
                prices = self._prices(prices)
                # Powers of two scale a proof without rounding, away from the ends of the floats' range.
                same = self.exact and math.isfinite(scaled.bound)
                bound = math.ldexp(scaled.bound, self.objective) if same else proved_bound(self.original, prices)
            elif scaled.has_proof and self.exact:
                bound = math.ldexp(scaled.bound, self.objective)
            log = tuple(map(self.step, scaled.log))
        if math.isnan(bound):  # without prices, or where they leave the range of floats
            prices, bound = None, math.inf if self.problem.objective == DISTORTION else -math.inf
        value = objective_of(self.original, scaled.matrix, scaled.used)
        return replace(scaled, value=value, bound=bound, log=log, prices=prices)

    def step(self, step: Progress) -> Progress:
        """Return a line of progress in the original unit."""
        value, bound = np.ldexp([step.value, step.bound], self.objective).tolist()
        return replace(step, value=value, bound=bound)

    def _prices(self, prices: Multipliers) -> Multipliers:
        guesses = prices.guesses
        if guesses is not None and self.problem.objective != DISTORTION:
            guesses = np.ldexp(guesses, self.loss - self.distance)
        return replace(
            prices,
            local=np.ldexp(prices.local, self.objective),
            guesses=guesses,
            loss=float(np.ldexp(prices.loss, self.distance - self.loss)),
        )


def scale_problem(problem: Problem) -> ScaledProblem:
    """Return a problem whose largest loss and distance are between one and two."""
    loss = _exponent(problem.loss.array)
    distance = 0 if problem.distance is None else _exponent(problem.distance.array)
    prior, mass = problem.prior, problem.prior.probabilities
    if ((mass > 0) & (mass < _NO_MASS)).any():
        prior = Prior(prior.space, np.where(mass < _NO_MASS, 0.0, mass))
    scaled = replace(
        problem,
        prior=prior,
        loss=_divide_loss(problem.loss, loss),
        distance=None if problem.distance is None else _divide_loss(problem.distance, distance),
        minimum=float(np.ldexp(problem.minimum, -distance)),
        max_loss=float(np.ldexp(problem.max_loss, -loss)),
    )
    return ScaledProblem(scaled, problem, loss, distance)


def _exponent(array: Floats) -> int:
    largest = float(max(array.max(initial=0.0), -array.min(initial=0.0)))
    return math.frexp(largest)[1] - 1 if largest > 0 else 0


def _divide_loss(loss: Loss, exponent: int) -> Loss:
    return loss if exponent == 0 else replace(loss, array=readonly(np.ldexp(loss.array, -exponent)), points=None)


class SolveOptions(TypedDict, total=False):
    """Options that `design` passes to each program that it solves."""

    solver: Solver | str | None
    pairs: str
    dilation: float
    time_limit: float
    stop: Stop | None
    progress: OnProgress | None


class SolveSession:
    """Options and clock of one call; for the options see `design`."""

    def __init__(
        self,
        gap: float | None = None,
        *,
        solver: Solver | str | None = None,
        pairs: str = "generated",
        dilation: float = 1.1,
        time_limit: float = math.inf,
        stop: Stop | None = None,
        progress: OnProgress | None = None,
    ) -> None:
        check_pairs(pairs)
        if not dilation > 1:
            raise InputError(
                f"a dilation of {dilation} is not above 1.", f"use 1.1, or {argument('pairs', 'generated')}."
            )
        if gap is not None:
            check_gap(gap)
        self.solver = solver_of(solver)
        self.start = time.monotonic()
        self.enough = _ENOUGH if gap is None else gap
        self.control = Control(
            _AIM if gap is None else gap,
            self.start + checked_time_limit(time_limit),
            stop or (lambda: False),
            progress,
            pairs,
            dilation,
        )
        self.log: list[Progress] = []
        self.reserved_s: float | None = None

    def solve(self, problem: Problem, start: Answer | None = None, gap: float | None = None) -> Answer:
        """Solve a problem; an unfinished answer is never worse than closed forms."""
        control = self.control
        if problem.general:
            answer = general_answer(problem, self.solver, control)
            self.log += answer.log
            return answer
        small = scale_problem(problem)
        if np.isfinite(control.deadline):
            if self.reserved_s is None:
                self.reserved_s = check_time(*problem.shape, control.remaining)
            control = replace(control, deadline=control.deadline - self.reserved_s)
        tell = control.progress
        rescaled = None if tell is None else lambda step: tell(small.step(step))
        control = replace(control, gap=gap or control.gap, progress=rescaled)
        baseline = Baseline(small.problem, control)
        try:
            scaled = self.solver.answer(small.problem, replace(control, progress=baseline.watch), start)
        except SolverError:
            reason = control.cutoff
            closed = fallback(small.problem, reason, "no answer in time") if reason is not None else None
            if closed is None:
                raise
            scaled = closed
        answer = small.answer(baseline.best(scaled))
        self.log += answer.log
        return answer

    def prove(self, problem: Problem, answer: Answer, tie_broken: tuple[Answer, float] | None = None) -> Design:
        """Prove an answer, or the one with broken ties where it still reaches the gap."""
        tie_gap: float | None = None
        proof = None if tie_broken is None else prove_answer(problem, tie_broken[0])
        if tie_broken is not None and proof is not None and self._is_close(problem, proof[1]):
            answer, tie_gap = tie_broken
        else:
            proof = prove_answer(problem, answer)
        if proof is None:
            closed = fallback(problem, Status.INACCURATE, "the solver's answer could not be proved")
            if closed is not None:
                answer = replace(closed, bound=answer.bound, prices=answer.prices)
                proof = prove_answer(problem, answer)
        if proof is None:
            raise SolverError(
                "the answer could not be proved to satisfy the guarantees after rounding to integers.",
                "try another solver, or report this with the input: it should not happen.",
            )
        mechanism, certificate = proof
        status = answer.status
        if status in (Status.OPTIMAL, Status.INACCURATE):
            short = Status.RESTRICTED if self.control.pairs == "spanner" else Status.INACCURATE
            status = Status.OPTIMAL if self._is_close(problem, certificate) else short
        log, optimality = tuple(self.log), _optimality(problem, answer, mechanism)
        program = SolvedProgram(problem, status, answer.solver, log, tie_gap, self.enough, optimality, answer)
        seconds = time.monotonic() - self.start
        return Design.of_program(with_promises(mechanism, problem.guarantees), certificate, program, seconds)

    def _is_close(self, problem: Problem, certificate: Certificate) -> bool:
        return gap_of(problem, certificate.value, certificate.bound) <= self.control.gap


def _optimality(problem: Problem, answer: Answer, mechanism: Mechanism) -> Optimality | None:
    if answer.constrained is not None:
        return Optimality.of_many(problem.objective, answer.constrained)
    if answer.prices is None:
        return None
    distance = problem.distance if problem.objective == DISTORTION else None
    every = None if mechanism.observables is problem.observables else Candidates(problem.observables, problem.loss)
    return Optimality(problem.objective, answer.prices, distance, problem.max_loss, every)
