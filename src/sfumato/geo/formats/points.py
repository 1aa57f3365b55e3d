"""Positions in columns (degrees, WKB, WKT or pairs of numbers), and their coordinate systems."""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...errors import DataError, MissingExtraError, row_value
from ...tables import numbers
from ..visits import LAT_LON

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

Statement = str | int | Mapping[str, Any]
"""A coordinate system as files name it: a name, code or WKT, an EPSG number, or PROJJSON."""

_DEGREES: Final = (("EPSG", "4326"), ("OGC", "CRS84"))
_CONVERT: Final = "convert the positions to WGS84 first, or correct the CRS."
_HINTS: Final = (_CONVERT, "rename the column that states it if it is about something else.")
_LONGEST: Final = 60
_UNKNOWN: Final = ("", "unknown", "unspecified", "notrecorded", "notspecified", "na", "nan", "none", "null")
_NOT_KNOWN: Final = ("notrecorded", "notprovided", "notspecified", "notknown", "unknown", "unspecified")
_NAMES: Final = {  # of datums in common use that PROJ does not know as coordinate systems
    "dwgs1984": "EPSG:4326",
    "european1950": "EPSG:4230",
    "ordsrvygrtbritn": "EPSG:4277",
    "tokyodatum": "EPSG:4301",
    **dict.fromkeys(("worldgeodeticsystem1984", "wgs1984", "gcswgs1984"), "EPSG:4326"),
    **dict.fromkeys(("nad27conus", "northamerican1927", "northamericandatum1927"), "EPSG:4267"),
    **dict.fromkeys(("northamerican1983", "northamericandatum1983"), "EPSG:4269"),
}
_WGS84_CODE: Final = re.compile(
    r"(?i)(?:urn:ogc:def:crs:|https?://www\.opengis\.net/def/crs/)?"
    r"(?:EPSG[:/](?:[\d.]*[:/])?4326|OGC[:/](?:[\d.]*[:/])?CRS84)|WGS ?84"
)
_WGS84_ESRI: Final = (
    'GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],'
    'PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]'
)
_WGS84_DATUMS: Final = ("World Geodetic System 1984", "World Geodetic System 1984 ensemble")


def degrees(column: Any, noun: str, hint: str = LAT_LON, *, comma: bool = False) -> Floats:
    """Return an Arrow column of degrees as floats, NaN where missing; `DataError` if one is no number."""
    return numbers(column, noun, "write degrees as 48.8566", f"name the right columns with {hint}.", comma=comma)


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
        xy, codes, problems = _parse_wkb(values.to_pylist())
        _check(problems, rows, source)
    elif types.is_struct(values.type) and {"x", "y"} <= {part.name for part in values.type}:
        xy = np.column_stack([pc.struct_field(values, part).to_numpy() for part in "xy"])
    elif types.is_fixed_size_list(values.type) and 2 <= values.type.list_size <= 4:
        xy = pc.list_flatten(values).to_numpy().astype(float).reshape(-1, values.type.list_size)[:, :2]
    else:
        raise DataError(
            f"the geometry column of {source} is of type {values.type}.",
            "store points as WKB (GeoParquet) or as WKT, or latitudes and longitudes in columns of their own.",
        )
    crses = None if codes is None or not codes.any() else row_statements(codes.tolist())
    if statements is not None:
        crses = merged_statements([statements[row] for row in np.flatnonzero(known).tolist()], crses, rows, source)
    all_points = np.full((len(known), 2), np.nan)
    all_points[known] = system.degrees(xy, rows, source, crses)
    return all_points[:, 1].copy(), all_points[:, 0].copy()


