"""Block-angular form of a problem, its iterates, rows and interior points.

    minimise    sum_o k_o <c_o, u_o> + f v
    rows        G_o u_o > 0,  w > 0
    coupling    sum_o k_o u_o (- v e_y)     = b
                sum_o D_o u_o + w (- v 1)   = r

u_o holds p(o|s) for every secret, then y_o with distortion rows, and then a share of each delta of a pair of
distributions; k_o is the number of observables that block o stands for; w are the slacks of the loss rows; v is
the worst-case loss or the total distortion of the game (docs/proofs/interior-point.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...core import shortest_paths
from ...core.arrays import Floats
from ...errors import InfeasibleError
from .pair_rows import TOLERANCE, Columns, Ints, PairRows, Symmetry

FULL = 0.999
LONGEST = 12.0
MIXES: tuple[float, ...] = (0.0, *(math.pow(10.0, k / 4) for k in range(-56, -15)))


class DenseRows:
    """Rows that are the same in every block: of guesses, of pairs of distributions, and of shares of delta."""

    def __init__(self, rows: Floats, blocks: int) -> None:
        count, self.size = rows.shape
        self.count, self.blocks = count * blocks, blocks
        self._columns = np.flatnonzero(rows.any(axis=0))
        self._rows = np.ascontiguousarray(rows[:, self._columns])
        self._shape = (blocks, count)
        self._grid = np.ix_(self._columns, self._columns)

    def slack(self, point: Floats) -> Floats:
        """Return the slacks, flattened from (m, rows)."""
        return np.asarray(point[:, self._columns] @ self._rows.T).ravel()

    def adjoint(self, weights: Floats) -> Floats:
        """Return the transpose times a flattened (m, rows) vector, array (m, size)."""
        out = np.zeros((self.blocks, self.size))
        out[:, self._columns] = weights.reshape(self._shape) @ self._rows
        return out

    def add(self, o: int, weights: Floats, out: Floats) -> None:
        """Add block o of A' diag(w) A to ``out``, array (size, size)."""
        weight = weights.reshape(self._shape)[o]
        out[self._grid] += self._rows.T @ (weight[:, None] * self._rows)


