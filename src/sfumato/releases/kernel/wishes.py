"""The wishes of a caller for a release, and whether mechanisms can fulfil them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Final, Literal

import numpy as np

from ...core.immutable import CompactRepr
from ...errors import DataError, InputError, argument, python, typed
from ...geo import People, PlaceColumns
from ...rounding import counted
from ...sampling import SystemWords
from ...tables import no_column
from ..reporters import Given, NoiseReporter, Reporter

Outside = Literal["error", "nearest", "drop"]
OUTSIDE: Final = ("error", "nearest", "drop")
_SHOWN: Final = 8  # names in messages
WITHIN: Final = "1 km"
"""How far points outside are moved at most, unless the caller says otherwise."""


@dataclass(frozen=True, slots=True, repr=False)
class Wishes(CompactRepr):
    """The wishes of a caller for a release; `sfumato.release` describes each.

    Attributes:
        column: The column of labels or numbers, or several; None where secrets are places.
        lat: The column of latitudes.
        lon: The column of longitudes.
        user: The column of users.
        time: The column of times.
        keep: Columns that are carried over.
        by: The column that names each row's mechanism.
        outside: What is done with rows outside.
        within: How far they are moved at most, a length.
        lists: Whether a report of several numbers becomes a list, or as many columns.
        people: Who is a person, as `sfumato.read_visits` takes it.
        skip_damaged: Whether damaged files of a folder without columns are left out.
        also: Pairs of columns with the latitude and longitude of other places of a row, such as the end of a trip.
    """

    column: str | tuple[str, ...] | None = None
    lat: str | None = None
    lon: str | None = None
    user: str | None = None
    time: str | None = None
    keep: tuple[str, ...] = ()
    by: str | None = None
    outside: Outside = "error"
    within: float | str = WITHIN
    lists: bool = True
    people: People | None = None
    also: tuple[tuple[str, str], ...] = ()
    skip_damaged: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The columns of labels or numbers, in order; none where secrets are places."""
        return () if self.column is None else (self.column,) if isinstance(self.column, str) else self.column


def by_name(mechanisms: Any, asked: Wishes) -> dict[str, Any]:
    """Return the mechanisms by name; a single one has the name ``""``.

    Args:
        mechanisms: One, or a mapping.
        asked: The wishes, which say whether a column names them.

    Raises:
        InputError: If they do not fit.
    """
    if not isinstance(mechanisms, Mapping):
        if asked.by is not None:
            raise InputError(
                f"{argument('by', asked.by)} was given with one mechanism.",
                "pass a mapping from names to mechanisms.",
            )
        return {"": mechanisms}
    if not mechanisms:
        raise InputError("no mechanism was given.", "pass at least one.")
    if asked.by is None and isinstance(asked.column, str | None):
        raise InputError(
            "several mechanisms were given, but no column that says which one is for which row.",
            f"name it with {argument('by', 'user')}.",
        )
    if asked.by is None and set(mechanisms) != set(asked.named):
        raise InputError(
            f"there are mechanisms for {_some(mechanisms)}, but the columns {_some(asked.named)} were named.",
            f"name a mechanism for each of {argument('column')}.",
        )
    found: dict[str, Any] = {}
    for name in asked.named if asked.by is None else mechanisms:
        if str(name) in found:
            raise InputError(
                f"two mechanisms have the same name as text: {str(name)!r}, one of them as {name!r} of type "
                f"{type(name).__name__}.",
                "give each mechanism a name of its own.",
            )
        found[str(name)] = mechanisms[name]
    return found


def _some(names: Iterable[object]) -> str:
    found = [repr(str(name)) for name in names]
    return ", ".join(found if len(found) <= _SHOWN else [*found[: _SHOWN - 1], "..."])


