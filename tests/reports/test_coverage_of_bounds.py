"""The bound of a program is never stated for all mechanisms: other reports may do better."""

from __future__ import annotations

import pytest

import sfumato as sf
from sfumato.proofs import scope_text
from sfumato.reports import summarise_file

from ..cli.conftest import runner
from ..files.honest import honest
from .document.test_constraints import told, without_others


@pytest.mark.parametrize(
    ("guarantees", "loss", "words"),
    [
        (0, "", "with these reports"),
        (1, "", "with this guarantee and these reports"),
        (2, "this loss", "with these guarantees, this loss and these reports"),
    ],
)
def test_a_bound_names_its_mechanisms(guarantees, loss, words):
    assert scope_text(guarantees, loss=loss, lattice=False) == words


def test_a_bound_on_a_lattice_names_its_vertices():
    assert scope_text(0, lattice=True) == "on these lattice points, with these reports,"
    rows = "on these lattice points, with these reports and the rows that prove the guarantee,"
    assert scope_text(1, lattice=True) == rows


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ["expected", "worst", "joint", "dual", "limited"])
def test_each_sentence_of_a_report_says_which_mechanisms(name):
    held = honest(name)
    assert held.prior is not None
    summary = " ".join(summarise_file(held).markdown().split())
    page = told(without_others(held))
    for text in (summary, page):
        claims = [each for each in text.split(". ") if "no mechanism" in each.lower()]
        assert claims
        assert all("these reports" in claim for claim in claims), claims


def test_the_least_loss_is_that_of_these_reports():
    space = sf.Space.numbers([0, 1, 2], unit="km")
    metric = space.metric("absolute")
    with pytest.raises(sf.errors.InfeasibleError, match="no mechanism with this guarantee and these reports"):
        sf.maximise_distortion(
            sf.Prior.uniform(space),
            loss=metric,
            distance=metric,
            max_loss=0.01,
            guarantees=[sf.MetricPrivacy(0.1, metric)],
        )


@pytest.mark.slow
def test_the_case_file(shared_data, tmp_path, monkeypatch):
    """Another report, at a place that is no vertex, makes the attacker err by 400 m."""
    file = shared_data.parent / "cases" / "designs" / "three.csv"
    done = runner(monkeypatch, tmp_path)(
        "design", file, "--max-loss", "400 m", "--no-picture", "--output", tmp_path / "three.sfm"
    )
    assert (
        "No mechanism with this loss, with reports and guesses anywhere on the plane, gives the best" in done.text
    )
    done = runner(monkeypatch, tmp_path)("audit", tmp_path / "three.sfm", "--promises")
    assert (
        "No mechanism on these lattice points, with these reports and a loss of at most 400 m on average,"
        in done.text
    )
