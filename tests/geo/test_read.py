"""Reading: every format, the names of columns, what is dropped and what is refused."""

import gzip
import io
import json
import os
import random
import struct
import threading
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

import sfumato as sf
from sfumato import geo
from sfumato.errors import DataError, InputError, SfumatoError

read_visits: Any = geo.read_visits  # the tests know which columns are there

CSV = "user,time,lat,lon,area\nann,2024-01-01T10:00:00Z,48.86,2.34,x\nbob,2024-01-01T11:00:00Z,48.85,2.35,y\n"
SNAP = (
    "0\t2010-10-19T23:55:27Z\t30.2359091167\t-97.7951395833\t22847\n"
    "0\t2010-10-18T22:17:43Z\t30.2691029532\t-97.7493953705\t420315\n"
    "7\t\t\t\t\n"
    "8\t2010-10-18T22:17:43Z\t0.0\t0.0\t00000000000000000000000000000000\n"
)
FOURSQUARE = (
    "470\t49bbd6c0f964a520f4531fe3\t4bf58dd8d48988d127951735\tArts & Crafts Store\t40.719810\t-74.002581\t-240"
    "\tTue Apr 03 18:00:09 +0000 2012\n"
    '979\t4a43c0aef964a520c6a61fe3\t4bf58dd8d48988d1df941735\tCaf\xe9 "5"\t40.606800\t-74.044170\t-240'
    "\tWed Oct 03 18:00:25 +0000 2012\n"
)
GPX = """<?xml version="1.0"?>
<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1"><metadata><time>2020-01-01T00:00:00Z</time></metadata>
<wpt lat="48.84" lon="2.33"/>
<trk><name>run</name><trkseg>
<trkpt lat="48.86" lon="2.34"><ele>35</ele><time>2024-01-01T10:00:00Z</time></trkpt>
<trkpt lat="48.85" lon="2.35"><time>2024-01-01T10:00:05.5Z</time></trkpt>
</trkseg></trk></gpx>"""
PLT = (
    "Geolife trajectory\r\nWGS 84\r\nAltitude is in Feet\r\nReserved 3\r\n0,2,255,My Track,0,0,2,8421376\r\n0\r\n"
    "39.984702,116.318417,0,492,39744.1201851852,2008-10-23,02:53:04\r\n"
    "39.984683,116.31845,0,492,39744.1202546296,2008-10-23,02:53:10\r\n"
)


@pytest.fixture
def write_table(tmp_path):
    def written(columns, meta=None):
        table = pa.table(columns)
        if meta is not None:
            table = table.replace_schema_metadata({"geo": meta if isinstance(meta, str) else json.dumps(meta)})
        parquet.write_table(table, tmp_path / "visits.parquet")
        return tmp_path / "visits.parquet"

    return written


def wkb(x: float, y: float, order: str = "<", kind: int = 1, srid: int | None = None, tail: bytes = b"") -> bytes:
    head = struct.pack("B", order == "<") + struct.pack(order + "I", kind | (0x20000000 if srid else 0))
    return head + (struct.pack(order + "I", srid) if srid else b"") + struct.pack(order + "dd", x, y) + tail


