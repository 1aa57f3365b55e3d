import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sfumato.rounding import (
    down,
    float_above,
    float_below,
    lower_end,
    sum_above,
    sum_error,
    underflow,
    up,
    upper_end,
)


@given(
    arrays(np.float64, st.integers(1, 60), elements=st.floats(-1e6, 1e6)),
    st.integers(0, 2**32),
)
def test_the_error_of_sums_of_products(values, seed):
    others = np.random.default_rng(seed).normal(size=len(values))
    products = values * others
    found, magnitude = float(products.sum()), float(np.abs(products).sum())
    true = sum(
        (Fraction(a) * Fraction(b) for a, b in zip(values.tolist(), others.tolist(), strict=True)), Fraction(0)
    )
    assert abs(Fraction(found) - true) <= Fraction(sum_error(len(values), magnitude))
    assert abs(Fraction(float(values @ others)) - true) <= Fraction(sum_error(len(values), magnitude))


def test_neighbouring_floats():
    assert down(1.0) < 1.0 < up(1.0)
    assert up(down(1.0)) == 1.0
    assert down(math.inf) < math.inf
    assert up(0.0) == pytest.approx(0)


@given(st.fractions(-1000, 1000))
def test_fractions_lie_between_neighbouring_floats(value):
    below, above = float_below(value), float_above(value)
    assert Fraction(below) <= value <= Fraction(above)
    assert below == above or up(below) == above


@given(st.lists(st.floats(-1e6, 1e6), max_size=20))
def test_sums_are_the_least_floats_above(terms):
    true, found = sum(map(Fraction, terms), Fraction(0)), sum_above(terms)
    assert Fraction(down(found)) < true <= Fraction(found)


def test_a_sum_that_overflows_is_infinite():
    assert sum_above([1.7e308, 1.7e308]) == math.inf


@given(
    arrays(np.float64, st.integers(1, 40), elements=st.sampled_from([0.0, 5e-324, 3e-310, -1e-200, 1e-160, 0.3])),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 1.0, 1e300]),
)
def test_what_underflow_takes_is_counted(values, seed, factor):
    others = np.random.default_rng(seed).choice([1e-170, -1e-160, 0.7, 3e-310], len(values))
    products = values * others
    true = [Fraction(a) * Fraction(b) for a, b in zip(values.tolist(), others.tolist(), strict=True)]
    magnitude = float(np.abs(products).sum())
    assert abs(Fraction(float(products.sum())) - sum(true)) <= Fraction(sum_error(len(values), magnitude))
    if factor:
        scaled = products * factor
        error = sum_error(len(values), float(np.abs(scaled).sum())) + underflow(len(values), factor)
        assert abs(Fraction(float(scaled.sum())) - sum(true) * Fraction(factor)) <= Fraction(error)


def test_sides_of_what_overflowed():
    assert upper_end(math.inf, math.inf) == upper_end(-math.inf, math.inf) == upper_end(math.nan, 1.0) == math.inf
    assert lower_end(math.inf, math.inf) == lower_end(math.inf, 1.0) == lower_end(math.nan, 1.0) == -math.inf
    assert lower_end(1.0, 0.0) < 1.0 < upper_end(1.0, 0.0)
