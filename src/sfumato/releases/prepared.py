"""Releases of files: proved and counted, then drawn in a work folder and published whole."""

from __future__ import annotations

import json
import os
import time as clock
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from .._system import check_writable
from ..core.arguments import checked
from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, SfumatoError, argument
from ..geo import Visits
from ..ledgers import Blur
from ..rounding import counted
from ..tables import BATCH_ROWS, check_streamed, is_pipe
from .draws import Tally, check_affordable, stop_run
from .engine import Progress, draw_table
from .frame_kinds import kind_of
from .memo_store import PlaceMemo
from .options import ALLOWED, Mechanisms, Outside, check_options
from .person_limits import People, PersonLimits
from .plan import ReleasePlan, make_draw, plan_release
from .provenance import KEY, mark_beside
from .receipt import FileMark, Receipt, Release, state_of
from .records import check_released, keep_record, releases_before, same_mechanism, times_before
from .sources import AnySource, Identity, identity, open_source, unreadable
from .work_folder import WorkFolder, facts_of, unwritable, work_folder

_PLACE_ROWS: Final = 1 << 18  # of a batch: names of users and places take more memory than numbers


@dataclass(slots=True, repr=False)
class PreparedRelease(CompactRepr):
    """A release of a file before its draw: read `promises`, then `run`.

    Attributes:
        target: The file to write.
        promises: Sentences on the guarantee of one report, the total of one person, and the columns that stay.
        people: Number of rows, and of rows per person.
    """

    target: Path
    promises: tuple[str, ...]
    people: People
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
    def begun(self) -> bool:
        """Whether an interrupted run to this target can be continued."""
        return bool(facts_of(work_folder(self.target)))

    @property
    def _metered(self) -> bool:
        return self._plan.draw.blur is not None  # a ledger counts for itself

    def check_limits(self) -> None:
        """Refuse a release in which a person exceeds a limit, with earlier releases of the source counted.

        Raises:
            DataError: If a person exceeds a limit, or the reports of each person cannot be counted.
            InputError: If the limit on epsilon cannot be checked.
        """
        earlier = (0, True, 0)
        if self._known is not None and not self._metered:
            run = facts_of(work_folder(self.target)).get("run", "") if self._resume else ""
            earlier = (
                times_before(self._known, self.target, run=run),
                same_mechanism(self._known, self.target, self._plan.mark, run=run),
                releases_before(self._known, self.target, run=run),
            )
        self._plan.limits.check(self._plan.bounds, self.people, *earlier)

    def receipt(self, outcome: Release, files: Sequence[str | os.PathLike[str]] = ()) -> Receipt:
        """Return the receipt of this release; source and table are read again for their hashes.

        Args:
            outcome: The result of `run`.
            files: Files or folders that the mechanisms come from.

        Raises:
            FileError: If the source changed since it was counted, or a file cannot be read.
        """
        if self._source is None:
            mark = None
        else:
            if state_of(self._source) != self._state:
                raise FileError(
                    f"the source {self._source.name!r} changed while it was released, so a receipt cannot name "
                    f"it. The table {str(self.target)!r} is complete.",
                    "compare the table with the source that was meant.",
                )
            mark = FileMark.of(self._source, self._plan.stream.files)
        columns = self._plan.kernel.kept_columns
        return Receipt.of(
            outcome,
            self.people,
            self._plan.bounds,
            self._plan.limits,
            source=mark,
            target=FileMark.of(self.target),
            mechanism_files=[FileMark.of(each) for each in files],
            carried_over=tuple(columns.kept),
            left_out=columns.left_out,
            ledger=self._metered,
        )

    def run(self, progress: Progress | None = None) -> Release:
        """Draw the reports and write the table, whole or not at all; ``progress`` is called with a `RowsDone`.

        Raises:
            InputError: If it has run, or the source was released meanwhile.
            DataError: If the source cannot be read, rows are outside and this is refused, or a person exceeds a
                limit because the source was released meanwhile.
            BudgetError: If another process has spent what a user needs.
            FileError: If the target cannot be written.
        """
        import pyarrow as pa

        begun, kernel = clock.monotonic(), self._plan.kernel
        self._check_run()
        place = self._open()
        before = place.before
        releases = releases_before(self._known, self.target, run=place.run) if before and self._known else 0
        try:
            tally, places, cost = self._run(place, progress)
        except (SfumatoError, OSError, pa.ArrowException) as error:
            raise self._stop(error, place) from None
        finally:
            place.close()
        self._ran = True
        notes = [*kernel.notes]
        if place.removed:
            notes.append(f"{place.removed:,} parts of an interrupted release were removed unread")
        if tally.resumed:
            notes.append(
                f"{tally.resumed:,} rows had been drawn before the interruption, and were not drawn again"
            )
        if before:
            adds = f"{releases + 1:,} releases add up"
            if before + kernel.places > releases + 1:
                adds += f", with {before + kernel.places:,} reports of a row"
            if self._metered and self._plan.draw.memoizes:
                adds = (
                    "places in the ledger repeat their reports, and all other reports add up"
                )
            notes.append(f"this source had been released {counted(releases, 'time')} before: {adds}")
        return self._plan.outcome(tally, places, cost, clock.monotonic() - begun, notes, earlier=releases)

    def _check_run(self) -> None:
        """Refuse a second run of this object, which `prepare` has not checked."""
        if not self._ran or (self._again and not self._metered):
            return
        raise InputError(
            "this prepared release has run. One more draws every row once more, and the guarantees of both add up.",
            f"prepare it again with {argument('again', True)} if this is what you want.",
        )

    def _open(self) -> WorkFolder:
        """Return the work folder, if the source was not released elsewhere since it was prepared."""
        known, free, before = self._known, self._metered or self._again, 0
        if known is not None and not self._resume:
            if not free:
                check_released(known, self.target)  # before anything of an earlier run is removed
            self.check_limits()
            before = times_before(known, self.target)
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
        import pyarrow as pa

        if isinstance(error, pa.ArrowException):
            error = unreadable(self._plan.stream, error)
        elif not isinstance(error, SfumatoError):
            error = unwritable(self.target, error)
        paid: bool | None = self._plan.draw.paid
        if self._metered and self._resume and not paid:
            paid = None  # the run that goes on may have charged, too
        self._ran = self._ran or paid is not False
        lasting = self._known is not None
        return stop_run(error, place, lasting=lasting, paid=paid, places=self._plan.draw.memoizes)

    def _run(self, place: WorkFolder, progress: Progress | None) -> tuple[Tally, int, str]:
        """Draw and publish; return the counts of rows and places, and their cost in words."""
        plan, suffix = self._plan, self.target.suffix.lower()
        schema = plan.kernel.schema.with_metadata({KEY: plan.mark.text.encode()})
        with PlaceMemo(place.memo if plan.draw.memoizes else None, place.run) as memo:
            table = place.table
            tally = draw_table(plan, place, memo, table, schema, suffix=suffix, size=self._size, progress=progress)
            places, cost = memo.counts[1], plan.draw.cost(memo)
        if self._known is not None:  # first: a table without a record could be released again by mistake
            keep_record(self._known, self.target, plan.mark, place.run, plan.kernel.places)
        place.publish(table, self.target, plan.mark if suffix == ".csv" else None)
        with suppress(OSError):  # the table is there
            place.remove()
        return tally, places, cost


