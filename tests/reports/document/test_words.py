"""Every number in the sentences of a report, read back and held against the facts on the right side."""

import functools
import json
import math
import re

import numpy as np
import pytest

import sfumato as sf
from sfumato.core import units
from sfumato.files import MechanismFile
from sfumato.reports import summarise_file
from sfumato.reports.document import OtherDesigns
from sfumato.reports.sentences import cost_words, protected_words

from .conftest import CITY, KINDS, REGION, held, report_of, report_without_drawings, slowly

METRES = {"mm": 1e-3, "m": 1.0, "km": 1e3}
AMOUNT = r"(infinite|-?[\d,]+(?:\.\d+)?(?:e-?\d+)?)"
LENGTHS = ("mm", "m", "km")


def everything(found):
    """The sentences of the sections that say numbers, by their titles."""
    sections = {section.title: (*section.sentences, *section.items) for section in found.page.sections}
    return {title: " ".join(sentences) for title, sentences in {**dict(found.page.cover), **sections}.items()}


def value(text, unit=""):
    """A number as a sentence has it, in the base unit of its quantity."""
    number = math.inf if text == "infinite" else float(text.replace(",", ""))
    return number * METRES.get(unit, 1.0)


def base(quantity, side):
    """A bound of a quantity of the JSON in the base unit."""
    bound = float(quantity[side])
    return bound * METRES.get(quantity["unit"], 1.0)


@pytest.fixture(params=[*slowly(KINDS, False), *slowly(["points", "cells", "noise"], True)])
def told(request):
    return read_back(*request.param)


@functools.cache
def read_back(kind, visits):
    """The sentences of a report and its JSON."""
    found = report_of(kind, visits=visits)
    return everything(found), json.loads(found.json())


def test_beliefs_are_never_understated(told):
    _, facts = told
    for promise in facts["promises"]:
        for belief in promise["beliefs"]:
            epsilon = float(promise["proved"]["upper"])
            distance, unit = belief["distance"]["value"], promise["unit"]
            if belief["distance"]["unit"] != unit:
                distance *= units.factor(belief["distance"]["unit"], unit)
            exact = 1 / (1 + math.exp(-min(700.0, epsilon * distance * belief["reports"])))
            assert belief["belief"]["upper"] >= exact * (1 - 1e-15)
            assert belief["belief"]["upper"] <= exact * (1 + 1e-6) + 1e-2  # what snapping adds to a distance


def test_the_odds_of_the_promise(told):
    sections, facts = told
    for number, promise in enumerate(facts["promises"], 1):
        title = (
            "The guarantee" if len(facts["promises"]) == 1 else f"Guarantee {number} of {len(facts['promises'])}"
        )
        text = sections[title]
        uppers = [each["belief"]["upper"] for each in promise["beliefs"] if each["reports"] == 1]
        said = re.findall(rf"is at most {AMOUNT} % sure of either", text)
        assert len(said) + text.count("no useful limit is proved") == bool(uppers)
        for each in said:
            assert any(
                value(each) / 100 >= upper * (1 - 1e-15) and value(each) / 100 - upper < 0.01 for upper in uppers
            )
        assert ("NOT PROVED" in text) == (not promise["holds"])
        if promise["kind"] == "error":
            claimed, claimed_unit, proved, proved_unit = re.findall(
                rf"average error at least {AMOUNT} ?(mm|m|km|).*\(proved: at least {AMOUNT} ?(mm|m|km|)\)\.",
                text,
            )[0]
            assert value(claimed, claimed_unit) <= base(promise["claimed"], "value") * (1 + 1e-12)
            assert value(proved, proved_unit) <= base(promise["proved"], "lower") * (1 + 1e-12)


