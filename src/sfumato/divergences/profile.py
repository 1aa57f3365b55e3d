"""Privacy profiles of two distributions, and the vertices of many of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, numbers, readonly
from ..errors import InputError
from .distributions import Rows, log_ratios, single


class Vertex(NamedTuple):
    """One vertex of each profile, arrays (...).

    Attributes:
        epsilon: The logarithm of the likelihood ratio where the profile bends.
        delta: The profile there.
        slope: Sum of p e**(epsilon - ln(p/q)) over the ratios at or above, so that to
            the left, up to the next vertex, delta(e) = delta + slope (1 - e**(e - epsilon)).
    """

    epsilon: Floats
    delta: Floats
    slope: Floats


def vertices(p: Floats, q: Floats) -> Iterator[Vertex]:
    """Yield the vertices in falling order of epsilon.

    Every step adds numbers that are not negative, so that small deltas keep their digits.

    Args:
        p: Array (..., m) of distributions.
        q: Array (..., m) of distributions.
    """
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

    is convex, falling and piecewise linear in e**epsilon; it bends at the logarithms of
    the likelihood ratios and nowhere else. Values between vertices and the inverse are
    therefore exact, up to rounding.

    Attributes:
        epsilons: Array (k,), the distinct finite logarithms of p/q, rising.
        deltas: Array (k,), the profile there, falling.
        slopes: Array (k,), by how much delta grows per unit of e**(epsilon - vertex)
            to the left of each vertex, as a positive number.
        limit: What remains at epsilon = inf: the mass of p where q is zero.
        total: The value at epsilon = -inf: the mass of p, which is one.

    Raises:
        InputError: If either argument is not a distribution, or their lengths differ.

    Example:
        >>> coin = Profile([0.75, 0.25], [0.25, 0.75])
        >>> round(coin.delta(0.0).item(), 6), round(coin.epsilon(0.5).item(), 6)
        (0.5, 0.0)

    Source:
        Balle, Barthe and Gaboardi, "Privacy profiles and amplification by subsampling",
        2020; the inversion is proved in docs/proofs/profile.md.
    """

    epsilons: Floats
    deltas: Floats
    slopes: Floats
    limit: float
    total: float

    def __init__(self, p: Rows, q: Rows) -> None:
        first, second = single(p, q)
        found = [vertex for vertex in vertices(first, second) if np.isfinite(vertex.epsilon)]
        last = _last_of_ties(found)
        object.__setattr__(self, "epsilons", _column(last, "epsilon"))
        object.__setattr__(self, "deltas", _column(last, "delta"))
        object.__setattr__(self, "slopes", _column(last, "slope"))
        object.__setattr__(self, "limit", float(np.where(second == 0, first, 0.0).sum()))
        object.__setattr__(self, "total", float(first.sum()))

    def __repr__(self) -> str:
        return f"Profile with {len(self.epsilons)} vertices, delta {self.delta(0.0).item():.4g} at epsilon 0"

    def delta(self, epsilon: ArrayLike) -> Floats:
        """Return the least delta for each epsilon, array of the same shape.

        Args:
            epsilon: Numbers or infinities.

        Raises:
            InputError: If an epsilon is NaN.
        """
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

        It is negative where delta is large, ``-inf`` where delta is at least the total,
        and ``inf`` where delta is below the limit.

        Args:
            delta: Numbers of at least 0.

        Raises:
            InputError: If a delta is negative or NaN.
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


def _last_of_ties(found: list[Vertex]) -> list[Vertex]:
    """Return the vertices with rising epsilon; of equal ones the last, whose slope counts them all."""
    distinct = {float(vertex.epsilon): vertex for vertex in found}
    return [distinct[epsilon] for epsilon in sorted(distinct)]


def _column(found: list[Vertex], field: str) -> Floats:
    return readonly(np.array([float(getattr(vertex, field)) for vertex in found], dtype=np.float64))
