"""Rows of distribution privacy: in a linear program, and the repair of an answer to satisfy them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core import Integers, Mechanism
from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...proofs import FamilyRows
from ..row_generation import ProgramRows

_STEEPEST: Final = 23.0  # exponents of the program: the loss grows by about 1e-10, and solvers stay accurate
_LARGE: Final = 20.0  # factors above it are divided out of a row
_LIFT: Final = 1e-12  # the least probability of a report whose rows need repair
_MASS: Final = 1e-12  # of delta, left for rounding
_NO_ROOM: Final = 1e-14  # of a constant report: less is rounding
_BITS: Final = 126


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TightRows(CompactRepr):
    """Rows of distribution privacy, tightened by a margin for rounding."""

    first: Floats  # array (k, n)
    second: Floats  # array (k, n)
    factors: Floats  # array (k,)
    deltas: Floats  # array (k,)

    @classmethod
    def of(cls, rows: FamilyRows, margin: float) -> TightRows:
        """Return rows with a little less of every exponent and delta."""
        exponents = np.minimum(rows.exponents, 2 * _STEEPEST)  # of finite ones the margin is finite
        lower = exponents - np.minimum(exponents / 2, margin * (1 + exponents))
        deltas = np.maximum(rows.deltas * (1 - margin) - _MASS, 0.0)
        return cls(rows.first, rows.second, np.exp(np.minimum(lower, _STEEPEST)), deltas)

    @property
    def rows(self) -> int:
        """The number of pairs, each with a row per observable."""
        return len(self.deltas)

    @property
    def equalities(self) -> NDArray[np.bool_]:
        """Mask (k,) of the rows without room for a constant report: at an exponent of 0, without a delta."""
        room = self.factors * self.second.sum(axis=1) - self.first.sum(axis=1)
        return np.asarray((self.deltas == 0) & (room <= _NO_ROOM))

    @property
    def shares(self) -> int:
        """The number of pairs with a delta, each with a variable per observable and a row for their sum."""
        return int(np.count_nonzero(self.deltas))

    @property
    def scales(self) -> Floats:
        """The divisor of each pair's rows."""
        return np.where((self.deltas == 0) & (self.factors > _LARGE), self.factors, 1.0)

    @property
    def coefficients(self) -> Floats:
        """Array (k, n), the row of each pair."""
        return np.asarray((self.first - self.factors[:, None] * self.second) / self.scales[:, None])

    def add_to(self, rows: ProgramRows, offset: int) -> None:
        """Add the rows to a program whose variables of shares of delta begin at a column."""
        if not self.rows:
            return
        eye = sparse.identity(rows.m)
        coefficients = sparse.kron(self.coefficients, eye)
        loose = np.flatnonzero(self.deltas)
        if not len(loose):
            rows.add(-np.inf, 0.0, (coefficients, 0))
            return
        deltas = sparse.csr_array((-self.deltas[loose], (loose, np.arange(len(loose)))), (self.rows, len(loose)))
        rows.add(-np.inf, 0.0, (coefficients, 0), (sparse.kron(deltas, eye), offset))
        rows.add(-np.inf, 1.0, (sparse.kron(sparse.identity(len(loose)), np.ones((1, rows.m))), offset))

    def prices(self, duals: Floats, observables: int, factors: Floats) -> Floats:
        """Return the duals of the rows as prices, array (k, m), of rows with larger factors."""
        # The gain of p(o|s) stays as the solver left it, and its cost shrinks slightly: a large factor amplifies.
        scale = np.where(np.isfinite(factors), self.factors / (self.scales * factors), 0.0)
        return np.asarray(-duals.reshape(self.rows, observables) * scale[:, None])


