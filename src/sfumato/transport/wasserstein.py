"""Wasserstein distances and lifted relations between distributions, each with a coupling and a proof."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket
from ..core.arrays import Floats, readonly
from ..core.bracket import bisect
from ..errors import InputError
from ..rounding import UNIT, sum_error
from .coupling import (
    ROUNDING,
    Bools,
    Coupling,
    Distances,
    Distribution,
    TransportProblem,
    check_tolerance,
    distances_between,
    relation_between,
)

_SMALLEST: Final = -600.0  # logarithm of the least power above zero


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Wasserstein:
    """A Wasserstein distance with its proof.

    Attributes:
        distance: The distance of all but the ignored mass, with proved bounds: from above by the coupling, from
            below by the dual problem. They meet up to the rounding of p-th powers, which costs the lower bound
            digits, or all of them, where p is large.
        p: The order, from 1 to ``inf``.
        coupling: An optimal coupling.
        ignored: The mass, at most the tolerance, that the coupling moves further than the distance (p = inf), or
            over an infinite distance (finite p).
    """

    distance: Bracket
    p: float
    coupling: Coupling
    ignored: float

    def __repr__(self) -> str:
        return f"Wasserstein distance of order {self.p:g}: {self.distance.value:.6g}"


def wasserstein(
    first: Distribution, second: Distribution, distances: Distances, p: float = 1.0, *, tolerance: float = ROUNDING
) -> Wasserstein:
    """Return the p-Wasserstein distance of two distributions, with an optimal coupling.

    W_p = min over couplings of (sum of gamma(x, x') d(x, x')**p)**(1/p)
    W_inf = min over couplings of the largest d(x, x') that carries mass

    The masses are the exact proportions of the given floats. Pivots on integers find a vertex, so rounding adds no
    entries to its support. Costs are floats. The distances are an array (n, m), or a metric if both live on its
    values; ``inf`` is allowed. The order p is 1 for the earth mover's distance, and at most ``inf``. The tolerance
    is the mass that may be left out as the rounding of the distributions; 0 leaves out nothing. Raises
    `InputError` if an argument is not a distribution, does not fit, or p is below 1.

    Example:
        >>> import numpy as np
        >>> places = np.array([0.0, 1.0, 3.0])
        >>> d = np.abs(places[:, None] - places)
        >>> wasserstein([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], d).distance.value
        1.5
        >>> wasserstein([0.5, 0.5, 0.0], [0.0, 0.5, 0.5], d, np.inf).distance.value
        2.0

    Source:
        Kawamoto and Murakami, definition 8; Villani, "Optimal Transport", chapter 6.
    """
    check_tolerance(tolerance)
    problem = TransportProblem(first, second)
    d = problem.restrict(distances_between(distances, problem.shape, p))
    return _largest(problem, d, tolerance) if np.isinf(p) else _solve_power(problem, d, p, tolerance)


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


def _solve_power(problem: TransportProblem, d: Floats, p: float, tolerance: float) -> Wasserstein:
    cost, beyond, top = powers(d, p)
    layers = problem.solve([beyond.astype(np.float64), cost] if beyond.any() else [cost])
    ignored = problem.mass(beyond)
    if ignored > tolerance:
        return Wasserstein(Bracket.exact(math.inf), p, problem.coupling(), 0.0)
    error = 4 * (p + 4) * UNIT  # of a cost, relatively
    mean = problem.expected_cost(cost)
    terms = sum(cost.shape)
    attained = mean + error * mean + sum_error(terms, mean) if problem.uses(cost > 0) else 0.0
    least = _dual(problem, cost, beyond, layers, ignored, error)
    lower, value, upper = (top * bound ** (1 / p) for bound in (least, mean, attained))
    lower -= _root_error(least, p) * lower
    upper += _root_error(attained, p) * upper
    return Wasserstein(Bracket(min(lower, value), value, upper), p, problem.coupling(), ignored)


def _root_error(value: float, p: float) -> float:
    """Return the relative error of top * value**(1/p), with the error of the exponent."""
    return (16 + 2 * abs(math.log(value)) / p) * UNIT if value > 0 else 0.0


def _dual(
    problem: TransportProblem,
    cost: Floats,
    beyond: Bools,
    layers: list[tuple[Floats, Floats]],
    ignored: float,
    error: float,
) -> float:
    """Return a proved lower bound, at least 0, of the expected cost over the pairs that are not beyond."""
    # Potentials feasible for these pairs, and at most ``height`` on those beyond, cost at most what the pairs do
    # plus the height of the ignored mass.
    (u, v), height = layers[-1], 0.0
    if len(layers) > 1:
        # Pairs that the first layer shuts out may undercut u + v. A multiple of the first
        # layer's potentials lifts them; it costs nothing where no mass must go beyond.
        first, other = layers[0]
        slack = -first[:, None] - other
        sums = u[:, None] + v
        shut = ~beyond & (slack > 0)
        excess = np.where(shut, sums - cost, 0.0)
        lift = float(np.maximum(excess / np.where(shut, slack, 1.0), 0.0).max())
        u, height = u + lift * first, lift + max(float(sums.max()), 0.0)
    v = np.min(np.where(beyond, height if problem.uses(beyond) else np.inf, cost) - u[:, None], axis=0)
    a, b = problem.first[problem.rows], problem.second[problem.columns]
    a, b = a / a.sum(), b / b.sum()
    size = float(a @ np.abs(u) + b @ np.abs(v))
    infeasible = (error + 4 * UNIT) * (1.0 + height + float(np.abs(u).max()))
    doubt = infeasible + 2 * sum_error(2 * sum(cost.shape), size) + ignored * height * (1 + 8 * UNIT)
    return max(float(a @ u + b @ v) - doubt, 0.0)


def _largest(problem: TransportProblem, d: Floats, tolerance: float) -> Wasserstein:
    """Return the least of the distinct distances within which all mass can be moved."""
    levels = np.unique(d)
    problem.begin(d)
    # Every value must send its mass somewhere, so no lower level suffices.
    heavy = problem.first[problem.rows] > 2 * tolerance
    floor = float(d.min(axis=1)[heavy].max(initial=0.0))
    search = bisect(
        lambda level: _outside(problem, d > levels[level]) <= tolerance,
        fails=int(np.searchsorted(levels, floor)) - 1,
        holds=len(levels) - 1,
    )
    value = float(levels[search.holds])
    ignored = _outside(problem, d > value)
    return Wasserstein(Bracket.exact(value), math.inf, problem.coupling(), ignored)


def _outside(problem: TransportProblem, far: Bools) -> float:
    """Return the least mass that any coupling puts on the far pairs."""
    problem.solve([far.astype(np.float64)])
    return problem.mass(far)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lifting:
    """Whether two distributions are in a lifted relation, with a witness either way.

    Attributes:
        holds: Whether they are.
        coupling: A coupling with the least mass outside the relation: the witness where ``holds`` is True.
        outside: That least mass, exact for the given floats up to one rounding.
        violated: The witness where ``holds`` is False, otherwise empty: positions A of first values with
            first[A] - second[Phi(A)] = outside, for the values Phi(A) related to A. No coupling can then stay in
            the relation (Strassen).
    """

    holds: bool
    coupling: Coupling
    outside: float
    violated: NDArray[np.intp]

    def __repr__(self) -> str:
        return f"Lifting: {'in' if self.holds else 'not in'} the relation, {self.outside:.4g} of the mass outside"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OptimalLifting:
    """Whether an optimal coupling of two distributions stays in a relation.

    Attributes:
        holds: Whether one does, so that ``restricted`` equals the distance.
        lifting: The answer for all couplings; for p = inf, for the pairs of the relation within the distance.
        distance: The Wasserstein distance of the pair, with proved bounds.
        restricted: The least order-p cost of a coupling within the relation, in the distance's unit, or ``inf``.
        coupling: The coupling that attains ``restricted``, or else the one of ``lifting``.
    """

    holds: bool
    lifting: Lifting
    distance: Bracket
    restricted: float
    coupling: Coupling


def lifting(
    relation: ArrayLike, first: Distribution, second: Distribution, *, tolerance: float = ROUNDING
) -> Lifting:
    """Return whether two distributions are in the lifting of a relation.

    Phi# = {(mu, mu') : a coupling of mu and mu' has its support in Phi}

    If an algorithm is (epsilon, delta)-private for the pairs of Phi, its lifting is (epsilon, delta +
    outside)-private for this pair, in this order. The relation is an array (n, m), True at the pairs of Phi. Mass
    outside it up to the tolerance counts as rounding of the distributions; 0 decides for exactly the given floats.
    Raises `InputError` if an argument is not a distribution or relation, or does not fit.

    Example:
        >>> import numpy as np
        >>> near = np.array([[True, True, False], [True, True, True], [False, True, True]])
        >>> lifting(near, [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]).holds
        True
        >>> lifting(near, [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]).violated
        array([0])

    Source:
        Kawamoto and Murakami, definition 9; Strassen, Annals of Mathematical Statistics 36, 1965.
    """
    check_tolerance(tolerance)
    problem = TransportProblem(first, second)
    inside = problem.restrict(relation_between(relation, problem.shape))
    return _answer(problem, inside, problem.solve([(~inside).astype(np.float64)])[0][0], tolerance)


def optimal_lifting(
    relation: ArrayLike,
    first: Distribution,
    second: Distribution,
    distances: Distances,
    p: float = 1.0,
    *,
    tolerance: float = ROUNDING,
) -> OptimalLifting:
    """Return whether an optimal coupling for a Wasserstein distance has its support in a relation.

    For finite p the least cost within the relation is compared with the least cost; for p = inf the relation is
    cut to the pairs within the distance. Arguments are those of `lifting` and `wasserstein`; the tolerance is also
    the share of the largest p-th power of a distance that counts as rounding. Raises `InputError` if an argument
    does not fit, or the distributions are infinitely far apart.

    Source:
        Kawamoto and Murakami, definition 10.
    """
    best = wasserstein(first, second, distances, p, tolerance=tolerance).distance
    if np.isinf(best.value):
        raise InputError(
            "the distributions are at infinite distance, so that every coupling is optimal.",
            "use lifting() for the relation alone.",
        )
    problem = TransportProblem(first, second)
    d = problem.restrict(distances_between(distances, problem.shape, p))
    inside = problem.restrict(relation_between(relation, problem.shape))
    if np.isinf(p):
        inside = inside & (d <= best.value)
        answer = _answer(problem, inside, problem.solve([(~inside).astype(np.float64)])[0][0], tolerance)
        restricted = best.value if answer.holds else float("inf")
        return OptimalLifting(answer.holds, answer, best, restricted, answer.coupling)
    cost, beyond, top = powers(d, p)
    inside = inside & ~beyond
    layers = problem.solve([(~inside).astype(np.float64), cost])
    answer = _answer(problem, inside, layers[0][0], tolerance)
    least = problem.expected_cost(cost)
    excess = least - (best.value / top) ** p if top > 0 else 0.0
    restricted = top * least ** (1 / p) if answer.holds else float("inf")
    return OptimalLifting(answer.holds and excess <= tolerance, answer, best, restricted, answer.coupling)


def _answer(problem: TransportProblem, inside: Bools, potentials: Floats, tolerance: float) -> Lifting:
    outside = problem.mass(~inside)
    holds = outside <= tolerance
    # Potentials of costs 0 and 1 take two neighbouring values on each side (docs/proofs/lifting.md).
    violated = np.zeros(0, np.intp) if holds else problem.rows[potentials == potentials.max()]
    return Lifting(holds, problem.coupling(), outside, readonly(violated))
