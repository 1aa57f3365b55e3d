"""Design problems that only a general linear program can hold: own constraints, or several attackers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core import Mechanism
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import InputError, SolverError, argument
from ...proofs import ManyMultipliers, certify, relative_gap
from ..problem import Problem
from ..row_generation import ALL_AT_ONCE, LinearSolver, first_rows, violated
from ..solver import Answer, Control, Progress, Solver, Status
from ..solver_registry import Auto, general_solvers
from .constrained_program import ENOUGH, Demands, GeneralProgram, with_most_room

_MARGIN: Final = 1e-9  # of the exponents, left for rounding
_KEPT_BACK: Final = (1e-7, 4e-9)  # of each constraint's scale, what a back-end is not given
_SMALL: Final = 2_500  # probabilities for which further opinions take seconds


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Searched(CompactRepr):
    """The best mechanism found, and the best bound."""

    matrix: Floats  # array (n, m); it keeps every demand with a little room
    value: float  # the largest of its expected losses
    bound: float  # proved bound of it
    prices: ManyMultipliers  # the prices that prove it
    status: Status  # how the work ended
    log: tuple[Progress, ...]  # the progress, step by step
    solver: str  # the back-end


def searched(demands: Demands, control: Control, back_ends: Sequence[LinearSolver], negligible: float) -> Searched:
    """Return the best mechanism that the back-ends find, one after the other, until the gap is reached.

    The first back-end is asked in any case, the others where it stops short on a small problem.

    Raises:
        InfeasibleError: If no mechanism keeps the demands, or they leave no room for rounding.
        SolverError: If there is no answer within the time.
    """
    search = _Search(demands, control, negligible)
    n, m = demands.shape
    attempts = [(back_ends[0], kept_back) for kept_back in _KEPT_BACK]
    if n * m <= _SMALL:
        attempts += [(back_end, _KEPT_BACK[-1]) for back_end in back_ends[1:]]
    for back_end, kept_back in attempts:
        search.ask(back_end, kept_back)
        impossible = search.infeasible and kept_back == _KEPT_BACK[-1]
        if search.reached or impossible or control.stopped is not None:
            break
    if search.best is None:
        search.make_room(back_ends)
    return search.outcome()


class _Search:
    """The best mechanism, the best bound, and the rows of metric privacy that were needed so far."""

    def __init__(self, demands: Demands, control: Control, negligible: float) -> None:
        self.demands, self.control, self.negligible = demands, control, negligible
        self.start = time.monotonic()
        self.triples = first_rows(demands.exponents, demands.shape[1], control.pairs)
        self.prices = demands.no_prices()
        self.bound = demands.bound(self.prices)
        self.best: Floats | None = None
        self.last: Floats | None = None
        self.value = np.inf
        self.solver = ""
        self.infeasible = False
        self.log: list[Progress] = []

    @property
    def gap(self) -> float:
        """The gap of the best mechanism and bound."""
        return relative_gap(self.value, self.bound, self.negligible) if np.isfinite(self.value) else np.inf

    @property
    def reached(self) -> bool:
        """Whether the gap is small enough."""
        return self.gap <= self.control.gap

    def ask(self, back_end: LinearSolver, kept_back: float) -> None:
        """Ask a back-end, adding the rows that its answers break, until the gap is reached or no row is broken."""
        while True:
            program = GeneralProgram(self.demands, self.triples, kept_back)
            found = back_end.solve(program.program, time_limit=self.control.remaining, stop=self.control.stop)
            self.infeasible = found.status is Status.INFEASIBLE
            if found.x is None or found.status in (Status.TIME_LIMIT, Status.INTERRUPTED):
                return
            if found.duals is not None:
                self._priced(program.prices(found.duals))
            raw = program.matrix(found.x)
            self._offered(self.demands.private(raw, _MARGIN), back_end.name)
            self._told()
            if self.reached:
                return
            most = max(ALL_AT_ONCE, 2 * len(self.triples))
            more = violated(raw, self.demands.exponents, self.triples, most=most)
            if len(more) == 0:
                return
            self.triples = self.triples.joined(more)

    def make_room(self, back_ends: Sequence[LinearSolver]) -> None:
        """Mix in a mechanism that keeps every constraint with room: no answer kept them all after repair.

        Raises:
            InfeasibleError: If no mechanism keeps the demands, or none has room for rounding.
        """
        if self.control.stopped is not None:
            return
        roomy, self.triples = with_most_room(self.demands, self.control, back_ends, self.triples)
        if roomy is None:
            return
        if self.infeasible and self.control.stopped is None:
            self.ask(back_ends[0], 0.0)  # what was kept back is more than the room
        best = self.last
        self._offered(roomy, back_ends[0].name)
        if best is None:
            return
        over, room = self.demands.lacking(best), self.demands.lacking(roomy)
        needed = np.maximum(over + 2 * ENOUGH, 0.0)
        # Errors of attackers are concave: a mixture has at least the mixed room.
        share = float((needed / np.maximum(needed - (room + 2 * ENOUGH), 1e-300)).max(initial=0.0))
        self._offered((1 - share) * best + share * roomy, self.solver)
        self._told()

    def outcome(self) -> Searched:
        """Return the best.

        Raises:
            SolverError: If nothing was found in time.
        """
        ended = self.control.stopped
        if self.best is None:
            why = (ended or Status.INACCURATE).value
            raise SolverError(
                f"no mechanism was found that meets every requirement ({why}).",
                "allow more time, or use fewer or larger cells.",
            )
        status = Status.OPTIMAL if self.reached else ended or Status.INACCURATE
        return Searched(self.best, self.value, self.bound, self.prices, status, tuple(self.log), self.solver)

    def _priced(self, prices: ManyMultipliers) -> None:
        bound = self.demands.bound(prices)
        if bound > self.bound:
            self.bound, self.prices = bound, prices

    def _offered(self, matrix: Floats, solver: str) -> None:
        """Take a mechanism that keeps metric privacy as the best, if it keeps the rest and loses less."""
        self.last = matrix
        self.solver = self.solver or solver
        if self.demands.lacking(matrix).max(initial=-np.inf) > -ENOUGH:
            return
        value = self.demands.value(matrix)
        if value < self.value:
            self.best, self.value, self.solver = matrix, value, solver

    def _told(self) -> None:
        seconds = time.monotonic() - self.start
        step = Progress(len(self.log) + 1, len(self.triples), self.value, self.bound, self.gap, seconds)
        self.log.append(step)
        if self.control.progress is not None:
            self.control.progress(step)


_MARGINS = (1e-9, 1e-8, 1e-7)  # of the exponents, left for rounding


def general_answer(problem: Problem, solver: Solver, control: Control) -> Answer:
    """Return the answer to a problem with linear constraints or several attackers; it is proved already.

    Raises:
        InputError: If the solver or the pairs are not for such problems.
        InfeasibleError: If no mechanism keeps what is asked, or it leaves no room for rounding.
        SolverError: If there is no answer within the time, or none that can be proved.
    """
    found = searched(Demands.of(problem), control, back_ends(solver, control.pairs), problem.negligible)
    demands, matrix = Demands.of(problem), found.matrix
    for margin in _MARGINS:
        mechanism = Mechanism(matrix, problem.prior.space, problem.observables)
        certificate = certify(
            mechanism,
            problem.prior,
            problem.loss,
            problem.guarantees,
            objective=problem.objective,
            bound=found.bound,
            constraints=problem.constraints,
        )
        if certificate.holds:
            return Answer(
                matrix,
                0.0,
                found.value,
                found.bound,
                found.status,
                found.log,
                f"{found.solver} (general program)",
                many=found.prices,
                mechanism=mechanism,
            )
        matrix = demands.private(found.matrix, 10 * margin)
    raise SolverError(
        "the answer could not be proved to keep what was asked after rounding to integers.",
        "ask for a little less.",
    )


def back_ends(solver: Solver, pairs: str) -> Sequence[LinearSolver]:
    """Return the back-ends to ask for a general program.

    Raises:
        InputError: If the solver or the pairs are not for such programs.
    """
    if pairs == "spanner":
        raise InputError(
            "a spanner was asked for, but a general program keeps all pairs.",
            f"use {argument('pairs', 'generated')}.",
        )
    if isinstance(solver, Auto):
        return general_solvers()
    if isinstance(solver, LinearSolver):
        return (solver,)
    raise InputError(
        f"the {solver.name} solver takes no linear constraints, and no more than one attacker and one prior.",
        f"leave {argument('solver', solver.name)} out, or use highs, simplex or clarabel.",
    )
