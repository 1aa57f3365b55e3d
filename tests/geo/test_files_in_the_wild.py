"""Files as devices, surveys and spreadsheets write them: odd names, layouts, encodings and times."""

import datetime as dt
import gzip
import json
import zoneinfo
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.geo import read_visits
from sfumato.releases import Release
from sfumato.tables import read_columns
from tests.geo.conftest import Write

PLACES = [(48.85, 2.35), (48.86, 2.36)]
PLT = "Geolife trajectory\nWGS 84\nAltitude is in Feet\nReserved 3\n0,2,255,My Track,0,0,2,8421376\n0\n"


@pytest.fixture
def cases(shared_data: Path) -> Path:
    return shared_data.parent / "cases" / "readers"


def gpx(*points: tuple[float, float, str], encoding: str = "utf-8") -> bytes:
    tags = [f'<trkpt lat="{lat}" lon="{lon}"><time>{time}</time></trkpt>' for lat, lon, time in points]
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n<gpx version="1.1">\n' + "\n".join(tags) + "\n</gpx>"
    return text.encode(encoding)


def places(visits: sf.Visits) -> list[tuple[float, float]]:
    return list(zip(visits.lat.tolist(), visits.lon.tolist(), strict=True))


def moments(visits: sf.Visits) -> list[str]:
    assert visits.time is not None
    return [str(moment) for moment in visits.time]


def in_format(kind: str, values: list[str] | list[int], write: Write, folder: Path) -> Path | pa.Table:
    """Return a file or table of a kind with a position for each value of time."""
    lat = [48.85 + k / 100 for k in range(len(values))]
    if kind in ("frame", "parquet"):
        table = pa.table({"lat": lat, "lon": [2.35] * len(values), "time": values})
        if kind == "parquet":
            parquet.write_table(table, folder / "v.parquet")
        return table if kind == "frame" else folder / "v.parquet"
    rows = list(zip(lat, values, strict=True))
    if kind == "geojson":
        shapes = [{"type": "Point", "coordinates": [2.35, each]} for each in lat]
        features = [
            {"type": "Feature", "geometry": shape, "properties": {"time": value}}
            for shape, value in zip(shapes, values, strict=True)
        ]
        return write("v.geojson", json.dumps({"type": "FeatureCollection", "features": features}))
    if kind == "gpx":
        return write("v.gpx", gpx(*((each, 2.35, str(value)) for each, value in rows)))
    if kind == "google":
        records = [
            {"latitudeE7": round(each * 1e7), "longitudeE7": 23500000, "timestamp": value} for each, value in rows
        ]
        return write("r.json", json.dumps({"locations": records}))
    head = "timestamp,location-long,location-lat\n" if kind == "movebank" else "time,lon,lat\n"
    text = head + "".join(f"{value},2.35,{each}\n" for each, value in rows)
    return write("v.csv", "sep=;\n" + text.replace(",", ";") if kind == "sep" else text)


def released(source: Path, folder: Path) -> Release:
    """Return the release of a file by cells that do not blur, whose reports are near the true places."""
    grid = sf.Grid.covering(sf.Visits([48.85, 48.86], [2.35, 2.36]), cell="200 m", region="48.84,2.34,48.87,2.37")
    done = sf.release(sf.Mechanism(np.eye(len(grid)), grid, grid), source, folder / "reports.csv")
    reports = read_visits(folder / "reports.csv")
    assert np.abs(reports.lat - 48.85).min() < 0.002
    assert np.abs(reports.lat - 48.86).min() < 0.002
    assert done.rows == 2
    return done


class TestPublicCases:
    def test_date_and_clock(self, cases: Path) -> None:
        visits = read_visits(cases / "c01_date_and_clock.csv")
        assert moments(visits)[0] == "2008-10-23T02:53:04.000000"
        assert moments(visits)[2] == "2008-10-24T03:00:00.000000"

    def test_decimal_commas_in_quotes(self, cases: Path) -> None:
        assert places(read_visits(cases / "c02_quoted_comma_decimals.csv")) == PLACES

    def test_movebank(self, cases: Path) -> None:
        visits = read_visits(cases / "c09_movebank.csv")
        assert places(visits) == PLACES
        assert list(visits.users()) == ["Bird-1", "Bird-2"]
        assert moments(visits)[1] == "2010-01-01T01:00:00.000000"

    def test_a_latitude_of_400_in_geolife(self, cases: Path) -> None:
        visits = read_visits(cases / "c23_geolife_400.plt")
        assert places(visits) == [(39.98, 116.31), (39.99, 116.32)]
        note = visits.notes[0]
        assert note.startswith("1 of 3 rows of 'c23_geolife_400.plt' beyond 90 degrees")
        assert "line 8" in note
        assert "400.1" not in note

    def test_letter_cases_of_endings(self, cases: Path) -> None:
        assert len(read_visits(cases / "g31_mixed_case")) == 6

    def test_utf16(self, cases: Path) -> None:
        assert places(read_visits(cases / "g14_utf16.gpx")) == PLACES[:1]

    def test_one_bad_time(self, cases: Path) -> None:
        visits = read_visits(cases / "g21_zero_time.gpx")
        assert moments(visits) == ["2020-08-18T10:00:00.000000", "NaT"]
        assert "1 of 2 times" in visits.notes[0]

    def test_seven_digits(self, cases: Path) -> None:
        visits = read_visits(cases / "g32_seven_digits_all.gpx")
        assert moments(visits) == ["2020-08-18T10:00:00.123456", "2020-08-18T10:00:01.123456"]


class TestNames:
    @pytest.mark.thinned(2)
    @pytest.mark.parametrize(
        ("lat", "lon"),
        [
            ("location-lat", "location-long"),
            ("LATNUM", "LONGNUM"),
            ("_gps_latitude", "_gps_longitude"),
            ("_location_latitude", "_location_longitude"),
            ("gps-Latitude", "gps-Longitude"),
            ("location:Latitude", "location:Longitude"),
            ("survey/where/gps_latitude", "survey/where/gps_longitude"),
            ("start_lat", "start_lng"),
            ("start station latitude", "start station longitude"),
            ("pickup_latitude", "pickup_longitude"),
        ],
    )
    def test_columns_of_places(self, write: Write, tmp_path: Path, lat: str, lon: str) -> None:
        path = write("v.csv", f"id,{lat},{lon},note\n1,48.85,2.35,a\n2,48.86,2.36,b\n")
        visits = read_visits(path)
        assert places(visits) == PLACES
        assert visits.notes == ()
        released(path, tmp_path)

    def test_of_a_trip_the_start_is_read_and_the_end_is_named(self, write: Write) -> None:
        path = write(
            "v.csv", "started_at,start_lat,start_lng,end_lat,end_lng\n2024-05-01 08:00:00,48.85,2.35,1,2\n"
        )
        visits = read_visits(path)
        assert places(visits) == PLACES[:1]
        assert moments(visits) == ["2024-05-01T08:00:00.000000"]
        assert "end_lat and end_lng hold others" in visits.notes[0]

    def test_two_questions_about_places_are_not_guessed(self, write: Write) -> None:
        path = write(
            "v.csv", "_home_latitude,_home_longitude,_work_latitude,_work_longitude\n48.85,2.35,48.86,2.36\n"
        )
        with pytest.raises(DataError, match=r"2 pairs of columns .*_home_latitude and _home_longitude; _work"):
            read_visits(path)
        assert places(read_visits(path, lat="_work_latitude", lon="_work_longitude")) == PLACES[1:]

    @pytest.mark.parametrize("user", ["individual-local-identifier", "DHSID", "DHSCLUST"])
    def test_columns_of_users(self, write: Write, user: str) -> None:
        assert list(read_visits(write("v.csv", f"{user},lat,lon\n7,48.85,2.35\n")).users()) == [7]


