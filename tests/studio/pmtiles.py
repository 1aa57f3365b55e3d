"""PMTiles files of one tile, which covers the world."""

import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

VECTOR, PNG = 1, 2
"""Types of tiles."""
_NONE, _GZIP = 1, 2
_EXTENT = 4096


def varint(number: int) -> bytes:
    """Return an integer of protocol buffers."""
    low, rest = number & 0x7F, number >> 7
    return bytes([low | 0x80]) + varint(rest) if rest else bytes([low])


def field(number: int, value: int | bytes) -> bytes:
    """Return a field of protocol buffers."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def vector_tile(layers: Iterable[tuple[str, str]]) -> bytes:
    """Return a vector tile whose layers, by name and ``kind``, all cover it."""
    side = _EXTENT << 1  # as a zigzag integer
    square = (9, 0, 0, 26, side, 0, 0, side, side - 1, 0, 15)  # move, three lines and the way back
    tile = b""
    for name, kind in layers:
        feature = field(2, bytes([0, 0])) + field(3, 3) + field(4, b"".join(map(varint, square)))
        value = field(4, field(1, kind.encode()))
        text = field(1, name.encode()) + field(2, feature) + field(3, b"kind") + value
        tile += field(3, text + field(5, _EXTENT) + field(15, 2))
    return tile


def raster_tile(colour: tuple[int, int, int]) -> bytes:
    """Return a tile of one colour as PNG."""
    file = io.BytesIO()
    Image.new("RGB", (256, 256), colour).save(file, "png")
    return file.getvalue()


def write_pmtiles(path: Path, tile: bytes, kind: int, **metadata: object) -> Path:
    """Write a file of version 3 with one tile at zoom 0; return its path."""
    compression = _GZIP if kind == VECTOR else _NONE
    tile = gzip.compress(tile) if compression == _GZIP else tile
    # one entry: tile 0, one time, of that length, at the first byte
    root = gzip.compress(b"".join(map(varint, (1, 0, 1, len(tile), 1))))
    about = gzip.compress(json.dumps(metadata).encode())
    parts, numbers = [root, about, b"", tile], []
    at = 127
    for part in parts:
        numbers += [at, len(part)]
        at += len(part)
    header = b"PMTiles\x03" + b"".join(number.to_bytes(8, "little") for number in [*numbers, 1, 1, 1])
    header += bytes([1, _GZIP, compression, kind, 0, 0])
    degrees = [number.to_bytes(4, "little", signed=True) for number in (-1_800_000_000, -850_000_000)]
    degrees += [number.to_bytes(4, "little") for number in (1_800_000_000, 850_000_000)]
    header += b"".join(degrees) + bytes(9)  # the middle: zoom, longitude and latitude
    assert len(header) == 127
    path.write_bytes(header + b"".join(parts))
    return path
