"""Coordinate systems that files, columns and rows state: used, or refused by name, wherever they are stated."""

import json
import shutil
import struct
import sys
from pathlib import Path
from typing import Any

import geopandas as gpd
import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pyproj
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato import geo
from sfumato.errors import DataError, InputError, MissingExtraError
from sfumato.tables import PARQUET_TYPE

read_visits: Any = geo.read_visits
CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "readers"
CENTIMETRE = 1e-7  # in degrees, rounded down

LAT, LON = np.array([35.68, 35.69]), np.array([139.75, 139.76])
TOKYO = pyproj.CRS("EPSG:4301")
GRID = sf.Grid.covering("4 km x 4 km around 35.685,139.755", shape=(2, 2))
IDENTITY = sf.Mechanism(np.eye(4), GRID)


def in_tokyo_datum():
    """Return the points in the datum of Tokyo, array (n, 2) of longitudes and latitudes.

    The shift between the centres of both ellipsoids, applied here by hand, is EPSG:1230's.
    """

    def axes(a, inverse):
        flattening = 1 / inverse
        return a, flattening * (2 - flattening)

    phi, lam = np.radians(LAT), np.radians(LON)
    a, e2 = axes(6_378_137.0, 298.257223563)
    n = a / np.sqrt(1 - e2 * np.sin(phi) ** 2)
    x, y, z = n * np.cos(phi) * np.cos(lam), n * np.cos(phi) * np.sin(lam), n * (1 - e2) * np.sin(phi)
    x, y, z = x + 146.414, y - 507.337, z - 680.507
    a, e2 = axes(6_377_397.155, 299.1528128)
    p, phi = np.hypot(x, y), np.arctan2(z, np.hypot(x, y))
    for _ in range(9):
        n = a / np.sqrt(1 - e2 * np.sin(phi) ** 2)
        phi = np.arctan2(z + e2 * n * np.sin(phi), p)
    return np.degrees(np.column_stack([np.arctan2(y, x), phi]))


XY = in_tokyo_datum()


def wkb(x, y, srid=None, kind=1, order="<"):
    head = struct.pack("B", order == "<") + struct.pack(order + "I", kind | (0 if srid is None else 0x20000000))
    return head + (b"" if srid is None else struct.pack(order + "I", srid)) + struct.pack(order + "dd", x, y)


POINTS = [wkb(x, y) for x, y in XY]
EWKT = [f"SRID=4301;POINT({float(x)!r} {float(y)!r})" for x, y in XY]


def geoarrow(crs, name="geoarrow.wkb", values=POINTS):
    facts = {b"ARROW:extension:name": name.encode(), b"ARROW:extension:metadata": json.dumps(crs).encode()}
    return pa.table([pa.array(values)], pa.schema([pa.field("geometry", pa.array(values).type, metadata=facts)]))


def geoparquet(crs, table=None):
    column = {"encoding": "WKB"} | ({} if crs is ... else {"crs": crs})
    described = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": column}}
    table = pa.table({"geometry": pa.array(POINTS)}) if table is None else table
    return table.replace_schema_metadata({"geo": json.dumps(described)})


def near(visits):
    return (np.abs(visits.lat - LAT) < CENTIMETRE).all() and (np.abs(visits.lon - LON) < CENTIMETRE).all()


def released(source):
    """Return the labels of a release of a source by the mechanism that reports the truth."""
    if not isinstance(source, Path):
        return sf.release(IDENTITY, source)["label"].to_pylist()
    target = source.with_name("released.arrow")
    sf.release(IDENTITY, source, target)
    return pa.ipc.open_file(target).read_all()["label"].to_pylist()


