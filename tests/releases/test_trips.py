"""Rows with several places, such as both ends of a trip: each has a report of its own, and all of them count."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.core import AliasTables
from sfumato.errors import DataError, InputError
from sfumato.estimation.reading import read_reports
from sfumato.geo import Lattice, Projection
from sfumato.ledgers import Blur, BudgetError, Ledger
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import Kernel, ReleaseOptions, prepare, prepare_frame
from sfumato.sampling import SeededWords
from tests.releases.test_kernel import CITY, mechanism
from tests.sampling.test_sampler import FALSE_ALARM, p_value

NOISE = CoordinateNoise("10/km", "2 m", Projection(48.85, 2.35), "3 km")
LATTICE = Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
UNIFORM = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
PROMISE = sf.CoordinatePrivacy("1/km")
CELLS = sf.Grid.covering("6 km x 6 km around 48.85,2.35", "1 km")  # where rounding is certain
ENDS = [("end_lat", "end_lng")]
INNER = CITY.latlon[np.hypot(*(CITY.latlon - [48.85, 2.35]).T) < 0.02]


def trips(rows=12, **more):
    """Trips of three people between the vertices of the city's lattice."""
    rng = np.random.default_rng(7)
    starts, ends = (INNER[rng.integers(0, len(INNER), rows)] for _ in range(2))
    columns = {
        "user": [("ada", "bob", "cy")[row % 3] for row in range(rows)],
        "start_lat": starts[:, 0],
        "start_lng": starts[:, 1],
        "end_lat": ends[:, 0],
        "end_lng": ends[:, 1],
    }
    return pa.table(columns | more)


def written(path, table):
    pq.write_table(table, path)
    return path


def test_each_end_has_a_report_of_its_own_in_the_place_of_its_columns():
    table = trips(200)
    kernel = Kernel(
        sf.Mechanism(np.eye(len(CELLS)), CELLS), table.schema, ReleaseOptions(also=(("end_lat", "end_lng"),))
    )
    found = kernel.release(table.to_batches()[0]).batch
    assert found.schema.names == ["latitude", "longitude", "label", "end_lat", "end_lng", "end_lat_label"]
    for end, (lat, lon, label) in (
        ("start", ("latitude", "longitude", "label")),
        ("end", ("end_lat", "end_lng", "end_lat_label")),
    ):
        cells = CELLS.locate(table[f"{end}_lat"].to_numpy(), table[f"{end}_lng"].to_numpy())
        assert np.allclose(np.column_stack([found[lat], found[lon]]), CELLS.latlon[cells], atol=1e-6)
        assert found[label].to_pylist() == [CELLS.labels[cell] for cell in cells]


def test_both_ends_are_what_the_sampler_draws_from_the_same_words():
    blur, table = mechanism(CITY), trips(3000)
    batch = table.combine_chunks().to_batches()[0]
    kernel = Kernel(blur, batch.schema, ReleaseOptions(also=(("end_lat", "end_lng"),)))
    found = kernel.release(batch, SeededWords(1)).batch
    words = SeededWords(1)
    ends = [(table[f"{end}_lat"].to_numpy(), table[f"{end}_lng"].to_numpy()) for end in ("start", "end")]
    vertices = [CITY.draw_secrets(lat, lon, words.draw) for lat, lon in ends]
    tables = AliasTables.of(blur.weights, blur.bits)
    for name, secrets in zip(("label", "end_lat_label"), vertices, strict=True):
        reports = tables.draw(secrets, words)
        assert found[name].to_pylist() == [CITY.labels[report] for report in reports]


def test_reports_of_both_ends_follow_the_rows_of_their_places():
    blur, secrets = mechanism(CELLS, seed=4), (7, 29)
    (lat, lon), (end_lat, end_lng) = CELLS.latlon[list(secrets)]
    columns = {"lat": lat, "lon": lon, "end_lat": end_lat, "end_lng": end_lng}
    table = pa.record_batch({name: np.full(60_000, value) for name, value in columns.items()})
    found = (
        Kernel(blur, table.schema, ReleaseOptions(also=(("end_lat", "end_lng"),)))
        .release(table, SeededWords(5))
        .batch
    )
    drawn = [CELLS.positions(found[name].to_pylist()) for name in ("label", "end_lat_label")]
    for secret, reports in zip(secrets, drawn, strict=True):
        assert p_value(blur, secret, np.bincount(reports, minlength=len(CELLS))) > FALSE_ALARM
    joint = np.bincount(drawn[0] * len(CELLS) + drawn[1], minlength=len(CELLS) ** 2) / 60_000
    independent = np.outer(*blur.matrix[list(secrets)]).ravel()
    assert np.abs(joint - independent).max() < 7 * np.sqrt(independent.max() / 60_000)


