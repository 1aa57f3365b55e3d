"""Options of a release, checked before anything is read, and against its mechanisms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain
from typing import Any, Final, Literal

import numpy as np

from .._system import pa
from ..core import JointSpace, Prior, Randomizer, units
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument, python, shell
from ..geo import People, PlaceColumns, Visits, check_people
from ..ledgers import Blur
from ..rounding import plural
from ..sampling import SystemWords
from ..tables import no_column
from .reporters import InputKind, NoiseReporter, Reporter
from .schedule import Schedule

Outside = Literal["error", "nearest", "drop"]
OUTSIDE: Final = ("error", "nearest", "drop")
_MOST_NAMES: Final = 8  # names in messages
WITHIN: Final = "1 km"
"""How far points outside are moved at most, unless the caller says otherwise."""

_ANYWHERE: Final = "40000 km"  # a tick has a report wherever its position is

ALLOWED: Final = 0.01
"""The share of rows that may be moved or dropped, unless the caller allows more."""

AnyMechanism = Randomizer | Blur
Mechanisms = AnyMechanism | Mapping[str, AnyMechanism]


@check_arguments
@dataclass(frozen=True, slots=True, repr=False)
class ReleaseOptions(CompactRepr):
    """Options of a release, as in `sfumato.release`; with ``lists`` a report of several numbers is a list."""

    column: str | Sequence[str] | None = None
    lat: str | None = None
    lon: str | None = None
    user: str | None = None
    time: str | None = None
    keep: Sequence[str] = ()
    by: str | None = None
    outside: Outside = "error"
    within: float | str = WITHIN
    lists: bool = True
    people: People | None = None
    also: Sequence[Sequence[str]] = ()
    skip_damaged: bool = False
    uncertainty: bool = False
    prior: tuple[str, Prior | Visits] | None = None
    darwin_core: bool = False
    schedule: Schedule | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of labels or numbers, in order; none where secrets are places."""
        column = self.column
        return () if column is None else (column,) if isinstance(column, str) else tuple(column)


OPTIONS: Final = tuple(field.name for field in fields(ReleaseOptions) if field.name not in ("outside", "lists"))
"""The arguments of a release that have no parameter in `check_options`."""


def name_mechanisms(mechanisms: Any, options: ReleaseOptions) -> dict[str, Any]:
    """Return the mechanisms by name; a single one has the name ``""``."""
    if not isinstance(mechanisms, Mapping):
        if options.by is not None:
            raise InputError(
                f"{argument('by', options.by)} was given with one mechanism.",
                "pass a mapping from names to mechanisms.",
            )
        return {"": mechanisms}
    if not mechanisms:
        raise InputError("no mechanism was given.", "pass at least one.")
    if options.by is None and isinstance(options.column, str | None):
        raise InputError(
            "several mechanisms were given, but no column that says which one is for which row.",
            f"name it with {argument('by', 'user')}.",
        )
    if options.by is None and set(mechanisms) != set(options.columns):
        raise InputError(
            f"there are mechanisms for {_list(mechanisms)}, but the columns {_list(options.columns)} were named.",
            f"name a mechanism for each of {argument('column')}.",
        )
    by_name: dict[str, Any] = {}
    for name in options.columns if options.by is None else mechanisms:
        if str(name) in by_name:
            raise InputError(
                f"two mechanisms have the same name as text: {str(name)!r}, one of them as {name!r} of type "
                f"{type(name).__name__}.",
                "give each mechanism a name of its own.",
            )
        by_name[str(name)] = mechanisms[name]
    return by_name


def _list(names: Iterable[object]) -> str:
    texts = [repr(str(name)) for name in names]
    return ", ".join(texts if len(texts) <= _MOST_NAMES else [*texts[: _MOST_NAMES - 1], "..."])


def input_kind_of(reporters: Sequence[Reporter], options: ReleaseOptions) -> InputKind:
    """Return what secrets are read from; `InputError` if the options do not fit the mechanisms."""
    kinds = {reporter.input_kind for reporter in reporters}
    if options.column is None and kinds != {"places"}:
        other = next(reporter for reporter in reporters if reporter.input_kind != "places")
        other.at(np.zeros(0), np.zeros(0), SystemWords(), nearest=False)
        raise InputError("some mechanisms are about places, and others are not.", "release each kind by itself.")
    if options.column is None:
        if options.outside == "nearest":
            for reporter in reporters:
                if not reporter.moves:  # it says why
                    reporter.at(np.zeros(0), np.zeros(0), SystemWords(), nearest=True)
        return "places"
    roles = {"release.lat": options.lat, "release.lon": options.lon, "release.time": options.time}
    for role, value in {**roles, "also": options.also or None}.items():
        if value is not None:
            raise InputError(f"with {argument('column')} no places are read.", f"leave out {argument(role)}.")
    if options.outside == "nearest":
        raise InputError(
            "a label that is not among the secrets has no nearest label.",
            f"use {argument('outside', 'error')} or {argument('outside', 'drop')}.",
        )
    for reporter in reporters:
        if reporter.takes != len(options.columns):
            raise InputError(
                f"{plural(reporter.takes, 'column')} of true values must be named for {reporter!r}, but "
                f"{len(options.columns)} were: {_list(options.columns)}.",
                f"name {'one' if reporter.takes == 1 else 'as many'} with {argument('column')}.",
            )
    if any(isinstance(reporter, NoiseReporter) for reporter in reporters):
        raise InputError("the noise is for points, not for labels.", f"leave out {argument('column')}.")
    return "numbers" if kinds == {"numbers"} else "labels"


