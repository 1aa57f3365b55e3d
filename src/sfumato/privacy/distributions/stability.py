"""Stability: how far a transformation takes distributions apart, in steps that a promise covers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import InputError
from ...rounding.errors import log_error
from ...transport import wasserstein
from ..relation import Relation
from ..rows import AnyMechanism
from .family import Family
from .lifted import reports_of

_SAME: Final = 1e-12  # relative difference up to which an image is a member; it counts in epsilon


@dataclass(frozen=True, slots=True)
class Stability:
    """The number of steps by which a transformation can take two related distributions apart.

    Attributes:
        steps: c, the largest number of steps from the first image of a pair to the second;
            ``inf`` if no steps lead there.
        pair: Positions of the pair in the source family that needs them.
        missed: The mass that the couplings of the steps leave out as rounding; it counts
            as delta.
        slack: How far the logarithms of probabilities of the two computed images may be
            off together; it counts as epsilon.
    """

    steps: float
    pair: tuple[int, int]
    missed: float
    slack: float


def stability(source: Family, transform: AnyMechanism, target: Family, *, everywhere: bool = False) -> Stability:
    """Return how far a transformation takes the pairs of a family apart, in steps of another family.

    A step leads from lam to mu where (lam, mu) is a pair of the target. With
    ``everywhere`` a step is any pair in the lifting of the target's relation, and the
    least number of steps is the W_inf distance for hops in that relation.

    Args:
        source: Pairs of distributions of the transformation's input.
        transform: The transformation, array (inputs, secrets) or a mechanism.
        target: The family whose pairs are steps.
        everywhere: Whether all pairs in the target's lifting are steps.

    Raises:
        InputError: If sizes do not fit; if the target was not lifted and everywhere is
            wanted; or if otherwise an image is not a member of the target.

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
        if target.lifted_from is None:
            raise InputError(f"the {target!r} was not lifted from a relation.", "make it by Family.lifted.")
        jumps = target.lifted_from.hops
        answers = [wasserstein(images[i], images[j], jumps, np.inf) for i, j in source.pairs]
        steps = np.array([answer.distance.value for answer in answers])
        missed = max(answer.ignored for answer in answers)
    else:
        members, gap = members_of(source, images, target)
        related = np.zeros((len(target), len(target)), dtype=np.bool_)
        related[target.pairs[:, 0], target.pairs[:, 1]] = True
        steps = Relation(related).hops[members[source.pairs[:, 0]], members[source.pairs[:, 1]]]
        missed, slack = 0.0, slack + 4 * gap
    worst = int(np.argmax(steps))
    i, j = (int(position) for position in source.pairs[worst])
    return Stability(float(steps[worst]), (i, j), missed, slack)


def images_of(source: Family, transform: AnyMechanism, size: int) -> Floats:
    """Return the distributions behind the transformation, array (k, size).

    Raises:
        InputError: If the transformation has another number of outputs.
    """
    images = reports_of(transform, source.distributions)
    if images.shape[1] != size:
        raise InputError(
            f"the transformation has {images.shape[1]} outputs, but the promise is about {size} secrets.",
            "its outputs must be the mechanism's secrets.",
        )
    return images


def members_of(source: Family, images: Floats, target: Family) -> tuple[NDArray[np.intp], float]:
    """Return which member of the target each image is, and the largest relative difference.

    Raises:
        InputError: If an image is not a member.
    """
    members, largest = [], 0.0
    for name, image in zip(source.names, images, strict=True):
        nearest = int(np.argmin(np.abs(image - target.distributions).sum(axis=1)))
        member = target.distributions[nearest]
        gap = float((np.abs(image - member)[member > 0] / member[member > 0]).max())
        if gap > _SAME or ((image > 0) & (member == 0)).any():
            raise InputError(
                f"the image of {name} is not a distribution of the family; the nearest one, "
                f"{target.names[nearest]}, differs by a mass of {np.abs(image - member).sum() / 2:.3g}.",
                "add it to the family, or use a promise that is known for a whole lifting.",
            )
        members.append(nearest)
        largest = max(largest, gap)
    return np.array(members, dtype=np.intp), largest
