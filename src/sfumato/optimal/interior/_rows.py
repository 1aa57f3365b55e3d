"""Iterates, and the inequality rows with the products that Newton's method needs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ._arrays import Floats
from ._form import Form
from ._pairs import PairRows


class BreakdownError(ArithmeticError):
    """A matrix that is positive definite in exact arithmetic is not so in floating point."""


@dataclass(frozen=True, slots=True)
class Point:
    """A primal and dual iterate.

    Attributes:
        u: Array (blocks, size), the primal blocks.
        w: Array (loss rows,), slacks of the loss rows.
        v: The free variable.
        lam: Array (rows,), multipliers of pairs, guesses and w, in this order.
        mu: Array (size + loss rows,), coupling multipliers.
    """

    u: Floats
    w: Floats
    v: float
    lam: Floats
    mu: Floats


@dataclass(frozen=True, slots=True)
class Rows:
    """All inequality rows of a form: pairs, guesses and the slacks of the loss rows."""

    form: Form
    pairs: PairRows

    @property
    def cut(self) -> int:
        """Where the multipliers of w begin."""
        return self.pairs.count + (0 if self.form.guesses is None else self.form.guesses.count)

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.cut + self.form.slack_rows

    def slack(self, u: Floats, w: Floats) -> Floats:
        """Return the slack of every row, array (rows,)."""
        parts = [self.pairs.slack(u)]
        if self.form.guesses is not None:
            parts.append(self.form.guesses.slack(u))
        if self.form.losses is not None:
            parts.append(w)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def weights(self, point: Point, z: Floats) -> Floats:
        """Return lam / z of every row, array (rows,).

        Raises:
            BreakdownError: If a slack is too small beside its multiplier.
        """
        with np.errstate(over="ignore"):
            out = np.asarray(point.lam / z)
        if not np.isfinite(out).all():
            raise BreakdownError("a slack is too small beside its multiplier")
        return out

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the block rows' values in each block, array (blocks,)."""
        out = self.pairs.sums(values[: self.pairs.count])
        if self.form.guesses is not None:
            out += values[self.pairs.count : self.cut].reshape(self.form.blocks, -1).sum(axis=1)
        return out

    def repeat(self, share: Floats) -> Floats:
        """Return one number per block, repeated for its rows; zero for w."""
        parts = [self.pairs.repeat(share)]
        if self.form.guesses is not None:
            parts.append(np.repeat(share, self.form.guesses.count // self.form.blocks))
        return np.concatenate([*parts, np.zeros(self.form.slack_rows)])

    def adjoint(self, weights: Floats) -> Floats:
        """Return the transpose of the block rows (not of w) times weights, array (blocks, size)."""
        out = self.pairs.adjoint(weights[: self.pairs.count])
        if self.form.guesses is not None:
            out = out + self.form.guesses.adjoint(weights[self.pairs.count : self.cut])
        return out
