"""Privacy by divergences between rows: any divergence, per distance, Kullback-Leibler and Rényi."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np

from ...core import Mechanism, Metric
from ...core.arrays import Floats, Positions
from ...core.naming import name_phrase
from ...divergences import (
    F_DIVERGENCES,
    HELLINGER,
    KL,
    TOTAL_VARIATION,
    Divergence,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from ...errors import InputError
from ...rounding import at_most, divergence_errors, mass_errors
from ..exact import largest_mass, round_down
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, pair_name, related_rows
from ..rows import AnyMechanism, channel, check_size, span, unequal_pair
from ..search import divergence_limits, search
from .least_epsilon import Scales
from .metric import ByMetric, protected_pairs, same_place


def check_divergence(divergence: Divergence, precision: float) -> None:
    """Raise InputError for a divergence that has its own notion, or a negative precision."""
    if isinstance(divergence, MaxDivergence) or (isinstance(divergence, Renyi) and math.isinf(divergence.order)):
        raise InputError(
            f"the {divergence.name} has its own notions: differential and metric privacy.",
            "use DifferentialPrivacy(relation, delta) or MetricDifferentialPrivacy(metric, delta).",
        )
    if not precision >= 0:
        raise InputError(f"a precision of {precision} was given.", "pass a small number, such as 1e-12.")


def is_known(divergence: Divergence) -> bool:
    """Return whether the rounding of a divergence is bounded by the package."""
    return isinstance(divergence, Renyi) or divergence in F_DIVERGENCES.values()


def errors_of(divergence: Divergence, values: Floats, matrix: Floats, precision: float) -> Floats:
    """Return the largest error of each computed divergence, array of the same shape."""
    m = matrix.shape[1]
    if isinstance(divergence, HockeyStick):
        return mass_errors(values, m)
    if is_known(divergence):
        # Rows whose sums are not exactly one have no exact divergence.
        defect = 2 * float(np.abs(matrix.sum(axis=1) - 1).max())
        return divergence_errors(values, m, span(matrix)) + np.where(np.isinf(values), 0.0, defect)
    return np.where(np.isinf(values), 0.0, precision * (1 + np.where(np.isinf(values), 0.0, values)))


class OfRelatedRows(Notion):
    """A notion of the largest divergence of related rows."""

    __slots__ = ()

    relation: Relation | None

    @property
    @abstractmethod
    def _divergence(self) -> tuple[Divergence, float]:
        """The divergence and its precision; see `DivergencePrivacy`."""

    @final
    def _measure(self, mechanism: AnyMechanism) -> Finding:
        divergence, precision = self._divergence
        matrix, mask = related_rows(mechanism, self.relation)
        top = search(
            mask,
            lambda s, t: divergence.rows(matrix[s], matrix[t]),
            divergence_limits(divergence, matrix),
            lambda values, _s, _t: errors_of(divergence, values, matrix, precision),
        )
        value, pair = top.value, top.pair
        rounding = 0.0 if math.isinf(value) or pair is None else top.above - value
        if is_known(divergence) and unequal_pair(mechanism, mask) is None:
            value, rounding = 0.0, 0.0
        elif divergence == TOTAL_VARIATION:
            # Rows of an array need not sum to 1 exactly.
            whole = isinstance(mechanism, Mechanism) or all(
                sum(map(Fraction, row)) == 1 for row in matrix.tolist()
            )
            exact = largest_mass(mechanism, top, mask) if whole else None
            if exact is not None:
                (value, rounding), pair = round_down(exact[0], exact[0]), exact[1] or pair
        most = 1.0 if divergence in (TOTAL_VARIATION, HELLINGER) else math.inf
        return Finding(self, min(value, most), rounding, Witness(pair), most=most)

    @final
    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        name = self._divergence[0].name
        if math.isinf(value):
            return f"The {name} of what {pair_name(self.relation)} report has no bound."
        return f"The {name} of what {pair_name(self.relation)} report is at most {at_most(value)}."


@final
@dataclass(frozen=True, slots=True)
class DivergencePrivacy(OfRelatedRows):
    """Privacy by a divergence: the least epsilon with D(p(.|s) || p(.|s')) <= epsilon for related (s, s').

    Each ordered pair of the relation counts; on a symmetric relation this is the definition, which needs both
    orders. Raises `InputError` if the divergence has its own notion, or the precision is negative.

    Attributes:
        divergence: D; for the max divergence use `DifferentialPrivacy`, for the hockey-stick divergence
            `DeltaOfDifferentialPrivacy`.
        precision: For a custom divergence: its computed value is off by at most ``precision * (1 + value)``.
            Without it `Finding.upper` is ``inf``. The divergences of this package need none.
    """

    description = Description(
        "divergence-privacy",
        "divergence privacy",
        question="How far apart are reports of two secrets, by total variation, chi-square or Hellinger?",
        promise="the {divergence} between the reports of {about} is at most {epsilon}",
        source="Barthe and Olmedo, ICALP 2013; Kawamoto and Murakami, definition 14",
        context=("divergence", "relation"),
        essentials=("divergence",),
    )

    divergence: Divergence
    relation: Relation | None = None
    precision: float = math.inf

    def __post_init__(self) -> None:
        if isinstance(self.divergence, HockeyStick):
            raise InputError(
                "the hockey-stick divergence of related secrets is the delta of differential privacy.",
                "use DeltaOfDifferentialPrivacy(epsilon, relation).",
            )
        check_divergence(self.divergence, self.precision)

    @property
    def _divergence(self) -> tuple[Divergence, float]:
        return self.divergence, self.precision


@final
@dataclass(frozen=True, slots=True)
class DivergenceMetricPrivacy(ByMetric):
    """Metric privacy by a divergence: the least epsilon with D(p(.|s) || p(.|s')) <= epsilon d(s, s').

    Pairs at infinite distance need no protection; distinct secrets at distance zero must be at divergence zero, or
    no epsilon is enough. Divergence and precision are as for `DivergencePrivacy`. Raises `InputError` if the
    divergence has its own notion, or the precision is negative.
    """

    description = Description(
        "divergence-metric-privacy",
        "divergence privacy for a metric",
        question="How far for each unit of distance?",
        promise="the {divergence} between the reports of {about} is at most {epsilon} per unit of distance{unit}",
        source="Kawamoto and Murakami, definition 15",
        context=("divergence", "metric"),
        essentials=("divergence", "metric"),
    )

    divergence: Divergence
    metric: Metric
    precision: float = math.inf

    def __post_init__(self) -> None:
        check_divergence(self.divergence, self.precision)

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix = channel(mechanism).matrix
        metric, hint = self.metric, "use a metric on the mechanism's secrets."
        check_size("the metric is on", len(metric), len(matrix), hint)

        def values(s: Positions, t: Positions) -> Floats:
            return self.divergence.rows(matrix[s], matrix[t])

        def errors(computed: Floats) -> Floats:
            return errors_of(self.divergence, computed, matrix, self.precision)

        together = same_place(metric)
        near = search(together, values)
        if near.value > errors(np.asarray(near.value)):
            return Finding(self, math.inf, 0.0, self.witness(Witness(near.pair)))
        # Unequal rows with a divergence within rounding of 0.
        open_ = unequal_pair(mechanism, together) is not None
        mask = protected_pairs(metric)
        scales = Scales.distances(metric.array, mask)
        limits = divergence_limits(self.divergence, matrix)

        def rates(s: Positions, t: Positions) -> Floats:
            with np.errstate(over="ignore"):
                return np.asarray(values(s, t) / scales.of(s, t))

        def rate_errors(computed: Floats, s: Positions, t: Positions) -> Floats:
            distances = scales.of(s, t)
            with np.errstate(over="ignore"):
                return np.asarray(errors(computed * distances) / distances)

        top = search(mask, rates, None if limits is None else scales.over(limits), rate_errors)
        off = 0.0 if math.isinf(top.value) else top.above - top.value + 2.0**-51 * top.value
        rounding = math.inf if open_ else off
        return Finding(self, top.value, rounding, self.witness(Witness(top.pair)))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if self.vacuous:
            return self.far_pairs_note
        per = f" per {self.metric.unit}" if self.metric.unit else ""
        return (
            f"The {self.divergence.name} of what two secrets report is at most {at_most(value)}{per} times "
            f"their distance ({name_phrase(self.metric.name)}).{self.notes()}"
        )


@final
@dataclass(frozen=True, slots=True)
class KLPrivacy(OfRelatedRows):
    """Kullback-Leibler privacy: the expected privacy loss of related secrets is at most epsilon nats.

    sum over o of p(o|s) ln(p(o|s) / p(o|s')) <= epsilon for all related (s, s')
    """

    description = Description(
        "kl-privacy",
        "KL privacy",
        question="How large is the privacy loss on average?",
        promise="the expected privacy loss between {about} is at most {epsilon}",
        source="Cuff and Yu, CCS 2016; Desfontaines, 2.2.2",
        context=("relation",),
    )

    relation: Relation | None = None

    @property
    def _divergence(self) -> tuple[Divergence, float]:
        return KL, math.inf


@final
@dataclass(frozen=True, slots=True)
class RenyiPrivacy(OfRelatedRows):
    """Rényi differential privacy of one order: D_order(p(.|s) || p(.|s')) <= epsilon for related (s, s').

    Raises `InputError` if the order is not positive.

    Attributes:
        order: Above 0; 1 is Kullback-Leibler and ``inf`` differential privacy.
    """

    description = Description(
        "renyi-privacy",
        "Rényi privacy",
        ("epsilon", "order"),
        question="How large is the exponential mean of the privacy loss, of a given order?",
        promise="the Rényi divergence of order {order} between the reports of {about} is at most {epsilon}",
        source="Mironov, CSF 2017, definition 4",
        context=("relation",),
    )

    order: float
    relation: Relation | None = None

    def __post_init__(self) -> None:
        Renyi(self.order)

    @property
    def _divergence(self) -> tuple[Divergence, float]:
        return Renyi(self.order), math.inf
