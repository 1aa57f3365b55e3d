"""Basemap of the page's map: a PMTiles file of this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from sfumato.errors import InputError, argument

# Header of PMTiles version 3: https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
_MAGIC: Final = b"PMTiles"
_VERSION: Final = 3
_HEADER_BYTES: Final = 127
_COMPRESSIONS: Final = slice(97, 99)  # of the directories, and of the tiles
_READABLE: Final = frozenset({0, 1, 2})  # unknown, none and gzip: what the library of the page reads
_TILE_TYPE: Final = 99
_TILE_TYPES: Final = range(1, 7)  # MVT, PNG, JPEG, WebP, AVIF, MLT


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
