"""Solvers by the structured interior-point method: all observables at once, or generated ones."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from .._system import cores
from ..core.arrays import Floats
from ..core.naming import DISTORTION, EXPECTED
from ..errors import SolverError
from ..mechanisms import merge_close_secrets
from ..proofs import LeastCosts, Multipliers
from .column_generation.price import CostFinder
from .column_generation.program import Ints, Program, graph_of, program
from .column_generation.rounds import ProvedRound, generate, neighbours
from .effort import GENERATED, MOST_PRICES, OF_PAIRS, STRUCTURED, check_memory, shortage_of_generated
from .interior.checkpoints import state_folder
from .interior.lapack import StoppedError, Workers
from .interior.loop import Result, solve
from .problem import Problem
from .reduction import Reduction, reduce
from .row_generation import spanner_pairs
from .solver import Answer, Control, Solver, Status, gap_of, objective_of, proved_bound, repair_answer

_ALMOST = 0.8
_LEAST = 1e-7  # exponent whose row has an inside in floats; secrets that are nearer to each other become one
_REPAIR_LIMIT = 20_000_000  # likelihood ratios that are quickly looked through
_SHRINK = 2e-9  # of every exponent, and of a bounded loss, left for rounding to integers
_SMALL: Final = 600  # secrets up to which threads cost more than they save


@dataclass(frozen=True, slots=True)
class Structured(Solver):
    """Sfumato's own interior-point method, which exploits that observables are independent.

    Every iterate is strictly private, so it can be stopped at any time. ``threads`` workers have one thread of
    BLAS each, by default one per core; ``symmetry`` uses symmetries of the problem, such as those of a square
    grid. ``folder`` stores the state between iterations, every few seconds and at a stop: the same design with the
    same folder resumes. Remove it when the design is done.
    """

    name = STRUCTURED
    threads: int = field(default_factory=cores)
    symmetry: bool = True
    iteration_limit: int = 500
    folder: str | os.PathLike[str] | None = None

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        folder = None if self.folder is None else state_folder(self.folder)
        reduction = reduce(problem, narrow_problem(problem, control))
        try:
            result = solve(
                reduction,
                replace(control, gap=_ALMOST * control.gap),  # the bound for the whole problem is a little lower
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
        prices = reduction.lift_prices(result.prices)
        bound = proved_bound(problem, prices)
        matrix, share = reduction.lift(result.matrix), 0.0
        # Iterates are strictly private by themselves, and repairing a large one takes as long as an iteration.
        if problem.shape[0] ** 2 * problem.shape[1] <= _REPAIR_LIMIT:
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


@dataclass(frozen=True, slots=True)
class Generating(Solver):
    """Observables generated coarse to fine, for an expected loss where each secret has few neighbours.

    A program with few observables and all secrets is solved by the structured method's interior point. A small
    program for every other observable proves that it is harmless, or adds it. Where the rows of neighbours imply
    all others, as on a lattice with a guarantee per metre, they are the only ones; else rows of other pairs join
    where they matter. It can be stopped at any time. Other problems are passed to the structured method.
    ``threads`` and ``folder`` are those of `Structured`, but up to 600 secrets take one thread, and
    ``iteration_limit`` is for each program.
    """

    name = GENERATED
    threads: int = field(default_factory=cores)
    iteration_limit: int = 500
    folder: str | os.PathLike[str] | None = None

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        rest = Structured(self.threads, iteration_limit=self.iteration_limit, folder=self.folder)
        return self.attempt(problem, control, start) or rest.answer(problem, control, start)

    def attempt(
        self, problem: Problem, control: Control, start: Answer | None = None, *, of_pairs: bool = True
    ) -> Answer | None:
        """Solve a problem as `Solver.answer` does, or return None where it needs the structured method.

        ``of_pairs`` says whether problems whose edges do not imply all rows are solved too, where memory suffices.
        """
        parts = _program(problem, control)
        if parts is None:
            return None
        reduction, master, whole = parts
        missing = None if whole else shortage_of_generated(*problem.shape, gap=control.gap, of_pairs=True)
        if not (whole or of_pairs) or missing is not None:
            return None
        folder = None if self.folder is None else state_folder(self.folder)
        initial = None
        if start is not None and start.used is not None and int(start.used[-1]) < len(reduction.columns):
            initial = neighbours(master, np.unique(reduction.columns[start.used]))
        helpers = self.threads if problem.shape[0] > _SMALL else 1
        with Workers(helpers, lambda: control.cutoff is not None) as workers:
            if not whole:
                try:
                    master = master.strict(workers)
                except StoppedError:
                    return None
            look = _look(problem, reduction, master)
            aim, most = replace(control, gap=_ALMOST * control.gap), self.iteration_limit
            finder = None if look is None else look[1]
            result = generate(master, aim, workers, most=most, observables=initial, finder=finder, folder=folder)
        prices: Multipliers | None = None
        if look is not None and result.best.least is not None:
            bound = look[0].bound(result.best.least)
        else:
            prices = reduction.lift_prices(_prices(master, result.best))
            bound = proved_bound(problem, prices)
        rows = np.empty((master.shape[0], len(result.observables)))
        rows[master.order] = result.x.T
        used = reduction.observables[result.observables]
        order = np.argsort(used)
        matrix, used, share = rows[reduction.members][:, order], used[order], 0.0
        if problem.shape[0] ** 2 * problem.shape[1] <= _REPAIR_LIMIT:
            matrix, share = repair_answer(problem, matrix)
        value = objective_of(problem, matrix, used)
        status = result.status
        if status in (Status.OPTIMAL, Status.INACCURATE):
            near = gap_of(problem, value, bound) <= control.gap
            status = Status.OPTIMAL if near else Status.INACCURATE
        name, bare = self.name if whole else OF_PAIRS, prices is None
        return Answer(matrix, share, value, bound, status, result.log, name, prices, used=used, has_proof=bare)


def _program(problem: Problem, control: Control) -> tuple[Reduction, Program, bool] | None:
    """Return the reduced problem, its program with edges, and whether these imply all rows; None without any."""
    plain = problem.objective == EXPECTED and problem.distance is None and problem.exponents is not None
    if not plain or control.pairs != "generated":
        return None
    reduction = reduce(problem, narrow_problem(problem, control))
    losses = problem.loss.array
    if (len(reduction.observables), reduction.shape[0]) != losses.shape[::-1]:
        losses = losses[np.ix_(reduction.heads, reduction.observables)]
    graph = graph_of(reduction.exponents)
    if graph is None:
        return None
    pairs, whole = graph
    master = program(reduction.prior, reduction.costs, reduction.exponents, losses.argmin(axis=0), pairs)
    return reduction.bare(), master, whole


def _look(problem: Problem, reduction: Reduction, master: Program) -> tuple[LeastCosts, CostFinder] | None:
    """Return the reduced costs of the whole problem where there are too many multipliers to store; else None."""
    n, m = problem.shape
    edges, exponents = master.edges, problem.exponents
    few = master.threshold is not None or len(edges.upper) * m <= MOST_PRICES
    if few or master.shape[0] != n or exponents is None:
        return None
    secrets = reduction.heads[master.order]
    s, t = secrets[edges.upper], secrets[edges.lower]
    allowed = exponents[s, t]
    costs = LeastCosts(problem.prior.probabilities, problem.loss.array, s, t, allowed)
    shares = np.exp(np.log(edges.root) - allowed)  # by which a multiplier of the program becomes a price

    def find_costs(o: int, rows: Ints, lam: Floats) -> Floats:
        prices = lam * shares[rows]
        twins = np.flatnonzero(reduction.columns == o).tolist()
        return np.asarray(np.min([costs.of(twin, rows, prices) for twin in twins], axis=0))

    return costs, find_costs


def _prices(master: Program, last_round: ProvedRound) -> Multipliers:
    """Return the multipliers behind a bound as prices of the reduced problem."""
    block, upper, lower = last_round.course.rows.pairs.triples()
    parts = [(upper, lower, last_round.observables[block], last_round.course.proof.pairs)]
    for o, price in last_round.absent.items():
        s, t = price.edges.upper[price.rows], price.edges.lower[price.rows]
        parts.append((s, t, np.full(len(s), o), price.lam))
    upper, lower, block, lam = (np.concatenate(column) for column in zip(*parts, strict=True))
    used = lam > 0
    upper, lower, block, lam = upper[used], lower[used], block[used], lam[used]
    exponents = master.exponents[upper, lower]
    # The row is scaled by e^{-E/2}; its plain form e^E x_t - x_s has the multiplier divided by e^{E/2}.
    return Multipliers(master.order[upper], master.order[lower], block, lam * np.exp(-exponents / 2), exponents)
