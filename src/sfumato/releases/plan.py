"""Plan of a release: guarantees proved and people counted, before the draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..core.immutable import CompactRepr
from ..proofs import ReportBound
from ..tables import TableStream
from .draws import FreshDraw, Tally
from .frame_kinds import FrameKind
from .kernel import Kernel
from .memoization import choose_draw, count_places
from .options import Mechanisms, ReleaseOptions, drawable_of
from .person_limits import People, PersonLimits, count_people
from .promises import bounds_of_report, report_bounds, sentences
from .provenance import Mark
from .receipt import Release


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasePlan(CompactRepr):
    """Everything known of a release before its reports are drawn.

    ``bounds`` are the proved bounds of every report, one of each kind. ``promises`` are sentences on them, on the
    total of one person, and on the columns that stay. ``allow`` is the share of rows that may be moved or dropped.
    """

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
