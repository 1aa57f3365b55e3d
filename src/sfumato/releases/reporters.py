"""Reporters: mechanisms that take batches of rows for secrets, and return columns of reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from .._system import pa, pc
from ..core import Capability, JointSpace, NumberBins, Randomizer, Recipe, Row, Space, Words, check_known
from ..core.arrays import Floats
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument
from ..geo import Hexagons, Lattice, Places, latlon_of
from ..mechanisms.planar import CoordinateNoise
from ..sampling import SystemWords
from ..tables import check_seen, find, label_column, numeric
from .uncertainty import Uncertainty

BLOCK: Final = 1 << 15
"""Rows that are drawn at a time: what they need stays in the processor's cache."""

InputKind = Literal["places", "labels", "numbers"]
Positions = NDArray[np.intp]
WIDEST: Final = 1000
"""The largest number of reports in a tuple that become columns."""

Column = Callable[[NDArray[Any]], Any]
_LOOKED_AT: Final = 200  # places
_RADIUS_M: Final = 6_371_000.0
_PLACES: Final = ("latitude", "longitude")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Secrets(CompactRepr):
    """Secrets of rows (positions, numbers or degrees), which rows have one, and metres that they were moved."""

    values: NDArray[Any]
    inside: NDArray[np.bool_]
    moved_m: Floats | None = None


