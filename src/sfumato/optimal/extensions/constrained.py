"""Designs with linear constraints, several attackers or distribution privacy, by a linear program.

The variables, in this order: p(o|s) row by row; for each attacker their error y(o) per observable; for each pair
of distributions with a delta its share per observable; the largest expected loss, where there are several. The
program of the room minimises a last variable: the largest violation of a constraint, as a share of its scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from scipy import sparse

from ...core import FINE, Mechanism
from ...core.arrays import Floats
from ...errors import InfeasibleError, InputError, SolverError, argument
from ...proofs import ManyMultipliers
from ...rounding import amount_at_least
from ..effort import check_family_memory, check_memory
from ..interior.lapack import StoppedError
from ..interior.loop import solve
from ..problem import Problem
from ..reduction import reduce
from ..row_generation import LinearProgram, LinearSolver, ProgramRows, Triples, first_rows, solve_rounds
from ..solver import Answer, BoundedSearch, Control, Progress, Solver, Status, certify_mechanism, gap_of
from ..solver_registry import SMALL_PROBLEM, Auto, general_solvers
from ..structured import narrow_problem
from .demands import Demands
from .families import TightRows, equal_reports
from .family_interior import FamilyProgram
from .mixtures import CLOSED, SimpleMechanisms, mixture_share, simple_prices

ENOUGH: Final = 1e-9
"""Share of a constraint's scale left for rounding."""

MARGIN: Final = 1e-9  # of the exponents, left for rounding
_HALF: Final = 0.5  # of the most room is enough
_COUNTS: Final = 1e-6  # of the largest price: constraints with smaller prices are not named
_KEPT_BACK: Final = (1e-7, 4e-9)  # of each constraint's scale: tightened by this for back-ends
_INTERIOR: Final = "structured interior point for distributions"
_STRUCTURED: Final = "structured interior point with distributions"
_REACH: Final = 0.8  # of the gap: room for the repair
_NOISE: Final = (FINE, 2.0**-40)  # smaller probabilities of an interior point are taken for 0
_FEW: Final = 400  # probabilities up to which back-ends take less than a second with metric privacy
_TOO_LARGE: Final = 40_000  # probabilities with which back-ends improve nothing in minutes
_FALL: Final = 0.2  # of the gap at the last proof, until the next one
_ENTRY_S: Final = 5e-7  # seconds per coefficient of a program, until a back-end starts
_MARGINS: Final = (1e-9, 1e-8, 1e-7)  # of the exponents, tried until a proof succeeds


