"""Names of distances and losses in sentences: those from outside are in quotation marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from ..errors import InputError
from ..escaping import plain
from ..rounding import amount_at_most
from .distances import KINDS

EXPECTED, WORST_CASE, DISTORTION = "expected", "worst-case", "distortion"
"""Objectives of designs."""

TRUE_POINT: Final = " distance of the true point"
"""Ending of the name of a loss from true points."""

KIND_ERROR: Final = "chance of a wrong guess of the kind"
"""Name of the errors of an attacker who guesses the kind of a place."""

BORDER: Final = (
    "Distances are between the centres of cells: two people a metre apart, on two sides of a border, count as far "
    "apart as the centres of their cells."
)
"""The distance of two people in two cells."""

DIRECTION: Final = "The distance depends on the direction: for A against B, the one from A to B counts."
"""The meaning of distances that are not symmetric."""

_LONGEST: Final = 40  # characters of a name
_NUMBER: Final = r"\d+(?:\.\d+)?(?:e[+-]?\d+)?"
_WORD: Final = r"[^\W\d_%‰°€$£¥][\w%‰°²³€$£¥/^·-]{0,15}|[%‰°€$£¥]"
_NOUNS: Final = ("member", "metric", "loss", "distance", "lattice steps", "steps between neighbours")
# Compiled by their first use, which many programs never come to.
_PACKAGE_NAME: Final = (
    rf"(?:closure of |{_NUMBER} x )*"
    rf"(?:(?:{'|'.join((*KINDS, *_NOUNS))})(?:{TRUE_POINT})?|hops of at most {_NUMBER}(?: (?:{_WORD}))?)"
)
_LABEL: Final = r"[\w.+-]{1,24}"


def name_phrase(name: str, noun: str = "") -> str:
    """Return a name for a sentence: as it is if the package makes it, else quoted, on one line and cut.

    ``noun`` is what the name denotes; "" where the sentence says so already.

    Example:
        >>> print(name_phrase("euclidean", "distance"), "-", name_phrase("my way", "distance"))
        euclidean distance - distance called 'my way'
    """
    if re.fullmatch(_PACKAGE_NAME, name):
        return name if name == noun else f"{name} {noun}".strip()
    return f"{noun} called {quote(name)}".strip()


def quote(text: object, longest: int = _LONGEST) -> str:
    """Return a text from outside in quotation marks, on one line, cut at ``longest`` characters."""
    line = plain(text)
    return repr(line if len(line) <= longest else f"{line[: longest - 1]}…")


def label_phrase(label: object) -> str:
    """Return a label for a sentence: a short word or number as it is, others in quotation marks."""
    word = plain(str(label))
    return word if re.fullmatch(_LABEL, word) else quote(word)


def list_names(names: Iterable[object], most: int = 8) -> str:
    """Return names with commas between them: of more than ``most``, the first and the number of the others."""
    texts = [str(name) for name in names]
    more = f", and {len(texts) - most:,} more" if len(texts) > most else ""
    return ", ".join(texts[:most]) + more


def slack_words(slack_m: float) -> str:
    """Return the meaning of a guarantee's slack, as a sentence."""
    slack = amount_at_most(slack_m, "m")
    return f"Its guarantee has a slack: it treats two points as up to {slack} farther apart than they are."


def is_unit(text: str) -> bool:
    """Return whether a text is a short word, without spaces and punctuation, or empty."""
    return not text or re.fullmatch(_WORD, text) is not None


def check_unit(text: str) -> None:
    """Refuse a unit that is neither empty nor a short word (`InputError`): longer texts could mislead."""
    if not is_unit(text):
        raise InputError(
            f"the unit {quote(text)} is not a short word.",
            "use one of at most 16 letters without spaces, such as km, year or euro.",
        )
