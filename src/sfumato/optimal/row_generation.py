"""Linear programs of reduced problems, with rows generated exactly for general back-ends.

The variables, in this order: p(o|s) row by row; the adversary's error y(o) per observable, where distortion
counts; the worst-case loss z, where it is the objective. Rows of metric privacy are scaled to a larger coefficient
of one, losses and distances to a largest entry of one, because back-ends use absolute tolerances.

A program with some of the rows is a relaxation: its proved bound holds for the whole problem in every round, and
its repaired answer satisfies all rows.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core import Metric, direct_pairs, greedy_spanner, shortest_paths
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION
from ..errors import InfeasibleError, SolverError
from ..proofs import Multipliers
from .problem import Problem
from .reduction import Reduced, reduce
from .solver import (
    Answer,
    Control,
    Progress,
    Solver,
    Status,
    Stop,
    gap_of,
    objective_of,
    proved_bound,
    repair_answer,
)

_VIOLATION = 1e-9
ALL_AT_ONCE = 40_000  # rows that one program takes without generation
_FIRST_DILATION = 1.1
_PATIENCE = 3  # rounds without any progress
_ROOM_BELOW_LOSS = 1e-7  # what repair and rounding may add to a bounded loss


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Rows of metric privacy: p(o|s) <= exp(e(s, s')) p(o|s'), as arrays (k,)."""

    secrets: NDArray[np.intp]
    others: NDArray[np.intp]
    observables: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.secrets)

    @classmethod
    def none(cls) -> Triples:
        """Return no rows."""
        empty = np.empty(0, dtype=np.intp)
        return cls(empty, empty, empty)

    @classmethod
    def of_pairs(cls, pairs: NDArray[np.intp], observables: int) -> Triples:
        """Return the rows of ordered pairs (k, 2) for every observable."""
        o = np.tile(np.arange(observables), len(pairs))
        return cls(np.repeat(pairs[:, 0], observables), np.repeat(pairs[:, 1], observables), o)

    def joined(self, more: Triples) -> Triples:
        """Return these rows and others."""
        return Triples(
            np.concatenate([self.secrets, more.secrets]),
            np.concatenate([self.others, more.others]),
            np.concatenate([self.observables, more.observables]),
        )


def all_pairs(exponents: Floats) -> NDArray[np.intp]:
    """Return the ordered pairs (k, 2) that imply all others: those without a third secret exactly between them."""
    return _both_ways(direct_pairs(_as_metric(exponents)).edges)


def spanner_pairs(exponents: Floats, dilation: float) -> tuple[NDArray[np.intp], Floats]:
    """Return the ordered pairs of a spanner, and the exponents that their rows imply for all pairs.

    With exponents divided by the realised dilation along the edges, every path is within its pair's exponent.

    Source:
        Bordenabe, Chatzikokolakis and Palamidessi, CCS 2014.
    """
    spanner = greedy_spanner(_as_metric(exponents), dilation)
    edges = _both_ways(spanner.edges)
    implied = np.where(np.eye(len(exponents), dtype=bool), 0.0, np.inf)
    implied[edges[:, 0], edges[:, 1]] = exponents[edges[:, 0], edges[:, 1]] / spanner.dilation
    return edges, shortest_paths(implied)


def violated(matrix: Floats, exponents: Floats, known: Triples, most: int) -> Triples:
    """Return the rows that a matrix breaks, the worst ones if there are more than ``most``.

    Rows that are ``known`` are skipped: a back-end breaks them by inaccuracy, and adding them again would never
    end.
    """
    shrink = np.exp(-exponents)
    parts: list[NDArray[np.intp]] = []
    excesses: list[Floats] = []
    for s in range(len(matrix)):
        excess = shrink[s][:, None] * matrix[s] - matrix
        excess[s] = 0.0
        t, o = np.nonzero(excess > _VIOLATION)
        parts.append(np.column_stack([np.full(len(t), s), t, o]))
        excesses.append(excess[t, o])
    rows, sizes = np.concatenate(parts), np.concatenate(excesses)
    shape = (*exponents.shape, matrix.shape[1])
    present = np.ravel_multi_index((known.secrets, known.others, known.observables), shape)
    new = ~np.isin(np.ravel_multi_index((rows[:, 0], rows[:, 1], rows[:, 2]), shape), present)
    rows, sizes = rows[new], sizes[new]
    if len(rows) > most:
        rows = rows[np.argpartition(-sizes, most)[:most]]
    return Triples(rows[:, 0], rows[:, 1], rows[:, 2])


