"""A file in Arrow's own format, as a table whose rows are read when they are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import DataError
from .opened import OpenTable
from .source import Source
from .streams import ARROW, stream_of


class ArrowFile(OpenTable):
    """An Arrow file, as it is written with an index of its batches (Feather) or as a stream.

    Args:
        source: The file.

    Attributes:
        schema: Its Arrow schema.

    Raises:
        DataError: If it is not an Arrow file, or has two columns of one name.
    """

    __slots__ = ("_stream", "schema")

    def __init__(self, source: Source) -> None:
        stream = stream_of(source)
        if stream is None:
            raise DataError(
                f"{source} does not begin like an Arrow table.",
                "write it again, as Arrow IPC (Feather of version 2).",
            )
        super().__init__(str(source), stream.schema.names)
        self._stream = stream
        self.schema = stream.schema

    @staticmethod
    def matches(source: Source) -> bool:
        """Tell whether a file begins like an Arrow file, or is named like one."""
        return source.head.startswith(b"ARROW1") or source.suffix in ARROW

    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:  # noqa: ARG002
        """Return the rows; see `OpenTable.load`."""
        import pyarrow as pa

        wanted = list(self.columns if columns is None else columns)
        fields = pa.schema([self._stream.schema.field(name) for name in wanted], metadata=self.schema.metadata)
        return pa.Table.from_batches(self._stream.batches(wanted), fields)
