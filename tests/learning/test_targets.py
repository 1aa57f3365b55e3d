"""Targets against the measures of finite channels, and their gradients against differences."""

import numpy as np
import pytest

from sfumato.divergences import CHI_SQUARED, TOTAL_VARIATION
from sfumato.errors import InputError
from sfumato.leakage import bayes_vulnerability, conditional_entropy_bits, mutual_information_bits
from sfumato.learning import (
    AugmentedLagrangian,
    BayesVulnerability,
    CrossEntropy,
    FInformation,
    MutualInformation,
    Softplus,
)

from ..catalogue import CASES

SMOOTH = [MutualInformation(), BayesVulnerability(3.0), CrossEntropy(), FInformation(lambda t: (t - 1) ** 2)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_of_reports_is_the_measure_of_the_channel(torch, case):
    joint = torch.as_tensor(case.mechanism.joint(case.prior))
    assert float(MutualInformation().of_reports(joint)) == pytest.approx(
        mutual_information_bits(case.mechanism, case.prior), abs=1e-9
    )
    assert float(BayesVulnerability().of_reports(joint)) == pytest.approx(
        bayes_vulnerability(case.mechanism, case.prior), abs=1e-12
    )
    assert float(CrossEntropy().of_reports(joint)) == pytest.approx(
        -conditional_entropy_bits(case.mechanism, case.prior), abs=1e-9
    )


@pytest.mark.parametrize("case", CASES, ids=str)
def test_f_information_is_the_divergence_of_joint_and_product(torch, case):
    joint = case.mechanism.joint(case.prior)
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    for target, divergence in (
        (FInformation(lambda t: (t - 1) ** 2), CHI_SQUARED),
        (FInformation(lambda t: (t - 1).abs() / 2), TOTAL_VARIATION),
    ):
        found = float(target.of_reports(torch.as_tensor(joint)))
        assert found == pytest.approx(divergence(joint.ravel(), product.ravel()), abs=1e-9)


def test_a_finite_order_is_above_the_maximum_and_tends_to_it(torch):
    joint = torch.as_tensor(np.random.default_rng(2).dirichlet(np.ones(12)).reshape(3, 4))
    values = [float(BayesVulnerability(order).of_reports(joint)) for order in (2, 8, 64, 512, float("inf"))]
    assert values == sorted(values, reverse=True)
    assert values[-2] == pytest.approx(values[-1], rel=0.01)


@pytest.mark.parametrize("target", SMOOTH, ids=lambda target: target.name)
def test_gradients_are_those_of_differences(torch, target):
    rng = np.random.default_rng(5)
    shares = rng.dirichlet(np.ones(15)).reshape(3, 5)
    beliefs = torch.as_tensor(np.log(rng.dirichlet(np.ones(3), size=5)))
    tensor = torch.tensor(shares, requires_grad=True)
    target(tensor, beliefs).backward()
    for i, j in ((0, 0), (2, 3)):
        step = np.zeros_like(shares)
        step[i, j] = 1e-6
        up, down = (float(target(torch.as_tensor(shares + sign * step), beliefs)) for sign in (1, -1))
        assert float(tensor.grad[i, j]) == pytest.approx((up - down) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("target", [MutualInformation(), BayesVulnerability()], ids=lambda target: target.name)
def test_a_guess_tells_no_more_than_the_report(torch, target):
    rng = np.random.default_rng(6)
    for _ in range(20):
        shares = torch.as_tensor(rng.dirichlet(np.ones(15)).reshape(3, 5))
        beliefs = torch.as_tensor(np.log(rng.dirichlet(np.ones(3), size=5)))
        assert float(target(shares, beliefs)) <= float(target.of_reports(shares)) + 1e-12


def test_softplus_is_the_papers_term(torch):
    loss = torch.tensor(273.0, dtype=torch.float64)
    # In metres: ln(1 + e^(273 - 270)).
    assert float(Softplus(2.0, 270.0).price(loss, 270.0, 0.0)) == pytest.approx(2 * np.log1p(np.exp(3)))
    assert float(Softplus().price(torch.tensor(1e9), 1.0, 0.0)) == pytest.approx(100 * (1e9 - 1))


def test_the_augmented_lagrangian_prices_what_is_above_the_bound(torch):
    rule = AugmentedLagrangian(2.0, 0.5)
    assert rule.update(1.2, 1.0, 0.3) == pytest.approx(0.4)
    assert rule.update(0.1, 1.0, 0.3) == 0.0
    loss = torch.tensor(1.2, dtype=torch.float64, requires_grad=True)
    rule.price(loss, 1.0, 0.3).backward()
    assert float(loss.grad) == pytest.approx(0.3 + 2 * 0.2)
    free = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    rule.price(free, 1.0, 0.3).backward()
    assert float(free.grad) == 0.0


@pytest.mark.parametrize(
    "make",
    [lambda: BayesVulnerability(1.0), lambda: AugmentedLagrangian(0.0), lambda: Softplus(steepness=-1.0)],
)
def test_senseless_settings_are_refused(make):
    with pytest.raises(InputError):
        make()
