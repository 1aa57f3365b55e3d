"""The catalogue over random facts: numbers are on the weaker side of the exact value, as their quantifiers say."""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.audits import Outcome
from sfumato.core import Side
from sfumato.files import DistanceSource
from sfumato.reports import sentences as said
from sfumato.reports.facts import (
    AttackFacts,
    BeliefFacts,
    ConstraintFacts,
    CostFacts,
    FormalFacts,
    InformationFacts,
    PromiseFacts,
    Quantity,
    RiskFacts,
    SubjectFacts,
    promises_of,
)
from sfumato_papers.invented_city import invented_city

METRES = {"mm": 1e-3, "m": 1.0, "km": 1e3}
NUMBER = r"(-?[\d,]+(?:\.\d+)?(?:e-?\d+)?) ?(%|mm|m|km|years?|h|)(?!\w)"
ROUNDING = 1e-12  # relative: a decimal stands for the nearest double
PLACES = ("points", "cells")
KINDS = (*PLACES, "numbers", "categories", "ranges")
SEEDS = range(60)


def number(text, unit):
    scale = 0.01 if unit == "%" else METRES.get(unit, 1.0)
    return float(text.replace(",", "")) * scale


def stated(quantifier, text):
    """The numbers that follow a quantifier, lengths in metres and shares as fractions."""
    return [number(*each) for each in re.findall(rf"{quantifier} {NUMBER}", text)]


def base(value, unit):
    return value * METRES.get(unit, 1.0)


def above(shown, exact, unit=""):
    """A printed upper bound is never below the exact value, and near it."""
    exact = base(exact, unit)
    assert exact * (1 - ROUNDING) <= shown <= exact * 1.11 + 1e-3, (shown, exact)


def below(shown, exact, unit=""):
    """A printed lower bound is never above the exact value, and near it."""
    exact = base(exact, unit)
    assert exact * 0.89 - 1e-3 <= shown <= exact * (1 + ROUNDING), (shown, exact)


def subject_of(kind):
    region = (40.0, -30.0, 40.1, -29.9) if kind in (*PLACES, "noise") else ()
    return SubjectFacts(kind, 12, 9, 0, 0, region, (4e3, 3e3) if region else (), "1", "12", "year")


def drawn(seed):
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    unit = str(rng.choice(["m", "km"])) if kind in PLACES else "year"
    return rng, subject_of(kind), unit


def between(rng, unit, wide=0.2):
    low = float(rng.lognormal(0.0, 2.0))
    high = low * (1 + float(rng.random()) * wide)
    return Quantity(low, (low + high) / 2, high, unit)


def share(rng):
    low = float(rng.random()) * 0.9
    high = min(1.0, low * 1.05)
    return Quantity(low, (low + high) / 2, high)


@pytest.mark.parametrize("seed", SEEDS)
def test_costs_are_upper_bounds(seed):
    rng, subject, unit = drawn(seed)
    kind = str(rng.choice(["true point", "hamming", "centres", "loss", "distance"]))
    expected = Quantity.at_most(float(rng.random()) if kind == "hamming" else float(rng.lognormal(0, 2)), unit)
    worst = Quantity.at_most(expected.value * 2, unit)
    checked = bool(rng.random() < 0.7)
    cost = CostFacts(kind, "absolute", expected, worst, None, "", None, checked)
    text = " ".join(said.cost_words(cost, subject))
    first, *others = stated("at most", text) or stated("At most", text)
    above(first, expected.value, "" if kind == "hamming" and checked else unit)
    if others:
        above(others[0], worst.value, unit)
    assert not stated("at least", text)
    assert ("Nothing in the file confirms" in text) == (not checked)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_bound_of_the_optimum_names_its_mechanisms(seed):
    rng, subject, unit = drawn(seed)
    objective = str(rng.choice(["expected", "worst-case", "distortion"]))
    low = float(rng.lognormal(0, 1))
    high = low * (1 + float(rng.lognormal(-5, 3)))
    best, reached = Quantity.at_least(low, unit), Quantity.at_most(high, unit)
    if objective == "distortion":
        best, reached = Quantity.at_most(high, unit), Quantity.at_least(low, unit)
    cost = CostFacts("loss", "absolute", reached, None, best, objective, reached, True)
    text = said.optimum_words(cost, subject, int(rng.integers(3)), int(rng.integers(3)))
    assert re.match("No mechanism .*these reports", text)
    assert ("lattice points" in text) == (subject.kind == "points")
    assert ("this loss" in text) == (objective == "distortion")
    if objective == "distortion":
        above(stated("above", text)[0], high, unit)
        below(stated("at least", text)[0], low, unit)
    else:
        below(stated("below", text)[0], low, unit)
        above(stated("at most", text)[0], high, unit)
    near = re.search(rf"within {NUMBER} of the best", text)
    assert near
    apart = high - low if near[2] != "%" else high / low - 1
    above(number(*near.groups()), apart, unit if near[2] != "%" else "")