@pytest.fixture
def write(tmp_path):
    def written(table, ending):
        path = tmp_path / f"v.{ending}"
        if ending == "parquet":
            parquet.write_table(table, path)
        elif ending == "csv":
            pc.write_csv(table, path)
        else:
            with pa.ipc.new_file(path, table.schema) as writer:
                writer.write_table(table)
        return path

    return written


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not here")
@pytest.mark.parametrize(
    ("name", "lat", "lon"),
    [
        ("p04_native_tokyo_datum.parquet", LAT, LON),
        ("a01_arrow_wkb_tokyo.arrow", LAT, LON),
        ("c34_ewkt_4301.csv", LAT, LON),
        ("p03_native_osgb.parquet", [51.5, 51.51], [-0.12, -0.13]),
        ("c29_wkt_multipoint.csv", [48.85, 48.86], [2.35, 2.36]),
        ("j05_track_linestring.geojson", [48.85, 48.86], [2.35, 2.36]),
    ],
)
def test_the_public_cases_are_read_within_a_centimetre(name, lat, lon):
    visits = read_visits(CASES / name)
    assert (np.abs(visits.lat - lat) < CENTIMETRE).all()
    assert (np.abs(visits.lon - lon) < CENTIMETRE).all()


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not here")
def test_the_type_of_parquet_is_used_by_releases_of_files_and_of_folders(tmp_path):
    folder, case = tmp_path / "parts", CASES / "p04_native_tokyo_datum.parquet"
    folder.mkdir()
    for name in "ab":
        shutil.copy(case, folder / f"{name}.parquet")
    expected = released(pa.table({"lat": LAT, "lon": LON}))
    assert released(folder) == 2 * expected
    shutil.copy(CASES / "p03_native_osgb.parquet", folder / "b.parquet")
    with pytest.raises(DataError, match=r"b.parquet' states another coordinate system than the first"):
        released(folder)


@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not here")
def test_the_damaged_row_of_the_public_case_is_named():
    with pytest.raises(DataError, match=r"row 2 of 'p27_truncated_wkb.parquet' is damaged"):
        read_visits(CASES / "p27_truncated_wkb.parquet")


SYSTEMS = [
    {"crs": TOKYO.to_json_dict(), "crs_type": "projjson"},
    {"crs": "EPSG:4301", "crs_type": "authority_code"},
    {"crs": TOKYO.to_wkt("WKT2_2019"), "crs_type": "wkt2:2019"},
    {"crs": "4301", "crs_type": "srid"},
    {"crs": "Tokyo"},
    {"crs": "urn:ogc:def:crs:EPSG::4301"},
]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("crs", SYSTEMS, ids=["projjson", "code", "wkt2", "srid", "name", "urn"])
@pytest.mark.parametrize("ending", ["arrow", "parquet", "memory"])
def test_geoarrow_metadata_are_used(write, crs, ending):
    table = geoarrow(crs)
    source = table if ending == "memory" else write(table, ending)
    assert near(read_visits(source))
    assert read_visits(source).notes == ()


def test_every_encoding_of_geoarrow_is_used(write):
    crs = {"crs": "EPSG:4301"}
    texts = [each.partition(";")[2] for each in EWKT]
    pairs = pa.FixedSizeListArray.from_arrays(pa.array(XY.ravel()), 2)
    parts = pa.array([{"x": float(x), "y": float(y)} for x, y in XY])
    for name, values in (("geoarrow.wkt", texts), ("geoarrow.point", pairs), ("geoarrow.point", parts)):
        assert near(read_visits(write(geoarrow(crs, name, values), "arrow")))
    assert near(read_visits(write(geoarrow(crs, "ogc.wkb"), "arrow")))


def test_the_crs_of_geoparquet_is_used(write):
    assert near(read_visits(write(geoparquet(TOKYO.to_json_dict()), "parquet")))
    assert not near(read_visits(write(geoparquet(...), "parquet")))


@pytest.mark.parametrize(
    ("crs", "metadata"),
    [
        (json.dumps(TOKYO.to_json_dict()), None),
        ("EPSG:4301", None),
        ("srid:4301", None),
        ("projjson:mine", {"mine": json.dumps(TOKYO.to_json_dict())}),
    ],
)
def test_every_spelling_of_the_type_of_parquet_is_used(crs, metadata):
    """The type stands in the metadata of the field, where the reader of Parquet puts it: pyarrow writes none."""
    own = {PARQUET_TYPE: json.dumps({"Type": "Geometry", "crs": crs})}
    field = pa.field("geometry", pa.binary(), metadata=own)
    table = pa.Table.from_arrays([pa.array(POINTS)], schema=pa.schema([field], metadata=metadata))
    assert near(read_visits(table))
    assert released(table) == released(pa.table({"lat": LAT, "lon": LON}))


