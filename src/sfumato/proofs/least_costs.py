"""A bound on the loss from prices that are seen one observable at a time, and need not be kept."""

from __future__ import annotations

from typing import Final

import numpy as np

from .. import intervals
from ..core.arrays import Floats
from ..errors import InputError
from ..rounding import SMALLEST, UNIT, below, sum_error
from .bounds import Positions, exponents_above, least_loss_of_truth

_OTHER_TERMS: Final = 6  # besides the prices, in the error of a reduced cost


class LeastCosts:
    """Reduced costs of single observables, rounded down, and the bound that their minimum proves.

    With prices lam >= 0 of the rows p(o|s) <= exp(e) p(o|t), every mechanism that keeps these rows loses at least
    the sum over s of the minimum over o of

        prior(s) loss(s, o) + (sum of lam of the rows (s, .)) - (sum of exp(e) lam of the rows (., s)),

    which is what `loss_bound` finds from the prices of all observables at once. Ten thousand of each have a
    thousand million prices: here those of one observable are looked at and forgotten.

    Args:
        prior: Array (n,).
        loss: Array (n, m).
        secrets: Array (k,), the s of each row that may have a price, for every observable.
        others: Array (k,), its t.
        exponents: Array (k,), its e.
    """

    def __init__(
        self, prior: Floats, loss: Floats, secrets: Positions, others: Positions, exponents: Floats
    ) -> None:
        n = len(prior)
        self._prior, self._loss, self._secrets, self._others = prior, loss, secrets, others
        self._growth = intervals.exp_above(exponents_above(exponents, n))
        fullest = [int(np.bincount(ends, minlength=1).max()) for ends in (secrets, others)]
        self._terms = _OTHER_TERMS + sum(fullest)

    def of(self, observable: int, rows: Positions, prices: Floats) -> Floats:
        """Return the reduced costs of an observable, array (n,), no larger than the exact ones.

        Args:
            observable: Its position.
            rows: Array (r,), the rows that have a price, ascending.
            prices: Array (r,), their prices; negative ones count as zero.

        Raises:
            InputError: If the rows are not ascending: their prices are added up.
        """
        if (np.diff(rows) <= 0).any():
            raise InputError("rows with prices are not ascending.", "sort them, and give each once.")
        n, given = len(self._prior), np.maximum(prices, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            reduced = self._prior * self._loss[:, observable]
            here = np.bincount(self._secrets[rows], given, n)
            there = np.bincount(self._others[rows], given * self._growth[rows], n)
            error = 2 * (self._terms + 8) * UNIT * (np.abs(reduced) + here + there)
            found: Floats = (reduced + here - there) - error - (1 + self._terms) * SMALLEST
        return np.where(np.isnan(found), -np.inf, found)

    def bound(self, least: Floats) -> float:
        """Return a proved lower bound of the loss.

        Args:
            least: Array (n,), the minimum over *all* observables of what `of` returns.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            found = below(float(least.sum()), sum_error(len(least), float(np.abs(least).sum())))
        return max(
            -np.inf if np.isnan(found) else found, least_loss_of_truth(self._prior, self._loss, worst=False)
        )
