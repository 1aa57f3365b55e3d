"""The solver that generates observables, where few edges imply the rows of all pairs, or nearly do."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...core.naming import EXPECTED
from ...proofs import LeastCosts, Multipliers
from ..effort import GENERATED, MOST_PRICES, OF_PAIRS, cores, shortage_of_generated
from ..interior.checkpoints import state_folder
from ..interior.lapack import StoppedError, Workers
from ..problem import Problem
from ..reduction import Positions, Reduced, reduce
from ..solver import Answer, Control, Solver, Status, gap_of, objective_of, proved_bound, repair_answer
from ..structured import ALMOST, REPAIR_LIMIT, Structured, narrow_problem
from .program import Ints, Program, graph_of, program
from .rounds import ProvedRound, RoundsResult, beside, generate

_SMALL: Final = 600  # secrets up to which threads cost more than they save


@dataclass(frozen=True, slots=True)
class Generating(Solver):
    """Observables generated coarse to fine, for an expected loss where each secret has few neighbours.

    A program with few observables and all secrets is solved by the structured method's interior point. A small
    program for every other observable proves that it is harmless, or adds it. Where the rows of neighbours imply
    all others, as on a lattice with a guarantee per metre, they are the only ones; else rows of other pairs join
    where they matter. It can be stopped at any time. Other problems are passed to the structured method.

    Args:
        threads: Worker threads, each with one thread of BLAS; by default one per core. Up to 600 secrets take one.
        iteration_limit: The most iterations of each program.
        folder: Where iterates are stored, every few seconds and at a stop, so that the same design with the same
            folder resumes; by default nowhere. Remove it when the design is done.
    """

    name = GENERATED
    threads: int = field(default_factory=cores)
    iteration_limit: int = 500
    folder: str | os.PathLike[str] | None = None

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        answer = self.own(problem, control, start)
        if answer is not None:
            return answer
        rest = Structured(self.threads, iteration_limit=self.iteration_limit, folder=self.folder)
        return rest.answer(problem, control, start)

    def own(
        self, problem: Problem, control: Control, start: Answer | None = None, *, of_pairs: bool = True
    ) -> Answer | None:
        """Solve a problem as `Solver.answer` does, or return None where it needs the structured method.

        ``of_pairs`` says whether problems whose edges do not imply all rows are solved too, where memory suffices.
        """
        reduction = _program(problem, control) if plain(problem) and control.pairs == "generated" else None
        if reduction is None:
            return None
        reduced, master, whole = reduction
        if not (whole or of_pairs):
            return None
        if not whole and shortage_of_generated(*problem.shape, gap=control.gap, of_pairs=True) is not None:
            return None
        folder = None if self.folder is None else state_folder(self.folder)
        chosen = _begun(reduced, master, start)
        helpers = self.threads if problem.shape[0] > _SMALL else 1
        with Workers(helpers, lambda: control.stopped is not None) as workers:
            if not whole:
                try:
                    master = master.strict(workers)
                except StoppedError:
                    return None
            look = _look(problem, reduced, master)
            aim = replace(control, gap=ALMOST * control.gap)
            seen = None if look is None else look.seen
            ended = generate(
                master, aim, workers, most=self.iteration_limit, chosen=chosen, seen=seen, folder=folder
            )
        prices: Multipliers | None = None
        if look is not None and ended.proved.least is not None:
            bound = look.costs.bound(ended.proved.least)
        else:
            prices = reduced.lift_prices(_prices(master, ended.proved))
            bound = proved_bound(problem, prices)
        matrix, used = _matrix(reduced, master, ended)
        share = 0.0
        if problem.shape[0] ** 2 * problem.shape[1] <= REPAIR_LIMIT:
            matrix, share = repair_answer(problem, matrix)
        value = objective_of(problem, matrix, used)
        near = gap_of(problem, value, bound) <= control.gap
        status = ended.status
        if status in (Status.OPTIMAL, Status.INACCURATE):
            status = Status.OPTIMAL if near else Status.INACCURATE
        return Answer(
            matrix,
            share,
            value,
            bound,
            status,
            ended.log,
            self.name if whole else OF_PAIRS,
            prices,
            used=used,
            proved=prices is None,
        )


def plain(problem: Problem) -> bool:
    """Return whether a problem is an expected loss under rows of pairs, and nothing else."""
    return problem.objective == EXPECTED and problem.distance is None and problem.exponents is not None


def _program(problem: Problem, control: Control) -> tuple[Reduced, Program, bool] | None:
    """Return the reduced problem, its program with edges only, and whether these imply all rows; None if many."""
    reduced = reduce(problem, narrow_problem(problem, control))
    losses = problem.loss.array
    if (len(reduced.kept), reduced.shape[0]) != losses.shape[::-1]:
        losses = losses[np.ix_(reduced.heads, reduced.kept)]
    graph = graph_of(reduced.exponents)
    if graph is None:
        return None
    pairs, whole = graph
    master = program(reduced.prior, reduced.costs, reduced.exponents, losses.argmin(axis=0), pairs)
    return reduced.bare(), master, whole


def _begun(reduced: Reduced, master: Program, start: Answer | None) -> Positions | None:
    """Return the observables near those that a similar problem's answer uses; None where it names none."""
    if start is None or start.used is None or int(start.used[-1]) >= len(reduced.merged):
        return None
    return beside(master, np.unique(reduced.merged[start.used]))


