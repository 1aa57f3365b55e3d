"""Releases of noise for coordinates: what is written, what is left out, and what is refused."""

import csv

import numpy as np
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise

PLANE = Projection(48.86, 2.34)
NOISE = CoordinateNoise("4/km", "1 m", PLANE, "30 km")
LAT, LON = [48.860004, 48.87, 48.85, 48.9], [2.340006, 2.35, 2.33, 2.3]  # none on the lattice of the noise


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "places.csv"
    rows = [f"{a},{b},u{i},{i}" for i, (a, b) in enumerate(zip(LAT, LON, strict=True))]
    path.write_text("\n".join(["latitude,longitude,user,shop", *rows]) + "\n")
    return path


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_reports_are_written_and_nothing_else(places, tmp_path, ending):
    target = tmp_path / f"out.{ending}"
    found = sf.release(NOISE, places, target)
    assert (found.rows, found.dropped, found.moved) == (4, 0, 0)
    assert found.columns == ("latitude", "longitude")
    if ending == "csv":
        with target.open() as stream:
            rows = [[float(x) for x in row] for row in list(csv.reader(stream))[1:]]
    else:
        table = pq.read_table(target)
        rows = np.column_stack([table["latitude"], table["longitude"]]).tolist()
    away = np.hypot(*(PLANE.forward(*np.array(rows).T) - PLANE.forward(LAT, LON)).T)
    assert (away > 0).all()
    assert (away < 10_000).all()  # by chance: 2e-15, eight times exp(-40) (1 + 40)


def test_the_mean_distance_is_that_of_the_noise(tmp_path):
    visits = sf.Visits(np.full(40_000, 48.86), np.full(40_000, 2.34))
    sf.release(NOISE, visits, tmp_path / "out.parquet")
    table = pq.read_table(tmp_path / "out.parquet")
    away = np.hypot(*PLANE.forward(table["latitude"].to_numpy(), table["longitude"].to_numpy()).T)
    expected = NOISE.error([[0.0, 0.0]], [1.0]).loss
    allowed = 6.5 * away.std() / 40_000**0.5  # by chance: 2e-10 (a gamma distribution of shape 80,000)
    assert expected.lower - allowed < away.mean() < expected.upper + allowed


def test_columns_are_kept_by_name(places, tmp_path):
    sf.release(NOISE, places, tmp_path / "out.csv", keep=["shop"])
    assert (tmp_path / "out.csv").read_text().replace('"', "").startswith("latitude,longitude,shop\n")
    with pytest.raises(DataError, match="no column 'x' to keep"):
        sf.release(NOISE, places, tmp_path / "b.csv", keep=["x"])
    assert not (tmp_path / "b.csv").exists()


def test_rows_beyond_the_reach(tmp_path):
    far = sf.Visits([48.86, 50.0, 48.87], [2.34, 2.34, 2.35])
    with pytest.raises(DataError, match="1 of 3 rows is not within 30 km of the noise's centre") as caught:
        sf.release(NOISE, far, tmp_path / "out.csv", outside="error")
    assert "the first is number 2" in str(caught.value)
    found = sf.release(NOISE, far, tmp_path / "drop.csv", outside="drop", allow=0.4)
    assert (found.rows, found.dropped, found.moved) == (2, 1, 0)
    with pytest.raises(DataError, match="are swapped: exchanged"):
        sf.release(NOISE, sf.Visits(LON, LAT), tmp_path / "out.csv")
    found = sf.release(NOISE, far, tmp_path / "near.csv", outside="nearest", within="200 km", allow=0.4)
    assert 90_000 < found.farthest_m < 100_000
    assert (found.rows, found.dropped, found.moved) == (3, 0, 1)
    with (tmp_path / "near.csv").open() as stream:
        lat, lon = (float(x) for x in list(csv.reader(stream))[2])
    assert np.hypot(*PLANE.forward([lat], [lon])[0]) == pytest.approx(30_000, abs=7_000)  # by chance: 2e-11
    with pytest.raises(DataError, match="no row is at any"):
        sf.release(NOISE, sf.Visits([50.0], [2.34]), tmp_path / "none.csv", outside="drop", allow=1)


def test_labels_and_planes_are_refused(places, tmp_path):
    with pytest.raises(InputError, match="for points, not for labels"):
        sf.release(NOISE, places, tmp_path / "out.csv", column="shop")
    with pytest.raises(InputError, match="for points of a plane"):
        sf.release(CoordinateNoise("1/km"), places, tmp_path / "out.csv")


def test_places_with_a_name_are_reported_once(tmp_path):
    spots = np.array(["home", "home", "home", "work"])
    lat, lon = [48.86, 48.87, 48.75, 49.0], [2.34, 2.35, 2.2, 2.5]  # so far apart that no two reports are equal
    visits = sf.Visits(lat, lon, user=list("aabb"), attributes={"spot": spots})
    found = sf.release(NOISE, visits, tmp_path / "out.parquet", place_column="spot")
    assert found.places == 3
    assert "epsilon x (the distance of two possible anchors + 1.42 m of slack)" in found.cost
    reports = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert reports[0] == reports[1] != reports[2] != reports[3]
