"""The audit of noise for coordinates: its promise, its lower bound by brute force, and what proves nothing."""

import json
import math

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome, Requirement
from sfumato.core import Side
from sfumato.errors import InputError
from sfumato.geo import Projection
from sfumato.mechanisms.planar import CoordinateNoise

PLANE = Projection(48.86, 2.34)
X = np.random.default_rng(4).normal(size=(20, 2)) * 900
NOISE = CoordinateNoise("1/km", "5 m", PLANE, "30 km").for_places(X, np.ones(20), fineness=0.3)
CELLS = sf.Grid.covering("4 km x 3 km around 48.86,2.34", cell="1 km")
FOUND = sf.audit(NOISE, prior=sf.Prior.uniform(CELLS))


def verdict(text, found=FOUND):
    return Requirement.parse(text).hold_against(found)


def test_the_promise_is_proved_and_says_its_slack():
    entry = FOUND.find("coordinate-privacy")
    assert entry.is_proved
    assert entry.number <= 1.0
    assert (entry.unit, entry.per, entry.slack) == ("km", True, "7.08 m")
    assert "e^(1/km x (distance + 7.08 m))" in entry.sentence
    assert "for any two points" in entry.sentence
    assert json.loads(json.dumps(FOUND.as_dict()))["entries"][0]["slack"] == "7.08 m"


@pytest.mark.slow
def test_the_lower_bound_is_below_what_simulated_reports_show():
    """Its pair of cells and report: the ratio of frequencies, at least as large but for sampling."""
    entry = FOUND.find("coordinate-privacy")
    assert 0.5 < entry.bracket.lower < 1.0
    _, _, _, s, _, t, _, _, o = entry.witness.replace(",", "").split()
    size, rates = 200_000, []
    for label in (s, t):
        lat, lon = CELLS.latlon[CELLS.position(label)]
        reports = sf.simulator(NOISE, 1).blur([lat] * size, [lon] * size)
        where = CELLS.locate(*reports.T)
        middles = PLANE.forward(*CELLS.latlon.T)
        away = np.hypot(*(PLANE.forward(*reports.T)[:, None] - middles).transpose(2, 0, 1))
        where = np.where(where < 0, away.argmin(axis=1), where)
        rates.append((where == CELLS.position(o)).mean())
    apart = np.hypot(*np.diff(PLANE.forward(*CELLS.latlon[[CELLS.position(s), CELLS.position(t)]].T), axis=0)[0])
    needed = math.log(rates[0] / rates[1]) / (apart / 1000 + 0.0071)
    assert entry.bracket.lower <= needed * 1.02 <= 1.05


def test_requirements_on_the_promise():
    holds = verdict("epsilon <= 1/km")
    assert holds.outcome is Outcome.HOLDS
    assert holds.reason == "epsilon is at most 1/km, with 7.08 m of slack."
    assert verdict("epsilon <= 0.001/m").outcome is Outcome.HOLDS
    assert verdict("epsilon <= 0.3/km").outcome is Outcome.FAILS
    near = verdict("epsilon <= 0.9999/km")
    assert near.outcome is Outcome.UNDECIDED
    assert "at least 0." in near.reason
    assert verdict("coordinate-privacy <= 1.1/km").outcome is Outcome.HOLDS


def test_what_is_measured_on_cells_proves_nothing():
    others = [entry for entry in FOUND if entry.key != "coordinate-privacy"]
    assert len(others) > 10
    assert all(entry.side is Side.ESTIMATE and not entry.is_proved for entry in others)
    assert all(entry.sentence.startswith("Estimate on cells: ") for entry in others if entry.sentence)
    assert "metric-privacy" not in {entry.key for entry in others}
    loose = verdict("epsilon <= 100")
    assert loose.outcome is Outcome.UNDECIDED
    assert "an estimate proves nothing" in loose.reason
    assert verdict("error >= 1 m").outcome is Outcome.UNDECIDED
    assert "people are taken to be at the middle of their cell (one of 12)" in FOUND.notes[1]


def test_the_error_is_that_of_a_simulated_attack_on_cells():
    """The best guess for each cell of reports, from simulated reports of people at middles."""
    size = 5000
    lat, lon = np.repeat(CELLS.latlon, size, axis=0).T
    reports = sf.simulator(NOISE, 2).blur(lat, lon)
    middles = PLANE.forward(*CELLS.latlon.T)
    away = np.hypot(*(PLANE.forward(*reports.T)[:, None] - middles).transpose(2, 0, 1))
    inside = CELLS.locate(*reports.T)
    where = np.where(inside < 0, away.argmin(axis=1), inside)
    joint = np.zeros((12, 12))
    np.add.at(joint, (np.repeat(np.arange(12), size), where), 1 / (12 * size))
    apart = np.hypot(*(middles[:, None] - middles).transpose(2, 0, 1)) / 1000
    assert FOUND.find("distortion").value == pytest.approx((apart @ joint).min(axis=0).sum(), rel=0.02)


def test_noise_without_places_is_audited_by_its_promise_alone():
    raw = CoordinateNoise("1/km", "5 m", PLANE, "30 km")
    found = sf.audit(raw)
    assert len(found) == 1
    assert found.find("coordinate-privacy").bracket.lower == 0.0
    assert "The distribution of people is unknown" in found.notes[1]
    with_prior = sf.audit(raw, prior=sf.Prior.uniform(CELLS))
    assert with_prior.find("coordinate-privacy").bracket.lower > 0.6
    with pytest.raises(InputError, match="not cells on the ground"):
        sf.audit(raw, prior=sf.Prior.uniform(sf.Space("ab")))
