"""Engine of local releases: batches are read, drawn on every core, kept, and put together, in files or memory."""

from __future__ import annotations

import os
import secrets
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from .._system import pa
from ..core.arguments import checked
from ..core.immutable import CompactRepr
from ..errors import DataError, PlaceWarning
from ..geo import check_skip
from ..proofs import ReportBound
from ..tables import ArrowBatch, ArrowStream, BatchWriter, LazyTable, TableStream, frame_stream
from .draws import FreshDraw, Tally, check_affordable, choose_draw, count_places, name_charges
from .frame_kinds import FrameKind, kind_of
from .kernel import Kernel, PrivateBatch
from .options import ALLOWED, Mechanisms, Outside, ReleaseOptions, check_options, drawable_of
from .promises import People, PersonLimits, bounds_of_report, count_people, report_bounds, sentences
from .provenance import KEY, Mark, Release
from .sources import check_table, unreadable
from .work_folder import DrawnPart, PlaceMemo, WorkFolder

_AHEAD: Final = 1  # batches that are drawn beyond one for each core
_ROWS: Final = 1 << 18  # of a batch
_WHOLE: Final = 1 << 62


@dataclass(frozen=True, slots=True, repr=False)
class RowsDone(CompactRepr):
    """Progress of a release.

    Attributes:
        rows: Rows of the source that are done.
        total: Rows of the source, None if unknown.
        seconds: Seconds since this run began.
        drawn: Rows drawn by this run; the others were drawn before an interruption.
    """

    rows: int
    total: int | None
    seconds: float
    drawn: int

    @property
    def rate(self) -> float:
        """Rows that are drawn in a second."""
        return self.drawn / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the end at this rate, where they are known."""
        if self.total is None or not self.rate:
            return None
        return max(0, self.total - self.rows) / self.rate


Progress = Callable[[RowsDone], None]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasePlan(CompactRepr):
    """Everything known of a release before its draw; ``promises`` are sentences, ``allow`` the share outside."""

    draw: FreshDraw
    stream: TableStream
    people: People
    bounds: tuple[ReportBound, ...]
    promises: tuple[str, ...]
    limits: PersonLimits
    allow: float
    mark: Mark

    @property
    def kernel(self) -> Kernel:
        """The kernel that draws."""
        return self.draw.kernel


def outcome_of(
    kernel: Kernel,
    promises: tuple[str, ...],
    mark: Mark,
    tally: Tally,
    seconds: float,
    notes: Iterable[str],
    **rest: Any,
) -> Release:
    """Return the outcome of a run, in which ``places`` places of users were reported once and repeated."""
    return Release(
        tally.rows,
        tally.dropped,
        tally.moved,
        tuple(kernel.schema.names),
        tuple(notes),
        farthest_m=tally.farthest_m,
        without_position=tally.without_position,
        resumed=tally.resumed,
        promises=promises,
        mark=mark.mechanisms,
        seconds=seconds,
        row_reports=kernel.places,
        carried_over=tuple(kernel.kept_columns.kept),
        **rest,
    )


def make_draw(
    mechanism: Mechanisms,
    stream: TableStream,
    options: ReleaseOptions,
    place_column: str | None,
    kind: FrameKind | None,
) -> FreshDraw:
    """Return the draw of a source, whose columns the kind of the table, if any, must be able to read."""
    kernel = Kernel(drawable_of(mechanism), stream.schema, options, name=stream.name, comma=stream.comma)
    kernel.notes += stream.notes
    if kind is not None:
        kind.check_columns({*kernel.needs, kernel.user, place_column}, kernel.kept_columns.kept.values())
    return choose_draw(mechanism, kernel, place_column, stream.schema.names)


def plan_release(
    draw: FreshDraw,
    stream: TableStream,
    limits: PersonLimits,
    allow: float,
    *,
    size: int,
    also_said: tuple[str, ...] = (),
) -> ReleasePlan:
    """Prove the guarantees and count the people of a source; return the plan."""
    kernel = draw.kernel
    proved = {name: report_bounds(each) for name, each in kernel.drawables.items()}
    people = count_people(stream, kernel)
    people = count_places(people, draw, stream, size, drops=kernel.options.outside == "drop")
    return ReleasePlan(
        draw,
        stream,
        people,
        bounds_of_report(proved, columnwise=kernel.columnwise),
        (*sentences(proved, people, columnwise=kernel.columnwise), *kernel.kept_columns.sentences, *also_said),
        limits,
        allow,
        Mark.of(kernel.drawables, columnwise=kernel.columnwise),
    )


def _draw_parts(
    plan: ReleasePlan, size: int, run: str, memo: PlaceMemo, place: WorkFolder | None = None
) -> Generator[tuple[DrawnPart, PrivateBatch, bool], None, None]:
    """Yield the parts of a source in order, drawn on every core, and whether each is new; ``place`` keeps them."""
    workers = 1 if plan.draw.in_turn else cores()
    waiting: deque[tuple[DrawnPart, Future[PrivateBatch], bool]] = deque()
    start, parts = 0, set() if place is None else set(place.parts)

    def draw(part: DrawnPart, batch: Any) -> PrivateBatch:
        if place is not None and part in parts:
            return place.read(part, plan.kernel.schema)
        private = plan.draw.draw(batch, part.start, run, memo)
        if place is not None:
            place.keep(part, private)
        return private

    with ThreadPoolExecutor(workers) as pool:
        try:
            for batch in plan.stream.batches(plan.draw.columns, size):
                part = DrawnPart(start, start + batch.num_rows)
                start = part.stop
                waiting.append((part, pool.submit(draw, part, batch), part not in parts))
                if len(waiting) > workers + _AHEAD:
                    part, future, new = waiting.popleft()
                    yield part, future.result(), new
            while waiting:
                part, future, new = waiting.popleft()
                yield part, future.result(), new
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def draw_table(
    plan: ReleasePlan,
    place: WorkFolder,
    memo: PlaceMemo,
    table: Path,
    schema: Any,
    *,
    suffix: str,
    size: int,
    progress: Progress | None,
) -> Tally:
    """Draw all rows without a part in the work folder, write the table, and return the counts of rows."""
    begun, tally, total = time.monotonic(), Tally(), plan.people.rows
    with (
        BatchWriter(table, schema, suffix) as writer,
        closing(_draw_parts(plan, size, place.run, memo, place)) as parts,
    ):
        for part, private, new in parts:
            writer.write(private.batch.replace_schema_metadata(schema.metadata))
            tally.add(part, private)
            tally.resumed += 0 if new else part.stop - part.start
            if total:
                tally.check(plan.allow, total)
            if progress is not None:
                drawn = tally.source - tally.resumed
                progress(RowsDone(tally.source, total, time.monotonic() - begun, drawn))
        tally.check(plan.allow, tally.source)
        if not tally.rows:
            raise DataError(f"{plan.stream.name} holds no rows.", "check that it is the right file.")
    return tally


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedFrame(CompactRepr):
    """A released table in memory, in the library of its source, and the outcome in numbers and words."""

    frame: Any
    outcome: Release


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PreparedFrame(CompactRepr):
    """A release of a table in memory before its draw: read `promises`, then `run`.

    Attributes:
        promises: Sentences on the guarantee of one report, the total of one person, and the columns left out.
        people: Number of rows, and of rows per person.
    """

    promises: tuple[str, ...]
    people: People
    _kind: FrameKind
    _plan: ReleasePlan

    def run(self, progress: Progress | None = None) -> ReleasedFrame:
        """Draw the reports, and return them as a table of the source's library.

        Each call draws new reports, and the reports of all calls add up. ``progress`` is called with a `RowsDone`.

        Raises:
            DataError: If rows are outside and this is refused.
            BudgetError: If a user has too little left; then no user is charged.
        """
        begun, plan = time.monotonic(), self._plan
        kernel, draw, total = plan.kernel, plan.draw, self.people.rows
        tally, batches, rows = Tally(), [], [np.zeros(0, dtype=np.intp)]
        try:
            size, run = (_WHOLE if draw.in_turn else _ROWS), "" if draw.memoizes else secrets.token_hex(16)
            with PlaceMemo() as memo, closing(_draw_parts(plan, size, run, memo)) as parts:
                for part, private, _ in parts:
                    tally.add(part, private)
                    tally.check(plan.allow, total)
                    batches.append(private.batch)
                    if private.rows is not None:
                        rows.append(private.rows + part.start)
                    if progress is not None:
                        progress(RowsDone(tally.source, total, time.monotonic() - begun, tally.source))
                places, cost, moved = memo.counts[1], draw.cost(memo), draw.moved(memo)
            if moved:
                warnings.warn(f"{moved}.", PlaceWarning, stacklevel=3)
            schema = kernel.schema.with_metadata({KEY: plan.mark.text.encode()})
            table = pa.Table.from_batches(batches, kernel.schema).cast(schema)
            frame = self._kind.back(table, np.concatenate(rows), kernel.kept_columns.kept, plan.mark.text)
        except pa.ArrowException as error:
            problem = unreadable(plan.stream, error)
            raise (name_charges(problem, places=draw.memoizes) if draw.paid else problem) from None
        facts = (plan.promises, plan.mark, tally, time.monotonic() - begun, kernel.notes)
        return ReleasedFrame(frame, outcome_of(kernel, *facts, places=places, cost=cost))


@checked
def prepare_frame(
    mechanism: Mechanisms,
    frame: ArrowStream | ArrowBatch | LazyTable,
    *,
    place_column: str | None = None,
    outside: Outside | None = None,
    allow: float = ALLOWED,
    max_reports_per_person: int | None = None,
    max_epsilon_per_person: float | str | None = None,
    **options: Any,
) -> PreparedFrame:
    """Return the release of a table in memory, proved and counted, before anything is drawn.

    The arguments are those of `sfumato.release`. A lazy table is collected here, once.

    Raises:
        InputError: If the options do not fit the mechanism, its guarantee does not hold, or the table has an index
            that is neither kept nor a plain numbering of its rows.
        DataError: If the table cannot be read, or a person exceeds a limit.
    """
    limits = PersonLimits(max_reports_per_person, max_epsilon_per_person)
    request = check_options(mechanism, place_column, outside, allow, options, lists=True)
    kind = kind_of(frame)
    stream = frame_stream(kind.arrow())
    check_table(request.people, stream.name)
    check_skip(stream.name, skip_damaged=request.skip_damaged)
    draw = make_draw(mechanism, stream, request, place_column, kind)
    kind.check_rest(draw.kernel)
    plan = plan_release(draw, stream, limits, allow, size=_ROWS, also_said=kind.sentences)
    limits.check(plan.bounds, plan.people)
    check_affordable(draw, stream, _ROWS, allow)
    return PreparedFrame(plan.promises, plan.people, kind, plan)
