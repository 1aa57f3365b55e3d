"""Track files: GPX and GeoJSON in and out, FIT in."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Final
from xml.sax.saxutils import quoteattr

import numpy as np

from .._system import atomically
from ..errors import DataError, InputError, MissingExtraError, argument
from ..geo import read_gpx
from ..tables import Source
from ..tables import times as read_times
from .track import Track

_SEMICIRCLES: Final = 180 / 2**31
_LINES: Final = ("LineString", "MultiLineString")
_NOT_JSON: Final = "export the track again as GeoJSON with LineString or MultiLineString."


def _read_gpx(path: Path, timed: bool) -> tuple[list[Track], int]:
    points = read_gpx(Source.of(path))
    numbers = points.parts[:, 0]
    tracks = []
    for number in np.unique(numbers):
        rows = numbers == number
        time = points.time[rows] if timed else None
        tracks.append(Track(points.latlon[rows], points.elevation[rows], time, points.parts[rows, 1]))
    return tracks, points.others


def _read_geojson(path: Path, timed: bool) -> tuple[list[Track], int]:
    source = Source.of(path)
    try:
        content = json.loads(source.read().decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{source} is not valid JSON ({type(error).__name__}).", _NOT_JSON) from None
    try:
        features = list(_features(content))
        lines = [feature for feature in features if feature["geometry"]["type"] in _LINES]
        return [_of_feature(feature, timed) for feature in lines], len(features) - len(lines)
    except InputError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise DataError(f"{source} is not GeoJSON of tracks ({error}).", _NOT_JSON) from None


def _features(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if content["type"] == "FeatureCollection":
        yield from chain.from_iterable(map(_features, content["features"]))
    elif content["type"] == "Feature":
        if content.get("geometry"):
            yield content
    else:
        yield {"geometry": content}


def _of_feature(feature: dict[str, Any], timed: bool) -> Track:
    import pyarrow as pa

    geometry = feature["geometry"]
    several = geometry["type"] == "MultiLineString"
    lines = geometry["coordinates"] if several else [geometry["coordinates"]]
    points = list(chain.from_iterable(lines))
    properties = feature.get("properties") or {}
    times = properties.get("coordTimes") or (properties.get("coordinateProperties") or {}).get("times")
    if times and several:
        times = list(chain.from_iterable(times))
    elevation = [float(point[2]) if len(point) > 2 and point[2] is not None else np.nan for point in points]
    moments = None
    if times and timed:
        read = read_times(pa.array(list(map(str, times)), pa.string()), most_bad=1)
        if read is None:
            raise InputError("the times of a track cannot be read.", f"use {argument('times', 'drop')}.")
        moments = read.values
    part = np.repeat(np.arange(len(lines)), [len(line) for line in lines])
    return Track(np.array([[point[1], point[0]] for point in points]).reshape(-1, 2), elevation, moments, part)


def _read_fit(path: Path, timed: bool) -> tuple[list[Track], int]:
    try:
        import fitdecode
    except ImportError:
        raise MissingExtraError("a track in FIT", "fit") from None
    rows = []
    Source.of(path)
    try:
        with fitdecode.FitReader(str(path)) as frames:
            for frame in frames:
                if frame.frame_type == fitdecode.FIT_FRAME_DATA and frame.name == "record":
                    values = {field.name: field.value for field in frame.fields}
                    lat, lon = values.get("position_lat"), values.get("position_long")
                    if lat is not None and lon is not None:
                        height = values.get("enhanced_altitude", values.get("altitude"))
                        rows.append((lat, lon, np.nan if height is None else height, values.get("timestamp")))
    except fitdecode.FitError as error:
        raise DataError(
            f"{path.name!r} is not a sound FIT file ({error}).", "copy it from the device again."
        ) from None
    if not rows:
        return [], 0
    lat, lon, heights, times = zip(*rows, strict=True)
    moments: Any = [None if time is None else time.replace(tzinfo=None) for time in times] if timed else None
    return [Track(np.column_stack([lat, lon]) * _SEMICIRCLES, heights, moments)], 0


_READERS: Final[dict[str, Callable[[Path, bool], tuple[list[Track], int]]]] = {
    ".gpx": _read_gpx,
    ".geojson": _read_geojson,
    ".json": _read_geojson,
    ".fit": _read_fit,
}
SUFFIXES: Final = tuple(_READERS)


def read_all(path: Path, *, timed: bool = True) -> tuple[list[Track], int]:
    """Return the tracks of a file, and the number of points or shapes that are not of tracks and left out.

    Times are not read without ``timed``.
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise InputError(
            f"{path.name!r} is not a track file by its name.", f"tracks are read from {', '.join(SUFFIXES)}."
        )
    try:
        tracks, extras = reader(path, timed)
    except InputError as error:
        raise type(error)(f"{path.name!r}: {error.text}", *error.hints) from None
    tracks = [track for track in tracks if len(track)]
    if not tracks:
        more = f", only {extras:,} of other kinds" if extras else ""
        raise DataError(f"{path.name!r} has no points of a track{more}.", "record or export a track.")
    return tracks, extras


