"""Mechanisms made ready for batches: rows of a table become secrets, and secrets become columns of reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from ..core import Mechanism, Space
from ..core.arrays import Floats
from ..core.frozen import Short
from ..errors import DataError, InputError, argument, python
from ..geo import Lattice, Places
from ..mechanisms.family import FrequencyOracle, MechanismFamily
from ..mechanisms.planar import CoordinateNoise
from ..mechanisms.tupling import Tupling
from ..sampling import Drawable, PointRecipe, Recipe, Row, Sampler, Words
from ..tables import find, label_column, numeric
from .columns import latlon_of, listed, report_columns

BLOCK: Final = 1 << 15
"""Rows that are drawn at a time: what they need stays in the processor's cache."""

_RADIUS_M: Final = 6_371_000.0

Given = Literal["places", "labels", "numbers"]
Positions = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Secrets(Short):
    """The secrets that rows are taken for.

    Attributes:
        values: Positions of secrets, or whole numbers, array (n,); for noise on coordinates degrees, array (n, 2).
        inside: Which rows have one, array (n,).
        moved_m: How far each was moved to be inside, metres, array (n,); None where none was.
    """

    values: NDArray[Any]
    inside: NDArray[np.bool_]
    moved_m: Floats | None = None


class Reporter(ABC):
    """One mechanism, ready to report on batches of rows.

    Attributes:
        given: What a row's secret is read from: a place, a label or a whole number.
        moves: Whether rows outside can be moved to the nearest place.
    """

    given: Given
    moves: bool = False

    @property
    @abstractmethod
    def where(self) -> str:
        """The secrets in words, as they follow "not"."""

    @abstractmethod
    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return a report for each secret, fresh and independent, array (n, ...)."""

    @abstractmethod
    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the Arrow columns of reports, by name.

        Args:
            reports: As `draw` returns them.
            lists: Whether a report of several numbers becomes a list, or as many columns.
            dictionaries: Whether labels may refer to a dictionary of all labels of the mechanism.
        """

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:  # noqa: ARG002
        """Return the secrets of points on the ground.

        Args:
            lat: Degrees, array (n,); NaN where a row has no position.
            lon: Likewise.
            words: Where the randomness comes from that rounds points to vertices.
            nearest: Whether points outside are moved first.

        Raises:
            InputError: If the mechanism is not one of places, or points cannot be moved.
        """
        raise InputError(
            f"{self!r} is not about places on the ground.",
            f"name the column that holds the secret with {argument('column', 'name')}.",
        )

    def of(self, column: Any) -> Secrets:  # noqa: ARG002
        """Return the secrets in an Arrow column of labels or numbers.

        Raises:
            DataError: If the column holds neither.
        """
        raise InputError(f"{self!r} is for points, not for labels.", f"leave out {argument('column')}.")


