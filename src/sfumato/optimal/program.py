"""A design problem as a linear program in general form.

Variables, in this order: p(o|s) row by row; the adversary's error y(o) per observable,
where distortion counts; and the worst-case loss z, where it is the objective. Each row
of metric privacy is scaled so that its larger coefficient is one, and losses and
distances so that their largest entry is, because back-ends know absolute tolerances.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..core.arrays import Floats
from ..evidence import Multipliers
from .linear import LinearProgram, Solution
from .problem import DISTORTION, WORST_CASE, Problem


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


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A problem with some of its metric-privacy rows, ready for a back-end."""

    problem: Problem
    triples: Triples

    def linear(self) -> LinearProgram:
        """Return the linear program."""
        problem, (n, m) = self.problem, self.problem.shape
        size = n * m
        losses = problem.loss.array / problem.loss_scale
        weighted = problem.prior.probabilities[:, None] * losses
        attacked = problem.distance is not None
        worst = problem.objective == WORST_CASE
        columns = size + (m if attacked else 0) + (1 if worst else 0)
        cost, floor = np.zeros(columns), np.zeros(columns)
        blocks = [_wide(sparse.kron(sparse.identity(n), np.ones((1, m))), columns, 0)]
        lower, upper = [np.ones(n)], [np.ones(n)]

        def add(block: sparse.sparray, low: Floats, high: Floats) -> None:
            blocks.append(block)
            lower.append(low)
            upper.append(high)

        free, zero, one = np.full(1, np.inf), np.zeros(1), np.ones(1)
        if problem.distance is not None:
            seen = problem.distance.array / problem.distance_scale * problem.prior.probabilities
            guesses = len(seen)
            rows = _wide(sparse.kron(seen, sparse.identity(m)), columns, 0) - _wide(
                sparse.kron(np.ones((guesses, 1)), sparse.identity(m)), columns, size
            )
            add(rows, np.zeros(guesses * m), np.full(guesses * m, np.inf))
            if problem.objective == DISTORTION:
                cost[size : size + m] = -1.0
                bounded = _wide(sparse.csr_array(weighted.reshape(1, -1)), columns, 0)
                add(bounded, -free, problem.max_loss / problem.loss_scale * one)
            else:
                add(
                    _wide(sparse.csr_array(np.ones((1, m))), columns, size),
                    problem.minimum / problem.distance_scale * one,
                    free,
                )
        if worst:
            cost[-1] = 1.0
            indptr = np.arange(n + 1) * m
            per_secret = sparse.csr_array((losses.ravel(), np.arange(size), indptr), shape=(n, size))
            rows = _wide(per_secret, columns, 0) - _wide(sparse.csr_array(np.ones((n, 1))), columns, columns - 1)
            add(rows, np.full(n, -np.inf), np.zeros(n))
        elif problem.objective != DISTORTION:
            cost[:size] = weighted.ravel()
        if problem.exponents is not None and len(self.triples):
            t, k = self.triples, len(self.triples)
            small = np.exp(-problem.exponents[t.secrets, t.others])
            row = np.arange(k)
            entries = np.concatenate([small, -np.ones(k)])
            places = np.concatenate([t.secrets * m + t.observables, t.others * m + t.observables])
            block = sparse.csr_array((entries, (np.concatenate([row, row]), places)), shape=(k, columns))
            add(block, np.full(k, -np.inf), np.repeat(zero, k))
        stacked = sparse.csr_array(sparse.vstack(blocks, format="csr"))
        stacked.eliminate_zeros()
        return LinearProgram(cost, stacked, np.concatenate(lower), np.concatenate(upper), floor)

    def matrix(self, solution: Solution) -> Floats:
        """Return the p(o|s) of an answer, array (n, m), as the back-end left them."""
        n, m = self.problem.shape
        found: Floats = np.asarray(solution.x)[: n * m].reshape(n, m)
        return found

    def multipliers(self, duals: Floats) -> Multipliers:
        """Return the row duals of an answer as prices of the problem's constraints."""
        problem, (n, m) = self.problem, self.problem.shape
        position = n
        guesses, worst, loss = None, None, 0.0
        if problem.distance is not None:
            count = len(problem.distance.array)
            guesses = duals[position : position + count * m].reshape(count, m)
            guesses = guesses * (problem.scale / problem.distance_scale)
            position += count * m
            if problem.objective == DISTORTION:
                loss = float(-duals[position]) * problem.scale / problem.loss_scale
            position += 1
        if problem.objective == WORST_CASE:
            worst = -duals[position : position + n]
            position += n
        t = self.triples
        exponents = np.zeros(0) if problem.exponents is None else problem.exponents[t.secrets, t.others]
        local = -duals[position:] * np.exp(-exponents) * problem.scale
        return Multipliers(t.secrets, t.others, t.observables, local, exponents, guesses, worst, loss)


def _wide(block: sparse.sparray, columns: int, offset: int) -> sparse.csr_array:
    """Return a block placed at a column offset of a wider matrix."""
    coo = sparse.coo_array(block)
    return sparse.csr_array((coo.data, (coo.row, coo.col + offset)), shape=(coo.shape[0], columns))
