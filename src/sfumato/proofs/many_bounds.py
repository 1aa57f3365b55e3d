"""A bound of the least loss under several priors, attackers and linear constraints, by Lagrangian duality.

The loss is the largest of expected ones, max over i of sum over s, o of mass_i(s) l(s, o) p(o|s). With weights t
of the masses (t >= 0, of sum one), prices a_j(g, o) >= 0 of the guesses of attacker j, mu_k >= 0 of the linear
constraints and lam >= 0 of the rows of metric privacy, every mechanism that keeps all of them loses at least

    sum over j of minimum_j min over o of (sum over g of a_j(g, o)) - sum over k of mu_k b_k
    + sum over s of min over o of c(s, o),

    c(s, o) = sum over i of t_i mass_i(s) l(s, o) - prior(s) sum over j, g of a_j(g, o) d_j(g, s)
              + sum over k of mu_k A_k(s, o) + (sum of lam of rows at s) - (sum of exp(e) lam of rows at s'),

as in docs/proofs/duality.md, constraint by constraint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core import DistortionPrivacy
from ..core.arrays import Floats, freeze
from ..core.immutable import CompactRepr, Immutable
from ..errors import InputError
from ..rounding import UNIT, above, below, underflow
from .bounds import Multipliers, least_loss_of_truth, rows_below, shares
from .constraints import LinearConstraint


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyMultipliers(Immutable, CompactRepr):
    """Prices of the constraints of a general program; negative entries count as zero.

    Attributes:
        rows: The prices of rows of metric privacy; only its ``local`` and where they belong count.
        masses: Array (k,), the weight of each mass; with one mass it does not matter.
        attackers: For each attacker the prices of their guesses, array (guesses, m).
        constraints: Array (c,), the price of each linear constraint.
    """

    rows: Multipliers
    masses: Floats
    attackers: tuple[Floats, ...]
    constraints: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "masses", freeze(self.masses))
        object.__setattr__(self, "attackers", tuple(freeze(each) for each in self.attackers))
        object.__setattr__(self, "constraints", freeze(self.constraints))


def many_loss_bound(
    masses: Floats,
    loss: Floats,
    prices: ManyMultipliers,
    *,
    prior: Floats,
    attackers: Sequence[DistortionPrivacy] = (),
    constraints: Sequence[LinearConstraint] = (),
) -> float:
    """Return a proved lower bound of the largest expected loss of every mechanism that keeps all demands.

    Masses of zero ask for no loss at all: a positive bound then proves that no mechanism keeps the demands.

    Args:
        masses: Array (k, n), a mass of each secret for each expected loss, at least 0.
        loss: Array (n, m).
        prices: Prices from any solver.
        prior: Array (n,), what the attackers know.
        attackers: What is to be kept of distortion.
        constraints: The linear constraints.

    Raises:
        InputError: If a loss is negative and there are several masses.
    """
    count = len(masses)
    if count == 1:
        weights = masses[0]
    else:
        if (loss < 0).any():
            raise InputError(
                f"a loss is negative: {loss.min():g}, and the largest of several is bounded.", "add a constant."
            )
        # Weights of sum at most one: no loss is negative.
        weights = (shares(prices.masses) * (1 - 4 * count * UNIT)) @ masses
    asked = [
        (np.maximum(each, 0.0), attacker.distance.array, attacker.minimum)
        for each, attacker in zip(prices.attackers, attackers, strict=True)
    ]
    limits = [
        (max(price, 0.0), limit) for price, limit in zip(prices.constraints.tolist(), constraints, strict=True)
    ]
    terms = count + sum(len(distance) + 1 for _, distance, _ in asked) + len(limits)
    lost = terms + (count + 1.0) * (1.0 + float(np.abs(loss).max()))
    with np.errstate(over="ignore", invalid="ignore"):

        def costs(part: slice) -> tuple[Floats, Floats]:
            reduced = weights[part, None] * loss[part]
            size = np.abs(reduced)
            for guesses, distance, _ in asked:
                earned = prior[part, None] * (distance.T[part] @ guesses)
                reduced -= earned
                size += earned
            for price, limit in limits:
                paid = price * limit.coefficients[part]
                reduced += paid
                size += np.abs(paid)
            return reduced, size

        found = rows_below(costs, loss.shape, prices.rows, terms, lost)
        for guesses, distance, minimum in asked:
            promised = float(guesses.sum(axis=0).min()) * (1 - 2 * (len(distance) + 2) * UNIT) * minimum
            found = below(found + max(0.0, below(promised, underflow(2, minimum))), 0.0)
        for price, limit in limits:
            allowed = price * limit.at_most
            found = below(found - above(allowed, 2 * UNIT * abs(allowed) + underflow(1)), 0.0)
    return max(found, *(least_loss_of_truth(mass, loss, worst=False) for mass in masses))
