"""Privacy profile of a mechanism: delta as a function of epsilon, over all related pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, Positions, numbers, readonly
from ...core.immutable import assign
from ...errors import InputError
from ...rounding import inversion_error, mass_error
from ..relation import Relation, related_rows
from ..rows import AnyMechanism, Mask, check_epsilon, excesses, largest, scale_by_exp, span


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivacyProfile:
    """The exact privacy profile of a mechanism, for every epsilon of at least 0.

    For one pair and one set R of observables p[R | s] - t p[R | s'] is a line in t = e**epsilon. The profile is
    the largest of these lines, convex and piecewise linear in t. The search evaluates it where two known lines
    meet: either they are neighbours, or it finds a new line there. The relation has the pairs that must look
    alike, all if None. Raises `InputError` if sizes do not fit.

    Attributes:
        epsilons: Array (k,), where each line was found to be the largest, rising.
        deltas: Array (k,), the profile there.
        slopes: Array (k,), e**epsilon p[R | s'] there: the line is delta + slope (1 - e**(e - epsilon)) at any e.
        pairs: Array (k, 2), the secrets (s, s') of each line; -1 where no pair is related.
        rounding: A bound of the floating-point error of any delta.

    Example:
        >>> coin = PrivacyProfile([[0.75, 0.25], [0.25, 0.75]])
        >>> coin.delta([0.0, 2.0]).tolist(), round(float(coin.epsilon(0.25)), 6)
        ([0.5, 0.0], 0.693147)

    Source:
        Balle, Barthe and Gaboardi, NeurIPS 2018; the search is by Eisner and Severance, Journal of the ACM 23(4),
        1976.
    """

    epsilons: Floats
    deltas: Floats
    slopes: Floats
    pairs: Positions
    rounding: float

    def __init__(self, mechanism: AnyMechanism, relation: Relation | None = None) -> None:
        matrix, mask = related_rows(mechanism, relation)
        lines = _envelope(matrix, mask)
        epsilons, deltas, slopes, pairs = zip(*lines, strict=True)
        assign(
            self,
            epsilons=readonly(np.array(epsilons)),
            deltas=readonly(np.array(deltas)),
            slopes=readonly(np.array(slopes)),
            pairs=readonly(np.array([pair or (-1, -1) for pair in pairs], dtype=np.intp)),
            rounding=2 * inversion_error(matrix.shape[1], span(matrix)),
        )

    def __repr__(self) -> str:
        return f"PrivacyProfile of {len(self.epsilons)} lines, delta {self.deltas[0]:.4g} at epsilon 0"

    def delta(self, epsilon: ArrayLike) -> Floats:
        """Return the least delta for each epsilon, array of the same shape.

        Raises `InputError` if an epsilon is negative or NaN.
        """
        values, _ = self._at(epsilon)
        return values

    def delta_upper(self, epsilon: ArrayLike) -> Floats:
        """Return deltas that the mechanism certainly satisfies at each epsilon: rounded up, at most 1.

        Raises `InputError` if an epsilon is negative or NaN.
        """
        return np.minimum(1.0, np.nextafter(self.delta(epsilon) + self.rounding, np.inf))

    def pairs_at(self, epsilon: ArrayLike) -> Positions:
        """Return the secrets (s, s') that attain delta at each epsilon, array (..., 2).

        Raises `InputError` if an epsilon is negative or NaN.
        """
        _, lines = self._at(epsilon)
        return np.asarray(self.pairs[lines])

    def _at(self, epsilon: ArrayLike) -> tuple[Floats, Positions]:
        """Return the value and the position of the largest line at each epsilon."""
        at = numbers(epsilon, "epsilon")
        for value in at.ravel():
            check_epsilon(float(value))
        best, which = np.full(at.shape, -np.inf), np.zeros(at.shape, dtype=np.intp)
        for k, (e, d, s) in enumerate(zip(self.epsilons, self.deltas, self.slopes, strict=True)):
            with np.errstate(over="ignore"):
                values = d - (s * np.expm1(at - e) if s else 0.0)
            higher = values > best
            best, which = np.where(higher, values, best), np.where(higher, k, which)
        return best, which

    def epsilon(self, delta: ArrayLike) -> Floats:
        """Return the least epsilon of at least 0 for each delta, array of the same shape.

        It is ``inf`` where delta is below the probability of the reports that only one of two related secrets can
        make. Raises `InputError` if a delta is negative or NaN.
        """
        at = numbers(delta, "delta")
        if not (at >= 0).all():
            raise InputError("a delta is negative or NaN.", "pass numbers of at least 0.")
        best = np.zeros(at.shape)
        for e, d, s in zip(self.epsilons, self.deltas, self.slopes, strict=True):
            if s == 0:
                best = np.where(at < d, np.inf, best)
            else:
                # A line below delta everywhere needs no epsilon.
                best = np.maximum(best, e + np.log1p(np.maximum((d - at) / s, -1 + 2.0**-53)))
        return best


class _Line(NamedTuple):
    """One line of the profile, by its value and fall at one epsilon."""

    epsilon: float
    delta: float
    slope: float
    pair: tuple[int, int] | None


class _Node(NamedTuple):
    """The largest line at an epsilon, and an upper bound of each pair's profile there."""

    line: _Line
    bounds: Floats


def _node_at(matrix: Floats, mask: Mask, epsilon: float, bounds: Floats) -> _Node:
    """Return the node of the pairs in a mask; the bounds of other pairs stay."""
    masses = excesses(matrix, mask, epsilon)
    delta, pair = largest(masses, mask)
    slope = 0.0
    if pair is not None and math.isfinite(epsilon):
        others = scale_by_exp(matrix[pair[1]], epsilon)
        slope = float(others[matrix[pair[0]] > others].sum())
    return _Node(_Line(epsilon, delta, slope, pair), np.where(mask, masses, bounds))


def _envelope(matrix: Floats, mask: Mask) -> list[_Line]:
    """Return the lines of the profile for epsilon >= 0, by falling slope."""
    zeros = np.zeros(mask.shape)
    # No finite ratio is beyond the last epsilon, where every profile has become flat.
    last = span(matrix)
    first, end = _node_at(matrix, mask, 0.0, zeros), _node_at(matrix, mask, math.inf, zeros)
    final = _Node(_Line(last, end.line.delta, 0.0, end.line.pair), end.bounds)
    lines, pending = [first.line], [(first, final)] if last > 0 else []
    while pending:
        left, right = pending.pop()
        new = _between(matrix, mask, left, right)
        if new is None:
            lines.append(right.line)
        else:
            pending += [(new, right), (left, new)]
    return lines


def _between(matrix: Floats, mask: Mask, left: _Node, right: _Node) -> _Node | None:
    """Return a node whose line is above both others where they meet, or None."""
    at = _meeting(left.line, right.line)
    if at is None:
        return None
    line = left.line
    known = line.delta - line.slope * math.expm1(at - line.epsilon) + mass_error(1.0, matrix.shape[1])
    before = math.exp(left.line.epsilon - right.line.epsilon)
    share = (math.exp(at - right.line.epsilon) - before) / (1 - before)
    bounds = left.bounds + share * (right.bounds - left.bounds)
    above = mask & (bounds > known)
    if not above.any():
        return None
    new = _node_at(matrix, above, at, bounds)
    return new if new.line.delta > known else None


def _meeting(left: _Line, right: _Line) -> float | None:
    """Return the epsilon strictly between two lines' own where they meet, or None."""
    shrunk = right.slope * math.exp(left.epsilon - right.epsilon)
    if not left.slope > shrunk:
        return None
    ratio = (left.delta + left.slope - right.delta - right.slope) / (left.slope - shrunk)
    if not ratio > 0:
        return None
    at = left.epsilon + math.log(ratio)
    return at if left.epsilon < at < right.epsilon else None
