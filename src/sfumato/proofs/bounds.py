"""Bounds of how good any mechanism could be, by Lagrangian duality.

Any multipliers of the right sign give a valid bound, however they were computed
and however inexact they are, so the bound is proved without trusting the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .. import intervals
from ..core.arrays import Floats, freeze
from ..core.immutable import CompactRepr, Immutable
from ..errors import InputError
from ..rounding import SMALLEST, UNIT, above, below, sum_error, underflow

Positions = NDArray[np.intp]
Costs = Callable[[slice], tuple[Floats, Floats]]
_ROWS: Final = 256  # secrets that are looked at together


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Multipliers(Immutable, CompactRepr):
    """Prices of the constraints of a design problem; negative entries count as zero.

    Attributes:
        secrets: Array (k,), the s of each priced row p(o|s) <= exp(e) p(o|s').
        others: Array (k,), its s'.
        observables: Array (k,), its o.
        local: Array (k,), its price.
        exponents: Array (k,), its e.
        guesses: Array (guesses, observables), prices of the optimal-attack rows, or None.
        worst: Array (secrets,), prices of the worst-case rows, or None.
        loss: The price of the loss bound (dual game only).
    """

    secrets: Positions
    others: Positions
    observables: Positions
    local: Floats
    exponents: Floats
    guesses: Floats | None = None
    worst: Floats | None = None
    loss: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                object.__setattr__(self, field.name, freeze(value))


def loss_bound(
    prior: Floats, loss: Floats, multipliers: Multipliers, distance: Floats | None = None, minimum: float = 0.0
) -> float:
    """Return a proved lower bound of the loss of every mechanism that keeps the guarantees.

    Args:
        prior: Array (n,).
        loss: Array (n, m).
        multipliers: Prices from any solver.
        distance: Array (guesses, n) of the distortion guarantee, non-negative.
        minimum: The distortion that is guaranteed.

    Raises:
        InputError: If a distance is negative, or a loss where its worst case is bounded.
    """
    weights = prior
    if multipliers.worst is not None:
        _check(loss, "a loss in the worst case")
        weights = shares(multipliers.worst) * (1 - 4 * len(loss) * UNIT)
    with np.errstate(over="ignore", invalid="ignore"):
        gained, lost, terms = 0.0, 1.0, 0
        prices: Floats | None = None
        if multipliers.guesses is not None and distance is not None:
            _check(distance, "the adversary's distance")
            prices = np.maximum(multipliers.guesses, 0.0)
            terms = len(distance)
            lost += terms + 1
            promised = float(prices.sum(axis=0).min()) * (1 - 2 * (terms + 2) * UNIT) * minimum
            gained = max(0.0, below(promised, underflow(2, minimum)))

        def costs(rows: slice) -> tuple[Floats, Floats]:
            reduced = weights[rows, None] * loss[rows]
            size = np.abs(reduced)
            if prices is not None and distance is not None:
                earned = prior[rows, None] * (distance.T[rows] @ prices)
                reduced -= earned
                size += np.abs(earned)
            return reduced, size

        found = below(gained + rows_below(costs, loss.shape, multipliers, terms, lost), 0.0)
    return max(found, least_loss_of_truth(prior, loss, worst=multipliers.worst is not None))


def distortion_bound(
    prior: Floats, loss: Floats, distance: Floats, max_loss: float, multipliers: Multipliers
) -> float:
    """Return a proved upper bound of the distortion privacy under a loss bound.

    Args:
        prior: Array (n,).
        loss: Array (n, m).
        distance: Array (guesses, n), non-negative.
        max_loss: The largest expected loss allowed.
        multipliers: Prices from any solver.

    Raises:
        InputError: If a distance is negative.
    """
    _check(distance, "the adversary's distance")
    without_report = _blind_error(prior, distance)
    if multipliers.guesses is None:
        return without_report
    terms = len(distance)
    # A little over one per observable: the attacker's strategy must be a full one.
    strategy = shares(multipliers.guesses) * (1 + 4 * terms * UNIT)
    price = max(multipliers.loss, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        lost = terms + 2.0 + max(float(loss.max()), -float(loss.min()))

        def costs(rows: slice) -> tuple[Floats, Floats]:
            earned = prior[rows, None] * (distance.T[rows] @ strategy)
            paid = price * prior[rows, None] * loss[rows]
            return paid - earned, np.abs(paid) + earned

        least = rows_below(costs, loss.shape, multipliers, terms, lost)
        allowed = price * max_loss
        found = above(allowed - least, 4 * UNIT * abs(allowed) + underflow(1))
    return min(found, without_report)


def exponents_above(exponents: Floats, secrets: int) -> Floats:
    """Return exponents that are no less than the exact ones: these are sums of rounded products.

    A bound assumes them for every priced row; prices that fit them lose nothing.

    Args:
        exponents: Array of any shape.
        secrets: How many secrets there are.
    """
    return exponents + np.abs(exponents) * (4 * (secrets + 2) * UNIT)


def _check(array: Floats, what: str) -> None:
    if (array < 0).any():
        raise InputError(f"{what} is negative: {array.min():g}.", "use numbers of at least 0.")


def shares(prices: Floats) -> Floats:
    """Return prices divided by their sum per column, all alike if all are zero; negative ones count as zero."""
    most = prices.max(axis=0)
    # By the largest first, because the sum of prices may overflow.
    scaled = np.divide(np.maximum(prices, 0.0), most, out=np.ones_like(prices), where=most > 0)
    found: Floats = scaled / scaled.sum(axis=0)
    return found


def least_loss_of_truth(prior: Floats, loss: Floats, *, worst: bool) -> float:
    """Return a lower bound of the loss of the truth itself, by the best report for every secret."""
    best = loss.min(axis=1)
    if worst:
        return float(best.max())
    with np.errstate(over="ignore", invalid="ignore"):
        terms = prior * best
        found = below(float(terms.sum()), sum_error(len(terms), float(np.abs(terms).sum())))
    return max(found, 0.0) if (best >= 0).all() else found


def _blind_error(prior: Floats, distance: Floats) -> float:
    """Return an upper bound of the error of the best guess without a report."""
    with np.errstate(over="ignore"):
        found = float((distance @ prior).min())
        return above(found, sum_error(len(prior), found))


def rows_below(costs: Costs, shape: tuple[int, ...], multipliers: Multipliers, terms: int, lost: float) -> float:
    """Return a lower bound of sum over s of min over o of the reduced cost, with the priced rows in it.

    Args:
        costs: From some secrets to their costs without the priced rows, and the sums of their absolute terms,
            arrays (secrets, m).
        shape: The numbers n of secrets and m of observables.
        multipliers: The prices.
        terms: How many products were added in each cost.
        lost: How many times `SMALLEST` underflow may have taken from each cost.
    """
    n, m = shape
    positive = np.flatnonzero(multipliers.local > 0)
    price, exponents = multipliers.local[positive], multipliers.exponents[positive]
    back = price * intervals.exp_above(exponents_above(exponents, n))
    o = multipliers.observables[positive]
    giving = _Cells.of(multipliers.secrets[positive], o, price, n)
    taking = _Cells.of(multipliers.others[positive], o, back, n)
    best = np.empty(n)
    for first in range(0, n, _ROWS):
        rows = slice(first, min(n, first + _ROWS))
        reduced, size = costs(rows)
        (here, given), (there, taken) = giving.sums(rows, m), taking.sums(rows, m)
        # Any number of prices may be for one cell: what rounding takes from a sum grows with its terms.
        most = terms + 6 + given + taken
        low = (reduced + here - there) - 2 * (most + 8) * UNIT * (size + here + there) - (lost + most) * SMALLEST
        best[rows] = low.min(axis=1)
    return below(float(best.sum()), sum_error(n, float(np.abs(best).sum())))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Cells(CompactRepr):
    """Prices of cells (secret, observable), sorted by their secrets.

    Attributes:
        secrets: Array (k,), ascending.
        observables: Array (k,).
        prices: Array (k,).
        begins: Array (n + 1,), where each secret's begin.
    """

    secrets: Positions
    observables: Positions
    prices: Floats
    begins: Positions

    @classmethod
    def of(cls, secrets: Positions, observables: Positions, prices: Floats, n: int) -> _Cells:
        """Return the prices of cells in any order, of n secrets."""
        order = np.argsort(secrets, kind="stable")
        begins = np.concatenate([[0], np.cumsum(np.bincount(secrets, minlength=n))])
        return cls(secrets[order], observables[order], prices[order], begins)

    def sums(self, rows: slice, m: int) -> tuple[Floats, int]:
        """Return the sums of prices for some secrets, array (secrets, m), and how many the fullest cell has."""
        chosen = slice(int(self.begins[rows.start]), int(self.begins[rows.stop]))
        cells = (self.secrets[chosen] - rows.start) * m + self.observables[chosen]
        tall = rows.stop - rows.start
        found: Floats = np.asarray(np.bincount(cells, self.prices[chosen], tall * m), dtype=np.float64)
        return found.reshape(tall, m), int(np.bincount(cells).max(initial=0))
