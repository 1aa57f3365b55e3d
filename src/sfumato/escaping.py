"""Escaping of text from outside for terminals, Markdown, HTML, CSV and figures.

Labels, units, names of metrics, columns, users and files come from files that anyone may have written. Characters
that control their output are made harmless: escape sequences, line breaks, ``=`` at the start of a spreadsheet
cell.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

# Printable by their category, yet invisible: fillers, joiners and the blank of Braille.
_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
_MARKDOWN: Final = r"[\\`*_\[\]|~$]"
_LINE_START: Final = r"^(?:[#+=-]|\d+(?=[.)]))"
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_FORMULA: Final = "['\\s]*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
# Zero-width joiners are letters' own in Persian or Hindi, and in emoji.
_JOINERS: Final = "\u200c\u200d"
_REASONS: Final = {
    "Cc": "a control character",
    "Cf": "a character that is not seen",
    "Cn": "a character that Unicode does not know here",
    "Cs": "half of a character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}
_NUMBER: Final = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


def plain(text: object) -> str:
    r"""Return a text as one line of visible characters.

    Control characters, line breaks, marks of writing direction, characters of no width and halves of characters
    are written as in Python (``\x1b``, ``\n``, ``\u202e``); spaces of any kind become a space. The result is for
    reading only: a text that spells out ``\x1b`` looks the same.

    Example:
        >>> print(plain("home\nProved: nothing"))
        home\nProved: nothing
    """
    characters = str(text)
    if characters.isascii() and characters.isprintable():
        return characters
    return "".join(_visible(character) for character in characters)


def shorten(text: object, longest: int = 60) -> str:
    """Return a text cut to this many characters, the last of them an ellipsis."""
    characters = str(text)
    return characters if len(characters) <= longest else f"{characters[: longest - 1]}…"


def invisible_character(text: str) -> str:
    r"""Return the first invisible character of a text, in words; empty if there is none.

    Example:
        >>> invisible_character("home\x1b[2J"), invisible_character("home")
        ('a control character (U+001B)', '')
    """
    if text.isascii() and text.isprintable():
        return ""
    for character in text:
        reason = _REASONS.get(unicodedata.category(character))
        if character in _INVISIBLE:
            reason = _REASONS["Cf"]
        if reason and character not in _JOINERS:
            return f"{reason} (U+{ord(character):04X})"
    return ""


def markdown(text: object) -> str:
    r"""Return a text as one line that Markdown shows as it stands.

    Example:
        >>> print(markdown("# a <b> `c`"))
        \# a &lt;b&gt; \`c\`
    """
    escaped = re.sub("[&<>]", lambda match: _ENTITIES[match[0]], plain(text).strip())
    escaped = re.sub(_MARKDOWN, lambda match: "\\" + match[0], escaped)
    return re.sub(_LINE_START, lambda match: match[0] + "\\" if match[0].isdigit() else "\\" + match[0], escaped)


def html(text: object) -> str:
    """Return a text as one line that HTML shows as it stands, also between quotation marks.

    Example:
        >>> print(html("<b> & 'c'"))
        &lt;b&gt; &amp; &#x27;c&#x27;
    """
    from html import escape  # its table of entities takes time to load

    return escape(plain(text))


def csv_cell(text: str) -> str:
    """Return a text as a cell of a CSV file that no spreadsheet takes for a formula.

    A text that is no number and begins with ``=``, ``+``, ``-``, ``@``, a tab or a line break, also after blanks
    or apostrophes, gets an apostrophe in front, which `from_csv_cell` removes. Other characters stay: the writer
    of the table quotes separators.

    Example:
        >>> csv_cell("=1+1"), csv_cell(" =1"), csv_cell("-3"), csv_cell("-3 km")
        ("'=1+1", "' =1", '-3', "'-3 km")
    """
    return f"'{text}" if re.match(_FORMULA, text) and not re.fullmatch(_NUMBER, text.strip()) else text


def csv_row(values: Iterable[object]) -> list[object]:
    """Return a row for a CSV writer, with texts as in `csv_cell`; numbers stay numbers."""
    return [csv_cell(value) if isinstance(value, str) else value for value in values]


def from_csv_cell(cell: str) -> str:
    """Return the original text of a `csv_cell`."""
    return cell[1:] if cell.startswith("'") and re.match(_FORMULA, cell) else cell


def figure(text: object) -> str:
    r"""Return a text for matplotlib: a dollar sign is shown, and starts no formula.

    A leading underscore, which would hide an entry of a legend, gets a space in front.

    Example:
        >>> print(figure("a $ b $"))
        a \$ b \$
    """
    line = plain(text).replace("$", r"\$")
    return f" {line}" if line.startswith("_") else line


def _visible(character: str) -> str:
    if character.isprintable() and character not in _INVISIBLE:
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    return character.encode("unicode_escape").decode("ascii")
