"""Promises proved from recipes: against the likelihood ratios of laws that are written out."""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.mechanisms import DiscreteGaussian, DiscreteLaplace, Staircase, SubsetSelection, UnaryEncoding
from sfumato.proofs import bits_epsilon, gaussian_rho, laplace_epsilon, staircase_epsilon, subset_epsilon

rationals = st.fractions(Fraction(1, 20), 4, max_denominator=30)
REACH = 60


def worst_ratio(noise, sensitivity):
    """Return the largest ln of p(k) / p(k - d) over |d| <= sensitivity, over a long range of k."""
    k = np.arange(-REACH, REACH + 1)
    return max(
        float(np.max(np.log(noise.pmf(k)) - np.log(noise.pmf(k - d))))
        for d in range(-sensitivity, sensitivity + 1)
    )


@given(rationals, st.integers(1, 12))
@settings(max_examples=12, deadline=None)
def test_laplace_noise_attains_its_epsilon(epsilon, sensitivity):
    noise = DiscreteLaplace(epsilon, sensitivity)
    found = laplace_epsilon(noise.recipe().scale, sensitivity)
    assert found == epsilon
    assert worst_ratio(noise, sensitivity) == pytest.approx(float(found), rel=1e-9)


@given(rationals, st.integers(1, 12), st.data())
@settings(max_examples=12, deadline=None)
def test_staircase_noise_attains_its_epsilon(epsilon, width, data):
    noise = Staircase(epsilon, width, data.draw(st.integers(1, width)))
    recipe = noise.recipe()
    for widths in (1, 2):
        apart = widths * width
        found = staircase_epsilon(recipe.epsilon, recipe.width, recipe.step, apart)
        assert found == widths * epsilon
        assert worst_ratio(noise, apart) == pytest.approx(float(found), rel=1e-9)


@pytest.mark.parametrize("variance", ["1/3", 2, 40])
@pytest.mark.parametrize("order", [1.1, 2, 7])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_gaussian_noise_keeps_its_rho_for_every_order(variance, order, sensitivity):
    noise = DiscreteGaussian(variance, sensitivity)
    rho = gaussian_rho(noise.recipe().variance, sensitivity)
    assert rho == noise.rho
    v = float(Fraction(variance))
    k = np.arange(-400, 401)
    p, q = -(k**2) / (2 * v), -((k - sensitivity) ** 2) / (2 * v)
    total = math.log(np.exp(p).sum())
    divergence = (np.logaddexp.reduce(order * p + (1 - order) * q) - total) / (order - 1)
    assert divergence <= order * float(rho) + 1e-12
    assert divergence >= 0.5 * order * float(rho) or v < 1  # and is not far below


def law_of_bits(recipe):
    """Return the exact law of k bits, from the integers of one: rows of secrets."""
    rows = recipe.bit.weights.tolist()
    whole = 1 << recipe.bit.bits
    return [
        [
            math.prod(Fraction(rows[int(place == own)][bit], whole) for place, bit in enumerate(bits))
            for bits in product((0, 1), repeat=recipe.count)
        ]
        for own in range(recipe.count)
    ]


def law_of_subsets(recipe):
    out, held = (Fraction(int(each), 1 << recipe.coin.bits) for each in recipe.coin.weights[0])
    k, d = recipe.count, recipe.size
    return [
        [
            held / math.comb(k - 1, d - 1) if own in chosen else out / math.comb(k - 1, d)
            for chosen in combinations(range(k), d)
        ]
        for own in range(k)
    ]


def exact_epsilon(law):
    worst = max(a / b for mine in law for other in law for a, b in zip(mine, other, strict=True))
    return math.log(worst)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("kind", ["symmetric", "optimised"])
def test_bits_against_all_their_reports(epsilon, kind):
    family = UnaryEncoding(sf.Space("abcd"), epsilon, kind)
    recipe = family.recipe()
    law = law_of_bits(recipe)
    assert all(sum(row) == 1 for row in law)
    found = bits_epsilon(recipe.bit.weights)
    assert found <= epsilon
    assert found == pytest.approx(exact_epsilon(law), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_subsets_against_all_their_reports(epsilon, size):
    recipe = SubsetSelection(sf.Space("abcde"), epsilon, size).recipe()
    law = law_of_subsets(recipe)
    assert all(sum(row) == 1 for row in law)
    out, held = map(int, recipe.coin.weights[0])
    found = subset_epsilon(5, size, out, held)
    assert found <= epsilon
    assert found == pytest.approx(exact_epsilon(law), rel=1e-12)


def test_what_cannot_happen_or_always_does():
    assert bits_epsilon(np.array([[4, 0], [0, 4]])) == math.inf
    assert bits_epsilon(np.array([[4, 0], [4, 0]])) == 0
    assert bits_epsilon(np.array([[3, 1], [3, 1]])) == 0
    assert subset_epsilon(4, 2, 0, 4) == math.inf
    assert subset_epsilon(4, 2, 1, 1) == 0


@pytest.mark.parametrize(
    "refused",
    [
        lambda: laplace_epsilon(Fraction(0), 1),
        lambda: laplace_epsilon(Fraction(1), 0),
        lambda: gaussian_rho(Fraction(-1), 1),
        lambda: staircase_epsilon(Fraction(1), 2, 3, 1),
        lambda: subset_epsilon(3, 3, 1, 1),
    ],
)
def test_what_is_no_recipe(refused):
    with pytest.raises(InputError):
        refused()
