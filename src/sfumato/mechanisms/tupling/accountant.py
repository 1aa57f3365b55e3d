"""Accountants of pairs and families of distributions: delta and epsilon of a tuple, proved from both sides."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from ...core import Bracket, Prior
from ...core.arrays import Floats, any_array, floats, readonly
from ...core.immutable import CompactRepr, assign
from ...divergences import Rows, distributions, single
from ...errors import InputError
from ...rounding import UNIT
from .law import LARGEST, Atoms, atoms, positive_part, rare, split, tilted_masses, window
from .mechanism import FARTHEST, Tupling, check_delta, check_dummies, check_epsilon

_COARSE: Final = 2**10
_FARTHEST_DOWN: Final = -700.0
_FINEST: Final = 2.0**-48  # of the largest value: beyond it the points are no longer exact

LEAST: Final = 1e-300
"""Below it a delta counts as this much where its logarithm is taken."""

_SAME: Final = 1e-9  # near enough, in epsilon and in the logarithm of delta
_STEPS: Final = 60
Pairs = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairAccountant:
    """The privacy profile of a tuple for one pair, the first distribution p against the second one, q.

    delta(epsilon) = 1/(k+1) E[ (sum over i <= k+1 of g(R_i))_+ ],  g(y) = (p(y) - e**epsilon q(y)) / nu(y)

    with R_i drawn independently from nu, the distribution of k dummies; all three are arrays (observables,). The
    values of g are split over a lattice with the same mean, which can only add to delta; the most that it adds is
    computed, too. Bounds also cover the lattice's ends, the Fourier transform and floating point: some 1e-14, and
    1e-15 more for each dummy, so that smaller deltas have no lower bound. ``rounding`` is a bound of the relative
    error of the entries of p and q, and ``slack`` one of the error in delta that the arguments' rounding causes.
    Raises `InputError` if an argument is not a distribution, or nu is 0 where p or q is not.

    Example:
        >>> down, up, even = [0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25] * 4
        >>> [round(PairAccountant(down, up, even, k).epsilon(1e-3).upper, 4) for k in (0, 5, 40)]
        [1.3838, 0.9572, 0.297]

    Source:
        The law is that of the privacy blanket: Balle, Bell, Gascón and Nissim, "The privacy blanket of the shuffle
        model", CRYPTO 2019. Proofs: docs/proofs/tupling.md.
    """

    first: Floats
    second: Floats
    distribution: Floats
    dummies: int
    slack: float

    def __init__(
        self, first: Rows, second: Rows, distribution: Prior | ArrayLike, dummies: int, *, rounding: float = 0.0
    ) -> None:
        check_dummies(dummies)
        p, q = single(first, second)
        nu = distributions(distribution, "the dummy distribution")
        if nu.shape != p.shape:
            raise InputError(
                f"the dummy distribution has shape {nu.shape}, but there are {len(p)} observables.",
                "pass one probability per observable.",
            )
        bare = (nu == 0) & ((p > 0) | (q > 0))
        if bare.any():
            raise InputError(
                f"observable {int(np.argmax(bare))} is reported but never drawn as a dummy.",
                "mix in a little of the uniform distribution: see mixture_dummies.",
            )
        if not 0 <= rounding < 1e-3:
            raise InputError(f"the rounding is {rounding}.", "pass a small relative error, such as 1e-15.")
        support = nu > 0
        values = 2 * rounding + max(_defect(p), _defect(q)) + 32 * UNIT
        assign(self, first=readonly(p[support]), second=readonly(q[support]), distribution=readonly(nu[support]))
        assign(self, dummies=int(dummies), slack=3 * values + 3 * int(dummies) * (_defect(nu) + 2 * UNIT))

    @classmethod
    def of(cls, tupling: Tupling, first: ArrayLike, second: ArrayLike) -> PairAccountant:
        """Return the accountant of a mechanism for two distributions of secrets, arrays (secrets,)."""
        return cls.of_lifted(tupling, tupling.inner.lift(first), tupling.inner.lift(second))

    @classmethod
    def of_lifted(cls, tupling: Tupling, first: Floats, second: Floats) -> PairAccountant:
        """Return the accountant of a mechanism for two distributions of its true report."""
        rounding = (tupling.inner.shape[0] + 4) * UNIT
        return cls(first, second, tupling.distribution, tupling.dummies, rounding=rounding)

    def __repr__(self) -> str:
        return f"PairAccountant of {self.dummies:,} dummies on {len(self.first)} observables"

    @property
    def pure_epsilon(self) -> float:
        """The least epsilon at delta 0, for every k: the largest ln(p/q), rounded up; ``inf`` without bound."""
        p, q = self.first, self.second
        if (p[q == 0] > 0).any():
            return math.inf
        both = q > 0
        largest = max(0.0, float(np.log(p[both] / q[both], where=p[both] > 0, out=np.zeros(both.sum())).max()))
        return math.nextafter(largest + 2 * self.slack + 8 * UNIT * largest, math.inf)

    def delta(self, epsilon: float, tolerance: float = 1e-4) -> Bracket:
        """Return bounds of the least delta for an epsilon from 0 to 700.

        The tolerance is the wanted distance of the bounds, as a part of the upper one. Where the largest lattice
        does not reach it, they are farther apart. Raises `InputError` if epsilon or the tolerance is out of range.
        """
        check_epsilon(epsilon)
        _check_tolerance(tolerance)
        return self._refine_delta(epsilon, lambda bounds: tolerance * bounds.upper)

    def exceeds(self, epsilon: float, delta: float) -> bool:
        """Return whether delta(epsilon) is not proved to be at most a delta; `InputError` as for `delta`."""
        check_epsilon(epsilon)
        check_delta(delta)
        return self._against(epsilon, delta).upper > delta

    def epsilon(self, delta: float, tolerance: float = 1e-6) -> Bracket:
        """Return bounds of the least epsilon of at least 0 for a delta.

        Delta is from 0 to 1; at 0 the result is the pure epsilon, which dummies never lower. The tolerance is the
        wanted distance of the bounds, in nats. Raises `InputError` if delta or the tolerance is out of range.
        """
        check_delta(delta)
        _check_tolerance(tolerance)
        pure = self.pure_epsilon
        if delta == 0:
            lower = max(0.0, pure - 5 * self.slack - 20 * UNIT * pure) if pure < math.inf else pure
            return Bracket.of_bounds(lower, pure)
        end = min(pure, FARTHEST)
        if end == FARTHEST and self._coarse(end).lower > delta:
            return Bracket.of_bounds(end, pure)
        if self._coarse(0.0).upper <= delta:
            return Bracket.exact(0.0)
        guess, step = self._guess(delta, end, tolerance)
        upper = proved_beyond(lambda e: not self.exceeds(e, delta), guess, step, end)
        lower = proved_beyond(lambda e: self._against(e, delta).lower > delta, guess, -step, 0.0)
        if upper == end and self.exceeds(end, delta):
            upper = pure
        return self._narrow_epsilon(lower, upper, delta, tolerance)

    def _narrow_epsilon(self, lower: float, upper: float, delta: float, tolerance: float) -> Bracket:
        """Return bounds of epsilon halved to the tolerance, or as far as the largest lattice can decide."""
        while 1.01 * tolerance < upper - lower < math.inf:
            middle = lower + (upper - lower) / 2
            bounds = self._against(middle, delta)
            if not lower < middle < upper:
                break
            if bounds.upper <= delta:
                upper = middle
            elif bounds.lower > delta:
                lower = middle
            else:
                break
        return Bracket.of_bounds(lower, upper)

    def _guess(self, delta: float, end: float, tolerance: float) -> tuple[float, float]:
        """Return about where the profile passes delta, and the distance at which proofs may succeed."""
        guess = passing(lambda e: self._coarse(e).value, delta, end)
        aside = max(0.0, guess - 1e-3)
        slope = math.log(max(self._coarse(aside).value, LEAST) / max(self._coarse(guess).value, LEAST))
        step = tolerance / 2
        if guess == end or slope <= 0:
            return guess, step
        slope /= guess - aside
        for _ in range(2):
            bounds = self.delta(guess, max(1e-12, slope * tolerance / 8))
            guess = min(end, max(0.0, guess + math.log(max(bounds.value, LEAST) / delta) / slope))
            step = max(tolerance / 2, 0.7 * (bounds.width) / (slope * delta))
        return guess, step

    def _against(self, epsilon: float, delta: float) -> Bracket:
        """Return bounds of delta(epsilon) that exclude a given delta, where the largest lattice can decide."""
        return self._refine_delta(epsilon, lambda bounds: 2 * abs(bounds.value - delta))

    def _coarse(self, epsilon: float) -> Bracket:
        return self._refine_delta(epsilon, lambda _: math.inf)

    def _refine_delta(self, epsilon: float, room: Callable[[Bracket], float]) -> Bracket:
        """Return bounds from lattices of falling spacing, until their distance is at most ``room``."""
        copies = self.dummies + 1
        growth = math.exp(epsilon)
        excess = self.first - growth * self.second
        single_report = float(np.maximum(excess, 0.0).sum())
        # The tuple is made from the true report alone, and so reveals no more.
        most = min(1.0, single_report * (1 + (len(excess) + 4) * UNIT) + self.slack)
        if epsilon >= self.pure_epsilon:
            return Bracket.exact(0.0)
        if copies == 1:
            return Bracket.of_bounds(max(0.0, single_report * (1 - (len(excess) + 4) * UNIT) - self.slack), most)
        values = excess / self.distribution
        rest, surplus = rare(values, self.distribution, copies)
        draw = atoms(values[rest], self.distribution[rest], copies)
        if draw is None:
            return Bracket.of_bounds(max(0.0, surplus.lower - self.slack), min(most, surplus.upper + self.slack))
        largest = float(np.abs(draw.values).max())
        # Chernoff: E[S_+] / n is at most the n-th power of the scale times the largest value.
        if copies * draw.log_scale < _FARTHEST_DOWN:
            return Bracket.of_bounds(
                max(0.0, surplus.lower - self.slack), min(most, surplus.upper + LEAST * largest + self.slack)
            )
        best = Bracket.of_bounds(0.0, most)
        spacing = first_spacing(draw, copies, _COARSE)
        while True:
            part = positive_part(split(draw, spacing), copies)
            if part is None:
                return best
            noise = part.error + self.slack + 4 * UNIT * spacing
            upper = (part.value + surplus.upper + noise) * (1 + 8 * UNIT)
            lower = (part.value + surplus.lower - part.shift - part.shift_error - noise) * (1 - 8 * UNIT)
            best = Bracket.of_bounds(max(best.lower, float(lower)), min(best.upper, float(upper)))
            # A finer lattice helps only against what splitting adds.
            gap, allowed = best.width, room(best)
            finest = part.points >= LARGEST or spacing <= largest * _FINEST
            finest = finest or part.shift <= noise + part.shift_error
            if gap <= allowed or finest:
                return best
            # The gap falls with the square of the spacing.
            factor = max(0.8 * math.sqrt(allowed / gap), part.points / LARGEST, 1 / 32)
            spacing *= 2.0 ** min(-1, math.floor(math.log2(factor)))


def first_spacing(draw: Atoms, copies: int, points: int) -> float:
    """Return a power of two so that a window of the sum takes about as many points as requested, or more.

    By Hoeffding's lemma, splitting multiplies the tilted scale of the sum by at most exp(copies (theta spacing)**2
    / 8), which stays below exp(0.01).
    """
    low, high = window(draw.values, tilted_masses(draw), copies)
    width = max(high, 0.0) - min(low, 0.0)
    blur = 0.28 / (draw.tilt * math.sqrt(copies)) if draw.tilt > 0 else math.inf
    least = float(np.abs(draw.values).max()) * _FINEST
    return float(2.0 ** math.floor(math.log2(max(least, min(width / points, blur)))))


def _defect(distribution: Floats) -> float:
    return abs(math.fsum(distribution.tolist()) - 1.0)


def _check_tolerance(tolerance: float) -> None:
    if not tolerance > 0:
        raise InputError(f"the tolerance is {tolerance}.", "use a small positive number, such as 1e-6.")


def passing(curve: Callable[[float], float], delta: float, end: float) -> float:
    """Return about where a falling curve, from epsilon to delta, passes a positive delta, from 0 to ``end``."""

    @cache
    def log_excess(epsilon: float) -> float:
        # The logarithm of a profile is nearly a line.
        value = math.log(max(curve(epsilon), LEAST)) - math.log(delta)
        return value if abs(value) >= _SAME else 0.0

    low, high = 0.0, min(1.0, end)
    while high < end and log_excess(high) > 0:
        low, high = high, min(2 * high, end)
    if log_excess(low) <= 0 or log_excess(high) >= 0:
        return low if log_excess(low) <= 0 else high
    return float(brentq(log_excess, low, high, xtol=_SAME, rtol=_SAME, maxiter=_STEPS, disp=False))


def proved_beyond(condition: Callable[[float], bool], guess: float, step: float, end: float) -> float:
    """Return the first of guess + step, + 3 step, + 7 step, ... that is proved, or ``end`` without proof."""
    at = guess + step
    while (at < end) if step > 0 else (at > end):
        if condition(at):
            return at
        step *= 2
        at += step
    return end


@dataclass(frozen=True, slots=True, repr=False)
class Worst(CompactRepr):
    """Proved bounds of the largest value over all pairs, and the pair whose upper bound is largest."""

    bounds: Bracket
    pair: tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FamilyAccountant:
    """The privacy of a tupling mechanism over ordered pairs of distributions.

    Pairs that a cheap bound excludes from being the worst one are skipped. The cheap bound of delta is (sqrt(V /
    (k+1) + c**2) + c) / 2 with c = 1 - e**epsilon and V the variance of g(y) = (p(y) - e**epsilon q(y)) / nu(y)
    under nu. The family is an array (r, secrets), r at least 2, and pairs are positions in it, array (count, 2),
    by default all. ``images`` are the distributions of the true report, array (r, observables). Raises
    `InputError` if a row is not a distribution of secrets, or a pair is not valid.

    Example:
        >>> from sfumato.core import Mechanism
        >>> inner = Mechanism([[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4]])
        >>> tupled = Tupling(inner, 20, [0.25] * 4)
        >>> round(FamilyAccountant(tupled, [[1, 0], [0, 1]]).epsilon(1e-3).bounds.upper, 4)
        0.4431

    Source:
        Distribution privacy: Kawamoto and Murakami, definition 11. Proofs: docs/proofs/tupling.md.
    """

    tupling: Tupling
    images: Floats
    pairs: Pairs

    def __init__(self, tupling: Tupling, distributions: ArrayLike, pairs: ArrayLike | None = None) -> None:
        family = floats(distributions, "the family", shape=(None, tupling.inner.shape[0]))
        self._set(tupling, tupling.inner.lift(family), pairs)

    @classmethod
    def of_points(cls, tupling: Tupling, pairs: ArrayLike | None = None) -> Self:
        """Return the accountant for secrets that are known exactly (point privacy), by default for all pairs."""
        accountant = object.__new__(cls)
        accountant._set(tupling, tupling.inner.matrix, pairs)
        return accountant

    def _set(self, tupling: Tupling, images: Floats, pairs: ArrayLike | None) -> None:
        r = len(images)
        if pairs is None:
            first, second = np.nonzero(~np.eye(r, dtype=bool))
            indices: Pairs = np.column_stack([first, second])
        else:
            array = any_array(pairs, "pairs=")
            fits = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
            if not fits or (array.size and (int(array.min()) < 0 or int(array.max()) >= r)):
                raise InputError(
                    f"the pairs are not an array (count, 2) of positions from 0 to {r - 1}.",
                    "pass pairs such as [(0, 1), (1, 0)], in both orders.",
                )
            indices = array.astype(np.intp)
        if len(indices) == 0:
            raise InputError("there is no pair to compare.", "pass at least two distributions.")
        assign(self, tupling=tupling, images=images, pairs=readonly(indices))

    def __repr__(self) -> str:
        return f"FamilyAccountant of {len(self.pairs):,} pairs for a {self.tupling!r}"

    @property
    def pure_epsilon(self) -> float:
        """The least epsilon at delta 0, for every number of dummies, rounded up; ``inf`` without bound."""
        return max(self._accountant(first, second).pure_epsilon for first, second in self.pairs.tolist())

    def with_dummies(self, dummies: int, distribution: Prior | None = None) -> FamilyAccountant:
        """Return the accountant of the same pairs for other dummies, by default with the same distribution.

        Raises `InputError` as for `Tupling`.
        """
        accountant = object.__new__(FamilyAccountant)
        nu = self.tupling.distribution if distribution is None else distribution
        tupling = Tupling(self.tupling.inner, dummies, nu)
        accountant._set(tupling, self.images, self.pairs)
        return accountant

    def delta(self, epsilon: float, tolerance: float = 1e-4) -> Worst:
        """Return bounds of the least delta that is enough for all pairs; see `PairAccountant.delta`."""
        return self._worst(
            epsilon,
            lambda pair: pair.delta(epsilon, tolerance),
            lambda pair, known: not pair.exceeds(epsilon, known),
        )

    def exceeds(self, epsilon: float, delta: float) -> bool:
        """Return whether some pair's delta(epsilon) is not proved to be at most a delta; `InputError` likewise."""
        check_epsilon(epsilon)
        check_delta(delta)
        bounds = self.cheap_delta(epsilon)
        return any(
            self._accountant(*self.pairs[i]).exceeds(epsilon, delta)
            for i in np.argsort(-bounds, kind="stable")
            if bounds[i] > delta
        )

    def epsilon(self, delta: float, tolerance: float = 1e-6) -> Worst:
        """Return bounds of the least epsilon that is enough for all pairs; see `PairAccountant.epsilon`."""
        check_delta(delta)
        return self._worst(
            0.0,
            lambda pair: pair.epsilon(delta, tolerance),
            lambda pair, known: not pair.exceeds(min(known, 700.0), delta),
            enough=delta,
        )

    def _worst(
        self,
        at: float,
        measure: Callable[[PairAccountant], Bracket],
        harmless: Callable[[PairAccountant, float], bool],
        enough: float | None = None,
    ) -> Worst:
        """Return the largest measure, leaving out pairs that are proved not to be the worst."""
        cheap = self.cheap_delta(at)
        lower, upper, worst = 0.0, 0.0, tuple(self.pairs[int(np.argmax(cheap))].tolist())
        for i in np.argsort(-cheap, kind="stable"):
            if cheap[i] <= (lower if enough is None else enough):
                break
            pair = self._accountant(*self.pairs[i])
            # Compared with the upper bound, pairs that mirror the worst one are soon decided.
            if upper > 0 and harmless(pair, upper):
                continue
            bounds = measure(pair)
            lower = max(lower, bounds.lower)
            if bounds.upper > upper:
                upper, worst = bounds.upper, tuple(self.pairs[i].tolist())
        return Worst(Bracket.of_bounds(lower, upper), (int(worst[0]), int(worst[1])))

    def cheap_delta(self, epsilon: float) -> Floats:
        """Return cheap upper bounds of delta(epsilon >= 0), one per pair, array (count,)."""
        nu = self.tupling.distribution
        support = nu > 0
        scaled = self.images[:, support] / np.sqrt(nu[support])
        gram = scaled @ scaled.T
        first, second = self.pairs.T
        growth = math.exp(min(epsilon, 300.0))
        squares = gram[first, first] - 2 * growth * gram[first, second] + growth**2 * gram[second, second]
        error = 16 * (len(nu) + 16) * UNIT * (gram[first, first] + growth**2 * gram[second, second])
        sums = self.images.sum(axis=1)
        centre = sums[first] - growth * sums[second]
        variance = np.maximum(squares + error - centre**2 * (1 - 1e-12), 0.0)
        # sqrt(a + c^2) + c without cancellation, for c of at most 0.
        spread = variance / self.tupling.queries
        root = np.sqrt(spread + centre**2)
        bounds: Floats = np.minimum(1.0, spread / np.maximum(root - centre, 1e-300) / 2 * (1 + 1e-9))
        return bounds + 2 * self._accountant(*self.pairs[0]).slack

    def _accountant(self, first: int, second: int) -> PairAccountant:
        return PairAccountant.of_lifted(self.tupling, self.images[first], self.images[second])
