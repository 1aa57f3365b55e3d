"""Releasing data: every true row becomes a report drawn from the mechanism."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar, Unpack, overload

from .._system import check_writable
from ..core.arguments import checked
from ..errors import InputError, argument
from ..geo import People, Visits
from ..ledgers import Blur
from ..tables import BATCH_ROWS, ArrowBatch, ArrowStream, LazyTable, check_streamed, is_pipe
from .asked import ALLOWED, One, Several, drawable_of, draws_of, wishes_of
from .beforehand import check_beforehand
from .frames import kind_of, prepare_frame
from .gate import PersonLimits
from .kernel import WITHIN, Kernel, Outside
from .local import AnySource, check_released, counted, identity, opened
from .marks import Mark, mark_beside
from .outcome import Release
from .people_at_places import at_places
from .prepared import PreparedRelease, Progress
from .promises import of_one_report, report_bounds, sentences
from .receipt import check_receipt

_PLACE_ROWS: Final = 1 << 18  # of a batch: names of users and places take more memory than numbers
Frame = TypeVar("Frame", bound=ArrowStream | ArrowBatch | LazyTable)


class _Rest(TypedDict, total=False):
    """Arguments that are the same for files and for tables in memory."""

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
    mechanism: One | Several, source: AnySource, target: str | os.PathLike[str], **rest: Unpack[_Rest]
) -> Release: ...


@overload
def release(mechanism: One | Several, source: Frame, target: None = None, **rest: Unpack[_Rest]) -> Frame: ...


@checked
def release(
    mechanism: One | Several,
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

    Each row is drawn anew, with the operating system's cryptographic randomness, from the mechanism's integers.
    Rows keep their number and order. The table holds the label of the reported place and, where it has them, its
    latitude and longitude; nothing of the true place. It is read and drawn in batches on every core, whatever
    its size, and written whole or not at all. It bears the fingerprint of the mechanism, which `estimate` checks.

    Without a target the source is a table in memory, and the private rows come back as a table of its kind: a data
    frame of pandas, of geopandas (with points in EPSG:4326) or of Polars (eager or lazy), a table
    or reader of pyarrow, a relation of DuckDB. A lazy one is computed, and drawn, in this call and never again.

    With a `Tupling` each row becomes a tuple of k + 1 reports: a list in Parquet and Arrow files, and in CSV
    columns that end in the report's place: ``label_1``, ``label_2``, ... The position says nothing about which
    report is the true one. Frequency oracles and noise on whole numbers give a column ``report``.

    The promise is proved again before anything is drawn. It is for one report or tuple. Several reports of one
    person add up: k reports spend k times epsilon, and the outcome says how many the source asks for. Other
    columns can give the secret away (the name of a shop, a time at which it is the only one open), so none is
    kept unless it is named. An error about rows outside, and the length of a table from which rows were dropped,
    show who is outside.

    With ``place_column`` a user's rows that name the same place get the same report, drawn for the
    first of them (its anchor), and what that costs is said in the outcome. With a `Blur` each
    user is charged for what is drawn, and places are remembered in its ledger for later releases.

    Args:
        mechanism: A mechanism, tupling or family; its secrets are places, or the labels in ``column``. Or
            a `Blur` of a mechanism on places or of noise; or noise for coordinates, whose reports have
            a latitude and a longitude, but no label. Or several by name, with ``by``.
        source: A Parquet, GeoParquet, Arrow or CSV file, a folder of such files (also partitioned), any other
            file that `read_visits` reads, visits, or a table in memory (`read_visits` says which).
        target: The file to write, ``.csv``, ``.parquet`` or ``.arrow``; one that exists is replaced. Without one
            the private rows are returned.
        column: The column that holds the secret's label, or a whole number, where secrets are not places. Several
            for a mechanism on a `JointSpace` (by default those that it names), or for a mapping with a mechanism
            for each of them, which are drawn independently; the private columns keep their names.
        lat: The column of latitudes, where its name does not show it; as for `read_visits`.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times.
        keep: Names of further columns that are carried over unchanged.
        place_column: The column that names a user's places, such as a label or the key of a venue. Rows
            without a name are reported afresh.
        also: Pairs of columns with the latitude and longitude of other places of a row, such as
            ``[("end_lat", "end_lng")]`` of trips. Each place has a report of its own, which counts like that of
            any row and replaces these columns; its label is in ``end_lat_label``. A row is outside if one of its
            places is.
        by: The column that names each row's mechanism, where several are given.
        outside: What to do with rows that are at none of the secrets: refuse (``error``, the default), move them
            to the nearest place, or leave them out (``drop``). On a lattice that serves a convex region, and
            with noise for coordinates, moving keeps the promise for any two points on Earth; on other lattices
            it is refused, and cells promise nothing for points outside.
        within: How far rows are moved at most; one that is farther is an error.
        people: Who is a person, as for `read_visits`. Where no column names the users of places and nothing is
            stated, all rows count as one person's, and a ledger charges none of them.
        skip_damaged: Leave out the files of a folder of GPX, GeoLife or OziExplorer that cannot be read, as
            `read_visits` does; the outcome and the receipt count and name them.
        allow: The share of rows that may be moved or dropped.
        max_reports_per_person: Refuse the release, before anything is drawn, if a person has more reports in it.
            Places that are reported once count once; earlier releases of the source count, unless a ledger
            charges for them. It is refused where people cannot be counted.
        max_epsilon_per_person: Refuse it likewise if a person's reports add up to more, such as ``"50/km"``; a
            number is in the unit of the promise.
        resume: Go on with a release that was interrupted. No row is drawn twice.
        again: Release a source again that was released to the same folder before; with a ledger, begin anew where
            users were charged for a release that was interrupted.
        receipt: A JSON file to write after the table: counts, totals per person, columns and fingerprints, and
            nothing of a single person. It can be read by its owner only.
        progress: Is told how far the release has come.

    Returns:
        What was written, in numbers and words; without a target the private rows, of the kind of the source.

    Raises:
        InputError: If the options do not fit the mechanism, its promise does not hold, the source was
            released before, or it is not a table in memory and has no target.
        DataError: If the source cannot be read, rows are outside and this is refused, or a person exceeds a
            limit.
        FileError: If the target cannot be written.
    """
    asked: dict[str, Any] = {
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
        prepared = prepare(mechanism, source, target, **asked, resume=resume, again=again)
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
    return prepare_frame(mechanism, source, **asked).run(progress).frame


@checked
def prepare(
    mechanism: One | Several,
    source: AnySource,
    target: str | os.PathLike[str],
    *,
    place_column: str | None = None,
    outside: Outside | None = None,
    allow: float = ALLOWED,
    max_reports_per_person: int | None = None,
    max_epsilon_per_person: float | str | None = None,
    resume: bool = False,
    again: bool = False,
    batch_rows: int | None = None,
    **options: Any,
) -> PreparedRelease:
    """Return a release that has been proved and counted, before anything is drawn.

    Args:
        mechanism: As for `release`, and so are all other arguments.
        source: What to release.
        target: The file to write.
        place_column: The column that names a user's places.
        outside: What to do with rows outside.
        allow: The share of rows that may be moved or dropped.
        max_reports_per_person: The largest number of reports of one person.
        max_epsilon_per_person: The largest total epsilon of one person.
        resume: Go on with a release that was interrupted.
        again: Release a source again, or charge once more for what was interrupted.
        batch_rows: Rows that are drawn and kept at a time; by default a million, with places fewer.
        options: The others.

    Raises:
        InputError: If the options do not fit the mechanism, its promise does not hold, or the source was released
            before.
        DataError: If the source cannot be read, or a person exceeds a limit; with a ledger also if rows are
            outside, and this is refused.
        BudgetError: If a user has too little left.
        FileError: If the target is of no known kind, or cannot be written.
    """
    limits = PersonLimits(max_reports_per_person, max_epsilon_per_person)
    suffix = check_streamed(target)
    size = batch_rows if batch_rows is not None else BATCH_ROWS if place_column is None else _PLACE_ROWS
    if size < 1:
        raise InputError(f"batches of {size} rows were asked for.", "use at least one row, such as 100,000.")
    path = Path(os.path.realpath(target))
    if isinstance(source, str | os.PathLike) and is_pipe(source):
        raise InputError(
            "the source is a pipe, which can be read only once, and a release reads its source twice.",
            "write it to a file first, and name that.",
        )
    if isinstance(source, str | os.PathLike) and os.path.realpath(source) == str(path):
        raise InputError("the release would replace its own source.", "choose another target.")
    folder = os.path.realpath(source) if isinstance(source, str | os.PathLike) and os.path.isdir(source) else None
    if folder is not None and path.is_relative_to(folder):
        raise InputError("the target lies in the folder that is read.", "choose another folder for it.")
    check_writable(target)
    if suffix == ".csv":
        check_writable(mark_beside(path))
    wishes = wishes_of(mechanism, place_column, outside, allow, options, lists=suffix != ".csv")
    kind, given = None, source
    if not isinstance(given, str | os.PathLike | Visits):
        kind = kind_of(given)
        given = kind.arrow()
    stream, asked = opened(given, wishes)
    kernel = Kernel(drawable_of(mechanism), stream.schema, asked, name=stream.name, comma=stream.comma)
    kernel.notes += stream.notes
    if kind is not None:
        kind.check_columns({*kernel.needs, kernel.user, place_column}, kernel.disclosed.kept.values())
    remembered, charged = draws_of(mechanism, kernel, place_column, stream.schema.names)
    known_as = identity(stream, *wishes.named)
    if resume and known_as is None:
        raise InputError(
            "only a release of a file can be gone on with: what was in memory may have changed.",
            f"leave out {argument('resume')}.",
        )
    metered = isinstance(mechanism, Blur)  # a ledger counts for itself
    if known_as is not None and not (metered or resume or again):
        check_released(known_as, path)
    mark = Mark.of(kernel.drawables, columnwise=kernel.columnwise)
    promises = {name: report_bounds(each) for name, each in kernel.drawables.items()}
    people = at_places(counted(stream, kernel), remembered, stream, size, drops=asked.outside == "drop")
    made = PreparedRelease(
        path,
        (*sentences(promises, people, columnwise=kernel.columnwise), *kernel.disclosed.sentences),
        people,
        kernel,
        stream,
        mark,
        known_as,
        allow,
        resume,
        again,
        limits,
        of_one_report(promises, columnwise=kernel.columnwise),
        Path(os.path.realpath(source)) if isinstance(source, str | os.PathLike) else None,
        {
            "source": "" if known_as is None else known_as.place,
            "mechanism": mark.text,
            "set of options": json.dumps(
                {**asdict(asked), "people": wishes.people, "allow": allow, "place_column": place_column},
                default=str,
            ),
            "kind of table": suffix,
            "size of parts": str(size),
            "ledger": _ledger_of(mechanism),
        },
        remembered,
        charged,
        size,
    )
    made.check_limits()
    if not resume:
        check_beforehand(charged or remembered, stream, size, allow)
    return made


def _ledger_of(mechanism: One | Several) -> str:
    """Return what tells the ledger from another one, wherever it is named from; empty for none."""
    if not isinstance(mechanism, Blur):
        return ""
    address = mechanism.ledger.address
    return address if "://" in address else os.path.realpath(address)