def first_place(schema: Any, options: ReleaseOptions, name: str, *, comma: bool = False) -> PlaceColumns:
    """Return the columns of the first place of each row; those of other places are never taken for it."""
    roles = {"lat": options.lat, "lon": options.lon, "user": options.user, "time": options.time}
    if not options.also:
        return PlaceColumns.of(schema, name, roles, comma=comma)
    other_columns = list(chain(*options.also))
    every = [*other_columns, options.lat, options.lon, options.user, options.time, options.by]
    for column in other_columns:
        if column not in schema.names:
            raise no_column(schema.names, column, "also", name)
        if every.count(column) > 1:
            raise InputError(
                f"the column {column!r} of {argument('also')} has another role, too.",
                "name each column once: the first place of a row by itself, and the others with this argument.",
            )
    rest = pa.schema([field for field in schema if field.name not in other_columns], schema.metadata)
    try:
        usual = PlaceColumns.of(schema, name, roles, comma=comma).position
    except DataError:  # which place comes first is open without the others
        usual = ()
    if twice := set(usual) & set(other_columns):
        raise _first_again(next(pair for pair in options.also if twice & set(pair)), usual, rest, name)
    return PlaceColumns.of(rest, name, roles, comma=comma)


def _first_again(pair: Sequence[str], usual: Sequence[str], rest: Any, name: str) -> InputError:
    """Return the error for a ``pair`` of ``also`` that is already the first place, with likely corrections."""
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
            shell(f"name the other place: --also {roles.lat},{roles.lon}"),
            f"call the other place the first one: {argument('lat', roles.lat)} and {argument('lon', roles.lon)}.",
        ]
    return InputError(
        f"{argument('also')} names {' and '.join(map(repr, pair))}, but {' and '.join(map(repr, usual))} "
        f"{'is' if len(usual) == 1 else 'are'} already the place of each row that is released.",
        *hints,
    )


def drawable_of(mechanism: Mechanisms) -> Any:
    """Return the mechanism that draws, without the ledger of a `Blur`; classes derived from it are refused."""
    if not isinstance(mechanism, Blur):
        return mechanism
    if type(mechanism) is not Blur:
        raise InputError(
            f"a value of {type(mechanism)} is not a Blur, and its reports are unknown.",
            python("pass sf.Blur(mechanism, ledger)."),
        )
    return mechanism.mechanism


def columns_of(mechanism: Any, column: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """Return the columns that hold the secret: those named by the caller, or those of a joint space."""
    if column is None:
        secrets = mechanism.secrets if isinstance(mechanism, Randomizer) else None
        return secrets.names if isinstance(secrets, JointSpace) else None
    if isinstance(column, str):
        return column
    names = tuple(column)
    if not names or len(set(names)) < len(names):
        raise InputError(f"{argument('column')} {list(names)!r} does not name columns.", "name each column once.")
    return names


def check_options(
    mechanism: Mechanisms,
    place_column: str | None,
    outside: Outside | None,
    allow: float,
    options: Mapping[str, Any],
    *,
    lists: bool,
) -> ReleaseOptions:
    """Return the options of a release, checked; ``options`` holds the arguments that have no parameter here."""
    if outside is not None and outside not in OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(OUTSIDE)}.")
    if unknown := sorted(set(options) - set(OPTIONS)):
        raise InputError(
            f"a release has no argument {unknown[0]!r}.",
            python("read help(sfumato.release) for those that it has."),
        )
    scheduled = options.get("schedule") is not None
    request = ReleaseOptions(outside=outside or ("nearest" if scheduled else "error"), lists=lists, **options)
    if not 0 <= allow <= 1:
        raise InputError(
            f"{allow} is not a share of rows.", f"use a number from 0 to 1, such as {argument('allow', 0.05)}."
        )
    _check_acts(request.outside, request.within, allow)
    if scheduled:
        _check_schedule(request, place_column)
        if units.length_m(request.within, "the distance") == units.length_m(WITHIN, ""):
            request = replace(request, within=_ANYWHERE)
    check_people(request.people, request.user, "release.user")
    request = replace(
        request,
        column=columns_of(mechanism, request.column),
        keep=tuple(request.keep),
        also=tuple(map(_pair, request.also)),
    )
    if request.column is not None and isinstance(mechanism, Blur):
        raise InputError(
            "only a release of places can be charged in a ledger, not one of the labels or numbers in a column.",
            "release with the mechanism alone, without the ledger.",
        )
    if request.column is not None and place_column:
        raise InputError(
            f"{argument('place_column', place_column)} names places, but what is released is the column "
            f"{', '.join(map(repr, request.columns))}.",
            f"leave out {argument('place_column')}: each row has a report of its own.",
        )
    check_uncertainty(request, place_column)
    if request.also and place_column:
        raise InputError(
            f"{argument('place_column', place_column)} names one place of a row, but {argument('also')} names "
            "several.",
            f"leave out {argument('place_column')}: each row has fresh reports",
            f"release each place by itself, with {argument('lat', 'column')} and {argument('lon', 'column')}: "
            "the guarantees of all releases add up.",
        )
    return request


