"""Tables in memory: what goes in as one kind comes back as the same kind, row for row, and with nothing else."""

import pickle

import duckdb
import geopandas as gpd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import shapely

import sfumato as sf
from sfumato.errors import DataError, InputError, SfumatoError
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import prepare_frame, read_mark
from sfumato.releases.provenance import Mark
from tests.sampling.mechanisms import fix_seeds
from tests.sampling.test_sampler import FALSE_ALARM, p_value

GRID = sf.Grid.covering("2 km x 1 km around 48.85,2.35", shape=(4, 2))
IDENTITY = sf.Mechanism(np.eye(8), GRID)
BLUR = sf.Mechanism(0.5 * np.eye(8) + np.full((8, 8), 1 / 16), GRID)
LABELS = list(GRID.labels)
CONNECTION = duckdb.connect()


def relation(table):
    CONNECTION.register("source", table)
    return CONNECTION.sql("SELECT * FROM source")


# From an Arrow table to a frame, the class that comes back, and from there to an Arrow table.
KINDS = {
    "pandas": (pa.Table.to_pandas, pd.DataFrame, pa.Table.from_pandas),
    "polars": (pl.DataFrame, pl.DataFrame, pl.DataFrame.to_arrow),
    "lazy polars": (
        lambda table: pl.DataFrame(table).lazy(),
        pl.LazyFrame,
        lambda frame: frame.collect().to_arrow(),
    ),
    "table": (lambda table: table, pa.Table, lambda table: table),
    "reader": (pa.Table.to_reader, pa.RecordBatchReader, pa.RecordBatchReader.read_all),
    "batch": (
        lambda table: pa.RecordBatch.from_arrays([c.combine_chunks() for c in table.columns], table.column_names),
        pa.RecordBatch,
        lambda batch: pa.Table.from_batches([batch]),
    ),
    "relation": (relation, duckdb.DuckDBPyRelation, lambda rel: rel.to_arrow_table()),
    "geopandas": (
        lambda table: gpd.GeoDataFrame(
            table.drop(["lat", "lon"]).to_pandas(),
            geometry=gpd.points_from_xy(np.array(table["lon"]), np.array(table["lat"])),
            crs="EPSG:4326",
        ),
        gpd.GeoDataFrame,
        lambda frame: pa.Table.from_pandas(pd.DataFrame(frame.drop(columns="geometry"))),
    ),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def visits(cells, **columns):
    lat, lon = GRID.latlon[cells].T
    return pa.table({"lat": lat + 1e-5, "lon": lon, "id": np.arange(len(lat)), **columns})


@pytest.mark.thinned(3)
@kinds
def test_the_callers_kind_comes_back_with_every_row_in_its_order(kind):
    there, expected, back = KINDS[kind]
    cells = np.random.default_rng(1).integers(0, 8, 5000)
    found = sf.release(IDENTITY, there(visits(cells)), keep=["id"])
    assert type(found) is expected
    table = back(found)
    assert table["label"].to_pylist() == [LABELS[cell] for cell in cells]
    assert table["id"].to_pylist() == list(range(5000))
    assert "lat" not in table.column_names


@pytest.mark.thinned(3)
@kinds
def test_reports_follow_the_mechanism(kind, monkeypatch):
    fix_seeds(monkeypatch)
    there, _, back = KINDS[kind]
    labels = back(sf.release(BLUR, there(visits(np.full(20_000, 5)))))["label"].to_pylist()
    assert p_value(BLUR, 5, np.bincount(GRID.positions(labels), minlength=8)) > FALSE_ALARM


@kinds
def test_an_empty_table_comes_back_empty(kind):
    there, expected, back = KINDS[kind]
    found = sf.release(IDENTITY, there(visits(np.zeros(0, dtype=int))), keep=["id"])
    assert type(found) is expected
    full = back(sf.release(IDENTITY, there(visits([1])), keep=["id"]))
    empty = back(found) if kind != "reader" else found.read_all()
    assert empty.column_names == full.column_names
    assert empty.num_rows == 0


@kinds
def test_no_value_of_other_rows_survives(kind):
    there, _, back = KINDS[kind]
    shops = pa.array(["open", "secret", None, "open"]).dictionary_encode()
    table = visits([0, 1, 2, 3], shop=shops)
    lat = np.array(table["lat"]).copy()
    lat[1] = 10.0  # outside
    found = sf.release(
        IDENTITY, there(table.set_column(0, "lat", pa.array(lat))), keep=["shop"], outside="drop", allow=1
    )
    if kind in ("pandas", "geopandas"):
        assert b"secret" not in pickle.dumps(found)
    arrow = back(found)
    assert arrow["shop"].to_pylist() == ["open", None, "open"]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    assert b"secret" not in sink.getvalue().to_pybytes()


@pytest.mark.thinned(3)
@kinds
def test_a_row_without_a_position_is_refused_or_dropped(kind):
    there, _, back = KINDS[kind]
    table = visits([0, 1, 2]).set_column(0, "lat", pa.array([48.85, None, 48.85]))
    with pytest.raises(DataError, match=r"1 of 3 rows.*no position"):
        sf.release(IDENTITY, there(table))
    assert back(sf.release(IDENTITY, there(table), outside="drop", allow=0.5, keep=["id"]))["id"].to_pylist() == [
        0,
        2,
    ]
    with pytest.raises(DataError, match="more than the 1 % that is allowed") as caught:
        sf.release(IDENTITY, there(table), outside="drop")
    assert "for places that latitude" in caught.value.hint


@pytest.mark.slow
def test_chunks_are_drawn_as_one_table():
    cells = np.arange(600_000) % 8
    parts = [visits(cells[at : at + 90_000]) for at in range(0, 600_000, 90_000)]
    found = sf.release(IDENTITY, pa.concat_tables(parts))
    assert np.array_equal(GRID.positions(found["label"].to_pylist()), cells)
    lat = np.full(600_000, GRID.latlon[0, 0])
    lat[500_000] = 0.0
    bad = pa.table({"lat": lat, "lon": np.full(600_000, GRID.latlon[0, 1])})
    with pytest.raises(DataError, match="the first is number 500001"):
        sf.release(IDENTITY, bad)


def test_a_lazy_frame_is_drawn_once():
    found = sf.release(BLUR, pl.DataFrame(visits(np.arange(4000) % 8)).lazy())
    assert found.collect().equals(found.collect())


def test_polars_categories_name_users_and_are_kept():
    frame = pl.DataFrame(
        {
            "lat": GRID.latlon[:3, 0],
            "lon": GRID.latlon[:3, 1],
            "user": pl.Series(["ada", "bob", "ada"], dtype=pl.Categorical),
            "kind": pl.Series(["x", None, "y"], dtype=pl.Enum(["x", "y", "z"])),
            "tags": [["a"], None, ["b", "c"]],
        }
    )
    prepared = prepare_frame(IDENTITY, frame, keep=["user", "kind", "tags"])
    assert "2 reports of one person" in " ".join(prepared.promises)
    found = prepared.run().frame
    assert found["user"].to_list() == ["ada", "bob", "ada"]
    assert found["kind"].to_list() == ["x", None, "y"]
    assert found["tags"].to_list() == [["a"], None, ["b", "c"]]


def test_a_relation_is_drawn_once_and_stays_on_its_connection():
    found = sf.release(BLUR, relation(visits(np.arange(4000) % 8)), keep=["id"])
    assert found.fetchall() == found.fetchall()
    CONNECTION.execute("CREATE OR REPLACE TABLE names AS SELECT range AS id, range % 2 AS odd FROM range(4000)")
    names = CONNECTION.table("names")
    assert found.join(names, "id").filter("odd = 1").shape == (2000, 5)
    views = CONNECTION.sql("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    assert "sfumato_true_rows" not in str(views)


@pytest.mark.parametrize(
    "index",
    [
        pd.RangeIndex(10, 4, -1),
        pd.Index([0, 2, 3, 7, 11, 5]),
        pd.RangeIndex(6, name="row"),
        pd.Index([7, 7, 7, 1, 2, 3], name="user"),
        pd.Index(list("zyxzyx"), name="town"),
        pd.MultiIndex.from_arrays([list("aabbcc"), [1, 2, 1, 2, 1, 2]], names=["town", 7]),
        pd.CategoricalIndex(list("abcabc"), name="town"),
    ],
    ids=["range", "selection", "named range", "repeated", "texts", "levels", "categories"],
)
def test_a_numbering_stays_and_so_does_an_index_that_is_kept(index):
    frame = visits([0, 1, 2, 3, 4, 5]).to_pandas().set_axis(index)
    keep = [str(name) for name in index.names if name is not None]
    prepared = prepare_frame(IDENTITY, frame, keep=keep)
    assert "The index" in prepared.promises[-1]
    released = prepared.run()
    assert released.outcome.rows == 6
    pd.testing.assert_index_equal(released.frame.index, index)
    frame.iloc[1, 0] = 10.0
    some = sf.release(IDENTITY, frame, outside="drop", allow=0.5, keep=keep)
    assert list(some.columns) == ["latitude", "longitude", "label"]
    assert list(some.index) == [index[row] for row in (0, 2, 3, 4, 5)]


def test_an_index_keeps_no_value_of_other_rows():
    for make in (pd.CategoricalIndex, lambda names: pd.MultiIndex.from_arrays([names, [1, 2, 3]]), pd.Index):
        index = make(["home", "clinic", "work"])
        keep = ["n0", "n1"][: index.nlevels]
        frame = visits([0, 1, 2]).to_pandas().set_axis(index.set_names(keep))
        frame.iloc[1, 0] = 10.0
        found = sf.release(IDENTITY, frame, outside="drop", allow=0.5, keep=keep)
        assert b"clinic" not in pickle.dumps(found)
        assert b"clinic" not in pickle.dumps(sf.release(IDENTITY, frame.iloc[[0, 2]], keep=keep))


def test_every_other_index_is_refused_unless_it_is_named():
    frame = visits([0, 1]).to_pandas()
    times = pd.date_range("2024-03-01", periods=2)
    venues = ["cafe", "gym"]
    for index in (
        times,
        pd.PeriodIndex(times, freq="D"),
        pd.MultiIndex.from_arrays([[1, 2], times]),
        pd.MultiIndex.from_arrays([[1, 2], times], names=["n", None]),
        pd.Index(venues),
        pd.CategoricalIndex(venues),
        pd.Index(frame["lat"].tolist()),
        pd.Index([4711, 4711]),
        pd.Index([-1, 1]),
        pd.Index([2**31, 4]),
    ):
        for given in (frame.set_axis(index), gpd.GeoDataFrame(frame).set_axis(index)):
            with pytest.raises(InputError, match=r"has no name[\s\S]*reset_index[\s\S]*rename_axis\('row'\)"):
                sf.release(IDENTITY, given, keep=["n"] if "n" in index.names else [])
    for index in (
        pd.Index(venues, name="venue"),
        pd.RangeIndex(2, name="venue"),
        pd.MultiIndex.from_arrays([[1, 2], venues], names=["n", "venue"]),
    ):
        for given in (frame.set_axis(index), gpd.GeoDataFrame(frame).set_axis(index)):
            with pytest.raises(InputError, match=r"the index 'venue' would stay[\s\S]*reset_index[\s\S]*keep="):
                sf.release(IDENTITY, given, keep=["n"] if "n" in index.names else [])
            assert len(sf.release(IDENTITY, given.reset_index(drop=True))) == 2
    assert list(sf.release(IDENTITY, visits([0, 1, 2, 3]).to_pandas().iloc[[3, 0, 1]]).index) == [3, 0, 1]
    with pytest.raises(InputError, match="'lat' holds what the reports hide"):
        sf.release(IDENTITY, frame.set_index("lat"), keep=["lat"])
    with pytest.raises(InputError, match="the index 'lat' would stay"):
        sf.release(IDENTITY, frame.set_index("lat"))
    with pytest.raises(InputError, match="'when' would stay"):
        sf.release(IDENTITY, frame.set_axis(times.rename("when")))
    kept = sf.release(IDENTITY, frame.set_axis(times.rename("when")), keep=["when"])
    assert list(kept.index) == list(times)
    assert list(kept.columns) == ["latitude", "longitude", "label"]


def test_columns_of_pandas_that_are_kept_keep_their_types():
    frame = visits([0, 1, 2]).to_pandas()
    frame["whole"] = pd.array([2**60 + 1, None, 3], dtype="Int64")
    frame["small"] = np.array([1, 2, 3], dtype="int8")
    frame["when"] = pd.to_datetime(["2024-01-01", None, "2024-01-03"], utc=True)
    frame["yes"] = pd.array([True, None, False], dtype="boolean")
    kept = ["whole", "small", "when", "yes"]
    found = sf.release(IDENTITY, frame, keep=kept)
    pd.testing.assert_frame_equal(found[kept], frame[kept])


def test_points_of_geopandas_are_read_in_their_crs_and_come_back_in_degrees():
    lat, lon = GRID.latlon.T
    points = gpd.GeoDataFrame({"id": range(8)}, geometry=gpd.points_from_xy(lon, lat), crs="EPSG:4326").set_axis(
        pd.Index(list("aabbccdd"), name="town")
    )
    local = points.to_crs("EPSG:2154").rename_geometry("where")
    found = sf.release(IDENTITY, local, keep=["id", "town"])
    assert found.crs == "EPSG:4326"
    assert found.geometry.name == "where"
    assert list(found.columns) == ["label", "id", "where"]
    assert list(found.index) == list("aabbccdd")
    assert np.allclose(shapely.get_coordinates(found.geometry), np.column_stack([lon, lat]), atol=1e-7)
    with pytest.raises(InputError, match="holds what the reports hide"):
        sf.release(IDENTITY, local, keep=["where"])
    second = local.assign(work=local.geometry)
    with pytest.raises(InputError, match="'work' holds positions"):
        sf.release(IDENTITY, second, keep=["work"])
    local, second = (each.reset_index(drop=True) for each in (local, second))
    assert list(sf.release(IDENTITY, second).columns) == ["label", "where"]
    shapes = local.set_geometry(local.geometry.buffer(10))
    with pytest.raises(DataError, match="not a point"):
        sf.release(IDENTITY, shapes)


def test_tuples_are_lists_and_points_of_one_geometry():
    drawable = Tupling(IDENTITY, 2, np.full(8, 1 / 8))
    table = visits([0, 3])
    assert [len(row) for row in sf.release(drawable, table.to_pandas())["label"]] == [3, 3]
    found = sf.release(drawable, KINDS["geopandas"][0](table))
    assert list(found.geom_type) == ["MultiPoint"] * 2
    assert [len(shape.geoms) for shape in found.geometry] == [3, 3]
    assert found.crs == "EPSG:4326"


def test_labels_of_a_geopandas_frame_come_back_without_its_points():
    colours = sf.Mechanism(np.eye(2), sf.Space(["red", "blue"]))
    frame = KINDS["geopandas"][0](visits([0, 1])).assign(colour=["blue", "red"])
    found = sf.release(colours, frame, column="colour")
    assert type(found) is pd.DataFrame
    assert list(found.columns) == ["label"]


def test_the_mark_of_the_mechanism(tmp_path):
    mark = Mark.of({"": IDENTITY}).text
    assert sf.release(IDENTITY, visits([1])).schema.metadata == {b"sfumato": mark.encode()}
    assert sf.release(IDENTITY, visits([1]).to_pandas()).attrs == {"sfumato": mark}
    for kind in ("geopandas", "lazy polars"):
        sf.release(IDENTITY, KINDS[kind][0](visits([1])), tmp_path / "private.parquet")
        found = read_mark(tmp_path / "private.parquet")
        assert found is not None
        assert found.text == mark


def test_users_are_charged_once(tmp_path):
    city = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "2 km")
    promise = sf.CoordinatePrivacy("1/km")
    prior = sf.Prior.uniform(city)
    made = sf.design(prior, loss=city.metric("euclidean", "km"), guarantees=promise, method="table").mechanism
    ledger = sf.Ledger.create(tmp_path / "budget.db", "3/km")
    blur = sf.Blur(made, ledger)
    frame = pd.DataFrame({"lat": [48.85] * 3, "lon": [2.35] * 3, "user": ["ada", "ada", "bob"]})
    prepared = prepare_frame(blur, frame)
    assert "2 reports of one person: 2 times epsilon" in " ".join(prepared.promises)
    assert len(prepared.run().frame) == 3
    with pytest.raises(sf.ledgers.BudgetError):
        sf.release(blur, frame)
    assert len(sf.release(blur, frame[frame["user"] == "bob"].reset_index(drop=True))) == 1


def test_what_is_no_table_is_refused(tmp_path):
    with pytest.raises(InputError, match="no target was given"):
        sf.release(IDENTITY, tmp_path / "visits.csv")
    with pytest.raises(InputError, match=r"resume=True is for files"):
        sf.release(IDENTITY, visits([1]), resume=True)
    with pytest.raises(SfumatoError):  # by its argument or its columns: not every pandas hands series over
        sf.release(IDENTITY, visits([1]).to_pandas()["lat"])
    with pytest.raises(InputError, match="source= is of type list"):
        sf.release(IDENTITY, [1, 2])  # type: ignore[call-overload]

    class Odd:
        def collect(self):
            return None

    with pytest.raises(DataError, match="a Odd cannot be read"):
        sf.release(IDENTITY, Odd())
