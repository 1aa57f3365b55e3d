"""Claims of a paper, and the verdict of a run of its study on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, final

from sfumato.core.immutable import CompactRepr


class Judgement(StrEnum):
    """The outcome for a claim in a run."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNCONFIRMED = "not confirmed"
    FOLLOWS = "by construction"
    OPEN = "not checkable"


@final
@dataclass(frozen=True, slots=True, repr=False)
class PaperClaim(CompactRepr):
    """A claim of a paper, or a statement of ours about its subject.

    Attributes:
        where: Its place in the paper: ``Figure 2a``.
        says: The claim in our words.
        quote: The paper's own words or formula, from the text that the study names; "" if not available.
        ours: Whether the statement is ours and not the paper's.
        verdict: The outcome. Only quoted words are refuted, on their own subject. A claim known only from a
            summary or tried on other data, and a statement of ours, are "not confirmed" if the run contradicts
            them.
        found: The evidence from the run's tables: the instance for a refuted claim, the reason for an
            unchecked one.

    Raises:
        ValueError: If a claim is refuted without a quotation, or a statement of ours has one.
    """

    where: str
    says: str
    quote: str
    ours: bool
    verdict: Judgement
    found: str

    def __post_init__(self) -> None:
        if self.verdict is Judgement.REFUTED and (self.ours or not self.quote):
            raise ValueError(f"{self.where}: a refutation quotes what it refutes.")
        if self.ours and self.quote:
            raise ValueError(f"{self.where}: a statement of ours has no quotation.")


def judged(
    where: str, says: str, holds: bool, found: str, *, quote: str = "", on_other_data: bool = False
) -> PaperClaim:
    """Return a claim of the paper that was checked.

    Args:
        where: Its place in the paper.
        says: The claim, in a sentence of ours.
        holds: Whether the run confirms it. No cap, threshold, tolerance or default of ours may decide this.
        found: The evidence, or the instance that contradicts it.
        quote: The paper's own words.
        on_other_data: Whether the run is on data other than the paper's, which refutes no words about those.
    """
    contradicted = Judgement.REFUTED if quote and not on_other_data else Judgement.UNCONFIRMED
    return PaperClaim(where, says, quote, False, Judgement.CONFIRMED if holds else contradicted, found)


def ours(where: str, says: str, holds: bool, found: str) -> PaperClaim:
    """Return a statement of ours that was checked.

    Args:
        where: The place in the paper that it is about.
        says: The statement.
        holds: Whether the run confirms it.
        found: The evidence, or the instance that contradicts it.
    """
    return PaperClaim(where, says, "", True, Judgement.CONFIRMED if holds else Judgement.UNCONFIRMED, found)


def follows(where: str, says: str, holds: bool, found: str, *, quote: str = "", own: bool = False) -> PaperClaim:
    """Return a statement that follows from how something is built, and that the run shows.

    Args:
        where: The construction that it follows from.
        says: The statement.
        holds: Whether the run agrees.
        found: The evidence, or the instance that contradicts the statement.
        quote: The paper's own words, if it makes the statement.
        own: Whether the statement is ours: no paper makes it.

    Raises:
        ValueError: If a statement of ours has a quotation.
    """
    if not holds and not own:
        return judged(where, says, holds, found, quote=quote)
    return PaperClaim(where, says, quote, own, Judgement.FOLLOWS if holds else Judgement.UNCONFIRMED, found)


def unchecked(where: str, says: str, why: str, *, quote: str = "") -> PaperClaim:
    """Return a claim of the paper that cannot be checked.

    Args:
        where: Its place in the paper.
        says: The claim, in a sentence of ours.
        why: The reason.
        quote: The paper's own words.
    """
    return PaperClaim(where, says, quote, False, Judgement.OPEN, why)


def illustrates(where: str, says: str, holds: bool, found: str, *, quote: str = "") -> PaperClaim:
    """Return a claim that the run may confirm and cannot contradict, such as one that something exists.

    Args:
        where: Its place in the paper.
        says: The claim, in a sentence of ours.
        holds: Whether the run shows it.
        found: The evidence, and what differs from the paper.
        quote: The paper's own words.
    """
    return judged(where, says, True, found, quote=quote) if holds else unchecked(where, says, found, quote=quote)


_OF_THE_PAPER: Final = (Judgement.CONFIRMED, Judgement.REFUTED, Judgement.UNCONFIRMED, Judgement.OPEN)
_OF_OURS: Final = (Judgement.CONFIRMED, Judgement.UNCONFIRMED)


def counts(claims: Sequence[tuple[bool, Judgement]]) -> str:
    """Return how many claims have each verdict, in a sentence: published ones, and ours.

    Args:
        claims: Whether each is ours, and its verdict.
    """

    def counted(ours: bool, verdicts: Sequence[Judgement]) -> str:
        return ", ".join(f"{claims.count((ours, verdict))} {verdict}" for verdict in verdicts)

    parts = [f"Published claims: {counted(False, _OF_THE_PAPER)}"]
    if follows := claims.count((False, Judgement.FOLLOWS)):
        parts.append(f"{follows} {Judgement.FOLLOWS}")
    if any(ours for ours, _ in claims):
        built = (Judgement.FOLLOWS,) if (True, Judgement.FOLLOWS) in claims else ()
        parts.append(f"statements of ours: {counted(True, (*_OF_OURS, *built))}")
    return "; ".join(parts) + "."
