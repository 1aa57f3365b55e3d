"""Refusal of kept columns whose values locate rows, independent of their names.

Two measures say how well a column locates rows, in metres. For numbers that are nearly a plane or quadric over the
position: the distance along the steepest direction that the residual hides. For any value: the distance of a row
from the mean of the other rows with this value, or with a code that begins alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import InputError, argument
from ...rounding import amount
from .numbers import Numbers, has_shapes, numbers_in, without_sentinel
from .other_places import error_on_maps_m, is_named_coordinate, other_places, refusal_of_places
from .place_codes import rows_are_located
from .private_schema import copy_rows
from .text_parts import is_text, parts_in
from .value_groups import metres, note_of_values

_LOOKED_AT: Final = 1_000  # rows whose numbers are looked at
_FILLED: Final = 100  # of them that have a value, for each column
_GROUPED: Final = 50_000  # rows that are put into groups of one value
_LEAST_M: Final = 100.0  # a column that locates rows so well is refused whatever the mechanism loses
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
_FOLLOWED: Final = (
    0.03  # share of the variance of ranks that a position explains where half of the numbers show it
)
_STARTS: Final = 16  # random fits
_STEPS: Final = 3  # of each
_DISTINCT: Final = 20  # different values that a surface must fit, where others are left out
_FLAT: Final = 1e-14  # variance of numbers of size one that are all the same
_DENSE: Final = 20  # counters rise by fewer than this from row to row
_SHARP: Final = 0.5  # of the error without the column, from which it says little
_DEGREE_M: Final = 111_200.0


def check_kept(
    kept: Mapping[str, Any], lat: Floats, lon: Floats, loss_m: float, *, users: str | None = None
) -> tuple[str, ...]:
    """Refuse columns that locate rows as well as the reports do (or to 100 m); return sentences on the others.

    Positions are degrees, arrays (n,), NaN latitude for rows that do not count. ``loss_m`` is the mean distance
    from a true place to its report, NaN if unknown. Of the column ``users`` only numbers are tested, and to 100 m.
    At most a thousand rows are tested for numbers, and fifty thousand for values.
    """
    import pyarrow as pa

    rows = np.flatnonzero(np.isfinite(lat) & np.isfinite(lon))
    if not rows.size or not kept:
        return ()
    limit_m = max(_LEAST_M, 0.0 if np.isnan(loss_m) else loss_m)
    few, many = (
        rows[np.linspace(0, len(rows) - 1, min(len(rows), k)).astype(np.intp)] for k in (_LOOKED_AT, _GROUPED)
    )
    few = _with_filled(few, rows, kept.values())
    notes: list[str] = []
    columns = {name: list(parts_in(name, copy_rows(column, name, few))) for name, column in kept.items()}
    numbers_of = {name: list(numbers_in(parts)) for name, parts in columns.items()}
    others = other_places(numbers_of, lat[few], lon[few])
    for name, column in kept.items():
        numbers = numbers_of[name]
        most_m = _LEAST_M if name == users else limit_m
        located_m = 0.0 if has_shapes(columns[name]) else _by_numbers(numbers, lat[few], lon[few], most_m)
        whole = columns[name] if pa.types.is_nested(column.type) else columns[name][:1]
        if located_m is None and rows_are_located(whole, lat[few], lon[few], most_m):
            located_m = 0.0
        if located_m is None and (name in others or is_named_coordinate(numbers, lat[few], lon[few])):
            raise refusal_of_places(name, others)
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
    import pyarrow as pa
    from pyarrow import compute

    chosen = [few]
    for column in columns:
        gaps = compute.is_null(column, nan_is_null=pa.types.is_floating(column.type))
        if is_text(column.type):
            gaps = compute.or_kleene(gaps, compute.equal(compute.binary_length(column), 0))
        filled = ~np.asarray(gaps.to_numpy(zero_copy_only=False), dtype=np.bool_)
        if filled[few].sum() < min(_FILLED, filled[rows].sum()):
            those = rows[filled[rows]]
            chosen.append(those[np.linspace(0, len(those) - 1, min(len(those), _FILLED)).astype(np.intp)])
    return np.unique(np.concatenate(chosen))


def _by_numbers(numbers: Sequence[Numbers], lat: Floats, lon: Floats, limit_m: float) -> float | None:
    """Return how well the numbers in a column locate rows, metres; None where not to the limit."""
    errors = [_error_m(values, lat, lon, limit_m) for _, values, _ in numbers]
    return min((error for error in errors if error is not None), default=None)


def _error_m(values: Floats, lat: Floats, lon: Floats, limit_m: float) -> float | None:
    """Return how well numbers, or their squares, locate rows, metres; None where not to the limit."""
    known = np.isfinite(values)
    if not known.any():
        return None
    values, lat, lon = values[known], lat[known], lon[known]
    if any((np.abs(values - each) <= _EQUAL).all() for each in (lat, lon)):
        return 0.0
    if known.sum() < _FEW:
        return _error_of_few_m(values, lat, lon, limit_m)
    if known.sum() < len(known) / 2 and len(np.unique(values)) < _DISTINCT:
        return None
    meant = without_sentinel(values)
    if meant.sum() < len(values) and len(np.unique(values[meant])) >= _DISTINCT:
        error = _error_m(values[meant], lat[meant], lon[meant], limit_m)
        if error is not None:
            return error
    if len(np.unique(np.round(np.column_stack([lat, lon]), 6), axis=0)) <= _SITES:
        return None
    largest = np.abs(values).max()
    if _counts(values) or not largest > 0:
        return None
    values = values / largest
    many = len(values) >= _MANY
    errors = (_surface_error_m(each, *metres(lat, lon), limit_m) for each in (values, values**2)[: 1 + many])
    return min((error for error in errors if error is not None), default=None)


def _error_of_few_m(values: Floats, lat: Floats, lon: Floats, limit_m: float) -> float | None:
    """Return how well numbers of few rows (too few to fit a plane) locate them; None where not to the limit.

    They are compared with degrees, whole parts of degrees, eastings and northings, and lengths from any origin.
    """
    meant = values != 0
    values, lat, lon = values[meant], lat[meant], lon[meant]
    if not len(values):
        return None
    whole = (values == np.round(values)).all()
    middle = np.cos(np.radians(np.median(lat)))
    errors = [] if _counts(values) else [_error_of_copy_m(values, *metres(lat, lon))]
    if not whole or np.abs(values).max() >= min(_PARTS):
        errors.append(error_on_maps_m(values, lat, lon))
        errors += [
            float(np.abs(values / each - there).max()) * size_m
            for each in (_PARTS if whole else (1.0,))
            for there, size_m in ((lat, _DEGREE_M), (lon, _DEGREE_M * middle))
        ]
    error_m = min(errors, default=np.inf)
    return error_m if error_m <= limit_m else None


def _error_of_copy_m(values: Floats, x: Floats, y: Floats) -> float:
    """Return how far numbers of few rows are from lengths along some direction, metres; infinite if far."""
    places = len(np.unique(np.column_stack([x, y]).round(1), axis=0))
    values, x, y = (each - each.mean() for each in (values, x, y))
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
    """Return how well numbers (of size one) locate rows along their steepest direction; None beyond the limit.

    A plane or quadric over the position is fitted. Its residual divided by its slope is the distance within which
    the numbers do not distinguish positions. The quadric serves squared distances from a point.
    """
    many, size = len(values) >= _MANY, max(np.abs(x).max(), np.abs(y).max(), 1.0)
    x, y = x / size, y / size
    surface = np.column_stack([np.ones_like(x), x, y, *([x * x, x * y, y * y] if many else [])])
    if many and _may_be_exact(surface, values) and _is_exact(surface, values):
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


def _may_be_exact(surface: Floats, values: Floats) -> bool:
    """Return whether the ranks of numbers follow the position at all, which takes little time to see."""
    ranks = np.argsort(np.argsort(values)).astype(np.float64)
    left = ranks - surface @ np.linalg.lstsq(surface, ranks, rcond=None)[0]
    return bool(left.var() <= (1 - _FOLLOWED) * ranks.var())


def _is_exact(surface: Floats, values: Floats) -> bool:
    """Return whether most numbers lie on a plane or quadric over the position (least trimmed squares)."""
    rng, half, terms = np.random.default_rng(0), len(values) // 2, surface.shape[1]
    for _ in range(_STARTS):
        rows = np.asarray(rng.choice(len(values), terms, replace=False))
        off = np.abs(values)
        for _ in range(_STEPS):
            off = np.abs(values - surface @ np.linalg.lstsq(surface[rows], values[rows], rcond=None)[0])
            rows = np.argpartition(off, half)[:half]
        spread = float(values[rows].var())
        if spread > _FLAT and float((off[rows] ** 2).mean()) <= _UNEXPLAINED**2 * spread:
            places = np.unique(np.column_stack([surface[rows, 1:3], values[rows]]).round(9), axis=0)
            return len(places) >= _DISTINCT  # fewer are fitted by any surface
    return False


def _counts(values: Floats) -> bool:
    """Return whether whole numbers only rise, or fall, by little from row to row, as the numbers of rows do."""
    steps = np.diff(values)
    whole = (values == np.round(values)).all()
    return bool(whole and ((steps >= 0).all() or (steps <= 0).all()) and abs(steps.sum()) <= _DENSE * len(values))
