"""Arrow columns as arrays of numbers and names."""

from __future__ import annotations

import math
import re
import unicodedata
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.arrays import Floats
from ..errors import DataError, row_value

Objects = NDArray[np.object_]

_LARGEST = 2**63 - 1  # of 64 bits
_WHOLE = re.compile(r"^([-+]?[0-9]+)\.0+$")


def numbers(column: Any, what: str, *hints: str, comma: bool = False) -> Floats:
    """Return an Arrow column as floats, NaN where missing; `DataError` with ``hints`` where a value is no number.

    With ``comma`` numbers may be written ``48,85``.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = decoded(column)
    if not len(column):
        return np.empty(0)
    if is_text(column):
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


def spelled(value: Any) -> str | None:
    """Return a name as text in one spelling; None where it is missing or empty.

    Outer blanks are removed, Unicode is in normal form C, as in the ledger, and 1.0 is the user 1.
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:  # NaN is not itself
        return None
    if isinstance(value, float | np.floating | Decimal) and math.isfinite(value) and value == int(value):
        value = int(value)
    return without_fraction(unicodedata.normalize("NFC", str(value)).strip()) or None


def without_fraction(name: str) -> str:
    """Return a name without the fraction of a whole number: ``1`` for ``1.0``, as tables with gaps write it."""
    return _WHOLE.sub(r"\1", name)


def names(column: Any) -> Objects:
    """Return a column of names, such as users, as Python integers and `spelled` strings; None where missing."""
    import pyarrow as pa

    column = decoded(column)
    if pa.types.is_integer(column.type) and column.null_count == 0:
        return column.to_numpy().astype(object)  # type: ignore[no-any-return]
    values = python_values(column)
    array = np.empty(len(values), dtype=object)
    array[:] = one_spelling(values)
    return array


def one_spelling(values: list[Any]) -> list[Any]:
    """Return names in one spelling each: whole numbers as integers, other names as texts, None where missing."""
    flat = [str(value) if isinstance(value, dict | list) else value for value in values]
    found = {value: _one_name(value) for value in set(flat)}
    return [found[value] for value in flat]


def _one_name(value: Any) -> Any:
    """Return a name: an integer as it is, a number without a fraction as one, anything else as `spelled`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, np.integer):
        return int(value)
    text = spelled(value)
    if text is not None and isinstance(value, float | np.floating | Decimal) and value == value // 1:
        return int(value)
    return text


def python_values(column: Any) -> list[Any]:
    """Return a column as values of Python; where it does not have all of the times, they are numbers."""
    import pyarrow as pa

    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError, pa.ArrowException):  # a year after 9999, or nanoseconds
        return list(column.cast(_with_numbers(column.type)).to_pylist())


def _with_numbers(kind: Any) -> Any:
    """Return an Arrow type with numbers in place of times."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(kind):
        return pa.struct([each.with_type(_with_numbers(each.type)) for each in kind])
    if types.is_map(kind):
        return pa.map_(_with_numbers(kind.key_type), _with_numbers(kind.item_type))
    if types.is_fixed_size_list(kind):
        return pa.list_(_with_numbers(kind.value_type), kind.list_size)
    if types.is_list(kind) or types.is_list_view(kind):
        return pa.list_(_with_numbers(kind.value_type))
    if types.is_large_list(kind) or types.is_large_list_view(kind):
        return pa.large_list(_with_numbers(kind.value_type))
    if types.is_dictionary(kind):
        return _with_numbers(kind.value_type)
    if not types.is_temporal(kind):
        return kind
    return pa.int32() if types.is_date32(kind) or types.is_time32(kind) else pa.int64()


def plain_values(column: Any) -> NDArray[Any] | None:
    """Return any flat column as an array; None for nested and binary ones."""
    import pyarrow as pa

    column = decoded(column)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return None
    if pa.types.is_timestamp(column.type):
        moments = microseconds(column)
        return moments if np.count_nonzero(np.isnat(moments)) == column.null_count else np.array(column.to_numpy())
    return np.array(column.to_numpy())


def microseconds(column: Any) -> NDArray[np.datetime64]:
    """Return a column of time stamps, in microseconds of UTC, NaT where missing or too large for them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    most = _LARGEST // {"s": 10**6, "ms": 10**3}.get(column.type.unit, 1)
    since = pc.cast(column, pa.int64())
    within = pc.and_(pc.less_equal(since, most), pc.greater_equal(since, -most))
    micro = pc.cast(pc.if_else(within, column, None), pa.timestamp("us", column.type.tz), safe=False)
    return np.array(micro.to_numpy(), dtype="datetime64[us]")


def decoded(column: Any) -> Any:
    """Return a column without a dictionary."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        return pc.cast(column, column.type.value_type)
    return column


def is_text(column: Any) -> bool:
    """Return whether a column holds texts."""
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
