"""A scheme in the wild: its facts with their sources, its channel, and what is not known of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from sfumato.core.immutable import CompactRepr

from .channel import WildChannel


@final
@dataclass(frozen=True, slots=True, repr=False)
class WildFact(CompactRepr):
    """A fact about a scheme.

    Attributes:
        says: The fact, in a sentence.
        source: The document, paper or file that says it.
        read: The version or date of what was read.
    """

    says: str
    source: str
    read: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class WildScheme(CompactRepr):
    """Obfuscation that is deployed or published, as its makers document it.

    Attributes:
        key: Its name in tables: ``fixed-grid``.
        title: Its name in figures.
        who: The maker, or who uses it.
        facts: The documented facts that the channel is made of.
        model: The channel in a sentence, with what was chosen here where the documents leave it open.
        promise: The promise that the channel keeps for any two points, in a sentence.
        repeats: What happens when the same place is reported again, in a few words.
        unknown: What is not known, in sentences.
        channel: The channel at 40 degrees north, or None where no point is reported.
        linked: Whether reports are known to be one person's; otherwise one report is all that counts.
    """

    key: str
    title: str
    who: str
    facts: tuple[WildFact, ...]
    model: str
    promise: str
    repeats: str
    unknown: tuple[str, ...]
    channel: WildChannel | None = None
    linked: bool = True
