"""Map of the world at the scale of a city: land, water, rivers, borders and towns, from one packed file."""

from __future__ import annotations

import lzma
import math
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import great_circle_m
from ..core.arrays import Bools, Floats
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..rounding import amount

PATH: Final = Path(__file__).with_name("world.bin")
"""The packed map; `release/world.py` makes it."""

CREDIT: Final = "© OpenStreetMap contributors, GSHHG, GeoNames"
"""What a drawing of the map must show."""

TILE: Final = 5
MARGIN: Final = 0.02  # degrees by which tiles overlap, so that no seam shows between them
STEP: Final = 5e-4
LAYERS: Final = ("land", "lakes", "inlets", "rivers", "borders")
FILTERS: Final[list[dict[str, Any]]] = [
    {"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 20, "pb": 0}
]
_WIDEST: Final = 30.0  # degrees
_BLOCK: Final = 2048  # points
_NEAR_M: Final = 100_000.0
_FAR_M: Final = 300_000.0
_IN_TOWN_M: Final = 15_000.0
_LARGE: Final = 70_000  # people of a large town

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
    """Map within bounds; points are arrays (n, 2), latitude and longitude in degrees."""

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


def _inside(polygons: tuple[tuple[Floats, ...], ...], points: Floats) -> Bools:
    """Return whether points (n, 2) are inside any polygon."""
    inside = np.zeros(len(points), dtype=bool)
    for rings in polygons:
        near = np.flatnonzero(((points >= rings[0].min(axis=0)) & (points <= rings[0].max(axis=0))).all(axis=1))
        for rows in np.split(near, range(_BLOCK, len(near), _BLOCK)):
            odd = np.zeros(len(rows), dtype=bool)
            for ring in rings:
                (y, x), (a, b) = points[rows].T[..., None], (ring[:-1], ring[1:])
                crosses = (a[:, 0] > y) != (b[:, 0] > y)
                slope = np.divide(
                    b[:, 1] - a[:, 1], b[:, 0] - a[:, 0], where=a[:, 0] != b[:, 0], out=np.zeros(len(a))
                )
                odd ^= (crosses & (x < a[:, 1] + (y - a[:, 0]) * slope)).sum(axis=1) % 2 == 1
            inside[rows] |= odd
    return inside


def world(south: float, west: float, north: float, east: float) -> World:
    """Return the map within bounds in degrees; `InputError` if these are none, or wider than 30 degrees."""
    if not (-90 <= south < north <= 90 and -180 <= west < east <= 180):  # also false for NaN
        raise InputError(
            "these are no bounds of a map.", "give south below north, and west below east, in degrees."
        )
    if max(north - south, east - west) > _WIDEST:
        raise InputError(f"the map is wider than {_WIDEST:g} degrees.", "give a smaller region.")
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
                for rings in tile.select_shapes(name, low, high):
                    if name in ("rivers", "borders"):
                        layers[name] += [(part,) for part in _clip_line(rings[0], *inner)]
                        continue
                    clipped = tuple(
                        ring for ring in (_clip_ring(outline, low, high) for outline in rings) if len(ring) > 3
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

    def select_shapes(self, name: str, low: Floats, high: Floats) -> list[tuple[Floats, ...]]:
        """Return the shapes of a layer whose box meets that of two corners."""
        lowest, highest, shapes = self.layers[name]
        meets = ((lowest <= high) & (highest >= low)).all(axis=1)
        return [shapes[at] for at in np.flatnonzero(meets)]


@cache
def _read_tiles() -> tuple[bytes, Ints]:
    """Return the packed file, and where each tile begins and ends."""
    content = PATH.read_bytes()
    number = (180 // TILE) * (360 // TILE)
    sizes = np.frombuffer(content, dtype="<u4", count=number).astype(np.int64)
    return content, 4 * number + np.concatenate([[0], np.cumsum(sizes)])


@lru_cache(maxsize=64)
def _tile(row: int, column: int) -> _Tile:
    content, ends = _read_tiles()
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
        first, second = (low - start) / step, (high - start) / step
    still = step == 0
    outside = (still & ((start < low) | (start > high))).any(axis=1)
    enter = np.where(still, 0.0, np.minimum(first, second)).max(axis=1).clip(0, 1)
    leave = np.where(still, 1.0, np.maximum(first, second)).min(axis=1).clip(0, 1)
    rows = np.flatnonzero((enter < leave) & ~outside)
    if not len(rows):
        return []
    breaks = np.flatnonzero((np.diff(rows) > 1) | (leave[rows[:-1]] < 1) | (enter[rows[1:]] > 0)) + 1
    parts = []
    for run in np.split(rows, breaks):
        ends = start[run] + leave[run, None] * step[run]
        parts.append(np.concatenate([(start[run[0]] + enter[run[0]] * step[run[0]])[None], ends]))
    return parts


def unpack_ints(packed: bytes) -> Ints:
    """Return integers from variable-length bytes: seven bits each, the lowest first."""
    digits = np.frombuffer(packed, dtype=np.uint8).astype(np.int64)
    if not len(digits):
        return digits
    starts = np.flatnonzero(np.r_[True, digits[:-1] < 128])
    index = np.arange(len(digits)) - np.repeat(starts, np.diff(np.r_[starts, len(digits)]))
    return np.add.reduceat((digits & 127) << 7 * index, starts)


def whereabouts(lat: ArrayLike, lon: ArrayLike) -> str:
    """Return in words the bounding box of points in degrees, arrays (n,), and a large town nearby.

    Example:
        >>> whereabouts([48.85, 48.87], [2.29, 2.36])
        '48.85 N to 48.87 N, 2.29 E to 2.36 E, in or near Paris'
    """
    y, x = np.asarray(lat, dtype=float), np.asarray(lon, dtype=float)
    box = f"{_angle(y.min(), 'NS')} to {_angle(y.max(), 'NS')}, {_angle(x.min(), 'EW')} to {_angle(x.max(), 'EW')}"
    middle = float(np.median(y)), float(np.median(x))
    if (near := nearest_town(*middle)) is not None:
        how_far = "in or near" if near[1] <= _IN_TOWN_M else f"{amount(near[1], 'm')} from"
        return f"{box}, {how_far} {near[0].name}"
    text = f"{box}, with no large town that we know within {amount(_FAR_M, 'm')}"
    if abs(middle[1]) <= 90 and (near := nearest_town(middle[1], middle[0])) is not None and near[1] <= _NEAR_M:
        text += (
            f"; with latitude and longitude exchanged they would be {amount(near[1], 'm')} from {near[0].name}: "
            "see whether the two are swapped"
        )
    return text


def _angle(degrees: float, letters: str) -> str:
    return f"{abs(degrees):.2f} {letters[0] if degrees >= 0 else letters[1]}"


def nearest_town(lat: float, lon: float) -> tuple[Town, float] | None:
    """Return the largest town within 15 km, or the nearest large one within 300 km, and the metres to it."""
    reach = _FAR_M / 111_000
    turn = min(180.0, reach / max(1e-3, math.cos(math.radians(lat))))
    rows = range(_index(max(-90.0, lat - reach), 90, 180), _index(min(90.0, lat + reach), 90, 180) + 1)
    columns = {int((lon + shift + 180) // TILE) % (360 // TILE) for shift in np.arange(-turn, turn + TILE, TILE)}
    known = [town for row in rows for column in columns for town in _tile(row, column).towns]
    known = [town for town in known if town.population >= _LARGE]
    if not known:
        return None
    away = great_circle_m(np.array([[lat, lon]]), np.array([(town.lat, town.lon) for town in known]))[0]
    close = [at for at in range(len(known)) if away[at] <= _IN_TOWN_M]
    first = max(close, key=lambda at: known[at].population) if close else int(np.argmin(away))
    return (known[first], float(away[first])) if away[first] <= _FAR_M else None
