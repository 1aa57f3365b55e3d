"""Composition: distribution privacy of several reports, and of reports that are processed.

All proofs are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core import Mechanism, Space
from ...core.arrays import Floats
from ...core.weights import ONE_WORD, TWO_WORDS
from ...divergences import (
    CHI_SQUARED,
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
from ...intervals import above, exact
from ...rounding import at_most
from ..notion import Notion
from ..relation import Relation
from .distribution import DistributionPrivacy, MetricDistributionPrivacy, ProbabilisticDistributionPrivacy
from .distribution_divergence import DivergenceDistributionPrivacy, DivergenceMetricDistributionPrivacy
from .family import Family
from .family_distance import FamilyDistance
from .promise import PROOFS, Promise, Reason, jointly_convex, missing_points, quasi_convex, with_mass

_SOURCE: Final = "Kawamoto and Murakami, table III"
_ADDING: Final = (KL, REVERSE_KL, TOTAL_VARIATION, HELLINGER)
_POINTS: Final = Reason(
    "point masses",
    "what holds for the point masses of all related pairs holds for the lifting",
    "Kawamoto and Murakami, section V",
    f"{PROOFS}#points",
)
_RECOMPUTE: Final = "measure the notion on product_channel(first, second), which is exact for any pair."


def same_input(first: Promise, second: Promise) -> Promise:
    """Return what two reports about one secret promise together; the second may read the first report.

    (epsilon, delta) add up: for distribution privacy of a whole lifting, for metric
    distribution privacy with W_inf, and for divergences that add. The second promise
    must hold for each report of the first mechanism that the second may be told.

    For an arbitrary set of pairs this is false, and refused: two reports that each hide
    a pair of distributions perfectly can reveal it together. The promise must be known of
    every pair in the lifting, as it is when it covers the point masses.

    Args:
        first: About the first mechanism.
        second: About the second one, for the same family, and the same distance or divergence.

    Raises:
        InputError: If a promise is not known for a whole lifting, the promises are not
            about the same relation and pairs, or their notion does not compose.

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
                "from unequal bits, and both reports tell them apart.",
                f"{_RECOMPUTE} Promises that come from single secrets (lifted_differential_privacy and its like) "
                "do compose.",
            )
        known.append(whole)
    _same_ground(known[0].notion, known[1].notion)
    notion, value = _combined(*known)
    reason = Reason("two reports about one secret", _added(notion, value), _SOURCE, f"{PROOFS}#same-input")
    return Promise(notion, value, (*known[0].reasons, *known[1].reasons, reason), everywhere=True)


def independent_inputs(first: Promise, second: Promise) -> Promise:
    """Return what two reports about two independent secrets of the same distribution promise together.

    (epsilon, delta) add up for any pairs of distributions.

    Args:
        first: About the first mechanism.
        second: About the second one, for the same family, and the same distance or divergence.

    Returns:
        A promise about the pair of reports, where both secrets are drawn from lam, or both
        from mu, independently.

    Raises:
        InputError: If the promises are not about the same pairs, or their notion does not compose.

    Source:
        Kawamoto and Murakami, table III.
    """
    notion, value = _combined(first, second)
    reason = Reason(
        "reports about independent secrets", _added(notion, value), _SOURCE, f"{PROOFS}#independent-inputs"
    )
    return Promise(notion, value, (*first.reasons, *second.reasons, reason))


def post_processed(promise: Promise) -> Promise:
    """Return what remains promised when reports pass through any further step that does not see the secret.

    Everything that was promised; refused for probabilistic distribution privacy, which
    post-processing can break.

    Args:
        promise: About the mechanism.

    Raises:
        InputError: If the notion is not known to survive post-processing.

    Source:
        Kawamoto and Murakami, table III.
    """
    notion = promise.notion
    if isinstance(notion, ProbabilisticDistributionPrivacy):
        raise InputError(
            "probabilistic distribution privacy was given, and post-processing can break it: reports that were "
            "set aside may be merged with others.",
            "convert it to distribution privacy with the same epsilon and delta, which survives post-processing.",
        )
    if isinstance(notion, DivergenceDistributionPrivacy | DivergenceMetricDistributionPrivacy):
        known = notion.divergence in (*_ADDING, CHI_SQUARED) or isinstance(
            notion.divergence, FDivergence | HockeyStick | Renyi | MaxDivergence
        )
        if not known:
            raise InputError(
                f"the {notion.divergence.name} is not known to be safe under post-processing.",
                "measure the mechanism with the processing after it.",
            )
    elif not isinstance(notion, DistributionPrivacy | MetricDistributionPrivacy):
        raise InputError(
            f"a promise of {notion.title} was given.", "pass a promise about a family of distributions."
        )
    reason = Reason("post-processing", "the same values", _SOURCE, f"{PROOFS}#post-processing")
    return Promise(notion, promise.value, (*promise.reasons, reason), promise.everywhere)


