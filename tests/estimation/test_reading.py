"""Reports read from tables in memory: marks go with the frames that can bear them, and others are tested."""

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato import estimation
from sfumato.errors import DataError, InputError
from sfumato.estimation import check_mark, read_released, read_reports
from sfumato.mechanisms.planar import CoordinateNoise, coarsen
from sfumato_papers.invented_city import invented_city
from tests.sampling.mechanisms import fix_seeds

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
STRONG = sf.mechanisms.randomised_response(GRID, 4.0)
WEAK = sf.mechanisms.randomised_response(GRID, 1.0)
CELLS = np.random.default_rng(8).choice(8, 4000, p=[0.7, 0.3, 0, 0, 0, 0, 0, 0])
LAT, LON = GRID.latlon[CELLS].T
TABLE = pa.table({"lat": LAT, "lon": LON})
CONNECTION = duckdb.connect()
KINDS = {
    "pandas": TABLE.to_pandas(),
    "geopandas": gpd.GeoDataFrame(geometry=gpd.points_from_xy(LON, LAT), crs="EPSG:4326"),
    "table": TABLE,
    "batch": TABLE.to_batches()[0],
    "polars": pl.DataFrame(TABLE),
    "lazy polars": pl.DataFrame(TABLE).lazy(),
    "relation": CONNECTION.from_arrow(TABLE),
}
MARKED = ("pandas", "geopandas", "table", "batch")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", KINDS)
def test_reports_of_released_frames(kind):
    private = sf.release(STRONG, KINDS[kind])
    unmarked = kind not in MARKED
    if unmarked:
        for asked in (read_reports, check_mark):
            with pytest.raises(DataError, match=r"has no mark[\s\S]*unmarked=True"):
                asked(STRONG, private)
    reports = read_reports(STRONG, private, unmarked=unmarked)
    assert len(reports) == 4000
    found = sf.estimate_population(reports, intervals="profile")
    assert found.intervals is not None
    assert abs(found.probabilities[0] - 0.7) < 0.1  # by chance: below 1e-60 (a deviation is 0.005)
    why = "drawn from another mechanism" if kind in MARKED else "do not fit the mechanism"
    with pytest.raises(DataError, match=why):
        read_reports(WEAK, private, unmarked=True)
    assert check_mark(STRONG, private, unmarked=True) == (kind in MARKED)


def test_a_reader_is_read_once():
    for mechanism, fits in ((STRONG, True), (WEAK, False)):
        reader = sf.release(STRONG, TABLE.to_reader())
        if fits:
            assert len(read_reports(mechanism, reader)) == 4000
        else:
            with pytest.raises(DataError, match="drawn from another mechanism"):
                read_reports(mechanism, reader)


def test_marks_of_pandas_survive_files_and_choices_of_rows(tmp_path):
    private = sf.release(STRONG, KINDS["pandas"])
    private.to_parquet(tmp_path / "pandas.parquet")
    half = private[private["latitude"] > 48.85]
    for table in (
        half,
        tmp_path / "pandas.parquet",
        pd.read_parquet(tmp_path / "pandas.parquet"),
    ):
        assert check_mark(STRONG, table)
        with pytest.raises(DataError, match="drawn from another mechanism"):
            read_reports(WEAK, table)


@pytest.mark.parametrize("mark", ["{", "{}", 3, None, "[]"])
def test_marks_that_are_damaged_or_of_others(mark):
    private = sf.release(STRONG, KINDS["pandas"])
    private.attrs["sfumato"] = mark
    if isinstance(mark, str):
        with pytest.raises(DataError, match="mark of the mechanism on the table is damaged"):
            read_reports(STRONG, private)
    else:
        assert not check_mark(STRONG, private, unmarked=True)
        with pytest.raises(DataError, match="do not fit"):
            read_reports(WEAK, private, unmarked=True)
        assert len(read_reports(WEAK, private, unmarked=True, check_fit=False)) == 4000


@pytest.mark.parametrize("kind", ["pandas", "geopandas", "polars"])
def test_points_of_noise(kind, monkeypatch):
    fix_seeds(monkeypatch)
    noise = CoordinateNoise("5/km", "2 m", GRID.projection)
    private = sf.release(noise, KINDS[kind])
    seen = coarsen(noise, GRID, spread=True)
    if kind not in MARKED:
        with pytest.raises(DataError, match="has no mark"):
            read_released(seen, private)
    reports = read_released(seen, private, unmarked=kind not in MARKED, check_fit=False).reports
    assert len(reports) == 4000
    if kind in MARKED:
        with pytest.raises(DataError, match="drawn from another mechanism"):
            read_released(coarsen(CoordinateNoise("2/km", "2 m", GRID.projection), GRID, spread=True), private)


def test_a_table_is_no_reports_yet():
    private = sf.release(STRONG, KINDS["pandas"])
    for given in (private, [private], "private.csv", 7):
        with pytest.raises(InputError, match=r"a Reports (or list )?is needed[\s\S]*read_reports"):
            sf.estimate_population(given)  # type: ignore[arg-type]


def test_visits_of_geopandas_are_read_in_their_crs():
    frame = KINDS["geopandas"].to_crs("EPSG:2154")
    read = sf.read_visits(frame.assign(home=frame.geometry))
    assert np.allclose(np.column_stack([read.lat, read.lon]), GRID.latlon[CELLS], atol=1e-6)


def test_one_call_estimates_from_labels_a_frame_or_points():
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    labels = [0] * 600 + [1] * 400
    by_hand = estimation.estimate_population(estimation.Reports.of(coin, labels), seed=1)
    for reports in (labels, np.array(labels), pa.table({"label": labels})):
        result = sf.estimate(coin, reports, unmarked=True)
        assert result.estimate.probabilities.tolist() == by_hand.probabilities.tolist()
        assert result.is_settled
    with pytest.raises(DataError, match="has no mark"):
        sf.estimate(coin, pa.table({"label": labels}))
    visits = invented_city(users=12, days=10)
    made = sf.design(visits, epsilon="1/km", spacing="3 km", method="noise")
    released = sf.release(made.mechanism, pa.table({"lat": visits.lat, "lon": visits.lon}))
    result = sf.estimate(made, released)
    assert "coarsening" in result.notes[0]
    assert len(result.estimate.space) == len(coarsen(made.mechanism).mechanism.secrets)
    with pytest.raises(InputError, match="unweighted points"):
        sf.estimate(made, released, weights="w")
