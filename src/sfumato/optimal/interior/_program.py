"""The programs of optimal design, checked and reduced without loss.

Two exact reductions are made here:

- Secrets at log ratio zero from each other must have equal rows (x_s <= x_t for every
  observable and both rows sum to one), so they become one secret with their prior mass
  added.
- An observable that costs at least as much as another one for every secret that counts can
  be merged into it: the merge is a post-processing, so it keeps every pair, does not raise
  the loss and does not lower the distortion. Under Hamming loss this leaves the observables
  inside the prior's support.

Source:
    Shokri, "Privacy Games", programs 21 to 24, and the zero-sum game behind them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ._arrays import Bools, Floats, Ints

CAP = 60.0


@dataclass(frozen=True, slots=True)
class Program:
    """A reduced program.

    Shapes: n merged secrets, m kept observables, N original secrets, M original observables.

    Attributes:
        prior: Array (n,), mass of each merged secret.
        expected: Array (m, n), prior-weighted loss of reporting o.
        ratio: Array (n, n) of log ratios, capped.
        capped: Array (n, n), where the true log ratio exceeds the cap (or is infinite).
        merged: Array (N,), merged secret of each original one.
        kept: Array (m,), original position of each kept observable.
        observables: The number M.
        weighted: Array (guesses, n) of prior[s] d(g, s), or None.
        minimum: The least expected distortion, or None.
        secret_loss: Array (m, N), loss of every original secret, for programs that limit or
            minimise the worst one, or None.
        loss_bound: The limit of the loss in the zero-sum game, or None.
    """

    prior: Floats
    expected: Floats
    ratio: Floats
    capped: Bools
    merged: Ints
    kept: Ints
    observables: int
    weighted: Floats | None
    minimum: float | None
    secret_loss: Floats | None
    loss_bound: float | None

    @property
    def game(self) -> bool:
        """Whether distortion is maximised under a loss bound."""
        return self.loss_bound is not None

    def distortion(self, point: Floats) -> float:
        """Return sum_o min_g sum_s prior[s] d(g,s) x_o[s]."""
        if self.weighted is None:
            return 0.0
        return float((point @ self.weighted.T).min(axis=1).sum())

    def loss(self, point: Floats) -> float:
        """Return the expected loss, or the worst secret's where the program limits that."""
        if self.secret_loss is None:
            return float((self.expected * point).sum())
        return float(np.einsum("or,or->r", self.secret_loss, point[:, self.merged]).max())

    def value(self, point: Floats) -> float:
        """Return what the program minimises: the loss, or minus the distortion in the game."""
        return -self.distortion(point) if self.game else self.loss(point)


def build(
    prior: Floats,
    cost: Floats,
    log_ratio: Floats,
    distance: Floats | None,
    minimum: float | None,
    worst_case: bool,
    loss_bound: float | None,
) -> Program:
    """Check the data and return the reduced program; see `solve` for the arguments.

    Raises:
        InputError: If shapes do not fit, entries are not numbers, the prior is not a distribution
            or a log ratio is negative.
    """
    prior, cost, log_ratio = (np.array(a, dtype=np.float64) for a in (prior, cost, log_ratio))
    _check(prior, cost, log_ratio, distance, minimum, loss_bound)
    merged = _merge(log_ratio)
    n = int(merged.max()) + 1
    ratio = np.full((n, n), np.inf)
    np.minimum.at(ratio, (merged[:, None], merged[None, :]), log_ratio)
    if n == 1:
        # One secret has no pair to keep its probabilities positive; an imaginary companion without mass has.
        n, ratio = 2, np.full((2, 2), np.inf)
    np.fill_diagonal(ratio, 0.0)
    everyone = np.ones(len(prior), dtype=np.bool_)
    kept = _undominated(cost, everyone if worst_case else prior > 0)
    mass, expected = np.zeros(n), np.zeros((len(kept), n))
    np.add.at(mass, merged, prior)
    np.add.at(expected.T, merged, prior[:, None] * cost[:, kept])
    weighted = None
    if distance is not None:
        weighted = np.zeros((distance.shape[0], n))
        np.add.at(weighted.T, merged, (prior * distance).T)
        weighted = np.unique(weighted, axis=0)
    return Program(
        prior=mass,
        expected=expected,
        ratio=np.minimum(ratio, CAP),
        capped=ratio > CAP,
        merged=merged,
        kept=kept,
        observables=cost.shape[1],
        weighted=weighted,
        minimum=minimum,
        secret_loss=np.ascontiguousarray(cost[:, kept].T) if worst_case else None,
        loss_bound=loss_bound,
    )


def _check(
    prior: Floats,
    cost: Floats,
    log_ratio: Floats,
    distance: Floats | None,
    minimum: float | None,
    loss_bound: float | None,
) -> None:
    n = prior.shape[0] if prior.ndim == 1 else 0
    if n == 0 or cost.ndim != 2 or cost.shape[0] != n or cost.shape[1] == 0 or log_ratio.shape != (n, n):
        shapes = f"{prior.shape}, {cost.shape}, {log_ratio.shape}"
        raise InputError(
            f"prior, cost and log_ratio have shapes {shapes}.", "they must be (n,), (n, m) and (n, n)."
        )
    if not np.isfinite(cost).all():
        raise InputError(
            "cost has entries that are not finite.",
            "forbid an observable with a large loss instead of an infinite one.",
        )
    if not (np.isfinite(prior).all() and (prior >= 0).all() and abs(prior.sum() - 1) < 1e-9):
        raise InputError(
            f"prior is not a distribution: it sums to {float(prior.sum()):.12g} and its least entry is "
            f"{float(prior.min()):g}.",
            "divide non-negative weights by their sum.",
        )
    if np.isnan(log_ratio).any() or (log_ratio < 0).any():
        raise InputError(
            "log_ratio has negative entries or NaN.",
            "entry (s, t) is epsilon times the distance; +inf leaves it free.",
        )
    if distance is not None and (
        distance.ndim != 2 or distance.shape[1] != n or not np.isfinite(distance).all() or (distance < 0).any()
    ):
        raise InputError(
            f"distance, of shape {distance.shape}, does not fit.",
            f"it must be (guesses, {n}), finite and not negative.",
        )
    if loss_bound is None and (distance is None) != (minimum is None):
        raise InputError(
            "a distortion guarantee needs both a distance and a minimum.",
            "pass distortion=(distance, minimum), or none.",
        )
    if loss_bound is not None and (distance is None or minimum is not None):
        raise InputError(
            "the zero-sum game needs a distance and no minimum.",
            "pass distortion=(distance, None) with loss_bound.",
        )


def _merge(log_ratio: Floats) -> Ints:
    """Return the class of each secret; log ratio zero in either direction means equal rows."""
    n = log_ratio.shape[0]
    zero = log_ratio == 0
    label = np.arange(n)
    for s in range(n):
        for t in np.flatnonzero(zero[s]):
            if label[s] != label[t]:
                label[label == max(label[s], label[t])] = min(label[s], label[t])
    _, merged = np.unique(label, return_inverse=True)
    return merged.astype(np.int64)


def _undominated(cost: Floats, counts: Bools) -> Ints:
    """Return the observables to keep; of equal ones the first."""
    loss = cost[counts].T
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
