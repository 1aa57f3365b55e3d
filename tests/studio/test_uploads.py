"""Files of visitors: what is read, and what is refused with a message."""

import gzip
import io
import json
import os
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import SfumatoError
from sfumato_papers.invented_city import invented_city
from sfumato_studio.errors import RefusedError
from sfumato_studio.work.upload_job import read_upload

from .conftest import Visitor, soon

ANY = {"lat": None, "lon": None, "user": None}
"""No column was chosen."""
CITY = invented_city(users=20, days=7)


def csv_of(visits: sf.Visits) -> bytes:
    assert visits.user is not None
    rows = [f"{lat},{lon},{user}" for lat, lon, user in zip(visits.lat, visits.lon, visits.user, strict=True)]
    return "\n".join(["lat,lon,user", *rows]).encode()


def parquet_of(visits: sf.Visits) -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"latitude": visits.lat, "longitude": visits.lon}), sink)
    return sink.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("visits.csv.gz", gzip.compress(csv_of(CITY))),
        ("visits.tsv", csv_of(CITY).replace(b",", b"\t")),
        ("visits.parquet", parquet_of(CITY)),
    ],
    ids=["gzip", "tabs", "parquet"],  # of bytes with the time in them, workers would make different names
)
def test_every_kind_of_file_is_read(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    found = read_upload(tmp_path / name, None, ANY, tmp_path)
    assert found["kind"] == "places"
    assert found["rows"] == len(CITY)
    again = sf.read_visits(tmp_path / "visits.parquet")
    np.testing.assert_array_equal(again.lat, CITY.lat)


def test_a_file_is_read_as_places(visitor):
    found = visitor.upload("../../../etc/visits <b>.parquet", parquet_of(CITY))
    assert found["data"]["kind"] == "places"
    assert found["data"]["rows"] == len(CITY)
    assert "/" not in found["data"]["title"]
    assert not list((visitor.studio.folder / "workspaces" / visitor.id / "upload").iterdir())
    site = visitor.put("/site", {"kind": "places", "detail": 30})["site"]
    assert site["n"] <= 30
    cells = visitor.get("/map")["cells"]["features"]
    assert sum(cell["properties"]["share"] for cell in cells) == pytest.approx(1)


def test_a_file_is_for_its_owner_from_the_first_byte(studio):
    one, before = Visitor(studio), os.umask(0)
    modes = []

    def content():
        yield b"lat,lon,diagnosis\n"
        modes.extend(soon(lambda: [path.stat().st_mode & 0o777 for path in studio.folder.rglob("*.csv")]))
        yield b"48.1,7.8,flu\n48.2,7.9,none\n"

    try:
        answer = studio.client.put(f"{one.base}/file", params={"name": "patients.csv"}, content=content())
        assert answer.status_code == 200, answer.text
        assert modes == [0o600]
        files = [path for path in studio.folder.rglob("*") if path.is_file()]
    finally:
        os.umask(before)
    assert {path.stat().st_mode & 0o777 for path in files} == {0o600}


@pytest.mark.slow
def test_columns_without_a_known_name_are_to_be_chosen(visitor):
    table = b"north,east,who\n48.1,7.8,ada\n48.2,7.9,bob\n"
    error = visitor.upload("log.csv", table, 422, **{"as": "places"})
    assert "no latitude and no longitude column" in error["message"]
    assert [each["name"] for each in error["columns"]] == ["north", "east", "who"]
    assert error["columns"][0]["examples"] == ["48.1", "48.2"]
    data = visitor.upload("log.csv", table, lat="north", lon="east", user="who")["data"]
    assert (data["kind"], data["rows"], data["users"]) == ("places", 2, 2)


GPX = b"""<?xml version="1.0"?><gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>
<trkpt lat="48.1" lon="7.8"/><trkpt lat="48.2" lon="7.9"/></trkseg></trk></gpx>"""
GEOJSON = b'{"type": "MultiPoint", "coordinates": [[7.8, 48.1], [7.9, 48.2]]}'


@pytest.mark.parametrize(("name", "content"), [("walk.gpx", GPX), ("walk.geojson", GEOJSON)])
def test_tracks_and_points_are_read_as_places(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    data = read_upload(tmp_path / name, None, ANY, tmp_path)
    assert (data["kind"], data["rows"]) == ("places", 2)


@pytest.mark.slow
def test_tables_are_read_as_values(visitor):
    rng = np.random.default_rng(1)
    lines = ["answer,age,id"]
    lines += [
        f"{answer},{age},{k}"
        for k, (answer, age) in enumerate(
            zip(rng.choice(["yes", "no"], 500), rng.integers(20, 40, 500), strict=True)
        )
    ]
    found = visitor.upload("survey.csv", "\n".join(lines).encode())["data"]
    assert found["kind"] == "values"
    assert found["columns"] == ["answer", "age"]
    assert visitor.put("/site", {"kind": "values", "column": "answer"})["site"]["labels"] == ["no", "yes"]
    site = visitor.put("/site", {"kind": "values", "column": "age", "first": 18, "last": 45})["site"]
    assert site["ordered"]
    assert site["n"] == 28
    assert visitor.put("/site", {"kind": "values", "column": "id"}, 422)["field"] == "column"
    visitor.put("/site", {"kind": "values", "column": "age", "first": 18, "last": 10_000}, 422)
    visitor.put("/site", {"kind": "values", "column": "answer", "first": 1, "last": 5}, 422)


def test_tables_have_columns_of_few_values(tmp_path):
    rows = [f"{('yes', 'no')[k % 2]},{20 + k % 7},{k}" for k in range(300)]
    (tmp_path / "survey.csv").write_text("\n".join(["answer,age,id", *rows]))
    found = read_upload(tmp_path / "survey.csv", None, ANY, tmp_path)
    assert found["kind"] == "values"
    assert found["rows"] == 300
    assert found["tables"]["answer"] == {"no": 150, "yes": 150}
    assert list(found["tables"]["age"]) == [str(20 + k) for k in range(7)]
    assert "id" not in found["tables"]


def bomb_of_zip() -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a.csv", b"0" * 10_000_000)
    return sink.getvalue()


def bomb_of_gzip() -> bytes:
    block = gzip.compress(b"lat,lon\n" + b"0" * (2**24))
    return block * 40


def bomb_of_parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"lat": pa.array(np.zeros(3_000_000)), "lon": pa.array(np.zeros(3_000_000))}), sink)
    return sink.getvalue()


