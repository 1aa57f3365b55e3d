"""Columns to keep that tell the position: refused by their values, whatever they are called.

Numbers count that are a plane or a quadric over latitude and longitude, as the coordinates of every projection
nearly are, also within texts, lists, structures and well-known binary. Codes such as geohashes are not recognised.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError, argument
from ..columns import fresh

_LOOKED_AT: Final = 1_000  # rows that are looked at
_FEW: Final = 10  # rows below which a plane fits anything
_MANY: Final = 30  # rows from which a quadric is fitted
_EQUAL: Final = 1e-5  # degrees, about a metre
_SITES: Final = 5  # places up to which any column may follow them
_UNEXPLAINED: Final = 1e-4  # share of the variance that a position leaves open in its own coordinates
_ODD: Final = 0.05  # share of the rows that may be something else, such as zeros
_DENSE: Final = 20  # counters rise by fewer than this from row to row
_SHAPE: Final = re.compile(
    r"\s*(?:SRID=\d+;)?\s*(?:MULTI)?POINT\s*(?:ZM|Z|M)?\s*(?:\(|EMPTY)|\s*\{.*\"coordinates\"",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER: Final = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_BETWEEN: Final = re.compile(r"[\s,;|/()\[\]°NSEWnsew]*")


def check_kept(kept: Mapping[str, Any], lat: Floats, lon: Floats) -> None:
    """Refuse columns that hold the position in another form: coordinates of any projection, or a shape.

    Args:
        kept: The columns to keep, Arrow arrays of n rows by name.
        lat: The true latitudes, degrees, array (n,); NaN for rows that do not count.
        lon: The true longitudes, degrees, array (n,).

    Raises:
        InputError: If one does, in a thousand rows.
    """
    rows = np.flatnonzero(np.isfinite(lat) & np.isfinite(lon))
    if not rows.size:
        return
    rows = rows[np.linspace(0, len(rows) - 1, min(len(rows), _LOOKED_AT)).astype(np.intp)]
    at = lat[rows], lon[rows]
    for name, column in kept.items():
        part = fresh(column, name, rows)
        if _is_shape(part) or any(_follows(numbers, *at) for numbers in _numbers(part)):
            raise InputError(
                f"the column {name!r} holds positions in another form, so it is never kept.",
                f"leave it out of {argument('keep')}.",
            )


def _texts(column: Any) -> list[str]:
    """Return a column of texts or bytes as texts, empty where there is nothing."""
    import pyarrow as pa

    as_bytes = column.cast(pa.large_binary()).to_pylist()
    return ["" if value is None else value.decode("utf-8", "replace").strip() for value in as_bytes]


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_shape(column: Any) -> bool:
    """Return whether all texts of a column are points in well-known text or GeoJSON."""
    if not _is_text(column.type):
        return False
    texts = [text for text in _texts(column) if text]
    return bool(texts) and all(_SHAPE.match(text) for text in texts)


def _numbers(column: Any) -> Iterator[Floats]:
    """Yield the numbers in a column, arrays (n,), NaN where there is none; none of times and truth values."""
    import pyarrow as pa
    from pyarrow import compute

    kind = column.type
    if pa.types.is_dictionary(kind):
        yield from _numbers(column.cast(kind.value_type))
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        yield compute.cast(column, pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    elif _is_text(kind):
        texts = _texts(column)
        yield from _written(texts)
        yield from _written([text.replace(",", ".") for text in texts])
        yield from _binary([_unhexed(text) for text in texts])
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        yield from _binary(column.to_pylist())
    elif pa.types.is_struct(kind):
        for part in column.flatten():
            yield from _numbers(part)
    elif _is_list(kind) and (pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type)):
        yield from _places([values or [] for values in column.to_pylist()])


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _places(rows: Sequence[Sequence[Any]]) -> Iterator[Floats]:
    """Yield the first, second and third numbers of rows, arrays (n,), NaN where there is none."""
    for place in range(3):
        yield np.array([_float(row[place]) if len(row) > place else np.nan for row in rows])


def _float(value: Any) -> float:
    return np.nan if value is None else float(value)


def _written(texts: Sequence[str]) -> Iterator[Floats]:
    """Yield the first, second and third numbers of texts that hold numbers and what parts them alone."""
    rows = []
    for text in texts:
        found = _NUMBER.findall(text)
        rows.append(found if _BETWEEN.fullmatch(_NUMBER.sub(" ", text)) else [])
    if sum(map(bool, rows)) < (1 - _ODD) * sum(map(bool, texts)):
        return
    yield from _places(rows)


def _unhexed(text: str) -> bytes | None:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def _binary(values: Sequence[bytes | None]) -> Iterator[Floats]:
    """Yield the coordinates of points in (extended) well-known binary."""
    points = [_point(value) if value else None for value in values]
    for place in range(2):
        yield np.array([np.nan if point is None else point[place] for point in points])


def _point(value: bytes) -> tuple[float, float] | None:
    if len(value) < 21 or value[0] > 1:
        return None
    order = "<" if value[0] else ">"
    (kind,) = struct.unpack_from(f"{order}I", value, 1)
    if kind & 0xFF != 1 or len(value) > 41:
        return None
    x, y = struct.unpack_from(f"{order}dd", value, 9 if kind & 0x20000000 and len(value) >= 25 else 5)
    return float(x), float(y)


def _follows(values: Floats, lat: Floats, lon: Floats) -> bool:
    """Return whether numbers are the coordinates, or a plane or quadric over them."""
    known = np.isfinite(values)
    if known.sum() < max(1, len(values) // 2):
        return False
    values, lat, lon = values[known], lat[known], lon[known]
    if any((np.abs(values - each) <= _EQUAL).all() for each in (lat, lon)):
        return True
    if len(values) < _FEW or len(np.unique(np.round(np.column_stack([lat, lon]), 6), axis=0)) <= _SITES:
        return False
    if _counts(values):
        return False
    largest = np.abs(values).max()
    values = values / largest if largest > 0 else values
    x, y = lat - lat.mean(), lon - lon.mean()
    terms = [np.ones_like(x), x, y, *([x * x, x * y, y * y] if len(values) >= _MANY else [])]
    surface = np.column_stack([each / (np.abs(each).max() or 1.0) for each in terms])
    off = np.abs(values - surface @ np.linalg.lstsq(surface, values, rcond=None)[0])
    kept = off <= np.quantile(off, 1 - _ODD) if len(values) >= _MANY else np.ones(len(values), dtype=np.bool_)
    surface, values = surface[kept], values[kept]
    left = values - surface @ np.linalg.lstsq(surface, values, rcond=None)[0]
    spread = values - values.mean()
    return bool((spread**2).sum() > 0 and (left**2).sum() <= _UNEXPLAINED * (spread**2).sum())


def _counts(values: Floats) -> bool:
    """Return whether whole numbers only rise, or fall, by little from row to row, as the numbers of rows do."""
    steps = np.diff(values)
    whole = (values == np.round(values)).all()
    return bool(whole and ((steps >= 0).all() or (steps <= 0).all()) and abs(steps.sum()) <= _DENSE * len(values))
