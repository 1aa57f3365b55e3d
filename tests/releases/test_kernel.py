"""The kernel: a batch of true rows in, a batch of private rows out, and nothing else of the source."""

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.errors import DataError, InputError
from sfumato.mechanisms import DiscreteLaplace, LocalHashing, SubsetSelection, UnaryEncoding
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import Kernel, ReleaseOptions
from sfumato.sampling import SeededWords
from tests.sampling.test_sampler import FALSE_ALARM, p_value

CITY = sf.Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")


def mechanism(space, seed=0):
    return sf.Mechanism(np.random.default_rng(seed).dirichlet(np.ones(len(space)), len(space)), space)


def places(n, spread=0.02):
    rng = np.random.default_rng(3)
    lat, lon = rng.normal(48.85, spread, n), rng.normal(2.35, spread, n)
    return pa.record_batch({"lat": lat, "lon": lon, "user": rng.integers(0, 9, n), "id": np.arange(n)})


def of_labels(drawable, values, **wishes):
    batch = pa.record_batch({"answer": values})
    kernel = Kernel(drawable, batch.schema, ReleaseOptions(column="answer", **wishes))
    return kernel, kernel.release(batch, SeededWords(2)).batch


def test_a_batch_is_what_the_sampler_draws_from_the_same_words():
    blur = mechanism(CITY)
    batch = places(5000)
    kernel = Kernel(blur, batch.schema, ReleaseOptions(outside="drop", keep=("id",)))
    found = kernel.release(batch, SeededWords(1))
    rows = np.array(found.batch["id"])
    lat, lon = np.array(batch["lat"])[rows], np.array(batch["lon"])[rows]
    assert found.dropped == 5000 - len(rows) > 0
    words = SeededWords(1)
    vertices = CITY.draw_secrets(np.array(batch["lat"]), np.array(batch["lon"]), words.draw)
    assert np.array_equal(
        rows, np.flatnonzero(CITY.inside(lat=np.array(batch["lat"]), lon=np.array(batch["lon"])))
    )
    reports = sf.core.AliasTables.of(blur.weights, blur.bits).draw(vertices[vertices >= 0], words)
    assert found.batch["label"].to_pylist() == [CITY.labels[report] for report in reports]
    assert np.allclose(
        np.column_stack([found.batch["latitude"], found.batch["longitude"]]), CITY.latlon[reports], atol=6e-8
    )
    assert CITY.inside(lat, lon).all()


def test_reports_of_one_secret_follow_its_row():
    blur = mechanism(sf.Space(range(12)), seed=4)
    _, found = of_labels(blur, np.full(60_000, 7))
    assert p_value(blur, 7, np.bincount(np.array(found["label"]), minlength=12)) > FALSE_ALARM


def test_several_mechanisms_each_for_its_rows():
    spaces = {"north": sf.Space("abc"), "south": sf.Space("xyz")}
    identity = {name: sf.Mechanism(np.eye(3), space) for name, space in spaces.items()}
    batch = pa.record_batch({"what": list("axbyczzz"), "where": ["north", "south"] * 3 + ["south", "south"]})
    kernel = Kernel(identity, batch.schema, ReleaseOptions(column="what", by="where"))
    assert kernel.release(batch).batch["label"].to_pylist() == list("axbyczzz")
    swapped = pa.record_batch({"what": ["x"], "where": ["north"]})
    with pytest.raises(DataError, match="1 of 1 rows"):
        kernel.release(swapped)
    unknown = pa.record_batch({"what": ["x"], "where": ["east"]})
    with pytest.raises(DataError, match="names a mechanism which is not among"):
        kernel.release(unknown)
    with pytest.raises(InputError, match="by='user'"):
        Kernel(identity, batch.schema, ReleaseOptions(column="what"))
    with pytest.raises(InputError, match="with one mechanism"):
        Kernel(identity["north"], batch.schema, ReleaseOptions(column="what", by="where"))


