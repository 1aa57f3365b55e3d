"""Finite sets of secrets or observables: labelled values, combinations of columns, bins of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, argument, python
from ..escaping import plain
from ..rounding import exactly
from .arguments import check_arguments
from .arrays import Floats, floats, numbers, readonly
from .distances import distance_matrix
from .immutable import Immutable, assign
from .metric import Metric

WGS84 = "EPSG:4326"
_FARTHEST = 1e150  # the squares of such numbers are still numbers
MOST_COMBINATIONS: Final = 10_000
MOST_BINS: Final = 10_000
_LARGEST: Final = 2**53  # whole numbers up to here are floats, too


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Space(Immutable):
    """A finite, ordered set of labelled values.

    Raises `InputError` if there is no label, a label occurs twice, or the coordinates or the period do not fit.

    Attributes:
        labels: The n values: strings, numbers, tuples, or frozensets of other labels (a generalised value, such as
            a larger cell, or a set-valued secret).
        coordinates: Array (n, k) in ``unit``, or None. With the CRS ``EPSG:4326``: latitude, longitude in degrees.
        crs: The coordinate reference system, in any form that PROJ reads.
        period: The length of the circle that the numbers are on, such as 24 hours; None for a line. Distances on a
            circle go the shorter way around.

    Source:
        Shokri, "Privacy Games", section 3.1: observables may be secrets or sets of secrets.

    Example:
        >>> import sfumato as sf
        >>> ages = sf.Space.numbers(range(18, 100), unit="year")
        >>> ages
        Space of 82 values, 1 coordinate in year
    """

    labels: tuple[Hashable, ...]
    coordinates: Floats | None = None
    unit: str = ""
    crs: str | None = None
    period: float | None = None
    _positions: dict[Hashable, int] = field(init=False)

    def __init__(
        self,
        labels: Iterable[Hashable],
        coordinates: ArrayLike | None = None,
        unit: str = "",
        crs: str | None = None,
        period: float | None = None,
    ) -> None:
        values = tuple(_plain(label) for label in labels)
        if not values:
            raise InputError("a space needs at least one label, but none was given.", "pass the possible values.")
        positions: dict[Hashable, int] = {}
        for position, label in enumerate(values):
            try:
                first = positions.setdefault(label, position)
            except TypeError:
                raise InputError(
                    f"the label {label!r} cannot be hashed.", "use strings, numbers, tuples or frozensets."
                ) from None
            if first != position:
                raise InputError(
                    f"the label {label!r} stands at positions {first} and {position}.", "make the labels distinct."
                )
        array = None
        if coordinates is not None:
            array = numbers(coordinates, "coordinates")
            array = floats(array[:, None] if array.ndim == 1 else array, "coordinates", shape=(len(values), None))
            if (np.abs(array) > _FARTHEST).any():
                raise InputError(
                    f"a coordinate is beyond {_FARTHEST:g}, where no distances can be computed.",
                    "use a larger unit.",
                )
        if crs == WGS84:
            if array is None or array.shape[1] != 2:
                raise InputError(
                    f"the CRS {WGS84} needs two coordinates per label.", "pass latitude and longitude in degrees."
                )
            if (np.abs(array[:, 0]) > 90).any() or (np.abs(array[:, 1]) > 180).any():
                raise InputError(
                    "coordinates are not latitudes (-90 to 90) and longitudes (-180 to 180).",
                    "pass (latitude, longitude) in this order, in degrees.",
                )
            unit = unit or "degree"
        if period is not None:
            _check_period(float(period), array, crs)
        assign(self, labels=values, coordinates=array, unit=unit, crs=crs, _positions=positions)
        assign(self, period=None if period is None else float(period))

    @classmethod
    def numbers(cls, values: Iterable[float], unit: str = "", *, period: float | None = None) -> Space:
        """Return a space of numbers, each its own coordinate, on a line or on a circle of length ``period``."""
        labels = [_plain(value) for value in values]
        return cls(labels, numbers(labels, "the space"), unit, period=period)

    def group_labels(self, groups: Iterable[Iterable[Hashable]]) -> Space:
        """Return a space of frozensets of these labels, such as larger cells, at their members' mean coordinates.

        Groups may overlap and need not cover the space. Empty groups, or circles, are an `InputError`.
        """
        self.check_straight("groups")
        sets = [frozenset(_plain(label) for label in group) for group in groups]
        if not all(sets):
            raise InputError("a group is empty.", "give each group at least one label.")
        members = [self.positions(group) for group in sets]
        centres = None if self.coordinates is None else [self.coordinates[m].mean(axis=0) for m in members]
        return Space(sets, centres, self.unit, self.crs)

    def confirms_coordinates(self, _secrets: Space) -> bool:
        """Return whether the match with the secrets confirms the coordinates: here, where they are the labels."""
        if self.coordinates is None:
            return False
        return all(map(_is_at, self.labels, self.coordinates.tolist()))

    def check_straight(self, subject: str) -> None:
        """Refuse numbers on a circle (`InputError`), which have no mean; ``subject`` needs one."""
        if self.period is not None:
            raise InputError(
                f"{subject} need means, which numbers on a circle of {self.period:g} do not have.",
                "use a space of numbers on a line.",
            )

    def check_order(self, other: Space, subject: str) -> None:
        """Refuse a space of the same labels in another order (`InputError`); ``subject`` is on that space."""
        here, there = self.labels, other.labels
        if here is there or here == there or len(here) != len(there) or set(here) != set(there):
            return
        first = next(i for i, (a, b) in enumerate(zip(here, there, strict=True)) if a != b)
        raise InputError(
            f"{subject} is on the same labels in another order: position {first} is {there[first]!r} there, and "
            f"{here[first]!r} here.",
            "use one space for both, or put the numbers into the same order.",
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Space):
            return NotImplemented
        if any(getattr(self, name) != getattr(other, name) for name in ("labels", "crs", "unit", "period")):
            return False
        if self.coordinates is None or other.coordinates is None:
            return self.coordinates is other.coordinates
        return np.array_equal(self.coordinates, other.coordinates)

    def __hash__(self) -> int:
        return hash(self.labels)

    def __repr__(self) -> str:
        text = f"{type(self).__name__} of {len(self)} values"
        if self.coordinates is not None:
            k = self.coordinates.shape[1]
            text += f", {k} coordinate{'s' if k > 1 else ''}" + (f" in {plain(self.unit)}" if self.unit else "")
            text += f", {self.circle}" if self.circle else ""
        return text

    @property
    def circle(self) -> str:
        """The circle that the numbers are on, in words: ``on a circle of 24 h``; empty for a line."""
        if self.period is None:
            return ""
        return f"on a circle of {exactly(self.period)}" + (f" {plain(self.unit)}" if self.unit else "")

    def position(self, label: Hashable) -> int:
        """Return the position of a label; `InputError` if it is not in the space."""
        try:
            return self._positions[_plain(label)]
        except (KeyError, TypeError):  # a list, which cannot be a label
            raise InputError(
                f"the label {label!r} is not in the space.", f"its labels look like {self.labels[0]!r}."
            ) from None

    def positions(self, labels: Iterable[Hashable]) -> NDArray[np.intp]:
        """Return the positions of several labels, array (k,); `InputError` if one is not in the space."""
        if not isinstance(labels, Iterable):
            raise InputError(f"the labels are of type {type(labels).__name__}.", "pass a list of labels.")
        return np.array([self.position(label) for label in labels], dtype=np.intp)

    def counts(self, values: Any, user: Hashable | None = None) -> NDArray[np.int64]:
        """Return how often each label occurs among ``values``, array (n,).

        Spaces of places count visits instead, of one user where one is named. A mapping, a table or an unknown
        label is an `InputError`.
        """
        if user is not None:
            raise InputError("a space of labels has no users.", "pass the values of that user only.")
        if isinstance(values, Mapping) or hasattr(values, "columns"):  # its keys or names of columns are no values
            raise InputError(
                f"the values are of type {type(values).__name__}.",
                "pass a list with a label for each value",
                python("pass how often each label occurs to sf.Prior.from_counts."),
            )
        return np.bincount(self.positions(values), minlength=len(self)).astype(np.int64)

    @property
    def latlon(self) -> Floats:
        """The coordinates as latitude and longitude in degrees, array (n, 2); `InputError` if there are none."""
        if self.crs == WGS84 and self.coordinates is not None:
            return self.coordinates
        raise InputError(
            "the space has no latitudes and longitudes.",
            f"build it with coordinates and crs={WGS84!r}, or use a Grid.",
        )

    @check_arguments
    def metric(
        self,
        kind: str = "euclidean",
        unit: str | None = None,
        *,
        categories: Mapping[Any, Hashable] | Sequence[Hashable] | None = None,
    ) -> Metric:
        """Return a metric on the space.

        Raises `InputError` if the kind is unknown or the space lacks what it needs. Raises `UnitError` if the unit
        does not fit the coordinates, whose own is the default.

        Args:
            kind: ``euclidean``, ``great-circle``, ``manhattan``, ``hamming``, ``absolute`` (one coordinate),
                ``jaccard`` (labels that are sets) or ``semantic`` (0 within a category, 1 across).
            unit: The unit of the answer.
            categories: For ``semantic``, the category of each label.
        """
        array, natural_unit = distance_matrix(self, self, kind, categories=categories)
        metric = Metric(readonly(array), natural_unit, name=kind, triangle=True)
        return metric if unit is None else metric.to(unit)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class JointSpace(Space):
    """All combinations of the values of two or more columns; the last column changes fastest.

    ``parts`` are the possible values of each column, by its name. Raises `InputError` if there are fewer than two
    columns, or more than 10,000 combinations.

    Example:
        >>> import sfumato as sf
        >>> both = sf.JointSpace({"diagnosis": sf.Space(["flu", "cold"]), "sex": sf.Space("fm")})
        >>> both.labels
        (('flu', 'f'), ('flu', 'm'), ('cold', 'f'), ('cold', 'm'))
        >>> both.margin("sex")
        array([[1., 0., 1., 0.],
               [0., 1., 0., 1.]])
    """

    names: tuple[str, ...] = field(init=False)
    parts: tuple[Space, ...] = field(init=False)

    def __init__(self, parts: Mapping[str, Space]) -> None:
        names, spaces = tuple(parts), tuple(parts.values())
        if len(parts) < 2 or not all(isinstance(name, str) for name in names):
            raise InputError(
                f"the columns {names} were given, but a joint space is of two or more, each with a name.",
                "pass the possible values of each column by its name.",
            )
        if any(isinstance(space, JointSpace) for space in spaces):
            raise InputError("a column is itself a joint space.", "name all columns side by side.")
        size = prod(map(len, spaces))
        if size > MOST_COMBINATIONS:
            raise InputError(
                f"the columns have {' x '.join(f'{len(space):,}' for space in spaces)} = {size:,} combinations, "
                f"more than {MOST_COMBINATIONS:,}.",
                "use fewer or wider values, or divide the budget among the columns.",
            )
        Space.__init__(self, product(*(space.labels for space in spaces)))
        assign(self, names=names, parts=spaces)

    def combine(self, positions: Sequence[NDArray[np.intp]]) -> NDArray[np.intp]:
        """Return positions of combinations, array (n,), from each column's positions; -1 where one is -1."""
        combined = np.zeros_like(positions[0])
        for space, column in zip(self.parts, positions, strict=True):
            combined = combined * len(space) + column
        return np.where(np.any(np.less(positions, 0), axis=0), -1, combined)

    def of_part(self, name: str) -> NDArray[np.intp]:
        """Return the position of one column's value in each combination, array (n,)."""
        place = self._place(name)
        return np.arange(len(self)) // prod(map(len, self.parts[place + 1 :])) % len(self.parts[place])

    def margin(self, name: str) -> Floats:
        """Return which combinations have each value of one column, array (values, n) of 0 and 1."""
        values = np.arange(len(self.parts[self._place(name)]))
        return np.equal(self.of_part(name), values[:, None]).astype(np.float64)

    def _place(self, name: str) -> int:
        if name not in self.names:
            raise InputError(
                f"the joint space has no column {name!r}.", f"its columns are {', '.join(map(repr, self.names))}."
            )
        return self.names.index(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointSpace) and self.names == other.names and self.parts == other.parts

    def __hash__(self) -> int:
        return hash((self.names, self.labels))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return JointSpace, (dict(zip(self.names, self.parts, strict=True)),)


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class NumberBins(Space):
    """Bins of ``count`` times ``width`` whole numbers, side by side: first <= value < first + width, and so on.

    A label names the first and the last whole number in the bin, such as ``18-22``; the coordinate is the middle
    of these two. There are at most 10,000 bins, and the period is the length of the circle that the numbers are
    on, such as 24 for hours; None for a line. Raises `InputError` if there are no bins, too many, or they go more
    than once around the circle.

    Example:
        >>> import sfumato as sf
        >>> ages = sf.NumberBins(18, 5, 3)
        >>> ages.labels, ages.positions_of([18, 22.9, 23, 40]).tolist()
        (('18-22', '23-27', '28-32'), [0, 0, 1, -1])
    """

    first: int = field(init=False)
    width: int = field(init=False)

    def __init__(self, first: int, width: int, count: int, unit: str = "", *, period: int | None = None) -> None:
        if width < 1:
            raise InputError(f"{argument('width', width)} is not positive.", "use a whole number of at least 1.")
        if not 1 <= count <= MOST_BINS:
            raise InputError(
                f"{argument('count', count)} is not from 1 to {MOST_BINS:,}.", "use wider bins, at least one."
            )
        if abs(first) > _LARGEST or abs(first + width * count) > _LARGEST:
            raise InputError("the bins reach beyond 2**53.", "count the numbers in a larger unit.")
        first, width, count = int(first), int(width), int(count)
        starts = [first + width * place for place in range(count)]
        middles = [start + (width - 1) / 2 for start in starts]
        labels = [str(start) if width == 1 else f"{start}-{start + width - 1}" for start in starts]
        if period is not None and not 0 < width * count <= period:
            raise InputError(
                f"{count:,} bins of {width} go more than once around a circle of {period}.",
                "use fewer numbers",
                f"pass a larger {argument('period')}.",
            )
        Space.__init__(self, labels, middles, unit, period=period)
        assign(self, first=first, width=width)

    def confirms_coordinates(self, _secrets: Space) -> bool:
        """Return True: the numbers in the labels give the coordinates."""
        return True

    def positions_of(self, values: ArrayLike) -> NDArray[np.intp]:
        """Return the bins that numbers are in, array (n,); -1 for NaN and for numbers in none.

        On a circle a number from 0 to a whole turn is in the bin of the same place: the hours 24 and 0 are one,
        and in bins from 6 to 29 the hour 3 is 27.
        """
        array = numbers(values, "the numbers")
        if self.period is not None:
            residues = self.first + np.mod(array - self.first, self.period)
            array = np.where((array >= 0) & (array <= self.period), residues, array)
            array = np.where(array == self.first + self.period, self.first, array)
        inside = (array >= self.first) & (array < self.first + self.width * len(self))
        positions = np.full(array.shape, -1, dtype=np.intp)
        positions[inside] = np.floor((array[inside] - self.first) / self.width).astype(np.intp)
        return positions

    def describe(self) -> dict[str, Any]:
        """Return a description in plain JSON values, from which the bins can be made again."""
        bins = {"kind": "bins", "first": self.first, "width": self.width, "count": len(self), "unit": self.unit}
        return bins if self.period is None else {**bins, "period": int(self.period)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumberBins) and self.describe() == other.describe()

    def __hash__(self) -> int:
        return hash((self.first, self.width, len(self)))

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        build = partial(NumberBins, period=None if self.period is None else int(self.period))
        return build, (self.first, self.width, len(self), self.unit)