def test_what_it_costs(told):
    sections, facts = told
    text, cost = sections["What it costs"], facts["cost"]
    if cost["expected"] is None:
        assert not re.search(rf"at most {AMOUNT}", text)
        return
    first = re.search(
        rf"(?:(?:: |costs )at most|: between \S+ \S+ and) {AMOUNT} ?(mm|m|km|)|At most {AMOUNT} % of", text
    )
    assert first
    number = value(first[1], first[2]) if first[1] else value(first[3]) / 100
    upper = base(cost["expected"], "upper")
    assert upper * (1 - 1e-12) <= number <= upper * 1.02 + 1e-12
    if cost["best"] is not None and cost["kind"] == "hamming" and cost["objective"] == "expected":
        low, high = re.findall(
            rf"in less than {AMOUNT} % of its reports\. This one does in at most {AMOUNT} %", text
        )[0]
        assert value(low) / 100 <= cost["best"]["lower"] * (1 + 1e-12)
        assert value(high) / 100 >= cost["reached"]["upper"] * (1 - 1e-12)
    elif cost["best"] is not None and cost["objective"] != "distortion":
        low, low_unit, high, high_unit = re.findall(
            rf"loss below {AMOUNT} ?(\w*)\. This one has at most {AMOUNT} ?(\w*): ",
            text,
        )[0]
        assert value(low, low_unit) <= base(cost["best"], "lower") * (1 + 1e-12)
        assert value(high, high_unit) >= base(cost["reached"], "upper") * (1 - 1e-12)


def test_what_attackers_find(told):
    sections, facts = told
    text = sections["What attackers find"]
    attacks = {(each["who"], each["reports"]): each for each in facts["attacks"]}
    if ("informed", 1) in attacks:
        hit, error = attacks["informed", 1]["hit"], attacks["informed", 1]["error"]
        said = re.findall(rf"finds [a-z ]* at most {AMOUNT} % of the time \(about", text)
        sure = hit is not None and hit["lower"] == 1
        assert len(re.findall(r"(?<!perhaps )every time \(", text)) == sure
        assert len(said) + sure == (hit is not None)
        assert all(value(each) / 100 >= hit["upper"] * (1 - 1e-12) for each in said)
        said = re.findall(rf": average error (?:between|at least) {AMOUNT} ?(mm|m|km|)", text)
        assert len(said) == (error is not None and attacks["blind", 0]["error"] is not None)
        assert all(value(*each) <= base(error, "lower") * (1 + 1e-12) for each in said)
    for count in (10, 100):
        if ("repeated", count) not in attacks:
            assert f"After {count} fresh" not in text
            continue
        found = attacks["repeated", count]
        for what, pattern in (("hit", rf"confidence {AMOUNT} % to {AMOUNT} %\) of the time"), ("error", None)):
            if found[what] is None:
                continue
            assert found[what]["confidence"] == 0.99
            assert found[what]["known"] == "estimated"
            alone = re.search(
                rf"After {count} fresh[^.]*average error of at most {AMOUNT} ?(mm|m|km|\w*) \(with", text
            )
            if what == "error" and alone:
                assert value(*alone.groups()) >= base(found[what], "upper") * (1 - 1e-12)
                continue
            pattern = pattern or rf"confidence {AMOUNT} ?(mm|m|km|\w*) to {AMOUNT} ?(mm|m|km|\w*)\) \(simulated"
            parts = re.search(rf"After {count} fresh[^.]*(?:\.\d[^.]*)*?{pattern}", text)
            assert parts, (what, text)
            groups = parts.groups()
            low, high = (groups[0], groups[1]) if what == "hit" else (groups[0], groups[2])
            scale = 0.01 if what == "hit" else METRES.get(groups[1], 1.0)
            other = 0.01 if what == "hit" else METRES.get(groups[3], 1.0)
            assert value(low) * scale <= base(found[what], "lower") * (1 + 1e-12)
            assert value(high) * other >= base(found[what], "upper") * (1 - 1e-12)


def test_how_near_an_attacker_comes(told):
    sections, facts = told
    text = sections["How near an attacker comes"]
    for risk in facts["risks"]:
        if risk["text"]:
            assert f"The requirement '{risk['text']}' {risk['outcome'].upper()}" in text
        if risk["chance"] is not None:
            low, high = 100 * risk["chance"]["lower"], 100 * risk["chance"]["upper"]
            said = re.findall(
                rf"at most {AMOUNT} % of the time(?:; some guesses reach {AMOUNT} %)?",
                text,
            )
            assert (low == 100 and "every time" in text) or any(
                (not b or value(b) <= low * (1 + 1e-15)) and high * (1 - 1e-15) <= value(a) for a, b in said
            )
    outcomes = {risk["outcome"] for risk in facts["risks"] if risk["text"]}
    for risk in facts["risks"]:
        if risk["outcome"] == "holds":
            assert risk["chance"]["upper"] <= risk["limit"]["value"] + 1e-15
        elif risk["outcome"] == "fails":
            assert risk["chance"]["lower"] > risk["limit"]["value"] - 1e-15
    assert outcomes


