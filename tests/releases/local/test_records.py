"""The record of releases: one source is not released twice by mistake, whatever took the target's place since."""

import json
import os
import threading
import time
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.releases import prepare
from tests.releases.forks import Fork

MECHANISM = sf.Mechanism(np.full((5, 5), 1 / 5), sf.Space(range(5)))


@pytest.fixture
def folder(tmp_path):
    for name, rows in (("a", 6), ("b", 7), ("c", 8)):
        pq.write_table(pa.table({"answer": np.arange(rows) % 5}), tmp_path / f"{name}.parquet")
    return tmp_path


def prepared(folder, source="a.parquet", target="out.parquet", **options):
    return prepare(MECHANISM, folder / source, folder / target, column="answer", **options)


def test_a_target_that_is_used_again_does_not_make_a_source_new(folder):
    prepared(folder).run()
    for source in ("b.parquet", "c.parquet"):
        prepared(folder, source).run()
    with pytest.raises(InputError, match=r"released before, to 'out\.parquet' .*, whose table was replaced since"):
        prepared(folder)
    with pytest.raises(InputError, match="released before") as told:
        prepared(folder, "c.parquet")
    assert "use the file that is there" in told.value.hint
    (folder / "out.parquet").unlink()
    with pytest.raises(InputError, match="released before") as told:
        prepared(folder, "c.parquet")
    assert "use the file" not in told.value.hint
    prepared(folder, "c.parquet", again=True).run()
    assert "released 1 time before: 2 releases add up" in str(prepared(folder, again=True).run())
    assert "released 2 times before: 3 releases add up" in str(prepared(folder, target="o.csv", again=True).run())
    assert len(json.loads((folder / ".out.parquet.released.json").read_text())["releases"]) == 5


def test_the_record_stays_small(folder):
    prepared(folder).run()
    path = folder / ".out.parquet.released.json"
    held = json.loads(path.read_text())
    (one,) = held["releases"]
    held["releases"] = [{**one, "content": f"{k:040}", "run": f"{k:032}"} for k in range(6_000)]
    path.write_text(json.dumps(held))
    prepared(folder).run()
    kept = json.loads(path.read_text())["releases"]
    assert path.stat().st_size <= 1 << 20
    assert len(kept) > 4_000
    assert kept[-1]["content"] == one["content"]
    assert kept[-2]["content"] == f"{5999:040}"
    with pytest.raises(InputError, match="released before"):
        prepared(folder)


def test_releases_that_were_prepared_before_are_refused_when_they_run(folder):
    first, second = prepared(folder), prepared(folder, target="other.parquet")
    first.run()
    with pytest.raises(InputError, match=r"released before, to 'out\.parquet'"):
        second.run()
    with pytest.raises(InputError, match="has run"):
        first.run()
    assert not (folder / "other.parquet").exists()
    assert not [path for path in folder.iterdir() if path.name.endswith(".release")]
    again = prepared(folder, target="other.parquet", again=True)
    assert "2 releases add up" in str(again.run())
    assert "3 releases add up" in str(again.run())


def test_what_was_in_memory_is_released_once_by_each_object(folder):
    made = prepare(MECHANISM, pa.table({"answer": [1, 2]}), folder / "m.parquet", column="answer")
    made.run()
    with pytest.raises(InputError, match="has run"):
        made.run()


def test_a_run_that_failed_can_be_tried_again(folder):
    made = prepared(folder)
    (folder / ".out.parquet.release").mkdir()
    (folder / ".out.parquet.release" / "run.json").mkdir()
    with pytest.raises(FileError):
        made.run()
    assert made.run().rows == 6


def test_two_at_once_do_not_release_one_source(folder):
    first, second = prepared(folder, batch_rows=2), prepared(folder, target="other.parquet")
    refused: list[str] = []

    def meet(_):
        if not refused:
            with pytest.raises(
                InputError, match=r"another process is releasing this source .*\.out\.parquet\.release"
            ):
                second.run()
            refused.append("yes")

    first.run(meet)
    assert refused
    assert not (folder / "other.parquet").exists()


