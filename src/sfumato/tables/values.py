"""Arrow columns as arrays of numbers, names and times."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..errors import DataError, row_value

Objects = NDArray[np.object_]
Times = NDArray[np.datetime64]

# An integer time counts from 1970; its size shows the unit (1973 to 2286 in each).
_EPOCHS = ((1e8, 1e10, "s"), (1e11, 1e13, "ms"), (1e14, 1e16, "us"), (1e17, 1e19, "ns"))
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TWITTER = r"^[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d \d\d:\d\d:\d\d [+-]\d{4} \d{4}$"


def numbers(column: Any, what: str, *hints: str, comma: bool = False) -> Floats:
    """Return a column as floats, NaN where a value is missing.

    Args:
        column: An Arrow array or chunked array.
        what: What the column is, for the error message.
        hints: What to do about a value that is not a number.
        comma: Whether numbers may be written ``48,85``.

    Raises:
        DataError: If a value is not a number.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _decoded(column)
    if not len(column):
        return np.empty(0)
    if _is_text(column):
        column = pc.utf8_trim_whitespace(column)
        if comma:
            column = pc.replace_substring(column, ",", ".")
        column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    try:
        converted = pc.cast(column, pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        row, value = _first_bad_number(column)
        raise DataError(
            f"{what} holds {row_value(repr(value), 'a value')} in row {row}, which is not a number.", *hints
        ) from None
    return np.array(pc.fill_null(converted, float("nan")).to_numpy(), dtype=np.float64)


def names(column: Any) -> Objects:
    """Return a column of names, such as users, as Python integers and strings; None where missing."""
    import pyarrow as pa

    column = _decoded(column)
    if pa.types.is_integer(column.type) and column.null_count == 0:
        return column.to_numpy().astype(object)  # type: ignore[no-any-return]
    values = column.to_pylist()
    if pa.types.is_floating(column.type):  # integers that once had missing values
        values = [None if v is None or v != v else int(v) if v.is_integer() else str(v) for v in values]
    elif not (pa.types.is_integer(column.type) or _is_text(column)):
        values = [None if v is None else str(v) for v in values]
    array = np.empty(len(values), dtype=object)
    array[:] = [None if v == "" else v for v in values]
    return array


def times(column: Any) -> Times | None:
    """Return a column as UTC times, NaT where missing, or None if it holds no times."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _decoded(column)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        known = pc.fill_null(pc.cast(column, pa.float64(), safe=False), float("nan"))  # nanoseconds lose digits
        return _since_1970(np.array(known.to_numpy(), dtype=np.float64))
    if _is_text(column):
        column = _parsed(column)
    elif pa.types.is_date(column.type):
        column = pc.cast(column, pa.timestamp("us"))
    if column is None or not pa.types.is_timestamp(column.type):
        return None
    micro = pc.cast(column, pa.timestamp("us", column.type.tz), safe=False)
    return np.array(micro.to_numpy(), dtype="datetime64[us]")


def _parsed(column: Any) -> Any:
    """Return text as Arrow timestamps, or None."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pc.utf8_trim_whitespace(column)
    column = pc.if_else(pc.equal(column, ""), pa.scalar(None, column.type), column)
    if column.null_count == len(column):
        return None
    if pc.all(pc.match_substring_regex(column, _TWITTER)).as_py():
        part = {
            "month": pc.utf8_slice_codeunits(column, 4, 7),
            "day": pc.utf8_slice_codeunits(column, 8, 10),
            "clock": pc.utf8_slice_codeunits(column, 11, 19),
            "zone": pc.utf8_slice_codeunits(column, 20, 25),
            "year": pc.utf8_slice_codeunits(column, 26, 30),
        }
        number = pc.index_in(part["month"], value_set=pa.array(_MONTHS, part["month"].type))
        month = pc.utf8_lpad(pc.cast(pc.add(number, 1), pa.string()), 2, "0")
        month = pc.cast(month, part["day"].type)
        date = pc.binary_join_element_wise(part["year"], month, part["day"], "-")
        column = pc.binary_join_element_wise(date, "T", part["clock"], part["zone"], "")
    else:
        column = pc.replace_substring_regex(column, r"^(\d{4})[/.](\d\d)[/.](\d\d)", r"\1-\2-\3")
        column = pc.replace_substring_regex(column, r"\s*UTC$", "Z")
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        try:
            return pc.cast(column, kind)
        except pa.ArrowInvalid:
            continue
    return None


def _since_1970(values: Floats) -> Times | None:
    known = values[~np.isnan(values)]
    for least, most, unit in _EPOCHS:
        if known.size and (known >= least).all() and (known < most).all():
            scale = {"s": 1e6, "ms": 1e3, "us": 1.0, "ns": 1e-3}[unit]
            micro = np.where(np.isnan(values), 0, np.round(values * scale)).astype(np.int64)
            moments = micro.astype("datetime64[us]")
            moments[np.isnan(values)] = np.datetime64("NaT", "us")
            return moments
    return None


def plain_values(column: Any) -> NDArray[Any] | None:
    """Return any flat column as an array; None for nested and binary ones."""
    import pyarrow as pa

    column = _decoded(column)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return None
    if pa.types.is_timestamp(column.type):
        return times(column)
    return np.array(column.to_numpy())


def _decoded(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return pc.cast(column, column.type.value_type)
    return column


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _first_bad_number(column: Any) -> tuple[int, Any]:
    import pyarrow as pa

    try:
        for row, value in enumerate(column.to_pylist(), start=1):
            try:
                float(value if value is not None else "nan")
            except (TypeError, ValueError):
                return row, value
        return 1, column[0].as_py()
    except (ValueError, OverflowError, pa.ArrowException):  # a time that Python does not have
        return 1, str(column.type)
