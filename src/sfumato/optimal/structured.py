"""The structured interior-point method as a solver of design problems.

The method sees merged secrets (at distance zero) and undominated observables; its prices
are carried back to the whole problem here, so that `evidence` can prove the bound
without knowing either.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..errors import InfeasibleError, SolverError
from ..evidence import Multipliers
from . import interior
from .answer import Answer, Control, Progress, Status, gap_of, mended, objective_of, proved_bound
from .effort import check_memory
from .pairs import spanner_pairs
from .problem import DISTORTION, WORST_CASE, Problem
from .repair import joined
from .solver import Solver

_ALMOST = 0.8
_LEAST = 1e-7  # exponent whose row has an inside in floats; secrets that are nearer to each other become one
_MENDED = 20_000_000  # likelihood ratios that are quickly looked through
_SHRINK = 2e-9  # of every exponent, and of a bounded loss, left for rounding to integers

_STATUS = {
    interior.Status.OPTIMAL: Status.OPTIMAL,
    interior.Status.TIME_LIMIT: Status.TIME_LIMIT,
    interior.Status.STOPPED: Status.INTERRUPTED,
    interior.Status.STALLED: Status.INACCURATE,
    interior.Status.ITERATION_LIMIT: Status.INACCURATE,
}


def cores() -> int:
    """Return how many processor cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Structured(Solver):
    """Sfumato's own interior-point method, which sees that observables are independent.

    Every iterate is strictly private, so it can be stopped at any time.

    Args:
        threads: Worker threads, each with one thread of BLAS; by default one per core.
        symmetry: Whether symmetries of the problem (of a square grid, say) are used.
        iteration_limit: The most iterations.
    """

    threads: int = field(default_factory=cores)
    symmetry: bool = True
    iteration_limit: int = 500

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name in reports."""
        return "structured interior point"

    def answer(self, problem: Problem, control: Control, start: Answer | None = None) -> Answer:
        """Solve a problem; see `Solver.answer`."""
        game = problem.objective == DISTORTION
        sign = -1.0 if game else 1.0
        log: list[Progress] = []

        def report(iteration: int, value: float, bound: float, gap: float, seconds: float) -> None:
            log.append(Progress(iteration, 0, sign * value, sign * bound, gap, seconds))
            if control.report is not None:
                control.report(log[-1])

        distortion: tuple[Floats, float | None] | None = None
        if problem.distance is not None:
            distortion = (problem.distance.array, None if game else problem.minimum)
        n = problem.shape[0]
        exponents = problem.exponents
        if exponents is None:
            exponents = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
        exponents = joined(exponents * (1 - _SHRINK), _LEAST)
        if control.pairs == "spanner":
            _, exponents = spanner_pairs(exponents, control.dilation)
        try:
            result = interior.solve(
                problem.prior.probabilities / problem.prior.probabilities.sum(),
                problem.loss.array,
                exponents,
                distortion=distortion,
                worst_case=problem.objective == WORST_CASE,
                loss_bound=problem.max_loss - _SHRINK * abs(problem.max_loss) if game else None,
                gap=_ALMOST * control.gap,  # the bound for the whole problem is a little lower
                time_limit=None if np.isinf(control.deadline) else max(control.remaining, 0.0),
                iteration_limit=self.iteration_limit,
                progress=report,
                stop=control.stop,
                warm=start.state if start is not None and isinstance(start.state, interior.Result) else None,
                threads=self.threads,
                symmetry=self.symmetry,
                memory=check_memory,
            )
        except interior.StoppedError:
            raise SolverError(
                f"the {self.name} had no answer in time.", "allow more time, or use fewer or larger cells."
            ) from None
        except interior.Infeasible as error:
            raise InfeasibleError(str(error).split("\nHint: ")[0], "ask for less.") from None
        prices = _prices(problem, result, exponents)
        bound = proved_bound(problem, prices)
        # Iterates are strictly private by themselves, and mending a large one takes as long as an iteration.
        small = problem.shape[0] ** 2 * problem.shape[1] <= _MENDED
        matrix, share = mended(problem, result.matrix) if small else (result.matrix, 0.0)
        value = objective_of(problem, matrix)
        status = _STATUS[result.status]
        if status is Status.INACCURATE and gap_of(problem, value, bound) <= control.gap:
            status = Status.OPTIMAL
        return Answer(matrix, share, value, bound, status, tuple(log), self.name, prices, result)


def _prices(problem: Problem, result: interior.Result, exponents: Floats) -> Multipliers:
    """Return the method's multipliers as prices of the whole problem's rows.

    Args:
        problem: The problem.
        result: The method's result.
        exponents: Array (n, n), the exponents that the method kept.
    """
    found = result.multipliers
    n, m = problem.shape
    first = _first_members(result.merged)
    target = _merged_into(problem, result.kept)
    used = np.flatnonzero(found.weight > 0)  # what is left of a single secret's imaginary companion has none
    if len(result.kept) < m:
        # A dominated observable has the prices of the one it was merged into: its reduced costs are no smaller.
        order = used[np.argsort(found.block[used], kind="stable")]
        begins = np.concatenate([[0], np.cumsum(np.bincount(found.block[used], minlength=len(result.kept)))])
        picks = [order[begins[b] : begins[b + 1]] for b in target]
        used = np.concatenate(picks)
        o = np.repeat(np.arange(m), [len(chosen) for chosen in picks])
    else:
        o = found.block[used]
    s, t = first[found.upper[used]], first[found.lower[used]]
    allowed = _between(problem, s, t)
    # What p(o|s') earns stays as the method left it, and what p(o|s) pays shrinks slightly: kept as it was, the
    # price would multiply what its exponent gained by exp(e), and a large epsilon would spoil the bound.
    price = found.weight[used] * np.exp(exponents[s, t] - allowed)

    guesses = None
    if problem.distance is not None and found.guesses is not None and found.weighted is not None:
        rows = _distinct_guesses(problem, result.merged, found.weighted.shape[1])
        guesses = np.zeros((len(problem.distance.array), m))
        guesses[rows] = found.guesses[target].T
    worst = found.eta if problem.objective == WORST_CASE else None
    loss = float(found.eta[0]) if problem.objective == DISTORTION else 0.0
    prices = Multipliers(s, t, o, price, allowed, guesses, worst, loss)
    return prices if len(first) == n else _shared_out(problem, prices, result.merged, first)


def _first_members(merged: NDArray[np.int64]) -> NDArray[np.intp]:
    _, first = np.unique(merged, return_index=True)
    return np.asarray(first)


def _merged_into(problem: Problem, kept: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return for every observable the kept one (as a position in ``kept``) that costs no more for any secret."""
    loss = problem.loss.array
    if problem.objective != WORST_CASE:
        loss = loss[problem.prior.probabilities > 0]
    target = np.zeros(loss.shape[1], dtype=np.intp)
    position = {int(o): k for k, o in enumerate(kept)}
    for o in range(loss.shape[1]):
        if o in position:
            target[o] = position[o]
        else:
            target[o] = int(np.argmax((loss[:, kept] <= loss[:, o, None]).all(axis=0)))
    return target


