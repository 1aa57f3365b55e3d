"""Kernel of every release: from a batch of true rows to a batch of private rows, on any engine."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from .._system import pa
from ..core import Words, units
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument, row_value
from ..geo import PlaceColumns
from ..rounding import amount_at_most, plural
from ..sampling import SystemWords
from ..tables import as_texts, holds_names, no_column
from .kept_columns.positions import refuse_locating_columns
from .kept_columns.private_schema import KeptColumns, copy_rows, name_for_place, private_schema
from .options import ReleaseOptions, first_place, input_kind_of, name_mechanisms
from .reporters import BLOCK, ColumnwiseReporter, MatrixReporter, NoiseReporter, Reporter, Secrets, reporter
from .uncertainty import Uncertainty, prior_words

Numbers = NDArray[np.intp] | None
_FAR: Final = 20.0  # times as far as is allowed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LocatedBatch(CompactRepr):
    """A batch before a report is drawn; other fields are those of `PrivateBatch`.

    ``rows`` (k,) are positions of rows that have a report; ``values`` (places, k, ...) are their secrets;
    ``numbers`` (k,) is the number of each row's mechanism.
    """

    batch: Any
    rows: NDArray[np.intp]
    values: NDArray[Any]
    numbers: NDArray[np.intp] | None
    moved: int
    farthest_m: float
    without_position: int = 0

    @property
    def dropped(self) -> int:
        """The number of rows that are left out."""
        return int(self.batch.num_rows - len(self.rows))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateBatch(CompactRepr):
    """A batch of private rows, and counts of the true rows.

    ``rows`` are positions of the true rows that have a report, array (k,), rising; None if unknown. ``farthest_m``
    is the largest distance of a move, and ``without_position`` counts dropped rows that have none.
    """

    batch: Any
    dropped: int
    moved: int
    farthest_m: float
    rows: NDArray[np.intp] | None = None
    without_position: int = 0


class Kernel:
    """Draws a private batch for each batch of true rows, from the integers of one mechanism or several.

    Rows keep their number and order, except for dropped ones. The output shares no memory, dictionary, statistics
    or metadata with the input. Several ``mechanisms`` have names: those in the column ``options.by``, or else
    those of the columns ``options.column``. ``schema`` is the Arrow schema of the true rows, and ``name`` the
    table's in messages. With ``comma`` numbers in texts may be written ``48,85``. Raises `InputError` if the
    options do not fit the mechanisms. Raises `DataError` if a column is missing.

    Attributes:
        drawables: The mechanisms, by name; a single one has the name ``""``.
        schema: The Arrow schema of the private rows.
        needs: Columns of the source that are read.
        drawn_from: Columns that a row's report depends on.
        rowwise: Whether reports for many rows take the same words as those for each row alone.
        columnwise: Whether each column has its own mechanism, and every row a report of each.
        places: Number of places of a row that have a report: one, and one for each pair in ``options.also``.
        kept_columns: Columns that are carried over, and those that are left out.
        secret: Columns that hold the secret, or the time.
        drop_hint: How to leave out rows outside, for messages, where no argument of the release does it.
        notes: Assumptions about the source, and after each batch what kept columns reveal.
    """

    def __init__(
        self,
        mechanisms: Any,
        schema: Any,
        options: ReleaseOptions | None = None,
        *,
        name: str = "the table",
        comma: bool = False,
    ) -> None:
        options = options or ReleaseOptions()
        self.drawables = name_mechanisms(mechanisms, options)
        self.columnwise = isinstance(mechanisms, Mapping) and options.by is None
        self._reporters = [reporter(drawable) for drawable in self.drawables.values()]
        if self.columnwise:
            self._reporters = [ColumnwiseReporter(dict(zip(self.drawables, self._reporters, strict=True)))]
        self._numbers = {name: number for number, name in enumerate(self.drawables)}
        self.options, self.drop_hint = options, ""
        self._within_m = units.length_m(options.within, "the distance")
        if not self._within_m >= 0:
            raise InputError(f"a distance of {options.within} is negative.", "use a length such as '1 km'.")
        of_places = input_kind_of(self._reporters, options) == "places"
        radii = self._add_uncertainty() if options.uncertainty or options.darwin_core else ()
        first = first_place(schema, options, name, comma=comma) if of_places else None
        self._places: tuple[PlaceColumns, ...] = ()
        if first is not None:
            other_roles = (replace(first.roles, lat=lat, lon=lon, geometry=None) for lat, lon in options.also)
            self._places = (first, *(replace(first, roles=roles, hint=argument("also")) for roles in other_roles))
        self.places, self.of_places = max(1, len(self._places)), of_places
        self.notes = (*radii, *(() if first is None else first.notes))
        if self.places > 1:
            called = " and ".join(map(self._of_place, range(self.places)))
            self.notes += (
                f"each row has {self.places} reports, by {called}, drawn independently: all of them count",
            )
        roles = None if first is None else first.roles
        self.user = options.user if roles is None else roles.user
        self.people = options.people
        if options.people == "column" and self.user is None:
            raise DataError(
                f"{name} has no column of users.",
                f"name it with {argument('release.user', 'column')}",
                f"state that all rows are one person's with {argument('people', 'one')}.",
            )
        for option, column in (
            *(("column", column) for column in options.columns),
            ("by", options.by),
            ("release.user", self.user),
        ):
            if column is not None and column not in schema.names:
                raise no_column(schema.names, column, option, name)
        for role in (options.by, self.user):
            if role is not None and not holds_names(schema.field(role).type):
                raise DataError(
                    f"the column {role!r} of {name} is of {schema.field(role).type}, which holds no names.",
                    "name a column of texts or numbers.",
                )
        position = () if roles is None else (roles.lat, roles.lon, roles.geometry)
        secret = (*options.columns, *position, *chain(*options.also))
        self._time = time = None if roles is None else roles.time
        self.kept_columns = KeptColumns.of(schema.names, options.keep, secret, {"user": self.user, "time": time})
        if roles is not None and roles.datum in self.kept_columns.sources.values():
            raise InputError(
                f"the column {roles.datum!r} states the coordinate system of the source; reports are in WGS84.",
                f"leave it out of {argument('keep')}.",
            )
        self.secret = frozenset(column for column in (*secret, time) if column is not None)
        sources = (*chain(*(place.position for place in self._places)), *options.columns, options.by)
        self.drawn_from = tuple(dict.fromkeys(source for source in sources if source is not None))
        self.rowwise = all(reporter.rowwise for reporter in self._reporters)
        self.needs = tuple(dict.fromkeys((*self.drawn_from, *self.kept_columns.sources.values())))
        self.schema = private_schema(self._reporters, self.kept_columns, schema, options.also, lists=options.lists)
        if len({type(reporter) for reporter in self._reporters}) > 1 and of_places:
            self.notes += ("reports have no labels, because some of the mechanisms have none",)

    def _add_uncertainty(self) -> tuple[str, ...]:
        """Give every reporter its error radii, and return them in sentences; the largest of several mechanisms."""
        options = self.options
        moved_m = self._within_m if options.outside == "nearest" else 0.0
        name, prior = options.prior or ("", None)
        radii = []
        for part, drawable in zip(self._reporters, self.drawables.values(), strict=True):
            uncertainty = Uncertainty.of(drawable, prior, moved_m=moved_m, darwin_core=options.darwin_core)
            part.uncertainty = uncertainty
            radii.append(uncertainty)
        largest = max(radii, key=lambda uncertainty: uncertainty.radius_m)
        return (largest.sentence, prior_words(name)) if name else (largest.sentence,)

    def release(self, batch: Any, words: Words | None = None, *, start: int = 0) -> PrivateBatch:
        """Return the private rows of a batch with the columns in `needs`.

        ``words`` is the source of randomness, by default the operating system's; ``start`` rows come before the
        batch. Raises `DataError` if a row is outside, and this is refused. Raises `InputError` if a kept column
        locates the rows.
        """
        source = words or SystemWords()
        located = self.locate_or_refuse(batch, source, start=start)
        return self.assemble(located, self.draw(located, source))

    def locate_or_refuse(self, batch: Any, words: Words, *, start: int = 0) -> LocatedBatch:
        """Return the secrets of a batch, points on lattices rounded at random with ``words``; see `release`."""
        of_row = self._numbers_of(batch, start)
        secrets_of_places: list[tuple[Secrets, tuple[Floats, Floats] | None]]
        if self._places:
            nearest, secrets_of_places = self.options.outside == "nearest", []
            for there in (place.degrees(batch, start=start) for place in self._places):
                secrets = secrets_at(self._reporters, *there, of_row, words, nearest=nearest)
                secrets_of_places.append((secrets, there))
        else:
            columns = [batch.column(name) for name in self.options.columns]
            parts = [reporter.of(*columns) for reporter in self._reporters]
            secrets = parts[0]
            if of_row is not None:
                values, inside = (
                    np.stack([getattr(part, name) for part in parts]) for name in ("values", "inside")
                )
                secrets = Secrets(values[of_row, np.arange(len(of_row))], inside[of_row, np.arange(len(of_row))])
            secrets_of_places = [(secrets, None)]
        moved_m = np.zeros(batch.num_rows)
        missing = np.zeros(batch.num_rows, dtype=np.bool_)
        for place, (secrets, at) in enumerate(secrets_of_places):
            if at is not None:
                # Times are not tested. A user stays near their own places, so there only positions are looked for.
                table = {
                    name: batch.column(name) for name in self.kept_columns.sources.values() if name != self._time
                }
                loss_m = float(np.mean([reporter.loss_m for reporter in self._reporters]))
                lat = np.where(secrets.inside, at[0], np.nan)
                notes = refuse_locating_columns(table, lat, at[1], loss_m, users=self.user)
                self.notes = tuple(dict.fromkeys((*self.notes, *notes)))
                missing |= ~(secrets.inside | np.isfinite(at[0] + at[1]))
            by = f"by {self._of_place(place)} " if self.places > 1 else ""
            if secrets.moved_m is not None:
                self._refuse_far(secrets.moved_m, secrets.inside, start, by)
                moved_m = np.maximum(moved_m, secrets.moved_m)
            if not secrets.inside.all() and self.options.outside != "drop":
                raise self._outside_error(batch, secrets.inside, at, of_row, start, by)
        inside = np.all([secrets.inside for secrets, _ in secrets_of_places], axis=0)
        rows = np.flatnonzero(inside)
        values = np.stack([secrets.values for secrets, _ in secrets_of_places])
        moves_m = moved_m[rows]
        return LocatedBatch(
            batch,
            rows,
            values if len(rows) == len(inside) else values[:, rows],
            of_row if of_row is None else of_row[rows],
            int(np.count_nonzero(moves_m)),
            float(moves_m.max(initial=0.0)),
            int(np.count_nonzero(missing)),
        )

    def _of_place(self, place: int) -> str:
        """Return the columns of a place of each row, for messages."""
        roles = self._places[place].roles
        return repr(roles.geometry) if roles.geometry is not None else f"{roles.lat!r}, {roles.lon!r}"

    def _refuse_far(self, moved_m: Floats, inside: NDArray[np.bool_], start: int, by: str) -> None:
        """Refuse rows that were moved too far; ``by`` names the columns of their place, if rows have several."""
        too_far = inside & (moved_m > self._within_m)
        if not too_far.any():
            return
        count, first = int(too_far.sum()), int(np.argmax(too_far))
        farthest = amount_at_most(float(moved_m.max()), "m")
        far = float(moved_m.max()) > _FAR * self._within_m  # probably no slip at a border
        raise DataError(
            f"{plural(count, 'row')} {_are(count)} more than {amount_at_most(self._within_m, 'm')} outside "
            f"{by}(the first is number {start + first + 1}; the farthest up to number {start + len(moved_m):,} is "
            f"{farthest} away).",
            "check that mechanism and data belong together, and that latitude and longitude are not swapped",
            f"move them anyway with {argument('within', farthest)}" if not far else "",
            self.drop_hint or f"pass {argument('outside', 'drop')} to leave rows outside out",
            "design the mechanism for a wider region.",
        )

    def _outside_error(
        self,
        batch: Any,
        inside: NDArray[np.bool_],
        at: tuple[Floats, Floats] | None,
        numbers: Numbers,
        start: int,
        by: str,
    ) -> DataError:
        """Return the error of rows outside, at least one, with what can be done; ``by`` names their columns."""
        rows, count, first = len(inside), int((~inside).sum()), start + int(np.argmin(inside)) + 1
        single = self.single
        where = "at any of the secrets of their mechanisms" if single is None else single.where
        drop = self.drop_hint or f"pass {argument('outside', 'drop')} to leave them out"
        of = f"{count:,} of {f'{rows:,} rows' if not start else f'the rows {start + 1:,} to {start + rows:,}'}"
        number = f"{by}(the first is number {first})"
        if at is None:
            return DataError(
                f"{of} {_are(count)} not {where} {number}.",
                self._spelling(batch, inside) or "correct the label, or give missing answers a label of their own",
                drop,
                "design the mechanism for these labels too.",
            )
        lat, lon = at
        known = np.isfinite(lat) & np.isfinite(lon)
        missing = int((~inside & ~known).sum())
        if missing == count:
            return DataError(
                f"{of} {'has' if count == 1 else 'have'} no position {number}.",
                drop,
                "leave rows without a position out of the source: they cannot be moved.",
            )
        without = f"; {missing:,} of these have no position" if missing else ""
        alien = ~inside & known & ((np.abs(lat) > 90) | (np.abs(lon) > 360))
        if alien.any():
            return DataError(
                f"{of} {_are(count)} not {where} {number}{without}. The latitude and longitude of number "
                f"{start + int(np.argmax(alien)) + 1} are no degrees.",
                "convert metres or feet of a map to degrees of WGS84 first, as pyproj and geopandas do",
                drop,
            )
        moves = self.options.outside != "nearest" and all(reporter.moves for reporter in self._reporters)
        nearest = f"pass {argument('outside', 'nearest')} to move those on the Earth to the nearest place"
        return DataError(
            f"{of} {_are(count)} not {where} {number}{without}.",
            _swap_hint(self._reporters, lat[~inside], lon[~inside], None if numbers is None else numbers[~inside])
            or "check that mechanism and data belong together, and that latitude and longitude are not swapped",
            nearest if moves else "",
            drop,
            "design the mechanism for a wider region.",
        )

    def _spelling(self, batch: Any, inside: NDArray[np.bool_]) -> str:
        """Return a hint, without the value, if one differs from a label only in capitals, blanks or accents."""
        if len(self.options.columns) != 1 or not isinstance(self.single, MatrixReporter):
            return ""
        values = batch.column(self.options.columns[0]).filter(~inside).to_pylist()
        known = {_fold_case(label) for label in self.single.single.secrets.labels if isinstance(label, str)}
        if not any(isinstance(value, str) and _fold_case(value) in known for value in values):
            return ""
        return "correct the label: one differs only in its capitals, blanks or the form of its accents"

    def draw(
        self, located: LocatedBatch, words: Words, subset: NDArray[np.intp] | None = None
    ) -> list[tuple[Reporter, NDArray[np.intp], NDArray[Any]]]:
        """Return fresh reports (places, rows, ...) for each mechanism, with the located rows that they are for.

        All rows draw their first place before any second one. ``subset`` limits the draw to some rows, array (j,).
        """
        positions = np.arange(len(located.rows)) if subset is None else subset
        draws = []
        groups = [(0, positions)]
        if located.numbers is not None:
            groups = [(number, positions[rows]) for number, rows in group_positions(located.numbers[positions])]
        for number, members in groups:
            reporter, reports = self._reporters[number], []
            for secrets in located.values:
                values = secrets if members.size == len(secrets) else secrets[members]
                if located.numbers is not None and values.ndim == 2 and not isinstance(reporter, NoiseReporter):
                    values = values[:, 0].astype(np.intp)  # positions, next to the points of noise
                parts = [
                    reporter.draw(values[at : at + BLOCK], words) for at in range(0, max(1, len(values)), BLOCK)
                ]
                reports.append(np.concatenate(parts))
            draws.append((reporter, members, np.stack(reports)))
        return draws

    def assemble(
        self, located: LocatedBatch, draws: Sequence[tuple[Reporter, NDArray[np.intp], Any]]
    ) -> PrivateBatch:
        """Return the private rows, made of the reports that `draw` returned."""
        groups = [self._columns(reporter, reports) for reporter, _, reports in draws]
        columns = groups[0] if groups else {field.name: pa.array([], field.type) for field in self.schema}
        if len(groups) > 1:
            order = pa.array(np.argsort(np.concatenate([members for _, members, _ in draws])))
            for name in (name for name in self.schema.names if name not in self.kept_columns.sources):
                columns[name] = pa.concat_arrays([group[name] for group in groups]).take(order)
        for name, column in self.kept_columns.sources.items():
            columns[name] = copy_rows(located.batch.column(column), name, located.rows)
        arrays = [columns[name] for name in self.schema.names]
        return PrivateBatch(
            pa.RecordBatch.from_arrays(arrays, schema=self.schema),
            located.dropped,
            located.moved,
            located.farthest_m,
            located.rows,
            located.without_position,
        )

    @property
    def single(self) -> Reporter | None:
        """The one mechanism, made ready; None where there are several."""
        return self._reporters[0] if len(self._reporters) == 1 else None

    def groups(self, batch: Any) -> list[NDArray[np.intp]]:
        """Return the positions of each mechanism's rows; of all rows where there is one mechanism."""
        numbers = self._numbers_of(batch, 0)
        if numbers is None:
            return [np.arange(batch.num_rows)]
        return [rows for _, rows in group_positions(numbers)]

    def degrees(self, batch: Any) -> tuple[Floats, Floats]:
        """Return the latitudes and longitudes of the rows' first places, arrays (n,), degrees, NaN for none."""
        if not self._places:
            return np.full(batch.num_rows, np.nan), np.full(batch.num_rows, np.nan)
        return self._places[0].degrees(batch)

    def _columns(self, reporter: Reporter, reports: NDArray[Any]) -> dict[str, Any]:
        how: Any = {"lists": self.options.lists, "dictionaries": len(self._reporters) == 1}
        columns = reporter.all_columns(reports[0], **how)
        for pair, draws in zip(self.options.also, reports[1:], strict=True):
            columns |= {
                name_for_place(name, pair): column for name, column in reporter.all_columns(draws, **how).items()
            }
        return columns

    def _numbers_of(self, batch: Any, start: int) -> NDArray[np.intp] | None:
        if self.options.by is None:
            return None
        encoded = as_texts(batch.column(self.options.by), self.options.by).dictionary_encode()
        names = encoded.dictionary.to_pylist()
        numbers = np.array([self._numbers.get(name, -1) for name in names] + [-1], dtype=np.intp)
        of_row: NDArray[np.intp] = numbers[encoded.indices.fill_null(len(names)).to_numpy(zero_copy_only=False)]
        if (of_row < 0).any():
            first, few = int(np.argmax(of_row < 0)), list(self.drawables)[:8]
            mention = row_value(f"the mechanism {batch.column(self.options.by)[first].as_py()!r},", "a mechanism")
            raise DataError(
                f"row {start + first + 1} names {mention} which is not among those given.",
                "leave out the rows that no mechanism is for, or give one",
                f"the mechanisms are {', '.join(few)}{' ...' if len(few) < len(self.drawables) else ''}.",
            )
        return of_row


