"""Interior-point method for programs whose only guarantee is distribution privacy.

The rows of one report share no variable with those of another, so each Newton step has one small system per report
and one of the size of the secrets: Mehrotra's method, from a strictly feasible start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg.lapack import dtrtri

from ...core.arrays import Floats, Positions
from .families import TightRows

_STEPS: Final = 200
_STEP: Final = 0.995  # of the way to the boundary
_REGULAR: Final = 1e-14  # relative, on diagonals
_LEAST: Final = 1e-15  # complementarity at which floats are exhausted

Vector = tuple[Floats, ...]
"""Values of the variables (p(o|s), slacks of rows of pairs, shares of each delta per report, its rest), or of the
equations (sums of rows, rows of pairs, sums of shares)."""


@dataclass(frozen=True, slots=True, eq=False)
class FamilyProgram:
    """Minimise cost * x subject to rows of x that sum to one, and the rows of each pair of distributions."""

    cost: Floats  # array (n, m)
    distributions: Floats  # array (f, n)
    pairs: Floats  # array (k, f), what the row of each pair takes of each distribution
    loose: Positions  # positions of the pairs with a delta
    deltas: Floats  # of these

    @classmethod
    def of(cls, cost: Floats, tight: TightRows) -> FamilyProgram:
        """Return the program of tightened rows."""
        loose = np.flatnonzero(tight.deltas)
        every = np.concatenate([tight.first, tight.second])
        distributions, places = np.unique(every, axis=0, return_inverse=True)
        pairs, ends = np.zeros((tight.rows, len(distributions))), places.reshape(2, -1)
        np.add.at(pairs, (np.arange(tight.rows), ends[0]), 1 / tight.scales)
        np.add.at(pairs, (np.arange(tight.rows), ends[1]), -tight.factors / tight.scales)
        return cls(cost, distributions, pairs, loose, tight.deltas[loose])

    def steps(self) -> Iterator[tuple[Floats, Floats, float]]:
        """Yield p(o|s), array (n, m), the prices of the rows, array (k, m), and the gap of each iteration."""
        x, s, ends = self._start()
        unit = float(np.abs(self.cost).max())
        size = sum(part.size for part in x)
        for _ in range(_STEPS):
            gap = sum(float((a * b).sum()) for a, b in zip(x, s, strict=True)) / size
            system = _Newton.of(self, x, s) if gap > _LEAST * unit else None
            if system is None:
                return
            residuals = self._residuals(x, s, ends)
            affine = system.step(residuals, tuple(-a * b for a, b in zip(x, s, strict=True)))
            lengths = _length(x, affine[0], 1.0), _length(s, affine[1], 1.0)
            target = sum(
                float(((a + lengths[0] * da) * (b + lengths[1] * db)).sum())
                for a, da, b, db in zip(x, affine[0], s, affine[1], strict=True)
            )
            centre = gap * (target / size / gap) ** 3
            products = tuple(
                centre - a * b - da * db for a, da, b, db in zip(x, affine[0], s, affine[1], strict=True)
            )
            forward, dual, shift = system.step(residuals, products)
            if not all(np.isfinite(part).all() for part in (*forward, *dual, *shift)):
                return
            primal, back = _length(x, forward, _STEP), _length(s, dual, _STEP)
            x = tuple(a + primal * da for a, da in zip(x, forward, strict=True))
            s = tuple(b + back * db for b, db in zip(s, dual, strict=True))
            ends = tuple(a + back * da for a, da in zip(ends, shift, strict=True))
            yield x[0], s[1], sum(float((a * b).sum()) for a, b in zip(x, s, strict=True))

    def apply(self, x: Vector) -> Vector:
        """Return the values of the equations: the sums of rows, the rows of pairs, the sums of shares."""
        pairs = self.pairs @ (self.distributions @ x[0]) + x[1]
        pairs[self.loose] -= x[2]
        return x[0].sum(axis=1), pairs, x[2].sum(axis=1) + x[3]

    def transpose(self, ends: Vector) -> Vector:
        """Return the products of prices of the equations with the columns."""
        sums, pairs, shares = ends
        cost = sums[:, None] + self.distributions.T @ (self.pairs.T @ pairs)
        return cost, pairs, shares[:, None] - pairs[self.loose], shares

    def _start(self) -> tuple[Vector, Vector, Vector]:
        (n, m), unit = self.cost.shape, float(np.abs(self.cost).max()) or 1.0
        matrix = np.full((n, m), 1 / m)
        shares = np.repeat(self.deltas[:, None] / (2 * m), m, axis=1)
        slacks = -(self.pairs @ (self.distributions @ matrix))
        slacks[self.loose] += shares
        prices = np.full(slacks.shape, unit)
        sums = (self.cost + self.distributions.T @ (self.pairs.T @ prices)).min(axis=1) - unit
        ends = sums, -prices, np.full(len(self.deltas), -2 * unit)
        x = matrix, slacks, shares, self.deltas / 2
        columns = self.transpose(ends)
        s = (self.cost - columns[0], *(-part for part in columns[1:]))
        return x, s, ends

    def _residuals(self, x: Vector, s: Vector, ends: Vector) -> tuple[Vector, Vector]:
        sums, pairs, shares = self.apply(x)
        columns = self.transpose(ends)
        dual = (self.cost - columns[0] - s[0], *(-a - b for a, b in zip(columns[1:], s[1:], strict=True)))
        return (1.0 - sums, -pairs, self.deltas - shares), dual


@dataclass(frozen=True, slots=True, eq=False)
class _Newton:
    """The factored normal equations of one iteration."""

    program: FamilyProgram
    x: Vector
    s: Vector
    scale: Vector  # x / s
    inverse: Floats  # array (m, k, k), of the system of each report
    images: Floats  # array (m, f, n), the distributions times the scales of the report's probabilities
    common: Floats  # array (n + d, n + d), a Cholesky factor

    @classmethod
    def of(cls, program: FamilyProgram, x: Vector, s: Vector) -> _Newton | None:
        """Return the equations at a point; None where floats cannot factor them."""
        n, loose, pairs = len(program.cost), program.loose, program.pairs
        scale = tuple(a / b for a, b in zip(x, s, strict=True))
        weights = scale[1].copy()
        weights[loose] += scale[2]
        images = program.distributions[None] * scale[0].T[:, None, :]
        blocks = pairs @ (images @ program.distributions.T) @ pairs.T
        places = np.arange(len(pairs))
        blocks[:, places, places] += weights.T
        blocks[:, places, places] *= 1 + _REGULAR
        diagonal = np.concatenate([scale[0].sum(axis=1), scale[2].sum(axis=1) + scale[3]])
        try:
            inverse = np.array([dtrtri(factor, lower=1)[0] for factor in np.linalg.cholesky(blocks)])
            halves = inverse @ pairs
            if len(loose):
                shares = inverse[:, :, loose] * -scale[2].T[:, None, :]
                halves = np.concatenate([halves @ images, shares], axis=2)
            else:
                halves = np.linalg.qr(halves, "r") @ images
            halves = halves.reshape(-1, n + len(loose))
            common = np.diag(diagonal * (1 + 1e-13)) - halves.T @ halves
            common[np.diag_indices(len(common))] += _REGULAR * diagonal.max()
            factor: Floats = np.linalg.cholesky(common).astype(np.float64, copy=False)
            return cls(program, x, s, scale, inverse, images, factor)
        except np.linalg.LinAlgError:
            return None

    def step(self, residuals: tuple[Vector, Vector], products: Vector) -> tuple[Vector, Vector, Vector]:
        """Return the steps of the variables, their duals and the prices towards given products of both."""
        primal, dual = residuals
        n, loose = len(self.program.cost), self.program.loose
        parts = tuple(d * r - p / b for d, r, p, b in zip(self.scale, dual, products, self.s, strict=True))
        sums, pairs, shares = (a + b for a, b in zip(primal, self.program.apply(parts), strict=True))
        halves = self.inverse @ pairs.T[:, :, None]
        inner = (self.inverse.transpose(0, 2, 1) @ halves)[:, :, 0]
        sums -= np.einsum("ofs,of->s", self.images, inner @ self.program.pairs)
        shares += (self.scale[2] * inner.T[loose]).sum(axis=1)
        right = np.concatenate([sums, shares])
        shift = np.asarray(np.linalg.solve(self.common.T, np.linalg.solve(self.common, right)), dtype=np.float64)
        rest = pairs.T - (self.images @ shift[:n]) @ self.program.pairs.T
        rest[:, loose] += (self.scale[2] * shift[n:, None]).T
        prices = (self.inverse.transpose(0, 2, 1) @ (self.inverse @ rest[:, :, None]))[:, :, 0].T
        ends = shift[:n], prices, shift[n:]
        columns = self.program.transpose(ends)
        down = tuple(r - c for r, c in zip(dual, columns, strict=True))
        forward = tuple((p - a * c) / b for p, a, c, b in zip(products, self.x, down, self.s, strict=True))
        return forward, down, ends


def _length(values: Vector, step: Vector, most: float) -> float:
    """Return the length of a step that keeps all values positive, at most 1."""
    length = 1.0
    for value, change in zip(values, step, strict=True):
        falls = change < 0
        if falls.any():
            length = min(length, most * float((-value[falls] / change[falls]).min()))
    return length
