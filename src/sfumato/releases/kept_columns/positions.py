"""Refusal of kept columns whose values locate rows, independent of their names.

Two measures say how well a column locates rows, in metres. For numbers that are nearly a plane or quadric over the
position: the distance along the steepest direction that the residual hides. For any value: the distance of a row
from the mean of the other rows with this value, or with a code that begins alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..._system import pa, pc
from ...core.arrays import Floats
from ...errors import InputError, argument
from ...rounding import amount
from .other_places import (
    are_shapes,
    error_on_maps_m,
    is_named_coordinate,
    numbers_in,
    other_places,
    refusal_of_places,
    without_sentinel,
)
from .place_codes import rows_are_located
from .private_schema import copy_rows
from .text_parts import are_rising, is_binary, is_text, parts_in, parts_of, texts_of

_LOOKED_AT: Final = 1_000  # rows whose numbers are looked at
_FILLED: Final = 100  # of them that have a value, for each column
_GROUPED: Final = 50_000  # rows that are put into groups of one value
_LEAST_M: Final = 100.0  # a column that locates rows so well is refused for any mechanism
_FEW: Final = 10  # rows below which a plane fits anything
_MANY: Final = 30  # rows from which a quadric is fitted
_EQUAL: Final = 1e-5  # degrees, about a metre
_SITES: Final = 5  # places up to which any column may follow them
_UNEXPLAINED: Final = 1e-4  # share of the variance that a position leaves open in its own coordinates
_ODD: Final = 0.05  # share of the rows that may be something else, such as zeros
_COPIED: Final = (3, 5)  # places from which lengths of known and of unknown unit and direction are no chance
_UNITS_M: Final = (1.0, 1_000.0, 0.3048)  # metres, kilometres, feet
_SAME: Final = 0.01  # of the spread of few rows, up to which numbers are lengths
_PARTS: Final = (1e5, 1e6, 1e7, 2**31 / 180)  # of a degree, in which devices count
_FOLLOWED: Final = 0.03  # share of the ranks' variance explained by position, if half of the numbers show it
_STARTS: Final = 16  # random fits
_STEPS: Final = 3  # of each
_DISTINCT: Final = 20  # different values that a surface must fit, where others are left out
_FLAT: Final = 1e-14  # variance of numbers of size one that are all the same
_DENSE: Final = 20  # counters rise by fewer than this from row to row
_SHARP: Final = 0.5  # of the error without the column, from which it says little
_ONE_WAY: Final = 0.25  # the same where only one direction counts
_DEGREE_M: Final = 111_200.0
_LEAST_REPEATS: Final = 0.02  # share of the rows that must have a value of others
_LEAST_ROWS: Final = 50  # that must have a value of others: fewer may be near each other by chance
_FEWEST: Final = 20  # that must have one where this is no chance
_ORDERED: Final = 16  # codes whose order is looked at
_TRIES: Final = 60  # random orders of the rows
_SURE: Final = 5.0  # of their standard deviations, from which nearness is no chance
_CODES: Final = 10_000  # rows whose codes are looked at
_RANDOM_GROUPS: Final = 4  # random groups of the same sizes
_LARGE: Final = 2**53  # whole number from which it is probably no amount, but may be a code
_LONGEST: Final = 24  # characters of codes that are looked at
_UNIQUE: Final = 0.9  # values per row from which a column is as good as a name of the row
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d|\d\d?:\d\d|\d\d?[./]\d\d?[./]\d{2}|\D*1\d{9}(?:\d{3}){0,3}\D*$")


def refuse_locating_columns(
    table: Mapping[str, Any], lat: Floats, lon: Floats, loss_m: float, *, users: str | None = None
) -> tuple[str, ...]:
    """Refuse columns that locate rows to ``loss_m``, the mean error of reports, or 100 m; return notes on others.

    Positions are degrees, arrays (n,), NaN latitude for rows that do not count. Of the column ``users`` only
    numbers are tested, and to 100 m.
    """
    rows = np.flatnonzero(np.isfinite(lat) & np.isfinite(lon))
    if not rows.size or not table:
        return ()
    limit_m = max(_LEAST_M, 0.0 if np.isnan(loss_m) else loss_m)
    few, many = (
        rows[np.linspace(0, len(rows) - 1, min(len(rows), k)).astype(np.intp)] for k in (_LOOKED_AT, _GROUPED)
    )
    few = _with_filled(few, rows, table.values())
    notes: list[str] = []
    columns = {name: list(parts_in(name, copy_rows(column, name, few))) for name, column in table.items()}
    numbers_of = {name: list(numbers_in(parts)) for name, parts in columns.items()}
    pair = other_places(numbers_of, lat[few], lon[few])
    for name, column in table.items():
        numbers = numbers_of[name]
        most_m = _LEAST_M if name == users else limit_m
        errors: list[float | None] = [0.0]
        if not any(are_shapes(part) for _, part in columns[name]):
            errors = [_error_m(values, lat[few], lon[few], most_m) for _, values, _ in numbers]
        located_m = min((error for error in errors if error is not None), default=None)
        whole = columns[name] if pa.types.is_nested(column.type) else columns[name][:1]
        if located_m is None and rows_are_located(whole, lat[few], lon[few], most_m):
            located_m = 0.0
        if located_m is None and (name in pair or is_named_coordinate(numbers, lat[few], lon[few])):
            raise refusal_of_places(name, pair)
        if located_m is not None:
            exactly = f" (to about {amount(located_m, 'm')})" if located_m >= 1 else ""
            raise InputError(
                f"the column {name!r} holds positions in another form{exactly}, so it is never kept.",
                f"leave it out of {argument('keep')}.",
            )
        if name == users:
            continue
        note = note_of_values(name, copy_rows(column, name, many), lat[many], lon[many], limit_m)
        notes += [note] if note else []
    return tuple(notes)


def _with_filled(few: NDArray[np.intp], rows: NDArray[np.intp], columns: Iterable[Any]) -> NDArray[np.intp]:
    """Return some rows, and more of those in which a column has a value, where few of them have one."""
    samples = [few]
    for column in columns:
        gaps = pc.is_null(column, nan_is_null=pa.types.is_floating(column.type))
        if is_text(column.type):
            gaps = pc.or_kleene(gaps, pc.equal(pc.binary_length(column), 0))
        filled = ~np.asarray(gaps.to_numpy(zero_copy_only=False), dtype=np.bool_)
        if filled[few].sum() < min(_FILLED, filled[rows].sum()):
            members = rows[filled[rows]]
            samples.append(members[np.linspace(0, len(members) - 1, min(len(members), _FILLED)).astype(np.intp)])
    return np.unique(np.concatenate(samples))


def _error_m(values: Floats, lat: Floats, lon: Floats, limit_m: float) -> float | None:
    """Return how well numbers, or their squares, locate rows, metres; None where not to the limit."""
    known = np.isfinite(values)
    if not known.any():
        return None
    values, lat, lon = values[known], lat[known], lon[known]
    if any((np.abs(values - degrees) <= _EQUAL).all() for degrees in (lat, lon)):
        return 0.0
    if known.sum() < _FEW:
        return _error_of_few_m(values, lat, lon, limit_m)
    if known.sum() < len(known) / 2 and len(np.unique(values)) < _DISTINCT:
        return None
    mask = without_sentinel(values)
    if mask.sum() < len(values) and len(np.unique(values[mask])) >= _DISTINCT:
        error = _error_m(values[mask], lat[mask], lon[mask], limit_m)
        if error is not None:
            return error
    if len(np.unique(np.round(np.column_stack([lat, lon]), 6), axis=0)) <= _SITES:
        return None
    largest = np.abs(values).max()
    if _counts(values) or not largest > 0:
        return None
    values = values / largest
    many = len(values) >= _MANY
    errors = (_surface_error_m(powers, *metres(lat, lon), limit_m) for powers in (values, values**2)[: 1 + many])
    return min((error for error in errors if error is not None), default=None)


def _error_of_few_m(values: Floats, lat: Floats, lon: Floats, limit_m: float) -> float | None:
    """Return how well numbers of too few rows for a plane locate them, compared as copies of coordinates."""
    mask = values != 0
    values, lat, lon = values[mask], lat[mask], lon[mask]
    if not len(values):
        return None
    whole = (values == np.round(values)).all()
    middle = np.cos(np.radians(np.median(lat)))
    errors = [] if _counts(values) else [_error_of_copy_m(values, *metres(lat, lon))]
    if not whole or np.abs(values).max() >= min(_PARTS):
        errors.append(error_on_maps_m(values, lat, lon))
        errors += [
            float(np.abs(values / part - there).max()) * size_m
            for part in (_PARTS if whole else (1.0,))
            for there, size_m in ((lat, _DEGREE_M), (lon, _DEGREE_M * middle))
        ]
    error_m = min(errors, default=np.inf)
    return error_m if error_m <= limit_m else None


def _error_of_copy_m(values: Floats, x: Floats, y: Floats) -> float:
    """Return how far numbers of few rows are from lengths along some direction, metres; infinite if far."""
    places = len(np.unique(np.column_stack([x, y]).round(1), axis=0))
    values, x, y = (array - array.mean() for array in (values, x, y))
    if places < _COPIED[0] or not values.any():
        return np.inf
    errors = [
        float(np.abs(off).max())
        for unit in _UNITS_M
        for axis in (x, y, -x, -y)
        if np.std(off := values * unit - axis) <= _SAME * np.std(axis)
    ]
    plane = np.column_stack([x, y])
    if places >= _COPIED[1] and np.linalg.svd(plane, compute_uv=False)[1] >= _SAME * np.std(plane):
        slope = np.linalg.lstsq(plane, values, rcond=None)[0]
        off = values - plane @ slope
        if np.std(off) <= _SAME / 5 * np.std(values):
            errors.append(float(np.abs(off).max() / np.hypot(*slope)))
    return min(errors, default=np.inf)


def _surface_error_m(values: Floats, x: Floats, y: Floats, limit_m: float) -> float | None:
    """Return the residual of numbers (of size one) on a surface over its slope, metres; None beyond the limit."""
    many, size = len(values) >= _MANY, max(np.abs(x).max(), np.abs(y).max(), 1.0)
    x, y = x / size, y / size
    surface = np.column_stack([np.ones_like(x), x, y, *([x * x, x * y, y * y] if many else [])])
    if many and _is_exact(surface, values):
        return 0.0
    off = np.abs(values - surface @ np.linalg.lstsq(surface, values, rcond=None)[0])
    usual = off <= np.quantile(off, 1 - _ODD) if many else np.ones(len(values), dtype=np.bool_)
    surface, values, x, y = surface[usual], values[usual], x[usual], y[usual]
    terms = np.linalg.lstsq(surface, values, rcond=None)[0]
    # Each row is compared with the fit to all others, or single rows far off would follow any column.
    weight = (np.linalg.qr(surface)[0] ** 2).sum(axis=1)
    left = float((((values - surface @ terms) / np.maximum(1 - weight, 1e-9)) ** 2).mean())
    spread = float(values.var())
    bends = terms[3:] if many else np.zeros(3)
    slope = np.array([terms[1] + 2 * bends[0] * x + bends[1] * y, terms[2] + bends[1] * x + 2 * bends[2] * y])
    steepness = float((slope**2).sum(axis=0).mean())
    if not (spread > 0 and steepness > 0):
        return None
    error_m = float(size * np.sqrt(left / steepness))
    sharp = left <= (_SHARP if many else _SHARP / 2) ** 2 * spread and error_m <= limit_m
    return error_m if sharp or left <= _UNEXPLAINED * spread else None


def _is_exact(surface: Floats, values: Floats) -> bool:
    """Return whether most numbers lie on a plane or quadric over the position (least trimmed squares)."""
    ranks = np.argsort(np.argsort(values)).astype(np.float64)
    left = ranks - surface @ np.linalg.lstsq(surface, ranks, rcond=None)[0]
    if left.var() > (1 - _FOLLOWED) * ranks.var():
        return False  # the ranks do not follow the position at all, which takes little time to see
    rng, half, terms = np.random.default_rng(0), len(values) // 2, surface.shape[1]
    rows = np.array([rng.choice(len(values), terms, replace=False) for _ in range(_STARTS)])
    off = np.empty((_STARTS, len(values)))
    for _ in range(_STEPS):  # of all fits at once
        least = np.finfo(np.float64).eps * rows.shape[1]  # as in lstsq
        fits = np.linalg.pinv(surface[rows], least) @ values[rows][:, :, None]
        off = np.abs(values - (surface @ fits)[:, :, 0])
        rows = np.argpartition(off, half, axis=1)[:, :half]
    spreads, unexplained = values[rows].var(axis=1), (np.take_along_axis(off, rows, 1) ** 2).mean(axis=1)
    exact = np.flatnonzero((spreads > _FLAT) & (unexplained <= _UNEXPLAINED**2 * spreads))
    if not exact.size:
        return False
    fitted = rows[exact[0]]
    places = np.unique(np.column_stack([surface[fitted, 1:3], values[fitted]]).round(9), axis=0)
    return len(places) >= _DISTINCT  # fewer are fitted by any surface


def _counts(values: Floats) -> bool:
    """Return whether whole numbers only rise, or fall, by little from row to row, as the numbers of rows do."""
    steps = np.diff(values)
    whole = (values == np.round(values)).all()
    return bool(whole and ((steps >= 0).all() or (steps <= 0).all()) and abs(steps.sum()) <= _DENSE * len(values))


def note_of_values(name: str, column: Any, lat: Floats, lon: Floats, limit_m: float) -> str:
    """Return a sentence on what values reveal of positions, if much; refuse those that locate to the limit."""
    rows, notes = len(column), ""
    x, y = metres(lat, lon)
    compared = f"{'the reports to' if limit_m > _LEAST_M else 'the limit is'} {amount(limit_m, 'm')}"
    _refuse(name, _in_order_m(column, x, y), limit_m, compared)
    for number, groups in enumerate(_groupings(column)):
        values = len(np.unique(groups))
        if number == 0 and rows >= 2 * _FEW and values >= _UNIQUE * rows:
            notes = f"the column {name!r} is nearly unique: its values identify single rows"
        every = -(-rows // len(groups))
        located = _apart_m(groups, x[::every], y[::every])
        _refuse(name, located, limit_m, compared)
        error_m, blind_m, one_way = located
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
    """Return the median distance of rows with successive codes (of space-filling curves), and of any rows."""
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
    if is_text(column.type):
        return texts_of(column)
    if is_binary(column.type):
        return [(value or b"").hex() for value in column.to_pylist()]
    if not pa.types.is_integer(column.type):
        return []
    numbers = [value for value in column.to_pylist() if value is not None]
    large = sum(abs(number) >= _LARGE for number in numbers) > (1 - _ODD) * len(numbers)
    return ["" if value is None else f"{value % 2**64:016x}" for value in column.to_pylist()] if large else []


def _beginnings(texts: list[str]) -> Iterator[NDArray[np.intp]]:
    """Yield the number of what each code begins with, longest first; none of numbers of rows."""
    if are_rising(texts):
        return
    first, last = min(texts), max(texts)
    prefix = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    codes = np.array([text[prefix : prefix + _LONGEST] for text in texts])
    for size in range(_LONGEST - 1, 0, -1):
        begins, groups = np.unique(codes.astype(f"<U{size}"), return_inverse=True)
        if len(begins) <= _SITES:
            return
        yield groups.astype(np.intp).reshape(-1)


def _apart_m(groups: NDArray[np.intp], x: Floats, y: Floats) -> tuple[float, float, bool]:
    """Return the median distance of a row from its group, that without groups, and whether in one direction."""
    sizes = np.bincount(groups)
    mask = sizes[groups] > 1
    if mask.sum() < max(_FEWEST, _LEAST_REPEATS * len(groups)):
        return np.inf, np.inf, False
    group, at = groups[mask], np.array([x[mask], y[mask]])
    if mask.sum() < _LEAST_ROWS:
        several = len(np.unique(at.round(1), axis=1).T) > _SITES
        if not several or _is_chance(lambda there: np.hypot(*_residuals(group, there)), at):
            return np.inf, np.inf, False
    rng = np.random.default_rng(0)
    near = _residuals(group, at)
    blind = np.hstack([_residuals(group, at[:, rng.permutation(at.shape[1])]) for _ in range(_RANDOM_GROUPS)])
    errors = [(float(np.median(np.hypot(*near))), float(np.median(np.hypot(*blind))), False)]
    angles = np.linspace(0, np.pi, 12 if mask.sum() >= 3 * _LEAST_ROWS else 0, endpoint=False)
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    medians = [np.median(np.abs(ways @ vectors), axis=1).tolist() for vectors in (near, blind)]
    errors += [(error, error_without, True) for error, error_without in zip(*medians, strict=True)]
    shares = [
        (error / blind if blind > 0 else np.inf) / (_ONE_WAY if line else _SHARP) for error, blind, line in errors
    ]
    return errors[0] if shares[0] <= 1 else errors[int(np.argmin(shares))]


def _residuals(groups: NDArray[np.intp], at: Floats) -> Floats:
    """Return the vectors from the mean of the others of each row's group to the row, array (2, n)."""
    sizes = np.bincount(groups)
    sums = np.array([np.bincount(groups, weights=axis, minlength=len(sizes)) for axis in at])
    return np.asarray(at - (sums[:, groups] - at) / (sizes[groups] - 1))


def metres(lat: Floats, lon: Floats) -> tuple[Floats, Floats]:
    """Return east and north of the rows' middle, metres, as far as a sphere has a plane."""
    middle = float(np.median(lat))
    east = np.mod(lon - np.median(lon) + 180, 360) - 180
    return east * _DEGREE_M * np.cos(np.radians(middle)), (lat - middle) * _DEGREE_M
