"""Positions in single values: codes of places, and degrees in any encoding, compared with those of the rows."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..._system import pa
from ...core.arrays import Floats
from .text_parts import contents_of, is_binary, is_text, texts_of

Position = tuple[float, float]
_Numbers = tuple[Floats, NDArray[np.intp]]
_Units = tuple[Callable[[Floats], Floats], ...]
_GEOHASH: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
IS_GEOHASH: Final = re.compile(f"[{_GEOHASH}]{{5,12}}", re.IGNORECASE)
_PLUS: Final = "23456789CFGHJMPQRVWX"
_BITS: Final = (16, 20, 24, 26, 30, 31, 32)  # of one coordinate in codes that are whole numbers
_LONGEST: Final = 20  # digits of them
_VERTICES: Final = 200  # of a path that are looked at
_BIT: Final = [str.maketrans("0123", bits) for bits in ("0101", "0011")]  # of a digit of a quadkey
_DIGITS: Final = 12  # of polylines per coordinate at most
_ROWS: Final = 60  # that are looked at
_TOGETHER: Final = 4096  # characters of values that are looked at together
_SHIFTS: Final = 3  # other rows that each value is compared with
_LIKELY: Final = 2.0  # times as often as the positions of other rows, from which it is no chance
_SHARP: Final = 0.5  # of the distance from the middle of the rows, from which a value says little
_SITES: Final = 3  # places from which other rows are others
_HALF: Final = 0.5  # of the rows with a value
_DEGREE_M: Final = 111_200.0
_DECIMAL: Final = [re.compile(rf"(?<![\d{sign}])\d+{sign}\d{{2,}}(?:[eE][+-]?\d+)?") for sign in (r"\.", ",")]
_WHOLE: Final = re.compile(r"(?<![\d.])\d{5,10}(?![.,]?\d)")
_ANGLE: Final = re.compile(r"(\d+)\D{1,3}(\d+(?:\.\d+)?)\D{1,3}(?:(\d+(?:\.\d+)?)\D)?")
_S2_TURNS: Final = ((0, 1, 3, 2), (0, 2, 3, 1), (3, 2, 0, 1), (3, 1, 0, 2))  # the quarters along its curve
_PARTS: Final = (1e4, 1e5, 1e6, 1e7, 2**31 / 180)  # of a degree, in which devices count
_DECIMAL_UNITS: Final[_Units] = (np.array, np.degrees, lambda numbers: 0.9 * numbers)
_WHOLE_UNITS: Final[_Units] = tuple(partial(np.multiply, 1 / part) for part in _PARTS)
_SEXAGESIMAL: Final[_Units] = (
    lambda numbers: numbers // 100 + numbers % 100 / 60,
    lambda numbers: numbers // 1e4 + numbers % 1e4 // 100 / 60 + numbers % 100 / 3600,
)
_FLOATS: Final = ("<f8", ">f8", "<f4", ">f4")
_INTEGERS: Final = ("<i4", ">i4", "<i8", ">i8")
_VARINTS: Final = 256  # bytes in which integers of any length are looked for
_FLAGS: Final = 0xE0000000  # of extended well-known binary: of a height, a measure, a coordinate system
_SYSTEM: Final = 0x20000000  # the flag of a coordinate system
# Where the first pair of coordinates begins in well-known binary, by kind of geometry, after its head.
_FIRST_PAIR: Final = {1: 0, 2: 4, 3: 8, 4: 9, 5: 13, 6: 17}
_FOREIGN_DIGITS: Final = {
    start + digit: 48 + digit for start in (0xFF10, 0x0660, 0x06F0, 0x0966) for digit in range(10)
}


def geohash(text: str) -> Position | None:
    """Return latitude and longitude of the middle of a geohash; None for other texts."""
    if not IS_GEOHASH.fullmatch(text):
        return None
    bits = "".join(f"{_GEOHASH.index(letter):05b}" for letter in text.lower())
    return 180 * _share(bits[1::2]) - 90, 360 * _share(bits[::2]) - 180


def plus_code(text: str) -> Position | None:
    """Return latitude and longitude of the middle of a full Open Location Code of ten or eight digits."""
    match = re.match(f"([{_PLUS}]{{8}})\\+?([{_PLUS}]{{2}})?", text, re.IGNORECASE)
    if not match or "+" not in text:
        return None
    return _of_digits((match[1] + (match[2] or "")).upper())


def _of_digits(code: str) -> Position:
    digits = [_PLUS.index(digit) for digit in code]
    size, lat, lon = 20.0, -90.0, -180.0
    for north, east in zip(digits[::2], digits[1::2], strict=True):
        lat, lon, size = lat + north * size, lon + east * size, size / 20
    return lat + 10 * size, lon + 10 * size


def _share(bits: str) -> float:
    return float((int(bits, 2) + 0.5) / 2 ** len(bits))


def _at(east: float, south: float) -> Position:
    """Return the position at shares of a web map, from the left and from the top."""
    return math.degrees(math.atan(math.sinh(math.pi * (1 - 2 * south)))), 360 * east - 180


def _locator(match: re.Match[str]) -> Iterator[Position]:
    """Yield the middle of a Maidenhead locator of six characters, of eight or of ten."""
    sides, size = [0.0, 0.0], 1.0
    for place, base in zip(range(0, len(match[0]), 2), (18, 10, 24, 10, 24), strict=False):
        size /= base
        for side, sign in enumerate(match[0][place : place + 2].upper()):
            sides[side] += size * (int(sign) if base == 10 else ord(sign) - ord("A"))
    yield 180 * (sides[1] + size / 2) - 90, 360 * (sides[0] + size / 2) - 180


def _georef(match: re.Match[str]) -> Iterator[Position]:
    letters = ["ABCDEFGHJKLMNPQRSTUVWXYZ".index(letter) for letter in match[1]]
    half = len(match[2]) // 2
    east, north = (int(digits) / 6 / 10 ** (half - 1) for digits in (match[2][:half], match[2][half:]))
    yield letters[1] * 15 + letters[3] + north - 90, letters[0] * 15 + letters[2] + east - 180


def _tile(match: re.Match[str]) -> Iterator[Position]:
    zoom, a, b = map(int, match.groups())
    if zoom <= 30 and max(a, b) < 2**zoom:
        yield from (_at((x + 0.5) / 2**zoom, (y + 0.5) / 2**zoom) for x, y in ((a, b), (b, a)))


def _polyline(match: re.Match[str]) -> Iterator[Position]:
    """Yield the points of a path in Google's encoding, of five decimals and of six."""
    steps, bits = [0], 0
    for sign in match[0]:
        chunk = ord(sign) - 63
        steps[-1] |= (chunk & 31) << bits
        bits += 5
        if chunk < 32:
            steps, bits = [*steps, 0], 0
        if bits > 5 * _DIGITS or len(steps) > 2 * _VERTICES:
            break
    signed = [~(step >> 1) if step & 1 else step >> 1 for step in steps[:-1]]
    for lat, lon in zip(np.cumsum(signed[::2]).tolist(), np.cumsum(signed[1::2]).tolist(), strict=False):
        yield from ((lat / unit, lon / unit) for unit in (1e5, 1e6))