class TestLayouts:
    @pytest.mark.thinned(4)
    @pytest.mark.parametrize(
        "text",
        [
            "sep=;\nlat;lon\n48,85;2,35\n48,86;2,36\n",
            '"sep=;"\r\nlat;lon\r\n48.85;2.35\r\n48.86;2.36\r\n',
            "SEP=,\nlat,lon\n48.85,2.35\n48.86,2.36\n",
            "sep=\\t\nlat\tlon\n48.85\t2.35\n48.86\t2.36\n",
            "lat lon\n48.85 2.35\n48.86 2.36\n",
            "lat   lon\n 48.85   2.35\n 48.86   2.36 \n",
            'name lat lon\n"a b"   48.85 2.35\n"c d" 48.86    2.36\n'.replace('"a b"', "a").replace('"c d"', "c"),
            "lat,lon,,,\n48.85,2.35,,,\n48.86,2.36,,,\n",
            '"lat","lon"\n"48,85","2,35"\n"48,86","2,36"\n',
            "lat,lon\r48.85,2.35\r48.86,2.36\r",
            "\n\nlat;lon\n48.85;2.35\n\n48.86;2.36\n\n",
        ],
    )
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
    def test_each_is_read_and_released(self, write: Write, tmp_path: Path, text: str, encoding: str) -> None:
        path = write("v.csv", text.encode(encoding))
        assert places(read_visits(path)) == PLACES
        released(path, tmp_path)
        path = write("v.csv.gz", gzip.compress(text.encode(encoding)))
        assert places(read_visits(path)) == PLACES

    @pytest.mark.parametrize(
        "text", ["48,85;2,35\n48,86;2,36\n", '"48,85","2,35"\n"48,86","2,36"\n', "48.85 2.35\n48.86 2.36\n"]
    )
    def test_without_names(self, write: Write, text: str) -> None:
        assert places(read_visits(write("v.txt", text), lat="f0", lon="f1")) == PLACES

    def test_columns_of_labels(self, write: Write) -> None:
        path = write("v.csv", "sep=;\nage;answer\n20;yes\n30;no\n")
        assert read_columns(path, ["answer"])["answer"].to_pylist() == ["yes", "no"]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("lat,lon\n48.85,2.35\n\n48.86,2.36,7\n", "line 4 has 3 values, but 2 are needed"),
            ("sep=;\nlat;lon\n48.85;2.35\n48.86\n", "line 4 has 1 value, but 2 are needed"),
            ('lat,lon,name\n1,2,"a\nb"\n1,2\n', "line 4 has 2 values, but 3 are needed"),
            ("lat,lon\n48.85,2.35,\n48.86,2.36,\n", "line 2 has 3 values, but 2 are needed"),
            ('lat,lon,name\n1,2,a\n1,2,"b\n1,2,c\n1,2,d\n', "a quotation mark in line 3 of 'v.csv' is not closed"),
            ("sep=;\n", "holds no table below its first line"),
        ],
    )
    def test_the_line_of_what_is_damaged(self, write: Write, tmp_path: Path, text: str, message: str) -> None:
        path = write("v.csv", text)
        for read in (
            lambda: read_visits(path),
            lambda: released(path, tmp_path),
            lambda: read_columns(path, ["lat"]),
        ):
            with pytest.raises(DataError, match=message):
                read()

    def test_damaged_utf16(self, write: Write) -> None:
        with pytest.raises(DataError, match="begins like UTF-16, but is not"):
            read_visits(write("v.csv", "lat,lon\n48.85,2.35\n".encode("utf-16")[:-1]))


