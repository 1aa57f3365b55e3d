"""Parts of a column with names of their own: of structures, lists, maps, JSON and encoded texts."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote

from .embedded_texts import is_binary, is_readable, is_text, texts_of

_DEPTH: Final = 3  # encodings and texts of JSON inside each other
_PARTS: Final = 200  # of a column that are looked at
_ITEMS: Final = 8  # of a list
_FEW: Final = 10  # texts from which a form of texts is looked at, with any other texts
_HALF: Final = 0.5  # share of the texts that must have a form
_LEAST: Final = 4  # bytes that may hold a number
_HEXADECIMAL: Final = re.compile(r"(?:\\x|0x)?((?:[0-9A-Fa-f]{2})+)")
_BASE64: Final = re.compile(r"(?:data:[^,]*,)?([0-9A-Za-z+/_-]+)={0,2}")
_SIGNS: Final = re.compile(r"[\s,:;|]+")
_NAMED: Final = re.compile(
    r"([^\W\d][\w.-]*)[\"']?\s*(?:=>|[:=>]|(?<=[\"'])\s*,)\s*[\"']?([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)


def parts_in(name: str, column: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield the plain columns in a column, Arrow arrays (n,), with names such as ``end.lat`` in a column ``end``.

    A plain column is one itself. Texts also have what they hold as JSON, ``name=5``, hexadecimal or base64.

    Args:
        name: The column.
        column: An Arrow array without dictionaries.
        depth: How many encodings are looked into.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_struct(kind):
        for field, part in zip(kind, column.flatten(), strict=True):
            yield from parts_in(f"{name}.{field.name}", part, depth)
    elif pa.types.is_nested(kind):
        yield name, pa.array(texts_of(column), pa.string())
        yield from _of_objects(name, column.to_pylist(), depth)
    else:
        yield name, column
        if depth and (is_text(kind) or is_binary(kind)):
            yield from _of_texts(name, column, depth - 1)


def _of_texts(name: str, column: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the parts of texts or bytes: what they encode, and the values in them that have names."""
    import pyarrow as pa

    texts = texts_of(column)
    if is_binary(column.type) and not is_readable(column.to_pylist()):
        return
    objects = [_parsed(text) for text in texts]
    if not any(objects):
        objects = [dict(_NAMED.findall(unquote(text))) for text in texts]
    yield from _of_objects(name, objects, depth)
    ends = [[words[-1] if (words := _SIGNS.split(text)) else "" for text in texts]]
    for written in (texts, *(each for each in ends if each != texts)):
        for decode in (_from_hexadecimal, _from_base64):
            values = [decode(text) for text in written]
            if _are_many(values, texts):
                plain = [value.decode() if value else value for value in values] if is_readable(values) else values
                yield from parts_in(name, pa.array(plain), depth)
                break  # hexadecimal digits may be read as base64, too


def _of_objects(name: str, objects: Sequence[Any], depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the parts of values of Python, such as dictionaries and lists in each other."""
    columns: dict[str, list[Any]] = {}
    for row, value in enumerate(objects):
        for path, leaf in _leaves(name, value):
            if path in columns or len(columns) < _PARTS:
                columns.setdefault(path, [None] * len(objects))[row] = leaf
    for path, leaves in columns.items():
        yield from parts_in(path, _array(leaves), depth)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the plain values in a value, and their names; a map of Arrow is a list of pairs."""
    if isinstance(value, list) and value and all(isinstance(each, tuple) and len(each) == 2 for each in value):
        value = {str(key): each for key, each in value}
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(f"{name}.{key}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value[:_ITEMS]):
            yield from _leaves(f"{name}.{number}", each)
    elif value is not None:
        yield name, value


def _array(values: Sequence[Any]) -> Any:
    """Return values as an Arrow array; as texts where they are of several types."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        texts = [None if value is None else str(value).encode(errors="replace").decode() for value in values]
        return pa.array(texts, pa.string())


def _are_many(values: Sequence[Any], texts: Sequence[str]) -> bool:
    """Return whether half of the texts, or ten of them, have a value."""
    count, written = sum(map(bool, values)), sum(map(bool, texts))
    return count >= max(1, min(_FEW, _HALF * written))


def _parsed(text: str) -> Any:
    """Return the dictionary or list that a text is in JSON; None for others."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _from_hexadecimal(text: str) -> bytes | None:
    found = _HEXADECIMAL.fullmatch(text)
    return bytes.fromhex(found[1]) if found and len(found[1]) >= 2 * _LEAST else None


def _from_base64(text: str) -> bytes | None:
    """Return the bytes that a text encodes in base64 of either alphabet, with or without padding."""
    found = _BASE64.fullmatch(text)
    if not found or len(found[1]) % 4 == 1:
        return None
    try:
        value = base64.b64decode(found[1].translate({45: 43, 95: 47}) + "=" * (-len(found[1]) % 4), validate=True)
    except binascii.Error:
        return None
    return value if len(value) >= _LEAST else None
