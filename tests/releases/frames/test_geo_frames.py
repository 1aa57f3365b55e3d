"""Frames with points: whatever their CRS they are read where they are, or refused in words."""

import json

import geopandas as gpd
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import shapely

import sfumato as sf
from sfumato.errors import DataError, InputError

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
IDENTITY = sf.Mechanism(np.eye(8), GRID)
LABELS = list(GRID.labels)
LAT, LON = GRID.latlon.T
POINTS = gpd.GeoDataFrame({"id": range(8)}, geometry=gpd.points_from_xy(LON, LAT), crs="EPSG:4326")
CRS = ["EPSG:3857", "EPSG:27700", "EPSG:2154", "EPSG:4258", "OGC:CRS84", "EPSG:4979"]


@pytest.mark.parametrize("crs", CRS)
def test_points_are_read_where_they_are(crs):
    there = POINTS.to_crs(crs)
    found = sf.release(IDENTITY, there, keep=["id"])
    assert found["label"].tolist() == LABELS
    assert np.allclose(shapely.get_coordinates(found.geometry), np.column_stack([LON, LAT]), atol=1e-6)


@pytest.mark.parametrize("crs", [each for each in CRS if each != "EPSG:27700"])  # Paris is outside of its area
def test_arrow_tables_and_visits_of_them_are_read_so_too(crs):
    table = pa.table(POINTS.to_crs(crs).to_arrow())  # GeoArrow: the CRS stands beside the column
    assert sf.release(IDENTITY, table)["label"].to_pylist() == LABELS
    read = sf.read_visits(table)
    assert np.allclose(np.column_stack([read.lat, read.lon]), GRID.latlon, atol=1e-6)


def test_geoarrow_as_a_type_of_its_own():
    class Points(pa.ExtensionType):  # type: ignore[misc]
        def __init__(self):
            super().__init__(pa.binary(), "geoarrow.wkb")

        def __arrow_ext_serialize__(self):
            return json.dumps({"crs": "EPSG:2154"}).encode()

    points = POINTS.to_crs("EPSG:2154").geometry.to_wkb().tolist()
    column = pa.ExtensionArray.from_storage(Points(), pa.array(points, pa.binary()))
    assert sf.release(IDENTITY, pa.table({"geometry": column}))["label"].to_pylist() == LABELS


def test_points_of_arrow_without_a_crs_are_taken_for_degrees_and_said_so():
    naive = POINTS.set_crs(None, allow_override=True)
    table = pa.table(naive.to_arrow())
    done = sf.releases.prepare_frame(IDENTITY, table).run()
    assert done.frame["label"].to_pylist() == LABELS
    assert "taken for WGS84" in str(done.outcome)
    pairs = pa.table(POINTS.to_arrow(geometry_encoding="geoarrow"))
    assert sf.release(IDENTITY, pairs)["label"].to_pylist() == LABELS
    with pytest.raises(DataError, match="store points as WKB"):
        sf.release(IDENTITY, pa.table({"geometry": [[[2.35, 48.85]]]}))


def test_points_without_a_crs_or_of_another_world_are_refused():
    with pytest.raises(DataError, match=r"no CRS[\s\S]*set_crs"):
        sf.release(IDENTITY, POINTS.set_crs(None, allow_override=True))
    for odd in ("IAU_2015:30100", 'LOCAL_CS["of a hall",UNIT["metre",1]]'):
        with pytest.raises(DataError, match="no known conversion from the CRS"):
            sf.release(IDENTITY, POINTS.set_crs(odd, allow_override=True))
    with pytest.raises(DataError, match="two of them are no position"):
        sf.release(IDENTITY, POINTS.to_crs("EPSG:4978"))  # from the centre of the Earth


def test_rows_without_a_point():
    some = POINTS.iloc[:3].set_geometry([POINTS.geometry[0], None, shapely.Point()], crs="EPSG:4326")
    with pytest.raises(DataError, match="2 of 3 rows"):
        sf.release(IDENTITY, some)
    found = sf.release(IDENTITY, some, outside="drop", allow=1)
    assert list(found.index) == [0]
    heights = POINTS.set_geometry(gpd.points_from_xy(LON, LAT, range(8), crs="EPSG:4326"))
    assert not sf.release(IDENTITY, heights).geometry.has_z.any()


def test_names_that_clash_are_refused():
    with pytest.raises(InputError, match="the geometry 'label' has the name of a released column"):
        sf.release(IDENTITY, POINTS.rename_geometry("label"))
    with pytest.raises(DataError, match="more than one column 'id'"):
        sf.release(IDENTITY, pd.concat([POINTS, POINTS[["id"]]], axis=1))


def test_latitudes_and_longitudes_that_are_named_win_over_the_geometry():
    elsewhere = POINTS.set_geometry(gpd.points_from_xy(LON + 9, LAT, crs="EPSG:4326")).assign(y1=LAT, x1=LON)
    found = sf.release(IDENTITY, elsewhere, lat="y1", lon="x1")
    assert found["label"].tolist() == LABELS
    assert np.allclose(found.geometry.x, LON, atol=1e-6)


def test_geometries_in_frames_that_are_not_of_points():
    plain = pd.DataFrame(POINTS)
    with pytest.raises(DataError, match="the column 'geometry' of type geometry cannot be read"):
        sf.release(IDENTITY, plain)
    assert sf.release(IDENTITY, plain.assign(lat=LAT, lon=LON))["label"].tolist() == LABELS
    bare = gpd.GeoDataFrame(POINTS.assign(lat=LAT, lon=LON).drop(columns="geometry"))
    assert sf.release(IDENTITY, bare)["label"].tolist() == LABELS
    odd = POINTS.assign(odd=[object()] * 8)
    assert sf.release(IDENTITY, odd, keep=["id"])["id"].tolist() == list(range(8))


def test_geometries_are_kept_in_no_file_either(tmp_path):
    second = POINTS.assign(work=POINTS.geometry)
    with pytest.raises(InputError, match="'work' holds positions"):
        sf.release(IDENTITY, second, tmp_path / "private.parquet", keep=["work"])
    assert not list(tmp_path.iterdir())


def test_frames_of_points_and_nothing_else():
    bare = POINTS[["geometry"]]
    assert sf.release(IDENTITY, bare)["label"].tolist() == LABELS
    keyed = bare.set_axis(pd.Index(list("abcdefgh"), name="key"))
    assert list(sf.release(IDENTITY, keyed, keep=["key"]).index) == list("abcdefgh")
    for name, message in ((None, "has no name"), ("key", "'key' would stay")):
        with pytest.raises(InputError, match=message):
            sf.release(IDENTITY, keyed.rename_axis(name))
    odd = bare.set_axis(pd.Index([1, "a", *range(6)], name="key"))
    with pytest.raises(InputError, match="'key' would stay"):
        sf.release(IDENTITY, odd)
