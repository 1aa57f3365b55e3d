"""Parts of pages that are written from the code whenever the documentation is built.

A page asks for one with a comment, ``<!-- NAME: written here by conf.py -->``, on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sfumato.privacy.vocabulary import table
from sfumato_papers.reproduction import paper_words

from .atlas_drawing import atlas_drawing
from .command_pages import command_words
from .notion_entries import notion_words

PARTS: Final[dict[str, Callable[[], str]]] = {
    "papers": paper_words,
    "commands": command_words,
    "atlas": atlas_drawing,
    "notions": notion_words,
    "vocabulary": table,
}
_ASKED: Final = re.compile(r"^<!-- (\w+): written here by conf\.py -->\n", flags=re.MULTILINE)


def completed(page: str) -> str:
    """Return the text of a page with all parts that it asks for.

    Raises:
        KeyError: If it asks for a part that is not in `PARTS`.
    """
    return _ASKED.sub(lambda asked: PARTS[asked[1]](), page)
