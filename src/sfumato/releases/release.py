"""Releasing data: every true row becomes a report drawn from the mechanism."""

from __future__ import annotations

import json
import os
import time as clock
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ..core import Mechanism
from ..core.arguments import checked
from ..core.atomic import check_writable
from ..core.frozen import Short
from ..errors import DataError, FileError, InputError, SfumatoError, argument
from ..mechanisms.family import MechanismFamily
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from ..tables import BATCH_ROWS, TableStream, check_streamed
from .budget import Blur
from .charged import ChargedDraw
from .kernel import OUTSIDE, WITHIN, Kernel, Outside, PrivateBatch, Wishes
from .local import (
    AnySource,
    DrawnPart,
    Engine,
    Identity,
    RowsDone,
    Tally,
    Workplace,
    all_users,
    counted,
    identity,
    keep_record,
    opened,
    times_before,
    unwritable,
)
from .marks import KEY, Mark, write_beside
from .outcome import Release
from .promises import People, proved, sentences
from .remembered import Remembered

ALLOWED: Final = 0.01
"""The share of rows that may be moved or dropped, unless the caller allows more."""

One = Mechanism | Tupling | CoordinateNoise | MechanismFamily | Blur
Progress = Callable[[RowsDone], None]


@dataclass(slots=True, repr=False)
class PreparedRelease(Short):
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
    _facts: dict[str, str]
    _remembered: Remembered | None
    _charged: ChargedDraw | None
    _size: int
    _before: int = field(init=False, default=0)

    def run(self, progress: Progress | None = None) -> Release:
        """Draw the reports and write the table, whole or not at all.

        Args:
            progress: Is told how far the release has come.

        Raises:
            DataError: If the source cannot be read, or rows are outside and this is refused.
            FileError: If the target cannot be written.
        """
        import pyarrow as pa

        begun = clock.monotonic()
        place = Workplace.open(self.target, self._facts, resume=self._resume)
        if self._known is not None:
            self._before = times_before(self._known, self.target, again=True, run=place.run)
        try:
            tally = self._run(place, progress)
        except pa.ArrowException as error:
            place.remove()
            raise DataError(
                f"{self._stream.name} could not be released as such a table: {str(error).splitlines()[0]}.",
                "give its columns plain types, or leave out those that are kept.",
            ) from None
        except (SfumatoError, OSError) as error:
            if isinstance(error, SfumatoError) and not isinstance(error, FileError):
                place.remove()
                raise
            if self._known is None or not place.parts or self._remembered is not None:
                place.remove()
                raise self._unseen(
                    error if isinstance(error, FileError) else unwritable(self.target, error)
                ) from None
            problem = error.problem if isinstance(error, FileError) else unwritable(self.target, error).problem
            hints = error.hints if isinstance(error, FileError) else unwritable(self.target, error).hints
            raise FileError(problem, *hints, f"go on from there with {argument('resume', True)}.") from None
        finally:
            place.close()
        notes = [*self._kernel.notes]
        if place.removed:
            notes.append(f"{place.removed:,} parts of an interrupted release were removed unread")
        if tally.resumed:
            notes.append(
                f"{tally.resumed:,} rows had been drawn before the interruption, and were not drawn again"
            )
        if self._before:
            notes.append(
                f"this source had been released {self._before:,} "
                f"{'time' if self._before == 1 else 'times'} before: {self._before + 1:,} releases add up"
            )
        kept = self._remembered
        return Release(
            tally.rows,
            tally.dropped,
            tally.moved,
            tuple(self._kernel.schema.names),
            tuple(notes),
            places=0 if kept is None else kept.places,
            cost=kept.cost if kept is not None else "" if self._charged is None else self._charged.blur.sentence,
            farthest_m=tally.farthest_m,
            promises=self.promises,
            mark=self._mark.mechanisms,
            seconds=clock.monotonic() - begun,
        )

    def _unseen(self, error: FileError) -> FileError:
        """Say that users were charged for reports that nobody has seen, where they were."""
        if self._charged is None and (self._remembered is None or self._remembered.metered is None):
            return error
        return FileError(
            f"{error.problem} Users were charged for these reports, which nobody has seen.",
            *error.hints,
            "the ledger keeps places that were reported: they cost nothing when they are released again.",
        )

    def _run(self, place: Workplace, progress: Progress | None) -> Tally:
        suffix = self.target.suffix.lower()
        schema = self._kernel.schema.with_metadata({KEY: self._mark.text.encode()})
        remembered, charged = self._remembered, self._charged
        draw: Callable[[Any, DrawnPart], PrivateBatch] | None = None
        if remembered is not None:
            draw = lambda batch, part: remembered.draw(batch, part.start)  # noqa: E731
        elif charged is not None:
            draw = lambda batch, part: charged.draw(batch, part.start, place.run)  # noqa: E731
        engine = Engine(
            self._kernel,
            self._stream,
            self._allowed,
            whole=remembered is not None,
            size=self._size,
            draw=draw,
            in_turn=charged is not None,
            extra=() if remembered is None or remembered.place_column is None else (remembered.place_column,),
            progress=progress,
        )
        table = place.table
        tally = engine.run(place, table, schema, suffix, self.people.rows)
        if suffix == ".csv":
            write_beside(self.target, self._mark)
        if self._known is not None:
            keep_record(self._known, self.target, self._mark, self._before + 1, place.run)
        place.publish(table, self.target)
        place.remove()
        return tally


