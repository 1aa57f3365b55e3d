"""Every reader is fuzzed: a few inputs in each run of the tests, and for half a minute each among the slow ones.

``SFUMATO_FUZZ_SECONDS=600`` makes it ten minutes each.
"""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.campaign import lay, run
from tests.fuzz.guard import guarded
from tests.fuzz.readers import READERS
from tests.fuzz.readers.mechanisms import MechanismFiles, NoiseFiles

_SECONDS = float(os.environ.get("SFUMATO_FUZZ_SECONDS", "30"))
_ROOT = Path(__file__).parents[2]
_FEW = 12
_EXTREME = 25  # of each honest file
_SLOW = {"commands": 3}  # a design takes longer than a file


@pytest.mark.parametrize("name", READERS)
def test_a_few_inputs_of_each_reader(name, tmp_path):
    honest, at_hand = tmp_path / "honest", tmp_path / "input"
    honest.mkdir()
    at_hand.mkdir()
    counts = run(READERS[name](honest), at_hand, 60, inputs=_SLOW.get(name, _FEW))
    assert counts["inputs"] > 0


@pytest.mark.parametrize("kind", [pytest.param(MechanismFiles, marks=pytest.mark.slow), NoiseFiles])
def test_honest_files_with_numbers_at_the_ends_of_the_floats(kind, tmp_path):
    """Always the same inputs, so that no campaign finds one of them by luck."""
    reader = kind(tmp_path)
    (tmp_path / "input").mkdir()
    for number in range(len(reader.parts)):
        for seed in range(_EXTREME):
            lay(tmp_path / "input", reader.extreme(Random(f"{number} {seed}"), number))
            with guarded():
                reader.read(tmp_path / "input")


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_a_campaign_of_each_reader(name):
    """In a process of its own: what crashes it, or hangs in it, leaves the input behind."""
    done = _ended([sys.executable, "-m", "tests.fuzz.campaign", name, str(_SECONDS)])
    assert done.returncode == 0, done.stdout[-10_000:]
    assert "nothing found" in done.stdout


@pytest.mark.slow
def test_a_campaign_that_coverage_guides(atheris, tmp_path):
    done = _ended(
        [sys.executable, "-m", "tests.fuzz.atheris_loader", str(int(_SECONDS)), str(tmp_path / "corpus")]
    )
    assert done.returncode == 0, done.stdout[-10_000:]
    assert "stat::number_of_executed_units" in done.stdout
    assert not list((tmp_path / "corpus").glob("failed-*"))


def _ended(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_SECONDS + 900,
        check=False,
    )
