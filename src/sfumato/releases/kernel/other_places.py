"""Other places of the same rows in columns to keep, such as the ends of trips: in degrees, or on a map."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError, argument, python, typed
from .embedded_numbers import Numbers, without_sentinel
from .maps import are_on_maps, other_places_in_metres, other_places_on_maps

_FEW: Final = 10  # rows below which columns without a name of coordinates may be anything
_ODD: Final = 0.05  # share of the rows that may be something else
_ROUND: Final = 0.5  # share of the rows that may be round numbers
_PARTS: Final = (1e5, 1e6, 1e7, 2**31 / 180)  # of a degree, in which devices count
_LOCAL: Final = 5.0  # degrees, up to which rows are so near each other that radians differ from shares
_LATITUDE: Final = r"latitude?|latitudine|lat|breitengrad|breedtegraad"
_LONGITUDE: Final = r"longitude?|longitudine|lon|lng|l(?:ae|ä|a)ngengrad|lengtegraad|(?<![a-z])long"
_CALLED: Final = re.compile(
    rf"(?:(?P<lat>{_LATITUDE}|(?<![a-z])breite)|(?P<lon>{_LONGITUDE}|(?<![a-z])l(?:ae|ä)nge))(?![a-z])"
)
_END: Final = r"(?<![a-z])(?:end|dest|destination|to|drop|dropoff|target|stop)"
_SURELY: Final = re.compile(
    rf"(?:(?<![a-z])|{_END}|(?<![a-z])(?:start|from|pickup|origin))"
    rf"(?:lat_?(?:lon|lng|long)|{_LATITUDE}|longitude?|longitudine|lon|lng|l(?:ae|ä|a)ngengrad|lengtegraad|coord(?:inate)?s)(?![a-z])"
)
_PLAIN: Final = re.compile(rf"{_END}[_.]?(?:(?P<lat>y)|(?P<lon>x))(?![a-z])")
_PAIRED: Final = re.compile(rf"(?:(?P<lat>{_LATITUDE})|(?P<lon>{_LONGITUDE}))(?![a-z])")
_ABOUT_THEM: Final = re.compile(
    r"(?<![a-z])(?:err|error|acc|accuracy|precision|std|stddev|sd|sigma|var|variance|uncertainty|count|ms|us|p\d\d)"
    r"(?![a-z])"
)
_ON_MAPS: Final = re.compile(
    r"(?P<sure>easting|northing|utm|mercator|rechtswert|hochwert)(?![a-z])|(?<![a-z])(?:x|y|[xy]coord)(?![a-z])"
)


def named_so(columns: Sequence[Numbers], lat: Floats, lon: Floats) -> bool:
    """Return whether numbers of a column, or of a part of it, are called a coordinate.

    Names that may mean something else, such as ``how_long``, ``end_x`` or ``Breite``, need numbers near the rows.

    Args:
        columns: The numbers in the column and its parts.
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    return any(_is_named_so(_lower(name), values, lat, lon) for name, values, _ in columns)


def _is_named_so(lower: str, values: Floats, lat: Floats, lon: Floats) -> bool:
    if (metres := _ON_MAPS.search(lower)) and are_on_maps(values, lat, lon, sure=bool(metres["sure"])):
        return True
    if _SURELY.search(lower) and not _ABOUT_THEM.search(lower) and _are_numbers(values):
        return True
    if called := _CALLED.search(lower):
        return _are_near(values, lat if called["lat"] else lon, least=1)
    plain = _PLAIN.search(lower)
    there = lat if plain and plain["lat"] else lon
    return bool(plain) and _are_fine(values) and _are_near(values, there, least=1)


