"""The description of a format of visits: how a file is recognised, and what reads it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ...core.immutable import CompactRepr
from ...tables import Source
from .rows import RawVisits


@dataclass(frozen=True, slots=True, repr=False)
class Wanted(CompactRepr):
    """The caller's wishes about the columns of a table.

    Attributes:
        named: The column that the caller named for each role (``lat``, ``lon``, ``user``,
            ``time``), or None.
        attributes: The other columns to keep; None for all.
        people: Who is a person in a format without columns, as `read_visits` takes it.
    """

    named: Mapping[str, str | None]
    attributes: Sequence[str] | None
    people: str | None = None


class FolderReader(Protocol):
    """A function that reads all files of a format below a folder."""

    def __call__(self, folder: Path, people: str | None, *, skip_damaged: bool) -> RawVisits:
        """Return the rows of the files."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format of visits. A new one is a file beside this one, and a line in `formats.EVERY`.

    Attributes:
        key: What callers name it by, such as ``"gpx"``.
        title: What a list of readable formats calls it.
        read: Returns the visits of a file, as they are in it.
        matches: Whether a file begins like this format. None for the one format that every
            text is taken for where no other matches.
        text: Whether it is text: a file with control characters is refused.
        columns: Whether it has columns that the caller may name. Otherwise ``read`` gets
            nothing to look at.
        suffix: The ending of its files in a folder, such as ``".gpx"``; empty if no folder
            is read.
        read_folder: Returns the visits of all its files below a folder, with the people that are stated; with
            ``skip_damaged`` without files that cannot be read.
    """

    key: str
    title: str
    read: Callable[[Source, Wanted], RawVisits]
    matches: Callable[[Source], bool] | None
    text: bool = True
    columns: bool = False
    suffix: str = ""
    read_folder: FolderReader | None = None
