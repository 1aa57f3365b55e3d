"""Pricing: a small program that shows how an absent observable lowers the loss, or proves that it cannot.

With prices mu of the secrets, the reduced costs of an observable o are w = c_o - mu. Over columns x in the cone of
the rows, <w, x> is minimised with <q, x> = 1, q = exp(-E) of the exponents E from the anchor. For any lam >= 0,
lowering mu by the negative part of w - G' lam makes it harmless: docs/proofs/column-generation.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ..interior import lapack
from ..interior.lapack import StoppedError, Workers
from ..interior.newton import step_length
from ..solver import Control
from .program import Bools, Edges, Ints, Positions, Program

_MOST: Final = 60  # iterations
_TO_BOUNDARY: Final = 0.99
_FLAT: Final = 0.3  # of the exponents, in the first column
_LARGE: Final = 3.0  # times the estimate from costs and first column: the first multipliers
_PATIENT: Final = 4  # iterations before it is believed
_AROUND: Final = 1.0  # exponent around the secrets of negative cost
_WIDER: Final = 1.6
_SHIFTS: Final = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)
ALONE: Final = 1000
"""Secrets from which on threads price: shorter programs gain nothing, most of their time is the interpreter's."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Price(CompactRepr):
    """Answer for one observable."""

    value: float  # the least <w, x> found, with a largest entry of 1; 0 where it was not looked for
    cost: float  # the last <w, x> found, with <q, x> = 1; infinite where it was not looked for
    closed: bool  # whether mu must be lowered by no more than allowed, in total
    short: Floats  # array (n,), by how much mu must be lowered; not negative
    shortage: float  # their sum
    edges: Edges  # rows of the observable
    rows: Ints  # array (r,), positions of the edges with a multiplier, ascending
    lam: Floats  # array (r,), their multipliers, positive


def price(
    edges: Edges, w: Floats, exponents: Floats, allowed: float, budget: float, near: float = -np.inf
) -> Price:
    """Return whether an observable is harmless, and how near it is to helping.

    ``w`` (n,) are reduced costs, ``exponents`` (n,) those to the anchor. Mu may be lowered by ``allowed``; a value
    below ``-budget`` certainly helps. The search ends once <w, x> is known to be above ``near`` or not.
    """
    negative = w < 0
    if float(-w[negative].sum()) <= allowed:
        return replace(trivial_price(edges, w), closed=True)
    reach = float(exponents[negative].max()) + _AROUND
    while True:
        mask: Bools = exponents <= reach
        whole = bool(mask.all())
        if whole:
            part, rows, here = edges, np.arange(len(edges.upper)), np.arange(edges.size)
        else:
            (part, rows), here = edges.among(mask), np.flatnonzero(mask)
            if not len(rows):
                reach *= _WIDER
                continue
        value, cost, closed, lacks, lam = _Program(part, w[here], exponents[here]).run(allowed, budget, near)
        if closed or whole:
            short, used = np.zeros(edges.size), np.flatnonzero(lam)
            short[here] = lacks
            return Price(value, cost, closed, short, float(short.sum()), edges, rows[used], lam[used])
        reach *= _WIDER


def trivial_price(edges: Edges, w: Floats) -> Price:
    """Return the price of an observable that is not examined: mu is lowered by all negative costs (n,)."""
    short = np.maximum(-w, 0.0)
    none = np.empty(0, dtype=np.int64)
    return Price(0.0, np.inf, False, short, float(short.sum()), edges, none, np.empty(0))


