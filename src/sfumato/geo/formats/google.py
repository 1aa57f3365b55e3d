"""Reader of Google's location history: Records.json, and the timelines that phones export."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from ...errors import DataError
from ...rounding import counted
from ...tables import Source, times
from .format import Format, RawVisits, Wanted

_MARKS: Final = (
    *(b'"latitudeE7"', b'"timelineObjects"', b'"semanticSegments"', b'"rawSignals"'),
    *(b'"placeLocation"', b'"timelinePath"'),
)
_DEGREES: Final = re.compile(r"\s*(?:geo:)?\s*(-?\d+(?:\.\d+)?)\s*°?\s*,\s*(-?\d+(?:\.\d+)?)\s*°?\s*")
_EXPORT: Final = "export the timeline again, on the phone or with Google Takeout."


def read(source: Source, _: Wanted) -> RawVisits:
    """Read one person's records, or the visits, activities and paths of a timeline; else raise `DataError`."""
    import pyarrow as pa

    try:
        whole = json.loads(source.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise DataError(f"{source} is not in UTF-8.", _EXPORT) from None
    except (ValueError, RecursionError) as error:
        said = error if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise DataError(f"{source} is not valid JSON: {said}.", _EXPORT) from None
    found = _Points()
    try:
        found.add_all(whole)
    except (AttributeError, TypeError, KeyError):
        raise DataError(f"{source} is not built like a location history of Google.", _EXPORT) from None
    if not found.lat:
        raise DataError(f"{source} has no known position.", _EXPORT)
    moments = times(pa.chunked_array([found.time], pa.string()), most_bad=1)
    if moments is None:
        return RawVisits(np.array(found.lat), np.array(found.lon), notes=(f"{source} has no times.", *found.notes))
    moments = moments.without_days_zero()
    later = np.array(found.minutes).astype("timedelta64[m]")
    return RawVisits(
        np.array(found.lat),
        np.array(found.lon),
        time=moments.values + later,
        notes=(*moments.notes(str(source)), *found.notes),
    )


GOOGLE: Final = Format(
    "google",
    "Google's location history",
    read,
    lambda source: source.start.startswith((b"{", b"[")) and any(mark in source.head for mark in _MARKS),
)


@dataclass(slots=True)
class _Points:
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
            self.notes += (f"{counted(len(positions), 'raw signal')} next to the timeline were not read.",)
        else:
            for position in positions:
                self.add(position.get("LatLng"), position.get("timestamp"))
        for each in whole.get("timelineObjects", ()):
            visit, activity = each.get("placeVisit", {}), each.get("activitySegment", {})
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
    elif isinstance(place, str) and (found := _DEGREES.fullmatch(place)):
        yield float(found[1]), float(found[2])


def _moment(record: Any) -> str | None:
    """Return the time of a record as a text; older ones count milliseconds since 1970."""
    if (milliseconds := record.get("timestampMs")) is None:
        moment: str | None = record.get("timestamp")
        return moment
    text = str(milliseconds)
    return str(np.datetime64(int(text), "ms")) if text.isdecimal() and len(text) < 15 else text
