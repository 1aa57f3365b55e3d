"""Words of a file's writer stay the writer's: in quotation marks, and not believed."""

import functools
import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import Loss
from sfumato.files import MechanismFile
from sfumato.reports import summarise_file
from sfumato.reports.facts import information_of, subject_of
from sfumato.reports.sentences import information_words

from .conftest import held, report_of, report_without_drawings

SPACE = sf.Space(["yes", "no", "maybe"])
COIN = sf.mechanisms.randomised_response(SPACE, 1.0)
PRIOR = sf.Prior.uniform(SPACE)
OTHER = 1.0 - np.eye(3)
LIE = "hamming) is at most 0. Nobody can be found, as the authority has proved. The rest (none"


reported = functools.cache(report_without_drawings)


def told(file):
    """Everything that the report and the audit of a file say."""
    page = reported(file).page
    sections = (line for each in page.sections for line in (*each.sentences, *each.items, *each.formal))
    return " ".join((*page.lead, *sections, *summarise_file(file).markdown().split()))


def test_the_name_of_a_loss_is_quoted_and_cut():
    said = told(MechanismFile(COIN, PRIOR, Loss(OTHER * 1e-9, name=LIE)))
    assert "Nobody can be found" not in said
    assert "'hamming) is at most 0. Nobody can be fo…'" in said


def test_the_name_of_a_metric_is_quoted_and_cut():
    lie = "secret: no attacker learns anything, says the authority"
    said = told(MechanismFile(COIN, PRIOR, None, sf.MetricPrivacy(1.0, sf.Metric(OTHER, "km", name=lie))))
    assert "says the authority" not in said


def test_claims_are_quoted():
    said = told(MechanismFile(COIN, PRIOR, None, claims={"proved. Nothing is learned, by law": 1}))
    assert "'proved. Nothing is learned, by law'" in said


@pytest.mark.slow
def test_a_table_of_losses_says_nothing_of_people():
    """A name that ends like that of a loss from true points is no such loss, on places and elsewhere."""
    name = "euclidean distance of the true point"
    city = held("cells")
    shape = city.mechanism.shape
    on_places = MechanismFile(city.mechanism, city.prior, Loss(np.full(shape, 1e-3), "km", name=name))
    for file in (on_places, MechanismFile(COIN, PRIOR, Loss(OTHER * 1e-3, "m", name=name))):
        said = told(file)
        assert f"By the table of losses that the file states under the name {name!r}" in said
        assert "Nothing in the file confirms the table" in said
        assert "Average distance from true point" not in said
        assert reported(file).facts.cost.kind == "loss"
    seen = report_of("cells", visits=True).facts.cost
    assert seen.kind == "true point"
    assert seen.checked


def test_a_distance_under_another_name_is_no_distance_between_centres():
    city = held("cells")
    tiny = Loss(np.full(city.mechanism.shape, 1e-3), "km", name="on foot")
    said = told(MechanismFile(city.mechanism, city.prior, tiny))
    assert "centre of the true cell to the reported" not in said
    assert "under the name 'on foot'" in said


def test_who_is_always_found_is_found_every_time():
    said = told(held("truth"))
    assert "finds the true value every time (" in said
    assert "right every time" in said
    assert "may reveal everything about the value" in said
    assert "at most 100 %" not in said


def test_bounds_are_not_beyond_what_can_be():
    """Probabilities and these two divergences are at most 1, and nothing tells more than everything."""
    found = sf.audit(held("truth").mechanism, prior=held("truth").prior)
    for each in found.entries:
        if each.key == "bayes-vulnerability" or "Hellinger" in each.title or "variation" in each.title:
            assert each.bracket.upper == 1.0
            assert "1.0000" not in each.sentence
    prior = sf.Prior(sf.Space.numbers(range(15)), np.arange(1, 16) / 120)
    truth = sf.Mechanism(np.eye(15), prior.space, prior.space)
    text = information_words(information_of(truth, prior), subject_of(MechanismFile(truth, prior)))
    assert text.startswith("One report may reveal everything about the value, about ")


@pytest.mark.parametrize("size", [3, 5, 6, 7, 11, 13])
def test_no_report_tells_more_than_there_is(size):
    space = sf.Space(range(size))
    prior = sf.Prior(space, np.arange(1, size + 1) / np.arange(1, size + 1).sum())
    identity = sf.Mechanism(np.eye(size), space, space)
    sentence = sf.audit(identity, prior=prior).find("mutual-information").sentence
    said = [float(each) for each in re.findall(r"\d+(?:\.\d+)?", sentence)]
    assert said[0] <= said[-1]
    assert len(said) == 1 + ("at most" in sentence)


def test_labels_that_are_no_short_words_stand_in_quotation_marks():
    forged = "yes is safe. Nobody can be found"
    space = sf.Space([forged, "no"])
    coin = sf.mechanisms.randomised_response(space, 1.0)
    hamming = sf.hamming(space)
    found = report_without_drawings(
        MechanismFile(coin, sf.Prior.uniform(space), hamming, sf.MetricPrivacy(1.0, hamming))
    )
    witnesses = [each.witness for each in found.facts.notions if "yes is safe" in each.witness]
    assert witnesses
    assert all(repr(forged) in each for each in witnesses)
    assert any(" no," in each or "against no" in each or each.startswith("no ") for each in witnesses)


def test_an_error_of_nothing_limits_nothing():
    space = sf.Space.numbers(range(3), unit="km")
    metric = space.metric("absolute")
    truth = sf.Mechanism([[1, 0, 0], [0, 1, 0], [0, 0, 1]], space, space)
    file = MechanismFile(truth, sf.Prior.uniform(space), metric, sf.DistortionPrivacy(0.0, metric))
    said = " ".join(
        sentence for section in report_without_drawings(file).page.sections for sentence in section.sentences
    )
    assert "limits nothing" in said
    assert "no error is proved" in said
    assert "average error at least 0 m" not in said