def test_every_report_counts_in_totals_and_limits():
    prepared = prepare_frame(NOISE, trips(), also=ENDS)
    assert prepared.people.counts == ((8, 3),)
    assert "8 reports of one person: 8 times epsilon, 80/km" in " ".join(prepared.promises)
    outcome = prepared.run().outcome
    assert str(outcome).startswith("24 reports released in 12 rows (")
    assert any("each row has 2 reports" in note for note in outcome.notes)
    sf.release(NOISE, trips(), also=ENDS, max_reports_per_person=8, max_epsilon_per_person="80/km")
    for limits in ({"max_reports_per_person": 7}, {"max_epsilon_per_person": "79/km"}):
        with pytest.raises(DataError, match="3 of 3 people would exceed") as refused:
            sf.release(NOISE, trips(), also=ENDS, **limits)
        assert "place_column" not in refused.value.hint


@pytest.mark.parametrize("first", [{"also": ENDS}, {}])
def test_earlier_releases_count_with_both_ends(tmp_path, first: dict[str, Any]):
    source = written(tmp_path / "trips.parquet", trips())
    sf.release(NOISE, source, tmp_path / "a.parquet", **first)
    second: dict[str, Any] = {} if first else {"also": ENDS}
    with pytest.raises(InputError, match="released before"):
        sf.release(NOISE, source, tmp_path / "b.parquet", **second)
    limits: dict[str, Any]
    for limits in ({"max_reports_per_person": 11}, {"max_epsilon_per_person": "119/km"}):
        with pytest.raises(DataError, match=r"12.* over 2 releases of this source"):
            sf.release(NOISE, source, tmp_path / "b.parquet", again=True, **second, **limits)
    outcome = sf.release(
        NOISE,
        source,
        tmp_path / "b.parquet",
        again=True,
        max_reports_per_person=12,
        max_epsilon_per_person="120/km",
        **second,
    )
    said = "this source had been released 1 time before: 2 releases add up, with 3 reports of a row"
    assert said in outcome.notes
    assert outcome.earlier == 1


def test_a_ledger_is_charged_for_both_ends(tmp_path):
    source = written(tmp_path / "trips.parquet", trips())
    ledger = Ledger.create(tmp_path / "l.db", "8/km")
    blur = Blur(UNIFORM, ledger, PROMISE)
    sf.release(blur, source, tmp_path / "out.parquet", also=ENDS)
    assert [int(ledger.balance(user).spent) for user in ("ada", "bob", "cy")] == [8, 8, 8]
    poor = Blur(UNIFORM, Ledger.create(tmp_path / "poor.db", "7/km"), PROMISE)
    with pytest.raises(BudgetError):
        sf.release(poor, source, tmp_path / "more.parquet", also=ENDS)
    assert not (tmp_path / "more.parquet").exists()


def test_an_interrupted_release_is_charged_once_for_both_ends(tmp_path):
    source = written(tmp_path / "trips.parquet", trips(60))
    ledger = Ledger.create(tmp_path / "l.db", "40/km")

    def stop(done):
        if done.rows >= 30:
            raise KeyboardInterrupt

    def prepared(**options):
        return prepare(Blur(UNIFORM, ledger, PROMISE), source, tmp_path / "out.parquet", batch_rows=10, **options)

    with pytest.raises(KeyboardInterrupt):
        prepared(also=ENDS).run(stop)
    with pytest.raises(InputError):  # with other options it is another release
        prepared(resume=True).run()
    assert prepared(also=ENDS, resume=True).run().rows == 60
    assert [int(ledger.balance(user).spent) for user in ("ada", "bob", "cy")] == [40, 40, 40]


def test_a_receipt_counts_both_ends(tmp_path):
    source = written(tmp_path / "trips.parquet", trips())
    sf.release(NOISE, source, tmp_path / "out.csv", also=ENDS, receipt=tmp_path / "r.json")
    receipt = json.loads((tmp_path / "r.json").read_text())
    assert receipt["reports_per_person"] == [{"reports": 8, "people": 3}]
    assert receipt["bounds"][0]["one_person"] == 80
    assert {"latitude", "longitude", "end_lat", "end_lng"} == set(receipt["columns"])
    assert any("'end_lat', 'end_lng'" in note for note in receipt["notes"])
    table = pyarrow.csv.read_csv(tmp_path / "out.csv")
    assert table.num_rows == 12
    assert not set(table["end_lat"].to_pylist()) & set(trips()["end_lat"].to_pylist())


