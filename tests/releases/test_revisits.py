"""Releases in which the rows of a user's place share one report."""

import csv
import errno
import itertools
import re
import sqlite3
from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyproj import Geod

import sfumato as sf
from sfumato.errors import DataError, FileError, InputError, PlaceWarning
from sfumato.geo import Lattice, Projection, Visits
from sfumato.ledgers import Blur, BudgetError, Ledger
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.mechanisms.tupling import Tupling
from sfumato.releases import prepare, prepare_frame, release
from sfumato.releases.memoization import apart_m

LATTICE = Lattice.covering("6 km x 6 km around 48.85,2.35", "500 m")
UNIFORM = sf.Mechanism(np.full((len(LATTICE), len(LATTICE)), 1 / len(LATTICE)), LATTICE)
PROMISE = sf.CoordinatePrivacy("1/km")
USERS = ["ada", "bob"]
PLACES = ["home", "work", "gym", None, ""]


def visits(times=6, spread=0.0, seed=0):
    """Each user at each place some times, in turns; two names are none."""
    rng = np.random.default_rng(seed)
    rows = [(user, place) for _ in range(times) for user, place in itertools.product(USERS, PLACES)]
    lat, lon = np.array([48.85, 2.35])[:, None] + spread * rng.uniform(-1, 1, (2, len(rows)))
    return Visits(
        lat,
        lon,
        user=[user for user, _ in rows],
        attributes={"venue": np.array([place for _, place in rows], dtype=object)},
    )


def labels_of(path):
    with path.open(newline="") as stream:
        return [row["label"] for row in csv.DictReader(stream)]


def by_key(found, labels):
    keys = zip(found.user.tolist(), found.attributes["venue"].tolist(), strict=True)
    groups: dict[object, list[str]] = {}
    for key, label in zip(keys, labels, strict=True):
        groups.setdefault(key, []).append(label)
    return groups


def test_rows_of_a_place_share_a_report_and_others_do_not(tmp_path):
    source = visits(times=12)
    kept = []
    for name in ("one.csv", "two.csv"):
        done = release(UNIFORM, source, tmp_path / name, place_column="venue")
        groups = by_key(source, labels_of(tmp_path / name))
        for (_, place), labels in groups.items():
            assert (len(set(labels)) == 1) == bool(place)
        kept.append(len({labels[0] for (_, place), labels in groups.items() if place}))
        assert (done.rows, done.places) == (120, 6)
    assert max(kept) > 2  # by chance: 2e-16 (six independent draws out of 225, twice)


def test_the_cost_is_said_with_the_distance_from_anchors(tmp_path):
    source = visits(times=3, spread=1e-3)
    done = release(UNIFORM, source, tmp_path / "out.csv", place_column="venue")
    xy = LATTICE.projection.forward(source.lat, source.lon)
    groups: dict[tuple[object, object], list[np.ndarray]] = {}
    for key, place in zip(zip(source.user, source.attributes["venue"], strict=True), xy, strict=True):
        groups.setdefault(key, []).append(place)
    spread = max(np.hypot(*(at - places[0])) for (_, name), places in groups.items() if name for at in places)
    text = str(done)
    assert (
        "18 rows name 6 places, each reported once, for the first visit to it (its anchor), and repeated" in text
    )
    assert (
        "Given which rows share a place, each place costs epsilon x the distance of two possible anchors" in text
    )
    said = float(text.split("at most ")[1].split(" m ")[0].removesuffix(" m"))
    assert spread <= said <= spread * 1.02
    assert f"epsilon x (distance + 2 x {said:g} m)" in text
    plain = release(UNIFORM, source, tmp_path / "plain.csv")
    assert (plain.places, plain.cost) == (0, "")


