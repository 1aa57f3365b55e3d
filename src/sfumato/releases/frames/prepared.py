"""Releases of tables in memory: proved before the first draw, drawn once, and handed back as the caller's kind."""

from __future__ import annotations

import secrets
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np

from ...core.arguments import checked
from ...core.immutable import CompactRepr
from ...errors import PlaceWarning
from ...geo import check_skip
from ...tables import ArrowBatch, ArrowStream, LazyTable, TableStream, frame_stream
from ..asked import ALLOWED, One, Several, drawable_of, draws_of, wishes_of
from ..beforehand import check_beforehand
from ..charged import ChargedDraw
from ..gate import PersonLimits
from ..kernel import Kernel, Outside, PrivateBatch
from ..local import DrawnPart, RowsDone, Tally, check_table, cores, counted, unreadable
from ..marks import KEY, Mark
from ..outcome import Release
from ..people_at_places import at_places
from ..place_memo import PlaceMemo
from ..promises import People, of_one_report, report_bounds, sentences
from ..remembered import Remembered
from ..stopped import charged_in_vain
from .kind import FrameKind
from .kinds import kind_of

_ROWS: Final = 1 << 18  # of a batch
_WHOLE: Final = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedFrame(CompactRepr):
    """A released table in memory.

    Attributes:
        frame: The table, of the caller's kind.
        outcome: The outcome in numbers and in words.
    """

    frame: Any
    outcome: Release


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PreparedFrame(CompactRepr):
    """A release of a table in memory of which everything is known but the reports: read `promises`, then `run`.

    Attributes:
        promises: What was proved of one report, what the reports of one person add up to, and which columns
            stay, in sentences.
        people: How many rows there are, and how many of one person.
    """

    promises: tuple[str, ...]
    people: People
    _kind: FrameKind
    _kernel: Kernel
    _stream: TableStream
    _allowed: float
    _remembered: Remembered | None = None
    _charged: ChargedDraw | None = None

    def run(self, progress: Callable[[RowsDone], None] | None = None) -> ReleasedFrame:
        """Draw the reports, and return them as a table of the caller's kind.

        Each call draws anew, and the reports of all calls add up.

        Args:
            progress: Is told how far the release has come.

        Raises:
            DataError: If rows are outside and this is refused.
            BudgetError: If a user has too little left; then nobody is charged.
        """
        import pyarrow as pa

        begun = time.monotonic()
        kernel, total = self._kernel, self.people.rows
        tally, batches, rows = Tally(), [], [np.zeros(0, dtype=np.intp)]
        mark = Mark.of(kernel.drawables, columnwise=kernel.columnwise)
        try:
            with PlaceMemo() as memo:
                for part, private in self._drawn(memo):
                    tally.add(part, private)
                    tally.check(self._allowed, total)
                    batches.append(private.batch)
                    if private.rows is not None:
                        rows.append(private.rows + part.start)
                    if progress is not None:
                        progress(RowsDone(tally.source, total, time.monotonic() - begun, tally.source))
                places, cost = memo.counts[1], self._cost(memo)
                moved = "" if self._remembered is None else self._remembered.moved(memo)
            if moved:
                warnings.warn(f"{moved}.", PlaceWarning, stacklevel=3)
            schema = kernel.schema.with_metadata({KEY: mark.text.encode()})
            table = pa.Table.from_batches(batches, kernel.schema).cast(schema)
            frame = self._kind.back(table, np.concatenate(rows), kernel.disclosed.kept, mark.text)
        except pa.ArrowException as error:
            told = unreadable(self._stream, error)
            paid = any(each is not None and each.paid for each in (self._charged, self._remembered))
            raise (charged_in_vain(told, places=self._remembered is not None) if paid else told) from None
        outcome = Release(
            tally.rows,
            tally.dropped,
            tally.moved,
            tuple(kernel.schema.names),
            tuple(kernel.notes),
            places=places,
            cost=cost,
            farthest_m=tally.farthest_m,
            without_position=tally.without_position,
            promises=self.promises,
            mark=mark.mechanisms,
            seconds=time.monotonic() - begun,
            row_reports=kernel.places,
        )
        return ReleasedFrame(frame, outcome)

    def _cost(self, memo: PlaceMemo) -> str:
        if self._remembered is not None:
            return self._remembered.cost(memo)
        return "" if self._charged is None else self._charged.blur.sentence

    def _drawn(self, memo: PlaceMemo) -> list[tuple[DrawnPart, PrivateBatch]]:
        kernel, kept, charged = self._kernel, self._remembered, self._charged
        whole = kept is not None or charged is not None
        extra = () if kept is None else (kept.place_column,)
        columns = [*kernel.needs, *([kernel.user] if whole and kernel.user is not None else []), *extra]
        batches = list(self._stream.batches(columns, _WHOLE if whole else _ROWS))
        ends = [0, *accumulate(batch.num_rows for batch in batches)]
        parts = [DrawnPart(start, stop) for start, stop in pairwise(ends)]
        if kept is not None:
            private = [kept.draw(batch, 0, memo) for batch in batches]
        elif charged is not None:
            private = [charged.draw(batch, 0, secrets.token_hex(16)) for batch in batches]
        else:
            with ThreadPoolExecutor(cores()) as pool:
                private = list(
                    pool.map(lambda batch, part: kernel.release(batch, start=part.start), batches, parts)
                )
        return list(zip(parts, private, strict=True))


@checked
def prepare_frame(
    mechanism: One | Several,
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

    Args:
        mechanism: As for `sfumato.release`, and so are all other arguments.
        frame: A table of pandas, geopandas, Polars, pyarrow, DuckDB, or another that speaks Arrow's PyCapsule
            interface. A lazy one is collected here, once.
        place_column: The column that names a user's places.
        outside: What to do with rows outside.
        allow: The share of rows that may be moved or dropped.
        max_reports_per_person: The largest number of reports of one person.
        max_epsilon_per_person: The largest total epsilon of one person.
        options: The others.

    Raises:
        InputError: If the options do not fit the mechanism, its promise does not hold, or the table has an
            index that is neither kept nor a plain numbering of its rows.
        DataError: If the table cannot be read, or a person exceeds a limit.
    """
    limits = PersonLimits(max_reports_per_person, max_epsilon_per_person)
    wishes = wishes_of(mechanism, place_column, outside, allow, options, lists=True)
    kind = kind_of(frame)
    stream = frame_stream(kind.arrow())
    check_table(wishes.people, stream.name)
    check_skip(stream.name, skip_damaged=wishes.skip_damaged)
    kernel = Kernel(drawable_of(mechanism), stream.schema, wishes, name=stream.name)
    kind.check_columns({*kernel.needs, kernel.user, place_column}, kernel.disclosed.kept.values())
    kind.check_rest(kernel)
    remembered, charged = draws_of(mechanism, kernel, place_column, stream.schema.names)
    promises = {name: report_bounds(each) for name, each in kernel.drawables.items()}
    people = at_places(counted(stream, kernel), remembered, stream, _ROWS, drops=wishes.outside == "drop")
    limits.check(of_one_report(promises, columnwise=kernel.columnwise), people)
    check_beforehand(charged or remembered, stream, _ROWS, allow)
    said = (
        *sentences(promises, people, columnwise=kernel.columnwise),
        *kernel.disclosed.sentences,
        *kind.sentences,
    )
    return PreparedFrame(said, people, kind, kernel, stream, allow, remembered, charged)
