"""Every number in the sentences of a summary, read back and held against the exact value."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from sfumato.attacks import blind
from sfumato.core import (
    CoordinatePrivacy,
    DistortionPrivacy,
    Guarantee,
    Mechanism,
    Metric,
    MetricPrivacy,
    Prior,
    Space,
    hamming,
)
from sfumato.files import MechanismFile
from sfumato.geo import Grid, Lattice
from sfumato.leakage import mutual_information_bits
from sfumato.optimal import Highs, design, maximise_distortion
from sfumato.proofs import distortion_below
from sfumato.reports import summarise
from sfumato.reports.facts import information_of, overview, risk_within, single_attacks, subject_of
from sfumato.reports.sentences import attack_words, information_words, risk_words
from sfumato_papers.invented_city import invented_city

NUMBER = r"(-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)"
METRES = {"mm": Fraction(1, 10**6), "m": Fraction(1, 1000), "km": Fraction(1), "": Fraction(1)}
ROUNDING = Fraction(1, 10**13)  # of exact values that are computed in floats here


def numbers(pattern, text):
    """The numbers of a sentence, in km where they are lengths; a decimal stands for its nearest double."""
    found = re.search(pattern.replace("AMOUNT", rf"{NUMBER} ?(mm|m|km|)").replace("NUMBER", NUMBER), text)
    assert found, (pattern, text)
    values, groups = [], list(found.groups())
    while groups:
        number = groups.pop(0).replace(",", "")
        unit = groups.pop(0) if groups and groups[0] in METRES else ""
        values.append(Fraction(float(Fraction(number) * METRES[unit])))
    return values


def problem(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(2, 6))
    points = np.sort(random.choice(60, n, replace=False)) * float(random.choice([0.1, 0.37, 1.0]))
    space = Space(range(n))
    array = np.abs(points[:, None] - points)
    unit = str(random.choice(["km", ""]))
    if seed % 5 == 4 and n > 2:
        array[0, 1:] = array[1:, 0] = np.inf  # the first secret is related to nobody
    metric = Metric(array, unit, name="line")
    ground = Metric(np.abs(points[:, None] - points), "km", name="road")
    weights = random.dirichlet(np.full(n, 0.7))
    return Prior(space, weights / weights.sum()), metric, ground, float(random.choice([0.1, 0.31, 1.0, 2.7]))


def designed(seed):
    prior, metric, ground, epsilon = problem(seed)
    promise = MetricPrivacy(epsilon, metric)
    kind = seed % 4
    loss = hamming(prior.space) if kind == 1 else ground
    if kind == 3:
        least = design(prior, loss=ground, guarantees=[promise], solver=Highs()).certificate.loss
        most = 1.1 * least + 1e-6
        found = maximise_distortion(prior, loss=ground, max_loss=most, distance=ground, guarantees=[promise])
        return found, metric, ground
    guarantees: list[Guarantee] = [promise]
    if kind == 2:
        guarantees.append(DistortionPrivacy(0.5 * blind(prior, ground).error, ground))
    objective = "worst-case" if seed % 3 == 0 else "expected"
    return (
        design(prior, loss=loss, guarantees=guarantees, objective=objective, solver=Highs(), gap=1e-4),
        metric,
        ground,
    )


def rows(mechanism):
    whole = 1 << mechanism.bits
    return [[Fraction(int(weight), whole) for weight in row] for row in mechanism.weights]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("block", [0, 1, pytest.param(2, marks=pytest.mark.slow)])
def test_no_printed_number_promises_more_than_is_true(block):
    for seed in range(20 * block, 20 * block + 20):
        found, metric, ground = designed(seed)
        text = summarise(found, ground).markdown()
        check_promise(text, found, metric)
        check_cost(text, found, ground)
        check_attack(text, found, ground)
        check_optimality(text, found)


def check_promise(text, found, metric):
    p, epsilon = rows(found.mechanism), found.problem.guarantees[0].epsilon
    pattern = rf"[Nn]o report is more than e\^\({NUMBER} x distance"
    (printed,) = numbers(pattern, text)
    assert printed >= Fraction(epsilon)
    (times,) = numbers(r"another[^:]*: NUMBER times", text)
    (proved,) = numbers(r"epsilon is at most NUMBER", text)
    with ctx.workprec(400):
        assert arb(times.numerator) / times.denominator >= arb(epsilon).exp()
        for s, t in np.argwhere(np.isfinite(metric.array) & (metric.array > 0)):
            for a, b in zip(p[s], p[t], strict=True):
                assert (a == 0) == (b == 0)
                if b:
                    ratio = a / b
                    most = (arb(proved.numerator) / proved.denominator * arb(float(metric.array[s, t]))).exp()
                    assert not arb(ratio.numerator) / ratio.denominator > most
    (pairs,) = numbers(r"for (?:all|the) NUMBER ordered pairs", text)
    assert pairs == np.isfinite(metric.array).sum() - len(metric)
    assert ("at a finite distance" in text) == bool(np.isinf(metric.array).any())
    if len(found.problem.guarantees) > 1:
        claim, lower = numbers(r"average error at least AMOUNT(?:,[a-z ]*)? \(proved: at least AMOUNT\)", text)
        true = exact_error(found.mechanism, found.problem.prior, found.problem.guarantees[1].distance.array)
        assert claim <= true * (1 + ROUNDING)
        assert lower <= true


def exact_error(mechanism, prior, distance):
    p, weights = rows(mechanism), [Fraction(x) for x in prior.probabilities.tolist()]
    d = [[Fraction(x) for x in row] for row in distance.tolist()]
    n, m = len(p), len(p[0])
    return sum(
        (min(sum(weights[s] * p[s][o] * d[g][s] for s in range(n)) for g in range(len(d))) for o in range(m)),
        Fraction(0),
    )


def exact_losses(mechanism, loss):
    p, costs = rows(mechanism), [[Fraction(x) for x in row] for row in loss.tolist()]
    return [
        sum((a * c for a, c in zip(q, row, strict=True)), Fraction(0)) for q, row in zip(p, costs, strict=True)
    ]


def mean(prior, values):
    return sum((Fraction(w) * v for w, v in zip(prior.probabilities.tolist(), values, strict=True)), Fraction(0))


def check_cost(text, found, ground):
    prior, mechanism = found.problem.prior, found.mechanism
    average, worst = numbers(r"Average [^:]*: at most AMOUNT \(at most AMOUNT for the worst value\)", text)
    each = exact_losses(mechanism, ground.array)
    assert mean(prior, each) <= average
    assert max(each) <= worst
    if found.problem.loss.name == "hamming":
        (percent,) = numbers(r"At most NUMBER % of the reports name another", text)
        assert mean(prior, exact_losses(mechanism, found.problem.loss.array)) <= percent / 100


def check_attack(text, found, ground):
    prior, mechanism = found.problem.prior, found.mechanism
    sure = re.search("finds the true value (perhaps )?every time", text)
    (hits,) = (100,) if sure else numbers(r"finds the true value at most NUMBER % of the time", text)
    wrong = exact_error(mechanism, prior, 1.0 - np.eye(len(prior)))
    assert 1 - wrong <= hits / 100 + ROUNDING * 1000  # masses of the prior sum to one up to rounding
    (error,) = (
        numbers(r"average error (?:between|at least) AMOUNT", text) if "no error is proved" not in text else (0,)
    )
    assert error <= exact_error(mechanism, prior, ground.array)
    if "may reveal everything" not in text:
        (bits,) = numbers(r"One report reveals at most NUMBER bits", text)
        assert mutual_information_bits(mechanism, prior) <= float(bits) + float(ROUNDING)


def check_optimality(text, found):
    c = found.certificate
    if c.objective == "distortion":
        (bound,) = numbers(r"an average error above AMOUNT\. With", text)
        assert bound >= Fraction(c.bound)
        value, apart = distortion_below(found.mechanism, found.problem.prior, found.problem.distance), -1
    else:
        if "in less than" in text:
            bound = numbers(r"in less than NUMBER %", text)[0] / 100
        else:
            (bound,) = numbers(r"loss below AMOUNT\. This", text)
        assert bound <= Fraction(c.bound)
        assert bound >= 0
        value, apart = c.value, 1
    if "it is the best of them" in text:
        assert apart * (value - c.bound) <= 0
        return
    words = re.search(rf"within {NUMBER} (%|m|km|)", text)
    assert words
    near, percent = words.groups()
    off = apart * (Fraction(value) - Fraction(c.bound))
    if percent == "%":
        assert off <= Fraction(near) / 100 * min(abs(Fraction(c.bound)), abs(Fraction(value)))
    else:
        assert off <= Fraction(float(Fraction(near) * METRES[percent]))


def test_the_attacker_is_they_and_no_sentence_is_quaint():
    found, _, ground = designed(0)
    text = summarise(found, ground).markdown()
    assert "without the report" in text
    assert not re.search(r"\b(he|his|him|had he)\b", text, re.IGNORECASE)
    assert not math.isnan(found.certificate.gap)


@pytest.mark.parametrize(
    ("matrix", "told"),
    [
        ([[0.75, 0.25], [0.25, 0.75]], ("at most 75 % of the time", "0.1888 bits")),
        ([[0.5, 0.5], [0.5, 0.5]], ("at most 50 % of the time", "0 bits")),
        ([[1.0], [1.0]], ("at most 50 % of the time", "0 bits")),
        (np.eye(4), ("every time", "2 bits")),
    ],
)
def test_what_is_exact_is_told_without_slack(matrix, told):
    mechanism = Mechanism(matrix)
    prior = Prior.uniform(mechanism.secrets)
    subject, attacks = subject_of(MechanismFile(mechanism, prior)), single_attacks(mechanism, prior, None)
    (found,) = attack_words(attacks, subject, even=True)
    assert found.startswith(
        f"Best attacker, if all values are equally likely: finds the true value {told[0]} (about"
    )
    bits = information_words(information_of(mechanism, prior), subject)
    assert f"at most {told[1]} of the value" in bits
    assert attack_words(attacks, subject)[0].startswith("Best attacker, knowing how common each value is: finds")


@pytest.mark.parametrize("kind", ["square", "triangular"])
def test_points_are_told_what_holds_for_points(kind):
    """On a lattice: the promise is per metre for any two points, and nothing of vertices is said of people."""
    visits = invented_city()
    lattice = Lattice.covering(visits, "1.5 km", region=visits.region(trim=0.05), kind=kind)
    found = design(
        Prior.from_visits(lattice, visits),
        loss=lattice.loss(visits),
        guarantees=CoordinatePrivacy("0.7/km"),
        method="table",
        tie_break=False,
    )
    text = " ".join(summarise(found, lattice.metric("euclidean", "km")).markdown().split())
    promised, times, slack = numbers(
        r"e\^\(NUMBER x distance in km\) times as likely from one point as from another, for any two points that "
        r"the lattice serves: NUMBER times for points 1 km apart\. Positions are snapped first, which adds at "
        r"most NUMBER mm",
        text,
    )
    assert promised >= Fraction(0.7)
    assert times >= Fraction(math.exp(0.7))
    assert slack >= Fraction(1000 * lattice.slack_m)
    (upper,) = numbers(r"epsilon is at most NUMBER/km", text)
    assert upper >= Fraction(found.certificate.epsilon_upper)
    (loss,) = numbers(r"Average distance from true point to report: at most AMOUNT, over the visits", text)
    assert loss >= Fraction(found.certificate.loss)
    assert f"A mechanism for {len(lattice)} lattice points" in text
    assert "finds the lattice point that a position is rounded to at most" in text
    assert "A neighbouring lattice point counts as wrong." in text
    assert (
        "No mechanism on these lattice points, with these reports and the rows that prove the guarantee, has"
        in text
    )
    for wrong in (
        "worst",
        "mechanism with this guarantee",
        "finds the true",
        "100 %",
        "pointss",
    ):
        assert wrong not in text


@pytest.mark.parametrize("cells", [False, True])
def test_of_places_the_attack_begins_with_a_radius(cells):
    """The share within 1850 ft, by brute force over guesses on a fine raster, with and without a report."""
    visits = invented_city(users=20, days=3)
    region = visits.region(trim=0.05)
    visits = visits.inside(region)
    places = (
        Grid.covering(visits, "2 km", region=region) if cells else Lattice.covering(visits, "2 km", region=region)
    )
    prior = Prior.from_visits(places, visits)
    row = np.exp(-1.0 * places.metric("euclidean", "km").array)
    mechanism = Mechanism(row / row.sum(axis=1, keepdims=True), places, places)
    subject = subject_of(MechanismFile(mechanism, prior))
    (near,) = risk_words(risk_within(mechanism, visits, "1850 ft"), subject)
    assert ": within 1850 ft (563.88 m) of the true point at most" in near
    error, hits = attack_words(single_attacks(mechanism, prior, None, visits), subject)
    assert error.startswith("Best attacker, knowing where the visits were: average error between")
    assert "finds" in hits
    most, blind = numbers(
        r"at most NUMBER % of the time[^(]*\(at most NUMBER % of the time without the report", near
    )
    taken = places.true_points(visits)
    steps = [
        np.arange(low, high, 60.0) for low, high in zip(taken.xy.min(axis=0), taken.xy.max(axis=0), strict=True)
    ]
    guesses = np.array([(x, y) for x in steps[0] for y in steps[1]])
    near = np.linalg.norm(guesses[:, None, :] - taken.xy[None, :, :], axis=2) <= 563.88
    reached = near @ (taken.masses @ mechanism.matrix)  # (guesses, reports)
    assert reached.max(axis=0).sum() <= most / 100
    assert (near @ np.asarray(taken.masses.sum(axis=1)).ravel()).max() == pytest.approx(
        float(blind) / 100, rel=0.1
    )
    assert most / 100 <= reached.max(axis=0).sum() * 1.1 + 0.01


def test_for_very_many_visits_the_radius_is_left_to_the_command(monkeypatch):
    monkeypatch.setattr(overview, "_MOST_PAIRS", 10)
    visits = invented_city(users=5, days=2)
    lattice = Lattice.covering(visits, "2 km", region=visits.region(trim=0.05))
    prior, promise = Prior.from_visits(lattice, visits), CoordinatePrivacy("1/km")
    found = design(prior, loss=lattice.loss(visits), guarantees=promise, method="table")
    text = " ".join(summarise(found, visits=visits).markdown().split())
    assert "Not computed for so many visits: how often an attacker's guess is within 1850 ft" in text
