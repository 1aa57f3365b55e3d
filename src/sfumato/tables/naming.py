"""Columns that a caller names and a table does not have: the error, with those of nearly the same name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Final

from ..errors import DataError, argument, row_value

_DATA: Final = re.compile(r"[.,]\d{2}|\d{4}-\d\d-\d\d|\d:\d\d|\d+ \d+ \d|[°º<{]")
_LIKE = 0.6  # as difflib counts letters in common; 1 is the same name


def no_column(columns: Sequence[str], wrong: str, option: str, table: str) -> DataError:
    """Return the error of a column that is not there, which names the argument and the nearest columns.

    Args:
        columns: The columns of the table.
        wrong: The name that was given.
        option: The argument that names the column, as `sfumato.errors.argument` takes it.
        table: What messages call the table.
    """
    bare = {each.lower(): each for each in columns}
    near = [bare[each] for each in get_close_matches(wrong.lower(), list(bare), 3, _LIKE) if not _are_data([each])]
    more = f" (or {', '.join(near[1:])})" if near[1:] else ""
    return DataError(
        f"{table} has no column {wrong!r}. {column_list(columns)}",
        f"name the column with {argument(option, near[0] if near else 'column')}{more}",
        "check that it is the right file.",
    )


def column_list(columns: Sequence[str]) -> str:
    """Return the names of all columns in a sentence; of a first line that is a row, they are data.

    Args:
        columns: The names.
    """
    said = f"Its columns are: {', '.join(columns)}."
    return row_value(said, "Its first line holds data, not names of columns.") if _are_data(columns) else said


def column_name(column: str) -> str:
    """Return the name of a column for a message; data where it is a value of a row."""
    return row_value(repr(column), "of data") if _are_data([column]) else repr(column)


def _are_data(names: Sequence[str]) -> bool:
    return any(_DATA.search(name) for name in names)
