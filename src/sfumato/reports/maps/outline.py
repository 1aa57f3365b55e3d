"""Outlines of land and water for maps, with names of places, from GeoJSON files."""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...core.arrays import Floats, readonly
from ...core.immutable import CompactRepr
from ...errors import DataError, FileError, InputError
from ...escaping import plain, shorten
from ...geo import CREDIT, Places, Projection, Visits, world

MOST_BYTES: Final = 20_000_000  # largest size of an outline file
_MOST_POINTS: Final = 300_000
_MOST_SHAPES: Final = 50_000
_DEEPEST: Final = 20  # geometries in geometries
_LONGEST_NAME: Final = 60  # characters
_WATER: Final = frozenset({"water", "bay", "sea", "ocean", "lake", "river", "riverbank", "reservoir"})
_KINDS: Final = ("kind", "natural", "water", "waterway", "class", "type", "featurecla")
_NAMES: Final = ("name", "Name", "NAME", "label", "title")
_DEGREES: Final = ("OGC:1.3:CRS84", "OGC::CRS84", "EPSG::4326", "EPSG:4326")
_EXPORT: Final = "export the outline of the region as GeoJSON in WGS84 degrees, longitude first."
_COLUMNS: Final = ("name", "place", "place_name", "venue", "venue_name", "poi")
_MOST_NAMES: Final = 30
_LEAST_VISITS: Final = 2  # visits to a place whose name is shown
_LONGEST: Final = 28  # characters
_SPREAD_M: Final = 300.0  # 90 % of the visits to one place are within this distance of its middle
_GLOBE: Final = ((-90, -180, -90, -180), (90, 180, 90, 180))
_MOST_TOWNS: Final = 200
_MARGIN: Final = 0.6  # of the size of the places: how much of the world around them


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Shape(CompactRepr):
    """One area or line of an outline."""

    kind: str  # "land", "water" or "line"; of the world also "shore", "river" or "border"
    rings: tuple[Floats, ...]  # or the one line: arrays (n, 2), latitude and longitude in degrees
    edge: bool = True  # whether a polygon's edge is drawn


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outline(CompactRepr):
    """Land, water, lines and names to draw a map on."""

    shapes: tuple[Shape, ...]  # in drawing order
    names: tuple[Name, ...]
    source: str  # in words

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Its southern, northern, western and eastern end, degrees."""
        parts = [ring for shape in self.shapes for ring in shape.rings]
        points = np.concatenate([*parts, np.array([(name.lat, name.lon) for name in self.names]).reshape(-1, 2)])
        (south, west), (north, east) = points.min(axis=0), points.max(axis=0)
        return float(south), float(north), float(west), float(east)

    def geojson(self) -> dict[str, Any]:
        """Return it as a feature collection of GeoJSON with the properties ``kind`` and ``name``."""
        features = []
        for shape in self.shapes:
            parts = [ring[:, ::-1].tolist() for ring in shape.rings]
            line = shape.kind == "line"
            geometry = {"type": "LineString" if line else "Polygon", "coordinates": parts[0] if line else parts}
            features.append({"type": "Feature", "properties": {"kind": shape.kind}, "geometry": geometry})
        for name in self.names:
            point = {"type": "Point", "coordinates": [name.lon, name.lat]}
            properties = {"kind": "name", "name": name.text}
            features.append({"type": "Feature", "properties": properties, "geometry": point})
        return {"type": "FeatureCollection", "features": features}


def outline(path: str | os.PathLike[str]) -> Outline:
    """Read an outline from a GeoJSON file: polygons, lines and named points in degrees (WGS84).

    Polygons are land, with their borders, unless a property such as ``natural`` or ``kind`` calls them water. A
    property ``name`` of a polygon or a point is its name. Nothing else of the file is kept. Raises `FileError` if
    the file cannot be read or is larger than 20 MB. Raises `DataError` if it is not GeoJSON, is not in degrees, or
    holds nothing to draw.
    """
    return outline_of(_read(Path(path)), Path(path).name)


def outline_of(content: bytes | str, source: str) -> Outline:
    """Return the outline of the content of a GeoJSON file, whose name is used in messages; see `outline`."""
    title = repr(plain(source))
    try:
        document = json.loads(content.decode("utf-8-sig") if isinstance(content, bytes) else content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{title} is not GeoJSON: it cannot be read as JSON.", _EXPORT) from error
    if not isinstance(document, dict) or not isinstance(document.get("type"), str):
        raise DataError(f"{title} is not GeoJSON: it has no type.", _EXPORT)
    crs = document.get("crs")
    if crs is not None and not any(code in json.dumps(crs) for code in _DEGREES):
        raise DataError(f"the coordinates in {title} are not in degrees (WGS84).", _EXPORT)
    builder = _Builder()
    try:
        for geometry, properties in _geometries(document, 0):
            builder.add(geometry, properties)
    except _DamagedError as error:
        raise DataError(f"{title} cannot be drawn: {error}.", _EXPORT) from None
    if not builder.shapes:
        raise DataError(
            f"{title} has no polygon and no line to draw.", "give an outline of land, water or streets."
        )
    return Outline(tuple(builder.shapes), tuple(builder.names), plain(source))


def check_there(outline: Outline, places: Places) -> None:
    """Raise `InputError` if an outline and places do not overlap."""
    south, north, west, east = outline.extent
    (low, left), (high, right) = places.latlon.min(axis=0), places.latlon.max(axis=0)
    if south > high or north < low or west > right or east < left:
        raise InputError(
            f"the outline {outline.source!r} lies elsewhere: {south:.3f} to {north:.3f} N, {west:.3f} to "
            f"{east:.3f} E, but the places are within {low:.3f} to {high:.3f} N, {left:.3f} to {right:.3f} E.",
            "give an outline of their region, in degrees with the longitude first.",
        )


class _DamagedError(Exception):
    pass


class _Builder:
    def __init__(self) -> None:
        self.shapes: list[Shape] = []
        self.names: list[Name] = []
        self._points = 0

    def add(self, geometry: dict[str, Any], properties: dict[str, Any]) -> None:
        kind, coordinates = geometry["type"], geometry.get("coordinates")
        if kind == "Point":
            self._name(properties, _numbers([coordinates], 1))
        elif kind == "MultiPoint":
            self._points += len(_numbers(_check_list(coordinates), 0))
        elif kind in ("LineString", "MultiLineString"):
            for line in [coordinates] if kind == "LineString" else _check_list(coordinates):
                self._shape("line", (_numbers(_check_list(line), 2),))
        elif kind in ("Polygon", "MultiPolygon"):
            surface = "water" if any(str(properties.get(key)).lower() in _WATER for key in _KINDS) else "land"
            largest: Floats | None = None
            for polygon in [coordinates] if kind == "Polygon" else _check_list(coordinates):
                rings = tuple(_numbers(_check_list(ring), 4) for ring in _check_list(polygon))
                if not rings:
                    raise _DamagedError("a polygon has no ring")
                self._shape(surface, rings)
                if largest is None or np.ptp(rings[0], axis=0).prod() > np.ptp(largest, axis=0).prod():
                    largest = rings[0]
            if largest is not None:
                self._name(properties, (largest.min(axis=0) + largest.max(axis=0))[None] / 2)
        else:
            raise _DamagedError(f"it has a geometry of the unknown type {plain(kind)[:40]!r}")

    def _shape(self, kind: str, rings: tuple[Floats, ...]) -> None:
        self._points += sum(map(len, rings))
        if self._points > _MOST_POINTS or len(self.shapes) >= _MOST_SHAPES:
            raise _DamagedError(f"it has more than {_MOST_POINTS:,} points or {_MOST_SHAPES:,} shapes")
        self.shapes.append(Shape(kind, rings))

    def _name(self, properties: dict[str, Any], at: Floats) -> None:
        text = next((properties[key] for key in _NAMES if isinstance(properties.get(key), str)), "").strip()
        if text and len(self.names) < _MOST_SHAPES:
            cut = text if len(text) <= _LONGEST_NAME else text[: _LONGEST_NAME - 1] + "…"
            self.names.append(Name(plain(cut), float(at[0, 0]), float(at[0, 1]), 0))


def _geometries(node: Any, depth: int) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each simple geometry with the properties of its feature."""
    if depth > _DEEPEST:
        raise _DamagedError("its geometries are nested too deeply")
    if node is None:
        return
    if not isinstance(node, dict) or not isinstance(node.get("type"), str):
        raise _DamagedError("a part of it has no type")
    if node["type"] == "FeatureCollection":
        for feature in _check_list(node.get("features")):
            yield from _geometries(feature, depth + 1)
    elif node["type"] == "Feature":
        properties = node.get("properties")
        for geometry, _ in _geometries(node.get("geometry"), depth + 1):
            yield geometry, properties if isinstance(properties, dict) else {}
    elif node["type"] == "GeometryCollection":
        for geometry in _check_list(node.get("geometries")):
            yield from _geometries(geometry, depth + 1)
    else:
        yield node, {}