def test_statements_that_contradict_each_other_are_refused(write):
    both = geoparquet("EPSG:6668", geoarrow({"crs": "EPSG:4301"}))
    with pytest.raises(DataError, match="states two coordinate systems") as caught:
        read_visits(write(both, "parquet"))
    assert "EPSG:4301" in str(caught.value)
    assert "EPSG:6668" in str(caught.value)
    alike = geoparquet(TOKYO.to_json_dict(), geoarrow({"crs": "EPSG:4301"}))
    assert near(read_visits(write(alike, "parquet")))
    rows = pa.table({"geometry": [wkb(XY[0, 0], XY[0, 1], srid=4301), wkb(XY[1, 0], XY[1, 1], srid=4612)]})
    with pytest.raises(DataError, match=r"row 2 of 'v.parquet' states another .*JGD2000.* than the table .*Tokyo"):
        read_visits(write(geoparquet("EPSG:4301", rows), "parquet"))


def test_the_unknown_system_gives_way_to_a_known_one_and_is_noted_without(write):
    assert near(read_visits(write(geoparquet(None, geoarrow({"crs": "EPSG:4301"})), "parquet")))
    for table in (geoparquet(None), geoarrow({})):
        found = read_visits(write(table, "parquet"))
        assert found.notes == ("The CRS of 'v.parquet' is unknown and was taken for WGS84.",)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("form", ["ewkt", "ewkb", "hex", "postgres", "multipoint"])
def test_srids_of_rows_are_used(write, form):
    binary = [wkb(x, y, srid=4301, order=order) for (x, y), order in zip(XY, "<>", strict=True)]
    values = {
        "ewkt": EWKT,
        "ewkb": binary,
        "hex": [each.hex().upper() for each in binary],
        "postgres": ["\\x" + each.hex() for each in binary],
        "multipoint": [each.replace("POINT(", "MULTIPOINT((") + ")" for each in EWKT],
    }[form]
    table = pa.table({"geometry": values})
    for ending in ("parquet", "arrow") if form == "ewkb" else ("csv", "parquet"):
        assert near(read_visits(write(table, ending)))
    assert released(write(table, "parquet")) == released(pa.table({"lat": LAT, "lon": LON}))


def test_systems_that_differ_by_row_are_all_used(write):
    rows = [EWKT[0], None, f"SRID=4326;POINT Z ({LON[1]} {LAT[1]} 7)", "SRID=27700;POINT EMPTY", " "]
    visits = read_visits(write(pa.table({"id": range(5), "geometry": rows}), "csv"))
    assert near(visits)
    assert "3 of 5 rows without a position" in visits.notes[0]


def test_rows_with_and_without_a_system_are_not_mixed(write):
    rows = [f"POINT({LON[0]} {LAT[0]})", EWKT[1]]
    with pytest.raises(DataError, match=r"row 1 of 'v.csv' states no coordinate system, but row 2 states Tokyo"):
        read_visits(write(pa.table({"geometry": rows}), "csv"))


def test_axes_come_in_the_order_of_files_and_units_are_those_of_the_system(write):
    lambert = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:2154", always_xy=True).transform(2.35, 48.85)
    grads = pyproj.Transformer.from_crs("EPSG:4326", "EPSG:4807", always_xy=True).transform(2.35, 48.85)
    for srid, (x, y) in ((2154, lambert), (4807, grads), (4326, (2.35, 48.85)), (4979, (2.35, 48.85))):
        for text in (f"POINT({x!r} {y!r})", f"POINT ZM({x!r} {y!r} 9 1)", f"POINTM({x!r} {y!r} 1)"):
            found = read_visits(write(pa.table({"id": [1], "geom": [f"SRID={srid};{text}"]}), "csv"))
            assert abs(found.lat[0] - 48.85) < CENTIMETRE
            assert abs(found.lon[0] - 2.35) < CENTIMETRE


ESRI_WGS84 = """GEOGCS["GCS_WGS_1984", DATUM["D_WGS_1984", SPHEROID["WGS_1984", 6378137.0, 298.257223563]],
    PRIMEM["Greenwich", 0.0], UNIT["Degree", 0.0174532925199433]]"""
