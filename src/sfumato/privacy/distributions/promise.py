"""Guarantees for distributions of secrets: from privacy of single secrets, by composition and post-processing.

All proofs are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core import ONE_WORD, TWO_WORDS, Mechanism, Metric, MetricPrivacy, Space
from ...core.arrays import Floats
from ...divergences import HELLINGER, TOTAL_VARIATION, Divergence, FDivergence, HockeyStick
from ...errors import InputError
from ...intervals import exact, upper_end
from ...rounding import at_most
from ..notion import Finding, Notion
from ..point.differential import DifferentialPrivacy
from ..relation import Relation
from ..rows import check_delta
from .distribution import DistributionPrivacy, MetricDistributionPrivacy
from .distribution_divergence import (
    DivergenceDistributionPrivacy,
    DivergenceMetricDistributionPrivacy,
    jointly_convex,
    quasi_convex,
)
from .family import Family, FamilyDistance
from .family_reports import RECOMPUTE, OfFamily, not_composing, with_mass

PROOFS = "docs/proofs/distribution-privacy.md"


@dataclass(frozen=True, slots=True)
class Reason:
    """The reason why a promise holds.

    Attributes:
        theorem: The name of the step.
        form: Its statement, with its numbers.
        source: The publication.
        proof: The project's proof; empty for a measurement.
    """

    theorem: str
    form: str
    source: str
    proof: str = ""

    def __str__(self) -> str:
        where = f"; proof: {self.proof}" if self.proof else ""
        return f"{self.theorem}: {self.form} ({self.source}{where})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Promise:
    """A guarantee: a mechanism satisfies a notion at a value, for the reasons given.

    Raises `InputError` if the value is negative, NaN or infinite.

    Attributes:
        notion: The notion, with its family, delta, distance or divergence.
        value: The value of its parameter, rounded to the safe side.
        reasons: The steps that led here, in order.
        everywhere: Whether it is known for all pairs of distributions in the lifting (or at finite distance), not
            only for those of the family.
    """

    notion: Notion
    value: float
    reasons: tuple[Reason, ...]
    everywhere: bool = False

    def __post_init__(self) -> None:
        if not (self.value >= 0 and math.isfinite(self.value)):
            raise InputError(
                f"a guarantee of {self.notion.parameter} {self.value} was made.",
                "an infinite value guarantees nothing; a finite one of at least 0 is needed.",
            )

    @classmethod
    def of(cls, finding: Finding) -> Promise:
        """Return the guarantee of a finding: its value, rounded up.

        Raises `InputError` if the finding is infinite.
        """
        notion, upper = finding.notion, finding.upper
        reason = Reason("measurement", f"{notion.parameter} {at_most(upper, 9)}", notion.description.source)
        return cls(notion, upper, (reason,))

    @property
    def sentence(self) -> str:
        """The guarantee in words."""
        return self.notion.sentence(self.value)

    def __repr__(self) -> str:
        value = at_most(self.value, 6)
        return f"{self.notion.heading}: {self.notion.parameter} at most {value}, by {self.reasons[-1].theorem}"


_SOURCE = "Kawamoto and Murakami, section V"


def cite(theorem: str, form: str, anchor: str, source: str = _SOURCE) -> Reason:
    """Return a step with its proof in the project's page."""
    return Reason(theorem, form, source, f"{PROOFS}#{anchor}")


def lifted_differential_privacy(epsilon: float, family: Family, delta: float = 0.0) -> Promise:
    """Return the guarantee that differential privacy for a relation gives the family lifted from it.

    (epsilon, delta)-DP for Phi implies (epsilon, delta)-DistP for the lifting of Phi

    The published bound multiplies delta by the size of Phi; that factor is unnecessary. The mass that couplings
    leave outside the relation is added to delta. Raises `InputError` if the family was not lifted from a relation.

    Example:
        >>> near = Relation(np.abs(np.subtract.outer(range(3), range(3))) == 1, "neighbours")
        >>> groups = Family.lift({"low": [0.5, 0.5, 0.0], "high": [0.0, 0.5, 0.5]}, near)
        >>> lifted_differential_privacy(0.5, groups, delta=0.01).notion.delta
        0.01

    Source:
        Kawamoto and Murakami, section V (with the factor); tight form proved here.
    """
    check_delta(delta)
    family.require_relation()
    total = with_mass(delta, float(family.outside.max()))
    numbers = f"({at_most(epsilon, 9)}, {at_most(total, 9)})"
    form = f"(epsilon, delta) for the relation gives (epsilon, delta) for its lifting: {numbers}"
    reason = cite("lifting of differential privacy", form, "differential-privacy")
    return Promise(DistributionPrivacy(family, total), epsilon, (reason,), everywhere=True)