def test_visits_at_their_anchors_cost_what_anchors_cost(tmp_path):
    cost = release(UNIFORM, visits(times=2), tmp_path / "out.csv", place_column="venue").cost
    assert "once; every visit to a place is at its anchor, so this holds for visited points, too." in cost
    assert "0 m" not in cost
    one = visits(times=1).select(np.arange(10) == 0)
    cost = release(UNIFORM, one, tmp_path / "one.csv", place_column="venue").cost
    assert cost.startswith("1 row names 1 place, reported once, for the first visit")


def test_nobody_is_charged_for_a_table_that_cannot_be_written(tmp_path):
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35))
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    for metered in (Blur(UNIFORM, ledger, PROMISE), Blur(noise, ledger, noise.promise)):
        (tmp_path / "folder.csv").mkdir(exist_ok=True)
        with pytest.raises(FileError, match="No such file"):
            release(metered, visits(), tmp_path / "none" / "out.csv", place_column="venue")
        with pytest.raises(FileError, match="Is a directory"):
            release(metered, visits(), tmp_path / "folder.csv", place_column="venue")
        named = Visits([48.85], [2.35], user=["ada"], attributes={"latitude": np.array(["home"], object)})
        with pytest.raises(InputError, match="'latitude' cannot be kept"):
            release(metered, named, tmp_path / "out.csv", keep=["latitude"], place_column="latitude")
        assert ledger.balance("ada").spent == 0


