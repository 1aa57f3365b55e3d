"""Names in Arrow columns, such as those of users, in one spelling."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..errors import DataError
from ..tables import cause, spelled

_WHOLE: Final = r"\.0+$"  # may be the fraction of a whole number
# Texts that no spelling changes: printable ASCII that begins and ends with what is seen.
_AS_IT_IS: Final = r"^[!-~]([ -~]*[!-~])?$"


def holds_names(kind: Any) -> bool:
    """Return whether values of an Arrow type can be names: texts, numbers and the like, no nested types."""
    import pyarrow as pa

    while isinstance(kind, pa.BaseExtensionType) or pa.types.is_dictionary(kind):
        kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind.value_type
    return not pa.types.is_nested(kind)


def counts_of_names(column: Any) -> tuple[Any, Any]:
    """Return the distinct names in an Arrow column, and how many rows have each, as two Arrow arrays.

    Texts are in one spelling, null where empty, and may occur more than once; other values are as stored.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values, counts = pc.value_counts(_stored(column)).flatten()
    if pa.types.is_string_view(values.type):
        values = values.cast(pa.string())
    kind = values.type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return values, counts
    if _seen_ascii(values):
        return values, counts
    plain = pc.and_(
        pc.match_substring_regex(values, _AS_IT_IS), pc.invert(pc.match_substring_regex(values, _WHOLE))
    )
    other = pc.invert(pc.fill_null(plain, fill_value=False))
    if pc.any(other).as_py():
        found = [spelled(each) for each in values.filter(other).to_pylist()]
        values = pc.replace_with_mask(values, other, pa.array(found, kind))
    return values, counts


def rows_of_names(column: Any) -> dict[str | None, int]:
    """Return how many rows have each name, as text; None counts rows without a name."""
    import pyarrow as pa

    values, counts = counts_of_names(column)
    if isinstance(column.type, pa.BaseExtensionType) and values.type == column.type.storage_type:
        values = pa.ExtensionArray.from_storage(column.type, values)  # a UUID is written as one
    found: dict[str | None, int] = {}
    for value, rows in zip(values.to_pylist(), counts.to_pylist(), strict=True):
        name = spelled(value)
        found[name] = found.get(name, 0) + rows
    return found


def as_texts(column: Any, name: str) -> Any:
    """Return an Arrow column as texts, as they are written."""
    import pyarrow as pa

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
    import pyarrow.compute as pc

    data = texts.buffers()[2]
    if data is None or not data.size or not (pc.min(pc.binary_length(texts)).as_py() or 0):
        return False
    found = np.frombuffer(data, dtype=np.uint8)
    return bool(found.min() > ord(" ") and found.max() <= ord("~") and not (found == ord(".")).any())


def _stored(column: Any) -> Any:
    """Return an Arrow array without dictionaries and extension types, whose values Arrow can count."""
    import pyarrow as pa

    while isinstance(column.type, pa.BaseExtensionType) or pa.types.is_dictionary(column.type):
        extension = isinstance(column.type, pa.BaseExtensionType)
        column = column.storage if extension else column.dictionary.take(column.indices)
    return column
