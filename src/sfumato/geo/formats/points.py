"""Positions in columns: degrees, or points as WKB (as GeoParquet keeps them) or WKT."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.arrays import Floats
from ...errors import DataError, row_value
from ...tables import numbers
from ..visits import NAMED

_WKT = r"(?i)^\s*(?:SRID=4326;)?\s*POINT\s*(?:Z|M|ZM)?\s*\(\s*(?P<lon>[-+0-9.eE]+)[\s,]+(?P<lat>[-+0-9.eE]+)"
_SRID = 0x20000000
_Z_OR_M = 0xC0000000
_KINDS = {
    2: "a LineString",
    3: "a Polygon",
    4: "a MultiPoint",
    5: "a MultiLineString",
    6: "a MultiPolygon",
    7: "a GeometryCollection",
}


def degrees(column: Any, what: str, *, comma: bool = False) -> Floats:
    """Return a column of latitudes or longitudes, NaN where a value is missing.

    Args:
        column: An Arrow column of numbers, or of texts that are numbers.
        what: What the column is, for the error message.
        comma: Whether numbers may be written ``48,85``.

    Raises:
        DataError: If a value is not a number.
    """
    return numbers(column, what, "write degrees as 48.8566", f"name the right columns with {NAMED}.", comma=comma)


def points(column: Any, source: str, crs: Any) -> tuple[Floats, Floats]:
    """Return latitudes and longitudes of a geometry column, NaN where it is empty.

    Args:
        column: An Arrow column of WKB (binary, or hexadecimal text) or WKT.
        source: The file, for error messages.
        crs: Its CRS, a pyproj CRS; None for WGS84.

    Raises:
        DataError: If a geometry is not a point, or cannot be projected to WGS84.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    known = np.array(pc.is_valid(column).to_numpy(), dtype=bool)
    values = column.drop_null()
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        xy = _from_text(values, np.flatnonzero(known), source)
    elif pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        xy = _from_wkb(values.to_pylist(), np.flatnonzero(known), source)
    elif pa.types.is_struct(values.type) and {"x", "y"} <= {part.name for part in values.type}:
        xy = np.column_stack([pc.struct_field(values, part).to_numpy() for part in "xy"])
    else:
        raise DataError(
            f"the geometry column of {source} is of type {values.type}.",
            "store points as WKB (GeoParquet) or as WKT, or latitudes and longitudes in columns of their own.",
        )
    if crs is not None:
        import pyproj

        try:
            to_degrees = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True)
        except pyproj.exceptions.ProjError:
            raise DataError(
                f"no way is known from the CRS of {source} ({crs.name}) to longitude and latitude.",
                "convert the points to WGS84 first.",
            ) from None
        lon, lat = np.array(to_degrees.transform(coordinates(xy[:, 0]), coordinates(xy[:, 1])))
        lost = np.isinf(lon) & np.isfinite(xy[:, 0])
        if lost.any():
            row = int(np.flatnonzero(known)[np.argmax(lost)]) + 1
            raise DataError(
                f"the point in row {row} of {source} is outside the reach of its CRS ({crs.name}).",
                "check the CRS in the file, or convert it to WGS84 first.",
            )
        xy = np.column_stack([lon, lat])
    all_points = np.full((len(known), 2), np.nan)
    all_points[known] = xy
    return all_points[:, 1].copy(), all_points[:, 0].copy()


def _from_text(values: Any, rows: NDArray[np.intp], source: str) -> Floats:
    import pyarrow.compute as pc

    if len(values) and pc.all(pc.match_substring_regex(values, r"^\s*([0-9A-Fa-f]{2}){21,}\s*$")).as_py():
        return _from_wkb([bytes.fromhex(value) for value in values.to_pylist()], rows, source)
    found = pc.extract_regex(values, _WKT)
    wrong = ~np.array(pc.is_valid(found).to_numpy(), dtype=bool)
    if wrong.any():
        first = int(np.argmax(wrong))
        shown = row_value(repr(values[first].as_py()[:60]), "a text")
        raise _not_a_point(int(rows[first]), shown, source)
    return np.column_stack(
        [degrees(pc.struct_field(found, part), f"the geometry column of {source}") for part in ("lon", "lat")]
    )


def _from_wkb(values: list[bytes], rows: NDArray[np.intp], source: str) -> Floats:
    xy = np.empty((len(values), 2))
    kinds: dict[bytes, list[int]] = {}
    for k, value in enumerate(values):
        kinds.setdefault(value[:5], []).append(k)
    for head, at in kinds.items():  # few byte orders and types occur: each kind is read at once
        order = "<" if head[:1] == b"\x01" else ">"
        kind = int(np.frombuffer(head[1:].ljust(4, b"\0"), dtype=f"{order}u4")[0])
        start = 9 if kind & _SRID else 5
        plain = (kind & ~(_SRID | _Z_OR_M)) % 1000
        if plain != 1 or any(len(values[k]) < start + 16 for k in at):
            raise _not_a_point(int(rows[at[0]]), _KINDS.get(plain, f"a geometry of WKB type {kind}"), source)
        block = b"".join(values[k][start : start + 16] for k in at)
        xy[at] = np.frombuffer(block, dtype=f"{order}f8").reshape(-1, 2)
    return xy


def _not_a_point(row: int, what: str, source: str) -> DataError:
    return DataError(
        f"row {row + 1} of {source} holds {what}, not a point.",
        "keep only points, such as the centroids of shapes: Centroids in QGIS, .centroid in geopandas.",
    )


def coordinates(values: ArrayLike) -> array[float]:
    """Return numbers, array (n,), as pyproj takes them for any n: it tries an array of one as a scalar first."""
    return array("d", np.asarray(values, dtype=np.float64).tobytes())