WGS84 = [
    *("EPSG:4326", "epsg:4326", "SRID=4326", "OGC:CRS84", "WGS84", "WGS 84", "WGS 84 (EPSG:4326)", "GCS_WGS_1984"),
    *("urn:ogc:def:crs:OGC:1.3:CRS84", "urn:ogc:def:crs:OGC::CRS84", "urn:ogc:def:crs:EPSG::4326", ESRI_WGS84),
    *("http://www.opengis.net/def/crs/OGC/1.3/CRS84", "https://www.opengis.net/def/crs/EPSG/0/4326"),
    *(json.loads(pyproj.CRS(code).to_json()) for code in ("EPSG:4326", "OGC:CRS84")),
]
OTHERS = [
    *("EPSG:4267", "EPSG:3857", "OGC:CRS83", "OGC:CRS84h", "EPSG:43260", ESRI_WGS84.replace("298.25", "298.30")),
    *({**WGS84[-1], "id": {"authority": "EPSG", "code": 4979}}, {"id": {"authority": "EPSG", "code": 4326}}),
    {**json.loads(pyproj.CRS("EPSG:4267").to_json()), "id": {"authority": "EPSG", "code": 4326}},
    json.loads(json.dumps(WGS84[-1]).replace('"degree"', '"grad"')),
    json.loads(json.dumps(WGS84[-1]).replace('"east"', '"west"')),
    json.loads(json.dumps(WGS84[-1]).replace("298.257223563", "298.3")),
]


@pytest.mark.parametrize("crs", WGS84, ids=str)
def test_wgs84_needs_no_extra(write, monkeypatch, crs):
    table = geoarrow({"crs": crs})
    with_proj = read_visits(write(table, "arrow"))
    monkeypatch.setitem(sys.modules, "pyproj", None)
    assert np.array_equal(read_visits(write(table, "arrow")).lat, with_proj.lat)
    assert np.array_equal(with_proj.lat, XY[:, 1])


@pytest.mark.parametrize("crs", OTHERS, ids=str)
def test_other_systems_name_the_extra(write, monkeypatch, crs):
    monkeypatch.setitem(sys.modules, "pyproj", None)
    with pytest.raises(MissingExtraError, match=r"another coordinate system than WGS84 needs .*\n.*--extra geo;"):
        read_visits(write(geoarrow({"crs": crs}), "arrow"))


@pytest.mark.parametrize("srid", [999_999, 99])
def test_an_unknown_srid_is_refused_by_its_number(write, srid):
    rows = pa.table({"geometry": [EWKT[0], f"SRID={srid};POINT(139.7 35.6)"]})
    with pytest.raises(DataError, match=rf"the CRS of row 2 of 'v.csv' is not understood: SRID {srid}") as caught:
        read_visits(write(rows, "csv"))
    assert "139.7" not in str(caught.value)


def test_a_system_without_a_way_to_wgs84_is_refused_by_its_name(write):
    """Taken for WGS84 its points would be hundreds of metres off."""
    for crs in ("+proj=longlat +ellps=bessel +no_defs +type=crs", "EPSG:4035"):
        with pytest.raises(DataError, match="no known conversion from the CRS") as caught:
            read_visits(write(geoarrow({"crs": crs}), "arrow"))
        assert pyproj.CRS(crs).name in str(caught.value)
    with pytest.raises(DataError, match="is not understood: Middle Earth"):
        read_visits(write(geoarrow({"crs": "Middle Earth"}), "arrow"))
    china = read_visits(write(geoarrow({"crs": "EPSG:4490"}), "arrow"))  # geocentric: the same within a metre
    assert np.allclose(china.lat, XY[:, 1])
    with pytest.raises(DataError, match=r"GeoArrow metadata of the column 'geometry' of 'v.arrow' are damaged"):
        read_visits(write(geoarrow([1]), "arrow"))


