"""Encodings of bytes as texts: one table of patterns and decoders, and what a value holds in any of them."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Iterator
from html import unescape
from typing import Final
from urllib.parse import unquote

from .embedded_texts import readable_text

_LEAST: Final = 4  # bytes that may hold a number
_DEPTH: Final = 3  # encodings inside each other
_TOKENS: Final = 8  # of a text that are decoded
_LONGEST: Final = 4096  # bytes that are looked at
_TOKEN: Final = re.compile(r"[0-9A-Za-z+/_-]{8,}={0,6}")
_GAPS: Final = re.compile(r"[\s:-]")


def _base64(text: str) -> bytes:
    text = text.rpartition(",")[2].rstrip("=").translate({45: 43, 95: 47})
    return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)


def _base32(text: str) -> bytes:
    text = text.rstrip("=")
    return base64.b32decode(text + "=" * (-len(text) % 8))


def _whole_number(text: str) -> bytes:
    return int(text).to_bytes(-(-int(text).bit_length() // 8), "big")


# Hexadecimal digits may be read as base64, too: the first is taken where a whole column is decoded.
_ENCODINGS: Final[dict[str, tuple[re.Pattern[str], Callable[[str], bytes]]]] = {
    "hexadecimal": (
        re.compile(r"(?:\\x|0x)?(?:[0-9A-Fa-f]{2})+|(?:[0-9A-Fa-f]{2}[:\s-]){7,}[0-9A-Fa-f]{2}"),
        lambda text: bytes.fromhex(_GAPS.sub("", text.removeprefix("\\x").removeprefix("0x"))),
    ),
    "base64": (re.compile(r"(?:data:[^,]*,)?[0-9A-Za-z+/_-]+={0,2}"), _base64),
    "base32": (re.compile(r"[A-Z2-7]{8,}={0,6}"), _base32),
    "whole number": (re.compile(r"\d{18,400}"), _whole_number),
    "list": (
        re.compile(r"[\[(]?\d{1,3}(?:,\s*\d{1,3}){7,}[\])]?"),
        lambda text: bytes(int(each) for each in re.findall(r"\d+", text)),
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
    """Return the bytes that a text holds in an encoding, inflated; None where it is not written so.

    Args:
        encoding: Its name in the table.
        text: The text.
    """
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
    found = _TOKEN.findall(text)[:_TOKENS]
    return [*found, *(each for token in found for each in re.split("[-_/]", token) if 8 <= len(each) < len(token))]


def contents_of(value: str | bytes, depth: int = _DEPTH) -> Iterator[str | bytes]:
    """Yield a value, and all texts and bytes that are encoded in it or in its parts.

    Args:
        value: The value.
        depth: How many encodings are looked into.
    """
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
