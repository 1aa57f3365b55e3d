"""The kernel of every release: a batch of true rows in, a batch of private rows out, and no engine in sight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..core import units
from ..core.arrays import Floats
from ..core.frozen import Short
from ..errors import DataError, InputError, argument
from ..geo import PlaceColumns
from ..rounding import amount_at_most
from ..sampling import SystemWords, Words
from .columns import fresh, plain_type
from .disclosed import Disclosed
from .reporters import BLOCK, Given, NoiseReporter, Reporter, Secrets, reporter

Outside = Literal["error", "nearest", "drop"]
OUTSIDE: Final = ("error", "nearest", "drop")
WITHIN: Final = "1 km"
"""How far points outside are moved at most, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True, repr=False)
class Wishes(Short):
    """The wishes of a caller for a release; `sfumato.release` describes each.

    Attributes:
        column: The column of labels or numbers; None where secrets are places.
        lat: The column of latitudes.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times.
        keep: Columns that are carried over.
        by: The column that names each row's mechanism.
        outside: What is done with rows outside.
        within: How far they are moved at most, a length.
        lists: Whether a report of several numbers becomes a list, or as many columns.
    """

    column: str | None = None
    lat: str | None = None
    lon: str | None = None
    user: str | None = None
    time: str | None = None
    keep: tuple[str, ...] = ()
    by: str | None = None
    outside: Outside = "error"
    within: float | str = WITHIN
    lists: bool = True


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Located(Short):
    """A batch whose rows have been taken for secrets, before a report is drawn.

    Attributes:
        batch: The true rows.
        rows: The numbers of those for which a report is drawn, array (k,), in order.
        values: Their secrets, array (k, ...).
        chosen: The number of the mechanism of each, array (k,); None where there is one.
        moved: How many of them were moved first.
        farthest_m: How far at most, metres.
    """

    batch: Any
    rows: NDArray[np.intp]
    values: NDArray[Any]
    chosen: NDArray[np.intp] | None
    moved: int
    farthest_m: float

    @property
    def dropped(self) -> int:
        """The number of rows that are left out."""
        return int(self.batch.num_rows - len(self.rows))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateBatch(Short):
    """A batch of private rows, and counts of what was done for it.

    Attributes:
        batch: The private rows, an Arrow record batch of the kernel's schema.
        dropped: How many rows were left out.
        moved: How many rows were moved first.
        farthest_m: How far at most, metres.
    """

    batch: Any
    dropped: int
    moved: int
    farthest_m: float


