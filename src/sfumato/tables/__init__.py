"""Tables: reading them from text, Parquet and frames in memory, and writing them as CSV or Parquet."""

from .arrow import IN_MEMORY, ArrowStream, FrameTable, ParquetTable, is_frame
from .columns import read_columns
from .delimited import TextTable, parsed, read_rows
from .labels import find, label_column, numeric, text
from .opened import OpenTable
from .source import Source, as_path
from .values import Objects, Times, names, numbers, plain_values, times
from .writing import check_suffix, write_rows, write_table

__all__ = [
    "IN_MEMORY",
    "ArrowStream",
    "FrameTable",
    "Objects",
    "OpenTable",
    "ParquetTable",
    "Source",
    "TextTable",
    "Times",
    "as_path",
    "check_suffix",
    "find",
    "is_frame",
    "label_column",
    "names",
    "numbers",
    "numeric",
    "parsed",
    "plain_values",
    "read_columns",
    "read_rows",
    "text",
    "times",
    "write_rows",
    "write_table",
]
