"""Releases of tables in memory: proved before the first draw, drawn once, and returned as the caller's kind."""

from __future__ import annotations

import secrets
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Final

import numpy as np

from .._system import pa
from ..core.arguments import checked
from ..core.immutable import CompactRepr
from ..errors import PlaceWarning
from ..geo import check_skip
from ..tables import ArrowBatch, ArrowStream, LazyTable, frame_stream
from .draws import Tally, check_affordable, name_charges
from .engine import Progress, ReleasePlan, RowsDone, cores, make_draw, plan_release
from .frame_kinds import FrameKind, kind_of
from .kernel import PrivateBatch
from .memo_store import PlaceMemo
from .options import ALLOWED, Mechanisms, Outside, check_options
from .person_limits import People, PersonLimits
from .provenance import KEY
from .receipt import Release
from .sources import check_table, unreadable
from .work_folder import DrawnPart

_ROWS: Final = 1 << 18  # of a batch
_WHOLE: Final = 1 << 62


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
            with PlaceMemo() as memo:
                for part, private in self._draw(memo):
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
        return ReleasedFrame(frame, plan.outcome(tally, places, cost, time.monotonic() - begun, kernel.notes))

    def _draw(self, memo: PlaceMemo) -> list[tuple[DrawnPart, PrivateBatch]]:
        draw = self._plan.draw
        batches = list(self._plan.stream.batches(draw.columns, _WHOLE if draw.in_turn else _ROWS))
        ends = [0, *accumulate(batch.num_rows for batch in batches)]
        parts = [DrawnPart(start, stop) for start, stop in pairwise(ends)]
        run = "" if draw.memoizes else secrets.token_hex(16)

        def private(batch: Any, part: DrawnPart) -> PrivateBatch:
            return draw.draw(batch, part.start, run, memo)

        if draw.in_turn:
            return [(part, private(batch, part)) for batch, part in zip(batches, parts, strict=True)]
        with ThreadPoolExecutor(cores()) as pool:
            return list(zip(parts, pool.map(private, batches, parts), strict=True))


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
