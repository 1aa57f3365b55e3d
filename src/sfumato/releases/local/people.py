"""A first look at the source, before anything is drawn: how many rows there are, and how many of one person."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...tables import TableStream
from ..kernel import Kernel
from ..promises import People
from ..users import counts_of_names

_NUMBERS: Final = 1 << 23  # users below this are counted in an array
_MERGED: Final = 1 << 22  # counts of users that are held before equal users are put together


def counted(stream: TableStream, kernel: Kernel) -> People:
    """Return how many rows the source has, and how many reports of one user at most.

    Users are told apart as the ledger does: not by blanks around their names, nor by how Unicode composes them.
    Rows that name no user may be anyone's, and are counted with every user's. Where the secrets are places and no
    column names the users, all rows are one person's; so they are where the caller states it.
    Memory grows with the number of users, not with the number of rows.

    Args:
        stream: The source.
        kernel: The kernel, which knows the column of users.

    Raises:
        DataError: If the source cannot be read.
    """
    user = kernel.user
    if user is None or kernel.people == "one":
        rows = stream.rows
        if rows is None:
            rows = sum(batch.num_rows for batch in stream.batches(stream.schema.names[:1]))
        return of_one(rows, kernel)
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
        names, reports = counts_of_names(batch.column(0))
        held.append(pa.table({"user": names, "n": reports}))
        size += len(names)
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
    missing = pc.is_null(total["user"], nan_is_null=True)
    nameless = pc.sum(total.filter(missing)["n"]).as_py() or 0
    named = total.filter(pc.invert(missing))["n"]
    most = pc.max(named).as_py() or 0
    spread = sorted((each["values"], each["counts"]) for each in pc.value_counts(named).to_pylist())
    people = People(rows, most + nameless, len(named) or None, nameless=nameless, counts=tuple(spread))
    return people.times(kernel.places)


def of_one(rows: int, kernel: Kernel) -> People:
    """Return the people of rows without a column of users: one for places; of other secrets it is not known.

    Args:
        rows: How many rows there are.
        kernel: The kernel.
    """
    stated = kernel.people == "one"
    if not (stated or kernel.of_places):
        return People(rows)
    return People(rows, rows, 1, assumed=not stated, counts=((rows, 1),)).times(kernel.places)


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
