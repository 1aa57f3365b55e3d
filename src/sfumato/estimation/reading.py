"""Reports read from released tables, in files or in memory."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core import JointSpace, Mechanism, MechanismWithPrior, Randomizer, Space, check_known, matrix_of
from ..core.arrays import Floats
from ..errors import DataError, InputError, argument, row_value
from ..geo import Lattice, read_visits
from ..mechanisms import Tupling
from ..mechanisms.planar import Coarsening, CoordinateNoise, coarsen
from ..releases import Mark, kind_of, mark_in, read_mark
from ..rounding import plural
from ..tables import ArrowBatch, ArrowStream, FrameTable, LazyTable, check_kind, find, numeric, read_columns
from .goodness_of_fit import points_fit, reports_fit
from .reports import Reports

_LARGEST: Final = 4_000_000  # entries of a joint matrix

_VERTICES: Final = (
    "The values are vertices of a lattice. Their shares are those of the vertices that people are rounded to, at "
    "random: a person counts for several vertices, up to about twice the spacing away from their place."
)

Table = str | os.PathLike[str] | ArrowStream | ArrowBatch | LazyTable


class ReadResult(NamedTuple):
    """Reports that were read."""

    reports: Reports
    note: str = ""  # on how they fit, and what their shares are about
    remarks: tuple[str, ...] = ()  # on points that were read
    weighted: bool = False
    spread: bool = False  # whether people are taken to be spread over cells


def read_reports(
    mechanism: Mechanism,
    source: Table,
    column: str | Sequence[str] | None = None,
    *,
    weights: str | None = None,
    unmarked: bool = False,
    check_fit: bool = True,
) -> Reports:
    """Return the reports in a column of a table, such as `release` writes or returns.

    A table of another mechanism is refused by its mark: the metadata of Arrow and Parquet, ``attrs`` of pandas and
    geopandas, the small file next to a CSV. A table without one, such as a frame of Polars or DuckDB, is refused
    unless the caller vouches for it (``unmarked``), because reports of another mechanism can look alike; even then
    its reports must fit (`reports_fit`), unless ``check_fit`` is False. The source is a CSV, Parquet or Arrow file
    with one row per report, a folder of such files, or a table in memory of any kind that `release` takes. The
    column is that of the reported labels, by default ``label``; of a `JointSpace` one for each of its columns, by
    default those that it names. ``weights`` is the column of survey weights, which the release kept; see
    `Reports.at`. Raises `InputError` if there are more or fewer columns than a report has. Raises `DataError` if
    the table cannot be read, a row holds no observable of the mechanism, the table bears the mark of another
    mechanism, or has none and is not accepted or does not fit.
    """
    return _from_columns(mechanism, source, column, weights, unmarked, check_fit).reports


def _from_columns(
    mechanism: Mechanism,
    source: Table,
    column: str | Sequence[str] | None,
    weights: str | None,
    unmarked: bool,
    check_fit: bool,
) -> ReadResult:
    observables = mechanism.observables
    joint = observables if isinstance(observables, JointSpace) else None
    parts = (observables,) if joint is None else joint.parts
    usual = ("label",) if joint is None else joint.names
    names = usual if column is None else (column,) if isinstance(column, str) else tuple(column)
    if len(names) != len(parts):
        raise InputError(
            f"reports of {plural(len(parts), 'column')} are to be read, but {len(names)} were named.",
            f"name as many with {argument('column')}.",
        )
    check_kind(source)
    table, mark = _open(source, {names[0] if joint is None else None: mechanism}, unmarked=unmarked)
    positions, row_weights = _positions(table, dict(zip(names, parts, strict=True)), weights)
    reports = Reports.at(mechanism, positions[0] if joint is None else joint.combine(positions), row_weights)
    return _receive(reports, check=check_fit and mark is None, weighted=weights is not None)


def _from_tuples(tupling: Tupling, source: Table, column: str, unmarked: bool, check_fit: bool) -> ReadResult:
    """Return the tuples in lists of labels, or in the columns ``label_1``, ``label_2``, ..."""
    channel, space, size = tupling.channel(), tupling.observables, tupling.queries
    check_kind(source)
    table, mark = _open(source, {None: tupling}, unmarked=unmarked)
    present = read_columns(table, ()).column_names
    if column in present:
        lists = read_columns(table, (column,))[column].combine_chunks()
        whole = getattr(lists, "value_lengths", None)
        if whole is None or lists.null_count or any(length != size for length in whole().to_pylist()):
            raise DataError(
                f"the column {column!r} does not hold {size:,} labels in each row, as tuples of {tupling!r} do.",
                "check that table and mechanism belong together.",
            )
        tuples = find(space, lists.flatten()).reshape(-1, size)
        if (tuples < 0).any():
            raise DataError(
                f"{int((tuples < 0).any(axis=1).sum()):,} rows hold labels that the mechanism does not report.",
                f"they look like {space.labels[0]!r}; check that table and mechanism belong together.",
            )
    else:
        names = [f"{column}_{place}" for place in range(1, size + 2)]
        if not set(names[:-1]) <= set(present) or names[-1] in present:
            columns = names[0] if size == 1 else f"{names[0]} to {names[-2]}"
            raise DataError(
                f"{_title(source)} does not hold exactly the columns {columns}, as tuples of {tupling!r} do.",
                f"check that table and mechanism belong together, or name the columns with {argument('column')}.",
            )
        positions, _ = _positions(table, dict.fromkeys(names[:-1], space))
        tuples = np.column_stack(positions)
    labels = (tuple(space.labels[index] for index in row) for row in np.sort(tuples, axis=1).tolist())
    return _receive(Reports.of(channel, labels), check=check_fit and mark is None)


def _from_several(
    mechanisms: Mapping[str, Mechanism], source: Table, weights: str | None, unmarked: bool, check_fit: bool
) -> ReadResult:
    """Return the reports of columns as those of one joint mechanism, the product of the columns' channels."""
    size = prod(mechanism.weights.size for mechanism in mechanisms.values())
    if size > _LARGEST:
        raise InputError(
            f"the columns have {size:,} combinations of true values and reports, more than {_LARGEST:,}.",
            "estimate fewer columns together, or each by itself.",
        )
    secrets, observables = (
        JointSpace({name: getattr(mechanism, side) for name, mechanism in mechanisms.items()})
        for side in ("secrets", "observables")
    )
    check_kind(source)
    table, mark = _open(source, mechanisms, unmarked=unmarked)
    spaces = {name: mechanism.observables for name, mechanism in mechanisms.items()}
    positions, row_weights = _positions(table, spaces, weights)
    matrix: Any = np.ones((1, 1))
    for mechanism in mechanisms.values():
        matrix = np.kron(matrix, mechanism.matrix)
    reports = Reports.at(Mechanism(matrix, secrets, observables), observables.combine(positions), row_weights)
    return _receive(reports, check=check_fit and mark is None, weighted=weights is not None)


