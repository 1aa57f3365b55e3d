"""Pairs at an infinite distance: nothing is said of them, and no requirement counts them as hidden."""

from __future__ import annotations

import json

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome, Requirement, audit
from sfumato.privacy import Family
from sfumato.privacy.distributions import MetricDistributionPrivacy

from ..cli.conftest import runner

MATRIX = [[0.5, 0.5], [0.25, 0.75], [0.01, 0.99]]
GROUPS = Family({"x": [0.5, 0.5, 0.0], "y": [0.0, 0.0, 1.0]})
NAMES = (
    "metric-privacy",
    "divergence-metric-privacy(divergence=kl)",
    "metric-distribution-privacy",
    "divergence-metric-distribution-privacy(divergence=kl)",
)


def metric(*pairs):
    """Distances of three secrets: 1 km for some pairs, infinite for all others."""
    array = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    for s, t in pairs:
        array[s, t] = array[t, s] = 1.0
    return sf.Metric(array, "km", name="walk")


@pytest.mark.parametrize("name", NAMES)
def test_a_value_about_no_pair_says_nothing(name):
    found = audit(sf.Mechanism(MATRIX), metric=metric(), family=GROUPS)
    entry = next(each for each in found if each.key == name.partition("(")[0])
    assert entry.sentence.startswith("No pair of ")
    assert entry.amount() == "for no pair"
    written = json.loads(json.dumps(entry.as_dict()))
    assert written["value"] is written["lower"] is written["upper"] is None


@pytest.mark.parametrize("name", ["metric-privacy", "metric-distribution-privacy"])
def test_no_requirement_holds_of_no_pair(name):
    found = audit(sf.Mechanism(MATRIX), metric=metric(), family=GROUPS)
    verdict = Requirement.parse(f"{name} <= 0.1/km").hold_against(found)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "is at a finite distance, so no pair is covered" in verdict.reason


def test_pairs_at_an_infinite_distance_are_named():
    found = audit(sf.Mechanism(MATRIX), metric=metric((0, 1)), family=GROUPS)
    entry = next(each for each in found if each.key == "metric-privacy")
    assert entry.sentence.endswith("Pairs at an infinite distance are not covered.")
    assert entry.value == pytest.approx(np.log(2))
    apart = MetricDistributionPrivacy.wasserstein(GROUPS, metric((0, 1)))
    assert apart.vacuous
    near = Family({"x": [1.0, 0.0, 0.0], "y": [0.0, 1.0, 0.0], "z": [0.0, 0.0, 1.0]})
    some = MetricDistributionPrivacy.wasserstein(near, metric((0, 1)))
    assert not some.vacuous
    assert some.measure(MATRIX).sentence.endswith("Pairs at an infinite distance are not covered.")


def test_the_case_file(shared_data, tmp_path, monkeypatch):
    cases = shared_data.parent / "cases" / "audits"
    given = ("audit", cases / "m3.csv", "--distances", cases / "dinf.csv", "--unit", "km")
    done = runner(monkeypatch, tmp_path)(
        *given, "--family", cases / "f3.csv", "--require", "metric-distribution-privacy <= 0.1/km"
    )
    assert done.code == 3
    assert "0 x distance" not in done.text
    assert "IS NOT DECIDED: No pair of distributions is at a finite distance" in done.text
    assert "by a factor of at most 37.5" in done.text
