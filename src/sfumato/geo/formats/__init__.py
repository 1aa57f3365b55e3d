"""Readers of visits, one per file format."""

from typing import Final

from .format import (
    PEOPLE,
    Format,
    People,
    RawVisits,
    Wanted,
    check_people,
    cleaned,
    each_file,
    no_files,
    person_at,
    with_people,
)
from .geojson import GEOJSON
from .google import GOOGLE
from .table import ARROW, FOURSQUARE, IN_DEGREES, PARQUET, SNAP, TEXT, PlaceColumns, read_frame
from .tracks import GEOLIFE, GPX

EVERY: Final[tuple[Format, ...]] = (TEXT, PARQUET, ARROW, GEOLIFE, GPX, GEOJSON, GOOGLE, SNAP, FOURSQUARE)
"""All formats. A file is read by the first one that it matches."""

__all__ = [
    "EVERY",
    "IN_DEGREES",
    "PEOPLE",
    "Format",
    "People",
    "PlaceColumns",
    "RawVisits",
    "Wanted",
    "check_people",
    "cleaned",
    "each_file",
    "no_files",
    "person_at",
    "read_frame",
    "with_people",
]
