"""A table whose columns are known before its rows are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class OpenTable(ABC):
    """A table to read: its name, its columns, and the rows when they are asked for.

    A reader looks at the columns first, decides which of them it needs, and loads only those.

    Attributes:
        name: What messages call it.
        columns: The names of the columns, in order.
    """

    __slots__ = ("columns", "name")

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.columns = tuple(columns)

    @abstractmethod
    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:
        """Return the rows as a pyarrow Table, in their order.

        Args:
            columns: The columns to load; all of them if it is None.
            as_text: Those to keep as they are written, whatever they look like. Only a table
                of text needs it: elsewhere columns have types.

        Raises:
            DataError: If the content is not such a table.
        """
