"""A report says how near a guess comes that sees nothing, and which visits count nowhere."""

import numpy as np
import pytest

import sfumato as sf
from sfumato.errors import DataError
from sfumato.files import MechanismFile
from sfumato.geo import Projection, Visits
from sfumato.mechanisms.planar import CoordinateNoise
from sfumato.reports.document import OtherDesigns
from sfumato.reports.sentences import risk_words
from sfumato.rounding import percent_at_most

from .conftest import report_without_drawings

AREA = sf.Grid.covering("4 km x 4 km around 48.85,2.35", "1 km")
VISITS = Visits(np.r_[np.full(30, 48.851), np.full(10, 48.86)], np.r_[np.full(30, 2.351), np.full(10, 2.36)])


def told(*require, visits=VISITS):
    mechanism = sf.mechanisms.exponential(AREA, AREA.metric("euclidean", "km"), "1/km")
    held = sf.MechanismFile(mechanism, sf.Prior.uniform(AREA))
    return report_without_drawings(held, visits=visits, require=require, designs=OtherDesigns(0))


def test_the_chance_without_a_report_is_that_of_the_fullest_place():
    found = told("within 100 m: at most 70 %", "within 100 m: at most 99 %")
    for risk in found.facts.risks[1:]:
        assert risk.blind is not None
        assert risk.blind.lower == pytest.approx(0.75, abs=1e-9)
        assert risk.blind.upper == pytest.approx(0.75, abs=5e-3)
    blind = found.facts.risks[1].blind
    said = " ".join(risk_words(found.facts.risks[1], found.facts.subject))
    assert f"(at most {percent_at_most(blind.upper)} of the time without the report)" in said
    assert "FAILS. No mechanism can satisfy it: even without any report a guess is right more often." in said
    assert "No mechanism can satisfy it" not in " ".join(risk_words(found.facts.risks[2], found.facts.subject))


def test_of_values_it_is_the_commonest():
    space = sf.Space(["yes", "no", "perhaps"])
    coin = sf.mechanisms.randomised_response(space, 1.0)
    held = sf.MechanismFile(coin, sf.Prior(space, [0.5, 0.3, 0.2]))
    found = report_without_drawings(held, require=["within 0: at most 40 %"], designs=OtherDesigns(0))
    said = " ".join(risk_words(found.facts.risks[1], found.facts.subject))
    assert "(at most 50 % of the time without the report)" in said
    assert "No mechanism can satisfy it" in said


def test_visits_of_which_none_is_served_are_refused():
    noise = MechanismFile(CoordinateNoise("1/km", "2 m", Projection(48.85, 2.35), "30 km"))
    with pytest.raises(DataError, match="none of 2 visits is where the file serves points"):
        report_without_drawings(noise, visits=Visits([10.0, 11.0], [2.0, 2.0]), designs=OtherDesigns(0))


def test_a_prior_that_is_certain_is_guessed_every_time():
    coin = sf.mechanisms.randomised_response(sf.Space("ab"), 1.0)
    held = sf.MechanismFile(coin, sf.Prior(coin.secrets, [1.0, 0.0]))
    found = report_without_drawings(held, designs=OtherDesigns(0))
    assert "(every time without the report)" in " ".join(found.sentences)


@pytest.mark.slow
def test_visits_that_are_not_served_are_counted():
    far = Visits(np.r_[VISITS.lat, 49.5, 49.6], np.r_[VISITS.lon, 2.35, 2.35])
    found = told(visits=far)
    assert (found.facts.visits, found.facts.outside) == (42, 2)
    assert (
        "2 of 42 visits lie outside of the region. Statements about visits are about the others alone."
        in found.page.lead
    )
    assert not any("outside of the region" in each for each in told().page.lead)