def known_everywhere(promise: Promise) -> Promise | None:
    """Return a promise for the whole lifting of a relation, or all pairs at finite distance, or None.

    A promise that covers the point masses of every related pair is one: what couplings
    of the family leave out is added to its delta.
    """
    notion, promised = promise.notion, promise.value
    if promise.everywhere:
        return promise
    if isinstance(notion, DistributionPrivacy) and _points_of_lifting(notion.family):
        total = with_mass(notion.delta, float(notion.family.outside.max()))
        return Promise(
            DistributionPrivacy(notion.family, total), promised, (*promise.reasons, _POINTS), everywhere=True
        )
    if isinstance(notion, MetricDistributionPrivacy) and _points_of_ground(notion.family, notion.distance, np.inf):
        total = with_mass(notion.delta, float(notion.distance.ignored.max()))
        whole = MetricDistributionPrivacy(notion.family, notion.distance, total)
        return Promise(whole, promised, (*promise.reasons, _POINTS), everywhere=True)
    if isinstance(notion, DivergenceDistributionPrivacy) and _points_of_lifting(notion.family):
        exactly = not notion.family.outside.any() and quasi_convex(notion.divergence)
        return Promise(notion, promised, (*promise.reasons, _POINTS), everywhere=True) if exactly else None
    if isinstance(notion, DivergenceMetricDistributionPrivacy) and _points_of_ground(
        notion.family, notion.distance, 1.0
    ):
        exactly = not notion.distance.ignored.any() and jointly_convex(notion.divergence)
        return Promise(notion, promised, (*promise.reasons, _POINTS), everywhere=True) if exactly else None
    return None


def _points_of_lifting(family: Family) -> bool:
    return family.lifted_from is not None and missing_points(family, family.lifted_from) is None


def _points_of_ground(family: Family, distance: FamilyDistance, order: float) -> bool:
    ground = distance.ground
    if ground is None or distance.order != order:
        return False
    return missing_points(family, Relation(np.isfinite(ground.array))) is None


def _combined(first: Promise, second: Promise) -> tuple[Notion, float]:
    """Return the notion of both reports and its value, the same for either kind of input."""
    a, b = first.notion, second.notion
    if isinstance(a, DistributionPrivacy) and isinstance(b, DistributionPrivacy):
        _same_pairs(a.family, b.family)
        return DistributionPrivacy(a.family, _deltas(a.delta, b.delta)), _sum(first.value, second.value)
    if isinstance(a, MetricDistributionPrivacy) and isinstance(b, MetricDistributionPrivacy):
        _same_pairs(a.family, b.family)
        _same_distance(a.distance, b.distance)
        notion = MetricDistributionPrivacy(a.family, a.distance, _deltas(a.delta, b.delta))
        return notion, _sum(first.value, second.value)
    if isinstance(a, DivergenceDistributionPrivacy) and isinstance(b, DivergenceDistributionPrivacy):
        _same_pairs(a.family, b.family)
        if a.divergence == b.divergence == CHI_SQUARED:
            x, y = exact(first.value), exact(second.value)
            return a, above(lambda: x + y + x * y)
        _adding(a.divergence, b.divergence)
        return a, _sum(first.value, second.value)
    if isinstance(a, DivergenceMetricDistributionPrivacy) and isinstance(b, DivergenceMetricDistributionPrivacy):
        _same_pairs(a.family, b.family)
        _same_distance(a.distance, b.distance)
        _adding(a.divergence, b.divergence)
        return a, _sum(first.value, second.value)
    raise InputError(
        f"promises of {a.title} and of {b.title} were given, which are not known to compose.",
        f"use two of the same kind, such as distribution privacy; or {_RECOMPUTE}",
    )


def _adding(a: Divergence, b: Divergence) -> None:
    adds = a in _ADDING or isinstance(a, Renyi) or a == MaxDivergence()
    if a != b or not adds:
        raise InputError(
            f"promises of the {a.name} and the {b.name} do not add up.",
            "those of KL, reverse KL, total variation, squared Hellinger, Rényi and max divergence do; or "
            f"{_RECOMPUTE}",
        )


