"""Every reader is fuzzed with the same inputs in each run; `python -m tests.search` draws others."""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.campaign import lay, run_round
from tests.fuzz.guard import guarded
from tests.fuzz.readers import READERS
from tests.fuzz.readers.mechanisms import MechanismFiles, NoiseFiles

_ROOT = Path(__file__).parents[2]
_FEW, _MORE = 12, 50
_FEWER = {"commands": 3, "designs": 6}  # a design takes longer than a file
_EXTREME = 10  # of each honest file


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(("number", "inputs"), [(0, _FEW), pytest.param(1, _MORE, marks=pytest.mark.slow)])
def test_changed_inputs_are_refused_in_words_or_read_rightly(name, number, inputs, tmp_path):
    honest, changed = tmp_path / "honest", tmp_path / "input"
    honest.mkdir()
    changed.mkdir()
    inputs = inputs * _FEWER.get(name, _FEW) // _FEW
    assert run_round(READERS[name](honest), changed, number, inputs=inputs)["inputs"] > 0


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
def test_a_campaign_that_coverage_guides(atheris, tmp_path):
    """In a process of its own, whose modules are instrumented; as many inputs in every run."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.atheris_loader", "-runs=3000", str(tmp_path / "corpus")],
        cwd=_ROOT,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-10_000:]
    assert "stat::number_of_executed_units" in done.stdout
    assert not list((tmp_path / "corpus").glob("failed-*"))