@dataclass(frozen=True, slots=True, eq=False)
class GeneralProgram:
    """The program of some demands."""

    demands: Demands
    triples: Triples  # the rows of metric privacy in it
    kept_back: float = 0.0  # by which share of its scale each constraint is tightened
    of_room: bool = False  # whether it maximises the room of the constraints, instead of minimising the loss

    @property
    def program(self) -> LinearProgram:
        """The linear program."""
        d, p, (n, m) = self.demands, self.demands.problem, self.demands.problem.shape
        size, attackers = n * m, len(p.attackers)
        pairs = self._pairs
        further = attackers * m + pairs.shares * m
        rows = ProgramRows(n, m, further + (self._takes_largest or self.of_room))
        scales, kept_back = d.scales, 0.0 if self.of_room else self.kept_back
        more, less = ([(sign * np.ones((1, 1)), rows.columns - 1)] * self.of_room for sign in (1, -1))
        for j, attacker in enumerate(p.attackers):
            costs = p.prior.probabilities * attacker.distance.array / scales[j]
            here = size + j * m
            rows.add_errors(costs, here)
            rows.add(attacker.minimum / scales[j] + kept_back, np.inf, (np.ones((1, m)), here), *more)
        for k, constraint in enumerate(p.constraints):
            scale = scales[attackers + k]
            row = constraint.coefficients.reshape(1, -1) / scale
            rows.add(-np.inf, constraint.at_most / scale - kept_back, (row, 0), *less)
        pairs.add_to(rows, size + attackers * m)
        cost, floor = np.zeros(rows.columns), np.zeros(rows.columns)
        if self.of_room:
            cost[-1], floor[-1] = 1.0, -np.inf
        elif self._takes_largest:
            cost[-1] = 1.0
            flat = sparse.csr_array((p.loss.array / p.loss_scale).reshape(1, -1))
            rows.add_largest(sparse.csr_array(sparse.kron(sparse.csr_array(d.masses), np.ones((1, m)))) * flat)
        else:
            cost[:size] = (d.masses[0][:, None] * p.loss.array / p.loss_scale).ravel()
        rows.add_privacy(self.triples, d.exponents)
        return rows.program(cost, floor)

    def prices(self, duals: Floats) -> ManyMultipliers:
        """Return the row duals of an answer as prices of the demands."""
        d, p, (n, m) = self.demands, self.demands.problem, self.demands.problem.shape
        unit = 1.0 if self.of_room else p.loss_scale
        scales, position = d.scales, n
        guesses = []
        for j, attacker in enumerate(p.attackers):
            count = len(attacker.distance.array)
            guesses.append(duals[position : position + count * m].reshape(count, m) * (unit / scales[j]))
            position += count * m + 1
        limits = -duals[position : position + len(p.constraints)] * unit / scales[len(p.attackers) :]
        position += len(p.constraints)
        pairs = self._pairs
        families = pairs.prices(duals[position : position + pairs.rows * m], m, d.families.factors) * unit
        position += pairs.rows * m + pairs.shares
        masses = np.ones(len(d.masses))
        if self._takes_largest and not self.of_room:
            masses = -duals[position : position + len(d.masses)]
            position += len(d.masses)
        rows = self.triples.prices(duals[position:], d.exponents, unit)
        return ManyMultipliers(rows, masses, tuple(guesses), limits, families)

    @property
    def _pairs(self) -> TightRows:
        return TightRows.of(self.demands.families, MARGIN)

    @property
    def _takes_largest(self) -> bool:
        return len(self.demands.masses) > 1


def with_most_room(
    demands: Demands, control: Control, back_ends: Sequence[LinearSolver], triples: Triples
) -> tuple[Floats | None, Triples]:
    """Return a mechanism with room in every constraint, or None without time; and the rows that it needed."""
    build = partial(GeneralProgram, demands, of_room=True)
    for back_end in back_ends:
        rounds = solve_rounds(back_end, build, triples, demands.exponents, demands.problem.shape[1], control)
        for program, solution in rounds:
            triples = program.triples
            if solution.is_over:
                break
            if solution.duals is not None:
                _refuse_if_proved(demands, program.prices(solution.duals))
            matrix = demands.private(solution.matrix(*demands.problem.shape), MARGIN)
            excess, least = float(demands.excess(matrix).max(initial=-np.inf)), float(np.asarray(solution.x)[-1])
            if excess <= min(_HALF * least, -4 * ENOUGH):
                return matrix, triples
        if control.cutoff is not None:
            return None, triples
    raise InfeasibleError(
        f"no mechanism was found that satisfies all of these with room for rounding: {'; '.join(demands.names)}.",
        "ask for a little less. An equation, given as two constraints, needs some room between them.",
    )


def _refuse_if_proved(demands: Demands, prices: ManyMultipliers) -> None:
    """Raise `InfeasibleError`, naming the constraints with a price, where prices prove infeasibility."""
    bound = demands.bound(prices, of_loss=False)
    if not bound > 0:
        return
    price = np.array([*(float(attacker.sum(axis=0).min()) for attacker in prices.attackers), *prices.constraints])
    weight = price * demands.scales
    culprits = np.flatnonzero(weight > _COUNTS * weight.max())
    names = [demands.names[k] for k in culprits]
    k = int(culprits[0])
    if len(culprits) == 1:
        attackers = tuple(attacker * (j == k) for j, attacker in enumerate(prices.attackers))
        mask = np.arange(len(prices.constraints)) + len(attackers) != k
        prices = replace(prices, attackers=attackers, constraints=np.where(mask, 0.0, prices.constraints))
        bound = demands.bound(prices, of_loss=False)
        names = names if bound > 0 else demands.names
    problem, count, scope = demands.problem, len(demands.problem.attackers), demands.problem.scope
    if len(names) > 1:
        message = f"no mechanism {scope} satisfies all of these: {'; '.join(names)}."
        raise InfeasibleError(message, "ask for less of at least one of them.")
    if k < count:
        raise InfeasibleError(f"no mechanism {scope} satisfies the {names[0]}.", "ask for less.")
    limit = problem.constraints[k - count]
    least = amount_at_least(limit.at_most + bound / float(price[k]), limit.unit, 6)
    has_epsilon = any((array > 0).any() for array in (prices.rows.local, prices.families) if array is not None)
    raise InfeasibleError(
        f"no mechanism {scope} satisfies the constraint ({limit}): the sum is at least {least}.",
        f"allow more than that{', or raise epsilon' if has_epsilon else ''}.",
    )