def write_all(tracks: Iterable[Track], path: Path) -> None:
    """Write tracks with positions, elevations, times and the bounds of what is written, and nothing else."""
    text = {".gpx": _gpx, ".geojson": _geojson, ".json": _geojson}[check_target(path)](list(tracks))
    with atomically(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def check_target(path: Path) -> str:
    """Return the ending of an output, in lower case; refuse one that cannot be written."""
    suffix = path.suffix.lower()
    if suffix not in (".gpx", ".geojson", ".json"):
        raise InputError(f"the output {str(path)!r} does not end in .gpx or .geojson.", f"write {path.stem}.gpx.")
    return suffix


def _gpx(tracks: list[Track]) -> str:
    """Return a GPX 1.1 document.

    Source:
        TopoGrafix, GPX 1.1 schema: the order of elements.
    """
    latlon = np.concatenate([track.latlon for track in tracks])
    latlon[latlon[:, 1] == 180, 1] = -180  # longitudes are below 180
    (south, west), (north, east) = latlon.min(axis=0), latlon.max(axis=0)
    bounds = " ".join(
        f"{name}={quoteattr(_number(value))}"
        for name, value in (("minlat", south), ("minlon", west), ("maxlat", north), ("maxlon", east))
    )
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<gpx version="1.1" creator="sfumato" xmlns="http://www.topografix.com/GPX/1/1">',
        f"<metadata><bounds {bounds}/></metadata>",
    ]
    for track in tracks:
        lines.append("<trk>")
        for part in track.parts:
            lines.append("<trkseg>")
            for (lat, lon), height, time in zip(part.latlon, part.elevation, part.time, strict=True):
                ele = "" if np.isnan(height) else f"<ele>{_number(height)}</ele>"
                moment = "" if np.isnat(time) else f"<time>{_moment(time)}</time>"
                east = lon if lon < 180 else -180.0
                lines.append(f'<trkpt lat="{_number(lat)}" lon="{_number(east)}">{ele}{moment}</trkpt>')
            lines.append("</trkseg>")
        lines.append("</trk>")
    return "\n".join([*lines, "</gpx>"]) + "\n"


def _geojson(tracks: list[Track]) -> str:
    features = []
    for track in tracks:
        lines, times = [], []
        for part in track.parts:
            heights = not np.isnan(part.elevation).any()
            points = zip(part.latlon, part.elevation, strict=True)
            lines.append([[float(lon), float(lat), *([float(height)] * heights)] for (lat, lon), height in points])
            times.append([_moment(time) for time in part.time] if track.has_times else [])
        geometry = {"type": "MultiLineString", "coordinates": lines}
        features.append(
            {
                "type": "Feature",
                "properties": {"coordTimes": times} if track.has_times else {},
                "geometry": geometry,
            }
        )
    return json.dumps({"type": "FeatureCollection", "features": features}, allow_nan=False) + "\n"


def _number(value: float) -> str:
    return f"{float(value):.7f}".rstrip("0").rstrip(".")


def _moment(time: np.datetime64) -> str:
    text = str(time)
    return (text.rstrip("0").rstrip(".") if "." in text else text) + "Z"
