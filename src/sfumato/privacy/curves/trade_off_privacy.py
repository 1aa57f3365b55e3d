"""Notions of trade-off curves: Gaussian and f-differential privacy, by the best tests between two secrets."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple, final

import numpy as np

from ...core.arrays import Bools, Floats, Positions
from ...rounding import UNIT
from ..exact import Pair, Pairs, integer_rows, round_down, weighted_masses
from ..notion import Description, Finding, Notion, Witness
from ..point.differential import DifferentialPrivacy
from ..relation import Relation, related_rows, relation_on
from ..rows import AnyMechanism, Mask, channel, pair_blocks
from ..search import falling
from .curve import LARGEST, QUANTILE_ERROR, Curve, quantile
from .errors_of_tests import Corners, Errors, errors, witness_of_test
from .trade_off import TradeOff

_AT_ONCE: Final = 2**12  # pairs per block
_CENTRES: Final = 10  # per root of the number of rows
_SLACK: Final = 1e-7  # far more than rounding; rows may sum to one only within 1e-9
_NO_TEST: Final = "no test does better than the curve allows"
_UNEVEN: Final = 2.0**-44  # largest deviation of the sum of a row from 1, as by rounding


@final
@dataclass(frozen=True, slots=True, eq=False)
class GaussianPrivacy(Notion):
    """Gaussian differential privacy, with the least mu.

    T(p(.|s), p(.|s')) >= G_mu    for all related s, s'

    where T is the trade-off function. G_mu is convex and T linear between its vertices, so mu = max over vertices
    (a, b) of Phi^-1(1 - a) - Phi^-1(b). It is ``inf`` where some observable is possible for one secret only. Both
    orders of a pair give the same mu.
    """

    description = Description(
        "gaussian",
        "Gaussian privacy",
        ("mu",),
        question="Which shift of a normal distribution is as easy to detect as the secret?",
        promise=(
            "distinguishing {about} is at least as hard as distinguishing two normal distributions whose "
            "means differ by {mu} standard deviations"
        ),
        source="Dong, Roth and Su, 2022, definition 2.7",
        context=("relation",),
    )
    parameter = "mu"
    certainty = "Some report rules out one of {related}: no mu is enough."
    limit = (
        "Identifying the source of a report among {related} is at least as hard as detecting from one draw a "
        "shift of a standard normal distribution by {value}."
    )

    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        rows, related = related_rows(mechanism, self.relation)
        unordered = np.triu(related | related.T)
        alone = _distinguishing_report(rows > 0, unordered)
        if alone is not None:
            return Finding(self, math.inf, 0.0, alone)
        best = _Largest(rows)
        net, used = net_of(rows, best.of_pairs), np.flatnonzero(unordered.any(axis=1))
        far = np.where(np.isfinite(net.between), net.between, 0.0).max(axis=1)
        used = used[np.argsort(-(far[net.centre[used]] + net.radius[used]), kind="stable")]
        for pairs in falling(unordered, used, net.limits, lambda: best.value, _AT_ONCE):
            best.raise_to(pairs)
        value, witness = best.value, best.witness
        # A relative error r of a probability of at most 1/2 changes its quantile by at most 1.26 r.
        rounding = 4 * (rows.shape[1] + 8) * UNIT + 2 * LARGEST * QUANTILE_ERROR
        return Finding(self, value, rounding, witness)


@dataclass(slots=True)
class _Largest:
    """The largest mu of the pairs so far, and the test that needs it."""

    rows: Floats
    value: float = 0.0
    witness: Witness = field(default_factory=lambda: Witness(note="all related secrets have the same row"))

    def of_pairs(self, pairs: Positions) -> Floats:
        """Return the mu of listed pairs, array (k,), without raising the largest."""
        parts = [_shifts(errors(p, q)).max(axis=1) for _, p, q in pair_blocks(self.rows, pairs)]
        return np.asarray(np.maximum(np.concatenate([np.zeros(0), *parts]), 0.0))

    def raise_to(self, pairs: Positions) -> None:
        """Raise the largest mu by some pairs."""
        for block, p, q in pair_blocks(self.rows, pairs):
            tests = errors(p, q)
            shifts = _shifts(tests)
            worst, vertex = np.unravel_index(int(np.argmax(shifts)), shifts.shape)
            if shifts[worst, vertex] > self.value:
                self.value = float(shifts[worst, vertex])
                of_pair = Errors(*(rates[worst] for rates in tests))
                self.witness = witness_of_test(self.rows, block[worst], of_pair, int(vertex))


def _shifts(tests: Errors) -> Floats:
    """Return the mu that each vertex needs, -inf at the ends."""
    with np.errstate(invalid="ignore"):
        shifts = quantile(tests.confidences, tests.alphas) - quantile(tests.betas, tests.powers)
    inner = (tests.alphas > 0) & (tests.confidences > 0) & (tests.betas > 0) & (tests.powers > 0)
    return np.where(inner, shifts, -np.inf)


def _distinguishing_report(support: Bools, mask: Mask) -> Witness | None:
    """Return a pair of rows with different supports and an output of one of them, or None."""
    _, groups = np.unique(support, axis=0, return_inverse=True)
    groups = groups.ravel()
    for first in np.flatnonzero(mask.any(axis=1)):
        apart = np.flatnonzero(mask[first] & (groups != groups[first]))
        if len(apart):
            outputs = np.flatnonzero(support[first] != support[apart[0]])[:1]
            note = "which is possible for one of them only"
            return Witness((int(first), int(apart[0])), outputs, note=note)
    return None


class Net(NamedTuple):
    """A few centres near all rows, with bounds by the triangle inequality of mu (Dong, Roth and Su, theorem 2.14).

    ``centre`` and ``radius`` are the centre of each row and its mu, arrays (n,). ``between`` is the mu of the
    centres, array (k, k), infinite for rows that are possible for different outputs.
    """

    centre: Positions
    radius: Floats
    between: Floats

    def limits(self, rows: Positions) -> Floats:
        """Return bounds of the mu of some rows and all others, array (b, n)."""
        centres = self.between[self.centre[rows]][:, self.centre]
        return np.asarray(centres + self.radius[rows, None] + self.radius + _SLACK)


def net_of(rows: Floats, shifts: Callable[[Positions], Floats]) -> Net:
    """Return a net of rows, adding the row farthest from all centres; ``shifts`` is the mu of pairs of rows."""
    roots, most = np.sqrt(rows), math.ceil(_CENTRES * math.sqrt(len(rows)))
    support = np.unique(rows > 0, axis=0, return_inverse=True)[1].ravel()

    def affinities(index: int) -> Floats:
        return np.where(support == support[index], roots @ roots[index], 0.0)

    def pair_shifts(pairs: Positions) -> Floats:
        shift = np.full(len(pairs), np.inf)
        same = support[pairs[:, 0]] == support[pairs[:, 1]]
        shift[same] = shifts(pairs[same])
        return shift

    centres, near, centre = [0], affinities(0), np.zeros(len(rows), dtype=np.intp)
    while len(centres) < most and near.min() < 1 - _SLACK:
        farthest = int(np.argmin(near))
        affinity = affinities(farthest)
        closer = affinity > near
        centre[closer], near = len(centres), np.maximum(near, affinity)
        centres.append(farthest)
    positions = np.array(centres, dtype=np.intp)
    radius = pair_shifts(np.stack([np.arange(len(rows)), positions[centre]], axis=1))
    between = np.zeros((len(positions), len(positions)))
    first, second = np.triu_indices(len(positions), 1)
    between[first, second] = pair_shifts(np.stack([positions[first], positions[second]], axis=1))
    return Net(centre, radius, between + between.T)


@final
@dataclass(frozen=True, slots=True, eq=False)
class TradeOffPrivacy(Notion):
    """f-differential privacy for a given curve f, with the slack that it needs.

    T(p(.|s), p(.|s'))(a) >= f(a) - slack    for all related s, s' and all a

    The mechanism is f-DP where the least slack is 0. A vertex of T attains it, since f is convex and T linear
    between its vertices.
    """

    description = Description(
        "trade-off",
        "trade-off privacy",
        (),
        question="By how much do tests distinguish secrets better than a given curve allows?",
        promise="the errors of every test that distinguishes {about} are at least those of the curve",
        source="Dong, Roth and Su, 2022, definition 2.3; Desfontaines, definition 36",
        context=("curve", "relation"),
        essentials=("curve",),
    )
    parameter = "slack"
    limit = "A test of which of {related} a report came from has errors of at least the curve's, up to {value}."

    curve: Curve
    relation: Relation | None = None

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        rows = channel(mechanism).matrix
        top, witness = -math.inf, Witness(note=_NO_TEST)
        # A relative error of alpha changes a convex f <= 1 by at most as much.
        rounding = 8 * (rows.shape[1] + 8) * UNIT + self.curve.precision
        near = []
        for pairs, p, q in pair_blocks(rows, relation_on(self.relation, len(rows)).pairs):
            tests = errors(p, q)
            # At alpha 1 every curve is 0, and at beta 1 none is above: these gaps are at most 0 exactly.
            gaps = np.where((tests.confidences == 0) | (tests.powers == 0), -math.inf, self.curve.gaps(tests))
            near.append(pairs[gaps.max(axis=1) >= -rounding])
            worst, vertex = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
            if gaps[worst, vertex] <= top:
                continue
            top = float(gaps[worst, vertex])
            if top > 0:
                of_pair = Errors(*(rates[worst] for rates in tests))
                witness = witness_of_test(rows, pairs[worst], of_pair, int(vertex))
        if -rounding < top <= rounding:
            exact = self._exact(mechanism, np.concatenate(near))
            if exact is not None:
                return exact
        return Finding(self, max(0.0, top), min(rounding, max(0.0, top + rounding)), witness)

    def _exact(self, mechanism: AnyMechanism, near: Pairs) -> Finding | None:
        """Return the least slack in fractions, of the pairs that come within rounding of the curve, or beyond.

        None for a curve without corners, or where it would take too long.
        """
        if not isinstance(self.curve, TradeOff):
            return None
        matrix = channel(mechanism).matrix
        satisfied = Finding(self, 0.0, 0.0, Witness(note=_NO_TEST))
        if self.curve.promise is not None:
            epsilon, delta = self.curve.promise
            both = relation_on(self.relation, len(matrix)).array
            if DifferentialPrivacy(Relation(both | both.T), delta).measure(mechanism).upper <= epsilon:
                return satisfied
        corners = self.curve.corners()
        if corners is None:
            return None
        below, above = (largest_shortfall(mechanism, near, corner) for corner in corners)
        if below is None or above is None:
            return None
        if above[0] == 0:
            return satisfied
        value, rounding = round_down(below[0], above[0])
        pair = np.array(above[1])
        tests = errors(*matrix[pair])
        witness = witness_of_test(matrix, pair, tests, int(self.curve.gaps(tests).argmax()))
        return Finding(self, value, rounding, witness)


def largest_shortfall(mechanism: AnyMechanism, pairs: Pairs, corners: Corners) -> tuple[Fraction, Pair] | None:
    """Return the largest f(a) - T(p, q)(a) of a trade-off function f, at least 0, and a pair that attains it.

    f is the largest of the lines c - k a through its edges. Below such a line T(p, q) falls by at most c - 1 + sum
    over o of max(0, q(o) - k p(o)), which a test attains, so no test needs to be sorted. Rows of an array are
    divided by their exact sums. None where these are not 1 up to rounding, or it would take too long.
    """
    rows = integer_rows(mechanism)
    if rows is None or not rows.holds(len(pairs) * max(1, len(corners) - 1)):
        return None
    sums = [int(total) for total in rows.array.sum(axis=1)]
    if any(abs(total - rows.unit) > rows.unit * _UNEVEN for total in sums):
        return None
    best: tuple[Fraction, Pair] = Fraction(0), None
    for group in _alike(sums, pairs):
        p, q = (sums[at] for at in group[0].tolist())
        for (a, b), (c, d) in pairwise(corners):
            if b > d:
                slope = (b - d) / (c - a)
                over, under = slope.denominator * p, slope.numerator * q
                for block, totals in weighted_masses(rows, group[:, ::-1], over, under):
                    k = max(range(len(totals)), key=totals.__getitem__)
                    gap = Fraction(totals[k], over * q) + b + slope * a - 1
                    if gap > best[0]:
                        best = gap, (int(block[k, 1]), int(block[k, 0]))
    return best


def _alike(sums: list[int], pairs: Pairs) -> list[Pairs]:
    """Return the pairs in groups whose rows have the same sums."""
    if len(set(sums)) == 1:
        return [pairs] if len(pairs) else []
    groups: dict[tuple[int, int], list[int]] = {}
    for k, (s, t) in enumerate(pairs.tolist()):
        groups.setdefault((sums[s], sums[t]), []).append(k)
    return [pairs[np.array(group)] for group in groups.values()]
