"""Arrow columns as arrays of numbers and names."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Hashable, Iterable
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import pa, pc
from ..core import Space
from ..core.arrays import Floats
from ..core.naming import quote
from ..errors import DataError, InputError, row_value
from ..escaping import from_csv_cell, invisible_character
from .source import cause

Objects = NDArray[np.object_]

_LARGEST = 2**63 - 1  # of 64 bits
_WHOLE = re.compile(r"^([-+]?[0-9]+)\.0+$")
_FRACTION: Final = r"\.0+$"  # may be the fraction of a whole number
# Texts that no spelling changes: printable ASCII that begins and ends with what is seen.
_AS_IT_IS: Final = r"^[!-~]([ -~]*[!-~])?$"


def numbers(column: Any, subject: str, *hints: str, comma: bool = False) -> Floats:
    """Return an Arrow column as floats, NaN where missing, with ``comma`` also ``48,85``; refuse others."""
    column = decode_dictionary(column)
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
            f"{subject} holds {row_value(repr(value), 'a value')} in row {row}, which is not a number.", *hints
        ) from None
    return np.array(pc.fill_null(converted, float("nan")).to_numpy(), dtype=np.float64)


def name_text(value: Any) -> str | None:
    """Return a name as text: trimmed, in Unicode's normal form C, 1 for 1.0; None where missing or empty."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:  # NaN is not itself
        return None
    if isinstance(value, float | np.floating | Decimal) and math.isfinite(value) and value == int(value):
        value = int(value)
    return without_fraction(unicodedata.normalize("NFC", str(value)).strip()) or None


def without_fraction(name: str) -> str:
    """Return a name without the fraction of a whole number: ``1`` for ``1.0``, as tables with gaps write it."""
    return _WHOLE.sub(r"\1", name)


def names(column: Any) -> Objects:
    """Return a column of names, such as users, as Python integers and texts of `name_text`; None where missing."""
    column = decode_dictionary(column)
    if pa.types.is_integer(column.type) and column.null_count == 0:
        return column.to_numpy().astype(object)  # type: ignore[no-any-return]
    values = python_values(column)
    array = np.empty(len(values), dtype=object)
    array[:] = one_spelling(values)
    return array


def one_spelling(values: list[Any]) -> list[Any]:
    """Return names in one spelling each: whole numbers as integers, other names as texts, None where missing."""
    flat = [str(value) if isinstance(value, dict | list) else value for value in values]
    spellings = {value: _one_name(value) for value in set(flat)}
    return [spellings[value] for value in flat]