class TestTimes:
    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("2020-08-18T10:00:00.1234567Z", "2020-08-18T10:00:00.123456"),
            ("2020-08-18T10:00:00.123456789+02:00", "2020-08-18T08:00:00.123456"),
            ("2020-08-18 10:00:00,5", "2020-08-18T10:00:00.500000"),
            ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000000"),
            ("2016-12-31T23:59:60.5Z", "2017-01-01T00:00:00.000000"),
            ("0000-00-00T00:00:00Z", "NaT"),
            ("2020-02-30T10:00:00Z", "NaT"),
            ("soon", "NaT"),
            ("20200818T100000Z", "2020-08-18T10:00:00.000000"),
            ("2020-08-18T10:00:00", "2020-08-18T10:00:00.000000"),
        ],
    )
    def test_no_time_loses_those_of_the_other_rows(self, write: Write, text: str, moment: str) -> None:
        good = "2020-08-18T09:00:00.25Z"
        rows = [(48.85, 2.35, good), (48.86, 2.36, text)]
        for path in (
            write("v.gpx", gpx(*rows)),
            write("v.csv", "lat,lon,time\n" + "".join(f'{lat},{lon},"{time}"\n' for lat, lon, time in rows)),
        ):
            visits = read_visits(path)
            assert moments(visits) == ["2020-08-18T09:00:00.250000", moment]
            assert any("1 of 2 times" in note for note in visits.notes) == (moment == "NaT")

    def test_among_many_rows_each_is_read(self, write: Write) -> None:
        days = [f"2020-01-{1 + k % 28:02d}T10:00:{k % 60:02d}Z" for k in range(20_000)]
        days[12_345] = "never"
        visits = read_visits(
            write("v.csv", "lat,lon,time\n" + "".join(f"48.85,{k / 1e5},{t}\n" for k, t in enumerate(days)))
        )
        expected = [np.datetime64("NaT") if t == "never" else np.datetime64(t[:-1]) for t in days]
        np.testing.assert_array_equal(visits.time, np.array(expected, "datetime64[us]")[: len(visits)])
        assert visits.notes == (
            "1 of 20,000 times in the column 'time' of 'v.csv' could not be read and are missing.",
        )

    @pytest.mark.parametrize("clock", ["02:53:04", "2:53:04", "02:53:04.000", "2:53:04 AM", "02:53:04 a.m."])
    def test_clocks_with_days(self, write: Write, clock: str) -> None:
        visits = read_visits(
            write("v.csv", f"Date,Time,lat,lon\n2008-10-23,{clock},48.85,2.35\n2008-10-24,{clock},48.86,2.36\n")
        )
        assert moments(visits) == ["2008-10-23T02:53:04.000000", "2008-10-24T02:53:04.000000"]
        assert dict(visits.attributes) == {}

    @pytest.mark.parametrize(
        "day",
        ["2008-10-23 00:00:00", "2008-10-23T00:00:00Z", "2008-10-23 00:00:00.000", "10/23/2008 12:00:00 AM"],
    )
    def test_clocks_with_days_that_are_whole_times(self, write: Write, day: str) -> None:
        visits = read_visits(write("v.csv", f"Date,Time,lat,lon\n{day},02:53:04,48.85,2.35\n"))
        assert moments(visits) == ["2008-10-23T02:53:04.000000"]

    def test_days_of_typed_tables_with_clocks(self, tmp_path: Path) -> None:
        for kind, shift in ((pa.timestamp("us"), 0), (pa.timestamp("us", "Europe/Paris"), 1), (pa.date32(), 0)):
            midnight = dt.datetime(2008, 12, 1) - dt.timedelta(hours=shift)
            columns = {
                "date": pa.array([midnight if pa.types.is_timestamp(kind) else midnight.date()], kind),
                "time": pa.array([dt.time(2, 53, 4)], pa.time64("us")),
                "lat": [48.85],
                "lon": [2.35],
            }
            parquet.write_table(pa.table(columns), tmp_path / "v.parquet")
            visits = read_visits(tmp_path / "v.parquet")
            assert moments(visits) == [f"2008-12-01T0{2 - shift}:53:04.000000"]

    @pytest.mark.parametrize(
        ("times", "expected"),
        [
            (["12/31/2024", "1/2/2024"], ["2024-12-31T00:00:00.000000", "2024-01-02T00:00:00.000000"]),
            (["31/12/2024", "1/2/2024"], ["2024-12-31T00:00:00.000000", "2024-02-01T00:00:00.000000"]),
            (["1.2.2024 7:05", "3.4.2024"], ["2024-02-01T07:05:00.000000", "2024-04-03T00:00:00.000000"]),
            (
                ["12/31/2024 12:05:06 AM", "1/2/2024 2:30 pm"],
                ["2024-12-31T00:05:06.000000", "2024-01-02T14:30:00.000000"],
            ),
            (
                ["12/31/2024 12:05 PM", "1/2/2024 24:00:00"],
                ["2024-12-31T12:05:00.000000", "2024-01-03T00:00:00.000000"],
            ),
            (
                ["2024-12-31 24:00:00", "2024-02-28T24:00Z"],
                ["2025-01-01T00:00:00.000000", "2024-02-29T00:00:00.000000"],
            ),
        ],
    )
    def test_dates_that_begin_with_month_or_day(self, write: Write, times: list[str], expected: list[str]) -> None:
        rows = "".join(f"{each},48.85,2.35\n" for each in times)
        visits = read_visits(write("v.csv", f"time,lat,lon\n{rows}"))
        assert moments(visits) == expected
        assert visits.notes == ()

    def test_dates_that_can_begin_with_either_are_named(self, write: Write) -> None:
        path = write("v.csv", "time,lat,lon\n01/02/2024,48.85,2.35\n03/04/2024,48.86,2.36\n")
        (note,) = read_visits(path).notes
        assert note.endswith(
            "is kept as it is: its dates can begin with the month or with the day. Write them as 2024-02-01."
        )
        with pytest.raises(DataError, match=r"can begin with the month or with the day.*\nHint: .*2024-02-01"):
            read_visits(path, time="time")
        both = read_visits(write("w.csv", "time,lat,lon\n13/02/2024,48.85,2.35\n03/14/2024,48.86,2.36\n"))
        assert both.time is None

    @pytest.mark.parametrize("nonsense", ["99/99/2024", "00/00/2024", "13/13/2024", "31/04/2024", "02/30/2024"])
    def test_a_date_that_is_none_costs_no_other(self, write: Write, nonsense: str) -> None:
        days = [f"01/{13 + k % 15}/2024 1:05 PM" for k in range(99)]
        rows = "".join(f"{each},48.85,2.35\n" for each in [*days, f"{nonsense} 1:05 PM"])
        visits = read_visits(write("v.csv", f"time,lat,lon\n{rows}"))
        assert moments(visits) == [f"2024-01-{13 + k % 15}T13:05:00.000000" for k in range(99)] + ["NaT"]
        assert visits.notes == (
            "1 of 100 times in the column 'time' of 'v.csv' could not be read and are missing.",
        )

    def test_dates_that_are_none_are_not_called_ambiguous(self, write: Write) -> None:
        visits = read_visits(write("v.csv", "time,lat,lon\n99/99/2024,48.85,2.35\n31/31/2024,48.86,2.36\n"))
        assert visits.time is None
        assert not any("month or with the day" in note for note in visits.notes)

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize(
        "clock", ["13:05 AM", "13:05 PM", "0:05 PM", "0:30 AM", "24:05 PM", "25:05 PM", "37:05 am"]
    )
    @pytest.mark.parametrize("date", ["01/{}/2024", "2024-01-{}"])
    def test_clocks_that_contradict_themselves_are_missing(self, write: Write, clock: str, date: str) -> None:
        """With AM or PM an hour is from 1 to 12."""
        rows = [f"{date.format(day)} {time}" for day, time in ((13, "1:05 PM"), (14, clock), (15, "12:05 AM"))]
        whole = "".join(f"{row},48.85,2.35\n" for row in rows)
        apart = "".join(f"{row.replace(' ', ',', 1)},48.85,2.35\n" for row in rows)
        for name, head, text in (("v.csv", "time", whole), ("w.csv", "date,time", apart)):
            visits = read_visits(write(name, f"{head},lat,lon\n{text}"))
            assert moments(visits) == ["2024-01-13T13:05:00.000000", "NaT", "2024-01-15T00:05:00.000000"]
            assert any("1 of 3 times" in note for note in visits.notes)

    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("2024-01-13 1:05 PM", "2024-01-13T13:05:00.000000"),
            ("2024-01-13 1:05:09 pm UTC", "2024-01-13T13:05:09.000000"),
            ("2024-01-13 1:05:09.25\u202fp.m.", "2024-01-13T13:05:09.250000"),
            ("2024-01-13, 1:05\u00a0PM +02:00", "2024-01-13T11:05:00.000000"),
            ("1/13/2024, 1:05:09\u202fPM", "2024-01-13T13:05:09.000000"),
            ("2024-01-13 12:30 AM", "2024-01-13T00:30:00.000000"),
            ("2024-01-13 12 pm", "2024-01-13T12:00:00.000000"),
            ("Jan 13, 2024, 1:05:09 PM", "2024-01-13T13:05:09.000000"),
            ("January 13, 2024 at 1:05\u202fPM", "2024-01-13T13:05:00.000000"),
            ("Sat, 13 Jan 2024 13:05:00 GMT", "2024-01-13T13:05:00.000000"),
            ("Sat Jan 13 2024 13:05:00 GMT+0200 (Eastern European)", "2024-01-13T11:05:00.000000"),
            ("Sat Jan 13 13:05:00 UTC 2024", "2024-01-13T13:05:00.000000"),
            ("13-Jan-2024 13:05", "2024-01-13T13:05:00.000000"),
            ("13.01.2024 13:05 Uhr", "2024-01-13T13:05:00.000000"),
            ("2024-1-3 3:05", "2024-01-03T03:05:00.000000"),
            ("2024:01:13 13:05:09", "2024-01-13T13:05:09.000000"),
            ("2024-01-13T13:05:00,25Z", "2024-01-13T13:05:00.250000"),
            ("2024-01-13T13:05+0200", "2024-01-13T11:05:00.000000"),
            ("2024-01-13T13:05 UTC+2", "2024-01-13T11:05:00.000000"),
            ("2024-01-13t13:05:00z", "2024-01-13T13:05:00.000000"),
            ("2024-01-13T13:05:00+02:00[Europe/Kyiv]", "2024-01-13T11:05:00.000000"),
            ("2024-01-13T13:05:00\u221202:00", "2024-01-13T15:05:00.000000"),
            ("01/01/2024 13:05", "2024-01-01T13:05:00.000000"),
        ],
    )
    def test_spellings_of_programs(self, write: Write, text: str, moment: str) -> None:
        visits = read_visits(write("v.csv", f'time,lat,lon\n"{text}",48.85,2.35\n'))
        assert moments(visits) == [moment]
        assert visits.notes == ()

    @pytest.mark.parametrize(
        "text",
        [
            "2024-01-13-02:00",  # a day with an offset, or a day and a clock
            "2024-01-13+02:00",
            "2024-01-13T13:05:00+02:75",
            "2024-01-13 13:05 EST",
            "2024-01-13 13:05 +0200 UTC",
            "1/13/24 13:05",
            "13 Foo 2024 13:05",
            "2024-13-01 13:05",
            "1899-12-30 13:05:00",  # a clock of a spreadsheet, without its day
            "12/30/1899 1:05:00 PM",
        ],
    )
    def test_what_may_be_another_time_is_not_read(self, write: Write, text: str) -> None:
        visits = read_visits(write("v.csv", f"time,lat,lon\n{text},48.85,2.35\n"))
        assert visits.time is None
        assert "could not be read as times and is kept as it is" in visits.notes[0]

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize("offset", ["+02:00", "-03:30", "Z"])
    @pytest.mark.parametrize("clock", ["00:30:00", "13:05:00", "23:59:59.5"])
    @pytest.mark.parametrize("form", ["{}T00:00:00{}", "{} 00:00:00.000{}", "{}T00:00{}", "{}{}"])
    def test_the_offset_of_a_day_is_that_of_its_clock(
        self, write: Write, offset: str, clock: str, form: str
    ) -> None:
        days = [form.format(day, offset) for day in ("2024-01-13", "2024-07-01")]
        visits = read_visits(
            write("v.csv", "date,time,lat,lon\n" + "".join(f"{day},{clock},48.85,2.35\n" for day in days))
        )
        whole = [
            dt.datetime.fromisoformat(f"{day}T{clock}{offset}").astimezone(dt.UTC).replace(tzinfo=None)
            for day in ("2024-01-13", "2024-07-01")
        ]
        assert moments(visits) == [str(np.datetime64(each, "us")) for each in whole]
        assert visits.notes == ()
        assert dict(visits.attributes) == {}

    @pytest.mark.parametrize("zone", ["Europe/Kyiv", "America/St_Johns", "Asia/Kolkata"])
    def test_days_with_the_offsets_of_a_zone(self, write: Write, tmp_path: Path, zone: str) -> None:
        """Over a year with summer time, against Python's own zones."""
        local = zoneinfo.ZoneInfo(zone)
        midnights = [dt.datetime(2024, 1, 13, tzinfo=local) + dt.timedelta(days=30 * k) for k in range(12)]
        clock = dt.time(23, 5, 9)
        whole = [dt.datetime.combine(day.date(), clock, tzinfo=local) for day in midnights]
        expected = [str(np.datetime64(each.astimezone(dt.UTC).replace(tzinfo=None), "us")) for each in whole]
        rows = "".join(f"{day.isoformat()},{clock},48.85,2.{k:02d}\n" for k, day in enumerate(midnights))
        assert moments(read_visits(write("v.csv", f"date,time,lat,lon\n{rows}"))) == expected
        columns = {
            "date": pa.array(midnights, pa.timestamp("us", zone)),
            "time": [str(clock)] * 12,
            "lat": [48.85] * 12,
            "lon": [2 + k / 100 for k in range(12)],
        }
        parquet.write_table(pa.table(columns), tmp_path / "v.parquet")
        assert moments(read_visits(tmp_path / "v.parquet")) == expected

    @pytest.mark.parametrize(
        ("day", "clock"),
        [
            ("2024-01-12T22:00:00Z", "13:05:00"),  # midnight elsewhere
            ("2024-01-13T00:00:00+02:00", "13:05:00Z"),
            ("2024-01-13T00:00:00Z", "13:05:00+02:00"),
            ("2024-01-13", "1899-12-30T13:05:00+02:00"),  # the offset may have been another one in 1899
            ("2024-01-13", "1899-12-30T01:05:00+02:00"),
            ("2024-01-13", "1900-01-00"),  # a clock that is shown as a date
            ("2024-01-13", "1900-01-01"),
            ("2024-01-13", "soon"),
            ("not at all", "13:05:00"),
        ],
    )
    def test_days_and_clocks_that_do_not_fit(self, write: Write, day: str, clock: str) -> None:
        head, good = "date,time,lat,lon\n", "2024-01-14,13:05:00,48.85,2.35\n"
        alone = read_visits(write("v.csv", f"{head}{day},{clock},48.85,2.35\n"))
        assert alone.time is None
        assert "'time' could not be read as times and is kept" in alone.notes[0]
        among = read_visits(
            write("w.csv", f"{head}{good}{good.replace('2.35', '2.36')}{day},{clock},48.86,2.36\n")
        )
        assert moments(among) == ["2024-01-14T13:05:00.000000", "2024-01-14T13:05:00.000000", "NaT"]
        assert among.notes == ("1 of 3 times in the column 'time' of 'w.csv' could not be read and are missing.",)

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize(
        "clock",
        [
            "1899-12-30 13:05:00",
            "1899-12-30T13:05:00.000Z",
            "1899-12-31 13:05",
            "12/30/1899 1:05:00 PM",
            "30.12.1899 13:05:00",
            "1900-01-00 13:05:00",
            "1/0/1900 1:05 PM",
            "1900-01-01 13:05:00",
            "1/1/1900 1:05 PM",
            "1904-01-01 13:05:00",
            "1970-01-01T13:05:00",
            "0001-01-01T13:05:00",
            "2000-01-01 13:05:00 UTC",
            "1:05\u202fPM",
            "13:05:00.000Z",
            "13:05 Uhr",
        ],
    )
    @pytest.mark.parametrize("day", ["1/13/2024 12:00:00 AM", "13.01.2024", "2024-01-13T00:00:00", "13 Jan 2024"])
    def test_clocks_of_spreadsheets(self, write: Write, clock: str, day: str) -> None:
        rows = f"{day},{clock},48.85,2.35\n{day},{clock},48.86,2.36\n"
        visits = read_visits(write("v.csv", f"Date,Time,lat,lon\n{rows}"))
        assert moments(visits) == ["2024-01-13T13:05:00.000000"] * 2
        assert visits.notes == ()
        assert dict(visits.attributes) == {}

    @pytest.mark.parametrize("separator", [".", ","])
    def test_clocks_that_are_fractions_of_a_day(self, write: Write, tmp_path: Path, separator: str) -> None:
        expected = [dt.time(13, 5), dt.time(0, 0, 1), dt.time(12), dt.time(23, 59, 59)]
        fractions = [(t.hour * 3600 + t.minute * 60 + t.second) / 86_400 for t in expected]
        texts = [f"{each:.9f}".replace(".", separator) for each in fractions]
        rows = "".join(f'13.01.2024,"{text}",48.85,2.35\n' for text in [*texts, "1" + separator + "5"])
        known = [f"2024-01-13T{each.isoformat()}.000000" for each in expected]
        visits = read_visits(write("v.csv", f"date,time,lat,lon\n{rows}"))
        assert moments(visits) == [*known, "NaT"]
        assert visits.notes == (
            "The numbers in the column 'time' of 'v.csv' are read as fractions of a day.",
            "1 of 5 times in the column 'time' of 'v.csv' could not be read and are missing.",
        )
        for kind in (pa.float64(), pa.duration("us")):
            values = (
                fractions if kind == pa.float64() else [round(each * 86_400) * 1_000_000 for each in fractions]
            )
            columns = {"date": [dt.date(2024, 1, 13)] * 4, "time": pa.array(values, kind)}
            table = pa.table(columns | {"lat": [48.85] * 4, "lon": [2.35] * 4})
            parquet.write_table(table, tmp_path / "v.parquet")
            assert moments(read_visits(tmp_path / "v.parquet")) == known

    def test_a_fraction_that_is_none_costs_no_other(self, write: Write) -> None:
        rows = "".join(f"2024-01-13,{each},48.85,2.35\n" for each in ("0.5", "#VALUE!", "0.25", "6E-1"))
        visits = read_visits(write("v.csv", f"date,time,lat,lon\n{rows}"))
        assert [each[11:16] for each in moments(visits)] == ["12:00", "", "06:00", "14:24"]
        assert any("1 of 4 times" in note for note in visits.notes)

    def test_days_of_eight_digits(self, write: Write) -> None:
        rows = "20240113,13:05,48.85,2.35\n20240230,13:05,48.85,2.36\n"
        visits = read_visits(write("v.csv", f"date,time,lat,lon\n{rows}"))
        assert moments(visits) == ["2024-01-13T13:05:00.000000", "NaT"]

    def test_a_clock_without_its_day_is_counted(self, write: Write) -> None:
        rows = "".join(f"{day},{clock},48.85,2.35\n" for day, clock in (("2024-01-13", "13:05"), ("", "13:06")))
        visits = read_visits(write("v.csv", f"date,time,lat,lon\n{rows}2024-01-13,,48.85,2.35\n"))
        assert moments(visits) == ["2024-01-13T13:05:00.000000", "NaT", "NaT"]
        assert any("1 of 2 times" in note for note in visits.notes)

    @pytest.mark.parametrize("day", ["", "2024-01-13"])
    def test_clocks_of_spreadsheets_among_whole_times(self, write: Write, day: str) -> None:
        whole = ["2024-01-13 13:05:00"] * 3 + ["1899-12-30 13:06:00", "1899-12-31 13:07:00"]
        head = "date,time,lat,lon\n" if day else "time,lat,lon\n"
        rows = "".join(f"{day + ',' if day else ''}{each},48.85,2.35\n" for each in whole)
        visits = read_visits(write("v.csv", head + rows))
        assert moments(visits) == ["2024-01-13T13:05:00.000000"] * 3 + ["NaT"] * 2
        assert any("2 of 5 times" in note for note in visits.notes)
        dates = read_visits(write("w.csv", "time,lat,lon\n1899-12-30,48.85,2.35\n1899-12-31,48.85,2.36\n"))
        assert moments(dates) == ["1899-12-30T00:00:00.000000", "1899-12-31T00:00:00.000000"]

    @pytest.mark.parametrize("number", ["0", "1305", "45304.545138889", "13.5"])
    def test_other_numbers_are_no_clocks(self, write: Write, number: str) -> None:
        visits = read_visits(write("v.csv", f"date,time,lat,lon\n2024-01-13,{number},48.85,2.35\n"))
        assert visits.time is None

    def test_a_clock_that_is_none_costs_no_other(self, write: Write) -> None:
        rows = "".join(f"2024-01-13,{t},48.85,2.35\n" for t in ("13:05", "soon", "13:06", "25:00"))
        visits = read_visits(write("v.csv", f"date,time,lat,lon\n{rows}2024-01-14,13:05,48.85,2.35\n"))
        assert moments(visits)[::2] == [
            f"2024-01-{each}:00.000000" for each in ("13T13:05", "13T13:06", "14T13:05")
        ]
        assert visits.notes == ("2 of 5 times in the column 'time' of 'v.csv' could not be read and are missing.",)

    @pytest.mark.parametrize(
        "text",
        [
            "13.01.2024 13.05", "2024-01-13 13.05", "20240113 13.05", "13 Jan 2024 13.05",
            "2024-01-13 13.05+02:00", "13.01.2024 13-05", "2024-01-13 9-05", "2024-01-13 13:05.5",
            "PM 13 Jan 2024 1:05", "before 13 Jan 2024 13:05",
        ],
    )  # fmt: skip
    def test_other_signs_than_colons_are_no_fractions_or_zones(self, write: Write, text: str) -> None:
        """13.05 and 13-05 may be five past one, and a word in front may be PM."""
        visits = read_visits(write("v.csv", f"lat,lon,time\n48.8,2.3,{text}\n48.9,2.4,{text}\n"))
        assert visits.time is None
        later = "2024-01-14 15:00"
        table = f"lat,lon,time\n48.8,2.3,{text}\n48.9,2.4,{later}\n48.9,2.4,{later}\n"
        assert moments(read_visits(write("w.csv", table))) == ["NaT", *["2024-01-14T15:00:00.000000"] * 2]

    @pytest.mark.thinned(4)
    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            *((f"2024-01-13{clock}", None) for clock in (" 13-05", " 13+05", "T13-05", "T13+0530", " 13-05:00")),
            *((f"2024-01-13 {clock}", None) for clock in ("13:05:00+15:00", "13:05-30", "13:05:09-14:30")),
            *((f"20240113{clock}", None) for clock in (" 13-05", "T130500+1500")),
            ("2024-01-13 13:05-05", "2024-01-13T18:05"),
            ("2024-01-13T13:05:00+14:00", "2024-01-12T23:05"),
            ("2024-01-13 13:05:00 -1200", "2024-01-14T01:05"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("kind", ["csv", "sep", "movebank", "parquet", "frame", "geojson", "gpx"])
    def test_signs_of_offsets_in_every_row(
        self, write: Write, tmp_path: Path, kind: str, text: str, moment: str | None
    ) -> None:
        """Arrow's CSV reader takes 13-05 for 13:00 at -05:00; a true offset needs minutes before it."""
        visits = read_visits(in_format(kind, [text, text], write, tmp_path))
        if moment is None:
            assert visits.time is None
            assert any("could not be read" in note for note in visits.notes)
        else:
            assert moments(visits) == [str(np.datetime64(moment, "us"))] * 2

    def test_such_columns_stay_texts(self, write: Write) -> None:
        rows = "".join(f"48.85,2.3{k},2024-01-1{k}T10:00:00Z,2024-01-13 13-05\n" for k in range(3))
        visits = read_visits(write("v.csv", f"lat,lon,time,arrival\n{rows}"))
        assert moments(visits) == [f"2024-01-1{k}T10:00:00.000000" for k in range(3)]
        assert visits.attributes["arrival"].tolist() == ["2024-01-13 13-05"] * 3

    @pytest.mark.parametrize(
        "number",
        [
            *(202401131305, 2024011313, 2401131305, 240113130559, 199912312359),
            *(133496283000000000, 638407839000000000),  # of Windows since 1601, and of .NET since the year 1
        ],
    )
    @pytest.mark.parametrize("kind", ["csv", "sep", "parquet", "frame"])
    def test_whole_numbers_that_are_no_seconds_since_1970(
        self, write: Write, tmp_path: Path, kind: str, number: int
    ) -> None:
        visits = read_visits(in_format(kind, [number, number], write, tmp_path))
        assert visits.time is None
        assert any("could not be read as times and is kept" in note for note in visits.notes)

    @pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
    def test_numbers_since_1970(self, write: Write, unit: str) -> None:
        known = [dt.datetime(2001, 9, 9, 1, 46, 40) + k * dt.timedelta(days=997, seconds=61) for k in range(11)]
        numbers = np.array(known, f"datetime64[{unit}]").astype(np.int64).tolist()
        rows = "".join(f"48.85,2.{k:02d},{number}\n" for k, number in enumerate(numbers))
        assert moments(read_visits(write("v.csv", f"lat,lon,time\n{rows}"))) == [
            str(np.datetime64(each, "us")) for each in known
        ]

    @pytest.mark.parametrize("text", ["0000-01-01", "9999-12-31T23:59:59-05:00", "9999-12-31 24:00:00"])
    @pytest.mark.parametrize("kind", ["csv", "parquet", "geojson", "gpx"])
    def test_years_that_no_calendar_has(self, write: Write, tmp_path: Path, kind: str, text: str) -> None:
        texts = ["2024-01-13T13:05:00Z", "2024-01-13T13:06:00Z", text]
        visits = read_visits(in_format(kind, texts, write, tmp_path))
        assert moments(visits) == ["2024-01-13T13:05:00.000000", "2024-01-13T13:06:00.000000", "NaT"]
        assert any("1 of 3 times" in note for note in visits.notes)

    @pytest.mark.parametrize("unit", ["s", "ms"])
    def test_stamps_beyond_64_bits_of_microseconds(self, unit: str) -> None:
        stamps = pa.array([1705151100 * (1 if unit == "s" else 1000), 10**17], pa.int64()).cast(pa.timestamp(unit))
        visits = read_visits(pa.table({"lat": [48.85, 48.86], "lon": [2.35, 2.36], "time": stamps}))
        assert moments(visits) == ["2024-01-13T13:05:00.000000", "NaT"]
        assert any("1 of 2 times" in note for note in visits.notes)
        others = read_visits(pa.table({"lat": [48.85, 48.86], "lon": [2.35, 2.36], "seen": stamps}))
        assert others.attributes["seen"].astype(np.int64).tolist() == stamps.cast(pa.int64()).to_pylist()

    @pytest.mark.parametrize("kind", ["gpx", "geojson", "google", "csv"])
    def test_clocks_of_spreadsheets_in_every_format(self, write: Write, tmp_path: Path, kind: str) -> None:
        texts = ["2024-01-13T13:05:00Z", "2024-01-13T13:06:00Z", "1899-12-30T13:05:00Z"]
        visits = read_visits(in_format(kind, texts, write, tmp_path))
        assert moments(visits) == ["2024-01-13T13:05:00.000000", "2024-01-13T13:06:00.000000", "NaT"]
        assert any("1 of 3 times" in note for note in visits.notes)

    @pytest.mark.thinned(3)
    @pytest.mark.parametrize("zero", ["2000-01-01", "1970-01-01", "1904-01-01"])
    @pytest.mark.parametrize(("apart", "reads"), [(-1, False), (1, False), (-366, False), (0, True), (9000, True)])
    def test_days_zero_and_days_near_them(self, write: Write, zero: str, apart: int, reads: bool) -> None:
        """2000-01-01 13:05 next to 1999-12-31 is a contradiction, and next to 2024 a clock."""
        day = np.datetime64(zero) + apart
        row = f"48.85,2.35,{day},{zero} 13:05:00\n"
        visits = read_visits(write("v.csv", f"lat,lon,date,time\n{row}{row}"))
        if reads:
            assert moments(visits) == [f"{day}T13:05:00.000000"] * 2
        else:
            assert visits.time is None
            assert list(visits.attributes) == ["date", "time"]
        later = "48.86,2.36,2024-01-13," + row.split(",")[3]
        mixed = read_visits(write("w.csv", f"lat,lon,date,time\n{later}{later}{row}"))
        assert moments(mixed)[2] == (f"{day}T13:05:00.000000" if reads else "NaT")

    def test_whole_times_on_other_days_are_counted(self, write: Write) -> None:
        rows = "48.85,2.35,2024-01-13,2024-01-13T13:05:00Z\n48.85,2.36,2024-01-13,2024-01-14T13:05:00Z\n"
        visits = read_visits(write("v.csv", f"lat,lon,date,time\n{rows}"))
        assert moments(visits) == ["2024-01-13T13:05:00.000000", "2024-01-14T13:05:00.000000"]
        assert visits.notes[0].startswith("1 of 2 times in the column 'time' are on another day than the one")
        local = "48.85,2.35,2024-01-13T00:00:00+02:00,2024-01-13T13:05:00Z\n"
        assert read_visits(write("w.csv", f"lat,lon,date,time\n{local}")).notes == ()

    @pytest.mark.parametrize("day", ["2024-01-13", "13.01.2024", "1/13/2024"])
    @pytest.mark.parametrize("clock", ["13:05", "1:05:00 PM"])
    def test_days_and_clocks_under_each_others_names(self, write: Write, day: str, clock: str) -> None:
        visits = read_visits(write("v.csv", f"lat,lon,date,time\n48.85,2.35,{clock},{day}\n"))
        assert moments(visits) == ["2024-01-13T13:05:00.000000"]

    @pytest.mark.parametrize("texts", [("0.30", "0.45"), ("0.30", "23.59"), ("0,30", "0,45"), (".30", "12.00")])
    def test_clocks_with_points_are_no_fractions(
        self, write: Write, tmp_path: Path, texts: tuple[str, str]
    ) -> None:
        head, rows = "lat,lon,date,time\n", "".join(f'48.85,2.35,2024-01-13,"{text}"\n' for text in texts)
        visits = read_visits(write("v.csv", head + rows))
        assert visits.time is None
        why = "numbers can be hours and minutes, or fractions of a day. Write them as 13:05."
        assert visits.notes[0].endswith(why)
        with pytest.raises(DataError, match=r"numbers in the column 'time' .* hours and minutes, or fractions"):
            read_visits(tmp_path / "v.csv", time="time")
        values = pa.array([float(text.replace(",", ".")) for text in texts])
        table = pa.table({"lat": [48.85] * 2, "lon": [2.35] * 2, "date": ["2024-01-13"] * 2, "time": values})
        assert read_visits(table).notes[0].endswith(why)
        among = read_visits(write("w.csv", head + rows + "48.85,2.35,2024-01-13,0.75\n"))
        assert moments(among)[2] == "2024-01-13T18:00:00.000000"

    @pytest.mark.parametrize("kind", ["csv", "sep", "movebank", "parquet", "frame", "geojson", "gpx", "google"])
    @pytest.mark.parametrize("text", ["", " "])
    def test_times_that_are_all_empty(self, write: Write, tmp_path: Path, kind: str, text: str) -> None:
        assert read_visits(in_format(kind, [text, text], write, tmp_path)).time is None

    def test_times_that_a_program_did_not_set_are_no_clocks(self, write: Write) -> None:
        rows = ["1970-01-01T00:00:00Z"] * 3 + ["2024-01-13T13:05:00Z"] * 2
        table = "lat,lon,date,time\n" + "".join(f"48.8,2.3,2024-01-13,{each}\n" for each in rows)
        assert moments(read_visits(write("v.csv", table)))[3:] == ["2024-01-13T13:05:00.000000"] * 2

    def test_the_day_that_ends_at_24(self, write: Write) -> None:
        visits = read_visits(write("v.csv", "Date,Time,lat,lon\n2008-10-23,24:00:00,48.85,2.35\n"))
        assert moments(visits) == ["2008-10-24T00:00:00.000000"]
        late = read_visits(write("w.csv", "time,lat,lon\n2008-10-23T24:00:01,48.85,2.35\n2008-10-23,48.8,2.3\n"))
        assert moments(late)[0] == "NaT"

    def test_whole_times_with_days(self, write: Write) -> None:
        visits = read_visits(write("v.csv", "date,time,lat,lon\n2008-10-23,2008-10-24T10:00:00Z,48.85,2.35\n"))
        assert moments(visits) == ["2008-10-24T10:00:00.000000"]
        assert list(visits.attributes) == ["date"]


class TestFolders:
    @pytest.mark.parametrize("names", [("a.gpx", "B.GPX"), ("a.Gpx", "b/C.gPX"), ("a.gpx", "b.gpx.gz")])
    def test_letter_cases_and_packed_files(self, write: Write, tmp_path: Path, names: tuple[str, str]) -> None:
        for name, place in zip(names, PLACES, strict=True):
            content = gpx((*place, "2020-08-18T10:00:00Z"))
            write(f"rides/{name}", gzip.compress(content) if name.endswith(".gz") else content)
        assert sorted(places(read_visits(tmp_path / "rides"))) == PLACES
        released(tmp_path / "rides", tmp_path)

    def test_upper_case_tables_and_trajectories(self, write: Write, tmp_path: Path) -> None:
        write("tables/A.CSV", "lat,lon\n48.85,2.35\n48.86,2.36\n")
        assert places(read_visits(tmp_path / "tables" / "A.CSV")) == PLACES
        released(tmp_path / "tables", tmp_path)
        write("g/000/Trajectory/A.PLT", PLT + "48.85,2.35,0,492,39744.12,2008-10-23,02:53:04\n")
        assert places(read_visits(tmp_path / "g")) == PLACES[:1]

    def test_files_that_are_not_read_are_counted_and_named(self, write: Write, tmp_path: Path) -> None:
        write("rides/a.gpx", gpx(*((*place, "2020-08-18T10:00:00Z") for place in PLACES)))
        for name in ("b.tcx", "sub/c.fit", "notes.txt"):
            write(f"rides/{name}", "?")
        note = "3 files of other kinds in 'rides' were not read: b.tcx, notes.txt, sub/c.fit."
        assert note in read_visits(tmp_path / "rides").notes
        assert note.rstrip(".") in str(released(tmp_path / "rides", tmp_path))

    def test_a_folder_of_tables_names_the_others(self, write: Write, tmp_path: Path) -> None:
        write("tables/a.csv", "lat,lon\n48.85,2.35\n48.86,2.36\n")
        write("tables/b.xlsx", "?")
        done = released(tmp_path / "tables", tmp_path)
        assert "1 file of other kinds in 'tables' was not read: b.xlsx" in str(done)

    def test_the_file_and_the_line_of_an_error(self, write: Write, tmp_path: Path) -> None:
        write("rides/a.gpx", gpx((48.85, 2.35, "2020-08-18T10:00:00Z")))
        write("rides/b.gpx", gpx((48.85, 2.35, ""), (400.5, 2.35, "")))
        with pytest.raises(DataError, match=r"line 4 of 'b\.gpx' has a point beyond 90 degrees") as refused:
            read_visits(tmp_path / "rides")
        assert "400.5" not in str(refused.value)
        assert "400.5" in refused.value.render(values=True)

    def test_geolife_with_one_bad_row_is_read(self, write: Write, tmp_path: Path) -> None:
        good = "39.98,116.31,0,492,39744.12,2008-10-23,02:53:04\n"
        write("gl/000/Trajectory/1.plt", PLT + good)
        write("gl/010/labels.txt", "Start Time\tEnd Time\tTransportation Mode\n")
        write("gl/010/Trajectory/2.plt", PLT + good + "400.166666666667,-76.3,0,0,39744.12,2008-10-23,02:53:10\n")
        visits = read_visits(tmp_path / "gl")
        assert places(visits) == [(39.98, 116.31)] * 2
        assert any(
            "1 of 2 rows of '2.plt' beyond 90 degrees" in note and "line 8" in note for note in visits.notes
        )
        write("gl/010/Trajectory/3.plt", PLT + "400,-76.3,0,0,39744.12,2008-10-23,02:53:10\n")
        with pytest.raises(DataError, match=r"only rows of '3\.plt' beyond 90 degrees .*line 7"):
            read_visits(tmp_path / "gl")

    @pytest.mark.parametrize(("row", "message"), [("39.98,116.31", "line 8 has 2 values, but 7 are needed")])
    def test_a_truncated_trajectory(self, write: Write, row: str, message: str) -> None:
        with pytest.raises(DataError, match=message):
            read_visits(write("a.plt", PLT + "39.98,116.31,0,492,39744.12,2008-10-23,02:53:04\n" + row))


def days_since_1899(moment: str) -> float:
    return (dt.datetime.fromisoformat(moment) - dt.datetime(1899, 12, 30)) / dt.timedelta(days=1)


class TestOziExplorer:
    HEAD = (
        "OziExplorer Track Point File Version 2.1\r\n{}\r\nAltitude is in Feet\r\nReserved 3\r\n"
        "0,2,255,ozi track ,0,0,2,8421376,-1,0\r\n{}\r\n"
    )

    def write_track(self, write: Write, *rows: str, datum: str = "WGS 84", name: str = "track.plt") -> Path:
        return write(name, self.HEAD.format(datum, len(rows)) + "".join(f"{row}\r\n" for row in rows))

    @pytest.mark.parametrize("digits", [6, 7, 10])
    @pytest.mark.parametrize("end", ["", ",", ", 23-Oct-08, 2:53:04 am", ",23.10.2008,02:53:04", ",?,?,more"])
    def test_places_and_times(self, write: Write, digits: int, end: str) -> None:
        """The spelling of the device behind the days does not count, and may be left out."""
        expected = ["2008-10-23T02:53:04.000000", "2008-10-23T16:18:27.000000"]
        rows = [
            f"  {lat:.6f},{lon:.6f},{k},-777,{days_since_1899(moment):.{digits}f}{end}"
            for k, ((lat, lon), moment) in enumerate(zip(PLACES, expected, strict=True))
        ]
        path = self.write_track(write, *rows)
        visits = read_visits(path)
        assert places(visits) == PLACES
        assert moments(visits) == expected
        assert visits.notes == ("The files name no users, and count as one person's.",)[: len(visits.notes)]
        assert places(read_visits(path.parent)) == PLACES

    def test_the_days_of_geolife_agree_with_its_dates(self, write: Write) -> None:
        rows = [
            f"48.8{k},2.35,0,492,{days_since_1899(moment):.10f},{moment.replace('T', ',')}"
            for k, moment in enumerate(("2008-10-23T02:53:04", "2009-02-28T23:59:59", "2012-02-29T00:00:01"))
        ]
        known = moments(read_visits(write("a.plt", PLT + "\n".join(rows))))
        assert moments(read_visits(self.write_track(write, *rows))) == known

    def test_rows_without_a_time(self, write: Write) -> None:
        rows = ("48.85,2.35,0,0,0.0000000, ,", "48.86,2.36,0,0,,,", "48.87,2.37,0,0,39744.5,,")
        visits = read_visits(self.write_track(write, *rows))
        assert moments(visits) == ["NaT", "NaT", "2008-10-23T12:00:00.000000"]
        assert read_visits(self.write_track(write, *rows[:2])).time is None

    @pytest.mark.parametrize("days", ["soon", "-5.5", "12.5", "99999.5", "1e300", "nan", "9" * 400])
    def test_days_that_are_none_are_counted(self, write: Write, days: str) -> None:
        visits = read_visits(self.write_track(write, "48.85,2.35,0,0,39744.5", f"48.86,2.36,0,0,{days}"))
        assert moments(visits) == ["2008-10-23T12:00:00.000000", "NaT"]
        assert "1 of 2 times in 'track.plt' could not be read and are missing." in visits.notes

    @pytest.mark.parametrize(
        ("row", "moment"),
        [
            ("39744,23-Oct-08,02:53:04", "2008-10-23T02:53:04"),
            ("39744.0000000, 23-Oct-08, 2:53:04 am", "2008-10-23T02:53:04"),
            ("39744,10/23/2008,2:53:04 AM", "2008-10-23T02:53:04"),
            ("39744,,02:53:04", "2008-10-23T02:53:04"),
            ("39744.12,23.10.2008,02:53:04", "2008-10-23T02:53:04"),
            ("0,2008-10-23,02:53:04", "2008-10-23T02:53:04"),
            ("39744,2008-10-23,24:00:00", "2008-10-24T00:00:00"),
            ("39744,23-Oct-08,", "2008-10-23T00:00:00"),
            ("39744,24-Oct-08,02:53:04", None),
            ("39744,24-Oct-08,", None),
            ("39744,23-Oct-08,13-05", None),
            ("39744.12,23-Oct-08,13:53:04", None),
            ("0,23-Oct-08,02:53:04", None),  # 2023 or 2008
        ],
    )
    def test_clocks_behind_whole_days(self, write: Write, row: str, moment: str | None) -> None:
        visits = read_visits(self.write_track(write, "48.85,2.35,0,0,39744.5,,", f"48.86,2.36,0,0,{row}"))
        assert moments(visits)[1] == ("NaT" if moment is None else f"{moment}.000000")
        bad = [note for note in visits.notes if "could not be read and are missing" in note]
        assert bad == ([] if moment else ["1 of 2 times in 'track.plt' could not be read and are missing."])

    @pytest.mark.parametrize(
        ("row", "note"),
        [
            ("0.0000000, ,", "'track.plt' has no times."),
            ("39744,23-Oct-08,", "The times of 'track.plt' are days without a time of day."),
            (
                "39744.1203009,23-Oct-07,02:53:14",
                "1 of 1 times in 'track.plt' are on another day than the date behind them.",
            ),
        ],
    )
    def test_what_is_said_of_times(self, write: Write, row: str, note: str) -> None:
        assert note in read_visits(self.write_track(write, f"48.85,2.35,0,0,{row}")).notes

    def test_its_datum_is_used(self, write: Write) -> None:
        row = "35.676761,139.753233,0,-777,39744.1"
        (lat, lon), *_ = places(read_visits(self.write_track(write, row)))
        (lat_of_tokyo, lon_of_tokyo), *_ = places(read_visits(self.write_track(write, row, datum="Tokyo")))
        assert lat_of_tokyo - lat == pytest.approx(0.00324, abs=2e-4)
        assert lon_of_tokyo - lon == pytest.approx(-0.00323, abs=2e-4)

    @pytest.mark.thinned(2)
    @pytest.mark.parametrize("head", [HEAD, PLT.replace("WGS 84", "{}")])
    def test_the_hint_on_an_unknown_datum_names_its_line(self, write: Write, head: str) -> None:
        row = "48.85,2.35,0,492,39744.1,2008-10-23,02:53:04\n"
        with pytest.raises(DataError, match="not understood: My own datum") as refused:
            read_visits(write("a.plt", head.format("My own datum", 1) + row))
        assert "the datum in its second line" in refused.value.hint
        assert "column" not in refused.value.hint
        with pytest.raises(DataError, match=r"second line .* without latitudes and longitudes"):
            read_visits(write("a.plt", head.format("EPSG:27700", 1) + row))

    def test_a_truncated_row(self, write: Write) -> None:
        with pytest.raises(DataError, match="line 8 has 2 values, but 5 are needed"):
            read_visits(self.write_track(write, "48.85,2.35,0,0,39744.5,,", "48.86,2.3"))

    @pytest.mark.parametrize(
        "row",
        [
            "48,10,2,30,1,-777,45304,5451388889,13-Jan-24,13:05:00",
            "48.10,2.30,1,-777,45304,5451388889,13-Jan-24,13:05:00",
            "48.10,2.30,1,116,8,45304.5451388889,13-Jan-24,13:05:00",
        ],
    )
    def test_decimal_commas_are_refused(self, write: Write, row: str) -> None:
        with pytest.raises(DataError, match=r"line 8 has \d+ values, but 7 are needed") as refused:
            read_visits(self.write_track(write, "48.85,2.35,0,0,39744.5,,", row))
        assert "decimal points" in refused.value.hint

    def test_a_header_that_lacks_a_line_costs_no_point(self, write: Write) -> None:
        rows = "48.85,2.35,0,0,39744.5\r\n48.86,2.36,0,0,39744.6\r\n"
        head = self.HEAD.format("WGS 84", 2).splitlines(keepends=True)
        for lost in range(2, 6):
            with pytest.raises(DataError, match="its points begin before line 7"):
                read_visits(write("a.plt", "".join(head[:lost] + head[lost + 1 :]) + rows))

    def test_other_files_of_the_program(self, write: Write) -> None:
        write("tracks/a.plt", "OziExplorer Waypoint File Version 1.1\nWGS 84\n")
        with pytest.raises(DataError, match=r"does not begin with 'Geolife trajectory' or 'OziExplorer Track"):
            read_visits(write("tracks/b.plt", PLT).parent)


RECORDS = [
    {"latitudeE7": 488500000, "longitudeE7": 23500000, "timestamp": "2024-05-01T08:00:00.123Z", "accuracy": 9}
]
OLD_RECORDS = [{"timestampMs": "1714550400123", "latitudeE7": 488500000, "longitudeE7": 23500000}]
PATH = {
    "startTime": "2024-05-01T10:00:00.000+02:00",
    "timelinePath": [{"point": "48.85°, 2.35°", "time": "2024-05-01T10:00:00.123+02:00"}],
}
VISIT = {
    "startTime": "2024-05-01T08:00:00.123Z",
    "visit": {"topCandidate": {"placeLocation": {"latLng": "48.85°, 2.35°"}}},
}
APPLE = {
    "startTime": "2024-05-01T07:58:00.123Z",
    "timelinePath": [{"point": "geo:48.85,2.35", "durationMinutesOffsetFromStartTime": "2"}],
}
SIGNAL = {"position": {"LatLng": "48.85°, 2.35°", "timestamp": "2024-05-01T08:00:00.123Z", "source": "WIFI"}}
PLACE = {"placeVisit": {"location": RECORDS[0], "duration": {"startTimestamp": "2024-05-01T08:00:00.123Z"}}}
RAW_PATH = {
    "activitySegment": {
        "simplifiedRawPath": {
            "points": [{"latE7": 488500000, "lngE7": 23500000, "timestamp": "2024-05-01T08:00:00.123Z"}]
        }
    }
}


class TestLocationHistory:
    @pytest.mark.parametrize(
        "content",
        [
            {"locations": RECORDS},
            {"locations": OLD_RECORDS},
            {
                "semanticSegments": [PATH, {"startTime": "2024-05-01T08:00:00Z", "timelineMemory": {}}],
                "rawSignals": [],
            },
            {"semanticSegments": [VISIT]},
            [APPLE],
            {"rawSignals": [SIGNAL, {"wifiScan": {}}]},
            {"timelineObjects": [PLACE]},
            {"timelineObjects": [RAW_PATH]},
        ],
    )
    def test_each_kind_has_its_place_and_time(self, write: Write, content: object) -> None:
        visits = read_visits(write("Timeline.json", json.dumps(content, ensure_ascii=False)))
        assert places(visits) == PLACES[:1]
        assert moments(visits) == ["2024-05-01T08:00:00.123000"]
        assert visits.user is None
        assert visits.notes == ()

    def test_entries_without_a_place_are_counted(self, write: Write) -> None:
        content = {"locations": [*RECORDS, {"timestamp": "2024-05-01T09:00:00Z"}]}
        visits = read_visits(write("Records.json", json.dumps(content)))
        assert visits.notes == ("1 of 2 rows without a position were dropped.",)

    def test_raw_signals_next_to_a_timeline_are_counted(self, write: Write) -> None:
        visits = read_visits(write("t.json", json.dumps({"semanticSegments": [VISIT], "rawSignals": [SIGNAL]})))
        assert len(visits) == 1
        assert "1 raw signal next to the timeline" in visits.notes[0]

    @pytest.mark.parametrize(
        "text",
        [
            '{"locations": [{"latitudeE7": 4885',
            '{"semanticSegments": [1]}',
            '{"semanticSegments": {}, "rawSignals": 3}',
        ],
    )
    def test_what_is_damaged(self, write: Write, text: str) -> None:
        with pytest.raises(DataError, match=r"'t\.json' (is not valid JSON|is not built like|has no known)"):
            read_visits(write("t.json", text))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_tracks_in_other_encodings(write: Write, encoding: str) -> None:
    content = gpx((48.85, 2.35, "2020-08-18T10:00:00Z"), encoding=encoding)
    assert places(read_visits(write("a.gpx", content))) == PLACES[:1]
    assert places(read_visits(write("a.gpx.gz", gzip.compress(content)))) == PLACES[:1]


def test_days_and_clocks_of_one_kind_belong_together(write: Write) -> None:
    head = "lat,lon,local_date,local_time,utc_date,utc_time\n"
    visits = read_visits(write("v.csv", head + "48.85,2.35,2024-01-02,01:30:00,2024-01-01,23:30:00\n"))
    assert visits.time is not None
    assert str(visits.time[0]).startswith("2024-01-01T23:30:00")
    with pytest.raises(DataError, match="which are of different kinds"):
        read_visits(write("w.csv", "lat,lon,utc_date,local_time\n48.85,2.35,2024-01-01,23:30:00\n"))


def test_long_ids_of_users_keep_their_digits(write: Write) -> None:
    ids = ("12345678901234567890", "12345678901234567891")
    rows = "".join(f"48.85,2.35,{each}\n" for each in ids)
    assert sorted(map(str, read_visits(write("v.csv", "lat,lon,user\n" + rows)).users())) == list(ids)


def test_users_of_geojson_are_one_person_in_every_type(write: Write) -> None:
    point = '"geometry": {"type": "Point", "coordinates": [2.35, 48.85]}'
    features = ", ".join(
        f'{{"type": "Feature", {point}, "properties": {{"user": {user}}}}}'
        for user in ("1", "1.0", '"1"', '"\u00e9"')
    )
    path = write("v.geojson", f'{{"type": "FeatureCollection", "features": [{features}]}}')
    assert {str(name): count for name, count in read_visits(path).users().items()} == {"1": 3, "\u00e9": 1}


def test_degrees_without_a_digit_before_the_point(write: Write) -> None:
    path = write("v.csv", ".512345,-.251234,a\n.5,-.25,b\n")
    assert places(read_visits(path, lat="f0", lon="f1")) == [(0.512345, -0.251234), (0.5, -0.25)]


ENDS = [{"latitudeE7": 488500000, "longitudeE7": 23500000}, {"latitudeE7": 488600000, "longitudeE7": 23600000}]


@pytest.mark.parametrize(
    "whole",
    [
        {
            "semanticSegments": [
                {
                    "startTime": "2024-05-01T08:00:00Z",
                    "endTime": "2024-05-01T09:00:00Z",
                    "activity": {"start": {"latLng": "48.85°, 2.35°"}, "end": {"latLng": "48.86°, 2.36°"}},
                }
            ]
        },
        {
            "timelineObjects": [
                {
                    "activitySegment": {
                        "startLocation": ENDS[0],
                        "endLocation": ENDS[1],
                        "duration": {
                            "startTimestamp": "2024-05-01T08:00:00Z",
                            "endTimestamp": "2024-05-01T09:00:00Z",
                        },
                    }
                }
            ]
        },
    ],
)
def test_both_ends_of_activities_are_read(write: Write, whole: object) -> None:
    visits = read_visits(write("t.json", json.dumps(whole)))
    assert places(visits) == PLACES
    assert visits.time is not None
    assert [str(each)[11:19] for each in visits.time] == ["08:00:00", "09:00:00"]


def test_a_record_beyond_the_poles_is_counted(write: Write) -> None:
    wrapped = {"latitudeE7": 4294967290, "longitudeE7": 23500000, "timestamp": "2024-05-01T08:00:00Z"}
    visits = read_visits(write("r.json", json.dumps({"locations": [*RECORDS, wrapped]})))
    assert places(visits) == PLACES[:1]
    assert "1 of 2 rows without a position were dropped." in visits.notes


DAMAGED = {
    "cut.gpx": gpx((48.85, 2.35, ""), (48.86, 2.36, ""))[:-20],
    "empty.gpx": b"",
    "other.gpx": b"<kml></kml>",
    "packed.gpx.gz": gzip.compress(gpx((48.85, 2.35, "")))[:-12],
    "far.gpx": gpx((408.85, 2.35, "")),
    "noise.gpx": bytes(range(256)),
    "cut.plt": PLT.encode() + b"39.98,116.31,0,492\n",
    "head.plt": b"Geo",
    "words.plt": PLT.encode() + b"here,there,0,492,39744.1,2008-10-23,02:53:04\n",
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_of_a_folder_is_left_out_only_where_the_caller_says_so(write: Write, name: str) -> None:
    ending = ".plt" if name.endswith(".plt") else ".gpx"
    row = "39.98,116.31,0,492,39744.1,2008-10-23,02:53:04\n"
    for number in range(2):
        sound = gpx((48.85, 2.35 + number, "")) if ending == ".gpx" else (PLT + row).encode()
        folder = write(f"tracks/{number}/a{ending}", sound).parent.parent
    write(f"tracks/{name}", DAMAGED[name])
    with pytest.raises(DataError) as refused:
        read_visits(folder)
    assert "skip_damaged=True" in refused.value.hint
    assert name in refused.value.render(values=True)
    visits = read_visits(folder, skip_damaged=True)
    assert len(visits) == 2
    assert f"1 of 3 files in 'tracks' was damaged and left out: {name}." in visits.notes
    whole = read_visits(folder, skip_damaged=True, people="file")
    assert whole.user is not None
    assert len(set(whole.user)) == 2


def test_damaged_files_are_counted_and_the_first_are_named(write: Write) -> None:
    for number in range(8):
        folder = write(f"tracks/{number}.gpx", b"<gpx>").parent
    with pytest.raises(DataError, match=r"nothing can be read: 8 damaged files\. The first: .*0\.gpx") as refused:
        read_visits(folder, skip_damaged=True)
    assert "skip_damaged" not in refused.value.hint
    write("tracks/sound.gpx", gpx((48.85, 2.35, "")))
    notes = read_visits(folder, skip_damaged=True).notes
    assert (
        "8 of 9 files in 'tracks' were damaged and left out: 0.gpx, 1.gpx, 2.gpx, 3.gpx, 4.gpx and 3 more."
        in notes
    )


def test_a_file_in_an_unknown_system_is_not_called_damaged(write: Write) -> None:
    row = "39.98,116.31,0,492,39744.1,2008-10-23,02:53:04\n"
    write("tracks/odd.plt", PLT.replace("WGS 84", "My own datum") + row)
    folder = write("tracks/cut.plt", PLT + "39.98,116.31,0,492\n").parent
    with pytest.raises(DataError, match=r"nothing can be read: 2 files\. "):
        read_visits(folder, skip_damaged=True)
    write("tracks/sound.plt", PLT + row)
    notes = read_visits(folder, skip_damaged=True).notes
    assert "1 of 3 files in 'tracks' was damaged and left out: cut.plt." in notes
    assert "1 of 3 files in 'tracks' was in an unknown coordinate system and left out: odd.plt." in notes


def test_leaving_out_is_for_folders(write: Write) -> None:
    table = write("v.csv", "lat,lon\n48.85,2.35\n")
    for source in (table, write("a.gpx", gpx((48.85, 2.35, ""))), read_columns(table, ["lat", "lon"])):
        with pytest.raises(InputError, match="skip_damaged"):
            read_visits(source, skip_damaged=True)


@pytest.mark.parametrize("name", ["time (UTC+2)", "local time GMT -05:30", "time+0200"])
def test_an_offset_in_the_name_of_a_column_is_said(tmp_path, name):
    path = tmp_path / "v.csv"
    path.write_text(f"lat,lon,{name}\n48.85,2.35,2024-01-13 13:05\n48.86,2.36,2024-01-13 14:05\n")
    visits = sf.read_visits(path, time=name)
    assert visits.time is not None
    assert visits.time[0] == np.datetime64("2024-01-13T13:05")
    assert any("not applied" in each for each in visits.notes)
