"""The formats that visits come in: each is described in one place, and listed here."""

from typing import Final

from .checkins import FOURSQUARE, SNAP
from .format import Format, Wanted
from .geojson import GEOJSON
from .geolife import GEOLIFE
from .google import GOOGLE
from .gpx import GPX
from .rows import RawVisits, cleaned
from .table import ARROW, PARQUET, TEXT, PlaceColumns, read_frame

EVERY: Final[tuple[Format, ...]] = (TEXT, PARQUET, ARROW, GEOLIFE, GPX, GEOJSON, GOOGLE, SNAP, FOURSQUARE)
"""All formats. A file is read by the first one that it matches."""

__all__ = ["EVERY", "Format", "PlaceColumns", "RawVisits", "Wanted", "cleaned", "read_frame"]
