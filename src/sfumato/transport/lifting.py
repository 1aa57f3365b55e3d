"""Relations between values, lifted to relations between distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Bracket
from ..core.arrays import readonly
from ..errors import InputError
from .coupling import Coupling, Distances, Distribution, check_tolerance, distances_between, relation_between
from .simplex import ROUNDING, Layer, TransportProblem
from .wasserstein import powers, wasserstein


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Lifting:
    """Whether two distributions are in a lifted relation, with a witness either way.

    Attributes:
        holds: Whether they are.
        coupling: A coupling with the least mass outside the relation; where the answer is
            yes it is the witness.
        outside: That least mass, exact for the given floats up to one rounding.
        violated: Where the answer is no: positions A of first values such that
            first[A] - second[Phi(A)] = outside, Phi(A) being the values that A is related
            to. No coupling can then stay in the relation (Strassen). Empty otherwise.
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
        holds: Whether one does.
        lifting: The answer for all couplings; for p = inf, for the pairs of the relation
            within the distance.
        distance: The Wasserstein distance of the pair, with proved bounds.
        restricted: The least order-p cost of a coupling within the relation, in the unit
            of the distance; ``inf`` where there is none. The answer is yes where it equals
            the distance.
        coupling: The coupling that attains ``restricted``, or without one that of ``lifting``.
    """

    holds: bool
    lifting: Lifting
    distance: Bracket
    restricted: float
    coupling: Coupling


def lifting(
    relation: ArrayLike, first: Distribution, second: Distribution, *, tolerance: float = ROUNDING
) -> Lifting:
    """Say whether two distributions are in the lifting of a relation.

    Phi# = {(mu, mu') : a coupling of mu and mu' has its support in Phi}

    If an algorithm is (epsilon, delta)-private for the pairs of Phi, its lifting is
    (epsilon, delta + outside)-private for this pair, in this order.

    Args:
        relation: Array (n, m) of truths, True at the pairs of Phi.
        first: Array (n,), or a prior.
        second: Array (m,), or a prior.
        tolerance: Mass outside the relation that is taken for the rounding of the
            distributions; 0 decides for exactly the given floats.

    Raises:
        InputError: If an argument is not a distribution or relation, or does not fit.

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
    inside = problem.cut_relation(relation_between(relation, problem.shape))
    layer = problem.solve([(~inside).astype(np.float64)])[0]
    return _answer(problem, inside, layer, tolerance)


def optimal_lifting(
    relation: ArrayLike,
    first: Distribution,
    second: Distribution,
    distances: Distances,
    p: float = 1.0,
    *,
    tolerance: float = ROUNDING,
) -> OptimalLifting:
    """Say whether an optimal coupling for a Wasserstein distance has its support in a relation.

    For finite p the least cost within the relation is compared with the least cost; for
    p = inf the relation is cut to the pairs within the distance.

    Args:
        relation: Array (n, m) of truths, True at the pairs of Phi.
        first: Array (n,), or a prior.
        second: Array (m,), or a prior.
        distances: Array (n, m), or a metric.
        p: At least 1, or ``inf``.
        tolerance: Mass, and share of the largest p-th power of a distance, that is taken
            for rounding.

    Raises:
        InputError: If an argument does not fit, or the distributions are infinitely far apart.

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
    d = problem.cut(distances_between(distances, problem.shape, p))
    inside = problem.cut_relation(relation_between(relation, problem.shape))
    if np.isinf(p):
        inside = inside & (d <= best.value)
        answer = _answer(problem, inside, problem.solve([(~inside).astype(np.float64)])[0], tolerance)
        restricted = best.value if answer.holds else float("inf")
        return OptimalLifting(answer.holds, answer, best, restricted, answer.coupling)
    cost, beyond, top = powers(d, p)
    inside = inside & ~beyond
    layers = problem.solve([(~inside).astype(np.float64), cost])
    answer = _answer(problem, inside, layers[0], tolerance)
    least = problem.expected(cost)
    excess = least - (best.value / top) ** p if top > 0 else 0.0
    restricted = top * least ** (1 / p) if answer.holds else float("inf")
    return OptimalLifting(answer.holds and excess <= tolerance, answer, best, restricted, answer.coupling)


def _answer(problem: TransportProblem, inside: NDArray[np.bool_], layer: Layer, tolerance: float) -> Lifting:
    outside = problem.mass(~inside)
    holds = outside <= tolerance
    # Potentials of costs 0 and 1 take two neighbouring values on each side (docs/proofs/lifting.md).
    violated = np.zeros(0, np.intp) if holds else problem.rows[layer.u == layer.u.max()]
    return Lifting(holds, problem.coupling(), outside, readonly(violated))
