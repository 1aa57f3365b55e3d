"""Trade-off functions of pairs of rows, and the region of errors above one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, numbers, readonly
from ...core.immutable import assign
from ...divergences import Profile, Rows, log_ratios, single
from ...errors import InputError
from ...rounding import UNIT
from ..relation import Relation, relation_on
from ..rows import AnyMechanism, channel, check_delta, check_epsilon, pair_blocks
from . import errors_of_tests as tests
from .curve import Curve
from .errors_of_tests import Errors, MakeCorners

_TIE = 2.0**-46  # logarithms of ratios that differ by less, relative to the largest, are merged


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TradeOff(Curve):
    """The trade-off function of a pair of distributions, exact by its vertices.

    T(p, q)(a) = least type II error, 1 - q[R], over tests R with type I error p[R] <= a

    where a test may be randomised. T is convex and falling, T(a) <= 1 - a, and bends only at the likelihood-ratio
    tests. The pair is hidden where T is near 1 - a. Every trade-off function with finitely many vertices is that
    of a pair (``null``, ``alternative``), with one output per bend. The null hypothesis p and the alternative q
    are on the same observables. Raises `InputError` if an argument is not a distribution, or their lengths differ.

    Attributes:
        null: Array (k,), the masses of p where the ratio q/p is the same, by falling ratio.
        alternative: Array (k,), the masses of q there.
        alphas: Array (v,), the type I errors of the vertices, rising from 0.
        confidences: Array (v,), 1 - alpha, summed from the other end.
        betas: Array (v,), the least type II errors there, falling to 0.
        powers: Array (v,), 1 - beta, summed from the other end.
        promise: The (epsilon, delta) of a curve made by `of_epsilon`; else None.
        corners: Returns the exact corners of the curve in fractions; None where they are too many.

    Example:
        >>> coin = TradeOff([0.75, 0.25], [0.25, 0.75])
        >>> [(a, float(coin(a))) for a in (0.0, 0.25, 0.5, 1.0)]
        [(0.0, 1.0), (0.25, 0.25), (0.5, 0.16666666666666666), (1.0, 0.0)]

    Source:
        Dong, Roth and Su, "Gaussian differential privacy", 2022, definition 2.1; the vertices, the envelope and
        the duality are proved in docs/proofs/trade-off.md.
    """

    null: Floats
    alternative: Floats
    alphas: Floats
    confidences: Floats
    betas: Floats
    powers: Floats
    promise: tuple[float, float] | None
    corners: MakeCorners

    def __init__(self, p: Rows, q: Rows) -> None:
        first, second = single(p, q)
        null, alternative = _merge(first, second)
        vertices = tests.in_order(null, alternative)
        # At alpha 0 only the last point is a vertex.
        start = int(null[0] == 0)
        assign(self, **{name: readonly(values[start:]) for name, values in vertices._asdict().items()})
        assign(self, null=readonly(null), alternative=readonly(alternative), promise=None)
        assign(self, corners=partial(tests.of_rows, first, second))

    @classmethod
    def of(cls, mechanism: AnyMechanism, relation: Relation | None = None) -> Self:
        """Return the largest trade-off function f for which a mechanism is f-DP.

        It is the lower convex envelope of the trade-off functions of all related pairs, by default all. Raises
        `InputError` if an array (secrets, observables) is not a mechanism, or the relation has another size.

        Source:
            Dong, Roth and Su, definition 2.3 and proposition 2.4.
        """
        rows = channel(mechanism).matrix
        best = tests.in_order(np.ones(1), np.ones(1))
        for _, p, q in pair_blocks(rows, relation_on(relation, len(rows)).pairs):
            best = _lower_envelope(best, tests.errors(p, q))
        return cls(*_pair(best))._with(partial(tests.of_mechanism, mechanism, relation))

    @classmethod
    def lowest(cls, curves: Iterable[Self]) -> Self:
        """Return the largest trade-off function below all of the curves.

        Raises `InputError` if there is none.
        """
        listed = list(curves)
        if not listed:
            raise InputError("no trade-off function was given.", "pass at least one.")
        best = reduce(_lower_envelope, (curve._vertices for curve in listed))
        return cls(*_pair(best))._with(partial(tests.of_curves, [curve.corners for curve in listed]))

    @classmethod
    def through(cls, alphas: ArrayLike, betas: ArrayLike) -> Self:
        """Return the polygon through points of a trade-off function: it lies nowhere below it.

        Use it to require a curve that is known at some points: a mechanism that satisfies the polygon satisfies
        the curve. Both arrays are (k,), and the alphas rise. Raises `InputError` if the points do not lie on one
        trade-off function.
        """
        polygon = cls(*_pair(tests.through(alphas, betas)))
        return polygon._with(partial(tests.of_points, numbers(alphas, "alphas"), numbers(betas, "betas")))

    @classmethod
    def of_vertices(cls, alphas: ArrayLike, betas: ArrayLike) -> Self:
        """Return the trade-off function with these vertices.

        Both arrays are (v,). The alphas rise from 0 to 1, the same twice where the curve falls at once; the betas
        fall from at most 1 to 0. Raises `InputError` if they are not the vertices of a convex curve from 0 to 1.
        """
        x, y = numbers(alphas, "alphas"), numbers(betas, "betas")
        shaped = x.ndim == 1 and x.shape == y.shape and len(x) > 1
        ends = shaped and x[0] == 0 and x[-1] == 1 and y[-1] == 0 and y[0] <= 1
        if not ends or (np.diff(x) < 0).any() or (np.diff(y) > 0).any():
            raise InputError(
                "the vertices are not those of a trade-off curve.",
                "let alpha rise from 0 to 1, and beta fall from at most 1 to 0.",
            )
        widths, drops = np.diff(x), -np.diff(y)
        if (drops[1:] * widths[:-1] > drops[:-1] * widths[1:] + 1e-12).any():
            raise InputError("the curve is not convex.", "make each step flatter than the one before.")
        curve = cls(np.array([0.0, *widths]), np.array([1.0 - y[0], *drops]))
        return curve._with(partial(tests.of_points, x, y))

    @classmethod
    def minorant(cls, alphas: ArrayLike, betas: ArrayLike) -> Self:
        """Return a curve that lies nowhere above any trade-off function that reaches some points.

        Use it to guarantee a curve known at some points only: type II errors of at least ``betas`` there imply
        this curve everywhere. The points need not be convex; both arrays are (k,), alphas rising. Raises
        `InputError` if the arrays are not the errors of tests.
        """
        lines = tests.minorant(alphas, betas)
        return cls(*_pair(lines))._with(partial(tests.of_points, lines.alphas, lines.betas))

    @classmethod
    def of_epsilon(cls, epsilon: float, delta: float = 0.0) -> Self:
        """Return f_(epsilon, delta), which is equivalent to (epsilon, delta)-differential privacy.

        f(a) = max(0, 1 - delta - e**epsilon a, e**-epsilon (1 - delta - a))

        Raises `InputError` if epsilon is negative or NaN, or delta not between 0 and 1.

        Source:
            Wasserman and Zhou, 2010, theorem 2.4; Dong, Roth and Su, proposition 2.5.
        """
        check_epsilon(epsilon)
        check_delta(delta)
        lie = math.exp(-epsilon) / (1 + math.exp(-epsilon))
        truth = np.array([(1 - delta) * lie, (1 - delta) / (1 + math.exp(-epsilon))])
        curve = cls(np.array([0.0, *truth, delta]), np.array([delta, *truth[::-1], 0.0]))
        assign(curve, promise=(epsilon, delta))
        return curve._with(partial(tests.of_promise, epsilon, delta))

    def __repr__(self) -> str:
        return f"TradeOff with {len(self.alphas)} vertices, least total error {self.least_total_error:.4g}"

    def errors(self, alphas: Floats, confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements."""
        return _at(self._vertices, alphas, confidences)

    @property
    def precision(self) -> float:
        """The error of a value from merging nearly equal ratios."""
        logs = log_ratios(self.null, self.alternative)
        return 4 * _TIE * float(np.max(np.abs(logs), initial=1.0, where=np.isfinite(logs)))

    @property
    def inverse(self) -> Self:
        """The trade-off function of the exchanged pair, T(q, p): the inverse function of T(p, q)."""
        return type(self)(self.alternative, self.null)._with(partial(tests.invert, self.corners))

    @property
    def symmetrisation(self) -> Self:
        """The largest trade-off function below this one and its inverse."""
        return self.lowest([self, self.inverse])

    @property
    def profile(self) -> Profile:
        """The privacy profile of q against p: its delta(e) is the largest 1 - T(a) - e**e a.

        ``inverse.profile`` is that of the other order.
        """
        return Profile(self.alternative, self.null)

    @property
    def least_total_error(self) -> float:
        """The least sum of both errors, one minus the total variation of the pair."""
        return float(np.min(self.alphas + self.betas))

    @property
    def area(self) -> float:
        """The area below the curve: 1/2 where the pair is equal, 0 where one test identifies it for certain."""
        return float(np.sum(np.diff(self.alphas) * (self.betas[:-1] + self.betas[1:])) / 2)

    def shortfall(self, other: Self) -> tuple[float, float]:
        """Return the largest ``other(a) - self(a)``, at least 0, and the type I error a that attains it."""
        gaps = other.gaps(self._vertices)
        worst = int(np.argmax(gaps))
        return max(0.0, float(gaps[worst])), float(self.alphas[worst])

    def _with(self, corners: MakeCorners) -> Self:
        assign(self, corners=corners)
        return self

    @property
    def _vertices(self) -> Errors:
        return Errors(self.alphas, self.confidences, self.betas, self.powers)