class TestDatumOfRows:
    """Darwin Core's ``geodeticDatum``."""

    def table(self, datums, lat=XY[:, 1], lon=XY[:, 0], name="geodeticDatum"):
        return pa.table({"decimalLatitude": lat, "decimalLongitude": lon, name: datums})

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize(
        "datum", ["Tokyo", "EPSG:4301", "epsg:4301", "Tokyo datum", "4301", "Tokyo (EPSG:4301)"]
    )
    def test_it_is_used(self, write, datum):
        table = self.table([datum] * 2)
        for ending in ("csv", "parquet", "arrow"):
            found = read_visits(write(table, ending))
            assert near(found)
            assert found.notes == ()
            assert "geodeticDatum" not in found.attributes  # it says nothing of what was converted
        assert released(table) == released(pa.table({"lat": LAT, "lon": LON}))

    def test_rows_may_differ(self, write):
        lat, lon = [XY[0, 1], LAT[1], None], [XY[0, 0], LON[1], 5.0]
        assert near(read_visits(write(self.table(["Tokyo", "WGS 84", "no such"], lat, lon), "parquet")))
        assert near(read_visits(write(self.table([4301, 4326, 4326], lat, lon, "srid"), "parquet")))

    def test_a_missing_value_is_taken_for_wgs84_and_said(self, write):
        found = read_visits(write(self.table(["WGS84", "not recorded"], LAT, LON), "csv"))
        assert near(found)
        assert found.notes == ("1 of 2 rows have no value in 'geodeticDatum' and were taken for WGS84.",)
        with pytest.raises(
            DataError, match=r"row 2 of 'v.csv' states no coordinate system, but row 1 states Tokyo"
        ):
            read_visits(write(self.table(["Tokyo", ""]), "csv"))

    @pytest.mark.parametrize(("datum", "said"), [("Tokio", "not understood: Tokio"), ("EPSG:2154", "Lambert-93")])
    def test_what_is_no_datum_is_refused_with_its_row_and_name(self, write, datum, said):
        with pytest.raises(DataError, match="the CRS") as caught:
            read_visits(write(self.table(["WGS84", datum]), "csv"))
        assert said in caught.value.render(values=True)
        assert "Tokio" not in str(caught.value)
        assert "row 2 of 'v.csv'" in str(caught.value)
        assert "139" not in str(caught.value)

    def test_a_column_of_systems_is_used_for_geometries_that_state_none(self, write):
        bare = [each.partition(";")[2] for each in EWKT]
        for values in (bare, [bare[0], EWKT[1]]):
            table = pa.table({"geometry": values, "srid": [4301, 4301]})
            assert near(read_visits(write(table, "csv")))
            assert released(table) == released(pa.table({"lat": LAT, "lon": LON}))
        other = pa.table({"geometry": [bare[0], EWKT[1]], "crs": ["EPSG:4301", "EPSG:4612"]})
        with pytest.raises(DataError, match=r"row 2 of 'v.csv' states two coordinate systems"):
            read_visits(write(other, "csv"))
        left_over = geoparquet("EPSG:4301").append_column("srid", [[2154, 2154]])
        assert near(read_visits(write(left_over, "parquet")))
        assert "srid" in read_visits(write(left_over, "parquet")).attributes

    def test_it_is_not_kept_beside_reports(self):
        with pytest.raises(InputError, match="states the coordinate system of the source; reports are in WGS84"):
            sf.release(IDENTITY, self.table(["Tokyo"] * 2), keep=["geodeticDatum"])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_folder_has_one_system(tmp_path, kind):
    folder = tmp_path / "parts"
    folder.mkdir()

    def put(name, table):
        if kind == "parquet":
            parquet.write_table(table, folder / name)
        else:
            with pa.ipc.new_file(folder / name, table.schema) as writer:
                writer.write_table(table)

    put(f"a.{kind}", geoarrow({"crs": "EPSG:4301"}))
    put(f"b.{kind}", geoarrow({"crs": "EPSG:4301"}))
    assert released(folder) == 2 * released(pa.table({"lat": LAT, "lon": LON}))
    put(f"b.{kind}", geoarrow({"crs": "EPSG:4612"}))
    with pytest.raises(DataError, match=rf"b\.{kind}' states another coordinate system than the first"):
        released(folder)


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_released_files_are_in_wgs84_and_state_nothing_else(write, tmp_path, ending):
    target = tmp_path / f"out.{ending}"
    both = geoparquet("EPSG:4301", geoarrow({"crs": "EPSG:4301"}))
    sf.releases.prepare(IDENTITY, write(both, "parquet"), target).run()
    if ending == "csv":
        found = pc.read_csv(target)
    elif ending == "arrow":
        found = pa.ipc.open_file(target).read_all()
    else:
        found = parquet.read_table(target)
    at = [GRID.labels.index(label) for label in released(pa.table({"lat": LAT, "lon": LON}))]
    assert np.allclose(np.column_stack([found["latitude"], found["longitude"]]), GRID.latlon[at], atol=1e-6)
    assert b"geo" not in (found.schema.metadata or {})
    assert all(not (field.metadata or {}).get(b"ARROW:extension:name") for field in found.schema)


def test_visits_are_in_wgs84_whatever_their_attributes_say(tmp_path):
    visits = geo.Visits(LAT, LON, attributes={"srid": np.array([4301, 4301]), "crs": np.array(["x", "y"])})
    sf.release(IDENTITY, visits, tmp_path / "out.arrow", keep=["srid"])
    found = pa.ipc.open_file(tmp_path / "out.arrow").read_all()
    assert found["label"].to_pylist() == released(pa.table({"lat": LAT, "lon": LON}))
    assert found["srid"].to_pylist() == [4301, 4301]