class _Program:
    """Minimise <w, x> over the cone of some rows with <q, x> = 1."""

    def __init__(self, edges: Edges, w: Floats, exponents: Floats) -> None:
        upper, lower = edges.upper, edges.lower
        self._edges, self._w = edges, w
        self._x, self._q = np.exp(-_FLAT * exponents), np.exp(-exponents)
        # Far from the anchor slacks are small. With products to match, multipliers are no larger there than here.
        self._share = np.sqrt(self._x[upper] * self._x[lower])
        self._share /= self._share.mean()
        self._x /= float(self._q @ self._x)
        z = edges.slack(self._x)
        self._lam = _LARGE * float(np.abs(w) @ self._x) / len(z) * self._share / z
        first, last = np.minimum(upper, lower), np.maximum(upper, lower)
        self._width = int((last - first).max())
        place = first * (self._width + 1) + last - first
        self._down = upper > lower
        self._places = place[self._down], place[~self._down]
        self._band = np.zeros((edges.size, self._width + 1))

    def run(self, allowed: float, budget: float, near: float) -> tuple[float, float, bool, Floats, Floats]:
        """Return value, cost, closed and short of `Price`, and multipliers, once these decide."""
        edges, w, q = self._edges, self._w, self._q
        x, lam = self._x, self._lam
        z = edges.slack(x)
        least_value, cost = 0.0, float(w @ x)
        best, room = np.zeros(len(z)), w
        least = float(np.maximum(-w, 0.0).sum())
        for count in range(_MOST):
            newton = self._factor_system(x, z, lam)
            if newton is None:
                break
            solve = self._solver(newton, z, lam)
            dx, dz, plain = solve(np.zeros(len(z)))
            primal, dual = step_length((dz / z).min()), step_length(((plain - lam) / lam).min())
            mean = float(lam @ z) / len(z)
            after = float((z + primal * dz) @ (lam + dual * (plain - lam))) / len(z)
            dx, dz, full = solve(min(mean, max(after, 0.0)) * self._share - dz * (plain - lam))
            primal = _TO_BOUNDARY * step_length((dz / z).min())
            dual = _TO_BOUNDARY * step_length(((full - lam) / lam).min())
            lam = lam + dual * (full - lam)
            for end in (lam, plain, full):
                clipped = np.maximum(end, 0.0)
                left = w - edges.adjoint(clipped)
                total = float(np.maximum(-left, 0.0).sum())
                if total < least:
                    least, room, best = total, left, clipped
                if least <= allowed and (cost <= near or (left >= near * q).all()):
                    return least_value, cost, True, np.maximum(-room, 0.0), best
            x = x + primal * dx
            z = edges.slack(x)
            cost = float(w @ x)
            least_value = min(least_value, cost / float(np.abs(x).max()))
            if not (z > 0).all() or not (lam > 0).all():
                break
            if (least_value < -budget and count >= _PATIENT) or max(primal, dual) < 1e-6:
                break
        return least_value, cost, least <= allowed, np.maximum(-room, 0.0), best

    def _factor_system(self, x: Floats, z: Floats, lam: Floats) -> _Newton | None:
        """Return the Newton system at a point; None where rounding spoils it."""
        edges, band = self._edges, self._band
        weights, anchor = lam / z, int(x.argmax())
        diagonal = np.bincount(edges.lower, weights * edges.root**2, edges.size)
        diagonal += np.bincount(edges.upper, weights / edges.root**2, edges.size)
        down, up = self._places
        reach = np.arange(1, self._width + 1)
        above = anchor - reach
        below = (above * (self._width + 1) + reach)[above >= 0]
        image, energy = edges.adjoint(lam), float(lam @ z)
        image[anchor] = 0.0
        for shift in _SHIFTS:
            band[:] = 0.0
            flat = band.reshape(-1)
            flat[down] = -weights[self._down]
            flat[up] -= weights[~self._down]
            band[:, 0] = diagonal * (1 + shift)
            flat[below] = 0.0
            band[anchor, 1:] = 0.0
            band[anchor, 0] = 1.0
            if lapack.factor_packed(band):
                border = image.copy()
                lapack.sweep_banded(band, border, False)
                pivot = energy * (1 + shift) - float(border @ border)
                if pivot > 0:
                    return _Newton(band, anchor, x, border, pivot)
        return None

    def _solver(
        self, newton: _Newton, z: Floats, lam: Floats
    ) -> Callable[[Floats], tuple[Floats, Floats, Floats]]:
        """Return a function from second-order products to steps of x and z, and multipliers after a whole step."""
        x, q, edges = newton.x, self._q, self._edges
        rest, share = newton.solve(q)
        missing, total = 1.0 - float(q @ x), float(q @ rest) + share * float(q @ x)

        def solve(target: Floats) -> tuple[Floats, Floats, Floats]:
            change = target / z
            step, more = newton.solve(edges.adjoint(change) - self._w)
            deficit = (missing - float(q @ step) - more * float(q @ x)) / total
            step, more = step + deficit * rest, more + deficit * share
            dz = edges.slack(step) + more * z
            return step + more * x, dz, change - lam / z * dz

        return solve