def _at(vertices: Errors, alpha: Floats, confidence: Floats) -> tuple[Floats, Floats]:
    """Return the curve through the vertices at the given errors, and its complement."""
    if len(vertices.alphas) == 1:  # it falls to 0 at once
        return np.zeros_like(alpha), np.ones_like(alpha)
    low = alpha <= confidence
    left = np.searchsorted(vertices.alphas, alpha, side="right") - 1
    right = np.searchsorted(-vertices.confidences, -confidence, side="right") - 1
    k = np.clip(np.where(low, left, right), 0, len(vertices.alphas) - 2)
    other = tests.steps(vertices)[1]
    head = np.where(low, alpha - vertices.alphas[k], vertices.confidences[k] - confidence)
    tail = np.where(low, vertices.alphas[k + 1] - alpha, confidence - vertices.confidences[k + 1])
    width = head + tail
    return vertices.betas[k + 1] + tail / width * other[k], vertices.powers[k] + head / width * other[k]


def _lower_envelope(best: Errors, points: Errors) -> Errors:
    """Return the envelope of a convex curve and of points, most of which are above it."""
    flat = Errors(*(values.ravel() for values in points))
    beta, power = _at(best, flat.alphas, flat.confidences)
    # Relative rounding of a sum of this many terms.
    known = points.alphas.shape[-1] * UNIT
    below = np.where(flat.powers < flat.betas, flat.powers > power * (1 + known), flat.betas < beta * (1 - known))
    if not below.any():
        return best
    new = [np.unique(np.stack([values[below] for values in flat]), axis=1)]
    return tests.envelope(Errors(*np.concatenate([np.stack(best), *new], axis=1)))


