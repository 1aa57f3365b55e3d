"""The benchmark of the notions: its page is that of its results, and its two ways agree on single pairs."""

import json

import numpy as np
import pytest
from benchmarks import notions
from benchmarks.results import FOLDER, Invocation

from sfumato.divergences import Profile


def test_the_page_is_that_of_the_newest_results(monkeypatch, tmp_path):
    page = notions.TARGET.read_text(encoding="utf-8")
    newest = max(FOLDER.glob("*-notions.json"))
    monkeypatch.setattr(notions, "TARGET", tmp_path / "page.md")
    written = notions.write(Invocation(**json.loads(newest.read_text(encoding="utf-8"))))
    assert written.read_text(encoding="utf-8") == page


def test_no_pair_is_above_the_profile_of_the_results():
    newest = json.loads(max(FOLDER.glob("*-notions.json")).read_text(encoding="utf-8"))
    rng = np.random.default_rng(9)
    for run in newest["runs"]:
        matrix = notions.mechanism(run["mechanism"]).matrix
        at = np.linspace(0, run["ours"]["pure epsilon"]["value"], notions.EPSILONS)
        deltas = np.array(run["ours"]["deltas"])
        for _ in range(20):
            s, t = rng.choice(len(matrix), 2, replace=False)
            assert (Profile(matrix[s], matrix[t]).delta(at) <= deltas + 1e-15).all()


@pytest.mark.slow
def test_the_other_way_is_above_the_exact_delta_by_its_spacing_at_most():
    found = notions.by_pairs("planar", 9.4, 3)
    assert found["pairs"] == 3
    assert 0 <= found["most_above"] <= notions.SPACING
    assert found["cpu_s"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["planar", "random"])
def test_all_pairs_of_400_secrets_under_four_notions_in_a_minute(name):
    found = notions.measured(name)
    parts = ("pure epsilon", "profile", "tightest mu", "membership")
    assert sum(found[part]["cpu_s"] for part in parts) < notions.MOST_WALL_S
    assert found["peak_gib"] < notions.MOST_GIB
    assert found["deltas"] == sorted(found["deltas"], reverse=True)
    assert found["deltas"][-1] < 1e-10  # zero at pure epsilon, but for rounding