def _distinct_guesses(problem: Problem, merged: NDArray[np.int64], width: int) -> NDArray[np.intp]:
    """Return one guess for each distinct row of prior-weighted distances, in the method's order."""
    distance = problem.distance
    if distance is None:
        return np.empty(0, dtype=np.intp)
    prior = problem.prior.probabilities / problem.prior.probabilities.sum()
    weighted = np.zeros((len(distance.array), width))
    np.add.at(weighted.T, merged, (prior * distance.array).T)
    _, first = np.unique(weighted, axis=0, return_index=True)
    return np.asarray(first)


def _between(problem: Problem, s: NDArray[np.intp], t: NDArray[np.intp]) -> Floats:
    """Return the exponents of pairs, which near-equal secrets may have too."""
    return np.zeros(len(s)) if problem.exponents is None else problem.exponents[s, t]


def _shared_out(
    problem: Problem, prices: Multipliers, merged: NDArray[np.int64], first: NDArray[np.intp]
) -> Multipliers:
    """Add prices of the equalities within merged secrets, which hand every cost to the first of them."""
    n, m = problem.shape
    others = np.setdiff1d(np.arange(n), first)
    weights = problem.prior.probabilities
    if prices.worst is not None:
        positive = np.maximum(prices.worst, 0.0)
        weights = positive / positive.sum()
    own = weights[:, None] * problem.loss.array
    if problem.objective == DISTORTION:
        own = max(prices.loss, 0.0) * own
    if prices.guesses is not None and problem.distance is not None:
        own = own - problem.prior.probabilities[:, None] * (problem.distance.array.T @ prices.guesses)
    cost = own[others].ravel()
    member, head = np.repeat(others, m), np.repeat(first[merged[others]], m)
    positive_cost = cost > 0
    return replace(
        prices,
        secrets=np.concatenate([prices.secrets, np.where(positive_cost, head, member)]),
        others=np.concatenate([prices.others, np.where(positive_cost, member, head)]),
        observables=np.concatenate([prices.observables, np.tile(np.arange(m), len(others))]),
        local=np.concatenate([prices.local, np.abs(cost)]),
        exponents=np.concatenate([prices.exponents, _between(problem, head, member)]),
    )