def lifted_metric_privacy(guarantee: MetricPrivacy, family: Family, delta: float = 0.0) -> Promise:
    """Return the guarantee that metric privacy at a delta gives any family on the same secrets.

    (epsilon, delta, d)-XDP implies (epsilon, delta, W_inf,d)-XDistP

    Raises `InputError` if the metric is on other secrets.

    Source:
        Kawamoto and Murakami, section V; with delta, tight form proved here.
    """
    check_delta(delta)
    distance = FamilyDistance.wasserstein(family, guarantee.metric)
    total = with_mass(delta, float(distance.ignored.max()))
    numbers = f"({at_most(guarantee.epsilon, 9)}, {at_most(total, 9)})"
    form = f"epsilon per unit of d gives epsilon per unit of W_inf: {numbers}"
    reason = cite("lifting of metric privacy", form, "metric-privacy")
    notion = MetricDistributionPrivacy(family, distance, total)
    return Promise(notion, guarantee.epsilon, (reason,), everywhere=True)


def lifted_divergence_privacy(
    epsilon: float, divergence: Divergence, family: Family, metric: Metric | None = None
) -> Promise:
    """Return the guarantee that divergence privacy of single secrets gives a family.

    (epsilon, D)-DP for Phi implies (epsilon, D)-DistP for the lifting of Phi
    (epsilon, d, D)-XDP implies (epsilon, W_1,d, D)-XDistP

    With a metric d, epsilon counts per unit of it, and D must be jointly convex, as f-divergences are. Without one
    the family is lifted from a relation, and quasi-convexity is enough, which Rényi and max divergences have.
    Raises `InputError` if the divergence is not known to be convex enough; if the family was not lifted from a
    relation and no metric is given; or if couplings leave mass outside the relation and the divergence has no
    bound.

    Source:
        Kawamoto and Murakami, section V.
    """
    if metric is not None:
        _needs(jointly_convex(divergence), divergence, "jointly convex", "use metric privacy and W_inf instead.")
        distance = FamilyDistance.wasserstein(family, metric, 1.0)
        if distance.ignored.any():
            raise InputError(
                f"couplings move a mass of {distance.ignored.max():.3g} over an infinite distance.",
                "use a metric that is finite between the secrets of each pair.",
            )
        form = f"epsilon per unit of d gives epsilon per unit of W_1: {at_most(epsilon, 9)}"
        reason = cite("lifting of divergence metric privacy", form, "divergences")
        notion = DivergenceMetricDistributionPrivacy(family, divergence, distance)
        return Promise(notion, epsilon, (reason,), everywhere=True)
    hint = "measure the family's own divergence instead."
    _needs(quasi_convex(divergence), divergence, "jointly quasi-convex", hint)
    family.require_relation()
    value, outside = epsilon, float(family.outside.max())
    if outside > 0:
        value = upper_end(lambda: exact(epsilon) + exact(outside) * exact(_largest(divergence, outside)))
    form = f"epsilon for the relation gives epsilon for its lifting: {at_most(value, 9)}"
    reason = cite("lifting of divergence privacy", form, "divergences")
    return Promise(DivergenceDistributionPrivacy(family, divergence), value, (reason,), everywhere=True)


