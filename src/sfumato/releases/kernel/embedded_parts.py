"""Parts of a column with names of their own: of structures, lists, maps, JSON and encoded texts."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final
from urllib.parse import unquote

from ...tables import python_values
from .embedded_texts import is_binary, is_readable, is_text, texts_of
from .encodings import FIRST, decode, tokens_of

_DEPTH: Final = 3  # encodings and texts of JSON inside each other
_PARTS: Final = 200  # of a column that are looked at
_ITEMS: Final = 8  # of a list
_FEW: Final = 10  # texts from which a form of texts is looked at, with any other texts
_HALF: Final = 0.5  # share of the texts that must have a form
_LARGEST: Final = 1e9  # float above which bytes were hardly meant as one
_SLOTS: Final = 4  # parts of texts that are decoded
_SIGNS: Final = re.compile(r"[\s,:;|]+")
_NAMED: Final = re.compile(
    r"([^\W\d][\w.-]*)[\"']?\s*(?:=>|[:=>]|(?<=[\"'])\s*[,;])\s*(?:[dis]:(?:\d+:)?)?"
    r"[\"']?([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_PACKED: Final = re.compile(
    rb"\x01(?P<name>[A-Za-z_]\w{1,30})\0(?P<double>.{8})"  # of BSON
    rb"|[\x60-\x77\xa1-\xbf](?P<key>[A-Za-z_]\w{1,30})(?P<head>[\xca\xcb\xfa\xfb])(?=(?P<number>.{4,8}))",
    re.DOTALL,
)
_PAIR: Final = ({"key", "value"}, {"name", "value"}, {"k", "v"}, {"Key", "Value"}, {"Name", "Value"})


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
        yield from _of_objects(name, python_values(column), depth)
    else:
        yield name, column
        if depth and (is_text(kind) or is_binary(kind)):
            yield from _of_texts(name, column, depth - 1)


def _of_texts(name: str, column: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """Yield the parts of texts or bytes: what they encode, and the values in them that have names."""
    import pyarrow as pa

    values = column.to_pylist() if is_binary(column.type) else []
    if values and not is_readable(values):
        yield from _of_objects(name, [_packed_names(value or b"") for value in values], depth)
        return
    texts = texts_of(column)
    objects = [_parsed(text) for text in texts]
    if not any(objects):
        objects = [dict(_NAMED.findall(unquote(text))) for text in texts]
    yield from _of_objects(name, objects, depth)
    tokens = [tokens_of(text) for text in texts]
    ends = [words[-1] if (words := _SIGNS.split(text)) else "" for text in texts]
    slots = [[each[slot] if slot < len(each) else "" for each in tokens] for slot in range(_SLOTS)]
    for number, written in enumerate((texts, ends, *slots)):
        if number and written == texts:
            continue
        for encoding in FIRST:
            decoded = [decode(encoding, text) for text in written]
            if not _are_many(decoded, texts):
                continue
            readable = is_readable(decoded)
            if number < 2 or readable:  # parts of any text decode to bytes that mean nothing
                yield from parts_in(name, pa.array(texts_of(pa.array(decoded)) if readable else decoded), depth)
            break  # hexadecimal digits may be read as base64, too


def _packed_names(value: bytes) -> dict[str, float]:
    """Return the floats behind their names in bytes of BSON, MessagePack or CBOR."""
    found = {}
    for match in _PACKED.finditer(value):
        if match["name"]:
            found[match["name"].decode()] = struct.unpack("<d", match["double"])[0]
        elif len(match["number"]) >= (size := 4 if match["head"] in b"\xca\xfa" else 8):
            form = ">f" if size == 4 else ">d"
            found[match["key"].decode()] = struct.unpack(form, match["number"][:size])[0]
    return {name: number for name, number in found.items() if abs(number) <= _LARGEST}


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
    if isinstance(value, list) and (pairs := _named_pairs(value)):
        value = pairs
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(f"{name}.{key}", each)
    elif isinstance(value, list):
        for number, each in enumerate(value[:_ITEMS]):
            yield from _leaves(f"{name}.{number}", each)
    elif value is not None:
        yield name, value


def _named_pairs(value: list[Any]) -> dict[str, Any] | None:
    """Return what a list of pairs of a name and a value says, or of names and values by turns; None for others."""
    if value and all(isinstance(each, dict) and set(each) in _PAIR for each in value):
        value = [tuple(each.values()) for each in ({k: each[k] for k in sorted(each)} for each in value)]
    if value and len(value) % 2 == 0 and all(isinstance(each, str) for each in value[::2]):
        value = list(zip(value[::2], value[1::2], strict=True))
    pairs = all(
        isinstance(each, tuple) or (isinstance(each, list) and len(each) == 2 and isinstance(each[0], str))
        for each in value
    )
    return {str(key): each for key, each in value} if value and pairs else None


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
