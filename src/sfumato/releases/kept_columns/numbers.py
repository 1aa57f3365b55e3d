"""Numbers in a kept column: in texts, bytes and codes of places."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._system import pa, pc
from ...core.arrays import Floats
from .place_codes import IS_GEOHASH, geohash, plus_code
from .text_parts import ends_of, is_binary, is_readable, is_text, parts_of, texts_of

_LONGEST: Final = 64  # bytes from the front that are looked at
_LAST: Final = 48  # bytes from the end, where values have several lengths
_KINDS: Final = ("<f8", ">f8", "<f4", ">f4", "<i8", ">i8", "<i4", ">i4")
_SMALL: Final = 1e-6  # size of floats below which bytes were probably not meant as one
_LARGE: Final = 1e9  # likewise above
_NARROW: Final = 1 / 8  # share of all integers that nearly all values are within, or they are random
_HIGHEST: Final = 1e12  # integer above which it is no part of a degree or of a metre
_FLAGS: Final = 0xE0000000  # of extended well-known binary: of a height, a measure, a coordinate system
_SYSTEM: Final = 0x20000000  # the flag of a coordinate system
# Where the first pair of coordinates begins in well-known binary, by kind of geometry, after its head.
_FIRST_PAIR: Final = {1: 0, 2: 4, 3: 8, 4: 9, 5: 13, 6: 17}
_FEW: Final = 10  # texts with three decimals from which numbers are tested, with any other texts
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


def first_pair(value: bytes) -> tuple[float, float] | None:
    """Return the first coordinates of a geometry in (extended) well-known binary."""
    if len(value) < 21 or value[0] > 1:
        return None
    order = "<" if value[0] else ">"
    (kind,) = struct.unpack_from(f"{order}I", value, 1)
    head, bare = (9 if kind & _SYSTEM else 5), kind & ~_FLAGS
    begin = head + _FIRST_PAIR.get(bare % 1000, len(value))
    if bare >= 4000 or len(value) < begin + 16:
        return None
    x, y = struct.unpack_from(f"{order}dd", value, begin)
    return float(x), float(y)


def packed_numbers(values: Sequence[bytes | None]) -> Iterator[tuple[tuple[str, int], Floats]]:
    """Yield plausible numbers in bytes, array (n,), with type and first byte (negative: from the end)."""
    lengths = np.array([len(value or b"") for value in values])
    if not lengths.any():
        return
    width = int(np.quantile(lengths[lengths > 0], _ODD, method="lower"))
    rows = np.flatnonzero(lengths >= max(width, 1))
    filled = [values[row] or b"" for row in rows.tolist()]
    yield from _packed([each[: min(width, _LONGEST)] for each in filled], rows, len(values))
    if len(set(lengths[rows].tolist())) > 1:
        last = min(width, _LAST)
        yield from _packed([each[-last:] for each in filled], rows, len(values), -last)


def _packed(
    values: Sequence[bytes], rows: NDArray[np.intp], count: int, start: int = 0
) -> Iterator[tuple[tuple[str, int], Floats]]:
    table = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)
    for kind in map(np.dtype, _KINDS):
        for begin in range(table.shape[1] - kind.itemsize + 1):
            numbers = np.ascontiguousarray(table[:, begin : begin + kind.itemsize]).view(kind).reshape(-1)
            if _are_meant(numbers):
                column = np.full(count, np.nan)
                column[rows] = numbers
                yield (kind.str, start + begin), column


def _are_meant(numbers: NDArray[Any]) -> bool:
    """Return whether bytes were probably meant as these numbers, which are not all alike."""
    if numbers.dtype.kind == "f":
        size = np.abs(numbers)
        usual = (size == 0) | ((size >= _SMALL) & (size <= _LARGE))
        return bool(usual.mean() >= 1 - _ODD and size.any() and (len(numbers) == 1 or np.ptp(numbers[usual]) > 0))
    low, high = np.quantile(numbers.astype(np.float64), (_ODD / 2, 1 - _ODD / 2))
    narrow = high - low <= _NARROW * 256.0**numbers.dtype.itemsize and max(abs(low), abs(high)) <= _HIGHEST
    return bool(narrow and (len(numbers) == 1 or high > low))


def are_shapes(column: Any) -> bool:
    """Return whether all texts or bytes of a plain column are geometries, of which some have points."""
    if is_binary(column.type):
        pairs = [first_pair(value) for value in column.to_pylist() if value]
        return all(pairs) and any(pair and np.isfinite(pair).all() for pair in pairs)
    texts = [text for text in texts_of(column) if text] if is_text(column.type) else []
    shapes = [_SHAPE.match(text) for text in texts]
    return all(shapes) and any(re.search(r"[(\[]\s*[-+\d.]", text) for text in texts)


class Numbers(NamedTuple):
    """Numbers in a column or a part of it (``end.lat``), array (n,); ``packed``: their type and first byte."""

    name: str
    values: Floats
    packed: tuple[str, int] | None = None


def numbers_in(parts: Sequence[tuple[str, Any]]) -> Iterator[Numbers]:
    """Yield the numbers in the parts of a column (plain Arrow arrays by name), without times and truth values."""
    for path, part in parts:
        yield from (Numbers(path, values) for values in _numbers_in(part))
        if is_binary(part.type) and not is_readable(values := part.to_pylist()):
            yield from (Numbers(path, numbers, at) for at, numbers in packed_numbers(values))


def _numbers_in(column: Any) -> Iterator[Floats]:
    """Yield the numbers in a plain column as arrays (n,)."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        yield pc.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
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
    """Yield the first, second, ... numbers in texts, arrays (n,), but no names such as "Shop 3"."""
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
    """Return which numbers are not the most frequent one, where that is so frequent that it may mean nothing."""
    distinct, counts = np.unique(values, return_counts=True)
    most = int(np.argmax(counts))
    frequent = counts[most] > max(1, _ODD * len(values))
    return np.asarray(values != distinct[most]) if frequent else np.ones(len(values), dtype=np.bool_)
