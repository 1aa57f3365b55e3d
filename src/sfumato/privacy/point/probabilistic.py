"""Probabilistic differential privacy: likelihood ratios are bounded outside a set of small probability."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...rounding import at_least, at_most, factor_at_most, float_above, float_below
from ...rounding.errors import mass_error
from ..exact import Pair, integer_rows
from ..notion import Description, Finding, Notion, Witness
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, Mask, channel, check_delta, check_epsilon, largest
from .last_step import last_step, log_error, log_sizes

_LARGEST: Final = sys.float_info.max  # every finite logarithm is below


DESCRIPTION: Final = Description(
    "probabilistic-differential-privacy",
    "probabilistic differential privacy",
    ("epsilon", "delta"),
    question=(
        "By which factor can any report favour one secret over another, apart from reports with a total "
        "probability of delta?"
    ),
    promise=(
        "apart from reports that together have a probability of at most {delta}, no report is more than "
        "e^{epsilon} times as likely for one of {about} as for the other"
    ),
    source="Machanavajjhala et al., ICDE 2008; Kawamoto and Murakami, section II",
    context=("relation",),
    defaults={"delta": 0.0},
)


@final
@dataclass(frozen=True, slots=True)
class ProbabilisticDifferentialPrivacy(Notion):
    """Probabilistic (epsilon, delta)-differential privacy: the least epsilon, at a given delta.

    For all related s, s' the set V of observables with |ln(p(o|s) / p(o|s'))| > epsilon has
    p[V | s] <= delta and p[V | s'] <= delta.

    V is the least set that may be left out, so that this is the definition. The definition
    looks at both orders of a pair whatever the relation says. As epsilon grows V shrinks
    in steps: the least epsilon is one of the logarithms, or 0.

    Attributes:
        delta: The probability of the set that is left out, from 0 to 1.
        relation: The pairs that must look alike; all pairs if None.

    Raises:
        InputError: If delta is not between 0 and 1.

    Example:
        >>> rows = [[0.5, 0.4, 0.1], [0.25, 0.74, 0.01]]
        >>> round(ProbabilisticDifferentialPrivacy(delta=0.1).measure(rows).value, 6)
        0.693147

    Source:
        Machanavajjhala et al., ICDE 2008; Kawamoto and Murakami, section II.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "epsilon"

    delta: float
    relation: Relation | None = None

    def __post_init__(self) -> None:
        check_delta(self.delta)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon; the witness is the pair with the set V just below it."""
        matrix = channel(mechanism).matrix
        array = relation_on(self.relation, len(matrix)).array
        lower, value, upper, pair = last_step(mechanism, array, self.delta)
        if pair is None:
            return Finding(self, 0.0, upper, Witness())
        outputs = np.flatnonzero(log_sizes(matrix[pair[0]], matrix[pair[1]]) >= value - log_error(matrix))
        if math.isinf(value):
            rounding = 0.0 if math.isinf(lower) else math.inf
        else:
            rounding = max(upper - value, value - lower)
        return Finding(self, value, rounding, Witness(pair, outputs))

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return (
                f"Reports that only one of {related(self.relation)} can make have a probability above "
                f"{at_least(self.delta)}: no epsilon is enough."
            )
        rest = (
            f", apart from reports that together have a probability of at most {at_most(self.delta)}"
            if self.delta
            else ""
        )
        return (
            f"No report is more than {factor_at_most(value)} times likelier from one than from the other of "
            f"{related(self.relation)}{rest} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class DeltaOfProbabilisticDifferentialPrivacy(Notion):
    """Probabilistic (epsilon, delta)-differential privacy: the least delta, at a given epsilon.

    delta = max over related s, s' of p[V | s], with V where |ln(p(o|s) / p(o|s'))| > epsilon

    Delta falls in steps as epsilon grows. Where epsilon equals a likelihood ratio up to
    rounding, `Finding.upper` counts the observable, and `Finding.value` may not.

    Attributes:
        epsilon: At least 0; ``inf`` leaves the mass of what only one secret can report.
        relation: The pairs that must look alike, each in both orders; all pairs if None.

    Raises:
        InputError: If epsilon is negative or NaN.

    Source:
        Machanavajjhala et al., ICDE 2008; Kawamoto and Murakami, section II.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "delta"
    on_request: ClassVar[bool] = True

    epsilon: float
    relation: Relation | None = None

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least delta; the witness is the pair with its set V."""
        matrix = channel(mechanism).matrix
        array = relation_on(self.relation, len(matrix)).array
        error, epsilon = log_error(matrix), min(self.epsilon, _LARGEST)
        exact = _exact_masses(mechanism, array, epsilon, error)
        if exact is not None:
            least, most, pair = exact
            value = float_below(least)
            rounding = float_above(most - Fraction(value))
        else:
            masses = [_masses_beyond(matrix, array, epsilon + shift) for shift in (0.0, -error, error)]
            (value, pair), (above, _), (below, _) = (largest(mass, np.triu(array | array.T)) for mass in masses)
            rounding = max(above - value, value - below) + mass_error(above, matrix.shape[1])
        outputs = np.empty(0, dtype=np.intp)
        if pair is not None:
            outputs = np.flatnonzero(log_sizes(matrix[pair[0]], matrix[pair[1]]) > epsilon)
        return Finding(self, value, rounding, Witness(pair, outputs))

    def sentence(self, value: float) -> str:
        """Return what the delta promises."""
        if math.isinf(self.epsilon):
            return (
                f"Reports that only one of {related(self.relation)} can make have together a probability of at "
                f"most {at_most(value)}."
            )
        return (
            f"A report that is more than {factor_at_most(self.epsilon)} times likelier from one than from the "
            f"other of {related(self.relation)} comes with probability at most {at_most(value)}."
        )


def _masses_beyond(matrix: Floats, array: Mask, epsilon: float) -> Floats:
    """Return max(p[V], q[V]) of the unordered pairs, in the upper triangle of an array (n, n)."""
    unordered = np.triu(array | array.T)
    answer = np.zeros(unordered.shape)
    for s in np.flatnonzero(unordered.any(axis=1)):
        targets = np.flatnonzero(unordered[s])
        others = matrix[targets]
        beyond = log_sizes(matrix[s], others) > epsilon
        answer[s, targets] = np.maximum(beyond @ matrix[s], (beyond * others).sum(axis=1))
    return answer


def _exact_masses(
    mechanism: AnyMechanism, array: Mask, epsilon: float, error: float
) -> tuple[Fraction, Fraction, Pair] | None:
    """Return bounds of the largest max(p[V], q[V]) of the related pairs, the same if exact, and the first pair.

    Args:
        mechanism: A mechanism or array.
        array: The relation, array (n, n).
        epsilon: V are the reports with |ln(p/q)| above it.
        error: How far computed logarithms may be off; not asked at epsilon 0, where V are the reports that differ.

    Returns:
        None where it would take too long.
    """
    rows, matrix, pairs = integer_rows(mechanism), channel(mechanism).matrix, np.argwhere(np.triu(array | array.T))
    if rows is None or not rows.holds(2 * len(pairs)):
        return None
    best: list[int] = [0, 0]
    attains: list[Pair] = [None, None]
    for block, p, q in rows.blocks(pairs):
        sizes = log_sizes(matrix[block[:, 0]], matrix[block[:, 1]])
        for side, shift in enumerate((error, -error)):
            beyond = p != q if epsilon == 0 else sizes > epsilon + shift
            found = np.maximum(np.where(beyond, p, 0).sum(axis=1), np.where(beyond, q, 0).sum(axis=1))
            k = int(found.argmax())
            if found[k] > best[side]:
                best[side], attains[side] = int(found[k]), (int(block[k, 0]), int(block[k, 1]))
    return Fraction(best[0], rows.unit), Fraction(best[1], rows.unit), attains[0] or attains[1]
