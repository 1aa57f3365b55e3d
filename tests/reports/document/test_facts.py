"""The numbers of a report by a second route: brute force on small mechanisms, simulation, and other rooms."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.audits import Outcome
from sfumato.files import MechanismFile
from sfumato.reports.facts.attacks import repeated_attacks
from sfumato.reports.facts.mechanism import belief_above

from .conftest import CITY, held, report_of, report_without_drawings

WEIGHTS = st.lists(st.integers(0, 20), min_size=9, max_size=9)


def small(weights, prior):
    """A mechanism on three numbers with any rows."""
    rows = np.array(weights, dtype=float).reshape(3, 3)
    rows[rows.sum(axis=1) == 0] = 1
    space = sf.Space.numbers([0, 1, 3], unit="year")
    chances = np.array(prior, dtype=float) if any(prior) else np.ones(3)
    return MechanismFile(
        sf.Mechanism(rows / rows.sum(axis=1, keepdims=True), space, space),
        sf.Prior(space, chances / chances.sum()),
        space.metric("absolute"),
    )


@given(WEIGHTS, st.lists(st.integers(0, 9), min_size=3, max_size=3), st.sampled_from([0, 0.5, 1, 1.5, 3]))
@settings(deadline=None, max_examples=12)
def test_hits_errors_and_risks_by_brute_force(weights, prior, radius):
    file = small(weights, prior)
    p, pi = file.mechanism.matrix, file.prior.probabilities
    x = [0.0, 1.0, 3.0]
    text = f"within {radius} year: at most 50 %" if radius else "within 0: at most 50 %"
    facts = json.loads(report_without_drawings(file, require=[text]).json())
    attacks = {each["who"]: each for each in facts["attacks"] if each["reports"] < 2}
    hit = sum(max(pi[s] * p[s, o] for s in range(3)) for o in range(3))
    error = sum(min(sum(pi[s] * p[s, o] * abs(g - x[s]) for s in range(3)) for g in x) for o in range(3))
    assert attacks["informed"]["hit"]["lower"] <= hit + 1e-12
    assert hit - 1e-12 <= attacks["informed"]["hit"]["upper"] <= hit + 1e-9
    assert error - 1e-9 <= attacks["informed"]["error"]["lower"] <= error + 1e-12
    assert attacks["blind"]["hit"]["value"] == max(pi)
    guesses = [a + b / 8 for a in range(-2, 5) for b in range(8)]
    near = sum(
        max(sum(pi[s] * p[s, o] for s in range(3) if abs(g - x[s]) <= radius) for g in guesses) for o in range(3)
    )
    chance = facts["risks"][1]["chance"]
    assert chance["lower"] - 1e-9 <= near <= chance["upper"] + 1e-12
    assert chance["upper"] - chance["lower"] < 1e-9
    assert facts["risks"][1]["outcome"] in (
        ("holds",) if near < 0.5 - 1e-9 else ("holds", "fails", "is not decided")
    )
    loss = sum(pi[s] * p[s, o] * abs(x[s] - x[o]) for s in range(3) for o in range(3))
    assert loss - 1e-12 <= facts["cost"]["expected"]["upper"] <= loss + 1e-9


@pytest.mark.parametrize("kind", ["numbers", "categories", "unused", "broken", "near"])
def test_beliefs_by_brute_force(kind):
    """No prior of one half on two secrets leads any report to a belief above what is said."""
    file, facts = held(kind), report_of(kind).facts
    promise = facts.promises[0]
    metric = file.guarantees[0].metric
    for belief in promise.beliefs:
        if belief.reports > 2:
            continue
        for s, t in itertools.permutations(range(len(metric)), 2):
            if metric.array[s, t] <= belief.distance.value:
                p, q = file.mechanism.matrix[s], file.mechanism.matrix[t]
                after = (p / np.where(p + q > 0, p + q, 1)).max()
                assert after <= belief.belief.upper * (1 + 1e-12)


def test_beliefs_of_points_hold_for_the_mechanism():
    """Two true points at the stated distance: reports drawn through the lattice's own rounding."""
    file, facts = held("points"), report_of("points").facts
    lattice = file.mechanism.secrets
    rng = np.random.default_rng(1)
    centre = lattice.projection
    for belief in facts.promises[0].beliefs:
        if belief.reports > 1:
            continue
        for _ in range(40):
            start, angle = rng.uniform(-800, 800, 2), rng.uniform(0, 2 * math.pi)
            end = start + 0.999 * belief.distance.value * np.array([math.cos(angle), math.sin(angle)])
            lat, lon = centre.inverse(np.stack([start, end])).T
            if not lattice.inside(lat, lon).all():
                continue
            points = lattice.true_points(sf.Visits(lat, lon))
            rows = np.asarray(points.masses @ file.mechanism.matrix)
            after = (rows / np.maximum(rows.sum(axis=0), 1e-300)).max()
            assert after <= belief.belief.upper * (1 + 1e-9)


