"""Releases at public times: each tick has the last position before it, whatever the order of the fixes."""

import json
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sfumato as sf
from sfumato.cli.app import app
from sfumato.errors import DataError, InputError
from sfumato.geo import Projection
from sfumato.ledgers import BudgetError, Ledger
from sfumato.releases import Schedule, prepare

START = (48.80, 2.30)
STEEP = sf.mechanisms.planar.CoordinateNoise("1000/km", "1 cm", Projection(48.85, 2.35))
DAY = sf.Day("6000/km", every="4 h", zone="Europe/Paris")
RUN = CliRunner()


def fixes(seed=1, users=20, rows=300):
    rng = np.random.default_rng(seed)
    time = np.datetime64("2026-03-27", "us") + (rng.integers(0, 96, rows) * 3600 * 10**6).astype("timedelta64[us]")
    lat, lon = 48.85 + rng.normal(0, 0.02, rows), 2.35 + rng.normal(0, 0.02, rows)
    return sf.Visits(lat, lon, user=rng.integers(0, users, rows).tolist(), time=time)


def rows_of(schedule, visits):
    stream = schedule.stream(visits, "the fixes")
    table = pa.Table.from_batches(list(stream.batches(["user", "time", "lat", "lon"])))
    assert stream.rows == table.num_rows
    return table


@pytest.mark.parametrize("block", [1, 40, 1 << 20])
def test_a_tick_has_the_last_fix_before_it(monkeypatch, block):
    monkeypatch.setattr("sfumato.releases.schedule._ROWS", block)
    visits = fixes()
    schedule = Schedule(DAY, ("2026-03-28", "2026-03-29"), START)
    rows = rows_of(schedule, visits).to_pylist()
    people = sorted({str(user) for user in visits.user})
    assert [row["user"] for row in rows] == [user for user in people for _ in range(12)]
    for row in rows:
        time = np.datetime64(row["time"].astimezone(UTC).replace(tzinfo=None), "us")
        past = [k for k, user in enumerate(visits.user) if str(user) == row["user"] and visits.time[k] <= time]
        last = max(past, key=lambda k: (visits.time[k], k), default=None)
        expected = START if last is None else (visits.lat[last], visits.lon[last])
        assert (row["lat"], row["lon"]) == expected


def test_the_rows_do_not_depend_on_the_order_of_distinct_fixes():
    visits = fixes(seed=2, rows=60)
    _, first = np.unique(np.stack([visits.user.astype(int), visits.time.astype(int)]), axis=1, return_index=True)
    visits = visits.select(first)
    schedule = Schedule(DAY, "2026-03-28", START)
    shuffled = visits.select(np.random.default_rng(3).permutation(len(visits)))
    assert rows_of(schedule, visits).equals(rows_of(schedule, shuffled))


def test_named_users_have_rows_with_or_without_fixes():
    visits = fixes()
    schedule = Schedule(DAY, "2026-03-29", START, ["3", "nowhere"])
    rows = rows_of(schedule, visits).to_pylist()
    assert [row["user"] for row in rows] == ["3"] * 6 + ["nowhere"] * 6
    assert {(row["lat"], row["lon"]) for row in rows[6:]} == {START}
    alone = sf.Visits(visits.lat, visits.lon, time=visits.time)
    assert rows_of(Schedule(DAY, "2026-03-29", START, ["ada"]), alone).num_rows == 6
    with pytest.raises(DataError, match="no column of users"):
        rows_of(Schedule(DAY, "2026-03-29", START), alone)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("2026-03-29", (91.0, 0.0)), "no position"),
        (("29.3.2026", START), "first and a last date"),
        ((("2026-03-29", "2026-03-28"), START), "first and a last date"),
        ((("1000-03-29", "2026-03-28"), START), "first and a last date"),
        (("2026-03-29", START, ["a", "a"]), "twice"),
        (("2026-03-29", START, []), "no user"),
        (("2026-03-29", START, ["a", ""]), "no user"),
    ],
)
def test_unclear_schedules_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Schedule(DAY, *arguments)


