"""Engine of local releases: batches are read, drawn on every core, kept, and put together, in files or memory."""

from __future__ import annotations

import secrets
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from .._system import cores, pa
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, PlaceWarning, argument
from ..ledgers import Blur
from ..proofs import ReportBound
from ..tables import ArrowBatch, ArrowStream, LazyTable, TableStream
from .draws import ChargedDraw, FreshDraw, Tally, check_affordable, name_charges
from .frame_kinds import FrameKind, kind_of
from .kernel import Kernel, PrivateBatch
from .memoization import MemoizedDraw, count_places
from .options import ALLOWED, Mechanisms, Outside, ReleaseOptions, check_options, drawable_of
from .promises import People, PersonLimits, bounds_of_report, count_people, report_bounds, sentences
from .provenance import KEY, Mark, Release
from .sources import open_source, unreadable
from .work_folder import DrawnPart, PlaceMemo, WorkFolder

_AHEAD: Final = 1  # batches that are drawn beyond one for each core
_ROWS: Final = 1 << 18  # of a batch
_WHOLE: Final = 1 << 62


@dataclass(frozen=True, slots=True, repr=False)
class RowsDone(CompactRepr):
    """Progress of a release: rows of the source that are done, in all (None if unknown), and seconds of this run.

    ``new_rows`` are the rows drawn by this run; the others were drawn before an interruption.
    """

    rows: int
    total: int | None
    seconds: float
    new_rows: int

    @property
    def rate(self) -> float:
        """Rows that are drawn in a second."""
        return self.new_rows / self.seconds if self.seconds > 0 else 0.0

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
        tally.source - tally.dropped,
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
        carried_over=() if kernel.options.schedule else tuple(kernel.kept_columns.sources),
        **rest,
    )


def make_draw(
    mechanism: Mechanisms,
    stream: TableStream,
    options: ReleaseOptions,
    place_column: str | None,
    kind: FrameKind | None,
) -> FreshDraw:
    """Return the draw of a source: fresh, memoized (with ``place_column``), or charged (with a `Blur`)."""
    kernel = Kernel(drawable_of(mechanism), stream.schema, options, name=stream.name, comma=stream.comma)
    kernel.notes += stream.notes
    if kind is not None:
        kind.check_columns({*kernel.needs, kernel.user, place_column}, kernel.kept_columns.sources.values())
    blur = mechanism if isinstance(mechanism, Blur) else None
    if place_column is not None and place_column not in stream.schema.names:
        raise DataError(
            f"no column of places is called {place_column!r}.", f"the source has {', '.join(stream.schema.names)}."
        )
    if blur is None and place_column is None:
        return FreshDraw(kernel)
    if kernel.user is None or kernel.people == "one":
        raise DataError(
            "no column names the users, but places and budgets belong to users.",
            f"name it with {argument('release.user', 'column')}",
            f"for a format without columns state who is a person with {argument('people', 'file')}.",
        )
    if kernel.single is None:
        raise InputError("places and budgets are for one mechanism.", "release each mechanism's rows by itself.")
    if place_column is not None:
        return MemoizedDraw(kernel, kernel.single, place_column, blur)
    return FreshDraw(kernel) if blur is None else ChargedDraw(kernel, blur)


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
    bounds = {name: report_bounds(drawable) for name, drawable in kernel.drawables.items()}
    people = count_places(count_people(stream, kernel), draw, stream, size)
    return ReleasePlan(
        draw,
        stream,
        people,
        bounds_of_report(bounds, columnwise=kernel.columnwise),
        (
            *sentences(bounds, people, columnwise=kernel.columnwise),
            *(() if kernel.options.schedule else kernel.kept_columns.sentences),
            *also_said,
        ),
        limits,
        allow,
        Mark.of(kernel.drawables, columnwise=kernel.columnwise),
    )


