"""Processes of processes: all that a job starts ends with the job."""

import contextlib
import os
import subprocess
import sys
import threading
import time

import httpx
import pytest

from sfumato_studio.errors import RefusedError
from sfumato_studio.jobs import FINAL
from sfumato_studio.processes import run_worker

from .conftest import PATIENCE_S, TOKEN, Running, Visitor, soon

CHILD = "read orders\nsleep 900 &\necho $! > {folder}/child\n"
"""It starts a process of its own, which holds the pipe to the studio."""
TOLD = 'echo \'{"event": "total", "done": 0, "total": 3}\'\nwait\n'
ALONE = """
import subprocess, sys, time, types
from sfumato_studio.work import __main__ as work
child = subprocess.Popen(["sleep", "900"])
module = types.ModuleType("sfumato_studio.work.napping")
module.nap = lambda work: time.sleep(900)
sys.modules[module.__name__] = module
work.KINDS["nap"] = ("napping", "nap")
print(child.pid, flush=True)
work.main()
"""

pytestmark = pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system knows no groups of processes")


def gone(child):
    """Whether a process is there no more, or only its number."""
    with contextlib.suppress(FileNotFoundError), open(f"/proc/{child}/stat", encoding="utf-8") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        return True
    return False


def named(folder):
    """Return the number that a script wrote down."""
    path = folder / "child"
    return int(soon(lambda: path.exists() and path.read_text().strip()))


@pytest.mark.parametrize("end", ["cancel", "close", "end_all"])
def test_a_job_that_is_killed_takes_its_processes_along(jobs, workspace, acts, tmp_path, end):
    acts(CHILD.format(folder=tmp_path) + TOLD)
    row = jobs.start(workspace, "levels", "Levels", {}, unit="m")
    child = named(tmp_path)
    assert not gone(child)
    began = time.monotonic()
    if end == "cancel":
        jobs.cancel(workspace["id"], row["id"])
    elif end == "close":
        jobs.close()
    else:
        with jobs.end_all(workspace["id"]):
            pass
    soon(lambda: gone(child))
    soon(lambda: not jobs._running)
    assert time.monotonic() - began < PATIENCE_S


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system cannot wait without taking note")
def test_what_a_dead_process_left_behind_keeps_no_job_open(jobs, workspace, acts, tmp_path):
    acts(CHILD.format(folder=tmp_path) + "exit 1\n")
    row = jobs.start(workspace, "design", "A design", {}, unit="m")
    child = named(tmp_path)
    soon(lambda: jobs.now(workspace["id"], row["id"])["status"] in FINAL)
    assert jobs.now(workspace["id"], row["id"])["status"] == "interrupted"
    soon(lambda: gone(child))


def test_a_job_whose_studio_dies_ends_with_all_that_it_started():
    alone = [sys.executable, "-c", ALONE]
    with subprocess.Popen(
        alone, text=True, start_new_session=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as job:
        assert job.stdin is not None
        assert job.stdout is not None
        child = int(job.stdout.readline())
        job.stdin.write('{"kind": "nap", "folder": ".", "request": {}}\n')
        job.stdin.flush()
        assert not gone(child)
        job.stdin.close()  # as the system does for a studio that was killed
        job.wait(PATIENCE_S)
        soon(lambda: gone(child))


def test_a_worker_imports_nothing_from_the_current_folder(tmp_path, monkeypatch):
    for name in ("json", "threading", "numpy", "pyarrow"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a')\n")
    (tmp_path / "answers.csv").write_text("answer\nyes\nno\n")
    monkeypatch.chdir(tmp_path)
    orders = {"kind": "read", "folder": str(tmp_path), "request": {"path": str(tmp_path / "answers.csv")}}
    data = run_worker(orders, PATIENCE_S, RefusedError(422, "late"), set())
    assert data["tables"] == {"answer": {"no": 1, "yes": 1}}
    assert not (tmp_path / "imported").exists()


def test_a_studio_that_stops_answers_late_requests_and_prints_nothing(tmp_path, acts, capfd):
    studio, answers = Running(tmp_path / "studio"), list[httpx.Response]()
    workspace = Visitor(studio).id
    acts("exec sleep 900")  # the process that reads the file

    def upload() -> None:
        with studio.bare(**{"X-Sfumato-Token": TOKEN}) as client:
            answers.append(
                client.put(f"/api/workspaces/{workspace}/file?name=answers.csv", content=b"answer\nyes\n")
            )

    waiting = threading.Thread(target=upload)
    waiting.start()
    soon(lambda: studio.app.state.studio.apart)
    studio.close()
    waiting.join(PATIENCE_S)
    assert answers[0].status_code == 503
    assert answers[0].json()["error"]["message"] == "The studio was stopped."
    assert capfd.readouterr().err == ""