def privacy_of_points(promise: Promise, relation: Relation) -> Promise:
    """Return the differential privacy, for a relation, that distribution privacy of point masses is.

    The promise must hold for the whole lifting of a relation, or for the point masses of every related pair.
    Raises `InputError` if the promise does not cover some pair.

    Source:
        Kawamoto and Murakami, section V (converse).
    """
    notion = promise.notion
    if not isinstance(notion, DistributionPrivacy):
        raise InputError(f"a guarantee of {notion.title} was given.", "pass distribution privacy for a family.")
    family = notion.family
    if relation.size != family.size:
        raise InputError(
            f"the relation is on {relation.size} secrets, but the family on {family.size}.",
            "use a relation on the secrets of the family.",
        )
    known = family.lifted_from.array if promise.everywhere and family.lifted_from is not None else False
    missing = family.missing_points(Relation(relation.array & ~np.asarray(known)))
    if missing is not None:
        raise InputError(
            f"the guarantee does not cover the point masses of secrets {missing[0]} and {missing[1]}.",
            "privacy of some distributions does not protect single secrets; use Family.of_points(relation).",
        )
    reason = cite("point masses", "a point mass is a distribution: the same epsilon and delta", "points")
    return Promise(DifferentialPrivacy(relation, notion.delta), promise.value, (*promise.reasons, reason))


def _needs(holds: bool, divergence: Divergence, quality: str, hint: str) -> None:
    if not holds:
        raise InputError(f"the {divergence.name} is not known to be {quality}, so that it need not lift.", hint)


def _largest(divergence: Divergence, outside: float) -> float:
    """Return the largest value of a divergence, for mass outside the relation."""
    if divergence in (TOTAL_VARIATION, HELLINGER) or isinstance(divergence, HockeyStick):
        return 1.0
    bound = divergence.at_zero + divergence.slope if isinstance(divergence, FDivergence) else math.inf
    if math.isinf(bound):
        raise InputError(
            f"couplings leave a mass of {outside:.3g} outside the relation, where the {divergence.name} has no "
            "bound.",
            "pass tolerance=0 to Family.lift, with distributions that are exact in binary, or use a metric.",
        )
    return bound


_TABLE: Final = "Kawamoto and Murakami, table III"
_POINTS: Final = cite(
    "point masses", "what holds for the point masses of all related pairs holds for the lifting", "points"
)


def same_input(first: Promise, second: Promise) -> Promise:
    """Return the joint guarantee of two reports about one secret; the second may read the first report.

    (epsilon, delta) add up: for distribution privacy of a whole lifting, for metric distribution privacy with
    W_inf, and for divergences that add. The second promise must hold for each report of the first mechanism that
    its mechanism may read.

    For an arbitrary set of pairs this is false, and refused: two reports that each hide a pair of distributions
    perfectly can reveal it together. The promise must be known for every pair in the lifting, as it is when it
    covers the point masses. Raises `InputError` if a promise is not known for a whole lifting, the promises are
    not about the same relation, pairs, distance and divergence, or their notion does not compose.

    Source:
        Kawamoto and Murakami, table III, without its factor on delta.
    """
    known = []
    for promise in (first, second):
        whole = known_everywhere(promise)
        if whole is None:
            raise InputError(
                f"{promise!r} is known for the pairs of its family only. Reports about the same secret can reveal "
                "together what each one hides: of the secrets 00, 01, 10, 11, one report per bit hides equal bits "
                "from unequal bits, and both reports distinguish them.",
                f"{RECOMPUTE} Guarantees that come from single secrets (lifted_differential_privacy and its like) "
                "do compose.",
            )
        known.append(whole)
    grounds = [member.notion.ground if isinstance(member.notion, OfFamily) else None for member in known]
    if grounds[0] is None or grounds[1] is None or not np.array_equal(grounds[0], grounds[1]):
        raise InputError(
            "the guarantees are known for liftings of different relations or metrics on the secrets, so both "
            "reports together may distinguish secrets that one guarantee does not cover.",
            f"use the same relation or metric for both; or {RECOMPUTE}",
        )
    notion, value = _combine_notions(*known)
    reason = cite("two reports about one secret", _total(notion, value), "same-input", _TABLE)
    return Promise(notion, value, (*known[0].reasons, *known[1].reasons, reason), everywhere=True)


def independent_inputs(first: Promise, second: Promise) -> Promise:
    """Return the joint guarantee of two reports about two independent secrets of the same distribution.

    Both secrets are drawn from lam, or both from mu. (epsilon, delta) add up for any pairs of distributions.
    Raises `InputError` if the promises are about different pairs, distances or divergences, or do not compose.

    Source:
        Kawamoto and Murakami, table III.
    """
    notion, value = _combine_notions(first, second)
    reason = cite("reports about independent secrets", _total(notion, value), "independent-inputs", _TABLE)
    return Promise(notion, value, (*first.reasons, *second.reasons, reason))


