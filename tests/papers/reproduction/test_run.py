"""Runs of studies: kept part by part, resumed to the same bytes, and never mixed."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato_papers.reproduction import SECONDS, Judgement, RunTables, Setting, StudyPart, run
from sfumato_papers.reproduction.run import kept_parts

from .toy import PARTS, failing, paper

NOTHING = Setting(quick=True, data={}, has_files=False)
PATIENCE_S = 300.0
"""Seconds that a busy machine may take for anything."""


def bytes_of(folder):
    """Return what two runs of the same study have in common: all but times."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.is_file() and not path.stem.endswith(SECONDS)
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    found = run(paper(), NOTHING, folder)
    assert (found.parts, found.parts_before) == (PARTS, 0)
    assert [claim.verdict for claim in found.claims] == [Judgement.CONFIRMED]
    return bytes_of(folder)


def test_a_run_writes_everything(whole):
    assert sorted(whole) == [
        "claims.csv",
        "counts.csv",
        "environment.json",
        "index.html",
        "run.json",
        "thirds.svg",
    ]
    assert b"Counting" in whole["index.html"]
    assert b"The last is 11." in whole["index.html"]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.slow
def test_a_killed_run_is_resumed_to_the_same_bytes(tmp_path, whole, processes):
    for least in (1, 4, 9):
        work = subprocess.Popen(
            [sys.executable, "-m", "tests.papers.reproduction.toy", str(tmp_path), str(processes)]
        )
        until = time.monotonic() + PATIENCE_S
        while count(tmp_path) < least:
            assert time.monotonic() < until
            time.sleep(0.005)
        work.kill()
        work.wait()
        kept = count(tmp_path)
    found = run(paper(), NOTHING, tmp_path)
    assert found.parts_before >= kept  # a worker may have ended its part since
    until = time.monotonic() + PATIENCE_S
    while left(tmp_path):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert bytes_of(tmp_path) == whole


def left(folder):
    """Return the processes that did a part, but for this one, and still run."""
    parts = [json.loads(path.read_text())["tables"]["counts-seconds"] for path in (folder / "parts").iterdir()]
    pids = {dict(zip(part["columns"], row, strict=True))["process"] for part in parts for row in part["rows"]}
    return [pid for pid in pids - {os.getpid()} if runs(pid)]


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def count(folder):
    return len(list((folder / "parts").glob("*.json")))


def test_parts_that_are_done_stay_when_one_fails(tmp_path, whole):
    run(paper(), NOTHING, tmp_path)
    (tmp_path / "parts" / "number-3.json").unlink()
    with pytest.raises(ValueError, match="3"):
        run(paper(make=failing), NOTHING, tmp_path)
    assert count(tmp_path) == PARTS - 1
    assert run(paper(), NOTHING, tmp_path).parts_before == PARTS - 1
    assert bytes_of(tmp_path) == whole


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"seconds": 1, "tables": {"counts": {"columns": [], "rows": [[1]]}}}']
)
def test_a_part_that_cannot_be_read_is_done_again(tmp_path, whole, content):
    run(paper(), NOTHING, tmp_path)
    (tmp_path / "parts" / "number-5.json").write_bytes(content)
    assert run(paper(), NOTHING, tmp_path).parts_before == PARTS - 1
    assert bytes_of(tmp_path) == whole


def test_what_a_killed_run_left_half_written_goes_away(tmp_path, whole):
    run(paper(), NOTHING, tmp_path)
    (tmp_path / ".counts.csv.0123456789ab.part").write_text("number,third")
    (tmp_path / "parts" / ".number-5.json.0123456789ab.part").touch()
    run(paper(), NOTHING, tmp_path)
    assert bytes_of(tmp_path) == whole
    assert not list((tmp_path / "parts").glob(".*"))


def test_one_run_at_a_time_writes_to_a_folder(tmp_path, whole):
    with kept_parts(tmp_path, "toy", NOTHING), pytest.raises(InputError, match="another run is writing to"):
        run(paper(), NOTHING, tmp_path)
    run(paper(), NOTHING, tmp_path)
    assert bytes_of(tmp_path) == whole


def test_another_run_is_not_mixed_in(tmp_path, whole):
    run(paper(), NOTHING, tmp_path)
    before = bytes_of(tmp_path)
    visits = sf.Visits([48.86, 48.85], [2.34, 2.35])
    for other, differs in (
        (Setting(False, {}, False), "size"),
        (Setting(True, {"city": visits}, True), "data"),
    ):
        with pytest.raises(FileError, match=f"its {differs} differs"):
            run(paper(), other, tmp_path)
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    with pytest.raises(FileError, match="cannot be used"):
        run(paper(), NOTHING, tmp_path)
    assert {**before, "run.json": b"{"} == bytes_of(tmp_path)


def test_other_data_make_another_run(tmp_path):
    first, second = (
        Setting(True, {"city": sf.Visits([48.86, lat], [2.34, 2.35], user=["a", "b"])}, True)
        for lat in (48.85, 48.84)
    )
    run(paper(), first, tmp_path)
    assert run(paper(), first, tmp_path).parts_before == PARTS
    with pytest.raises(FileError, match="its data differs"):
        run(paper(), second, tmp_path)


def test_numbers_are_kept_to_the_last_bit(tmp_path):
    run(paper(), NOTHING, tmp_path)
    rows = RunTables(tmp_path).texts("counts")
    assert [float(row["third"]) for row in rows] == [each / 3 for each in range(PARTS)]


def test_processes_are_at_least_one(tmp_path):
    with pytest.raises(InputError, match="0 processes"):
        run(paper(), NOTHING, tmp_path, processes=0)


def test_parts_have_names_of_their_own(tmp_path):
    import dataclasses

    twice = dataclasses.replace(paper(), parts=lambda _: [StudyPart("A b", failing), StudyPart("a-B", failing)])
    with pytest.raises(InputError, match="'a-b'"):
        run(twice, NOTHING, tmp_path)