class _Search(BoundedSearch):
    """The best mechanism, the best bound, and the rows of metric privacy so far."""

    def __init__(self, demands: Demands, control: Control, negligible: float) -> None:
        super().__init__(control, negligible)
        self.demands = demands
        self._triples: Triples | None = None
        self.prices = demands.no_prices()
        self.bound = demands.bound(self.prices)
        self.best: Floats | None = None
        self.last: Floats | None = None
        self.roomy: Floats | None = None  # a simple mechanism with room in every constraint
        self.solver = self.bounding = ""  # whose mechanism is the best, and whose prices
        self.infeasible = self.late = False

    @property
    def triples(self) -> Triples:
        """The rows of metric privacy in the program; the first ones take seconds for hundreds of secrets."""
        if self._triples is None:
            demands = self.demands
            self._triples = first_rows(demands.exponents, demands.problem.shape[1], self.control.pairs)
        return self._triples

    @triples.setter
    def triples(self, triples: Triples) -> None:
        self._triples = triples

    def run(self, back_ends: Sequence[LinearSolver], *, threads: int = 0) -> Answer:
        """Return the best mechanism of the back-ends; all but the first run on small problems only.

        With ``threads`` the structured methods for distribution privacy come first on large problems.
        """
        n, m = self.demands.problem.shape
        self.offer_closed_forms()
        attempts = [(back_ends[0], kept_back) for kept_back in _KEPT_BACK]
        alone, both = self.demands.of_families_alone, self.demands.of_families_and_pairs
        inside = not TightRows.of(self.demands.families, MARGIN).equalities.any()
        if threads and inside and ((alone and n * m > SMALL_PROBLEM) or (both and n * m > _FEW)):
            self.ask_interior() if alone else self.ask_structured(threads)
            too_large = self.best is not None and n * m > (_TOO_LARGE if alone else SMALL_PROBLEM)
            if self.gap <= self.control.gap or too_large:
                attempts = []
        if n * m <= SMALL_PROBLEM and self.gap > self.control.gap:
            attempts += [(back_end, _KEPT_BACK[-1]) for back_end in back_ends[1:]]
        for back_end, kept_back in attempts:
            self.ask(back_end, kept_back)
            impossible = self.infeasible and kept_back == _KEPT_BACK[-1]
            if self.gap <= self.control.gap or impossible or self.late or self.control.cutoff is not None:
                break
        if self.solver in ("", CLOSED) and self.demands.names and not self.late:
            self.make_room(back_ends)
        if len(self.demands.families):
            self._offer(self.demands.best_constant(), CLOSED)
        reason = self.control.cutoff or (Status.TIME_LIMIT if self.late else None)
        if self.best is None:
            why = (reason or Status.INACCURATE).value
            raise SolverError(
                f"no mechanism was found that meets every requirement ({why}).",
                "allow more time, or use fewer or larger cells.",
            )
        status = Status.OPTIMAL if self.gap <= self.control.gap else reason or Status.INACCURATE
        name = (
            self.solver if self.solver in (_INTERIOR, _STRUCTURED, CLOSED) else f"{self.solver} (general program)"
        )
        if self.solver == CLOSED and self.bounding:
            name += f" (its bound by {self.bounding})"
        log = tuple(self.log)
        return Answer(self.best, 0.0, self.value, self.bound, status, log, name, constrained=self.prices)

    def offer_closed_forms(self) -> None:
        """Offer the best mixture of constant reports and other closed forms that satisfies the constraints."""
        simple = SimpleMechanisms.of(self.demands, MARGIN)
        roomy = simple.with_most_room() if self.demands.names else None
        if roomy is None or self.demands.excess(roomy).max() <= -2 * _KEPT_BACK[-1]:
            self.roomy = roomy
            offers = (roomy, *map(simple.best, _KEPT_BACK))
            for offer in offers:
                if offer is not None:
                    self._offer(offer, CLOSED)
        for prices, name in simple_prices(self.demands, self.control):
            self._raise_bound(prices, name)
        self.report()

    def _raise_bound(self, prices: ManyMultipliers, solver: str) -> None:
        """Take a larger bound."""
        bound = self.demands.bound(prices)
        if bound > self.bound:
            self.bound, self.prices, self.bounding = bound, prices, solver

    def ask_interior(self) -> None:
        """Run the interior point for distribution privacy until the gap is reached."""
        demands, problem = self.demands, self.demands.problem
        check_family_memory(problem.shape[1], len(demands.families))
        tight = TightRows.of(demands.families, MARGIN)
        cost = demands.masses[0][:, None] * problem.loss.array / problem.loss_scale
        last = np.inf
        for matrix, prices, gap in FamilyProgram.of(cost, tight).steps():
            share = gap / max(float((cost * matrix).sum()), 1e-300)
            stops = self.control.cutoff is not None
            if share > _FALL * last and not stops:
                continue
            last = share
            families = tight.prices(-prices, problem.shape[1], demands.families.factors) * problem.loss_scale
            self._raise_bound(replace(demands.no_prices(), families=families), _INTERIOR)
            for least in _NOISE:  # fewer small probabilities are quicker to draw
                self._offer(demands.private(np.where(matrix < least, 0.0, matrix), MARGIN), _INTERIOR)
                if self.gap <= self.control.gap:
                    break
            self.report()
            if stops or self.gap <= self.control.gap:
                return

    def ask_structured(self, threads: int) -> None:
        """Run the structured interior point for metric privacy, with the rows of distribution privacy in it."""
        demands, problem = self.demands, self.demands.problem
        tight = TightRows.of(demands.families, MARGIN)
        narrowed = narrow_problem(problem, self.control)
        if problem.attackers:
            narrowed = replace(narrowed, minimum=problem.minimum + _KEPT_BACK[-1] * float(demands.scales[0]))
        reduction = reduce(problem, narrowed, (-tight.coefficients, tight.deltas))
        tell = self.control.progress
        watch = None if tell is None else lambda step: tell(self._lift(step))
        try:
            limits = replace(self.control, gap=_REACH * self.control.gap, progress=watch)
            result = solve(reduction, limits, threads=threads, memory=check_memory)
        except (StoppedError, InfeasibleError):
            return  # the back-ends name what is infeasible
        self.log += map(self._lift, result.log)
        families = None
        charges = np.zeros(problem.shape)
        if result.families is not None:
            families = tight.prices(
                -result.families[reduction.columns].T, problem.shape[1], demands.families.factors
            )
            charges = demands.families.first.T @ families
            charges -= (demands.families.factors[:, None] * demands.families.second).T @ families
        prices = reduction.lift_prices(result.prices, charges)
        guesses = () if prices.guesses is None else (prices.guesses,)
        masses = np.ones(1) if prices.worst is None else prices.worst
        self._raise_bound(ManyMultipliers(prices, masses, guesses, np.empty(0), families), _STRUCTURED)
        self._offer(demands.private(reduction.lift(result.matrix), MARGIN), _STRUCTURED)
        self.report(len(result.keys))

    def _lift(self, step: Progress) -> Progress:
        """Return a line of progress with value and bound at least as good as those of the search."""
        value, bound = min(step.value, self.value), max(step.bound, self.bound)
        return replace(step, value=value, bound=bound, gap=gap_of(self.demands.problem, value, bound))

    def ask(self, back_end: LinearSolver, kept_back: float) -> None:
        """Run a back-end, adding the rows that its answers break, until the gap is reached or no row is broken."""
        demands, build = self.demands, partial(GeneralProgram, self.demands, kept_back=kept_back)
        m = demands.problem.shape[1]
        self.late = demands.coefficients * _ENTRY_S > self.control.remaining
        if self.late or self.control.cutoff is not None:
            return
        rounds = solve_rounds(back_end, build, self.triples, demands.exponents, m, self.control)
        for program, solution in rounds:
            self.triples, self.infeasible = program.triples, solution.status is Status.INFEASIBLE
            if solution.is_over:
                return
            if solution.duals is not None:
                self._raise_bound(program.prices(solution.duals), f"{back_end.name} (general program)")
            self._offer(demands.private(solution.matrix(*demands.problem.shape), MARGIN), back_end.name)
            self.report(len(self.triples))
            if self.gap <= self.control.gap:
                return

    def make_room(self, back_ends: Sequence[LinearSolver]) -> None:
        """Mix in a mechanism with room in every constraint, because no answer satisfied them all after repair."""
        if self.control.cutoff is not None:
            return
        try:
            roomy, self.triples = with_most_room(self.demands, self.control, back_ends, self.triples)
        except InfeasibleError:
            if self.best is None:
                raise
            return
        if roomy is None:
            return
        if self.infeasible and self.control.cutoff is None:
            self.ask(back_ends[0], 0.0)  # the tightening exceeds the room
        best, self.roomy = self.last, roomy
        self._offer(roomy, back_ends[0].name)
        if best is not None:
            self._offer(best, back_ends[0].name)
        self.report()

    def _offer(self, matrix: Floats, solver: str) -> None:
        """Make a mechanism with metric privacy the best, if it satisfies the constraints and loses less.

        One that breaks a constraint is mixed with the mechanism with room.
        """
        self.last = matrix
        excess = self.demands.excess(matrix)
        if excess.max(initial=-np.inf) > -ENOUGH:
            if self.roomy is None:
                return
            share = mixture_share(excess, self.demands.excess(self.roomy), 2 * ENOUGH)
            matrix = (1 - share) * matrix + share * self.roomy
            if self.demands.excess(matrix).max() > -ENOUGH:
                return
        value = self.demands.losses(matrix).max()
        if value < self.value:
            self.best, self.value, self.solver = matrix, float(value), solver


