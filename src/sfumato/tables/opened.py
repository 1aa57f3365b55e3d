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
from difflib import get_close_matches
from typing import Any, Final

from ..errors import DataError, SfumatoError, argument, row_value

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
_DATA: Final = re.compile(r"[.,]\d{2}|\d{4}-\d\d-\d\d|\d:\d\d|\d+ \d+ \d|[°º<{]")
_LIKE = 0.6  # as difflib counts letters in common; 1 is the same name


class OpenTable(ABC):
    """A table to read: its name, its columns, and on request its rows, of needed columns only."""

    __slots__ = ("columns", "name")

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.name = name
        self.columns = tuple(columns)

    @abstractmethod
    def load(self, columns: Sequence[str] | None = None, *, as_text: Sequence[str] = ()) -> Any:
        """Return the rows in order as a pyarrow Table of some columns (default: all); `DataError` if damaged.

        Columns in ``as_text`` stay as they are written; only tables of text, without types, need it.
        """


def check_distinct(columns: Sequence[str], name: str) -> None:
    """Refuse a table with two columns of one name (`DataError`)."""
    twice = [column for column, count in Counter(columns).items() if count > 1]
    if twice:
        raise DataError(
            f"{name} has more than one column {column_name(twice[0])}.", "give its columns distinct names."
        )


def cause(error: Exception) -> str:
    """Return why a table cannot be read, for a message: the error's own words, where they hold no data of rows."""
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
    """Raise a `DataError` that the table is damaged, where Arrow finds it so, or Python has no such value."""
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


def no_column(columns: Sequence[str], wrong: str, option: str, table: str) -> DataError:
    """Return the error of a missing column ``wrong``, with the nearest columns and the argument ``option``."""
    bare = {each.lower(): each for each in columns}
    near = [bare[each] for each in get_close_matches(wrong.lower(), list(bare), 3, _LIKE) if not _are_data([each])]
    more = f" (or {', '.join(near[1:])})" if near[1:] else ""
    return DataError(
        f"{table} has no column {wrong!r}. {column_list(columns)}",
        f"name the column with {argument(option, near[0] if near else 'column')}{more}",
        "check that it is the right file.",
    )


def column_list(columns: Sequence[str]) -> str:
    """Return the names of all columns in a sentence; of a first line that is a row, they are data."""
    said = f"Its columns are: {', '.join(columns)}."
    return row_value(said, "Its first line holds data, not names of columns.") if _are_data(columns) else said


def column_name(column: str) -> str:
    """Return the name of a column for a message; data where it is a value of a row."""
    return row_value(repr(column), "of data") if _are_data([column]) else repr(column)


def _are_data(names: Sequence[str]) -> bool:
    return any(_DATA.search(name) for name in names)