def racing(say, folder, number):
    made = prepared(folder, target=f"{number}.parquet", batch_rows=1)
    say("ready")
    while not (folder / "go").exists():
        time.sleep(0.001)
    try:
        made.run()
        say("released")
    except InputError as error:
        say(str(error).split(",")[0])


@pytest.mark.slow
def test_of_many_that_begin_at_once_one_at_most_goes_on(folder):
    for _ in range(3):
        forks = [Fork(racing, folder, number) for number in range(3)]
        assert [fork.line() for fork in forks] == ["ready"] * 3
        (folder / "go").touch()
        said = [line for fork in forks for line in fork.rest() if line != "done"]
        tables = list(folder.glob("?.parquet"))
        made = sorted(path.name for path in tables if path.stem.isdigit())
        assert said.count("released") == len(made) <= 1
        for path in [folder / "go", *(folder / name for name in made), *folder.glob(".*.released.json")]:
            path.unlink()


def interrupted(folder, **options):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepared(folder, batch_rows=2, **options).run(stop)


def test_an_interrupted_release_does_not_go_on_beside_another_one(folder):
    interrupted(folder)
    prepared(folder, target="other.parquet").run()
    with pytest.raises(InputError, match=r"released before, to 'other\.parquet'"):
        prepared(folder, batch_rows=2, resume=True).run()
    done = prepared(folder, batch_rows=2, resume=True, again=True).run()
    assert done.rows == 6


def test_a_release_that_was_wanted_again_goes_on_without_asking_again(folder):
    prepared(folder).run()
    interrupted(folder, target="other.parquet", again=True)
    done = prepared(folder, target="other.parquet", batch_rows=2, resume=True).run()
    assert "released 1 time before: 2 releases add up" in str(done)


def test_an_interrupted_release_is_not_in_the_way_of_others(folder):
    interrupted(folder)
    assert prepared(folder, target="other.parquet").run().rows == 6


def test_threads_count_as_processes(folder):
    said: list[str] = []
    begin = threading.Barrier(4)

    def work(number):
        made = prepared(folder, target=f"{number}.parquet", batch_rows=1)
        begin.wait()
        try:
            made.run()
            said.append("released")
        except InputError:
            said.append("refused")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 4
    assert said.count("released") == len([path for path in os.listdir(folder) if path[0].isdigit()]) <= 1


def test_releases_that_share_some_columns_are_all_counted(tmp_path):
    (tmp_path / "survey.csv").write_text("diagnosis,age\nflu,1\ncold,2\n")
    ill, age = sf.Space(["flu", "cold"]), sf.Space([1, 2])
    alone = {
        "diagnosis": sf.Mechanism(np.full((2, 2), 1 / 2), ill),
        "age": sf.Mechanism(np.full((2, 2), 1 / 2), age),
    }
    for target, column in (("private", "diagnosis"), ("private2", "diagnosis"), ("pa", "age")):
        made = prepare(
            alone[column],
            tmp_path / "survey.csv",
            tmp_path / f"{target}.csv",
            column=column,
            again=target == "private2",
        )
        made.run()  # age is not refused: nothing of it was released before
    both: Any = {"column": ["diagnosis", "age"]}
    with pytest.raises(
        InputError, match="draws every row once more, and both together reveal more than one"
    ) as refused:
        prepare(alone, tmp_path / "survey.csv", tmp_path / "joint.csv", **both)
    assert "twice" not in str(refused.value)
    done = prepare(alone, tmp_path / "survey.csv", tmp_path / "joint.csv", **both, again=True).run()
    assert "released 3 times before: 4 releases add up" in str(done)
    last = prepare(alone["age"], tmp_path / "survey.csv", tmp_path / "last.csv", column="age", again=True).run()
    assert "released 2 times before: 3 releases add up" in str(last)
