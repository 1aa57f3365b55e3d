"""Tables in memory: whatever hands its columns over by Arrow's PyCapsule interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from ...errors import DataError
from .columns import recognised
from .delimited import wanted
from .rows import Rows
from .table import rows_of

NAME = "the table"


@runtime_checkable
class ArrowStream(Protocol):
    """A table of pandas, Polars, pyarrow, DuckDB, ...: it speaks Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self) -> object:
        """Return a capsule that holds a stream of record batches."""


def read(frame: ArrowStream, names: dict[str, str | None], attributes: Sequence[str] | None) -> Rows:
    """Read the visits of a table.

    Args:
        frame: The table.
        names: The columns that the caller named, by role.
        attributes: The other columns to keep; None for all.

    Raises:
        DataError: If it cannot be handed over, or holds no visits.
    """
    content = arrow_table(frame)
    columns = list(content.column_names)
    roles = recognised(columns, NAME, **names)
    return rows_of(content.select(wanted(columns, roles, attributes)), roles, NAME)


def arrow_table(frame: ArrowStream) -> Any:
    """Return a table as Arrow's, without the index that pandas adds.

    Raises:
        DataError: If it cannot be handed over.
    """
    import pyarrow as pa

    try:
        table = pa.RecordBatchReader.from_stream(frame).read_all()
        views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
        plain = [field.with_type(views.get(field.type, field.type)) for field in table.schema]
        table = table.cast(pa.schema(plain, metadata=table.schema.metadata))
    except Exception as error:  # whatever the other library raises on its way
        raise DataError(
            f"a {type(frame).__name__} could not be read as an Arrow table: {str(error).splitlines()[0]}.",
            "give it flat columns of numbers, texts and times.",
        ) from error
    twice = {name for name in table.column_names if table.column_names.count(name) > 1}
    if twice:
        raise DataError(f"{NAME} has more than one column {min(twice)!r}.", "give its columns distinct names.")
    return table.select([name for name in table.column_names if not name.startswith("__index_level_")])