HOSTILE = [
    ("bomb.zip", bomb_of_zip, "ZIP"),
    ("bomb.parquet", bomb_of_parquet, "rows"),
    ("m.sfm", bomb_of_zip, "compressed"),
    ("empty.csv", lambda: b"", "empty"),
    ("no.csv", lambda: b"\x00\x01\x02" * 100, "text"),
    ("cut.parquet", lambda: parquet_of(CITY)[:-20], ""),
    ("cut.csv.gz", lambda: gzip.compress(csv_of(CITY))[:-20], ""),
    ("x.json", lambda: json.dumps({"a": 1}).encode(), "JSON"),
    ("one.csv", lambda: b"a\n1\n1\n", ""),
    ("nan.csv", lambda: b"lat,lon\nnan,nan\n", ""),
    ("ends.csv", lambda: b"lat,lon\nnan,inf\n48.9,1e400\n", ""),
    ("swapped.csv", lambda: b"lat,lon\n100.5,20.1\n101.5,20.2\n119.5,20.3\n", "lat"),
    ("formula.csv", lambda: b"what\n=1+1\nb\n", "a formula to a spreadsheet"),
    ("sum.csv", lambda: b"what\n@SUM(A1)\nb\n", "a formula to a spreadsheet"),
    ("script.csv", lambda: b"what\n<script>alert(1)</script>\nb\n", "HTML"),
    ("head.csv", lambda: b"a,<img src=x onerror=alert(2)>\n1,a\n2,b\n", "HTML"),
]


@pytest.mark.parametrize(("name", "make", "said"), HOSTILE)
def test_hostile_files_cannot_be_read(tmp_path, name, make, said):
    (tmp_path / name).write_bytes(make())
    with pytest.raises((SfumatoError, RefusedError), match=said or None) as caught:
        read_upload(tmp_path / name, None, ANY, tmp_path)
    assert isinstance(caught.value, RefusedError) or (
        isinstance(caught.value, SfumatoError) and caught.value.hints
    )
    assert not (tmp_path / "visits.parquet").exists()


@pytest.mark.slow
def test_a_file_that_is_refused_leaves_the_data_that_were_there(visitor):
    """Its places can be read, but lie on both sides of the 180th meridian."""
    visitor.upload("mine.parquet", parquet_of(CITY))
    visitor.put("/site", {"kind": "places", "detail": 30})
    visitor.levels()
    before, kept = visitor.get("/map"), files_of(visitor)
    rows = "lat,lon\n" + "48.8,2.3\n" * 9 + "48.8,-179\n48.8,179\n"
    assert "180th meridian" in visitor.upload("far.csv", rows.encode(), 422)["message"]
    assert files_of(visitor) == kept
    assert visitor.get("/map") == before
    visitor.upload("next.parquet", parquet_of(CITY))
    assert len(files_of(visitor)) == 1  # of the file before, nothing is kept
    assert files_of(visitor) != kept


def files_of(visitor):
    folder = visitor.studio.folder / "workspaces" / visitor.id
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_names_of_any_letters_fit_on_every_disk(visitor):
    """A disk takes 255 bytes, which are 63 foxes."""
    for name in ("漢" * 100 + ".csv", "🦊" * 99 + ".csv"):
        assert visitor.upload(name, b"answer\nyes\nno\n")["data"]["title"].endswith(".csv")


@pytest.mark.parametrize(("name", "make", "said"), [*HOSTILE, ("bomb.csv.gz", bomb_of_gzip, "512 MB")])
@pytest.mark.slow
def test_hostile_files_are_refused_with_a_message(visitor, name, make, said):
    before = visitor.get()
    error = visitor.upload(name, make(), 422)
    assert said in error["message"] + error["hint"]
    assert visitor.get() == before
    assert not list((visitor.studio.folder / "workspaces" / visitor.id / "upload").iterdir())
