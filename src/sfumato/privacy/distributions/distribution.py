"""Distribution privacy: the reports of two distributions of the secret look alike."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Self, final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Bracket, Metric
from ...core.arrays import Floats, Positions, readonly
from ...core.immutable import assign
from ...divergences import log_ratios, max_divergence
from ...errors import InputError
from ...escaping import plain
from ...rounding import at_least, at_most, factor_at_most, log_error, mass_error
from ..exact import least_factor, least_step
from ..notion import Description, Finding
from ..rows import AnyMechanism, check_delta
from . import family_reports as reports
from .family import Family, FamilyDistance, distance_on
from .family_reports import ByDistance, OfFamily, reports_of


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DistributionPrivacy(OfFamily):
    """Distribution privacy (DistP) for the pairs of a family.

    A#(lam)[R] <= e**epsilon A#(mu)[R] + delta for every pair (lam, mu) and set R of reports

    where A#(lam) is the distribution of the report when the secret is drawn from lam. It hides the distribution of
    the secret, such as a person's group. Raises `InputError` if delta is not between 0 and 1.

    Example:
        >>> groups = Family({"day": [0.5, 0.5, 0.0], "night": [0.0, 0.5, 0.5]})
        >>> truth, coin = np.eye(3), np.full((3, 2), 0.5)
        >>> DistributionPrivacy(groups).measure(truth), DistributionPrivacy(groups).measure(coin)
        (Distribution privacy: epsilon inf, Distribution privacy: epsilon 0)
    """

    description = Description(
        "distribution-privacy",
        "distribution privacy",
        ("epsilon", "delta"),
        question="By which factor can a report favour one distribution of secrets over another?",
        promise=(
            "no set of reports is more than e^{epsilon} times as likely under one of two distributions that "
            "a coupling of {about} joins as under the other{up_to}"
        ),
        source="Kawamoto and Murakami, definition 11",
        context=("relation", "family"),
        defaults={"delta": 0.0},
    )

    family: Family
    delta: float = 0.0

    def of_lifting(self) -> Self | None:
        """Return the notion for the whole lifting, with the mass that couplings leave out."""
        if not self.has_points:
            return None
        return type(self)(self.family, reports.with_mass(self.delta, float(self.family.outside.max())))

    def together(self, other: Self, first: float, second: float) -> tuple[Self, float]:
        """Return the sums of the deltas and of the values."""
        self.check_pairs(other)
        return type(self)(self.family, reports.with_mass(self.delta, other.delta)), reports.add(first, second)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        rows = reports_of(mechanism, self.family)
        values, uppers = reports.epsilons(rows, self.family.pairs, self.delta, self.family.size)
        worst = int(np.argmax(values))
        p, q = rows[self.family.pairs[worst]]
        below = reports.epsilon_below(p, q, self.delta, self.family.size)
        bounds = Bracket(below, float(values[worst]), float(uppers.max()))
        if reports.is_open(bounds):
            of_pair = partial(least_factor, delta=Fraction(self.delta))
            exact = reports.decide_in_fractions(mechanism, self.family, of_pair)
            if exact is not None:
                bounds, worst = exact
                p, q = rows[self.family.pairs[worst]]
        witness = reports.pair_witness(self.family, worst, max_divergence(p, q, self.delta).outputs)
        return Finding.of_bounds(self, bounds, witness)

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Some reports distinguish {self.family} with certainty: no epsilon is enough."
        first, second = self.sides
        if self.delta or first != "one":
            plus = f", plus {at_most(self.delta)}" if self.delta else ""
            return (
                f"Between {self.family}, the probability of any set of reports under {first} is at most "
                f"{factor_at_most(value)} times that under {second}{plus}."
            )
        return f"A report changes the odds between {self.family} by a factor of at most {factor_at_most(value)}."


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ProbabilisticDistributionPrivacy(OfFamily):
    """Probabilistic distribution privacy (PDistP): the odds are bounded except at rare reports.

    For each pair there is a set V of reports with A#(lam)[V] <= delta and A#(mu)[V] <= delta, outside which the
    two probabilities are within a factor e**epsilon of each other.

    The least V for an epsilon is the set of reports with a larger log ratio, so the least epsilon is one of the
    log ratios. Raises `InputError` if delta is not between 0 and 1.
    """

    description = Description(
        "probabilistic-distribution-privacy",
        "probabilistic distribution privacy",
        ("epsilon", "delta"),
        question="The same as distribution privacy, except for reports with a total probability of delta.",
        promise=(
            "except for reports that together have a probability of at most {delta}, no report is more than "
            "e^{epsilon} times as likely under one of two distributions that a coupling of {about} joins as under "
            "the other"
        ),
        source="Kawamoto and Murakami, definition 13",
        context=("relation", "family"),
        defaults={"delta": 0.0},
    )

    family: Family
    delta: float

    @property
    def ground(self) -> None:
        """None: a promise is about the pairs of its family alone."""
        return

    def check_processing(self) -> None:
        """Raise InputError, since post-processing can break the notion."""
        raise InputError(
            "probabilistic distribution privacy was given, and post-processing can break it: reports that were "
            "set aside may be merged with others.",
            "convert it to distribution privacy with the same epsilon and delta, which survives post-processing.",
        )

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        family = self.family
        rows = reports_of(mechanism, family)
        slack = mass_error(self.delta, rows.shape[1], family.size)
        shifts = (0.0, slack, -slack)
        steps = [[_least_epsilon(rows[i], rows[j], self.delta + s) for i, j in family.pairs] for s in shifts]
        worst = int(np.argmax(steps[0]))
        p, q = rows[family.pairs[worst]]
        value, upper = steps[0][worst], max(steps[2])
        aside = _reports_beyond(p, q, value)
        below = steps[1][worst] - log_error(steps[1][worst], family.size)
        bounds = Bracket(max(0.0, below), value, upper + log_error(upper, family.size))
        if steps[1][worst] < upper or upper == 0:  # delta is near to a step, or the least epsilon to 0
            exact = reports.decide_in_fractions(mechanism, family, partial(least_step, delta=Fraction(self.delta)))
            if exact is not None:
                bounds, worst = exact
                p, q = rows[family.pairs[worst]]
                aside = _reports_beyond(p, q, bounds.value)
        return Finding.of_bounds(self, bounds, reports.pair_witness(family, worst, readonly(aside)))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return (
                f"Reports that distinguish {self.family} with certainty have a probability above "
                f"{at_least(self.delta)}: no epsilon is enough."
            )
        return (
            f"Except for reports that together have a probability of at most {at_most(self.delta)}, a report "
            f"changes the odds between {self.family} by a factor of at most {factor_at_most(value)}."
        )


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MetricDistributionPrivacy(ByDistance):
    """Extended distribution privacy (XDistP): near distributions look alike, far ones need not.

    A#(lam)[R] <= e**(epsilon d(lam, mu)) A#(mu)[R] + delta for every pair and set R of reports

    Raises `InputError` if delta is not between 0 and 1, or the distance is between another number of
    distributions.

    Args:
        family: The distributions, and which pairs count.
        distance: Between the distributions: a `FamilyDistance`, such as
            ``FamilyDistance.wasserstein(family, metric)``, a metric on the k names, or an array (k, k).
        delta: From 0 to 1.
    """

    description = Description(
        "metric-distribution-privacy",
        "distribution privacy for a metric",
        ("epsilon", "order", "delta"),
        question="By which factor can a report favour one distribution over another, per unit of their distance?",
        promise=(
            "no set of reports is more than e^({epsilon} W) times as likely under one distribution of "
            "secrets as under another{up_to}; W is their Wasserstein distance of order {order}{unit}"
        ),
        source="Kawamoto and Murakami, definition 12",
        context=("metric",),
        essentials=("metric",),
        defaults={"delta": 0.0},
    )

    family: Family
    distance: FamilyDistance
    delta: float

    def __init__(self, family: Family, distance: FamilyDistance | Metric | ArrayLike, delta: float = 0.0) -> None:
        check_delta(delta)
        assign(self, family=family, distance=distance_on(family, distance), delta=float(delta))

    @classmethod
    def wasserstein(
        cls, family: Family, metric: Metric, order: float = math.inf, delta: float = 0.0
    ) -> MetricDistributionPrivacy:
        """Return the notion for the Wasserstein distance of an order over a metric on the secrets."""
        return cls(family, FamilyDistance.wasserstein(family, metric, order), delta)

    @classmethod
    def maker(cls) -> Callable[..., Self]:
        """Return the constructor from a metric on the secrets."""
        return cls.wasserstein

    def of_lifting(self) -> Self | None:
        """Return the notion for all pairs at finite distance, with the mass that couplings leave out."""
        if not self.has_points_apart(math.inf):
            return None
        delta = reports.with_mass(self.delta, float(self.distance.ignored.max()))
        return type(self)(self.family, self.distance, delta)

    def together(self, other: Self, first: float, second: float) -> tuple[Self, float]:
        """Return the sums of the deltas and of the values, for the same distance."""
        self.check_pairs(other)
        self.check_distance(other)
        delta = reports.with_mass(self.delta, other.delta)
        return type(self)(self.family, self.distance, delta), reports.add(first, second)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        family, pairs = self.family, self.family.pairs
        rows = reports_of(mechanism, family)
        values, uppers = reports.epsilons(rows, pairs, self.delta, family.size)
        far, near = self.pair_distances
        same, apart = self.at_no_distance(mechanism)
        values[same] = uppers[same] = 0.0
        if self.delta == 0:
            apart = apart[far[apart] == 0]
            values[apart] = uppers[apart] = math.inf
        values, uppers = reports.per_unit(values, far), reports.per_unit(uppers, near) * (1 + 2.0**-51)
        worst = int(np.argmax(values))
        p, q = rows[pairs[worst]]
        lower = np.array([reports.epsilon_below(p, q, self.delta, family.size)])
        exactly = self.delta == 0 and far[worst] == 0
        below = values[worst] if exactly else reports.per_unit(lower, far[[worst]])[0]
        bounds = Bracket(float(below) * (1 - 2.0**-51), float(values[worst]), float(uppers.max()))
        if reports.is_open(bounds):
            decisions = self._decide_in_fractions(mechanism, same)
            if decisions is not None:
                bounds, worst = decisions
                p, q = rows[pairs[worst]]
        witness = reports.pair_witness(family, worst, max_divergence(p, q, self.delta).outputs)
        return Finding.of_bounds(self, bounds, witness)

    def _decide_in_fractions(self, mechanism: AnyMechanism, same: Positions) -> tuple[Bracket, int] | None:
        """Return the least epsilon in fractions, without the pairs with the same reports, and its pair.

        None also where rounding leaves open whether a distance is 0.
        """
        far, near = (distances.copy() for distances in self.pair_distances)
        far[same] = near[same] = math.inf
        if ((near == 0) & (far > 0)).any():
            return None
        factor = partial(least_factor, delta=Fraction(self.delta))
        least = reports.decide_in_fractions(mechanism, self.family, factor, far)
        most = least if (far == near).all() else reports.decide_in_fractions(mechanism, self.family, factor, near)
        if least is None or most is None:
            return None
        return Bracket(least[0].lower, least[0].lower, most[0].upper), least[1]

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        unit = self.distance.unit
        in_unit = f" in {unit}" if unit else ""
        name, (first, second) = plain(self.distance.name), self.sides
        if math.isinf(value):
            return f"Some pair of {self.family} is not hidden at any epsilon per {unit or 'unit'} of {name}."
        if self.vacuous:
            return self.far_pairs_note
        rest = f" {self.far_pairs_note}" if self.far_pairs_note else ""
        if self.delta or first != "one":
            plus = f", plus {at_most(self.delta)}" if self.delta else ""
            return (
                f"Between {self.family}, the probability of any set of reports under {first} is at most e^("
                f"{at_most(value)} x distance) times that under {second}{plus}; the distance is the "
                f"{name}{in_unit}.{rest}"
            )
        return (
            f"A report changes the odds between {self.family} by a factor of at most e^({at_most(value)} x "
            f"distance), where the distance is the {name}{in_unit}.{rest}"
        )


def _reports_beyond(p: Floats, q: Floats, epsilon: float) -> Positions:
    """Return the reports whose log ratio exceeds an epsilon."""
    return np.flatnonzero(((p > 0) | (q > 0)) & (np.abs(log_ratios(p, q)) > epsilon))


def _least_epsilon(p: Floats, q: Floats, delta: float) -> float:
    """Return the least epsilon such that the reports whose log ratio exceeds it have at most mass delta."""
    used = (p > 0) | (q > 0)
    logs = np.abs(log_ratios(p, q)[used])
    order = np.argsort(-logs, kind="stable")
    masses = np.maximum(np.cumsum(p[used][order]), np.cumsum(q[used][order]))
    over = np.flatnonzero(masses > delta)
    return float(logs[order][over[0]]) if len(over) else 0.0
