"""The wishes of a caller for a release, checked before anything is read, and how its rows are drawn."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..core import JointSpace, Randomizer, units
from ..core.arguments import checked
from ..errors import DataError, InputError, argument, python, typed
from ..geo import People, check_people
from ..ledgers import Blur
from .charged import ChargedDraw
from .kernel import OUTSIDE, WITHIN, Kernel, Outside, Wishes
from .remembered import Remembered

ALLOWED: Final = 0.01
"""The share of rows that may be moved or dropped, unless the caller allows more."""

One = Randomizer | Blur
Several = Mapping[str, One]


def drawable_of(mechanism: One | Several) -> Any:
    """Return what draws, without the ledger of a `Blur`.

    Raises:
        InputError: If it is of a class derived from `Blur`, which may report otherwise.
    """
    if not isinstance(mechanism, Blur):
        return mechanism
    if type(mechanism) is not Blur:
        raise InputError(
            f"a value of {type(mechanism)} is not a Blur, and nothing is known of what it reports.",
            python("pass sf.Blur(mechanism, ledger)."),
        )
    return mechanism.mechanism


def columns_of(mechanism: Any, column: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """Return the columns that hold the secret: those the caller names, or those of a joint space.

    Args:
        mechanism: What draws.
        column: What the caller names.

    Raises:
        InputError: If a column is named twice, or a name is no text.
    """
    if column is None:
        secrets = mechanism.secrets if isinstance(mechanism, Randomizer) else None
        return secrets.names if isinstance(secrets, JointSpace) else None
    if isinstance(column, str):
        return column
    named = tuple(column)
    if not named or not all(isinstance(name, str) for name in named) or len(set(named)) < len(named):
        raise InputError(f"{argument('column')} {list(named)!r} does not name columns.", "name each column once.")
    return named


def wishes_of(
    mechanism: One | Several,
    place_column: str | None,
    outside: Outside | None,
    allow: float,
    options: Mapping[str, Any],
    *,
    lists: bool,
) -> Wishes:
    """Return the wishes of a caller, checked.

    Args:
        mechanism: What draws.
        place_column: The column that names a user's places.
        outside: What to do with rows outside.
        allow: The share of rows that may be moved or dropped.
        options: The other arguments of `sfumato.release` that are wishes.
        lists: Whether a report of several numbers becomes a list.

    Raises:
        InputError: If one is unknown or of a wrong kind, or they do not fit together.
    """
    if outside is not None and outside not in OUTSIDE:
        raise InputError(f"{argument('outside', outside)} is unknown.", f"use one of {', '.join(OUTSIDE)}.")
    unknown = sorted(set(options) - set(inspect.signature(_options).parameters))
    if unknown:
        raise InputError(
            f"a release has no argument {unknown[0]!r}.",
            python("read help(sfumato.release) for those that it has."),
        )
    given = _options(**options)
    if not 0 <= allow <= 1:
        raise InputError(
            f"{allow} is not a share of rows.", f"use a number from 0 to 1, such as {argument('allow', 0.05)}."
        )
    _check_acts(outside or "error", given["within"], allow)
    check_people(given["people"], given["user"], "release.user")
    keep = given.pop("keep")
    if isinstance(keep, str):
        raise InputError(
            f"{argument('keep', keep)} is not a list of column names.", f"pass {argument('keep', [keep])}."
        )
    for name in keep:
        if not isinstance(name, str):
            raise InputError(f"{name!r} is not the name of a column.", f"pass texts with {argument('keep')}.")
    column = columns_of(mechanism, given.pop("column"))
    also = _pairs(given.pop("also"))
    wishes = Wishes(column, keep=tuple(keep), outside=outside or "error", lists=lists, also=also, **given)
    if wishes.column is not None and isinstance(mechanism, Blur):
        raise InputError(
            "only a release of places can be charged in a ledger, not one of the labels or numbers in a column.",
            "release with the mechanism alone, without the ledger.",
        )
    if wishes.column is not None and place_column:
        raise InputError(
            f"{argument('place_column', place_column)} names places, but what is released is the column "
            f"{', '.join(map(repr, wishes.named))}.",
            f"leave out {argument('place_column')}: each row has a report of its own.",
        )
    if also and place_column:
        raise InputError(
            f"{argument('place_column', place_column)} names one place of a row, but {argument('also')} names "
            "several.",
            f"leave out {argument('place_column')}: each row has fresh reports",
            f"release each place by itself, with {argument('lat', 'column')} and {argument('lon', 'column')}: "
            "the promises of all releases add up.",
        )
    return wishes


def _pairs(also: Any) -> tuple[tuple[str, str], ...]:
    """Return the columns of other places of a row, as pairs of latitude and longitude.

    Raises:
        InputError: If they are no pairs of names.
    """
    pairs = []
    for each in [also] if isinstance(also, str) else also:
        pair = tuple(each) if isinstance(each, Sequence) and not isinstance(each, str) else (each,)
        if len(pair) != 2 or not all(isinstance(name, str) and name for name in pair):
            raise InputError(
                f"{argument('also')} names {','.join(map(str, pair))!r}, which is no pair of columns: a latitude, "
                "a longitude.",
                python("pass also=[('end_lat', 'end_lng')]."),
                typed("write --also end_lat,end_lng."),
            )
        pairs.append(pair)
    return tuple(pairs)


def _check_acts(outside: str, within: float | str, allow: float) -> None:
    """Refuse what is said of rows outside, where nothing would come of it.

    Raises:
        InputError: If a distance is given and no row is moved, or a share and no row is moved or dropped.
    """
    moves = f"move rows outside with {argument('outside', 'nearest')}"
    done = "are refused" if outside == "error" else "are left out"
    within_m = units.length_m(within, "the distance")
    if within_m < 0:
        raise InputError(f"a distance of {within} is negative.", "use a length such as '1 km'.")
    if outside != "nearest" and within_m != units.length_m(WITHIN, ""):
        raise InputError(
            f"{argument('within', within)} does nothing here: rows outside {done}, and none is moved.",
            moves,
            f"leave out {argument('within')}.",
        )
    if outside == "error" and allow != ALLOWED:
        raise InputError(
            f"{argument('allow', allow)} does nothing here: rows outside {done}, be they few or many.",
            moves,
            f"drop them with {argument('outside', 'drop')}",
            f"leave out {argument('allow')}.",
        )


@checked
def _options(
    *,
    column: str | Sequence[str] | None = None,
    lat: str | None = None,
    lon: str | None = None,
    user: str | None = None,
    time: str | None = None,
    keep: Sequence[str] = (),
    by: str | None = None,
    within: float | str = WITHIN,
    people: People | None = None,
    also: Sequence[Sequence[str]] = (),
    skip_damaged: bool = False,
) -> dict[str, Any]:
    return dict(locals())


def draws_of(
    mechanism: One | Several, kernel: Kernel, place_column: str | None, columns: Sequence[str]
) -> tuple[Remembered | None, ChargedDraw | None]:
    """Return what remembers places, and what charges users, where the caller asks for one of them.

    Args:
        mechanism: What draws.
        kernel: The kernel of it.
        place_column: The column that names a user's places.
        columns: The columns of the source.

    Raises:
        DataError: If no column has the name, or none names the users.
    """
    metered = mechanism if isinstance(mechanism, Blur) else None
    if place_column is not None and place_column not in columns:
        raise DataError(
            f"no column of places is called {place_column!r}.", f"the source has {', '.join(columns)}."
        )
    if metered is None and place_column is None:
        return None, None
    if kernel.user is None or kernel.people == "one":
        raise DataError(
            "no column names the users, but places and budgets are those of users.",
            f"name it with {argument('release.user', 'column')}",
            f"for a format without columns state who is a person with {argument('people', 'file')}.",
        )
    if place_column is not None:
        return Remembered(kernel, place_column, metered), None
    return None, None if metered is None else ChargedDraw(kernel, metered)
