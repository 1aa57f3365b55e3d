"""Pre-processing: what a mechanism promises about the input of a transformation that comes before it.

All proofs are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError
from ...intervals import Interval, above, exact
from ...rounding import at_most
from ...rounding.errors import log_error
from ..rows import AnyMechanism
from .composition import known_everywhere
from .distribution import DistributionPrivacy, MetricDistributionPrivacy
from .family import Family
from .family_distance import FamilyDistance
from .lifted import same_reports
from .promise import PROOFS, Promise, Reason
from .stability import images_of, members_of, stability

_THEOREM: Final = "pre-processing by a stable transformation"
_SOURCE: Final = "Kawamoto and Murakami, table III"


def pre_processed(
    promise: Promise, source: Family, transform: AnyMechanism, distance: FamilyDistance | None = None
) -> Promise:
    """Return what a mechanism promises about the input of a transformation that comes before it.

    (epsilon, delta)-DistP and a c-stable T give (c epsilon, delta (1 + e**epsilon + ... + e**((c-1) epsilon)))
    (epsilon, delta, d)-XDistP and a (c, d)-stable T give (c epsilon, delta, d)-XDistP

    The stability c is computed for the pairs of the source. What rounding can have changed
    in the images is added to epsilon.

    Args:
        promise: Distribution privacy, or metric distribution privacy, of the mechanism.
        source: The pairs of distributions of the transformation's input.
        transform: The transformation, array (inputs, secrets) or a mechanism.
        distance: For metric distribution privacy: between the distributions of the source.

    Raises:
        InputError: If the promise is of another kind, sizes do not fit, an image is not
            covered by the promise, or no number of steps joins the images of a pair.

    Source:
        Kawamoto and Murakami, table III; the delta is smaller than the published one.
    """
    notion = promise.notion
    if isinstance(notion, MetricDistributionPrivacy) and distance is not None:
        return _stretched(promise, notion, source, transform, distance)
    if not isinstance(notion, DistributionPrivacy) or distance is not None:
        raise InputError(
            f"a promise of {notion.title} was given {'with' if distance is not None else 'without'} a distance.",
            "pass distribution privacy, or metric distribution privacy and a distance on the source.",
        )
    found = stability(source, transform, notion.family, everywhere=known_everywhere(promise) is not None)
    names = " and ".join(source.names[position] for position in found.pair)
    if np.isinf(found.steps):
        raise InputError(
            f"no steps of the family lead from the image of one to that of the other of {names}.",
            "widen the relation, or measure the mechanism after the transformation.",
        )
    steps, slack = int(found.steps), exact(found.slack)
    epsilon = above(lambda: steps * exact(promise.value) + slack)
    delta = after_steps(notion.delta, [promise.value] * steps, found.missed, found.slack)
    reason = Reason(
        _THEOREM,
        f"images are at most c = {steps} steps apart ({names}): ({at_most(epsilon, 9)}, {at_most(delta, 9)})",
        _SOURCE,
        f"{PROOFS}#pre-processing",
    )
    return Promise(DistributionPrivacy(source, delta), epsilon, (*promise.reasons, reason))


def after_steps(delta: float, exponents: Sequence[float], missed: float = 0.0, slack: float = 0.0) -> float:
    """Return (delta (1 + e**e1 + e**(e1 + e2) + ...) + missed) e**slack, rounded up and at most 1.

    Args:
        delta: The delta of each step.
        exponents: The exponent of each step.
        missed: Mass that counts once.
        slack: What rounding may have added to the logarithms.
    """

    def total() -> Interval:
        so_far, value = exact(0.0), exact(missed)
        for exponent in exponents:
            value += exact(delta) * so_far.exp()
            so_far += exact(exponent)
        return value * exact(slack).exp()

    return min(1.0, above(total)) if delta or missed else 0.0


def _stretched(
    promise: Promise,
    notion: MetricDistributionPrivacy,
    source: Family,
    transform: AnyMechanism,
    distance: FamilyDistance,
) -> Promise:
    if len(distance) != len(source):
        raise InputError(
            f"the distance is between {len(distance)} distributions, but the source has {len(source)}.",
            "pass a distance on the source, such as FamilyDistance.wasserstein(source, metric).",
        )
    images = images_of(source, transform, notion.family.size)
    apart, missed, slack = _apart(promise, notion, source, images)
    units = distance.lower[source.pairs[:, 0], source.pairs[:, 1]]
    needed, c, worst = 0.0, 0.0, 0
    for k, (first, second) in enumerate(source.distributions[source.pairs]):
        if np.isinf(units[k]) or (apart[k] == 0 and same_reports(transform, first, second)):
            continue
        if units[k] == 0 or np.isinf(apart[k]):
            i, j = source.pairs[k]
            raise InputError(
                f"the images of {source.names[i]} and {source.names[j]} are at distance {apart[k]:g}, and they "
                f"themselves at {units[k]:g}: no c is enough.",
                "measure the mechanism after the transformation instead.",
            )
        value, length, unit = exact(promise.value), exact(float(apart[k])), exact(float(units[k]))
        epsilon = _per_unit(value, length, exact(slack), unit)
        if epsilon > needed:
            needed, c, worst = epsilon, float(apart[k] / units[k]), k
    names = " and ".join(source.names[position] for position in source.pairs[worst])
    delta = after_steps(notion.delta, [0.0], missed, slack)
    reason = Reason(
        _THEOREM,
        f"images are at most c = {at_most(c, 9)} times as far apart ({names}): ({at_most(needed, 9)}, "
        f"{at_most(delta, 9)})",
        _SOURCE,
        f"{PROOFS}#pre-processing",
    )
    return Promise(MetricDistributionPrivacy(source, distance, delta), needed, (*promise.reasons, reason))


def _per_unit(value: Interval, length: Interval, slack: Interval, unit: Interval) -> float:
    return above(lambda: (value * length + slack) / unit)


def _apart(
    promise: Promise, notion: MetricDistributionPrivacy, source: Family, images: Floats
) -> tuple[Floats, float, float]:
    """Return the distances of the images of each pair, the mass missed, and the rounding of the images."""
    slack = 2 * log_error(0.0, source.size)
    first, second = source.pairs[:, 0], source.pairs[:, 1]
    ground = notion.distance.ground
    if ground is not None and notion.distance.order == np.inf and known_everywhere(promise) is not None:
        pairs = [(source.names[i], source.names[j]) for i, j in source.pairs]
        moved = FamilyDistance.wasserstein(Family(dict(zip(source.names, images, strict=True)), pairs), ground)
        return moved.array[first, second], float(moved.ignored.max()), slack
    members, gap = members_of(source, images, notion.family)
    covered = np.full_like(notion.distance.array, np.inf)
    np.fill_diagonal(covered, 0.0)
    i, j = notion.family.pairs.T
    covered[i, j] = notion.distance.array[i, j]
    return covered[members[first], members[second]], 0.0, slack + 4 * gap
