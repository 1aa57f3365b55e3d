"""Releasing data: every true place becomes a report drawn from the mechanism."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import WGS84, Mechanism, Space
from ..core.arguments import checked
from ..core.arrays import Floats
from ..core.frozen import Short
from ..errors import DataError, InputError, argument, python
from ..escaping import plain
from ..geo import Cells, Lattice, Places, Projection, Visits, read_visits
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from ..sampling import Integers, Sampler, SystemWords
from ..tables import ArrowStream, check_suffix, find, label_column, numeric, read_columns, write_table
from .budget import MeteredSampler
from .points import blurred_rows
from .revisits import Revisits, spread_m

Outside = Literal["error", "nearest", "drop"]
Positions = NDArray[np.intp]
Source = str | os.PathLike[str] | Visits | ArrowStream

_OUTSIDE = ("error", "nearest", "drop")
_WIDEST = 1000  # reports of a tuple, each with its columns
_SHOWN = 12  # names of columns in a sentence


@dataclass(frozen=True, slots=True, repr=False)
class Release(Short):
    """The outcome of a release.

    Attributes:
        rows: How many reports, or tuples of reports, were written.
        dropped: How many rows were left out, because they are outside the secrets.
        moved: How many rows outside were taken to be at the nearest place.
        columns: The columns of the released table.
        notes: Sentences on what the reading left out, such as rows without a position.
        places: How many places of users were reported once and repeated.
        cost: What this repetition costs, in words; empty without places.
    """

    rows: int
    dropped: int
    moved: int
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    places: int = 0
    cost: str = ""

    def __str__(self) -> str:
        shown = self.columns if len(self.columns) <= _SHOWN else (*self.columns[:3], "...", self.columns[-1])
        parts = [f"{self.rows:,} reports released ({', '.join(map(plain, shown))})"]
        if self.dropped:
            parts.append(f"{self.dropped:,} rows outside were dropped")
        if self.moved:
            parts.append(f"{self.moved:,} rows outside were moved to the nearest place first")
        return "; ".join([*parts, *self.notes]) + (f". {self.cost}" if self.cost else "")


@checked
def release(
    mechanism: Mechanism | Tupling | CoordinateNoise | MeteredSampler,
    source: Source,
    target: str | os.PathLike[str],
    *,
    column: str | None = None,
    lat: str | None = None,
    lon: str | None = None,
    user: str | None = None,
    time: str | None = None,
    keep: Sequence[str] = (),
    place_column: str | None = None,
    outside: Outside | None = None,
) -> Release:
    """Write a table in which every row of the source is replaced by a fresh report.

    Each row is drawn anew, with the operating system's cryptographic randomness, from
    the mechanism's integers. The table holds the label of the reported place and, where
    it has them, its latitude and longitude; nothing of the true place. It is written
    whole or not at all.

    With a `Tupling` each row becomes a tuple of k + 1 reports, in columns that end in the
    report's place: ``label_1``, ``label_2``, ... The position says nothing about which report is the true one.

    The guarantee is for one report or tuple. Several reports of one person add up: k reports
    spend k times epsilon. And other columns can give the secret away (the name of a
    shop, a time at which it is the only one open), so none is kept unless it is named.
    With ``outside="drop"`` the length of the table shows how many rows were inside.

    With ``place_column`` a user's rows that name the same place get the same report, drawn for the
    first of them (its anchor), and what that costs is said in the outcome. With a `MeteredSampler` each
    user is charged for what is drawn, and places are remembered in its ledger for later releases.

    Args:
        mechanism: The mechanism or tupling; its secrets are places, or the labels in ``column``. Or
            a metered sampler of a mechanism on places; or noise for coordinates, whose reports have a latitude
            and a longitude, but no label.
        source: A file or table that `read_visits` reads, or visits; with ``column`` a CSV or
            Parquet file, or a table in memory (`read_visits` says which).
        target: The file to write, ``.csv`` or ``.parquet``; one that exists is replaced.
        column: The column that holds the secret's label, where secrets are not places.
        lat: The column of latitudes, where its name does not show it; as for `read_visits`.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times.
        keep: Names of further columns that are carried over unchanged; of visits
            ``user``, ``time`` and their attributes.
        place_column: The column that names a user's places, such as a label or the key of a venue. Rows
            without a name are reported afresh.
        outside: What to do with rows that are at none of the secrets: refuse (``error``), move them to the
            nearest place, or leave them out (``drop``). On a lattice that serves a convex region, and
            with noise for coordinates, moving keeps the promise for any two points on Earth, and is done
            by default as long as half of the rows are inside; on other lattices it is refused.

    Raises:
        InputError: If the options do not fit the mechanism, or a tuple has too many reports for columns.
        DataError: If the source cannot be read, or rows are outside and this is refused.
        FileError: If the target cannot be written.
    """
    check_suffix(target)
    if outside is not None and outside not in _OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(_OUTSIDE)}.")
    if isinstance(source, str | os.PathLike) and os.path.realpath(source) == os.path.realpath(target):
        raise InputError("the release would replace its own source.", "choose another target.")
    if isinstance(mechanism, CoordinateNoise):
        if column is not None:
            raise InputError("the noise is for points, not for labels.", f"leave out {argument('column')}.")
        visits = _visits(source, {"lat": lat, "lon": lon, "user": user, "time": time})
        return _of_noise(mechanism, visits, target, keep, place_column, outside)
    metered = mechanism if isinstance(mechanism, MeteredSampler) else None
    drawable = mechanism.mechanism if isinstance(mechanism, MeteredSampler) else mechanism
    inner = drawable.inner if isinstance(drawable, Tupling) else drawable
    if column is not None and (metered or place_column):
        raise InputError(
            "places and budgets are for visits, not for labels.",
            f"leave out {argument('column')}",
            python("draw labels with MeteredSampler.draw_all."),
        )
    if isinstance(drawable, Tupling) and drawable.queries > _WIDEST:
        raise InputError(
            f"a tuple of {drawable.queries:,} reports would need as many columns.",
            f"release tuples of at most {_WIDEST:,} reports",
            python("draw them with sf.sampler."),
        )
    named = {"lat": lat, "lon": lon, "user": user, "time": time}
    read = (
        _of_visits(inner.secrets, source, named, keep, outside)
        if column is None
        else _of_labels(inner.secrets, source, column, named, keep, outside)
    )
    positions = read.positions
    inside = positions >= 0
    dropped = int((~inside).sum())
    if outside is None and 2 * read.moved > len(positions):
        raise DataError(
            f"{read.moved:,} of {len(positions):,} rows are outside of {inner.secrets!r}.",
            "check that mechanism and data belong together, and that latitude and longitude are not swapped",
            f"pass {argument('outside', 'nearest')} to move them to the nearest place anyway.",
        )
    if dropped and outside in (None, "error"):
        raise DataError(
            f"{dropped:,} of {len(positions):,} rows are not at any of the mechanism's {len(inner.secrets):,} "
            f"secrets (the first is number {int(np.argmin(inside)) + 1}).",
            "" if column else f"pass {argument('outside', 'nearest')} to move them to the nearest place",
            f"pass {argument('outside', 'drop')} to leave them out",
            f"design the mechanism for {'these labels too' if column else 'a wider region'}.",
        )
    if not inside.any():
        raise DataError(
            "no row is at any of the mechanism's secrets.", "check that mechanism and data belong together."
        )
    shared = None
    if read.visits is not None and (metered or place_column):
        shared = Revisits.of(read.visits, place_column, inside)
    if metered is not None and shared is not None:
        reports = np.array(metered.draw_all(shared.users, positions[inside], shared.places), dtype=np.intp)
    else:
        reports = Sampler(drawable).draw(positions[inside])
        reports = reports if shared is None else reports[shared.anchors]
    table = _joined(_columns(inner.observables, reports), read.kept, inside)
    write_table(table, target)
    outcome = Release(len(reports), dropped, read.moved, tuple(table.column_names), read.notes)
    if shared is None or read.visits is None or not shared.distinct:
        return outcome
    spread = None if metered else spread_m(read.visits, inside, shared.anchors)
    return replace(
        outcome, places=shared.distinct, cost=shared.cost(spread, cells=isinstance(inner.secrets, Cells))
    )


@dataclass(frozen=True, slots=True)
class _Rows:
    """The source's rows: the secrets' positions (-1 outside), and what is kept beside them."""

    positions: Positions
    kept: dict[str, Any]
    moved: int = 0
    notes: tuple[str, ...] = ()
    visits: Visits | None = None


def _of_visits(
    secrets: Space,
    source: Source,
    named: Mapping[str, str | None],
    keep: Sequence[str],
    outside: Outside | None,
) -> _Rows:
    if not isinstance(secrets, Places):
        raise InputError(
            f"the mechanism's secrets ({secrets!r}) are not cells on the ground.",
            f"name the column that holds the secret with {argument('column', 'name')}.",
        )
    visits = _visits(source, named)
    moves = outside == "nearest" or (outside is None and isinstance(secrets, Lattice) and secrets.convex_part)
    lat, lon = secrets.nearest(visits.lat, visits.lon) if moves else (visits.lat, visits.lon)
    moved = int(np.count_nonzero((lat != visits.lat) | (lon != visits.lon)))
    positions = secrets.drawn(lat, lon, SystemWords().draw)
    kept = {name: _arrow(values) for name, values in _chosen(visits, keep).items()}
    return _Rows(positions, kept, moved, visits.notes, visits)


def _of_labels(
    secrets: Space,
    source: Source,
    column: str,
    named: Mapping[str, str | None],
    keep: Sequence[str],
    outside: Outside | None,
) -> _Rows:
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
    return _Rows(find(secrets, table[column]), {name: table[name] for name in keep})


def _visits(source: Source, named: Mapping[str, str | None]) -> Visits:
    if isinstance(source, Visits):
        _none_named(named, "visits have their columns already.")
        return source
    return read_visits(source, lat=named["lat"], lon=named["lon"], user=named["user"], time=named["time"])


def _of_noise(
    noise: CoordinateNoise,
    visits: Visits,
    target: str | os.PathLike[str],
    keep: Sequence[str],
    place_column: str | None,
    outside: Outside | None,
) -> Release:
    kept = {name: _arrow(values) for name, values in _chosen(visits, keep).items()}
    found = blurred_rows(noise, visits, outside)
    shared = None if place_column is None else Revisits.of(visits, place_column, found.kept)
    reports = found.reports if shared is None else found.reports[shared.anchors]
    columns = {"latitude": reports[:, 0], "longitude": reports[:, 1]}
    table = _joined(columns, kept, found.kept)
    write_table(table, target)
    dropped = len(visits) - len(reports)
    outcome = Release(len(reports), dropped, found.moved, tuple(table.column_names), visits.notes)
    if shared is None or not shared.distinct:
        return outcome
    cost = shared.cost(spread_m(visits, found.kept, shared.anchors))
    return replace(outcome, places=shared.distinct, cost=cost)


def _none_named(named: Mapping[str, str | None], problem: str) -> None:
    given = [name for name, column in named.items() if column is not None]
    if given:
        raise InputError(problem, f"leave out {argument(f'release.{given[0]}')}.")


def _chosen(visits: Visits, keep: Sequence[str]) -> dict[str, NDArray[Any]]:
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
    return {name: known[name] for name in keep}


def _arrow(values: NDArray[Any]) -> Any:
    try:
        return pa.array(values, from_pandas=True)  # NaN and NaT become nulls
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # mixed types
        return pa.array([None if value is None else str(value) for value in values.tolist()])


def _columns(observables: Space, reports: Integers) -> dict[str, Any]:
    """Return the columns of reports, array (rows,), or of tuples of them, array (rows, k + 1)."""
    if reports.ndim == 2:
        return {
            f"{name}_{number}": values
            for number, column in enumerate(reports.T, 1)
            for name, values in _columns(observables, column).items()
        }
    latlon = _latlon(observables)
    places = {} if latlon is None else {"latitude": latlon[reports, 0], "longitude": latlon[reports, 1]}
    return {**places, "label": label_column(observables).take(pa.array(reports))}


def _latlon(space: Space) -> Floats | None:
    """Return latitudes and longitudes (n, 2) where the labels have any, such as groups of cells."""
    if isinstance(space, Places) or (space.crs == WGS84 and space.coordinates is not None):
        return space.latlon
    if space.crs is None or space.coordinates is None:
        return None
    try:
        return Projection.from_crs(space.crs).inverse(space.coordinates)
    except InputError:  # a coordinate system of the user's own
        return None


def _joined(reported: dict[str, Any], kept: dict[str, Any], inside: NDArray[np.bool_]) -> Any:
    clash = sorted(set(reported) & set(kept))
    if clash:
        raise InputError(
            f"the column {clash[0]!r} cannot be kept: the released column has this name.",
            "rename it in the source first.",
        )
    mask = pa.array(inside)
    return pa.table({**reported, **{name: values.filter(mask) for name, values in kept.items()}})
