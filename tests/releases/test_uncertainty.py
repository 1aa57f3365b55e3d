"""Error radii next to reports, and Darwin Core columns."""

import json
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyproj import Geod

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection
from sfumato.ledgers import Blur, Ledger
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.proofs import error_radius, posterior_radii
from sfumato.releases import create_duckdb_function

GRID = sf.Grid.covering("8 km x 6 km around 48.85,2.35", "1 km")
MECHANISM = sf.mechanisms.exponential(GRID, GRID.metric("euclidean", "km"), "1/km")
NOISE = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35))
EVEN = "every cell alike", sf.Prior.uniform(GRID)
RADIUS = int(np.ceil(error_radius(MECHANISM)))
ROWS = pd.DataFrame({"lat": [48.85, 48.86, 48.84], "lon": [2.35, 2.36, 2.33], "end_lat": 48.86, "end_lon": 2.34})
TERMS = (
    *("decimalLatitude", "decimalLongitude", "geodeticDatum", "coordinateUncertaintyInMeters"),
    *("coordinatePrecision", "dataGeneralizations"),
)


def test_both_radii_are_those_of_the_library():
    private = sf.release(MECHANISM, ROWS, people="one", uncertainty=True, prior=EVEN)
    assert list(private) == ["latitude", "longitude", "label", "uncertainty_m", "posterior_uncertainty_m"]
    assert (private["uncertainty_m"] == RADIUS).all()
    radii = dict(zip(GRID.labels, np.ceil(posterior_radii(MECHANISM, EVEN[1])), strict=True))
    assert private["posterior_uncertainty_m"].tolist() == [radii[label] for label in private["label"]]


def test_noise_has_a_radius_for_each_report_under_points():
    points = sf.Visits([48.85, 48.86, 48.80], [2.35, 2.36, 2.30])
    private = sf.release(NOISE, ROWS, people="one", uncertainty=True, prior=("finds of 2020", points))
    reports = private[["latitude", "longitude"]].to_numpy()
    assert (
        private["posterior_uncertainty_m"].tolist()
        == np.ceil(posterior_radii(NOISE, points, reports=reports)).tolist()
    )


def test_rows_have_the_radius_of_their_mechanism():
    rows = ROWS.assign(which=["table", "noise", "table"])
    private = sf.release({"table": MECHANISM, "noise": NOISE}, rows, by="which", people="one", uncertainty=True)
    noise = int(np.ceil(error_radius(NOISE)))
    assert private["uncertainty_m"].tolist() == [RADIUS, noise, RADIUS]


def test_each_place_of_a_row_has_radii():
    also = [("end_lat", "end_lon")]
    private = sf.release(MECHANISM, ROWS, people="one", uncertainty=True, prior=EVEN, also=also)
    assert list(private)[5:] == [
        *("end_lat", "end_lon", "end_lat_label", "end_lat_uncertainty_m", "end_lat_posterior_uncertainty_m")
    ]
    assert (private["end_lat_uncertainty_m"] == RADIUS).all()


@pytest.mark.parametrize("mechanism", [MECHANISM, NOISE])
def test_moved_rows_are_covered(mechanism):
    outside = pa.table({"lat": [48.8806], "lon": [2.35]}) if mechanism is MECHANISM else ROWS[["lat", "lon"]]
    moved: dict[str, Any] = {"outside": "nearest", "within": "1.1 km", "allow": 1.0}
    private = sf.release(mechanism, outside, people="one", uncertainty=True, **moved)
    assert int(private["uncertainty_m"][0]) - error_radius(mechanism) == pytest.approx(1111, abs=1)


