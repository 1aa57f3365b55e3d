"""Releases of track files: ten programs' files in and out, nothing but the visible, and errors."""

import json

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError, InputError
from sfumato.tracks import Zones, release_tracks

from .rides import DIALECTS, HOME, LOLLIPOP, OUT, RING, SECRETS, read_back, walk, write_fit, write_gpx

RIDE = walk(LOLLIPOP)


@pytest.fixture
def zones(tmp_path):
    zones = Zones(sf.Ledger.create(tmp_path / "zones.db", 1))
    zones.add("home", *HOME)
    return zones


def released(zones, source, target, **options):
    outcome = release_tracks(source, target, zones, **options)
    assert zones.ledger.check().sound
    return outcome


@pytest.mark.parametrize("dialect", DIALECTS)
def test_files_of_ten_programs(dialect, zones, tmp_path):
    source, target = write_gpx(tmp_path / "in.gpx", RIDE, dialect), tmp_path / "out.gpx"
    outcome = released(zones, source, target)
    (segment,) = read_back(target)
    rows = {tuple(row) for row in np.round(RIDE, 7).tolist()}
    assert all(tuple(row) in rows for row in segment.tolist())
    assert 300 < len(segment) < len(RIDE)
    (zone,) = zones.zones
    assert not zone.contains(*segment.T).any()
    text = target.read_text(encoding="utf-8")
    assert not [word for word in SECRETS if word in text]
    assert text.count("<time>") == text.count("<ele>") == len(segment)
    assert outcome.length_m == pytest.approx(8 * (len(segment) - 1), rel=0.01)
    assert outcome.duration_s == 2 * (len(segment) - 1)
    assert (outcome.tracks, outcome.ways, outcome.exposure[0]) == (1, 2, 1)
    assert (outcome.points, outcome.cut) == (len(RIDE), len(RIDE) - len(segment))
    assert outcome.others == {"osmand": 1, "etrex": 1}.get(dialect, 0)


def test_a_second_export_cuts_the_same_and_counts_once(zones, tmp_path):
    """Also of another program's file of the ride; the cut is by at least the turn behind the zone's edge."""
    outputs = []
    for number, dialect in enumerate(("strava", "garmin", "gpslogger")):
        source, target = write_gpx(tmp_path / f"{number}.gpx", RIDE, dialect), tmp_path / f"out{number}.gpx"
        assert released(zones, source, target).exposure[0] == 1
        outputs.append(read_back(target)[0].tolist())
    assert outputs[0] == outputs[1] == outputs[2]
    other = write_gpx(tmp_path / "ring.gpx", walk(RING))
    outcome = released(zones, other, tmp_path / "o.gpx")
    assert outcome.exposure[0] == 2
    assert 2 <= outcome.exposure[1] <= 3
    assert 0 < outcome.attack_m < 0.66 * 500


def test_a_ride_elsewhere_is_whole_and_the_release_says_so(zones, tmp_path):
    source, target = write_gpx(tmp_path / "in.gpx", RIDE + 0.5), tmp_path / "out.gpx"
    outcome = released(zones, source, target)
    assert len(read_back(target)[0]) == len(RIDE)
    assert (outcome.cut, outcome.ways, outcome.exposure, outcome.attack_m) == (
        0,
        0,
        (0, 0),
        pytest.approx(333.3, abs=0.1),
    )
    assert "the stated place is wrong" in str(outcome)


def test_geojson_in_and_out(zones, tmp_path):
    source = write_gpx(tmp_path / "in.gpx", RIDE)
    first, second, third = (tmp_path / name for name in ("a.geojson", "b.geojson", "c.gpx"))
    released(zones, source, first)
    (feature,) = json.loads(first.read_text())["features"]
    line = feature["geometry"]["coordinates"][0]
    assert len(line) == len(feature["properties"]["coordTimes"][0])
    assert len(line[0]) == 3
    released(zones, first, second)  # its ends are near the zone, so that it is cut once more
    (again,) = json.loads(second.read_text())["features"][0]["geometry"]["coordinates"]
    assert all(point in line for point in again)
    whole = {"type": "LineString", "coordinates": RIDE[:, ::-1].tolist()}
    (tmp_path / "line.geojson").write_text(json.dumps(whole))
    outcome = released(zones, tmp_path / "line.geojson", third)
    assert read_back(third)[0] == pytest.approx(np.array(line)[:, 1::-1], abs=1e-7)
    assert np.isnan(outcome.duration_s)
    assert "There are no times." in str(outcome)
    moments = [f"2026-05-01T08:{k // 60 % 60:02}:{k % 60:02}+02:00" for k in range(len(RIDE))]
    timed = {"type": "Feature", "properties": {"coordTimes": moments}, "geometry": whole}
    (tmp_path / "timed.json").write_text(json.dumps(timed))
    assert released(zones, tmp_path / "timed.json", third).duration_s == len(line) - 1
    assert "<time>2026-05-01T06:" in third.read_text()


def test_fit_in(zones, tmp_path):
    released(zones, write_gpx(tmp_path / "a.gpx", RIDE), tmp_path / "gpx.gpx")
    outcome = released(zones, write_fit(tmp_path / "a.fit", RIDE), tmp_path / "fit.gpx")
    assert read_back(tmp_path / "fit.gpx")[0] == pytest.approx(read_back(tmp_path / "gpx.gpx")[0], abs=2e-7)
    assert outcome.duration_s == 2 * (len(read_back(tmp_path / "fit.gpx")[0]) - 1)
    assert "<ele>30</ele><time>2026-05-01T" in (tmp_path / "fit.gpx").read_text()
    (tmp_path / "b.fit").write_bytes((tmp_path / "a.fit").read_bytes()[:500])
    with pytest.raises(DataError, match="not a sound FIT file"):
        release_tracks(tmp_path / "b.fit", tmp_path / "b.gpx", zones)


