"""The nightly script of the guide to pipelines: it releases a day once, also after it was killed."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "how-to" / "pipeline.md"
KILLED = """
import os, signal, sys
from sfumato.releases.work_folder import WorkFolder
WorkFolder.publish = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from sfumato.cli import main
main()
"""


def blocks(language):
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)


def charges(folder):
    return re.findall(r"The record is sound: (\d+) charges to (\d+) users", (folder / "heads.log").read_text())


def users(folder):
    """Return what the log says when everybody was charged once."""
    count = str(len(pq.read_table(folder / "visits/2026-11-23.parquet")["user"].unique()))
    return [(count, count)]


@pytest.fixture(scope="module")
def evening(tmp_path_factory):
    """A folder with a mechanism, a day of visits, a ledger and the script, which each night copies."""
    folder = tmp_path_factory.mktemp("evening")
    (script,) = blocks("bash")
    (creation,) = re.findall(
        r"^\$ (sfumato ledger create .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        exec(compile(blocks("python")[0], str(PAGE), "exec"), {})
        subprocess.run(["bash", "-ec", creation], check=True, capture_output=True)
    path = folder / "nightly.sh"
    path.write_text(script)
    path.chmod(0o700)
    return folder


@pytest.fixture
def night(evening, tmp_path, monkeypatch):
    """Return a function that starts the script in a folder of the test's own."""
    shutil.copytree(evening, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    path = tmp_path / "nightly.sh"

    def start(day="2026-11-23", *, killed=False):
        path_of = os.environ["PATH"]
        if killed:
            (tmp_path / "bin").mkdir()
            stub = tmp_path / "bin" / "sfumato"
            stub.write_text(f'#!/usr/bin/env bash\nexec "{sys.executable}" "{tmp_path}/killed.py" "$@"\n')
            stub.chmod(0o700)
            (tmp_path / "killed.py").write_text(KILLED)
            path_of = f"{tmp_path / 'bin'}:{path_of}"
        env = {**os.environ, "PATH": path_of}
        return subprocess.run(
            [str(path), day], env=env, capture_output=True, text=True, check=False, cwd="/", timeout=300
        )

    return start


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.slow
def test_the_nightly_script_makes_a_table_once(night, tmp_path):
    (tmp_path / "private/.2026-11-23.parquet.release").mkdir(mode=0o700, parents=True)  # killed before it began
    done = night()
    assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "private/2026-11-23.parquet")
    assert table.column_names == ["latitude", "longitude", "label", "device"]
    assert table.num_rows == 1000
    before = (tmp_path / "private/2026-11-23.parquet").read_bytes()
    assert charges(tmp_path) == users(tmp_path)
    assert night().returncode == 0
    assert (tmp_path / "private/2026-11-23.parquet").read_bytes() == before
    missing = night("2026-11-24")
    assert missing.returncode == 1
    assert "there is no file" in missing.stderr


@pytest.mark.slow
def test_a_night_that_was_killed_goes_on_and_charges_nobody_twice(night, tmp_path):
    done = night(killed=True)
    assert done.returncode in (-signal.SIGKILL, 137), done.stderr
    assert (tmp_path / "private/.2026-11-23.parquet.release").is_dir()
    assert not (tmp_path / "private/2026-11-23.parquet").exists()
    again = night()
    assert again.returncode == 0, again.stderr
    assert "were not drawn again" in again.stdout
    assert pq.read_table(tmp_path / "private/2026-11-23.parquet").num_rows == 1000
    assert charges(tmp_path) == users(tmp_path)
