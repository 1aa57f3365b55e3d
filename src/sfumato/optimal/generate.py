"""Exact row generation: few rows at first, then those that the answer breaks.

A program with some of the rows is a relaxation, so its proved bound holds for the whole
problem in every round; its repaired answer keeps all rows. The two meet.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..core.arrays import Floats
from ..errors import InfeasibleError, SolverError
from .pairs import all_pairs, spanner_pairs, violated
from .problem import DISTORTION, WORST_CASE, Problem
from .program import Program, Triples
from .repair import repaired
from .solver import Solver, Status, Stop

_ALL_AT_ONCE = 40_000  # rows that one program takes without generation
_FIRST_DILATION = 1.1


@dataclass(frozen=True, slots=True)
class Progress:
    """One line of a running design.

    Attributes:
        round: The round of row generation.
        rows: Rows of metric privacy in the program.
        value: The objective of the best mechanism so far.
        bound: The best proved bound so far.
        gap: Their relative distance.
        seconds: Since the start.
    """

    round: int
    rows: int
    value: float
    bound: float
    gap: float
    seconds: float


Report = Callable[[Progress], None]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The best repaired matrix found, with its proved bound.

    Attributes:
        matrix: Array (n, m), row-stochastic and strictly private.
        share: The constant mechanism's share in it.
        value: Its objective.
        bound: Proved bound of the objective.
        status: How the work ended.
        triples: The rows of the last program.
        rounds: One entry per round.
        iterations: Iterations of the back-end in all rounds.
    """

    matrix: Floats
    share: float
    value: float
    bound: float
    status: Status
    triples: Triples
    rounds: tuple[Progress, ...]
    iterations: int


def first_rows(problem: Problem, pairs: str) -> Triples:
    """Return the rows to start from: all of them where they are few or ``pairs`` is ``all``."""
    if problem.exponents is None:
        return Triples.none()
    m = problem.shape[1]
    every = all_pairs(problem.exponents)
    if pairs == "all" or len(every) * m <= _ALL_AT_ONCE:
        return Triples.of_pairs(every, m)
    near, _ = spanner_pairs(problem.exponents, _FIRST_DILATION)
    return Triples.of_pairs(near, m)


def objective_of(problem: Problem, matrix: Floats) -> float:
    """Return the objective of a matrix, in plain floats."""
    prior, loss = problem.prior.probabilities, problem.loss.array
    if problem.objective == DISTORTION and problem.distance is not None:
        return float(((problem.distance.array * prior) @ matrix).min(axis=0).sum())
    losses = (matrix * loss).sum(axis=1)
    return float(losses.max() if problem.objective == WORST_CASE else prior @ losses)


def mended(problem: Problem, matrix: Floats, margin: float = 1e-8) -> tuple[Floats, float]:
    """Return the repaired matrix of an answer and the constant's share in it."""
    dual = problem.objective == DISTORTION
    distance = None if problem.distance is None or dual else problem.distance.array
    return repaired(
        matrix,
        problem.exponents,
        prior=problem.prior.probabilities,
        distance=distance,
        minimum=problem.minimum,
        margin=margin,
    )


def solve_rows(
    problem: Problem,
    solver: Solver,
    triples: Triples,
    *,
    gap: float,
    deadline: float,
    stop: Stop,
    report: Report | None,
    generate: bool = True,
    bounding: Problem | None = None,
) -> Answer:
    """Solve a problem to a relative gap, adding broken rows until it is reached.

    Args:
        problem: The problem.
        solver: The back-end.
        triples: The rows to start from.
        gap: The relative gap to reach.
        deadline: On the clock of `time.monotonic`.
        stop: Asked whether to stop now.
        report: Called once per round.
        generate: Whether broken rows are added.
        bounding: The problem that the bound is wanted for, where ``problem`` asks for a
            little more than it.

    Raises:
        InfeasibleError: If no mechanism satisfies the constraints.
        SolverError: If the back-end gave no answer in time.
    """
    start = time.monotonic()
    maximise = problem.objective == DISTORTION
    best: Answer | None = None
    bound = np.inf if maximise else -np.inf
    rounds: list[Progress] = []
    iterations = 0
    while True:
        program = Program(problem, triples)
        solution = solver.solve(program.linear(), time_limit=deadline - time.monotonic(), stop=stop)
        iterations += solution.iterations
        status = solution.status
        if status is Status.INFEASIBLE:
            raise InfeasibleError(
                f"{solver.name} found that no mechanism satisfies the constraints.", "ask for less."
            )
        unfinished = status in (Status.TIME_LIMIT, Status.INTERRUPTED)
        if solution.x is None or unfinished:
            return _ended(best, status, solver)
        found = (program if bounding is None else Program(bounding, triples)).bound(solution)
        bound = min(bound, found) if maximise else max(bound, found)
        raw = program.matrix(solution)
        matrix, share = mended(problem, raw)
        value = objective_of(problem, matrix)
        if not _affordable(bounding or problem, matrix):
            value = -np.inf
        relative = _gap(bound, value, maximise=maximise)
        rounds.append(Progress(len(rounds) + 1, len(triples), value, bound, relative, time.monotonic() - start))
        if report is not None:
            report(rounds[-1])
        better = best is None or (value > best.value if maximise else value < best.value)
        kept = (matrix, share, value) if better or best is None else (best.matrix, best.share, best.value)
        best = Answer(*kept, bound, status, triples, tuple(rounds), iterations)
        if relative <= gap:
            return replace(best, status=Status.OPTIMAL)
        if not generate or problem.exponents is None:
            return _ended(best, status, solver)
        more = violated(raw, problem.exponents, most=max(_ALL_AT_ONCE, 2 * len(triples)))
        if len(more) == 0:
            return _ended(best, status, solver)
        triples = triples.joined(more)


def _affordable(problem: Problem, matrix: Floats) -> bool:
    """Return whether a repaired matrix keeps the bound on the loss, where there is one."""
    if problem.objective != DISTORTION:
        return True
    return float((problem.prior.probabilities[:, None] * matrix * problem.loss.array).sum()) <= problem.max_loss


def _gap(bound: float, value: float, *, maximise: bool) -> float:
    if not np.isfinite(value):
        return np.inf
    return max(0.0, bound - value if maximise else value - bound) / max(abs(value), 1e-300)


def _ended(best: Answer | None, status: Status, solver: Solver) -> Answer:
    if best is None or not np.isfinite(best.value):
        raise SolverError(
            f"{solver.name} gave no answer that keeps everything asked ({status.value}).",
            "allow more time, use fewer or larger cells, or another solver.",
        )
    return replace(best, status=status)