def _from_points(
    coarse: Coarsening, source: Table, unmarked: bool, check_fit: bool, skip_damaged: bool = False
) -> ReadResult:
    table, mark = _open(source, {None: coarse.noise}, unmarked=unmarked)
    points, note = read_visits(table, skip_damaged=skip_damaged), coarse.sentence
    if check_fit and mark is None:
        fit = points_fit(coarse.noise, points.lat, points.lon)
        fit.check()
        note = f"{fit.sentence} {note}"
    reports = Reports.at(coarse.mechanism, coarse.positions(points.lat, points.lon))
    return ReadResult(reports, note, points.notes, spread=coarse.spread)


def read_released(
    mechanism: Randomizer | MechanismWithPrior | Coarsening | Mapping[str, Mechanism],
    source: Table | Sequence[Hashable] | NDArray[Any],
    column: str | Sequence[str] | None = None,
    *,
    weights: str | None = None,
    unmarked: bool = False,
    check_fit: bool = True,
    skip_damaged: bool = False,
) -> ReadResult:
    """Return the reports that a mechanism of any kind drew, from a table or a list of labels; see `estimate`.

    Tuples are lists in the column, or the columns ``label_1``, ``label_2``, ... A `Coarsening` says on which cells
    noise for coordinates is seen.
    """
    target: Any = mechanism
    prior = None
    if not isinstance(target, Randomizer | Coarsening | Mapping):
        target, prior = target.mechanism, target.prior
    if isinstance(target, CoordinateNoise):
        cells = None if prior is None else prior.space
        target = coarsen(target, cells, spread=True)
    labels = source.tolist() if isinstance(source, np.ndarray) else source
    if isinstance(target, Coarsening):
        for name, option in (("column", column), ("weights", weights)):
            if option:
                raise InputError(
                    f"{argument(name)} was given, but reports of noise are unweighted points.", "leave it out."
                )
        return _from_points(target, source, unmarked, check_fit, skip_damaged)  # type: ignore[arg-type]
    if isinstance(target, Mapping):
        return _from_several(target, source, weights, unmarked, check_fit)  # type: ignore[arg-type]
    if isinstance(labels, list | tuple):
        collection = _receive(Reports.of(target, labels), check=check_fit)
    elif isinstance(target, Tupling):
        if weights is not None:
            raise InputError(f"{argument('weights')} was given, but tuples are not weighted.", "leave it out.")
        names = (column,) if isinstance(column, str) else tuple(column or ("label",))
        if len(names) > 1:
            raise InputError(
                f"{argument('column')} was given several times, but tuples have one name.",
                f"give it once: {argument('column', 'label')} reads label_1, label_2 and so on.",
            )
        collection = _from_tuples(target, source, names[0], unmarked, check_fit)  # type: ignore[arg-type]
    else:
        matrix = matrix_of(target)
        collection = _from_columns(matrix, source, column, weights, unmarked, check_fit)  # type: ignore[arg-type]
    if isinstance(collection.reports.mechanism.secrets, Lattice):
        collection = collection._replace(note=f"{collection.note} {_VERTICES}".lstrip())
    return collection