@checked
def release(
    mechanism: One | Mapping[str, One],
    source: AnySource,
    target: str | os.PathLike[str],
    *,
    column: str | None = None,
    lat: str | None = None,
    lon: str | None = None,
    user: str | None = None,
    time: str | None = None,
    keep: Sequence[str] = (),
    place_column: str | None = None,
    by: str | None = None,
    outside: Outside | None = None,
    within: float | str = WITHIN,
    allow: float = ALLOWED,
    resume: bool = False,
    again: bool = False,
    progress: Callable[[RowsDone], None] | None = None,
) -> Release:
    """Write a table in which every row of the source is replaced by a fresh report.

    Each row is drawn anew, with the operating system's cryptographic randomness, from the mechanism's integers.
    Rows keep their number and order. The table holds the label of the reported place and, where it has them, its
    latitude and longitude; nothing of the true place. It is read and drawn in batches on every core, whatever
    its size, and written whole or not at all. It bears the fingerprint of the mechanism, which `estimate` checks.

    With a `Tupling` each row becomes a tuple of k + 1 reports: a list in Parquet and Arrow files, and in CSV
    columns that end in the report's place: ``label_1``, ``label_2``, ... The position says nothing about which
    report is the true one. Frequency oracles and noise on whole numbers give a column ``report``.

    The promise is proved again before anything is drawn. It is for one report or tuple. Several reports of one
    person add up: k reports spend k times epsilon, and the outcome says how many the source asks for. Other
    columns can give the secret away (the name of a shop, a time at which it is the only one open), so none is
    kept unless it is named. An error about rows outside, and the length of a table from which rows were dropped,
    show who is outside.

    With ``place_column`` a user's rows that name the same place get the same report, drawn for the
    first of them (its anchor), and what that costs is said in the outcome. With a `Blur` each
    user is charged for what is drawn, and places are remembered in its ledger for later releases. With
    ``place_column`` all rows are read into memory.

    Args:
        mechanism: A mechanism, tupling or family; its secrets are places, or the labels in ``column``. Or
            a `Blur` of a mechanism on places or of noise; or noise for coordinates, whose reports have
            a latitude and a longitude, but no label. Or several by name, with ``by``.
        source: A Parquet, GeoParquet, Arrow or CSV file, a folder of such files (also partitioned), any other
            file that `read_visits` reads, visits, or a table in memory (`read_visits` says which).
        target: The file to write, ``.csv``, ``.parquet`` or ``.arrow``; one that exists is replaced.
        column: The column that holds the secret's label, or a whole number, where secrets are not places.
        lat: The column of latitudes, where its name does not show it; as for `read_visits`.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times.
        keep: Names of further columns that are carried over unchanged.
        place_column: The column that names a user's places, such as a label or the key of a venue. Rows
            without a name are reported afresh.
        by: The column that names each row's mechanism, where several are given.
        outside: What to do with rows that are at none of the secrets: refuse (``error``, the default), move them
            to the nearest place, or leave them out (``drop``). On a lattice that serves a convex region, and
            with noise for coordinates, moving keeps the promise for any two points on Earth; on other lattices
            it is refused, and cells promise nothing for points outside.
        within: How far rows are moved at most; one that is farther is an error.
        allow: The share of rows that may be moved or dropped.
        resume: Go on with a release that was interrupted. No row is drawn twice.
        again: Release a source again that was released to the same folder before.
        progress: Is told how far the release has come.

    Raises:
        InputError: If the options do not fit the mechanism, its promise does not hold, or the source was
        released before. DataError: If the source cannot be read, or rows are outside and this is refused.
        FileError: If the target cannot be written.
    """
    prepared = prepare(
        mechanism,
        source,
        target,
        column=column,
        lat=lat,
        lon=lon,
        user=user,
        time=time,
        keep=keep,
        place_column=place_column,
        by=by,
        outside=outside,
        within=within,
        allow=allow,
        resume=resume,
        again=again,
    )
    return prepared.run(progress)


