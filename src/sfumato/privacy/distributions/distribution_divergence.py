"""Distribution privacy by a divergence of the reports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self, final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Bracket, Metric
from ...core.arrays import Floats
from ...core.immutable import assign
from ...divergences import (
    CHI_SQUARED,
    F_DIVERGENCES,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    Divergence,
    FDivergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from ...errors import InputError
from ...intervals import exact, upper_end
from ...rounding import UNIT, at_most, log_error
from ..notion import Description, Finding
from ..rows import AnyMechanism
from . import family_reports as reports
from .family import Family, FamilyDistance, distance_on
from .family_reports import ByDistance, OfFamily, reports_of


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DivergenceDistributionPrivacy(OfFamily):
    """Distribution privacy for a divergence: D(A#(lam) || A#(mu)) <= epsilon for every ordered pair of a family.

    Source:
        Kawamoto and Murakami, definition 16; Barthe and Olmedo, ICALP 2013.
    """

    description = Description(
        "divergence-distribution-privacy",
        "divergence privacy of distributions",
        question="How far apart are the reports of two distributions, by a divergence?",
        promise=(
            "the {divergence} between the reports of two distributions that a coupling of {about} joins is "
            "at most {epsilon}"
        ),
        source="Kawamoto and Murakami, definition 16",
        context=("divergence", "relation", "family"),
        essentials=("divergence",),
    )

    family: Family
    divergence: Divergence

    def of_lifting(self) -> Self | None:
        """Return the notion itself, for a divergence that is jointly quasi-convex."""
        known = self.has_points and not self.family.outside.any() and quasi_convex(self.divergence)
        return self if known else None

    def together(self, other: Self, first: float, second: float) -> tuple[Self, float]:
        """Return the sum of the values, or for chi-square x + y + x y."""
        self.check_pairs(other)
        if self.divergence == other.divergence == CHI_SQUARED:
            x, y = exact(first), exact(second)
            return self, upper_end(lambda: x + y + x * y)
        _check_sum(self.divergence, other.divergence)
        return self, reports.add(first, second)

    def check_processing(self) -> None:
        """Raise InputError for a divergence that is not known to fall under post-processing."""
        _check_processing(self.divergence)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        rows = reports_of(mechanism, self.family)
        values = reports.pairwise_divergences(self.divergence, rows, self.family.pairs)
        errors = _errors(self.divergence, values, rows, self.family)
        worst = int(np.argmax(values))
        value, error = float(values[worst]), float(errors[worst])
        bounds = Bracket(value - error, value, float((values + errors).max()))
        return Finding.of_bounds(self, bounds, reports.pair_witness(self.family, worst))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        return f"Between the reports of {self.family} the {self.divergence.name} is at most {at_most(value)}."


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DivergenceMetricDistributionPrivacy(ByDistance):
    """Distribution privacy for a divergence and a distance: D(A#(lam) || A#(mu)) <= epsilon d(lam, mu).

    The distance is a `FamilyDistance`, a metric on the k names of the family, or an array (k, k). Raises
    `InputError` if the distance is between another number of distributions.
    """

    description = Description(
        "divergence-metric-distribution-privacy",
        "divergence privacy of distributions for a metric",
        ("epsilon", "order"),
        question="How far apart are the reports of two distributions, per unit of their distance?",
        promise=(
            "the {divergence} between the reports of two distributions of secrets is at most {epsilon} W; W "
            "is their Wasserstein distance of order {order}{unit}"
        ),
        source="Kawamoto and Murakami, definition 17",
        context=("divergence", "metric"),
        essentials=("divergence", "metric"),
    )

    family: Family
    divergence: Divergence
    distance: FamilyDistance

    def __init__(
        self, family: Family, divergence: Divergence, distance: FamilyDistance | Metric | ArrayLike
    ) -> None:
        assign(self, family=family, divergence=divergence, distance=distance_on(family, distance))

    @classmethod
    def wasserstein(
        cls, family: Family, divergence: Divergence, metric: Metric, order: float = math.inf
    ) -> DivergenceMetricDistributionPrivacy:
        """Return the notion for the Wasserstein distance of an order over a metric on the secrets."""
        return cls(family, divergence, FamilyDistance.wasserstein(family, metric, order))

    @classmethod
    def maker(cls) -> Callable[..., Self]:
        """Return the constructor from a metric on the secrets."""
        return cls.wasserstein

    def of_lifting(self) -> Self | None:
        """Return the notion itself, for a jointly convex divergence and a distance of order 1."""
        known = self.has_points_apart(1.0) and not self.distance.ignored.any() and jointly_convex(self.divergence)
        return self if known else None

    def together(self, other: Self, first: float, second: float) -> tuple[Self, float]:
        """Return the sum of the values, for the same distance."""
        self.check_pairs(other)
        self.check_distance(other)
        _check_sum(self.divergence, other.divergence)
        return self, reports.add(first, second)

    def check_processing(self) -> None:
        """Raise InputError for a divergence that is not known to fall under post-processing."""
        _check_processing(self.divergence)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        family, pairs = self.family, self.family.pairs
        rows = reports_of(mechanism, family)
        values = reports.pairwise_divergences(self.divergence, rows, pairs)
        errors = _errors(self.divergence, values, rows, family)
        lowers, uppers = np.maximum(values - errors, 0.0), values + errors
        far, near = self.pair_distances
        same, _ = self.at_no_distance(mechanism)
        values[same] = lowers[same] = uppers[same] = 0.0
        values, uppers = reports.per_unit(values, far), reports.per_unit(uppers, near) * (1 + 2.0**-51)
        worst = int(np.argmax(values))
        below = float(reports.per_unit(lowers, far)[worst]) * (1 - 2.0**-51)
        bounds = Bracket(below, float(values[worst]), float(uppers.max()))
        return Finding.of_bounds(self, bounds, reports.pair_witness(family, worst))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Some pair of {self.family} has no finite {self.divergence.name} per unit of distance."
        if self.vacuous:
            return self.far_pairs_note
        per = f" per {self.distance.unit or 'unit'}"
        rest = f" {self.far_pairs_note}" if self.far_pairs_note else ""
        return (
            f"Between the reports of {self.family} the {self.divergence.name} is at most {at_most(value)}{per} of "
            f"their {self.distance.name}.{rest}"
        )


_ADDING: Final = (KL, REVERSE_KL, TOTAL_VARIATION, HELLINGER)


def _check_sum(a: Divergence, b: Divergence) -> None:
    adds = a in _ADDING or isinstance(a, Renyi) or a == MaxDivergence()
    if a != b or not adds:
        raise InputError(
            f"guarantees of the {a.name} and the {b.name} do not add up.",
            "those of KL, reverse KL, total variation, squared Hellinger, Rényi and max divergence do; or "
            f"{reports.RECOMPUTE}",
        )


def _check_processing(divergence: Divergence) -> None:
    if not quasi_convex(divergence):
        raise InputError(
            f"the {divergence.name} is not known to be safe under post-processing.",
            "measure the mechanism with the processing after it.",
        )


def jointly_convex(divergence: Divergence) -> bool:
    """Return whether a divergence is known to be jointly convex, as every f-divergence is."""
    is_known = divergence in F_DIVERGENCES.values() or divergence == Renyi(1.0)
    return is_known or isinstance(divergence, FDivergence | HockeyStick)


def quasi_convex(divergence: Divergence) -> bool:
    """Return whether a divergence of mixtures is known to be at most the largest of the parts."""
    return jointly_convex(divergence) or isinstance(divergence, Renyi | MaxDivergence)


def _errors(divergence: Divergence, values: Floats, rows: Floats, family: Family) -> Floats:
    errors = [
        divergence_error(divergence, float(value), rows[i], rows[j], family.size)
        for value, (i, j) in zip(values, family.pairs, strict=True)
    ]
    return np.array(errors)


_STEP = 2.0**-10


def divergence_error(divergence: Divergence, value: float, p: Floats, q: Floats, terms: int) -> float:
    """Return the largest error of a computed divergence; ``inf`` where it is not known.

    The entries of p and q, arrays (m,), add ``terms`` products each. An approximate max divergence is refused.
    """
    if np.isinf(value):
        return 0.0
    entry, adding = 2 * (terms + 12) * UNIT, len(p) * UNIT
    if divergence in (TOTAL_VARIATION, HELLINGER) or isinstance(divergence, HockeyStick):
        return 3 * entry + adding * value
    if divergence in (KL, REVERSE_KL) or divergence == Renyi(1.0):
        return entry * (value + 6) + adding * value
    if divergence == CHI_SQUARED:
        return entry * (4 * value + 10) + adding * value
    if isinstance(divergence, FDivergence):
        return _of_generator(divergence, p, q, entry) + adding * abs(value)
    if divergence in (MaxDivergence(), Renyi(np.inf)):
        return log_error(value, terms)
    if isinstance(divergence, Renyi):
        order = divergence.order
        return ((2 * entry + 3000 * UNIT) * (order + 1) + adding) / abs(order - 1)
    if isinstance(divergence, MaxDivergence):
        raise InputError(
            f"the {divergence.name} was given as a divergence.",
            "measure DistributionPrivacy(family, delta) instead, which inverts it to a proved side.",
        )
    return float("inf")


def _of_generator(divergence: FDivergence, p: Floats, q: Floats, entry: float) -> float:
    """Return a bound of the change of sum q f(p/q): by convexity a small step rises no faster than a large one."""
    both = (p > 0) & (q > 0)
    a, b = p[both], q[both]
    with np.errstate(over="ignore", invalid="ignore"):
        at = b * divergence.generator(a / b)
        corners = [
            b * v * divergence.generator(a * u / (b * v))
            for u in (1 - _STEP, 1 + _STEP)
            for v in (1 - _STEP, 1 + _STEP)
        ]
        rise = float((np.max(corners, axis=0) - at).sum())
    edges = float(p[q == 0].sum()) * divergence.slope if (p[q == 0] > 0).any() else 0.0
    edges += float(q[p == 0].sum()) * divergence.at_zero if (q[p == 0] > 0).any() else 0.0
    bound = entry / _STEP * rise + entry * abs(edges) + 8 * UNIT * (float(np.abs(at).sum()) + 1)
    return bound if np.isfinite(bound) else float("inf")