def repair_to_families(matrix: Floats, rows: TightRows) -> Floats:
    """Return a row-stochastic matrix with distribution privacy, near one, as a mixture with constant reports.

    A constant report's rows have room. For delta 0 each report gets the least constant that its rows need; for
    delta the excess of mass is convex. Metric privacy and room in other linear constraints of both stay. Rows
    without room are equalities at an exponent of 0: the matrix is projected on these first.
    """
    if not rows.rows:
        return matrix
    equal = rows.equalities
    if equal.any():
        changes = rows.first[equal] - rows.second[equal]
        matrix = matrix - np.linalg.pinv(changes) @ (changes @ matrix)
        constant = matrix.mean(axis=0)
        share = float((-matrix.min(axis=0) / np.maximum(constant - matrix.min(axis=0), 1e-300)).max())
        share = min(max(share, 0.0) + _LIFT, 1.0)
        matrix = np.maximum((1 - share) * matrix + share * constant, 0.0)
        matrix /= matrix.sum(axis=1, keepdims=True)
    pure = (rows.deltas == 0) & ~equal
    room = rows.factors * rows.second.sum(axis=1) - rows.first.sum(axis=1)
    if pure.any():
        images = rows.first[pure] @ matrix
        excess = images - rows.factors[pure, None] * (rows.second[pure] @ matrix)
        constant = (excess / room[pure, None]).max(axis=0)
        rare = ((images > 0) & (images < _LIFT)).any(axis=0)
        lift = np.where((constant > 0) | rare, np.maximum(constant, _LIFT), 0.0)
        matrix = (matrix + lift) / (1 + lift.sum())
    loose = rows.deltas > 0
    if loose.any():
        excess = rows.first[loose] @ matrix - rows.factors[loose, None] * (rows.second[loose] @ matrix)
        masses = np.maximum(excess, 0.0).sum(axis=1)
        share = float(np.max(1 - rows.deltas[loose] / np.maximum(masses, 1e-300), initial=0.0))
        if share > 0:
            share = min(1.0, share * (1 + 1e-6))
            matrix = (1 - share) * matrix + share * matrix.mean(axis=0)
    return matrix


def equal_reports(matrix: Floats, rows: TightRows) -> Integers | None:
    """Return integers near a matrix (n, m), of sum 2**126 per row, for which two distributions have equal reports.

    The floats of the distributions count as they are. None where the equalities are of more than two, where the
    sums of the two differ, or where an integer would be negative.
    """
    equal = rows.equalities
    changes = rows.first[equal] - rows.second[equal]
    first, second = rows.first[equal][0].tolist(), rows.second[equal][0].tolist()
    pair = [Fraction(a) - Fraction(b) for a, b in zip(first, second, strict=True)]
    if np.linalg.matrix_rank(changes) > 1 or sum(pair):
        return None
    unit = math.lcm(*(value.denominator for value in pair))
    moves = [int(value * unit) for value in pair]
    used = sorted((s for s, move in enumerate(moves) if move), key=lambda s: abs(moves[s]))
    weights = np.asarray(Mechanism(matrix).weights, dtype=object)
    weights = weights * ((1 << _BITS) // sum(weights[0].tolist()))
    later = [math.gcd(*(moves[s] for s in used[k + 1 :])) for k in range(len(used))]
    last = int(matrix[used].min(axis=0).argmax())
    for o in range(weights.shape[1]):
        lack = -sum(moves[s] * weights[s, o] for s in used)
        if o == last or not lack:
            continue
        begin = round(Fraction(lack, moves[used[-1]]))
        steps = {used[-1]: begin}
        lack -= begin * moves[used[-1]]
        for s, divisor in zip(used[:-1], later, strict=False):
            here = math.gcd(moves[s], divisor)
            step = lack // here * pow(moves[s] // here, -1, divisor // here) % (divisor // here)
            steps[s], lack = step, lack - step * moves[s]
        steps[used[-1]] += lack // moves[used[-1]]
        for s, step in steps.items():
            weights[s, o] += step
            weights[s, last] -= step
    return weights if (weights >= 0).all() else None
