"""Probabilistic differential privacy: likelihood ratios are bounded outside a set of small probability."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, NamedTuple, final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError
from ...rounding import at_least, at_most, factor_at_most
from ...rounding.errors import log_errors, mass_error
from ..exact import largest_of_pairs, least_step
from ..limits import ratio_limits
from ..notion import Description, Finding, Notion
from ..relation import Relation, related, relation_on
from ..rows import AnyMechanism, Mask, channel, check_delta, check_epsilon, largest, span
from ..witness import Witness

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
        slack = mass_error(1.0, matrix.shape[1]) if self.delta else 0.0
        steps = _last_steps(matrix, array, (self.delta, max(0.0, self.delta - slack), self.delta + slack))
        value, above, below = (step.epsilon for step in steps)
        pair, error = steps[0].pair, _log_error(matrix)
        if above > below:  # delta is so near to a step that rounding decides: integers do
            allowed = Fraction(self.delta)
            pairs = np.argwhere(np.triu(array | array.T))
            exact = largest_of_pairs(mechanism, pairs, lambda p, q, unit: least_step(p, q, unit, allowed))
            if exact is not None:
                (below, above, pair), error = exact, 0.0
                value = below
        if pair is None:
            return Finding(self, 0.0, above + error, Witness())
        sizes = _sizes(matrix[pair[0]], matrix[pair[1]])
        outputs = np.flatnonzero(sizes >= value)
        if math.isinf(value):
            rounding = 0.0 if math.isinf(below) else math.inf
        else:
            rounding = max(above - value, value - below) + error
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
        error, epsilon = _log_error(matrix), min(self.epsilon, _LARGEST)
        masses = [_masses_beyond(matrix, array, epsilon + shift) for shift in (0.0, -error, error)]
        (value, pair), (above, _), (below, _) = (largest(mass, np.triu(array | array.T)) for mass in masses)
        outputs = np.empty(0, dtype=np.intp)
        if pair is not None:
            outputs = np.flatnonzero(_sizes(matrix[pair[0]], matrix[pair[1]]) > epsilon)
        rounding = max(above - value, value - below) + mass_error(above, matrix.shape[1])
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


def differential_from_probabilistic(epsilon: float, delta: float) -> tuple[float, float]:
    """Return the differential privacy that probabilistic differential privacy implies: the same numbers.

    The converse is false; `probabilistic_from_differential` says what is left of it.

    Args:
        epsilon: At least 0.
        delta: From 0 to 1.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    return epsilon, delta


def probabilistic_from_differential(
    epsilon: float, delta: float, target: float | None = None
) -> tuple[float, float]:
    """Return a probabilistic differential privacy that differential privacy implies.

    (epsilon, delta) in both orders implies (target, delta') with

    delta' = delta (1 + e**-target) / (1 - e**(epsilon - target)),

    for every target above epsilon, and no smaller delta' will do. The lemma of
    Kasiviswanathan and Smith, 2 delta / (1 - e**-epsilon) at target 2 epsilon, is weaker.

    Args:
        epsilon: At least 0.
        delta: From 0 to 1.
        target: The epsilon of the answer, above ``epsilon``; twice as large by default.

    Returns:
        The target and delta', rounded up and at most 1.

    Raises:
        InputError: If the target is not above epsilon while delta is positive.

    Source:
        Kasiviswanathan and Smith, Journal of Privacy and Confidentiality 6(1), 2014,
        lemma 3.3; the constant is proved in docs/proofs/rounding-of-notions.md.
    """
    check_epsilon(epsilon)
    check_delta(delta)
    goal = 2 * epsilon if target is None else target
    if delta == 0 and goal >= epsilon:
        return goal, 0.0
    if not goal > epsilon:
        raise InputError(
            f"the target {goal:g} is not above epsilon {epsilon:g}.", "pass a larger target, such as epsilon + 1."
        )
    share = -math.expm1(epsilon - goal)
    return goal, min(1.0, delta * (1 + math.exp(-goal)) / share * (1 + 2.0**-48))


class _Step(NamedTuple):
    """The least epsilon at one delta, and the pair that needs it."""

    epsilon: float
    pair: tuple[int, int] | None

    def or_first(self, other: _Step) -> _Step:
        """Return the larger of two steps, of equal ones above 0 the one whose pair is first."""
        larger = other.epsilon > self.epsilon
        before = other.pair is not None and self.pair is not None and other.pair < self.pair
        return other if larger or (other.epsilon == self.epsilon and before) else self


def _sizes(p: Floats, q: Floats) -> Floats:
    """Return |ln(p/q)| along the last axis: -inf where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(np.log(p) - np.log(q))
    sizes[np.isnan(sizes)] = -np.inf
    return np.asarray(sizes)


def _masses_beyond(matrix: Floats, array: Mask, epsilon: float) -> Floats:
    """Return max(p[V], q[V]) of the unordered pairs, in the upper triangle of an array (n, n)."""
    unordered = np.triu(array | array.T)
    answer = np.zeros(unordered.shape)
    for s in np.flatnonzero(unordered.any(axis=1)):
        targets = np.flatnonzero(unordered[s])
        others = matrix[targets]
        beyond = _sizes(matrix[s], others) > epsilon
        answer[s, targets] = np.maximum(beyond @ matrix[s], (beyond * others).sum(axis=1))
    return answer


def _log_error(matrix: Floats) -> float:
    """Return the most by which a computed |ln(p/q)| may be off."""
    return 2 * float(log_errors(np.array([span(matrix)]))[0])


def _last_steps(matrix: Floats, array: Mask, deltas: tuple[float, ...]) -> list[_Step]:
    """Return the least epsilon of the related pairs for each delta.

    In falling order of |ln(p/q)|, the first observable whose inclusion brings either mass
    above delta is the one that epsilon must cover. No row needs more than its largest
    |ln(p/q)|, so those come first whose is largest.
    """
    unordered = np.triu(array | array.T)
    best = [_Step(0.0, None) for _ in deltas]
    one, other = ratio_limits(matrix).of_rows, ratio_limits(matrix, turned=True).of_rows
    limits = np.full(len(matrix), np.inf) if one is None or other is None else np.maximum(one, other)
    for s in np.argsort(-limits, kind="stable"):
        if limits[s] < min(step.epsilon for step in best):
            break
        targets = np.flatnonzero(unordered[s])
        if not len(targets):
            continue
        sizes = _sizes(matrix[s], matrix[targets])
        order = np.argsort(-sizes, axis=1)
        sizes = np.take_along_axis(sizes, order, axis=1)
        first = np.cumsum(matrix[s][order], axis=1)
        second = np.cumsum(np.take_along_axis(matrix[targets], order, axis=1), axis=1)
        masses = np.maximum(first, second)
        for k, delta in enumerate(deltas):
            exceeds = masses > delta
            needed = np.where(exceeds.any(axis=1), sizes[np.arange(len(targets)), exceeds.argmax(axis=1)], 0.0)
            j = int(needed.argmax())
            best[k] = best[k].or_first(_Step(float(needed[j]), (int(s), int(targets[j]))))
    return best