def general_answer(problem: Problem, solver: Solver, control: Control) -> Answer:
    """Return the proved answer to a problem with linear constraints, several attackers or distributions."""
    demands, search = Demands.of(problem), back_ends(solver, control.pairs)
    threads = solver.threads if isinstance(solver, Auto) else 0
    answer = _Search(demands, control, problem.negligible).run(search, threads=threads)
    return with_integers(demands, answer, control.gap)


def with_integers(demands: Demands, answer: Answer, gap: float) -> Answer:
    """Return an answer with integers that are proved to satisfy the demands; `SolverError` if none are found."""
    problem, matrix = demands.problem, answer.matrix
    spaces = problem.prior.space, problem.observables
    tight = TightRows.of(demands.families, MARGIN)
    has_equalities = bool(tight.equalities.any())
    for margin in _MARGINS:
        weights = equal_reports(matrix, tight) if has_equalities else None
        mechanism = (
            Mechanism(matrix, *spaces) if weights is None else Mechanism.from_weights(weights, 126, *spaces)
        )
        if certify_mechanism(problem, mechanism, answer.bound).holds:
            return replace(answer, matrix=matrix, mechanism=mechanism)
        matrix = demands.private(answer.matrix, 10 * margin)
    if len(demands.families):
        constant = demands.best_constant()
        mechanism, value = Mechanism(constant, *spaces), float(demands.losses(constant).max())
        if certify_mechanism(problem, mechanism, answer.bound).holds:
            near = gap_of(problem, value, answer.bound) <= gap
            status = answer.status if near else Status.INACCURATE
            return replace(answer, matrix=constant, mechanism=mechanism, value=value, status=status)
    raise SolverError(
        "the answer could not be proved to satisfy the guarantees and constraints after rounding to integers.",
        "ask for a little less.",
    )


def back_ends(solver: Solver, pairs: str) -> Sequence[LinearSolver]:
    """Return the back-ends for a general program; raise `InputError` for another solver or a spanner."""
    if pairs == "spanner":
        raise InputError(
            "with linear constraints, distribution privacy or several attackers, a spanner is not possible.",
            f"use {argument('pairs', 'generated')}.",
        )
    if isinstance(solver, Auto):
        return general_solvers()
    if isinstance(solver, LinearSolver):
        return (solver,)
    raise InputError(
        f"the {solver.name} solver takes no linear constraints, no distribution privacy, and no more than one "
        "attacker and one prior.",
        f"leave {argument('solver')} out, or use highs, simplex or clarabel.",
    )
