"""GeoJSON: points with properties, in one collection, or a feature on each line."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, NoReturn

from ...errors import DataError
from ...tables import Source
from .columns import recognised
from .format import Format, Wanted
from .rows import RawVisits
from .table import visits_of

_MARKS: Final = (b'"Feature', b'"features"', b'"coordinates"')
_DEGREES: Final = ("OGC:1.3:CRS84", "OGC::CRS84", "EPSG::4326", "EPSG:4326")
_MOST_PROPERTIES: Final = 100
_EXPORT: Final = "export points in WGS84 degrees, longitude first."


def read(source: Source, _: Wanted) -> RawVisits:
    """Read the points of a file; of their properties those with usual names are users and times.

    Source:
        RFC 7946 (GeoJSON), RFC 8142 (a sequence of features).

    Raises:
        DataError: If it is not GeoJSON, holds shapes that are no points, or is not in degrees.
    """
    import pyarrow as pa

    lat: list[float] = []
    lon: list[float] = []
    properties: list[Mapping[str, Any]] = []
    for feature in _features(source):
        if not isinstance(feature, dict) or feature.get("type") != "Feature":
            raise DataError(f"{source} holds something that is no feature.", _EXPORT)
        given = feature.get("properties")
        for x, y in _points(feature.get("geometry"), len(lat) + 1, source):
            lon.append(x)
            lat.append(y)
            properties.append(given if isinstance(given, dict) else {})
    names = [name for name in dict.fromkeys(name for each in properties for name in each) if _sayable(name)]
    left_out = len(names) - _MOST_PROPERTIES
    others = {name: _column([each.get(name) for each in properties]) for name in names[:_MOST_PROPERTIES]}
    table = pa.table({"lat": pa.array(lat, pa.float64()), "lon": pa.array(lon, pa.float64()), **others})
    named = {"lat": "lat", "lon": "lon", "user": None, "time": None}
    found = visits_of(table, recognised(table.column_names, str(source), named), str(source))
    if left_out <= 0:
        return found
    return replace(found, notes=(*found.notes, f"{left_out:,} properties of {source} were left out."))


def _features(source: Source) -> Iterator[Any]:
    """Return the features, from wherever they are."""
    try:
        text = source.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{source} is not in UTF-8.", "write it again.") from None
    try:
        whole = _parsed(text)
    except ValueError:
        lines = [line.strip("\x1e \t\r") for line in text.split("\n")]
        try:
            yield from [_parsed(line) for line in lines if line]
        except ValueError as error:
            raise DataError(f"{source} is not valid JSON: {error}.", _EXPORT) from None
        return
    if not isinstance(whole, dict):
        raise DataError(f"{source} is JSON, but not GeoJSON.", _EXPORT)
    _check_degrees(whole, source)
    if whole.get("type") == "FeatureCollection":
        found = whole.get("features")
        if not isinstance(found, list):
            raise DataError(f"{source} is a collection without a list of features.", _EXPORT)
        yield from found
    else:
        yield whole if whole.get("type") == "Feature" else {"type": "Feature", "geometry": whole}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a number in JSON")


def _points(geometry: Any, number: int, source: Source) -> list[tuple[float, float]]:
    """Return longitudes and latitudes; NaN for a feature without a place."""
    if geometry is None:
        return [(math.nan, math.nan)]
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Point", "MultiPoint"):
        what = f"is a {kind}" if isinstance(kind, str) and len(kind) < 30 else "is none that is known"
        raise DataError(f"the shape of feature {number} of {source} {what}, not a point.", _EXPORT)
    given = geometry.get("coordinates")
    every = [given] if kind == "Point" else given
    found = []
    for each in every if isinstance(every, list) else [None]:
        if each == []:
            found.append((math.nan, math.nan))  # an empty point
            continue
        pair = each[:2] if isinstance(each, list) else []
        if len(pair) != 2 or not all(type(part) in (int, float) and abs(part) < 1e9 for part in pair):
            raise DataError(f"feature {number} of {source} has no longitude and latitude.", _EXPORT)
        found.append((float(pair[0]), float(pair[1])))
    return found


def _sayable(name: str) -> bool:
    """Return whether a property can be a column beside those of the place."""
    return name not in ("", "lat", "lon") and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _check_degrees(whole: Mapping[str, Any], source: Source) -> None:
    """Refuse a CRS of the old specification that is not WGS84."""
    crs = whole.get("crs")
    inside = crs.get("properties") if isinstance(crs, dict) else None
    name = inside.get("name") if isinstance(inside, dict) else None
    if crs is not None and not (isinstance(name, str) and name.endswith(_DEGREES)):
        raise DataError(f"the coordinates of {source} are not in degrees of WGS84.", _EXPORT)


def _column(values: list[Any]) -> Any:
    """Return the values of a property: all numbers, all texts or all truth values; others as texts."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {str} or kinds == {bool} or kinds <= {int, float}:
        try:
            return pa.array(values, pa.float64() if kinds == {int, float} else None)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError):
            pass  # a whole number beyond 64 bits, or half a character
    return pa.array([None if value is None else ascii(value) for value in values], pa.string())


GEOJSON: Final = Format(
    "geojson",
    "GeoJSON (points)",
    read,
    lambda source: source.start.startswith((b"{", b"\x1e")) and any(mark in source.head for mark in _MARKS),
)
