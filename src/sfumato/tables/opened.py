"""A table whose columns are known before its rows are read."""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from ..errors import DataError, SfumatoError, row_value
from .naming import column_name

# The words of Arrow's errors that hold no data.
_MIXED: Final = re.compile(r"Conversion failed for column (.+) with type object")
_SAFE: Final = re.compile(
    r"CSV parse error: (Row #\d+: )?Expected \d+ columns, got \d+"
    r"|(In CSV column #\d+: )?(Row #\d+: )?CSV conversion error to \w+(: invalid UTF8 data)?"
    r"|Empty CSV file( or block: cannot infer number of columns)?|straddling object straddles two block boundaries"
    r"|Parquet magic bytes not found in footer|Parquet file size is \d+ bytes|Couldn't deserialize thrift"
    r"|Unexpected end of stream|Expected to read \d+ (metadata )?bytes|Not an Arrow file|File is too small"
    r"|Unsupported cast from \w+ to \w+|Invalid UTF8 sequence|at row \d+, column \d+"
    r"|Timezone database not found|Cannot locate timezone"
)
_PLAIN: Final = (EOFError, csv.Error, zlib.error, gzip.BadGzipFile)
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
        raise DataError(
            f"{name} has more than one column {column_name(twice[0])}.", "give its columns distinct names."
        )


def cause(error: Exception) -> str:
    """Return why a table cannot be read, for a message: the error's own words, where they hold no data of rows.

    Args:
        error: The error of Arrow or Python.
    """
    lines = str(error).splitlines() or [type(error).__name__]
    said = lines[0].rstrip(".")
    if isinstance(error, _PLAIN) or getattr(error, "errno", None) is not None:
        return said
    if isinstance(error, UnicodeError):
        return row_value(said, "a text is not in the encoding of the others")
    mixed = _MIXED.search(said)
    if mixed is not None:
        return f"the column {mixed[1]!r} holds values of several types, or of one that Arrow does not know"
    safe = _SAFE.search(said)
    return row_value(said, safe[0].rstrip(": ") if safe else "its content is damaged, or of another kind")


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
            f"{name} is not a valid table: {cause(error)}.",
            _COMPLETE,
            "every line needs the same number of values.",
        ) from None
