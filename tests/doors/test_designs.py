"""Optima of designs of every kind, tuple plans and searches, as they are in `designs.json`.

Digits were compared on three kinds of processor. A bound differs by 4e-11, a value by 7e-8, for the solver stops
within a gap of 1e-6. Closed forms differ by 1e-15.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf

from .designs import DESIGNS, EVEN, INNER, SKEWED, STEPS, optimum

GOLDEN = json.loads((Path(__file__).parent / "designs.json").read_text(encoding="ascii"))
CLOSED, BOUND, VALUE = 1e-12, 1e-8, 5e-7  # relative


def test_each_design_has_its_numbers():
    assert list(GOLDEN) == list(DESIGNS)


@pytest.mark.parametrize("name", [name for name in DESIGNS if name != "noise"])
def test_an_optimum(name):
    proof, golden = (design := DESIGNS[name]()).certificate, GOLDEN[name]
    facts: dict[str, Any] = optimum(design)
    closed = abs(golden["value"] - golden["bound"]) < CLOSED * golden["value"]
    assert facts["value"] == pytest.approx(golden["value"], rel=CLOSED if closed else VALUE)
    assert facts["bound"] == pytest.approx(golden["bound"], rel=CLOSED if closed else BOUND)
    exact = ("objective", "claimed", "shape")
    assert {key: facts[key] for key in exact} == {key: golden[key] for key in exact}
    assert proof.holds
    assert proof.gap <= (CLOSED if closed else 1e-6)
    assert all(each.upper <= each.claimed for each in proof.metric_privacy)
    assert all(each.lower >= each.claimed for each in proof.distortion)


def test_planar_noise():
    design = DESIGNS["noise"]()
    facts, golden = optimum(design), GOLDEN["noise"]
    assert facts["loss"] == pytest.approx(golden["loss"], rel=1e-9)
    assert facts["attacker"] == pytest.approx(golden["attacker"], rel=1e-9)
    assert design.certificate.privacy.holds


def test_a_tuple_plan():
    """The least epsilons of the reference at delta 1e-3, and the fewest dummies for a promise."""
    tupling = sf.mechanisms.Tupling(INNER, 1, [0.25] * 4)
    family = sf.mechanisms.FamilyAccountant.of_points(tupling)
    for dummies, epsilon in ((1, 1.3762), (2, 1.3455), (5, 0.9572), (10, 0.6564), (20, 0.4431), (40, 0.2970)):
        bounds = family.with_dummies(dummies).epsilon(1e-3).bounds
        assert bounds.lower - 5e-5 <= epsilon <= bounds.upper + 5e-5
    plan = sf.mechanisms.plan_dummies(family, 0.5, 1e-2)
    assert plan.dummies == 8
    assert plan.delta == 1e-2


def test_other_searches():
    privacy = sf.MetricPrivacy(1, STEPS)
    robust = sf.optimal.design_robust([EVEN, SKEWED], loss=STEPS, guarantees=privacy)
    assert robust.lower_bound == pytest.approx(
        0.583505631, abs=1e-8
    )  # that of the even prior, the least favourable
    assert robust.value == pytest.approx(0.583505631, abs=1e-6)
    found = sf.find_epsilon(
        EVEN, goal=sf.LossGoal(0.5), loss=STEPS, promise=lambda epsilon: sf.MetricPrivacy(epsilon, STEPS)
    )
    assert found.epsilon == pytest.approx(1.149, rel=1e-3)
