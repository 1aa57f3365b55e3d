"""The example that derives home areas, on small raw files of each kind."""

import gzip
import json
from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.geo import Polygon

# Two squares side by side, the western one with a hole.
SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0]]
HOLE = [[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6], [0.4, 0.4]]
EAST = [[1, 0], [2, 0], [2, 1], [1, 1], [1, 0]]
AREAS = {
    "type": "FeatureCollection",
    "features": [
        {"properties": {"name": "West"}, "geometry": {"type": "Polygon", "coordinates": [SQUARE, HOLE]}},
        {"properties": {"name": "East"}, "geometry": {"type": "MultiPolygon", "coordinates": [[EAST]]}},
    ],
}
HOME, CAFE = "Home (private)", "Café"


@pytest.fixture
def home_area(load_example):
    return load_example("home_area")


@pytest.fixture
def areas(tmp_path):
    path = tmp_path / "areas.geojson"
    path.write_text(json.dumps(AREAS), encoding="utf-8")
    return path


def rows_of(path):
    return pq.read_table(path).to_pylist()


def test_points_are_inside_as_polygons_say(home_area, areas):
    found = home_area.areas_of(areas)
    lat, lon = np.random.default_rng(2).random((2, 500)) * [[1.2], [2.4]]
    west, hole, east = (Polygon([(y, x) for x, y in ring]).contains(lat, lon) for ring in (SQUARE, HOLE, EAST))
    named = home_area.area_at(found, lat, lon, "elsewhere")
    assert (named == np.where(west & ~hole, "West", np.where(east, "East", "elsewhere"))).all()


def checkin(user, category, lat, lon, time="Tue Apr 03 18:00:09 +0000 2012"):
    return "\t".join([user, "v", "c", category, str(lat), str(lon), "-240", time])


def test_foursquare_of_2014(home_area, areas, tmp_path, capsys):
    lines = [
        checkin("1", HOME, 0.2, 0.2),
        checkin("1", HOME, 0.3, 0.2),
        checkin("1", HOME, 0.5, 1.5),
        checkin("1", CAFE, 0.5, 1.6, "Mon Feb 04 05:06:07 +0000 2013"),
        checkin("2", HOME, 0.5, 0.5),  # in the hole
        checkin("2", CAFE, 0.1, 0.1),
        checkin("3", CAFE, 0.1, 1.1),
        checkin("3", CAFE, 9.0, 1.1),  # far away
    ]
    raw = tmp_path / "dataset_TSMC2014_NYC.txt"
    raw.write_bytes(("\n".join(lines) + "\n").encode("latin-1"))
    out = tmp_path / "out.parquet"
    home_area.main(["foursquare", str(raw), "--areas", str(areas), "--outside", "outside NYC", "--out", str(out)])
    rows = rows_of(out)
    assert [(row["user"], row["home_area"]) for row in rows] == [("1", "West"), ("2", "outside NYC"), ("3", None)]
    assert {row["category"] for row in rows} == {CAFE}
    assert rows[0]["time"].isoformat() == "2013-02-04T05:06:07+00:00"
    said = capsys.readouterr().out
    assert "3 rows of 3 users (West: 1, not known: 1, outside NYC: 1)" in said
    visits = sf.read_visits(out)
    assert Counter(visits.attributes["home_area"].tolist()) == Counter(["West", "outside NYC", None])


def test_foursquare_of_2015(home_area, areas, tmp_path):
    venues = tmp_path / "pois.txt"
    venues.write_text(f"h\t0.2\t1.2\t{HOME}\tUS\ng\t0.3\t0.3\tGym\tUS\n", encoding="utf-8")
    raw = tmp_path / "checkins.txt"
    time = "Tue Apr 03 18:00:09 +0000 2012"
    raw.write_text(f"7\th\t{time}\t-240\n7\tg\t{time}\t-240\n8\tg\t{time}\t-240\n", encoding="utf-8")
    out = tmp_path / "out.parquet"
    home_area.main(["foursquare", str(raw), "--venues", str(venues), "--areas", str(areas), "--out", str(out)])
    found = {(row["user"], row["home_area"], row["category"]) for row in rows_of(out)}
    assert found == {("7", "East", "Gym"), ("8", None, "Gym")}


def test_gowalla_by_nights(home_area, areas, tmp_path):
    nights = [f"0\t2010-10-{day:02}T23:00:00Z\t0.2\t0.2\t5" for day in range(1, 4)]
    days = [f"0\t2010-10-{day:02}T12:00:00Z\t0.2\t1.2\t5" for day in range(1, 9)]
    once = ["1\t2010-10-01T23:00:00Z\t0.2\t1.2\t5"]
    raw = tmp_path / "loc-gowalla_totalCheckins.txt.gz"
    with gzip.open(raw, "wt", encoding="utf-8") as file:
        file.write("\n".join([*nights, *days, *once]) + "\n")
    out = tmp_path / "out.parquet"
    home_area.main(["gowalla", str(raw), "--areas", str(areas), "--least", "3", "--out", str(out)])
    assert Counter((row["user"], row["home_area"]) for row in rows_of(out)) == {("0", "West"): 11, ("1", None): 1}


@pytest.mark.parametrize(
    ("content", "said"),
    [("1\t2\n", "columns"), ("", "cannot be read"), (f"{checkin('1', CAFE, 50, 50)}\n", "no check-in is near")],
)
def test_other_files_are_refused(home_area, areas, tmp_path, capsys, content, said):
    raw = tmp_path / "raw.txt"
    raw.write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit):
        home_area.main(["foursquare", str(raw), "--areas", str(areas), "--out", str(tmp_path / "out.parquet")])
    assert said in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_nights_agree_with_private_homes_for_most_people(home_area, shared_data, tmp_path):
    """The estimate without categories, against the home areas of the extract."""
    out, outlines = tmp_path / "out.parquet", shared_data / "outlines" / "nyc_boroughs.geojson"
    source = shared_data / "foursquare_nyc.parquet"
    home_area.main(
        ["visits", str(source), "--areas", str(outlines), "--outside", "outside NYC", "--out", str(out)]
    )
    given = {str(row["user"]): row["home_area"] for row in rows_of(source)}
    found = {str(row["user"]): row["home_area"] for row in rows_of(out)}
    both = [user for user, area in found.items() if area and given[user]]
    assert len(both) > 100
    assert 0.6 < sum(found[user] == given[user] for user in both) / len(both) < 0.95
