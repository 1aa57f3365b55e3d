"""Claims of a paper, and what a run of its study says of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import final

from ...core.frozen import Short


class Judgement(StrEnum):
    """The outcome for a claim in a run."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    FOLLOWS = "by construction"
    OPEN = "not checkable"


@final
@dataclass(frozen=True, slots=True, repr=False)
class PaperClaim(Short):
    """A claim of a paper.

    Attributes:
        where: Its place in the paper: ``Figure 2a``.
        says: The claim, in a sentence.
        verdict: Whether it was confirmed or refuted, or cannot be checked. What follows from how something is
            built is counted apart: a run can refute it, and adds little by confirming it.
        found: The evidence in numbers of the run's tables; of a refuted claim, the instance; of one that cannot
            be checked, why.
    """

    where: str
    says: str
    verdict: Judgement
    found: str


def judged(where: str, says: str, holds: bool, found: str) -> PaperClaim:
    """Return a claim that was checked.

    Args:
        where: Its place in the paper.
        says: The claim.
        holds: Whether the run confirms it.
        found: The evidence, or the instance that refutes it.
    """
    return PaperClaim(where, says, Judgement.CONFIRMED if holds else Judgement.REFUTED, found)


def follows(where: str, says: str, holds: bool, found: str) -> PaperClaim:
    """Return a statement that follows from how something is built, and that the run shows.

    Args:
        where: What it follows from.
        says: The statement.
        holds: Whether the run agrees.
        found: What it shows, or the instance that refutes the statement.
    """
    return PaperClaim(where, says, Judgement.FOLLOWS if holds else Judgement.REFUTED, found)


def unchecked(where: str, says: str, why: str) -> PaperClaim:
    """Return a claim that cannot be checked.

    Args:
        where: Its place in the paper.
        says: The claim.
        why: What is missing.
    """
    return PaperClaim(where, says, Judgement.OPEN, why)
