"""Releasing tables of reports."""

from .frames import PreparedFrame, ReleasedFrame, create_duckdb_function, prepare_frame
from .kernel import Kernel, PrivateBatch, Wishes
from .local import RowsDone
from .marks import Mark, read_mark
from .outcome import Release
from .prepared import PreparedRelease
from .receipt import FileMark, PersonBound, Receipt
from .release import prepare, release
from .reporters import positions_in

__all__ = [
    "FileMark",
    "Kernel",
    "Mark",
    "PersonBound",
    "PreparedFrame",
    "PreparedRelease",
    "PrivateBatch",
    "Receipt",
    "Release",
    "ReleasedFrame",
    "RowsDone",
    "Wishes",
    "create_duckdb_function",
    "positions_in",
    "prepare",
    "prepare_frame",
    "read_mark",
    "release",
]