def test_rows_from_the_far_side_are_counted_by_how_far_they_move():
    """Noise moves points beyond 9,000 km on towards the centre."""
    noise = CoordinateNoise("1/km", "100 m", Projection(0, 0), "1500 km")
    far: dict[str, Any] = {"people": "one", "uncertainty": True, "outside": "nearest", "allow": 1.0}
    rows = pd.DataFrame({"lat": np.zeros(200), "lon": 133.0})
    with pytest.raises(DataError, match="more than 13400 km outside"):
        sf.release(noise, rows, within="13400 km", **far)
    private = sf.release(noise, rows, within="14900 km", **far)
    there = Geod(ellps="WGS84").inv(rows["lon"], rows["lat"], private["longitude"], private["latitude"])[2]
    assert (there <= private["uncertainty_m"]).all()


def test_a_ledger_changes_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "budget.db", "9/km per day")
    blur = Blur(NOISE, ledger, NOISE.promise)
    private = sf.release(blur, ROWS.assign(user=list("abc")), uncertainty=True)
    assert (private["uncertainty_m"] == np.ceil(error_radius(NOISE))).all()
    assert blur.uncertainty_m == error_radius(NOISE)


def test_darwin_core_in_a_file_with_a_receipt(tmp_path):
    ROWS.to_csv(tmp_path / "finds.csv", index=False)
    target, receipt = tmp_path / "public.csv", tmp_path / "receipt.json"
    done = sf.release(
        MECHANISM, tmp_path / "finds.csv", target, people="one", darwin_core=True, prior=EVEN, receipt=receipt
    )
    private = pd.read_csv(target)
    assert tuple(private) == (*TERMS, "posterior_uncertainty_m")
    assert (private["coordinateUncertaintyInMeters"] == RADIUS).all()
    assert set(private["geodeticDatum"]) == {"EPSG:4326"}
    assert set(private["coordinatePrecision"]) == {1e-7}
    (sentence,) = set(private["dataGeneralizations"])
    assert "At least 95 % of reports from any point served" in sentence
    notes = json.loads(receipt.read_text())["notes"]
    assert any("'every cell alike'" in note for note in notes)
    assert "'every cell alike'" in str(done)


def test_a_folder_of_tables(tmp_path):
    (tmp_path / "finds").mkdir()
    for name in ("a", "b"):
        pq.write_table(pa.Table.from_pandas(ROWS), tmp_path / "finds" / f"{name}.parquet")
    sf.release(MECHANISM, tmp_path / "finds", tmp_path / "public.parquet", people="one", darwin_core=True)
    assert pq.read_table(tmp_path / "public.parquet").column_names == list(TERMS)


def test_duckdb():
    connection = duckdb.connect()
    create_duckdb_function(connection, "blur", MECHANISM, uncertainty=True, prior=EVEN)
    found = connection.sql("SELECT r.uncertainty_m, r.posterior_uncertainty_m FROM (SELECT blur(48.85, 2.35) r)")
    ((radius, posterior),) = found.fetchall()
    assert radius == RADIUS
    assert posterior in np.ceil(posterior_radii(MECHANISM, EVEN[1]))


@pytest.mark.parametrize(
    ("mechanism", "options", "problem"),
    [
        (MECHANISM, {"prior": EVEN}, "does nothing without"),
        (MECHANISM, {"uncertainty": True, "prior": (" ", EVEN[1])}, "no name"),
        (MECHANISM, {"uncertainty": True, "place_column": "end_lat"}, "repeat the report"),
        (MECHANISM, {"darwin_core": True, "also": [("end_lat", "end_lon")]}, "one place in a row"),
        (NOISE, {"uncertainty": True, "prior": EVEN}, "prior on cells does not say"),
        (
            Tupling(MECHANISM, 2, np.full(len(GRID), 1 / len(GRID))),
            {"uncertainty": True},
            "a tuple of several places",
        ),
        (
            sf.mechanisms.randomised_response(sf.Space([1, 2]), 1.0),
            {"uncertainty": True, "column": "lat"},
            "places",
        ),
    ],
)
def test_refusals(mechanism, options, problem):
    with pytest.raises(InputError, match=problem):
        sf.release(mechanism, ROWS, people=None if "column" in options else "one", **options)