def _one_name(value: Any) -> Any:
    """Return a name: an integer as it is, a number without a fraction as one, anything else by `name_text`."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, np.integer):
        return int(value)
    text = name_text(value)
    if text is not None and isinstance(value, float | np.floating | Decimal) and value == value // 1:
        return int(value)
    return text


def python_values(column: Any) -> list[Any]:
    """Return a column as values of Python; where it does not have all of the times, they are numbers."""
    try:
        return list(column.to_pylist())
    except (OverflowError, ValueError, pa.ArrowException):  # a year after 9999, or nanoseconds
        return list(column.cast(_with_numbers(column.type)).to_pylist())


def _with_numbers(kind: Any) -> Any:
    """Return an Arrow type with numbers in place of times."""
    types = pa.types
    if types.is_struct(kind):
        return pa.struct([field.with_type(_with_numbers(field.type)) for field in kind])
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
    column = decode_dictionary(column)
    if pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type):
        return None
    if pa.types.is_timestamp(column.type):
        moments = microseconds(column)
        return moments if np.count_nonzero(np.isnat(moments)) == column.null_count else np.array(column.to_numpy())
    return np.array(column.to_numpy())


def microseconds(column: Any) -> NDArray[np.datetime64]:
    """Return a column of time stamps, in microseconds of UTC, NaT where missing or too large for them."""
    most = _LARGEST // {"s": 10**6, "ms": 10**3}.get(column.type.unit, 1)
    since = pc.cast(column, pa.int64())
    within = pc.and_(pc.less_equal(since, most), pc.greater_equal(since, -most))
    micro = pc.cast(pc.if_else(within, column, None), pa.timestamp("us", column.type.tz), safe=False)
    return np.array(micro.to_numpy(), dtype="datetime64[us]")


def decode_dictionary(column: Any) -> Any:
    """Return a column without a dictionary."""
    if pa.types.is_dictionary(column.type):
        return pc.cast(column, column.type.value_type)
    return column


def is_text(column: Any) -> bool:
    """Return whether a column holds texts."""
    kind = column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _first_bad_number(column: Any) -> tuple[int, Any]:
    try:
        for row, value in enumerate(column.to_pylist(), start=1):
            try:
                float(value if value is not None else "nan")
            except (TypeError, ValueError):
                return row, value
        return 1, column[0].as_py()
    except (ValueError, OverflowError, pa.ArrowException):  # a time that Python does not have
        return 1, str(column.type)


def text(label: Hashable) -> str:
    """Return a label as text, the same each time: ``{a, b}`` for a set, ``(a, b)`` for a tuple."""
    if isinstance(label, frozenset):
        return "{" + ", ".join(sorted(text(part) for part in label)) + "}"
    if isinstance(label, tuple):
        return "(" + ", ".join(text(part) for part in label) + ")"
    if isinstance(label, bool):
        return str(label).lower()  # as Arrow writes truth values
    return str(label)


def numeric(space: Space) -> bool:
    """Return whether all labels are integers, or all are floats, and so stay numbers in tables."""
    kinds = {type(label) for label in space.labels}
    return kinds == {float} or (
        kinds == {int} and all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in space.labels)
    )


def label_column(space: Space) -> Any:
    """Return labels as Arrow numbers where all are, or texts; `InputError` for equal texts, unseen characters."""
    return pa.array(space.labels if numeric(space) else label_texts(space))


def label_texts(space: Space) -> list[str]:
    """Return the labels as texts of a table; equal or invisible ones are an `InputError`."""
    check_seen(texts := list(_positions(space)), "label")
    return texts


def check_seen(texts: Iterable[str], noun: str) -> None:
    """Refuse texts with invisible characters, or ones that control a terminal or break a line."""
    for name in texts:
        if reason := invisible_character(name):
            raise InputError(
                f"the {noun} {quote(name)} has {reason}.", f"design with {noun}s of visible characters."
            )


def find(space: Space, values: Any) -> NDArray[np.intp]:
    """Return the positions of an Arrow column's values among the labels, array (n,); -1 where no label fits.

    A text may be as in a CSV file, where an apostrophe keeps ``=1`` from being a formula.
    """
    known: dict[Any, int] = (
        {label: place for place, label in enumerate(space.labels)} if numeric(space) else _positions(space)
    )
    try:
        column = values if numeric(space) else values.cast(pa.string())
        encoded = (column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column).dictionary_encode()
    except pa.ArrowException as error:
        raise DataError(
            f"a column of {values.type} holds no labels ({cause(error)}).", "name a column of texts or numbers."
        ) from None
    places = np.array([_place(known, value) for value in encoded.dictionary.to_pylist()] + [-1], dtype=np.intp)
    positions: NDArray[np.intp] = places[encoded.indices.fill_null(len(places) - 1).to_numpy()]
    return positions


def _place(known: dict[Any, int], value: Any) -> int:
    """Return the position of a value, first as what a CSV file holds of a label, then as it stands."""
    position = known.get(from_csv_cell(value), -1) if isinstance(value, str) else -1
    return position if position >= 0 else known.get(value, -1)


def _positions(space: Space) -> dict[str, int]:
    positions: dict[str, int] = {}
    for place, label in enumerate(space.labels):
        first = positions.setdefault(text(label), place)
        if first != place:
            raise InputError(
                f"the labels {space.labels[first]!r} and {label!r} are the same text in a table.",
                "give them labels whose texts differ.",
            )
    return positions


def holds_names(kind: Any) -> bool:
    """Return whether values of an Arrow type can be names: texts, numbers and the like, no nested types."""
    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind.value_type
    return not pa.types.is_nested(kind)


def counts_of_names(column: Any) -> tuple[Any, Any]:
    """Return the names in an Arrow column, texts in one spelling but perhaps repeated, and the rows of each."""
    while isinstance(column.type, pa.BaseExtensionType) or pa.types.is_dictionary(column.type):
        extension = isinstance(column.type, pa.BaseExtensionType)
        column = column.storage if extension else column.dictionary.take(column.indices)
    values, counts = pc.value_counts(column).flatten()
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    if not is_text(values) or _seen_ascii(values):
        return values, counts
    plain = pc.and_(
        pc.match_substring_regex(values, _AS_IT_IS), pc.invert(pc.match_substring_regex(values, _FRACTION))
    )
    other = pc.invert(pc.fill_null(plain, fill_value=False))
    if pc.any(other).as_py():
        names = [name_text(value) for value in values.filter(other).to_pylist()]
        values = pc.replace_with_mask(values, other, pa.array(names, values.type))
    return values, counts


def rows_of_names(column: Any) -> dict[str | None, int]:
    """Return how many rows have each name, as text; None counts rows without a name."""
    values, counts = counts_of_names(column)
    if isinstance(column.type, pa.BaseExtensionType) and values.type == column.type.storage_type:
        values = pa.ExtensionArray.from_storage(column.type, values)  # a UUID is written as one
    rows_by_name: dict[str | None, int] = {}
    for value, rows in zip(values.to_pylist(), counts.to_pylist(), strict=True):
        name = name_text(value)
        rows_by_name[name] = rows_by_name.get(name, 0) + rows
    return rows_by_name


def as_texts(column: Any, name: str) -> Any:
    """Return an Arrow column as texts, as they are written."""
    if isinstance(column.type, pa.BaseExtensionType):
        return pa.array([None if value is None else str(value) for value in column.to_pylist()], pa.string())
    try:
        return column.cast("string")
    except pa.ArrowException as error:
        raise DataError(
            f"the column {name!r} of {column.type} holds no texts ({cause(error)}).",
            "name a column of texts or whole numbers.",
        ) from None


def _seen_ascii(texts: Any) -> bool:
    """Return whether all texts are non-empty visible ASCII without a point."""
    data = texts.buffers()[2]
    if data is None or not data.size or not (pc.min(pc.binary_length(texts)).as_py() or 0):
        return False
    codes = np.frombuffer(data, dtype=np.uint8)
    return bool(codes.min() > ord(" ") and codes.max() <= ord("~") and not (codes == ord(".")).any())
