"""The facts that were found out: attackers, risks, requirements and notions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from ...audits import Outcome
from ...core.immutable import CompactRepr
from .quantity import Quantity


@final
@dataclass(frozen=True, slots=True, repr=False)
class AttackFacts(CompactRepr):
    """The success of one kind of attacker.

    Attributes:
        who: ``blind`` (sees no report), ``bare`` (sees the secret itself), ``informed`` (knows the prior),
            ``misinformed`` (believes all secrets equally likely), or ``repeated`` (knows the prior, and sees
            several fresh reports of one secret).
        reports: How many reports they see.
        what: What they look for: ``point``, ``vertex``, ``cell`` or ``value``.
        hit: How often they find it.
        error: How far they err on average.
        draws: In how many simulated cases; 0 where nothing is simulated.
    """

    who: str
    reports: int
    what: str
    hit: Quantity | None
    error: Quantity | None
    draws: int


@final
@dataclass(frozen=True, slots=True, repr=False)
class RiskFacts(CompactRepr):
    """The chance that an attacker's guess is near the secret.

    Attributes:
        text: The requirement as it was written; "" for the line that is always there.
        radius: How near; 0 for the secret itself.
        shown: The radius as it was written.
        chance: How often the best guess is so near; None where it is not known.
        limit: How often it may be; None where nothing is required.
        outcome: Whether that holds; None where nothing is required.
        why: Why nothing is known, where nothing is: ``visits`` (where people were is not said), ``table``
            (the noise has none), ``size``, ``prior`` or "".
        of: Whose places: ``visits``, ``file`` or ``prior``.
        blind: How often the best guess without any report is so near; None where that is not known.
    """

    text: str
    radius: Quantity
    shown: str
    chance: Quantity | None
    limit: Quantity | None
    outcome: Outcome | None
    why: str
    of: str
    blind: Quantity | None = None


@final
@dataclass(frozen=True, slots=True, repr=False)
class RequirementFacts(CompactRepr):
    """A requirement on what an audit found.

    Attributes:
        text: As it was written.
        outcome: Whether it holds.
        reason: Why, in a sentence.
    """

    text: str
    outcome: Outcome
    reason: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class NotionFacts(CompactRepr):
    """One notion or measure, as an audit found it.

    Attributes:
        key: The notion's name in the atlas.
        title: Its name in texts.
        parameter: What the number is called.
        number: The number.
        side: The side that is stated, and how surely, in words.
        shown: The number as it is stated.
        sentence: What it means, in words.
        witness: What attains it.
        source: Paper and definition.
    """

    key: str
    title: str
    parameter: str
    number: Quantity
    side: str
    shown: str
    sentence: str
    witness: str
    source: str
