"""Map of the world at the scale of a city: land, water, rivers, borders and towns, from one packed file."""

from __future__ import annotations

import lzma
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.arrays import Bools, Floats
from ..core.immutable import CompactRepr
from ..errors import InputError

PATH: Final = Path(__file__).with_name("world.bin")
"""The packed map; `release/world.py` makes it."""

CREDIT: Final = "© OpenStreetMap contributors, GSHHG, GeoNames"
"""What a drawing of the map must show."""

WIDEST: Final = 30.0
"""Widest map, degrees."""

TILE: Final = 5
MARGIN: Final = 0.02  # degrees by which tiles overlap, so that no seam shows between them
STEP: Final = 5e-4
LAYERS: Final = ("land", "lakes", "inlets", "rivers", "borders")
FILTERS: Final[list[dict[str, Any]]] = [
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20, "pb": 0}
]
_BLOCK: Final = 2048  # points

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Town:
    """A town, with its centre in degrees; its population is rounded down to hundreds."""

    name: str
    lat: float
    lon: float
    population: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class World(CompactRepr):
    """Land, water, rivers, borders and towns within bounds; points are arrays (n, 2) of latitude and longitude."""

    land: tuple[tuple[Floats, ...], ...]  # polygons: the outer ring, then the holes
    water: tuple[tuple[Floats, ...], ...]
    shores: tuple[Floats, ...]  # lines around land and water, without the bounds themselves
    rivers: tuple[Floats, ...]
    borders: tuple[Floats, ...]
    towns: tuple[Town, ...]  # the largest first

    def on_land(self, lat: ArrayLike, lon: ArrayLike) -> Bools:
        """Return whether points within the bounds, arrays in degrees, are on land and not in a lake."""
        points = np.stack(np.broadcast_arrays(lat, lon), axis=-1).astype(float)
        flat = points.reshape(-1, 2)
        land, water = (_inside(getattr(self, name), flat) for name in ("land", "water"))
        return np.asarray((land & ~water).reshape(points.shape[:-1]))

    def features(self) -> list[dict[str, Any]]:
        """Return the features of GeoJSON, each with a property ``kind``."""
        kinds = (("land", "MultiPolygon"), ("water", "MultiPolygon"))
        found = [
            _feature(kind, form, [[_lonlat(ring) for ring in rings] for rings in getattr(self, kind)])
            for kind, form in kinds
        ]
        found += [
            _feature(kind, "MultiLineString", [_lonlat(line) for line in getattr(self, kind)])
            for kind in ("shores", "rivers", "borders")
        ]
        found += [
            _feature("town", "Point", [town.lon, town.lat], name=town.name, population=town.population)
            for town in self.towns
        ]
        return found


def _inside(polygons: tuple[tuple[Floats, ...], ...], points: Floats) -> Bools:
    """Return whether points (n, 2) are inside any polygon."""
    inside = np.zeros(len(points), dtype=bool)
    for rings in polygons:
        near = np.flatnonzero(((points >= rings[0].min(axis=0)) & (points <= rings[0].max(axis=0))).all(axis=1))
        for some in np.split(near, range(_BLOCK, len(near), _BLOCK)):
            odd = np.zeros(len(some), dtype=bool)
            for ring in rings:
                (y, x), (a, b) = points[some].T[..., None], (ring[:-1], ring[1:])
                crosses = (a[:, 0] > y) != (b[:, 0] > y)
                slope = np.divide(
                    b[:, 1] - a[:, 1], b[:, 0] - a[:, 0], where=a[:, 0] != b[:, 0], out=np.zeros(len(a))
                )
                odd ^= (crosses & (x < a[:, 1] + (y - a[:, 0]) * slope)).sum(axis=1) % 2 == 1
            inside[some] |= odd
    return inside


