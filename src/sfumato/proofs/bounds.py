"""Bounds on any mechanism, by Lagrangian duality.

Any multipliers of the right sign give a valid bound, even inexact ones, so the solver is not trusted. The formulas
are in docs/proofs/duality.md; rows of metric privacy have prices lam, guesses a_j and linear constraints mu.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final, Self

import numpy as np

from .. import intervals
from ..core import DistortionPrivacy
from ..core.arrays import Floats, Positions, freeze
from ..core.immutable import CompactRepr, Immutable, assign
from ..errors import InputError
from ..rounding import SMALLEST, UNIT, lower_end, sum_error, underflow, upper_end
from .constraints import LinearConstraint
from .family_privacy import FamilyRows

Costs = Callable[[slice], tuple[Floats, Floats]]
_ROWS: Final = 256  # secrets processed together
_OTHER_TERMS: Final = 6  # other than the prices, in the error of a reduced cost


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Multipliers(Immutable, CompactRepr):
    """Prices of the constraints of a design problem; negative entries count as zero.

    The priced rows are p(o|s) <= exp(e) p(o|s'). Their s, s' and o are positions ``secrets``, ``rivals`` and
    ``observables``, arrays (k,), with the prices ``local`` and the e ``exponents``.

    Attributes:
        guesses: Array (guesses, observables), prices of the optimal-attack rows, or None.
        worst: Array (secrets,), prices of the worst-case rows, or None.
        loss: The price of the loss bound (dual game only).
    """

    secrets: Positions
    rivals: Positions
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

    @classmethod
    def without_rows(cls, guesses: Floats | None = None, worst: Floats | None = None, loss: float = 0.0) -> Self:
        """Return prices that are 0 for every row p(o|s) <= exp(e) p(o|s')."""
        none, empty = np.empty(0, dtype=np.intp), np.empty(0)
        return cls(none, none, none, empty, empty, guesses, worst, loss)


def loss_bound(
    prior: Floats, loss: Floats, multipliers: Multipliers, distance: Floats | None = None, minimum: float = 0.0
) -> float:
    """Return a proved lower bound on the loss of every mechanism that satisfies the guarantees.

    The prior is (n,), the loss (n, m), and ``multipliers`` are prices from any solver. ``distance``, array
    (guesses, n), non-negative, and ``minimum`` are those of a distortion guarantee. Raises `InputError` if a
    distance is negative, or a loss where its worst case is bounded.
    """
    weights = prior
    if multipliers.worst is not None:
        _check(loss, "a loss in the worst case")
        weights = shares(multipliers.worst) * (1 - 4 * len(loss) * UNIT)
    with np.errstate(over="ignore", invalid="ignore"):
        gain, slack, terms = 0.0, 1.0, 0
        prices: Floats | None = None
        if multipliers.guesses is not None and distance is not None:
            _check(distance, "the adversary's distance")
            prices = np.maximum(multipliers.guesses, 0.0)
            terms = len(distance)
            slack += terms + 1
            credit = float(prices.sum(axis=0).min()) * (1 - 2 * (terms + 2) * UNIT) * minimum
            gain = max(0.0, lower_end(credit, underflow(2, minimum)))

        def costs(rows: slice) -> tuple[Floats, Floats]:
            cost = weights[rows, None] * loss[rows]
            size = np.abs(cost)
            if prices is not None and distance is not None:
                earned = prior[rows, None] * (distance.T[rows] @ prices)
                cost -= earned
                size += np.abs(earned)
            return cost, size

        bound = lower_end(gain + rows_below(costs, loss.shape, multipliers, terms, slack), 0.0)
    return max(bound, least_loss_of_truth(prior, loss, worst=multipliers.worst is not None))


def distortion_bound(
    prior: Floats, loss: Floats, distance: Floats, max_loss: float, multipliers: Multipliers
) -> float:
    """Return a proved upper bound on the distortion privacy under a bound on the expected loss.

    The arguments are those of `loss_bound`. Raises `InputError` if a distance is negative.
    """
    _check(distance, "the adversary's distance")
    with np.errstate(over="ignore"):
        blind = float((distance @ prior).min())
        without_report = upper_end(blind, sum_error(len(prior), blind))
    if multipliers.guesses is None:
        return without_report
    terms = len(distance)
    # A little over one per observable: the attacker's strategy must be a full one.
    strategy = shares(multipliers.guesses) * (1 + 4 * terms * UNIT)
    price = max(multipliers.loss, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        slack = terms + 2.0 + max(float(loss.max()), -float(loss.min()))

        def costs(rows: slice) -> tuple[Floats, Floats]:
            earned = prior[rows, None] * (distance.T[rows] @ strategy)
            charge = price * prior[rows, None] * loss[rows]
            return charge - earned, np.abs(charge) + earned

        least = rows_below(costs, loss.shape, multipliers, terms, slack)
        allowed = price * max_loss
        bound = upper_end(allowed - least, 4 * UNIT * abs(allowed) + underflow(1))
    return min(bound, without_report)


def exponents_above(exponents: Floats, secrets: int) -> Floats:
    """Return exponents no less than the exact ones of the same shape, which are sums of products over n secrets.

    A bound assumes them for every priced row; prices that fit them lose nothing.
    """
    return exponents + np.abs(exponents) * (4 * (secrets + 2) * UNIT)


def _check(array: Floats, subject: str) -> None:
    if (array < 0).any():
        raise InputError(f"{subject} is negative: {array.min():g}.", "use numbers of at least 0.")


def shares(prices: Floats) -> Floats:
    """Return prices divided by their sum per column, all equal if all are zero; negative ones count as zero."""
    most = prices.max(axis=0)
    # By the largest first, because the sum of prices may overflow.
    scaled = np.divide(np.maximum(prices, 0.0), most, out=np.ones_like(prices), where=most > 0)
    return np.asarray(scaled / scaled.sum(axis=0))


def least_loss_of_truth(prior: Floats, loss: Floats, *, worst: bool) -> float:
    """Return a lower bound on the loss of the truth itself, by the best report for every secret."""
    best = loss.min(axis=1)
    if worst:
        return float(best.max())
    with np.errstate(over="ignore", invalid="ignore"):
        terms = prior * best
        bound = lower_end(float(terms.sum()), sum_error(len(terms), float(np.abs(terms).sum())))
    return max(bound, 0.0) if (best >= 0).all() else bound


def rows_below(costs: Costs, shape: tuple[int, ...], multipliers: Multipliers, terms: int, slack: float) -> float:
    """Return a lower bound on the sum over s of min over o of the reduced cost, with the priced rows in it.

    ``costs`` returns, for some secrets, their costs without the priced rows and the sums of their absolute terms,
    arrays (secrets, m). Each cost is a sum of ``terms`` products, and underflow took at most ``slack`` times
    `SMALLEST`.
    """
    n, m = shape
    positive = np.flatnonzero(multipliers.local > 0)
    price, exponents = multipliers.local[positive], multipliers.exponents[positive]
    back = price * intervals.exp_above(exponents_above(exponents, n))
    o = multipliers.observables[positive]
    giving = _Cells.of(multipliers.secrets[positive], o, price, n)
    taking = _Cells.of(multipliers.rivals[positive], o, back, n)
    best = np.empty(n)
    for first in range(0, n, _ROWS):
        rows = slice(first, min(n, first + _ROWS))
        cost, size = costs(rows)
        (here, count_here), (there, count_there) = giving.sums(rows, m), taking.sums(rows, m)
        # Any number of prices may be for one cell: what rounding takes from a sum grows with its terms.
        most = terms + 6 + count_here + count_there
        low = (cost + here - there) - 2 * (most + 8) * UNIT * (size + here + there) - (slack + most) * SMALLEST
        best[rows] = low.min(axis=1)
    return lower_end(float(best.sum()), sum_error(n, float(np.abs(best).sum())))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Cells(CompactRepr):
    """Prices of cells (secret, observable), sorted by their secrets."""

    secrets: Positions  # array (k,), ascending
    observables: Positions  # array (k,)
    prices: Floats  # array (k,)
    begins: Positions  # array (n + 1,), where each secret's begin

    @classmethod
    def of(cls, secrets: Positions, observables: Positions, prices: Floats, n: int) -> _Cells:
        """Return the prices of cells in any order, of n secrets."""
        order = np.argsort(secrets, kind="stable")
        begins = np.concatenate([[0], np.cumsum(np.bincount(secrets, minlength=n))])
        return cls(secrets[order], observables[order], prices[order], begins)

    def sums(self, rows: slice, m: int) -> tuple[Floats, int]:
        """Return the sums of prices for some secrets, array (secrets, m), and the largest number in a cell."""
        part = slice(int(self.begins[rows.start]), int(self.begins[rows.stop]))
        cells = (self.secrets[part] - rows.start) * m + self.observables[part]
        tall = rows.stop - rows.start
        totals: Floats = np.asarray(np.bincount(cells, self.prices[part], tall * m), dtype=np.float64)
        return totals.reshape(tall, m), int(np.bincount(cells).max(initial=0))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyMultipliers(Immutable, CompactRepr):
    """Prices of the constraints of a general program; negative entries count as zero.

    Attributes:
        rows: The prices of rows of metric privacy; only ``local`` and the positions of rows count.
        masses: Array (k,), the weight of each mass; irrelevant for one mass.
        attackers: For each attacker the prices of their guesses, array (guesses, m).
        constraints: Array (c,), the price of each linear constraint.
        families: Array (k, m), the prices of distribution privacy for each pair and observable; None for none.
    """

    rows: Multipliers
    masses: Floats
    attackers: tuple[Floats, ...]
    constraints: Floats
    families: Floats | None = None

    def __post_init__(self) -> None:
        assign(self, masses=freeze(self.masses), attackers=tuple(freeze(attacker) for attacker in self.attackers))
        assign(self, constraints=freeze(self.constraints))
        assign(self, families=None if self.families is None else freeze(self.families))


def many_loss_bound(
    masses: Floats,
    loss: Floats,
    prices: ManyMultipliers,
    *,
    prior: Floats,
    attackers: Sequence[DistortionPrivacy] = (),
    constraints: Sequence[LinearConstraint] = (),
    families: FamilyRows | None = None,
) -> float:
    """Return a proved lower bound on the largest expected loss of every mechanism that satisfies all constraints.

    ``masses``, array (k, n), at least 0, have a mass of each secret for each expected loss, and the prior (n,) is
    that known to the attackers. With masses of zero there is no loss: a positive bound then proves that no
    mechanism satisfies the distortion guarantees ``attackers``, the linear constraints and the distribution
    privacy ``families``. Prices are from any solver. Raises `InputError` if a loss is negative and there are
    several masses.
    """
    count = len(masses)
    if count == 1:
        weights = masses[0]
    else:
        if (loss < 0).any():
            raise InputError(f"a loss is {loss.min():g}, below 0.", "add a constant to all losses.")
        # Weights of sum at most one: no loss is negative.
        weights = (shares(prices.masses) * (1 - 4 * count * UNIT)) @ masses
    attacks = [
        (np.maximum(guesses, 0.0), attacker.distance.array, attacker.minimum)
        for guesses, attacker in zip(prices.attackers, attackers, strict=True)
    ]
    paired = zip(prices.constraints.tolist(), constraints, strict=True)
    limits = [(max(price, 0.0), limit) for price, limit in paired]
    terms = count + sum(len(distance) + 1 for _, distance, _ in attacks) + len(limits)
    slack = terms + (count + 1.0) * (1.0 + float(np.abs(loss).max()))
    with np.errstate(over="ignore", invalid="ignore"):
        pairs = _PricedPairs.of(families, prices.families)
        terms, slack = terms + pairs.terms, slack + pairs.terms

        def costs(part: slice) -> tuple[Floats, Floats]:
            cost = weights[part, None] * loss[part]
            size = np.abs(cost)
            for guesses, distance, _ in attacks:
                earned = prior[part, None] * (distance.T[part] @ guesses)
                cost -= earned
                size += earned
            for price, limit in limits:
                charge = price * limit.coefficients[part]
                cost += charge
                size += np.abs(charge)
            if pairs.terms:
                giving, taking = pairs.sums(part)
                cost += giving - taking
                size += giving + taking
            return cost, size

        bound = rows_below(costs, loss.shape, prices.rows, terms, slack)
        for guesses, distance, minimum in attacks:
            credit = float(guesses.sum(axis=0).min()) * (1 - 2 * (len(distance) + 2) * UNIT) * minimum
            bound = lower_end(bound + max(0.0, lower_end(credit, underflow(2, minimum))), 0.0)
        for price, limit in limits:
            allowed = price * limit.at_most
            bound = lower_end(bound - upper_end(allowed, 2 * UNIT * abs(allowed) + underflow(1)), 0.0)
        if pairs.allowed:
            bound = lower_end(bound - pairs.allowed, 0.0)
    return max(bound, *(least_loss_of_truth(mass, loss, worst=False) for mass in masses))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _PricedPairs(CompactRepr):
    """Prices z of rows of distribution privacy, in arrays of pairs and observables.

    For each pair the mass over delta is at most the sum over o of t(o) <= delta, and z(o) t(o) adds up to at most
    max z times delta. Factors rounded up allow more, so the bound holds for exact ones.
    """

    first: Floats
    second: Floats
    giving: Floats  # array (k, m), z
    taking: Floats  # array (k, m), z times the factor
    allowed: float  # the sum over pairs of delta max z, rounded up

    @classmethod
    def of(cls, rows: FamilyRows | None, prices: Floats | None) -> _PricedPairs:
        """Return the positive prices of rows; none where either is None."""
        if rows is None or prices is None:
            none = np.empty((0, 0))
            return cls(none, none, none, none, 0.0)
        giving = np.maximum(prices, 0.0)
        taking = giving * rows.factors[:, None]
        useless = ~np.isfinite(taking)  # the factor or the product overflows
        giving, taking = np.where(useless, 0.0, giving), np.where(useless, 0.0, taking)
        charges = rows.deltas * giving.max(axis=1, initial=0.0)
        total = float(charges.sum())
        allowed = upper_end(total, sum_error(len(charges), total)) if rows.deltas.any() else 0.0
        return cls(rows.first, rows.second, giving, taking, allowed)

    @property
    def terms(self) -> int:
        """The number of products in the two sums of a cell."""
        return 2 * len(self.giving)

    def sums(self, part: slice) -> tuple[Floats, Floats]:
        """Return for some secrets the sums over pairs of z lam and of z factor mu, arrays (secrets, m)."""
        return self.first.T[part] @ self.giving, self.second.T[part] @ self.taking


class LeastCosts:
    """Reduced costs of single observables, rounded down, and the bound that their minimum proves.

    With prices lam >= 0 of the rows p(o|s) <= exp(e) p(o|t), every mechanism that satisfies these rows loses at
    least the sum over s of the minimum over o of

        prior(s) loss(s, o) + (sum of lam of the rows (s, .)) - (sum of exp(e) lam of the rows (., s)),

    as in `loss_bound`, which takes the prices of all observables at once. Ten thousand secrets and observables
    have 10**9 prices; here those of one observable are processed at a time. The s, t and e of each row that may
    have a price are ``secrets``, ``rivals`` and ``exponents``, arrays (k,), for every observable.
    """

    def __init__(
        self, prior: Floats, loss: Floats, secrets: Positions, rivals: Positions, exponents: Floats
    ) -> None:
        n = len(prior)
        self._prior, self._loss, self._secrets, self._rivals = prior, loss, secrets, rivals
        self._growth = intervals.exp_above(exponents_above(exponents, n))
        fullest = [int(np.bincount(ends, minlength=1).max()) for ends in (secrets, rivals)]
        self._terms = _OTHER_TERMS + sum(fullest)

    def of(self, observable: int, rows: Positions, prices: Floats) -> Floats:
        """Return the reduced costs of an observable, array (n,), no larger than the exact ones.

        Its prices, array (r,), are those of ``rows``, ascending; negative ones count as zero. Raises `InputError`
        if the rows are not ascending: their prices are added up.
        """
        if (np.diff(rows) <= 0).any():
            raise InputError("rows with prices are not ascending.", "sort them, and give each once.")
        n, charges = len(self._prior), np.maximum(prices, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            cost = self._prior * self._loss[:, observable]
            here = np.bincount(self._secrets[rows], charges, n)
            there = np.bincount(self._rivals[rows], charges * self._growth[rows], n)
            error = 2 * (self._terms + 8) * UNIT * (np.abs(cost) + here + there)
            lower: Floats = (cost + here - there) - error - (1 + self._terms) * SMALLEST
        return np.where(np.isnan(lower), -np.inf, lower)

    def bound(self, least: Floats) -> float:
        """Return a proved lower bound on the loss, from the minimum (n,) of `of` over *all* observables."""
        with np.errstate(over="ignore", invalid="ignore"):
            total = lower_end(float(least.sum()), sum_error(len(least), float(np.abs(least).sum())))
        truth = least_loss_of_truth(self._prior, self._loss, worst=False)
        return max(-np.inf if np.isnan(total) else total, truth)
