"""Problems without what cannot change their optimum, and the way back to the whole one: docs/proofs/reduction.md.

Secrets of zero prior stay: without them the optimum can be lower (docs/proofs/zero-prior.md).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..core.naming import DISTORTION, WORST_CASE
from ..errors import InputError, python
from ..proofs import Multipliers
from .problem import Problem

Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reduction(CompactRepr):
    """A reduced problem in arrays, with n of N secrets distinct, m of M observables kept, g guesses distinct."""

    problem: Problem  # the whole problem, for which prices are wanted
    prior: Floats  # array (n,), the mass of each distinct secret
    costs: Floats  # array (n, m), the prior-weighted loss of reporting o
    losses: Floats | None  # array (N, m), the loss of every secret, where the worst secret's counts; else None
    exponents: Floats  # array (n, n), the solver's exponents, `inf` for unconstrained pairs
    weighted: Floats | None  # array (g, n), prior-weighted distances of the guesses; None without distortion
    minimum: float | None  # the distortion to keep; None where there is none, or where it is maximised
    max_loss: float | None  # the largest expected loss, where the distortion is maximised; else None
    members: Positions  # array (N,), the distinct secret of each secret
    observables: Positions  # array (m,), the observables that are kept, ascending
    columns: Positions  # array (M,), for each observable the place in `observables` of the one it is merged into
    guesses: Positions  # array (g,), a guess for each distinct one; empty without distortion
    families: tuple[Floats, Floats] | None = None  # rows (k, n) and deltas (k,) of distribution privacy

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of distinct secrets and of kept observables."""
        n, m = self.costs.shape
        return n, m

    @property
    def heads(self) -> Positions:
        """Array (n,), the first secret of each distinct one."""
        return np.asarray(np.unique(self.members, return_index=True)[1])

    def bare(self) -> Reduction:
        """Return the same without costs and exponents, to lift an answer of a solver with arrays of its own."""
        costs, exponents = (np.broadcast_to(0.0, array.shape) for array in (self.costs, self.exponents))
        return replace(self, costs=costs, exponents=exponents)

    def lift(self, matrix: Floats) -> Floats:
        """Return a mechanism (n, m) of the reduced problem as one of the whole (N, M), of equal value."""
        whole = np.zeros((len(self.members), len(self.columns)))
        whole[:, self.observables] = matrix[self.members]
        return whole

    def lift_prices(self, prices: Multipliers, charges: Floats | None = None) -> Multipliers:
        """Return prices of the reduced problem as prices of the whole one; ``worst`` are of all secrets.

        Prices of distribution privacy count as ``charges``, array (N, M), which they add to the costs.
        """
        used = np.flatnonzero(prices.local > 0)
        if len(self.observables) < len(self.columns):
            order = used[np.argsort(prices.observables[used], kind="stable")]
            counts = np.bincount(prices.observables[used], minlength=len(self.observables))
            parts = np.split(order, np.cumsum(counts)[:-1])
            picks = [parts[b] for b in self.columns]
            used = np.concatenate(picks)
            o = np.repeat(np.arange(len(self.columns)), [len(pick) for pick in picks])
        else:
            o = prices.observables[used]
        heads = self.heads
        s, t = heads[prices.secrets[used]], heads[prices.rivals[used]]
        allowed = self._pair_exponents(s, t)
        # The gain of p(o|t) stays as the solver left it, and the price of p(o|s) shrinks slightly: unchanged, the
        # price would multiply the exponent's increase by exp(e), and a large epsilon would ruin the bound.
        local = prices.local[used] * np.exp(prices.exponents[used] - allowed)
        guesses, distance = None, self.problem.distance
        if distance is not None and prices.guesses is not None:
            guesses = np.zeros((len(distance.array), len(self.columns)))
            guesses[self.guesses] = prices.guesses[:, self.columns]
        multipliers = Multipliers(s, t, o, local, allowed, guesses, prices.worst, prices.loss)
        return multipliers if len(heads) == len(self.members) else self._shared_out(multipliers, heads, charges)

    def _shared_out(self, prices: Multipliers, heads: Positions, charges: Floats | None) -> Multipliers:
        """Return prices with those of the equalities within equal secrets: the first of them gets every cost."""
        problem, m = self.problem, len(self.columns)
        rest = np.setdiff1d(np.arange(len(self.members)), heads)
        mass = problem.prior.probabilities
        weights = mass
        if prices.worst is not None:
            positive = np.maximum(prices.worst, 0.0)
            weights = positive / (float(positive.sum()) or 1.0)
        costs = weights[:, None] * problem.loss.array
        if problem.objective == DISTORTION:
            costs = max(prices.loss, 0.0) * costs
        if prices.guesses is not None and problem.distance is not None:
            costs = costs - mass[:, None] * (problem.distance.array.T @ prices.guesses)
        if charges is not None:
            costs = costs + charges
        cost = costs[rest].ravel()
        member, head = np.repeat(rest, m), np.repeat(heads[self.members[rest]], m)
        positive_cost = cost > 0
        return replace(
            prices,
            secrets=np.concatenate([prices.secrets, np.where(positive_cost, head, member)]),
            rivals=np.concatenate([prices.rivals, np.where(positive_cost, member, head)]),
            observables=np.concatenate([prices.observables, np.tile(np.arange(m), len(rest))]),
            local=np.concatenate([prices.local, np.abs(cost)]),
            exponents=np.concatenate([prices.exponents, self._pair_exponents(head, member)]),
        )

    def _pair_exponents(self, s: Positions, t: Positions) -> Floats:
        """Return the whole problem's exponents of pairs, which can be pairs of equal secrets."""
        exponents = self.problem.exponents
        return np.zeros(len(s)) if exponents is None else exponents[s, t]


