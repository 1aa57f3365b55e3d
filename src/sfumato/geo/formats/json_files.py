"""Readers of JSON: GeoJSON (points and tracks with properties), and Google's location history."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NoReturn

import numpy as np

from ...errors import DataError
from ...rounding import plural
from ...tables import Source, times
from .columns import find_roles
from .format import ColumnChoice, Format, RawVisits
from .points import WGS84, Statement
from .table import visits_of

_GEOJSON_MARKS: Final = (b'"Feature', b'"features"', b'"coordinates"')
_DEPTHS: Final = {"Point": 0, "MultiPoint": 1, "LineString": 1, "MultiLineString": 2}
_TIMES: Final = ("coordTimes", "times")
_MOST_PROPERTIES: Final = 100
_EXPORT: Final = "export points or tracks in WGS84 degrees, longitude first."
_GOOGLE_MARKS: Final = (
    *(b'"latitudeE7"', b'"timelineObjects"', b'"semanticSegments"', b'"rawSignals"'),
    *(b'"placeLocation"', b'"timelinePath"'),
)
_DEGREES: Final = re.compile(r"\s*(?:geo:)?\s*(-?\d+(?:\.\d+)?)\s*°?\s*,\s*(-?\d+(?:\.\d+)?)\s*°?\s*")
_EXPORT_TIMELINE: Final = "export the timeline again, on the phone or with Google Takeout."


def _read_geojson(source: Source, _: ColumnChoice) -> RawVisits:
    """Read the points of a file; properties with usual names are users and times.

    The vertices of lines are points, with times from the property ``coordTimes`` or ``times`` (also of
    ``coordinateProperties``) if there is one for each vertex. Other content is refused (`DataError`).

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
        values, geometry = feature.get("properties"), feature.get("geometry")
        points = _points(geometry, number, source)
        record, times = _without_times(values if isinstance(values, dict) else {})
        line = points and geometry is not None and geometry["type"].endswith("LineString")
        if line and len(times) == len(points):
            properties += [{**record, "time": time} for time in times]
        else:
            if line:
                untimed += range(len(xy), len(xy) + len(points))
            if times:
                notes.append(
                    f"Feature {number} has {len(times):,} times for {len(points):,} points: they were left out."
                )
            properties += [record] * len(points)
        xy += points
        rows += [number] * len(points)
        if number == 1 and isinstance(whole, dict) and "crs" in whole and whole["crs"] is None:
            notes.append(f"The CRS of {source} is unknown and was taken for WGS84.")
        systems += [_system((geometry, feature, whole), number, source)] * len(points)
    names = [  # that can be columns next to those of the place
        name
        for name in dict.fromkeys(name for record in properties for name in record)
        if name not in ("", "lat", "lon") and not any("\ud800" <= letter <= "\udfff" for letter in name)
    ]
    left_out = len(names) - _MOST_PROPERTIES
    columns = {name: _column([record.get(name) for record in properties]) for name in names[:_MOST_PROPERTIES]}
    at = WGS84.degrees(
        np.array(xy, dtype=np.float64).reshape(-1, 2),
        np.array(rows, dtype=np.intp),
        str(source),
        systems,
        noun="feature",
    )
    table = pa.table({"lat": at[:, 1], "lon": at[:, 0], **columns})
    keys = {"lat": "lat", "lon": "lon", "user": None, "time": None}
    roles = replace(find_roles(table.column_names, str(source), keys), datum=None)  # they are in degrees already
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
    for place in (properties, inner) if isinstance(inner, dict) else (properties,):
        for key in _TIMES:
            if isinstance(place.get(key), list):
                rest = {
                    name: value for name, value in properties.items() if name not in (key, "coordinateProperties")
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
        whole = _parse_json(text)
    except ValueError:
        lines = [line.strip("\x1e \t\r") for line in text.split("\n")]
        try:
            yield from [(_parse_json(line), None) for line in lines if line]
        except ValueError as error:
            raise DataError(f"{source} is not valid JSON: {error}.", _EXPORT) from None
        return
    if not isinstance(whole, dict):
        raise DataError(f"{source} is JSON, but not GeoJSON.", _EXPORT)
    if whole.get("type") == "FeatureCollection":
        features = whole.get("features")
        if not isinstance(features, list):
            raise DataError(f"{source} is a collection without a list of features.", _EXPORT)
        yield from ((feature, whole) for feature in features)
    else:
        yield (whole if whole.get("type") == "Feature" else {"type": "Feature", "geometry": whole}), None


def _parse_json(text: str) -> Any:
    def no_number(text: str) -> NoReturn:
        raise ValueError(f"{text} is not a number in JSON")

    try:
        return json.loads(text, parse_constant=no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _points(geometry: Any, number: int, source: Source) -> list[tuple[float, float]]:
    """Return x and y of the points of a shape; NaN for a feature without a place."""
    if geometry is None:
        return [(math.nan, math.nan)]
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in _DEPTHS:
        phrase = f"is a {kind}" if isinstance(kind, str) and len(kind) < 30 else "is of an unknown type"
        raise DataError(f"the shape of feature {number} of {source} {phrase}, not a point or a line.", _EXPORT)
    every = [geometry.get("coordinates")]
    for _ in range(_DEPTHS[kind]):
        every = [child for part in every for child in (part if isinstance(part, list) else [None])]
    points = []
    for position in every:
        if position == []:
            points.append((math.nan, math.nan))  # an empty point
            continue
        pair = position[:2] if isinstance(position, list) else []
        if len(pair) != 2 or not all(type(part) in (int, float) and abs(part) < 1e9 for part in pair):
            raise DataError(f"feature {number} of {source} has no longitude and latitude.", _EXPORT)
        points.append((float(pair[0]), float(pair[1])))
    return points


def _system(places: Sequence[Any], number: int, source: Source) -> Statement | None:
    """Return the coordinate system that the innermost of some objects states, by GeoJSON 2008."""
    crs = next(
        (place["crs"] for place in places if isinstance(place, dict) and place.get("crs") is not None), None
    )
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
    # As texts that can be encoded.
    texts = (
        value if value is None or (isinstance(value, str) and value.isprintable()) else ascii(value)
        for value in values
    )
    return pa.array(list(texts), pa.string())


GEOJSON: Final = Format(
    "geojson",
    "GeoJSON (points and lines)",
    _read_geojson,
    lambda source: (
        source.start.startswith((b"{", b"\x1e")) and any(mark in source.head for mark in _GEOJSON_MARKS)
    ),
)


def _read_google(source: Source, _: ColumnChoice) -> RawVisits:
    """Read one person's records, or the visits, activities and paths of a timeline; else raise `DataError`."""
    import pyarrow as pa

    try:
        whole = json.loads(source.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError(f"{source} is not in UTF-8.", _EXPORT_TIMELINE) from None
    except (ValueError, RecursionError) as error:
        reason = error if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise DataError(f"{source} is not valid JSON: {reason}.", _EXPORT_TIMELINE) from None
    timeline = _Timeline()
    try:
        timeline.add_all(whole)
    except (AttributeError, TypeError, KeyError):
        raise DataError(f"{source} is not built like a location history of Google.", _EXPORT_TIMELINE) from None
    if not timeline.lat:
        raise DataError(f"{source} has no known position.", _EXPORT_TIMELINE)
    moments = times(pa.chunked_array([timeline.time], pa.string()), most_bad=1)
    time, notes = None, [f"{source} has no times."]
    if moments is not None:
        moments = moments.without_days_zero()
        time = moments.values + np.array(timeline.minutes).astype("timedelta64[m]")
        notes = list(moments.notes(str(source)))
    return RawVisits(np.array(timeline.lat), np.array(timeline.lon), time=time, notes=(*notes, *timeline.notes))


GOOGLE: Final = Format(
    "google",
    "Google's location history",
    _read_google,
    lambda source: source.start.startswith((b"{", b"[")) and any(mark in source.head for mark in _GOOGLE_MARKS),
)


@dataclass(slots=True)
class _Timeline:
    """The positions so far; NaN where an entry has none."""

    lat: list[float] = field(default_factory=list)
    lon: list[float] = field(default_factory=list)
    time: list[str | None] = field(default_factory=list)
    minutes: list[int] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def add_all(self, whole: Any) -> None:
        """Add the positions of a file of any kind."""
        if isinstance(whole, list):
            whole = {"semanticSegments": whole}
        for record in whole.get("locations", ()):
            self.add(record, _moment(record))
        segments, signals = whole.get("semanticSegments", ()), whole.get("rawSignals", ())
        for segment in segments:
            self._add_segment(segment)
        positions = [signal["position"] for signal in signals if "position" in signal]
        if segments and positions:  # both cover the same days
            self.notes += (f"{plural(len(positions), 'raw signal')} next to the timeline were not read.",)
        else:
            for position in positions:
                self.add(position.get("LatLng"), position.get("timestamp"))
        for entry in whole.get("timelineObjects", ()):
            visit, activity = entry.get("placeVisit", {}), entry.get("activitySegment", {})
            if visit:
                self.add(visit.get("location"), visit.get("duration", {}).get("startTimestamp"))
            for end in ("start", "end"):
                if f"{end}Location" in activity:
                    self.add(activity[f"{end}Location"], activity.get("duration", {}).get(f"{end}Timestamp"))
            for point in activity.get("simplifiedRawPath", {}).get("points", ()):
                self.add(point, _moment(point))
            for point in activity.get("waypointPath", {}).get("waypoints", ()):
                self.add(point, None)

    def add(self, place: Any, time: Any, minutes: object = 0) -> None:
        """Add a place, with degrees times 1e7 or as text (``geo:48.85,2.35``), at ``time`` plus ``minutes``."""
        lat, lon = next(_degrees(place), (math.nan, math.nan))
        self.lat.append(lat)
        self.lon.append(lon)
        self.time.append(time if isinstance(time, str) else None)
        offset = str(minutes)
        self.minutes.append(int(offset) if offset.isdecimal() and len(offset) < 7 else 0)

    def _add_segment(self, segment: Any) -> None:
        start = segment.get("startTime")
        place = segment.get("visit", {}).get("topCandidate", {}).get("placeLocation")
        if place is not None:
            self.add(place.get("latLng") if isinstance(place, dict) else place, start)
        for end in ("start", "end"):
            if (place := segment.get("activity", {}).get(end)) is not None:
                self.add(place.get("latLng") if isinstance(place, dict) else place, segment.get(f"{end}Time"))
        for point in segment.get("timelinePath", ()):
            later = point.get("durationMinutesOffsetFromStartTime", 0)
            self.add(point.get("point"), point.get("time", start), later)


def _degrees(place: Any) -> Iterator[tuple[float, float]]:
    """Yield the degrees of a position, if it has some; the export has invalid numbers beyond 90 degrees."""
    if isinstance(place, dict):
        for names in (("latitudeE7", "longitudeE7"), ("latE7", "lngE7")):
            lat, lon = (place.get(name) for name in names)
            if type(lat) is int and type(lon) is int and abs(lat) <= 90 * 10**7 and abs(lon) <= 180 * 10**7:
                yield lat / 1e7, lon / 1e7
    elif isinstance(place, str) and (match := _DEGREES.fullmatch(place)):
        yield float(match[1]), float(match[2])


def _moment(record: Any) -> str | None:
    """Return the time of a record as a text; older ones count milliseconds since 1970."""
    if (milliseconds := record.get("timestampMs")) is None:
        moment: str | None = record.get("timestamp")
        return moment
    text = str(milliseconds)
    return str(np.datetime64(int(text), "ms")) if text.isdecimal() and len(text) < 15 else text