class Reporter(ABC):
    """A mechanism that reports on batches of rows, with secrets in ``takes`` columns.

    With ``moves`` rows outside can be moved to the nearest place; ``rowwise`` is that of `Recipe`.
    """

    input_kind: InputKind
    takes: int = 1
    moves: bool = False
    rowwise: bool = False
    uncertainty: Uncertainty | None = None

    @property
    @abstractmethod
    def where(self) -> str:
        """The secrets in words, to follow "not"."""

    @property
    def loss_m(self) -> float:
        """Mean distance from a true place to its report, metres; NaN where reports have no place."""
        return float("nan")

    @abstractmethod
    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return a report for each secret, fresh and independent, array (n, ...)."""

    @abstractmethod
    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the Arrow columns of reports, by name, tuples as ``lists`` and labels as ``dictionaries``."""

    def all_columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the columns of reports as `columns` does, with those of uncertainty if they were asked for."""
        columns = self.columns(reports, lists=lists, dictionaries=dictionaries)
        return columns if self.uncertainty is None else self.uncertainty.add_columns(columns, reports)

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:  # noqa: ARG002
        """Return the secrets of points (degrees, NaN for none), moved with ``nearest``, rounded with ``words``."""
        raise InputError(
            f"{self!r} is not about places on the ground.",
            f"name the column that holds the secret with {argument('column', 'name')}.",
        )

    def of(self, *columns: Any) -> Secrets:  # noqa: ARG002
        """Return the secrets in Arrow columns of labels or numbers, as many as `takes` says."""
        raise InputError(f"{self!r} is for points, not for labels.", f"leave out {argument('column')}.")


class FamilyReporter(Reporter):
    """A family with a recipe of its own: a frequency oracle, or noise on whole numbers."""

    def __init__(self, drawable: Randomizer, recipe: Recipe) -> None:
        self.drawable, self._recipe, self._space = drawable, recipe, drawable.secrets
        self.takes = len(self._space.parts) if isinstance(self._space, JointSpace) else 1
        self.input_kind: InputKind = "numbers" if self._space is None else "labels"
        self.rowwise = recipe.rowwise

    @property
    def where(self) -> str:
        """The secrets in words."""
        return "whole numbers below 2**62" if self._space is None else f"among the {len(self._space):,} categories"

    def of(self, *columns: Any) -> Secrets:
        """Return the secrets of labels, or whole numbers; see `Reporter.of`."""
        if self._space is not None:
            positions = positions_in(self._space, *columns)
            return Secrets(positions, positions >= 0)
        return Secrets(*whole_numbers(columns[0]))

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return reports as the sampler draws them, array (n, ...); of a matrix positions of observables."""
        return self._recipe.draw(secrets, words)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the column ``report``, or for each number of a report one: ``report_1``, ..."""
        return split_columns({"report": lambda values: pa.array(values)}, reports, lists=lists)

    def __repr__(self) -> str:
        return repr(self.drawable)


class MatrixReporter(FamilyReporter):
    """A mechanism in integers, or a tupling of one."""

    def __init__(self, drawable: Randomizer, recipe: Recipe, row: Row) -> None:
        super().__init__(row.mechanism if recipe is row else drawable, recipe)
        self.single, self._space = row.mechanism, row.mechanism.secrets
        secrets = self.single.secrets
        self.input_kind = "places" if isinstance(secrets, Places) else "labels"
        self.moves = (
            secrets.convex_part is not None if isinstance(secrets, Lattice) else isinstance(secrets, Places)
        )
        observables = self.single.observables
        self._labels: dict[str, tuple[Any, NDArray[np.intp] | None]] = {}  # by column, as `_labels` takes them
        if isinstance(observables, JointSpace):
            check_seen(observables.names, "column")
            for name, part in zip(observables.names, observables.parts, strict=True):
                self._labels[name] = label_column(part), observables.of_part(name)
        else:
            self._labels["label"] = label_column(observables), None
        self._latlon = latlon_of(observables)

    @property
    def where(self) -> str:
        """The secrets in words."""
        noun = "places" if self.input_kind == "places" else "labels"
        return f"at any of the mechanism's {len(self.single.secrets):,} {noun}"

    @property
    def loss_m(self) -> float:
        """Mean distance from a place to its report, metres, estimated on at most 200 places."""
        places = self.single.secrets
        if not isinstance(places, Places) or self._latlon is None:
            return float("nan")
        sample = np.linspace(0, len(places) - 1, min(len(places), _LOOKED_AT)).astype(np.intp)
        weights = self.single.weights[sample].astype(np.float64)
        lat, lon = places.latlon[sample].T[:, :, None]
        apart_m = arc_m(lat, lon, *self._latlon.T[:, None, :])
        return float(np.average(apart_m, weights=weights))

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:
        """Return the secrets of points; see `Reporter.at`."""
        places = self.single.secrets
        if not isinstance(places, Places):
            raise InputError(
                f"the mechanism's secrets ({places!r}) are not cells on the ground.",
                f"name the column that holds the secret with {argument('column', 'name')}.",
            )
        moved_m = None
        if nearest:
            north, east = places.nearest(lat, lon)
            rows = np.flatnonzero(np.isfinite(north) & np.isfinite(east) & ((north != lat) | (east != lon)))
            if rows.size:
                moved_m = np.zeros(len(lat))
                moved_m[rows] = arc_m(lat[rows], lon[rows], north[rows], east[rows])
            lat, lon = north, east
        positions = places.draw_secrets(lat, lon, words.draw)
        return Secrets(positions, positions >= 0, moved_m)

    def of(self, *columns: Any) -> Secrets:
        """Return the secrets of labels; those of grids and lattices are refused, as they differ between grids."""
        if self.input_kind == "places" and not isinstance(self.single.secrets, Hexagons):
            raise InputError(
                f"the mechanism's secrets are places ({self.single.secrets!r}), and labels such as "
                f"{str(self.single.secrets.labels[0])!r} do not say where a row is.",
                f"leave out {argument('column')}, and name the columns of coordinates: {argument('lat', 'lat')}, "
                f"{argument('lon', 'lon')}.",
            )
        return super().of(*columns)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the columns ``latitude``, ``longitude`` and ``label``; see `Reporter.columns`."""
        columns: dict[str, Column] = {}
        if self._latlon is not None:
            for name, degrees in zip(_PLACES, self._latlon.T, strict=True):
                columns[name] = partial(_labels, pa.array(degrees), None, dictionaries=False)
        for name, labels in self._labels.items():
            columns[name] = partial(_labels, *labels, dictionaries=dictionaries)
        return split_columns(columns, reports, lists=lists)


class NoiseReporter(Reporter):
    """Noise for coordinates."""

    input_kind: InputKind = "places"
    moves = True

    def __init__(self, noise: CoordinateNoise) -> None:
        self.noise = noise

    @property
    def where(self) -> str:
        """The points that are served, in words."""
        return f"within {self.noise.reach_m / 1000:,.6g} km of the noise's centre"

    @property
    def loss_m(self) -> float:
        """The mean length of the noise, metres."""
        return 2 * float(self.noise.step_m / self.noise.noise.rate)

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:  # noqa: ARG002
        """Return the points themselves; see `Reporter.at`."""
        beyond = self.noise.beyond_m(lat, lon)
        away = beyond > 0
        inside = np.isfinite(beyond) & (nearest | ~away)
        points = np.column_stack([lat, lon])
        return Secrets(points, inside, np.where(inside & away, beyond, 0.0) if nearest and away.any() else None)

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return latitudes and longitudes, array (n, 2)."""
        if len(secrets) == 1:
            return np.array([self.noise.blur_point(secrets.item(0), secrets.item(1), words, nearest=True)])
        return self.noise.blur_points(secrets[:, 0], secrets[:, 1], words, nearest=True)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the columns ``latitude`` and ``longitude``."""
        return {"latitude": pa.array(reports[:, 0]), "longitude": pa.array(reports[:, 1])}

    def __repr__(self) -> str:
        return repr(self.noise)


