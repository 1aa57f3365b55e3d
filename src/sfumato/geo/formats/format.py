"""Formats of visits: how a file is recognised, what reads it, and the rows as it has them, with their cleaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import DataError
from ...tables import Objects, Source, Times
from ..visits import Visits, check_degrees


@dataclass(frozen=True, slots=True, repr=False)
class Wanted(CompactRepr):
    """The caller's wishes about the columns of a table.

    ``named`` has the column for each role (``lat``, ``lon``, ``user``, ``time``), or None; ``attributes`` are the
    other columns to keep, None for all; ``people`` says who is a person in a format without columns, as
    `read_visits` takes it.
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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RawVisits(CompactRepr):
    """The visits of a file, row by row, before anything is dropped.

    Attributes:
        lat: Latitudes in degrees; NaN where missing.
        lon: Longitudes in degrees; NaN where missing.
        user: Users; None where missing.
        time: Times; NaT where missing.
        attributes: Other columns.
        notes: What the reader noticed.
    """

    lat: Floats
    lon: Floats
    user: Objects | None = None
    time: Times | None = None
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def cleaned(rows: RawVisits, source: str, *, polar: bool) -> Visits:
    """Return the visits among the rows, in their order.

    Rows without a position, at (0, 0), and exact repetitions of user, time and place are dropped and counted in
    the notes; repetitions only where the time is known. A position out of range, or no row left, is a `DataError`.
    """
    size = len(rows.lat)
    if size == 0:
        raise DataError(f"{source} holds no rows.", "check that it is the right file.")
    check_degrees(
        np.where(np.isfinite(rows.lat), rows.lat, np.nan),
        np.where(np.isfinite(rows.lon), rows.lon, np.nan),
        polar=polar,
    )
    notes = list(rows.notes)
    placed = np.isfinite(rows.lat) & np.isfinite(rows.lon)
    if dropped := size - int(placed.sum()):
        notes.append(f"{dropped:,} of {size:,} rows without a position were dropped.")
    null_island = placed & (rows.lat == 0) & (rows.lon == 0)
    if null_island.any():
        notes.append(f"{int(null_island.sum()):,} of {size:,} rows at latitude 0, longitude 0 were dropped.")
    kept = placed & ~null_island
    repeated = _repetitions(rows, kept)
    if repeated.any():
        notes.append(
            f"{int(repeated.sum()):,} of {size:,} rows that repeat another's user, time and place were dropped."
        )
    kept &= ~repeated
    if not kept.any():
        raise DataError(f"{source} holds no usable row. {' '.join(notes)}", "check its latitudes and longitudes.")
    if rows.user is not None and (strangers := sum(name is None for name in rows.user[kept].tolist())):
        notes.append(f"{strangers:,} of {int(kept.sum()):,} visits have no user.")
    return Visits(
        rows.lat[kept],
        rows.lon[kept],
        None if rows.user is None else rows.user[kept],
        None if rows.time is None or np.isnat(rows.time).all() else rows.time[kept],
        {name: column[kept] for name, column in rows.attributes.items()},
        notes,
        polar=True,  # checked above, with the row numbers of the file
    )


def joined(parts: list[RawVisits]) -> RawVisits:
    """Return the rows of several files, one after the other; all or none have users, none has attributes."""
    user, time = [part.user for part in parts], [part.time for part in parts]
    return RawVisits(
        np.concatenate([part.lat for part in parts]),
        np.concatenate([part.lon for part in parts]),
        np.concatenate(users) if (users := [column for column in user if column is not None]) else None,
        np.concatenate([column for column in time if column is not None]),
        notes=tuple(note for part in parts for note in part.notes),
    )


def _repetitions(rows: RawVisits, kept: NDArray[np.bool_]) -> NDArray[np.bool_]:
    repeated = np.zeros(len(rows.lat), dtype=bool)
    if rows.time is None or rows.user is None:  # equal rows may then be of two people
        return repeated
    at = np.flatnonzero(kept & ~np.isnat(rows.time))
    numbers: dict[Any, int] = {}
    users = np.fromiter(
        (numbers.setdefault(name, len(numbers)) for name in rows.user[at].tolist()), np.int64, len(at)
    )
    keys = [rows.lat[at], rows.lon[at], rows.time[at].astype(np.int64), users]
    order = np.lexsort(keys)  # stable: the first of equal rows stays first
    same = np.ones(max(len(at) - 1, 0), dtype=bool)
    for key in keys:
        same &= key[order[1:]] == key[order[:-1]]
    repeated[at[order[1:][same]]] = True
    return repeated
