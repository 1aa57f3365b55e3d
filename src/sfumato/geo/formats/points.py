"""Positions in columns: degrees, or points as WKB (as in GeoParquet), WKT or pairs of numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...errors import DataError
from ...tables import numbers
from ..visits import NAMED
from .crs import ReferenceSystem, Statement, merged_statements, row_statements

_NUMBER: Final = r"(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan)"
_WKT: Final = (
    r"(?i)^\s*(?:SRID\s*=\s*(?P<srid>\d{1,9})\s*;)?\s*(?:MULTI)?POINT\s*(?:Z|M|ZM)?\s*"
    rf"(?:EMPTY|\(\s*\(?\s*(?P<lon>{_NUMBER})(?:\s+|\s*,\s*)(?P<lat>{_NUMBER})(?:\s+{_NUMBER}){{0,2}}\s*\)?\s*\))\s*;?\s*$"
)
_HEXADECIMAL: Final = r"^\s*(?:\\x|0x)?[0-9A-Fa-f]{10,}\s*$"
_SRID: Final = 0x20000000
_Z: Final = 0x80000000
_M: Final = 0x40000000
_POINT: Final = 1
_MULTIPOINT: Final = 4
_KINDS: Final = {
    2: "a LineString",
    3: "a Polygon",
    5: "a MultiLineString",
    6: "a MultiPolygon",
    7: "a GeometryCollection",
}
_DAMAGED: Final = "a damaged geometry"


def degrees(column: Any, what: str, named: str = NAMED, *, comma: bool = False) -> Floats:
    """Return an Arrow column of degrees as floats, NaN where missing; `DataError` if one is no number."""
    return numbers(column, what, "write degrees as 48.8566", f"name the right columns with {named}.", comma=comma)


def points(
    column: Any,
    source: str,
    system: ReferenceSystem,
    statements: Sequence[Statement | None] | None = None,
    *,
    start: int = 0,
) -> tuple[Floats, Floats]:
    """Return latitudes and longitudes of a geometry column, NaN where it is empty.

    The Arrow column holds WKB (binary or hexadecimal), WKT, or GeoArrow points. ``statements`` are systems that
    another column states; a point may state its own (EWKB, EWKT). ``start`` is the number of rows before, for
    messages. A geometry that is not a point, or cannot be projected to WGS84, is a `DataError`.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    types = pa.types
    if types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if types.is_fixed_size_binary(column.type):
        column = pc.cast(column, pa.binary())
    known = np.array(pc.is_valid(column).to_numpy(zero_copy_only=False), dtype=bool)
    if types.is_string(column.type) or types.is_large_string(column.type):
        blank = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(column), ""), True)
        known &= ~np.array(blank.to_numpy(zero_copy_only=False), dtype=bool)
    values = column.filter(pa.array(known))
    rows = np.flatnonzero(known) + start + 1
    codes = None
    if types.is_string(values.type) or types.is_large_string(values.type):
        xy, codes = _from_text(values, rows, source)
    elif types.is_binary(values.type) or types.is_large_binary(values.type):
        xy, codes = _from_wkb(values.to_pylist(), rows, source)
    elif types.is_struct(values.type) and {"x", "y"} <= {part.name for part in values.type}:
        xy = np.column_stack([pc.struct_field(values, part).to_numpy() for part in "xy"])
    elif types.is_fixed_size_list(values.type) and 2 <= values.type.list_size <= 4:
        xy = pc.list_flatten(values).to_numpy().astype(float).reshape(-1, values.type.list_size)[:, :2]
    else:
        raise DataError(
            f"the geometry column of {source} is of type {values.type}.",
            "store points as WKB (GeoParquet) or as WKT, or latitudes and longitudes in columns of their own.",
        )
    own = None if codes is None or not codes.any() else row_statements(codes.tolist())
    if statements is not None:
        own = merged_statements([statements[row] for row in np.flatnonzero(known).tolist()], own, rows, source)
    all_points = np.full((len(known), 2), np.nan)
    all_points[known] = system.degrees(xy, rows, source, own)
    return all_points[:, 1].copy(), all_points[:, 0].copy()


def _from_text(values: Any, rows: NDArray[np.intp], source: str) -> tuple[Floats, NDArray[np.int64]]:
    """Return x and y, array (n, 2), and the SRID of each, 0 where there is none."""
    import pyarrow.compute as pc

    xy, codes = np.full((len(values), 2), np.nan), np.zeros(len(values), dtype=np.int64)
    binary = np.array(pc.match_substring_regex(values, _HEXADECIMAL).to_numpy(zero_copy_only=False), dtype=bool)
    problems: dict[int, str] = {}
    if binary.any():
        at = np.flatnonzero(binary)
        content = [_bytes(values[int(k)].as_py()) for k in at]
        xy[at], codes[at], inner = _parsed(content)
        problems = {int(at[k]): problem for k, problem in inner.items()}
    if not binary.all():
        at = np.flatnonzero(~binary)
        texts = values.take(at)
        parts = pc.extract_regex(texts, _WKT)
        sound = np.array(pc.is_valid(parts).to_numpy(zero_copy_only=False), dtype=bool)
        balanced = pc.equal(pc.count_substring(texts, "("), pc.count_substring(texts, ")"))
        sound &= np.array(balanced.to_numpy(zero_copy_only=False), dtype=bool)
        if not sound.all():
            first = int(np.argmin(sound))
            problems[int(at[first])] = _kind_of_text(texts[first].as_py())
        else:
            what = f"the geometry column of {source}"
            xy[at] = np.column_stack([degrees(pc.struct_field(parts, part), what) for part in ("lon", "lat")])
            codes[at] = np.nan_to_num(degrees(pc.struct_field(parts, "srid"), what)).astype(np.int64)
    _check(problems, rows, source)
    return xy, codes