def test_frames_of_geopandas_are_read_in_their_datum():
    frame = gpd.GeoDataFrame(geometry=gpd.points_from_xy(*XY.T), crs="EPSG:4301")
    assert near(read_visits(frame))
    assert sf.release(IDENTITY, frame)["label"].tolist() == released(pa.table({"lat": LAT, "lon": LON}))


class TestGeometries:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("POINT(2.35 48.8", "is damaged"),
            ("POINT(2.35)", "is damaged"),
            ("MULTIPOINT((2.35 48.85)", "is damaged"),
            ("MULTIPOINT((2.35 48.85), (2.36 48.86))", "holds a MultiPoint of several points"),
            ("MULTIPOINT(2.35 48.85, 2.36 48.86)", "holds a MultiPoint of several points"),
            ("SRID=4326;LINESTRING(2.35 48.85, 2.36 48.86)", "holds a LineString"),
            ("somewhere 2.35", "holds a text that is no WKT"),
            (wkb(2.35, 48.85).hex()[:-8], "is damaged"),
            (wkb(2.35, 48.85).hex()[:-1], "is damaged"),
        ],
    )
    def test_texts_that_are_no_point_are_refused_with_their_row_alone(self, write, text, said):
        table = pa.table({"id": range(3), "geometry": ["POINT(2.35 48.85)", "", text]})
        with pytest.raises(DataError, match=f"row 3 of 'v.csv' {said}") as caught:
            read_visits(write(table, "csv"))
        assert "2.35" not in str(caught.value)
        assert text[:12] not in str(caught.value)

    def test_the_first_bad_row_is_named_whatever_its_kind(self, write):
        sound, multi = wkb(2.35, 48.85), b"\1" + struct.pack("<II", 4, 1) + wkb(2.36, 48.86)
        several = b"\1" + struct.pack("<II", 4, 2) + 2 * wkb(2.36, 48.86)
        line = b"\1" + struct.pack("<II", 2, 0)
        for bad, said in (
            (sound[:-3], "is damaged"),
            (sound[:4], "is damaged"),
            (b"\7" + sound[1:], "is damaged"),
            (b"", "is damaged"),
            (multi[:-1], "is damaged"),
            (several, "holds a MultiPoint of several points"),
            (line, "holds a LineString"),
            (wkb(1, 2, kind=1001), "is damaged"),  # a height is missing
        ):
            for later in (sound[:-3], line, several):
                table = pa.table({"geometry": [sound, None, multi, bad, sound, later]})
                with pytest.raises(DataError, match=f"row 4 of 'v.parquet' {said}"):
                    read_visits(write(table, "parquet"))

    def test_a_multipoint_of_one_point_is_that_point_and_an_empty_one_is_missing(self, write):
        multi = b"\1" + struct.pack("<II", 4, 1) + wkb(2.36, 48.86, order=">")
        high = (
            b"\0"
            + struct.pack(">III", 0xA0000004, 4326, 1)
            + b"\0"
            + struct.pack(">Iddd", 0x80000001, 2.37, 48.87, 9)
        )
        table = pa.table({"geometry": [multi, high, b"\1" + struct.pack("<II", 4, 0)]})
        visits = read_visits(write(table, "parquet"))
        assert visits.lon.tolist() == [2.36, 2.37]
        assert visits.lat.tolist() == [48.86, 48.87]
        assert "1 of 3 rows without a position" in visits.notes[0]

    def test_rows_of_later_batches_have_the_numbers_of_the_file(self, write, tmp_path):
        table = pa.table({"geometry": [wkb(LON[0], LAT[0])] * 9 + [POINTS[0][:-2]]})
        prepared = sf.releases.prepare(IDENTITY, write(table, "parquet"), tmp_path / "out.parquet", batch_rows=4)
        with pytest.raises(DataError, match="row 10 of"):
            prepared.run()


