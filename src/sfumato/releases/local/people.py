"""A first look at the source, before anything is drawn: how many rows there are, and how many of one person."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...tables import TableStream
from ..charged import reports_of_users
from ..promises import People

_NUMBERS: Final = 1 << 23  # users below this are counted in an array
_MERGED: Final = 1 << 22  # counts of users that are held before equal users are put together


def counted(stream: TableStream, user: str | None) -> People:
    """Return how many rows the source has, and how many of one user at most.

    Memory grows with the number of users, not with the number of rows.

    Args:
        stream: The source.
        user: The column of users, or None.

    Raises:
        DataError: If the source cannot be read.
    """
    if user is None:
        rows = stream.rows
        if rows is None:
            rows = sum(batch.num_rows for batch in stream.batches(stream.schema.names[:1]))
        return People(rows)
    import pyarrow as pa
    import pyarrow.compute as pc

    held: list[Any] = []
    small = np.zeros(0, dtype=np.int64)  # counts of users that are small numbers, by number
    rows = size = nameless = 0
    for batch in stream.batches([user]):
        rows += batch.num_rows
        numbers = _small(batch.column(0))
        if numbers is not None:
            counts = np.bincount(numbers)
            if len(counts) > len(small):
                small = np.concatenate([small, np.zeros(len(counts) - len(small), dtype=np.int64)])
            small[: len(counts)] += counts
            continue
        found = pc.value_counts(_plain(batch.column(0)))
        held.append(pa.table({"user": found.field(0), "n": found.field(1)}))
        size += len(found)
        if size > _MERGED:
            held = [_merged(held)]
            size = held[0].num_rows
    if small.any():
        seen = np.flatnonzero(small)
        kind = stream.schema.field(user).type
        held.append(pa.table({"user": pa.array(seen).cast(kind), "n": pa.array(small[seen])}))
    if not held:
        return People(0, 0, 0)
    total = _merged(held)
    names = total["user"]
    missing = pc.is_null(names, nan_is_null=True)
    if pa.types.is_string(names.type) or pa.types.is_large_string(names.type):
        missing = pc.or_kleene(
            missing, pc.fill_null(pc.equal(pc.utf8_trim_whitespace(names), ""), fill_value=True)
        )
    nameless = pc.sum(total.filter(missing)["n"]).as_py() or 0
    named = total.filter(pc.invert(missing))["n"]
    most = pc.max(named).as_py() or 0
    return People(rows, max(most, 1 if nameless else 0), len(named), nameless=nameless)


def all_users(stream: TableStream, user: str | None) -> list[tuple[str, int]]:
    """Return all users as texts, with the number of their rows.

    Args:
        stream: The source.
        user: The column of users.

    Raises:
        DataError: If a row names no user.
    """
    found: dict[str, int] = {}
    start = 0
    for batch in stream.batches([] if user is None else [user]):
        for name, reports in reports_of_users(batch.column(0), start):
            found[name] = found.get(name, 0) + reports
        start += batch.num_rows
    return sorted(found.items())


def _small(column: Any) -> Any:
    """Return a column of users as an array, where they are numbers small enough to count by; None elsewhere."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type) or column.null_count or not len(column):
        return None
    ends = pc.min_max(column)
    if ends["min"].as_py() < 0 or ends["max"].as_py() >= _NUMBERS:
        return None
    return column.to_numpy().astype(np.int64, copy=False)


def _merged(tables: list[Any]) -> Any:
    import pyarrow as pa

    found = pa.concat_tables(tables).group_by("user").aggregate([("n", "sum")])
    return (
        found.rename_columns(["user", "n"])
        if found.column_names[0] == "user"
        else found.select([1, 0]).rename_columns(["user", "n"])
    )


def _plain(column: Any) -> Any:
    import pyarrow as pa

    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