class ColumnwiseReporter(Reporter):
    """Reporters side by side: a row has one independent report for each column, none of places."""

    input_kind: InputKind = "labels"

    def __init__(self, parts: Mapping[str, Reporter]) -> None:
        self._parts = dict(parts)
        self.takes = len(self._parts)
        self.rowwise = all(part.rowwise for part in self._parts.values())
        self._shapes = {}
        for name, part in self._parts.items():
            if part.takes != 1:
                raise InputError(f"the mechanism for {name!r} is of several columns.", "release it by itself.")
            if part.input_kind == "places":
                raise _of_places(name, part)
            draws = part.draw(np.zeros(0, dtype=np.intp), SystemWords())
            if draws.dtype.kind == "f" or set(_PLACES) & set(part.columns(draws, lists=True, dictionaries=False)):
                raise _of_places(name, part)
            self._shapes[name] = draws.shape[1:]

    @property
    def where(self) -> str:
        """The secrets in words."""
        return "; or not ".join(f"{part.where} ({name})" for name, part in self._parts.items())

    def of(self, *columns: Any) -> Secrets:
        """Return the secrets of all columns side by side, array (n, columns); inside where each of them is."""
        parts = [part.of(column) for part, column in zip(self._parts.values(), columns, strict=True)]
        return Secrets(
            np.column_stack([part.values for part in parts]), np.all([part.inside for part in parts], axis=0)
        )

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return the reports of all columns side by side, array (n, ...)."""
        rows = secrets.reshape(-1, self.takes)
        draws = [reporter.draw(part, words) for reporter, part in zip(self._parts.values(), rows.T, strict=True)]
        widths = map(_width, self._shapes.values())
        return np.column_stack([draw.reshape(len(rows), wide) for draw, wide in zip(draws, widths, strict=True)])

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return a column of the same name for each; of several numbers a list, or ``name_1``, ``name_2``, ..."""
        released: dict[str, Any] = {}
        start = 0
        for name, reporter in self._parts.items():
            shape = self._shapes[name]
            stop = start + _width(shape)
            part = np.ascontiguousarray(reports[:, start:stop]).reshape(len(reports), *shape)
            start = stop
            for other, column in reporter.columns(part, lists=lists, dictionaries=dictionaries).items():
                called = name + other.removeprefix("label").removeprefix("report")
                if called in released:
                    raise InputError(
                        f"two released columns would have the name {called!r}.",
                        f"rename one of the columns of {argument('column')} in the source.",
                    )
                released[called] = column
        return released

    def __repr__(self) -> str:
        return f"mechanisms for {', '.join(self._parts)}"


def _of_places(name: str, part: Reporter) -> InputError:
    verb = "is for" if part.input_kind == "places" else "reports"
    return InputError(f"the mechanism for {name!r} {verb} places.", "release the places by themselves.")


def _width(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape, dtype=int))


def reporter(drawable: Any) -> Reporter:
    """Return the reporter of a mechanism; `InputError` if it is for studies only, or of an unknown kind."""
    check_known(drawable)
    if drawable.supports(Capability.POINTS):
        return NoiseReporter(drawable)
    recipe = drawable.recipe()
    row = recipe.row
    return MatrixReporter(drawable, recipe, row) if isinstance(row, Row) else FamilyReporter(drawable, recipe)


