"""A table whose columns are known before its rows are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ..errors import DataError, SfumatoError

_COMPLETE: Final = "check that it was written or downloaded completely"


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


def check_distinct(columns: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of one name.

    Args:
        columns: The names of all columns.
        name: What messages call the table.

    Raises:
        DataError: If there are two.
    """
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(f"{name} has more than one column {twice[0]!r}.", "give its columns distinct names.")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Say in words that a table is damaged, where Arrow finds it so, or Python has no such value.

    Args:
        name: What messages call the table.

    Raises:
        DataError: If it is.
    """
    import pyarrow as pa

    try:
        yield
    except SfumatoError:
        raise
    except pa.ArrowMemoryError:
        raise DataError(f"{name} claims to hold more than there is memory for.", f"{_COMPLETE}.") from None
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise DataError(
            f"{name} is not a valid table: {(str(error) or type(error).__name__).splitlines()[0].rstrip('.')}.",
            _COMPLETE,
            "every line needs the same number of values.",
        ) from None
