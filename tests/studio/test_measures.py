"""Sentences of the page: each number is that of its JSON, rounded to the side that promises less."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Bracket
from sfumato_studio.domains import Measures, ValuesDomain
from sfumato_studio.measures import (
    compared_row,
    headline,
    level_sentences,
    success_answers,
    warnings,
)

FACTORS = {"km": 1000.0, "m": 1.0, "%": 0.01, "": 1.0}
NUMBER = re.compile(r"(?<![\w.,])(\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?) ?(km|m|%)?(?![\w/])")


def numbers(sentence):
    """Return the numbers of a sentence, in metres and shares."""
    return [float(digits.replace(",", "")) * FACTORS[unit] for digits, unit in NUMBER.findall(sentence)]


@pytest.fixture(params=[pytest.param("city", marks=pytest.mark.slow), "ages"])
def anyone(request):
    return request.getfixturevalue(request.param)


def measured(found, role):
    """Check one number between two bounds against its text."""
    said = numbers(found["text"])
    if found["text"] == "no useful limit":
        assert found["upper"] >= 0.9999 if role == "found" else found["lower"] <= 0
        return
    assert said, found
    slack = 1 + 1e-9
    if role in ("loss", "found"):
        stated = found["upper"]
        assert stated <= said[-1] * slack
        assert said[-1] <= max(stated * 1.1, stated + 0.0011)
    else:
        stated = max(found["lower"], 0.0)
        assert said[-1] <= stated * slack
        assert said[-1] >= min(stated * 0.9, stated - 0.0011)


def test_levels_say_what_their_numbers_say(anyone):
    answer = anyone.levels()
    for level in answer["levels"]:
        for role in ("loss", "error", "found"):
            if level[role] is not None:
                measured(level[role], role)
                without = numbers(level[role]["baseline_sentence"])
                assert without[0] == pytest.approx(level[role]["baseline"], rel=0.06, abs=0.0006)


def test_a_preview_says_what_its_numbers_say(anyone):
    for at in (1, 5, 9):
        preview = anyone.get("/preview", level=at, at=4, report=7)
        shown = preview["shown"]
        first = shown["sentences"][0 if shown["useful"] else 1].replace("/km", "")
        assert numbers(first)[-1] == pytest.approx(shown["epsilon"], rel=1e-4)
        assert numbers(first)[-1] >= shown["epsilon"]
        assert "1/km" not in first
        assert numbers(preview["here"]["sentence"])[-1] == pytest.approx(preview["here"]["mean_loss"], rel=0.01)
        belief = preview["belief"]
        if belief["sentence"].startswith("This is never reported"):
            continue
        after, before = numbers(belief["sentence"])
        assert after == pytest.approx(belief["after"][belief["guess"]], rel=0.06, abs=0.0006)
        assert before == pytest.approx(belief["before"][belief["guess"]], rel=0.06, abs=0.0006)
        assert ("not the reported" in belief["sentence"]) == (belief["guess"] != 7)


def test_walks_and_attacks_say_what_their_numbers_say(anyone):
    epsilon = anyone.levels()["levels"][0]["epsilon"]
    found = anyone.post("/walk", {"level": 0, "path": [{"at": 4}, {"at": 5}], "repeat": 2})
    for number, step in enumerate(found["steps"], 1):
        said = numbers(step["sentence"])
        assert said[0] == number
        assert said[1] == pytest.approx(step["chance"], rel=0.06, abs=0.0006)
        if len(said) > 2:
            assert said[2] == pytest.approx(step["off"], rel=0.01)
    together = numbers(found["sentence"].replace("/km", ""))
    assert together[-1] == together[-3] == 4
    assert together[-2] == pytest.approx(4 * epsilon, rel=0.006)
    attacked = anyone.post("/attack", {"level": 0, "main": [{"at": 5, "weight": 0.6}]})
    for attacker in attacked["attackers"]:
        hits, error = attacker["found"], attacker["error"]
        assert numbers(hits["text"])[-1] == pytest.approx(hits["value"], rel=0.06, abs=0.0006)
        if error is not None and error["value"] > 0:
            assert numbers(error["text"])[-1] == pytest.approx(error["value"], rel=0.01)


def test_a_choice_says_what_was_wanted(anyone):
    levels = anyone.levels()["levels"]
    wanted = levels[2]["loss"]["upper"]
    choice = anyone.post("/choose", {"loss_at_most": wanted})
    said = numbers(choice["sentence"].replace("/km", ""))
    assert said[0] == pytest.approx(levels[choice["level"]]["epsilon"], rel=0.006)
    assert said[-1] == pytest.approx(wanted, rel=0.01)


@pytest.fixture(scope="module")
def categories():
    return ValuesDomain("x", {"a": 3, "b": 2, "c": 1}, None, per_unit=False, source="x")


@pytest.fixture(scope="module")
def years():
    return ValuesDomain("x", {"18": 3, "19": 2, "20": 1}, 18, per_unit=False, source="x")


@given(st.floats(1e-4, 50.0))
def test_a_guarantee_is_rounded_up(years, epsilon):
    facts = {"proved": epsilon, "finished": True, "status": "", "loss": [0.0, 0.0, 0.0]}
    assert epsilon <= numbers(level_sentences(years, facts)[0])[-1] <= epsilon * (1 + 1e-4)


@given(st.floats(1e-3, 0.999))
def test_a_bound_is_rounded_down(categories, years, bound):
    for domain, unit in ((categories, 0.1), (years, 0.01)):
        row = compared_row(domain, "x", 1.0, Bracket(bound, 2.0, math.inf), None, "", "")
        assert bound * (1 - unit) <= numbers(row["loss"]["text"])[-1] <= bound * (1 + 1e-12)


@given(st.floats(0.0, 1.0))
def test_a_limit_that_limits_nothing_is_not_said(categories, upper):
    _, found = success_answers(categories, Measures(None, Bracket(0.0, upper, upper)))
    if found.text == "no useful limit":
        assert upper >= 0.9999
        assert "no useful limit is proved" in found.sentence
    else:
        assert upper <= numbers(found.text)[-1] * (1 + 1e-12) < 1 + 1e-12


def test_a_guarantee_that_limits_nothing_is_a_warning(categories):
    facts = {"proved": 6.8, "loss": [0.0, 0.0, 0.0]}
    assert not warnings(categories, facts, None)
    (warning,) = warnings(categories, {**facts, "proved": 7.0}, None)
    assert "no useful limit is proved" in warning


def test_a_headline_is_the_guarantee_and_no_more(categories):
    begin = "After one report, someone who thought two values equally likely"
    assert headline(categories, 1.0) == f"{begin} is at most 74 % sure of either."
    assert headline(categories, 9.0) == f"{begin} may be almost certain of one of them: no useful limit is proved."