def _check_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise _DamagedError("its coordinates are not lists")
    return value


def _numbers(points: list[Any], least: int) -> Floats:
    """Return positions as latitude and longitude, array (n, 2), degrees."""
    if len(points) < least:
        raise _DamagedError(f"a ring or line has {len(points)} points, and needs {least}")
    if len(points) > _MOST_POINTS:
        raise _DamagedError(f"it has more than {_MOST_POINTS:,} points")
    positions = []
    for point in points:
        if not isinstance(point, list) or len(point) < 2:
            raise _DamagedError("a position is not a longitude and a latitude")
        pair = point[:2]
        if any(isinstance(number, bool) or not isinstance(number, int | float) for number in pair):
            raise _DamagedError("a position is not made of numbers")
        lon, lat = pair
        if not (-90 <= lat <= 90 and -180 <= lon <= 180):  # also false for NaN
            text = ", ".join(f"{number:g}" if isinstance(number, float) else str(number)[:12] for number in pair)
            raise _DamagedError(f"the position {text} is not a longitude and a latitude in degrees")
        positions.append((float(lat), float(lon)))
    return readonly(np.array(positions, dtype=float).reshape(-1, 2))


def _read(path: Path) -> bytes:
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        content = b""
        if regular:
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FileError(f"{str(path)!r} could not be read ({reason}).", "check the path.") from error
    if not regular:
        raise FileError(f"{str(path)!r} is not a file.", "give a GeoJSON file.")
    if len(content) > MOST_BYTES:
        raise FileError(
            f"{str(path)!r} is larger than {MOST_BYTES // 10**6} MB.",
            "simplify the outline, or cut out the region.",
        )
    return content