@checked
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

    The arguments are those of `release`. ``batch_rows`` rows are drawn and stored at a time; by default a million,
    fewer with several places.

    Raises:
        InputError: If the options do not fit the mechanism, its guarantee does not hold, or the source was
            released before.
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
    request = check_options(mechanism, place_column, outside, allow, options, lists=suffix != ".csv")
    kind, given = None, source
    if not isinstance(given, str | os.PathLike | Visits):
        kind = kind_of(given)
        given = kind.arrow()
    stream, source_options = open_source(given, request)
    draw = make_draw(mechanism, stream, source_options, place_column, kind)
    known = identity(stream, *request.named)
    if resume and known is None:
        raise InputError(
            "only a release of a file can be continued: a table in memory may have changed.",
            f"leave out {argument('resume')}.",
        )
    if known is not None and not (draw.blur is not None or resume or again):
        check_released(known, path)
    plan = plan_release(draw, stream, limits, allow, size=size)
    facts = {
        "source": "" if known is None else known.place,
        "mechanism": plan.mark.text,
        "set of options": json.dumps(
            {**asdict(source_options), "people": request.people, "allow": allow, "place_column": place_column},
            default=str,
        ),
        "kind of table": suffix,
        "size of parts": str(size),
        "ledger": _ledger_of(mechanism),
    }
    read_from = Path(os.path.realpath(source)) if isinstance(source, str | os.PathLike) else None
    prepared = PreparedRelease(
        path, plan.promises, plan.people, plan, read_from, known, facts, size, resume, again
    )
    prepared.check_limits()
    if not resume:
        check_affordable(draw, stream, size, allow)
    return prepared


def _ledger_of(mechanism: Mechanisms) -> str:
    """Return a text that identifies the ledger, independent of the path used to name it; empty for none."""
    if not isinstance(mechanism, Blur):
        return ""
    address = mechanism.ledger.address
    return address if "://" in address else os.path.realpath(address)