def _same_pairs(a: Family, b: Family) -> None:
    if not a.same_pairs_as(b):
        raise InputError(
            f"the promises are about different families: {a!r} and {b!r}.", "measure both on the same family."
        )


def _same_ground(a: Notion, b: Notion) -> None:
    """Refuse liftings of different relations or metrics: one pair can be in both by different couplings."""
    grounds = [_ground(notion) for notion in (a, b)]
    if grounds[0] is None or grounds[1] is None or not np.array_equal(grounds[0], grounds[1]):
        raise InputError(
            "the promises are known for liftings of different relations or metrics on the secrets, so that both "
            "reports together may tell apart secrets that one promise is not about.",
            f"use the same relation or metric for both; or {_RECOMPUTE}",
        )


def _ground(notion: Notion) -> NDArray[Any] | None:
    if isinstance(notion, DistributionPrivacy | DivergenceDistributionPrivacy):
        return None if notion.family.lifted_from is None else notion.family.lifted_from.array
    if isinstance(notion, MetricDistributionPrivacy | DivergenceMetricDistributionPrivacy):
        return None if notion.distance.ground is None else notion.distance.ground.array
    return None


def _same_distance(a: FamilyDistance, b: FamilyDistance) -> None:
    if a.unit != b.unit or not np.array_equal(a.array, b.array):
        raise InputError(
            f"the promises are about different distances: {a.name} and {b.name}.",
            "use the same distance for both.",
        )


def _sum(a: float, b: float) -> float:
    return above(lambda: exact(a) + exact(b))


def _deltas(a: float, b: float) -> float:
    return min(1.0, _sum(a, b))


def _added(notion: Notion, value: float) -> str:
    delta = getattr(notion, "delta", 0.0)
    return f"together {notion.parameter} {at_most(value, 9)}" + (f", delta {at_most(delta, 9)}" if delta else "")


def product_channel(
    first: Mechanism | Floats, second: Mechanism | Floats | Sequence[Mechanism | Floats]
) -> Mechanism:
    """Return the mechanism that makes both reports about one secret.

    p((o0, o1)|s) = p0(o0|s) p1(o1|s), or p1(o1|s, o0) where the second reads the first report

    It is exact where both have 62 bits: the products of the integers are the integers of
    the product. Otherwise the products are rounded to integers as in `Mechanism`.

    Args:
        first: The first mechanism.
        second: The second one; or a sequence with one for each report of the first.

    Returns:
        The mechanism; its observables are pairs of reports.

    Raises:
        InputError: If the numbers of secrets, or of reports and second mechanisms, differ; or the secrets are the
            same in another order.

    Example:
        >>> import numpy as np
        >>> bits = np.eye(2)[[0, 0, 1, 1]], np.eye(2)[[0, 1, 0, 1]]
        >>> product_channel(*bits).shape
        (4, 4)
    """
    one = first if isinstance(first, Mechanism) else Mechanism(first)
    given = list(second) if not isinstance(second, Mechanism | np.ndarray) else [second] * one.shape[1]
    others = [other if isinstance(other, Mechanism) else Mechanism(other) for other in given]
    if len(others) != one.shape[1] or len({other.shape for other in others}) != 1:
        raise InputError(
            f"{len(others)} second mechanisms were given for {one.shape[1]} reports of the first.",
            "pass one for each report, all with the same secrets and observables.",
        )
    if others[0].shape[0] != one.shape[0]:
        raise InputError(
            f"the first mechanism has {one.shape[0]} secrets and the second {others[0].shape[0]}.",
            "both report about the same secret.",
        )
    for other in others:
        one.secrets.check_order(other.secrets, "the second mechanism")
    pairs = Space(
        [(a, b) for a, other in zip(one.observables.labels, others, strict=True) for b in other.observables.labels]
    )
    if {one.bits, *(other.bits for other in others)} == {ONE_WORD}:
        exactly = [
            one.weights[:, [o]].astype(object) * other.weights.astype(object) << (TWO_WORDS - 2 * ONE_WORD)
            for o, other in enumerate(others)
        ]
        return Mechanism.from_weights(np.hstack(exactly), TWO_WORDS, one.secrets, pairs)
    floats = [one.matrix[:, [o]] * other.matrix for o, other in enumerate(others)]
    return Mechanism(np.hstack(floats), one.secrets, pairs)
