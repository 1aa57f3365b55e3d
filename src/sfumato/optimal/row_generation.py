"""Exact row generation for general linear-programming back-ends.

A program with some of the rows is a relaxation, so its proved bound holds for the whole
problem in every round; its repaired answer keeps all rows. The two meet.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np

from ..core.arrays import Floats
from ..errors import InfeasibleError, SolverError
from ..proofs import Multipliers
from .linear import LinearProgram, Relaxation, Solution, Triples, all_pairs, spanner_pairs, violated
from .problem import DISTORTION, Problem
from .reduction import Reduced, reduce
from .solver import Answer, Control, Progress, Solver, Status, Stop, gap_of, mended, objective_of, proved_bound

ALL_AT_ONCE = 40_000  # rows that one program takes without generation
_FIRST_DILATION = 1.1
_PATIENCE = 3  # rounds without any progress
_ROOM_BELOW_LOSS = 1e-7  # what repair and rounding may add to a bounded loss


class LinearSolver(Solver):
    """A back-end for general linear programs, fed with the rows that its answers break."""

    @abstractmethod
    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Solve a program within ``time_limit`` seconds, asking ``stop`` whether to go on."""

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        narrowed = problem
        if problem.objective == DISTORTION:
            narrowed = replace(narrowed, max_loss=problem.max_loss - _ROOM_BELOW_LOSS * abs(problem.max_loss))
        if control.pairs == "spanner" and problem.exponents is not None:
            _, implied = spanner_pairs(problem.exponents, control.dilation)
            narrowed = replace(narrowed, exponents=implied)
        reduced = reduce(problem, narrowed)
        known = start.state if start is not None and isinstance(start.state, _Known) else None
        if known is not None and control.pairs != "spanner" and known.reduced.same_parts(reduced):
            triples = known.triples
        else:
            triples = first_rows(reduced.exponents, reduced.shape[1], control.pairs)
        return _Rounds(self, narrowed, reduced, control).run(triples)


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """The rows that an answer needed, to start a similar problem from."""

    reduced: Reduced
    triples: Triples


def first_rows(exponents: Floats, observables: int, pairs: str) -> Triples:
    """Return the rows to start from: all where they are few, where all are asked for, or on a spanner."""
    n = len(exponents)
    if n == 1 or np.isinf(exponents).sum() == n * (n - 1):
        return Triples.none()
    every = all_pairs(exponents)
    if pairs in ("all", "spanner") or len(every) * observables <= ALL_AT_ONCE:
        return Triples.of_pairs(every, observables)
    near, _ = spanner_pairs(exponents, _FIRST_DILATION)
    return Triples.of_pairs(near, observables)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """The rounds of one problem.

    Attributes:
        solver: The back-end.
        narrowed: What the back-end is asked, which is a little more than the problem.
        reduced: The same reduced; its prices are lifted to the problem.
        control: How far and how long to go.
    """

    solver: LinearSolver
    narrowed: Problem
    reduced: Reduced
    control: Control

    def run(self, triples: Triples) -> Answer:
        """Solve to the wanted gap, adding broken rows until it is reached."""
        start, problem = time.monotonic(), self.reduced.problem
        maximise = problem.objective == DISTORTION
        best: Answer | None = None
        bound = np.inf if maximise else -np.inf
        prices: Multipliers | None = None
        log: list[Progress] = []
        while True:
            relaxation = Relaxation(self.reduced, triples)
            solution = self.solver.solve(
                relaxation.program, time_limit=self.control.remaining, stop=self.control.stop
            )
            status = solution.status
            if status is Status.INFEASIBLE:
                raise InfeasibleError(
                    f"{self.solver.name} found that no mechanism satisfies the constraints.", "ask for less."
                )
            if solution.x is None or status in (Status.TIME_LIMIT, Status.INTERRUPTED):
                return self._ended(best, status)
            if solution.duals is not None:
                offered = self.reduced.lift_prices(relaxation.prices(solution.duals))
                found = proved_bound(problem, offered)
                if prices is None or (found < bound if maximise else found > bound):
                    prices, bound = offered, found
            raw = relaxation.matrix(solution)
            matrix, share = mended(self.narrowed, self.reduced.lift(raw))
            value = objective_of(problem, matrix)
            if best is not None and (value <= best.value if maximise else value >= best.value):
                matrix, share, value = best.matrix, best.share, best.value
            gap = gap_of(problem, value, bound)
            log.append(Progress(len(log) + 1, len(triples), value, bound, gap, time.monotonic() - start))
            if self.control.progress is not None:
                self.control.progress(log[-1])
            state = _Known(self.reduced, triples)
            best = Answer(matrix, share, value, bound, status, tuple(log), self.solver.name, prices, state)
            if gap <= self.control.gap:
                return replace(best, status=Status.OPTIMAL)
            if self.narrowed.exponents is None or self.control.pairs == "spanner":
                return self._ended(best, status)
            if self._stalled(log):
                return self._ended(best, Status.INACCURATE)
            more = violated(raw, self.reduced.exponents, triples, most=max(ALL_AT_ONCE, 2 * len(triples)))
            if len(more) == 0:
                return self._ended(best, status)
            triples = triples.joined(more)

    def _stalled(self, log: list[Progress]) -> bool:
        """Return whether the last rounds moved neither value nor bound: the back-end's accuracy is spent."""
        if len(log) <= _PATIENCE:
            return False
        before, now, gap = log[-1 - _PATIENCE], log[-1], self.control.gap
        same_value = now.value == before.value or abs(now.value - before.value) <= gap * abs(now.value)
        return same_value and abs(now.bound - before.bound) <= gap * abs(now.bound)

    def _ended(self, best: Answer | None, status: Status) -> Answer:
        if best is None or not best.usable:
            raise SolverError(
                f"{self.solver.name} gave no answer that meets every requirement ({status.value}).",
                "allow more time, use fewer or larger cells, or another solver.",
            )
        return replace(best, status=status)