def test_several_mechanisms_on_places_keep_the_order_of_rows():
    still = sf.Mechanism(np.eye(len(CITY)), CITY)
    halves = {"0": still, "1": CoordinateNoise("50/km", "1 m", CITY.projection)}
    batch = places(300, 0.005)
    fine = sf.Lattice.covering("6 km x 6 km around 48.85,2.35", "500 m")
    half = pa.array([str(k % 2) for k in range(300)])
    batch = pa.record_batch([*batch.columns, half], names=[*batch.schema.names, "half"])
    kernel = Kernel(halves, batch.schema, ReleaseOptions(by="half", keep=("id",)))
    assert kernel.schema.names == ["latitude", "longitude", "id"]  # noise has no labels
    assert "no labels" in kernel.notes[-1]
    check_order(kernel.release(batch, SeededWords(2)).batch, batch, 600)
    both = {"0": halves["0"], "1": sf.Mechanism(np.eye(len(fine)), fine)}
    kernel = Kernel(both, batch.schema, ReleaseOptions(by="half", keep=("id",)))
    check_order(kernel.release(batch, SeededWords(2)).batch, batch, 750)
    tuples = {"0": still, "1": Tupling(still, 1, np.full(len(CITY), 1 / len(CITY)))}
    with pytest.raises(InputError, match="different kinds"):
        Kernel(tuples, batch.schema, ReleaseOptions(by="half"))


def check_order(found, batch, fine_m):
    """Rows with even numbers are reported on a coarse lattice, the others nearer to where they are."""
    assert found["id"].to_pylist() == list(range(300))
    there = CITY.projection.forward(np.array(found["latitude"]), np.array(found["longitude"]))
    here = CITY.projection.forward(np.array(batch["lat"]), np.array(batch["lon"]))
    away = np.abs(there - here).max(axis=1)
    assert away[1::2].max() <= fine_m
    assert 750 < away[::2].max() <= 1500


@pytest.mark.parametrize("lists", [True, False])
def test_tuples_are_lists_or_columns(lists):
    coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]], sf.Space("ab"))
    kernel, found = of_labels(Tupling(coin, 2, [0.5, 0.5]), list("abba"), lists=lists)
    if lists:
        assert found.schema.names == ["label"]
        assert [len(value) for value in found["label"].to_pylist()] == [3] * 4
    else:
        assert found.schema.names == ["label_1", "label_2", "label_3"]
    assert found.schema == kernel.schema


@pytest.mark.parametrize(
    "family",
    [
        UnaryEncoding(sf.Space("abc"), 1.0, "optimised"),
        LocalHashing(sf.Space("abc"), 1.0),
        SubsetSelection(sf.Space("abcdefgh"), 1.0),
    ],
    ids=["unary", "hash", "subset"],
)
def test_oracles_report_what_their_estimates_count(family):
    _, found = of_labels(family, ["a"] * 3000 + ["b"] * 1000)
    reports = np.array(found["report"].to_pylist())
    share = (family.support_counts(reports) / 4000 - family.support[1]) / (family.support[0] - family.support[1])
    sigma = family.estimate_variance(0.75, 4000) ** 0.5
    assert abs(share[0] - 0.75) < 6 * sigma
    assert abs(share[1] - 0.25) < 6 * sigma


def test_noise_on_whole_numbers():
    noise = DiscreteLaplace(0.5)
    _, found = of_labels(noise, pa.array(np.full(40_000, 1000)))
    away = np.array(found["report"]) - 1000
    assert abs(away.mean()) < 6 * (noise.variance / 40_000) ** 0.5
    assert abs(away.var() / noise.variance - 1) < 0.15
    for bad in (pa.array([1.5]), pa.array(["x"]), pa.array([None], pa.int64())):
        with pytest.raises(DataError):
            of_labels(noise, bad)
    _, found = of_labels(noise, pa.array(["12", "-3"]))
    assert found.num_rows == 2