def secrets_at(
    reporters: Sequence[Reporter], lat: Floats, lon: Floats, numbers: Numbers, words: Words, *, nearest: bool
) -> Secrets:
    """Return the secrets of points (degrees, NaN for none), rounded to vertices with ``words``."""
    where = (group_positions(numbers) if numbers is not None else None) or [(0, np.arange(len(lat)))]
    blocks = [(k, rows[at : at + BLOCK]) for k, rows in where for at in range(0, max(1, len(rows)), BLOCK)]
    parts = [reporters[k].at(lat[rows], lon[rows], words, nearest=nearest) for k, rows in blocks]
    return _join(parts, [rows for _, rows in blocks], len(lat))


def group_positions(numbers: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return each number that occurs and its positions, in rising order of numbers."""
    order = np.argsort(numbers, kind="stable")
    distinct, starts = np.unique(numbers[order], return_index=True)
    return list(zip(distinct.tolist(), np.split(order, starts[1:]), strict=True)) if len(numbers) else []


def _join(parts: Sequence[Secrets], where: Sequence[Any], size: int) -> Secrets:
    if len(parts) == 1 and len(parts[0].inside) == size:
        return parts[0]
    pairs = any(part.values.ndim == 2 for part in parts)  # noise has points, lattices have positions
    kind = np.result_type(*(part.values.dtype for part in parts))
    values, inside = np.zeros((size, 2) if pairs else size, dtype=kind), np.zeros(size, dtype=bool)
    moved_m = np.zeros(size) if any(part.moved_m is not None for part in parts) else None
    for part, rows in zip(parts, where, strict=True):
        if pairs and part.values.ndim == 1:
            values[rows, 0] = part.values
        else:
            values[rows] = part.values
        inside[rows] = part.inside
        if moved_m is not None and part.moved_m is not None:
            moved_m[rows] = part.moved_m
    return Secrets(values, inside, moved_m)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _swap_hint(reporters: Sequence[Reporter], lat: Floats, lon: Floats, numbers: Numbers) -> str:
    """Return a hint if all points outside would be inside with their coordinates exchanged."""
    known = np.isfinite(lat) & np.isfinite(lon) & (np.abs(lon) <= 90)
    if not known.all():
        return ""
    exchanged = secrets_at(reporters, lon, lat, numbers, SystemWords(), nearest=False).inside.all()
    swapped = "see whether latitude and longitude are swapped: exchanged, these rows are inside"
    return swapped if exchanged else ""


def _fold_case(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