def _from_text(values: Any, rows: NDArray[np.intp], source: str) -> tuple[Floats, NDArray[np.int64]]:
    """Return x and y, array (n, 2), and the SRID of each, 0 where there is none."""
    import pyarrow.compute as pc

    xy, codes = np.full((len(values), 2), np.nan), np.zeros(len(values), dtype=np.int64)
    binary = np.array(pc.match_substring_regex(values, _HEXADECIMAL).to_numpy(zero_copy_only=False), dtype=bool)
    problems: dict[int, str] = {}
    if binary.any():
        at = np.flatnonzero(binary)
        texts = (values[int(k)].as_py().strip().removeprefix("\\x").removeprefix("0x") for k in at)
        xy[at], codes[at], inner = _parse_wkb([b"" if len(text) % 2 else bytes.fromhex(text) for text in texts])
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
            subject = f"the geometry column of {source}"
            xy[at] = np.column_stack([degrees(pc.struct_field(parts, part), subject) for part in ("lon", "lat")])
            codes[at] = np.nan_to_num(degrees(pc.struct_field(parts, "srid"), subject)).astype(np.int64)
    _check(problems, rows, source)
    return xy, codes


def _kind_of_text(text: str) -> str:
    word = re.match(r"(?i)\s*(?:SRID\s*=\s*\d+\s*;)?\s*([a-z]+)", text)
    name = "" if word is None else word[1].upper().rstrip("ZM")
    if name == "MULTIPOINT" and "," in text and text.rstrip(" ;").endswith(")"):
        return "a MultiPoint of several points"
    kinds = {kind.partition(" ")[2].upper(): kind for kind in _KINDS.values()}
    return kinds.get(name, _DAMAGED if name in ("POINT", "MULTIPOINT") else "a text that is no WKT")


def _parse_wkb(
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
        xy[single], _, deeper = _parse_wkb([values[k][start + 4 :] for k in single], (_POINT,))
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


class UnknownSystemError(DataError):
    """A coordinate system that is not understood, or has no known conversion to longitude and latitude."""


@dataclass(frozen=True, slots=True, repr=False)
class ReferenceSystem(CompactRepr):
    """The coordinate system of a column of positions: a pyproj CRS, or None for WGS84.

    ``explicit`` is whether the table states it, so that a row must not state another; ``notes`` are assumptions.
    """

    crs: Any = None
    explicit: bool = False
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, statements: Sequence[tuple[str, Statement | None]], source: str) -> Self:
        """Return the one system that several places state, None for unknown; `DataError` if they contradict."""
        systems = [(place, _system(value, source, place)) for place, value in statements if value is not None]
        for place, crs in systems[1:]:
            if not _are_equal(crs, systems[0][1]):
                raise DataError(
                    f"{source} states two coordinate systems for its points: {_name(systems[0][1])} in "
                    f"{systems[0][0]}, and {_name(crs)} in {place}.",
                    "write it again with the right one.",
                )
        if systems:
            return cls(systems[0][1], explicit=True)
        return cls(notes=((f"The CRS of {source} is unknown and was taken for WGS84.",) if statements else ()))

    def degrees(
        self,
        xy: Floats,
        rows: NDArray[np.intp],
        source: str,
        statements: Sequence[Statement | None] | None = None,
        *,
        noun: str = "row",
        geographic: bool = False,
    ) -> Floats:
        """Return longitudes and latitudes on WGS84, array (n, 2), of positions in this order; NaN where missing.

        ``rows`` are row numbers from 1, for messages, and ``statements`` the systems that rows state themselves. A
        system that is not understood, contradicts others, or has no known way to WGS84, is a `DataError`.
        ``geographic`` positions are degrees by the names of their columns.
        """
        groups: dict[str | None, list[int]] = {}
        examples: dict[str | None, Statement] = {}
        for number, statement in enumerate(statements or ()):
            key = None if statement is None else json.dumps(statement)
            groups.setdefault(key, []).append(number)
            if statement is not None:
                examples.setdefault(key, statement)
        if not examples:
            return _to_degrees(xy, self.crs, rows, source, noun)
        lonlat = np.array(xy, dtype=np.float64)
        bare = groups.pop(None, [])
        for key, at in groups.items():
            place = f"{noun} {int(rows[at[0]])} of {source}"
            crs = _system(examples[key], place)
            if self.explicit and not _are_equal(crs, self.crs):
                raise DataError(
                    f"{place} states another coordinate system ({_name(crs)}) than the table ({_name(self.crs)}).",
                    "write it again with the right one.",
                )
            if geographic and crs is not None and not crs.is_geographic:
                raise DataError(
                    f"{place} states the CRS {_name(crs)}, which has no latitudes and longitudes.", *_HINTS
                )
            if crs is not None and bare and not self.explicit:
                raise DataError(
                    f"{noun} {int(rows[bare[0]])} of {source} states no coordinate system, but {noun} "
                    f"{int(rows[at[0]])} states {_name(crs)}.",
                    "state it in every row.",
                )
            lonlat[at] = _to_degrees(lonlat[at], crs, rows[at], source, noun)
        lonlat[bare] = _to_degrees(lonlat[bare], self.crs, rows[bare], source, noun)
        return lonlat