class MatrixReporter(Reporter):
    """A mechanism in integers, or a tupling of one."""

    def __init__(self, drawable: Mechanism | Tupling) -> None:
        self.drawable = drawable
        self.single = drawable.inner if isinstance(drawable, Tupling) else drawable
        self._recipe: Recipe = Row(drawable) if isinstance(drawable, Mechanism) else drawable.recipe()
        secrets = self.single.secrets
        self.given: Given = "places" if isinstance(secrets, Places) else "labels"
        self.moves = (
            secrets.convex_part is not None if isinstance(secrets, Lattice) else isinstance(secrets, Places)
        )
        observables = self.single.observables
        self._labels = label_column(observables)
        self._latlon = latlon_of(observables)

    @property
    def where(self) -> str:
        """The secrets in words."""
        return f"at any of the mechanism's {len(self.single.secrets):,} secrets"

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
            moved = np.flatnonzero(np.isfinite(north) & np.isfinite(east) & ((north != lat) | (east != lon)))
            if moved.size:
                moved_m = np.zeros(len(lat))
                moved_m[moved] = _apart_m(lat[moved], lon[moved], north[moved], east[moved])
            lat, lon = north, east
        positions = places.drawn(lat, lon, words.draw)
        return Secrets(positions, positions >= 0, moved_m)

    def of(self, column: Any) -> Secrets:
        """Return the secrets of labels; see `Reporter.of`."""
        positions = _found(self.single.secrets, column)
        return Secrets(positions, positions >= 0)

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return positions of observables, array (n,), of a tupling (n, k + 1)."""
        return self._recipe.draw(secrets, words)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:
        """Return the columns ``latitude``, ``longitude`` and ``label``; see `Reporter.columns`."""
        return report_columns(self._labels, self._latlon, reports, lists=lists, dictionaries=dictionaries)

    def __repr__(self) -> str:
        return repr(self.drawable)


class NoiseReporter(Reporter):
    """Noise for coordinates."""

    given: Given = "places"
    moves = True

    def __init__(self, noise: CoordinateNoise) -> None:
        self.noise = noise

    @property
    def where(self) -> str:
        """The points that are served, in words."""
        return f"within {self.noise.reach_m / 1000:,.6g} km of the noise's centre"

    def at(self, lat: Floats, lon: Floats, words: Words, *, nearest: bool) -> Secrets:  # noqa: ARG002
        """Return the points themselves; see `Reporter.at`."""
        beyond = self.noise.beyond_m(lat, lon)
        moved = beyond > 0
        inside = np.isfinite(beyond) & (nearest | ~moved)
        points = np.column_stack([lat, lon])
        return Secrets(points, inside, np.where(inside & moved, beyond, 0.0) if nearest and moved.any() else None)

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return latitudes and longitudes, array (n, 2)."""
        return self.noise.blurred(secrets[:, 0], secrets[:, 1], words, nearest=True)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the columns ``latitude`` and ``longitude``."""
        import pyarrow as pa

        return {"latitude": pa.array(reports[:, 0]), "longitude": pa.array(reports[:, 1])}

    def __repr__(self) -> str:
        return repr(self.noise)


class FamilyReporter(Reporter):
    """A family with a recipe of its own: a frequency oracle, or noise on whole numbers."""

    def __init__(self, drawable: Drawable, recipe: Recipe) -> None:
        self._drawable = drawable
        self._recipe = recipe
        self._space = drawable.space if isinstance(drawable, FrequencyOracle) else None
        self.given: Given = "numbers" if self._space is None else "labels"
        self._sampler = Sampler(drawable)

    @property
    def where(self) -> str:
        """The secrets in words."""
        return "whole numbers below 2**62" if self._space is None else f"among the {len(self._space):,} categories"

    def of(self, column: Any) -> Secrets:
        """Return the secrets of labels, or whole numbers; see `Reporter.of`."""
        if self._space is not None:
            positions = _found(self._space, column)
            return Secrets(positions, positions >= 0)
        return _whole(column)

    def draw(self, secrets: NDArray[Any], words: Words) -> NDArray[Any]:
        """Return reports as the family's sampler draws them, array (n, ...)."""
        return self._recipe.draw(secrets, words)

    def columns(self, reports: NDArray[Any], *, lists: bool, dictionaries: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the column ``report``, or for each number of a report one: ``report_1``, ..."""
        import pyarrow as pa

        return listed({"report": lambda values: pa.array(values)}, reports, lists=lists)

    def __repr__(self) -> str:
        return repr(self._drawable)


def reporter(drawable: Any) -> Reporter:
    """Return a mechanism, made ready for batches.

    Args:
        drawable: A `Mechanism`, a `Tupling`, a `CoordinateNoise` or a family of `sfumato.mechanisms`.

    Raises:
        InputError: If it is for studies only, or not a mechanism.
    """
    if isinstance(drawable, Mechanism | Tupling):
        return MatrixReporter(drawable)
    if isinstance(drawable, CoordinateNoise):
        return NoiseReporter(drawable)
    if isinstance(drawable, MechanismFamily) and isinstance(drawable, Drawable):
        recipe = drawable.recipe()
        if isinstance(recipe, Row):
            return MatrixReporter(recipe.mechanism)
        if not isinstance(recipe, PointRecipe):
            return FamilyReporter(drawable, recipe)
    raise InputError(
        f"a value of {type(drawable)} cannot be released from.",
        python("pass a Mechanism, a Tupling, a CoordinateNoise or a family of sfumato.mechanisms."),
    )


def _apart_m(lat: Floats, lon: Floats, there_lat: Floats, there_lon: Floats) -> Floats:
    """Return how far points are from others on a sphere, within .6 % of the distance on the ground; array (n,)."""
    north, north_there = np.radians(lat), np.radians(there_lat)
    across = np.radians(there_lon - lon)
    half = np.sin((north_there - north) / 2) ** 2 + np.cos(north) * np.cos(north_there) * np.sin(across / 2) ** 2
    found: Floats = 2 * _RADIUS_M * np.arcsin(np.sqrt(np.clip(half, 0, 1)))
    return found


def _found(space: Space, column: Any) -> Positions:
    import pyarrow as pa

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if numeric(space) and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        column = _numbers(column)
    return find(space, column)


def _numbers(column: Any) -> Any:
    """Return texts as whole numbers, or floats; a text that is none becomes missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

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


def _whole(column: Any) -> Secrets:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = _numbers(column)
    try:
        found = pc.cast(column, pa.int64())
    except pa.ArrowException:
        raise DataError(
            f"a column of {column.type} does not hold whole numbers.",
            "round the answers to multiples of a unit, and count these.",
        ) from None
    known = np.array(pc.is_valid(found).to_numpy(zero_copy_only=False), dtype=bool)
    values = np.array(pc.fill_null(found, 0).to_numpy(zero_copy_only=False), dtype=np.int64)
    return Secrets(values, known & (np.abs(values) < 1 << 62))
