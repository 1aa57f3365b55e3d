"""The formats that visits come in: each is described in one place, and listed here."""

from typing import Final

from .checkins import FOURSQUARE, SNAP
from .format import Format, Wanted
from .geolife import GEOLIFE
from .gpx import GPX
from .rows import RawVisits, cleaned
from .table import PARQUET, TEXT, PlaceColumns, read_frame

EVERY: Final[tuple[Format, ...]] = (TEXT, PARQUET, GEOLIFE, GPX, SNAP, FOURSQUARE)
"""All formats. A file is read by the first one that it matches."""

__all__ = ["EVERY", "Format", "PlaceColumns", "RawVisits", "Wanted", "cleaned", "read_frame"]