def post_process(promise: Promise) -> Promise:
    """Return the same guarantee after any further processing of reports that does not see the secret.

    Raises `InputError` if the promise is about no family, or its notion is not known to survive post-processing,
    as probabilistic distribution privacy.

    Source:
        Kawamoto and Murakami, table III.
    """
    notion = promise.notion
    if not isinstance(notion, OfFamily):
        raise InputError(f"a guarantee of {notion.title} was given.", "pass one about a family of distributions.")
    notion.check_processing()
    reason = cite("post-processing", "the same values", "post-processing", _TABLE)
    return Promise(notion, promise.value, (*promise.reasons, reason), promise.everywhere)


def known_everywhere(promise: Promise) -> Promise | None:
    """Return a promise for the whole lifting of a relation, or all pairs at finite distance, or None.

    A promise that covers the point masses of every related pair is one.
    """
    notion = promise.notion
    if promise.everywhere:
        return promise
    whole = notion.of_lifting() if isinstance(notion, OfFamily) else None
    return None if whole is None else Promise(whole, promise.value, (*promise.reasons, _POINTS), everywhere=True)


def _combine_notions(first: Promise, second: Promise) -> tuple[Notion, float]:
    """Return the notion of both reports and its value, the same for either kind of input."""
    a, b = first.notion, second.notion
    if isinstance(a, OfFamily) and isinstance(b, OfFamily) and type(a) is type(b):
        return a.together(b, first.value, second.value)
    raise not_composing(a, b)


def _total(notion: Notion, value: float) -> str:
    delta = getattr(notion, "delta", 0.0)
    return f"together {notion.parameter} {at_most(value, 9)}" + (f", delta {at_most(delta, 9)}" if delta else "")


def product_channel(
    first: Mechanism | Floats, second: Mechanism | Floats | Sequence[Mechanism | Floats]
) -> Mechanism:
    """Return the mechanism that makes both reports about one secret; its observables are pairs of reports.

    p((o0, o1)|s) = p0(o0|s) p1(o1|s), or p1(o1|s, o0) where the second reads the first report

    It is exact where both have 62 bits: the products of the integers are the integers of the product. Otherwise
    the products are rounded to integers as in `Mechanism`. The second mechanism may be a sequence with one for
    each report of the first. Raises `InputError` if the numbers of secrets, or of reports and second mechanisms,
    differ; or the secrets are the same in another order.

    Example:
        >>> import numpy as np
        >>> bits = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]
        >>> product_channel(*bits).shape
        (4, 4)
    """
    head = first if isinstance(first, Mechanism) else Mechanism(first)
    listed = list(second) if not isinstance(second, Mechanism | np.ndarray) else [second] * head.shape[1]
    tails = [other if isinstance(other, Mechanism) else Mechanism(other) for other in listed]
    if len(tails) != head.shape[1] or len({other.shape for other in tails}) != 1:
        raise InputError(
            f"{len(tails)} second mechanisms were given for {head.shape[1]} reports of the first.",
            "pass one for each report, all with the same secrets and observables.",
        )
    if tails[0].shape[0] != head.shape[0]:
        raise InputError(
            f"the first mechanism has {head.shape[0]} secrets and the second {tails[0].shape[0]}.",
            "both report about the same secret.",
        )
    for other in tails:
        head.secrets.check_order(other.secrets, "the second mechanism")
    pairs = Space(
        [(a, b) for a, other in zip(head.observables.labels, tails, strict=True) for b in other.observables.labels]
    )
    if {head.bits, *(other.bits for other in tails)} == {ONE_WORD}:
        exactly = [
            head.weights[:, [o]].astype(object) * other.weights.astype(object) << (TWO_WORDS - 2 * ONE_WORD)
            for o, other in enumerate(tails)
        ]
        return Mechanism.from_weights(np.hstack(exactly), TWO_WORDS, head.secrets, pairs)
    floats = [head.matrix[:, [o]] * other.matrix for o, other in enumerate(tails)]
    return Mechanism(np.hstack(floats), head.secrets, pairs)