def _feature(kind: str, form: str, coordinates: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": form, "coordinates": coordinates}
    return {"type": "Feature", "properties": {"kind": kind, **properties}, "geometry": geometry}


def _lonlat(points: Floats) -> list[list[float]]:
    return np.round(points[:, ::-1], 5).tolist()  # type: ignore[no-any-return]


def world(south: float, west: float, north: float, east: float) -> World:
    """Return the map within bounds in degrees.

    Raises:
        InputError: If the bounds are not in order, lie outside of the globe or are wider than 30 degrees.
    """
    if not (-90 <= south < north <= 90 and -180 <= west < east <= 180):  # also false for NaN
        raise InputError(
            "these are no bounds of a map.", "give south below north, and west below east, in degrees."
        )
    if max(north - south, east - west) > WIDEST:
        raise InputError(f"the map is wider than {WIDEST:g} degrees.", "give a smaller region.")
    layers: dict[str, list[tuple[Floats, ...]]] = {name: [] for name in LAYERS}
    shores: list[Floats] = []
    towns: list[Town] = []
    for row in range(_index(south, 90, 180), _index(north, 90, 180) + 1):
        for column in range(_index(west, 180, 360), _index(east, 180, 360) + 1):
            tile, corner = _tile(row, column), np.array([row * TILE - 90.0, column * TILE - 180.0])
            low = np.maximum((south, west), corner - MARGIN)
            high = np.minimum((north, east), corner + TILE + MARGIN)
            inner = np.maximum(low, corner), np.minimum(high, corner + TILE)
            for name in LAYERS:
                for rings in tile.within(name, low, high):
                    if name in ("rivers", "borders"):
                        layers[name] += [(part,) for part in _clip_line(rings[0], *inner)]
                        continue
                    clipped = tuple(
                        ring for ring in (_clip_ring(each, low, high) for each in rings) if len(ring) > 3
                    )
                    layers[name] += [clipped] if clipped else []
                    if name != "inlets":  # these end in the sea
                        shores += [part for ring in rings for part in _clip_line(ring, *inner)]
            towns += [town for town in tile.towns if south <= town.lat <= north and west <= town.lon <= east]
    rivers, borders = (tuple(part for (part,) in layers[name]) for name in ("rivers", "borders"))
    water = tuple(layers["lakes"] + layers["inlets"])
    towns.sort(key=lambda town: -town.population)
    return World(tuple(layers["land"]), water, tuple(shores), rivers, borders, tuple(towns))


def _index(degrees: float, shift: int, whole: int) -> int:
    return min(int((degrees + shift) // TILE), whole // TILE - 1)


@dataclass(frozen=True, slots=True)
class _Tile:
    """The content of one tile."""

    layers: dict[str, tuple[Floats, Floats, list[tuple[Floats, ...]]]]  # lowest and highest points, and the shapes
    towns: tuple[Town, ...]

    def within(self, name: str, low: Floats, high: Floats) -> list[tuple[Floats, ...]]:
        """Return the shapes of a layer whose box meets that of two corners."""
        lowest, highest, shapes = self.layers[name]
        meets = ((lowest <= high) & (highest >= low)).all(axis=1)
        return [shapes[at] for at in np.flatnonzero(meets)]


@cache
def _packed() -> tuple[bytes, Ints]:
    """Return the packed file, and where each tile begins and ends."""
    content = PATH.read_bytes()
    number = (180 // TILE) * (360 // TILE)
    sizes = np.frombuffer(content, dtype="<u4", count=number).astype(np.int64)
    return content, 4 * number + np.concatenate([[0], np.cumsum(sizes)])


@lru_cache(maxsize=64)
def _tile(row: int, column: int) -> _Tile:
    content, ends = _packed()
    at = row * (360 // TILE) + column
    blob = content[ends[at] : ends[at + 1]]
    raw = lzma.decompress(blob, lzma.FORMAT_RAW, filters=FILTERS) if blob else bytes(4)
    size = 4 + int.from_bytes(raw[:4], "little")
    numbers, origin = unpack_ints(raw[4:size]), np.array([column * TILE - 180, row * TILE - 90])
    place = 0

    def take(number: int) -> Ints:
        nonlocal place
        place += number
        return numbers[place - number : place]

    def count() -> int:
        return int(take(1)[0]) if len(numbers) else 0

    layers = {}
    for name in LAYERS:
        rings_of = take(count())
        lengths = take(int(rings_of.sum()))
        steps = np.column_stack([take(int(lengths.sum())) for _ in range(2)])
        steps = np.where(steps % 2, -(steps + 1) // 2, steps // 2)
        ends_of, rings = np.cumsum(lengths), []
        for start, end in zip(ends_of - lengths, ends_of, strict=True):
            rings.append((origin + STEP * np.cumsum(steps[start:end], axis=0))[:, ::-1])
        firsts = np.cumsum(rings_of) - rings_of
        shapes = [tuple(rings[a : a + b]) for a, b in zip(firsts, rings_of, strict=True)]
        lowest = np.array([shape[0].min(axis=0) for shape in shapes]).reshape(-1, 2)
        layers[name] = lowest, np.array([shape[0].max(axis=0) for shape in shapes]).reshape(-1, 2), shapes
    number = count()
    x, y, people = (take(number) for _ in range(3))
    names = raw[size:].decode().split("\n")
    towns = tuple(
        Town(names[k], round(origin[1] + STEP * y[k], 4), round(origin[0] + STEP * x[k], 4), 100 * int(people[k]))
        for k in range(number)
    )
    return _Tile(layers, towns)


def _clip_ring(ring: Floats, low: Floats, high: Floats) -> Floats:
    """Return the part of a closed ring in a box, by Sutherland and Hodgman: it may run along the box's sides."""
    for axis in (0, 1):
        for limit, sign in ((low[axis], 1), (high[axis], -1)):
            depth = sign * (ring[:, axis] - limit)
            if not len(ring) or (depth >= 0).all():
                continue
            inside = depth >= 0
            crossing = np.flatnonzero(inside[:-1] != inside[1:])
            share = (depth[crossing] / (depth[crossing] - depth[crossing + 1]))[:, None]
            cut = ring[crossing] + share * (ring[crossing + 1] - ring[crossing])
            cut[:, axis] = limit
            order = np.argsort(np.concatenate([np.flatnonzero(inside), crossing + 0.5]), kind="stable")
            ring = np.concatenate([ring[inside], cut])[order]
            if len(ring) and (ring[0] != ring[-1]).any():
                ring = np.concatenate([ring, ring[:1]])
    return ring


def _clip_line(line: Floats, low: Floats, high: Floats) -> list[Floats]:
    """Return the parts of a line in a box, by Liang and Barsky."""
    start, step = line[:-1], np.diff(line, axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (low - start) / step, (high - start) / step
    still = step == 0
    outside = (still & ((start < low) | (start > high))).any(axis=1)
    enter = np.where(still, 0.0, np.minimum(one, other)).max(axis=1).clip(0, 1)
    leave = np.where(still, 1.0, np.maximum(one, other)).min(axis=1).clip(0, 1)
    kept = np.flatnonzero((enter < leave) & ~outside)
    if not len(kept):
        return []
    breaks = np.flatnonzero((np.diff(kept) > 1) | (leave[kept[:-1]] < 1) | (enter[kept[1:]] > 0)) + 1
    parts = []
    for run in np.split(kept, breaks):
        ends = start[run] + leave[run, None] * step[run]
        parts.append(np.concatenate([(start[run[0]] + enter[run[0]] * step[run[0]])[None], ends]))
    return parts


def pack_ints(numbers: Ints) -> bytes:
    """Return integers, at least 0 and below 2**35, as variable-length bytes: seven bits each, the lowest first."""
    sizes = 1 + (numbers[:, None] >= 1 << 7 * np.arange(1, 5)).sum(axis=1)
    starts = np.cumsum(sizes) - sizes
    packed = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for k in range(5):
        some = sizes > k
        packed[starts[some] + k] = (numbers[some] >> 7 * k) & 127 | np.where(sizes[some] > k + 1, 128, 0)
    return packed.tobytes()


def unpack_ints(packed: bytes) -> Ints:
    """Return the integers of `pack_ints`."""
    digits = np.frombuffer(packed, dtype=np.uint8).astype(np.int64)
    if not len(digits):
        return digits
    starts = np.flatnonzero(np.r_[True, digits[:-1] < 128])
    index = np.arange(len(digits)) - np.repeat(starts, np.diff(np.r_[starts, len(digits)]))
    return np.add.reduceat((digits & 127) << 7 * index, starts)
