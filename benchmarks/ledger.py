"""Charges a second in a ledger, and the time of one charge and one report and of a bare commit on the same disk.

    python -m benchmarks.ledger FOLDER --users 1000000

A ledger of so many users is filled in batches. Then single charges, fresh reports and remembered ones are timed,
and commits of one row in a bare SQLite file with the same settings: no charge that is to survive a crash can be
faster than these. With ``--postgres URL`` the same is done in a database there, which must be empty.
"""

from __future__ import annotations

import argparse
import resource
import sqlite3
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import sfumato as sf
from sfumato.geo import Projection
from sfumato.ledgers import Charge, Ledger
from sfumato.mechanisms.planar import CoordinateNoise

BATCH = 20_000
SINGLE = 1_000


def main() -> None:
    """Fill a ledger, and print what it took."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ledger", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the SQLite files are made")
    parser.add_argument("--users", type=int, default=1_000_000, help="how many users the ledger has")
    parser.add_argument("--postgres", help="a database to do the same in")
    asked = parser.parse_args()
    _print_times("a bare commit", _bare(asked.folder / "bare.db"))
    for address in [str(asked.folder / "ledger.db"), *([asked.postgres] if asked.postgres else [])]:
        _measure(address, asked.users)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"peak memory: {peak:,.0f} MiB\n")


def _measure(address: str, users: int) -> None:
    ledger = Ledger.create(address, ["1000/km per day", "100000/km"])
    noise = CoordinateNoise("1/km", "2 m", Projection(48.86, 2.34), "30 km")
    app = sf.Blur(noise, ledger)
    sys.stdout.write(f"{ledger}\n")
    start, spent = time.perf_counter(), time.process_time()
    for number in range(0, users, BATCH):
        some = range(number, min(number + BATCH, users))
        ledger.charge_many([Charge(f"user {each}", 0.1) for each in some], run="fill", batch=number // BATCH)
    wall, cpu = time.perf_counter() - start, time.process_time() - spent
    sys.stdout.write(
        f"batches of {BATCH:,}: {users / wall:,.0f} charges a second ({users / cpu:,.0f} per CPU second)\n"
    )
    step = max(1, users // SINGLE)
    names = [f"user {number}" for number in range(0, users, step)][:SINGLE]
    _print_times("one charge", _timed(names, lambda user: ledger.charge(user, 0.1)))
    _print_times("one report, drawn", _timed(names, lambda user: app.report(user, 48.86, 2.34, place="home")))
    _print_times("one report, repeated", _timed(names, lambda user: app.report(user, 48.86, 2.34, place="home")))
    start = time.perf_counter()
    found = ledger.check()
    sys.stdout.write(f"check: {time.perf_counter() - start:.1f} s. {found}\n")


def _bare(path: Path) -> list[tuple[float, float]]:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE t (a)")

    def commit(name: str) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO t VALUES (?)", (name,))
        connection.execute("COMMIT")

    found = _timed([str(number) for number in range(SINGLE)], commit)
    connection.close()
    return found


def _timed(names: list[str], act: Callable[[str], object]) -> list[tuple[float, float]]:
    """Return the wall and processor seconds of each call."""
    found = []
    for name in names:
        start, spent = time.perf_counter(), time.process_time()
        act(name)
        found.append((time.perf_counter() - start, time.process_time() - spent))
    return found


def _print_times(what: str, times: list[tuple[float, float]]) -> None:
    wall = sorted(each[0] * 1e6 for each in times)
    cpu = statistics.median(each[1] * 1e6 for each in times)
    most = wall[len(wall) * 95 // 100]
    sys.stdout.write(
        f"{what}: median {statistics.median(wall):,.0f} us, 95 of 100 within {most:,.0f} us; "
        f"{cpu:,.0f} us of processor time\n"
    )


if __name__ == "__main__":
    main()
