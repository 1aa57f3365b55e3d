"""Privacy profiles of two distributions, with hockey-stick and max divergence."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Floats, numbers, readonly
from ..core.immutable import CompactRepr, assign
from ..errors import InputError
from .divergence import Divergence, Rows, log_ratios, pair, single

_PLAIN: Final = 700.0  # exp of it, times any probability, is a float


class Vertex(NamedTuple):
    """One vertex of each profile, arrays (...).

    To the left, up to the next vertex, delta(e) = delta + slope (1 - e**(e - epsilon)). The slope is the sum of p
    e**(epsilon - ln(p/q)) over the ratios at or above.
    """

    epsilon: Floats
    delta: Floats
    slope: Floats


def vertices(p: Floats, q: Floats) -> Iterator[Vertex]:
    """Yield the vertices of distributions (..., m) by falling epsilon, from sums of non-negative numbers."""
    logs = log_ratios(p, q)
    order = np.argsort(-logs, axis=-1, kind="stable")
    logs = np.take_along_axis(logs, order, axis=-1)
    finite = np.where(np.isposinf(logs), 0.0, np.take_along_axis(p, order, axis=-1))
    delta = np.asarray(np.where(q == 0, p, 0.0).sum(axis=-1))
    slope, epsilon = np.zeros_like(delta), logs[..., 0]
    for k in range(logs.shape[-1]):
        following = logs[..., k]
        with np.errstate(invalid="ignore"):
            step = np.where(following == epsilon, 0.0, following - epsilon)
        delta = delta + slope * -np.expm1(step)
        slope = slope * np.exp(step) + finite[..., k]
        epsilon = following
        yield Vertex(epsilon, delta, slope)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profile:
    """The hockey-stick divergence of a pair for every epsilon, by its vertices.

    delta(epsilon) = sum of max(0, p - e**epsilon q)

    is convex, falling and piecewise linear in e**epsilon, and bends only at the logarithms of the likelihood
    ratios. Values between vertices and the inverse are therefore exact, up to rounding. Raises `InputError` if
    either argument is not a distribution, or their lengths differ; methods, if an epsilon or a delta is NaN, or a
    delta negative.

    Attributes:
        epsilons: Array (k,), the distinct finite logarithms of p/q, rising.
        deltas: Array (k,), the profile there, falling.
        slopes: Array (k,), the growth of delta per unit of e**(epsilon - vertex) to the left of each vertex.
        limit: The value at epsilon = inf: the mass of p where q is zero.
        total: The value at epsilon = -inf: the mass of p, which is one.

    Example:
        >>> coin = Profile([0.75, 0.25], [0.25, 0.75])
        >>> round(coin.delta(0.0).item(), 6), round(coin.epsilon(0.5).item(), 6)
        (0.5, 0.0)

    Source:
        Balle, Barthe and Gaboardi, "Privacy profiles and amplification by subsampling", 2020; the inversion is
        proved in docs/proofs/profile.md.
    """

    epsilons: Floats
    deltas: Floats
    slopes: Floats
    limit: float
    total: float

    def __init__(self, p: Rows, q: Rows) -> None:
        first, second = single(p, q)
        # Of vertices at equal epsilons the last one counts: its slope includes them all.
        last = {float(vertex.epsilon): vertex for vertex in vertices(first, second) if np.isfinite(vertex.epsilon)}
        bends = np.array([last[epsilon] for epsilon in sorted(last)], dtype=np.float64).reshape(-1, 3)
        epsilons, deltas, slopes = (readonly(column.copy()) for column in bends.T)
        limit, total = float(np.where(second == 0, first, 0.0).sum()), float(first.sum())
        assign(self, epsilons=epsilons, deltas=deltas, slopes=slopes, limit=limit, total=total)

    def __repr__(self) -> str:
        return f"Profile with {len(self.epsilons)} vertices, delta {self.delta(0.0).item():.4g} at epsilon 0"

    def delta(self, epsilon: ArrayLike) -> Floats:
        """Return the least delta for each epsilon (numbers or infinities), array of the same shape."""
        at = numbers(epsilon, "epsilon")
        if np.isnan(at).any():
            raise InputError("an epsilon is NaN.", "pass numbers, such as 0.5.")
        if len(self.epsilons) == 0:
            return np.full(at.shape, self.total)
        # The line of the first vertex to the right, or the flat end.
        right = np.searchsorted(self.epsilons, at, side="left")
        k = np.minimum(right, len(self.epsilons) - 1)
        steps = np.minimum(at - self.epsilons[k], 0.0)
        values = self.deltas[k] + self.slopes[k] * -np.expm1(steps)
        return np.where(right == len(self.epsilons), self.limit, values)

    def epsilon(self, delta: ArrayLike) -> Floats:
        """Return the least epsilon for each delta, array of the same shape.

        It may be negative, is ``-inf`` where delta is at least the total, and ``inf`` where delta is below the
        limit.
        """
        at = numbers(delta, "delta")
        if not (at >= 0).all():
            raise InputError("a delta is negative or NaN.", "pass numbers of at least 0.")
        if len(self.epsilons) == 0:
            return np.where(at < self.limit, np.inf, -np.inf)
        # The left-most vertex that still lies at or below delta.
        k = np.searchsorted(-self.deltas, -at, side="left")
        below = np.minimum(k, len(self.epsilons) - 1)
        fall = (at - self.deltas[below]) / self.slopes[below]
        with np.errstate(divide="ignore"):
            values = self.epsilons[below] + np.log1p(-np.clip(fall, 0.0, 1.0))
        values = np.where(at >= self.total, -np.inf, values)
        return np.where(at < self.limit, np.inf, values)


@final
@dataclass(frozen=True, slots=True)
class HockeyStick(Divergence):
    """The hockey-stick divergence of one epsilon.

    hs(p, q) = sum of max(0, p - e**epsilon q) = max over sets R of p[R] - e**epsilon q[R]

    It is the smallest delta with p[R] <= e**epsilon q[R] + delta for every set R, and at epsilon 0 the total
    variation. Raises `InputError` if epsilon is NaN.

    Attributes:
        epsilon: Any number, or an infinity.

    Source:
        Barthe and Olmedo, ICALP 2013; Balle, Barthe and Gaboardi, NeurIPS 2018.
    """

    epsilon: float

    def __post_init__(self) -> None:
        if math.isnan(self.epsilon):
            raise InputError("epsilon is NaN.", "pass a number, such as 0.5.")

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return f"hockey-stick divergence at epsilon {self.epsilon:g}"

    def _divergences(self, p: Floats, q: Floats) -> Floats:
        if self.epsilon <= _PLAIN:
            multiple = math.exp(self.epsilon) * q
        else:  # beyond the largest float any large number serves, and 0 stays 0
            with np.errstate(divide="ignore", invalid="ignore"):
                multiple = np.exp(np.minimum(np.where(q > 0, self.epsilon + np.log(q), -np.inf), _PLAIN))
        return np.asarray(np.maximum(p - multiple, 0.0).sum(axis=-1))


def hockey_stick(p: Rows, q: Rows, epsilons: ArrayLike) -> Floats:
    """Return the hockey-stick divergence for one or many epsilons.

    Distributions lie along the last axis, arrays (..., m), and their leading axes broadcast. The array has the
    shape of ``epsilons`` followed by these axes. Raises `InputError` if an argument holds no distributions, or an
    epsilon is NaN.
    """
    first, second = pair(p, q)
    values = numbers(epsilons, "the epsilons")
    curves = [HockeyStick(float(epsilon))._divergences(first, second) for epsilon in values.ravel()]
    return np.array(curves, dtype=np.float64).reshape(values.shape + first.shape[:-1])


@final
@dataclass(frozen=True, slots=True)
class MaxDivergence(Divergence):
    """The (approximate) max divergence: the least epsilon at a delta.

    D(p || q) = max over sets R with p[R] >= delta of ln((p[R] - delta) / q[R])

    It is the inverse of the privacy profile, computed from its vertices. It may be negative where delta is large;
    the epsilon of differential privacy is then 0. Raises `InputError` if delta is not between 0 and 1.

    Attributes:
        delta: From 0 to 1.

    Source:
        Kawamoto and Murakami, definition 1; Dwork and Roth, definition 3.6.
    """

    delta: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.delta <= 1:
            raise InputError(f"delta {self.delta} is not between 0 and 1.", "use 0 for the max divergence.")

    @property
    def name(self) -> str:
        """The name of the divergence in texts."""
        return f"max divergence at delta {self.delta:g}" if self.delta else "max divergence"

    def _divergences(self, p: Floats, q: Floats) -> Floats:
        if self.delta == 0:
            return np.asarray(log_ratios(p, q).max(axis=-1))
        answer = np.full(p.shape[:-1], np.inf)
        for vertex in vertices(p, q):
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                fall = np.where(vertex.slope > 0, (self.delta - vertex.delta) / vertex.slope, 1.0)
                left = vertex.epsilon + np.log1p(-np.minimum(fall, 1.0))
            # Before the first finite ratio only epsilon = inf reaches delta.
            answer = np.where((vertex.delta <= self.delta) & ~np.isposinf(vertex.epsilon), left, answer)
        return np.where(self.delta >= p.sum(axis=-1), -np.inf, answer)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MaxDivergenceWitness(CompactRepr):
    """The value of a max divergence in nats at a delta, and the positions of the outputs in its set R."""

    value: float
    delta: float
    outputs: NDArray[np.intp]


def max_divergence(p: Rows, q: Rows, delta: float = 0.0) -> MaxDivergenceWitness:
    """Return the (approximate) max divergence of two distributions (m,), with the set that attains it.

    Raises `InputError` if an argument is not a distribution, or delta is not between 0 and 1.

    Example:
        >>> max_divergence([0.98, 0.02, 0.0], [0.98, 0.0, 0.02]).outputs
        array([1])
    """
    first, second = single(p, q)
    value = MaxDivergence(delta)(first, second)
    logs = log_ratios(first, second)
    if np.isposinf(value):
        mask = np.isposinf(logs)
    elif np.isneginf(value):
        mask = first > 0
    else:
        # Where the profile leaves delta, every output with a larger ratio helps; the largest
        # ratio is named even where the value equals it up to rounding.
        mask = logs >= min(value, float(logs[np.isfinite(logs)].max()))
    return MaxDivergenceWitness(value, delta, readonly(np.flatnonzero(mask)))