def test_who_was_charged_for_a_table_that_was_not_written_is_told(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sfumato.tables.BatchWriter.write", full)
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    with pytest.raises(FileError, match="Users were charged for these unseen reports") as told:
        release(Blur(UNIFORM, ledger, PROMISE), visits(times=1), tmp_path / "o.csv", place_column="venue")
    assert "the disk is full" in told.value.hints[0]
    assert ledger.balance("ada").spent == 5
    with pytest.raises(FileError) as plain:
        release(UNIFORM, visits(times=1), tmp_path / "o.csv")
    assert "Users" not in str(plain.value)


def test_nothing_is_said_of_visited_points_in_cells(tmp_path):
    grid = sf.Grid.covering("6 km x 6 km around 48.85,2.35", cell="1 km")
    keep = sf.Mechanism(np.full((len(grid), len(grid)), 1 / len(grid)), grid)
    done = release(keep, visits(), tmp_path / "out.csv", place_column="venue")
    assert "each place costs epsilon x the distance of two possible anchors" in done.cost
    assert "visited points" not in done.cost


def test_the_report_is_drawn_for_the_first_visit(tmp_path):
    lat, lon = LATTICE.projection.inverse(np.array([[-2000.0, 0], [2000, 0], [-2000, 0], [2000, 0]])).T
    source = Visits(
        lat, lon, user=["a", "a", "b", "b"], attributes={"venue": np.array(["x", "x", "x", "y"], object)}
    )
    keep = sf.Mechanism(np.eye(len(LATTICE)), LATTICE)
    release(keep, source, tmp_path / "out.csv", place_column="venue")
    with (tmp_path / "out.csv").open() as stream:
        found = [(float(row["latitude"]), float(row["longitude"])) for row in csv.DictReader(stream)]
    x = LATTICE.projection.forward(*np.array(found).T)[:, 0]
    assert (x[:3] < -1000).all()
    assert x[3] > 1000


def test_rows_left_out_are_no_anchors(tmp_path):
    source = Visits(
        [0.0, 48.85, 48.85], [0.0, 2.35, 2.35], user=["a"] * 3, attributes={"venue": np.array(["x"] * 3, object)}
    )
    done = release(UNIFORM, source, tmp_path / "out.csv", place_column="venue", outside="drop", allow=0.4)
    assert (done.rows, done.dropped, done.places) == (2, 1, 1)
    assert "every visit to a place is at its anchor" in done.cost


def test_a_metered_release_charges_and_later_ones_repeat(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "20/km")
    source = visits(times=2)
    metered = Blur(UNIFORM, ledger, PROMISE)
    done = release(metered, source, tmp_path / "one.csv", place_column="venue")
    assert "all within r of theirs, it is epsilon x (distance + 2 x r)" in done.cost
    assert [ledger.balance(user).spent for user in USERS] == [3 + 4, 3 + 4]
    again = Blur(UNIFORM, Ledger(tmp_path / "l.db"), PROMISE)
    release(again, source, tmp_path / "two.csv", place_column="venue")
    first, second = (by_key(source, labels_of(tmp_path / f"{name}.csv")) for name in ("one", "two"))
    for key in first:
        if key[1]:
            assert first[key] == second[key]
    assert [ledger.balance(user).spent for user in USERS] == [11, 11]
    with pytest.raises(BudgetError):  # without places each of ten rows is charged
        release(again, source, tmp_path / "three.csv")


def in_batches(tmp_path, source, name="out.csv", rows=7, drawn=UNIFORM, **options):
    return prepare(drawn, source, tmp_path / name, place_column="venue", batch_rows=rows, **options)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_places_share_their_report_across_batches(tmp_path, rows):
    source = visits(times=6, spread=1e-3)
    done = in_batches(tmp_path, source, rows=rows).run()
    whole = release(UNIFORM, source, tmp_path / "whole.csv", place_column="venue")
    assert (done.rows, done.places, done.cost) == (whole.rows, whole.places, whole.cost)
    for (_, place), labels in by_key(source, labels_of(tmp_path / "out.csv")).items():
        assert (len(set(labels)) == 1) == bool(place)  # by chance: 2e-11 (six draws out of 225, 12 times)


def test_the_anchor_is_in_an_earlier_batch(tmp_path):
    lat, lon = LATTICE.projection.inverse(np.array([[-2000.0, 0], [2000, 0], [2000, 0]])).T
    source = Visits(lat, lon, user=["a"] * 3, attributes={"venue": np.array(["x"] * 3, object)})
    keep = sf.Mechanism(np.eye(len(LATTICE)), LATTICE)
    done = in_batches(tmp_path, source, rows=1, drawn=keep).run()
    assert len(set(labels_of(tmp_path / "out.csv"))) == 1
    said = float(done.cost.split("at most ")[1].split(" km ")[0])
    assert 4.0 <= said <= 4.05


@pytest.mark.thinned(2)
@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_places_are_charged_once_in_any_batches(tmp_path, rows):
    ledger = Ledger.create(tmp_path / "l.db", "90/km")
    metered, source = Blur(UNIFORM, ledger, PROMISE), visits(times=3)
    for name, spent in (("one.csv", 3 + 6), ("two.csv", 3 + 12)):
        done = in_batches(tmp_path, source, name, rows, metered).run()
        assert done.places == 6
        assert [ledger.balance(user).spent for user in USERS] == [spent, spent]
    first, second = (by_key(source, labels_of(tmp_path / f"{name}.csv")) for name in ("one", "two"))
    assert all(first[key] == second[key] for key in first if key[1])


@pytest.mark.slow
def test_who_has_too_little_left_is_found_before_the_first_batch(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    metered, source = Blur(UNIFORM, ledger, PROMISE), visits(times=4)  # 3 places and 8 visits without one
    with pytest.raises(BudgetError, match="a user has spent 0/km of 9/km"):
        in_batches(tmp_path, source, rows=2, drawn=metered)
    assert not ledger.users
    named = source.select(np.array([bool(name) for name in source.attributes["venue"]]))
    for _ in range(9):  # their places cost 3 once
        in_batches(tmp_path, named, rows=2, drawn=metered).run()
    assert [ledger.balance(user).spent for user in USERS] == [3, 3]
    in_batches(tmp_path, visits(times=3), rows=2, drawn=metered).run()  # 6 more


@pytest.mark.thinned(2)
@pytest.mark.parametrize("charged", [True, False])
def test_noise_and_tuplings_share_reports_across_batches(tmp_path, charged):
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35))
    tupling = Tupling(UNIFORM, 2, np.full(len(LATTICE), 1 / len(LATTICE)))
    ledger = Ledger.create(tmp_path / "l.db", "900/km")
    source = visits(times=4)
    for drawn in (Blur(noise, ledger, noise.promise),) if charged else (noise, tupling):
        in_batches(tmp_path, source, "out.parquet", rows=3, drawn=drawn).run()
        table = pq.read_table(tmp_path / "out.parquet")
        reports = [str(row) for row in table.to_pylist()]
        for (_, place), found in by_key(source, reports).items():
            assert (len(set(found)) == 1) == bool(place)


