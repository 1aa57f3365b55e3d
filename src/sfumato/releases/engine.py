"""Engine of local releases: batches are read, drawn on every core, kept, and put together in their order."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..core.immutable import CompactRepr
from ..errors import DataError
from ..proofs import ReportBound
from ..tables import BatchWriter, TableStream
from .draws import FreshDraw, Tally
from .frame_kinds import FrameKind
from .kernel import Kernel, PrivateBatch
from .memo_store import PlaceMemo
from .memoization import choose_draw, count_places
from .options import Mechanisms, ReleaseOptions, drawable_of
from .person_limits import People, PersonLimits, count_people
from .promises import bounds_of_report, report_bounds, sentences
from .provenance import Mark
from .receipt import Release
from .work_folder import DrawnPart, WorkFolder

_AHEAD: Final = 1  # batches that are drawn beyond one for each core


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

    def outcome(
        self, tally: Tally, places: int, cost: str, seconds: float, notes: Iterable[str], earlier: int = 0
    ) -> Release:
        """Return the outcome of a run in which ``places`` places of users were reported once and repeated."""
        return Release(
            tally.rows,
            tally.dropped,
            tally.moved,
            tuple(self.kernel.schema.names),
            tuple(notes),
            places=places,
            cost=cost,
            farthest_m=tally.farthest_m,
            without_position=tally.without_position,
            resumed=tally.resumed,
            earlier=earlier,
            promises=self.promises,
            mark=self.mark.mechanisms,
            seconds=seconds,
            row_reports=self.kernel.places,
            carried_over=tuple(self.kernel.kept_columns.kept),
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
    begun, drawn, total = time.monotonic(), 0, plan.people.rows
    tally, workers = Tally(), 1 if plan.draw.in_turn else cores()
    waiting: deque[tuple[DrawnPart, Future[PrivateBatch] | None]] = deque()

    def draw_part(part: DrawnPart, batch: Any) -> PrivateBatch:
        private = plan.draw.draw(batch, part.start, place.run, memo)
        place.keep(part, private)
        return private

    def next_done() -> None:
        nonlocal drawn
        part, future = waiting.popleft()
        private = place.read(part, plan.kernel.schema) if future is None else future.result()
        writer.write(private.batch.replace_schema_metadata(schema.metadata))
        tally.add(part, private)
        if future is None:
            tally.resumed += part.stop - part.start
        else:
            drawn += part.stop - part.start
        if total:
            tally.check(plan.allow, total)
        if progress is not None:
            progress(RowsDone(tally.source, total, time.monotonic() - begun, drawn))

    with BatchWriter(table, schema, suffix) as writer, ThreadPoolExecutor(workers) as pool:
        try:
            start, parts = 0, set(place.parts)
            for batch in plan.stream.batches(plan.draw.columns, size):
                part = DrawnPart(start, start + batch.num_rows)
                start = part.stop
                waiting.append((part, None if part in parts else pool.submit(draw_part, part, batch)))
                if len(waiting) > workers + _AHEAD:
                    next_done()
            while waiting:
                next_done()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
        tally.check(plan.allow, tally.source)
        if not tally.rows:
            raise DataError(f"{plan.stream.name} holds no rows.", "check that it is the right file.")
    return tally


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