class TestText:
    def test_a_plain_table(self, write):
        visits = read_visits(write("v.csv", CSV))
        assert list(visits.lat) == [48.86, 48.85]
        assert list(visits.lon) == [2.34, 2.35]
        assert list(visits.user) == ["ann", "bob"]
        assert visits.time[0] == np.datetime64("2024-01-01T10:00:00")
        assert list(visits.attributes) == ["area"]
        assert visits.notes == ()

    @pytest.mark.parametrize("delimiter", ["\t", ";", "|"])
    def test_other_delimiters(self, write, delimiter):
        assert list(read_visits(write("v.txt", CSV.replace(",", delimiter))).lat) == [48.86, 48.85]

    def test_decimal_commas(self, write):
        visits = read_visits(write("v.csv", "Latitude;Longitude\n48,86;2,34\n48,85;-2,35\n"))
        assert list(visits.lon) == [2.34, -2.35]

    def test_gzip_with_and_without_its_ending(self, write):
        for name in ("v.csv.gz", "v.csv"):
            assert len(read_visits(write(name, gzip.compress(CSV.encode())))) == 2

    @pytest.mark.parametrize(
        ("lat", "lon", "user", "time"),
        [
            ("lat", "lon", "user", "time"),
            ("latitude", "longitude", "user_id", "timestamp"),
            ("Latitude", "Longitude", "userId", "utcTimestamp"),
            ("LAT", "LNG", "UID", "DateTime"),
            ("y", "x", "userid", "checkin_time"),
            ("Latitude", "long", "User ID", "utc"),
            ("decimalLatitude", "decimalLongitude", "person_id", "created_at"),
        ],
    )
    def test_names_in_the_wild(self, write, lat, lon, user, time):
        visits = read_visits(write("v.csv", f"{time},{lat},{user},{lon}\n2024-01-01 10:00:00,48.86,5,2.34\n"))
        assert (visits.lat[0], visits.lon[0], visits.user[0]) == (48.86, 2.34, 5)
        assert visits.time[0] == np.datetime64("2024-01-01T10:00:00")

    def test_named_columns_come_first_and_case_does_not_matter(self, write):
        path = write("v.csv", "lat,lon,home_lat,home_lon,who\n1,2,48.86,2.34,ann\n")
        visits = read_visits(path, lat="home_lat", lon="Home_Lon", user="who")
        assert (visits.lat[0], visits.lon[0], visits.user[0]) == (48.86, 2.34, "ann")

    def test_only_the_wanted_attributes(self, write):
        path = write("v.csv", "lat,lon,a,b\n48.86,2.34,1,2\n")
        assert list(read_visits(path, attributes=["b"]).attributes) == ["b"]
        assert list(read_visits(path, attributes=()).attributes) == []
        with pytest.raises(DataError, match=r"there is no column 'c'. Its columns are: lat, lon, a, b"):
            read_visits(path, attributes=["c"])

    def test_a_table_without_header_asks_for_names(self, write):
        path = write("v.csv", "0,48.86,2.34\n1,48.85,2.35\n")
        with pytest.raises(
            DataError, match=r"(?s)first line is taken for data.*Its columns are: f0, f1, f2.*lat="
        ):
            read_visits(path)
        assert list(read_visits(path, lat="f1", lon="f2").lat) == [48.86, 48.85]

    def test_quotes_byte_order_mark_and_latin_1(self, write):
        visits = read_visits(write("v.csv", '\ufeff"lat","lon","name, full"\n48.86,2.34,"a, b"\n'))
        assert visits.attributes["name, full"][0] == "a, b"
        visits = read_visits(write("v.csv", "lat,lon,name\n48.86,2.34,café\n".encode("latin-1")))
        assert visits.attributes["name"][0] == "café"

    def test_latin_1_far_down(self, write):
        body = "lat,lon,name\n" + "48.86,2.34,plain\n" * 9000
        visits = read_visits(write("v.csv", body.encode() + "48.86,2.34,café\n".encode("latin-1")))
        assert visits.attributes["name"][-1] == "café"

    def test_points_as_text(self, write):
        visits = read_visits(write("v.csv", 'id,geometry\n1,POINT (2.34 48.86)\n2,"point z(2.35 48.85 7)"\n3,\n'))
        assert list(visits.lat) == [48.86, 48.85]
        assert "1 of 3 rows without a position" in visits.notes[0]
        visits = read_visits(write("v.csv", f"geom\n{wkb(2.34, 48.86, srid=4326).hex().upper()}\n"))
        assert (visits.lat[0], visits.lon[0]) == (48.86, 2.34)
        with pytest.raises(DataError, match=r"row 2 of 'v.csv' holds a LineString, not a point"):
            read_visits(write("v.csv", "wkt\nPOINT(2 48)\nLINESTRING (0 0)\n"))

    def test_a_geometry_goes_before_bare_x_and_y(self, write):
        visits = read_visits(write("v.csv", "x,y,geometry\n600000,5400000,POINT(2.34 48.86)\n"))
        assert visits.lat[0] == 48.86

    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("2024-01-01T10:00:00+02:00", "2024-01-01T08:00:00"),
            ("2024-01-01 10:00:00.250", "2024-01-01T10:00:00.250"),
            ("2024-01-01 10:00:00 UTC", "2024-01-01T10:00:00"),
            ("2024/01/01 10:00", "2024-01-01T10:00"),
            ("2024-01-01", "2024-01-01"),
            ("1704103200", "2024-01-01T10:00:00"),
            ("1704103200.5", "2024-01-01T10:00:00.5"),
            ("1704103200000", "2024-01-01T10:00:00"),
            ("1704103200000000001", "2024-01-01T10:00:00"),
            ("Mon Jan 01 10:00:00 +0000 2024", "2024-01-01T10:00:00"),
        ],
    )
    def test_times(self, write, text, moment):
        visits = read_visits(write("v.csv", f"lat,lon,time\n48.86,2.34,{text}\n48.85,2.34,\n"))
        assert visits.time[0] == np.datetime64(moment)
        assert np.isnat(visits.time[1])

    def test_unreadable_times_stay_as_they_are_unless_named(self, write):
        path = write("v.csv", "lat,lon,time\n48.86,2.34,noonish\n")
        visits = read_visits(path)
        assert visits.time is None
        assert visits.attributes["time"][0] == "noonish"
        assert "could not be read as times" in visits.notes[0]
        with pytest.raises(DataError, match=r"'time' of 'v.csv' holds no readable times\.") as refused:
            read_visits(path, time="time")
        assert "but values such as 'noonish'" in refused.value.render(values=True)