@dataclass(frozen=True, slots=True)
class _Look:
    """Reduced costs of the whole problem, from multipliers that are not stored."""

    costs: LeastCosts  # finds them
    merged: Positions  # array (m,), the observable of the program that each one costs no less than
    shares: Floats  # array (rows,), by which each multiplier of the program becomes a price of the problem

    def seen(self, o: int, rows: Ints, lam: Floats) -> Floats:
        """Return the least proved reduced costs of an observable and those merged into it, array (n,)."""
        prices = lam * self.shares[rows]
        every = [self.costs.of(each, rows, prices) for each in np.flatnonzero(self.merged == o).tolist()]
        least: Floats = np.min(every, axis=0)
        return least


def _look(problem: Problem, reduced: Reduced, master: Program) -> _Look | None:
    """Return a `_Look` where there are too many multipliers to store; else None."""
    n, m = problem.shape
    edges, exponents = master.edges, problem.exponents
    few = master.threshold is not None or len(edges.upper) * m <= MOST_PRICES
    if few or master.shape[0] != n or exponents is None:
        return None
    secrets = reduced.heads[master.order]
    s, t = secrets[edges.upper], secrets[edges.lower]
    allowed = exponents[s, t]
    costs = LeastCosts(problem.prior.probabilities, problem.loss.array, s, t, allowed)
    return _Look(costs, reduced.merged, np.exp(np.log(edges.root) - allowed))


def _matrix(reduced: Reduced, master: Program, ended: RoundsResult) -> tuple[Floats, Positions]:
    """Return the mechanism, array (N, k), and the k observables that it uses."""
    matrix = np.empty((master.shape[0], len(ended.chosen)))
    matrix[master.order] = ended.x.T
    used = reduced.kept[ended.chosen]
    order = np.argsort(used)
    return matrix[reduced.members][:, order], used[order]


def _prices(master: Program, proved: ProvedRound) -> Multipliers:
    """Return the multipliers behind a bound as prices of the reduced problem."""
    block, upper, lower = proved.course.rows.pairs.triples()
    parts = [(upper, lower, proved.chosen[block], proved.course.proof.pairs)]
    for o, each in proved.absent.items():
        s, t = each.edges.upper[each.rows], each.edges.lower[each.rows]
        parts.append((s, t, np.full(len(s), o), each.lam))
    upper, lower, block, lam = (np.concatenate(column) for column in zip(*parts, strict=True))
    used = lam > 0
    upper, lower, block, lam = upper[used], lower[used], block[used], lam[used]
    exponents = master.exponents[upper, lower]
    # The row is scaled by e^{-E/2}; its plain form e^E x_t - x_s has the multiplier divided by e^{E/2}.
    return Multipliers(master.order[upper], master.order[lower], block, lam * np.exp(-exponents / 2), exponents)