@pytest.mark.parametrize("seed", SEEDS)
def test_attackers_are_stated_with_their_baseline(seed):
    rng, subject, unit = drawn(seed)
    what = {"points": "vertex", "cells": "cell"}.get(subject.kind, "value")
    what = "point" if subject.region and rng.random() < 0.5 else what
    error, blind_error = between(rng, unit), Quantity.about(float(rng.lognormal(1, 1)), unit)
    hit, blind = share(rng), Quantity.exact(float(rng.random()))
    attacks = (
        AttackFacts("blind", 0, what, blind, blind_error, 0),
        AttackFacts("informed", 1, what, hit, error, 0),
    )
    by_error, by_hit = said.attack_words(attacks, subject)
    low, high = error.lower, error.upper
    assert low is not None
    assert high is not None
    if "between" in by_error:
        (found,) = re.findall(rf"error between {NUMBER} and {NUMBER}", by_error)
        below(number(*found[:2]), low, unit)
        above(number(*found[2:]), high, unit)
    else:
        below(stated("error at least", by_error)[0], low, unit)
    assert stated(r"\(about", by_error)[0] == pytest.approx(base(blind_error.value, unit), rel=0.01, abs=1e-3)
    above(stated("at most", by_hit)[0], hit.upper)
    assert stated(r"\(about", by_hit)[0] == pytest.approx(blind.value, rel=0.06, abs=1e-4)
    assert all(text.startswith("Best attacker, knowing ") for text in (by_error, by_hit))
    _, rows = said.attack_rows(attacks, subject)
    above(stated("at most", rows[1][1])[0], hit.upper)
    below(stated("at least", rows[1][2])[0], low, unit)


