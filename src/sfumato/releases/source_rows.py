"""Rows of a source: for which secret each of them is, and what is kept beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import Space
from ..errors import DataError, InputError, argument
from ..geo import Lattice, Places, Visits, read_visits
from ..sampling import SystemWords
from ..tables import ArrowStream, find, numeric, read_columns

Outside = Literal["error", "nearest", "drop"]
Positions = NDArray[np.intp]
Source = str | os.PathLike[str] | Visits | ArrowStream


@dataclass(frozen=True, slots=True)
class SourceRows:
    """The source's rows: the secrets' positions (-1 outside), and what is kept beside them."""

    positions: Positions
    kept: dict[str, Any]
    moved: int = 0
    notes: tuple[str, ...] = ()
    visits: Visits | None = None


def rows_of_visits(
    secrets: Space,
    source: Source,
    named: Mapping[str, str | None],
    keep: Sequence[str],
    outside: Outside | None,
) -> SourceRows:
    """Return the rows of visits; on a lattice each is rounded to a vertex at random.

    Args:
        secrets: The places that are secrets.
        source: The table or visits.
        named: Names of columns, as for `release`.
        keep: Names of columns that are carried over.
        outside: What to do with rows outside, as for `release`.

    Raises:
        InputError: If the secrets are not places, or names of columns are given with visits.
        DataError: If the source cannot be read, or a column to keep is not there.
    """
    if not isinstance(secrets, Places):
        raise InputError(
            f"the mechanism's secrets ({secrets!r}) are not cells on the ground.",
            f"name the column that holds the secret with {argument('column', 'name')}.",
        )
    visits = visits_of(source, named)
    moves = outside == "nearest" or (outside is None and isinstance(secrets, Lattice) and secrets.convex_part)
    lat, lon = secrets.nearest(visits.lat, visits.lon) if moves else (visits.lat, visits.lon)
    moved = int(np.count_nonzero((lat != visits.lat) | (lon != visits.lon)))
    positions = secrets.drawn(lat, lon, SystemWords().draw)
    kept = kept_columns(visits, keep)
    return SourceRows(positions, kept, moved, visits.notes, visits)


def rows_of_labels(
    secrets: Space,
    source: Source,
    column: str,
    named: Mapping[str, str | None],
    keep: Sequence[str],
    outside: Outside | None,
) -> SourceRows:
    """Return the rows of a table whose column names the secret.

    Args:
        secrets: The secrets.
        source: The table.
        column: The column of their labels.
        named: Names of columns of places, which do not belong here.
        keep: Names of columns that are carried over.
        outside: What to do with rows outside, as for `release`.

    Raises:
        InputError: If an option is for places.
        DataError: If the source cannot be read.
    """
    if isinstance(source, Visits):
        raise InputError(
            "visits have no column of labels.", "pass the path of a table", f"leave out {argument('column')}."
        )
    _none_named(named, f"with {argument('column')} no places are read.")
    if outside == "nearest":
        raise InputError(
            "a label that is not among the secrets has no nearest label.",
            f"use {argument('outside', 'error')} or {argument('outside', 'drop')}.",
        )
    as_text = [name for name in (column, *keep) if name != column or not numeric(secrets)]
    table = read_columns(source, [column, *keep], as_text=as_text)
    return SourceRows(find(secrets, table[column]), {name: table[name] for name in keep})


def visits_of(source: Source, named: Mapping[str, str | None]) -> Visits:
    """Return the source's visits.

    Args:
        source: The table or visits.
        named: Names of columns, as for `release`.

    Raises:
        InputError: If names of columns are given with visits.
        DataError: If the source cannot be read.
    """
    if isinstance(source, Visits):
        _none_named(named, "visits have their columns already.")
        return source
    return read_visits(source, lat=named["lat"], lon=named["lon"], user=named["user"], time=named["time"])


def _none_named(named: Mapping[str, str | None], problem: str) -> None:
    given = [name for name, column in named.items() if column is not None]
    if given:
        raise InputError(problem, f"leave out {argument(f'release.{given[0]}')}.")


def kept_columns(visits: Visits, keep: Sequence[str]) -> dict[str, Any]:
    """Return the columns of visits that are carried over, by name.

    Args:
        visits: The visits.
        keep: Names of columns: ``user``, ``time`` or attributes.

    Raises:
        DataError: If there is no such column.
    """
    known = {
        **visits.attributes,
        **({} if visits.user is None else {"user": visits.user}),
        **({} if visits.time is None else {"time": visits.time}),
    }
    for name in keep:
        if name not in known:
            raise DataError(
                f"there is no column {name!r} to keep.",
                f"the source has {', '.join(known)} beside its places."
                if known
                else f"the source has nothing beside its places: leave out {argument('keep')}.",
            )
    return {name: _arrow(known[name]) for name in keep}


def _arrow(values: NDArray[Any]) -> Any:
    try:
        return pa.array(values, from_pandas=True)  # NaN and NaT become nulls
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed types
        return pa.array([None if value is None else str(value) for value in values.tolist()])
