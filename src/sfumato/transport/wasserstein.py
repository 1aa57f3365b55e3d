"""Wasserstein distances between distributions, with an optimal coupling and a proof from below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core.arrays import Floats
from ..core.bisection import bisect
from ..errors import InputError
from ._inputs import Distances, Distribution, check_tolerance, distances_between
from ._problem import ROUNDING, Layer, TransportProblem
from ._simplex import Bools
from .coupling import Coupling

_SMALLEST: Final = -600.0  # logarithm of the least power that is told from zero


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Wasserstein:
    """A Wasserstein distance with what proves it.

    Attributes:
        value: The distance, attained by the coupling.
        p: The order, from 1 to ``inf``.
        coupling: An optimal coupling.
        lower: A lower bound of the distance from the dual problem, equal to ``value``
            up to rounding.
        ignored: The mass, at most the tolerance, that the coupling moves further than
            ``value`` (for p = inf), or over an infinite distance (for finite p).
    """

    value: float
    p: float
    coupling: Coupling
    lower: float
    ignored: float

    def __repr__(self) -> str:
        return f"Wasserstein distance of order {self.p:g}: {self.value:.6g}"


def wasserstein(
    first: Distribution,
    second: Distribution,
    distances: Distances,
    p: float = 1.0,
    *,
    tolerance: float = ROUNDING,
) -> Wasserstein:
    """Return the p-Wasserstein distance of two distributions, with an optimal coupling.

    W_p = min over couplings of (sum of gamma(x, x') d(x, x')**p)**(1/p)
    W_inf = min over couplings of the largest d(x, x') that carries mass

    The masses are the exact proportions of the given floats, and the coupling is a
    vertex found by pivots on integers: its support has no entries that rounding put
    there. Costs are floats.

    Args:
        first: Array (n,), or a prior.
        second: Array (m,), or a prior.
        distances: Array (n, m), or a metric if both live on its values; ``inf`` is allowed.
        p: At least 1, or ``inf``; p = 1 is the earth mover's distance.
        tolerance: Mass that may be left out as the rounding of the distributions where a
            single grain of it would change the answer; 0 leaves out nothing.

    Raises:
        InputError: If an argument is not a distribution, does not fit, or p is below 1.

    Example:
        >>> import numpy as np
        >>> places = np.array([0.0, 1.0, 3.0])
        >>> d = np.abs(places[:, None] - places)
        >>> wasserstein([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], d).value
        1.5
        >>> wasserstein([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], d, np.inf).value
        2.0

    Source:
        Kawamoto and Murakami, definition 8; Villani, "Optimal Transport", chapter 6.
    """
    check_tolerance(tolerance)
    problem = TransportProblem(first, second)
    d = problem.cut(distances_between(distances, problem.shape, p))
    return _largest(problem, d, tolerance) if np.isinf(p) else _powered(problem, d, p, tolerance)


def powers(distances: Floats, p: float) -> tuple[Floats, Bools, float]:
    """Return (d / top)**p with 0 at infinite d, where d is infinite, and the largest finite d."""
    beyond = np.isinf(distances)
    finite = np.where(beyond, 0.0, distances)
    top = float(finite.max())
    scaled = finite / top if top > 0 else finite
    least = float(scaled[scaled > 0].min(initial=1.0))
    if p * math.log(least) < _SMALLEST:
        raise InputError(
            f"distances from {least * top:g} to {top:g} are too far apart for p = {p:g}: their powers vanish.",
            "use p = inf, or a smaller p.",
        )
    return scaled**p, beyond, top


def _powered(problem: TransportProblem, d: Floats, p: float, tolerance: float) -> Wasserstein:
    cost, beyond, top = powers(d, p)
    layers = problem.solve([beyond.astype(np.float64), cost] if beyond.any() else [cost])
    ignored = problem.mass(beyond)
    if ignored > tolerance:
        return Wasserstein(float("inf"), p, problem.coupling(), float("inf"), 0.0)
    value = top * problem.expected(cost) ** (1 / p)
    lower = top * max(_dual(problem, np.where(beyond, np.inf, cost), layers), 0.0) ** (1 / p)
    return Wasserstein(value, p, problem.coupling(), min(lower, value), ignored)


def _dual(problem: TransportProblem, cost: Floats, layers: list[Layer]) -> float:
    """Return the value of potentials that are feasible for every finite cost."""
    last = layers[-1]
    u = last.u
    if len(layers) > 1:
        # Pairs that the first layer shuts out may undercut u + v. A multiple of the first
        # layer's potentials lifts them; it costs nothing where no mass must go beyond.
        first = layers[0]
        slack = -first.u[:, None] - first.v
        shut = np.isfinite(cost) & (slack > 0)
        excess = np.where(shut, last.u[:, None] + last.v - cost, 0.0)
        u = u + float(np.maximum(excess / np.where(shut, slack, 1.0), 0.0).max()) * first.u
    v = np.min(cost - u[:, None], axis=0)
    a, b = problem.first[problem.rows], problem.second[problem.columns]
    return float(a @ u / a.sum() + b @ v / b.sum())


def _largest(problem: TransportProblem, d: Floats, tolerance: float) -> Wasserstein:
    """Search the distinct distances for the least one within which all mass can be moved."""
    levels = np.unique(d)
    problem.begin(d)
    # Every value must send its mass somewhere: no level below these can do.
    heavy = problem.first[problem.rows] > 2 * tolerance
    floor = float(d.min(axis=1)[heavy].max(initial=0.0))
    found = bisect(
        lambda level: _outside(problem, d > levels[level]) <= tolerance,
        fails=int(np.searchsorted(levels, floor)) - 1,
        holds=len(levels) - 1,
    )
    value = float(levels[found.holds])
    ignored = _outside(problem, d > value)
    return Wasserstein(value, float("inf"), problem.coupling(), value, ignored)


def _outside(problem: TransportProblem, far: Bools) -> float:
    """Return the least mass that any coupling puts on the far pairs."""
    problem.solve([far.astype(np.float64)])
    return problem.mass(far)