class Kernel:
    """Draws a private batch for each batch of true rows, from the integers of one mechanism or of several.

    Rows keep their number and order, unless those outside are dropped by the caller's wish. What comes out
    shares no memory, dictionary, statistics or metadata with what goes in.

    Args:
        mechanisms: The mechanism, or several by name: the column ``wishes.by`` names each row's.
        schema: The Arrow schema of the true rows.
        wishes: What the caller asks for.
        name: What messages call the table.
        comma: Whether numbers in texts may be written ``48,85``.

    Attributes:
        drawables: The mechanisms, by name; a single one has the name ``""``.
        schema: The Arrow schema of the private rows, without metadata.
        needs: The columns of the source that are read.
        user: The column of users, or None.
        disclosed: Which columns are carried over, and which are left out.
        notes: What was taken for granted about the source.

    Raises:
        InputError: If the wishes do not fit the mechanisms.
        DataError: If a column is missing.
    """

    def __init__(
        self,
        mechanisms: Any,
        schema: Any,
        wishes: Wishes | None = None,
        *,
        name: str = "the table",
        comma: bool = False,
    ) -> None:
        import pyarrow as pa

        asked = wishes or Wishes()
        self.drawables = _by_name(mechanisms, asked)
        self._reporters = [reporter(each) for each in self.drawables.values()]
        self._numbers = {name: number for number, name in enumerate(self.drawables)}
        self._wishes, self._name = asked, name
        self._within_m = units.length_m(asked.within, "the distance")
        if not self._within_m >= 0:
            raise InputError(f"a distance of {asked.within} is negative.", "use a length such as '1 km'.")
        given = self._given()
        columns = schema.names
        found = None
        if given == "places":
            named = {"lat": asked.lat, "lon": asked.lon, "user": asked.user, "time": asked.time}
            found = PlaceColumns.of(columns, schema.metadata or {}, name, named, comma=comma)
        self._places = found
        self.notes = () if found is None else found.notes
        self.user = asked.user if found is None else found.roles.user
        for each in (asked.column, asked.by, self.user):
            if each is not None and each not in columns:
                raise DataError(
                    f"{name} has no column {each!r}. Its columns are: {', '.join(columns)}.",
                    "check that it is the right file",
                    f"name the column with {argument('column', columns[0])}." if each == asked.column else "",
                )
        for role in (asked.by, self.user):
            if role is not None and pa.types.is_nested(schema.field(role).type):
                raise DataError(
                    f"the column {role!r} of {name} is of {schema.field(role).type}, which holds no names.",
                    "name a column of texts or numbers.",
                )
        secret = (asked.column,) if found is None else (found.roles.lat, found.roles.lon, found.roles.geometry)
        roles = {"user": self.user, "time": None if found is None else found.roles.time}
        self.disclosed = Disclosed.of(columns, asked.keep, secret, roles)
        position = () if found is None else found.position
        wanted = [*position, asked.column, asked.by, *self.disclosed.kept.values()]
        self.needs = tuple(dict.fromkeys(each for each in wanted if each is not None))
        self.schema = self._schema(schema)

    def release(self, batch: Any, words: Words | None = None, *, start: int = 0) -> PrivateBatch:
        """Return the private rows of a batch.

        Args:
            batch: An Arrow record batch with the columns in `needs`.
            words: Where the randomness comes from; the operating system's by default.
            start: The number of rows before this batch, for messages.

        Raises:
            DataError: If a row is outside, and this is refused.
        """
        source = words or SystemWords()
        located = self.locate(batch, source, start=start)
        return self.reported(located, self.drawn(located, source))

    def locate(self, batch: Any, words: Words, *, start: int = 0) -> Located:
        """Return for which secrets the rows of a batch are taken; points on lattices are rounded at random here.

        Args:
            batch: An Arrow record batch.
            words: Where the randomness comes from.
            start: The number of rows before this batch, for messages.

        Raises:
            DataError: If a row is outside, and this is refused.
        """
        chosen = self._chosen(batch, start)
        found = self._secrets(batch, chosen, words)
        inside, moved_m = found.inside, found.moved_m
        if moved_m is not None:
            too_far = inside & (moved_m > self._within_m)
            if too_far.any():
                self._check_near(moved_m, too_far, start)
        if not inside.all() and self._wishes.outside != "drop":
            self._refuse(inside, batch.num_rows, start)
        rows = np.flatnonzero(inside)
        moved = np.zeros(0) if moved_m is None else moved_m[rows]
        all_inside = len(rows) == len(inside)
        return Located(
            batch,
            rows,
            found.values if all_inside else found.values[rows],
            chosen if chosen is None or all_inside else chosen[rows],
            int(np.count_nonzero(moved)),
            float(moved.max(initial=0.0)),
        )

    def drawn(
        self, located: Located, words: Words, chosen: NDArray[np.intp] | None = None
    ) -> list[tuple[Reporter, NDArray[np.intp], NDArray[Any]]]:
        """Return fresh reports: for each mechanism, which of the located rows are its, and their reports.

        Args:
            located: The rows.
            words: Where the randomness comes from.
            chosen: Draw for these of the rows only, array (j,); by default for all.
        """
        wanted = np.arange(len(located.rows)) if chosen is None else chosen
        found = []
        for number, each in enumerate(self._reporters):
            mine = wanted if located.chosen is None else wanted[located.chosen[wanted] == number]
            if located.chosen is not None and not mine.size:
                continue
            values = located.values if mine.size == len(located.values) else located.values[mine]
            parts = [each.draw(values[at : at + BLOCK], words) for at in range(0, max(1, len(values)), BLOCK)]
            found.append((each, mine, np.concatenate(parts)))
        return found

    def reported(self, located: Located, drawn: Sequence[tuple[Reporter, NDArray[np.intp], Any]]) -> PrivateBatch:
        """Return the private rows, made of the reports that were drawn.

        Args:
            located: The rows.
            drawn: As `drawn` returns it.
        """
        import pyarrow as pa

        columns: dict[str, Any] = {}
        groups = [self._columns(each, reports) for each, _, reports in drawn]
        if len(groups) == 1:
            columns = groups[0]
        elif groups:
            order = np.empty(len(located.rows), dtype=np.int64)
            order[np.concatenate([mine for _, mine, _ in drawn])] = np.arange(len(located.rows))
            for name in groups[0]:
                columns[name] = pa.concat_arrays([group[name] for group in groups]).take(pa.array(order))
        else:
            columns = {name: pa.array([], self.schema.field(name).type) for name in self.schema.names}
        for name, column in self.disclosed.kept.items():
            columns[name] = fresh(located.batch.column(column), name, located.rows)
        arrays = [columns[name] for name in self.schema.names]
        return PrivateBatch(
            pa.RecordBatch.from_arrays(arrays, schema=self.schema),
            located.dropped,
            located.moved,
            located.farthest_m,
        )

    @property
    def single(self) -> Reporter | None:
        """The one mechanism, made ready; None where there are several."""
        return self._reporters[0] if len(self._reporters) == 1 else None

    def degrees(self, batch: Any) -> tuple[Floats, Floats]:
        """Return the true latitudes and longitudes of a batch, arrays (n,), degrees; NaN where a row has none."""
        if self._places is None:
            return np.full(batch.num_rows, np.nan), np.full(batch.num_rows, np.nan)
        return self._places.degrees(batch)

    def _columns(self, each: Reporter, reports: NDArray[Any]) -> dict[str, Any]:
        return each.columns(reports, lists=self._wishes.lists, dictionaries=len(self._reporters) == 1)

    def _given(self) -> Given:
        asked, kinds = self._wishes, {each.given for each in self._reporters}
        if asked.column is None and kinds != {"places"}:
            other = next(each for each in self._reporters if each.given != "places")
            other.at(np.zeros(0), np.zeros(0), SystemWords(), nearest=False)
            raise InputError(
                "some mechanisms are about places, and others are not.", "release each kind by itself."
            )
        if asked.column is None:
            if asked.outside == "nearest":
                for each in self._reporters:
                    if not each.moves:  # it says why
                        each.at(np.zeros(0), np.zeros(0), SystemWords(), nearest=True)
            return "places"
        named = {"lat": asked.lat, "lon": asked.lon, "time": asked.time}
        for role, column in named.items():
            if column is not None:
                raise InputError(
                    f"with {argument('column')} no places are read.", f"leave out {argument(f'release.{role}')}."
                )
        if asked.outside == "nearest":
            raise InputError(
                "a label that is not among the secrets has no nearest label.",
                f"use {argument('outside', 'error')} or {argument('outside', 'drop')}.",
            )
        if any(isinstance(each, NoiseReporter) for each in self._reporters):
            raise InputError("the noise is for points, not for labels.", f"leave out {argument('column')}.")
        return "numbers" if kinds == {"numbers"} else "labels"

    def _schema(self, source: Any) -> Any:
        import pyarrow as pa

        shapes = []
        for each in self._reporters:
            columns = self._columns(each, _one_report(each))
            shapes.append([(name, column.type) for name, column in columns.items()])
        if any(shape != shapes[0] for shape in shapes):
            raise InputError(
                "the mechanisms give reports of different kinds, which do not fit into one table.",
                "release each kind by itself.",
            )
        clash = sorted({name for name, _ in shapes[0]} & set(self.disclosed.kept))
        if clash:
            raise InputError(
                f"the column {clash[0]!r} cannot be kept: the released column has this name.",
                "rename it in the source first.",
            )
        kept = [(name, plain_type(source.field(column).type)) for name, column in self.disclosed.kept.items()]
        for name, kind in kept:
            if not self._wishes.lists and (pa.types.is_nested(kind) or _is_binary(kind)):
                raise InputError(
                    f"the column {name!r} of {kind} cannot be kept in a table of text.",
                    "write a Parquet or Arrow file",
                    f"leave it out of {argument('keep')}.",
                )
        return pa.schema([*shapes[0], *kept])

    def _chosen(self, batch: Any, start: int) -> NDArray[np.intp] | None:
        if self._wishes.by is None:
            return None
        encoded = batch.column(self._wishes.by).cast("string").dictionary_encode()
        names = encoded.dictionary.to_pylist()
        numbers = np.array([self._numbers.get(name, -1) for name in names] + [-1], dtype=np.intp)
        found: NDArray[np.intp] = numbers[encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)]
        if (found < 0).any():
            first = int(np.argmax(found < 0))
            raise DataError(
                f"row {start + first + 1} names the mechanism {batch.column(self._wishes.by)[first].as_py()!r}, "
                "which is not among those given.",
                f"the mechanisms are {', '.join(list(self.drawables)[:8])}{' ...' if len(names) > 8 else ''}.",
            )
        return found

    def _secrets(self, batch: Any, chosen: NDArray[np.intp] | None, words: Words) -> Secrets:
        """Return the secrets of all rows, each by its own mechanism."""
        if self._places is None:
            column = batch.column(self._wishes.column)
            parts = [each.of(column) for each in self._reporters]
            if chosen is None:
                return parts[0]
            values, inside = (np.stack([getattr(part, what) for part in parts]) for what in ("values", "inside"))
            rows = np.arange(len(chosen))
            return Secrets(values[chosen, rows], inside[chosen, rows])
        lat, lon = self._places.degrees(batch)
        if chosen is None:
            return _joined([_at(self._reporters[0], lat, lon, words, self._nearest)], [slice(None)], len(lat))
        groups = [np.flatnonzero(chosen == number) for number in range(len(self._reporters))]
        found = [
            _at(each, lat[mine], lon[mine], words, self._nearest)
            for each, mine in zip(self._reporters, groups, strict=True)
        ]
        return _joined(found, groups, len(lat))

    @property
    def _nearest(self) -> bool:
        return self._wishes.outside == "nearest"

    def _check_near(self, moved_m: Floats, too_far: NDArray[np.bool_], start: int) -> None:
        first = int(np.argmax(too_far))
        farthest = amount_at_most(float(moved_m.max()), "m")
        raise DataError(
            f"{int(too_far.sum()):,} rows are more than {amount_at_most(self._within_m, 'm')} outside (the "
            "first is "
            f"number {start + first + 1}; the farthest here is {farthest} away).",
            "check that mechanism and data belong together, and that latitude and longitude are not swapped",
            f"move them all the same with {argument('within', farthest)}",
            f"pass {argument('outside', 'drop')} to leave rows outside out",
            "design the mechanism for a wider region.",
        )

    def _refuse(self, inside: NDArray[np.bool_], rows: int, start: int) -> None:
        count, first = int((~inside).sum()), start + int(np.argmin(inside)) + 1
        of = f"{rows:,} rows" if not start else f"the rows {start + 1:,} to {start + rows:,}"
        where = (
            self._reporters[0].where if len(self._reporters) == 1 else "at any of the secrets of their mechanisms"
        )
        positionless = ", or have no position" if self._places is not None else ""
        raise DataError(
            f"{count:,} of {of} are not {where}{positionless} (the first is number {first}).",
            "check that mechanism and data belong together, and that latitude and longitude are not swapped"
            if self._places is not None
            else "",
            f"pass {argument('outside', 'nearest')} to move those on the Earth to the nearest place"
            if self._places is not None and not self._nearest and all(each.moves for each in self._reporters)
            else "",
            f"pass {argument('outside', 'drop')} to leave them out",
            f"design the mechanism for {'a wider region' if self._places is not None else 'these labels too'}.",
        )


