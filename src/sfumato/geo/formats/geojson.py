"""Reader of GeoJSON: points and tracks with properties, in one collection or one feature per line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NoReturn

import numpy as np

from ...errors import DataError
from ...tables import Source
from .columns import recognised
from .crs import WGS84, Statement
from .format import Format, RawVisits, Wanted
from .table import visits_of

_MARKS: Final = (b'"Feature', b'"features"', b'"coordinates"')
_DEPTHS: Final = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2}
_TIMES: Final = ("coordTimes", "times")
_MOST_PROPERTIES: Final = 100
_EXPORT: Final = "export points or tracks in WGS84 degrees, longitude first."


def read(source: Source, _: Wanted) -> RawVisits:
    """Read the points of a file; properties with usual names are users and times.

    The vertices of lines are points, with times from the property ``coordTimes`` or ``times`` (also of
    ``coordinateProperties``) if there is one for each vertex. Other shapes, an unknown coordinate system and
    content that is not GeoJSON are refused (`DataError`).

    Source:
        RFC 7946 (GeoJSON), RFC 8142 (a sequence of features), and the member ``crs`` of GeoJSON 2008.
    """
    import pyarrow as pa

    xy: list[tuple[float, float]] = []
    rows: list[int] = []
    properties: list[Mapping[str, Any]] = []
    systems: list[Statement | None] = []
    untimed: list[int] = []
    notes: list[str] = []
    for number, (feature, whole) in enumerate(_features(source), 1):
        if not isinstance(feature, dict) or feature.get("type") != "Feature":
            raise DataError(f"{source} has an entry that is not a feature.", _EXPORT)
        given, geometry = feature.get("properties"), feature.get("geometry")
        found = _points(geometry, number, source)
        each, times = _without_times(given if isinstance(given, dict) else {})
        line = found and geometry is not None and geometry["type"].endswith("LineString")
        if line and len(times) == len(found):
            properties += [{**each, "time": time} for time in times]
        else:
            if line:
                untimed += range(len(xy), len(xy) + len(found))
            if times:
                notes.append(
                    f"Feature {number} has {len(times):,} times for {len(found):,} points: they were left out."
                )
            properties += [each] * len(found)
        xy += found
        rows += [number] * len(found)
        if number == 1 and isinstance(whole, dict) and "crs" in whole and whole["crs"] is None:
            notes.append(f"The CRS of {source} is unknown and was taken for WGS84.")
        systems += [_system((geometry, feature, whole), number, source)] * len(found)
    names = [name for name in dict.fromkeys(name for each in properties for name in each) if _sayable(name)]
    left_out = len(names) - _MOST_PROPERTIES
    others = {name: _column([each.get(name) for each in properties]) for name in names[:_MOST_PROPERTIES]}
    at = WGS84.degrees(
        np.array(xy, dtype=np.float64).reshape(-1, 2),
        np.array(rows, dtype=np.intp),
        str(source),
        systems,
        noun="feature",
    )
    table = pa.table({"lat": at[:, 1], "lon": at[:, 0], **others})
    named = {"lat": "lat", "lon": "lon", "user": None, "time": None}
    roles = replace(recognised(table.column_names, str(source), named), datum=None)  # they are in degrees already
    if roles.time is not None and untimed:  # one time of a whole line is that of no vertex
        known = np.ones(len(table), dtype=bool)
        known[untimed] = False
        column = pa.compute.if_else(pa.array(known), table[roles.time], pa.scalar(None, table[roles.time].type))
        table = table.set_column(table.column_names.index(roles.time), roles.time, column)
    visits = visits_of(table, roles, str(source))
    if left_out > 0:
        notes.append(f"{left_out:,} properties of {source} were left out.")
    return replace(visits, notes=(*visits.notes, *notes))


def _without_times(properties: Mapping[str, Any]) -> tuple[Mapping[str, Any], Sequence[Any]]:
    """Return properties, and the times of vertices that were among them."""
    inner = properties.get("coordinateProperties")
    places = [(properties, _TIMES)] + ([(inner, _TIMES)] if isinstance(inner, dict) else [])
    for place, keys in places:
        for key in keys:
            if isinstance(place.get(key), list):
                rest = {
                    name: each for name, each in properties.items() if name not in (key, "coordinateProperties")
                }
                parts = [part if isinstance(part, list) else [part] for part in place[key]]
                return rest, [time for part in parts for time in part]
    return properties, ()


def _features(source: Source) -> Iterator[tuple[Any, Any]]:
    """Yield each feature with the object around it."""
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{source} is not in UTF-8.", "write it again.") from None
    try:
        whole = _parsed(text)
    except ValueError:
        lines = [line.strip("\x1e \t\r") for line in text.split("\n")]
        try:
            yield from [(_parsed(line), None) for line in lines if line]
        except ValueError as error:
            raise DataError(f"{source} is not valid JSON: {error}.", _EXPORT) from None
        return
    if not isinstance(whole, dict):
        raise DataError(f"{source} is JSON, but not GeoJSON.", _EXPORT)
    if whole.get("type") == "FeatureCollection":
        found = whole.get("features")
        if not isinstance(found, list):
            raise DataError(f"{source} is a collection without a list of features.", _EXPORT)
        yield from ((each, whole) for each in found)
    else:
        yield (whole if whole.get("type") == "Feature" else {"type": "Feature", "geometry": whole}), None


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def _points(geometry: Any, number: int, source: Source) -> list[tuple[float, float]]:
    """Return x and y of the points of a shape; NaN for a feature without a place."""
    if geometry is None:
        return [(math.nan, math.nan)]
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in _DEPTHS:
        what = f"is a {kind}" if isinstance(kind, str) and len(kind) < 30 else "is of an unknown type"
        raise DataError(f"the shape of feature {number} of {source} {what}, not a point or a line.", _EXPORT)
    every = [geometry.get("coordinates")]
    for _ in range(_DEPTHS[kind]):
        every = [each for part in every for each in (part if isinstance(part, list) else [None])]
    found = []
    for each in every:
        if each == []:
            found.append((math.nan, math.nan))  # an empty point
            continue
        pair = each[:2] if isinstance(each, list) else []
        if len(pair) != 2 or not all(type(part) in (int, float) and abs(part) < 1e9 for part in pair):
            raise DataError(f"feature {number} of {source} has no longitude and latitude.", _EXPORT)
        found.append((float(pair[0]), float(pair[1])))
    return found


def _sayable(name: str) -> bool:
    """Return whether a property can be a column next to those of the place."""
    return name not in ("", "lat", "lon") and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _system(places: Sequence[Any], number: int, source: Source) -> Statement | None:
    """Return the coordinate system that the innermost of some objects states, by GeoJSON 2008."""
    crs = next((each["crs"] for each in places if isinstance(each, dict) and each.get("crs") is not None), None)
    if crs is None:
        return None
    inside = crs.get("properties") if isinstance(crs, dict) else None
    name = inside.get("name", inside.get("code")) if isinstance(inside, dict) else None
    if not isinstance(name, str | int) or isinstance(name, bool):
        raise DataError(f"feature {number} of {source} states a coordinate system without a name.", _EXPORT)
    return name


def _column(values: list[Any]) -> Any:
    """Return the values of a property: all numbers, all texts or all truth values; others as texts."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str} or kinds == {bool} or kinds <= {int, float}:
        try:
            return pa.array(values, pa.float64() if kinds == {int, float} else None)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError):
            pass  # a whole number beyond 64 bits, or half a character
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _text(value: Any) -> str:
    """Return a value as a text that can be encoded."""
    return value if isinstance(value, str) and value.isprintable() else ascii(value)


GEOJSON: Final = Format(
    "geojson",
    "GeoJSON (points and lines)",
    read,
    lambda source: source.start.startswith((b"{", b"\x1e")) and any(mark in source.head for mark in _MARKS),
)
