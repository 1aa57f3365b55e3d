"""A folder of designs after crashes, full disks and tampering: nothing half-made is taken for whole."""

import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files.many import design_many
from tests.files.test_many import METRIC, PROMISE, many, people

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits of POSIX")
ROOT = Path(__file__).parents[2]

SCRIPT = """
import sys
from tests.files.test_many import many
if __name__ == "__main__":
    told = lambda news: print(news.name, flush=True)
    many(sys.argv[1], int(sys.argv[2]), processes=int(sys.argv[3]), progress=told)
"""


def begun(folder: Path, count: int, processes: int = 1) -> "subprocess.Popen[str]":
    script = folder.with_name("script.py")
    script.write_text(SCRIPT)
    return subprocess.Popen(
        [sys.executable, str(script), str(folder), str(count), str(processes)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_interruptible,
    )


def _interruptible() -> None:
    """Let an interrupt end a process even where this one ignores it, as in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def whole(folder: Path) -> set[str]:
    """Return the names in the index, after a look at the file of each."""
    found = sf.files.many.index.rows_of(folder)
    for row in found.values():
        sf.load(folder / row.file)
    return set(found)


def lines(process: "subprocess.Popen[str]", count: int) -> None:
    assert process.stdout is not None
    for _ in range(count):
        assert process.stdout.readline()


@posix
def test_a_kill_loses_only_what_was_in_flight(tmp_path):
    folder, process = tmp_path / "out", begun(tmp_path / "out", 40)
    lines(process, 3)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    there = whole(folder)
    assert 3 <= len(there) < 40
    found = many(folder, 40)
    assert found.finished
    assert found.made == 40 - len(there)


@pytest.mark.slow
@posix
def test_kills_at_random_moments(tmp_path):
    """Twenty kills that hit a run at work; those that come before or after do not count."""
    count, hits, number = 60, 0, 0
    chance = random.Random(os.urandom(8))
    folder = tmp_path / "0"
    there: set[str] = set()
    while hits < 20:
        process = begun(folder, count)
        lines(process, 1)  # it is at work
        time.sleep(chance.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        hits += process.returncode == -signal.SIGKILL
        now = whole(folder)
        assert there <= now
        assert len(now) > len(there)  # what was reported is there
        there = now
        if len(there) == count:
            number += 1
            folder, there = tmp_path / str(number), set()
    found = many(folder, count)
    assert found.finished
    assert found.made == count - len(there)
    assert not list(folder.glob(".*.part"))


def test_what_a_kill_left_half_written_is_removed(tmp_path):
    many(tmp_path, 1)
    left = tmp_path / ".user 1.sfm.0123456789ab.part"
    left.write_bytes(b"half")
    many(tmp_path, 1)
    assert not left.exists()


@pytest.mark.slow
@posix
def test_workers_end_with_the_process_that_hands_out_the_work(tmp_path):
    process = begun(tmp_path / "out", 2000, 2)
    lines(process, 3)
    workers = [int(pid) for pid in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
    assert len(workers) >= 2
    process.send_signal(signal.SIGKILL)
    process.communicate()
    deadline = time.monotonic() + 60
    while any(_runs(pid) for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(_runs(pid) for pid in workers)
    there = whole(tmp_path / "out")
    assert many(tmp_path / "out", 2000, stop=_after(1)).made == 1
    assert len(whole(tmp_path / "out")) == len(there) + 1


@pytest.mark.slow
@posix
def test_an_interrupt_ends_at_once_and_the_next_run_goes_on(tmp_path):
    process = begun(tmp_path / "out", 2000, 2)
    lines(process, 3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode not in (0, None)
    assert len(whole(tmp_path / "out")) >= 3


def _after(count: int):
    asked = iter(range(10**6))
    return lambda: next(asked) >= count


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("cut", [1, 20, 200])
def test_an_index_that_was_cut_off(tmp_path, cut):
    many(tmp_path, 3)
    index = tmp_path / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-cut])
    assert many(tmp_path, 3).made == 1
    assert many(tmp_path, 3).made == 0
    assert whole(tmp_path) == set(people(3))


def test_files_without_rows_and_rows_without_files(tmp_path):
    many(tmp_path, 3)
    index = tmp_path / "index.jsonl"
    rows = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(rows[0] + rows[1])
    (tmp_path / json.loads(rows[0])["file"]).unlink()
    assert many(tmp_path, 3).made == 2
    assert many(tmp_path, 3).made == 0


def test_a_file_of_another_is_made_again(tmp_path):
    """A file that promises less, in place of one that was designed, is not taken for it."""
    found = many(tmp_path, 2)
    weak = sf.Mechanism([[1.0 if i == j else 0.0 for j in range(6)] for i in range(6)], SPACE6, SPACE6)
    sf.save(weak, tmp_path / "user 0.sfm")
    again = many(tmp_path, 2)
    assert again.made == 1
    assert sf.load(tmp_path / "user 0.sfm") != weak
    assert again.rows["user 0"].loss == pytest.approx(found.rows["user 0"].loss)


SPACE6 = people(1)["user 0"].space


@pytest.mark.parametrize("line", [b"[]", b"7", b"{}", b"\xff\xfe", b'{"name": 3}', b"[" * 9_999, b"\0" * 100])
def test_lines_that_are_no_rows_are_passed_over(tmp_path, line):
    many(tmp_path, 1)
    with (tmp_path / "index.jsonl").open("ab") as file:
        file.write(line + b"\n")
    assert many(tmp_path, 1).made == 0


@pytest.mark.parametrize(
    "change", [{"file": "../secret.sfm"}, {"name": ""}, {"finished": 1}, {"loss": "0"}, {"name": "\ud800"}]
)
def test_rows_that_were_changed_are_no_rows(tmp_path, change):
    many(tmp_path, 1)
    row = json.loads((tmp_path / "index.jsonl").read_text())
    (tmp_path / "index.jsonl").write_text(json.dumps({**row, **change}) + "\n")
    assert many(tmp_path, 1).made == 1


LIMITED = """
import resource, sys
from tests.files.test_many import many
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
try:
    many(sys.argv[1], 60)
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.mark.slow
@posix
@pytest.mark.parametrize("size", [500, 6000])
def test_a_disk_that_takes_no_more(tmp_path, size):
    """The file itself does not fit, or a line of the index is cut off: an error, and the next run goes on."""
    folder, script = tmp_path / "out", tmp_path / "script.py"
    script.write_text(LIMITED)
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(size)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "FileError" in done.stdout
    assert "free some space" in done.stdout or "write elsewhere" in done.stdout
    assert not list(folder.glob("*.part"))
    assert not list(folder.glob(".*.part"))
    there = whole(folder)
    assert many(folder, 60).made == 60 - len(there)


@posix
def test_only_the_owner_can_read(tmp_path):
    before = os.umask(0)
    try:
        many(tmp_path / "deep" / "out", 2)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "deep" / "out").stat().st_mode) == 0o700
    for path in (tmp_path / "deep" / "out").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_folders_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("x")
    for folder in (tmp_path / "file", tmp_path / "file" / "in"):
        with pytest.raises(FileError, match="could not be written"):
            many(folder, 1)
    if Path("/proc/self").is_dir():  # a folder where nobody can write, root included
        with pytest.raises(FileError, match="choose a folder"):
            many("/proc/self", 1)


def test_files_of_others_are_not_replaced(tmp_path):
    sf.save(sf.Mechanism([[1.0]], sf.Space("a")), tmp_path / "user 0.sfm")
    with pytest.raises(InputError, match="no index"):
        many(tmp_path, 1)


@posix
def test_two_runs_do_not_share_a_folder(tmp_path):
    def again(*_: object) -> None:
        with pytest.raises(InputError, match="another run"):
            many(tmp_path, 1)

    many(tmp_path, 1, progress=again)


@posix
def test_two_processes_do_not_share_a_folder(tmp_path):
    folder, process = tmp_path / "out", begun(tmp_path / "out", 2000)
    lines(process, 1)
    with pytest.raises(InputError, match="another run"):
        many(folder, 1)
    process.kill()
    process.communicate()
    assert many(folder, 1).rows  # no lock is left


def test_a_changed_argument_is_refused_for_each_design(tmp_path):
    many(tmp_path, 2)
    with pytest.raises(InputError, match="'user 0' that was asked for otherwise"):
        design_many(people(2), tmp_path, loss=METRIC, guarantees=PROMISE, tie_break=False, gap=1e-3)
    assert many(tmp_path, 2).made == 0
