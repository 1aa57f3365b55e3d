"""Routes of the world map, GeoJSON within a box, and of the basemap file."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final

import numpy as np
from fastapi import APIRouter, Query
from starlette.responses import FileResponse, Response

from sfumato.core.arrays import Floats
from sfumato.geo import World, world

from ..errors import RefusedError
from . import ERRORS, AStudio

world_map = APIRouter(prefix="/api", tags=["world"], responses=ERRORS)

_WIDEST: Final = 10.0  # degrees
_GEOJSON: Final = "application/geo+json"
_CONTENT: Final = {_GEOJSON: {"schema": {"type": "object"}}}
_PMTILES: Final = "application/vnd.pmtiles"
_TILES: Final = {_PMTILES: {"schema": {"type": "string", "format": "binary"}}}
Latitude = Annotated[float, Query(ge=-90, le=90)]
Longitude = Annotated[float, Query(ge=-180, le=180)]


@world_map.get(
    "/world",
    response_class=Response,
    responses={200: {"content": _CONTENT}},
)
def world_within(west: Longitude, south: Latitude, east: Longitude, north: Latitude) -> Response:
    """Return land, water, shores, rivers, borders and towns within a box of at most 10 degrees, in degrees."""
    if max(east - west, north - south) > _WIDEST:
        raise RefusedError(422, f"The box is wider than {_WIDEST:g} degrees.", "send a smaller one.", "east")
    features = _features(world(south, west, north, east))
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


def _features(held: World) -> list[dict[str, Any]]:
    """Return the features of GeoJSON, each with a property ``kind``."""
    areas = (
        (kind, [[_lonlat(ring) for ring in rings] for rings in getattr(held, kind)]) for kind in ("land", "water")
    )
    lines = ((kind, [_lonlat(line) for line in getattr(held, kind)]) for kind in ("shores", "rivers", "borders"))
    return [
        *(_feature(kind, "MultiPolygon", shapes) for kind, shapes in areas),
        *(_feature(kind, "MultiLineString", shapes) for kind, shapes in lines),
        *(_feature("town", "Point", [each.lon, each.lat], name=each.name) for each in held.towns),
    ]


def _feature(kind: str, form: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": form, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"kind": kind, **properties}, "geometry": geometry}


def _lonlat(points: Floats) -> list[list[float]]:
    found: list[list[float]] = np.round(points[:, ::-1], 5).tolist()
    return found
