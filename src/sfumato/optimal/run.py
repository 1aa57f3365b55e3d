"""One run of a design: its options and its clock, from a problem to the proved result."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ..core import Mechanism, MetricPrivacy
from ..errors import InputError, SolverError, argument
from ..evidence import Candidates, Certificate, Optimality
from .constrained import general_answer
from .effort import check_time
from .fallback import fallback
from .problem import DISTORTION, Problem
from .result import Design
from .scaling import scaled
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
    gap_of,
    proved,
)
from .solvers import solver_of

_AIM, _ENOUGH = 1e-6, 1e-4  # the gap aimed at, and the largest that counts as reached, where none was asked for


def positive(time_limit: float) -> float:
    """Return a time limit in seconds, or raise an `InputError` where it is not positive."""
    if not time_limit > 0:
        raise InputError(
            f"a time limit of {time_limit:g} seconds is not positive.", f"use {argument('time_limit', 60)}."
        )
    return time_limit


class Run:
    """One call's options and clock."""

    def __init__(
        self,
        solver: Solver | str | None,
        pairs: str,
        dilation: float,
        gap: float | None,
        time_limit: float,
        stop: Stop | None,
        progress: OnProgress | None,
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
            self.start + positive(time_limit),
            stop or (lambda: False),
            progress,
            pairs,
            dilation,
        )
        self.log: list[Progress] = []
        self.kept: float | None = None

    def solve(self, problem: Problem, start: Answer | None = None, gap: float | None = None) -> Answer:
        """Solve a problem; where the time is over before there is an answer, a closed form stands in."""
        control = self.control
        if problem.general:
            answer = general_answer(problem, self.solver, control)
            self.log += answer.log
            return answer
        small = scaled(problem)
        if np.isfinite(control.deadline):
            if self.kept is None:
                self.kept = check_time(*problem.shape, control.remaining)
            control = replace(control, deadline=control.deadline - self.kept)
        control = replace(control, gap=gap or control.gap, progress=small.told(control.progress))
        try:
            found = self.solver.answer(small.problem, control, start)
        except SolverError:
            ended = control.stopped
            closed = fallback(small.problem, ended, "no answer in time") if ended is not None else None
            if closed is None:
                raise
            found = closed
        answer = small.answer(found)
        self.log += answer.log
        return answer

    def finished(self, problem: Problem, answer: Answer, untied: tuple[Answer, float] | None = None) -> Design:
        """Prove an answer, or the untied one where that costs nothing of the wanted gap."""
        tie_gap: float | None = None
        found = None if untied is None else proved(problem, untied[0])
        if untied is not None and found is not None and self._reached(problem, found[1]):
            answer, tie_gap = untied
        else:
            found = proved(problem, answer)
        if found is None:
            closed = fallback(problem, Status.INACCURATE, "the solver's answer could not be proved")
            if closed is not None:
                answer = replace(closed, bound=answer.bound, prices=answer.prices)
                found = proved(problem, answer)
        if found is None:
            raise SolverError(
                "the answer could not be proved to keep what was asked after rounding to integers.",
                "try another solver, or report this with the input: it should not happen.",
            )
        mechanism, certificate = found
        status = answer.status
        if status in (Status.OPTIMAL, Status.INACCURATE):
            short = Status.RESTRICTED if self.control.pairs == "spanner" else Status.INACCURATE
            status = Status.OPTIMAL if self._reached(problem, certificate) else short
        promised = [each for each in problem.guarantees if isinstance(each, MetricPrivacy)]
        return Design(
            mechanism.promising(promised),
            certificate,
            status,
            problem,
            answer.solver,
            tuple(self.log),
            time.monotonic() - self.start,
            tie_gap,
            self.enough,
            _optimality(problem, answer, mechanism),
            answer,
        )

    def _reached(self, problem: Problem, certificate: Certificate) -> bool:
        return gap_of(problem, certificate.value, certificate.bound) <= self.control.gap


def _optimality(problem: Problem, answer: Answer, mechanism: Mechanism) -> Optimality | None:
    if answer.many is not None:
        return Optimality.of_many(problem.objective, answer.many)
    if answer.prices is None:
        return None
    distance = problem.distance if problem.objective == DISTORTION else None
    every = None if mechanism.observables is problem.observables else Candidates(problem.observables, problem.loss)
    return Optimality(problem.objective, answer.prices, distance, problem.max_loss, every)