def other_places(columns: Mapping[str, Sequence[Numbers]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return the columns with latitudes and longitudes of other places, if there are any.

    They are called so, in whatever unit their numbers are, or are near the rows.

    Args:
        columns: For each column to keep the numbers in it and its parts.
        lat: The latitudes of the rows, degrees, array (n,).
        lon: The longitudes.
    """
    if named := _named_pair(columns):
        return named
    if len(lat) < _FEW:
        return ()
    plain = [(name, each.values) for name, parts in columns.items() for each in parts if each.packed is None]
    for every in (plain, *_packed_pairs(columns)):
        pair = _pair_near(every, lat, lon) or other_places_on_maps(every, lat, lon)
        if pair := pair or other_places_in_metres(every, lat, lon):
            return pair
    return next((pair for floats in _packed_floats(columns) if (pair := _pair_near(floats, lat, lon))), ())


def _pair_near(columns: Sequence[tuple[str, Floats]], lat: Floats, lon: Floats) -> tuple[str, ...]:
    """Return two columns with degrees near the rows, if there are any."""
    numbers = [(name, each) for name, each in columns if _are_fine(each)]
    for name, each in numbers:
        pairs = ((name, other) for other, there in numbers if there is not each and _are_near(there, lon))
        if _are_near(each, lat) and (pair := next(pairs, None)):
            return pair
    return ()


def _packed_pairs(columns: Mapping[str, Sequence[Numbers]]) -> Iterator[list[tuple[str, Floats]]]:
    """Yield numbers that follow each other in bytes, and are of one type: others are no pair."""
    for name, parts in columns.items():
        for one in parts:
            for two in parts:
                if one.packed is not None and two.packed is not None and one.name == two.name:
                    (kind, begin), (other, after) = one.packed, two.packed
                    if kind == other and after == begin + int(kind[-1]):
                        yield [(name, one.values), (name, two.values)]


def _packed_floats(columns: Mapping[str, Sequence[Numbers]]) -> Iterator[list[tuple[str, Floats]]]:
    """Yield the floats of one type in the bytes of a column, which few other bytes are, wherever they begin."""
    for name, parts in columns.items():
        for kind in ("<f8", ">f8", "<f4", ">f4"):
            floats = [(name, each.values) for each in parts if each.packed is not None and each.packed[0] == kind]
            if len(floats) > 1:
                yield floats


def _named_pair(columns: Mapping[str, Sequence[Numbers]]) -> tuple[str, ...]:
    """Return two columns with numbers that are called latitude and longitude of one thing, if there are any."""
    latitudes: dict[str, str] = {}
    longitudes: dict[str, str] = {}
    for name, parts in columns.items():
        for path, numbers, _ in parts:
            lower = _lower(path)
            called = _PAIRED.search(lower)
            if called and not _ABOUT_THEM.search(lower) and _are_numbers(numbers):
                thing = f"{lower[: called.start()]}*{lower[called.end() :]}"
                (latitudes if called["lat"] else longitudes)[thing] = name
    return next(((name, longitudes[thing]) for thing, name in latitudes.items() if thing in longitudes), ())


def _lower(name: str) -> str:
    """Return a name in small letters, with a sign between words: ``end_lat_e7`` of ``endLatE7``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


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


def _are_near(values: Floats, there: Floats, least: int = _FEW) -> bool:
    """Return whether numbers are degrees in the region of the rows, in a unit of devices, or without a sign.

    The units are degrees, whole parts of degrees (488500000), radians, and degrees with minutes: 4851.0 is 48°51'.
    """
    known = values[np.isfinite(values)]
    if known.size >= _FEW:
        known = known[without_sentinel(known)]
    if known.size < min(least, max(1, len(values) // 2)):
        return False
    if (known == np.round(known)).all():
        forms = [known / each for each in _PARTS]
    else:
        size = np.abs(known)
        minutes = np.sign(known) * (size // 100 + size % 100 / 60)
        forms = [known, *([minutes] if (size % 100 < 60).all() else [])]
        forms += [np.degrees(known)] if np.ptp(there) <= _LOCAL else []
    middle, reach = float(np.median(there)), float(np.ptp(there)) + 1
    inside = (
        np.abs(each - at) <= reach
        for form in forms
        for each, at in ((form, middle), *([(form, abs(middle))] if (form >= 0).all() else []))
    )
    return any(bool(each.mean() >= 1 - _ODD) for each in inside)


def _are_numbers(values: Floats) -> bool:
    """Return whether there are numbers at all, other than the answers 0 and 1."""
    known = values[np.isfinite(values)]
    return bool(known.size) and not bool(np.isin(known, (0, 1)).all())


def _are_fine(values: Floats) -> bool:
    """Return whether most numbers have more than two decimals (a kilometre), or more than six digits."""
    known = values[np.isfinite(values)]
    if known.size and (np.abs(known) >= 1e6).mean() > 1 - _ROUND:
        return True
    return bool(known.size) and bool((np.abs(known * 100 - np.round(known * 100)) > 1e-6).mean() > 1 - _ROUND)