def prepare(
    mechanism: One | Mapping[str, One],
    source: AnySource,
    target: str | os.PathLike[str],
    *,
    place_column: str | None = None,
    outside: Outside | None = None,
    allow: float = ALLOWED,
    resume: bool = False,
    again: bool = False,
    batch_rows: int = BATCH_ROWS,
    **options: Any,
) -> PreparedRelease:
    """Return a release that has been proved and counted, before anything is drawn.

    Args:
        mechanism: As for `release`, and so are all other arguments.
        source: What to release.
        target: The file to write.
        place_column: The column that names a user's places.
        outside: What to do with rows outside.
        allow: The share of rows that may be moved or dropped.
        resume: Go on with a release that was interrupted.
        again: Release a source again.
        batch_rows: Rows that are drawn and kept at a time.
        options: The others.

    Raises:
        InputError: If the options do not fit the mechanism, or its promise does not hold.
        DataError: If the source cannot be read.
        FileError: If the target is of no known kind.
    """
    suffix = check_streamed(target)
    if outside is not None and outside not in OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(OUTSIDE)}.")
    if batch_rows < 1:
        raise InputError(f"batches of {batch_rows} rows were asked for.", "use at least one row, such as 100,000.")
    if not 0 <= allow <= 1:
        raise InputError(
            f"{allow} is not a share of rows.", f"use a number from 0 to 1, such as {argument('allow', 0.05)}."
        )
    path = Path(os.path.realpath(target))
    if isinstance(source, str | os.PathLike) and os.path.realpath(source) == str(path):
        raise InputError("the release would replace its own source.", "choose another target.")
    folder = os.path.realpath(source) if isinstance(source, str | os.PathLike) and os.path.isdir(source) else None
    if folder is not None and path.is_relative_to(folder):
        raise InputError("the target lies in the folder that is read.", "choose another folder for it.")
    check_writable(target)
    metered = mechanism if isinstance(mechanism, Blur) else None
    drawable = mechanism.mechanism if isinstance(mechanism, Blur) else mechanism
    keep = options.pop("keep", ())
    for name in keep:
        if not isinstance(name, str):
            raise InputError(f"{name!r} is not the name of a column.", f"pass texts with {argument('keep')}.")
    wishes = Wishes(**options, keep=tuple(keep), outside=outside or "error", lists=suffix != ".csv")
    if wishes.column is not None and (metered or place_column):
        raise InputError("places and budgets are for visits, not for labels.", f"leave out {argument('column')}.")
    stream, asked = opened(source, wishes)
    kernel = Kernel(drawable, stream.schema, asked, name=stream.name, comma=stream.comma)
    remembered = charged = None
    if place_column is not None and place_column not in stream.schema.names:
        known = ", ".join(stream.schema.names)
        raise DataError(f"there is no column {place_column!r} of places.", f"the source has {known}.")
    if metered is not None or place_column is not None:
        if kernel.user is None:
            raise DataError(
                "no column names the users, but places and budgets are those of users.",
                f"name it with {argument('release.user', 'column')}.",
            )
        if metered is not None and place_column is None:
            charged = ChargedDraw(kernel, metered)
        else:
            remembered = Remembered(kernel, place_column, metered)
        if resume and remembered is not None:
            raise InputError(
                "a release with places is drawn at once, and leaves nothing to go on with.",
                f"leave out {argument('resume')}.",
            )
    known_as = identity(stream)
    if resume and known_as is None:
        raise InputError(
            "only a release of a file can be gone on with: what was in memory may have changed.",
            f"leave out {argument('resume')}.",
        )
    if known_as is not None and metered is None and not resume:  # a ledger counts for itself
        times_before(known_as, path, again=again)
    mark = Mark.of(kernel.drawables)
    promises = {name: proved(each) for name, each in kernel.drawables.items()}
    people = counted(stream, kernel.user)
    if charged is not None and not resume and asked.outside != "drop":  # rows that are dropped cost nothing
        charged.afford(all_users(stream, kernel.user))
    return PreparedRelease(
        path,
        (*sentences(promises, people), *kernel.disclosed.sentences),
        people,
        kernel,
        stream,
        mark,
        known_as,
        allow,
        resume,
        {
            "source": "" if known_as is None else known_as.place,
            "mechanism": mark.text,
            "set of options": json.dumps(
                {**asdict(asked), "allow": allow, "place_column": place_column}, default=str
            ),
            "kind of table": suffix,
            "size of parts": str(batch_rows),
        },
        remembered,
        charged,
        batch_rows,
    )
