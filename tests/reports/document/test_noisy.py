"""Attackers of noise for coordinates: against simulated reports, other radii, and one place alone."""

import functools

import numpy as np
import pytest

import sfumato as sf
from sfumato.files import MechanismFile
from sfumato.geo import Projection, Region
from sfumato.mechanisms.planar import CoordinateNoise, table_shares
from sfumato.reports.document import OtherDesigns
from sfumato.reports.sentences import attack_rows, risk_words, simulation_words

from .conftest import report_without_drawings

AREA = Region.parse("3 km x 2 km around 48.85,2.35")


def some_visits(places=6, seed=0):
    """Visits of some places, the first twice as often as the others."""
    rng = np.random.default_rng(seed)
    lat, lon = rng.uniform(AREA.south, AREA.north, places), rng.uniform(AREA.west, AREA.east, places)
    return sf.Visits(np.append(lat, lat[0]), np.append(lon, lon[0]))


def noise_for(visits, epsilon="2/km"):
    return CoordinateNoise.for_visits(visits, epsilon, step="20 m", fineness=0.25)


def facts_of(visits, noise, lines=()):
    return report_without_drawings(
        MechanismFile(noise), visits=visits, designs=OtherDesigns(0), require=lines
    ).facts


@functools.cache
def worked_out():
    """Visits, noise for them, and the facts of both, for radii from small to large."""
    visits = some_visits()
    noise = noise_for(visits)
    lines = ["within 150 m: at most 99 %", "within 700 m: at most 50 %", "within 2 km: at most 1 %"]
    return visits, noise, facts_of(visits, noise, lines)


@pytest.mark.slow
def test_the_shares_of_reports_are_those_of_simulated_ones():
    visits, noise, _ = worked_out()
    assert noise.projection is not None
    points = np.unique(noise.projection.forward(visits.lat, visits.lon), axis=0)
    table = table_shares(noise, points, 10**7)
    assert table is not None
    drawn = table.reports(noise.simulate(np.repeat(points[:1], 20_000, axis=0), seed=4))
    seen = np.bincount(drawn, minlength=table.shares.shape[1]) / len(drawn)
    assert np.abs(table.shares.sum(axis=1) - 1).max() <= table.off
    off = 5 * np.sqrt(table.shares[0] / len(drawn)) + 5 / len(drawn) + table.off
    assert (np.abs(seen - table.shares[0]) <= off).all()
    assert table_shares(noise, points, 10) is None


@pytest.mark.parametrize("radius", [pytest.param(150.0, marks=pytest.mark.slow), 700.0])
def test_a_simulated_attacker_is_near_as_often_as_the_bounds_say(radius):
    visits, noise, facts = worked_out()
    chance = next(risk.chance for risk in facts.risks if risk.radius.value == radius)
    xy = noise.projection.forward(visits.lat, visits.lon)
    draws = 30_000
    true = np.random.default_rng(1).integers(0, len(xy), draws)
    reports, row = np.unique(noise.simulate(xy[true], seed=5), axis=0, return_inverse=True)
    times = np.zeros((len(reports), len(xy)))
    np.add.at(times, (row.ravel(), true), 1)
    line = np.linspace(xy.min(axis=0), xy.max(axis=0), 60)
    guesses = np.concatenate([xy, np.stack(np.meshgrid(*line.T), axis=-1).reshape(-1, 2)])
    near = np.hypot(*(guesses[:, None] - xy[None]).transpose(2, 0, 1)) <= radius
    best = np.empty(len(reports), dtype=int)
    for report_, counts in enumerate(times):
        best[report_] = (near @ counts).argmax()
    fresh = np.random.default_rng(2).integers(0, len(xy), draws)
    drawn = noise.simulate(xy[fresh], seed=6)
    known = {tuple(place): guess for place, guess in zip(reports.tolist(), best.tolist(), strict=True)}
    hits = [
        near[known[tuple(p)], t] if tuple(p) in known else False
        for p, t in zip(drawn.tolist(), fresh, strict=True)
    ]
    scatter = 4 * np.sqrt(0.25 / draws)
    assert 0 < chance.lower <= chance.upper <= 1
    assert np.mean(hits) <= chance.upper + scatter
    assert np.mean(hits) >= chance.lower - scatter - 0.02  # their guesses are those of a finite sample
    assert chance.upper - chance.lower < 0.06


@pytest.mark.slow
def test_one_place_is_always_found_and_few_reports_of_many_are_not_enough():
    alone = some_visits(1)
    noise = CoordinateNoise("2/km", "20 m", Projection(*AREA.centre)).for_places(
        [[0.0, 0.0], [900.0, 0.0]], [1, 1], 0.5
    )
    facts = facts_of(alone, noise)
    assert facts.risks[0].chance.lower >= 0.95
    assert all(each.error.value < 1e-6 for each in facts.attacks if each.who == "repeated")


@pytest.mark.slow
def test_the_report_tells_of_attackers_over_many_reports_and_of_the_misinformed():
    _, _, facts = worked_out()
    assert [(each.who, each.reports) for each in facts.attacks] == [
        ("blind", 0),
        ("informed", 1),
        ("misinformed", 1),
        ("bare", 1),
        ("repeated", 10),
        ("repeated", 100),
    ]
    blind, informed, misinformed, _, ten, hundred = (each.error for each in facts.attacks)
    assert informed.lower <= misinformed.value
    assert hundred.value < ten.value < blind.value
    assert hundred.lower <= hundred.value <= hundred.upper
    assert [each.outcome.value for each in facts.risks[1:]] == ["holds", "fails", "fails"]
    assert facts.attacks_left_out == ""
    assert len(attack_rows(facts.attacks, facts.subject)[1]) == 6


@pytest.mark.slow
def test_what_is_not_worked_out_is_said_in_one_plain_sentence():
    visits, noise, _ = worked_out()
    bare = CoordinateNoise("2/km", "20 m", Projection(*AREA.centre))
    for facts in (facts_of(visits, bare), facts_of(None, noise)):
        (sentence,) = risk_words(facts.risks[0], facts.subject)
        assert sentence.startswith(
            ("Not known without visits (--visits): ", "Not computed for noise whose reports")
        )
        assert "guess is within 1850 ft (563.88 m) of the true point." in sentence
        assert "were not simulated" in simulation_words(facts.attacks_left_out)
