"""Releases with places and ledgers that are killed: no row is drawn twice, nobody charged twice, no spend lost."""

import os
import random
import shutil
import time
from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.geo import Lattice
from sfumato.releases import prepare
from sfumato.releases.budget import Blur, Ledger
from tests.releases.forks import Fork

ROWS, USERS, BATCH = 24_000, 12, 500
KINDS = ("charged", "places", "charged places")


def going(say, folder, kind):
    """Release, or go on with a release, in a process of its own."""
    drawn: Any = sf.load(folder / "m.sfm")
    if "charged" in kind:
        drawn = Blur(drawn, Ledger(folder / "l.db"), sf.CoordinatePrivacy("1/km"))
    made = prepare(
        drawn,
        folder / "in.parquet",
        folder / "out.parquet",
        user="user",
        keep=["id"],
        place_column="venue" if "places" in kind else None,
        batch_rows=BATCH,
        resume=(folder / ".out.parquet.release" / "run.json").exists(),
    )
    say("ready")
    made.run()


def users_and_places():
    rows = np.arange(ROWS)
    places = [None if row % 3 == 0 else f"p{row * 7919 % 800}" for row in rows.tolist()]
    return [f"u{row % USERS}" for row in rows.tolist()], places


@pytest.fixture
def folder(tmp_path):
    lattice = Lattice.covering("6 km x 6 km around 48.85,2.35", "500 m", kind="triangular")
    sf.save(sf.Mechanism(np.full((len(lattice), len(lattice)), 1 / len(lattice)), lattice), tmp_path / "m.sfm")
    users, places = users_and_places()
    columns = {"lat": np.full(ROWS, 48.85), "lon": np.full(ROWS, 2.35), "user": users, "venue": places}
    pq.write_table(pa.table({**columns, "id": np.arange(ROWS)}), tmp_path / "in.parquet", row_group_size=7_000)
    Ledger.create(tmp_path / "l.db", "1000000/km")
    return tmp_path


def on_the_disk(folder):
    """Return the reports of all rows in parts, by row."""
    found: dict[int, str] = {}
    for path in (folder / ".out.parquet.release").glob("part-*.arrow"):
        with pa.ipc.open_file(path) as reader:
            batch = reader.get_batch(0)
        found.update(zip(batch["id"].to_pylist(), batch["label"].to_pylist(), strict=True))
    return found


def owed(kind, rows=range(ROWS)):
    """Return the reports that each user must be charged for."""
    if "charged" not in kind:
        return Counter()
    users, places = users_and_places()
    if kind == "charged":
        return Counter(users[row] for row in rows)
    alone = Counter(users[row] for row in rows if places[row] is None)
    return alone + Counter(user for user, _ in {(users[row], places[row]) for row in rows if places[row]})


def spent(folder):
    with Ledger(folder / "l.db") as ledger:
        assert ledger.check().sound
        return Counter({user: int(ledger.balance(user).spent) for user in ledger.users})


def check_shared(reports):
    users, places = users_and_places()
    labels: dict[object, set[str]] = {}
    for row, label in reports.items():
        labels.setdefault((users[row], places[row]) if places[row] else row, set()).add(label)
    assert max(map(len, labels.values()), default=1) == 1


def seconds_of_a_release(folder, kind):
    """Return how long one takes here and now; nothing of it is left."""
    run = Fork(going, folder, kind)
    assert run.line() == "ready"
    begun = time.monotonic()
    assert run.rest() == ["done"]
    started_anew(folder)
    return time.monotonic() - begun


def killed_until_done(folder, kind, kills, seconds):
    """Kill a release at random moments, so often, and let it finish; return how often it was hit.

    Args:
        folder: Where it is.
        kind: Whether it has places, a ledger or both.
        kills: How often.
        seconds: About how long it takes.
    """
    chance, hits = random.Random(), 0
    before, paid = dict[int, str](), spent(folder)
    assert not paid
    for _ in range(kills):
        run = Fork(going, folder, kind)
        assert run.line() == "ready"
        time.sleep(chance.uniform(0, seconds))
        hits += run.kill()
        now = on_the_disk(folder)
        charged = spent(folder)
        assert paid <= charged <= owed(kind)
        if (folder / "out.parquet").exists():
            break
        assert before.items() <= now.items()  # what was drawn once is never drawn again
        assert owed(kind, now) <= charged  # and was paid for
        before, paid = now, charged
        if "places" in kind:
            check_shared(now)
    if not (folder / "out.parquet").exists():
        assert Fork(going, folder, kind).rest() == ["ready", "done"]
    table = pq.read_table(folder / "out.parquet")
    assert table["id"].to_pylist() == list(range(ROWS))
    labels = dict(enumerate(table["label"].to_pylist()))
    assert before.items() <= labels.items()
    assert spent(folder) == owed(kind)
    if "places" in kind:
        check_shared(labels)
    return hits


