"""Differential privacy of a relation between secrets: the least epsilon, and the least delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from ...core import Metric, Space, hamming
from ...core.arrays import Floats
from ...divergences import MaxDivergence, max_divergence
from ...rounding import at_most, factor_at_most, log_error, log_errors, mass_error
from ..exact import largest_factor, largest_mass, round_down
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, related, related_rows
from ..rows import AnyMechanism, check_delta, check_epsilon, scale_by_exp, unequal_pair
from ..search import ratio_limits, search
from .least_epsilon import Scales, largest_excess, least_epsilon


@final
@dataclass(frozen=True, slots=True)
class DifferentialPrivacy(Notion):
    """(epsilon, delta)-differential privacy: the least epsilon at a given delta.

    p[R | s] <= e**epsilon p[R | s'] + delta for all related (s, s') and all sets R of observables

    Each ordered pair of the relation counts. Epsilon is the largest (approximate) max divergence, or 0, by exact
    inversion of profiles. Where delta equals, up to rounding, the mass at which epsilon jumps, `Finding.upper` is
    on the far side of the jump. Raises `InputError` if delta is not between 0 and 1.

    Example:
        >>> coin = [[0.75, 0.25], [0.25, 0.75]]
        >>> DifferentialPrivacy().measure(coin)
        Differential privacy: epsilon 1.09861

    Source:
        Dwork and Roth, definition 2.4; Kawamoto and Murakami, definition 3 and proposition 1.
    """

    description = Description(
        "differential-privacy",
        "differential privacy",
        ("epsilon", "delta"),
        question="By which factor, beyond delta, can any set of reports favour one secret over another?",
        promise="no set of reports is over e^{epsilon} times as likely for one of {about} as for the other{up_to}",
        source="Dwork and Roth, definition 2.4; Kawamoto and Murakami, definition 3",
        context=("relation",),
        defaults={"delta": 0.0},
    )

    relation: Relation | None = None
    delta: float = 0.0

    def __post_init__(self) -> None:
        check_delta(self.delta)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        matrix, mask = related_rows(mechanism, self.relation)
        if self.delta:
            least = least_epsilon(mechanism, mask, Scales.ones(), self.delta)
            return Finding(self, least.value, least.rounding, witness_of_pair(matrix, least.pair, self.delta))
        top = search(
            mask,
            lambda s, t: MaxDivergence().rows(matrix[s], matrix[t]),
            ratio_limits(matrix),
            lambda logs, _s, _t: log_errors(logs),
        )
        witness = witness_of_pair(matrix, top.pair, 0.0)
        if math.isfinite(top.value):
            factor = largest_factor(mechanism, top, mask)
            if factor is not None:
                return Finding.of_factor(self, factor, witness)
        value = max(0.0, top.value)
        return Finding(self, value, log_error(value), witness)

    def as_metric_privacy(self, secrets: Space) -> Metric | None:
        """Return the metric with distance 1 between any two secrets, for delta 0 and all pairs."""
        return hamming(secrets) if self.delta == 0 and self.relation is None else None

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Some report can distinguish {related(self.relation)} with certainty: no epsilon is enough."
        if self.delta:
            return _advantage(self.relation, value, self.delta)
        return (
            f"Every report is at most {factor_at_most(value)} times as likely from one as from the other "
            f"of {related(self.relation)} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class DeltaOfDifferentialPrivacy(Notion):
    """(epsilon, delta)-differential privacy: the least delta at a given epsilon.

    delta = max over related (s, s') of the sum over o of max(0, p(o|s) - e**epsilon p(o|s'))

    Raises `InputError` if epsilon is negative or NaN.

    Attributes:
        epsilon: At least 0; ``inf`` leaves the mass of reports that only one secret can make.

    Source:
        Balle, Barthe and Gaboardi, NeurIPS 2018 (privacy profile).
    """

    description = DifferentialPrivacy.description
    parameter = "delta"

    epsilon: float
    relation: Relation | None = None

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        matrix, mask = related_rows(mechanism, self.relation)
        top = largest_excess(matrix, mask, float(self.epsilon))
        value, rounding, pair = top.value, mass_error(top.value, matrix.shape[1]), top.pair
        if self.epsilon == 0 or math.isinf(self.epsilon):
            exact = largest_mass(mechanism, top, mask, alone=self.epsilon > 0)
            if exact is not None:
                (value, rounding), pair = round_down(exact[0], exact[0]), exact[1] or pair
        elif unequal_pair(mechanism, mask) is None:
            value, rounding = 0.0, 0.0
        if pair is None:
            return Finding(self, value, rounding, Witness())
        outputs = np.flatnonzero(matrix[pair[0]] > scale_by_exp(matrix[pair[1]], float(self.epsilon)))
        return Finding(self, value, rounding, Witness(pair, outputs))

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(self.epsilon):
            return (
                f"Reports that one of {related(self.relation)} makes and the other never does have together a "
                f"probability of at most {at_most(value)} (delta {at_most(value)})."
            )
        return _advantage(self.relation, self.epsilon, value)


def _advantage(relation: Relation | None, epsilon: float, delta: float) -> str:
    """Return the guarantee in words: delta is what any set of reports gains beyond the factor."""
    return (
        f"The probability of any set of reports from one of {related(relation)} is at most "
        f"{factor_at_most(epsilon)} times that from the other, plus {at_most(delta)} "
        f"(epsilon {at_most(epsilon)}, delta {at_most(delta)})."
    )


def witness_of_pair(matrix: Floats, pair: tuple[int, int] | None, delta: float) -> Witness:
    """Return the pair with the set of reports that attains its (approximate) max divergence."""
    if pair is None:
        return Witness()
    return Witness(pair, max_divergence(matrix[pair[0]], matrix[pair[1]], delta).outputs)