class TestDropped:
    def test_missing_null_island_and_repetitions_are_counted_and_order_is_kept(self, write):
        rows = [
            "b,2024-01-01T10:00:00Z,48.86,2.34",
            "a,2024-01-01T10:00:00Z,48.86,2.34",
            "b,2024-01-01T10:00:00Z,48.86,2.34",  # again
            "b,,48.86,2.34",
            "b,,48.86,2.34",  # without a time it may be another visit
            "b,2024-01-01T11:00:00Z,,2.34",
            "b,2024-01-01T11:00:00Z,0,0.0",
            ",2024-01-01T11:00:00Z,48.80,NaN",
            ",2024-01-01T11:00:00Z,48.81,2.30",
        ]
        visits = read_visits(write("v.csv", "user,time,lat,lon\n" + "\n".join(rows)))
        assert list(visits.user) == ["b", "a", "b", "b", None]
        assert visits.notes == (
            "2 of 9 rows without a position were dropped.",
            "1 of 9 rows at latitude 0, longitude 0 were dropped.",
            "1 of 9 rows that repeat another's user, time and place were dropped.",
            "1 of 5 visits have no user.",
        )

    def test_the_row_of_an_error_is_that_of_the_file(self, write):
        with pytest.raises(DataError, match="row 3 has a latitude beyond 90"):
            read_visits(write("v.csv", "lat,lon\n,\n0,0\n91,120\n"))

    def test_nothing_left(self, write):
        with pytest.raises(
            DataError, match=r"holds no usable row. 1 of 2 rows without .* 1 of 2 rows at latitude 0"
        ):
            read_visits(write("v.csv", "lat,lon\n,\n0,0\n"))

    @pytest.mark.slow
    def test_a_million_rows_do_not_take_long(self, tmp_path):
        n = 1_000_000
        random = np.random.default_rng(1)
        table = pa.table(
            {
                "user_id": random.integers(0, 1000, n),
                "timestamp": (1.7e9 + random.integers(0, 10**6, n)).astype(np.int64),
                "lat": 48 + random.random(n),
                "lng": 2 + random.random(n),
            }
        )
        parquet.write_table(table, tmp_path / "v.parquet")
        visits = read_visits(tmp_path / "v.parquet")
        assert len(visits) == n