WGS84: Final = ReferenceSystem()
"""The system of positions that state none."""


def row_statements(values: Sequence[Any]) -> list[Statement | None]:
    """Return the coordinate system that each row states: None where it states none, or an unknown one."""
    return [
        None if value is None or (isinstance(value, str) and _is_unknown(value)) or value in (0, "0") else value
        for value in values
    ]


def merged_statements(
    statements: list[Statement | None], extra: list[Statement | None] | None, rows: NDArray[np.intp], source: str
) -> list[Statement | None]:
    """Return the systems that rows state in either of two places; `DataError` if these contradict."""
    alike: dict[tuple[str, str], bool] = {}
    systems: list[Statement | None] = []
    for row, first, second in zip(rows.tolist(), statements, extra or statements, strict=True):
        if first is not None and second is not None and first != second:
            pair, place = (str(first), str(second)), f"row {row} of {source}"
            if not alike.setdefault(pair, _are_equal(_system(first, place), _system(second, place))):
                raise DataError(f"{place} states two coordinate systems.", "write it again with the right one.")
        systems.append(second if first is None else first)
    return systems


def coordinates(values: ArrayLike) -> array[float]:
    """Return numbers, array (n,), as pyproj takes them for any n: it tries an array of one as a scalar first."""
    return array("d", np.asarray(values, dtype=np.float64).tobytes())


def _system(statement: Statement, source: str, place: str = "") -> Any:
    """Return a coordinate system as pyproj's; None for WGS84; a `DataError` if it is not understood.

    ``place`` is where the table states it, "" for a cell. Others need pyproj (extra ``geo``, `MissingExtraError`).
    """
    value: Any = statement
    if isinstance(value, str):
        value = re.sub(r"(?i)^\s*(?:https?://epsg\.io/|(?:srid|epsg)\s*[:=]?\s*)(?=\d+\s*$)", "", value).strip()
        if re.fullmatch(r"(?i)[\w .,\-/()]*\bEPSG\s*:\s*\d+[\w .,\-/()]*", value):  # such as Tokyo (EPSG:4301)
            value = re.search(r"(?i)EPSG\s*:\s*(\d+)", value)[1]  # type: ignore[index]
        value = _NAMES.get(_bare(value), value)
        value = int(value) if value.isascii() and value.isdigit() else value
    if _is_wgs84(value):
        return None
    try:
        import pyproj
    except ImportError:
        raise MissingExtraError("another coordinate system than WGS84", "geo") from None
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | Mapping):
            raise pyproj.exceptions.CRSError("no CRS")
        crs = pyproj.CRS.from_user_input(f"EPSG:{value}" if isinstance(value, int) else value)
        if isinstance(value, str) and re.fullmatch(r"[\w .\-/()]+", value) and _bare(crs.name) != _bare(value):
            raise pyproj.exceptions.CRSError("no such name")  # PROJ also takes what is similar
    except (pyproj.exceptions.CRSError, TypeError, ValueError, RecursionError):
        text = f": {_shorten(statement)}"
        if not place and not re.fullmatch(r"(?i)[a-z]{0,5}[ :]?\d{1,9}", str(statement)):
            text = row_value(text, "")  # a cell, which may hold anything where rows are shifted
        hints = (f"convert the positions to WGS84 first, or correct {place}.",) if place else _HINTS
        raise UnknownSystemError(f"the CRS of {source} is not understood{text}.", *hints) from None
    if crs.is_geocentric:
        raise DataError(
            f"the CRS of {source} ({_name(crs)}) counts metres from the centre of the Earth on three axes: two of "
            "them are no position.",
            _CONVERT,
        )
    return None if crs.to_authority() in _DEGREES else crs


