"""A folder of designs after crashes, full disks and tampering: nothing half-made is taken for whole."""

import itertools
import json
import os
import random
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

import sfumato as sf
from sfumato.errors import FileError, InputError
from sfumato.files.many import DesignNews, design_many
from tests.files.test_many import METRIC, PROMISE, many, people
from tests.releases.forks import PATIENCE_S, SEARCH, Fork, Say, Steps

posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits of POSIX")
ROOT = Path(__file__).parents[2]
MADE = 3  # designs of a run whose workers then do not come to an end

SCRIPT = f"""
import os, sys, time
from pathlib import Path
import sfumato as sf
from tests.files.test_many import many, people

folder = Path(sys.argv[1])
finite = [prior.probabilities.tolist() for prior in people({MADE}).values()]
real = sf.files.many.job.design

def design(prior, **options):
    while prior.probabilities.tolist() not in finite:
        folder.with_name(f"{{os.getpid()}}.busy").touch()
        time.sleep(60)
    return real(prior, **options)

sf.files.many.job.design = design
if __name__ == "__main__":
    many(folder, 8, processes=2)
"""


def busy(folder: Path) -> "tuple[subprocess.Popen[str], list[int]]":
    """Return a run that has made its first designs, and its two workers, which are in the middle of others."""
    script = folder.with_name("script.py")
    script.write_text(SCRIPT)
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        preexec_fn=_interruptible,
    )
    until = time.monotonic() + PATIENCE_S
    while True:
        workers = [int(path.stem) for path in folder.parent.glob("*.busy")]
        if len(workers) == 2 and len(whole(folder)) == MADE:
            return process, workers
        assert process.poll() is None
        assert time.monotonic() < until, f"two workers are not at work after {PATIENCE_S} seconds"
        time.sleep(0.05)


