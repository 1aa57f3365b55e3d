"""Bytes and law of what is released when the random bytes of the operating system are known.

`os.urandom` is replaced, so the same rows must give the same reports wherever the code that draws them moves.
Integers decide each report, so that none depends on the machine; coordinates may differ in their last digit.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import chi2

import sfumato as sf

from .conftest import repeat_chance
from .proofs import FILES, read
from .reports import DRAWS, HOURS, PLACES, ROWS, blurred, drawn, keyed, released, reports, simulated

GOLDEN: dict[str, Any] = json.loads((Path(__file__).parent / "releases.json").read_text(encoding="ascii"))
FAR = 1e-9  # a p-value: other bytes would be as far from the law with this probability


@pytest.fixture
def chance(monkeypatch):
    """Random bytes that repeat."""
    repeat_chance(monkeypatch)


@pytest.mark.parametrize("name", DRAWS)
def test_reports_of_a_sampler(name, chance):
    assert drawn(name) == GOLDEN["sampler"][name]


@pytest.mark.parametrize("name", DRAWS)
def test_reports_of_a_seed(name):
    assert simulated(name) == GOLDEN["simulator"][name]


@pytest.mark.parametrize("name", PLACES)
def test_reports_of_points(name, chance):
    assert np.array(blurred(name)) == pytest.approx(np.array(GOLDEN["points"][name]), abs=1e-9)


def test_reports_by_a_key():
    assert keyed() == GOLDEN["key"]


def test_bytes_and_law_of_a_table(chance, tmp_path):
    path = released(tmp_path, ".csv")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == GOLDEN["table"]
    mechanism, labels = read(FILES["design hours"]).mechanism, np.array(reports(path)) // 3
    for secret in range(8):
        counts = np.bincount(labels[secret::8], minlength=8)
        expected = mechanism.weights[secret].astype(float) / 2.0**mechanism.bits * (ROWS // 8)
        often = expected > 5
        assert counts[~often].sum() == 0  # less than one in a thousand is expected
        statistic = ((counts - expected)[often] ** 2 / expected[often]).sum()
        assert FAR < chi2.sf(statistic, often.sum() - 1) < 1 - FAR


def test_tables_of_all_kinds_hold_the_same_reports(tmp_path):
    """Files and tables in memory, whatever they are read from."""
    found = []
    for suffix in (".csv", ".parquet", ""):
        with pytest.MonkeyPatch.context() as patch:
            repeat_chance(patch)
            if suffix:
                path = released(tmp_path, suffix)
                found.append(reports(path) if suffix == ".csv" else pq.read_table(path)["label"].to_pylist())
            else:
                table = pa.table({"hour": HOURS})
                found.append(sf.release(sf.load(FILES["design hours"]), table, column="hour")["label"].to_pylist())
    assert [list(map(int, each)) for each in found[1:]] == found[:1] * 2


def test_a_budget_is_charged_to_the_last_digit(chance, tmp_path):
    """One report for each place, and one charge for each report."""
    with sf.Ledger.create(tmp_path / "l.db", "1000/km") as ledger:
        blur = sf.Blur(sf.load(FILES["noise"]), ledger)
        first = [blur.report("ada", 48.86, 2.34, place=place) for place in ("home", "work", "home")]
        assert first[0].tolist() == first[2].tolist() != first[1].tolist()
        assert [ledger.balance("ada").spent, ledger.balance("bob").spent] == [2, 0]
        assert ledger.check().sound
