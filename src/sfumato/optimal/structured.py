"""The structured interior-point method as a solver of design problems."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

from ..core.naming import DISTORTION
from ..errors import SolverError
from ..mechanisms import merge_close_secrets
from .effort import STRUCTURED, check_memory, cores
from .interior.checkpoints import state_folder
from .interior.lapack import StoppedError
from .interior.loop import Result, solve
from .problem import Problem
from .reduction import reduce
from .row_generation import spanner_pairs
from .solver import Answer, Control, Solver, Status, gap_of, objective_of, proved_bound, repair_answer

ALMOST = 0.8
_LEAST = 1e-7  # exponent whose row has an inside in floats; secrets that are nearer to each other become one
REPAIR_LIMIT = 20_000_000  # likelihood ratios that are quickly looked through
_SHRINK = 2e-9  # of every exponent, and of a bounded loss, left for rounding to integers


@dataclass(frozen=True, slots=True)
class Structured(Solver):
    """Sfumato's own interior-point method, which exploits that observables are independent.

    Every iterate is strictly private, so it can be stopped at any time.

    Args:
        threads: Worker threads, each with one thread of BLAS; by default one per core.
        symmetry: Whether symmetries of the problem (of a square grid, say) are used.
        iteration_limit: The most iterations.
        folder: Where the state between iterations is stored, every few seconds and at a stop, so that the same
            design with the same folder resumes; by default nowhere. Remove it when the design is done.
    """

    name = STRUCTURED
    threads: int = field(default_factory=cores)
    symmetry: bool = True
    iteration_limit: int = 500
    folder: str | os.PathLike[str] | None = None

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        folder = None if self.folder is None else state_folder(self.folder)
        reduced = reduce(problem, narrow_problem(problem, control))
        try:
            result = solve(
                reduced,
                replace(control, gap=ALMOST * control.gap),  # the bound for the whole problem is a little lower
                iteration_limit=self.iteration_limit,
                warm=start.state if start is not None and isinstance(start.state, Result) else None,
                threads=self.threads,
                with_symmetry=self.symmetry,
                memory=check_memory,
                folder=folder,
            )
        except StoppedError:
            raise SolverError(
                f"the {self.name} had no answer in time.", "allow more time, or use fewer or larger cells."
            ) from None
        prices = reduced.lift_prices(result.prices)
        bound = proved_bound(problem, prices)
        matrix, share = reduced.lift(result.matrix), 0.0
        # Iterates are strictly private by themselves, and repairing a large one takes as long as an iteration.
        if problem.shape[0] ** 2 * problem.shape[1] <= REPAIR_LIMIT:
            matrix, share = repair_answer(problem, matrix)
        value = objective_of(problem, matrix)
        status = result.status
        if status is Status.INACCURATE and gap_of(problem, value, bound) <= control.gap:
            status = Status.OPTIMAL
        return Answer(matrix, share, value, bound, status, result.log, self.name, prices, result)


def narrow_problem(problem: Problem, control: Control) -> Problem:
    """Return the problem with room for rounding to integers: slightly smaller exponents and ``max_loss``."""
    exponents = problem.exponents
    if exponents is not None:
        exponents = merge_close_secrets(exponents * (1 - _SHRINK), _LEAST)
        if control.pairs == "spanner":
            _, exponents = spanner_pairs(exponents, control.dilation)
    limit = problem.max_loss
    if problem.objective == DISTORTION:
        limit -= _SHRINK * abs(limit)
    return replace(problem, exponents=exponents, max_loss=limit)
