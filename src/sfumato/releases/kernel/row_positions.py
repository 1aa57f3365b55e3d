"""Positions in single values, in any encoding: compared with the position of their own row, and of other rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from .embedded_texts import is_binary, is_text, texts_of
from .encodings import contents_of
from .place_codes import positions_of

_ROWS: Final = 60  # that are looked at
_SHIFTS: Final = 3  # other rows that each value is compared with
_LIKELY: Final = 2.0  # times as often as the positions of other rows, from which it is no chance
_SHARP: Final = 0.5  # of the distance from the middle of the rows, from which a value says little
_SITES: Final = 3  # places from which other rows are others
_HALF: Final = 0.5  # of the rows with a value
_DEGREE_M: Final = 111_200.0
_DECIMAL: Final = [re.compile(rf"(?<![\d{sign}])\d+{sign}\d{{2,}}(?:[eE][+-]?\d+)?") for sign in (r"\.", ",")]
_WHOLE: Final = re.compile(r"(?<![\d.])\d{5,10}(?![.,]?\d)")
_ANGLE: Final = re.compile(r"(\d+)\D{1,3}(\d+(?:\.\d+)?)\D{1,3}(?:(\d+(?:\.\d+)?)\D)?")
_PARTS: Final = (1e4, 1e5, 1e6, 1e7, 2**31 / 180)  # of a degree, in which devices count
_FLOATS: Final = ("<f8", ">f8", "<f4", ">f4")
_INTEGERS: Final = ("<i4", ">i4", "<i8", ">i8")
_VARINTS: Final = 256  # bytes in which integers of any length are looked for


def rows_are_located(parts: Sequence[tuple[str, Any]], lat: Floats, lon: Floats, limit_m: float) -> bool:
    """Return whether most values of a column hold the position of their row, to the limit.

    Both coordinates are in one value, in one unit. Values of other rows hold it less often, unless all rows are
    at one place or two.

    Args:
        parts: The plain columns in the column, Arrow arrays (n,) by their names.
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
        limit_m: The limit, metres.
    """
    middle = np.array([np.median(lat), np.median(lon)])
    size = _DEGREE_M * np.array([1.0, np.cos(np.radians(middle[0]))])
    at = np.column_stack([lat, lon])
    several = len(np.unique(at.round(5), axis=0)) >= _SITES
    if several:
        limit_m = min(limit_m, _SHARP * float(np.median(np.hypot(*((at - middle) * size).T))))
    for _, part in parts:
        values = _values(part)
        rows = np.array([row for row, value in enumerate(values) if value], dtype=np.intp)
        if not rows.size:
            continue
        rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _ROWS)).astype(np.intp)]
        step = max(1, len(rows) // (_SHIFTS + 1))
        others = np.stack([at[np.roll(rows, shift * step)] for shift in range(_SHIFTS + 1)])
        near = np.array([_holds(values[row], others[:, k], size, limit_m) for k, row in enumerate(rows)])
        own, other = float(near[:, 0].mean()), float(near[:, 1:].mean())
        if own > _HALF and (not several or own >= _LIKELY * other):
            return True
    return False


def _values(column: Any) -> list[str | bytes]:
    """Return the texts and bytes in a plain column, and its whole numbers as texts without a sign."""
    import pyarrow as pa

    if is_binary(column.type):
        return [value or b"" for value in column.to_pylist()]
    if pa.types.is_integer(column.type):
        return ["" if value is None else str(value % 2**64) for value in column.to_pylist()]
    return list(texts_of(column)) if is_text(column.type) else []


def _holds(value: str | bytes, positions: Floats, size: Floats, limit_m: float) -> NDArray[np.bool_]:
    """Return which of several positions a value holds, array (k,).

    Args:
        value: The value.
        positions: Latitudes and longitudes, degrees, array (k, 2).
        size: The length of a degree of both, metres, array (2,).
        limit_m: How near they must be, metres.
    """
    found = np.zeros(len(positions), dtype=np.bool_)
    for content in contents_of(value):
        texts = [content] if isinstance(content, str) else [each.hex() for each in (content, content[::-1])]
        codes = [each for text in texts for each in positions_of(text)]
        pairs = np.array(codes, dtype=np.float64).reshape(-1, 2)
        off = np.hypot(*(np.moveaxis(pairs[:, None] - positions, 2, 0) * size[:, None, None]))
        found |= (off <= limit_m).any(axis=0)
        for numbers in _degrees_in(content):
            signless = np.abs(np.abs(numbers[:, None, None]) - np.abs(positions)) * size
            found |= np.hypot(*signless.min(axis=0).T) <= limit_m
    return found


def _degrees_in(content: str | bytes) -> Iterator[Floats]:
    """Yield the numbers in a text or in bytes in degrees, array (m,), for each unit that they may have."""
    if isinstance(content, str):
        text = content.translate(_DIGITS)
        decimal = np.array([float(each.replace(",", ".")) for form in _DECIMAL for each in form.findall(text)])
        whole = np.array([float(each) for each in _WHOLE.findall(text)])
        angles = [float(d) + float(m) / 60 + float(s or 0) / 3600 for d, m, s in _ANGLE.findall(text)]
        units = [decimal, np.degrees(decimal), 0.9 * decimal, *(whole / each for each in _PARTS), np.array(angles)]
        both = np.concatenate([decimal, whole])
        units += [both // 100 + both % 100 / 60, both // 1e4 + both % 1e4 // 100 / 60 + both % 100 / 3600]
    else:
        floats, integers = ([_packed(content, kind) for kind in kinds] for kinds in (_FLOATS, _INTEGERS))
        units = [*floats, *map(np.degrees, floats)]
        units += [each / part for each in (*integers, _varints(content)) for part in _PARTS[1:]]
    yield from (each for each in units if len(each) > 1)


_DIGITS: Final = {start + digit: 48 + digit for start in (0xFF10, 0x0660, 0x06F0, 0x0966) for digit in range(10)}


def _packed(content: bytes, kind: str) -> Floats:
    """Return the numbers of a type that may begin at any byte, array (m,)."""
    width = np.dtype(kind).itemsize
    if len(content) < width:
        return np.zeros(0)
    windows = np.lib.stride_tricks.sliding_window_view(np.frombuffer(content, np.uint8), width)
    with np.errstate(invalid="ignore"):
        numbers = np.ascontiguousarray(windows).view(kind).reshape(-1).astype(np.float64)
    return numbers[np.abs(numbers) < 1e13]


def _varints(content: bytes) -> Floats:
    """Return the integers in groups of seven bits that may begin at any byte, as they are and with folded sign."""
    found = []
    for begin in range(min(len(content), _VARINTS)):
        number = 0
        for place, each in enumerate(content[begin : begin + 5]):
            number |= (each & 127) << 7 * place
            if each < 128:
                found += [number, number >> 1, (number + 1) >> 1] if place > 1 else []
                break
    return np.array(found, dtype=np.float64)
