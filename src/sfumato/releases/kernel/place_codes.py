"""Codes of places: one table of patterns and decoders, each of which gives the middle of the place, in degrees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

Position = tuple[float, float]

_GEOHASH: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
IS_GEOHASH: Final = re.compile(f"[{_GEOHASH}]{{5,12}}", re.IGNORECASE)
_PLUS: Final = "23456789CFGHJMPQRVWX"
_BITS: Final = (16, 20, 24, 26, 30, 31, 32)  # of one coordinate in codes that are whole numbers
_LONGEST: Final = 20  # digits of them
_VERTICES: Final = 200  # of a path that are looked at
_BIT: Final = [str.maketrans("0123", bits) for bits in ("0101", "0011")]  # of a digit of a quadkey
_DIGITS: Final = 12  # of polylines per coordinate at most


def geohash(text: str) -> Position | None:
    """Return latitude and longitude of the middle of a geohash; None for other texts."""
    if not IS_GEOHASH.fullmatch(text):
        return None
    bits = "".join(f"{_GEOHASH.index(each):05b}" for each in text.lower())
    return 180 * _share(bits[1::2]) - 90, 360 * _share(bits[::2]) - 180


def plus_code(text: str) -> Position | None:
    """Return latitude and longitude of the middle of a full plus code of ten digits, or of eight.

    Source:
        The Open Location Code specification.
    """
    match = re.match(f"([{_PLUS}]{{8}})\\+?([{_PLUS}]{{2}})?", text, re.IGNORECASE)
    if not match or "+" not in text:
        return None
    return _of_digits((match[1] + (match[2] or "")).upper())


def _of_digits(code: str) -> Position:
    digits = [_PLUS.index(each) for each in code]
    size, lat, lon = 20.0, -90.0, -180.0
    for north, east in zip(digits[::2], digits[1::2], strict=True):
        lat, lon, size = lat + north * size, lon + east * size, size / 20
    return lat + 10 * size, lon + 10 * size


def _share(bits: str) -> float:
    return float((int(bits, 2) + 0.5) / 2 ** len(bits))


def _at(east: float, south: float) -> Position:
    """Return the position at shares of a web map, from the left and from the top."""
    return float(np.degrees(np.arctan(np.sinh(np.pi * (1 - 2 * south))))), 360 * east - 180


def _locator(match: re.Match[str]) -> Iterator[Position]:
    """Yield the middle of a Maidenhead locator of six characters, of eight or of ten."""
    sides, size = [0.0, 0.0], 1.0
    for place, base in zip(range(0, len(match[0]), 2), (18, 10, 24, 10, 24), strict=False):
        size /= base
        for side, sign in enumerate(match[0][place : place + 2].upper()):
            sides[side] += size * (int(sign) if base == 10 else ord(sign) - ord("A"))
    yield 180 * (sides[1] + size / 2) - 90, 360 * (sides[0] + size / 2) - 180


def _georef(match: re.Match[str]) -> Iterator[Position]:
    letters = ["ABCDEFGHJKLMNPQRSTUVWXYZ".index(each) for each in match[1]]
    half = len(match[2]) // 2
    east, north = (int(each) / 6 / 10 ** (half - 1) for each in (match[2][:half], match[2][half:]))
    yield letters[1] * 15 + letters[3] + north - 90, letters[0] * 15 + letters[2] + east - 180


def _tile(match: re.Match[str]) -> Iterator[Position]:
    zoom, one, two = map(int, match.groups())
    if zoom <= 30 and max(one, two) < 2**zoom:
        yield from (_at((x + 0.5) / 2**zoom, (y + 0.5) / 2**zoom) for x, y in ((one, two), (two, one)))


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
    for bits in sorted({least, least + 1, *(each for each in _BITS if each > least)}):
        digits = f"{code:0{2 * bits}b}"
        for first, second in ((_share(digits[::2]), _share(digits[1::2])), _hilbert(code, bits)):
            for x, y in ((first, second), (second, first)):
                yield 180 * y - 90, 360 * x - 180
                yield 360 * y - 180, 360 * x - 180
                yield _at(x, y)
    yield from _s2(code)


def _hilbert(code: int, bits: int) -> tuple[float, float]:
    x = y = 0
    for level in range(bits):
        east = code >> 2 * level + 1 & 1
        north = (code >> 2 * level ^ east) & 1
        size = 1 << level
        if not north:
            x, y = (size - 1 - y, size - 1 - x) if east else (y, x)
        x, y = x + size * east, y + size * north
    return (x + 0.5) / 2**bits, (y + 0.5) / 2**bits


def _s2(cell: int) -> Iterator[Position]:
    """Yield the middle of a cell of S2, where a number is one.

    Source:
        The S2 geometry library, https://s2geometry.io.
    """
    if not cell or cell >> 61 > 5:
        return
    i = j = 0
    turn = cell >> 61 & 1
    for level in range(30):
        place = cell >> 59 - 2 * level & 3
        both = ((0, 1, 3, 2), (0, 2, 3, 1), (3, 2, 0, 1), (3, 1, 0, 2))[turn][place]
        i, j, turn = 2 * i + (both >> 1), 2 * j + (both & 1), turn ^ (1, 0, 0, 3)[place]
    u, v = (
        (4 * s * s - 1) / 3 if s >= 0.5 else (1 - 4 * (1 - s) * (1 - s)) / 3
        for s in ((each + 0.5) / 2**30 for each in (i, j))
    )
    faces = ((1, u, v), (-u, 1, v), (-u, -v, 1), (-1, -v, -u), (v, -1, -u), (v, u, -1))
    x, y, z = faces[cell >> 61]
    yield float(np.degrees(np.arctan2(z, np.hypot(x, y)))), float(np.degrees(np.arctan2(y, x)))


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


def positions_of(text: str) -> list[Position]:
    """Return all positions that the codes of places in a text may mean, latitudes and longitudes, degrees.

    Args:
        text: The text.
    """
    return [each for pattern, decode in _PATTERNS for match in pattern.finditer(text) for each in decode(match)]