def _number(match: re.Match[str]) -> Iterator[Position]:
    """Yield what a whole number of any base may be: a cell of S2, or a place on a curve that fills the globe."""
    text = match[0].lower()
    if text.isdigit():
        yield from _on_curves(int(text) % 2**64)
    if len(text) <= 16 and re.fullmatch("[0-9a-f]+", text):
        yield from _on_curves(int(text, 16))
        yield from _s2(int(text.ljust(16, "0"), 16))
    if set(text) <= {"0", "1"}:
        yield from _on_curves(int(text, 2) % 2**64)


def _on_curves(code: int) -> Iterator[Position]:
    """Yield the places of a number on Morton's and Hilbert's curves over degrees or a web map."""
    if code < 2**20:
        return
    least = -(-code.bit_length() // 2)
    sizes = sorted({least, least + 1, *(size for size in _BITS if size > least)})
    for bits, place in zip(sizes, _hilbert(code, sizes), strict=True):
        digits = f"{code:0{2 * bits}b}"
        for first, second in ((_share(digits[::2]), _share(digits[1::2])), place):
            for x, y in ((first, second), (second, first)):
                yield 180 * y - 90, 360 * x - 180
                yield 360 * y - 180, 360 * x - 180
                yield _at(x, y)
    yield from _s2(code)


def _hilbert(code: int, sizes: Sequence[int]) -> Iterator[Position]:
    """Yield the places of a number on Hilbert's curves, shares of a square, of rising numbers of bits."""
    x = y = 0
    for least, bits in pairwise([0, *sizes]):
        for level in range(least, bits):
            quarter = code >> 2 * level & 3
            if quarter == 0:
                x, y = y, x
            elif quarter == 3:
                x, y = (2 << level) - 1 - y, (1 << level) - 1 - x
            else:
                x, y = x + ((quarter >> 1) << level), y + (1 << level)
        yield (x + 0.5) / 2**bits, (y + 0.5) / 2**bits


def _s2(cell: int) -> Iterator[Position]:
    """Yield the middle of the S2 cell (https://s2geometry.io) that a number stands for, if any."""
    if not cell or cell >> 61 > 5:
        return
    i = j = 0
    turn = cell >> 61 & 1
    for shift in range(59, -1, -2):
        place = cell >> shift & 3
        both = _S2_TURNS[turn][place]
        i, j, turn = i << 1 | both >> 1, j << 1 | both & 1, turn ^ (1, 0, 0, 3)[place]
    u, v = (
        (4 * s * s - 1) / 3 if s >= 0.5 else (1 - 4 * (1 - s) * (1 - s)) / 3
        for s in ((i + 0.5) / 2**30, (j + 0.5) / 2**30)
    )
    x, y, z = ((1, u, v), (-u, 1, v), (-u, -v, 1), (-1, -v, -u), (v, -1, -u), (v, u, -1))[cell >> 61]
    yield math.degrees(math.atan2(z, math.hypot(x, y))), math.degrees(math.atan2(y, x))


# A code ends where letters and digits do, so that parts of hashes are none.
_CODES: Final[dict[str, tuple[str, Callable[[re.Match[str]], Iterator[Position]]]]] = {
    "geohash": (
        rf"\b[{_GEOHASH}]{{5,12}}\b|\b[{_GEOHASH.upper()}]{{5,12}}\b",
        lambda match: filter(None, [geohash(match[0])]),
    ),
    "plus code": (
        rf"\b([{_PLUS}]{{8}})\+?([{_PLUS}]{{2}})\b",
        lambda match: iter([_of_digits((match[1] + match[2]).upper())]),
    ),
    "locator": (r"\b[A-R]{2}\d\d[A-Xa-x]{2}(?:\d\d(?:[A-Xa-x]{2})?)?\b", _locator),
    "georef": (r"\b([A-HJ-NP-Z]{4})((?:\d\d){2,6})\b", _georef),
    "quadkey": (
        r"(?<!\d)[0-3]{10,30}(?!\d)",
        lambda match: iter([_at(*(_share(match[0].translate(_BIT[side])) for side in range(2)))]),
    ),
    "tile": (r"(?<!\d)(\d{1,2})[/_,-](\d{1,9})[/_,-](\d{1,9})(?!\d)", _tile),
    "polyline": (r"[?-~]{6,}", _polyline),
    "number": (
        rf"(?<![0-9A-Za-z.])(?:\d{{7,{_LONGEST}}}|[0-9A-Fa-f]{{4,16}}|[01]{{21,64}})(?![0-9A-Za-z.])",
        _number,
    ),
}
_PATTERNS: Final = [(re.compile(pattern), decode) for pattern, decode in _CODES.values()]


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


def positions_of(text: str) -> list[Position]:
    """Return all positions that the codes of places in a text may mean, latitudes and longitudes, degrees."""
    return [pair for pattern, decode in _PATTERNS for match in pattern.finditer(text) for pair in decode(match)]


def rows_are_located(parts: Sequence[tuple[str, Any]], lat: Floats, lon: Floats, limit_m: float) -> bool:
    """Return whether most values, and fewer of other rows, hold both coordinates of their row to the limit."""
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
        positions = np.stack([at[np.roll(rows, shift * step)] for shift in range(_SHIFTS + 1)], axis=1)
        matches = np.zeros((0, _SHIFTS + 1), dtype=np.bool_)
        together = max(1, min(-(-len(rows) // 2), _TOGETHER // max(len(values[row]) for row in rows)))
        while len(matches) < len(rows):
            chunk = slice(len(matches), len(matches) + together)
            inside = _holds([values[row] for row in rows[chunk]], positions[chunk], size, limit_m)
            matches = np.concatenate([matches, inside])
            if np.count_nonzero(~matches[:, 0]) >= (1 - _HALF) * len(rows):
                break  # however many of the other values hold their rows
        else:
            share, share_of_others = float(matches[:, 0].mean()), float(matches[:, 1:].mean())
            if not several or share >= _LIKELY * share_of_others:
                return True
    return False


def _values(column: Any) -> list[str | bytes]:
    """Return the texts and bytes in a plain column, and its whole numbers as texts without a sign."""
    if is_binary(column.type):
        return [value or b"" for value in column.to_pylist()]
    if pa.types.is_integer(column.type):
        return ["" if value is None else str(value % 2**64) for value in column.to_pylist()]
    return list(texts_of(column)) if is_text(column.type) else []


def _holds(values: Sequence[str | bytes], positions: Floats, size: Floats, limit_m: float) -> NDArray[np.bool_]:
    """Return which positions (n, k, 2), degrees, n values hold, array (n, k); ``size``: metres per degree."""
    inside = np.zeros(positions.shape[:2], dtype=np.bool_)
    pairs = [(row, content) for row, value in enumerate(values) for content in contents_of(value)]
    rows, contents = np.array([row for row, _ in pairs], dtype=np.intp), [content for _, content in pairs]
    codes = [
        (row, *position)
        for row, content in pairs
        for text in ([content] if isinstance(content, str) else [content.hex(), content[::-1].hex()])
        for position in positions_of(text)
    ]
    if codes:
        table = np.array(codes, dtype=np.float64)
        owners = table[:, 0].astype(np.intp)
        off = (table[:, None, 1:] - positions[owners]) * size
        code, column = np.nonzero(np.hypot(off[..., 0], off[..., 1]) <= limit_m)
        inside[owners[code], column] = True
    numbers, keys = _degrees_in(contents)
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    if first.size:
        owners = rows[keys % len(contents)]
        signless = np.abs(np.abs(numbers)[:, None, None] - np.abs(positions[owners])) * size
        nearest = np.minimum.reduceat(signless, first, axis=0)
        several = np.diff(first, append=len(keys)) > 1
        near = (np.hypot(nearest[..., 0], nearest[..., 1]) <= limit_m) & several[:, None]
        unit, column = np.nonzero(near)
        inside[owners[first[unit]], column] = True
    return inside


def _degrees_in(contents: Sequence[str | bytes]) -> _Numbers:
    """Return the numbers in n texts and bytes in degrees, in all units that they may have, and keys, arrays (m,).

    Keys ascend. Numbers with one key are of one content, which is the remainder of the key by n, and in one unit.
    """
    texts = [(owner, content) for owner, content in enumerate(contents) if isinstance(content, str)]
    binary = [(owner, content) for owner, content in enumerate(contents) if isinstance(content, bytes)]
    units = [*_degrees_in_texts(texts), *_degrees_in_bytes(binary)]
    keys = [owners + unit * len(contents) for unit, (_, owners) in enumerate(units)]
    return np.concatenate([numbers for numbers, _ in units]), np.concatenate(keys)


def _degrees_in_texts(texts: Sequence[tuple[int, str]]) -> Iterator[_Numbers]:
    """Yield the numbers in texts in degrees and the number of each one's text, arrays (m,), for each unit."""
    decimal: list[tuple[int, float]] = []
    whole: list[tuple[int, float]] = []
    angles, both = [], []
    for owner, content in texts:
        text = content.translate(_FOREIGN_DIGITS)
        begin = len(decimal), len(whole)
        decimal += [
            (owner, float(token.replace(",", "."))) for pattern in _DECIMAL for token in pattern.findall(text)
        ]
        whole += [(owner, float(token)) for token in _WHOLE.findall(text)]
        both += [*decimal[begin[0] :], *whole[begin[1] :]]
        angles += [(owner, float(d) + float(m) / 60 + float(s or 0) / 3600) for d, m, s in _ANGLE.findall(text)]
    for pairs, units in (
        (decimal, _DECIMAL_UNITS),
        (whole, _WHOLE_UNITS),
        (angles, (np.array,)),
        (both, _SEXAGESIMAL),
    ):
        table = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        yield from ((unit(table[:, 1]), table[:, 0].astype(np.intp)) for unit in units)


def _degrees_in_bytes(contents: Sequence[tuple[int, bytes]]) -> Iterator[_Numbers]:
    """Yield the numbers that may begin at any byte in degrees and the number of their content, for each unit."""
    row = np.frombuffer(b"".join(content for _, content in contents), np.uint8)
    sizes = np.array([len(content) for _, content in contents], dtype=np.intp)
    owners = np.repeat(np.array([owner for owner, _ in contents], dtype=np.intp), sizes)
    ends = np.repeat(np.cumsum(sizes), sizes)
    places = np.arange(len(row))
    for kind in (*_FLOATS, *_INTEGERS):
        width = np.dtype(kind).itemsize
        begins = places[places + width <= ends]
        with np.errstate(invalid="ignore"):
            numbers = row[begins[:, None] + np.arange(width)].view(kind).reshape(-1).astype(np.float64)
            plain = np.abs(numbers) < 1e13
        numbers = numbers[plain]
        for unit in (np.array, np.degrees) if kind in _FLOATS else _WHOLE_UNITS[1:]:
            yield unit(numbers), owners[begins[plain]]
    begins = places[places < ends - np.repeat(sizes, sizes) + _VARINTS]
    integers, begins = _varints(row, begins, ends[begins])
    yield from ((unit(integers), owners[begins]) for unit in _WHOLE_UNITS[1:])


def _varints(row: NDArray[np.uint8], begins: NDArray[np.intp], ends: NDArray[np.intp]) -> _Numbers:
    """Return integers in groups of seven bits, as they are and with folded sign, and where they begin, (m,)."""
    numbers = np.zeros(len(begins), dtype=np.int64)
    is_open, has_end = np.ones(len(begins), dtype=np.bool_), np.zeros(len(begins), dtype=np.bool_)
    for place in range(5):
        is_open &= begins + place < ends
        groups = row[np.minimum(begins + place, ends - 1)].astype(np.int64)
        numbers += np.where(is_open, (groups & 127) << 7 * place, 0)
        is_last = is_open & (groups < 128)
        has_end |= is_last & (place > 1)
        is_open &= ~is_last
    numbers, begins = numbers[has_end], begins[has_end]
    folded = np.column_stack([numbers, numbers >> 1, (numbers + 1) >> 1])
    return folded.reshape(-1).astype(np.float64), np.repeat(begins, 3)
