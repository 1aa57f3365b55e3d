"""A paper to reproduce: the parts of its study, its claims and figures, and where each equation is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from sfumato.core.immutable import CompactRepr
from sfumato.geo import Visits

from ..results import TableRow

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .claim import PaperClaim
    from .tables import RunTables

Made = Mapping[str, Sequence[TableRow]]
"""The rows of each table, by its name; all rows of a table have the same columns."""

SECONDS = "-seconds"
"""The ending of names of tables and figures that measure time: they differ between runs.

Such a figure is a file next to the page, not part of it.
"""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StudyPart(CompactRepr):
    """A part of a study. It is done completely or not at all, in any process.

    Attributes:
        name: A name, unique within the study.
        make: A function of a module. Its result depends only on its arguments, except for tables of seconds.
        arguments: Its arguments, which can be pickled.
    """

    name: str
    make: Callable[..., Made]
    arguments: tuple[Any, ...] = ()


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Setting(CompactRepr):
    """The size and the data of a run.

    Attributes:
        quick: Whether a small case is run, in less than a minute, instead of the full one.
        data: Visits by the name of their source: the built-in city where no file was given, and none for a study
            that needs no visits.
        given: Whether files were given.
    """

    quick: bool
    data: Mapping[str, Visits]
    given: bool


@final
@dataclass(frozen=True, slots=True, repr=False)
class Equation(CompactRepr):
    """An equation, table or figure of a paper, and where it is here.

    Attributes:
        number: Its number in the paper: ``(19)`` or ``Figure 3``.
        what: What it is, in a few words.
        call: The public call that computes it: ``sf.attacks.optimal``.
        file: The file of a run that has it; "" for none.
    """

    number: str
    what: str
    call: str
    file: str = ""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Paper(CompactRepr):
    """A paper, or a collection of sources, to reproduce.

    Attributes:
        name: Its name at the command line.
        title: Its title.
        source: Authors, title, venue and year, with sections.
        version: The text that claims are quoted from, in a sentence: ``Quoted from arXiv 1812.00939v5.``; or the
            sentence that no text was available, and claims are known from summaries.
        about: Sentences about method, data and units.
        parts: Returns the parts for a setting; raises before any work if data lack something.
        claims: Returns the claims, from the tables that the run wrote.
        figures: Returns the figures by the names of their files without ending, from the same tables.
        captions: What each figure shows, in a sentence or two.
        equations: Where equations and figures of the paper are here.
        minutes: About how long the full size takes on two cores.
        extras: The extras of the package that it needs.
        visits: Whether it is run on visits.
        called: Its name on the page: a paper, or sources.
        quick_says: What the page of a quick run says first.
        narrow: Returns figures that are drawn again for narrow screens, by the names of the wide ones.
    """

    name: str
    title: str
    source: str
    version: str
    about: tuple[str, ...]
    parts: Callable[[Setting], Sequence[StudyPart]]
    claims: Callable[[RunTables], Sequence[PaperClaim]]
    figures: Callable[[RunTables], Mapping[str, Figure]]
    captions: Mapping[str, str]
    equations: tuple[Equation, ...]
    minutes: float
    extras: tuple[str, ...] = ()
    visits: bool = True
    called: str = "the paper"
    quick_says: str = "This is the quick small case. Its results say little about the paper."
    narrow: Callable[[RunTables], Mapping[str, Figure]] | None = None