def _pair(vertices: Errors) -> tuple[Floats, Floats]:
    """Return the pair of distributions whose trade-off function has these vertices."""
    null, other = tests.steps(vertices)
    return np.array([0.0, *null]), np.array([vertices.powers[0], *other])


def _merge(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the masses by falling q/p, one output for each ratio, none without mass."""
    used = (p > 0) | (q > 0)
    p, q = p[used], q[used]
    logs = log_ratios(p, q)
    order = np.argsort(logs, kind="stable")
    scale = np.max(np.abs(logs), initial=1.0, where=np.isfinite(logs))
    names = np.rint(logs[order] / (_TIE * scale))
    starts = np.flatnonzero(np.concatenate([[True], names[1:] != names[:-1]]))
    return np.add.reduceat(p[order], starts), np.add.reduceat(q[order], starts)


_LARGEST = 4_000_000  # largest number of outputs of a product


def product(curves: Iterable[TradeOff]) -> TradeOff:
    """Return the trade-off function of independent draws, one of each pair; no curve gives 1 - a, perfect privacy.

    T(p1, q1) x T(p2, q2) x ... = T(p1 x p2 x ..., q1 x q2 x ...)

    All products of outputs are formed, and those of equal likelihood ratio merged. If a mechanism satisfies each
    curve, their composition satisfies the product, also where later mechanisms are chosen after seeing earlier
    outputs. Raises `InputError` if the product has more than 4 million outputs.

    Source:
        Dong, Roth and Su, definition 3.1 and theorem 3.2.
    """
    return reduce(_times, curves, TradeOff([1.0], [1.0]))


def power(curve: TradeOff, count: int) -> TradeOff:
    """Return the trade-off function of ``count`` independent draws of the same pair.

    Raises `InputError` if count is negative, or the product has more than 4 million outputs.

    Example:
        >>> coin = TradeOff([0.75, 0.25], [0.25, 0.75])
        >>> len(power(coin, 10).null)
        11
    """
    if count < 0:
        raise InputError(f"{count} draws were asked for.", "use a count of at least 0.")
    answer, square = TradeOff([1.0], [1.0]), curve
    while count:
        if count & 1:
            answer = _times(answer, square)
        count >>= 1
        if count:
            square = _times(square, square)
    return answer


def _times(first: TradeOff, second: TradeOff) -> TradeOff:
    size = len(first.null) * len(second.null)
    if size > _LARGEST:
        raise InputError(
            f"the product has {size:,} outputs of different likelihood ratio.",
            "use LossDistribution, which bounds the composition of any number on a lattice.",
        )
    return TradeOff(
        np.multiply.outer(first.null, second.null).ravel(),
        np.multiply.outer(first.alternative, second.alternative).ravel(),
    )


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TestingRegion:
    """The pairs (false alarm, missed detection) that some test attains.

    A false alarm rejects a true null hypothesis p; a missed detection accepts it where the alternative q holds.
    The region of all tests, randomised ones included, is convex; with (a, b) it holds (1 - a, 1 - b), by the
    opposite test. Its lower edge is the trade-off function ``lower``.

    Source:
        Kairouz, Oh and Viswanath, "The composition theorem for differential privacy", 2017, section 2; Wasserman
        and Zhou, 2010. The inclusion of both orders replaces one equality in Desfontaines, 2.2.6:
        docs/proofs/trade-off.md.
    """

    __test__ = False  # for pytest: the name is a noun, not a test

    lower: TradeOff

    @classmethod
    def of_epsilon(cls, epsilon: float, delta: float = 0.0) -> Self:
        """Return the largest region that (epsilon, delta)-differential privacy allows.

        1 - a <= e**epsilon b + delta and 1 - b <= e**epsilon a + delta, and the same for (1 - a, 1 - b)

        A mechanism has the guarantee where its region ``is_within`` this one. It implies a + b >= 2 (1 - delta)
        / (1 + e**epsilon), but not the reverse. Raises `InputError` if epsilon is negative or NaN, or delta not
        between 0 and 1.
        """
        return cls(TradeOff.of_epsilon(epsilon, delta))

    @classmethod
    def of(cls, mechanism: AnyMechanism, relation: Relation | None = None) -> Self:
        """Return the least region with a lower edge that holds the tests of all related pairs, by default all.

        Raises `InputError` if an array (secrets, observables) is not a mechanism, or the relation has another
        size.
        """
        return cls(TradeOff.of(mechanism, relation))

    def __repr__(self) -> str:
        return f"TestingRegion with {len(self.vertices)} vertices, area {self.area:.4g}"

    @property
    def vertices(self) -> Floats:
        """The corners (false alarm, missed detection), array (k, 2), counterclockwise from the upper left."""
        lower = np.column_stack([self.lower.alphas, self.lower.betas])
        upper = np.column_stack([self.lower.confidences, self.lower.powers])
        corners = np.concatenate([lower, upper])
        # The lower edge ends in (1, 0); where it starts in (0, 1), the upper one ends there too.
        return readonly(corners[np.any(corners != np.roll(corners, 1, axis=0), axis=1)])

    @property
    def area(self) -> float:
        """The area of the region: 0 where the pair is equal, 1 where one test identifies it for certain."""
        return 1 - 2 * self.lower.area

    def contains(self, false_alarm: float, missed_detection: float, tolerance: float = 0.0) -> bool:
        """Return whether some test has these errors; missed detections may be off by a tolerance.

        Raises `InputError` if an error is not between 0 and 1.
        """
        if not (0 <= false_alarm <= 1 and 0 <= missed_detection <= 1):
            raise InputError(f"the errors are ({false_alarm}, {missed_detection}).", "pass two probabilities.")
        least = float(self.lower(false_alarm))
        most = 1 - float(self.lower(1 - false_alarm))
        return least - tolerance <= missed_detection <= most + tolerance

    def is_within(self, other: TestingRegion, tolerance: float = 1e-12) -> bool:
        """Return whether every test of this region lies in another one, such as that of a guarantee.

        A missed detection may be too small by a tolerance, for the rounding of the rows.
        """
        return self.lower.shortfall(other.lower)[0] <= tolerance
