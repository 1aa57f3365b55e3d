"""The solver that generates observables, for problems whose rows follow from few edges."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ..core.arrays import Floats
from ..evidence import Multipliers
from .generated.program import Program, program
from .generated.rounds import Ended, Proved, generate
from .interior.workers import Workers
from .problem import EXPECTED, Problem
from .reduction import Reduced, reduce
from .solver import Answer, Control, Solver, Status, gap_of, mended, objective_of, proved_bound
from .structured import ALMOST, MENDED, Structured, cores, narrowed


@dataclass(frozen=True, slots=True)
class Generating(Solver):
    """Observables generated coarse to fine, for an expected loss on a lattice or another graph with few edges.

    A program with few observables and all secrets is solved by the structured method's interior point; a small
    program for every other observable proves that it could not help, or lets it join. It can be stopped at any
    time. Other problems go to the structured method.

    Args:
        threads: Worker threads, each with one thread of BLAS; by default one per core.
        iteration_limit: The most iterations of each program.
    """

    threads: int = field(default_factory=cores)
    iteration_limit: int = 500

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in reports."""
        return "generated observables"

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        plain = problem.objective == EXPECTED and problem.distance is None and problem.exponents is not None
        found = _program(problem, control) if plain and control.pairs == "generated" else None
        if found is None:
            rest = Structured(self.threads, iteration_limit=self.iteration_limit)
            return rest.answer(problem, control, start)
        reduced, given = found
        with Workers(self.threads, lambda: control.stopped is not None) as workers:
            aim = replace(control, gap=ALMOST * control.gap)
            ended = generate(given, aim, workers, most=self.iteration_limit)
        prices = reduced.lift_prices(_prices(reduced, given, ended.proved))
        bound = proved_bound(problem, prices)
        matrix, share = reduced.lift(_matrix(given, ended)), 0.0
        if problem.shape[0] ** 2 * problem.shape[1] <= MENDED:
            matrix, share = mended(problem, matrix)
        value = objective_of(problem, matrix)
        near = gap_of(problem, value, bound) <= control.gap
        status = ended.status
        if status in (Status.OPTIMAL, Status.INACCURATE):
            status = Status.OPTIMAL if near else Status.INACCURATE
        return Answer(matrix, share, value, bound, status, ended.log, self.name, prices)


def _program(problem: Problem, control: Control) -> tuple[Reduced, Program] | None:
    """Return the problem without what cannot matter, in the order of its edges; None where these are not few."""
    reduced = reduce(problem, narrowed(problem, control))
    losses = problem.loss.array[np.ix_(reduced.heads, reduced.kept)]
    given = program(reduced.prior, reduced.costs, reduced.exponents, losses.argmin(axis=0))
    return None if given is None else (reduced, given)


def _matrix(given: Program, ended: Ended) -> Floats:
    """Return the mechanism of the reduced problem, array (n, m)."""
    n, m = given.shape
    matrix = np.zeros((n, m))
    matrix[given.order[:, None], ended.chosen] = ended.x.T
    return matrix


def _prices(reduced: Reduced, given: Program, proved: Proved) -> Multipliers:
    """Return the multipliers behind a bound as prices of the reduced problem."""
    block, upper, lower = proved.course.rows.pairs.triples()
    parts = [(upper, lower, proved.chosen[block], proved.course.proof.pairs)]
    for o, each in proved.absent.items():
        s, t = given.edges.upper[each.rows], given.edges.lower[each.rows]
        parts.append((s, t, np.full(len(s), o), each.lam))
    upper, lower, block, lam = (np.concatenate(column) for column in zip(*parts, strict=True))
    used = lam > 0
    upper, lower, block, lam = given.order[upper[used]], given.order[lower[used]], block[used], lam[used]
    exponents = reduced.exponents[upper, lower]
    # The row is scaled by e^{-E/2}; its plain form e^E x_t - x_s has the multiplier divided by e^{E/2}.
    return Multipliers(upper, lower, block, lam * np.exp(-exponents / 2), exponents)