class TestOtherFormats:
    def test_snap(self, write):
        visits = read_visits(write("loc-gowalla_totalCheckins.txt", SNAP))
        assert list(visits.user) == [0, 0]
        assert visits.lon[1] == -97.7493953705
        assert visits.time[1] == np.datetime64("2010-10-18T22:17:43")
        assert list(visits.attributes["location"]) == ["22847", "420315"]
        assert len(visits.notes) == 2
        assert len(read_visits(write("g.txt.gz", gzip.compress(SNAP.encode())))) == 2

    def test_foursquare(self, write):
        visits = read_visits(write("dataset_TSMC2014_NYC.txt", FOURSQUARE.encode("latin-1")))
        assert list(visits.user) == [470, 979]
        assert visits.lat[0] == 40.719810
        assert visits.time[1] == np.datetime64("2012-10-03T18:00:25")
        assert list(visits.attributes["category"]) == ["Arts & Crafts Store", 'Café "5"']

    def test_gpx(self, write):
        visits = read_visits(write("run.gpx", GPX))
        assert list(visits.lat) == [48.84, 48.86, 48.85]
        assert np.isnat(visits.time[0])
        assert visits.time[2] == np.datetime64("2024-01-01T10:00:05.5")
        assert visits.user is None

    def test_a_folder_of_gpx(self, write):
        write("gpx/ann/1.gpx", GPX)
        write("gpx/ann/2.gpx", GPX.replace("2024", "2025"))
        write("gpx/ann/2024/1.gpx", GPX.replace("2024", "2023"))
        folder = write("gpx/bob.gpx", GPX).parent
        assert read_visits(folder, people="folder").users() == {"ann": 9, "gpx": 3}
        files = {"ann/1": 3, "ann/2": 3, "ann/2024/1": 3, "bob": 3}
        assert read_visits(folder, people="file").users() == files
        assert read_visits(folder, people="one").users() == {"gpx": 10}  # two points of the same time and place
        unstated = read_visits(folder)
        assert unstated.user is None
        assert "count as one person's" in " ".join(unstated.notes)

    def test_a_file_is_one_person(self, write):
        path = write("ann/run.gpx", GPX)
        for people, name in (("one", "run"), ("file", "run"), ("folder", "ann")):
            assert read_visits(path, people=people).users() == {name: 3}

    def test_geolife(self, write, tmp_path):
        write("Data/000/Trajectory/1.plt", PLT)
        write("Data/001/Trajectory/2.plt", PLT.replace("39.98", "39.97"))
        write("Data/001/Trajectory/3.plt", PLT[: PLT.index("39.98")])  # a header alone
        for folder in (tmp_path, tmp_path / "Data"):
            assert read_visits(folder).user is None
            visits = read_visits(folder, people="folder")
            assert visits.users() == {"000": 2, "001": 2}
            assert (visits.lat[0], visits.lon[0]) == (39.984702, 116.318417)
            assert visits.time[1] == np.datetime64("2008-10-23T02:53:10")
        own = tmp_path / "Data" / "001" / "Trajectory"
        for place in (own, own.parent, own / "2.plt"):
            assert read_visits(place, people="folder").users() == {"001": 2}
        assert read_visits(own, people="file").users() == {"2": 2}

    @pytest.mark.parametrize(
        ("name", "people", "named", "error"),
        [
            ("v.csv", "file", None, "is one table"),
            ("v.csv", "folder", None, "is one table"),
            ("t.geojson", "file", None, "is one table"),
            ("bare.csv", "column", None, "has no column of users"),
            ("run.gpx", "column", None, "has no column of users"),
            ("v.csv", "one", "user", "name people in two ways"),
            ("v.csv", "me", None, "use one of one, file, folder, column"),
        ],
    )
    def test_a_statement_that_does_not_fit_is_refused(self, write, name, people, named, error):
        write("v.csv", CSV)
        write("bare.csv", "lat,lon\n48.85,2.35\n")
        write("t.geojson", '{"type": "Point", "coordinates": [2.35, 48.85]}')
        path = write("run.gpx", GPX).with_name(name)
        with pytest.raises((DataError, InputError), match=error):
            read_visits(path, people=people, user=named)

    def test_a_statement_overrules_a_column(self, write):
        path = write("v.csv", CSV)
        assert read_visits(path, people="column").users() == read_visits(path).users()
        assert read_visits(path, people="one").users() == {"v": 2}
        assert read_visits(pa.table({"lat": [48.85], "lon": [2.35]}), people="one").users() == {"one": 1}

    def test_rides_of_one_person(self, shared_data):
        cases = shared_data.parent / "cases" / "readers"
        assert read_visits(cases / "rides").user is None
        assert read_visits(cases / "rides", people="file").users() == {"monday": 60, "tuesday": 60}
        mixed = read_visits(cases / "g31_mixed_case", people="file").users()
        assert mixed["a"] == 4
        assert mixed.keys() <= {"a", "B"}