def reduce(
    problem: Problem, narrowed: Problem | None = None, families: tuple[Floats, Floats] | None = None
) -> Reduction:
    """Return a problem reduced, with exponents and ``max_loss`` of ``narrowed``, which has room for rounding.

    ``families`` are the rows, array (k, N), and deltas (k,) of its distribution privacy.
    """
    if problem.general and families is None:
        raise InputError(
            "this solver takes no linear constraints, no distribution privacy and no more than one attacker.",
            python("pass the problem to design, which asks a general solver."),
        )
    target = problem if narrowed is None else narrowed
    mass, loss = problem.prior.probabilities / problem.prior.probabilities.sum(), problem.loss.array
    size = len(mass)
    exponents = np.full((size, size), np.inf) if target.exponents is None else target.exponents
    members = np.arange(size) if target.exponents is None else _equal(exponents)
    n = int(members.max()) + 1
    if n == size and not np.diagonal(exponents).any():
        distinct = exponents
    else:
        distinct = np.full((n, n), np.inf)
        np.minimum.at(distinct, (members[:, None], members[None, :]), exponents)
        np.fill_diagonal(distinct, 0.0)
    worst, game = problem.objective == WORST_CASE, problem.objective == DISTORTION
    counts = np.ascontiguousarray((loss if worst or mass.all() else loss[mass > 0]).T)
    observables = _pareto_front(counts)
    columns = _merged_into(counts, observables)
    del counts
    prior: Floats = np.asarray(np.bincount(members, mass, n), dtype=np.float64)
    costs = mass[:, None] * (loss if len(observables) == loss.shape[1] else loss[:, observables])
    if n < size:
        every, costs = costs, np.zeros((n, len(observables)))
        np.add.at(costs, members, every)
    weighted: Floats | None = None
    guesses = np.empty(0, dtype=np.intp)
    if problem.distance is not None:
        weighted = np.zeros((len(problem.distance.array), n))
        np.add.at(weighted.T, members, (mass * problem.distance.array).T)
        weighted, guesses = np.unique(weighted, axis=0, return_index=True)
    if families is not None:
        of_distinct = np.zeros((n, len(families[1])))
        np.add.at(of_distinct, members, families[0].T)
        families = of_distinct.T, families[1]
    return Reduction(
        problem,
        prior,
        costs,
        np.ascontiguousarray(loss[:, observables]) if worst else None,
        distinct,
        weighted,
        None if weighted is None or game else target.minimum,
        target.max_loss if game else None,
        members,
        observables,
        columns,
        guesses,
        families,
    )


def _equal(exponents: Floats) -> Positions:
    """Return the class of each secret; exponent zero in either direction means equal rows."""
    zero = exponents == 0
    label = np.arange(len(exponents))
    for s in range(len(exponents)):
        for t in np.flatnonzero(zero[s]):
            if label[s] != label[t]:
                label[label == max(label[s], label[t])] = min(label[s], label[t])
    return np.asarray(np.unique(label, return_inverse=True)[1], dtype=np.intp)


def _pareto_front(loss: Floats) -> Positions:
    """Return the observables to keep, the first of equal ones; the losses (M, secrets) are those that count."""
    cheapest = loss.argmin(axis=1)
    alive = np.ones(len(loss), dtype=np.bool_)
    for o in range(len(loss)):
        rivals = np.flatnonzero(alive & (loss[:, cheapest[o]] <= loss[o, cheapest[o]]))
        rivals = rivals[rivals != o]
        if len(rivals) == 0:
            continue
        better = rivals[(loss[rivals] <= loss[o]).all(axis=1)]
        equal = (loss[better] == loss[o]).all(axis=1)
        alive[o] = not (~equal | (better < o)).any()
    return np.flatnonzero(alive)


def _merged_into(loss: Floats, observables: Positions) -> Positions:
    """Return for every observable the position of a kept one that costs no more for any secret that counts."""
    columns = np.zeros(len(loss), dtype=np.intp)
    columns[observables] = np.arange(len(observables))
    cheapest = loss.argmin(axis=1)
    for o in np.setdiff1d(np.arange(len(columns)), observables):
        rivals = np.flatnonzero(loss[observables, cheapest[o]] <= loss[o, cheapest[o]])
        columns[o] = rivals[int(np.argmax((loss[observables[rivals]] <= loss[o]).all(axis=1)))]
    return columns