class TestGeoJSON:
    def write(self, tmp_path, whole):
        path = tmp_path / "v.geojson"
        path.write_text(json.dumps(whole))
        return path

    def feature(self, kind, coordinates, **properties):
        shape = {"type": kind, "coordinates": coordinates}
        return {"type": "Feature", "geometry": shape, "properties": properties}

    @pytest.mark.parametrize("name", ["EPSG:4301", "urn:ogc:def:crs:EPSG::4301", "Tokyo"])
    def test_the_member_crs_is_used(self, tmp_path, name):
        crs = {"type": "name", "properties": {"name": name}}
        features = [self.feature("Point", each) for each in XY.tolist()]
        assert near(
            read_visits(self.write(tmp_path, {"type": "FeatureCollection", "crs": crs, "features": features}))
        )
        inner = [{**each, "crs": crs} for each in features]
        path = self.write(tmp_path, {"type": "FeatureCollection", "features": inner})
        assert near(read_visits(path))
        assert released(path) == released(pa.table({"lat": LAT, "lon": LON}))

    @pytest.mark.parametrize(
        ("crs", "said"),
        [
            ({"type": "link", "properties": {"href": "http://nowhere"}}, "feature 1 .* without a name"),
            (
                {"type": "name", "properties": {"name": "EPSG:999999"}},
                "feature 1 .* is not understood: EPSG:999999",
            ),
            ("EPSG:4301", "feature 1 .* without a name"),
        ],
    )
    def test_an_unknown_member_is_refused(self, tmp_path, crs, said):
        point = {"type": "Point", "coordinates": [139.75, 35.68], "crs": crs}
        with pytest.raises(DataError, match=said):
            read_visits(self.write(tmp_path, point))

    def test_properties_are_no_statements(self, tmp_path):
        """A property may be about earlier coordinates: those of the file are in the system of the file."""
        features = [
            self.feature("Point", [x, y], srid=4301, geodeticDatum="Tokyo") for x, y in zip(LON, LAT, strict=True)
        ]
        path = self.write(tmp_path, {"type": "FeatureCollection", "features": features})
        assert near(read_visits(path))
        assert read_visits(path).attributes["srid"].tolist() == [4301, 4301]
        assert released(path) == released(pa.table({"lat": LAT, "lon": LON}))

    def test_an_explicitly_unknown_system_is_noted(self, tmp_path):
        whole = {"type": "FeatureCollection", "crs": None, "features": [self.feature("Point", [2.35, 48.85])]}
        found = read_visits(self.write(tmp_path, whole))
        assert found.notes == ("The CRS of 'v.geojson' is unknown and was taken for WGS84.",)

    def test_tracks_are_their_vertices(self, tmp_path):
        times = ["2026-07-05T10:00:00Z", "2026-07-05T10:01:00Z", "2026-07-05T10:02:00Z"]
        line, lines = [[2.35, 48.85, 30], [2.36, 48.86]], [[[2.35, 48.85], [2.36, 48.86]], [[2.37, 48.87]]]
        features = [
            self.feature("LineString", line, user="a", coordTimes=times[:2], time="2026-07-05T09:00:00Z"),
            self.feature(
                "MultiLineString", lines, user="b", coordinateProperties={"times": [times[:2], times[2:]]}
            ),
            self.feature("LineString", line, user="c", time=times[0]),
            self.feature("LineString", line, user="d", times=times),
            self.feature("LineString", [], user="e"),
            self.feature("Point", [2.4, 48.9], user="f", time=times[0]),
        ]
        found = read_visits(self.write(tmp_path, {"type": "FeatureCollection", "features": features}))
        assert found.user.tolist() == list("aabbbccddf")
        assert found.lat.tolist() == [48.85, 48.86, 48.85, 48.86, 48.87, 48.85, 48.86, 48.85, 48.86, 48.9]
        none = [np.datetime64("NaT")] * 4
        expected = [*times[:2], *times, *none, times[0]]
        whole = np.array([np.datetime64(str(each).removesuffix("Z")) for each in expected], "datetime64[us]")
        np.testing.assert_array_equal(found.time, whole)
        assert found.notes == ("Feature 4 has 3 times for 2 points: they were left out.",)

    def test_features_are_numbered_as_in_the_file(self, tmp_path):
        features = [self.feature("MultiPoint", [[2.35, 48.85], [2.36, 48.86]]), self.feature("Polygon", [])]
        with pytest.raises(DataError, match=r"the shape of feature 2 of 'v.geojson' is a Polygon"):
            read_visits(self.write(tmp_path, {"type": "FeatureCollection", "features": features}))


def _stated(datum):
    return pa.table({"lat": [30.0], "lon": [31.0], "geodeticDatum": [datum]})


def test_a_datum_is_shifted_outside_of_the_areas_that_are_listed_for_it(write):
    """ED50 in Cairo: 128 m by the mean shift between the two ellipsoid centres; without it 0 m and no note."""
    found = read_visits(write(_stated("EPSG:4230"), "csv"))
    assert (found.lat[0], found.lon[0]) == pytest.approx((29.998906, 30.999594), abs=2e-5)


