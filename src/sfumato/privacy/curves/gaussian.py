"""Gaussian differential privacy: two secrets as hard to distinguish as two shifted normal distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self, final

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtr, ndtri, ndtri_exp

from ...core.arrays import Floats
from ...core.bracket import bisect, double
from ...errors import InputError
from ...rounding import UNIT, at_most
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, related_rows
from ..rows import AnyMechanism, Mask, check_delta, check_epsilon
from ..search import Positions, falling
from .curve import Curve
from .errors_of_tests import Errors, blocks, errors, witness_of_test

LARGEST: Final = 38.5
"""The largest quantile of any float above 0."""

QUANTILE_ERROR: Final = 16 * UNIT
"""The largest relative error of scipy's quantile; a test compares it with interval arithmetic."""


def quantile(probability: Floats, complement: Floats) -> Floats:
    """Return the normal quantile, to a small relative error near 0 and 1, given p and 1 - p."""
    z = ndtri(np.minimum(probability, complement))
    return np.asarray(np.where(probability <= complement, z, -z))


_LEAST = 1e-300  # below it exponentials lose their digits


@final
@dataclass(frozen=True, slots=True)
class GaussianTradeOff(Curve):
    """The trade-off function of N(0, 1) against N(mu, 1): G(a) = Phi(Phi^-1(1 - a) - mu).

    Attributes:
        mu: At least 0; ``inf`` hides nothing.

    Raises:
        InputError: If mu is negative or NaN.

    Example:
        >>> round(GaussianTradeOff(1.0).delta(0.5), 6)
        0.238422

    Source:
        Dong, Roth and Su, definition 2.6 and corollary 2.13.
    """

    mu: float

    def __post_init__(self) -> None:
        if not self.mu >= 0:
            raise InputError(f"mu is {self.mu}.", "the shift of Gaussian differential privacy is at least 0.")

    @classmethod
    def of_epsilon(cls, epsilon: float) -> Self:
        """Return the least mu that every mechanism of epsilon-differential privacy satisfies.

        mu = 2 Phi^-1(e**epsilon / (1 + e**epsilon)), attained by binary randomised response.

        Raises:
            InputError: If epsilon is negative or NaN.
        """
        check_epsilon(epsilon)
        return cls(-2 * float(ndtri_exp(-float(np.logaddexp(0.0, epsilon)))))

    @classmethod
    def composed(cls, curves: Iterable[Self]) -> Self:
        """Return the curve of several mechanisms used on the same secret: mu = sqrt(sum of mu**2)."""
        return cls(math.hypot(*(curve.mu for curve in curves)))

    def errors(self, alphas: Floats, confidences: Floats) -> tuple[Floats, Floats]:
        """Return the least type II errors and their complements."""
        if math.isinf(self.mu):
            return np.zeros_like(alphas), np.ones_like(alphas)
        z = quantile(confidences, alphas) - self.mu
        return np.asarray(ndtr(z)), np.asarray(ndtr(-z))

    def delta(self, epsilon: float) -> float:
        """Return the least delta at an epsilon of at least 0, rounded up.

        delta = Phi(-epsilon/mu + mu/2) - e**epsilon Phi(-epsilon/mu - mu/2)

        Raises:
            InputError: If epsilon is negative or NaN.
        """
        check_epsilon(epsilon)
        if self.mu == 0 or math.isinf(epsilon):
            return float(math.isinf(self.mu))
        if math.isinf(self.mu):
            return 1.0
        low = float(log_ndtr(-epsilon / self.mu - self.mu / 2)) + epsilon
        high = float(log_ndtr(-epsilon / self.mu + self.mu / 2))
        lost = 16 * UNIT * (1 + abs(high) + abs(low) + 2 * epsilon)
        # As a product, so that a small difference of logarithms keeps its digits.
        delta = math.exp(high) * (-math.expm1(min(0.0, low - high)) + lost)
        return min(1.0, math.nextafter(delta, 1.0))

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon of at least 0 at a delta, rounded up.

        Raises:
            InputError: If delta is not between 0 and 1.
        """
        check_delta(delta)
        if self.delta(0.0) <= delta:
            return 0.0
        if math.isinf(self.mu) or delta < _LEAST:
            return math.inf

        def enough(epsilon: float) -> bool:
            return self.delta(epsilon) <= delta

        return bisect(enough, *double(enough, fails=0.0, holds=1.0), relative=1e-14).holds


@final
@dataclass(frozen=True, slots=True, eq=False)
class GaussianPrivacy(Notion):
    """Gaussian differential privacy, with the least mu.

    T(p(.|s), p(.|s')) >= G_mu    for all related s, s'

    where T is the trade-off function. G_mu is convex and T linear between its vertices, so mu = max over vertices
    (a, b) of Phi^-1(1 - a) - Phi^-1(b). It is ``inf`` where some observable is possible for one secret only. Both
    orders of a pair give the same mu.

    Example:
        >>> round(GaussianPrivacy().measure([[0.75, 0.25], [0.25, 0.75]]).value, 6)
        1.34898
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

    relation: Relation | None = None

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        rows, related = related_rows(mechanism, self.relation)
        unordered = np.triu(related | related.T)
        alone = _distinguishing_report(rows > 0, unordered)
        if alone is not None:
            return Finding(self, math.inf, 0.0, alone)
        best = _Largest(rows)
        net = net_of(rows, best.of_pairs)
        for pairs in farthest_first(unordered, net, lambda: best.value):
            best.raise_to(pairs)
        value, witness = best.value, best.witness
        # A relative error r of a probability of at most 1/2 moves its quantile by at most 1.26 r.
        rounding = 4 * (rows.shape[1] + 8) * UNIT + 2 * LARGEST * QUANTILE_ERROR
        return Finding(self, value, rounding, witness)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        related = "secrets" if self.relation is None else self.relation.name
        if math.isinf(value):
            return f"Some report distinguishes some two {related} with certainty."
        return (
            f"Identifying the source of a report among two {related} is at least as hard as detecting from one "
            f"draw a shift of a standard normal distribution by {at_most(value)}."
        )


@dataclass(slots=True)
class _Largest:
    """The largest mu of the pairs so far, and the test that needs it."""

    rows: Floats
    value: float = 0.0
    witness: Witness = field(default_factory=lambda: Witness(note="all related secrets have the same row"))

    def of_pairs(self, pairs: NDArray[np.intp]) -> Floats:
        """Return the mu of listed pairs, array (k,), without raising the largest."""
        parts = [_shifts(errors(p, q)).max(axis=1) for _, p, q in blocks(self.rows, pairs)]
        return np.asarray(np.maximum(np.concatenate([np.zeros(0), *parts]), 0.0))

    def raise_to(self, pairs: NDArray[np.intp]) -> None:
        """Raise the largest mu by some pairs."""
        for block, p, q in blocks(self.rows, pairs):
            found = errors(p, q)
            shifts = _shifts(found)
            worst, vertex = np.unravel_index(int(np.argmax(shifts)), shifts.shape)
            if shifts[worst, vertex] > self.value:
                self.value = float(shifts[worst, vertex])
                of_pair = Errors(*(rates[worst] for rates in found))
                self.witness = witness_of_test(self.rows, block[worst], of_pair, int(vertex))


def _shifts(found: Errors) -> Floats:
    """Return the mu that each vertex needs, -inf at the ends."""
    with np.errstate(invalid="ignore"):
        shifts = quantile(found.confidences, found.alphas) - quantile(found.betas, found.powers)
    inner = (found.alphas > 0) & (found.confidences > 0) & (found.betas > 0) & (found.powers > 0)
    return np.where(inner, shifts, -np.inf)


def _distinguishing_report(support: NDArray[np.bool_], mask: Mask) -> Witness | None:
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


_AT_ONCE: Final = 2**12  # pairs that are looked at together
_CENTRES: Final = 10  # times the root of the number of rows
_SLACK: Final = 1e-7  # far more than floating point takes away; rows may sum to one within 1e-9 only


class Net(NamedTuple):
    """A few centres, such that every row is near one of them.

    The mu of Gaussian privacy obeys the triangle inequality: mu(s, t) is at most the mu of the centres of s and t,
    plus that of s and its centre, plus that of t and its centre. ``centre`` and ``radius`` are the centre of each
    row and its mu, arrays (n,). ``between`` is the mu of the centres, array (k, k), infinite for rows that are
    possible for different outputs.
    """

    centre: NDArray[np.intp]
    radius: Floats
    between: Floats

    def limits(self, rows: Positions) -> Floats:
        """Return bounds of the mu of some rows and all others, array (b, n)."""
        found = self.between[self.centre[rows]][:, self.centre]
        return np.asarray(found + self.radius[rows, None] + self.radius + _SLACK)


def net_of(rows: Floats, shifts: Callable[[Positions], Floats]) -> Net:
    """Return a net of rows: the row farthest from all centres joins repeatedly.

    ``shifts`` gives the mu of pairs of rows with the same possible outputs. The triangle inequality is in the
    proof of Dong, Roth and Su, 2022, theorem 2.14.
    """
    roots, most = np.sqrt(rows), math.ceil(_CENTRES * math.sqrt(len(rows)))
    support = np.unique(rows > 0, axis=0, return_inverse=True)[1].ravel()

    def affinities(chosen: int) -> Floats:
        return np.where(support == support[chosen], roots @ roots[chosen], 0.0)

    def apart(pairs: Positions) -> Floats:
        found = np.full(len(pairs), np.inf)
        same = support[pairs[:, 0]] == support[pairs[:, 1]]
        found[same] = shifts(pairs[same])
        return found

    centres, near, centre = [0], affinities(0), np.zeros(len(rows), dtype=np.intp)
    while len(centres) < most and near.min() < 1 - _SLACK:
        chosen = int(np.argmin(near))
        affinity = affinities(chosen)
        closer = affinity > near
        centre[closer], near = len(centres), np.maximum(near, affinity)
        centres.append(chosen)
    positions = np.array(centres, dtype=np.intp)
    radius = apart(np.stack([np.arange(len(rows)), positions[centre]], axis=1))
    between = np.zeros((len(positions), len(positions)))
    first, second = np.triu_indices(len(positions), 1)
    between[first, second] = apart(np.stack([positions[first], positions[second]], axis=1))
    return Net(centre, radius, between + between.T)


def farthest_first(mask: Mask, net: Net, known: Callable[[], float]) -> Iterator[Positions]:
    """Yield the pairs of a mask that may need more than is known, mostly the largest first, arrays (k, 2)."""
    rows = np.flatnonzero(mask.any(axis=1))
    far = np.where(np.isfinite(net.between), net.between, 0.0).max(axis=1)
    rows = rows[np.argsort(-(far[net.centre[rows]] + net.radius[rows]), kind="stable")]
    yield from falling(mask, rows, net.limits, known, _AT_ONCE)
