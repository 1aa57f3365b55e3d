"""Other places of the same rows in columns to keep, such as the ends of trips: in degrees, or on a map."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError, argument, python, typed
from .embedded_numbers import numbers_in, without_sentinel
from .maps import are_on_maps, other_places_on_maps

_FEW: Final = 10  # rows below which columns without a name of coordinates may be anything
_ODD: Final = 0.05  # share of the rows that may be something else
_ROUND: Final = 0.5  # share of the rows that may be round numbers
_PARTS: Final = (1e5, 1e6, 1e7)  # of a degree, in which devices count
_CALLED: Final = re.compile(r"(?:latitude|longitude|lat|lon|lng|(?<![a-z])long)(?![a-z])")
_ON_MAPS: Final = re.compile(
    r"(?:easting|northing|utm|mercator|rechtswert|hochwert|(?<![a-z])(?:x|y|[xy]coord))(?![a-z])"
)


def named_so(name: str, column: Any, lat: Floats, lon: Floats) -> bool:
    """Return whether a column is called a coordinate, and its numbers are one near the rows.

    Args:
        name: The column.
        column: Its values.
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    lower = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    if _ON_MAPS.search(lower) and any(are_on_maps(values, lat, lon) for values in numbers_in(column)):
        return True
    called = _CALLED.search(lower)
    there = lat if called and called[0].startswith("lat") else lon
    return bool(called) and any(_are_near(values, there) for values in numbers_in(column))


def other_places(columns: Mapping[str, Any], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return the columns with latitudes and longitudes of other places near the rows, if there are any.

    Args:
        columns: The columns to keep.
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    if len(lat) < _FEW:
        return ()
    every = [(name, each) for name, column in columns.items() for each in numbers_in(column)]
    numbers = [(name, each) for name, each in every if _are_fine(each)]
    for name, each in numbers:
        pairs = ((name, other) for other, there in numbers if there is not each and _are_near(there, lon))
        if _are_near(each, lat) and (pair := next(pairs, None)):
            return pair
    return other_places_on_maps(every, lat, lon)


def refusal_of_places(name: str, pair: tuple[str, ...]) -> InputError:
    """Return the error of a column with other places of the rows.

    Args:
        name: The column.
        pair: The columns with their latitudes and longitudes, where they are known.
    """
    lat, lon = pair if len(set(pair)) == 2 else ("end_lat", "end_lng")
    split = "write them into two columns, and " if len(set(pair)) == 1 else ""
    return InputError(
        f"the column {name!r} holds positions of other places, such as the ends of trips, so it is never kept.",
        f"leave it out of {argument('keep')}",
        python(f"{split}protect these places in the same release with also=[({lat!r}, {lon!r})]."),
        typed(f"{split}protect these places in the same release with --also {lat},{lon}."),
    )


def _are_near(values: Floats, there: Floats) -> bool:
    """Return whether numbers are degrees in the region of the rows, or whole parts of degrees: 488500000."""
    known = values[np.isfinite(values)]
    if known.size >= _FEW:
        known = known[without_sentinel(known)]
    if known.size < min(_FEW, max(1, len(values) // 2)):
        return False
    parts = _PARTS if (known == np.round(known)).all() else (1,)
    inside = [np.abs(known / each - np.median(there)) <= np.ptp(there) + 1 for each in parts]
    return any(bool(each.mean() >= 1 - _ODD) for each in inside)


def _are_fine(values: Floats) -> bool:
    """Return whether most numbers have more than three decimals, or more than six digits."""
    known = values[np.isfinite(values)]
    if known.size and (np.abs(known) >= 1e6).mean() > 1 - _ROUND:
        return True
    return bool(known.size) and bool((np.abs(known * 1000 - np.round(known * 1000)) > 1e-6).mean() > 1 - _ROUND)