def test_cells_of_datums_are_data_of_rows(write):
    with pytest.raises(DataError, match=r"the CRS of row 1 of 'v\.csv' is not understood") as no:
        read_visits(write(_stated("anna 48.851234"), "csv"))
    assert "anna" not in str(no.value)


@pytest.mark.parametrize(
    "datum", ["not recorded (forced WGS84)", "EPSG 4326", "https://epsg.io/4326", "D_WGS_1984"]
)
def test_common_ways_to_write_wgs84(write, datum):
    assert read_visits(write(_stated(datum), "csv")).lat[0] == 30


def test_the_datum_of_a_geometry_without_degrees_is_used(write):
    found = read_visits(write(pa.table({"wkt": ["POINT(139.74 35.65)"], "geodeticDatum": ["EPSG:4301"]}), "csv"))
    assert (found.lat[0], found.lon[0]) == pytest.approx((35.65324, 139.73677), abs=1e-4)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("datum", ["Tokyo", "Tokyo Datum", "EPSG:4301"])
def test_the_datum_of_a_track_is_its_second_line(tmp_path, datum):
    head = "Geolife trajectory\n{}\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"
    rows = "".join(f"{y:.9f},{x:.9f},0,492,39744.12,2008-10-23,02:53:04\n" for x, y in XY)
    (tmp_path / "a.plt").write_text(head.format(datum) + rows)
    shifted = read_visits(tmp_path / "a.plt")
    np.testing.assert_allclose(shifted.lat, LAT, atol=1e-6)
    np.testing.assert_allclose(shifted.lon, LON, atol=1e-6)
    for name, code in (("European 1950", 4230), ("NAD27 CONUS", 4267), ("Ord Srvy Grt Britn", 4277)):
        track = (
            "51.5,-0.12,0,492,39744.12,2008-10-23,02:53:04\n"
            if code != 4267
            else "40,-95,0,0,39744,2008-10-23,00:00:00\n"
        )
        (tmp_path / "a.plt").write_text(head.format(name) + track)
        by_name = read_visits(tmp_path / "a.plt")
        (tmp_path / "a.plt").write_text(head.format(f"EPSG:{code}") + track)
        np.testing.assert_array_equal(by_name.lon, read_visits(tmp_path / "a.plt").lon)
    (tmp_path / "a.plt").write_text(head.format("WGS 84") + rows)
    np.testing.assert_allclose(read_visits(tmp_path / "a.plt").lat, XY[:, 1], atol=1e-8)
    (tmp_path / "a.plt").write_text(head.format("Hu-Tzu-Shan the second") + rows)
    with pytest.raises(DataError, match=r"the CRS of 'a\.plt' is not understood"):
        read_visits(tmp_path / "a.plt")


@pytest.mark.parametrize("statement", ["EPSG:4978", "4978", pyproj.CRS("EPSG:4978").to_wkt()])
def test_geocentric_coordinates_are_refused(tmp_path, statement):
    rows = [[statement, "35.68", "139.75"], [statement, "35.69", "139.76"]]
    table = pa.table(
        dict(zip(("geodeticDatum", "decimalLatitude", "decimalLongitude"), zip(*rows, strict=True), strict=True))
    )
    parquet.write_table(table, tmp_path / "v.parquet")
    with pytest.raises(DataError, match="centre of the Earth"):
        read_visits(tmp_path / "v.parquet")


def test_geometries_of_fixed_size_and_in_dictionaries(tmp_path):
    points = [wkb(x, y) for x, y in zip(LON, LAT, strict=True)]
    texts = [f"POINT ({x} {y})" for x, y in zip(LON, LAT, strict=True)]
    for column in (
        pa.array(points, pa.binary(21)),
        pa.array([points[0], None, points[1]], pa.binary(21)),
        pa.array(points).dictionary_encode(),
        pa.array(texts).dictionary_encode(),
        pa.array([point.hex() for point in points]).dictionary_encode(),
    ):
        parquet.write_table(pa.table({"geometry": column}), tmp_path / "v.parquet")
        visits = read_visits(tmp_path / "v.parquet")
        np.testing.assert_array_equal(visits.lat[[0, -1]], LAT)
        np.testing.assert_array_equal(visits.lon[[0, -1]], LON)