class TestParquet:
    def test_types_of_columns(self, write_table):
        visits = read_visits(
            write_table(
                {
                    "lat": pa.array(["48.86", "48.85 "]),
                    "lon": pa.array([2.25, 2.5], pa.float32()),
                    "user": pa.array(["ann", "ann"]).dictionary_encode(),
                    "time": pa.array([0, 10**9], pa.timestamp("ns", "Europe/Paris")),
                    "score": pa.array([1, None]),
                    "flag": pa.array([True, None]),
                    "raw": pa.array([b"1", b"2"]),
                    "tags": pa.array([["a"], []]),
                }
            )
        )
        assert list(visits.lat) == [48.86, 48.85]
        assert list(visits.user) == ["ann", "ann"]
        assert visits.time[1] == np.datetime64("1970-01-01T00:00:01")
        assert list(visits.attributes) == ["score", "flag"]
        assert len(visits.notes) == 2

    def test_users_that_were_floats_are_integers_again(self, write_table):
        path = write_table({"lat": [1.0, 2.0], "lon": [3.0, 4.0], "user": [5.0, None]})
        assert list(read_visits(path).user) == [5, None]

    def test_a_user_has_one_spelling(self, write, write_table):
        path = write("v.csv", "lat,lon,user\n1,2,u\n3,4,u \n5,6,\u00a0u\n7,8,  \n")
        assert list(read_visits(path).user) == ["u", "u", "u", None]
        decimals = write_table({"lat": [1.0, 2.0], "lon": [3.0, 4.0], "user": [Decimal("1.00"), Decimal("1.50")]})
        assert list(read_visits(decimals).user) == [1, "1.50"]

    @pytest.mark.parametrize("crs", [None, "OGC:CRS84", "EPSG:4326"])
    def test_geoparquet_in_degrees(self, write_table, crs):
        import pyproj

        column: dict[str, Any] = {"encoding": "WKB"}
        if crs:
            column["crs"] = pyproj.CRS(crs).to_json_dict()
        meta = {"version": "1.1.0", "primary_column": "place", "columns": {"place": column}}
        values = [wkb(2.34, 48.86), None, wkb(2.35, 48.85, ">"), wkb(2.36, 48.84, kind=1001, tail=b"\0" * 8)]
        values += [wkb(np.nan, np.nan), wkb(2.37, 48.83, srid=4326)]
        visits = read_visits(write_table({"place": pa.array(values, pa.binary()), "id": range(6)}, meta))
        assert list(visits.lat) == [48.86, 48.85, 48.84, 48.83]
        assert list(visits.lon) == [2.34, 2.35, 2.36, 2.37]
        assert list(visits.attributes) == ["id"]

    def test_geoparquet_in_metres_is_reprojected(self, write_table):
        import pyproj

        lambert = pyproj.CRS("EPSG:2154")
        x, y = pyproj.Proj(lambert)(2.34, 48.86)
        meta = {
            "primary_column": "geometry",
            "columns": {"geometry": {"encoding": "WKB", "crs": lambert.to_json_dict()}},
        }
        visits = read_visits(write_table({"geometry": [wkb(x, y)]}, meta))
        assert (visits.lat[0], visits.lon[0]) == (pytest.approx(48.86, abs=1e-7), pytest.approx(2.34, abs=1e-7))

    def test_an_unknown_crs_is_noted(self, write_table):
        meta = {"primary_column": "g", "columns": {"g": {"encoding": "WKB", "crs": None}}}
        visits = read_visits(write_table({"g": [wkb(2.34, 48.86)]}, meta))
        assert visits.notes == ("The CRS of 'visits.parquet' is unknown and was taken for WGS84.",)

    def test_native_points(self, write_table):
        points = pa.array([{"x": 2.34, "y": 48.86}], pa.struct([("x", pa.float64()), ("y", pa.float64())]))
        meta = {"primary_column": "geometry", "columns": {"geometry": {"encoding": "point"}}}
        assert read_visits(write_table({"geometry": points}, meta)).lat[0] == 48.86

    def test_what_is_no_point_or_no_crs(self, write_table):
        with pytest.raises(DataError, match=r"row 2 of 'visits.parquet' holds a Polygon, not a point"):
            read_visits(write_table({"geometry": [wkb(2, 48), wkb(2, 48, kind=3)]}))
        with pytest.raises(
            DataError, match=r"row 1 .* holds a MultiLineString, not a point.*\s.*centroid in geopandas"
        ):
            read_visits(write_table({"geometry": [wkb(2, 48, kind=1005)]}))
        with pytest.raises(DataError, match=r"row 1 .* is damaged"):
            read_visits(write_table({"geometry": [wkb(2, 48)[:12]]}))
        with pytest.raises(DataError, match=r"'geo' metadata of 'visits.parquet' are damaged"):
            read_visits(write_table({"geometry": [wkb(2, 48)]}, "{"))
        meta = {"primary_column": "geometry", "columns": {"geometry": {"encoding": "WKB", "crs": {"type": "no"}}}}
        with pytest.raises(DataError, match=r"the CRS of 'visits.parquet' is not understood"):
            read_visits(write_table({"geometry": [wkb(2, 48)]}, meta))
        meta = {"primary_column": "geometry", "columns": {"geometry": {"encoding": "polygon"}}}
        with pytest.raises(DataError, match="encoded as polygon"):
            read_visits(write_table({"geometry": [wkb(2, 48)]}, meta))
        with pytest.raises(DataError, match=r"geometry column of 'visits.parquet' is of type int64"):
            read_visits(write_table({"geometry": [1]}))

    def test_a_truncated_file(self, write, write_table):
        whole = write_table({"lat": [1.0], "lon": [2.0]}).read_bytes()
        with pytest.raises(DataError, match=r"'cut.parquet' is not a valid Parquet file"):
            read_visits(write("cut.parquet", whole[: len(whole) // 2]))


class TestRefused:
    @pytest.mark.parametrize(
        ("header", "missing"),
        [
            ("a,b", "no latitude and no longitude column"),
            ("lat,b", "no longitude column"),
            ("b,lng", "no latitude column"),
        ],
    )
    def test_missing_columns_are_answered_by_those_there(self, write, header, missing):
        with pytest.raises(DataError, match=missing) as caught:
            read_visits(write("v.csv", f"{header}\n1,2\n"))
        assert f"Its columns are: {header.replace(',', ', ')}." in caught.value.problem
        assert "lat='column' and lon='column'; or rename them to lat and lon" in caught.value.hint

    def test_a_named_column_that_is_not_there(self, write):
        with pytest.raises(DataError, match=r"has no column 'wer'. Its columns are: user, time, lat, lon, area"):
            read_visits(write("v.csv", CSV), user="wer")

    def test_ambiguous_columns(self, write):
        with pytest.raises(DataError, match=r"2 columns that could be lat: lat, LAT.\nHint: name one with lat="):
            read_visits(write("v.csv", "lat,LAT,lon\n1,2,3\n"))
        with pytest.raises(DataError, match="more than one column 'lat'"):
            read_visits(write("v.csv", "lat,lat,lon\n1,2,3\n"))

    def test_words_where_numbers_belong(self, write):
        with pytest.raises(DataError, match=r"latitude column 'lat' of 'v.csv' holds a value in row 2"):
            read_visits(write("v.csv", "lat,lon\n48,2\nnorth,2\n"))

    def test_a_word_far_down_among_numbers(self, write):
        with pytest.raises(DataError, match=r"longitude column 'lon' of 'v.csv' holds a value in row 200001"):
            read_visits(write("v.csv", "lat,lon\n" + "48.86,2.34\n" * 200_000 + "48.86,east\n"))

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("v.csv", b"", "the file .* is empty"),
            ("v.csv", b" \n\n", "the file .* is empty"),
            ("v.csv", b"lat,lon\n", "'v.csv' holds no rows"),
            ("v.csv", bytes(range(256)) * 9, "neither text nor Parquet"),
            ("v.gpkg", b"SQLite format 3\0" + bytes(84), "is a GeoPackage or another database"),
            ("v.shp", b"\0\0\x27\x0a" + bytes(96), "is a shapefile"),
            ("v.parquet", b"lat,lon\n1,2\n", "does not begin like one"),
            ("v.json", b'{"visits": []}', "looks like JSON"),
            ("v.xlsx", b"PK\x03\x04rest", "ZIP archive or a spreadsheet"),
            (
                "v.csv",
                b"lat,lon\n1,2\n3,4,5\n",
                "not a valid table of text: line 3 has 3 values, but 2 are needed",
            ),
            (
                "v.csv.gz",
                gzip.compress(random.Random(8).randbytes(99_999), mtime=0)[:50_000],
                "is damaged|neither text",
            ),
            ("v.gpx", b"<html><body/></html>", "its root is not <gpx>"),
            ("v.gpx", GPX[:200].encode(), "is not valid XML"),
            ("v.gpx", GPX.replace("48.86", "up").encode(), "lat of 'v.gpx' holds a value in row 2"),
            ("v.gpx", b"<gpx></gpx>", "holds no rows"),
            ("v.plt", PLT[: PLT.index("39.98")].encode(), "holds no points"),
        ],
        ids=lambda value: "" if isinstance(value, bytes) else None,
    )
    def test_files_that_are_no_visits(self, write, name, content, message):
        with pytest.raises(DataError, match=message) as caught:
            read_visits(write(name, content))
        assert caught.value.hint

    def test_a_trajectory_that_is_piped_in_has_no_user(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(PLT.encode(),))
        writer.start()
        visits = read_visits(tmp_path / "pipe")
        writer.join()
        assert len(visits) == 2
        assert visits.user is None

    def test_names_of_columns_may_have_blanks_around_them(self, write):
        assert read_visits(write("v.csv", b" lat , lon \n48.85,2.35\n48.86,2.36\n")).lat.tolist() == [48.85, 48.86]

    def test_a_small_file_that_unpacks_to_a_huge_one_is_refused(self, write):
        bomb = gzip.compress(b"lat,lon\n") + gzip.compress(b"48.1,7.8\n" * 2**20) * 15
        for name in ("v.csv.gz", "v.csv"):
            with pytest.raises(DataError, match="over 100 times larger when unpacked") as caught:
                read_visits(write(name, bomb))
            assert "unpack it with gunzip" in str(caught.value)

    def test_a_small_parquet_file_of_very_many_rows_is_refused(self, tmp_path):
        for rows in (9_000_000, 1_000):
            table = pa.table({name: pa.repeat(value, rows) for name, value in (("lat", 48.1), ("lon", 7.8))})
            parquet.write_table(table, tmp_path / f"{rows}.parquet")
        assert len(read_visits(tmp_path / "1000.parquet")) == 1_000
        with pytest.raises(DataError, match=r"holds 9,000,000 rows, which are over 100 times larger in memory"):
            read_visits(tmp_path / "9000000.parquet")

    @pytest.mark.slow
    def test_a_beginning_that_repeats_is_no_bomb(self, write):
        """The ratio is that of the whole file, not of what was read so far."""
        noise = b"".join(b"48.%06d,7.8\n" % k for k in np.random.default_rng(1).integers(0, 10**6, 900_000))
        repeats = [gzip.compress(b"48.100000,7.8\n" * 10**6)] * 10
        file = b"".join([gzip.compress(b"lat,lon\n"), *repeats, gzip.compress(noise)])
        assert len(read_visits(write("v.csv.gz", file)))

    def test_a_compressed_trajectory_is_read_and_a_damaged_one_refused(self, write):
        packed = gzip.compress(PLT.encode())
        assert len(read_visits(write("1.plt.gz", packed))) == 2
        with pytest.raises(DataError, match=r"is damaged|cannot be read"):
            read_visits(write("1.plt.gz", packed[:-20]))

    def test_hostile_xml(self, write):
        bomb = '<?xml version="1.0"?><!DOCTYPE gpx [<!ENTITY a "b">]><gpx>&a;</gpx>'
        with pytest.raises(DataError, match="declares a document type"):
            read_visits(write("v.gpx", bomb))

    def test_missing_unreadable_and_foreign_paths(self, tmp_path, write):
        with pytest.raises(DataError, match="there is no file"):
            read_visits(tmp_path / "nowhere.csv")
        with pytest.raises(DataError, match=r"holds no GeoLife .* it is empty"):
            read_visits(tmp_path)
        with pytest.raises(DataError, match=r"holds no GeoLife .* but v.csv"):
            read_visits(write("v.csv", CSV).parent)
        with pytest.raises(DataError, match="cannot be read"):
            read_visits(write("v.csv", CSV) / "below")

    def test_formats_by_name(self, write):
        assert len(read_visits(write("v", SNAP), format="snap")) == 2
        with pytest.raises(InputError, match="the format 'xls' is unknown"):
            read_visits(write("v", SNAP), format="xls")
        with pytest.raises(InputError, match="lat= names a column, but 'v' is read as snap"):
            read_visits(write("v", SNAP), lat="lat")

    def test_swapped_columns(self, write):
        with pytest.raises(DataError, match="look swapped"):
            read_visits(write("v.csv", "lat,lon\n116.4,39.9\n"))
        path = write("v.csv", "lat,lon\n-73.98,40.7\n")
        with pytest.raises(DataError, match="look swapped"):
            read_visits(path)
        assert read_visits(path, lat="lon", lon="lat").lat[0] == 40.7
        assert read_visits(path, polar=True).lat[0] == -73.98

    def test_a_geometry_that_is_declared_but_not_there(self, write_table):
        meta = {"primary_column": "shape", "columns": {"shape": {"encoding": "WKB"}}}
        with pytest.raises(DataError, match=r"has no column 'shape'. Its columns are: id"):
            read_visits(write_table({"id": [1]}, meta))


def parquet_bytes() -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"lat": [1.0, 2.0], "lon": [3.0, 4.0], "user": ["a", "b"]}), sink)
    return bytes(sink.getvalue().to_pybytes())


