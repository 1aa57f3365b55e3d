"""The function `release`: every true row becomes a report drawn from the mechanism."""

from __future__ import annotations

import json
import os
import time as clock
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final, TypedDict, TypeVar, Unpack, overload

from .._system import check_writable, pa
from ..core import Prior
from ..core.immutable import CompactRepr
from ..errors import DataError, FileError, InputError, SfumatoError, argument
from ..geo import People, Visits, read_visits
from ..ledgers import Blur
from ..rounding import plural
from ..tables import BATCH_ROWS, ArrowBatch, ArrowStream, BatchWriter, LazyTable, check_streamed, is_pipe
from .draws import Tally, check_affordable, stop_run
from .engine import Progress, ReleasePlan, draw_parts, make_draw, outcome_of, plan_release, prepare_frame
from .frame_kinds import kind_of
from .options import ALLOWED, WITHIN, Mechanisms, Outside, ReleaseOptions, check_options
from .promises import People as PersonCounts
from .promises import PersonLimits
from .provenance import KEY, FileMark, Receipt, Release, check_receipt, mark_beside, state_of
from .schedule import COLUMNS, Schedule
from .sources import AnySource, Identity, check_released, history, identity, keep_record, open_source, unreadable
from .work_folder import PlaceMemo, WorkFolder, facts_of, unwritable, work_folder

