"""A reduced program as the block-angular form that Newton's method works on.

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

from ._arrays import Floats
from ._coupling import ExpectedLoss, LossRows, SecretLoss
from ._guesses import GuessRows
from ._program import Program
from ._symmetry import Symmetry


@dataclass(frozen=True, slots=True)
class Form:
    """The block-angular form of a program.

    Attributes:
        program: The reduced program.
        symmetry: The group whose orbits of observables the blocks represent.
        objective: Array (blocks, size) of c_o.
        target: Array (size + loss rows,), right-hand sides b and r.
        guesses: Distortion rows, or None.
        losses: Loss rows, or None.
        free: Array (size + loss rows,), the column of v, or None.
        free_cost: The cost f of v.
    """

    program: Program
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
        """The number n of merged secrets."""
        return len(self.program.prior)

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
        """Return the program's objective at a point itself, not through v or y."""
        x = point[:, : self.secrets]
        if self.losses is None:
            return float(
                self.symmetry.copies @ (self.program.expected[self.symmetry.representatives] * x).sum(axis=1)
            )
        return self.program.value(x)


def build(program: Program, symmetry: Symmetry) -> Form:
    """Return the block-angular form of a program."""
    kept = symmetry.representatives
    n, m = len(program.prior), len(kept)
    with_distortion = program.weighted is not None
    size = n + 1 if with_distortion else n
    objective = np.zeros((m, size))
    target = np.ones(size)
    guesses = GuessRows(program.weighted, m) if program.weighted is not None else None
    losses: LossRows | None = None
    free: Floats | None = None
    free_cost = 0.0
    if program.secret_loss is not None:
        losses = SecretLoss(program.secret_loss, program.merged, size)
    elif program.game:
        padded = np.zeros((m, size))
        padded[:, :n] = program.expected
        losses = ExpectedLoss(padded)
    else:
        objective[:, :n] = program.expected[kept]
    rows = 0 if losses is None else losses.count
    target = np.concatenate([target, np.zeros(rows)])
    if with_distortion:
        target[n] = 0.0 if program.minimum is None else program.minimum
    if program.game:
        target[size:] = 0.0 if program.loss_bound is None else program.loss_bound
        free, free_cost = np.zeros(size + rows), -1.0
        free[n] = -1.0
    elif program.secret_loss is not None:
        free, free_cost = np.zeros(size + rows), 1.0
        free[size:] = -1.0
    return Form(program, symmetry, objective, target, guesses, losses, free, free_cost)