def test_what_always_happens_is_no_bound():
    certain = Quantity.exact(1.0)
    attacks = (
        AttackFacts("blind", 0, "value", Quantity.exact(0.5), None, 0),
        AttackFacts("informed", 1, "value", certain, None, 0),
    )
    (text,) = said.attack_words(attacks, subject_of("categories"))
    assert "finds the true value every time (about 50 %" in text
    unproved = (attacks[0], AttackFacts("informed", 1, "value", Quantity(0.9, 1.0, 1.0), None, 0))
    assert (
        "perhaps every time (no useful limit is proved)" in said.attack_words(unproved, subject_of("numbers"))[0]
    )
    nothing = Quantity(0.0, 0.0, 0.0, "year")
    attacks = (
        AttackFacts("blind", 0, "value", None, nothing, 0),
        AttackFacts("informed", 1, "value", None, nothing, 0),
    )
    assert "no error is proved" in said.attack_words(attacks, subject_of("numbers"))[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_simulated_attackers_are_estimates(seed):
    rng, subject, unit = drawn(seed)
    hit, error = share(rng), between(rng, unit)
    hit = Quantity(hit.lower, hit.value, hit.upper, confidence=0.99)
    error = Quantity(error.lower, error.value, error.upper, unit, confidence=0.99)
    attack = AttackFacts("repeated", 10, "value", hit, error, 1000)
    by_hit, by_error = said.attack_words((attack,), subject)
    for text, fact, of in ((by_hit, hit, ""), (by_error, error, unit)):
        (found,) = re.findall(rf"about {NUMBER} \(with 99 % confidence {NUMBER} to {NUMBER}\)", text)
        below(number(*found[2:4]), fact.lower, of)
        above(number(*found[4:]), fact.upper, of)
        assert "simulated in 1,000 cases" in text


@pytest.mark.parametrize("seed", SEEDS)
def test_risks_are_upper_bounds_and_their_limits_are_decided(seed):
    rng, subject, _ = drawn(seed)
    chance, blind = share(rng), share(rng)
    radius = Quantity.exact(500.0, "m") if subject.region else Quantity.exact(0.0)
    of = "visits" if subject.region else "prior"
    limit = Quantity.exact(0.3)
    risk = RiskFacts("within 500 m: at most 30 %", radius, "500 m", chance, limit, Outcome.FAILS, "", of, blind)
    first, requirement, *hopeless = said.risk_words(risk, subject)
    printed = stated("at most", first)
    above(printed[0], chance.upper)
    above(printed[-1], blind.upper)
    below(stated("reach", first)[0], chance.lower)
    assert "FAILS" in requirement
    assert blind.lower is not None
    assert bool(hopeless) == (blind.lower > 0.3)


@pytest.mark.parametrize("seed", SEEDS)
def test_information_is_an_upper_bound(seed):
    rng, subject, _ = drawn(seed)
    entropy = float(rng.lognormal(1, 1))
    facts = InformationFacts(entropy * float(rng.random()), entropy)
    text = said.information_words(facts, subject)
    above(stated("at most", text)[0], facts.bits)
    assert "may reveal everything" in said.information_words(InformationFacts(entropy * 2, entropy), subject)


def promise(rng, subject, unit, *, holds, source=DistanceSource.CONFIRMED):
    kind = {"points": "points", "cells": "cells"}.get(subject.kind, "values")
    claimed = float(np.exp(rng.uniform(-4, 1.5)))
    proved = claimed * (1 - 0.01 * float(rng.random())) if holds else claimed * 1.5
    distance = Quantity.exact(1.0, unit)
    belief = Quantity.at_most(1 / (1 + math.exp(-proved)) * (1 + 1e-15))
    beliefs = (BeliefFacts(distance, 1, Quantity.at_most(math.exp(proved)), belief),)
    formal = FormalFacts(12, 132, 9, 0.001)
    rate = f"/{unit}"
    return PromiseFacts(
        kind,
        holds,
        False,
        Quantity.exact(claimed, rate),
        Quantity.at_most(proved, rate),
        "euclidean",
        source.value,
        unit,
        None,
        0,
        0,
        beliefs,
        formal,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_guarantees_are_stated_no_stronger_than_they_are(seed):
    rng, subject, unit = drawn(seed)
    holds = bool(seed % 3)
    facts = promise(rng, subject, unit, holds=holds)
    formal = " ".join(said.formal_words(facts, subject))
    (exponent,) = re.findall(r"e\^\(([\d.e-]+) x distance", formal)
    assert float(exponent) >= facts.claimed.value * (1 - ROUNDING)
    (times,) = re.findall(r": ([\d.,e-]+) times for", formal)
    assert float(times.replace(",", "")) >= math.exp(facts.claimed.value) * (1 - ROUNDING)
    quantifier = "epsilon is at most" if holds else "epsilon is up to"
    (proved,) = re.findall(rf"{quantifier} ([\d.e-]+)/{unit}", formal)
    assert float(proved) >= facts.proved.value * (1 - ROUNDING)
    everything = (formal, " ".join(said.promise_words(facts, subject)), said.short_words(facts, subject))
    assert all(("NOT PROVED" in text) == (not holds) for text in everything)
    if holds:
        for text in everything[1:]:
            above(stated("at most", text)[0], facts.beliefs[0].belief.upper)
            assert "After one report, someone who thought" in text
    ((_, limit),) = said.belief_rows(facts)
    above(stated("at most", limit)[0], facts.beliefs[0].belief.upper)


def test_a_distance_that_depends_on_the_direction_is_named_and_beliefs_are_by_the_longer_one():
    metric = sf.Metric([[0, 1, 2], [3, 0, 1], [6, 3, 0]], "min", name="hill", symmetric=False)
    prior = sf.Prior.uniform(sf.Space("abc"))
    result = sf.design(prior, loss=1 - np.eye(3), guarantees=sf.MetricPrivacy("0.5/min", metric))
    text = " ".join(result.sentences())
    assert "The distance depends on the direction: for A against B, the one from A to B counts." in text
    (facts,) = promises_of(sf.MechanismFile.of_design(result))
    assert not facts.symmetric
    assert [belief.distance.value for belief in facts.beliefs if belief.reports == 1] == [3.0, 5.0]
    subject = subject_of("categories")
    odds = said.belief_words(facts, subject)
    assert odds.startswith(
        "After one report, someone who thought two values 5 min apart (the longer way, as the file"
    )
    above(stated("at most", odds)[0], 1 / (1 + math.exp(-2.5)))
    near = sf.ThresholdPrivacy(1.0, metric, "2 min")
    result = sf.design(prior, loss=1 - np.eye(3), guarantees=near)
    (facts,) = promises_of(sf.MechanismFile.of_design(result))
    assert "at most 2 min apart (the longer way)" in said.epsilon_words(facts, subject)
    assert "at most 2 min apart (the longer way)" in said.reveal_words(facts, subject)


@pytest.mark.parametrize("source", [DistanceSource.LABELS, DistanceSource.UNCONFIRMED])
def test_stated_distances_are_named_wherever_a_guarantee_is(source):
    rng, subject, unit = drawn(4)
    facts = promise(rng, subject, unit, holds=True, source=source)
    for text in (" ".join(said.formal_words(facts, subject)), " ".join(said.promise_words(facts, subject))):
        assert "distances that the file states" in text
    assert "distances that the file states" in said.short_words(facts, subject)


@pytest.mark.parametrize("seed", SEEDS)
def test_guaranteed_errors_are_lower_bounds(seed):
    rng, subject, unit = drawn(seed)
    claimed = float(rng.lognormal(0, 2))
    holds = bool(seed % 3)
    proved = claimed * (1.01 if holds else 0.5)
    facts = PromiseFacts(
        "error",
        holds,
        False,
        Quantity.exact(claimed, unit),
        Quantity.at_least(proved, unit),
        "absolute",
        DistanceSource.CONFIRMED.value,
        unit,
        None,
        0,
        0,
        (),
        FormalFacts(reports=9),
    )
    for text in (" ".join(said.formal_words(facts, subject)), " ".join(said.promise_words(facts, subject))):
        first, second = stated("[aA]t least", text)[:2]
        below(first, claimed, unit)
        below(second, proved, unit)
        assert ("NOT PROVED" in text) == (not holds)
        assert not stated("at most", text)


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_of_linear_constraints_are_upper_bounds(seed):
    rng, _, unit = drawn(seed)
    claimed, holds = float(rng.lognormal(0, 2)), bool(seed % 3)
    proved = claimed * (1 - 1e-9) if holds else claimed * (1 + 1e-9)
    facts = ConstraintFacts("rare", Quantity.exact(claimed, unit), Quantity.at_most(proved, unit), holds)
    text = said.constraint_item(facts)
    limit, shown = stated("[aA]t most", text)
    assert limit == pytest.approx(base(claimed, unit), rel=1e-15)
    assert shown >= base(proved, unit) * (1 - ROUNDING)
    assert (shown <= limit) == holds
    assert ("NOT PROVED" in text) == (not holds)


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_elsewhere_are_an_estimate_or_an_upper_bound(seed):
    rng, subject, unit = drawn(seed)
    value = float(rng.lognormal(0, 2))
    text = said.held_out_words(Quantity.about(value, unit), 17, "the design")
    assert stated("about", text)[0] == pytest.approx(base(value, unit), rel=0.01, abs=1e-3)
    assert "not a bound" in text
    above(
        stated("at most", said.smoothed_words(Quantity.at_most(value, unit), subject, "the visits"))[0],
        value,
        unit,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_short_forms_are_no_stronger_than_the_sentences(seed):
    rng, subject, unit = drawn(seed)
    facts = promise(rng, subject, unit, holds=True)
    (shown,) = re.findall(rf"^Epsilon ([\d.e-]+)/{unit} for any two", said.epsilon_words(facts, subject))
    assert facts.claimed.value * (1 - ROUNDING) <= float(shown) <= facts.claimed.value * (1 + 1e-4)
    above(stated("at most", said.belief_words(facts, subject))[0], facts.beliefs[0].belief.high)
    above(stated("a factor of", said.factor_words(facts))[0], facts.beliefs[0].factor.high)
    broken = promise(rng, subject, unit, holds=False)
    assert said.belief_words(broken, subject) == said.factor_words(broken) == ""
    hamming = bool(rng.random() < 0.5)
    expected = Quantity.at_most(float(rng.random()) if hamming else float(rng.lognormal(0, 2)), unit)
    cost = CostFacts("hamming" if hamming else "loss", "absolute", expected, None, None, "", None, True)
    (shown,) = stated("at most", said.cost_text(cost))
    above(shown, expected.value, "" if hamming else unit)
    assert said.cost_text(cost).lower() in said.cost_words(cost, subject)[0].lower()
    bound = between(rng, unit)
    text = said.length_text(Quantity.at_least(bound.low, unit), Side.AT_LEAST)
    below(stated("at least", text)[0], bound.low, unit)
    hit = share(rng)
    above(stated("at most", said.share_text(Quantity.at_most(hit.high), Side.AT_MOST))[0], hit.high)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_an_epsilon_per_unit_of_numbers_counts_their_distance(epsilon):
    rng, subject, _ = drawn(2)
    facts = promise(rng, subject, "", holds=True)._replace(unit="", claimed=Quantity.exact(epsilon))
    assert said.epsilon_words(facts, subject) == f"Epsilon {epsilon:g} for any two values (proved)."
    farther = facts.beliefs[0]._replace(distance=Quantity.exact(2.0))
    several = facts._replace(beliefs=(*facts.beliefs, farther))
    assert said.epsilon_words(several, subject) == f"Epsilon {epsilon:g} x distance for any two values (proved)."


def near(shown, exact, unit=""):
    """An estimate is the exact value, rounded."""
    assert shown == pytest.approx(base(exact, unit), rel=0.06, abs=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_estimates_of_single_reports_and_walks_are_the_exact_numbers(seed):
    rng, subject, unit = drawn(seed)
    unit = "m" if subject.region else "year"
    subject = subject._replace(unit=unit)
    categories = subject.kind == "categories"
    loss, of = (float(rng.random()), "") if categories else (float(rng.lognormal(2, 2)), unit)
    near(stated("about", said.constant_words(loss, subject))[0], loss, of)
    near(stated("about", said.here_words(loss, subject))[0], loss, of)
    same, reports = int(rng.integers(50)), int(rng.integers(50, 1000))
    shared = said.drawn_reports_words(reports, same, loss, subject)
    assert shared.startswith(f"{reports} reports, ")
    assert f" {same} name the true" in shared
    near(stated("about", shared)[0], loss, of)
    for by_loss, exact in ((True, loss), (False, loss)):
        common = said.common_words(exact, subject, "km", reports, loss=by_loss)
        shown = stated("about", common)[0] if by_loss else float(re.findall(r"epsilon ([\d.,e-]+)/km", common)[0])
        near(shown, exact, of if by_loss else "")
        assert f"{reports} visits" in common
    before, after = sorted(rng.random(2))
    for reported in (False, True):
        text = said.guess_words(before, after, subject, reported=reported)
        near(stated("probability", text)[0], after)
        near(number(*re.findall(rf"\({NUMBER} before", text)[0]), before)
        assert ("is not the reported" in text) is not reported
    step = said.step_words(reports, before, loss, subject)
    near(stated("a chance of", step)[0], before)
    assert ("best guess" in step) == bool(subject.region)
    epsilon = float(rng.lognormal(0, 1))
    walk = said.walk_words(reports, epsilon, "km", loss, subject)
    (total,) = re.findall(r"epsilon at most ([\d.,e-]+)/km, (?=[\d,]+ times one report)", walk)
    above(float(total.replace(",", "")), reports * epsilon)
    near(stated("at most", walk)[0], loss, of)
    assert "all reports" in said.walk_words(reports, epsilon, "km", None, subject)
    level = said.level_words(epsilon, "km", "a loss of at most 10 m", "none")
    assert float(re.findall(r"at most ([\d.]+)/km", level)[0]) >= epsilon * (1 - ROUNDING)
    proved = said.proved_words(epsilon, "km", places=True)
    assert float(re.findall(r"at most ([\d.]+)/km", proved)[0]) >= epsilon * (1 - ROUNDING)
    assert said.proved_words(math.inf, "km", places=True).startswith("No guarantee")


@pytest.mark.parametrize("seed", SEEDS)
def test_baselines_and_surveys_state_their_numbers(seed):
    rng, subject, unit = drawn(seed)
    hit, error = Quantity.about(float(rng.random())), Quantity.about(float(rng.lognormal(1, 1)), unit)
    by_hit, by_error = said.baseline_words(AttackFacts("blind", 0, "value", hit, error, 0))
    near(stated("about", by_hit)[0], hit.value)
    near(stated("about", by_error)[0], error.value, unit)
    assert said.baseline_words(AttackFacts("blind", 0, "value", hit, None, 0)) == (by_hit, "")
    near(stated("about", said.useless_words(hit.value, subject))[0], hit.value)
    people, least = int(rng.integers(1, 10_000)), float(rng.lognormal(6, 2))
    text = said.accuracy_words(people, hit.value, least)
    assert ("too few" in text) == (people < least)
    if people < least:
        assert f"{math.ceil(least):,} report" in text
    else:
        near(stated("±", text)[0], hit.value)
    assert "cannot be estimated" in said.accuracy_words(people, None, least)
    assert "no number of reports" in said.accuracy_words(people, hit.value, None)


READERS = {"search", "match", "fullmatch", "findall", "finditer", "split", "rsplit", "partition", "rpartition"}
READERS |= {"startswith", "endswith", "splitlines", "removeprefix", "removesuffix"}
INPUTS = {  # what these take apart is no sentence
    "facts/requirements.py": "requirements as a user writes them",
    "document/report.py": "the command of a user",
    "theme/figures.py": "SVG",
}


def test_no_sentence_is_read_back():
    """Facts become text; no module of reports takes a text of the package apart."""
    package = Path(sf.__file__).parent / "reports"
    found = set()
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in READERS:
                found.add(path.relative_to(package).as_posix())
    assert found == set(INPUTS)


def test_only_files_know_losses_from_true_points_by_name(tmp_path):
    """The ending of the name is decoded once, where a file is read."""
    package = Path(sf.__file__).parent
    known = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if re.search(r"\bTRUE_POINT\b", path.read_text(encoding="utf-8"))
    }
    assert known == {"core/naming.py", "core/loss.py", "geo/places.py", "files/decoding.py"}
    visits = invented_city(users=5, days=2)
    grid = sf.Grid.covering(visits, shape=(3, 2))
    loss = grid.loss(visits, "manhattan")
    mechanism = sf.mechanisms.exponential(grid, grid.metric(unit="km"), "1/km")
    sf.save(sf.MechanismFile(mechanism, sf.Prior.from_visits(grid, visits), loss), tmp_path / "m.sfm")
    again = sf.read_mechanism_file(tmp_path / "m.sfm").loss
    assert again is not None
    assert {loss.true_point, loss.of_columns(np.array([0, 2])).true_point, again.true_point} == {"manhattan"}
    assert sf.Loss(loss.array, "km", name=loss.name).true_point == ""
