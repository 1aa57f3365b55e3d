"""Parts of a column that have names or encodings of their own: in structures, lists, maps, JSON and texts."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import Any, Final
from urllib.parse import unquote

from ..._system import pa
from ...tables import python_values

_ODD: Final = 0.05  # share of the texts that may be something else
_MOST: Final = 4  # parts from the front that are looked at
_ENDS: Final = range(12, 4, -1)  # characters of a geohash
_PLAIN: Final = 0.8  # share of the characters that are in ASCII
_CODECS: Final = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "latin-1")
_PART: Final = re.compile(r"[0-9A-Za-z+]+")
_LEAST: Final = 4  # bytes that may hold a number
_DEPTH: Final = 3  # encodings inside each other
_TOKENS: Final = 8  # of a text that are decoded
_LONGEST: Final = 4096  # bytes that are looked at
_TOKEN: Final = re.compile(r"[0-9A-Za-z+/_-]{8,}={0,6}")
_GAPS: Final = re.compile(r"[\s:-]")
_PARTS: Final = 200  # of a column that are looked at
_ITEMS: Final = 8  # of a list
_FEW: Final = 10  # texts from which a form of texts is looked at, with any other texts
_HALF: Final = 0.5  # share of the texts that must have a form
_LARGEST: Final = 1e9  # float above which bytes were probably not meant as one
_SLOTS: Final = 4  # parts of texts that are decoded
_SIGNS: Final = re.compile(r"[\s,:;|]+")
_FIELD: Final = re.compile(
    r"([^\W\d][\w.-]*)[\"']?\s*(?:=>|[:=>]|(?<=[\"'])\s*[,;])\s*(?:[dis]:(?:\d+:)?)?"
    r"[\"']?([-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_PACKED: Final = re.compile(
    rb"\x01(?P<name>[A-Za-z_]\w{1,30})\0(?P<double>.{8})"  # of BSON
    rb"|[\x60-\x77\xa1-\xbf](?P<key>[A-Za-z_]\w{1,30})(?P<head>[\xca\xcb\xfa\xfb])(?=(?P<number>.{4,8}))",
    re.DOTALL,
)
_PAIR: Final = ({"key", "value"}, {"name", "value"}, {"k", "v"}, {"Key", "Value"}, {"Name", "Value"})


def texts_of(column: Any) -> list[str]:
    """Return a column as texts, empty where there is nothing; lists and structures as they are printed."""
    if not (is_text(column.type) or is_binary(column.type)):
        return ["" if value is None else str(value) for value in python_values(column)]
    as_bytes = [value or b"" for value in column.cast(pa.large_binary()).to_pylist()]
    if is_text(column.type):
        return [value.decode("utf-8", "replace").strip() for value in as_bytes]
    return [(readable_text(value) or value.decode("utf-8", "replace")).strip() for value in as_bytes]


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type is one of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_binary(kind: Any) -> bool:
    """Return whether an Arrow type is one of bytes."""
    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def is_readable(values: Sequence[bytes | None]) -> bool:
    """Return whether nearly all bytes are texts of visible characters."""
    nonempty = [value for value in values if value]
    return sum(readable_text(value) is not None for value in nonempty) >= (1 - _ODD) * max(1, len(nonempty))


def readable_text(value: bytes) -> str | None:
    """Return bytes as a text of visible characters, mostly plain ones except in UTF-8; None for others."""
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
    """Yield the first, second, ... and last parts of texts, between signs and blanks, where there are several."""
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
    """Yield the last twelve, eleven, ... characters of longer texts, where nearly all of them may be a code."""
    nonempty = [text for text in texts if text]
    if are_rising(texts):
        return
    for size in _ENDS:
        longer = [text[-size:] for text in nonempty if len(text) > size]
        if len(longer) >= (1 - _ODD) * max(1, len(nonempty)) and all(map(code.fullmatch, longer)):
            yield [text[-size:] if len(text) > size else "" for text in texts]


def are_rising(texts: Sequence[str]) -> bool:
    """Return whether texts rise from row to row, as the numbers of rows do, or are all alike."""
    return sum(left <= right for left, right in pairwise(texts)) > (1 - _ODD) * (len(texts) - 1)


def _base64(text: str) -> bytes:
    text = text.rpartition(",")[2].rstrip("=").translate({45: 43, 95: 47})
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


# Hexadecimal digits may be read as base64, too: the first is taken where a whole column is decoded.
_ENCODINGS: Final[dict[str, tuple[re.Pattern[str], Callable[[str], bytes]]]] = {
    "hexadecimal": (
        re.compile(r"(?:\\x|0x)?(?:[0-9A-Fa-f]{2})+|(?:[0-9A-Fa-f]{2}[:\s-]){7,}[0-9A-Fa-f]{2}"),
        lambda text: bytes.fromhex(_GAPS.sub("", text.removeprefix("\\x").removeprefix("0x"))),
    ),
    "base64": (re.compile(r"(?:data:[^,]*,)?[0-9A-Za-z+/_-]+={0,2}"), _base64),
    "base32": (re.compile(r"[A-Z2-7]{8,}={0,6}"), lambda text: base64.b32decode(text + "=" * (-len(text) % 8))),
    "whole number": (
        re.compile(r"\d{18,400}"),
        lambda text: int(text).to_bytes(-(-int(text).bit_length() // 8), "big"),
    ),
    "list": (
        re.compile(r"[\[(]?\d{1,3}(?:,\s*\d{1,3}){7,}[\])]?"),
        lambda text: bytes(int(byte) for byte in re.findall(r"\d+", text)),
    ),
    "literal": (
        re.compile(r"b(['\"]).*\1", re.DOTALL),
        lambda text: text[2:-1].encode("latin-1").decode("unicode_escape").encode("latin-1"),
    ),
    "base85": (re.compile(r"[0-9A-Za-z!#$%&()*+;<=>?@^_`{|}~-]{10,}"), base64.b85decode),
    "Ascii85": (re.compile(r"(?:<~)?[!-uz]{10,}(?:~>)?"), lambda text: base64.a85decode(text.strip("<~>"))),
}
FIRST: Final = tuple(_ENCODINGS)[:-2]  # those that are looked for in parts of texts: few texts are one by chance


def decode(encoding: str, text: str) -> bytes | None:
    """Return the bytes that a text holds in an encoding, inflated; None where it is not written so."""
    pattern, decoder = _ENCODINGS[encoding]
    if not pattern.fullmatch(text):
        return None
    try:
        value = inflate(decoder(text))
    except ValueError:
        return None
    return value if len(value) >= _LEAST else None


def inflate(value: bytes) -> bytes:
    """Return bytes without the compression of zlib or gzip."""
    try:
        return zlib.decompressobj(47).decompress(value, _LONGEST) or value
    except zlib.error:
        return value


def tokens_of(text: str) -> list[str]:
    """Return the parts of a text that may be encoded, such as the three of a JSON web token."""
    tokens = _TOKEN.findall(text)[:_TOKENS]
    return [
        *tokens,
        *(piece for token in tokens for piece in re.split("[-_/]", token) if 8 <= len(piece) < len(token)),
    ]


def contents_of(value: str | bytes, depth: int = _DEPTH) -> Iterator[str | bytes]:
    """Yield a value, and all texts and bytes that are encoded in it or in its parts."""
    value = value[:_LONGEST]
    if isinstance(value, bytes):
        yield value
        text = readable_text(value)
        if text is None:
            inflated = inflate(value)
            if depth and inflated != value:
                yield from contents_of(inflated, depth - 1)
            return
        value = text
    plain = unquote(unescape(value))
    yield plain
    for token in dict.fromkeys([value.strip(), *tokens_of(plain)]) if depth else ():
        for encoding in _ENCODINGS if token == value.strip() else FIRST:
            if inner := decode(encoding, token):
                yield from contents_of(inner, depth - 1)


def parts_in(name: str, column: Any, depth: int = _DEPTH) -> Iterator[tuple[str, Any]]:
    """Yield the plain columns in a column, also encoded ones, as Arrow arrays (n,) with dotted names."""
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
    values = column.to_pylist() if is_binary(column.type) else []
    if values and not is_readable(values):
        yield from _of_objects(name, [_packed_names(value or b"") for value in values], depth)
        return
    texts = texts_of(column)
    objects = [_parse_json(text) for text in texts]
    if not any(objects):
        objects = [dict(_FIELD.findall(unquote(text))) for text in texts]
    yield from _of_objects(name, objects, depth)
    tokens = [tokens_of(text) for text in texts]
    ends = [words[-1] if (words := _SIGNS.split(text)) else "" for text in texts]
    slots = [[token[slot] if slot < len(token) else "" for token in tokens] for slot in range(_SLOTS)]
    for number, series in enumerate((texts, ends, *slots)):
        if number and series == texts:
            continue
        for encoding in FIRST:
            decoded = [decode(encoding, text) for text in series]
            if sum(map(bool, decoded)) < max(1, min(_FEW, _HALF * sum(map(bool, texts)))):
                continue
            readable = is_readable(decoded)
            if number < 2 or readable:  # parts of any text decode to bytes that mean nothing
                yield from parts_in(name, pa.array(texts_of(pa.array(decoded)) if readable else decoded), depth)
            break  # hexadecimal digits may be read as base64, too


def _packed_names(value: bytes) -> dict[str, float]:
    """Return the floats behind their names in bytes of BSON, MessagePack or CBOR."""
    numbers = {}
    for match in _PACKED.finditer(value):
        if match["name"]:
            numbers[match["name"].decode()] = struct.unpack("<d", match["double"])[0]
        elif len(match["number"]) >= (size := 4 if match["head"] in b"\xca\xfa" else 8):
            form = ">f" if size == 4 else ">d"
            numbers[match["key"].decode()] = struct.unpack(form, match["number"][:size])[0]
    return {name: number for name, number in numbers.items() if abs(number) <= _LARGEST}


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
        for key, child in value.items():
            yield from _leaves(f"{name}.{key}", child)
    elif isinstance(value, list):
        for number, child in enumerate(value[:_ITEMS]):
            yield from _leaves(f"{name}.{number}", child)
    elif value is not None:
        yield name, value


def _named_pairs(value: list[Any]) -> dict[str, Any] | None:
    """Return what a list of pairs of a name and a value says, or of names and values by turns; None for others."""
    if value and all(isinstance(pair, dict) and set(pair) in _PAIR for pair in value):
        value = [tuple(pair.values()) for pair in ({k: pair[k] for k in sorted(pair)} for pair in value)]
    if value and len(value) % 2 == 0 and all(isinstance(key, str) for key in value[::2]):
        value = list(zip(value[::2], value[1::2], strict=True))
    pairs = all(
        isinstance(pair, tuple) or (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str))
        for pair in value
    )
    return {str(key): entry for key, entry in value} if value and pairs else None


def _array(values: Sequence[Any]) -> Any:
    """Return values as an Arrow array; as texts where they are of several types."""
    try:
        return pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError, ValueError):
        texts = [None if value is None else str(value).encode(errors="replace").decode() for value in values]
        return pa.array(texts, pa.string())


def _parse_json(text: str) -> Any:
    """Return the dictionary or list that a text is in JSON; None for others."""
    if text[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
