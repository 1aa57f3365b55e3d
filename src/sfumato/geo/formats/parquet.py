"""Parquet and GeoParquet."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...errors import DataError
from .columns import NAMED, recognised
from .delimited import wanted
from .rows import Rows
from .source import Source
from .table import rows_of


def read(source: Source, names: dict[str, str | None], attributes: Sequence[str] | None) -> Rows:
    """Read a Parquet file; a GeoParquet file's points are brought to WGS84.

    Args:
        source: The file.
        names: The columns that the caller named, by role.
        attributes: The other columns to keep; None for all.

    Source:
        The GeoParquet specification 1.1: x (longitude, easting) always comes first.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        where = str(source.path) if source.content is None else pa.BufferReader(source.content)
        with parquet.ParquetFile(where) as file:
            columns = list(file.schema_arrow.names)
            geo = _geo(file.schema_arrow.metadata or {}, source)
            roles = recognised(columns, str(source), geometry=geo.get("primary_column"), **names)
            content = file.read(columns=wanted(columns, roles, attributes))
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{source} is not a sound Parquet file: {str(error).splitlines()[0]}.",
            "check that it was written or downloaded to its end.",
        ) from None
    description = geo.get("columns", {}).get(roles.geometry, {})
    encoding = str(description.get("encoding", "WKB"))
    if roles.geometry is not None and encoding.lower() not in ("wkb", "point"):
        raise DataError(
            f"the geometries of {source} are encoded as {encoding}.", "store points, encoded as WKB or as 'point'."
        )
    rows = rows_of(content, roles, str(source), crs=_crs(description, source))
    if "crs" in description and description["crs"] is None:
        return replace(rows, notes=(*rows.notes, f"The CRS of {source} is unknown and was taken for WGS84."))
    return rows


def _geo(metadata: dict[bytes, bytes], source: Source) -> dict[str, Any]:
    try:
        found = json.loads(metadata.get(b"geo", b"{}"))
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(found.get("columns", {}), dict):
        raise DataError(
            f"the 'geo' metadata of {source} are damaged.",
            "write the file again",
            f"name columns of numbers with {NAMED}.",
        )
    return found


def _crs(description: dict[str, Any], source: Source) -> Any:
    """Return the CRS of a geometry column as pyproj's, or None where it is WGS84."""
    given = description.get("crs")
    if given is None:  # the specification's default is longitude and latitude on WGS84
        return None
    import pyproj

    try:
        crs = pyproj.CRS.from_user_input(given)
    except pyproj.exceptions.CRSError as error:
        raise DataError(
            f"the CRS of {source} is not understood: {str(error).splitlines()[0]}.",
            "convert the file to WGS84 first.",
        ) from None
    authority = crs.to_authority()
    return None if authority in (("EPSG", "4326"), ("OGC", "CRS84")) else crs