def given_by(reporters: Sequence[Reporter], asked: Wishes) -> Given:
    """Return what secrets are read from, or refuse wishes that the mechanisms cannot fulfil.

    Args:
        reporters: The mechanisms.
        asked: The wishes.

    Raises:
        InputError: If they cannot.
    """
    kinds = {each.given for each in reporters}
    if asked.column is None and kinds != {"places"}:
        other = next(each for each in reporters if each.given != "places")
        other.at(np.zeros(0), np.zeros(0), SystemWords(), nearest=False)
        raise InputError("some mechanisms are about places, and others are not.", "release each kind by itself.")
    if asked.column is None:
        if asked.outside == "nearest":
            for each in reporters:
                if not each.moves:  # it says why
                    each.at(np.zeros(0), np.zeros(0), SystemWords(), nearest=True)
        return "places"
    named = {"lat": asked.lat, "lon": asked.lon, "time": asked.time}
    for role, column in named.items():
        if column is not None:
            raise InputError(
                f"with {argument('column')} no places are read.", f"leave out {argument(f'release.{role}')}."
            )
    if asked.also:
        raise InputError(f"with {argument('column')} no places are read.", f"leave out {argument('also')}.")
    if asked.outside == "nearest":
        raise InputError(
            "a label that is not among the secrets has no nearest label.",
            f"use {argument('outside', 'error')} or {argument('outside', 'drop')}.",
        )
    for each in reporters:
        if each.takes != len(asked.named):
            raise InputError(
                f"{counted(each.takes, 'column')} of true values must be named for {each!r}, but "
                f"{len(asked.named)} were: {_some(asked.named)}.",
                f"name {'one' if each.takes == 1 else 'as many'} with {argument('column')}.",
            )
    if any(isinstance(each, NoiseReporter) for each in reporters):
        raise InputError("the noise is for points, not for labels.", f"leave out {argument('column')}.")
    return "numbers" if kinds == {"numbers"} else "labels"


def first_place(schema: Any, asked: Wishes, name: str, *, comma: bool = False) -> PlaceColumns:
    """Return the columns of the first place of each row, which other places are never taken for.

    Args:
        schema: The Arrow schema of the source.
        asked: The wishes.
        name: The source, for messages.
        comma: Whether numbers may be written ``48,85``.

    Raises:
        DataError: If a column is missing.
        InputError: If a column has two roles, or another place is the one that is released without it.
    """
    import pyarrow as pa

    named = {"lat": asked.lat, "lon": asked.lon, "user": asked.user, "time": asked.time}
    if not asked.also:
        return PlaceColumns.of(schema, name, named, comma=comma)
    others = list(chain(*asked.also))
    every = [*others, asked.lat, asked.lon, asked.user, asked.time, asked.by]
    for each in others:
        if each not in schema.names:
            raise no_column(schema.names, each, "also", name)
        if every.count(each) > 1:
            raise InputError(
                f"the column {each!r} of {argument('also')} has another role, too.",
                "name each column once: the first place of a row by itself, and the others with this argument.",
            )
    rest = pa.schema([field for field in schema if field.name not in others], schema.metadata)
    try:
        usual = PlaceColumns.of(schema, name, named, comma=comma).position
    except DataError:  # which place comes first is open without the others
        usual = ()
    if twice := set(usual) & set(others):
        raise _first_again(next(pair for pair in asked.also if twice & set(pair)), usual, rest, name)
    return PlaceColumns.of(rest, name, named, comma=comma)


def _first_again(pair: tuple[str, str], usual: Sequence[str], rest: Any, name: str) -> InputError:
    """Return the error of another place that is the first one, with the columns that may have been meant.

    Args:
        pair: The columns of the other place.
        usual: The columns of the place that is released without it.
        rest: The Arrow schema of the source without all other places.
        name: The source, for messages.
    """
    try:
        roles = PlaceColumns.of(rest, name, {}).roles
    except DataError:
        roles = None
    hints = [
        "name another place of the row with it, such as the end of a trip, or leave it out",
        f"name the first place of each row: {argument('lat', 'column')} and {argument('lon', 'column')}.",
    ]
    if roles is not None and roles.lat is not None and roles.lon is not None:
        hints = [
            python(f"pass the other place: also=[({roles.lat!r}, {roles.lon!r})]"),
            typed(f"name the other place: --also {roles.lat},{roles.lon}"),
            f"call the other place the first one: {argument('lat', roles.lat)} and {argument('lon', roles.lon)}.",
        ]
    return InputError(
        f"{argument('also')} names {' and '.join(map(repr, pair))}, but {' and '.join(map(repr, usual))} "
        f"{'is' if len(usual) == 1 else 'are'} already the place of each row that is released.",
        *hints,
    )


def other_places(first: PlaceColumns, also: Sequence[tuple[str, str]]) -> tuple[PlaceColumns, ...]:
    """Return the columns of the other places of each row, read as the first place is.

    Args:
        first: The columns of the first place.
        also: Pairs of columns of latitude and longitude.
    """
    return tuple(
        replace(first, roles=replace(first.roles, lat=lat, lon=lon, geometry=None), named=argument("also"))
        for lat, lon in also
    )
