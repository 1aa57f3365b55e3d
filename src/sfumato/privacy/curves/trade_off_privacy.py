"""f-differential privacy: related rows at least as hard to distinguish as a given curve says."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, final

import numpy as np

from ...rounding import UNIT, at_most, float_above, float_below
from ..exact import IntegerRows, Pair, Pairs, integer_rows, weighted_masses
from ..notion import Description, Finding, Notion, Witness
from ..point.differential import DifferentialPrivacy
from ..relation import Relation, relation_on
from ..rows import AnyMechanism, channel
from .curve import Curve
from .errors_of_tests import Corners, Errors, blocks, errors, witness_of_test
from .trade_off import TradeOff

_NO_TEST: Final = "no test does better than the curve allows"


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
        required=("curve",),
    )
    parameter = "slack"

    curve: Curve
    relation: Relation | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        rows = channel(mechanism).matrix
        top, witness = -math.inf, Witness(note=_NO_TEST)
        # A relative error of alpha moves a convex f <= 1 by no more than that.
        rounding = 8 * (rows.shape[1] + 8) * UNIT + self.curve.precision
        near = []
        for pairs, p, q in blocks(rows, relation_on(self.relation, len(rows)).pairs):
            found = errors(p, q)
            # At alpha 1 every curve is 0, and at beta 1 none is above: these gaps are at most 0 exactly.
            gaps = np.where((found.confidences == 0) | (found.powers == 0), -math.inf, self.curve.gaps(found))
            near.append(pairs[gaps.max(axis=1) >= -rounding])
            worst, vertex = np.unravel_index(int(np.argmax(gaps)), gaps.shape)
            if gaps[worst, vertex] <= top:
                continue
            top = float(gaps[worst, vertex])
            if top > 0:
                of_pair = Errors(*(rates[worst] for rates in found))
                witness = witness_of_test(rows, pairs[worst], of_pair, int(vertex))
        if -rounding < top <= rounding:
            exact = self._exact(mechanism, np.concatenate(near))
            if exact is not None:
                return exact
        return Finding(self, max(0.0, top), min(rounding, max(0.0, top + rounding)), witness)

    def _exact(self, mechanism: AnyMechanism, near: Pairs) -> Finding | None:
        """Return the least slack in fractions, of the pairs that come within rounding of the curve, or beyond.

        None for a curve without corners, or where it would take too long. The curve of an epsilon and a delta
        holds where that guarantee holds in both orders of each pair.
        """
        if not isinstance(self.curve, TradeOff):
            return None
        matrix = channel(mechanism).matrix
        kept = Finding(self, 0.0, 0.0, Witness(note=_NO_TEST))
        if self.curve.promise is not None:
            epsilon, delta = self.curve.promise
            both = relation_on(self.relation, len(matrix)).array
            if DifferentialPrivacy(Relation(both | both.T), delta).measure(mechanism).upper <= epsilon:
                return kept
        corners = self.curve.corners()
        if corners is None:
            return None
        below, above = (largest_shortfall(mechanism, near, each) for each in corners)
        if below is None or above is None:
            return None
        if above[0] == 0:
            return kept
        value = float_below(below[0])
        pair = np.array(above[1])
        found = errors(*matrix[pair])
        witness = witness_of_test(matrix, pair, found, int(self.curve.gaps(found).argmax()))
        return Finding(self, value, float_above(above[0] - Fraction(value)), witness)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        return (
            f"Any test of which of two {self._related} a report came from has errors of at least "
            f"those of the curve, up to {at_most(value)}."
        )

    @property
    def _related(self) -> str:
        return "secrets" if self.relation is None else self.relation.name


_UNEVEN: Final = 2.0**-44  # by which the sum of a row may differ from 1: floats of rows that sum to 1


def largest_shortfall(mechanism: AnyMechanism, pairs: Pairs, corners: Corners) -> tuple[Fraction, Pair] | None:
    """Return the largest f(a) - T(p, q)(a) of a trade-off function f, at least 0, and a pair that attains it.

    f is the largest of the lines c - k a through its edges. Below such a line T(p, q) falls by at most c - 1 + sum
    over o of max(0, q(o) - k p(o)), which a test attains, so no test needs to be sorted. Rows of an array are
    divided by their exact sums. None where these are not 1 up to rounding, or it would take too long.
    """
    rows = integer_rows(mechanism)
    if rows is None or not rows.holds(len(pairs) * max(1, len(corners) - 1)):
        return None
    sums = [int(each) for each in rows.array.sum(axis=1)]
    if any(abs(each - rows.unit) > rows.unit * _UNEVEN for each in sums):
        return None
    best: tuple[Fraction, Pair] = Fraction(0), None
    for group in _alike(sums, pairs):
        p, q = (sums[at] for at in group[0].tolist())
        for (a, b), (c, d) in pairwise(corners):
            if b > d:
                slope = (b - d) / (c - a)
                found = _beyond(rows, group, slope, (p, q))
                best = max(best, (found[0] + b + slope * a - 1, found[1]), key=lambda each: each[0])
    return best


def _beyond(rows: IntegerRows, pairs: Pairs, slope: Fraction, sums: tuple[int, int]) -> tuple[Fraction, Pair]:
    """Return the largest sum over o of max(0, q(o) - slope p(o)), and its pair, of rows with these sums."""
    over, under = slope.denominator * sums[0], slope.numerator * sums[1]
    best, pair = -1, None
    for block, found in weighted_masses(rows, pairs[:, ::-1], over, under):
        k = max(range(len(found)), key=found.__getitem__)
        if found[k] > best:
            best, pair = found[k], (int(block[k, 1]), int(block[k, 0]))
    return Fraction(best, over * sums[1]), pair


def _alike(sums: list[int], pairs: Pairs) -> list[Pairs]:
    """Return the pairs in groups whose rows have the same sums."""
    if len(set(sums)) == 1:
        return [pairs] if len(pairs) else []
    groups: dict[tuple[int, int], list[int]] = {}
    for k, (s, t) in enumerate(pairs.tolist()):
        groups.setdefault((sums[s], sums[t]), []).append(k)
    return [pairs[np.array(each)] for each in groups.values()]
