"""A paper to reproduce: the parts of its study, its claims with their verdicts, its figures and equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar, final

from sfumato.core.immutable import CompactRepr
from sfumato.errors import InputError
from sfumato.geo import Visits

from ..results import RunTables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAMES: Final = (
    "privacy-games",
    "mipan",
    "distribution-privacy",
    "change-in-formalism",
    "introductory",
    "follow-ups",
    "wild",
    "repeated-releases",
    "sequences",
)
"""All papers, in the order of the docs."""

SECONDS: Final = "-seconds"
"""Ending of names of tables and figures of times: they differ between runs, so the page has none of them."""

_Size = TypeVar("_Size")
Tables = Mapping[str, Sequence[Any]]
"""The rows of each table by its name: objects of a dataclass, or columns by name, the same in all rows."""


def paper_of(name: str) -> Paper:
    """Return the paper of a name; another name is an `InputError`."""
    if name not in NAMES:
        raise InputError(f"there is no study {name!r}.", f"the studies are {', '.join(NAMES)}.")
    paper: Paper = import_module(f"..{name.replace('-', '_')}.paper", __package__).PAPER
    return paper


class Judgement(StrEnum):
    """The verdict of a run on a claim."""

    CONFIRMED = "confirmed"
    REFUTED = "refuted"
    UNCONFIRMED = "not confirmed"
    FOLLOWS = "by construction"
    OPEN = "not checkable"


@final
@dataclass(frozen=True, slots=True, repr=False)
class PaperClaim(CompactRepr):
    """A claim of a paper, or a statement of ours about its subject.

    Only quoted words are refuted, on their own subject. A claim known only from a summary or tried on other data,
    and a statement of ours, are "not confirmed" if the run contradicts them.
    """

    where: str  # its place in the paper: "Figure 2a"
    says: str  # the claim in our words
    quote: str  # the paper's own words or formula, from the text that the study names; "" if not available
    ours: bool  # whether the statement is ours and not the paper's
    verdict: Judgement
    found: str  # evidence from the tables: the instance for a refuted claim, the reason for an unchecked one

    def __post_init__(self) -> None:
        if self.verdict is Judgement.REFUTED and (self.ours or not self.quote):
            raise ValueError(f"{self.where}: a refutation quotes what it refutes.")
        if self.ours and self.quote:
            raise ValueError(f"{self.where}: a statement of ours has no quotation.")


def judge(
    where: str, says: str, holds: bool, basis: str, *, quote: str = "", on_other_data: bool = False
) -> PaperClaim:
    """Return a claim of the paper that was checked, perhaps on other data than the paper's.

    No cap, threshold, tolerance or default of ours may decide whether it holds.
    """
    contradicted = Judgement.REFUTED if quote and not on_other_data else Judgement.UNCONFIRMED
    return PaperClaim(where, says, quote, False, Judgement.CONFIRMED if holds else contradicted, basis)


def remark(where: str, says: str, holds: bool, basis: str) -> PaperClaim:
    """Return a statement of ours that was checked."""
    return PaperClaim(where, says, "", True, Judgement.CONFIRMED if holds else Judgement.UNCONFIRMED, basis)


def follows(
    where: str, says: str, holds: bool, basis: str, *, quote: str = "", is_ours: bool = False
) -> PaperClaim:
    """Return a statement that follows from how something is built, and that the run shows."""
    if not holds and not is_ours:
        return judge(where, says, holds, basis, quote=quote)
    return PaperClaim(where, says, quote, is_ours, Judgement.FOLLOWS if holds else Judgement.UNCONFIRMED, basis)


def abstain(where: str, says: str, why: str, *, quote: str = "") -> PaperClaim:
    """Return a claim of the paper that cannot be checked, and the reason."""
    return PaperClaim(where, says, quote, False, Judgement.OPEN, why)


def illustrates(where: str, says: str, holds: bool, basis: str, *, quote: str = "") -> PaperClaim:
    """Return a claim that a run may confirm and cannot contradict, such as one that something exists."""
    return judge(where, says, True, basis, quote=quote) if holds else abstain(where, says, basis, quote=quote)


def counts(claims: Sequence[tuple[bool, Judgement]]) -> str:
    """Return how many claims, published ones and ours, have each verdict, in a sentence."""

    def tally(is_ours: bool, *verdicts: Judgement) -> str:
        return ", ".join(f"{claims.count((is_ours, verdict))} {verdict}" for verdict in verdicts)

    theorem = Judgement.FOLLOWS
    published = (Judgement.CONFIRMED, Judgement.REFUTED, Judgement.UNCONFIRMED, Judgement.OPEN)
    parts = [f"Published claims: {tally(False, *published)}"]
    if (False, theorem) in claims:
        parts.append(tally(False, theorem))
    if any(is_ours for is_ours, _ in claims):
        remarks = (Judgement.CONFIRMED, Judgement.UNCONFIRMED, *((theorem,) if (True, theorem) in claims else ()))
        parts.append(f"statements of ours: {tally(True, *remarks)}")
    return "; ".join(parts) + "."


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyPart(CompactRepr):
    """A part of a study: done completely or not at all, in any process, with a name of its own."""

    name: str
    make: Callable[..., Tables]  # a function of a module, whose result depends on its arguments alone
    arguments: tuple[Any, ...] = ()  # can be pickled


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Setting(CompactRepr):
    """The size and the data of a run."""

    quick: bool  # a small case, in less than a minute, instead of the full one
    data: Mapping[str, Visits]  # by the name of the source; the built-in city where no file was given
    has_files: bool  # whether files were given

    def size(self, quick: _Size, full: _Size) -> _Size:
        """Return the number of the small case or that of the full one."""
        return quick if self.quick else full


@final
@dataclass(frozen=True, slots=True, repr=False)
class Equation(CompactRepr):
    """An equation, table or figure of a paper, the public call that computes it, and the file of a run with it."""

    number: str
    topic: str
    call: str
    file: str = ""


def equations(*rows: Sequence[str]) -> tuple[Equation, ...]:
    """Return equations from their number, content and call, and the table of a run with it, if any."""
    return tuple(Equation(*row[:3], *(f"{table}.csv" for table in row[3:])) for row in rows)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Paper(CompactRepr):
    """A paper, or a collection of sources, to reproduce."""

    name: str  # at the command line
    title: str
    source: str  # authors, title, venue and year, with sections
    version: str  # a sentence: the text that claims are quoted from, or that none was available
    about: tuple[str, ...]  # sentences about method, data and units
    parts: Callable[[Setting], Sequence[StudyPart]]  # raises before any work if data lack something
    claims: Callable[[RunTables], Sequence[PaperClaim]]
    figures: Callable[[RunTables], Mapping[str, Figure]]  # by the names of their files without ending
    captions: Mapping[str, str]
    equations: tuple[Equation, ...]
    minutes: float  # of the full size on two cores
    extras: tuple[str, ...] = ()  # of the package
    visits: bool = True  # whether it is run on visits
    called: str = "the paper"  # on the page
    quick_says: str = "This is the quick small case. Its results say little about the paper."