def _bytes(text: str) -> bytes:
    """Return the bytes of a hexadecimal text; none if half a byte is missing."""
    digits = text.strip().removeprefix("\\x").removeprefix("0x")
    return b"" if len(digits) % 2 else bytes.fromhex(digits)


def _kind_of_text(text: str) -> str:
    word = re.match(r"(?i)\s*(?:SRID\s*=\s*\d+\s*;)?\s*([a-z]+)", text)
    name = "" if word is None else word[1].upper().rstrip("ZM")
    if name == "MULTIPOINT" and "," in text and text.rstrip(" ;").endswith(")"):
        return "a MultiPoint of several points"
    named = {each.partition(" ")[2].upper(): each for each in _KINDS.values()}
    return named.get(name, _DAMAGED if name in ("POINT", "MULTIPOINT") else "a text that is no WKT")


def _from_wkb(values: Sequence[bytes], rows: NDArray[np.intp], source: str) -> tuple[Floats, NDArray[np.int64]]:
    """Return x and y, array (n, 2), and the SRID of each, 0 where there is none."""
    xy, codes, problems = _parsed(values)
    _check(problems, rows, source)
    return xy, codes


def _parsed(
    values: Sequence[bytes], shapes: Sequence[int] = (_POINT, _MULTIPOINT)
) -> tuple[Floats, NDArray[np.int64], dict[int, str]]:
    """Return x and y of WKB, the SRID of each, and the problems by position, with the first problem of all."""
    xy, codes = np.full((len(values), 2), np.nan), np.zeros(len(values), dtype=np.int64)
    problems: dict[int, str] = {}
    kinds: dict[bytes, list[int]] = {}
    for k, value in enumerate(values):
        kinds.setdefault(value[:5], []).append(k)
    for head, at in kinds.items():  # few byte orders and types occur: each kind is read at once
        if len(head) < 5 or head[0] > 1:
            problems[at[0]] = _DAMAGED
            continue
        order = "<" if head[0] else ">"
        kind = int(np.frombuffer(head[1:], dtype=f"{order}u4")[0])
        dimensions, shape = divmod(kind & ~(_SRID | _Z | _M), 1000)
        if dimensions > 3 or shape not in shapes:
            problems[at[0]] = _KINDS.get(shape, "a geometry of another kind") if dimensions < 4 else _DAMAGED
            continue
        start = 9 if kind & _SRID else 5
        size = 2 + bool(kind & _Z or dimensions in (1, 3)) + bool(kind & _M or dimensions in (2, 3))
        short = [k for k in at if len(values[k]) < start + (8 * size if shape == _POINT else 4)]
        if short:
            problems[short[0]] = _DAMAGED
            continue
        if kind & _SRID:
            codes[at] = np.frombuffer(b"".join(values[k][5:9] for k in at), dtype=f"{order}u4")
        if shape == _POINT:
            block = b"".join(values[k][start : start + 16] for k in at)
            xy[at] = np.frombuffer(block, dtype=f"{order}f8").reshape(-1, 2)
            continue
        counts = np.frombuffer(b"".join(values[k][start : start + 4] for k in at), dtype=f"{order}u4")
        for k, count in zip(at, counts.tolist(), strict=True):
            rest = values[k][start + 4 :]
            if len(rest) < 21 * count or (count == 0 and rest):
                problems[k] = _DAMAGED
            elif count > 1:
                problems[k] = "a MultiPoint of several points"
        single = [k for k, count in zip(at, counts.tolist(), strict=True) if count == 1 and k not in problems]
        xy[single], _, deeper = _parsed([values[k][start + 4 :] for k in single], (_POINT,))
        problems |= {single[k]: problem for k, problem in deeper.items()}
    return xy, codes, problems


def _check(problems: dict[int, str], rows: NDArray[np.intp], source: str) -> None:
    """Refuse the first row with a problem, without showing its content."""
    if not problems:
        return
    first = min(problems)
    if problems[first] == _DAMAGED:
        raise DataError(
            f"row {int(rows[first])} of {source} is damaged: its geometry is not complete, or no WKB or WKT.",
            "correct or remove the row",
            "write the file again.",
        )
    raise DataError(
        f"row {int(rows[first])} of {source} holds {problems[first]}, not a point.",
        "keep only points, such as the centroids of shapes: Centroids in QGIS, .centroid in geopandas.",
    )
