"""The formats that visits come in: each is described in one place, and listed here."""

from typing import Final

from .format import Format, RawVisits, Wanted, cleaned
from .geojson import GEOJSON
from .geolife import GEOLIFE
from .google import GOOGLE
from .gpx import GPX
from .people import PEOPLE, People, check_people, no_files, person_at, with_people
from .table import ARROW, FOURSQUARE, IN_DEGREES, PARQUET, SNAP, TEXT, PlaceColumns, read_frame

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
    "no_files",
    "person_at",
    "read_frame",
    "with_people",
]
