"""Numbers in a column of any plain type: in texts, lists, structures, well-known binary and codes of places."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from .embedded_texts import ends_of, is_binary, is_text, parts_of, texts_of

_FEW: Final = 10  # texts with three decimals from which numbers are looked at, whatever the other texts are
_ODD: Final = 0.05  # share of the texts that may be something else
_NAMES: Final = 8  # values of numbers that are names next to letters
_NUMBERS: Final = 12  # of one value that are looked at
_SHAPE: Final = re.compile(
    r"\s*(?:SRID=\d+;)?\s*(?:MULTI)?(?:POINT|LINESTRING|POLYGON)\s*(?:ZM|Z|M)?\s*(?:\(|EMPTY)"
    r"|\s*\{.*\"coordinates\"",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"(?:(?<![\d.)])[+-])?(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+)")
_ANGLE: Final = re.compile(r"(\d+)\s*°\s*(\d+(?:\.\d+)?)\s*['′’]\s*(?:(\d+(?:\.\d+)?)\s*(?:\"|″|”|''))?")
_DECIMALS: Final = re.compile(r"\d[.,]\d{3}")
_GEOHASH: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_IS_GEOHASH: Final = re.compile(f"[{_GEOHASH}]{{5,12}}", re.IGNORECASE)
_PLUS: Final = "23456789CFGHJMPQRVWX"
_IS_PLUS: Final = re.compile(f"([{_PLUS}]{{8}})\\+([{_PLUS}]{{2}})?.*", re.IGNORECASE | re.DOTALL)
# Where the first pair of coordinates begins in well-known binary, by kind of geometry, after its head.
_FIRST_PAIR: Final = {1: 0, 2: 4, 3: 8, 4: 9, 5: 13, 6: 17}


def are_shapes(column: Any) -> bool:
    """Return whether all texts of a column are geometries in well-known text or GeoJSON."""
    if not is_text(column.type):
        return False
    texts = [text for text in texts_of(column) if text]
    return bool(texts) and all(_SHAPE.match(text) for text in texts)


def numbers_in(column: Any) -> Iterator[Floats]:
    """Yield the numbers in a column, arrays (n,), NaN where there is none; none of times and truth values.

    Args:
        column: An Arrow array of a plain type, without dictionaries.
    """
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        yield compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    elif is_text(kind) or is_binary(kind):
        texts = texts_of(column)
        yield from _written(texts)
        if any(re.search(r"\d,\d", text) for text in texts):
            yield from _written([re.sub(r"(?<=\d),(?=\d)", ".", text) for text in texts])
        yield from _angles(texts)
        for parts in (texts, *parts_of(texts)):
            for decode in (_geohash, _plus_code):
                yield from _pairs([decode(text) for text in parts])
        for ends in ends_of(texts, _IS_GEOHASH):
            yield from _pairs([_geohash(text) for text in ends])
        as_bytes = column.to_pylist() if is_binary(kind) else [_unhexed(text) for text in texts]
        yield from _pairs([_first_pair(value) if value else None for value in as_bytes])
    elif pa.types.is_struct(kind):
        for part in column.flatten():
            yield from numbers_in(part)
    elif pa.types.is_nested(kind):
        yield from _written(texts_of(column))


def _written(texts: Sequence[str]) -> Iterator[Floats]:
    """Yield the first, second, ... numbers in texts, arrays (n,), NaN where there is none.

    Next to letters, numbers that have few values are names, as in "Shop 3".
    """
    rows = [_NUMBER.findall(text)[:_NUMBERS] for text in texts]
    worded = any(map(str.isalpha, "".join(texts)))
    least = (1 - _ODD) * sum(map(bool, texts))
    if sum(bool(_DECIMALS.search(text)) for text in texts) >= _FEW:
        least = min(least, _FEW)
    for place in range(max(map(len, rows), default=0)):
        if sum(len(row) > place for row in rows) < least:
            return
        values = np.array([float(row[place]) if len(row) > place else np.nan for row in rows])
        if not worded or len(np.unique(values)) > _NAMES:
            yield values


def _angles(texts: Sequence[str]) -> Iterator[Floats]:
    """Yield the first and second angle in degrees, minutes and seconds in texts."""
    rows = [_ANGLE.findall(text)[:2] for text in texts]
    for place in range(max(map(len, rows), default=0)):
        yield np.array([_degrees(*row[place]) if len(row) > place else np.nan for row in rows])


def _degrees(degrees: str, minutes: str, seconds: str) -> float:
    return float(degrees) + float(minutes) / 60 + float(seconds or 0) / 3600


def _pairs(pairs: Sequence[tuple[float, float] | None]) -> Iterator[Floats]:
    """Yield first and second coordinates; none where no value has any."""
    if any(pairs):
        for place in range(2):
            yield np.array([np.nan if pair is None else pair[place] for pair in pairs])


def _geohash(text: str) -> tuple[float, float] | None:
    """Return latitude and longitude of the middle of a geohash."""
    if not _IS_GEOHASH.fullmatch(text):
        return None
    bits = "".join(f"{_GEOHASH.index(each):05b}" for each in text.lower())
    return 180 * _share(bits[1::2]) - 90, 360 * _share(bits[::2]) - 180


def _share(bits: str) -> float:
    return float((int(bits, 2) + 0.5) / 2 ** len(bits))


def _plus_code(text: str) -> tuple[float, float] | None:
    """Return latitude and longitude of the middle of a full plus code of ten digits, or of eight.

    Source:
        The Open Location Code specification.
    """
    found = _IS_PLUS.fullmatch(text)
    if not found:
        return None
    digits = [_PLUS.index(each) for each in (found[1] + (found[2] or "")).upper()]
    size, lat, lon = 20.0, -90.0, -180.0
    for north, east in zip(digits[::2], digits[1::2], strict=True):
        lat, lon, size = lat + north * size, lon + east * size, size / 20
    return lat + 10 * size, lon + 10 * size


def _unhexed(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def _first_pair(value: bytes) -> tuple[float, float] | None:
    """Return the first coordinates of a geometry in (extended) well-known binary."""
    if len(value) < 21 or value[0] > 1:
        return None
    order = "<" if value[0] else ">"
    (kind,) = struct.unpack_from(f"{order}I", value, 1)
    begin = (9 if kind & 0x20000000 else 5) + _FIRST_PAIR.get(kind % 1000 & 0xFF, len(value))
    if len(value) < begin + 16:
        return None
    x, y = struct.unpack_from(f"{order}dd", value, begin)
    return float(x), float(y)


def without_sentinel(values: Floats) -> NDArray[np.bool_]:
    """Return which numbers are not the most frequent one, where that is so frequent that it may mean nothing.

    Args:
        values: The numbers, array (n,).
    """
    distinct, counts = np.unique(values, return_counts=True)
    most = int(np.argmax(counts))
    frequent = counts[most] > max(1, _ODD * len(values))
    return np.asarray(values != distinct[most]) if frequent else np.ones(len(values), dtype=np.bool_)
