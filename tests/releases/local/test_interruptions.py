"""Releases that are killed: nothing half-written is taken for whole, and no row is drawn twice."""

import itertools
import json
import os
import random
import shutil
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.releases import RowsDone, engine, prepare, read_mark
from sfumato.releases.work_folder import WorkFolder
from tests.releases.forks import SEARCH, Fork, Say, Steps

ROWS, BATCH = 6_000, 200
BATCHES = ROWS // BATCH
LARGE = ROWS // 3  # rows of a batch where every step of a release is tried


def going(say, folder, rows=BATCH, progress=None):
    """Release, or go on with a release, in a process of its own."""
    made = prepared(folder, batch_rows=rows, resume=goes_on(folder))
    say("ready")
    made.run(progress)


def pausing(say: Say, folder: Path, batches: int) -> None:
    """Release, or go on with a release; say so once that many batches are done, and wait to be killed."""

    def wait(done: RowsDone) -> None:
        if done.rows == batches * BATCH:
            say("there")
            signal.pause()

    going(say, folder, progress=wait)


def stepping(say: Say, folder: Path, step: int) -> None:
    """Release, or go on with a release, and be killed before a step of it."""
    cast(Any, engine).cores = lambda: 1  # one thread draws, so that the steps come in one order
    steps = Steps(step)
    steps.watch(folder)
    going(say, folder, rows=LARGE)


def overtaking(say: Say, folder: Path) -> None:
    """Release in three threads, and be killed once two later parts are on the disk, but not the first."""
    cast(Any, engine).cores = lambda: 3
    keep, later = WorkFolder.keep, threading.Semaphore(0)

    def kept(place: WorkFolder, part: Any, private: Any) -> None:
        if part.start == 0:
            later.acquire()
            later.acquire()
            os.kill(os.getpid(), signal.SIGKILL)
        keep(place, part, private)
        later.release()

    cast(Any, WorkFolder).keep = kept
    going(say, folder)


def halting(say, folder):
    """Release in a process of its own; say so once a part is on the disk, and wait until the test goes on."""
    keep = WorkFolder.keep

    def kept(place: WorkFolder, part: Any, private: Any) -> None:
        keep(place, part, private)
        if part.start == 0:
            say("kept")
            while not (folder / "go").exists():
                time.sleep(0.002)

    cast(Any, WorkFolder).keep = kept
    prepared(folder).run()


