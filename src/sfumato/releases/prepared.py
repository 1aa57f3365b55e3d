"""Releases of which everything is known but the reports: read what they promise, then run them."""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.immutable import CompactRepr
from ..errors import FileError, InputError, SfumatoError, argument
from ..proofs import ReportBound
from ..rounding import counted
from ..tables import TableStream
from .charged import ChargedDraw
from .gate import PersonLimits
from .kernel import Kernel, PrivateBatch
from .local import (
    DrawnPart,
    Engine,
    Identity,
    RowsDone,
    Tally,
    Workplace,
    check_released,
    keep_record,
    releases_before,
    same_mechanism,
    times_before,
    unreadable,
    unwritable,
)
from .local.runs import facts_of, work_folder
from .marks import KEY, Mark
from .outcome import Release
from .place_memo import PlaceMemo
from .promises import People
from .receipt import FileMark, Receipt, state_of
from .remembered import Remembered
from .stopped import stopped

Progress = Callable[[RowsDone], None]


@dataclass(slots=True, repr=False)
class PreparedRelease(CompactRepr):
    """A release of which everything is known but the reports: read `promises`, then `run`.

    Attributes:
        target: The file to write.
        promises: What was proved of one report, what the reports of one person add up to, and which columns
            stay, in sentences.
        people: How many rows there are, and how many of one person.
    """

    target: Path
    promises: tuple[str, ...]
    people: People
    _kernel: Kernel
    _stream: TableStream
    _mark: Mark
    _known: Identity | None
    _allowed: float
    _resume: bool
    _again: bool
    _limits: PersonLimits
    _bounds: tuple[ReportBound, ...]
    _source: Path | None
    _facts: dict[str, str]
    _remembered: Remembered | None
    _charged: ChargedDraw | None
    _size: int
    _ran: bool = field(init=False, default=False)
    _state: Any = field(init=False)

    def __post_init__(self) -> None:
        self._state = None if self._source is None else state_of(self._source)

    @property
    def begun(self) -> bool:
        """Whether a run to this target was begun, and can be gone on with."""
        return bool(facts_of(work_folder(self.target)))

    def check_limits(self) -> None:
        """Refuse a release that asks too much of a person, also together with earlier releases of the source.

        Raises:
            DataError: If a person exceeds a limit, or the reports of each person cannot be counted.
            InputError: If the limit on epsilon cannot be checked.
        """
        earlier = (0, True, 0)
        if self._known is not None and not self._metered:  # a ledger counts for itself
            run = facts_of(work_folder(self.target)).get("run", "") if self._resume else ""
            earlier = (
                times_before(self._known, self.target, run=run),
                same_mechanism(self._known, self.target, self._mark, run=run),
                releases_before(self._known, self.target, run=run),
            )
        self._limits.check(self._bounds, self.people, *earlier)

    def receipt(self, outcome: Release, files: Sequence[str | os.PathLike[str]] = ()) -> Receipt:
        """Return the receipt of this release; source and table are read once more, for their hashes.

        Args:
            outcome: What `run` returned.
            files: The files or folders that the mechanisms come from.

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
            mark = FileMark.of(self._source, self._stream.files)
        disclosed = self._kernel.disclosed
        return Receipt.of(
            outcome,
            self.people,
            self._bounds,
            self._limits,
            source=mark,
            target=FileMark.of(self.target),
            mechanism_files=[FileMark.of(each) for each in files],
            carried_over=tuple(disclosed.kept),
            left_out=disclosed.left_out,
            ledger=self._metered,
        )

    def run(self, progress: Progress | None = None) -> Release:
        """Draw the reports and write the table, whole or not at all.

        Args:
            progress: Is told how far the release has come.

        Raises:
            InputError: If it has run, or the source was released meanwhile.
            DataError: If the source cannot be read, rows are outside and this is refused, or a person exceeds a
                limit because the source was released meanwhile.
            BudgetError: If somebody else has spent what a user needs.
            FileError: If the target cannot be written.
        """
        import pyarrow as pa

        begun = clock.monotonic()
        self._check_run()
        place = self._opened()
        before = place.before
        releases = releases_before(self._known, self.target, run=place.run) if before and self._known else 0
        try:
            tally, places, cost = self._run(place, progress)
        except (SfumatoError, OSError, pa.ArrowException) as error:
            raise self._stopped(error, place) from None
        finally:
            place.close()
        self._ran = True
        notes = [*self._kernel.notes]
        if place.removed:
            notes.append(f"{place.removed:,} parts of an interrupted release were removed unread")
        if tally.resumed:
            notes.append(
                f"{tally.resumed:,} rows had been drawn before the interruption, and were not drawn again"
            )
        if before:
            adds = f"{releases + 1:,} releases add up"
            if before + self._kernel.places > releases + 1:
                adds += f", with {before + self._kernel.places:,} reports of a row"
            if self._remembered is not None and self._remembered.metered is not None:
                adds = (
                    "places that the ledger remembers have the reports that they had, and all other reports add up"
                )
            notes.append(f"this source had been released {counted(releases, 'time')} before: {adds}")
        return Release(
            tally.rows,
            tally.dropped,
            tally.moved,
            tuple(self._kernel.schema.names),
            tuple(notes),
            places=places,
            cost=cost,
            farthest_m=tally.farthest_m,
            without_position=tally.without_position,
            resumed=tally.resumed,
            earlier=releases,
            promises=self.promises,
            mark=self._mark.mechanisms,
            seconds=clock.monotonic() - begun,
            row_reports=self._kernel.places,
        )

    def _check_run(self) -> None:
        """Refuse a second run of the same object, which `prepare` has not looked at."""
        if not self._ran or (self._again and not self._metered):
            return
        raise InputError(
            "this prepared release has run. One more draws every row once more, and the promises of both add up.",
            f"prepare it again with {argument('again', True)} if this is what you want.",
        )

    def _opened(self) -> Workplace:
        """Return the work folder, where the source was not released elsewhere since it was prepared."""
        known, free, before = self._known, self._metered or self._again, 0
        if known is not None and not self._resume:
            if not free:
                check_released(known, self.target)  # before anything of an earlier run is removed
            self.check_limits()
            before = times_before(known, self.target)
        place = Workplace.open(self.target, self._facts, resume=self._resume, again=self._again, before=before)
        try:
            if known is not None and not free:  # once more: now others see that this one is being made
                check_released(known, self.target, run=place.run, known=place.before)
        except BaseException:
            if not self._resume:
                place.remove()
            place.close()
            raise
        return place

    def _stopped(self, error: SfumatoError | OSError, place: Workplace) -> SfumatoError:
        """Return the error that a caller sees of a run that stopped."""
        import pyarrow as pa

        if isinstance(error, pa.ArrowException):
            error = unreadable(self._stream, error)
        elif not isinstance(error, SfumatoError):
            error = unwritable(self.target, error)
        draw = self._charged or self._remembered
        paid: bool | None = draw is not None and draw.paid
        if self._metered and self._resume and not paid:
            paid = None  # the run that goes on may have charged, too
        self._ran = self._ran or paid is not False
        return stopped(
            error,
            place,
            lasting=self._known is not None,
            paid=paid,
            places=self._remembered is not None,
        )

    @property
    def _metered(self) -> bool:
        """Whether users are charged."""
        return self._charged is not None or (self._remembered is not None and self._remembered.metered is not None)

    def _run(self, place: Workplace, progress: Progress | None) -> tuple[Tally, int, str]:
        """Draw and publish; return the counts of rows, and of places, and what they cost in words."""
        suffix = self.target.suffix.lower()
        schema = self._kernel.schema.with_metadata({KEY: self._mark.text.encode()})
        remembered, charged = self._remembered, self._charged
        with PlaceMemo(None if remembered is None else place.memo, place.run) as memo:
            draw: Callable[[Any, DrawnPart], PrivateBatch] | None = None
            if remembered is not None:
                draw = lambda batch, part: remembered.draw(batch, part.start, memo, place.run)  # noqa: E731
            elif charged is not None:
                draw = lambda batch, part: charged.draw(batch, part.start, place.run)  # noqa: E731
            engine = Engine(
                self._kernel,
                self._stream,
                self._allowed,
                size=self._size,
                draw=draw,
                in_turn=draw is not None,
                extra=() if remembered is None else (remembered.place_column,),
                progress=progress,
            )
            table = place.table
            tally = engine.run(place, table, schema, suffix, self.people.rows)
            places = memo.counts[1]
            cost = "" if remembered is None else remembered.cost(memo)
        if charged is not None:
            cost = charged.blur.sentence
        if self._known is not None:  # first: a table without a record could be released again by mistake
            keep_record(self._known, self.target, self._mark, place.run, self._kernel.places)
        place.publish(table, self.target, self._mark if suffix == ".csv" else None)
        with suppress(OSError):  # the table is there
            place.remove()
        return tally, places, cost
