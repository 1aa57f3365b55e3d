"""Releases with places and ledgers that are killed: no row is drawn twice, nobody charged twice, no spend lost."""

import itertools
import os
import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sqlalchemy import Engine, event
from sqlalchemy.pool import Pool

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.geo import Lattice
from sfumato.ledgers import Blur, Ledger
from sfumato.releases import prepare
from sfumato.releases.work_folder import PlaceMemo
from tests.releases.forks import SEARCH, Fork, Say, Steps

ROWS, USERS, BATCH = 480, 12, 20
PLACES = 16
LARGE = ROWS // 2  # rows of a batch where every step of a release is tried
KINDS = ("charged", "places", "charged places")


def going(say, folder, kind):
    """Release, or go on with a release, in a process of its own."""
    made = prepared(folder, kind, resume=goes_on(folder))
    say("ready")
    made.run()


def stepping(say: Say, folder: Path, kind: str, step: int) -> None:
    """Release, or go on with a release, and be killed before or after a charge, a memo of places or a part.

    All other steps of a release are tried in `test_interruptions` and `test_published`.
    """
    steps = Steps(step)
    start = PlaceMemo.__init__

    def started(memo: PlaceMemo, *given: Any, **options: Any) -> None:
        start(memo, *given, **options)
        cast(Any, memo)._database.set_trace_callback(
            lambda statement: steps() if statement.startswith(("BEGIN", "COMMIT")) else None
        )

    cast(Any, PlaceMemo).__init__ = started
    made = prepared(folder, kind, batch_rows=LARGE, resume=goes_on(folder))
    steps.watch(folder / ".out.parquet.release" / "part-")
    event.listen(Engine, "commit", steps)
    event.listen(Pool, "checkin", steps)
    say("ready")
    made.run()


def users_and_places():
    rows = np.arange(ROWS)
    places = [None if row % 3 == 0 else f"p{row * 7919 % PLACES}" for row in rows.tolist()]
    return [f"u{row % USERS}" for row in rows.tolist()], places


@pytest.fixture
def folder(tmp_path):
    lattice = Lattice.covering("6 km x 6 km around 48.85,2.35", "1 km", kind="triangular")
    sf.save(sf.Mechanism(np.full((len(lattice), len(lattice)), 1 / len(lattice)), lattice), tmp_path / "m.sfm")
    users, places = users_and_places()
    columns = {"lat": np.full(ROWS, 48.85), "lon": np.full(ROWS, 2.35), "user": users, "venue": places}
    pq.write_table(pa.table({**columns, "id": np.arange(ROWS)}), tmp_path / "in.parquet", row_group_size=140)
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


def goes_on(folder):
    return (folder / ".out.parquet.release" / "run.json").exists()


def killed_until_done(folder: Path, kind: str, kills: Iterable[Callable[[], bool]], rows: int = BATCH) -> int:
    """Kill a release in these ways and let it finish; return how often it was hit.

    Args:
        folder: Where it is.
        kind: Whether it has places, a ledger or both.
        kills: What starts it, or goes on with it, and kills it; each returns whether it was still at work.
        rows: Rows of a batch.
    """
    hits = 0
    before, paid = dict[int, str](), spent(folder)
    assert not paid
    for kill in kills:
        hits += kill()
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
        prepared(folder, kind, batch_rows=rows, resume=goes_on(folder)).run()
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
@pytest.mark.parametrize(("kind", "times"), [("charged", 1), ("places", 1), ("charged places", 2)])
def test_killed_at_every_step(folder, kind, times):
    """A release, and with the second kill the run that goes on."""
    for step in itertools.count(1):
        kills = [partial(died, folder, kind, step)] * times
        if not killed_until_done(folder, kind, kills, LARGE):
            break
        started_anew(folder)
    assert step > 10


def died(folder, kind, step):
    return Fork(stepping, folder, kind, step).died()


def test_a_killed_release_goes_on_where_it_was(folder):
    kills = [partial(died, folder, "charged places", step) for step in (11, 5, 2)]
    assert killed_until_done(folder, "charged places", kills, LARGE) == len(kills)


if SEARCH is not None:

    @pytest.mark.parametrize("kind", KINDS)
    def test_kills_at_random_moments(folder, kind):
        chance, hits = random.Random(SEARCH), 0
        begun = time.monotonic()
        killed_until_done(folder, kind, [])
        seconds = time.monotonic() - begun

        def kill() -> bool:
            run = Fork(going, folder, kind)
            assert run.line() == "ready"
            time.sleep(chance.uniform(0, seconds))
            return run.kill()

        while hits < 50:
            started_anew(folder)
            hits += killed_until_done(folder, kind, [kill] * 8)


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
        **{"batch_rows": BATCH, **options},
    )


def interrupted(folder, kind):
    def stop(done):
        if done.rows >= 10 * BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared(folder, kind).run(stop)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", KINDS)
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


@pytest.mark.thinned(2)
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
