"""Integer noise: closed forms against sums, guarantees proved on integers, clamped ranges."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, MetricPrivacy, Row, Space
from sfumato.errors import InputError
from sfumato.intervals import exp_below_exact
from sfumato.mechanisms import DiscreteGaussian, DiscreteLaplace, GaussianNoise, LaplaceNoise, Staircase, geometric
from sfumato.proofs import prove_metric_privacy

FAMILIES = [
    DiscreteLaplace(1),
    DiscreteLaplace("1/3", 4),
    DiscreteGaussian(4),
    DiscreteGaussian("1/5", 2),
    DiscreteGaussian(Fraction(37, 2), 3),
    Staircase(1, 5),
    Staircase("1/2", 6, 1),
    Staircase(2, 3, 3),
    Staircase(1.5, 1),
]


def names(family):
    return f"{family.name} {family.sensitivity}"


def wide(family):
    reach = 60 * math.ceil(math.sqrt(family.variance)) + 60
    return np.arange(-reach, reach + 1)


@pytest.mark.parametrize("family", FAMILIES, ids=names)
def test_closed_forms_are_sums(family):
    k = wide(family)
    p = family.pmf(k)
    assert p.sum() == pytest.approx(1, rel=1e-12)
    assert (p * k**2).sum() == pytest.approx(family.variance, rel=1e-11)
    assert (p * np.abs(k)).sum() == pytest.approx(family.absolute, rel=1e-11)
    assert family.hamming_loss == pytest.approx(1 - p[k == 0][0], rel=1e-11)
    assert family.estimate_variance(50) == family.variance / 50
    for start in (1, 2, 3, 7, 20):
        assert family.tail(start) == pytest.approx(p[k >= start].sum(), rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("family", [f for f in FAMILIES if math.isfinite(f.epsilon)], ids=names)
def test_epsilon_is_exact_on_all_integers(family):
    k = wide(family)
    shifts = range(1, family.sensitivity + 1)
    worst = [np.abs(np.log(family.pmf(k) / family.pmf(k + shift))).max() for shift in shifts]
    assert max(worst) == pytest.approx(family.epsilon, rel=1e-10)
    beyond = np.abs(np.log(family.pmf(k) / family.pmf(k + family.sensitivity + 1))).max()
    assert beyond > family.epsilon * (1 + 1e-6)


@pytest.mark.parametrize("family", FAMILIES, ids=names)
@pytest.mark.parametrize("width", [0, 1, 11])
def test_clamped_is_noise_moved_to_the_ends(family, width):
    clamped = family.clamp(-3, -3 + width)
    mechanism = clamped.mechanism()
    n = width + 1
    k = wide(family)
    expected = np.zeros((n, n))
    for s in range(n):
        np.add.at(expected[s], np.clip(s + k, 0, width), family.pmf(k))
    np.testing.assert_allclose(mechanism.matrix, expected, rtol=1e-7, atol=1e-15)
    assert mechanism.secrets == mechanism.observables == Space.numbers(range(-3, -3 + n))
    assert clamped.hamming_loss == pytest.approx(1 - np.diagonal(expected).mean(), abs=1e-12)
    assert clamped.recipe() == Row(mechanism)


@pytest.mark.parametrize("family", FAMILIES, ids=names)
def test_clamped_ranges_keep_and_use_up_epsilon(family):
    # So narrow a range that the integers resolve the smallest probability.
    clamped = family.clamp(0, 4 if family.variance < 1 else 11)
    metric = clamped.metric
    assert metric.array[0, family.sensitivity] == 1
    found = prove_metric_privacy(clamped.mechanism(), MetricPrivacy(clamped.epsilon * (1 + 1e-9), metric))
    assert found.holds
    if math.isfinite(family.epsilon):
        assert prove_metric_privacy(clamped.mechanism(), MetricPrivacy(family.epsilon, metric)).holds
    assert found.upper == pytest.approx(clamped.epsilon, rel=1e-6)
    assert not prove_metric_privacy(clamped.mechanism(), MetricPrivacy(clamped.epsilon - 0.01, metric)).holds


def test_laplace_with_sensitivity_one_is_the_staircase_and_clamped_the_geometric():
    laplace, stairs = DiscreteLaplace("3/2"), Staircase("3/2", 1)
    np.testing.assert_allclose(laplace.pmf(np.arange(-9, 9)), stairs.pmf(np.arange(-9, 9)), rtol=1e-13)
    assert laplace.clamp(0, 6).mechanism() == geometric(Space.numbers(range(7)), 1.5)
    # Golden G.3: the line of five points at epsilon 1.
    mechanism = DiscreteLaplace(1).clamp(0, 4).mechanism()
    steps = np.abs(np.arange(5)[:, None] - np.arange(5))
    assert (mechanism.matrix * steps).sum() / 5 == pytest.approx(0.583505631, abs=1e-9)


@given(st.integers(1, 30), st.floats(0.05, 8))
@settings(max_examples=12)
def test_the_default_step_is_the_best(width, epsilon):
    family = Staircase(epsilon, width)
    best = min(Staircase(epsilon, width, step).absolute for step in range(1, width + 1))
    assert family.absolute == pytest.approx(best, rel=1e-12)
    assert family.absolute <= DiscreteLaplace(epsilon, width).absolute * (1 + 1e-12)


def exact_delta(p, q, epsilon):
    """The hockey-stick divergence of two rows of integers, from above, in fractions."""
    power, bits = exp_below_exact(epsilon, 1.0)
    losses = [Fraction(a) - Fraction(power * b, 2**bits) for a, b in zip(p, q, strict=True)]
    return sum((loss for loss in losses if loss > 0), Fraction(0))


@pytest.mark.parametrize(("v", "width"), [(4, 1), ("1/5", 2), (Fraction(37, 2), 3), (400, 10)])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 1.0, 3.0])
def test_delta_of_the_gaussian(v, width, epsilon):
    family = DiscreteGaussian(v, width)
    k = wide(family)
    by_sum = np.maximum(family.pmf(k) - math.exp(epsilon) * family.pmf(k + width), 0).sum()
    delta = family.delta(epsilon)
    assert delta == pytest.approx(by_sum, rel=1e-6, abs=1e-13)
    # Theorem 7 of Canonne, Kamath and Steinke: a difference of two tails.
    middle = epsilon * float(family.squared_sigma) / width
    tails = [family.pmf(k[k > middle + shift]).sum() for shift in (-width / 2, width / 2)]
    assert delta == pytest.approx(tails[0] - math.exp(epsilon) * tails[1], rel=1e-6, abs=1e-13)
    # Fewer units apart, less delta; and clamped to a range of integers no more than that.
    assert all(DiscreteGaussian(v, less).delta(epsilon) <= delta for less in range(1, width))
    clamped = family.clamp(0, 2 * width + 3).mechanism()
    one = 2**clamped.bits
    for s in range(width, 2 * width + 4):
        for t in (s - width, s):
            p, q = clamped.weights[t].tolist(), clamped.weights[2 * s - width - t].tolist()
            assert exact_delta(p, q, epsilon) / one <= Fraction(delta) + Fraction((1 + math.exp(epsilon)) * 2**-40)


def test_delta_far_out_stays_positive_and_is_accurate():
    from flint import arb, ctx

    family, epsilon = DiscreteGaussian(50), 5.0
    with ctx.workprec(200):
        terms = [(-arb(k * k) / 100).exp() for k in range(-400, 401)]
        total = sum(terms, arb(0))
        gains = [a - arb(epsilon).exp() * b for a, b in pairwise(terms)]
        exact = sum((g for g in gains if g > 0), arb(0)) / total
        assert float(exact) <= family.delta(epsilon) <= float(exact) * (1 + 1e-9)
    assert 0 < DiscreteGaussian(1).delta(900.0) < 1e-290
    assert DiscreteGaussian(1).delta(0.0) == pytest.approx(float(DiscreteGaussian(1).pmf(0)))


@pytest.mark.parametrize(("epsilon", "delta", "width"), [(1.0, 1e-6, 1), (0.1, 1e-3, 7), (4.0, 0.05, 1)])
def test_calibration_of_the_discrete_gaussian(epsilon, delta, width):
    family = DiscreteGaussian.calibrate(epsilon, delta, width)
    assert family.delta(epsilon) <= delta
    less = DiscreteGaussian(family.squared_sigma * Fraction(9999, 10000), width)
    assert less.delta(epsilon) > delta


def test_variance_of_the_discrete_gaussian_is_below_its_parameter():
    for v in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(9)):
        found = DiscreteGaussian(v).variance
        assert found <= float(v) * (1 + 1e-12)
        assert found == pytest.approx(float(v), rel=1e-6 if v >= 1 else 1)


def test_recipes_are_exact_fractions():
    assert DiscreteLaplace("1/3", 4).recipe() == LaplaceNoise(Fraction(12))
    assert DiscreteLaplace(0.1).recipe().scale == 1 / Fraction(0.1)
    assert Fraction(DiscreteLaplace("1/10").epsilon) >= Fraction(1, 10)
    noise = DiscreteGaussian("9/2").recipe()
    assert noise == GaussianNoise(Fraction(9, 2))
    t = noise.proposal.scale
    assert t == 3
    # Proposal times acceptance is the Gaussian, up to one constant.
    ratios = [
        math.exp(-abs(k) / t - noise.rejection(abs(k))) / float(DiscreteGaussian("9/2").pmf(k))
        for k in range(-9, 10)
    ]
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-12)


def test_a_metric_of_single_units_pays_in_proportion():
    # Laplace: epsilon per unit is epsilon / sensitivity.
    mechanism = DiscreteLaplace("1/2", 5).clamp(0, 9).mechanism()
    units = Metric(np.abs(np.arange(10.0)[:, None] - np.arange(10)))
    assert prove_metric_privacy(mechanism, MetricPrivacy(0.1, units)).upper == pytest.approx(0.1, rel=1e-8)


def test_bad_arguments():
    with pytest.raises(InputError, match="infinitely many reports"):
        DiscreteLaplace(1).mechanism()
    for epsilon in (0, -1, math.nan, math.inf, "1/0", "one"):
        with pytest.raises(InputError, match="epsilon"):
            DiscreteLaplace(epsilon)
    with pytest.raises(InputError, match="coarser"):
        DiscreteLaplace(1e-20)
    with pytest.raises(InputError, match="coarser"):
        DiscreteGaussian(1e20)
    sensitivity: Any
    for sensitivity in (0, 1.5, 2**40):
        with pytest.raises(InputError, match=r"positive integer|an integer is needed"):
            DiscreteGaussian(1, sensitivity)
    with pytest.raises(InputError, match="use 1 to 5"):
        Staircase(1, 5, 6)
    with pytest.raises(InputError, match="empty"):
        DiscreteLaplace(1).clamp(3, 2)
    with pytest.raises(InputError, match="1,000,001 x 1,000,001"):
        DiscreteLaplace(1).clamp(0, 10**6)
    with pytest.raises(InputError, match="pass integers"):
        DiscreteLaplace(1).pmf([0.5])
    with pytest.raises(InputError, match="epsilon is -1"):
        DiscreteGaussian(1).delta(-1)
    with pytest.raises(InputError, match="0 reports"):
        DiscreteLaplace(1).estimate_variance(0)
    assert isinstance(Staircase(1, 5).clamp(2, 2).mechanism(), Mechanism)