def draw_parts(
    plan: ReleasePlan,
    tally: Tally,
    size: int,
    run: str,
    memo: PlaceMemo,
    place: WorkFolder | None,
    progress: Progress | None,
) -> Generator[tuple[DrawnPart, PrivateBatch], None, None]:
    """Yield the parts of a source in order, drawn on every core and counted; ``place`` keeps them."""
    start_s, total = time.monotonic(), plan.people.rows
    workers = 1 if plan.draw.in_turn else cores()
    waiting: deque[tuple[DrawnPart, Future[PrivateBatch]]] = deque()
    start, parts = 0, set() if place is None else set(place.parts)

    def draw(part: DrawnPart, batch: Any) -> PrivateBatch:
        if place is not None and part in parts:
            return place.read(part, plan.kernel.schema)
        private = plan.draw.draw(batch, part.start, run, memo)
        if place is not None:
            place.keep(part, private)
        return private

    def first() -> tuple[DrawnPart, PrivateBatch]:
        part, future = waiting.popleft()
        private, rows = future.result(), part.stop - part.start
        tally.add(rows, private)
        tally.resumed += rows if part in parts else 0
        if total:
            tally.check(plan.allow, total)
        if progress is not None:
            new_rows = tally.source - tally.resumed
            progress(RowsDone(tally.source, total, time.monotonic() - start_s, new_rows))
        return part, private

    with ThreadPoolExecutor(workers) as pool:
        try:
            for batch in plan.stream.batches(plan.draw.columns, size):
                part = DrawnPart(start, start + batch.num_rows)
                start = part.stop
                waiting.append((part, pool.submit(draw, part, batch)))
                if len(waiting) > workers + _AHEAD:
                    yield first()
            while waiting:
                yield first()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedFrame(CompactRepr):
    """A released table in memory, in the library of its source, and the outcome in numbers and words."""

    frame: Any
    outcome: Release


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PreparedFrame(CompactRepr):
    """A release of a table in memory before its draw: read `promises`, as of a `PreparedRelease`, then `run`."""

    promises: tuple[str, ...]
    people: People
    _kind: FrameKind
    _plan: ReleasePlan

    def run(self, progress: Progress | None = None) -> ReleasedFrame:
        """Draw new reports, and return them as a table of the source's library; reports of all calls add up.

        ``progress`` is called with a `RowsDone`. After a `BudgetError` no user is charged.
        """
        start_s, plan = time.monotonic(), self._plan
        kernel, draw = plan.kernel, plan.draw
        tally, batches, rows = Tally(), [], [np.zeros(0, dtype=np.intp)]
        try:
            size, run = (_WHOLE if draw.in_turn else _ROWS), "" if draw.memoizes else secrets.token_hex(16)
            with PlaceMemo() as memo, closing(draw_parts(plan, tally, size, run, memo, None, progress)) as parts:
                for part, private in parts:
                    batches.append(private.batch)
                    if private.rows is not None:
                        rows.append(private.rows + part.start)
                places, cost, warning = memo.counts[1], draw.cost(memo), draw.warning(memo)
            if warning:
                warnings.warn(f"{warning}.", PlaceWarning, stacklevel=3)
            schema = kernel.schema.with_metadata({KEY: plan.mark.text.encode()})
            table = pa.Table.from_batches(batches, kernel.schema).cast(schema)
            frame = self._kind.back(table, np.concatenate(rows), kernel.kept_columns.sources, plan.mark.text)
        except pa.ArrowException as error:
            problem = unreadable(plan.stream, error)
            raise (name_charges(problem, places=draw.memoizes) if draw.has_charged else problem) from None
        facts = (plan.promises, plan.mark, tally, time.monotonic() - start_s, kernel.notes)
        return ReleasedFrame(frame, outcome_of(kernel, *facts, places=places, cost=cost))


@check_arguments
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

    Arguments and errors are those of `sfumato.release`; an index that is neither kept nor a plain numbering of the
    rows is refused (`InputError`). A lazy table is collected here, once.
    """
    limits = PersonLimits(max_reports_per_person, max_epsilon_per_person)
    request = check_options(mechanism, place_column, outside, allow, options, lists=True)
    if request.schedule is not None:
        raise InputError(
            f"{argument('schedule')} writes a file.",
            f"name it with {argument('target', 'private.parquet')}.",
        )
    kind = kind_of(frame)
    stream, _ = open_source(kind.arrow(), request)
    draw = make_draw(mechanism, stream, request, place_column, kind)
    kind.check_rest(draw.kernel)
    plan = plan_release(draw, stream, limits, allow, size=_ROWS, also_said=kind.sentences)
    limits.check(plan.bounds, plan.people)
    check_affordable(draw, stream, _ROWS, allow)
    return PreparedFrame(plan.promises, plan.people, kind, plan)
