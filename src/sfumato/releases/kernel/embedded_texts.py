"""Texts in a column, and their parts: codes of places may stand behind something else, as in ``ab3f-u09tvw0``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from ...tables import python_values

_ODD: Final = 0.05  # share of the texts that may be something else
_MOST: Final = 4  # parts from the front that are looked at
_ENDS: Final = range(12, 4, -1)  # characters of a geohash
_PLAIN: Final = 0.8  # share of the characters that are in ASCII
_CODECS: Final = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1")
_PART: Final = re.compile(r"[0-9A-Za-z+]+")


def texts_of(column: Any) -> list[str]:
    """Return a column as texts, empty where there is nothing; lists and structures as they are printed."""
    import pyarrow as pa

    if not (is_text(column.type) or is_binary(column.type)):
        return ["" if value is None else str(value) for value in python_values(column)]
    as_bytes = [value or b"" for value in column.cast(pa.large_binary()).to_pylist()]
    if is_text(column.type):
        return [value.decode("utf-8", "replace").strip() for value in as_bytes]
    return [(readable_text(value) or value.decode("utf-8", "replace")).strip() for value in as_bytes]


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is one of texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_binary(kind: Any) -> bool:
    """Return whether an Arrow type is one of bytes."""
    import pyarrow as pa

    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def is_readable(values: Sequence[bytes | None]) -> bool:
    """Return whether nearly all bytes are texts of visible characters.

    Args:
        values: The bytes; None or empty where there are none.
    """
    written = [value for value in values if value]
    return sum(readable_text(value) is not None for value in written) >= (1 - _ODD) * max(1, len(written))


def readable_text(value: bytes) -> str | None:
    """Return the text of visible characters that bytes are, in UTF-8, UTF-16, UTF-32 or Latin-1; None for others.

    In all but UTF-8 most characters must be plain ones, which few other bytes are by chance.

    Args:
        value: The bytes.
    """
    for codec in _CODECS:
        try:
            text = value.decode(codec).removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
        plain = codec == "utf-8" or len(text.encode("ascii", "ignore")) >= _PLAIN * len(text)
        if plain and "".join(text.split()).isprintable():
            return text
    return None


def parts_of(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the first, second, ... and last parts of texts, between signs and blanks, where there are several.

    Args:
        texts: The texts.
    """
    rows = [_PART.findall(text) for text in texts]
    most = max(map(len, rows), default=0)
    if most < 2:
        return
    places = [*range(min(most, _MOST)), *([-1] if most > _MOST or len(set(map(len, rows))) > 1 else [])]
    for place in places:
        parts = [row[place] if -len(row) <= place < len(row) else "" for row in rows]
        if not are_rising(parts):
            yield parts


def ends_of(texts: Sequence[str], code: re.Pattern[str]) -> Iterator[list[str]]:
    """Yield the last twelve, eleven, ... characters of longer texts, where nearly all of them may be a code.

    Args:
        texts: The texts.
        code: The pattern of the code.
    """
    written = [text for text in texts if text]
    if are_rising(texts):
        return
    for size in _ENDS:
        longer = [text[-size:] for text in written if len(text) > size]
        if len(longer) >= (1 - _ODD) * max(1, len(written)) and all(map(code.fullmatch, longer)):
            yield [text[-size:] if len(text) > size else "" for text in texts]


def are_rising(texts: Sequence[str]) -> bool:
    """Return whether texts rise from row to row, as the numbers of rows do, or are all alike.

    Args:
        texts: The texts.
    """
    return sum(one <= two for one, two in pairwise(texts)) > (1 - _ODD) * (len(texts) - 1)