def _plain(label: Any) -> Any:
    """Return a label with numpy scalars as Python's own, sets as frozensets, and each NaN as the same one."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float) and math.isnan(label):
        return math.nan  # which equals itself as a label, so that a second one is found
    if isinstance(label, set):
        return frozenset(label)
    return tuple(_plain(part) for part in label) if isinstance(label, (tuple, list)) else label


def _check_period(period: float, coordinates: Floats | None, crs: str | None) -> None:
    """Refuse a period of anything but numbers on a circle, or one that makes two numbers one."""
    if not 0 < period < math.inf:
        raise InputError(f"{argument('period', period)} is not positive.", "use a number such as 24 for hours.")
    if coordinates is None or coordinates.shape[1] != 1 or crs is not None:
        raise InputError(f"{argument('period', period)} is for numbers, one of each label.", "leave it out.")
    least, most = float(coordinates.min()), float(coordinates.max())
    if not most - least < period:
        raise InputError(
            f"the numbers from {least:g} to {most:g} go more than once around a circle of {period:g}.",
            f"leave out those from {least + period:g} on, which are there already",
            f"pass a larger {argument('period')}.",
        )


def _is_at(label: Hashable, coordinates: list[float]) -> bool:
    """Return whether a label is its own coordinates exactly: a number, or a tuple of them."""
    parts = label if isinstance(label, tuple) else (label,)
    return len(parts) == len(coordinates) and all(
        isinstance(part, int | float)
        and not isinstance(part, bool)
        and math.isfinite(part)
        and Fraction(part) == x
        for part, x in zip(parts, coordinates, strict=True)
    )