def _interruptible() -> None:
    """Let an interrupt end a process even where this one ignores it, as in the background of a shell."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def whole(folder: Path) -> set[str]:
    """Return the names in the index, after a look at the file of each."""
    found = sf.files.many.folder.rows_of(folder)
    for row in found.values():
        sf.load(folder / row.file)
    return set(found)


def halting(say: Say, folder: Path, designs: int) -> None:
    """Make designs; say so once there are so many, and wait to be killed."""

    def halt(news: DesignNews) -> None:
        if news.count == designs:
            say("there")
            signal.pause()

    many(folder, 40, progress=halt)


def stepping(say: Say, folder: Path, step: int) -> None:
    """Make two designs, and be killed before a change of the folder, or in the middle of a file."""
    del say
    Steps(step).watch(folder)
    many(folder, 2)


def check_rest(folder: Path, count: int) -> None:
    """Check that the next run makes what is missing and nothing else, and leaves no rubbish."""
    there = whole(folder)
    found = many(folder, count)
    assert found.is_finished
    assert found.additions == count - len(there)
    assert not list(folder.glob(".*.part"))


@pytest.mark.slow
@posix
def test_a_kill_loses_only_what_was_in_flight(tmp_path):
    run = Fork(halting, tmp_path / "out", 3)
    assert run.line() == "there"
    assert run.kill()
    assert len(whole(tmp_path / "out")) == 3
    check_rest(tmp_path / "out", 5)


@pytest.mark.slow
@posix
def test_killed_at_every_step(tmp_path):
    """Before each change of the folder, and in the middle of each file; then the next run goes on."""
    seen = []
    for step in itertools.count(1):
        folder = tmp_path / f"{step}" / "out"
        folder.parent.mkdir()
        if not Fork(stepping, folder, step).died():
            break
        seen.append(len(whole(folder)))
        check_rest(folder, 2)
    assert seen == sorted(seen)
    assert set(seen) == {0, 1}


if SEARCH is not None:

    @posix
    def test_kills_at_random_moments(tmp_path):
        """Twenty kills that hit a run at work; those that come before or after do not count."""
        count, hits, number = 40, 0, 0
        chance = random.Random(SEARCH)
        folder = tmp_path / "0"
        there: set[str] = set()
        while hits < 20:
            run = Fork(telling, folder, count)
            run.line()  # it is at work
            time.sleep(chance.uniform(0, 0.5))
            hits += run.kill()
            now = whole(folder)
            assert there <= now
            assert len(now) > len(there)  # what was reported is there
            there = now
            if len(there) == count:
                number += 1
                folder, there = tmp_path / str(number), set()
        check_rest(folder, count)


def telling(say: Say, folder: Path, count: int) -> None:
    """Make designs, and say the name of each."""
    many(folder, count, progress=lambda news: say(news.name))


def test_what_a_kill_left_half_written_is_removed(tmp_path):
    many(tmp_path, 1)
    left = tmp_path / ".user 1.sfm.0123456789ab.part"
    left.write_bytes(b"half")
    many(tmp_path, 1)
    assert not left.exists()


@pytest.mark.slow
@posix
def test_workers_end_with_the_process_that_hands_out_the_work(tmp_path):
    process, workers = busy(tmp_path / "out")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    until = time.monotonic() + PATIENCE_S
    while left := [pid for pid in workers if _runs(pid)]:
        assert time.monotonic() < until, f"the workers {left} outlive their run by {PATIENCE_S} seconds"
        time.sleep(0.05)
    assert len(whole(tmp_path / "out")) == MADE
    assert many(tmp_path / "out", 8, stop=_after(1)).additions == 1
    assert len(whole(tmp_path / "out")) == MADE + 1


@pytest.mark.slow
@posix
def test_an_interrupt_ends_at_once_and_the_next_run_goes_on(tmp_path):
    """Though its workers do not end by themselves."""
    process, _ = busy(tmp_path / "out")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode not in (0, None)
    assert len(whole(tmp_path / "out")) == MADE
    check_rest(tmp_path / "out", 8)


def _after(count: int):
    asked = iter(range(10**6))
    return lambda: next(asked) >= count


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.thinned(2)
@pytest.mark.parametrize("cut", [1, 20, 200])
def test_an_index_that_was_cut_off(tmp_path, cut):
    many(tmp_path, 3)
    index = tmp_path / "index.jsonl"
    index.write_bytes(index.read_bytes()[:-cut])
    assert many(tmp_path, 3).additions == 1
    assert many(tmp_path, 3).additions == 0
    assert whole(tmp_path) == set(people(3))


def test_files_without_rows_and_rows_without_files(tmp_path):
    many(tmp_path, 3)
    index = tmp_path / "index.jsonl"
    rows = index.read_bytes().splitlines(keepends=True)
    index.write_bytes(rows[0] + rows[1])
    (tmp_path / json.loads(rows[0])["file"]).unlink()
    assert many(tmp_path, 3).additions == 2
    assert many(tmp_path, 3).additions == 0


def test_a_file_of_another_is_made_again(tmp_path):
    """A file that promises less, in place of one that was designed, is not taken for it."""
    found = many(tmp_path, 2)
    weak = sf.Mechanism([[1.0 if i == j else 0.0 for j in range(6)] for i in range(6)], SPACE6, SPACE6)
    sf.save(weak, tmp_path / "user 0.sfm")
    again = many(tmp_path, 2)
    assert again.additions == 1
    assert sf.load(tmp_path / "user 0.sfm") != weak
    assert again.rows["user 0"].loss == pytest.approx(found.rows["user 0"].loss)


SPACE6 = people(1)["user 0"].space


@pytest.mark.thinned(2)
@pytest.mark.parametrize("line", [b"[]", b"7", b"{}", b"\xff\xfe", b'{"name": 3}', b"[" * 9_999, b"\0" * 100])
def test_lines_that_are_no_rows_are_passed_over(tmp_path, line):
    many(tmp_path, 1)
    with (tmp_path / "index.jsonl").open("ab") as file:
        file.write(line + b"\n")
    assert many(tmp_path, 1).additions == 0


@pytest.mark.thinned(2)
@pytest.mark.parametrize(
    "change", [{"file": "../secret.sfm"}, {"name": ""}, {"finished": 1}, {"loss": "0"}, {"name": "\ud800"}]
)
def test_rows_that_were_changed_are_no_rows(tmp_path, change):
    many(tmp_path, 1)
    row = json.loads((tmp_path / "index.jsonl").read_text())
    (tmp_path / "index.jsonl").write_text(json.dumps({**row, **change}) + "\n")
    assert many(tmp_path, 1).additions == 1


def limited(say: Say, folder: Path, size: int) -> None:
    """Make designs where no file may be larger; say what went wrong."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    try:
        many(folder, 20)
    except FileError as error:
        say(str(error))


@pytest.mark.slow
@posix
@pytest.mark.parametrize("size", [500, 6000])
def test_a_disk_that_takes_no_more(tmp_path, size):
    """The file itself does not fit, or a line of the index is cut off: an error, and the next run goes on."""
    folder = tmp_path / "out"
    said, _ = Fork(limited, folder, size).rest()
    assert "free some space" in said or "write elsewhere" in said
    assert not list(folder.glob("*.part"))
    assert not list(folder.glob(".*.part"))
    check_rest(folder, 20)


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
    folder, run = tmp_path / "out", Fork(halting, tmp_path / "out", 1)
    assert run.line() == "there"
    with pytest.raises(InputError, match="another run"):
        many(folder, 1)
    assert run.kill()
    assert many(folder, 1).rows  # no lock is left


def test_a_changed_argument_is_refused_for_each_design(tmp_path):
    many(tmp_path, 2)
    with pytest.raises(InputError, match="'user 0' from other data or options"):
        design_many(people(2), tmp_path, loss=METRIC, guarantees=PROMISE, tie_break=False, gap=1e-3)
    assert many(tmp_path, 2).additions == 0
