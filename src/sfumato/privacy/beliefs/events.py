"""Facts about the secret that must stay hidden: values, sets of values, or an attribute."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core import Space
from ...core.arrays import readonly
from ...errors import InputError


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Events:
    """Facts T about the secret: sets of secrets that the true one is in or not.

    Attributes:
        masks: Boolean array (k, n): entry [j, s] says whether fact j is true of secret s.
        attribute: Whether the facts are the values of one attribute, of which each
            secret has exactly one. Notions that compare two facts then compare any two
            values; otherwise each fact is compared with its opposite.

    Raises:
        InputError: If the array is not boolean, a fact is true of no secret or of all,
            or an attribute does not have exactly one value per secret.

    Source:
        Desfontaines, 2.2.6 ("t in D" is an event; a record's value is an attribute).
    """

    masks: NDArray[np.bool_]
    attribute: bool

    def __init__(self, masks: ArrayLike, *, attribute: bool = False) -> None:
        array = np.array(masks)
        if array.ndim != 2 or array.size == 0 or array.dtype != np.bool_:
            raise InputError(
                f"facts were given as an array of {array.dtype} of shape {array.shape}.",
                "pass booleans, array (facts, secrets).",
            )
        counts = np.count_nonzero(array, axis=1)
        if (counts == 0).any() or ((counts == array.shape[1]).any() and not attribute):
            j = int(np.argmax((counts == 0) | (counts == array.shape[1])))
            raise InputError(
                f"fact {j} is true of {counts[j]} of {array.shape[1]} secrets.",
                "a fact that is always or never true cannot be learned; leave it out.",
            )
        if attribute and (array.sum(axis=0) != 1).any():
            s = int(np.argmax(array.sum(axis=0) != 1))
            raise InputError(
                f"secret {s} has {int(array[:, s].sum())} values of the attribute.",
                "give every secret exactly one, or pass the facts as separate sets.",
            )
        object.__setattr__(self, "masks", readonly(array))
        object.__setattr__(self, "attribute", attribute)

    @classmethod
    def singletons(cls, size: int) -> Events:
        """Return the facts "the secret is s", one for each of ``size`` secrets."""
        return cls(np.eye(size, dtype=np.bool_), attribute=True)

    @classmethod
    def sets(cls, space: Space, sets: Iterable[Iterable[Hashable]]) -> Events:
        """Return the facts "the secret is one of these", one for each set of labels."""
        groups = [space.positions(group) for group in sets]
        masks = np.zeros((len(groups), len(space)), dtype=np.bool_)
        for mask, group in zip(masks, groups, strict=True):
            mask[group] = True
        return cls(masks)

    @classmethod
    def partition(cls, space: Space, values: Mapping[Hashable, Hashable]) -> Events:
        """Return the values of an attribute.

        Args:
            space: The secrets.
            values: The attribute's value of every label.
        """
        missing = [label for label in space.labels if label not in values]
        if missing:
            raise InputError(f"the attribute says nothing about {missing[0]!r}.", "give every label a value.")
        found = [values[label] for label in space.labels]
        distinct = list(dict.fromkeys(found))
        return cls(np.array([[value == each for value in found] for each in distinct]), attribute=True)

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.masks)

    def __repr__(self) -> str:
        what = "values of an attribute" if self.attribute else "facts"
        return f"Events: {len(self)} {what} of {self.size} secrets"

    @property
    def size(self) -> int:
        """The number of secrets."""
        return int(self.masks.shape[1])

    @property
    def rivals(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The facts and their opposites, and which of them are compared with which.

        Returns:
            Boolean arrays (f, n) of facts and (f, f), symmetric, of pairs.
        """
        k = len(self)
        if self.attribute:
            return self.masks, ~np.eye(k, dtype=np.bool_)
        pairs = np.zeros((2 * k, 2 * k), dtype=np.bool_)
        j = np.arange(k)
        pairs[j, j + k] = pairs[j + k, j] = True
        return np.concatenate([self.masks, ~self.masks]), pairs


def events_on(events: Events | None, size: int) -> Events:
    """Return the facts, every single value if none were given.

    Raises:
        InputError: If they are about another number of secrets.
    """
    if events is None:
        return Events.singletons(size)
    if events.size != size:
        raise InputError(
            f"the facts are about {events.size} secrets, but the mechanism has {size}.",
            "state facts about the mechanism's secrets.",
        )
    return events