def test_an_interrupted_release_with_places_goes_on(tmp_path):
    source = visits(times=40)
    columns = {"lat": source.lat, "lon": source.lon, "user": source.user, "venue": source.attributes["venue"]}
    pq.write_table(pa.table(columns), tmp_path / "in.parquet")

    def stop(done):
        if done.rows > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_batches(tmp_path, tmp_path / "in.parquet").run(stop)
    hidden = tmp_path / ".out.csv.release"
    assert {path.stat().st_mode & 0o077 for path in hidden.iterdir()} == {0}
    done = in_batches(tmp_path, tmp_path / "in.parquet", resume=True).run()
    assert "rows had been drawn before the interruption" in str(done)
    assert (done.rows, done.places) == (400, 6)
    assert "240 rows name 6 places" in done.cost
    for (_, place), labels in by_key(source, labels_of(tmp_path / "out.csv")).items():
        assert (len(set(labels)) == 1) == bool(place)
    assert not hidden.exists()


def test_one_place_has_one_spelling_and_many_types(tmp_path):
    names = pa.array(["caf\u00e9", "cafe\u0301", " caf\u00e9 ", "x"]).dictionary_encode()
    for venue in (names, pa.array([[1], [1], [1], [2]]), pa.array([1.5, 1.5, 1.5, None])):
        table = pa.table({"lat": [48.85] * 4, "lon": [2.35] * 4, "user": ["a"] * 4, "venue": venue})
        in_batches(tmp_path, table, rows=1).run()
        assert len(set(labels_of(tmp_path / "out.csv")[:3])) == 1


def test_distances_are_those_on_the_ground_or_more():
    rng = np.random.default_rng(5)
    lat, there_lat = rng.uniform(-90, 90, (2, 2000))
    lon = rng.uniform(-180, 180, 2000)
    there_lon = lon + rng.choice([1e-5, 1e-2, 1, 100], 2000) * rng.uniform(-1, 1, 2000)
    there_lat = np.where(rng.random(2000) < 0.5, np.clip(lat + rng.uniform(-1e-3, 1e-3, 2000), -90, 90), there_lat)
    truth = np.array(Geod(ellps="WGS84").inv(lon, lat, there_lon, there_lat)[2])
    found = apart_m(lat, lon, there_lat, there_lon)
    assert (found >= truth - 1e-6).all()
    assert (found <= truth * 1.0111 + 1e-6).all()


def test_a_remembered_report_that_the_mechanism_does_not_make_is_refused(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "90/km")
    release(Blur(UNIFORM, ledger, PROMISE), visits(), tmp_path / "one.csv", place_column="venue")
    with closing(sqlite3.connect(tmp_path / "l.db")) as database, database:
        database.execute("UPDATE sfumato_places SET report = '1000'")
    with pytest.raises(FileError, match="not one of the mechanism's"):
        release(Blur(UNIFORM, ledger, PROMISE), visits(), tmp_path / "two.csv", place_column="venue")
    assert not (tmp_path / "two.csv").exists()


def test_a_budget_that_does_not_suffice_writes_nothing(tmp_path):
    ledger = Ledger.create(tmp_path / "l.db", "5/km")
    with pytest.raises(BudgetError, match="a user has spent 0/km of 5/km"):
        release(Blur(UNIFORM, ledger, PROMISE), visits(), tmp_path / "out.csv", place_column="venue")
    assert not (tmp_path / "out.csv").exists()
    assert not ledger.users