def _as_metric(exponents: Floats) -> Metric:
    return Metric(exponents, name="exponents", triangle=True)


def _both_ways(pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([pairs, pairs[:, ::-1]])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinearProgram(CompactRepr):
    """Minimise cost @ x subject to lower <= rows @ x <= upper and floor <= x.

    Attributes:
        cost: Array (k,).
        rows: Sparse matrix (r, k) in compressed rows.
        lower: Array (r,), ``-inf`` where free.
        upper: Array (r,), ``inf`` where free.
        floor: Array (k,), ``-inf`` where free.
    """

    cost: Floats
    rows: Any
    lower: Floats
    upper: Floats
    floor: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution(CompactRepr):
    """The answer of a back-end.

    Attributes:
        status: How the solve ended.
        x: Array (k,), or None where there is no answer.
        duals: Array (r,): the change of the optimum per unit of each row's bound.
        iterations: Iterations of the method.
    """

    status: Status
    x: Floats | None
    duals: Floats | None
    iterations: int


class ProgramRows:
    """Rows of a linear program over p(o|s) and further variables, block by block."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.blocks: list[Any] = []
        self.lower: list[Floats] = []
        self.upper: list[Floats] = []

    def add(self, block: Any, low: float, high: float) -> None:
        """Add rows between two bounds; narrower ones begin at the first column."""
        self.blocks.append(wide(block, self.columns, 0))
        self.lower.append(np.full(block.shape[0], low))
        self.upper.append(np.full(block.shape[0], high))

    def add_errors(self, weighted: Floats, observables: int, offset: int) -> None:
        """Add sum_s weighted[g, s] p(o|s) >= y(o) for each guess g, with y from column ``offset`` on."""
        each, ones = sparse.identity(observables), np.ones((len(weighted), 1))
        errors = wide(sparse.kron(ones, each), self.columns, offset)
        self.add(wide(sparse.kron(weighted, each), self.columns, 0) - errors, 0.0, np.inf)

    def add_privacy(self, triples: Triples, exponents: Floats, observables: int) -> None:
        """Add rows of metric privacy, each scaled to a larger coefficient of one."""
        t, k, m = triples, len(triples), observables
        if k:
            entries = np.concatenate([np.exp(-exponents[t.secrets, t.others]), -np.ones(k)])
            places = np.concatenate([t.secrets * m + t.observables, t.others * m + t.observables])
            row = np.tile(np.arange(k), 2)
            self.add(sparse.csr_array((entries, (row, places)), shape=(k, self.columns)), -np.inf, 0.0)

    def program(self, cost: Floats, floor: Floats) -> LinearProgram:
        """Return the program of all rows."""
        stacked = sparse.csr_array(sparse.vstack(self.blocks, format="csr"))
        stacked.eliminate_zeros()
        return LinearProgram(cost, stacked, np.concatenate(self.lower), np.concatenate(self.upper), floor)


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """A reduced problem with some of its rows of metric privacy."""

    reduced: Reduced  # the problem
    triples: Triples  # the rows, of distinct secrets and kept observables

    @property
    def program(self) -> LinearProgram:
        """The linear program."""
        reduced, (n, m) = self.reduced, self.reduced.shape
        whole, size = reduced.problem, n * m
        attacked, worst = reduced.weighted is not None, reduced.losses is not None
        columns = size + (m if attacked else 0) + (1 if worst else 0)
        cost, floor = np.zeros(columns), np.zeros(columns)
        costs = reduced.costs / whole.loss_scale
        built = ProgramRows(columns)
        built.add(sparse.kron(sparse.identity(n), np.ones((1, m))), 1.0, 1.0)
        if reduced.weighted is not None:
            built.add_errors(reduced.weighted / whole.distance_scale, m, size)
        if reduced.max_loss is not None:
            cost[size : size + m] = -1.0
            built.add(sparse.csr_array(costs.reshape(1, -1)), -np.inf, reduced.max_loss / whole.loss_scale)
        elif reduced.minimum is not None:
            total = wide(sparse.csr_array(np.ones((1, m))), columns, size)
            built.add(total, reduced.minimum / whole.distance_scale, np.inf)
        if reduced.losses is not None:
            cost[-1] = 1.0
            losses, places = reduced.losses / whole.loss_scale, reduced.members[:, None] * m + np.arange(m)
            indptr = np.arange(len(losses) + 1) * m
            rows = sparse.csr_array((losses.ravel(), places.ravel(), indptr), shape=(len(losses), size))
            top = wide(sparse.csr_array(np.ones((len(losses), 1))), columns, columns - 1)
            built.add(wide(rows, columns, 0) - top, -np.inf, 0.0)
        elif reduced.max_loss is None:
            cost[:size] = costs.ravel()
        built.add_privacy(self.triples, reduced.exponents, m)
        return built.program(cost, floor)

    def matrix(self, solution: Solution) -> Floats:
        """Return the p(o|s) of an answer, array (n, m), without repair."""
        n, m = self.reduced.shape
        matrix: Floats = np.asarray(solution.x)[: n * m].reshape(n, m)
        return matrix

    def prices(self, duals: Floats) -> Multipliers:
        """Return the row duals of an answer as prices of the reduced problem's constraints."""
        reduced, (n, m) = self.reduced, self.reduced.shape
        whole, position = reduced.problem, n
        guesses, worst, loss = None, None, 0.0
        if reduced.weighted is not None:
            count = len(reduced.weighted)
            guesses = duals[position : position + count * m].reshape(count, m)
            guesses = guesses * (whole.scale / whole.distance_scale)
            position += count * m
        if reduced.max_loss is not None:
            loss = float(-duals[position]) * whole.scale / whole.loss_scale
        position += reduced.max_loss is not None or reduced.minimum is not None
        if reduced.losses is not None:
            worst = -duals[position : position + len(reduced.losses)]
            position += len(reduced.losses)
        t = self.triples
        exponents = reduced.exponents[t.secrets, t.others]
        local = -duals[position:] * np.exp(-exponents) * whole.scale
        return Multipliers(t.secrets, t.others, t.observables, local, exponents, guesses, worst, loss)


def wide(block: sparse.sparray, columns: int, offset: int) -> sparse.csr_array:
    """Return a block placed at a column offset of a wider matrix."""
    coo = sparse.coo_array(block)
    return sparse.csr_array((coo.data, (coo.row, coo.col + offset)), shape=(coo.shape[0], columns))


class LinearSolver(Solver):
    """Interface of back-ends for general linear programs, with rows added as answers break them."""

    @abstractmethod
    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Return the solution of a program within ``time_limit`` seconds; ``stop`` ends the solve."""

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
    """Return the initial rows: a spanner's, or all where they are few or ``pairs`` is ``all`` or ``spanner``."""
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
    """The rounds of one problem."""

    solver: LinearSolver  # the back-end
    narrowed: Problem  # the back-end's problem, slightly tighter than the original
    reduced: Reduced  # the same reduced; its prices are lifted to the problem
    control: Control  # how far and how long to go

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
                proved = proved_bound(problem, offered)
                if prices is None or (proved < bound if maximise else proved > bound):
                    prices, bound = offered, proved
            raw = relaxation.matrix(solution)
            matrix, share = repair_answer(self.narrowed, self.reduced.lift(raw))
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
        """Return whether the last rounds moved neither value nor bound: the back-end's accuracy is exhausted."""
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
