"""A dual bound from any multipliers.

Every block's reduced cost c_o + D_o' eta - mu - G_o' lam - A' nu must be non-negative,
since p(o|s) >= 0 follows from the rows. So for any lam >= 0 the best mu is what the rest
leaves: mu_s = min_o (c_o + D_o' eta - G_o' lam - A' nu)[s]. The guess weights nu_o are
scaled to sum to theta for every o, which removes the distortion variables exactly.
Multipliers of rows at the cap are left out: they stand for x >= 0.

The multipliers are those at the end of a full dual step, where reduced costs vanish but for
rounding, with the few negative ones set to zero. At the iterate itself, after a shortened step,
the reduced costs are far from zero and the bound lags behind the value. What setting
multipliers to zero spoils, `tails` mends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from .form import Iterate, Rows
from .tails import Tails


@dataclass(frozen=True, slots=True)
class Proof:
    """A feasible dual point.

    Attributes:
        bound: Lower bound of the minimised value, up to float rounding.
        mu: Array (n,), multipliers of the row sums.
        theta: Multiplier of the distortion.
        eta: Array (loss rows,), multipliers of the loss rows.
        pairs: Array (pair rows,), multipliers of the scaled pair rows, zero where capped.
        guesses: Array (blocks, guesses), or None.
    """

    bound: float
    mu: Floats
    theta: float
    eta: Floats
    pairs: Floats
    guesses: Floats | None


def prove(rows: Rows, point: Iterate, tails: Tails | None = None) -> Proof:
    """Return the bound that a point's multipliers prove, with the multipliers that prove it.

    Args:
        rows: The inequality rows.
        point: Only its lam, which must not be negative, and its mu are used.
        tails: Carries costs inward first, so that the prices come near mu.
    """
    form, columns = rows.form, rows.form.columns
    n = form.secrets
    pairs = rows.pairs
    lam = point.lam[: pairs.count]
    if columns.capped.any():
        _, upper, lower = pairs.triples()
        lam = np.where(columns.capped[upper, lower], 0.0, lam)
    eta = np.maximum(0.0, -point.mu[form.size :])
    if form.free is not None and not columns.game:
        total = float(eta.sum())
        eta = eta / total if total > 0 else np.full(len(eta), 1 / len(eta))
    reduced = form.objective[:, :n] - pairs.adjoint(lam)[:, :n]
    if form.losses is not None:
        reduced = reduced + form.losses.adjoint(eta)[:, :n]
    theta, guesses = 0.0, None
    if form.guesses is not None and columns.weighted is not None:
        theta = 1.0 if columns.game else max(0.0, float(point.mu[n]))
        guesses = point.lam[pairs.count : rows.cut].reshape(form.blocks, -1)
        sums = guesses.sum(axis=1, keepdims=True)
        guesses = guesses * (theta / np.where(sums > 0, sums, 1.0))
        reduced = reduced - guesses @ columns.weighted
    if tails is not None:
        lam, reduced = tails.carry(lam, reduced, point.mu[:n])
    mu = reduced.min(axis=0)[form.symmetry.secrets].min(axis=0)
    bound = float(mu.sum())
    if columns.minimum is not None:
        bound += theta * columns.minimum
    if columns.max_loss is not None:
        bound -= float(eta.sum()) * columns.max_loss
    return Proof(bound, mu, theta, eta, lam, guesses)
