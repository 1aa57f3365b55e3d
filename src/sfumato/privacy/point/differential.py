"""Differential privacy of a relation between secrets: the least epsilon, and the least delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Metric, Space, hamming
from ...core.arrays import Floats, Positions, numbers, readonly
from ...core.immutable import assign
from ...divergences import MaxDivergence, max_divergence
from ...errors import InputError
from ...rounding import at_most, factor_at_most, inversion_error, log_error, log_errors, mass_error
from ..exact import largest_factor, largest_mass, round_down
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, pair_name, related_rows
from ..rows import (
    AnyMechanism,
    Mask,
    check_epsilon,
    excesses,
    largest,
    scale_by_exp,
    span,
    unequal_pair,
)
from ..search import ratio_limits, search
from .least_epsilon import Scales, largest_excess, least_epsilon


@final
@dataclass(frozen=True, slots=True)
class DifferentialPrivacy(Notion):
    """(epsilon, delta)-differential privacy: the least epsilon at a given delta.

    p[R | s] <= e**epsilon p[R | s'] + delta for all related (s, s') and all sets R of observables

    Each ordered pair of the relation counts. Epsilon is the largest (approximate) max divergence, or 0, by exact
    inversion of profiles. Where delta equals, up to rounding, the mass at which epsilon jumps, `Finding.upper` is
    on the far side of the jump. Raises `InputError` if delta is not between 0 and 1.

    Example:
        >>> coin = [[0.75, 0.25], [0.25, 0.75]]
        >>> DifferentialPrivacy().measure(coin)
        Differential privacy: epsilon 1.09861

    Source:
        Dwork and Roth, definition 2.4; Kawamoto and Murakami, definition 3 and proposition 1.
    """

    description = Description(
        "differential-privacy",
        "differential privacy",
        ("epsilon", "delta"),
        question="By which factor, beyond delta, can any set of reports favour one secret over another?",
        promise="no set of reports is over e^{epsilon} times as likely for one of {about} as for the other{up_to}",
        source="Dwork and Roth, definition 2.4; Kawamoto and Murakami, definition 3",
        context=("relation",),
        defaults={"delta": 0.0},
    )

    relation: Relation | None = None
    delta: float = 0.0

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, mask = related_rows(mechanism, self.relation)
        if self.delta:
            least = least_epsilon(mechanism, mask, Scales.ones(), self.delta)
            return Finding(self, least.value, least.rounding, witness_of_pair(matrix, least.pair, self.delta))
        top = search(
            mask,
            lambda s, t: MaxDivergence().rows(matrix[s], matrix[t]),
            ratio_limits(matrix),
            lambda logs, _s, _t: log_errors(logs),
        )
        witness = witness_of_pair(matrix, top.pair, 0.0)
        if math.isfinite(top.value):
            factor = largest_factor(mechanism, top, mask)
            if factor is not None:
                return Finding.of_factor(self, factor, witness)
        value = max(0.0, top.value)
        return Finding(self, value, log_error(value), witness)

    def as_metric_privacy(self, secrets: Space) -> Metric | None:
        """Return the metric with distance 1 between any two secrets, for delta 0 and all pairs."""
        return hamming(secrets) if self.delta == 0 and self.relation is None else None

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Some report can distinguish {pair_name(self.relation)} with certainty: no epsilon is enough."
        if self.delta:
            return _advantage(self.relation, value, self.delta)
        return (
            f"Every report is at most {factor_at_most(value)} times as likely from one as from the other "
            f"of {pair_name(self.relation)} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class DeltaOfDifferentialPrivacy(Notion):
    """(epsilon, delta)-differential privacy: the least delta at a given epsilon.

    delta = max over related (s, s') of the sum over o of max(0, p(o|s) - e**epsilon p(o|s'))

    Raises `InputError` if epsilon is negative or NaN.

    Attributes:
        epsilon: At least 0; ``inf`` leaves the mass of reports that only one secret can make.

    Source:
        Balle, Barthe and Gaboardi, NeurIPS 2018 (privacy profile).
    """

    description = DifferentialPrivacy.description
    parameter = "delta"

    epsilon: float
    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix, mask = related_rows(mechanism, self.relation)
        top = largest_excess(matrix, mask, float(self.epsilon))
        value, rounding, pair = top.value, mass_error(top.value, matrix.shape[1]), top.pair
        if self.epsilon == 0 or math.isinf(self.epsilon):
            exact = largest_mass(mechanism, top, mask, alone=self.epsilon > 0)
            if exact is not None:
                (value, rounding), pair = round_down(exact[0], exact[0]), exact[1] or pair
        elif unequal_pair(mechanism, mask) is None:
            value, rounding = 0.0, 0.0
        if pair is None:
            return Finding(self, value, rounding, Witness())
        outputs = np.flatnonzero(matrix[pair[0]] > scale_by_exp(matrix[pair[1]], float(self.epsilon)))
        return Finding(self, min(value, 1.0), rounding, Witness(pair, outputs), most=1.0)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(self.epsilon):
            return (
                f"Reports that one of {pair_name(self.relation)} makes and the other never does have together a "
                f"probability of at most {at_most(value)} (delta {at_most(value)})."
            )
        return _advantage(self.relation, self.epsilon, value)


def _advantage(relation: Relation | None, epsilon: float, delta: float) -> str:
    """Return the guarantee in words: delta is what any set of reports gains beyond the factor."""
    return (
        f"The probability of any set of reports from one of {pair_name(relation)} is at most "
        f"{factor_at_most(epsilon)} times that from the other, plus {at_most(delta)} "
        f"(epsilon {at_most(epsilon)}, delta {at_most(delta)})."
    )


def witness_of_pair(matrix: Floats, pair: tuple[int, int] | None, delta: float) -> Witness:
    """Return the pair with the set of reports that attains its (approximate) max divergence."""
    if pair is None:
        return Witness()
    return Witness(pair, max_divergence(matrix[pair[0]], matrix[pair[1]], delta).outputs)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivacyProfile:
    """The exact privacy profile of a mechanism, for every epsilon of at least 0.

    For one pair and one set R of observables p[R | s] - t p[R | s'] is a line in t = e**epsilon. The profile is
    the largest of these lines, convex and piecewise linear in t. The search evaluates it where two known lines
    meet: either they are neighbours, or it finds a new line there. The relation has the pairs that must look
    alike, all if None. Raises `InputError` if sizes do not fit, and its methods if an epsilon or a delta is
    negative or NaN.

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
        """Return the least delta for each epsilon, array of the same shape."""
        values, _ = self._at(epsilon)
        return values

    def delta_upper(self, epsilon: ArrayLike) -> Floats:
        """Return deltas that the mechanism certainly satisfies at each epsilon: rounded up, at most 1."""
        return np.minimum(1.0, np.nextafter(self.delta(epsilon) + self.rounding, np.inf))

    def pairs_at(self, epsilon: ArrayLike) -> Positions:
        """Return the secrets (s, s') that attain delta at each epsilon, array (..., 2)."""
        _, lines = self._at(epsilon)
        return np.asarray(self.pairs[lines])

    def _at(self, epsilon: ArrayLike) -> tuple[Floats, Positions]:
        """Return the value and the position of the largest line at each epsilon."""
        at = numbers(epsilon, "epsilon")
        for value in at.ravel():
            check_epsilon(float(value))
        best, positions = np.full(at.shape, -np.inf), np.zeros(at.shape, dtype=np.intp)
        for k, (e, d, s) in enumerate(zip(self.epsilons, self.deltas, self.slopes, strict=True)):
            with np.errstate(over="ignore"):
                values = d - (s * np.expm1(at - e) if s else 0.0)
            higher = values > best
            best, positions = np.where(higher, values, best), np.where(higher, k, positions)
        return best, positions

    def epsilon(self, delta: ArrayLike) -> Floats:
        """Return the least epsilon of at least 0 for each delta, array of the same shape.

        It is ``inf`` where delta is below the probability of the reports that only one of two related secrets can
        make.
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
        limits = scale_by_exp(matrix[pair[1]], epsilon)
        slope = float(limits[matrix[pair[0]] > limits].sum())
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
        new = _node_between(matrix, mask, left, right)
        if new is None:
            lines.append(right.line)
        else:
            pending += [(new, right), (left, new)]
    return lines


def _node_between(matrix: Floats, mask: Mask, left: _Node, right: _Node) -> _Node | None:
    """Return a node whose line is above both others where they meet, or None."""
    a, b = left.line, right.line
    before = math.exp(a.epsilon - b.epsilon)
    if not a.slope > b.slope * before:
        return None
    ratio = (a.delta + a.slope - b.delta - b.slope) / (a.slope - b.slope * before)
    at = a.epsilon + math.log(ratio) if ratio > 0 else a.epsilon
    if not a.epsilon < at < b.epsilon:
        return None
    known = a.delta - a.slope * math.expm1(at - a.epsilon) + mass_error(1.0, matrix.shape[1])
    share = (math.exp(at - b.epsilon) - before) / (1 - before)
    bounds = left.bounds + share * (right.bounds - left.bounds)
    above = mask & (bounds > known)
    if not above.any():
        return None
    new = _node_at(matrix, above, at, bounds)
    return new if new.line.delta > known else None