def _check_schedule(options: ReleaseOptions, place_column: str | None) -> None:
    """Refuse options that do not fit rows for users and ticks (`InputError`)."""
    misfits = {
        "column": options.column,
        "keep": options.keep or None,
        "by": options.by,
        "also": options.also or None,
        "place_column": place_column,
        "uncertainty": options.uncertainty or None,
        "darwin_core": options.darwin_core or None,
    }
    for name, value in misfits.items():
        if value is not None:
            raise InputError(
                f"{argument(name)} does not fit {argument('schedule')}: rows have a user, a time and a report.",
                f"leave out {argument(name)}.",
            )
    if options.outside != "nearest":
        raise InputError(
            f"{argument('outside', options.outside)} does not fit {argument('schedule')}: each tick has a report.",
            f"use {argument('outside', 'nearest')}, or leave it out.",
        )


def check_uncertainty(options: ReleaseOptions, place_column: str | None = None) -> None:
    """Refuse error radii that would not hold, or that nothing asks for."""
    radii = options.uncertainty or options.darwin_core
    mention = argument("darwin_core" if options.darwin_core else "uncertainty", True)
    if options.prior is not None:
        if not radii:
            raise InputError(
                f"{argument('release.prior')} does nothing without error radii.",
                f"ask for them with {argument('uncertainty', True)}",
                f"leave out {argument('release.prior')}.",
            )
        if not options.prior[0].strip():
            raise InputError("the prior has no name.", "name its source, such as ('census 2021', prior).")
    if radii and options.column is not None:
        raise InputError(
            f"{mention} is for places: the reports of a column have no distance on the ground.", "leave it out."
        )
    if radii and place_column:
        raise InputError(
            f"{mention} does not fit {argument('place_column', place_column)}: later rows of a place repeat the "
            "report of its first row, and may be farther from it.",
            "leave out one of them.",
        )
    if options.darwin_core and options.also:
        raise InputError(
            f"Darwin Core has one place in a row, but {argument('also')} names another.",
            "release each place by itself",
            f"use {argument('uncertainty', True)}.",
        )


def _pair(names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of another place of a row, latitude and longitude."""
    if len(names) != 2 or not all(names):
        raise InputError(
            f"{argument('also')} names {','.join(names)!r}, which is no pair of columns: a latitude, a longitude.",
            python("pass also=[('end_lat', 'end_lng')]."),
            shell("write --also end_lat,end_lng."),
        )
    return tuple(names)


def _check_acts(outside: str, within: float | str, allow: float) -> None:
    """Refuse a distance where no row is moved, and a share where no row is moved or dropped."""
    moves = f"move rows outside with {argument('outside', 'nearest')}"
    outcome = "are refused" if outside == "error" else "are left out"
    within_m = units.length_m(within, "the distance")
    if within_m < 0:
        raise InputError(f"a distance of {within} is negative.", "use a length such as '1 km'.")
    if outside != "nearest" and within_m != units.length_m(WITHIN, ""):
        raise InputError(
            f"{argument('within', within)} does nothing here: rows outside {outcome}, and none is moved.",
            moves,
            f"leave out {argument('within')}.",
        )
    if outside == "error" and allow != ALLOWED:
        raise InputError(
            f"{argument('allow', allow)} does nothing here: rows outside {outcome}, few or many.",
            moves,
            f"drop them with {argument('outside', 'drop')}",
            f"leave out {argument('allow')}.",
        )
