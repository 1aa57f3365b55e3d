"""Prices of many absent observables, and what they come to together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ..interior.workers import StoppedError, Workers
from ..solver import Control
from .edges import Edges, Ints
from .price import Price, price, unpriced
from .program import Positions, Program

ALONE: Final = 1000
"""Secrets from which on threads price: shorter programs gain nothing, most of their time is the interpreter's."""

Seen = Callable[[int, Ints, Floats], Floats]
"""From an observable, the rows with multipliers and these to its proved reduced costs, array (n,)."""


@dataclass(slots=True)
class Prices:
    """Prices of some observables, and what they come to together.

    Attributes:
        prices: Their prices.
        short: Array (n,), by how much mu must be lowered for all of them.
        least: Array (n,), the least of their reduced costs, where these are looked at; else infinite.
    """

    prices: dict[int, Price]
    short: Floats
    least: Floats

    @classmethod
    def nothing(cls, size: int) -> Prices:
        """Return what is found of no observables."""
        return cls({}, np.zeros(size), np.full(size, np.inf))

    def add(self, o: int, found: Price, seen: Seen | None) -> None:
        """Add an observable; its multipliers are kept where nothing looks at them now."""
        np.maximum(self.short, found.short, out=self.short)
        self.prices[o] = found.bare(multipliers=seen is None)
        if seen is not None:
            np.minimum(self.least, seen(o, found.rows, found.lam), out=self.least)

    def join(self, other: Prices) -> None:
        """Add what was found of others."""
        self.prices |= other.prices
        np.maximum(self.short, other.short, out=self.short)
        np.minimum(self.least, other.least, out=self.least)


def priced(
    given: Program,
    mu: Floats,
    rest: Positions,
    budget: float,
    limit: float,
    control: Control,
    workers: Workers,
    seen: Seen | None,
    more: Callable[[int], Edges] | None = None,
) -> Prices:
    """Return the prices of absent observables.

    Args:
        given: The problem.
        mu: Array (n,), the prices of its secrets.
        rest: Array (r,), the observables.
        budget: By how much mu may be lowered for all of them.
        limit: Which costs are looked at closely; see `price`.
        control: Once it stops, all that is negative is paid.
        workers: The pool.
        seen: What looks at each one's multipliers, where they are not kept.
        more: Rows of an observable, for those that are not harmless by the rows of the edges; or None.
    """

    def one(o: int) -> Price:
        w, exponents = given.costs[o] - mu, given.exponents[given.anchors[o]]
        if control.stopped is not None:
            return unpriced(given.edges, w)
        found = price(given.edges, w, exponents, budget / len(rest), budget, limit)
        if more is None or (found.closed and found.weighed > limit):
            return found
        again = price(more(o), w, exponents, budget / len(rest), budget, limit).brief()
        return again if again.closed or not found.closed else found

    def several(share: range) -> Prices:
        found = Prices.nothing(given.shape[0])
        for o in rest[share.start : share.stop].tolist():
            found.add(o, one(o), seen)
        return found

    every = range(len(rest))
    if not every or given.shape[0] < ALONE:
        return several(every)
    try:
        parts = workers.share(several, len(rest))
    except StoppedError:
        return several(every)
    found = parts[0]
    for part in parts[1:]:
        found.join(part)
    return found
