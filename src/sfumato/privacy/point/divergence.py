"""Privacy by any divergence between the rows, such as an f-divergence: for related secrets, and for a metric."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from ...core import Metric
from ...core.arrays import Floats
from ...core.naming import name_phrase
from ...divergences import Divergence, HockeyStick
from ...errors import InputError
from ...rounding import at_most
from ..limits import divergence_limits
from ..notion import Description, Finding, Notion
from ..relation import Relation
from ..rows import AnyMechanism, channel, unequal
from ..search import Positions, search
from ..witness import Witness
from .largest_divergence import check_divergence, errors_of, measured, sentence_of
from .least_epsilon import Scales
from .metric import ByMetric, metric_on, protected, same_place

DIVERGENCE: Final = Description(
    "divergence-privacy",
    "divergence privacy",
    ("epsilon",),
    question=(
        "How far apart are the reports of two secrets, by a divergence (total variation, chi-square, Hellinger)?"
    ),
    promise="the {divergence} between the reports of {about} is at most {epsilon}",
    source="Barthe and Olmedo, ICALP 2013; Kawamoto and Murakami, definition 14",
    context=("divergence", "relation"),
    required=("divergence",),
)


@final
@dataclass(frozen=True, slots=True)
class DivergencePrivacy(Notion):
    """Privacy by a divergence: the least epsilon with D(p(.|s) || p(.|s')) <= epsilon for related (s, s').

    Each ordered pair of the relation counts for itself; on a symmetric relation this is
    the definition, which asks for both orders.

    Attributes:
        divergence: D; for the max divergence use `DifferentialPrivacy`, for the hockey-stick divergence
            `DeltaOfDifferentialPrivacy`.
        relation: The pairs that must look alike; all pairs if None.
        precision: For a divergence of your own: its computed value is known to be
            off by at most ``precision * (1 + value)``. Without it
            `Finding.upper` is ``inf``. The divergences of this package need none.

    Raises:
        InputError: If the divergence has a notion of its own, or the precision is negative.

    Example:
        >>> from sfumato.divergences import TOTAL_VARIATION
        >>> DivergencePrivacy(TOTAL_VARIATION).measure([[0.75, 0.25], [0.25, 0.75]]).value
        0.5

    Source:
        Barthe and Olmedo, ICALP 2013; Kawamoto and Murakami, definition 14.
    """

    description: ClassVar[Description] = DIVERGENCE
    parameter: ClassVar[str] = "epsilon"

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

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the largest divergence of related rows, with the pair."""
        return measured(self, self.divergence, self.relation, mechanism, self.precision)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        return sentence_of(self.divergence, self.relation, value)


DIVERGENCE_METRIC: Final = Description(
    "divergence-metric-privacy",
    "divergence privacy for a metric",
    ("epsilon",),
    question="How far for each unit of distance?",
    promise="the {divergence} between the reports of {about} is at most {epsilon} per unit of distance{unit}",
    source="Kawamoto and Murakami, definition 15",
    context=("divergence", "metric"),
    required=("divergence", "metric"),
)


@final
@dataclass(frozen=True, slots=True)
class DivergenceMetricPrivacy(ByMetric):
    """Metric privacy by a divergence: the least epsilon with D(p(.|s) || p(.|s')) <= epsilon d(s, s').

    Pairs at infinite distance need no protection; distinct secrets at distance zero must
    be at divergence zero, or no epsilon is enough.

    Attributes:
        divergence: D; of the max divergence `MetricDifferentialPrivacy` takes care.
        metric: The distances, on the mechanism's secrets.
        precision: As for `DivergencePrivacy`.

    Raises:
        InputError: If the divergence has a notion of its own, or the precision is negative.

    Source:
        Kawamoto and Murakami, definition 15.
    """

    description: ClassVar[Description] = DIVERGENCE_METRIC
    parameter: ClassVar[str] = "epsilon"

    divergence: Divergence
    metric: Metric
    precision: float = math.inf

    def __post_init__(self) -> None:
        check_divergence(self.divergence, self.precision)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the largest divergence per unit of distance, with the pair."""
        matrix = channel(mechanism).matrix
        metric = metric_on(self.metric, len(matrix))

        def values(s: Positions, t: Positions) -> Floats:
            return self.divergence.rows(matrix[s], matrix[t])

        def errors(found: Floats) -> Floats:
            return errors_of(self.divergence, found, matrix, self.precision)

        together = same_place(metric)
        near = search(together, values)
        if near.value > errors(np.asarray(near.value)):
            return Finding(self, math.inf, 0.0, Witness(near.pair))
        # Unequal rows at a divergence that rounding cannot tell from 0.
        open_ = unequal(mechanism, together) is not None
        mask = protected(metric)
        scales = Scales.distances(metric.array, mask)
        limits = divergence_limits(self.divergence, matrix)

        def rates(s: Positions, t: Positions) -> Floats:
            with np.errstate(over="ignore"):
                return np.asarray(values(s, t) / scales.of(s, t))

        def rate_errors(found: Floats, s: Positions, t: Positions) -> Floats:
            distances = scales.of(s, t)
            with np.errstate(over="ignore"):
                return np.asarray(errors(found * distances) / distances)

        top = search(mask, rates, None if limits is None else scales.over(limits), rate_errors)
        off = 0.0 if math.isinf(top.value) else top.above - top.value + 2.0**-51 * top.value
        rounding = math.inf if open_ else off
        return Finding(self, top.value, rounding, Witness(top.pair))

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if self.vacuous:
            return self.unprotected
        per = f" per {self.metric.unit}" if self.metric.unit else ""
        rest = f" {self.unprotected}" if self.unprotected else ""
        return (
            f"The {self.divergence.name} of what two secrets report is at most {at_most(value)}{per} times "
            f"their distance ({name_phrase(self.metric.name)}).{rest}"
        )