def arrow_bytes(writer):
    sink = io.BytesIO()
    table = pa.table(
        {"lat": [48.86, 48.87], "lon": [2.34, 2.35], "user": pa.array(["a", "b"]).dictionary_encode()}
    )
    with writer(sink, table.schema) as open_file:
        open_file.write(table)
    return sink.getvalue()


FEATURES: list[dict[str, Any]] = [
    {
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [2.34, 48.86, 35.0]},
        "properties": {"user": "ann", "time": "2024-03-01T18:30:00Z", "stars": 4, "lat": 1},
    },
    {
        "type": "Feature",
        "geometry": {"type": "Point", "coordinates": [2.35, 48.85]},
        "properties": {"user": "bob", "time": "2024-03-01T19:30:00+01:00", "stars": 2.5, "tags": ["a"]},
    },
    {"type": "Feature", "geometry": None, "properties": None},
]


class TestGeoJSON:
    @pytest.mark.parametrize("lines", [False, True])
    def test_points_have_users_times_and_properties(self, write, lines):
        whole = json.dumps({"type": "FeatureCollection", "features": FEATURES})
        text = "\n".join(map(json.dumps, FEATURES)) if lines else whole
        found = read_visits(write("a.geojson", text.encode()))
        assert found.lat.tolist() == [48.86, 48.85]
        assert found.lon.tolist() == [2.34, 2.35]
        assert found.user.tolist() == ["ann", "bob"]
        expected = np.array(["2024-03-01T18:30", "2024-03-01T18:30"], "datetime64[us]")
        np.testing.assert_array_equal(found.time, expected)
        assert found.attributes["stars"].tolist() == [4.0, 2.5]
        assert found.attributes["tags"].tolist() == [None, "['a']"]
        assert "1 of 3 rows without a position" in found.notes[0]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ('{"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}', "Polygon"),
            ('{"type": "Feature", "geometry": {"type": "Point", "coordinates": ["2", 48]}}', "longitude"),
            ('{"type": "Feature", "geometry": {"type": "Point", "coordinates": [true, 48]}}', "longitude"),
            ('{"type": "Point", "coordinates": [NaN, 48]}', "NaN"),
            ('{"type": "Point", "coordinates": [1e999, 48]}', "longitude"),
            ('{"type": "Point", "coordinates": [2, 148]}', "latitude"),
            ('{"type": "FeatureCollection", "features": {}}', "list"),
            ('{"type": "FeatureCollection", "features": [1]}', "not a feature"),
            ('{"type": "FeatureCollection", "features": []}', "no rows"),
            ('{"type": "FeatureCollection", "features": ' + "[" * 100_000, "JSON"),
            ('{"type": "Point", "coordinates": [2, 48], "crs": {"properties": {"name": "EPSG:9"}}}', "EPSG:9"),
            ('{"type": "Point", "coordinates": [2, 48]', "JSON"),
        ],
    )
    def test_what_is_no_place_is_refused(self, write, content, said):
        with pytest.raises(DataError, match=said):
            read_visits(write("a.geojson", content.encode()))

    def test_huge_numbers_and_odd_texts_are_kept_as_texts(self, write):
        odd = {"id": 10**30, "half": "\ud800", "mixed": 1, "\ud800": 1, "": 2}
        one = {**FEATURES[0], "properties": {**odd, **{f"p{k}": k for k in range(200)}}}
        two = {**FEATURES[1], "properties": {"id": 1, "half": "x", "mixed": "1"}}
        whole = json.dumps({"type": "FeatureCollection", "features": [one, two]})
        found = read_visits(write("a.geojson", whole.encode()))
        assert found.attributes["id"].tolist() == [str(10**30), "1"]
        assert found.attributes["mixed"].tolist() == ["1", "1"]
        assert len(found.attributes) == 100
        assert "103 properties" in found.notes[0]


