"""Numbers in a column of a plain type: in texts, bytes and codes of places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from .embedded_bytes import first_pair, packed_numbers
from .embedded_texts import ends_of, is_binary, is_readable, is_text, parts_of, texts_of
from .place_codes import IS_GEOHASH, geohash, plus_code

_FEW: Final = 10  # texts with three decimals from which numbers are looked at, whatever the other texts are
_ODD: Final = 0.05  # share of the texts that may be something else
_NAMES: Final = 8  # values of numbers that are names next to letters
_NUMBERS: Final = 40  # of one value that are looked at
_SHAPE: Final = re.compile(
    r"\s*(?:SRID=\d+;)?\s*(?:MULTI)?(?:POINT|LINESTRING|POLYGON|GEOMETRYCOLLECTION)\s*(?:ZM|Z|M)?\s*(?:\(|EMPTY)"
    r"|\s*\{.*\"coordinates\"",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"(?:(?<![\d.)])[+-])?(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+)")
_ANGLE: Final = re.compile(r"(\d+)\s*°\s*(\d+(?:\.\d+)?)\s*['′’]\s*(?:(\d+(?:\.\d+)?)\s*(?:\"|″|”|''))?")
_EXACT: Final = re.compile(r"\.\d{4}")
_DECIMALS: Final = re.compile(r"\d[.,]\d{3}")


def _are_shapes(column: Any) -> bool:
    """Return whether all texts or bytes of a plain column are geometries, of which some have points."""
    if is_binary(column.type):
        pairs = [first_pair(value) for value in column.to_pylist() if value]
        return all(pairs) and any(pair and np.isfinite(pair).all() for pair in pairs)
    texts = [text for text in texts_of(column) if text] if is_text(column.type) else []
    shapes = [_SHAPE.match(text) for text in texts]
    return all(shapes) and any(re.search(r"[(\[]\s*[-+\d.]", text) for text in texts)


def has_shapes(parts: Sequence[tuple[str, Any]]) -> bool:
    """Return whether a part of a column holds nothing but geometries.

    Args:
        parts: The parts, by their names.
    """
    return any(_are_shapes(part) for _, part in parts)


class Numbers(NamedTuple):
    """Numbers in a column.

    Attributes:
        name: The column, or the part of it, such as ``end.lat``.
        values: The numbers, array (n,), NaN where there is none.
        packed: Of numbers that are packed into bytes their type and first byte; None for others.
    """

    name: str
    values: Floats
    packed: tuple[str, int] | None = None


def numbers_in(parts: Sequence[tuple[str, Any]]) -> Iterator[Numbers]:
    """Yield the numbers in the parts of a column; none of times and truth values.

    Args:
        parts: The parts, plain Arrow arrays by their names.
    """
    for path, part in parts:
        yield from (Numbers(path, values) for values in _numbers_in(part))
        if is_binary(part.type) and not is_readable(values := part.to_pylist()):
            yield from (Numbers(path, numbers, at) for at, numbers in packed_numbers(values))


def _numbers_in(column: Any) -> Iterator[Floats]:
    """Yield the numbers in a plain column as arrays (n,)."""
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
            for decode in (geohash, plus_code):
                yield from _pairs([decode(text) for text in parts])
        for ends in ends_of(texts, IS_GEOHASH):
            yield from _pairs([geohash(text) for text in ends])
    if is_binary(kind) and not is_readable(values := column.to_pylist()):
        yield from _pairs([first_pair(value) if value else None for value in values])


def _written(texts: Sequence[str]) -> Iterator[Floats]:
    """Yield the first, second, ... numbers in texts, arrays (n,), NaN where there is none.

    Next to letters, numbers that have few values and few decimals are names, as in "Shop 3".
    """
    rows = [_NUMBER.findall(text)[:_NUMBERS] for text in texts]
    worded = any(map(str.isalpha, "".join(texts)))
    least = (1 - _ODD) * sum(map(bool, texts))
    if sum(bool(_DECIMALS.search(text)) for text in texts) >= _FEW:
        least = min(least, _FEW)
    for place in range(max(map(len, rows), default=0)):
        if sum(len(row) > place for row in rows) < least:
            return
        numbers = [row[place] if len(row) > place else "nan" for row in rows]
        values = np.array([float(each) for each in numbers])
        exact = any(_EXACT.search(each) for each in numbers)
        if not worded or exact or len(np.unique(values)) > _NAMES:
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


def without_sentinel(values: Floats) -> NDArray[np.bool_]:
    """Return which numbers are not the most frequent one, where that is so frequent that it may mean nothing.

    Args:
        values: The numbers, array (n,).
    """
    distinct, counts = np.unique(values, return_counts=True)
    most = int(np.argmax(counts))
    frequent = counts[most] > max(1, _ODD * len(values))
    return np.asarray(values != distinct[most]) if frequent else np.ones(len(values), dtype=np.bool_)
