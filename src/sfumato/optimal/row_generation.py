"""Linear programs of reduced problems, with rows generated exactly for general back-ends.

The variables, in this order: p(o|s) row by row; the adversary's error y(o) per observable, where distortion
counts; the worst-case loss z, where it is the objective. All is scaled, because back-ends use absolute tolerances.
A program with some of the rows is a relaxation, whose proved bound holds for the whole problem.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
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
from .reduction import Reduction, reduce
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
_ROOM_BELOW_LOSS = 1e-7  # room for repair and rounding below a bounded loss


@dataclass(frozen=True, slots=True, eq=False)
class Triples:
    """Rows of metric privacy: p(o|s) <= exp(e(s, s')) p(o|s'), as arrays (k,)."""

    secrets: NDArray[np.intp]
    partners: NDArray[np.intp]
    observables: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.secrets)

    @classmethod
    def of_pairs(cls, pairs: NDArray[np.intp], observables: int) -> Triples:
        """Return the rows of ordered pairs (k, 2) for every observable."""
        o = np.tile(np.arange(observables), len(pairs))
        return cls(np.repeat(pairs[:, 0], observables), np.repeat(pairs[:, 1], observables), o)

    def prices(self, duals: Floats, exponents: Floats, unit: float) -> Multipliers:
        """Return the prices of the rows, from their duals in a unit."""
        limits = exponents[self.secrets, self.partners]
        return Multipliers(self.secrets, self.partners, self.observables, -duals * np.exp(-limits) * unit, limits)

    def join(self, more: Triples) -> Triples:
        """Return these rows and others."""
        return Triples(
            np.concatenate([self.secrets, more.secrets]),
            np.concatenate([self.partners, more.partners]),
            np.concatenate([self.observables, more.observables]),
        )


def spanner_pairs(exponents: Floats, dilation: float) -> tuple[NDArray[np.intp], Floats]:
    """Return the ordered pairs of a spanner, and the exponents that their rows imply for all pairs.

    Every path is within its pair's exponent (Bordenabe, Chatzikokolakis and Palamidessi, CCS 2014).
    """
    spanner = greedy_spanner(_as_metric(exponents), dilation)
    edges = spanner.ordered_pairs
    implied = np.where(np.eye(len(exponents), dtype=bool), 0.0, np.inf)
    implied[edges[:, 0], edges[:, 1]] = exponents[edges[:, 0], edges[:, 1]] / spanner.dilation
    return edges, shortest_paths(implied)


def find_violations(matrix: Floats, exponents: Floats, known: Triples, most: int) -> Triples:
    """Return the rows, at most ``most``, that a matrix breaks; ``known`` ones are broken by inaccuracy alone."""
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
    present = np.ravel_multi_index((known.secrets, known.partners, known.observables), shape)
    new = ~np.isin(np.ravel_multi_index((rows[:, 0], rows[:, 1], rows[:, 2]), shape), present)
    rows, sizes = rows[new], sizes[new]
    if len(rows) > most:
        rows = rows[np.argpartition(-sizes, most)[:most]]
    return Triples(rows[:, 0], rows[:, 1], rows[:, 2])


def _as_metric(exponents: Floats) -> Metric:
    return Metric(exponents, name="exponents", triangle=True, symmetric=False)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LinearProgram(CompactRepr):
    """Minimise cost @ x subject to lower <= rows @ x <= upper and floor <= x; free ends are infinite.

    The rows are a sparse matrix (r, k) in compressed rows; cost and floor are arrays (k,), lower and upper (r,).
    """

    cost: Floats
    rows: Any
    lower: Floats
    upper: Floats
    floor: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Solution(CompactRepr):
    """The answer of a back-end: x, array (k,), or None, after so many iterations of the method.

    ``duals``, array (r,), are the change of the optimum per unit of each row's bound.
    """

    status: Status
    x: Floats | None
    duals: Floats | None
    iterations: int

    @property
    def is_over(self) -> bool:
        """Whether there is no answer, or one that was cut short."""
        return self.x is None or self.status in (Status.TIME_LIMIT, Status.INTERRUPTED)

    def matrix(self, n: int, m: int) -> Floats:
        """Return the p(o|s) at the head of an answer, array (n, m), without repair."""
        return np.asarray(self.x)[: n * m].reshape(n, m)


class ProgramRows:
    """Rows of a linear program over p(o|s), which sum to one, and further variables."""

    def __init__(self, n: int, m: int, further: int) -> None:
        self.m, self.columns = m, n * m + further
        self.blocks: list[Any] = []
        self.lower: list[Floats] = []
        self.upper: list[Floats] = []
        self.add(1.0, 1.0, (sparse.kron(sparse.identity(n), np.ones((1, m))), 0))

    def add(self, low: float, high: float, *parts: tuple[Any, int]) -> None:
        """Add rows between two bounds: the sum of blocks, each placed at a column offset."""
        blocks = [sparse.coo_array(part) for part, _ in parts]
        count = blocks[0].shape[0]
        terms = [
            sparse.csr_array((b.data, (b.row, b.col + offset)), shape=(count, self.columns))
            for b, (_, offset) in zip(blocks, parts, strict=True)
        ]
        self.blocks.append(terms[0] if len(terms) == 1 else terms[0] + terms[1])
        self.lower.append(np.full(count, low))
        self.upper.append(np.full(count, high))

    def add_errors(self, weighted: Floats, offset: int) -> None:
        """Add sum_s weighted[g, s] p(o|s) >= y(o) for each guess g, with y from column ``offset`` on."""
        eye, ones = sparse.identity(self.m), np.ones((len(weighted), 1))
        self.add(0.0, np.inf, (sparse.kron(weighted, eye), 0), (-sparse.kron(ones, eye), offset))

    def add_largest(self, losses: Any) -> None:
        """Add rows (k, n m) whose values are at most the last variable."""
        self.add(-np.inf, 0.0, (losses, 0), (-np.ones((losses.shape[0], 1)), self.columns - 1))

    def add_privacy(self, t: Triples, exponents: Floats) -> None:
        """Add rows of metric privacy, each scaled to a larger coefficient of one."""
        k, m = len(t), self.m
        if k:
            entries = np.concatenate([np.exp(-exponents[t.secrets, t.partners]), -np.ones(k)])
            places = np.concatenate([t.secrets * m + t.observables, t.partners * m + t.observables])
            row = np.tile(np.arange(k), 2)
            self.add(-np.inf, 0.0, (sparse.coo_array((entries, (row, places)), shape=(k, self.columns)), 0))

    def program(self, cost: Floats, floor: Floats) -> LinearProgram:
        """Return the program of all rows."""
        stacked = sparse.csr_array(sparse.vstack(self.blocks, format="csr"))
        stacked.eliminate_zeros()
        return LinearProgram(cost, stacked, np.concatenate(self.lower), np.concatenate(self.upper), floor)


@dataclass(frozen=True, slots=True, eq=False)
class Relaxation:
    """A reduced problem with some of its rows of metric privacy."""

    reduction: Reduction  # the problem
    triples: Triples  # the rows, of distinct secrets and kept observables

    @property
    def program(self) -> LinearProgram:
        """The linear program."""
        reduction, (n, m) = self.reduction, self.reduction.shape
        whole, size = reduction.problem, n * m
        attacked, worst = reduction.weighted is not None, reduction.losses is not None
        rows = ProgramRows(n, m, m * attacked + worst)
        cost, floor = np.zeros(rows.columns), np.zeros(rows.columns)
        costs = reduction.costs / whole.loss_scale
        if reduction.weighted is not None:
            rows.add_errors(reduction.weighted / whole.distance_scale, size)
        if reduction.max_loss is not None:
            cost[size : size + m] = -1.0
            rows.add(-np.inf, reduction.max_loss / whole.loss_scale, (costs.reshape(1, -1), 0))
        elif reduction.minimum is not None:
            rows.add(reduction.minimum / whole.distance_scale, np.inf, (np.ones((1, m)), size))
        if reduction.losses is not None:
            cost[-1] = 1.0
            losses, places = reduction.losses / whole.loss_scale, reduction.members[:, None] * m + np.arange(m)
            indptr = np.arange(len(losses) + 1) * m
            rows.add_largest(sparse.csr_array((losses.ravel(), places.ravel(), indptr), shape=(len(losses), size)))
        elif reduction.max_loss is None:
            cost[:size] = costs.ravel()
        rows.add_privacy(self.triples, reduction.exponents)
        return rows.program(cost, floor)

    def prices(self, duals: Floats) -> Multipliers:
        """Return the row duals of an answer as prices of the reduced problem's constraints."""
        reduction, (n, m) = self.reduction, self.reduction.shape
        whole, position = reduction.problem, n
        guesses, worst, loss = None, None, 0.0
        if reduction.weighted is not None:
            count = len(reduction.weighted)
            guesses = duals[position : position + count * m].reshape(count, m)
            guesses = guesses * (whole.scale / whole.distance_scale)
            position += count * m
        if reduction.max_loss is not None:
            loss = float(-duals[position]) * whole.scale / whole.loss_scale
        position += reduction.max_loss is not None or reduction.minimum is not None
        if reduction.losses is not None:
            worst = -duals[position : position + len(reduction.losses)]
            position += len(reduction.losses)
        rows = self.triples.prices(duals[position:], reduction.exponents, whole.scale)
        return replace(rows, guesses=guesses, worst=worst, loss=loss)


class LinearSolver(Solver):
    """Interface of back-ends for general linear programs, with rows added as answers break them."""

    @abstractmethod
    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Return the solution of a program within ``time_limit`` seconds; ``stop`` ends the solve."""

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        narrowed, maximise = problem, problem.objective == DISTORTION
        if maximise:
            narrowed = replace(narrowed, max_loss=problem.max_loss - _ROOM_BELOW_LOSS * abs(problem.max_loss))
        if control.pairs == "spanner" and problem.exponents is not None:
            _, implied = spanner_pairs(problem.exponents, control.dilation)
            narrowed = replace(narrowed, exponents=implied)
        reduction = reduce(problem, narrowed)
        known = None if start is None or control.pairs == "spanner" else start.state
        triples: Triples | None = None
        if isinstance(known, Relaxation) and np.array_equal(known.reduction.members, reduction.members):
            triples = known.triples if np.array_equal(known.reduction.observables, reduction.observables) else None
        if triples is None:
            triples = first_rows(reduction.exponents, reduction.shape[1], control.pairs)
        begin = time.monotonic()
        best: Answer | None = None
        bound = np.inf if maximise else -np.inf
        prices: Multipliers | None = None
        log: list[Progress] = []
        status = Status.INACCURATE
        build, m = partial(Relaxation, reduction), reduction.shape[1]
        for relaxation, solution in solve_rounds(self, build, triples, reduction.exponents, m, control):
            status = solution.status
            if status is Status.INFEASIBLE:
                raise InfeasibleError(
                    f"{self.name} found that no mechanism satisfies the constraints.", "ask for less."
                )
            if solution.is_over:
                break
            if solution.duals is not None:
                offered = reduction.lift_prices(relaxation.prices(solution.duals))
                new_bound = proved_bound(problem, offered)
                if prices is None or (new_bound < bound if maximise else new_bound > bound):
                    prices, bound = offered, new_bound
            matrix, share = repair_answer(narrowed, reduction.lift(solution.matrix(*reduction.shape)))
            value = objective_of(problem, matrix)
            if best is not None and (value <= best.value if maximise else value >= best.value):
                matrix, share, value = best.matrix, best.share, best.value
            gap, rows = gap_of(problem, value, bound), len(relaxation.triples)
            log.append(Progress(len(log) + 1, rows, value, bound, gap, time.monotonic() - begin))
            if control.progress is not None:
                control.progress(log[-1])
            best = Answer(matrix, share, value, bound, status, tuple(log), self.name, prices, relaxation)
            if gap <= control.gap:
                return replace(best, status=Status.OPTIMAL)
            if narrowed.exponents is None or control.pairs == "spanner":
                break
            if _is_stalled(log, control.gap):
                status = Status.INACCURATE
                break
        if best is None or not best.usable:
            raise SolverError(
                f"{self.name} gave no answer that meets every requirement ({status.value}).",
                "allow more time, use fewer or larger cells, or another solver.",
            )
        return replace(best, status=status)


def first_rows(exponents: Floats, observables: int, pairs: str) -> Triples:
    """Return the initial rows: a spanner's, or all where they are few or ``pairs`` is ``all`` or ``spanner``."""
    n = len(exponents)
    if n == 1 or np.isinf(exponents).sum() == n * (n - 1):
        return Triples.of_pairs(np.empty((0, 2), dtype=np.intp), observables)
    # Pairs without a third secret exactly between them imply all others.
    every = direct_pairs(_as_metric(exponents)).ordered_pairs
    if pairs in ("all", "spanner") or len(every) * observables <= ALL_AT_ONCE:
        return Triples.of_pairs(every, observables)
    near, _ = spanner_pairs(exponents, _FIRST_DILATION)
    return Triples.of_pairs(near, observables)


def solve_rounds(
    solver: LinearSolver,
    build: Callable[[Triples], Any],
    triples: Triples,
    exponents: Floats,
    m: int,
    control: Control,
) -> Iterator[tuple[Any, Solution]]:
    """Yield programs with their solutions, adding broken rows, until one is cut short or breaks none."""
    while True:
        program = build(triples)
        solution = solver.solve(program.program, time_limit=control.remaining, stop=control.stop)
        if solution.x is not None:
            matrix = solution.matrix(len(exponents), m)
            if not (np.isfinite(matrix).all() and (matrix.max(axis=1) > 0).all()):
                solution = replace(solution, x=None)  # the numbers of a back-end that broke down
        yield program, solution
        if solution.is_over:
            return
        most = max(ALL_AT_ONCE, 2 * len(triples))
        more = find_violations(solution.matrix(len(exponents), m), exponents, triples, most)
        if len(more) == 0:
            return
        triples = triples.join(more)


def _is_stalled(log: list[Progress], gap: float) -> bool:
    """Return whether the last rounds moved neither value nor bound: the back-end's accuracy is exhausted."""
    if len(log) <= _PATIENCE:
        return False
    before, now = log[-1 - _PATIENCE], log[-1]
    same_value = now.value == before.value or abs(now.value - before.value) <= gap * abs(now.value)
    return same_value and abs(now.bound - before.bound) <= gap * abs(now.bound)
