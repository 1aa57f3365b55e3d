"""Closed forms that are proved optimal: docs/proofs/closed-forms.md."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, Metric
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..core.naming import EXPECTED
from ..errors import InfeasibleError, InputError
from ..mechanisms import coin_of_distortion, remap_mechanism, tight_constraints
from ..proofs import Certificate, Multipliers, exponents_above, loss_bound
from ..rounding import UNIT
from .problem import Problem
from .solver import certify_mechanism, gap_of

_LARGEST = 500.0  # exponents whose exponentials and their products stay finite
_MANY = 2_000  # secrets for which the inverse of a matrix takes long, and is seldom private
_SAME = 1e-12  # relative: distances that add up along a line
_Prices = tuple[NDArray[np.intp], NDArray[np.intp], Floats]  # secrets, others, prices of rows, (k, observables)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClosedForm(CompactRepr):
    """A mechanism in closed form, proved optimal to within the wanted gap; its integers satisfy every guarantee.

    ``prices`` are the multipliers that prove the bound, and ``reason`` says in one sentence why it is optimal.
    """

    mechanism: Mechanism
    certificate: Certificate
    prices: Multipliers
    name: str
    reason: str

    @property
    def bound(self) -> float:
        """The proved lower bound of the loss of every mechanism with the same guarantees."""
        return self.certificate.bound


def closed_form(problem: Problem, gap: float = 1e-6) -> ClosedForm | None:
    """Return the closed form that is optimal for a problem, or None.

    For the expected loss there are two candidates. Under distortion privacy whose distance is the loss, it is the
    coin. Under metric privacy, it is tight constraints with the optimal remap: the truncated geometric mechanism
    on a line of any spacing, randomised response for the discrete metric. ``gap`` is the relative gap that must be
    proved.
    """
    if problem.objective != EXPECTED or problem.general:
        return None
    if problem.exponents is not None:
        return _tight(problem, problem.exponents, gap)
    return _coin(problem, gap)


def _coin(problem: Problem, gap: float) -> ClosedForm | None:
    distance = problem.distance
    if distance is None or problem.observables != problem.prior.space:
        return None
    if not np.array_equal(distance.array.T, problem.loss.array) or np.diagonal(distance.array).any():
        return None
    mechanism = coin_of_distortion(problem.prior, distance, problem.minimum)
    # Guessing the report itself is a strategy, whose error is the loss.
    prices = Multipliers.without_rows(np.eye(len(problem.observables)))
    return _prove(
        problem,
        mechanism,
        prices,
        gap,
        "coin",
        "the loss is the adversary's distance, so guessing the report has the loss as its error: "
        "no mechanism loses less than its distortion, and the coin loses exactly that",
    )


def _tight(problem: Problem, exponents: Floats, gap: float) -> ClosedForm | None:
    space = problem.prior.space
    if not np.isfinite(exponents).all():
        return None
    line = _line(exponents)
    if line is not None and np.diff(exponents[line[0], line]).max(initial=0.0) > _LARGEST:
        return None
    if line is None and len(space) > _MANY:
        return None
    # Prices for the rounded exponents would lose the margin that the bound adds to them.
    supposed = exponents_above(exponents, len(space))
    decay, costs = np.exp(-supposed), problem.prior.probabilities[:, None] * problem.loss.array
    try:
        tight = tight_constraints(space, Metric(exponents, triangle=True, symmetric=False), 1.0)
        # The prices of the rows' sums: the cost of each column of the tight mechanism at its best report.
        rents = np.linalg.solve(decay, (decay @ costs).min(axis=1))
    except (InfeasibleError, InputError, np.linalg.LinAlgError):
        return None  # no such mechanism
    demand = rents[:, None] - costs
    a, b, amounts = _star_prices(demand, supposed) if line is None else _line_prices(demand, supposed, line)
    used = amounts > 0
    s, t, o = a[used], b[used], np.broadcast_to(np.arange(amounts.shape[1]), amounts.shape)[used]
    prices = Multipliers(s, t, o, amounts[used], exponents[s, t])
    mechanism = remap_mechanism(tight, problem.prior, problem.loss, problem.observables)
    has_remap = mechanism.weights.shape != tight.weights.shape or bool((mechanism.weights != tight.weights).any())
    off = exponents[~np.eye(len(space), dtype=bool)]
    if off.size and (off == off[0]).all():
        name, reason = "randomised response", "all secrets are equally far apart"
    elif line is not None:
        name, where = "truncated geometric", "the secrets lie on a line"
        reason = f"{where}, where it serves every prior and every loss that grows with the distance"
    else:
        name, reason = "tight constraints", "every observable can be as informative as epsilon allows"
    name += " with optimal remap" if has_remap else ""
    return _prove(problem, mechanism, prices, gap, name, f"{reason}; the bound by duality meets its loss")


def _prove(
    problem: Problem, mechanism: Mechanism, prices: Multipliers, gap: float, name: str, reason: str
) -> ClosedForm | None:
    """Return the closed form if its prices prove the gap and its integers the guarantees."""
    distance = None if problem.distance is None else problem.distance.array
    bound = loss_bound(problem.prior.probabilities, problem.loss.array, prices, distance, problem.minimum)
    loss = mechanism.expected_loss(problem.prior, problem.loss)
    rounding = 128 * (sum(problem.shape) + 8) * UNIT * problem.loss_scale
    if not (loss - bound <= rounding or gap_of(problem, loss, bound) <= gap):
        return None
    certificate = certify_mechanism(problem, mechanism, bound)
    near = certificate.absolute_gap <= rounding or gap_of(problem, certificate.value, bound) <= gap
    return ClosedForm(mechanism, certificate, prices, name, reason) if certificate.holds and near else None


def _line(exponents: Floats) -> NDArray[np.intp] | None:
    """Return the order of distinct secrets whose exponents add up along a line, or None."""
    places = exponents[np.argmax(exponents[0])]
    order = np.argsort(places, kind="stable")
    if (np.diff(places[order]) <= 0).any():
        return None
    apart = np.abs(places[:, None] - places)
    return order if (np.abs(exponents - apart) <= _SAME * places.max()).all() else None


def _line_prices(demand: Floats, exponents: Floats, line: NDArray[np.intp]) -> _Prices:
    """Return prices of rows to inner neighbours that cover demand(s, o), from both ends to where least remains."""
    n = len(demand)
    ordered = demand[line]
    edges = exponents[line[:-1], line[1:]]
    growth = np.exp(edges)[:, None]
    rising, falling = ordered.copy(), ordered.copy()
    with np.errstate(over="ignore"):
        for k in range(n - 1):
            rising[k + 1] += _carry(rising[k], growth[k])
        for k in range(n - 2, -1, -1):
            falling[k] += _carry(falling[k + 1], growth[k])
    meeting = np.argmin(rising + falling - ordered, axis=0)
    left = np.arange(n - 1)[:, None] < meeting  # the edge (k, k + 1) belongs to its left end
    amounts = np.where(left, rising[:-1], falling[1:])
    from_lower = left == (amounts > 0)
    return (
        np.where(from_lower, line[:-1, None], line[1:, None]),
        np.where(from_lower, line[1:, None], line[:-1, None]),
        np.where(amounts > 0, amounts, -amounts / growth),
    )


def _carry(amount: Floats, growth: Floats) -> Floats:
    """Return what covering ``amount`` at one secret adds to the demand at its neighbour."""
    return np.where(amount > 0, amount * growth, amount / growth)


def _star_prices(demand: Floats, exponents: Floats) -> _Prices:
    """Return prices of rows between all others and one secret per observable, where least demand remains."""
    n, m = demand.shape
    growth = np.exp(np.minimum(exponents, _LARGEST))
    uncovered = np.exp(-exponents) @ np.minimum(demand, 0.0) + growth.T @ np.maximum(demand, 0.0)
    centre = np.argmin(uncovered, axis=0)
    s, centres = np.broadcast_to(np.arange(n)[:, None], (n, m)), np.broadcast_to(centre, (n, m))
    outward = demand < 0
    apart = np.where(outward, exponents[centre].T, exponents[:, centre])
    price = np.where(outward, -demand * np.exp(-apart), demand)
    price[(s == centres) | (apart > _LARGEST)] = 0.0
    return np.where(outward, centres, s), np.where(outward, s, centres), price
