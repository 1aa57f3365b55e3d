"""Releasing data: every true place becomes a report drawn from the mechanism."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ..core import CoordinatePrivacy, Mechanism
from ..core.arguments import checked
from ..core.atomic import check_writable
from ..core.frozen import Short
from ..errors import DataError, FileError, InputError, argument, python
from ..escaping import plain
from ..geo import Cells, Lattice, Visits
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from ..rounding import counted
from ..sampling import Sampler
from ..tables import check_suffix, write_table
from .budget import Blur
from .columns import DEGREES, check_names, joined, report_columns
from .points import rows_to_blur
from .revisits import Revisits, spread_m
from .source_rows import Outside, Source, kept_columns, rows_of_labels, rows_of_visits, visits_of

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
        cost: What this repetition costs, and what noise on a budget is charged, in words; otherwise empty.
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
        parts = [f"{counted(self.rows, 'report')} released ({', '.join(map(plain, shown))})"]
        if self.dropped:
            parts.append(
                f"{counted(self.dropped, 'row')} outside {'was' if self.dropped == 1 else 'were'} dropped"
            )
        if self.moved:
            were = "was" if self.moved == 1 else "were"
            parts.append(f"{counted(self.moved, 'row')} outside {were} moved to the nearest place first")
        said = "; ".join([*parts, *(note.rstrip(".") for note in self.notes)])
        return said + (f". {self.cost}" if self.cost else "")


@checked
def release(
    mechanism: Mechanism | Tupling | CoordinateNoise | Blur,
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

    Whether the target can be written is found out before anybody is charged. If the disk fails while the table is
    written, users have been charged for reports that nobody saw: this costs budget, and no privacy.

    With ``place_column`` a user's rows that name the same place get the same report, drawn for the
    first of them (its anchor), and what that costs is said in the outcome. With a `Blur` each
    user is charged for what is drawn, and places are remembered in its ledger for later releases.

    Args:
        mechanism: The mechanism or tupling; its secrets are places, or the labels in ``column``. Or
            a `Blur` of a mechanism on places or of noise; or noise for coordinates, whose reports have
            a latitude and a longitude, but no label.
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
    check_writable(target)
    if outside is not None and outside not in _OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(_OUTSIDE)}.")
    if isinstance(source, str | os.PathLike) and os.path.realpath(source) == os.path.realpath(target):
        raise InputError("the release would replace its own source.", "choose another target.")
    metered = mechanism if isinstance(mechanism, Blur) else None
    drawable = mechanism.mechanism if isinstance(mechanism, Blur) else mechanism
    named = {"lat": lat, "lon": lon, "user": user, "time": time}
    if isinstance(drawable, CoordinateNoise):
        if column is not None:
            raise InputError("the noise is for points, not for labels.", f"leave out {argument('column')}.")
        return _of_noise(drawable, metered, visits_of(source, named), target, keep, place_column, outside)
    inner = drawable.inner if isinstance(drawable, Tupling) else drawable
    if column is not None and (metered or place_column):
        raise InputError(
            "places and budgets are for visits, not for labels.",
            f"leave out {argument('column')}",
            python("draw labels with Blur.draw_all."),
        )
    if isinstance(drawable, Tupling) and drawable.queries > _WIDEST:
        raise InputError(
            f"a tuple of {drawable.queries:,} reports would need as many columns.",
            f"release tuples of at most {_WIDEST:,} reports",
            python("draw them with sf.sampler."),
        )
    read = (
        rows_of_visits(inner.secrets, source, named, keep, outside)
        if column is None
        else rows_of_labels(inner.secrets, source, column, named, keep, outside)
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
    fixed = isinstance(inner.secrets, Lattice) and inner.secrets.convex_part is None  # moving breaks the promise
    if dropped and outside in (None, "error"):
        raise DataError(
            f"{dropped:,} of {len(positions):,} rows are not at any of the mechanism's {len(inner.secrets):,} "
            f"secrets (the first is number {int(np.argmin(inside)) + 1}).",
            "" if column or fixed else f"pass {argument('outside', 'nearest')} to move them to the nearest place",
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
    queries = (drawable.queries,) if isinstance(drawable, Tupling) else ()
    check_names(report_columns(inner.observables, np.zeros((0, *queries), dtype=np.intp)), read.kept)
    if metered is not None and shared is not None:
        reports = np.array(metered.draw_all(shared.users, positions[inside], shared.places), dtype=np.intp)
    else:
        reports = Sampler(drawable).draw(positions[inside])
        reports = reports if shared is None else reports[shared.anchors]
    table = joined(report_columns(inner.observables, reports), read.kept, inside)
    _write(table, target, charged=metered is not None)
    outcome = Release(len(reports), dropped, read.moved, tuple(table.column_names), read.notes)
    if shared is None or read.visits is None or not shared.distinct:
        return outcome
    spread = None if metered else spread_m(read.visits, inside, shared.anchors)
    promise = None if metered is None else metered.promise
    slack_m = promise.slack_m if isinstance(promise, CoordinatePrivacy) else 0.0
    cost = shared.cost(spread, cells=isinstance(inner.secrets, Cells), slack_m=slack_m)
    return replace(outcome, places=shared.distinct, cost=cost)


def _of_noise(
    noise: CoordinateNoise,
    metered: Blur | None,
    visits: Visits,
    target: str | os.PathLike[str],
    keep: Sequence[str],
    place_column: str | None,
    outside: Outside | None,
) -> Release:
    kept = kept_columns(visits, keep)
    check_names(DEGREES, kept)
    rows = rows_to_blur(noise, visits, outside)
    shared = Revisits.of(visits, place_column, rows.kept) if metered or place_column else None
    lat, lon = visits.lat[rows.kept], visits.lon[rows.kept]
    edge: Literal["error", "nearest"] = "nearest" if rows.moved else "error"
    if metered is not None and shared is not None:
        reports = metered.report_all(shared.users, lat, lon, shared.places, outside=edge)
    else:
        reports = Sampler(noise).blur(lat, lon, outside=edge)
        reports = reports if shared is None else reports[shared.anchors]
    table = joined(dict(zip(DEGREES, reports.T, strict=True)), kept, rows.kept)
    _write(table, target, charged=metered is not None)
    dropped = len(visits) - len(reports)
    promise = noise.promise if metered is None else metered.promise
    slack_m = promise.slack_m if isinstance(promise, CoordinatePrivacy) else 0.0
    costs = [] if metered is None else [metered.sentence]
    if shared is not None and shared.distinct:
        spread = None if metered else spread_m(visits, rows.kept, shared.anchors)
        costs.append(shared.cost(spread, slack_m=slack_m))
    return Release(
        len(reports),
        dropped,
        rows.moved,
        tuple(table.column_names),
        visits.notes,
        places=shared.distinct if shared is not None else 0,
        cost=". ".join(costs),
    )


def _write(table: Any, target: str | os.PathLike[str], *, charged: bool) -> None:
    """Write the table; if that fails, say that users were charged nevertheless."""
    try:
        write_table(table, target)
    except FileError as error:
        if not charged:
            raise
        raise FileError(
            f"{error.problem} Users were charged for these reports, which nobody has seen.",
            *error.hints,
            "the ledger keeps places that were reported: they cost nothing when they are released again.",
        ) from error
