"""Pages of text, tables and figures as one HTML file that opens offline and prints."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ..._system import atomically
from ...core.immutable import CompactRepr
from ...errors import MissingExtraError
from ...escaping import plain
from ..theme import style_sheet

if TYPE_CHECKING:
    from jinja2 import Environment

_TEMPLATES: Final = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True, repr=False)
class PageTable(CompactRepr):
    """A table: a caption, headings, and rows of texts; the first cell of a row is its heading."""

    caption: str  # a sentence
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # each as long as the headings
    stacked: bool = False  # one cell below the other on a narrow screen


@dataclass(frozen=True, slots=True, repr=False)
class PageFigure(CompactRepr):
    """A drawing: SVG made by this package, with a caption."""

    svg: str  # made by this package, with its texts escaped
    caption: str
    wide: bool = False  # scrolled on a narrow screen
    narrow: str = ""  # another drawing for a narrow screen


@dataclass(frozen=True, slots=True, repr=False)
class PageSection(CompactRepr):
    """A section of a page."""

    title: str
    sentences: tuple[str, ...] = ()
    items: tuple[str, ...] = ()  # of a list
    tables: tuple[PageTable, ...] = ()
    figures: tuple[PageFigure, ...] = ()
    formal: tuple[str, ...] = ()  # sentences behind a fold
    folded: tuple[PageTable, ...] = ()  # tables behind the same fold
    fold: str = "In formulas"  # its name
    script: str = ""  # a program behind a fold of its own
    warning: bool = False  # whether the first sentence warns
    appendix: bool = False  # printed after the other sections, from a new sheet


@dataclass(frozen=True, slots=True, repr=False)
class Page(CompactRepr):
    """A page."""

    title: str
    lead: tuple[str, ...]
    sections: tuple[PageSection, ...]
    cover: tuple[tuple[str, tuple[str, ...]], ...] = ()  # headings and sentences of a first sheet to sign
    warning: bool = False  # whether the first of the lead warns

    def html(self) -> str:
        """Return the page as one self-contained HTML file; raise `MissingExtraError` without jinja2."""
        template = _environment().get_template("page.html")
        style = style_sheet() + (_TEMPLATES / "style.css").read_text(encoding="utf-8")
        return template.render(page=self, style=style)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page, whole or not at all; raise `FileError` if it cannot be written."""
        content = self.html()
        with atomically(path) as temporary:
            temporary.write_text(content, encoding="utf-8")


def check_pages() -> None:
    """Raise `MissingExtraError` before the work if jinja2 is not installed."""
    _environment()


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("A page", "report") from None
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["plain"] = plain
    return environment