def _is_wgs84(statement: Any) -> bool:
    """Return whether a statement is WGS84 by its code or its usual text; PROJ understands more."""
    match statement:
        case str():
            compact = re.sub(r"\s", "", statement)
            return compact == _WGS84_ESRI or _WGS84_CODE.fullmatch(statement.strip()) is not None
        case int():
            return statement == 4326
        case {"type": "GeographicCRS", "id": {"authority": authority, "code": code}, "coordinate_system": axes}:
            datum = statement.get("datum_ensemble") or statement.get("datum")
            return (authority, str(code)) in _DEGREES and _is_wgs84_datum(datum) and _are_degrees(axes)
    return False


def _is_wgs84_datum(datum: Any) -> bool:
    match datum:
        case {"prime_meridian": _}:
            return False
        case {"name": name, "ellipsoid": {"semi_major_axis": axis, "inverse_flattening": inverse}}:
            return name in _WGS84_DATUMS and (axis, inverse) == (6_378_137, 298.257223563)
    return False


def _are_degrees(axes: Any) -> bool:
    match axes:
        case {"axis": [{"unit": "degree", "direction": first}, {"unit": "degree", "direction": second}]}:
            return (first, second) in (("north", "east"), ("east", "north"))
    return False


def _to_degrees(xy: Floats, crs: Any, rows: NDArray[np.intp], source: str, noun: str) -> Floats:
    if crs is None or not len(xy):
        return xy
    import pyproj

    try:
        # Without a known way PROJ takes all datums for the same, which is right for geocentric ones alone.
        ballpark = _is_geocentric(crs.ellipsoid)
        transformer = pyproj.Transformer.from_crs(crs, "EPSG:4326", always_xy=True, allow_ballpark=ballpark)
    except pyproj.exceptions.ProjError:
        raise UnknownSystemError(
            f"there is no known conversion from the CRS of {source} ({crs.name}) to longitude and latitude.",
            _CONVERT,
        ) from None
    lon, lat = np.array(transformer.transform(coordinates(xy[:, 0]), coordinates(xy[:, 1])))
    beyond = np.isinf(lon) & np.isfinite(xy[:, 0])
    if beyond.any():
        raise DataError(
            f"the point in {noun} {int(rows[np.argmax(beyond)])} of {source} is outside the reach of its CRS "
            f"({crs.name}).",
            "check the CRS in the file, or convert it to WGS84 first.",
        )
    return np.column_stack([lon, lat])


def _is_geocentric(ellipsoid: Any) -> bool:
    """Return whether an ellipsoid equals that of WGS84 within a millimetre, as those of geocentric datums do."""
    if ellipsoid is None:
        return False
    near = abs(ellipsoid.semi_major_metre - 6_378_137) < 0.01
    return bool(near and abs(ellipsoid.inverse_flattening - 298.257223) < 1e-5)


def _are_equal(a: Any, b: Any) -> bool:
    if a is None or b is None:
        return a is b
    code = a.to_authority()
    return (code is not None and code == b.to_authority()) or bool(a.equals(b, ignore_axis_order=True))


def _name(crs: Any) -> str:
    code = None if crs is None else crs.to_authority()
    return "WGS84" if crs is None else crs.name if code is None else f"{crs.name}, {':'.join(code)}"


def _shorten(statement: Any) -> str:
    """Return a statement that is not understood, shortened."""
    name = statement.get("name", "it has no name") if isinstance(statement, Mapping) else statement
    text = f"SRID {name}" if isinstance(name, int) else str(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."


def _is_unknown(value: str) -> bool:
    """Return whether a value says that the system is not known, as in ``not recorded (forced WGS84)``."""
    bare = _bare(value)
    return bare in _UNKNOWN or bare.startswith(_NOT_KNOWN)


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name).lower()
