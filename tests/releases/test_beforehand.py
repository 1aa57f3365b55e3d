"""A release with a ledger that would stop midway stops before anybody is charged; where it cannot, it says so."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import DataError, FileError, InputError
from sfumato.geo import Lattice
from sfumato.ledgers import Blur, BudgetError, Ledger
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.releases import prepare, prepare_frame
from sfumato.releases.draws import ChargedDraw
from sfumato.releases.kernel import PrivateBatch

LATTICE = Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km")
UNIFORM = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
NOISE = CoordinateNoise.for_visits(sf.Visits([48.84, 48.88], [2.3, 2.4]), "1/km")
USERS = [f"u{number}" for number in range(6)]


def table(*, last=10.0):
    """Six rows of six users; the last one may be outside."""
    lat = np.array([48.85] * 5 + [last])
    return pa.table({"user": USERS, "lat": lat, "lon": np.full(6, 2.35), "venue": ["home"] * 6})


@pytest.fixture
def ledger(tmp_path):
    return Ledger.create(tmp_path / "l.db", "2/km")


@pytest.fixture
def source(tmp_path):
    pq.write_table(table(), tmp_path / "in.parquet")
    return tmp_path / "in.parquet"


def blurred(ledger, mechanism=NOISE):
    return Blur(mechanism, ledger) if mechanism is NOISE else Blur(mechanism, ledger, sf.CoordinatePrivacy("1/km"))


def spent(ledger):
    return [int(ledger.balance(user).spent) for user in USERS]


@pytest.mark.thinned(3)
@pytest.mark.parametrize("mechanism", [NOISE, UNIFORM], ids=["noise", "lattice"])
@pytest.mark.parametrize("place_column", [None, "venue"])
@pytest.mark.parametrize("outside", ["error", "nearest", "drop"])
def test_a_row_outside_late_in_the_source_costs_nobody(tmp_path, source, ledger, mechanism, place_column, outside):
    for _ in range(3):
        with pytest.raises(DataError, match=r"outside|are not"):
            prepare(
                blurred(ledger, mechanism),
                source,
                tmp_path / "o.parquet",
                batch_rows=2,
                place_column=place_column,
                outside=outside,
            ).run()
    assert spent(ledger) == [0] * 6
    assert sorted(path.name for path in tmp_path.iterdir() if "l.db" not in path.name) == ["in.parquet"]


@pytest.mark.parametrize("place_column", [None, "venue"])
@pytest.mark.parametrize("outside", ["error", "drop"])
def test_nor_in_a_table_in_memory(ledger, place_column, outside):
    with pytest.raises(DataError, match=r"outside|are not"):
        prepare_frame(blurred(ledger), table(), place_column=place_column, outside=outside).run()
    assert spent(ledger) == [0] * 6


@pytest.mark.parametrize("place_column", [None, "venue"])
def test_rows_that_are_dropped_cost_nothing_and_the_others_are_asked_for_first(
    tmp_path, source, ledger, place_column
):
    ledger.charge("u5", "2/km")  # whose only row is outside
    wishes = {"batch_rows": 2, "place_column": place_column, "outside": "drop", "allow": 0.5}
    prepare(blurred(ledger), source, tmp_path / "o.parquet", **wishes).run()
    assert spent(ledger) == [1, 1, 1, 1, 1, 2]
    ledger.charge("u4", "1/km")
    if place_column is None:
        with pytest.raises(BudgetError, match="has spent 2/km of 2/km") as refused:
            prepare(blurred(ledger), source, tmp_path / "p.parquet", **wishes)
        assert refused.value.user == "u4"
        assert spent(ledger) == [1, 1, 1, 1, 2, 2]


@pytest.mark.parametrize("place_column", [None, "venue"])
def test_where_others_spend_meanwhile_the_charges_are_told_and_not_made_twice(tmp_path, ledger, place_column):
    pq.write_table(table(last=48.85), tmp_path / "in.parquet")
    wishes = {"batch_rows": 2, "place_column": place_column}
    made = prepare(blurred(ledger), tmp_path / "in.parquet", tmp_path / "o.parquet", **wishes)
    ledger.charge("u4", "2/km")
    with pytest.raises(BudgetError, match="Users were charged for these unseen reports") as told:
        made.run()
    assert (told.value.user, int(told.value.left)) == ("u4", 0)
    assert "resume=True, which charges no user twice" in told.value.hint
    assert spent(ledger) == [1, 1, 1, 1, 2, 0]
    with pytest.raises(InputError, match="has run"):
        made.run()
    if place_column is None:
        with pytest.raises(
            BudgetError, match="has spent 2/km of 2/km"
        ) as refused:  # asked first, and nobody is charged
            prepare(blurred(ledger), tmp_path / "in.parquet", tmp_path / "o.parquet", **wishes)
        assert refused.value.user == "u4"
    with pytest.raises(BudgetError, match="charged"):
        prepare(blurred(ledger), tmp_path / "in.parquet", tmp_path / "o.parquet", **wishes, resume=True).run()
    assert spent(ledger) == [1, 1, 1, 1, 2, 0]


@pytest.fixture
def cut_off(tmp_path, ledger, monkeypatch):
    """A way to prepare a release that was cut off after its first batch, before anybody else was charged."""
    pq.write_table(table(last=48.85), tmp_path / "in.parquet")

    def made(**options):
        return prepare(blurred(ledger), tmp_path / "in.parquet", tmp_path / "o.parquet", batch_rows=2, **options)

    draw = ChargedDraw.draw

    def stop(self: ChargedDraw, batch: Any, start: int, *rest: Any) -> PrivateBatch:
        if start:
            raise KeyboardInterrupt
        return draw(self, batch, start, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(ChargedDraw, "draw", stop)
        with pytest.raises(KeyboardInterrupt):
            made().run()
    return made


def test_a_charged_release_that_was_cut_off_is_not_begun_anew_by_mistake(ledger, cut_off):
    before = spent(ledger)
    assert before == [1, 1, 0, 0, 0, 0]
    with pytest.raises(InputError, match="for which users may have been charged") as told:
        cut_off().run()
    assert "resume=True" in told.value.hint
    assert spent(ledger) == before
    assert cut_off(resume=True).run().rows == 6
    assert spent(ledger) == [1] * 6


def test_charges_for_a_table_in_memory_are_told(tmp_path, ledger):
    made = prepare(blurred(ledger), table(last=48.85), tmp_path / "o.parquet", batch_rows=2)
    ledger.charge("u4", "2/km")
    with pytest.raises(BudgetError, match="Users were charged for these unseen reports") as told:
        made.run()
    assert "resume" not in told.value.hint
    assert not (tmp_path / ".o.parquet.release").exists()


def test_nobody_is_said_to_be_charged_for_places_that_the_ledger_knew(tmp_path, ledger):
    pq.write_table(table(last=48.85), tmp_path / "in.parquet")
    wishes: dict[str, Any] = {"batch_rows": 2, "place_column": "venue"}
    prepare(blurred(ledger), tmp_path / "in.parquet", tmp_path / "o.parquet", **wishes).run()
    made = prepare(blurred(ledger), tmp_path / "in.parquet", tmp_path / "p.parquet", **wishes)
    (tmp_path / "p.parquet").mkdir()
    with pytest.raises(FileError) as told:
        made.run()
    assert "charged" not in str(told.value)
    assert spent(ledger) == [1] * 6


def test_a_run_that_goes_on_does_not_know_whether_it_had_charged(ledger, cut_off):
    for user, left in zip(USERS, (2 - each for each in spent(ledger)), strict=True):
        ledger.charge(user, f"{left}/km")
    with pytest.raises(BudgetError, match="Users may have been charged for these unseen reports"):
        cut_off(resume=True).run()


def test_rows_outside_that_are_dropped_are_no_reports(tmp_path, source):
    def said(**options):
        made = prepare(UNIFORM, source, tmp_path / "o.parquet", user="user", **options)
        return next(each for each in made.promises if each.startswith("The source asks"))

    assert said(outside="drop", allow=0.5).startswith("The source asks for at most 1 report of one person")
    assert said().startswith("The source asks for 1 report of one person")
