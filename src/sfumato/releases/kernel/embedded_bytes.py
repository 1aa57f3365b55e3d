"""Numbers in bytes: the coordinates of well-known binary, and packed floats and integers of any order."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats

_ODD: Final = 0.05  # share of the values that may be something else
_LONGEST: Final = 64  # bytes from the front that are looked at
_LAST: Final = 48  # bytes from the end, where values have several lengths
_NUMBERS: Final = ("<f8", ">f8", "<f4", ">f4", "<i8", ">i8", "<i4", ">i4")
_SMALL: Final = 1e-6  # size of floats below which bytes were hardly meant as one
_LARGE: Final = 1e9  # likewise above
_NARROW: Final = 1 / 8  # share of all integers that nearly all values are within, or they are random
_HIGHEST: Final = 1e12  # integer above which it is no part of a degree or of a metre
_FLAGS: Final = 0xE0000000  # of extended well-known binary: of a height, a measure, a coordinate system
_SYSTEM: Final = 0x20000000  # the flag of a coordinate system
# Where the first pair of coordinates begins in well-known binary, by kind of geometry, after its head.
_FIRST_PAIR: Final = {1: 0, 2: 4, 3: 8, 4: 9, 5: 13, 6: 17}


def first_pair(value: bytes) -> tuple[float, float] | None:
    """Return the first coordinates of a geometry in (extended) well-known binary.

    Args:
        value: The bytes.
    """
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
    """Yield the numbers in bytes, array (n,), NaN where there is none, with their type and first byte.

    Floats are of usual sizes, and integers not spread over all that there are, as those of random bytes. First
    bytes are negative where they are counted from the end.

    Args:
        values: The bytes; None or empty where there are none.
    """
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
    for kind in map(np.dtype, _NUMBERS):
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
