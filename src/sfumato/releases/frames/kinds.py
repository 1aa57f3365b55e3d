"""Tables of pyarrow, Polars and DuckDB, and the choice of the kind of a table."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any, Final, final

from ...errors import DataError
from ...tables import ArrowBatch, ArrowStream, FrameTable, LazyTable, is_frame
from .geopandas import GeoFrame
from .kind import FrameKind, Rows
from .pandas import PandasFrame

_UNKNOWN: Final = ("Object", "Int128", "UInt128")  # to Arrow: older versions of Polars end the process over them


@final
class ArrowKind(FrameKind):
    """A table of pyarrow, a record batch, a reader of them, or a table of a kind that is not known here."""

    def __init__(self, frame: ArrowStream) -> None:
        self._frame = frame

    def arrow(self) -> ArrowStream:
        """Return the table itself."""
        return self._frame

    def back(self, table: Any, rows: Rows, kept: Mapping[str, str], mark: str) -> Any:  # noqa: ARG002
        """Return a table, a batch or a reader; see `FrameKind.back`."""
        import pyarrow as pa

        if isinstance(self._frame, pa.RecordBatch):
            whole = table.combine_chunks()
            return (whole.to_batches() or [pa.RecordBatch.from_pylist([], schema=whole.schema)])[0]
        return table.to_reader() if isinstance(self._frame, pa.RecordBatchReader) else table


@final
class PolarsKind(FrameKind):
    """A `DataFrame` or a `LazyFrame` of Polars; a lazy one is collected once, so that every row is drawn once."""

    def __init__(self, frame: Any) -> None:
        self._lazy = isinstance(frame, LazyTable)
        self._frame = frame.collect() if self._lazy else frame

    def arrow(self) -> ArrowStream:
        """Return the collected frame, with empty columns in place of those that are unreadable."""
        import polars

        found: Any = self._frame
        if isinstance(found, polars.DataFrame):
            self.unreadable = {
                name: str(kind)
                for name, kind in found.schema.items()
                if not _readable(found.select(name).head(0), kind)
            }
            found = found.with_columns(polars.lit(None).alias(name) for name in self.unreadable)
        stream: ArrowStream = found
        return stream

    def back(self, table: Any, rows: Rows, kept: Mapping[str, str], mark: str) -> Any:  # noqa: ARG002
        """Return an eager or a lazy frame; see `FrameKind.back`."""
        import polars

        found = polars.from_arrow(table)
        return found.lazy() if self._lazy and isinstance(found, polars.DataFrame) else found


@final
class DuckRelation(FrameKind):
    """A relation of DuckDB; what comes back lives on the same connection."""

    def __init__(self, relation: Any) -> None:
        self._relation = relation

    def arrow(self) -> ArrowStream:
        """Return the relation, which is run once.

        Raises:
            DataError: If its connection could not take the private rows.
        """
        import duckdb
        import pyarrow as pa

        try:
            self._brought(pa.table({"nothing": pa.array([], pa.int64())}))
        except duckdb.Error as error:
            raise DataError(
                f"the relation's connection takes no tables from Python: {str(error).splitlines()[0]}.",
                "pass relation.to_arrow_table(), and register what comes back.",
            ) from None
        found: ArrowStream = self._relation.project("*")  # in older versions the result of one is read only once
        return found

    def back(self, table: Any, rows: Rows, kept: Mapping[str, str], mark: str) -> Any:  # noqa: ARG002
        """Return a relation over the private rows in memory; see `FrameKind.back`."""
        return self._brought(table)

    def _brought(self, sfumato_private_rows: Any) -> Any:
        view = (
            f"sfumato_{secrets.token_hex(8)}"  # of the true rows: a relation runs a query beside such a view only
        )
        try:
            return self._relation.query(view, "SELECT * FROM sfumato_private_rows")
        finally:
            del sfumato_private_rows
            self._relation.query(view, f"DROP VIEW {view}")


def kind_of(frame: ArrowStream | ArrowBatch | LazyTable) -> FrameKind:
    """Return the kind of a table in memory.

    Args:
        frame: A table of pandas, geopandas, Polars, pyarrow, DuckDB, or another that speaks Arrow's PyCapsule
            interface.

    Raises:
        DataError: If it is lazy, and of no kind that is known.
    """
    roots = {each.__module__.partition(".")[0] for each in type(frame).__mro__}
    if "geopandas" in roots:
        return GeoFrame(frame)
    if "pandas" in roots:
        return PandasFrame(frame)
    if "polars" in roots:
        return PolarsKind(frame)
    if roots & {"duckdb", "_duckdb"}:
        return DuckRelation(frame)
    if isinstance(frame, ArrowBatch) and not isinstance(frame, ArrowStream):
        return ArrowKind(FrameTable(frame).batch())
    if not is_frame(frame):
        raise DataError(
            f"a {type(frame).__name__} cannot be read as a table.", "collect it first, or pass a table of pyarrow."
        )
    return ArrowKind(frame)


def _readable(column: Any, kind: Any) -> bool:
    """Tell whether Arrow takes a column of Polars; Python's objects it takes for their addresses."""
    import polars
    import pyarrow as pa

    if type(kind).__name__ in _UNKNOWN:
        return False
    try:
        pa.RecordBatchReader.from_stream(column)
    except (pa.ArrowException, polars.exceptions.PolarsError):
        return False
    return True
