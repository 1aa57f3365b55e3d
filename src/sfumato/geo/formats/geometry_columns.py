"""Columns of geometries that a table declares, and the coordinate systems that it states for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...core.immutable import CompactRepr
from ...errors import DataError
from ...tables import PARQUET_TYPE
from ..visits import NAMED
from .crs import Statement


@dataclass(frozen=True, slots=True, repr=False)
class GeometryColumn(CompactRepr):
    """The description of a column of geometries in the metadata of its table.

    Attributes:
        encodings: How points are encoded, such as ``"WKB"``.
        statements: What each place states about the coordinate system, as `ReferenceSystem.of` takes it.
    """

    encodings: tuple[str, ...] = ()
    statements: tuple[tuple[str, Statement | None], ...] = ()


def geometry_columns(schema: Any, source: str) -> dict[str, GeometryColumn]:
    """Return the columns that a schema declares to hold geometries, by name; the primary one is first.

    Args:
        schema: An Arrow schema, with the metadata of its fields.
        source: What messages call the table.

    Raises:
        DataError: If the metadata are damaged.

    Source:
        GeoParquet 1.1, Parquet's types GEOMETRY and GEOGRAPHY, GeoArrow 0.2. Without a CRS the first two mean
        WGS84, and GeoArrow an unknown one.
    """
    metadata: Mapping[bytes, bytes] = schema.metadata or {}
    found: dict[str, GeometryColumn] = {}
    geo = _object(metadata.get(b"geo", b"{}"), "'geo' metadata", source)
    columns = geo.get("columns", {})
    primary = geo.get("primary_column")
    if not (isinstance(columns, dict) and isinstance(primary, str | None)) or not all(
        isinstance(each, dict) for each in columns.values()
    ):
        raise _damaged("'geo' metadata", source)
    if primary is not None:
        found[primary] = GeometryColumn()
    for name, each in columns.items():
        own_crs = (("its 'geo' metadata", each["crs"]),) if "crs" in each else ()
        found[name] = GeometryColumn((str(each.get("encoding", "WKB")),), own_crs)
    for field in schema:
        own: Mapping[bytes, bytes] = field.metadata or {}
        encodings: list[str] = []
        statements: list[tuple[str, Statement | None]] = []
        family, _, encoding = own.get(b"ARROW:extension:name", b"").decode(errors="replace").partition(".")
        if family in ("geoarrow", "ogc") and encoding:
            place = f"GeoArrow metadata of the column {field.name!r}"
            said = _object(own.get(b"ARROW:extension:metadata") or b"{}", place, source)
            encodings.append("WKB" if encoding in ("wkb", "wkt") else encoding)
            statements.append(("its GeoArrow metadata", said.get("crs")))
        if PARQUET_TYPE in own:
            kind = json.loads(own[PARQUET_TYPE])
            encodings.append("WKB")
            if kind.get("crs"):
                statements.append(("its Parquet type", _of_parquet(str(kind["crs"]), metadata)))
        if encodings:
            old = found.get(field.name, GeometryColumn())
            found[field.name] = GeometryColumn((*old.encodings, *encodings), (*old.statements, *statements))
    return found


def _of_parquet(text: str, metadata: Mapping[bytes, bytes]) -> Statement:
    """Return what Parquet's type states, which may be ``projjson:`` and a key of the file's metadata."""
    kind, _, key = text.partition(":")
    return metadata.get(key.encode(), text.encode()).decode() if kind == "projjson" else text


def _object(text: bytes, what: str, source: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _damaged(what, source)
    return found


def _damaged(what: str, source: str) -> DataError:
    return DataError(
        f"the {what} of {source} are damaged.", "write the file again", f"name columns of numbers with {NAMED}."
    )
