"""A small program that shows whether an absent observable could lower the loss, or proves that it could not.

With prices mu of the secrets, the reduced costs of an observable o are w = c_o - mu. It could lower the loss if a
column x in the cone of the rows has <w, x> < 0. So this is minimised with x = 1 at one secret, the anchor, by
Mehrotra's method; the band of each Newton matrix is factored. For any multipliers lam >= 0 of the rows,

    <w, x> >= <min(0, w - G' lam), x>      for all x >= 0 in the cone,

so lowering mu by what is negative in w - G' lam makes the observable harmless: that is the proof.

Far from where w is negative nothing can be gained. The program is therefore solved for the secrets near the anchor
first, where its minimum can only be lower, and for more where that decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...core.frozen import Short
from ..interior import lapack
from .edges import Bools, Edges, Ints

_MOST: Final = 60  # iterations
_TO_BOUNDARY: Final = 0.99
_PATIENT: Final = 4  # iterations before it is believed
_AROUND: Final = 1.0  # exponent around the secrets of negative cost
_WIDER: Final = 1.6
_SHIFTS: Final = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Price(Short):
    """The answer for one observable.

    Attributes:
        value: The least <w, x> found, with x = 1 at the anchor; 0 where it was not looked for.
        closed: Whether what mu must be lowered by, in all, is no more than was allowed.
        short: Array (n,), by how much mu must be lowered; not negative.
        rows: Array (r,), the rows with a multiplier.
        lam: Array (r,), their multipliers, positive.
    """

    value: float
    closed: bool
    short: Floats
    rows: Ints
    lam: Floats


def price(edges: Edges, w: Floats, exponents: Floats, anchor: int, allowed: float, budget: float) -> Price:
    """Return whether an observable is harmless.

    Args:
        edges: The rows, in an order in which they are near each other.
        w: Array (n,), reduced costs.
        exponents: Array (n,), the exponents between each secret and the anchor.
        anchor: The secret where x is one.
        allowed: How much mu may be lowered for this observable.
        budget: A value so far below zero helps for certain.
    """
    negative = w < 0
    if float(-w[negative].sum()) <= allowed:
        return replace(unpriced(w), closed=True)
    reach = float(exponents[negative].max()) + _AROUND
    while True:
        chosen: Bools = exponents <= reach
        whole = bool(chosen.all())
        if whole:
            part, rows, here = edges, np.arange(len(edges.upper)), np.arange(edges.size)
        else:
            (part, rows), here = edges.among(chosen), np.flatnonzero(chosen)
            if not len(rows):
                reach *= _WIDER
                continue
        found = _Program(part, w[here], exponents[here], int(np.searchsorted(here, anchor))).run(allowed, budget)
        if found.closed or whole:
            short = np.zeros(edges.size)
            short[here] = found.short
            used = np.flatnonzero(found.lam)
            return Price(found.value, found.closed, short, rows[used], found.lam[used])
        reach *= _WIDER


def unpriced(w: Floats) -> Price:
    """Return the price of an observable that is not looked at: all that is negative in its costs (n,) is paid."""
    return Price(0.0, False, np.maximum(-w, 0.0), np.empty(0, dtype=np.int64), np.empty(0))


def begun(edges: Edges, w: Floats, exponents: Floats, anchor: int, mean: float) -> tuple[Floats, Floats]:
    """Return a point of an observable's program and its multipliers, where their products come down to a mean.

    Args:
        edges: The rows.
        w: Array (n,), reduced costs.
        exponents: Array (n,), the exponents between each secret and the anchor.
        anchor: The secret where x is one.
        mean: The mean product of slack and multiplier to end at.

    Returns:
        Arrays (n,) strictly inside the cone, and (k,), positive.
    """
    path = _Program(edges, w, exponents, anchor)
    path.run(0.0, np.inf, mean)
    return path.x, path.lam


@dataclass(frozen=True, slots=True)
class _Found:
    value: float
    closed: bool
    short: Floats
    lam: Floats


class _Program:
    """Minimise <w, x> over the cone of some rows with x = 1 at the anchor."""

    def __init__(self, edges: Edges, w: Floats, exponents: Floats, anchor: int) -> None:
        self._edges, self._w, self._anchor = edges, w, anchor
        self.x = np.exp(-exponents / 2)
        z = edges.slack(self.x)
        self.lam = float(np.abs(w) @ self.x) / len(z) / z
        upper, lower = edges.upper, edges.lower
        first, last = np.minimum(upper, lower), np.maximum(upper, lower)
        self._width = int((last - first).max())
        place = first * (self._width + 1) + last - first
        self._down = upper > lower
        self._places = place[self._down], place[~self._down]
        self._band = np.zeros((edges.size, self._width + 1))
        # The entries of the anchor's row and column.
        k = np.arange(1, self._width + 1)
        above = anchor - k
        self._isolated = np.concatenate(
            [anchor * (self._width + 1) + k, (above * (self._width + 1) + k)[above >= 0]]
        )

    def run(self, allowed: float, budget: float, least_mean: float = 0.0) -> _Found:
        """Return the minimum, or the end where it is decided."""
        edges, w, x, lam = self._edges, self._w, self.x, self.lam
        z = edges.slack(x)
        best = _Found(float(w @ x), False, np.maximum(-w, 0.0), np.zeros(len(z)))
        least = float(best.short.sum())
        for count in range(_MOST):
            if not self._factor(lam / z):
                break
            mean = float(lam @ z) / len(z)
            if mean <= least_mean:
                break
            dx, dz, plain = self._step(np.zeros(len(z)), z, lam)
            primal, dual = _length(dz, z), _length(plain - lam, lam)
            after = float((z + primal * dz) @ (lam + dual * (plain - lam))) / len(z)
            target = mean * min(1.0, max(after / mean, 1e-12)) ** 3
            dx, dz, full = self._step(target - dz * (plain - lam), z, lam)
            for end in (plain, full):
                clipped = np.maximum(end, 0.0)
                short = np.maximum(edges.adjoint(clipped) - w, 0.0)
                total = float(short.sum())
                if total < least:
                    least, best = total, _Found(best.value, total <= allowed, short, clipped)
            if best.closed:
                return best
            primal = min(1.0, _TO_BOUNDARY * _length(dz, z))
            dual = min(1.0, _TO_BOUNDARY * _length(full - lam, lam))
            x = x + primal * dx
            z = edges.slack(x)
            lam = lam + dual * (full - lam)
            value = float(w @ x)
            best = _Found(min(best.value, value), best.closed, best.short, best.lam)
            if not (z > 0).all() or not (lam > 0).all():
                break
            self.x, self.lam = x, lam
            if (value < -budget and count >= _PATIENT) or max(primal, dual) < 1e-6:
                break
        return best

    def _factor(self, weights: Floats) -> bool:
        edges, band = self._edges, self._band
        diagonal = np.bincount(edges.lower, weights * edges.root**2, edges.size)
        diagonal += np.bincount(edges.upper, weights / edges.root**2, edges.size)
        one, other = self._places
        for shift in _SHIFTS:
            band[:] = 0.0
            flat = band.reshape(-1)
            flat[one] = -weights[self._down]
            flat[other] -= weights[~self._down]
            band[:, 0] = diagonal * (1 + shift)
            flat[self._isolated] = 0.0
            band[self._anchor, 0] = 1.0
            if lapack.factor_packed(band):
                return True
        return False

    def _step(self, wanted: Floats, z: Floats, lam: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the steps of x and z, and the multipliers at the end of a whole step.

        Args:
            wanted: What products of slack and multiplier shall be, to second order.
            z: The slacks.
            lam: The multipliers.
        """
        asked = wanted / z
        dx = self._edges.adjoint(asked) - self._w
        dx[self._anchor] = 0.0
        lapack.sweep_banded(self._band, dx, False)
        lapack.sweep_banded(self._band, dx, True)
        dz = self._edges.slack(dx)
        return dx, dz, asked - lam / z * dz


def _length(change: Floats, value: Floats) -> float:
    """Return how far a change may go until a positive value vanishes, at most 1."""
    low = float((change / value).min())
    return 1.0 if low >= -1.0 else -1.0 / low