@pytest.fixture
def folder(tmp_path):
    sf.save(sf.Mechanism(np.full((50, 50), 1 / 50), sf.Space(range(50))), tmp_path / "m.sfm")
    table = pa.table({"answer": np.arange(ROWS) % 50, "id": np.arange(ROWS)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=3_500)
    return tmp_path


def drawn_so_far(folder):
    """Return the reports of all rows that are on the disk, by row."""
    place = folder / ".out.parquet.release"
    found: dict[int, int] = {}
    if not place.exists():
        return found
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    for path in place.glob("part-*"):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path
        if path.suffix == ".arrow":
            with pa.ipc.open_file(path) as reader:
                batch = reader.get_batch(0)
            found.update(zip(batch["id"].to_pylist(), batch["label"].to_pylist(), strict=True))
    return found


def goes_on(folder):
    return (folder / ".out.parquet.release" / "run.json").exists()


def killed_until_done(folder: Path, kills: Iterable[Callable[[], bool]], rows: int = BATCH) -> int:
    """Kill a release in these ways and let it finish; return how often it was hit.

    Args:
        folder: Where it is.
        kills: What starts it, or goes on with it, and kills it; each returns whether it was still at work.
        rows: Rows of a batch.
    """
    hits = 0
    drawn: dict[int, int] = {}
    for kill in kills:
        hits += kill()
        now = drawn_so_far(folder)
        if (folder / "out.parquet").exists():
            break
        assert drawn.items() <= now.items()  # what was drawn once is never drawn again
        drawn = now
    place = folder / ".out.parquet.release"
    if not (folder / "out.parquet").exists() or goes_on(folder):
        prepared(folder, batch_rows=rows, resume=goes_on(folder)).run()
    table = pq.read_table(folder / "out.parquet")
    assert table["id"].to_pylist() == list(range(ROWS))
    labels = table["label"].to_pylist()
    assert all(labels[row] == report for row, report in drawn.items())
    assert not goes_on(folder)
    if place.exists():  # killed between the table and the last of its parts: nothing goes on from there
        shutil.rmtree(place)
    return hits


def killed_after(folder: Path, batches: int) -> bool:
    """Kill a release that has done so many batches."""
    run = Fork(pausing, folder, batches)
    assert [run.line(), run.line()] == ["ready", "there"]
    return run.kill()


def started_anew(folder):
    (folder / "out.parquet").unlink()
    (folder / ".out.parquet.released.json").unlink()


def test_a_release_that_is_killed_goes_on(folder):
    kills = [partial(killed_after, folder, batches) for batches in (1, BATCHES // 2, BATCHES)]
    assert killed_until_done(folder, kills) == len(kills)
    left = {path.name for path in folder.iterdir() if not path.name.endswith(".part")}  # small files, half written
    assert left == {"m.sfm", "in.parquet", "out.parquet", ".out.parquet.released.json"}


@pytest.mark.slow
def test_killed_at_every_step(folder):
    """Before each change of the folder, and in the middle of each file: a release, and once more as it goes on."""
    for step in itertools.count(1):
        kills = [lambda step=step: Fork(stepping, folder, step).died()] * 2
        if not killed_until_done(folder, kills, LARGE):
            break
        started_anew(folder)
    assert step > 20


def test_a_part_that_overtook_another_stays(folder):
    def kill() -> bool:
        killed = Fork(overtaking, folder).died()
        assert min(drawn_so_far(folder)) >= BATCH  # any two later parts
        return killed

    assert killed_until_done(folder, [kill]) == 1


if SEARCH is not None:

    def test_kills_at_random_moments(folder):
        chance, hits = random.Random(SEARCH), 0
        begun = time.monotonic()
        killed_until_done(folder, [])
        seconds = time.monotonic() - begun

        def kill() -> bool:
            run = Fork(going, folder)
            assert run.line() == "ready"
            time.sleep(chance.uniform(0, seconds))
            return run.kill()

        while hits < 50:
            started_anew(folder)
            hits += killed_until_done(folder, [kill] * 8)


def prepared(folder, **options):
    return prepare(
        sf.load(folder / "m.sfm"),
        folder / "in.parquet",
        folder / "out.parquet",
        column="answer",
        keep=["id"],
        **{"batch_rows": BATCH, **options},
    )


def interrupted(folder, **options):
    """Leave a release as Ctrl-C does, after some batches."""
    made = prepared(folder, **options)

    def stop(done):
        if done.rows >= 20 * BATCH:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made.run(stop)


def test_an_interrupted_release_leaves_no_table_and_goes_on(folder):
    interrupted(folder)
    before = drawn_so_far(folder)
    assert not (folder / "out.parquet").exists()
    assert len(before) >= 20 * BATCH
    again = prepared(folder, resume=True)
    done = again.run()
    assert f"{len(before):,} rows had been drawn before the interruption" in str(done)
    labels = pq.read_table(folder / "out.parquet")["label"].to_pylist()
    assert all(labels[row] == report for row, report in before.items())


def test_parts_are_removed_by_a_new_start(folder):
    interrupted(folder)
    done = prepare(sf.load(folder / "m.sfm"), folder / "in.parquet", folder / "out.parquet", column="answer").run()
    assert "parts of an interrupted release were removed unread" in str(done)
    assert done.rows == ROWS


def test_only_the_same_release_goes_on(folder):
    mechanism = sf.load(folder / "m.sfm")
    options: dict[str, Any] = {"column": "answer", "keep": ["id"], "batch_rows": BATCH, "resume": True}
    with pytest.raises(InputError, match="no interrupted release"):
        prepare(mechanism, folder / "in.parquet", folder / "out.parquet", **options).run()
    interrupted(folder)
    other = sf.Mechanism(np.eye(50), sf.Space(range(50)))
    for drawable, wishes, what in (
        (other, options, "another mechanism"),
        (mechanism, {**options, "keep": []}, "another set of options"),
        (mechanism, {**options, "batch_rows": 300}, "another size of parts"),
    ):
        with pytest.raises(InputError, match=what):
            prepare(drawable, folder / "in.parquet", folder / "out.parquet", **wishes).run()
    os.utime(folder / "in.parquet", (1, 1))
    with pytest.raises(InputError, match="another source"):
        prepare(mechanism, folder / "in.parquet", folder / "out.parquet", **options).run()
    assert len(drawn_so_far(folder)) >= 20 * BATCH
    table = pa.table({"answer": [1]})
    with pytest.raises(InputError, match="only a release of a file"):
        prepare(mechanism, table, folder / "out.parquet", column="answer", resume=True)


def test_a_damaged_part_is_noticed(folder):
    interrupted(folder)
    part = sorted((folder / ".out.parquet.release").glob("part-*.arrow"))[3]
    part.write_bytes(part.read_bytes()[:100])
    with pytest.raises(FileError, match="is damaged"):
        prepare(
            sf.load(folder / "m.sfm"),
            folder / "in.parquet",
            folder / "out.parquet",
            column="answer",
            keep=["id"],
            batch_rows=BATCH,
            resume=True,
        ).run()
    assert not (folder / "out.parquet").exists()


def test_two_releases_to_one_target_do_not_meet(folder):
    run = Fork(halting, folder)
    assert run.line() == "kept"
    made = prepare(
        sf.load(folder / "m.sfm"), folder / "in.parquet", folder / "out.parquet", column="answer", again=True
    )
    try:
        with pytest.raises(FileError, match="another process is writing"):
            made.run()
    finally:
        (folder / "go").touch()
    assert run.rest() == ["done"]
    assert pq.read_metadata(folder / "out.parquet").num_rows == ROWS


def test_a_folder_of_somebody_else_is_not_used(folder):
    (folder / "elsewhere").mkdir()
    (folder / ".out.parquet.release").symlink_to(folder / "elsewhere")
    with pytest.raises(FileError, match="is not a folder of yours"):
        prepare(sf.load(folder / "m.sfm"), folder / "in.parquet", folder / "out.parquet", column="answer").run()
    assert not list((folder / "elsewhere").iterdir())


def test_a_source_is_not_released_twice_by_mistake(folder):
    mechanism = sf.load(folder / "m.sfm")
    sf.release(mechanism, folder / "in.parquet", folder / "out.parquet", column="answer")
    record = folder / ".out.parquet.released.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    (folder / "in.parquet").rename(folder / "renamed.parquet")
    with pytest.raises(InputError, match=r"released before, to 'out.parquet'"):
        sf.release(mechanism, folder / "renamed.parquet", folder / "other.csv", column="answer")
    done = sf.release(mechanism, folder / "renamed.parquet", folder / "other.csv", column="answer", again=True)
    assert "released 1 time before: 2 releases add up" in str(done)
    done = sf.release(mechanism, folder / "renamed.parquet", folder / "third.arrow", column="answer", again=True)
    assert "released 2 times before: 3 releases add up" in str(done)
    assert [json.loads(record.read_text())["releases"][0]["mechanism"]] == list(done.mark)
    marks = [read_mark(folder / name) for name in ("out.parquet", "other.csv", "third.arrow")]
    assert all(mark is not None and mark.mechanisms == done.mark for mark in marks)
