"""Releasing tables of reports."""

from .kernel import Kernel, PrivateBatch, Wishes
from .local import RowsDone
from .marks import Mark, read_mark
from .outcome import Release
from .release import PreparedRelease, prepare, release

__all__ = [
    "Kernel",
    "Mark",
    "PreparedRelease",
    "PrivateBatch",
    "Release",
    "RowsDone",
    "Wishes",
    "prepare",
    "read_mark",
    "release",
]
