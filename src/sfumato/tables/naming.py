"""Columns that a caller names and a table does not have: the error, with those of nearly the same name."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from ..errors import DataError, argument

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
    near = [bare[each] for each in get_close_matches(wrong.lower(), list(bare), 3, _LIKE)]
    more = f" (or {', '.join(near[1:])})" if near[1:] else ""
    return DataError(
        f"{table} has no column {wrong!r}. Its columns are: {', '.join(columns)}.",
        f"name the column with {argument(option, near[0] if near else 'column')}{more}",
        "check that it is the right file.",
    )
