"""Releases with a ledger, batch by batch: every report is charged once, whatever interrupts the run."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.geo import Lattice
from sfumato.ledgers import Blur, BudgetError, Ledger
from sfumato.releases import prepare

LATTICE = Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
UNIFORM = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
PROMISE = sf.CoordinatePrivacy("1/km")
ROWS, BATCH = 1000, 100
USERS = [("ada", "bob", "cy")[k % 3] for k in range(ROWS)]


@pytest.fixture
def source(tmp_path):
    table = pa.table({"lat": np.full(ROWS, 48.85), "lon": np.full(ROWS, 2.35), "user": USERS})
    pq.write_table(table, tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def prepared(ledger, source, name="out.parquet", **options):
    blur = Blur(UNIFORM, ledger, PROMISE)
    return prepare(blur, source, source.with_name(name), batch_rows=BATCH, keep=["user"], **options)


def spent(ledger):
    return [int(ledger.balance(user).spent) for user in ("ada", "bob", "cy")]


def test_each_report_is_charged_once(tmp_path, source):
    ledger = Ledger.create(tmp_path / "l.db", "1000/km")
    done = prepared(ledger, source).run()
    assert done.rows == ROWS
    assert spent(ledger) == [334, 333, 333]
    assert "Each report that is drawn is charged 1/km" in done.cost
    assert pq.read_table(tmp_path / "out.parquet")["user"].to_pylist() == USERS
    prepared(ledger, source, "more.parquet").run()  # charged, and therefore not refused
    assert spent(ledger) == [668, 666, 666]
    assert ledger.check().sound


def test_an_interrupted_release_is_charged_once(tmp_path, source):
    ledger = Ledger.create(tmp_path / "l.db", "334/km")

    def stop(done):
        if done.rows >= 5 * BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared(ledger, source).run(stop)
    assert 5 * BATCH <= sum(spent(ledger)) < ROWS
    prepared(ledger, source, resume=True).run()
    assert spent(ledger) == [334, 333, 333]
    assert pq.read_metadata(tmp_path / "out.parquet").num_rows == ROWS


def test_nobody_is_charged_where_one_has_too_little(tmp_path, source):
    ledger = Ledger.create(tmp_path / "l.db", "333/km")
    with pytest.raises(BudgetError, match="a user has") as refused:
        prepared(ledger, source)
    assert refused.value.user == "ada"
    assert spent(ledger) == [0, 0, 0]


def test_rows_that_are_dropped_cost_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "2/km")
    table = pa.table({"lat": [48.85, 10.0, 48.85], "lon": [2.35] * 3, "user": ["ada"] * 3})
    pq.write_table(table, tmp_path / "few.parquet")
    done = prepared(ledger, tmp_path / "few.parquet", outside="drop", allow=0.5).run()
    assert (done.rows, done.dropped) == (2, 1)
    assert ledger.balance("ada").spent == 2


def test_rows_without_a_user_are_refused(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    for user in (None, " "):
        table = pa.table({"lat": [48.85], "lon": [2.35], "user": pa.array([user], pa.string())})
        with pytest.raises(DataError, match="names no user"):
            prepare(Blur(UNIFORM, ledger, PROMISE), table, tmp_path / "out.csv")
