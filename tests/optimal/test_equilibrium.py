"""The equilibrium of a design: both sides meet, the strategy is a best response, and the price is a slope."""

import numpy as np
import pytest

from sfumato.attacks import evaluate, optimal
from sfumato.core import DistortionPrivacy, Mechanism, MetricPrivacy, Prior, Space, hamming
from sfumato.errors import InputError
from sfumato.optimal import design, equilibrium, maximise_distortion

LINE = Space.numbers(range(5))
STEPS = LINE.metric("absolute")
EVEN = Prior.uniform(LINE)
SKEWED = Prior(LINE, [0.4, 0.1, 0.0, 0.2, 0.3])
WRONG = hamming(LINE)


def asked(minimum, epsilon=None):
    return [DistortionPrivacy(minimum, STEPS)] + ([] if epsilon is None else [MetricPrivacy(epsilon, STEPS)])


def cheapest(prior, minimum, epsilon=None):
    return design(prior, loss=WRONG, guarantees=asked(minimum, epsilon), gap=1e-8, tie_break=False)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("prior", [EVEN, SKEWED], ids=["even", "skewed"])
@pytest.mark.parametrize("epsilon", [None, 1.0], ids=["distortion", "joint"])
@pytest.mark.parametrize("share", [0.4, 0.9])
def test_both_sides_agree_and_answer_each_other_best(prior, epsilon, share):
    most = float((STEPS.array @ prior.probabilities).min())
    minimum = share * most
    made = cheapest(prior, minimum, epsilon)
    found = equilibrium(made)
    assert minimum <= found.error_lower <= optimal(made.mechanism, prior, STEPS).error + 1e-12
    assert found.error_upper <= most * (1 + 1e-12)
    if found.price > 1e-3:
        assert found.gap < 1e-5
        # Against this mechanism the strategy does as well as any.
        assert evaluate(made.mechanism, prior, STEPS, found.strategy).error == pytest.approx(minimum, abs=1e-5)
    # Against any other one, more error than asked for costs at least the price.
    random = np.random.default_rng(4)
    for _ in range(50):
        rows = random.dirichlet(np.full(5, 0.3), size=5)
        if epsilon is not None:
            rows = rows[0] * np.exp(-epsilon / 2 * STEPS.array)
        other = Mechanism(rows / rows.sum(axis=1, keepdims=True), LINE, LINE)
        lost = float((prior.probabilities[:, None] * other.matrix * WRONG.array).sum())
        error = evaluate(other, prior, STEPS, found.strategy).error
        assert lost >= made.certificate.loss + found.price * (error - minimum) - 1e-6


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("minimum", "epsilon", "step"), [(0.5, None, 0.1), (0.9, None, 0.02), (0.8, 1.0, 0.02)])
def test_the_price_is_the_slope_of_the_least_cost(minimum, epsilon, step):
    price = equilibrium(cheapest(EVEN, minimum, epsilon)).price
    below, here, above = (cheapest(EVEN, minimum + k * step, epsilon).certificate.loss for k in (-1, 0, 1))
    assert (here - below) / step - 1e-5 <= price <= (above - here) / step + 1e-5
    if epsilon is None and minimum == 0.5:
        assert price == pytest.approx(0.25, abs=1e-6)  # cost d/4 up to .75


def test_the_game_from_the_other_side_has_the_same_equilibrium():
    made = cheapest(SKEWED, 0.6, 1.0)
    budget = maximise_distortion(
        SKEWED, loss=WRONG, distance=STEPS, max_loss=made.certificate.loss, guarantees=MetricPrivacy(1.0, STEPS)
    )
    one, other = equilibrium(made), equilibrium(budget)
    assert other.error_lower == pytest.approx(0.6, abs=1e-4)
    assert other.price == pytest.approx(one.price, rel=1e-3)
    assert other.gap < 1e-4


def test_what_costs_nothing_has_no_price():
    made = design(EVEN, loss=WRONG, guarantees=asked(0.1, 0.5), gap=1e-6, tie_break=False)
    found = equilibrium(made)
    assert found.price == pytest.approx(0, abs=1e-3)
    assert found.error_lower >= 0.1
    assert found.error_upper <= 1.2 + 1e-12
    np.testing.assert_allclose(found.strategy.sum(axis=1), 1)


def test_designs_without_an_attacker_are_refused():
    with pytest.raises(InputError, match="no guarantee on the error"):
        equilibrium(design(EVEN, loss=WRONG, guarantees=MetricPrivacy(1.0, STEPS)))
    with pytest.raises(InputError, match="worst-case"):
        equilibrium(design(EVEN, loss=WRONG, guarantees=asked(0.5), objective="worst-case"))