def lacking(table, row, column, value):
    values = table[column].to_pylist()
    values[row] = value
    return table.set_column(table.schema.get_field_index(column), column, pa.array(values))


@pytest.mark.parametrize("column", ["start_lat", "end_lat"])
@pytest.mark.parametrize(("value", "problem"), [(None, "no position"), (50.2, "not at any")])
def test_an_end_that_is_missing_or_outside_is_treated_as_the_first(column, value, problem):
    blur, table = mechanism(CITY), lacking(trips(), 4, column, value)
    other = column.replace("lat", "lng")
    with pytest.raises(DataError, match=rf"1 of 12 rows .*{problem}.*by '{column}', '{other}' .*is number 5"):
        sf.release(blur, table, also=ENDS)
    found = sf.release(blur, table, also=ENDS, outside="drop", allow=0.1, keep=["user"])
    assert found["user"].to_pylist() == [name for row, name in enumerate(table["user"].to_pylist()) if row != 4]
    if value is not None:
        with pytest.raises(DataError, match=f"1 row is more than 1 km outside by '{column}'"):
            sf.release(blur, table, also=ENDS, outside="nearest", allow=0.1)
        done = prepare_frame(blur, table, also=ENDS, outside="nearest", allow=0.1, within="999 km").run().outcome
        assert (done.rows, done.moved) == (12, 1)
        assert done.farthest_m > 1e5


def test_rows_are_counted_once_where_both_ends_are_outside():
    table = lacking(lacking(trips(), 4, "start_lat", None), 4, "end_lat", None)
    done = prepare_frame(NOISE, table, also=ENDS, outside="drop", allow=0.1).run().outcome
    assert (done.rows, done.dropped, done.without_position) == (11, 1, 1)


def test_a_column_that_locates_the_other_end_is_refused():
    table = trips(400)
    for column in ("end_lat", "end_lng"):
        with pytest.raises(InputError, match="holds what the reports hide"):
            sf.release(NOISE, table, also=ENDS, keep=[column])
    coded = table.append_column("metres", pa.array(table["end_lat"].to_numpy() * 111_200 - 5e6))
    with pytest.raises(InputError, match="'metres' holds positions in another form"):
        sf.release(NOISE, coded, also=ENDS, keep=["metres"])


def test_the_refusal_of_the_other_end_names_the_way_out():
    with pytest.raises(InputError, match=r"also=\[\('end_lat', 'end_lng'\)\]"):
        sf.release(NOISE, trips(40), keep=["end_lat", "end_lng"])


@pytest.mark.parametrize(
    ("also", "options", "problem"),
    [
        (["end_lat,end_lng"], {}, "an item of also= is of type str, but a tuple"),
        ("end_lat,end_lng", {}, "also= is of type str, but a list"),
        ([("end_lat",)], {}, "also= has 1 items, but 2"),
        ([("end_lat", 3)], {}, "an item of also= is of type int, but a text"),
        ([5], {}, "an item of also= is of type int, but a tuple"),
        ([None], {}, "an item of also= is of type NoneType, but a tuple"),
        ([("end_lat", "end_lon")], {}, "no column 'end_lon'"),
        ([("end_lat", "end_lat")], {}, "another role"),
        ([("start_lat", "start_lng")], {"lat": "start_lat", "lon": "start_lng"}, "another role"),
        ([("end_lat", "end_lng"), ("end_lat", "end_lng")], {}, "another role"),
        (ENDS, {"place_column": "venue"}, "names one place of a row"),
    ],
)
def test_refusals(also, options, problem):
    table = trips(venue=["v"] * 12)
    with pytest.raises((InputError, DataError), match=problem):
        sf.release(NOISE, table, also=also, **options)