def started_anew(folder):
    with Ledger(folder / "l.db") as ledger:
        assert ledger.check().sound
    for path in folder.glob("l.db*"):
        path.unlink()
    Ledger.create(folder / "l.db", "1000000/km").close()
    for name in ("out.parquet", ".out.parquet.released.json"):
        (folder / name).unlink(missing_ok=True)
    shutil.rmtree(folder / ".out.parquet.release", ignore_errors=True)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "kills"), [("charged", 15), ("places", 15), ("charged places", 50)])
def test_kills_with_places_and_ledgers(folder, kind, kills):
    hits, seconds = 0, seconds_of_a_release(folder, kind)
    while hits < kills:
        hits += killed_until_done(folder, kind, min(8, kills - hits), seconds)
        started_anew(folder)


@pytest.mark.slow
def test_a_killed_release_goes_on_where_it_was(folder):
    seconds = seconds_of_a_release(folder, "charged places")
    while not killed_until_done(folder, "charged places", 1, seconds):  # it was faster than the signal
        started_anew(folder)


def prepared(folder, kind, *, ledger=None, target="out.parquet", **options):
    drawn: Any = sf.load(folder / "m.sfm")
    if "charged" in kind:
        drawn = Blur(drawn, ledger or Ledger(folder / "l.db"), sf.CoordinatePrivacy("1/km"))
    return prepare(
        drawn,
        folder / "in.parquet",
        folder / target,
        user="user",
        keep=["id"],
        place_column="venue" if "places" in kind else None,
        batch_rows=BATCH,
        **options,
    )


def interrupted(folder, kind):
    def stop(done):
        if done.rows >= 10 * BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared(folder, kind).run(stop)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.slow
def test_of_two_processes_at_one_target_one_goes_on(folder, kind):
    interrupted(folder, kind)
    told: list[str] = []

    def meet(_):
        if not told:
            for resume in (True, False):
                with pytest.raises(FileError, match="another process is writing a release"):
                    prepared(folder, kind, resume=resume, **({} if resume else {"again": True})).run()
            if kind == "charged places":
                told.extend(Fork(going, folder, kind).rest())  # it would go on, too
            else:
                told.append("another process is writing a release")

    done = prepared(folder, kind, resume=True).run(meet)
    assert "another process is writing a release" in "".join(told)
    assert done.rows == ROWS
    assert spent(folder) == owed(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_of_the_work_folder_does_not_go_on(folder, kind):
    interrupted(folder, kind)
    shutil.copytree(folder / ".out.parquet.release", folder / ".other.parquet.release")
    with pytest.raises(InputError, match="had another folder"):
        prepared(folder, kind, target="other.parquet", resume=True).run()
    os.rename(folder / ".out.parquet.release", folder / "was")
    shutil.copytree(folder / "was", folder / ".out.parquet.release")
    with pytest.raises(InputError, match="had another folder"):
        prepared(folder, kind, resume=True).run()


def test_a_release_goes_on_with_its_ledger_only(folder, monkeypatch):
    interrupted(folder, "charged")
    other = Ledger.create(folder / "other.db", "1000000/km")
    with pytest.raises(InputError, match="had another ledger"):
        prepared(folder, "charged", ledger=other, resume=True).run()
    drawn = sf.load(folder / "m.sfm")
    with pytest.raises(InputError, match="had another ledger"):
        prepare(
            drawn,
            folder / "in.parquet",
            folder / "out.parquet",
            user="user",
            keep=["id"],
            batch_rows=BATCH,
            resume=True,
        ).run()
    assert not other.users
    monkeypatch.chdir(folder)
    (folder / "link.db").symlink_to("l.db")
    assert prepared(folder, "charged", ledger=Ledger("link.db"), resume=True).run().rows == ROWS
    assert spent(folder) == owed("charged")


def test_a_release_does_not_go_on_without_its_places(folder):
    interrupted(folder, "places")
    (folder / ".out.parquet.release" / "places.db").unlink()
    with pytest.raises(FileError, match=r"places\.db', which the interrupted release needs, is gone"):
        prepared(folder, "places", resume=True).run()
    assert not (folder / "out.parquet").exists()


def test_a_damaged_memo_is_noticed(folder):
    interrupted(folder, "places")
    (folder / ".out.parquet.release" / "places.db").write_bytes(b"SQLite format 3" + b"\0" * 5000)
    with pytest.raises(FileError, match="places of the release could not be kept or read"):
        prepared(folder, "places", resume=True).run()
