"""Names of users and places: one spelling each, and none that only looks like another."""

from __future__ import annotations

import unicodedata
from typing import Final

from ...errors import InputError

LONGEST: Final = 256
# Zero-width joiners are letters' own in Persian or Hindi; other characters that are not seen are refused.
_JOINERS: Final = "\u200c\u200d"
_REFUSED: Final = {
    "Cc": "a control character",
    "Cf": "a character that is not seen",
    "Cn": "a character that Unicode does not know here",
    "Cs": "half of a character",
    "Zl": "a line separator",
    "Zp": "a paragraph separator",
}


def accepted(name: str, what: str) -> str:
    """Return a name in Unicode's normal form C, so that one name has one spelling.

    Capital letters count: ``Ada`` and ``ada`` are two names.

    Args:
        name: The name.
        what: The thing that it names, for errors: ``"the user"``.

    Raises:
        InputError: If it is empty, too long, has blanks at its ends, or characters that are not seen.
    """
    if name.isascii() and name.isprintable() and 0 < len(name) <= LONGEST and name.strip() == name:
        return name
    if not name.strip():
        raise InputError(f"the name of {what} is empty.", "pass a text that is not empty.")
    if len(name) > LONGEST:
        raise InputError(
            f"the name of {what} has {len(name):,} characters ({name[:20]!r}...).",
            f"use at most {LONGEST}; a hash of it would do.",
        )
    if name.strip() != name:
        raise InputError(f"the name of {what} {name!r} begins or ends with a blank.", "strip it first.")
    for character in name:
        reason = _REFUSED.get(unicodedata.category(character))
        if reason and character not in _JOINERS:
            raise InputError(
                f"the name of {what} {name!r} has {reason} (U+{ord(character):04X}).",
                "take it out: two names that look alike would be two.",
            )
    found = unicodedata.normalize("NFC", name)
    if len(found) > LONGEST:
        raise InputError(
            f"the name of {what} has {len(found):,} characters ({name[:20]!r}...).", f"use at most {LONGEST}."
        )
    return found
