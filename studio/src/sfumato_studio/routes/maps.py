"""Routes of maps: places and the world as GeoJSON, the visitor's outline and the file of the basemap."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, Response

from sfumato.core import great_circle_m
from sfumato.core.arrays import Floats
from sfumato.errors import InputError, argument
from sfumato.geo import Places, World, world
from sfumato.reports.maps import outline_of

from ..answers import MapAnswer, WorkspaceAnswer
from ..errors import RefusedError
from ..serializers import workspace_answer
from . import BODY, ERRORS, AStudio, AWorkspace

maps = APIRouter(prefix="/api/workspaces/{workspace}", tags=["sites"], responses=ERRORS)
world_map = APIRouter(prefix="/api", tags=["world"], responses=ERRORS)

_WIDEST: Final = 30.0  # degrees of the part of the world that is served
_DETAILED: Final = 10.0  # degrees of a part that is served with all points and towns
_STEPS: Final = 2500  # of a wider part: points of a line less than one step apart are merged
_GEOJSON: Final = "application/geo+json"
_CONTENT: Final = {_GEOJSON: {"schema": {"type": "object"}}}
_PMTILES: Final = "application/vnd.pmtiles"
_TILES: Final = {_PMTILES: {"schema": {"type": "string", "format": "binary"}}}
Latitude = Annotated[float, Query(ge=-90, le=90)]
Longitude = Annotated[float, Query(ge=-180, le=180)]

_MOST_TOWNS: Final = 500  # that give names to places, or are in a wide part of the world
_AROUND: Final = 0.1  # degrees around the places in which towns give names
_WIDEST_NAMED: Final = 30.0  # degrees of places that towns give names
_NEAR_M: Final = 30_000.0
_DIRECTIONS: Final = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")

# Header of PMTiles version 3: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
_MAGIC: Final = b"PMTiles"
_VERSION: Final = 3
_HEADER_BYTES: Final = 127
_COMPRESSIONS: Final = slice(97, 99)  # of the directories, and of the tiles
_READABLE: Final = frozenset({0, 1, 2})  # unknown, none and gzip: what the library of the page reads
_TILE_TYPE: Final = 99
_TILE_TYPES: Final = range(1, 7)  # MVT, PNG, JPEG, WebP, AVIF, MLT


@maps.get("/map")
def show_map(studio: AStudio, workspace: AWorkspace) -> MapAnswer:
    """Return the places as GeoJSON, degrees, with how often people are at each."""
    domain = studio.domain(workspace)
    places = domain.space
    if not isinstance(places, Places):
        raise RefusedError(409, "The data are no places.", "see /values.")
    rings = places.outlines_latlon().round(7)[..., ::-1]
    cells, shares = [], domain.prior.probabilities
    for index, (name, ring) in enumerate(zip(names_of(places), rings.tolist(), strict=True)):
        lat, lon = places.latlon[index].tolist()
        visits, share = round(float(domain.counts[index]), 3), float(shares[index])
        geometry = {"type": "Polygon", "coordinates": [[*ring, ring[0]]]}
        properties = {"name": name, "visits": visits, "share": share, "lat": lat, "lon": lon}
        cells.append({"type": "Feature", "id": index, "geometry": geometry, "properties": properties})
    return MapAnswer.model_validate(
        {
            "cells": {"type": "FeatureCollection", "features": cells},
            "outline": workspace["outline"],
            "bounds": [*rings.min(axis=(0, 1)).tolist(), *rings.max(axis=(0, 1)).tolist()],
        }
    )


@maps.put("/outline", openapi_extra=BODY)
async def set_outline(studio: AStudio, workspace: AWorkspace, request: Request) -> WorkspaceAnswer:
    """Keep an outline to draw the map on: GeoJSON in degrees, of land, water and names. The body is the file."""
    content = b"".join([block async for block in request.stream()])
    outline = await run_in_threadpool(outline_of, content, "the outline")
    await run_in_threadpool(studio.store.draw, workspace["id"], outline.geojson())
    return await run_in_threadpool(workspace_answer, studio, workspace["id"])


@maps.delete("/outline")
def forget_outline(studio: AStudio, workspace: AWorkspace) -> WorkspaceAnswer:
    """Forget the outline; the map of the world is shown."""
    studio.store.draw(workspace["id"], None)
    return workspace_answer(studio, workspace["id"])


@world_map.get("/world", response_class=Response, responses={200: {"content": _CONTENT}})
def world_within(west: Longitude, south: Latitude, east: Longitude, north: Latitude) -> Response:
    """Return land, water, shores, rivers, borders and towns within a box of at most 30 degrees, in degrees.

    A box wider than 10 degrees has fewer points and towns.
    """
    side = max(east - west, north - south)
    if side > _WIDEST:
        raise RefusedError(422, f"The box is wider than {_WIDEST:g} degrees.", "send a smaller one.", "east")
    features = _features(world(south, west, north, east), side / _STEPS if side > _DETAILED else None)
    content = json.dumps({"type": "FeatureCollection", "features": features}, separators=(",", ":"))
    return Response(content, media_type=_GEOJSON)


@world_map.get(
    "/basemap.pmtiles",
    response_class=FileResponse,
    responses={
        200: {"content": _TILES},
        206: {"content": _TILES, "description": "The part of the file that the header Range names."},
        416: {"description": "The file has no such part."},
    },
)
def basemap(studio: AStudio) -> FileResponse:
    """Return the PMTiles file of the basemap, or the part that the header Range names."""
    if studio.basemap is None:
        raise RefusedError(404, "The studio was started without a basemap.", "start it with --basemap FILE.")
    if not studio.basemap.is_file():
        raise RefusedError(404, "The file of the basemap is gone.", "start the studio again with --basemap FILE.")
    return FileResponse(studio.basemap, media_type=_PMTILES)


def check_basemap(path: Path) -> Path:
    """Return the absolute path of a PMTiles file that the page can draw; `InputError` if it cannot."""
    leave = f"or leave {argument('basemap')} out for the built-in map."
    hint = f"name a PMTiles file of version 3, {leave}"
    try:
        if not path.is_file():
            raise InputError(f"the basemap {path} is missing or not a file.", hint)
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except OSError as error:
        raise InputError(f"the basemap {path} cannot be read ({error.strerror or error}).", hint) from None
    if not header.startswith(_MAGIC):
        raise InputError(f"the basemap {path} is not a PMTiles file.", hint)
    if header[len(_MAGIC) : len(_MAGIC) + 1] != bytes([_VERSION]):
        raise InputError(f"the basemap {path} is not PMTiles of version {_VERSION}.", hint)
    if len(header) < _HEADER_BYTES:
        raise InputError(f"the basemap {path} is incomplete.", f"download it again, {leave}")
    if not _READABLE.issuperset(header[_COMPRESSIONS]):
        raise InputError(f"the basemap {path} is not compressed with gzip.", f"use a file with gzip, {leave}")
    if header[_TILE_TYPE] not in _TILE_TYPES:
        raise InputError(
            f"the basemap {path} has tiles of an unknown type.", f"use vector or raster tiles, {leave}"
        )
    return path.absolute()


def names_of(places: Places) -> list[str]:
    """Return a unique name for each place: the town inside, or the nearest one with distance and direction.

    Towns are those of the world map. Where names would be the same, column and row take the place of the distance.
    """
    labels, here = [_label_phrase(str(label)) for label in places.labels], places.latlon
    low = np.maximum(here.min(axis=0) - _AROUND, (-90, -180)).tolist()
    high = np.minimum(here.max(axis=0) + _AROUND, (90, 180)).tolist()
    wide = max(high[0] - low[0], high[1] - low[1]) > _WIDEST_NAMED
    towns = () if wide else world(*low, *high).towns[:_MOST_TOWNS]
    if not towns:
        return labels
    there, outlines = np.array([(town.lat, town.lon) for town in towns]), places.outlines_latlon()
    away = great_circle_m(here, there)
    nearest, home = away.argmin(axis=1), away.argmin(axis=0)
    around = outlines[home]
    inside = ((there >= around.min(axis=1)) & (there < around.max(axis=1))).all(axis=1)
    names: list[str] = []
    for index, at in enumerate(nearest.tolist()):
        within = np.flatnonzero(inside & (home == index))
        if len(within):
            names.append(towns[within[0]].name)  # the largest
        elif away[index, at] > _NEAR_M:
            names.append(labels[index])
        else:
            kilometres = f"{away[index, at] / 1000:.1f} km"
            names.append(f"{towns[at].name}, {kilometres} {_direction(here[index] - there[at], here[index, 0])}")
    often = Counter(names)
    return [
        name if often[name] == 1 else f"near {towns[at].name} ({label})"
        for name, at, label in zip(names, nearest.tolist(), labels, strict=True)
    ]


def _direction(step: Floats, lat: float) -> str:
    """Return the direction of a step in latitude and longitude, degrees, at a latitude."""
    north, east = step[0], step[1] * math.cos(math.radians(lat))
    return _DIRECTIONS[round(math.atan2(east, north) / (math.pi / 4)) % 8]


def _label_phrase(label: str) -> str:
    """Return the label of a grid's place in words: x03y02 is the fourth column from the west, the third row."""
    match = re.fullmatch(r"x(\d+)y(\d+)", label)
    return f"column {int(match[1]) + 1}, row {int(match[2]) + 1}" if match else label


