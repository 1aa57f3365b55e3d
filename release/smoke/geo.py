"""The extra geo: visits in eastings and northings."""

from pathlib import Path

import sfumato as sf

POINT = '{"type": "Point", "coordinates": [261845, 6250564]}'
CRS = '{"type": "name", "properties": {"name": "urn:ogc:def:crs:EPSG::3857"}}'
Path("web.geojson").write_text(
    f'{{"type": "FeatureCollection", "crs": {CRS}, "features": ['
    f'{{"type": "Feature", "properties": {{}}, "geometry": {POINT}}}]}}',
    encoding="utf-8",
)
assert abs(sf.read_visits("web.geojson").lat[0] - 48.86) < 0.01  # noqa: S101
