"""Outlines from files that anyone may have written, and the map of the world."""

import json
import os

import numpy as np
import pytest

import sfumato as sf
from sfumato.geo import CREDIT
from sfumato.reports.maps import outline, outline_of, world_outline

SQUARE = [[2.3, 48.8], [2.4, 48.8], [2.4, 48.9], [2.3, 48.8]]


def feature(geometry, **properties):
    return {"type": "Feature", "properties": properties, "geometry": geometry}


def written(tmp_path, content, name="o.geojson"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def polygon(ring=None, **properties):
    return feature({"type": "Polygon", "coordinates": [ring or SQUARE]}, **properties)


def test_land_water_lines_and_names_are_read(tmp_path):
    held = {
        "type": "FeatureCollection",
        "features": [
            polygon(name="North"),
            polygon(natural="water", name="Lake"),
            feature({"type": "LineString", "coordinates": SQUARE[:3]}, waterway="river"),
            feature({"type": "Point", "coordinates": [2.35, 48.85, 30]}, name="Old Town"),
            feature(
                {"type": "GeometryCollection", "geometries": [{"type": "MultiPolygon", "coordinates": [[SQUARE]]}]}
            ),
            feature(None),
        ],
    }
    found = outline(written(tmp_path, b"\xef\xbb\xbf" + json.dumps(held).encode()))
    assert [shape.kind for shape in found.shapes] == ["land", "water", "line", "land"]
    assert [name.text for name in found.names] == ["North", "Lake", "Old Town"]
    assert (found.names[2].lat, found.names[2].lon) == (48.85, 2.35)
    np.testing.assert_allclose(found.extent, (48.8, 48.9, 2.3, 2.4))
    assert found.source == "o.geojson"


def test_what_is_written_again_is_the_same(tmp_path):
    held = [
        polygon(name="North"),
        polygon(natural="water"),
        feature({"type": "LineString", "coordinates": SQUARE[:3]}),
    ]
    first = outline(written(tmp_path, {"type": "FeatureCollection", "features": held}))
    again = outline(written(tmp_path, first.geojson()))
    assert [shape.kind for shape in again.shapes] == [shape.kind for shape in first.shapes]
    for one, other in zip(first.shapes, again.shapes, strict=True):
        for a, b in zip(one.rings, other.rings, strict=True):
            np.testing.assert_array_equal(a, b)
    assert [name.text for name in again.names] == [name.text for name in first.names]


BAD = {
    "not JSON": b"<svg/>",
    "zip": b"PK\x03\x04" + bytes(100),
    "not UTF-8": b'{"type": "\xff"}',
    "deep": b"[" * 100_000,
    "a number": b"7",
    "no type": {"features": []},
    "features are no list": {"type": "FeatureCollection", "features": {"a": 1}},
    "nothing": {"type": "FeatureCollection", "features": []},
    "only points": {"type": "Point", "coordinates": [2, 48]},
    "metres": polygon([[650000, 6860000], [651000, 6860000], [651000, 6861000], [650000, 6860000]]),
    "another plane": {"type": "FeatureCollection", "crs": {"properties": {"name": "EPSG:2154"}}, "features": []},
    "NaN": b'{"type": "LineString", "coordinates": [[NaN, 1], [2, 3]]}',
    "infinite": b'{"type": "LineString", "coordinates": [[1e999, 1], [2, 3]]}',
    "huge": b'{"type": "LineString", "coordinates": [[1' + b"0" * 4000 + b", 1], [2, 3]]}",
    "too huge": b'{"type": "LineString", "coordinates": [[1' + b"0" * 9000 + b", 1], [2, 3]]}",
    "text": {"type": "LineString", "coordinates": [["2", "48"], [2, 48]]},
    "truth": {"type": "LineString", "coordinates": [[True, False], [2, 48]]},
    "one number": {"type": "LineString", "coordinates": [[2], [3]]},
    "short ring": polygon(SQUARE[:2]),
    "no coordinates": {"type": "Polygon"},
    "no ring": {"type": "Polygon", "coordinates": []},
    "unknown": {"type": "Circle", "coordinates": [2, 48]},
    "nested": {"type": "GeometryCollection", "geometries": []},
    "many points": {"type": "LineString", "coordinates": [[2, 48]] * 300_001},
}
for _ in range(40):
    BAD["nested"] = {"type": "GeometryCollection", "geometries": [BAD["nested"]]}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_what_is_no_outline_is_refused(tmp_path, content):
    with pytest.raises(sf.errors.DataError) as caught:
        outline(written(tmp_path, content))
    assert "o.geojson" in str(caught.value)
    assert len(str(caught.value)) < 500


def test_files_that_are_too_large_or_none_are_refused(tmp_path):
    large = tmp_path / "large.geojson"
    with large.open("wb") as file:
        file.truncate(10**10)
    with pytest.raises(sf.errors.FileError, match="larger than 20 MB"):
        outline(large)
    for path in (tmp_path, tmp_path / "none", "/dev/zero", "a\0b"):
        with pytest.raises(sf.errors.FileError):
            outline(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(sf.errors.FileError, match="not a file"):
        outline(tmp_path / "pipe")


def test_names_of_others_are_plain_and_short():
    hostile = "\x1b[31m<script>" + "x" * 100
    found = outline_of(json.dumps(polygon(name=hostile)), "a\nb")
    assert "\x1b" not in found.names[0].text
    assert len(found.names[0].text) < 80
    assert "\n" not in found.source


def test_the_map_around_places_has_land_water_and_names():
    found = world_outline(sf.Lattice.covering("8 km x 8 km around 37.78,-122.45", "1 km"))
    assert found is not None
    assert found.source == CREDIT
    assert {"land", "water", "shore"} <= {shape.kind for shape in found.shapes}
    assert "San Francisco" in {name.text for name in found.names}
    assert world_outline(sf.Lattice.covering("1000 km x 300 km around 62,10", "100 km")) is None
