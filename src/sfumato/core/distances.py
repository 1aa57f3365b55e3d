"""Distances between the members of two spaces, for metrics (a space with itself) and losses."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, argument, python
from .arrays import Floats

EARTH_RADIUS_M = 6_371_008.8  # mean radius of the WGS84 ellipsoid (IUGG)

_ENTRIES = 2**20  # distances that are made together


class _Values(Protocol):
    """All that distances need of a `Space`; see there."""

    @property
    def labels(self) -> tuple[Hashable, ...]: ...
    @property
    def coordinates(self) -> Floats | None: ...
    @property
    def unit(self) -> str: ...
    @property
    def crs(self) -> str | None: ...
    @property
    def period(self) -> float | None: ...
    @property
    def latlon(self) -> Floats: ...
    def __len__(self) -> int: ...


def distance_matrix(
    rows: _Values,
    columns: _Values,
    kind: str,
    *,
    categories: Mapping[Any, Hashable] | Sequence[Hashable] | None = None,
) -> tuple[Floats, str]:
    """Return distances (len(rows), len(columns)) and their unit; `InputError` for unknown kinds, unfit spaces."""
    if kind == "semantic":
        return _semantic(rows, columns, categories), ""
    if categories is not None:
        raise InputError(f"the {kind!r} distance uses no categories.", "use 'semantic' or leave them out.")
    if kind not in _FUNCTIONS:
        raise InputError(f"the distance {kind!r} is unknown.", f"use one of {', '.join(KINDS)}.")
    return _FUNCTIONS[kind](rows, columns)


def great_circle_m(a: NDArray[Any], b: NDArray[Any]) -> Floats:
    """Return great-circle distances in metres between points (n, 2) and (m, 2) in degrees, on a sphere."""
    (lat1, lon1), (lat2, lon2) = np.radians(a).T[:, :, None], np.radians(b).T[:, None, :]
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return np.asarray(2 * EARTH_RADIUS_M * np.arcsin(np.sqrt(np.minimum(h, 1.0))))


def _coordinates(rows: _Values, columns: _Values, kind: str) -> tuple[Floats, Floats, str]:
    a, b = rows.coordinates, columns.coordinates
    if a is None or b is None:
        raise InputError(
            f"the {kind!r} distance needs coordinates.",
            "choose hamming, which needs none",
            python("build the space with coordinates=."),
        )
    if a.shape[1] != b.shape[1] or rows.unit != columns.unit or rows.crs != columns.crs:
        raise InputError(
            f"the coordinates differ: {a.shape[1]} in {rows.unit or 'no unit'} ({rows.crs}) against "
            f"{b.shape[1]} in {columns.unit or 'no unit'} ({columns.crs}).",
            "give both spaces the same coordinate system.",
        )
    if rows.unit == "degree" and rows.period is None:
        raise InputError(
            f"a {kind!r} distance in degrees is not a distance on the ground.",
            "use 'great-circle', or project the places to metres first (a Grid does).",
        )
    if rows.period != columns.period:
        raise InputError(
            f"the numbers are on circles of {rows.period} and {columns.period} (None is a line).",
            f"give both spaces the same {argument('period')}.",
        )
    return a, b, rows.unit


def _on_plane(rows: _Values, columns: _Values, kind: str) -> tuple[Floats, str]:
    a, b, unit = _coordinates(rows, columns, kind)
    if kind == "absolute" and a.shape[1] != 1:
        raise InputError(f"the 'absolute' difference needs one coordinate, not {a.shape[1]}.", "use 'euclidean'.")
    if rows.period is not None:  # the shorter way around the circle
        apart = np.fmod(np.abs(a - b.T), rows.period)
        return np.minimum(apart, rows.period - apart), unit
    if kind == "absolute":
        return np.abs(a - b.T), unit
    if kind == "manhattan":
        return np.abs(a[:, None, :] - b[None, :, :]).sum(axis=2), unit
    distances, size = np.empty((len(a), len(b))), max(1, _ENTRIES // max(1, len(b)))
    for begin in range(0, len(a), size):
        part = a[begin : begin + size]
        squares = sum((part[:, None, k] - b[None, :, k]) ** 2 for k in range(a.shape[1]))
        np.sqrt(squares, out=distances[begin : begin + size])
    return distances, unit


def _great_circle(rows: _Values, columns: _Values) -> tuple[Floats, str]:
    array = great_circle_m(rows.latlon, columns.latlon)
    return (array + array.T) / 2 if rows is columns else array, "m"  # rounding is not symmetric


def _hamming(rows: _Values, columns: _Values) -> tuple[Floats, str]:
    columns_of = {label: j for j, label in enumerate(columns.labels)}
    at = np.array([columns_of.get(label, -1) for label in rows.labels])
    return np.where(at[:, None] == np.arange(len(columns)), 0.0, 1.0), ""


def _jaccard(rows: _Values, columns: _Values) -> tuple[Floats, str]:
    for label in (*rows.labels, *columns.labels):
        if not isinstance(label, (frozenset, tuple)):
            raise InputError(
                f"the 'jaccard' distance needs labels that are sets, but {label!r} was given.",
                "choose another distance",
                python("use frozensets as labels."),
            )
    members: dict[Hashable, int] = {}
    for label in (*rows.labels, *columns.labels):
        for member in label:  # type: ignore[attr-defined]
            members.setdefault(member, len(members))
    a, b = _indicators(rows, members), _indicators(columns, members)
    common = a @ b.T
    union = a.sum(axis=1)[:, None] + b.sum(axis=1)[None, :] - common
    return 1.0 - np.divide(common, union, out=np.ones_like(common), where=union > 0), ""


def _indicators(space: _Values, members: dict[Hashable, int]) -> Floats:
    array = np.zeros((len(space), len(members)))
    for i, label in enumerate(space.labels):
        array[i, [members[member] for member in label]] = 1.0  # type: ignore[attr-defined]
    return array


def _semantic(
    rows: _Values, columns: _Values, categories: Mapping[Any, Hashable] | Sequence[Hashable] | None
) -> Floats:
    if categories is None:
        raise InputError(
            "the 'semantic' distance needs the category of each label.",
            "choose another distance",
            python("pass categories=."),
        )
    a, b = _categories(rows, categories), _categories(columns, categories)
    return np.array([[float(x != y) for y in b] for x in a])


def _categories(space: _Values, groups: Mapping[Any, Hashable] | Sequence[Hashable]) -> list[Hashable]:
    if isinstance(groups, Mapping):
        missing = [label for label in space.labels if label not in groups]
        if missing:
            raise InputError(
                f"{len(missing)} labels have no category, the first is {missing[0]!r}.", "add them to categories."
            )
        return [groups[label] for label in space.labels]
    if len(groups) != len(space):
        raise InputError(
            f"{len(groups)} categories were given for {len(space)} labels.", "pass one per label, in their order."
        )
    return list(groups)


_FUNCTIONS: dict[str, Callable[[_Values, _Values], tuple[Floats, str]]] = {
    "euclidean": partial(_on_plane, kind="euclidean"),
    "great-circle": _great_circle,
    "manhattan": partial(_on_plane, kind="manhattan"),
    "hamming": _hamming,
    "absolute": partial(_on_plane, kind="absolute"),
    "jaccard": _jaccard,
}

KINDS = (*_FUNCTIONS, "semantic")
