"""Guarantees of a mechanism for the input of a transformation before it, by the transformation's stability.

All proofs are in docs/proofs/distribution-privacy.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.arrays import Floats, Positions
from ...errors import InputError
from ...intervals import Interval, exact, upper_end
from ...rounding import at_most, log_error
from ...transport import wasserstein
from ..relation import Relation
from ..rows import AnyMechanism
from .distribution import DistributionPrivacy, MetricDistributionPrivacy
from .family import Family, FamilyDistance
from .family_reports import reports_of, same_reports
from .promise import Promise, cite, known_everywhere

_SAME: Final = 1e-12  # relative difference up to which an image is a member; it counts in epsilon


@dataclass(frozen=True, slots=True)
class Stability:
    """The number of steps by which a transformation can take two related distributions apart.

    Attributes:
        steps: c, the largest number of steps from the first image of a pair to the second; ``inf`` if no steps
            lead there.
        pair: Positions of the pair in the source family that needs them.
        outside: The mass that the couplings of the steps leave out as rounding; it counts as delta.
        slack: The joint error of the logarithms of probabilities of the two images; it counts as epsilon.
    """

    steps: float
    pair: tuple[int, int]
    outside: float
    slack: float


def stability(source: Family, transform: AnyMechanism, target: Family, *, everywhere: bool = False) -> Stability:
    """Return how far a transformation takes the pairs of a family apart, in steps of another family.

    A step leads from lam to mu where (lam, mu) is a pair of the target. With ``everywhere`` a step is any pair in
    the lifting of the target's relation, and the least number of steps is the W_inf distance for hops in that
    relation. The source has pairs of distributions of the transformation's input; the transformation is a
    mechanism or an array (inputs, secrets). Raises `InputError` if sizes do not fit; if everywhere is True and the
    target was not lifted; or if it is False and an image is not a member of the target.

    Example:
        >>> near = Relation(np.abs(np.subtract.outer(range(3), range(3))) == 1, "neighbours")
        >>> points = Family.of_points(near)
        >>> doubling = np.eye(3)[[0, 2]]
        >>> source = Family({"left": [1.0, 0.0], "right": [0.0, 1.0]})
        >>> stability(source, doubling, points, everywhere=True).steps
        2.0

    Source:
        Kawamoto and Murakami, section V (c-stability).
    """
    images = images_of(source, transform, target.size)
    slack = 2 * log_error(0.0, source.size)
    if everywhere:
        jumps = target.require_relation().hops
        answers = [wasserstein(images[i], images[j], jumps, np.inf) for i, j in source.pairs]
        steps = np.array([answer.distance.value for answer in answers])
        outside = max(answer.ignored for answer in answers)
    else:
        members, gap = members_of(source, images, target)
        related = np.zeros((len(target), len(target)), dtype=np.bool_)
        related[target.pairs[:, 0], target.pairs[:, 1]] = True
        steps = Relation(related).hops[members[source.pairs[:, 0]], members[source.pairs[:, 1]]]
        outside, slack = 0.0, slack + 4 * gap
    worst = int(np.argmax(steps))
    i, j = (int(position) for position in source.pairs[worst])
    return Stability(float(steps[worst]), (i, j), outside, slack)


def images_of(source: Family, transform: AnyMechanism, size: int) -> Floats:
    """Return the images of a family under a transformation with ``size`` outputs, array (k, size)."""
    images = reports_of(transform, source)
    if images.shape[1] != size:
        raise InputError(
            f"the transformation has {images.shape[1]} outputs, but the guarantee is about {size} secrets.",
            "its outputs must be the mechanism's secrets.",
        )
    return images


def members_of(source: Family, images: Floats, target: Family) -> tuple[Positions, float]:
    """Return which member of the target each image is, and the largest relative difference."""
    members, largest = [], 0.0
    for name, image in zip(source.names, images, strict=True):
        nearest = int(np.argmin(np.abs(image - target.distributions).sum(axis=1)))
        member = target.distributions[nearest]
        gap = float((np.abs(image - member)[member > 0] / member[member > 0]).max())
        if gap > _SAME or ((image > 0) & (member == 0)).any():
            raise InputError(
                f"the image of {name} is not a distribution of the family; the nearest one, "
                f"{target.names[nearest]}, differs by a mass of {np.abs(image - member).sum() / 2:.3g}.",
                "add it to the family, or use a guarantee that is known for a whole lifting.",
            )
        members.append(nearest)
        largest = max(largest, gap)
    return np.array(members, dtype=np.intp), largest


_THEOREM: Final = "pre-processing by a stable transformation"
_SOURCE: Final = "Kawamoto and Murakami, table III"


def pre_process(
    promise: Promise, source: Family, transform: AnyMechanism, distance: FamilyDistance | None = None
) -> Promise:
    """Return the guarantee of a mechanism for the input of a transformation that comes before it.

    (epsilon, delta)-DistP and a c-stable T give (c epsilon, delta (1 + e**epsilon + ... + e**((c-1) epsilon)))
    (epsilon, delta, d)-XDistP and a (c, d)-stable T give (c epsilon, delta, d)-XDistP

    The stability c is computed for the pairs of the source. The rounding of the images is added to epsilon. The
    source and the transformation are as for `stability`; metric distribution privacy needs a distance between the
    distributions of the source. Raises `InputError` if the promise is of another kind, sizes do not fit, an image
    is not covered by the promise, or no number of steps joins the images of a pair.

    Source:
        Kawamoto and Murakami, table III; the delta is smaller than the published one.
    """
    notion = promise.notion
    if isinstance(notion, MetricDistributionPrivacy) and distance is not None:
        return _stretch_promise(promise, notion, source, transform, distance)
    if not isinstance(notion, DistributionPrivacy) or distance is not None:
        raise InputError(
            f"a guarantee of {notion.title} was given {'with' if distance is not None else 'without'} a distance.",
            "pass distribution privacy, or metric distribution privacy and a distance on the source.",
        )
    stable = stability(source, transform, notion.family, everywhere=known_everywhere(promise) is not None)
    names = " and ".join(source.names[position] for position in stable.pair)
    if np.isinf(stable.steps):
        raise InputError(
            f"no steps of the family lead from the image of one to that of the other of {names}.",
            "widen the relation, or measure the mechanism after the transformation.",
        )
    steps, slack = int(stable.steps), exact(stable.slack)
    epsilon = upper_end(lambda: steps * exact(promise.value) + slack)
    delta = after_steps(notion.delta, [promise.value] * steps, stable.outside, stable.slack)
    form = f"images are at most c = {steps} steps apart ({names}): ({at_most(epsilon, 9)}, {at_most(delta, 9)})"
    reason = cite(_THEOREM, form, "pre-processing", _SOURCE)
    return Promise(DistributionPrivacy(source, delta), epsilon, (*promise.reasons, reason))


def after_steps(delta: float, exponents: Sequence[float], outside: float = 0.0, slack: float = 0.0) -> float:
    """Return (delta (1 + e**e1 + e**(e1 + e2) + ...) + outside) e**slack, rounded up and at most 1."""

    def total() -> Interval:
        so_far, value = exact(0.0), exact(outside)
        for exponent in exponents:
            value += exact(delta) * so_far.exp()
            so_far += exact(exponent)
        return value * exact(slack).exp()

    return min(1.0, upper_end(total)) if delta or outside else 0.0


def _stretch_promise(
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
    apart, outside, slack = _image_distances(promise, notion, source, images)
    units = distance.lower[source.pairs[:, 0], source.pairs[:, 1]]
    bound, c, worst = 0.0, 0.0, 0
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
        if epsilon > bound:
            bound, c, worst = epsilon, float(apart[k] / units[k]), k
    names = " and ".join(source.names[position] for position in source.pairs[worst])
    delta = after_steps(notion.delta, [0.0], outside, slack)
    numbers = f"({at_most(bound, 9)}, {at_most(delta, 9)})"
    form = f"images are at most c = {at_most(c, 9)} times as far apart ({names}): {numbers}"
    reason = cite(_THEOREM, form, "pre-processing", _SOURCE)
    return Promise(MetricDistributionPrivacy(source, distance, delta), bound, (*promise.reasons, reason))


def _per_unit(value: Interval, length: Interval, slack: Interval, unit: Interval) -> float:
    return upper_end(lambda: (value * length + slack) / unit)


def _image_distances(
    promise: Promise, notion: MetricDistributionPrivacy, source: Family, images: Floats
) -> tuple[Floats, float, float]:
    """Return the distances of the images of each pair, the mass outside, and the rounding of the images."""
    slack = 2 * log_error(0.0, source.size)
    first, second = source.pairs[:, 0], source.pairs[:, 1]
    ground = notion.distance.ground
    if ground is not None and notion.distance.order == np.inf and known_everywhere(promise) is not None:
        pairs = [(source.names[i], source.names[j]) for i, j in source.pairs]
        distances = FamilyDistance.wasserstein(Family(dict(zip(source.names, images, strict=True)), pairs), ground)
        return distances.array[first, second], float(distances.ignored.max()), slack
    members, gap = members_of(source, images, notion.family)
    covered = np.full_like(notion.distance.array, np.inf)
    np.fill_diagonal(covered, 0.0)
    i, j = notion.family.pairs.T
    covered[i, j] = notion.distance.array[i, j]
    return covered[members[first], members[second]], 0.0, slack + 4 * gap