SAMPLES = {
    "csv": {
        "a.csv": CSV.encode(),
        "b.csv.gz": gzip.compress(CSV.encode()),
        "c.csv": b"id,geometry\n1,POINT (2.34 48.86)\n",
        "d.csv": b"geom\n" + wkb(2.0, 48.0).hex().encode() + b"\n",
    },
    "parquet": {"e.parquet": parquet_bytes()},
    "arrow": {
        "j.arrow": arrow_bytes(pa.ipc.new_file),
        "k.ipc": arrow_bytes(pa.ipc.new_stream),
        "l.feather.gz": gzip.compress(arrow_bytes(pa.ipc.new_file)),
    },
    "geolife": {"f.plt": PLT.encode()},
    "gpx": {"g.gpx": GPX.encode()},
    "geojson": {
        "m.geojson": json.dumps({"type": "FeatureCollection", "features": FEATURES}).encode(),
        "n.geojsonl.gz": gzip.compress("\n".join(map(json.dumps, FEATURES)).encode()),
        "o.json": b'{"type": "MultiPoint", "coordinates": [[2.34, 48.86], [2.35, 48.85]]}',
    },
    "google": {
        "p.json": b'{"locations": [{"latitudeE7": 488500000, "longitudeE7": 23500000, "timestamp": ""}]}',
        "q.json": b'{"semanticSegments": [{"timelinePath": [{"point": "48.85, 2.35", "time": "2024-05-01"}]}]}',
    },
    "snap": {"h.txt": SNAP.encode()},
    "foursquare": {"i.txt": FOURSQUARE.encode("latin-1")},
}
SOUND = {name: content for samples in SAMPLES.values() for name, content in samples.items()}