@pytest.mark.parametrize("exponent", [0.0, 1e-9, 0.1, 1.0, 7.0, 36.0, 800.0])
def test_beliefs_are_rounded_up(exponent):
    from flint import arb, ctx

    with ctx.workprec(200):
        exact = 1 / (1 + (-arb(exponent)).exp())
        assert arb(belief_above(exponent)) >= exact or belief_above(exponent) == 1.0
        assert arb(belief_above(exponent)) - exact < 1e-14


def test_repeated_reports_meet_the_exact_answer():
    """Two and three reports of three secrets, every sequence of reports summed."""
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.0, 0.4, 0.6]])
    pi = np.array([0.5, 0.3, 0.2])
    d = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    for found in repeated_attacks(p, pi, (1, 2, 3), distance=d):
        hit = error = 0.0
        for seen in itertools.product(range(3), repeat=found.reports):
            joint = pi * np.prod([p[:, o] for o in seen], axis=0)
            hit += joint.max()
            error += (d @ joint).min()
        assert found.hit is not None
        assert found.hit.low <= hit <= found.hit.high
        assert found.error is not None
        assert found.error.low <= error <= found.error.high


def test_repeated_reports_of_points_find_the_nearer_guess():
    p = np.array([[0.9, 0.1], [0.1, 0.9]])
    points = np.array([[0.0, 0.0], [100.0, 0.0]])
    one, many = repeated_attacks(p, np.array([0.5, 0.5]), (1, 20), points=points)
    assert one.error is not None
    assert many.error is not None
    assert one.error.low <= 10.0 <= one.error.high  # the error of the more probable of two points
    assert many.error.high < 5.0


@pytest.mark.slow
@pytest.mark.parametrize("kind", [pytest.param("points", marks=pytest.mark.slow), "cells"])
def test_true_points_agree_with_the_attacks_room(kind):
    file, facts = held(kind), report_of(kind, visits=True).facts
    exact = sf.attacks.true_place(file.mechanism, CITY, unit="m")
    informed = next(each for each in facts.attacks if each.who == "informed")
    assert informed.error.lower == exact.error.lower
    chance = sf.attacks.chance_within(file.mechanism, CITY, "500 m")
    assert facts.risks[1].chance.upper == chance.upper
    assert facts.risks[0].radius.value == pytest.approx(1850 * 0.3048)
    worse = next(each for each in facts.attacks if each.who == "misinformed")
    assert worse.error.value >= informed.error.lower


def test_designs_among_others_cost_less_with_more_epsilon():
    facts = report_of("numbers").facts
    assert facts.frontier_source == "computed"
    assert [each.this for each in facts.frontier].count(True) == 1
    losses = [each.loss.upper for each in facts.frontier]
    assert losses == sorted(losses, reverse=True)
    assert [each.epsilon.value for each in facts.frontier] == sorted(each.epsilon.value for each in facts.frontier)


@pytest.mark.slow
def test_noise_says_no_more_than_the_visits_allow():
    silent, told = report_of("noise").facts, report_of("noise", visits=True).facts
    assert silent.cost.expected is None
    assert silent.risks[1].outcome is Outcome.UNDECIDED
    assert silent.risks[1].chance is None
    assert silent.risks[1].why == "visits"
    assert told.cost.expected is not None
    assert told.risks[1].chance.lower <= told.risks[1].chance.upper


def test_nothing_is_said_of_points_without_visits():
    for kind in ("points", "cells"):
        facts = report_of(kind).facts
        assert facts.risks[0].chance is None
        assert facts.risks[0].why == "visits"
    assert report_of("points").facts.attacks_left_out == "visits"