def test_refusals(tmp_path):
    source = visits()
    with pytest.raises(DataError, match="no column of places is called 'shop'"):
        release(UNIFORM, source, tmp_path / "out.csv", place_column="shop")
    nobody = Visits(source.lat, source.lon, attributes=dict(source.attributes))
    with pytest.raises(DataError, match="no column names the users") as caught:
        release(UNIFORM, nobody, tmp_path / "out.csv", place_column="venue")
    assert "user='column'" in caught.value.hint
    someone = Visits(
        source.lat[:2], source.lon[:2], user=["ada", None], attributes={"venue": np.array(["a", "b"])}
    )
    with pytest.raises(DataError, match="row 2 names no user"):
        release(UNIFORM, someone, tmp_path / "out.csv", place_column="venue")
    labels = sf.Mechanism(np.eye(2), sf.Space("ab"))
    (tmp_path / "l.csv").write_text("letter,venue\na,x\n")
    with pytest.raises(InputError, match="names places, but what is released is the column"):
        release(labels, tmp_path / "l.csv", tmp_path / "out.csv", column="letter", place_column="venue")


def test_names_of_other_types_are_names(tmp_path):
    numbers = np.array([7, 7, np.nan, 8.0])
    source = Visits([48.85] * 4, [2.35] * 4, user=[1, 1, 1, 1], attributes={"venue": numbers})
    done = release(UNIFORM, source, tmp_path / "out.csv", place_column="venue")
    labels = labels_of(tmp_path / "out.csv")
    assert labels[0] == labels[1]
    assert done.places == 2


def test_many_rows_outside_are_a_mistake_unless_allowed(tmp_path):
    source = Visits([2.35, 2.35, 48.85], [48.85, 48.86, 2.35])
    with pytest.raises(DataError, match="2 of 3 rows are not at any") as caught:
        release(UNIFORM, source, tmp_path / "out.csv")
    assert "swapped" in caught.value.hint
    with pytest.raises(DataError, match="more than 1 km outside"):
        release(UNIFORM, source, tmp_path / "out.csv", outside="nearest", allow=1)
    far: dict[str, Any] = {"outside": "nearest", "within": "20000 km"}
    with pytest.raises(DataError, match=r"2 of 3 rows are outside, 66 % .2 moved.") as caught:
        release(UNIFORM, source, tmp_path / "out.csv", **far)
    assert "allow=0.67" in caught.value.hint
    assert not any(tmp_path.iterdir())
    assert release(UNIFORM, source, tmp_path / "out.csv", allow=0.67, **far).moved == 2
    few = Visits([48.85, 48.85, 48.99], [2.35, 2.35, 2.35])
    bay = Lattice(LATTICE.vertices[:-1], 500, LATTICE.origin, str(LATTICE.crs))
    with pytest.raises(InputError, match="cannot be moved"):
        release(sf.Mechanism(np.eye(len(bay)), bay), few, tmp_path / "out.csv", outside="nearest")


def test_each_place_counts_once_in_what_is_said_beforehand(tmp_path):
    """One person, 95 rows: at three places, whose names differ in blanks and in how Unicode composes them."""
    names = ["home ", "caf\u00e9", "gym", "home", "cafe\u0301"]
    noise = CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "30 km")

    def said(places, **more):
        rows = len(places)
        table = pa.table({"lat": [48.85] * rows, "lon": [2.35] * rows, "user": ["ada"] * rows, "venue": places})
        pq.write_table(table, tmp_path / "in.parquet")
        mechanism = more.pop("mechanism", noise)
        made = prepare(mechanism, tmp_path / "in.parquet", tmp_path / "out.csv", place_column="venue", **more)
        assert prepare_frame(mechanism, table, place_column="venue").people == made.people
        return next((each for each in made.promises if "of one person" in each), "")

    alike = pa.array((names * 19)[:95], pa.string())
    assert "asks for 3 reports of one person: 3 times epsilon, 3/km" in said(alike)
    assert "asks for 3 reports of one person" in said(alike, batch_rows=7)
    assert "asks for 5 reports of one person" in said(pa.array(["home", None, "", "gym", None], pa.string()))
    assert "asks for 1 report of one person: epsilon once" in said(pa.array([7, 7, 7]))
    ledger = Ledger.create(tmp_path / "l.db", "9/km")
    assert "asks for at most 3 reports of one person" in said(alike, mechanism=Blur(noise, ledger))
    assert not said(pa.array([], pa.string()))