def test_nothing_of_the_source_survives_in_memory_or_metadata():
    n = 1000
    shops = pa.DictionaryArray.from_arrays(np.arange(n) % 3, ["open shop", "secret shop", "other shop"])
    base = places(n, 0.003)
    schema = pa.schema(
        [*base.schema, pa.field("shop", shops.type, metadata={b"hint": b"secret note"})],
        metadata={b"pandas": b"secret index"},
    )
    batch = pa.record_batch([*base.columns, shops], schema=schema)
    kernel = Kernel(mechanism(CITY), schema, ReleaseOptions(outside="drop", keep=("shop",)))
    found = kernel.release(batch).batch
    assert found.schema.metadata is None
    assert found.schema.field("shop") == pa.field("shop", pa.string())
    sink = pa.BufferOutputStream()
    one = kernel.release(batch.slice(0, 1)).batch
    with pa.ipc.new_stream(sink, one.schema) as writer:
        writer.write_batch(one)
    content = sink.getvalue().to_pybytes()
    assert b"open shop" in content
    for secret in (b"secret shop", b"other shop", b"secret note", b"secret index"):
        assert secret not in content
    source = {buffer.address for column in batch.columns for buffer in column.buffers() if buffer is not None}
    assert not source & {b.address for column in found.columns for b in column.buffers() if b is not None}


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1, 2], [3], None, [4]]),
        pa.array([{"a": "x"}, None, {"a": "y"}, {"a": "z"}]),
        pa.array(["p", "q", None, "p"]).dictionary_encode(),
        pa.array([1, None, 3, 4]),
        pa.array(["v"] * 4, pa.string_view()),
        pa.array([[["n"]], [], None, [["m"], []]]),
        pa.array([1.5, None, 2, 3]),
        pa.array([b"a", b"b", None, b"d"]),
    ],
)
def test_kept_columns_of_every_type_keep_their_values(column):
    batch = pa.record_batch([pa.array([0, 1, 5, 1]), column], names=["answer", "kept"])
    kernel = Kernel(
        mechanism(sf.Space(range(3))),
        batch.schema,
        ReleaseOptions(column="answer", outside="drop", keep=("kept",)),
    )
    found = kernel.release(batch).batch
    expected = column.to_pylist()
    assert found["kept"].to_pylist() == [expected[0], expected[1], expected[3]]


def test_true_positions_are_never_kept():
    batch = places(3)
    for name in ("lat", "lon"):
        with pytest.raises(InputError, match="holds what the reports hide"):
            Kernel(mechanism(CITY), batch.schema, ReleaseOptions(keep=(name,)))
    kernel = Kernel(mechanism(CITY), batch.schema, ReleaseOptions(keep=("user",)))
    assert kernel.kept_columns.left_out == ("lat", "lon", "id")
    assert kernel.kept_columns.sentences == ("Left out: lat, lon, id.",)


def test_rows_outside_are_moved_within_a_distance():
    lattice = mechanism(CITY)
    inside = CITY.projection.inverse([[0.0, 0.0], [3600.0, 0.0], [9000.0, 0.0]])
    batch = pa.record_batch({"lat": inside[:, 0], "lon": inside[:, 1]})
    with pytest.raises(DataError, match=r"1 row is more than 1 km outside .the first is number 3"):
        Kernel(lattice, batch.schema, ReleaseOptions(outside="nearest")).release(batch)
    with pytest.raises(DataError, match="number 103"):
        Kernel(lattice, batch.schema, ReleaseOptions(outside="nearest")).release(batch, start=100)
    found = Kernel(lattice, batch.schema, ReleaseOptions(outside="nearest", within="10 km")).release(batch)
    assert (found.moved, found.dropped, found.batch.num_rows) == (2, 0, 3)
    assert found.farthest_m == pytest.approx(9000 - 3500, rel=0.01)
    nowhere = pa.record_batch({"lat": [48.85, None, 91.0, np.nan], "lon": [2.35, 2.35, 2.35, 2.35]})
    with pytest.raises(
        DataError,
        match=r"3 of 4 rows .*the first is number 2.; 2 of these have no position. .* of number 3 are no degrees",
    ):
        Kernel(lattice, batch.schema, ReleaseOptions(outside="nearest", within="30000 km")).release(nowhere)
    assert Kernel(lattice, batch.schema, ReleaseOptions(outside="drop")).release(nowhere).dropped == 3
