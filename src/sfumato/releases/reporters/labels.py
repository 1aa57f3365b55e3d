"""Labels and numbers in columns of tables: positions among the labels of a space, or whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import JointSpace, NumberBins, Space
from ...errors import DataError, InputError, argument
from ...tables import find, numeric

Positions = NDArray[np.intp]


def positions_in(space: Space, *columns: Any) -> Positions:
    """Return the positions of a column's values among the labels of a space, array (n,); -1 where none fits.

    Numbers may stand as texts. In `NumberBins` a number is in the bin that holds it.

    Args:
        space: The secrets of a mechanism.
        columns: An Arrow array or chunked array; for a `JointSpace` one for each of its columns.

    Raises:
        InputError: If there are more or fewer columns than the space is of.
        DataError: If a column holds neither texts nor numbers.
    """
    import pyarrow as pa

    parts = space.parts if isinstance(space, JointSpace) else (space,)
    if len(columns) != len(parts):
        raise InputError(
            f"{len(columns)} columns were given for secrets of {len(parts)}.",
            f"name as many with {argument('column')}.",
        )
    if isinstance(space, JointSpace):
        return space.joined([positions_in(part, each) for part, each in zip(parts, columns, strict=True)])
    column = columns[0]
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if isinstance(space, NumberBins):
        return _binned(space, column, kind)
    if numeric(space) and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        column = _numbers(column)
    return find(space, column)


def whole_numbers(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the whole numbers in a column, array (n,), and which rows hold one below 2**62, array (n,).

    Args:
        column: An Arrow array of numbers, or of texts that are numbers.

    Raises:
        DataError: If the column holds none.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _numbers(column)
    try:
        found = pc.cast(column, pa.int64())
    except pa.ArrowException:
        raise DataError(
            f"a column of {column.type} does not hold whole numbers.",
            "round the answers to multiples of a unit, and count these.",
        ) from None
    known = np.array(pc.is_valid(found).to_numpy(zero_copy_only=False), dtype=bool)
    values = np.array(pc.fill_null(found, 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    return values, known & (np.abs(values) < 1 << 62)


def _binned(space: NumberBins, column: Any, kind: Any) -> Positions:
    """Return the bins of numbers, and of texts that are numbers or labels of bins."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    try:
        given = pc.cast(_numbers(column) if texts else column.cast(kind), pa.float64(), safe=False)
    except pa.ArrowException:
        raise DataError(f"a column of {kind} does not hold numbers.", "name a column of numbers.") from None
    values = np.array(pc.fill_null(given, np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)
    found = space.positions_of(values)
    return np.where(found < 0, find(space, column), found) if texts else found


def _numbers(column: Any) -> Any:
    """Return texts as whole numbers, or floats; a text that is none becomes missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    for pattern, kind in (
        (r"^[-+]?\d{1,18}$", pa.int64()),
        (r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$", pa.float64()),
    ):
        fits = pc.fill_null(pc.match_substring_regex(text, pattern), fill_value=False)
        if pc.all(pc.or_kleene(fits, pc.is_null(text))).as_py() or kind == pa.float64():
            bare = pc.replace_substring_regex(pc.if_else(fits, text, pa.scalar(None, pa.string())), r"^\+", "")
            return pc.cast(bare, kind)
    return text
