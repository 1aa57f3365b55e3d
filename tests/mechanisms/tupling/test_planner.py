"""The planner against trying every number of dummies."""

import math

import numpy as np
import pytest

from sfumato.core import Mechanism, Prior
from sfumato.errors import InfeasibleError, InputError
from sfumato.mechanisms.tupling import FamilyAccountant, Tupling, plan_dummies, quality_loss

from . import exact

INNER = Mechanism([[0.4, 0.3, 0.2, 0.1, 0.0], [0.1, 0.2, 0.3, 0.4, 0.0]])
NU = [0.25, 0.25, 0.25, 0.25, 0.0]


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 0.01), (0.9, 0.05), (1.3, 1e-3), (0.7, 0.02)])
def test_it_finds_the_fewest(epsilon, delta):
    plan = plan_dummies(FamilyAccountant.of_points(Tupling(INNER, 77, NU)), epsilon, delta)
    p, q = INNER.matrix
    first = next(k for k in range(12) if exact.delta(p, q, NU, k, epsilon) <= delta)
    assert plan.dummies == first
    assert plan.fewest
    assert plan.found_delta.bounds.upper <= delta
    assert plan.found_epsilon.bounds.lower <= epsilon
    assert plan.loss is None


def test_the_sentence_and_the_loss():
    family = FamilyAccountant(Tupling(INNER, 0, NU), np.array([[1, 0], [0.5, 0.5]]))
    prior = Prior(INNER.secrets, [0.5, 0.5])
    loss = np.array([[0, 1, 2, 3, 9], [3, 2, 1, 0, 9]], dtype=float)
    plan = plan_dummies(family, 0.2, 1e-3, prior=prior, loss=loss)
    assert plan.loss == quality_loss(plan.tupling, prior, loss)
    assert f"{plan.dummies} dummies ({plan.dummies + 1} queries)" in plan.sentence
    assert "expected loss" in plan.sentence
    before = FamilyAccountant(Tupling(INNER, plan.dummies - 1, NU), np.array([[1, 0], [0.5, 0.5]]))
    assert before.epsilon(1e-3).bounds.lower > 0.2


def test_no_dummies_where_none_are_needed():
    family = FamilyAccountant.of_points(Tupling(INNER, 5, NU))
    assert plan_dummies(family, math.log(4) + 1e-6, 0.0).dummies == 0
    assert plan_dummies(family, 0.5, 0.5).dummies == 0


def test_a_pure_epsilon_never_improves():
    family = FamilyAccountant.of_points(Tupling(INNER, 0, NU))
    with pytest.raises(InfeasibleError, match=r"pure epsilon is 1.38629") as caught:
        plan_dummies(family, 1.38, 0.0)
    assert "never lower a pure epsilon" in caught.value.hint
    apart = FamilyAccountant.of_points(Tupling(Mechanism([[1.0, 0.0], [0.0, 1.0]]), 0, [0.5, 0.5]))
    with pytest.raises(InfeasibleError, match="pure epsilon is infinite"):
        plan_dummies(apart, 5.0, 0.0)
    assert plan_dummies(apart, 1.0, 1e-3).dummies > 10


def test_too_few_dummies_are_allowed():
    family = FamilyAccountant.of_points(Tupling(INNER, 0, NU))
    with pytest.raises(
        InfeasibleError, match=r"10 dummies are not enough for epsilon 0.1 at delta 0.001: they give"
    ):
        plan_dummies(family, 0.1, 1e-3, most=10)
    with pytest.raises(InfeasibleError, match="10 dummies are not enough") as caught:
        plan_dummies(family, 0.1, 1e-3, most=10, optimise=True)
    assert "optimise" not in caught.value.hint
    assert caught.value.hint.endswith("mechanism.")
    needed = plan_dummies(family, 0.5, 1e-3).dummies
    assert plan_dummies(family, 0.5, 1e-3, most=needed).dummies == needed
    with pytest.raises(InfeasibleError):
        plan_dummies(family, 0.5, 1e-3, most=needed - 1)


def test_refusals():
    family = FamilyAccountant.of_points(Tupling(INNER, 0, NU))
    for epsilon, delta in ((-1, 0.1), (800, 0.1), (1, 2)):
        with pytest.raises(InputError, match=r"epsilon is -1|epsilon is 800|delta 2 is not"):
            plan_dummies(family, epsilon, delta)
    with pytest.raises(InputError, match="only one of prior and loss"):
        plan_dummies(family, 1.0, 0.1, prior=Prior.uniform(INNER.secrets))