def test_nothing_is_said_of_the_reports_of_nobody():
    empty = pa.table({"n": pa.array([], pa.string()), "user": pa.array([], pa.string())})
    letters = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    promised = " ".join(prepare_frame(letters, empty, column="n", user="user").promises)
    assert "of one person" not in promised
    assert "Proved" in promised


def moved_visits(moves=(0, 0, 3_000, 400), name="venue"):
    """Visits of four people to their homes: two each, of which the second is so far to the east."""
    x = np.array([[0, each] for each in moves], float).ravel()
    lat, lon = LATTICE.projection.inverse(np.column_stack([x, np.zeros(len(x))])).T
    users = np.repeat([f"u{number}" for number in range(len(moves))], 2)
    return Visits(lat, lon, user=users, attributes={name: np.array(["home"] * len(x), object)})


SHARP = CoordinateNoise("10/km", "2 m", Projection(48.85, 2.35))  # loses 200 m


@pytest.mark.parametrize("rows", [1, 3, 100])
def test_places_that_moved_farther_than_a_report_is_off_are_counted(tmp_path, rows):
    done = in_batches(tmp_path, moved_visits(), rows=rows, drawn=SHARP).run()
    said = r"2 places may have moved \(rows 6, 8\): a visit is more than 20\d m, .* and up to 3\.0\d* km"
    assert re.search(said, done.cost)
    assert not re.search(r"48\.8|u2", done.cost)
    still = in_batches(tmp_path, moved_visits((0, 0, 150)), "still.csv", rows, SHARP).run()
    assert "may have moved" not in still.cost


@pytest.mark.parametrize("rows", [1, 7, 100])
def test_rows_of_places_that_moved_are_numbers_of_the_source(tmp_path, rows):
    visits = moved_visits((3_000,) * 10)
    lat = np.where(np.isin(np.arange(20), (0, 5)), np.nan, visits.lat)
    columns = {"lat": lat, "lon": visits.lon, "user": visits.user, "venue": visits.attributes["venue"]}
    done = in_batches(tmp_path, pa.table(columns), rows=rows, drawn=SHARP, outside="drop", allow=0.2).run()
    assert done.dropped == 2
    assert "8 places may have moved (rows 4, 8, 10, 12, 14, 16, 18, 20):" in done.cost
    more = in_batches(tmp_path, moved_visits((3_000,) * 9), "more.csv", rows, SHARP).run()
    assert "9 places may have moved (rows 2, 4, 6, 8, 10, 12, 14, 16, ...):" in more.cost


def test_a_table_in_memory_is_warned_of(tmp_path):
    visits = moved_visits()
    columns = {"lat": visits.lat, "lon": visits.lon, "user": visits.user, "venue": visits.attributes["venue"]}
    with pytest.warns(PlaceWarning, match="2 places may have moved") as warned:
        release(SHARP, pa.table(columns), place_column="venue")
    assert len(warned) == 1


@pytest.mark.parametrize("rows", [1, 100])
def test_places_far_from_the_report_that_a_ledger_keeps_are_counted(tmp_path, rows):
    ledger = Ledger.create(tmp_path / "l.db", "10/km")
    metered = Blur(SHARP, ledger, SHARP.promise)
    done = in_batches(tmp_path, moved_visits((0, 0, 6_000)), rows=rows, drawn=metered).run()
    assert re.search(
        r"At least \d places? may have moved \(rows? .*6\): a visit is up to [4-9](\.\d+)? km", done.cost
    )
    assert "move=True" in done.cost
    assert [ledger.balance(f"u{number}").reports for number in range(3)] == [1, 1, 1]