@dataclass(frozen=True, slots=True)
class Name:
    """A name at a place, latitude and longitude in degrees."""

    text: str
    lat: float
    lon: float
    visits: int  # to the place; 0 for names of an outline


def most_visited(visits: Visits) -> list[Name]:
    """Return the names of the most visited places, the most visited first.

    Names are those of a column ``name``, ``place``, ``venue`` or the like; without one there are none. A
    name stands at the median of its visits. Names of one visit only, and names of several places, such as those
    of a chain of shops, are left out.
    """
    column = next((visits.attributes[key] for key in _COLUMNS if key in visits.attributes), None)
    if column is None or column.dtype.kind not in "OUT":
        return []
    texts = [cell.strip() if isinstance(cell, str) else "" for cell in column.tolist()]
    counts = Counter(filter(None, texts))
    names: list[Name] = []
    array = np.array(texts, dtype=object)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    for text, number in ranked[: 2 * _MOST_NAMES]:
        if number >= _LEAST_VISITS and len(names) < _MOST_NAMES:
            mask = array == text
            lat, lon = visits.lat[mask], visits.lon[mask]
            at = float(np.median(lat)), float(np.median(lon))
            away = np.linalg.norm(Projection(*at).forward(lat, lon), axis=1)
            if np.quantile(away, 0.9) > _SPREAD_M:
                continue
            names.append(Name(plain(shorten(text, _LONGEST)), *at, number))
    return names


def world_outline(places: Places) -> Outline | None:
    """Return the map of the world around places; None if it would be too large."""
    corners = places.outlines_latlon().reshape(-1, 2)
    low, high = corners.min(axis=0), corners.max(axis=0)
    low, high = low - _MARGIN * (high - low), high + _MARGIN * (high - low)
    south, west, north, east = (float(degrees) for degrees in np.clip((*low, *high), *_GLOBE))
    try:
        globe = world(south, west, north, east)
    except InputError:
        return None
    frame = readonly(np.array([(south, west), (south, east), (north, east), (north, west), (south, west)]))
    shapes = [Shape("water", (frame,), edge=False)]
    shores = [(line,) for line in globe.shores]
    for kind, parts in (("land", globe.land), ("shore", shores), ("water", globe.water)):
        shapes += [Shape(kind, part, edge=False) for part in parts]
    for kind, lines in (("river", globe.rivers), ("border", globe.borders)):
        shapes += [Shape(kind, (line,)) for line in lines]
    names = tuple(Name(plain(town.name), town.lat, town.lon, 0) for town in globe.towns[:_MOST_TOWNS])
    return Outline(tuple(shapes), names, CREDIT)
