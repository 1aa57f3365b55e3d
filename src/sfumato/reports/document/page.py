"""Pages: sections of words, tables and figures as one HTML file that opens offline and prints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, final

from ..._system import atomically
from ...core.immutable import CompactRepr
from ...errors import MissingExtraError
from ...escaping import plain
from ..theme import style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES: Final = Path(__file__).with_name("templates")


@final
@dataclass(frozen=True, slots=True, repr=False)
class PageTable(CompactRepr):
    """A table: a caption, headings, and rows of texts; the first cell of a row is its heading.

    Attributes:
        caption: What it shows, in a sentence.
        headings: One for each column.
        rows: The rows, each as long as the headings.
        stacked: Whether the cells of a row, being sentences, are below each other on a narrow screen.
    """

    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    stacked: bool = False


@final
@dataclass(frozen=True, slots=True, repr=False)
class PageFigure(CompactRepr):
    """A drawing: SVG made by this package, with a caption.

    Attributes:
        svg: The drawing; texts in it are escaped already.
        caption: What it shows, in a sentence.
        wide: Whether it is to be scrolled on a narrow screen, because its text would be too small there.
        narrow: The same drawn for a narrow screen, where that is another drawing.
    """

    svg: str
    caption: str
    wide: bool = False
    narrow: str = ""


@final
@dataclass(frozen=True, slots=True, repr=False)
class PageSection(CompactRepr):
    """A section of a page.

    Attributes:
        title: Its heading.
        sentences: In reading order.
        items: Sentences shown as a list below.
        tables: Tables below.
        figures: Drawings below.
        formal: Sentences behind a fold, for readers of formulas.
        folded: Tables behind the same fold, before these.
        fold: What the fold is called.
        script: A program behind a fold of its own, as it stands.
        warning: Whether the first sentence warns.
    """

    title: str
    sentences: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    tables: tuple[PageTable, ...] = ()
    figures: tuple[PageFigure, ...] = ()
    formal: tuple[str, ...] = ()
    folded: tuple[PageTable, ...] = ()
    fold: str = "In formulas"
    script: str = ""
    warning: bool = False


@final
@dataclass(frozen=True, slots=True, repr=False)
class Page(CompactRepr):
    """A page.

    Attributes:
        title: Its title.
        lead: Sentences below the title.
        sections: The sections in reading order.
        signed: Whether it ends with lines for signatures.
        warning: Whether the first of the lead warns.
    """

    title: str
    lead: tuple[str, ...]
    sections: tuple[PageSection, ...]
    signed: bool = False
    warning: bool = False

    def html(self) -> str:
        """Return the page as one HTML file that needs nothing else.

        Raises:
            MissingExtraError: If jinja2 is not installed.
        """
        template = _environment().get_template("page.html")
        style = style_sheet() + (_TEMPLATES / "style.css").read_text(encoding="utf-8")
        return template.render(page=self, style=style)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all.

        Raises:
            FileError: If the file cannot be written.
            MissingExtraError: If jinja2 is not installed.
        """
        found = self.html()
        with atomically(path) as temporary:
            temporary.write_text(found, encoding="utf-8")


def check_pages() -> None:
    """Find out before the work whether pages can be made.

    Raises:
        MissingExtraError: If jinja2 is not installed.
    """
    _environment()


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("A page", "report") from None
    found = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    found.filters["plain"] = plain
    return found
