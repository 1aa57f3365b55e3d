"""A fresh machine: the tests are found without torch, and the run says in one line what it left out."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def pytest_without_torch(*arguments: str) -> subprocess.CompletedProcess[str]:
    plugins = ["-p", "tests.without_torch", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, "-n", "0", "-q"]
    return subprocess.run([*command, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_every_file_is_collected_without_torch():
    folders = ("src/sfumato/learning", "tests/learning", "tests/cli/commands/test_learn.py")
    done = pytest_without_torch("--collect-only", *folders)
    assert done.returncode == 0, done.stdout
    assert "tests/learning/test_heads.py::test_one_head_is_the_network_of_the_paper" in done.stdout


@pytest.mark.slow
def test_one_line_says_what_was_left_out_and_how_to_run_it(monkeypatch):
    monkeypatch.setenv("CI", "true")  # torch's tests may be left out there as well, before it is installed
    done = pytest_without_torch("tests/learning/test_heads.py")
    assert done.returncode == 0, done.stdout
    (line,) = re.findall(r"^Left out: .*$", done.stdout, flags=re.MULTILINE)
    assert re.fullmatch(
        r"Left out: \d+ of torch \(uv pip install torch --torch-backend=cpu && uv run pytest -m torch\)\.", line
    )
    assert "SKIPPED" not in done.stdout


@pytest.mark.slow
def test_with_every_extra_nothing_may_be_left_out():
    done = pytest_without_torch("tests/learning/test_heads.py", "--every-extra")
    assert done.returncode == 1, done.stdout
    assert "no test may be left out" in done.stdout


def test_the_continuous_integration_runs_the_two_commands(tmp_path):
    """And stops where the first half of one fails: run with a python3 that installs nothing."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    (python3 -m pip install uv && uv run .*)$", readme, flags=re.MULTILINE)
    assert [command.rpartition(" ")[2] for command in commands] == ["design", "pytest"]
    (tmp_path / ".ci").mkdir()
    (tmp_path / "README.md").write_text(readme, encoding="utf-8")
    (tmp_path / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
    (tmp_path / "bin").mkdir()
    for name, script in {
        "python3": 'echo "python3 $*"; [ ! -e broken ]',
        "uv": 'echo "uv $*"; [ "$1 $2" != "run pytest" ] || touch broken',
    }.items():
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}

    def run():
        done = subprocess.run(
            ["bash", ".ci/run", "main", "tests"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, [line for line in done.stdout.splitlines() if line.startswith(("python3 ", "uv "))]

    _, ran = run()
    assert ran == [*commands[0].split(" && "), *commands[1].split(" && ")]
    code, ran = run()
    assert code != 0
    assert set(ran) == {"python3 -m pip install uv"}  # and once more at the end of the log


def test_only_fixtures_leave_tests_out():
    """A module skipped by itself would have no mark, and the continuous integration would never run it."""
    skips = re.compile(r"importorskip|pytest\.skip\(|mark\.skip\b")
    found = {
        path.name for path in (ROOT / "tests").rglob("*.py") if skips.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"conftest.py", Path(__file__).name}
