"""A problem in the block-angular form that Newton's method works on, its iterates and all its rows.

    minimise    sum_o k_o <c_o, u_o> + f v
    rows        G_o u_o > 0,  w > 0
    coupling    sum_o k_o u_o (- v e_y)     = b
                sum_o D_o u_o + w (- v 1)   = r

u_o holds p(o|s) for every secret and, with distortion rows, y_o at the end; k_o is the
number of observables that block o stands for; w are the slacks of the loss rows; v is the
worst-case loss or the total distortion of the game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from .columns import Columns
from .pairs import PairRows
from .rows import ExpectedLoss, GuessRows, LossRows, SecretLoss
from .symmetry import Symmetry


@dataclass(frozen=True, slots=True)
class Form:
    """The block-angular form of a problem.

    Attributes:
        columns: The problem by observable.
        symmetry: The group whose orbits of observables the blocks represent.
        objective: Array (blocks, size) of c_o.
        target: Array (size + loss rows,), right-hand sides b and r.
        guesses: Distortion rows, or None.
        losses: Loss rows, or None.
        free: Array (size + loss rows,), the column of v, or None.
        free_cost: The cost f of v.
    """

    columns: Columns
    symmetry: Symmetry
    objective: Floats
    target: Floats
    guesses: GuessRows | None
    losses: LossRows | None
    free: Floats | None
    free_cost: float

    @property
    def blocks(self) -> int:
        """The number of blocks: observables, or orbits of them."""
        return int(self.objective.shape[0])

    @property
    def size(self) -> int:
        """The length of a block: n, or n + 1 with a distortion variable."""
        return int(self.objective.shape[1])

    @property
    def secrets(self) -> int:
        """The number n of distinct secrets."""
        return len(self.columns.prior)

    @property
    def slack_rows(self) -> int:
        """The number of loss rows."""
        return 0 if self.losses is None else self.losses.count

    def total(self, point: Floats) -> Floats:
        """Return the left-hand side of the coupling rows without w and v, array (size + loss rows,)."""
        own = self.symmetry.average_vector((self.symmetry.copies[:, None] * point).sum(axis=0))
        return own if self.losses is None else np.concatenate([own, self.losses.apply(point)])

    def spread(self, multipliers: Floats) -> Floats:
        """Return C_o' times coupling multipliers, array (blocks, size)."""
        own = np.broadcast_to(multipliers[: self.size], self.objective.shape)
        return own if self.losses is None else own + self.losses.adjoint(multipliers[self.size :])

    def value(self, point: Floats) -> float:
        """Return the objective at a point itself, not through v or y."""
        x = point[:, : self.secrets]
        if self.losses is None:
            return float(
                self.symmetry.copies @ (self.columns.expected[self.symmetry.representatives] * x).sum(axis=1)
            )
        return self.columns.value(x)


def build(columns: Columns, symmetry: Symmetry) -> Form:
    """Return the block-angular form of a problem."""
    kept = symmetry.representatives
    n, m = len(columns.prior), len(kept)
    with_distortion = columns.weighted is not None
    size = n + 1 if with_distortion else n
    objective = np.zeros((m, size))
    target = np.ones(size)
    guesses = GuessRows(columns.weighted, m) if columns.weighted is not None else None
    losses: LossRows | None = None
    free: Floats | None = None
    free_cost = 0.0
    if columns.secret_loss is not None:
        losses = SecretLoss(columns.secret_loss, columns.members, size)
    elif columns.game:
        padded = np.zeros((m, size))
        padded[:, :n] = columns.expected
        losses = ExpectedLoss(padded)
    else:
        objective[:, :n] = columns.expected[kept]
    rows = 0 if losses is None else losses.count
    target = np.concatenate([target, np.zeros(rows)])
    if with_distortion:
        target[n] = 0.0 if columns.minimum is None else columns.minimum
    if columns.game:
        target[size:] = 0.0 if columns.max_loss is None else columns.max_loss
        free, free_cost = np.zeros(size + rows), -1.0
        free[n] = -1.0
    elif columns.secret_loss is not None:
        free, free_cost = np.zeros(size + rows), 1.0
        free[size:] = -1.0
    return Form(columns, symmetry, objective, target, guesses, losses, free, free_cost)


class BreakdownError(ArithmeticError):
    """A matrix that is positive definite in exact arithmetic is not so in floating point."""


@dataclass(frozen=True, slots=True)
class Iterate:
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
        """The place where the multipliers of w begin."""
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

    def weights(self, point: Iterate, z: Floats) -> Floats:
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
