"""A reduced problem by observable, as the method sees it: one column p(o|.) for each.

Log ratios are capped: a row at the cap stands for x >= 0, and its multiplier proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from ..reduction import Reduced
from .pairs import Bools, Ints

CAP = 60.0


@dataclass(frozen=True, slots=True)
class Columns:
    """The numbers of a reduced problem, by observable.

    Shapes: n distinct secrets, m kept observables, N secrets in all.

    Attributes:
        prior: Array (n,), mass of each distinct secret.
        expected: Array (m, n), prior-weighted loss of reporting o.
        ratio: Array (n, n) of log ratios, capped.
        capped: Array (n, n), where the true log ratio exceeds the cap (or is infinite).
        members: Array (N,), distinct secret of each one.
        weighted: Array (guesses, n) of prior[s] d(g, s), or None.
        minimum: The least expected distortion, or None.
        secret_loss: Array (m, N), loss of every secret, for problems that limit or minimise the
            worst one, or None.
        max_loss: The limit of the loss in the zero-sum game, or None.
        edges: Array (k, 2), pairs (s, t) whose rows imply all others, where they are known and few; or None.
    """

    prior: Floats
    expected: Floats
    ratio: Floats
    capped: Bools
    members: Ints
    weighted: Floats | None
    minimum: float | None
    secret_loss: Floats | None
    max_loss: float | None
    edges: Ints | None = None

    @property
    def game(self) -> bool:
        """Whether distortion is maximised under a limit of the loss."""
        return self.max_loss is not None

    @property
    def sign(self) -> float:
        """The sign of the objective in what is minimised."""
        return -1.0 if self.game else 1.0

    def distortion(self, point: Floats) -> float:
        """Return sum_o min_g sum_s prior[s] d(g,s) x_o[s]."""
        if self.weighted is None:
            return 0.0
        return float((point @ self.weighted.T).min(axis=1).sum())

    def loss(self, point: Floats) -> float:
        """Return the expected loss, or the worst secret's where the problem limits that."""
        if self.secret_loss is None:
            return float((self.expected * point).sum())
        return float(np.einsum("or,or->r", self.secret_loss, point[:, self.members]).max())

    def value(self, point: Floats) -> float:
        """Return what is minimised: the loss, or minus the distortion in the game."""
        return -self.distortion(point) if self.game else self.loss(point)


def columns(reduced: Reduced) -> Columns:
    """Return the numbers of a reduced problem, by observable."""
    prior, ratio, weighted, costs = reduced.prior, reduced.exponents, reduced.weighted, reduced.costs
    if len(prior) == 1:
        # One secret has no pair to keep its probabilities positive; an imaginary companion without mass has.
        prior, costs = np.append(prior, 0.0), np.concatenate([costs, np.zeros_like(costs)])
        ratio = np.where(np.eye(2, dtype=np.bool_), 0.0, np.inf)
        weighted = None if weighted is None else np.concatenate([weighted, np.zeros_like(weighted)], axis=1)
    return Columns(
        prior=prior,
        expected=np.ascontiguousarray(costs.T),
        ratio=np.minimum(ratio, CAP),
        capped=ratio > CAP,
        members=reduced.members,
        weighted=weighted,
        minimum=reduced.minimum,
        secret_loss=None if reduced.losses is None else np.ascontiguousarray(reduced.losses.T),
        max_loss=reduced.max_loss,
    )