def _is_binary(kind: Any) -> bool:
    import pyarrow as pa

    types = pa.types
    return bool(types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind))


def _by_name(mechanisms: Any, asked: Wishes) -> dict[str, Any]:
    if not isinstance(mechanisms, Mapping):
        if asked.by is not None:
            raise InputError(
                f"{argument('by', asked.by)} was given with one mechanism.",
                "pass a mapping from names to mechanisms.",
            )
        return {"": mechanisms}
    if asked.by is None:
        raise InputError(
            "several mechanisms were given, but no column that says which one is for which row.",
            f"name it with {argument('by', 'user')}.",
        )
    if not mechanisms:
        raise InputError("no mechanism was given.", "pass at least one.")
    return {str(name): mechanism for name, mechanism in mechanisms.items()}


def _one_report(each: Reporter) -> NDArray[Any]:
    """Return one report, to learn its columns; it is drawn for nobody and thrown away."""
    secret = np.zeros((0, 2)) if isinstance(each, NoiseReporter) else np.zeros(0, dtype=np.intp)
    return each.draw(secret, SystemWords())


def _at(each: Reporter, lat: Floats, lon: Floats, words: Words, nearest: bool) -> Secrets:
    blocks = [slice(at, at + BLOCK) for at in range(0, max(1, len(lat)), BLOCK)]
    found = [each.at(lat[block], lon[block], words, nearest=nearest) for block in blocks]
    return _joined(found, blocks, len(lat))


def _joined(parts: Sequence[Secrets], where: Sequence[Any], size: int) -> Secrets:
    """Return the secrets of all rows, of parts of them."""
    if len(parts) == 1 and len(parts[0].inside) == size:
        return parts[0]
    shape = (size, *parts[0].values.shape[1:])
    values, inside = np.zeros(shape, dtype=parts[0].values.dtype), np.zeros(size, dtype=bool)
    moved_m = np.zeros(size) if any(part.moved_m is not None for part in parts) else None
    for part, rows in zip(parts, where, strict=True):
        values[rows], inside[rows] = part.values, part.inside
        if moved_m is not None and part.moved_m is not None:
            moved_m[rows] = part.moved_m
    return Secrets(values, inside, moved_m)
