"""Real-valued noise, for studies: densities against quadrature, calibration, and its refusal to be released."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from sfumato.errors import InputError
from sfumato.mechanisms import ContinuousStaircase, DiscreteGaussian, Gaussian, Laplace, Staircase

FAMILIES = [Laplace(0.7, 2.0), Gaussian(1.3), ContinuousStaircase(1.0, 2.0), ContinuousStaircase(3.0, 1.0, 0.7)]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_moments_are_integrals_of_the_density(family):
    edges = np.linspace(0, 90, 10).tolist()
    if isinstance(family, ContinuousStaircase):
        width = family.sensitivity
        edges = sorted([i * width for i in range(60)] + [(i + family.share) * width for i in range(60)])
    for power, known in [(0, 1.0), (1, family.absolute), (2, family.variance)]:
        pieces = zip(edges, [*edges[1:], edges[-1] + 60], strict=True)
        half = sum(quad(lambda x, power=power: x**power * float(family.density(x)), a, b)[0] for a, b in pieces)
        assert 2 * half == pytest.approx(known, rel=1e-7)


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_simulations_follow_the_density(family):
    x = family.simulate(np.full(200_000, 10.0), np.random.default_rng(3)) - 10
    assert np.abs(x).mean() == pytest.approx(family.absolute, rel=0.02)
    assert x.var() == pytest.approx(family.variance, rel=0.05)
    near = 0.3 * family.sensitivity
    assert (np.abs(x) < near).mean() == pytest.approx(
        2 * quad(lambda y: float(family.density(y)), 0, near, points=[near / 2])[0], abs=0.006
    )


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_none_is_ever_released(family):
    assert family.study_only
    assert "for studies only" in repr(family)
    assert family.hamming_loss == 1
    with pytest.raises(InputError, match="for studies only"):
        family.recipe()
    with pytest.raises(InputError, match="real numbers"):
        family.mechanism()


@pytest.mark.parametrize("family", [f for f in FAMILIES if math.isfinite(f.epsilon)], ids=repr)
def test_epsilon_of_the_density(family):
    x = np.linspace(-12, 12, 4801) + 1e-4
    shifts = np.linspace(0, family.sensitivity, 41)
    worst = max(float(np.abs(np.log(family.density(x) / family.density(x + shift))).max()) for shift in shifts)
    assert worst == pytest.approx(family.epsilon, rel=1e-9)


def test_gaussian_golden():
    # G.1: delta of Gaussian privacy with mu = 1.
    for epsilon, delta in [(0, 0.382925), (0.5, 0.238422), (1, 0.126937), (2, 0.020924)]:
        assert Gaussian(1.0).delta(epsilon) == pytest.approx(delta, abs=1e-6)
        assert Gaussian(3.0, 3.0).delta(epsilon) == pytest.approx(delta, abs=1e-6)


@given(st.floats(0.01, 20), st.floats(1e-12, 0.9), st.floats(0.1, 100))
def test_calibration_is_tight(epsilon, delta, sensitivity):
    family = Gaussian.calibrate(epsilon, delta, sensitivity)
    assert family.delta(epsilon) <= delta * (1 + 1e-12)
    assert Gaussian(family.sigma * (1 - 1e-6), sensitivity).delta(epsilon) > delta
    if epsilon <= 1 and delta < 0.5:  # never worse than the classical rule
        assert family.sigma <= sensitivity * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


@pytest.mark.parametrize(("epsilon", "sigma"), [(0.3, 1.0), (1.0, 0.8), (3.0, 0.5)])
def test_delta_is_an_integral(epsilon, sigma):
    family = Gaussian(sigma)
    start = epsilon * sigma**2 - 0.5
    lost, _ = quad(
        lambda x: float(family.density(x)) - math.exp(epsilon) * float(family.density(x + 1)), start, start + 30
    )
    assert family.delta(epsilon) == pytest.approx(lost, rel=1e-7)
    assert Gaussian(0.01).delta(1.0) == pytest.approx(1.0)
    assert 0 < Gaussian(1.0).delta(36.0) < 1e-250


def test_continuous_and_discrete_agree_on_fine_grids():
    assert DiscreteGaussian(10**8, 10**4).delta(1.0) == pytest.approx(Gaussian(1.0).delta(1.0), rel=1e-4)
    fine, smooth = Staircase(2, 10_000), ContinuousStaircase(2.0)
    assert fine.absolute / 10_000 == pytest.approx(smooth.absolute, rel=1e-3)
    assert fine.step / 10_000 == pytest.approx(smooth.share, rel=1e-3)


@given(st.floats(0.05, 12))
def test_the_best_staircase(epsilon):
    # Geng and Viswanath, theorem 3: the least expected absolute value is e^(epsilon/2) / (e^epsilon - 1).
    best = ContinuousStaircase(epsilon)
    assert best.absolute == pytest.approx(math.exp(epsilon / 2) / math.expm1(epsilon), rel=1e-9)
    assert best.absolute <= Laplace(epsilon).absolute
    for share in (0.0, 0.3, 0.6, 1.0):
        assert best.absolute <= ContinuousStaircase(epsilon, share=share).absolute * (1 + 1e-12)


def test_laplace_has_the_standard_deviation_of_the_textbook():
    assert math.sqrt(Laplace(0.5, 3.0).variance) == pytest.approx(math.sqrt(2) * 3 / 0.5)


def test_bad_arguments():
    with pytest.raises(InputError, match="epsilon must be a positive number"):
        Laplace(0.0)
    with pytest.raises(InputError, match="delta is 1"):
        Gaussian.calibrate(1.0, 1.0)
    with pytest.raises(InputError, match="epsilon is nan"):
        Gaussian(1.0).delta(math.nan)
    with pytest.raises(InputError, match="between 0 and 1"):
        ContinuousStaircase(1.0, share=1.5)