def _features(part: World, step: float | None) -> list[dict[str, Any]]:
    """Return the features of GeoJSON, each with a property ``kind``; with a step, in degrees, fewer of them."""
    areas = ((kind, [_lines(shape, step, 4) for shape in getattr(part, kind)]) for kind in ("land", "water"))
    lines = ((kind, _lines(getattr(part, kind), step, 2)) for kind in ("shores", "rivers", "borders"))
    return [
        *(_feature(kind, "MultiPolygon", [shape for shape in shapes if shape]) for kind, shapes in areas),
        *(_feature(kind, "MultiLineString", shapes) for kind, shapes in lines),
        *(
            _feature("town", "Point", [town.lon, town.lat], name=town.name)
            for town in (part.towns if step is None else part.towns[:_MOST_TOWNS])
        ),
    ]


def _lines(lines: Sequence[Floats], step: float | None, fewest: int) -> list[list[list[float]]]:
    """Return lines as longitudes and latitudes; with a step, in degrees, without details smaller than it.

    Points in one square of a grid are merged if they follow each other. Lines of less than ``fewest`` points then
    are left out.
    """
    if step is not None:
        lines = [thin for line in lines if len(thin := _thin_line(line, step)) >= fewest]
    return [_lonlat(line) for line in lines]


def _thin_line(line: Floats, step: float) -> Floats:
    squares = np.round(line / step)
    mask = np.concatenate([[True], (np.diff(squares, axis=0) != 0).any(axis=1)])
    mask[-1] = True
    thinned: Floats = line[mask]
    return thinned


def _feature(kind: str, form: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": form, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"kind": kind, **properties}, "geometry": geometry}


def _lonlat(points: Floats) -> list[list[float]]:
    lonlat: list[list[float]] = np.round(points[:, ::-1], 5).tolist()
    return lonlat