def test_adaptive_days_and_fixes_without_time_or_user_are_refused():
    with pytest.raises(InputError, match="chooses mechanisms"):
        Schedule(sf.Day("6/km", every="4 h", adapt=lambda _: None), "2026-03-29", START)
    schedule = Schedule(DAY, "2026-03-29", START)
    time = np.array(["2026-03-29", "NaT"], "datetime64[us]")
    for visits, message in (
        (sf.Visits([48.8, 48.8], [2.3, 2.3], user=["a", "b"]), "2 fixes of the fixes have no time"),
        (sf.Visits([48.8, 48.8], [2.3, 2.3], user=["a", "b"], time=time), "1 fix of the fixes has no time"),
        (sf.Visits([48.8, 48.8], [2.3, 2.3], user=["a", None], time=time[[0, 0]]), "1 fix of the fixes name no"),
    ):
        with pytest.raises(DataError, match=message):
            rows_of(schedule, visits)


def write(visits, path):
    table = pa.table({"who": visits.user.astype(str), "time": visits.time, "lat": visits.lat, "lon": visits.lon})
    pq.write_table(table, path)
    return path


def test_a_table_of_tracks_is_released_at_the_ticks(tmp_path):
    source, target = write(fixes(), tmp_path / "fixes.parquet"), tmp_path / "out.parquet"
    schedule = Schedule(DAY, ("2026-03-28", "2026-03-29"), START)
    job = prepare(STEEP, source, target, user="who", schedule=schedule)
    assert any("all 6 reports together are at most e^(6000/km x (r + " in text for text in job.promises)
    assert "All 2 days together are at most 12000/km for 12 reports." in job.promises
    assert not any("Left out" in text for text in job.promises)
    outcome = job.run()
    assert "the table shows which users the source has" in str(outcome)
    assert outcome.carried_over == ()
    record = json.loads(job.receipt(outcome).json())
    assert (record["columns_carried_over"], record["columns_left_out"]) == ([], [])
    assert any("all 6 reports together are at most e^(6000/km x (r + " in note for note in record["notes"])
    rows = rows_of(schedule, fixes())
    table = pq.read_table(target)
    assert table.column_names == ["latitude", "longitude", "user", "time"]
    assert table["user"].equals(rows["user"])
    np.testing.assert_allclose(table["latitude"], rows["lat"], atol=1e-3)
    np.testing.assert_allclose(table["longitude"], rows["lon"], atol=1e-3)
    with pytest.raises(InputError, match="released before"):
        prepare(STEEP, source, tmp_path / "more.parquet", user="who", schedule=schedule)


def test_days_are_charged_to_their_users(tmp_path):
    source = write(fixes(), tmp_path / "fixes.parquet")
    schedule = Schedule(DAY, "2026-03-29", START, ["1", "nowhere"])
    ledger = Ledger.create(tmp_path / "l.db", "6000/km")
    sf.release(sf.Blur(STEEP, ledger), source, tmp_path / "a.csv", user="who", schedule=schedule)
    assert [ledger.balance(user).left for user in ("1", "nowhere", "2")] == [0, 0, 6000]
    with pytest.raises(BudgetError):
        sf.release(sf.Blur(STEEP, ledger), source, tmp_path / "b.csv", user="who", schedule=schedule)


@pytest.mark.parametrize(
    "options",
    [
        {"outside": "drop"},
        {"outside": "error"},
        {"keep": ["who"]},
        {"by": "who"},
        {"also": [("a", "b")]},
        {"place_column": "who"},
        {"uncertainty": True},
        {"column": "who"},
        {"darwin_core": True},
    ],
)
def test_options_that_reveal_more_than_the_ticks_are_refused(tmp_path, options):
    source = write(fixes(), tmp_path / "fixes.parquet")
    schedule = Schedule(DAY, "2026-03-29", START)
    with pytest.raises(InputError, match="schedule"):
        prepare(STEEP, source, tmp_path / "o.csv", user="who", schedule=schedule, **options)
    with pytest.raises(InputError, match="writes a file"):
        sf.release(STEEP, pq.read_table(source), user="who", schedule=schedule)


def test_the_day_must_afford_its_reports(tmp_path):
    source = write(fixes(), tmp_path / "fixes.parquet")
    schedule = Schedule(sf.Day("5999/km", every="4 h"), "2026-03-29", START)
    with pytest.raises(InputError, match="more than the day's 5999/km"):
        prepare(STEEP, source, tmp_path / "o.csv", user="who", schedule=schedule)
    assert [path.name for path in tmp_path.iterdir()] == ["fixes.parquet"]