def test_the_loop_only_and_shifted_times(zones, tmp_path):
    source, target = write_gpx(tmp_path / "in.gpx", RIDE), tmp_path / "out.gpx"
    outcome = released(zones, source, target, loop_only=True, times="shift")
    assert (outcome.ways, outcome.exposure) == (0, (0, 0))
    assert outcome.length_m == pytest.approx(7200, abs=120)
    assert "<time>1970-01-01T00:00:00Z</time>" in target.read_text()
    assert "2026" not in target.read_text()
    released(zones, source, target, times="drop")
    assert "time" not in target.read_text()
    with pytest.raises(InputError, match=r"'ring.gpx': the visible track has no loop"):
        release_tracks(write_gpx(tmp_path / "ring.gpx", walk(RING)), target, zones, loop_only=True)


def test_a_folder(zones, tmp_path):
    source, target = tmp_path / "rides", tmp_path / "safe"
    source.mkdir()
    write_gpx(source / "a.GPX", RIDE)
    write_gpx(source / "b.gpx", walk(RING), "osmand")
    write_gpx(source / "hidden.gpx", walk(((0, 0), (0, 200))))
    (source / "notes.txt").write_text("x")
    outcome = released(zones, source, target)
    assert sorted(path.name for path in target.iterdir()) == ["a.GPX", "b.gpx"]
    assert [path.name for path in outcome.written] == ["a.GPX", "b.gpx"]
    assert [path.name for path in outcome.empty] == ["hidden.gpx"]
    with pytest.raises(InputError, match="would replace a file that is read"):
        release_tracks(source, source, zones)
    with pytest.raises(FileError, match="a folder is needed"):
        release_tracks(source, source / "a.GPX", zones)
    write_gpx(source / "A.gpx", RIDE)
    with pytest.raises(InputError, match="two outputs would have the name"):
        release_tracks(source, target, zones)
    with pytest.raises(DataError, match="no tracks in the folder"):
        release_tracks(target.parent / "none" if (tmp_path / "none").mkdir() else tmp_path / "none", target, zones)


POINT = '<trkpt lat="48.9" lon="2.4"><time>2026-05-01T06:00:00Z</time></trkpt>'
GPX = '<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1"><trk><trkseg>{}</trkseg></trk></gpx>'
LATE = (
    '{"type": "Feature", "properties": {"coordTimes": ["late", "later"]}, "geometry": '
    '{"type": "LineString", "coordinates": [[2.3, 48.8], [2.4, 48.8]]}}'
)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.gpx", GPX.format(""), "has no points of a track"),
        ("a.gpx", '<gpx><wpt lat="1" lon="2"/></gpx>', "only 1 of other kinds"),
        ("a.gpx", GPX.format(POINT)[:-9], "is not valid XML"),
        ("a.gpx", f'<!DOCTYPE x [<!ENTITY a "aa">]>{GPX.format("")}', "declares a document type"),
        ("a.gpx", GPX.format(POINT + '<trkpt lat="48.9" lon="2.41"/>'), "1 of 2 points have no time"),
        ("a.gpx", GPX.format(POINT + POINT.replace("06:", "05:")), "time of point 2 is before"),
        ("a.gpx", GPX.format(POINT.replace("48.9", "98.9")), "beyond 90 degrees"),
        ("a.gpx", GPX.format(POINT.replace("<time>", "<ele>high</ele><time>")), "the elevations of"),
        ("a.geojson", '{"type": "Point", "coordinates": [1, 2]}', "only 1 of other kinds"),
        ("a.geojson", '{"type": "LineString", "coordinates": [[1]]}', "is not GeoJSON of tracks"),
        ("a.geojson", '{"type": ', "is not valid JSON"),
        ("a.json", LATE, "the times of a track cannot be read"),
        ("a.kml", "<kml/>", "not a track file by its name"),
        ("a.gpx", "", "is empty"),
    ],
)
def test_bad_files_are_explained_and_nothing_is_written(name, text, message, zones, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises((InputError, DataError), match=message):
        release_tracks(tmp_path / name, tmp_path / "out.gpx", zones)
    assert not (tmp_path / "out.gpx").exists()
    assert zones.exposure(zones.zones[0]) == (0, 0)


def test_bad_requests_are_explained(zones, tmp_path):
    source = write_gpx(tmp_path / "in.gpx", walk(OUT[:2]))
    with pytest.raises(DataError, match="nothing is visible of 1 file"):
        release_tracks(source, tmp_path / "out.gpx", zones)
    assert not (tmp_path / "out.gpx").exists()
    with pytest.raises(InputError, match="would replace a file that is read"):
        release_tracks(source, source, zones)
    with pytest.raises(InputError, match=r"does not end in \.gpx"):
        release_tracks(source, tmp_path / "out.fit", zones)
    with pytest.raises(InputError, match="times='later'"):
        release_tracks(source, tmp_path / "out.gpx", zones, times="later")
    with pytest.raises(DataError, match="there is no file"):
        release_tracks(tmp_path / "x.gpx", tmp_path / "out.gpx", zones)
    with pytest.raises(InputError, match="no zone yet"):
        release_tracks(source, tmp_path / "out.gpx", Zones(sf.Ledger.create(tmp_path / "n.db", 1)))
