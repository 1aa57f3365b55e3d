"""Names of people as names of files: any name has a file of its own, on every system, and is read back from it."""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote_to_bytes

from ...errors import InputError

_PLAIN: Final = frozenset(string.ascii_lowercase + string.digits + "-_@+,= .")
_LONGEST: Final = 200  # bytes of a stem
_DEVICES: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d) *(\.|$)")
_HASHED: Final = "%%"  # in front of a hash; no other stem holds it


def stem_of(name: str) -> str:
    """Return the stem of the file for a name; different names have different stems, also where case is ignored.

    Small letters, digits and ``- _ @ + , =``, and spaces and dots inside, stay; all else is written as ``%`` and
    two digits for each byte of UTF-8. A stem that would be too long is a hash.
    """
    coded = name.encode()
    plain = [chr(byte) if chr(byte) in _PLAIN else f"%{byte:02x}" for byte in coded]
    for end in (0, -1):
        if plain[end] in (" ", "."):
            plain[end] = f"%{ord(plain[end]):02x}"
    stem = "".join(plain)
    if _DEVICES.match(stem):  # names of devices on Windows
        stem = f"%{ord(stem[0]):02x}{stem[1:]}"
    return stem if len(stem) <= _LONGEST else _HASHED + hashlib.sha256(coded).hexdigest()


def name_of(stem: str) -> str:
    """Return the name that a stem stands for; a stem that `stem_of` does not make is a name as it is."""
    try:
        found = unquote_to_bytes(stem).decode()
    except UnicodeDecodeError:
        return stem
    return found if found and stem_of(found) == stem else stem


def is_hash(stem: str) -> bool:
    """Return whether a stem is the hash of a name that is too long."""
    return stem.startswith(_HASHED)


def check_names(names: Iterable[str]) -> None:
    """Refuse what is no name.

    Raises:
        InputError: If a name is empty, is not a text, or cannot be written in UTF-8.
    """
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"the name {name!r} is not a text.", "name each design with a text.")
        if not name:
            raise InputError("a name is empty.", "name each design with a text.")
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(f"the name {name!r} is not written in Unicode.", "use another name.") from None