Frame = TypeVar("Frame", bound=ArrowStream | ArrowBatch | LazyTable)
_OF_FILES: Final = ("mechanism", "source", "target", "resume", "again", "receipt", "progress")
_PLACE_ROWS: Final = 1 << 18  # of a batch: names of users and places take more memory than numbers


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
    uncertainty: bool
    prior: tuple[str, Prior | Visits] | None
    darwin_core: bool
    schedule: Schedule | None
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
    uncertainty: bool = False,
    prior: tuple[str, Prior | Visits] | None = None,
    darwin_core: bool = False,
    schedule: Schedule | None = None,
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
    keeps places for later releases. Raises `InputError` if the options do not fit the mechanism, its guarantee
    does not hold, the source was released before, or it is not a table in memory and has no target. Raises
    `DataError` if the source cannot be read, rows are outside and this is refused, or a person exceeds a limit.
    Raises `FileError` if the target cannot be written. It returns what was written, in numbers and words, or
    without a target the private rows.

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
        uncertainty: Add ``uncertainty_m``: a report is within this distance of its true point with a probability
            of at least 95 %, for every point that the mechanism serves (`sfumato.proofs.error_radius`). With
            ``nearest`` it covers moved rows. It is a constant of the mechanism, and costs no privacy.
        prior: Name and prior, such as ``("census 2021", prior)``, for a column ``posterior_uncertainty_m``: given
            the report, the true point is within this distance with a probability of at least 95 % under the prior
            (`sfumato.proofs.posterior_radii`); for noise on coordinates it is a `Visits` of public points. It is
            computed from the report, and costs no privacy, provided that the prior is public.
        darwin_core: Write ``decimalLatitude``, ``decimalLongitude``, ``geodeticDatum``,
            ``coordinateUncertaintyInMeters`` (as ``uncertainty_m``), ``coordinatePrecision`` and
            ``dataGeneralizations`` instead of latitude, longitude and label.
        schedule: Release tracks at the ticks of days: a row for each user and tick, with the last position before
            it. The guarantee of a day is proved and stated. Positions outside are moved to the nearest place,
            by default any number of them and from anywhere.
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
    """
    options: dict[str, Any] = {name: value for name, value in locals().items() if name not in _OF_FILES}
    if target is not None:
        if receipt is not None:
            check_receipt(receipt, source, target)
        job = prepare(mechanism, source, target, **options, resume=resume, again=again)
        outcome = job.run(progress)
        if receipt is not None:
            job.receipt(outcome).save(receipt)
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


@dataclass(slots=True, repr=False)
class PreparedRelease(CompactRepr):
    """A release of a file before its draw: read `promises`, then `run`.

    ``promises`` are sentences on the guarantee of one report, the total of one person, and the columns left out;
    ``people`` counts rows, in all and per person.
    """

    target: Path
    promises: tuple[str, ...]
    people: PersonCounts
    _plan: ReleasePlan
    _source: Path | None
    _known: Identity | None
    _facts: dict[str, str]
    _size: int
    _resume: bool
    _again: bool
    _ran: bool = field(init=False, default=False)
    _state: Any = field(init=False)

    def __post_init__(self) -> None:
        self._state = None if self._source is None else state_of(self._source)

    @property
    def is_resumable(self) -> bool:
        """Whether an interrupted run to this target can be continued."""
        return bool(facts_of(work_folder(self.target)))

    @property
    def _has_ledger(self) -> bool:
        return self._plan.draw.blur is not None  # a ledger counts for itself

    def check_limits(self) -> None:
        """Refuse a release in which a person exceeds a limit, with earlier releases of the source counted.

        It is a `DataError` also if people cannot be counted, and an `InputError` if epsilons cannot be compared.
        """
        earlier = (0, True, 0)
        if self._known is not None and not self._has_ledger:
            run = facts_of(work_folder(self.target)).get("run", "") if self._resume else ""
            past = history(self._known, self.target, run=run)
            earlier = (past.reports, past.is_of(self._plan.mark), past.releases)
        self._plan.limits.check(self._plan.bounds, self.people, *earlier)

    def receipt(self, outcome: Release, files: Sequence[str | os.PathLike[str]] = ()) -> Receipt:
        """Return the receipt of an outcome of `run`, with the hashes of ``files`` or folders of mechanisms.

        It is a `FileError` if the source changed since it was counted, or a file cannot be read.
        """
        if self._source is not None and state_of(self._source) != self._state:
            raise FileError(
                f"the source {self._source.name!r} changed while it was released, so a receipt cannot name "
                f"it. The table {str(self.target)!r} is complete.",
                "compare the table with the source that was meant.",
            )
        kernel, blur = self._plan.kernel, self._plan.draw.blur
        if kernel.options.schedule is not None:
            day = kernel.options.schedule.sentences(blur or kernel.drawables[""])
            outcome = replace(outcome, notes=(*outcome.notes, *day))
        return Receipt.of(
            outcome,
            self.people,
            self._plan.bounds,
            self._plan.limits,
            source=None if self._source is None else FileMark.of(self._source, self._plan.stream.files),
            target=FileMark.of(self.target),
            mechanism_files=[FileMark.of(file) for file in files],
            left_out=() if kernel.options.schedule else kernel.kept_columns.left_out,
            ledger=self._has_ledger,
        )

    def run(self, progress: Progress | None = None) -> Release:
        """Draw the reports and write the table, whole or not at all; ``progress`` is called with a `RowsDone`.

        Raises the errors of `release`: an `InputError` also if it has run, a `BudgetError` if another process has
        spent what a user needs.
        """
        start_s, kernel = clock.monotonic(), self._plan.kernel
        if self._ran and (self._has_ledger or not self._again):
            raise InputError(
                "this prepared release has run. Another run draws every row again, and the guarantees of both add "
                "up.",
                f"prepare it again with {argument('again', True)} if this is what you want.",
            )
        place = self._open()
        before = place.before
        releases = history(self._known, self.target, run=place.run).releases if before and self._known else 0
        try:
            tally, places, cost = self._run(place, progress)
        except (SfumatoError, OSError, pa.ArrowException) as error:
            raise self._stop(error, place) from None
        finally:
            place.close()
        self._ran = True
        notes = [*kernel.notes]
        if place.removals:
            notes.append(f"{place.removals:,} parts of an interrupted release were removed unread")
        if tally.resumed:
            notes.append(
                f"{tally.resumed:,} rows had been drawn before the interruption, and were not drawn again"
            )
        if before:
            adds = f"{releases + 1:,} releases add up"
            if before + kernel.places > releases + 1:
                adds += f", with {before + kernel.places:,} reports of a row"
            if self._has_ledger and self._plan.draw.memoizes:
                adds = "places in the ledger repeat their reports, and all other reports add up"
            notes.append(f"this source had been released {plural(releases, 'time')} before: {adds}")
        facts = (self.promises, self._plan.mark, tally, clock.monotonic() - start_s, notes)
        return outcome_of(kernel, *facts, places=places, cost=cost, earlier=releases)

    def _open(self) -> WorkFolder:
        """Return the work folder, if the source was not released elsewhere since it was prepared."""
        known, free, before = self._known, self._has_ledger or self._again, 0
        if known is not None and not self._resume:
            if not free:
                check_released(known, self.target)  # before anything of an earlier run is removed
            self.check_limits()
            before = history(known, self.target).reports
        place = WorkFolder.open(self.target, self._facts, resume=self._resume, again=self._again, before=before)
        try:
            if known is not None and not free:  # once more: now others see that this one is being made
                check_released(known, self.target, run=place.run, known=place.before)
        except BaseException:
            if not self._resume:
                place.remove()
            place.close()
            raise
        return place

    def _stop(self, error: SfumatoError | OSError, place: WorkFolder) -> SfumatoError:
        """Return the error that the caller of a stopped run gets."""
        if isinstance(error, pa.ArrowException):
            error = unreadable(self._plan.stream, error)
        elif not isinstance(error, SfumatoError):
            error = unwritable(self.target, error)
        has_charged: bool | None = self._plan.draw.has_charged
        if self._has_ledger and self._resume and not has_charged:
            has_charged = None  # the run that goes on may have charged, too
        self._ran = self._ran or has_charged is not False
        lasting = self._known is not None
        return stop_run(error, place, lasting=lasting, has_charged=has_charged, places=self._plan.draw.memoizes)

    def _run(self, place: WorkFolder, progress: Progress | None) -> tuple[Tally, int, str]:
        """Draw and publish; return the counts of rows and places, and their cost in words."""
        plan, suffix = self._plan, self.target.suffix.lower()
        schema = plan.kernel.schema.with_metadata({KEY: plan.mark.text.encode()})
        table, tally = place.table, Tally()
        with PlaceMemo(place.memo if plan.draw.memoizes else None, place.run) as memo:
            with (
                BatchWriter(table, schema, suffix) as writer,
                closing(draw_parts(plan, tally, self._size, place.run, memo, place, progress)) as parts,
            ):
                for _, private in parts:
                    writer.write(private.batch.replace_schema_metadata(schema.metadata))
                tally.check(plan.allow, tally.source)
                if not tally.source:
                    raise DataError(f"{plan.stream.name} holds no rows.", "check that it is the right file.")
            places, cost = memo.counts[1], plan.draw.cost(memo)
        if self._known is not None:  # first: a table without a record could be released again by mistake
            keep_record(self._known, self.target, plan.mark, place.run, plan.kernel.places)
        place.publish(table, self.target, plan.mark if suffix == ".csv" else None)
        with suppress(OSError):  # the table is there
            place.remove()
        return tally, places, cost


def prepare(
    mechanism: Mechanisms,
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

    Arguments and errors are those of `release`; with a ledger also a `BudgetError` if a user has too little left.
    ``batch_rows`` rows are drawn and stored at a time; by default a million, fewer with several places.
    """
    limits = PersonLimits(max_reports_per_person, max_epsilon_per_person)
    suffix = check_streamed(target)
    size = batch_rows if batch_rows is not None else BATCH_ROWS if place_column is None else _PLACE_ROWS
    if size < 1:
        raise InputError(f"batches of {size} rows were asked for.", "use at least one row, such as 100,000.")
    path, read_from = Path(os.path.realpath(target)), None
    if isinstance(source, str | os.PathLike):
        read_from = Path(os.path.realpath(source))
        if is_pipe(source):
            raise InputError(
                "the source is a pipe, which can be read only once, and a release reads its source twice.",
                "write it to a file first, and name that.",
            )
        if read_from == path:
            raise InputError("the release would replace its own source.", "choose another target.")
        if read_from.is_dir() and path.is_relative_to(read_from):
            raise InputError("the target lies in the folder that is read.", "choose another folder for it.")
    check_writable(target)
    if suffix == ".csv":
        check_writable(mark_beside(path))
    request = check_options(mechanism, place_column, outside, allow, options, lists=suffix != ".csv")
    kind, table = None, source
    if not isinstance(table, str | os.PathLike | Visits):
        kind = kind_of(table)
        table = kind.arrow()
    stream, source_options = open_source(table, request)
    also_said: tuple[str, ...] = ()
    if request.schedule is not None:
        allow = 1.0 if allow == ALLOWED else allow  # a tick has a report wherever its position is
        also_said = request.schedule.sentences(mechanism)
        visits = source if isinstance(source, Visits) else _fixes(table, request)
        stream = replace(request.schedule.stream(visits, stream.name), files=stream.files)
        columns: Any = COLUMNS
        source_options = replace(source_options, people=None, **columns)
    draw = make_draw(mechanism, stream, source_options, place_column, kind)
    known = identity(stream, *request.columns)
    if resume and known is None:
        raise InputError(
            "only a release of a file can be continued: a table in memory may have changed.",
            f"leave out {argument('resume')}.",
        )
    if known is not None and not (draw.blur is not None or resume or again):
        check_released(known, path)
    plan = plan_release(draw, stream, limits, allow, size=size, also_said=also_said)
    ledger = mechanism.ledger.address if isinstance(mechanism, Blur) else ""
    facts = {
        "source": "" if known is None else known.place,
        "mechanism": plan.mark.text,
        "set of options": json.dumps(
            {
                **asdict(replace(source_options, schedule=None)),
                **({} if request.schedule is None else {"schedule": request.schedule.mark}),
                "people": request.people,
                "allow": allow,
                "place_column": place_column,
            },
            default=str,
        ),
        "kind of table": suffix,
        "size of parts": str(size),
        "ledger": ledger if not ledger or "://" in ledger else os.path.realpath(ledger),
    }
    job = PreparedRelease(path, plan.promises, plan.people, plan, read_from, known, facts, size, resume, again)
    job.check_limits()
    if not resume:
        check_affordable(draw, stream, size, allow)
    return job


def _fixes(source: Any, options: ReleaseOptions) -> Visits:
    """Return the fixes of a source, in memory."""
    roles = {name: getattr(options, name) for name in ("lat", "lon", "user", "time")}
    rest: Any = {"people": options.people, "skip_damaged": options.skip_damaged}
    return read_visits(source, **roles, attributes=(), **rest)