def test_the_command_releases_a_schedule(tmp_path):
    source = write(fixes(), tmp_path / "fixes.parquet")
    sf.save(STEEP, tmp_path / "steep.sfm")
    (tmp_path / "users.txt").write_text("1\nnowhere\n", encoding="utf-8")
    command = [
        "release",
        str(tmp_path / "steep.sfm"),
        str(source),
        str(tmp_path / "o.csv"),
        "--user-column",
        "who",
    ]
    day = ["--schedule", "6000/km every 4 h", "--zone", "Europe/Paris", "--dates", "2026-03-28,2026-03-29"]
    done = RUN.invoke(app, [*command, *day, "--start", "48.8,2.3", "--user-list", str(tmp_path / "users.txt")])
    assert done.exit_code == 0, done.output
    assert (
        "Schedule: Day of 6000/km, 6 ticks at 00:00, 04:00, 08:00, 12:00, 16:00, 20:00 Europe/Paris" in done.output
    )
    assert len((tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()) == 25
    for options, message in (
        (day, "needs the days and a public point"),
        ([*day, "--start", "x"], "is no point"),
        (["--zone", "Europe/Paris"], "--zone is for --schedule"),
        ([*day, "--start", "48.8,2.3", "--user-list", str(source)], "cannot be read as text"),
        ([*day, "--start", "48.8,2.3", "--keep", "who"], "--keep does not fit --schedule"),
        (["--schedule", "6000/km", "--dates", "2026-03-28", "--start", "48.8,2.3"], "is no schedule"),
    ):
        refused = RUN.invoke(app, [*command, *options, "--again"])
        assert refused.exit_code == 1, refused.output
        assert message in refused.output


def test_an_interrupted_release_goes_on(tmp_path):
    source = write(fixes(users=200, rows=3000), tmp_path / "fixes.parquet")
    schedule = Schedule(DAY, "2026-03-29", START)
    options: dict[str, Any] = {"user": "who", "schedule": schedule, "batch_rows": 100}

    def stop(done):
        if done.rows >= 500:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare(STEEP, source, tmp_path / "o.parquet", **options).run(stop)
    outcome = prepare(STEEP, source, tmp_path / "o.parquet", resume=True, **options).run()
    assert (outcome.rows, outcome.resumed >= 500) == (1200, True)
    other = Schedule(DAY, "2026-03-28", START)
    with pytest.raises(KeyboardInterrupt):
        prepare(STEEP, source, tmp_path / "p.parquet", **options, again=True).run(stop)
    with pytest.raises(InputError):
        prepare(STEEP, source, tmp_path / "p.parquet", **{**options, "schedule": other}, resume=True).run()


def test_times_without_a_zone_are_utc(tmp_path):
    (tmp_path / "fixes.csv").write_text(
        "user,time,lat,lon\na,2026-03-29 07:59:59,48.85,2.35\na,2026-03-29T10:00:00+02:00,48.86,2.36\n",
        encoding="utf-8",
    )
    schedule = Schedule(sf.Day("1000/km", at=["08:00"]), "2026-03-29", START)
    sf.release(STEEP, tmp_path / "fixes.csv", tmp_path / "o.parquet", schedule=schedule)
    row = pq.read_table(tmp_path / "o.parquet").to_pylist()[0]
    assert row["time"] == datetime(2026, 3, 29, 8, tzinfo=UTC)
    assert row["latitude"] == pytest.approx(48.86, abs=1e-3)


def test_a_tick_has_a_report_wherever_its_position_is(tmp_path):
    far = sf.Visits([-33.9] * 5, [151.2] * 5, user=["a"] * 5, time=np.full(5, np.datetime64("2026-03-29", "us")))
    schedule = Schedule(DAY, "2026-03-29", START, ["a"])
    outcome = sf.release(STEEP, far, tmp_path / "o.parquet", schedule=schedule)
    assert (outcome.rows, outcome.moved) == (6, 5)
    with pytest.raises(DataError, match="outside"):
        sf.release(STEEP, far, tmp_path / "p.parquet", schedule=schedule, within="10 km")
