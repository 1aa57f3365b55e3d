"""The function `release`: every true row becomes a report drawn from the mechanism."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypedDict, TypeVar, Unpack, overload

from ..core.arguments import checked
from ..errors import InputError, argument
from ..geo import People, Visits
from ..tables import ArrowBatch, ArrowStream, LazyTable
from .engine import Progress
from .frames import prepare_frame
from .options import ALLOWED, WITHIN, Mechanisms, Outside
from .prepared import prepare
from .receipt import Release, check_receipt
from .sources import AnySource

Frame = TypeVar("Frame", bound=ArrowStream | ArrowBatch | LazyTable)


class _Rest(TypedDict, total=False):
    """Arguments shared by files and tables in memory."""

    column: str | Sequence[str] | None
    lat: str | None
    lon: str | None
    user: str | None
    time: str | None
    keep: Sequence[str]
    place_column: str | None
    also: Sequence[tuple[str, str]]
    by: str | None
    outside: Outside | None
    within: float | str
    people: People | None
    skip_damaged: bool
    allow: float
    max_reports_per_person: int | None
    max_epsilon_per_person: float | str | None
    resume: bool
    again: bool
    receipt: str | os.PathLike[str] | None
    progress: Progress | None


@overload
def release(
    mechanism: Mechanisms, source: AnySource, target: str | os.PathLike[str], **rest: Unpack[_Rest]
) -> Release: ...


@overload
def release(mechanism: Mechanisms, source: Frame, target: None = None, **rest: Unpack[_Rest]) -> Frame: ...


@checked
def release(
    mechanism: Mechanisms,
    source: AnySource,
    target: str | os.PathLike[str] | None = None,
    *,
    column: str | Sequence[str] | None = None,
    lat: str | None = None,
    lon: str | None = None,
    user: str | None = None,
    time: str | None = None,
    keep: Sequence[str] = (),
    place_column: str | None = None,
    also: Sequence[tuple[str, str]] = (),
    by: str | None = None,
    outside: Outside | None = None,
    within: float | str = WITHIN,
    people: People | None = None,
    skip_damaged: bool = False,
    allow: float = ALLOWED,
    max_reports_per_person: int | None = None,
    max_epsilon_per_person: float | str | None = None,
    resume: bool = False,
    again: bool = False,
    receipt: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> Any:
    """Return or write a table in which every row of the source is replaced by a fresh report.

    Each row is drawn from the mechanism's integers with the operating system's cryptographic randomness. Rows keep
    their number and order. The table holds the label of the reported place and, where it has them, its latitude
    and longitude, and nothing of the true place. It is read and drawn in batches on every core, and written whole
    or not at all. It bears the fingerprint of the mechanism, which `estimate` checks.

    Without a target the source is a table in memory, and the private rows come back in the same library: pandas,
    geopandas (points in EPSG:4326), Polars (eager or lazy), pyarrow (table or reader) or DuckDB (relation). A lazy
    table is computed and drawn once, in this call.

    With a `Tupling` each row becomes a tuple of k + 1 reports: a list in Parquet and Arrow files, and in CSV
    columns that end in the report's position: ``label_1``, ``label_2``, ... The position does not show which
    report is the true one. Frequency oracles and noise on whole numbers give a column ``report``.

    The guarantee is proved again before anything is drawn. It is for one report or tuple. Reports of one person
    add up: k reports spend k times epsilon, and the outcome states how many the source asks for. Other columns can
    reveal the secret (the name of a shop, a time at which only one is open), so none is kept unless it is named.
    Errors about rows outside, and the length of a table from which rows were dropped, show who is outside.

    With ``place_column`` a user's rows that name the same place get the same report, drawn for the first of them
    (its anchor); the outcome states the cost. With a `Blur` each user is charged for what is drawn, and the ledger
    keeps places for later releases.

    Args:
        mechanism: A mechanism, tupling or family whose secrets are places, or the labels in ``column``; a `Blur`
            of a mechanism on places or of noise; or noise for coordinates, whose reports have a latitude and a
            longitude but no label. Or several by name, with ``by``.
        source: A Parquet, GeoParquet, Arrow or CSV file, a folder of such files (also partitioned), any other file
            that `read_visits` reads, visits, or a table in memory (see `read_visits`).
        target: The file to write, ``.csv``, ``.parquet`` or ``.arrow``; an existing one is replaced. Without it
            the private rows are returned.
        column: The column that holds the secret's label, or a whole number, where secrets are not places. Several
            for a mechanism on a `JointSpace` (by default those that it names), or for a mapping with a mechanism
            for each of them, which are drawn independently; the private columns keep their names.
        lat: The column of latitudes, where its name does not show it; as for `read_visits`.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times.
        keep: Further columns that are carried over unchanged.
        place_column: The column that names a user's places, such as a label or the key of a venue. Rows without a
            name get fresh reports.
        also: Pairs of columns with the latitude and longitude of other places of a row, such as ``[("end_lat",
            "end_lng")]`` of trips. Each place has a report, which counts like that of any row and replaces these
            columns; its label is in ``end_lat_label``. A row is outside if one of its places is.
        by: The column that names each row's mechanism, where several are given.
        outside: What to do with rows that are at none of the secrets: refuse (``error``, the default), move them
            to the nearest place (``nearest``), or leave them out (``drop``). On a lattice that serves a convex
            region, and with noise for coordinates, moving keeps the guarantee for any two points on Earth. Other
            lattices refuse it, and the guarantee of cells does not cover points outside.
        within: Largest distance by which a row is moved; a row farther away is an error.
        people: Who is a person, as for `read_visits`. Where no column names the users of places and nothing is
            stated, all rows count as one person's, and a ledger charges none of them.
        skip_damaged: Leave out unreadable files of a folder of GPX, GeoLife or OziExplorer, as `read_visits` does;
            the outcome and the receipt count and name them.
        allow: The share of rows that may be moved or dropped.
        max_reports_per_person: Refuse the release, before any draw, if a person has more reports in it, or people
            cannot be counted. Places that are reported once count once; earlier releases of the source count,
            unless a ledger charges for them.
        max_epsilon_per_person: Likewise for the total of a person's reports, such as ``"50/km"``; a number is in
            the unit of the guarantee.
        resume: Go on with an interrupted release. No row is drawn twice.
        again: Release a source that was released to the same folder before; with a ledger, start again where users
            were charged for an interrupted release.
        receipt: A JSON file to write after the table: counts, totals per person, columns and fingerprints, without
            data of single persons. Only its owner can read it.
        progress: Called with a `RowsDone` as the release advances.

    Returns:
        What was written, in numbers and words; without a target the private rows, in the library of the source.

    Raises:
        InputError: If the options do not fit the mechanism, its guarantee does not hold, the source was released
            before, or it is not a table in memory and has no target.
        DataError: If the source cannot be read, rows are outside and this is refused, or a person exceeds a limit.
        FileError: If the target cannot be written.
    """
    options: dict[str, Any] = {
        "column": column,
        "lat": lat,
        "lon": lon,
        "user": user,
        "time": time,
        "keep": keep,
        "place_column": place_column,
        "also": also,
        "by": by,
        "outside": outside,
        "within": within,
        "people": people,
        "skip_damaged": skip_damaged,
        "allow": allow,
        "max_reports_per_person": max_reports_per_person,
        "max_epsilon_per_person": max_epsilon_per_person,
    }
    if target is not None:
        if receipt is not None:
            check_receipt(receipt, source, target)
        prepared = prepare(mechanism, source, target, **options, resume=resume, again=again)
        outcome = prepared.run(progress)
        if receipt is not None:
            prepared.receipt(outcome).save(receipt)
        return outcome
    if isinstance(source, str | os.PathLike | Visits):
        raise InputError(
            "no target was given, and only a table in memory comes back as one.",
            f"name the file to write with {argument('target', 'private.parquet')}.",
        )
    for name, value in (("resume", resume), ("again", again), ("receipt", receipt)):
        if value:
            raise InputError(f"{argument(name, value)} is for files.", "leave it out.")
    return prepare_frame(mechanism, source, **options).run(progress).frame