def positions_in(space: Space, *columns: Any) -> Positions:
    """Return the positions of a column's values among the labels of a space, array (n,); -1 where none fits.

    Numbers may be texts. In `NumberBins` a number is in the bin that holds it. A `JointSpace` takes one Arrow
    array or chunked array for each of its columns, other spaces one. Raises `InputError` if the number of columns
    is not that of the space. Raises `DataError` if a column holds neither texts nor numbers.
    """
    parts = space.parts if isinstance(space, JointSpace) else (space,)
    if len(columns) != len(parts):
        raise InputError(
            f"{len(columns)} columns were given for secrets of {len(parts)}.",
            f"name as many with {argument('column')}.",
        )
    if isinstance(space, JointSpace):
        return space.combine([positions_in(part, column) for part, column in zip(parts, columns, strict=True)])
    column = columns[0]
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if not isinstance(space, NumberBins):
        texts = pa.types.is_string(kind) or pa.types.is_large_string(kind)
        return find(space, _numbers(column) if texts and numeric(space) else column)
    texts = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    try:
        floats = pc.cast(_numbers(column) if texts else column.cast(kind), pa.float64(), safe=False)
    except pa.ArrowException:
        raise DataError(f"a column of {kind} does not hold numbers.", "name a column of numbers.") from None
    values = np.array(pc.fill_null(floats, np.nan).to_numpy(zero_copy_only=False), dtype=np.float64)
    positions = space.positions_of(values)
    return np.where(positions < 0, find(space, column), positions) if texts else positions  # or labels of bins


def whole_numbers(column: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the whole numbers in a column, array (n,), and which rows hold one below 2**62, array (n,)."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _numbers(column)
    try:
        integers = pc.cast(column, pa.int64())
    except pa.ArrowException:
        raise DataError(
            f"a column of {column.type} does not hold whole numbers.",
            "round the answers to multiples of a unit, and count these.",
        ) from None
    known = np.array(pc.is_valid(integers).to_numpy(zero_copy_only=False), dtype=bool)
    values = np.array(pc.fill_null(integers, 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    return values, known & (np.abs(values) < 1 << 62)


def _numbers(column: Any) -> Any:
    """Return texts as whole numbers, or floats; other texts become missing."""
    text = pc.utf8_trim_whitespace(column.cast(pa.string()))
    for pattern, kind in (
        (r"^[-+]?\d{1,18}$", pa.int64()),
        (r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$", pa.float64()),
    ):
        fits = pc.fill_null(pc.match_substring_regex(text, pattern), fill_value=False)
        if pc.all(pc.or_kleene(fits, pc.is_null(text))).as_py() or kind == pa.float64():
            bare = pc.replace_substring_regex(pc.if_else(fits, text, pa.scalar(None, pa.string())), r"^\+", "")
            return pc.cast(bare, kind)
    return text


def _labels(values: Any, parts: NDArray[np.intp] | None, positions: NDArray[Any], *, dictionaries: bool) -> Any:
    """Return labels: of distinct ``values`` the one that ``parts`` (m,) gives an observable, None for its own."""
    places = positions if parts is None else parts[positions]
    indices = pa.array(places.astype(np.int32))
    if dictionaries and pa.types.is_string(values.type):
        return pa.DictionaryArray.from_arrays(indices, values)
    return values.take(indices)


def split_columns(columns: Mapping[str, Column], reports: NDArray[Any], *, lists: bool) -> dict[str, Any]:
    """Return the columns of reports (rows,) or (rows, k), by functions from numbers (n,) to an Arrow column."""
    if reports.ndim == 1:
        return {name: column(reports) for name, column in columns.items()}
    rows, width = reports.shape
    if lists:
        ends = pa.array(np.arange(rows + 1, dtype=np.int64) * width)
        return {
            name: pa.LargeListArray.from_arrays(ends, column(reports.reshape(-1)))
            for name, column in columns.items()
        }
    if width > WIDEST:
        raise InputError(
            f"a report of {width:,} numbers would need as many columns.",
            "write a Parquet or Arrow file, in which it is a list.",
        )
    return {
        f"{name}_{number}": column(np.ascontiguousarray(values))
        for number, values in enumerate(reports.T, 1)
        for name, column in columns.items()
    }


def arc_m(lat: Floats, lon: Floats, there_lat: Floats, there_lon: Floats, radius_m: float = _RADIUS_M) -> Floats:
    """Return the distances of points on a sphere, metres, array (n,): within .6 % of those on the ground."""
    north, north_there = np.radians(lat), np.radians(there_lat)
    across = np.radians(there_lon - lon)
    half = np.sin((north_there - north) / 2) ** 2 + np.cos(north) * np.cos(north_there) * np.sin(across / 2) ** 2
    arc: Floats = 2 * radius_m * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    return arc
