"""Priors that attackers may hold, facts to protect, and notions against priors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...core import Prior, Space
from ...core.arrays import Bools, any_array, readonly
from ...core.immutable import assign
from ...errors import InputError
from ...rounding import at_most, exactly, factor_at_most
from ..notion import Notion
from ..rows import check_size


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Priors:
    """A set Theta of priors against which a notion must hold.

    A prior gives a fact a probability, and distributes the secrets where it is true and where it is false. Either
    may be left open.

    Attributes:
        listed: The priors that distribute the secrets; empty if any may.
        interval: The least and largest prior probability of the fact; None if the listed priors give it. The ends
            0 and 1 stand for limits.
        key: The name of a family of priors in requests, such as ``"identity"``; else empty.
        about: What the priors of a family are about, in words.

    Example:
        >>> import sfumato as sf
        >>> space = sf.Space("ab")
        >>> Priors.of(sf.Prior.uniform(space)), Priors.all(), Priors.of_range(0.25, 0.75)
        (Priors(the given prior), Priors(every prior), Priors(every prior that gives the fact 0.25 to 0.75))
    """

    listed: tuple[Prior, ...]
    interval: tuple[float, float] | None
    key: str
    about: str

    def __init__(
        self, listed: tuple[Prior, ...], interval: tuple[float, float] | None, key: str = "", about: str = ""
    ) -> None:
        if not listed and interval is None:
            raise InputError("no prior was given.", "pass at least one prior, or use Priors.all().")
        if interval is not None and not 0 <= interval[0] <= interval[1] <= 1:
            raise InputError(f"{interval[0]} to {interval[1]} is not an interval.", "pass 0 <= low <= high <= 1.")
        assign(self, listed=listed, interval=interval, key=key, about=about)

    @classmethod
    def of(cls, *priors: Prior) -> Priors:
        """Return the set of the given priors."""
        return cls(priors, None)

    @classmethod
    def of_range(cls, low: float, high: float, *priors: Prior) -> Priors:
        """Return the priors that give each fact a probability from ``low`` to ``high``.

        Given priors fix the distribution of the secrets where the fact is true and where it is false; otherwise it
        may be any.

        Source:
            Tramer, Huang, Ayday and Hubaux, CCS 2015 (bounded priors).
        """
        return cls(priors, (low, high))

    @classmethod
    def all(cls) -> Priors:
        """Return the set of all priors."""
        return cls((), (0.0, 1.0))

    @classmethod
    def of_identity(cls, space: Space) -> Priors:
        """Return the priors of attackers who know all people in the data but one, who may be any of the others.

        Secrets are data sets: tuples of 0 and 1 (or texts such as ``"101"``), one entry for each person. There is
        a prior for each set of known people that at least two data sets complete by one person; these data sets
        are equally likely. Positive membership privacy for `Events.of_members` is then differential
        identifiability: where m people may be the unknown one, epsilon means that no posterior exceeds
        ``band("positive-membership", epsilon).upper(1 / m)`` (docs/proofs/bayesian-notions.md).
        Raises `InputError` if the secrets are not such tuples, or no set of known people leaves a choice.

        Example:
            >>> import sfumato as sf
            >>> Priors.of_identity(sf.Space([(1, 0, 0), (0, 1, 0), (0, 0, 1)]))
            Priors(the one prior of attackers who know all people but one)

        Source:
            Lee and Clifton, KDD 2012; Li, Qardaji, Su, Wu and Yang, CCS 2013.
        """
        members = _members(space)
        people = np.arange(members.shape[1])
        groups = np.concatenate([members[members[:, person]] & (people != person) for person in people])
        sizes = members.sum(axis=1)
        worlds = [(members >= row).all(axis=1) & (sizes == row.sum() + 1) for row in np.unique(groups, axis=0)]
        listed = tuple(Prior(space, world / world.sum()) for world in worlds if np.count_nonzero(world) > 1)
        if not listed:
            raise InputError(
                "no two data sets differ by one person in place of another.",
                "add data sets with the same other people.",
            )
        return cls(listed, None, "identity", "attackers who know all people but one")

    @classmethod
    def of_sampling(cls, space: Space, probability: float) -> Priors:
        """Return the priors of attackers who know who may be in the data, each with this probability.

        Secrets are data sets as for `of_identity`. There is a prior for each data set but the empty one: its
        people are in the data independently. Membership privacy for `Events.of_members` implies differential
        privacy under this sampling, with the same epsilon; rise and fall of `EventRatio` give its epsilon exactly
        (docs/proofs/bayesian-notions.md). Raises `InputError` if the secrets are not such tuples, all are empty,
        one lacks a subset, or the probability is not between 0 and 1.

        Source:
            Li, Qardaji and Su, ASIACCS 2012; Li, Qardaji, Su, Wu and Yang, CCS 2013.
        """
        if not 0 < probability < 1:
            raise InputError(f"a sampling probability of {probability} was given.", "pass one between 0 and 1.")
        members = _members(space)
        if not members.any():
            raise InputError("all data sets are empty.", "pass data sets with people, and all their subsets.")
        sizes = members.sum(axis=1)
        listed = []
        for people in members[members.any(axis=1)]:
            samples = (members <= people).all(axis=1)
            if np.count_nonzero(samples) != 2 ** int(people.sum()):
                raise InputError(
                    f"a sample of {tuple(people.astype(int).tolist())} is not among the data sets.",
                    "pass all subsets of each data set.",
                )
            weights = probability**sizes * (1 - probability) ** (people.sum() - sizes * samples) * samples
            listed.append(Prior(space, weights))
        share = exactly(probability)
        about = f"people sampled with probability {share}"
        return cls(tuple(listed), None, f"sampling:{share}", about)

    def __repr__(self) -> str:
        return f"Priors({self})"

    def __str__(self) -> str:
        if self.about:
            count = len(self.listed)
            return f"{'the one prior' if count == 1 else f'each of the {count:,} priors'} of {self.about}"
        if self.interval is None:
            return "the given prior" if len(self.listed) == 1 else f"each of {len(self.listed)} given priors"
        low, high = self.interval
        if not self.listed and (low, high) == (0, 1):
            return "every prior"
        fact = f"that gives the fact {low:g} to {high:g}"
        if not self.listed:
            return f"every prior {fact}"
        return f"every prior {fact} and is otherwise {'as given' if len(self.listed) == 1 else 'one of the given'}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Events:
    """Facts T about the secret: sets of secrets that may contain the true one.

    Raises `InputError` if the array is not boolean, a fact is true of no secret or of all, or an attribute does
    not have exactly one value per secret.

    Attributes:
        masks: Boolean array (k, n): entry [j, s] says whether fact j is true of secret s.
        attribute: Whether the facts are the values of one attribute, exactly one per secret. Notions that compare
            two facts then compare any two values; otherwise each fact with its opposite.

    Source:
        Desfontaines, 2.2.6 ("t in D" is an event; a record's value is an attribute).
    """

    masks: Bools
    attribute: bool

    def __init__(self, masks: ArrayLike, *, attribute: bool = False) -> None:
        array = np.array(any_array(masks, "masks="))
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
        assign(self, masks=readonly(array), attribute=attribute)

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
        """Return the values of an attribute for every label of a space."""
        missing = [label for label in space.labels if label not in values]
        if missing:
            raise InputError(f"the attribute says nothing about {missing[0]!r}.", "give every label a value.")
        column = [values[label] for label in space.labels]
        distinct = list(dict.fromkeys(column))
        return cls(np.array([[value == category for value in column] for category in distinct]), attribute=True)

    @classmethod
    def of_members(cls, space: Space) -> Events:
        """Return the facts "the person is in the data", for the secrets of `Priors.of_identity`."""
        return cls(_members(space).T)

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.masks)

    def __repr__(self) -> str:
        noun = "values of an attribute" if self.attribute else "facts"
        return f"Events: {len(self)} {noun} of {self.size} secrets"

    @property
    def size(self) -> int:
        """The number of secrets."""
        return int(self.masks.shape[1])

    @property
    def rivals(self) -> tuple[Bools, Bools]:
        """The facts and their opposites, array (f, n), and which are compared, array (f, f), symmetric."""
        k = len(self)
        if self.attribute:
            return self.masks, ~np.eye(k, dtype=np.bool_)
        pairs = np.zeros((2 * k, 2 * k), dtype=np.bool_)
        j = np.arange(k)
        pairs[j, j + k] = pairs[j + k, j] = True
        return np.concatenate([self.masks, ~self.masks]), pairs


def _members(space: Space) -> Bools:
    """Return who is in each data set, array (n, people)."""
    labels = [label if isinstance(label, tuple) else str(label) for label in space.labels]
    people, entries = len(labels[0]), (0, 1, "0", "1")
    if not people or any(len(label) != people or any(bit not in entries for bit in label) for label in labels):
        raise InputError(
            "the secrets are not data sets with or without each person.",
            "use tuples of 0 and 1, or texts such as 101, with one entry for each person.",
        )
    return np.array([[bit in (1, "1") for bit in label] for label in labels])


def events_on(events: Events | None, size: int) -> Events:
    """Return the facts, single secrets if None; raise InputError for another number of secrets."""
    if events is None:
        return Events.singletons(size)
    check_size("the facts are about", events.size, size, "state facts about the mechanism's secrets.")
    return events


class AgainstPriors(Notion):
    """A notion against every prior of a set, with its sentence in two halves.

    ``certainty`` says what some report does where no value is enough, and ``limit`` what no report does otherwise;
    its ``{factor}`` is e to the value.
    """

    __slots__ = ()

    priors: Priors

    def sentence(self, value: float) -> str:
        """Return the guarantee at a value, in words."""
        if math.isinf(value):
            return f"Under {self.priors}, {self.certainty}: no {self.parameter} is enough."
        limit = self.limit.format(factor=factor_at_most(value))
        return f"Under {self.priors}, {limit} ({self.parameter} {at_most(value)})."
