"""Relations of the thesis between notions: what one allows the other, and checks of it on channels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import Notion

from .channels import FormalCase, case_of

_SOME: Final = 1e-8
_SLACK: Final = 1e-9  # of rules in floating point; values that are measured have bounds of their own


class Measured(NamedTuple):
    """The largest value that a relation allows of a channel, and the value that was found.

    Attributes:
        allowed: No larger value is allowed.
        lower: The value found, rounded down.
        value: The value found.
    """

    allowed: float
    lower: float
    value: float

    @property
    def violated(self) -> bool:
        """Whether more was found than is allowed."""
        return self.lower > self.allowed * (1 + _SLACK) + _SLACK

    @property
    def share(self) -> float:
        """The value found over the largest that is allowed; 0 where nothing is allowed and nothing found."""
        if self.allowed > _SLACK:
            return self.value / self.allowed
        return math.inf if self.violated else 0.0


Ask = Callable[[FormalCase], Notion]
Check = Callable[[FormalCase], Measured | None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormalRelation(CompactRepr):
    """A relation between two notions, as the thesis states it or as it is sharpened here.

    Attributes:
        name: A name of its own.
        where: Its place in the thesis.
        says: The relation, in a sentence.
        check: What it allows of a channel, and what is found; None where its premise does not apply.
        known: A channel that attains it or, if it fails, one on which it fails.
        published: Whether the thesis, or a paper that it cites, states it; else it is a sharper constant, has a
            condition of ours, or is a converse that may be read into it.
    """

    name: str
    where: str
    says: str
    check: Check
    known: FormalCase
    published: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class RelationRow(CompactRepr):
    """A relation on the random channels of a seed.

    Attributes:
        relation: Its name.
        where: Its place in the thesis.
        published: Whether it is a published one.
        seed: What made the channels.
        instances: The channels to which it applies.
        violations: Those on which more is found than is allowed.
        mean_share: The share of what is allowed that was found, averaged over the channels where something is.
        tightness: The largest share.
        witness: The channel on which it was found.
    """

    relation: str
    where: str
    published: bool
    seed: int
    instances: int
    violations: int
    mean_share: float
    tightness: float
    witness: str


@dataclass(frozen=True, slots=True, repr=False)
class KnownRow(CompactRepr):
    """A relation on a channel that is known to attain it, or to break it.

    Attributes:
        relation: Its name.
        says: The relation, in a sentence.
        channel: The rows of the channel.
        prior: The prior, for notions of beliefs.
        allowed: The largest value that the relation allows.
        found: The value that was found.
        violated: Whether it is larger.
    """

    relation: str
    says: str
    channel: str
    prior: str
    allowed: float
    found: float
    violated: bool


def implied(
    start: Ask,
    end: Ask,
    rule: Callable[[float], float],
    *,
    positive: bool = False,
) -> Check:
    """Return the check of "the value of one notion bounds that of another".

    Args:
        start: The notion that implies, for a channel.
        end: The one that is implied.
        rule: From the value of the first to the largest value of the second.
        positive: Whether channels with zeros are left out.
    """

    def check(case: FormalCase) -> Measured | None:
        if positive and not (case.rows > 0).all():
            return None
        allowed = rule(start(case).measure(case.rows).upper)
        if not math.isfinite(allowed):
            return None
        found = end(case).measure(case.rows)
        return Measured(allowed, found.lower, found.value)

    return check


def same(value: float) -> float:
    """Return a value as it is: the rule of a relation that keeps it."""
    return value


def both_ways(
    name: str, other: str, where: str, start: Ask, end: Ask, says: Sequence[str]
) -> list[FormalRelation]:
    """Return the two halves of an equivalence that keeps the value.

    Args:
        name: The one notion, in the names of the relations.
        other: The other one.
        where: Their place in the thesis.
        start: The one notion, for a channel.
        end: The other one.
        says: Both halves, in a sentence each.
    """
    return [
        FormalRelation(f"{name} to {other}", where, says[0], implied(start, end, same), coin()),
        FormalRelation(f"{other} to {name}", where, says[1], implied(end, start, same), coin()),
    ]


def tried(relation: FormalRelation, seed: int, some: Iterable[FormalCase]) -> RelationRow:
    """Return what a relation does on channels."""
    instances = violations = 0
    shares = []
    most, witness = 0.0, ""
    for case in some:
        found = relation.check(case)
        if found is None:
            continue
        instances += 1
        violations += found.violated
        if found.allowed > _SOME or found.violated:  # else there is nothing to take a share of
            shares.append(found.share)
        if found.share > most:
            most, witness = found.share, written(case.rows)
    mean = math.fsum(shares) / len(shares) if shares else 0.0
    return RelationRow(
        relation.name, relation.where, relation.published, seed, instances, violations, mean, most, witness
    )


def known(relation: FormalRelation) -> KnownRow:
    """Return what a relation does on its known channel.

    Raises:
        ValueError: If it does not apply there.
    """
    found = relation.check(relation.known)
    if found is None:
        raise ValueError(relation.name)
    return KnownRow(
        relation.name,
        relation.says,
        written(relation.known.rows),
        written(relation.known.prior.probabilities[None, :]),
        found.allowed,
        found.value,
        found.violated,
    )


def written(rows: Floats) -> str:
    """Return rows as text: entries apart by blanks, rows by strokes."""
    return " / ".join(" ".join(f"{entry:.6g}" for entry in row) for row in rows)


def coin(epsilon: float = 1.0) -> FormalCase:
    """Return randomised response between two secrets."""
    truth = 1 / (1 + math.exp(-epsilon))
    return case_of([[truth, 1 - truth], [1 - truth, truth]])