@pytest.mark.parametrize("key", geo.FORMATS)
def test_every_format_is_recognised_by_its_content(write, key):
    for name, content in SAMPLES[key].items():
        found, named = read_visits(write(name, content)), read_visits(write(name, content), format=key)
        assert found.lat.tolist() == named.lat.tolist()
        assert set(SAMPLES) == set(geo.FORMATS)


@given(st.sampled_from(sorted(SOUND)), st.data())
@settings(max_examples=60)
def test_damaged_files_are_read_or_refused_in_words(tmp_path, name, data):
    content = bytearray(SOUND[name])
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        content[start : start + data.draw(st.integers(0, 9))] = data.draw(
            st.binary(max_size=6) | st.text('0123456789.,-\t\n<>/eNz"', max_size=6).map(str.encode)
        )
    (tmp_path / name).write_bytes(content)
    try:
        assert len(read_visits(tmp_path / name)) > 0
    except SfumatoError as error:
        assert error.hint  # noqa: PT017


def test_a_mechanism_file_is_no_table_of_visits(tmp_path):
    space = sf.Space("ab")
    sf.save(sf.Mechanism([[0.7, 0.3], [0.3, 0.7]], space), tmp_path / "m.sfm")
    with pytest.raises(DataError, match="is a mechanism file, not a table of visits"):
        geo.read_visits(tmp_path / "m.sfm")
