"""The local engine: batches are read, drawn on every core, kept, and put together in their order."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ...core.immutable import CompactRepr
from ...errors import DataError, argument
from ...rounding import percent_at_least
from ...tables import BATCH_ROWS, BatchWriter, TableStream
from ..kernel import Kernel, PrivateBatch
from .workplace import DrawnPart, Workplace

Draw = Callable[[Any, DrawnPart], PrivateBatch]

_AHEAD: Final = 1  # batches that are drawn beyond one for each core


@dataclass(frozen=True, slots=True, repr=False)
class RowsDone(CompactRepr):
    """The rows and batches that a release has done.

    Attributes:
        rows: Rows of the source that are done.
        total: Rows of the source, where that is known.
        seconds: Since this run began.
        drawn: Rows that this run has drawn; the others were drawn before it was interrupted.
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


@dataclass(slots=True)
class Tally:
    """The rows of a release, counted while it runs.

    Attributes:
        source: Rows of the source.
        rows: Rows of the released table.
        dropped: Rows that were left out.
        moved: Rows that were moved first.
        farthest_m: How far at most, metres.
        without_position: How many of the rows that were left out have no position.
        resumed: Rows whose reports were drawn before an interruption.
    """

    source: int = 0
    rows: int = 0
    dropped: int = 0
    moved: int = 0
    farthest_m: float = 0.0
    without_position: int = 0
    resumed: int = 0

    def add(self, part: DrawnPart, private: PrivateBatch) -> None:
        """Count a part."""
        self.source += part.stop - part.start
        self.rows += private.batch.num_rows
        self.dropped += private.dropped
        self.moved += private.moved
        self.without_position += private.without_position
        self.farthest_m = max(self.farthest_m, private.farthest_m)

    def check(self, allowed: float, total: int) -> None:
        """Stop a release of which too many rows are outside.

        Args:
            allowed: The share of rows that may be moved or dropped.
            total: The rows that there are.

        Raises:
            DataError: If more are.
        """
        outside = self.dropped + self.moved
        if total and self.dropped == total:
            raise DataError(
                "no row is at any of the mechanism's places or labels.",
                "check that mechanism and data belong together; places need degrees of WGS84, and latitude and "
                "longitude must not be swapped.",
            )
        if outside > allowed * total:
            done = " and ".join(
                f"{count:,} {what}" for count, what in ((self.moved, "moved"), (self.dropped, "dropped")) if count
            )
            raise DataError(
                f"{outside:,} of {total:,} rows are outside, {percent_at_least(outside / total)} ({done}): "
                f"more than the {100 * allowed:.4g} % that is allowed. Nothing was released.",
                "check that mechanism and data belong together, and for places that latitude and longitude are "
                "not swapped",
                f"allow it with {argument('allow', min(1.0, round(outside / total + 0.005, 2)))}",
                "design the mechanism for a wider region, or for these labels too.",
            )


@dataclass(slots=True, repr=False)
class Engine(CompactRepr):
    """Runs a kernel over a stream.

    Attributes:
        kernel: What draws a batch.
        stream: The source.
        allowed: The share of rows that may be moved or dropped.
        size: Rows of a batch.
        in_turn: Whether batches are drawn one after the other.
        draw: Draws a batch; by default the kernel does.
        extra: Columns that this needs beside the kernel's.
        progress: Is told how far the release has come.
    """

    kernel: Kernel
    stream: TableStream
    allowed: float
    size: int = BATCH_ROWS
    in_turn: bool = False
    draw: Draw | None = None
    extra: tuple[str, ...] = ()
    progress: Callable[[RowsDone], None] | None = None
    tally: Tally = field(default_factory=Tally)

    def run(self, place: Workplace, table: Path, schema: Any, suffix: str, total: int | None) -> Tally:
        """Draw all rows that no part of the work folder covers, and write the whole table.

        Args:
            place: The work folder.
            table: Where to write.
            schema: The schema of the table, with its metadata.
            suffix: The kind of table.
            total: The rows of the source, where they are known.

        Raises:
            DataError: If the source cannot be read, or rows are outside.
        """
        begun, drawn = time.monotonic(), 0
        workers = 1 if self.in_turn else cores()
        waiting: deque[tuple[DrawnPart, Future[PrivateBatch] | None]] = deque()

        def next_done() -> None:
            nonlocal drawn
            part, future = waiting.popleft()
            private = place.read(part, self.kernel.schema) if future is None else future.result()
            writer.write(private.batch.replace_schema_metadata(schema.metadata))
            self.tally.add(part, private)
            if future is None:
                self.tally.resumed += part.stop - part.start
            else:
                drawn += part.stop - part.start
            if total:
                self.tally.check(self.allowed, total)
            if self.progress is not None:
                self.progress(RowsDone(self.tally.source, total, time.monotonic() - begun, drawn))

        with BatchWriter(table, schema, suffix) as writer, ThreadPoolExecutor(workers) as pool:
            try:
                for part, batch in self._jobs(place.parts):
                    job = None if batch is None else pool.submit(self._part, place, part, batch)
                    waiting.append((part, job))
                    if len(waiting) > workers + _AHEAD:
                        next_done()
                while waiting:
                    next_done()
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
            self.tally.check(self.allowed, self.tally.source)
            if not self.tally.rows:
                raise DataError(f"{self.stream.name} holds no rows.", "check that it is the right file.")
        return self.tally

    def _part(self, place: Workplace, part: DrawnPart, batch: Any) -> PrivateBatch:
        private = self.draw(batch, part) if self.draw else self.kernel.release(batch, start=part.start)
        place.keep(part, private)
        return private

    def _jobs(self, done: list[DrawnPart]) -> Iterator[tuple[DrawnPart, Any]]:
        """Yield every part in order, with the rows to draw it from, or None where it is kept already."""
        kept, start = set(done), 0
        for batch in self._batches():
            part = DrawnPart(start, start + batch.num_rows)
            yield part, None if part in kept else batch
            start = part.stop

    def _batches(self) -> Iterator[Any]:
        users = [self.kernel.user] if self.kernel.user is not None and self.draw is not None else []
        columns = [*self.kernel.needs, *users, *self.extra]
        return self.stream.batches(columns, self.size)


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