class ExpectedLoss:
    """One coupling row: the prior-weighted ``loss`` (m, size), zero after the probabilities."""

    count = 1

    def __init__(self, loss: Floats) -> None:
        self._loss = loss

    def apply(self, point: Floats) -> Floats:
        """Return sum_o D_o x_o, array (1,)."""
        return np.array([float((self._loss * point).sum())])

    def adjoint(self, weights: Floats) -> Floats:
        """Return D_o' v for every o, array (m, size)."""
        return np.asarray(self._loss * weights[0])

    def schur(self, o: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return K D_o' and D_o K D_o' for a full symmetric K, array (size, size)."""
        image = inverse @ self._loss[o]
        return image[:, None], np.array([[float(self._loss[o] @ image)]])


class SecretLoss:
    """One coupling row per secret: l(s, o), array (m, rows), at its position within a block, array (rows,)."""

    def __init__(self, loss: Floats, where: Ints, size: int) -> None:
        self._loss, self._where, self._size = loss, where, size
        self.count = len(where)

    def apply(self, point: Floats) -> Floats:
        """Return sum_o D_o x_o, array (rows,)."""
        return np.asarray(np.einsum("or,or->r", self._loss, point[:, self._where]))

    def adjoint(self, weights: Floats) -> Floats:
        """Return D_o' v for every o, array (m, size)."""
        out = np.zeros((self._loss.shape[0], self._size))
        np.add.at(out.T, self._where, (self._loss * weights).T)
        return out

    def schur(self, o: int, inverse: Floats) -> tuple[Floats, Floats]:
        """Return K D_o' and D_o K D_o' for a full symmetric K, array (size, size)."""
        image = inverse[:, self._where] * self._loss[o]
        return image, self._loss[o][:, None] * image[self._where]


LossRows = ExpectedLoss | SecretLoss


@dataclass(frozen=True, slots=True)
class Form:
    """The block-angular form of a problem."""

    columns: Columns  # the problem by observable
    symmetry: Symmetry  # the group whose orbits of observables the blocks represent
    objective: Floats  # array (blocks, size) of c_o
    target: Floats  # array (size + loss rows,), right-hand sides b and r
    dense: DenseRows | None  # rows of guesses and of distributions, or None
    losses: LossRows | None  # loss rows, or None
    free: Floats | None  # array (size + loss rows,), the column of v, or None
    free_cost: float  # the cost f of v

    @property
    def blocks(self) -> int:
        """The number of blocks: observables, or orbits of them."""
        return int(self.objective.shape[0])

    @property
    def size(self) -> int:
        """The length of a block: n, and the variables of distortion and of shares of delta."""
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
        sums = self.symmetry.average_vector((self.symmetry.copies[:, None] * point).sum(axis=0))
        return sums if self.losses is None else np.concatenate([sums, self.losses.apply(point)])

    def spread(self, multipliers: Floats) -> Floats:
        """Return C_o' times coupling multipliers, array (blocks, size)."""
        sums = np.broadcast_to(multipliers[: self.size], self.objective.shape)
        return sums if self.losses is None else sums + self.losses.adjoint(multipliers[self.size :])

    def value(self, point: Floats) -> float:
        """Return the objective at a point itself, not through v or y."""
        x = point[:, : self.secrets]
        if self.losses is None:
            return float(
                self.symmetry.copies @ (self.columns.expected[self.symmetry.representatives] * x).sum(axis=1)
            )
        return self.columns.value(x)


def build_form(columns: Columns, symmetry: Symmetry) -> Form:
    """Return the block-angular form of a problem."""
    blocks = symmetry.representatives
    n, m = len(columns.prior), len(blocks)
    rows_of_blocks = _dense_rows(columns)
    dense = DenseRows(rows_of_blocks, m) if len(rows_of_blocks) else None
    size = rows_of_blocks.shape[1]
    objective = np.zeros((m, size))
    losses: LossRows | None = None
    free: Floats | None = None
    free_cost = 0.0
    if columns.secret_loss is not None:
        losses = SecretLoss(columns.secret_loss, columns.members, size)
    elif columns.game:
        losses = ExpectedLoss(np.pad(columns.expected, ((0, 0), (0, size - n))))
    else:
        objective[:, :n] = columns.expected[blocks]
    rows = 0 if losses is None else losses.count
    target = np.concatenate([np.ones(size), np.full(rows, columns.max_loss or 0.0)])
    if columns.weighted is not None:
        target[n] = columns.minimum or 0.0
    if columns.families is not None:
        deltas = columns.families.deltas[columns.families.loose]
        target[size - len(deltas) : size] = deltas
    if columns.game:
        free, free_cost = np.zeros(size + rows), -1.0
        free[n] = -1.0
    elif columns.secret_loss is not None:
        free, free_cost = np.zeros(size + rows), 1.0
        free[size:] = -1.0
    return Form(columns, symmetry, objective, target, dense, losses, free, free_cost)


def _dense_rows(columns: Columns) -> Floats:
    """Return the rows (r, size) that are the same in every block."""
    n, weighted, families = len(columns.prior), columns.weighted, columns.families
    guesses = 0 if weighted is None else len(weighted)
    pairs, loose = (0, np.empty(0, dtype=np.int64)) if families is None else (len(families.deltas), families.loose)
    after = n + (weighted is not None)
    rows = np.zeros((guesses + pairs + len(loose), after + len(loose)))
    if weighted is not None:
        rows[:guesses, :n], rows[:guesses, n] = weighted, -1.0
    if families is not None:
        shares = np.arange(len(loose))
        rows[guesses : guesses + pairs, :n] = families.rows
        rows[guesses + loose, after + shares] = 1.0
        rows[guesses + pairs + shares, after + shares] = 1.0
    return rows


class BreakdownError(ArithmeticError):
    """A matrix that is positive definite in exact arithmetic is not so in floating point."""


@dataclass(frozen=True, slots=True)
class Iterate:
    """A primal and dual iterate."""

    u: Floats  # array (blocks, size), the primal blocks
    w: Floats  # array (loss rows,), slacks of the loss rows
    v: float  # the free variable
    lam: Floats  # array (rows,), multipliers of pairs, dense rows and w, in this order
    mu: Floats  # array (size + loss rows,), coupling multipliers


@dataclass(frozen=True, slots=True)
class Rows:
    """All inequality rows of a form: of pairs of secrets, dense ones, and the slacks of the loss rows."""

    form: Form
    pairs: PairRows

    @classmethod
    def of(cls, form: Form, keys: Ints) -> Rows:
        """Return the rows of a form with sorted keys of its pair rows."""
        return cls(form, PairRows(keys, form.columns.ratio, form.blocks, form.size))

    @property
    def slack_start(self) -> int:
        """The place where the multipliers of w begin."""
        return self.pairs.count + (0 if self.form.dense is None else self.form.dense.count)

    @property
    def count(self) -> int:
        """The number of rows."""
        return self.slack_start + self.form.slack_rows

    def slack(self, u: Floats, w: Floats) -> Floats:
        """Return the slack of every row, array (rows,)."""
        parts = [self.pairs.slack(u)]
        if self.form.dense is not None:
            parts.append(self.form.dense.slack(u))
        if self.form.losses is not None:
            parts.append(w)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def weights(self, point: Iterate, z: Floats) -> Floats:
        """Return lam / z of every row, array (rows,); raise `BreakdownError` where a slack is too small."""
        with np.errstate(over="ignore"):
            out = np.asarray(point.lam / z)
        if not np.isfinite(out).all():
            raise BreakdownError("a slack is too small for its multiplier")
        return out

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the block rows' values in each block, array (blocks,)."""
        out = self.pairs.sums(values[: self.pairs.count])
        if self.form.dense is not None:
            out += values[self.pairs.count : self.slack_start].reshape(self.form.blocks, -1).sum(axis=1)
        return out

    def repeat(self, share: Floats) -> Floats:
        """Return one number per block, repeated for its rows; zero for w."""
        parts = [self.pairs.repeat(share)]
        if self.form.dense is not None:
            parts.append(np.repeat(share, self.form.dense.count // self.form.blocks))
        return np.concatenate([*parts, np.zeros(self.form.slack_rows)])

    def adjoint(self, weights: Floats) -> Floats:
        """Return the transpose of the block rows (not of w) times weights, array (blocks, size)."""
        out = self.pairs.adjoint(weights[: self.pairs.count])
        if self.form.dense is not None:
            out = out + self.form.dense.adjoint(weights[self.pairs.count : self.slack_start])
        return out


def exponential(columns: Columns, share: float = 0.5) -> Floats:
    """Return the exponential mechanism (m, n) around the secret of least loss at o, inside every pair row."""
    loss = np.where(columns.prior[None, :] > 0, columns.expected / np.maximum(columns.prior, 1e-300), np.inf)
    anchor = np.asarray(loss.argmin(axis=1))
    # A truncated metric is a metric, so it stays private; tiny entries would cost the first iterations.
    span = columns.ratio
    if not (np.array_equal(span, span.T) or np.allclose(span, span.T, rtol=TOLERANCE, atol=0)):
        span = shortest_paths(np.minimum(span, span.T))  # the normaliser needs it both ways
    weight: Floats = np.exp(-share * np.minimum(np.minimum(span[anchor], span[:, anchor].T), LONGEST))
    weight /= weight.sum(axis=0)
    worst = _worst(weight, columns)
    if worst < FULL:
        return weight
    # Without the triangle inequality this is not private: the power halves what it and its normaliser may add.
    flatter = weight ** (0.45 / worst)
    return np.asarray(flatter / flatter.sum(axis=0))


def _worst(point: Floats, columns: Columns) -> float:
    """Return the largest log likelihood ratio over its limit."""
    log, ratio = np.log(point), columns.ratio
    if columns.edges is not None:
        s, t = columns.edges.T
        return float(((log[:, s] - log[:, t]) / ratio[s, t]).max())
    limit = ratio + np.diag(np.full(len(ratio), np.inf))
    return max(float(((row[:, None] - row[None, :]) / limit).max()) for row in log)


def first_mechanism(columns: Columns) -> Floats:
    """Return a mechanism (m, n) strictly inside all pair rows, and above the least distortion if one is set."""
    point = exponential(columns)
    flat = np.full_like(point, 1 / len(point))
    if columns.families is not None:
        share = columns.families.share_inside(point)
        point = (1 - share) * point + share * flat
    if columns.minimum is None or columns.weighted is None:
        return point
    have, most = columns.distortion(point), columns.distortion(flat)
    if columns.minimum >= most:
        raise InfeasibleError(
            f"a distortion of {columns.minimum:.6g} is out of reach: no mechanism gives more than {most:.6g}.",
            "require less; at the limit itself only mechanisms that ignore the secret remain.",
        )
    goal = columns.minimum + 0.5 * (most - columns.minimum)
    if have >= goal:
        return point
    mix = (goal - have) / (most - have)
    return np.asarray((1 - mix) * point + mix * flat)


def complete_iterate(rows: Rows, x: Floats) -> Iterate:
    """Return a strictly interior mechanism (blocks, n) as an iterate with multipliers."""
    form, columns, n = rows.form, rows.form.columns, rows.form.secrets
    u = np.empty((form.blocks, form.size))
    u[:, :n] = x
    v = 0.0
    if columns.weighted is not None:
        attained = (x @ columns.weighted.T).min(axis=1)
        demanded = columns.minimum
        if demanded is None:
            # Below the attained distortion, also where a prior on one secret attains none.
            demanded = 0.5 * float(attained.sum()) - 1e-3 * (float(columns.weighted.max()) or 1.0)
        u[:, n] = attained - (float(attained.sum()) - demanded) / len(attained)
        v = float(u[:, n].sum()) if columns.game else 0.0
    if columns.families is not None:
        loose = columns.families.loose
        excess = columns.families.excess(x)[:, loose]
        room = columns.families.deltas[loose] - excess.sum(axis=0)
        u[:, form.size - len(loose) :] = excess + room / len(x)
    w = np.zeros(0)
    if form.losses is not None:
        loss = form.losses.apply(u)
        if columns.game:
            w = form.target[form.size :] - loss
        else:
            v = 1.1 * float(loss.max()) - 0.1 * float(loss.min()) + 0.01 * (float(np.abs(loss).max()) + 1e-300)
            w = v - loss
    z = rows.slack(u, w)
    scale = abs(form.value(u)) or float(np.abs(columns.expected).max()) or 1.0
    lam = scale / rows.count / z
    mu = np.empty(len(form.target))
    mu[form.size :] = -lam[rows.slack_start :]
    costs = form.objective - rows.adjoint(lam)
    if form.losses is not None:
        costs = costs - form.losses.adjoint(mu[form.size :])
    mu[: form.size] = form.symmetry.average_vector(costs.min(axis=0))
    return Iterate(u, w, v, lam, mu)


def last_mechanism(columns: Columns, x: Floats, interior: Floats) -> Floats:
    """Return x (m, n), normalised and mixed with the least share of an interior one that satisfies all rows."""
    for mix in MIXES:
        out = (1 - mix) * x + mix * interior
        out /= out.sum(axis=0)
        if _inside(columns, out):
            return out
    return interior


def _inside(columns: Columns, x: Floats) -> bool:
    if not (x > 0).all():
        return False
    if columns.minimum is not None and columns.distortion(x) < columns.minimum:
        return False
    if columns.max_loss is not None and columns.loss(x) > columns.max_loss:
        return False
    if columns.families is not None and (columns.families.excess(x).sum(axis=0) > columns.families.deltas).any():
        return False
    if columns.edges is not None:
        s, t = columns.edges.T
        bound = np.exp(columns.ratio[s, t])
        return all(bool((row[s] < bound * row[t]).all()) for row in x)
    bound = np.exp(columns.ratio)
    np.fill_diagonal(bound, np.inf)
    return all(bool((row[:, None] < bound * row[None, :]).all()) for row in x)
