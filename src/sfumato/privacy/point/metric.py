"""Metric privacy: the least epsilon per unit of distance at a delta."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final, final

import numpy as np

from ...core import Metric, Space
from ...core.arrays import Floats, Positions
from ...core.naming import DIRECTION, name_phrase
from ...divergences import HockeyStick
from ...rounding import amount, at_most, factor_at_most, log_errors, mass_error
from ..exact import largest_factor, largest_mass, largest_rate
from ..notion import Description, Finding, Notion, Witness
from ..rows import AnyMechanism, Mask, channel, check_size, unequal_pair
from ..search import search
from .differential import witness_of_pair
from .least_epsilon import Scales, largest_ratio, least_epsilon

NO_PAIR: Final = "No pair of {} is at a finite distance, so no pair is covered."
"""Sentence of an epsilon per distance where all distances are infinite."""
FAR_PAIRS: Final = "Pairs at an infinite distance are not covered."
"""Sentence where some distances are infinite."""


class ByMetric(Notion):
    """A notion whose epsilon counts per distance of secrets, without pairs at an infinite distance."""

    __slots__ = ()

    metric: Metric

    @final
    @property
    def unit(self) -> str:
        """The unit of the metric."""
        return self.metric.unit

    @final
    @property
    def far_pairs_note(self) -> str:
        """Sentence on secrets at an infinite distance, which the value does not cover."""
        if self.vacuous:
            return NO_PAIR.format("secrets")
        return "" if np.isfinite(self.metric.array).all() else FAR_PAIRS

    @final
    def notes(self) -> str:
        """Return the sentences that follow a finite value, each after a space."""
        notes = (self.far_pairs_note, "" if self.metric.symmetric else DIRECTION)
        return "".join(f" {note}" for note in notes if note)

    @final
    def witness(self, witness: Witness) -> Witness:
        """Return a witness with the distance from its first secret to the second, where the direction counts."""
        if self.metric.symmetric or witness.pair is None:
            return witness
        distance = amount(float(self.metric.array[witness.pair]), self.unit)
        return replace(witness, note=f"{distance} from the first to the second")

    @final
    @property
    def vacuous(self) -> bool:
        """Whether no two secrets are at a finite distance."""
        return bool(np.isfinite(self.metric.array).sum() == len(self.metric))


@final
@dataclass(frozen=True, slots=True)
class MetricDifferentialPrivacy(ByMetric):
    """Metric privacy (XDP) of a mechanism: the least epsilon per unit of the metric at a given delta.

    p[R | s] <= e**(epsilon d(s, s')) p[R | s'] + delta for all s, s' and all sets R of observables

    Of a metric that is not symmetric, d(s, s') is the distance from s to s', and the pair of a witness is (s, s').
    Pairs at infinite distance need no protection. Distinct secrets at distance zero must have equal rows (with a
    delta: rows whose total variation is at most delta), or no epsilon is enough. With delta 0 this is the property
    that `MetricPrivacy` requires of a design. Raises `InputError` if delta is not between 0 and 1.

    Example:
        >>> from sfumato import Metric
        >>> MetricDifferentialPrivacy(Metric([[0, 2], [2, 0]], "km")).measure([[0.75, 0.25], [0.25, 0.75]])
        Metric privacy: epsilon 0.549306
    """

    description = Description(
        "metric-privacy",
        "metric privacy",
        ("epsilon", "delta"),
        question="By which factor can any set of reports favour one secret over another, per unit of distance?",
        promise=(
            "no set of reports is more than e^({epsilon} d) times as likely for one of {about} as for the "
            "other{up_to}; d is their distance{unit}"
        ),
        source="Chatzikokolakis et al., PETS 2013; Kawamoto and Murakami, definition 6",
        context=("metric", "relation"),
        essentials=("metric",),
        defaults={"delta": 0.0},
    )

    metric: Metric
    delta: float = 0.0

    def _measure(self, mechanism: AnyMechanism) -> Finding:
        matrix = channel(mechanism).matrix
        check_size("the metric is on", len(self.metric), len(matrix), "use a metric on the mechanism's secrets.")
        pair, open_ = self._at_distance_zero(mechanism, matrix)
        if pair is not None:
            return Finding(self, math.inf, 0.0, self.witness(witness_of_pair(matrix, pair, self.delta)))
        mask = protected_pairs(self.metric)
        if self.delta == 0:
            return self._pure(mechanism, matrix, mask)
        least = least_epsilon(mechanism, mask, Scales.distances(self.metric.array, mask), self.delta)
        rounding = math.inf if open_ else least.rounding
        return Finding(self, least.value, rounding, self.witness(witness_of_pair(matrix, least.pair, self.delta)))

    def _pure(self, mechanism: AnyMechanism, matrix: Floats, mask: Mask) -> Finding:
        """Return the largest log-ratio per unit of the pairs in a mask."""
        scales = Scales.distances(self.metric.array, mask)

        def errors(rates: Floats, s: Positions, t: Positions) -> Floats:
            distances = scales.of(s, t)
            with np.errstate(over="ignore"):  # an error beyond all floats is infinite: nothing is known
                return np.asarray(log_errors(rates * distances) / distances + 2.0**-50 * np.abs(rates))

        top = largest_ratio(matrix, mask, scales, errors)
        witness = self.witness(witness_of_pair(matrix, top.pair, 0.0))
        if math.isinf(top.value):
            return Finding(self, top.value, 0.0, witness)
        value = max(0.0, top.value)
        if scales.least == scales.most == 1:
            factor = largest_factor(mechanism, top, mask)
            if factor is not None:
                return Finding.of_factor(self, factor, witness)
        ends = largest_rate(mechanism, top, mask, scales.of)
        if ends is None:
            return Finding(self, value, max(value, top.above) - value, witness)
        return Finding(self, ends[0], ends[1] - ends[0], witness)

    def _at_distance_zero(self, mechanism: AnyMechanism, matrix: Floats) -> tuple[tuple[int, int] | None, bool]:
        """Return a pair at distance zero that differs too much, and whether rounding leaves one open."""
        together = same_place(self.metric)
        if self.delta == 0:
            return unequal_pair(mechanism, together), False
        top = search(together, lambda s, t: HockeyStick(0.0).rows(matrix[s], matrix[t]))
        error = mass_error(top.value, matrix.shape[1])
        if abs(top.value - self.delta) <= error:
            exact = largest_mass(mechanism, top, together)
            if exact is not None:
                return exact[1] if exact[0] > self.delta else None, False
        return top.pair if top.value > self.delta + error else None, top.value > self.delta - error

    def as_metric_privacy(self, _secrets: Space) -> Metric | None:
        """Return the metric, for delta 0."""
        return self.metric if self.delta == 0 else None

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return "Two secrets that must look alike can be distinguished: no epsilon is enough."
        if self.vacuous:
            return self.far_pairs_note
        unit = self.metric.unit
        per, step = (f"/{unit}", f"1 {unit}") if unit else ("", "1")
        numbers = f"(epsilon {at_most(value)}{per}, {name_phrase(self.metric.name)})"
        rest = self.notes()
        if self.delta:
            return (
                f"The probability of any set of reports from one of two secrets that are {step} apart is at most "
                f"{factor_at_most(value)} times that from the other, plus {at_most(self.delta)}; the exponent "
                f"grows with the distance {numbers}.{rest}"
            )
        return (
            f"Every report is at most {factor_at_most(value)} times as likely from one as from the other "
            f"of two secrets that are {step} apart, and the exponent grows with the distance {numbers}.{rest}"
        )


def protected_pairs(metric: Metric) -> Mask:
    """Return the pairs at positive and finite distance, array (n, n)."""
    return np.asarray((metric.array > 0) & np.isfinite(metric.array))


def same_place(metric: Metric) -> Mask:
    """Return the distinct pairs at distance zero, array (n, n)."""
    return np.asarray((metric.array == 0) & ~np.eye(len(metric), dtype=np.bool_))
