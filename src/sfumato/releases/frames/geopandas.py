"""Data frames of geopandas: their points are read in their CRS, and come back in WGS84."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...errors import DataError, InputError, python
from ...tables import ArrowStream
from ..kernel import Kernel
from .kind import Rows
from .pandas import PandasFrame


class GeoFrame(PandasFrame):
    """A data frame of geopandas."""

    def __init__(self, frame: Any) -> None:
        super().__init__(frame)
        self._geometry = getattr(frame, "active_geometry_name", None)
        self.shapes = frozenset(str(name) for name, kind in frame.dtypes.items() if str(kind) == "geometry")
        self._crs = None if self._geometry is None else frame.crs

    def arrow(self) -> ArrowStream:
        """Return an Arrow table with the points as in a GeoParquet file."""
        import pyarrow as pa
        import shapely

        table = self._table(sorted(self.shapes))
        for name in sorted(self.shapes):
            points = shapely.to_wkb(np.asarray(self._frame[name], dtype=object))
            table = table.append_column(name, pa.array(points, pa.large_binary()))
        geo = {}
        if self._geometry is not None:
            column = {"encoding": "WKB", "crs": None if self._crs is None else self._crs.to_json_dict()}
            geo = {b"geo": json.dumps({"primary_column": self._geometry, "columns": {self._geometry: column}})}
        found: ArrowStream = table.replace_schema_metadata(geo)
        return found

    def check_columns(self, used: Collection[str | None], kept: Collection[str]) -> None:
        """Refuse points whose CRS is not known, too; see `FrameKind.check_columns`."""
        super().check_columns(used, kept)
        if self._geometry in used and self._geometry is not None and self._crs is None:
            raise DataError(
                f"the points in {self._geometry!r} have no CRS: they may be degrees, or metres of any kind.",
                python(
                    "set the one that they are in: frame.set_crs('EPSG:4326') for longitudes and latitudes, "
                    "that of the national grid for metres, such as 'EPSG:27700' or 'EPSG:2154'."
                ),
            )

    def check_rest(self, kernel: Kernel) -> None:
        """Refuse a geometry with the name of a released column, too; see `FrameKind.check_rest`."""
        super().check_rest(kernel)
        if self._geometry in kernel.schema.names:
            raise InputError(
                f"the geometry {self._geometry!r} has the name of a released column.",
                python("rename it with frame.rename_geometry('geometry')."),
            )

    def back(self, table: Any, rows: Rows, kept: Mapping[str, str], mark: str) -> Any:
        """Return the points of the reports as geometries; a frame without points is one of pandas."""
        import geopandas
        import pyarrow as pa
        import shapely

        found = super().back(table, rows, kept, mark)
        if self._geometry is None or not {"latitude", "longitude"} <= set(table.column_names):
            return found
        lat, lon = table["latitude"].combine_chunks(), table["longitude"].combine_chunks()
        if pa.types.is_floating(lat.type):
            shapes = shapely.points(np.asarray(lon), np.asarray(lat))
        else:
            sizes = lat.value_lengths().to_numpy(zero_copy_only=False)
            of_row = np.repeat(np.arange(len(sizes)), sizes)
            each = shapely.points(np.asarray(lon.flatten()), np.asarray(lat.flatten()))
            shapes = shapely.multipoints(each, indices=of_row) if len(sizes) else []
        bare = found.drop(columns=["latitude", "longitude"])
        bare[self._geometry] = geopandas.GeoSeries(shapes, index=bare.index, crs="EPSG:4326")
        made = geopandas.GeoDataFrame(bare, geometry=self._geometry)
        made.attrs["sfumato"] = mark
        return made
