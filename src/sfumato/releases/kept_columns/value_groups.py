"""Values of kept columns that stand for places: equal ones, and codes by their beginnings and their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import InputError, argument
from ...rounding import amount
from .text_parts import are_rising, is_binary, is_text, parts_of, texts_of

_SHARP: Final = 0.5  # of the error without the column, from which it says little
_ONE_WAY: Final = 0.25  # the same where only one direction counts
_REPEATED: Final = 0.02  # share of the rows that must have a value of others
_LEAST_ROWS: Final = 50  # that must have a value of others: fewer may be near each other by chance
_FEWEST: Final = 20  # that must have one where this is no chance
_ORDERED: Final = 16  # codes whose order is looked at
_TRIES: Final = 60  # random orders of the rows
_SURE: Final = 5.0  # of their standard deviations, from which nearness is no chance
_CODES: Final = 10_000  # rows whose codes are looked at
_MIXED: Final = 4  # random groups of the same sizes
_LARGE: Final = 2**53  # whole number from which it is hardly an amount, but may be a code
_LONGEST: Final = 24  # characters of codes that are looked at
_UNIQUE: Final = 0.9  # values per row from which a column is as good as a name of the row
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d|\d\d?:\d\d|\d\d?[./]\d\d?[./]\d{2}|\D*1\d{9}(?:\d{3}){0,3}\D*$")
_DEGREE_M: Final = 111_200.0
_SITES: Final = 5  # places up to which any column may follow them
_FEW: Final = 10  # rows below which a plane fits anything
_LEAST_M: Final = 100.0  # a column that locates rows so well is refused whatever the mechanism loses
_ODD: Final = 0.05  # share of the rows that may be something else, such as zeros


def note_of_values(name: str, column: Any, lat: Floats, lon: Floats, limit_m: float) -> str:
    """Return a sentence on what the values of a column reveal of positions; empty where that is little.

    Values that locate rows to the limit are an `InputError`.
    """
    rows, notes = len(column), ""
    x, y = metres(lat, lon)
    compared = f"{'the reports to' if limit_m > _LEAST_M else 'the limit is'} {amount(limit_m, 'm')}"
    _refuse(name, _in_order_m(column, x, y), limit_m, compared)
    for number, groups in enumerate(_groupings(column)):
        values = len(np.unique(groups))
        if number == 0 and rows >= 2 * _FEW and values >= _UNIQUE * rows:
            notes = f"the column {name!r} is nearly unique: its values identify single rows"
        every = -(-rows // len(groups))
        found = _apart_m(groups, x[::every], y[::every])
        _refuse(name, found, limit_m, compared)
        error_m, blind_m, one_way = found
        if number == 0 and not one_way and error_m < np.inf and error_m <= _SHARP * blind_m:
            notes = (
                f"the column {name!r} locates rows to {amount(error_m, 'm')}, {compared}; without it "
                f"they are located to {amount(blind_m, 'm')}"
            )
    return notes


def _refuse(name: str, located: tuple[float, float, bool], limit_m: float, compared: str) -> None:
    error_m, blind_m, one_way = located
    if np.isfinite(error_m) and error_m <= limit_m and error_m <= (_ONE_WAY if one_way else _SHARP) * blind_m:
        raise InputError(
            f"the column {name!r} reveals positions: it locates rows to {amount(error_m, 'm')}"
            f"{' in one direction' if one_way else ''}, {compared}.",
            "replace its values by coarser ones",
            f"leave it out of {argument('keep')}",
            f"if it names people, call it the users with {argument('release.user', name)}.",
        )


def _in_order_m(column: Any, x: Floats, y: Floats) -> tuple[float, float, bool]:
    """Return the median distance of rows whose codes follow each other, and of any rows, as `_apart_m` does.

    Codes along a space-filling curve are near each other where places are, in any alphabet.
    """
    every = -(-len(column) // _CODES)
    texts = _codes(column)[::every]
    distinct, rows = np.unique(texts, return_index=True)
    several = len(np.unique(np.column_stack([x, y]).round(1), axis=0)) > _SITES
    few = len(distinct) < max(_ORDERED, len(texts) / 2)
    if few or not several or are_rising(texts) or any(map(_TIME.search, texts[:_ORDERED])):
        return np.inf, np.inf, False

    def steps(at: Floats) -> Floats:
        east, north = np.diff(at, axis=1)
        return np.asarray(np.hypot(east, north))

    at = np.array([x[::every][rows], y[::every][rows]])
    if _is_chance(steps, at):
        return np.inf, np.inf, False
    blind = steps(at[:, np.random.default_rng(0).permutation(at.shape[1])])
    return float(np.median(steps(at))), float(np.median(blind)), False


def _is_chance(distances: Callable[[Floats], Floats], at: Floats) -> bool:
    """Return whether distances are as short as in some random orders of the rows, array (2, n), on average."""
    rng = np.random.default_rng(0)
    tries = [float(distances(at[:, rng.permutation(at.shape[1])]).mean()) for _ in range(_TRIES)]
    return bool(distances(at).mean() > np.mean(tries) - _SURE * np.std(tries))


def _groupings(column: Any) -> Iterator[NDArray[np.intp]]:
    """Yield the number of each row's value, and of codes also of what values begin with, longest first."""
    import pyarrow as pa

    encoded = (pa.array(texts_of(column)) if pa.types.is_nested(column.type) else column).dictionary_encode()
    indices = encoded.indices.fill_null(len(encoded.dictionary))
    yield indices.to_numpy(zero_copy_only=False).astype(np.intp)
    if len(encoded.dictionary) < len(column) / 4:
        return
    texts = _codes(column)[:: -(-len(column) // _CODES)]
    if not texts or _DATE.match(texts[0]):
        return  # times
    yield from _beginnings(texts)
    for parts in parts_of(texts):
        yield np.unique(parts, return_inverse=True)[1].astype(np.intp).reshape(-1)
        if len(set(parts)) >= len(parts) / 4:
            yield from _beginnings(parts)


def _codes(column: Any) -> list[str]:
    """Return texts, and bytes and whole numbers of 54 to 64 bits in hexadecimal digits; none of other columns."""
    import pyarrow as pa

    if is_text(column.type):
        return texts_of(column)
    if is_binary(column.type):
        return [(value or b"").hex() for value in column.to_pylist()]
    if not pa.types.is_integer(column.type):
        return []
    numbers = [value for value in column.to_pylist() if value is not None]
    large = sum(abs(number) >= _LARGE for number in numbers) > (1 - _ODD) * len(numbers)
    return ["" if each is None else f"{each % 2**64:016x}" for each in column.to_pylist()] if large else []


def _beginnings(texts: list[str]) -> Iterator[NDArray[np.intp]]:
    """Yield the number of what each code begins with, longest first; none of numbers of rows."""
    if are_rising(texts):
        return
    first, last = min(texts), max(texts)
    shared = next((k for k, (one, two) in enumerate(zip(first, last, strict=False)) if one != two), len(first))
    codes = np.array([text[shared : shared + _LONGEST] for text in texts])
    for size in range(_LONGEST - 1, 0, -1):
        begins, groups = np.unique(codes.astype(f"<U{size}"), return_inverse=True)
        if len(begins) <= _SITES:
            return
        yield groups.astype(np.intp).reshape(-1)


def _apart_m(groups: NDArray[np.intp], x: Floats, y: Floats) -> tuple[float, float, bool]:
    """Return the median distance of rows from the mean of their group's other rows, and the same without groups.

    Both are in metres, infinite where too few rows share a value. The third value is whether they are along the
    one direction in which groups locate rows better than in the plane.
    """
    sizes = np.bincount(groups)
    repeated = sizes[groups] > 1
    if repeated.sum() < max(_FEWEST, _REPEATED * len(groups)):
        return np.inf, np.inf, False
    own, at = groups[repeated], np.array([x[repeated], y[repeated]])
    if repeated.sum() < _LEAST_ROWS:
        several = len(np.unique(at.round(1), axis=1).T) > _SITES
        if not several or _is_chance(lambda there: np.hypot(*_residuals(own, there)), at):
            return np.inf, np.inf, False
    rng = np.random.default_rng(0)
    near = _residuals(own, at)
    blind = np.hstack([_residuals(own, at[:, rng.permutation(at.shape[1])]) for _ in range(_MIXED)])
    found = [(float(np.median(np.hypot(*near))), float(np.median(np.hypot(*blind))), False)]
    for angle in np.linspace(0, np.pi, 12 if repeated.sum() >= 3 * _LEAST_ROWS else 0, endpoint=False):
        way = np.array([np.cos(angle), np.sin(angle)])
        found.append((float(np.median(np.abs(way @ near))), float(np.median(np.abs(way @ blind))), True))
    shares = [
        (error / blind if blind > 0 else np.inf) / (_ONE_WAY if one else _SHARP) for error, blind, one in found
    ]
    return found[0] if shares[0] <= 1 else found[int(np.argmin(shares))]


def _residuals(groups: NDArray[np.intp], at: Floats) -> Floats:
    """Return the vectors from the mean of the others of each row's group to the row, array (2, n)."""
    sizes = np.bincount(groups)
    sums = np.array([np.bincount(groups, weights=each, minlength=len(sizes)) for each in at])
    found: Floats = at - (sums[:, groups] - at) / (sizes[groups] - 1)
    return found


def metres(lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
    """Return east and north of the rows' middle, metres, as far as a sphere has a plane."""
    middle = float(np.median(lat))
    east = np.mod(lon - np.median(lon) + 180, 360) - 180
    return east * _DEGREE_M * np.cos(np.radians(middle)), (lat - middle) * _DEGREE_M