def check_mark(mechanism: Randomizer, source: Table, column: str | None = None, *, unmarked: bool = False) -> bool:
    """Refuse a table that `release` did not draw from a mechanism; return whether it bears the mark of this one.

    Name the column of the reports where columns may have mechanisms of their own. ``unmarked`` accepts a table
    without a mark. Raises `DataError` if it bears the mark of another one, or has none and is not accepted.
    """
    check_known(mechanism)
    mark = _mark(source, {})
    _check(mark, mechanism, source, column, unmarked=unmarked)
    return mark is not None


def _check(mark: Mark | None, mechanism: Randomizer, source: Table, column: str | None, *, unmarked: bool) -> None:
    if mark is not None:
        mark.check(mechanism, _title(source), column)
    elif not unmarked and (not isinstance(source, str | os.PathLike) or os.path.exists(source)):
        # Reading a file that does not exist has an error of its own.
        raise DataError(
            f"{_title(source)} has no mark of the mechanism that drew its reports, and those of another one can "
            "look just like them.",
            "give the table as it was released, a CSV with the small file next to it",
            f"pass {argument('unmarked', True)} if you know that this mechanism drew them.",
        )


def _positions(
    table: Any, spaces: Mapping[str, Space], weights: str | None = None
) -> tuple[list[NDArray[np.intp]], Floats | None]:
    """Return the positions of the reports in columns, arrays (rows,), and their weights, if they have any."""
    texts = tuple(name for name, space in spaces.items() if not numeric(space))
    if weights in spaces:
        raise InputError(f"the column {weights!r} holds the reports.", f"name another with {argument('weights')}.")
    options = {} if weights is None else {weights: "weights"}
    columns = read_columns(table, [*spaces, *options], as_text=texts, option=options)
    every = [find(space, columns[name]) for name, space in spaces.items()]
    for (name, space), positions in zip(spaces.items(), every, strict=True):
        unknown = positions < 0
        if unknown.any():
            of, first = "" if len(spaces) == 1 else f" in {name!r}", int(unknown.argmax())
            raise DataError(
                f"{int(unknown.sum()):,} of {len(positions):,} rows do not hold any of the mechanism's observables"
                f"{of} (the first is number {first + 1}{row_value(f': {columns[name][first]}', '')}).",
                f"they look like {space.labels[0]!r}; check that table and mechanism belong together.",
            )
    return every, None if weights is None else _weights(columns[weights], weights)


def _weights(column: Any, name: str) -> Floats:
    import pyarrow as pa

    if column.null_count:
        first = column.is_null().to_pylist().index(True) + 1
        verb = "is" if column.null_count == 1 else "are"
        raise DataError(
            f"{plural(column.null_count, 'weight')} in {name!r} {verb} missing "
            f"(the first is that of row {first}).",
            "give every report a weight; 0 leaves it out.",
        )
    try:
        return np.asarray(column.cast(pa.float64()).to_numpy(), dtype=np.float64)
    except pa.ArrowException:
        raise DataError(
            f"the column {name!r} holds no numbers.",
            f"name the column of the survey's weights: {argument('weights')}.",
        ) from None


def _receive(reports: Reports, *, check: bool, weighted: bool = False) -> ReadResult:
    if not check:
        return ReadResult(reports, weighted=weighted)
    fit = reports_fit(reports)
    fit.check()
    return ReadResult(reports, fit.sentence, weighted=weighted)


def _open(source: Table, mechanisms: Mapping[Any, Randomizer], *, unmarked: bool) -> tuple[Any, Mark | None]:
    """Return an object to read columns from, and its mark, which is checked; a table in memory is read once."""
    table: Any = source
    metadata: Mapping[bytes, bytes] = {}
    if not isinstance(source, str | os.PathLike):
        frame = FrameTable(kind_of(source).arrow())
        table, metadata = frame.load(), frame.schema.metadata or {}
    mark = _mark(source, metadata)
    for column, mechanism in mechanisms.items():
        _check(mark, mechanism, source, column, unmarked=unmarked)
    return table, mark


def _mark(source: Table, metadata: Mapping[bytes, bytes]) -> Mark | None:
    if isinstance(source, str | os.PathLike):
        return read_mark(Path(source)) if os.path.exists(source) else None
    attributes = getattr(source, "attrs", None)
    text = attributes.get("sfumato") if isinstance(attributes, Mapping) else None
    if isinstance(text, str):
        return Mark.from_text(text, _title(source))
    if not metadata and not isinstance(source, LazyTable):
        metadata = getattr(getattr(source, "schema", None), "metadata", None) or {}
    return mark_in(metadata, _title(source))


def _title(source: Table) -> str:
    return repr(Path(source).name) if isinstance(source, str | os.PathLike) else "the table"