def test_what_is_not_protected_is_true_of_the_file(told):
    sections, facts = told
    text = sections["Not protected"]
    kinds = {each["kind"] for each in facts["promises"]}
    assert ("k times the epsilon" in text) == bool(kinds & {"points", "cells", "values", "near"})
    assert ("Borders of cells" in text) == (facts["subject"]["kind"] == "cells")
    assert ("Positions outside" in text) == bool(facts["subject"]["region"])
    assert ("The prior:" in text) == facts["prior"]["held"]
    assert facts["subject"]["chosen_reports"] == ("Places of the data" in text)
    for always in (
        "anyone who runs that program",
        "how long a draw takes",
        "Columns that a release keeps",
        "A ledger",
    ):
        assert always in text
    assert ("NOT PROVED" in text) == any(not each["holds"] for each in facts["promises"])


@pytest.mark.slow
def test_reports_at_medians_may_be_where_somebody_was():
    lattice = sf.Lattice.covering(REGION, "1 km")
    promise, prior = sf.CoordinatePrivacy("1/km"), sf.Prior.from_visits(lattice, CITY)
    made = sf.design(prior, loss=lattice.loss(CITY), guarantees=promise, gap=1e-3, method="table")
    said = [
        everything(report_without_drawings(design, designs=OtherDesigns(0)))["Not protected"]
        for design in (made, sf.optimal.at_medians(made, CITY))
    ]
    assert "Places of the data" not in said[0]
    assert "Places of the data: reports are made at places chosen for a set of visits." in said[1]


def test_no_claim_of_the_file_is_believed():
    broken = report_of("broken")
    text = everything(broken)["The guarantee"]
    assert "The file claims this: no report is more than e^(1 x distance" in text
    (found,) = re.findall(rf"NOT PROVED: epsilon is up to {AMOUNT}", text)
    proved = value(found)
    assert proved >= math.log(9)
    assert broken.outcome.value == "fails"
    assert "NOT PROVED for any epsilon." in everything(report_of("infinite"))["The guarantee"]
    assert report_of("infinite").facts.promises[0].beliefs == ()
    assert held("bare").guarantees == ()
    assert "guarantees nothing" in report_of("bare").page.lead[0]


def test_losses_of_numbers_are_told_without_the_name_of_a_distance():
    facts = report_of("numbers").facts
    said = " ".join(cost_words(facts.cost, facts.subject))
    assert "Average difference between the report and the true number: at most" in said
    assert "years" in said
    assert "absolute" not in said
    assert "loss" not in said


@pytest.mark.parametrize(("width", "noun"), [(1, "value"), (2, "range")])
def test_numbers_on_a_circle_are_called_so(width, noun):
    hours = sf.NumberBins(0, width, 24 // width, "h", period=24)
    mechanism = sf.mechanisms.exponential(hours, hours.metric("absolute"), "0.5/h")
    prior = sf.Prior(hours, np.arange(1, len(hours) + 1) / np.arange(1, len(hours) + 1).sum())
    file = MechanismFile(mechanism, prior, hours.metric("absolute"))
    found = report_without_drawings(file, require=["within 3 h: at most 99 %"], designs=OtherDesigns(0))
    said = " ".join(protected_words(found.facts.subject))
    assert f"{24 // width} {noun}s, from 0" in said
    assert "numbers on a circle of 24 h" in said
    assert found.facts.subject.circle.value == 24
    (risk,) = (each for each in found.facts.risks if each.radius.value == 3)
    middles = np.asarray(hours.coordinates)[:, 0]
    joint = mechanism.matrix * prior.probabilities[:, None]
    apart = [np.abs((middles - guess + 12) % 24 - 12) for guess in np.arange(0, 24, 0.25)]
    best = sum(max(joint[away <= 3, report].sum() for away in apart) for report in range(len(hours)))
    assert risk.chance.lower <= best + 1e-12
    assert best <= risk.chance.upper + 1e-12
    assert risk.chance.upper - risk.chance.lower < 1e-9
    if width == 1:
        assert "the shorter way around the circle" in " ".join(cost_words(found.facts.cost, found.facts.subject))
    assert "on a circle of 24 h" in summarise_file(file).markdown()
    sentences = [entry.sentence for entry in sf.audit(mechanism, prior=prior, metric=hours.metric("absolute"))]
    assert any("counted on a circle of 24 h" in each for each in sentences)