@pytest.mark.parametrize("first", [("lat", "lon"), ("Latitude", "Longitude"), ("start_lat", "start_lng")])
@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (0, 3), (2, 1)])
def test_the_first_place_is_never_taken_for_another(first, pair):
    columns = [*first, "end_lat", "end_lng"]
    table = trips().rename_columns(["user", *columns])
    also = [tuple(columns[each] for each in pair)]
    with pytest.raises(InputError, match="already the place of each row") as refused:
        sf.release(NOISE, table, also=also)
    assert f"{first[0]!r} and {first[1]!r} are already" in refused.value.problem
    if pair == (0, 1):
        assert "also=[('end_lat', 'end_lng')]" in refused.value.hint
        assert "--also end_lat,end_lng" in refused.value.render(lambda name, value: f"--{name} {value}")
    private = sf.release(NOISE, table, also=[first], lat="end_lat", lon="end_lng")
    assert private.column_names == ["latitude", "longitude", *first]


def test_the_first_place_is_not_taken_for_another_where_a_geometry_or_nothing_else_is_left():
    table = trips().rename_columns(["user", "lat", "lon", "p", "q"])
    points = pa.array([f"POINT ({x} {y})" for y, x in zip(table["lat"], table["lon"], strict=True)])
    for source in (table, table.append_column("geometry", points)):
        with pytest.raises(InputError, match="'lat' and 'lon' are already the place") as refused:
            sf.release(NOISE, source, also=[("lat", "lon")])
        assert "lat='column' and lon='column'" in refused.value.hint
    assert sf.release(NOISE, table, also=[("lat", "lon")], lat="p", lon="q").num_rows == 12


def test_errors_of_another_place_name_its_argument():
    table = trips().set_column(3, "end_lat", pa.array(["north"] * 12))
    with pytest.raises(DataError, match=r"'end_lat' .* not a number") as refused:
        sf.release(NOISE, table, also=ENDS)
    assert refused.value.hint.endswith("name the right columns with also=.")
    assert "lat=" not in refused.value.hint


def test_labels_have_no_other_places():
    table = pa.table({"answer": ["a", "b"], "lat": [1.0, 2.0], "lon": [1.0, 2.0]})
    with pytest.raises(InputError, match="no places are read"):
        sf.release(mechanism(sf.Space("ab")), table, column="answer", also=[("lat", "lon")])


def test_names_of_released_columns_do_not_meet():
    table = trips().rename_columns(["user", "start_lat", "start_lng", "latitude", "longitude"])
    options: dict[str, Any] = {"lat": "start_lat", "lon": "start_lng", "also": [("latitude", "longitude")]}
    with pytest.raises(InputError, match="two released columns would have the name 'latitude'"):
        sf.release(NOISE, table, **options)


def test_more_than_two_places_tuples_and_other_doors():
    more = trips(via_lat=np.full(12, 48.85), via_lng=np.full(12, 2.35))
    also = [*ENDS, ("via_lat", "via_lng")]
    prepared = prepare_frame(NOISE, more, also=also)
    assert prepared.people.counts == ((12, 3),)
    assert {"via_lat", "end_lng"} <= set(prepared.run().frame.column_names)
    frame = sf.release(NOISE, more.to_pandas(), also=also)
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["latitude", "longitude", "end_lat", "end_lng", "via_lat", "via_lng"]
    tuples = sf.release(Tupling(UNIFORM, 2, np.full(len(LATTICE), 1 / len(LATTICE))), trips(), also=ENDS)
    assert {len(each) for name in tuples.column_names for each in tuples[name].to_pylist()} == {3}


def test_tuples_are_columns_in_text(tmp_path):
    tupling = Tupling(UNIFORM, 1, np.full(len(LATTICE), 1 / len(LATTICE)))
    sf.release(tupling, written(tmp_path / "trips.parquet", trips()), tmp_path / "out.csv", also=ENDS)
    names = pyarrow.csv.read_csv(tmp_path / "out.csv").column_names
    assert {"label_1", "latitude_2", "end_lat_1", "end_lng_2", "end_lat_label_1", "end_lat_label_2"} <= set(names)


def test_an_estimate_reads_the_reports_of_the_other_end(tmp_path):
    identity, table = sf.Mechanism(np.eye(len(CELLS)), CELLS), trips(300)
    sf.release(identity, written(tmp_path / "trips.parquet", table), tmp_path / "out.parquet", also=ENDS)
    reports = read_reports(identity, tmp_path / "out.parquet", "end_lat_label")
    cell = CELLS.locate(table["end_lat"].to_numpy(), table["end_lng"].to_numpy())
    assert np.array_equal(reports.counts, np.bincount(cell, minlength=len(CELLS)))