@dataclass(frozen=True, slots=True)
class _Newton:
    """The matrix H = G' diag(lam / z) G, factored with x for its largest coordinate; see `interior.blocks`."""

    band: Floats  # the factor of H without the anchor
    anchor: int  # the largest coordinate of x
    x: Floats  # array (n,)
    border: Floats  # array (n,), the factor's answer to the rest of H x
    pivot: float  # the remainder of x' H x

    def solve(self, right: Floats) -> tuple[Floats, float]:
        """Return H^{-1} right as (rest, share): the solution is rest + share * x."""
        rest = right.copy()
        rest[self.anchor] = 0.0
        lapack.sweep_banded(self.band, rest, False)
        share = (float(self.x @ right) - float(self.border @ rest)) / self.pivot
        rest -= share * self.border
        lapack.sweep_banded(self.band, rest, True)
        return rest, share


CostFinder = Callable[[int, Ints, Floats], Floats]
"""From an observable, the rows with multipliers and these to its proved reduced costs, array (n,)."""


@dataclass(slots=True)
class Prices:
    """Prices of some observables, and their combined effect."""

    prices: dict[int, Price]
    short: Floats  # array (n,), by how much mu must be lowered for all of them
    least: Floats  # array (n,), the least of their reduced costs, where these are looked at; else infinite

    def add(self, o: int, price: Price, finder: CostFinder | None) -> None:
        """Add an observable; its multipliers are stored unless ``finder`` uses them now."""
        np.maximum(self.short, price.short, out=self.short)
        count = len(price.rows) if finder is None else 0
        self.prices[o] = replace(price, short=price.short[:0], rows=price.rows[:count], lam=price.lam[:count])
        if finder is not None:
            np.minimum(self.least, finder(o, price.rows, price.lam), out=self.least)


def price_absent(
    master: Program,
    mu: Floats,
    rest: Positions,
    budget: float,
    limit: float,
    control: Control,
    workers: Workers,
    finder: CostFinder | None,
    more: Callable[[int], Edges] | None = None,
) -> Prices:
    """Return the prices of the absent observables ``rest`` (r,) at the prices ``mu`` (n,) of the secrets.

    Mu may be lowered by ``budget`` for all of them; ``limit`` is the ``near`` of `price`. ``more`` gives further
    rows of an observable that is not harmless by the rows of the edges.
    """

    def price_observable(o: int) -> Price:
        w, options = master.costs[o] - mu, (budget / len(rest), budget, limit)
        if control.cutoff is not None:
            return trivial_price(master.edges, w)
        exponents = master.exponents[master.anchors[o]]
        first = price(master.edges, w, exponents, *options)
        if more is None or (first.closed and first.cost > limit):
            return first
        again = price(more(o), w, exponents, *options)
        if first.closed and not again.closed:
            return first
        edges, rows = again.edges, again.rows  # only rows with a multiplier are stored
        few = Edges(edges.upper[rows], edges.lower[rows], edges.root[rows], edges.size)
        return replace(again, edges=few, rows=np.arange(len(rows)))

    def price_share(share: range) -> Prices:
        n = master.shape[0]
        prices = Prices({}, np.zeros(n), np.full(n, np.inf))
        for o in rest[share.start : share.stop].tolist():
            prices.add(o, price_observable(o), finder)
        return prices

    every = range(len(rest))
    if not every or master.shape[0] < ALONE:
        return price_share(every)
    try:
        parts = workers.share(price_share, len(rest))
    except StoppedError:
        return price_share(every)
    every_price = {o: price for part in parts for o, price in part.prices.items()}
    short = np.max([part.short for part in parts], axis=0)
    return Prices(every_price, short, np.min([part.least for part in parts], axis=0))
