"""Tables: reading them from text, Parquet and frames in memory, and writing them as CSV or Parquet."""

from .arrow import IN_MEMORY, PARQUET_TYPE, ArrowBatch, ArrowStream, FrameTable, LazyTable, ParquetTable, is_frame
from .batch_writer import STREAMED, BatchWriter, check_streamed
from .clocks import Clocks
from .columns import check_kind, read_columns
from .delimited import TextTable, parsed, read_rows
from .folders import damaged_note, files_below, others_note
from .ipc import ArrowFile
from .iso_times import ambiguous_dates
from .labels import check_seen, find, label_column, label_texts, numeric, text
from .layout import Layout, misfit
from .moments import TimeColumn, Times, day_numbers, times
from .naming import column_list, no_column
from .opened import OpenTable, cause, readable
from .source import Source, as_path, is_pipe
from .streams import BATCH_ROWS, TableStream, folder_stream, frame_stream, stream_of, text_stream
from .values import Objects, names, numbers, one_spelling, plain_values, spelled, without_fraction
from .writing import check_suffix, write_rows, write_table

__all__ = [
    "BATCH_ROWS",
    "IN_MEMORY",
    "PARQUET_TYPE",
    "STREAMED",
    "ArrowBatch",
    "ArrowFile",
    "ArrowStream",
    "BatchWriter",
    "Clocks",
    "FrameTable",
    "Layout",
    "LazyTable",
    "Objects",
    "OpenTable",
    "ParquetTable",
    "Source",
    "TableStream",
    "TextTable",
    "TimeColumn",
    "Times",
    "ambiguous_dates",
    "as_path",
    "cause",
    "check_kind",
    "check_seen",
    "check_streamed",
    "check_suffix",
    "column_list",
    "damaged_note",
    "day_numbers",
    "files_below",
    "find",
    "folder_stream",
    "frame_stream",
    "is_frame",
    "is_pipe",
    "label_column",
    "label_texts",
    "misfit",
    "names",
    "no_column",
    "numbers",
    "numeric",
    "one_spelling",
    "others_note",
    "parsed",
    "plain_values",
    "read_columns",
    "read_rows",
    "readable",
    "spelled",
    "stream_of",
    "text",
    "text_stream",
    "times",
    "without_fraction",
    "write_rows",
    "write_table",
]
