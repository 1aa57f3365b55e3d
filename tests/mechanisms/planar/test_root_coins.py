"""Coins of probability exp(-x): digits against intervals, floats against integers, words one by one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.mechanisms.planar.lattice_noise import LatticeNoise, RootExponent
from sfumato.sampling import SeededWords

RATES = st.fractions(min_value=Fraction(1, 10**6), max_value=8, max_denominator=10**6)
OFFSETS = st.tuples(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
INTEGERS_ALONE = 1e30


class Script:
    """Words that are read out one by one."""

    def __init__(self, words):
        self.words = list(words)

    def draw(self, count):
        found, self.words = self.words[:count], self.words[count:]
        assert len(found) == count
        return np.array(found, dtype=np.uint64)


def exponent_in_intervals(exponent, i, j):
    rate, slope = (arb(fmpq(f.numerator, f.denominator)) for f in (exponent.rate, exponent.slope))
    return rate * arb(i * i + j * j).sqrt() - slope * (abs(i) + abs(j))


@given(RATES, OFFSETS, st.integers(1, 50), st.sampled_from([1, 64, 200]))
def test_digits_are_those_of_the_exponent(rate, offset, divisor, count):
    exponent = LatticeNoise(rate).exponent
    digits = exponent.digits(offset[0], offset[1], divisor, count)
    with ctx.workprec(1000):
        x = exponent_in_intervals(exponent, *offset) / divisor * arb(2) ** count
        assert not x < digits
        assert x < digits + 1
    assert digits >= 0  # no exponent is negative


@given(RATES, OFFSETS)
def test_floats_err_by_less_than_they_say(rate, offset):
    exponent = LatticeNoise(rate).exponent
    x, error = exponent.floats(np.array([offset]))
    with ctx.workprec(400):
        assert not abs(exponent_in_intervals(exponent, *offset) - arb(float(x[0]))) > arb(float(error[0]))
    assert float(error[0]) <= 2.0**-46 * (float(rate) * math.hypot(*offset)) * 2


@settings(max_examples=12)
@given(RATES, st.integers(0, 2**32))
def test_floats_decide_as_integers_do(rate, seed):
    noise = LatticeNoise(rate)
    offsets = noise.proposal.noise(120, SeededWords(seed)).reshape(-1, 2)
    quick = noise.exponent.accepts(offsets, SeededWords(seed + 1))
    exact = noise.exponent.accepts(offsets, SeededWords(seed + 1), INTEGERS_ALONE)
    np.testing.assert_array_equal(quick, exact)


@pytest.mark.parametrize(("i", "j"), [(0, 0), (1, 0), (3, 4), (2, -1), (17, 3), (40, 0)])
@pytest.mark.parametrize("rate", [Fraction(1, 7), Fraction(1), Fraction(9, 4)])
def test_acceptance_is_the_exponential(rate, i, j):
    """The coins' probabilities, in intervals from their own digits, multiply to exp(-x)."""
    exponent = LatticeNoise(rate).exponent
    x, _ = exponent.floats(np.array([[i, j]]))
    times = 1 + math.floor(float(x[0]) + 0.25)
    with ctx.workprec(600):
        odd, alive = arb(0), arb(1)
        for k in range(1, 90):
            digits = exponent.digits(i, j, times * k, 500)
            success = arb(2 * digits + 1, 1) / arb(2) ** 501
            odd += alive * (1 - success) * (k % 2)
            alive *= success
        odd += arb(0.5, 0.5) * alive  # what goes on for longer ends somewhere
        assert not success > 1
        wanted = (-exponent_in_intervals(exponent, i, j)).exp()
        found = odd**times
        assert found.overlaps(wanted)
        assert float(found.rad()) < 1e-30


def test_words_next_to_the_digits_decide():
    exponent = RootExponent(Fraction(1), Fraction(7, 10))
    offset = np.array([[2, 1]])  # x = sqrt(5) - 2.1 = 0.136...
    first = exponent.digits(2, 1, 1, 64)
    second = exponent.digits(2, 1, 1, 128) - (first << 64)
    third = exponent.digits(2, 1, 1, 192) - (exponent.digits(2, 1, 1, 128) << 64)
    last = 2**64 - 1  # fails every later coin
    for doubt in (1.0, INTEGERS_ALONE):
        assert exponent.accepts(offset, Script([first + 1]), doubt) == [True]  # fails first
        assert exponent.accepts(offset, Script([first - 1, last]), doubt) == [False]  # fails second
        assert exponent.accepts(offset, Script([first, second + 1]), doubt) == [True]
        assert exponent.accepts(offset, Script([first, second - 1, last]), doubt) == [False]
        assert exponent.accepts(offset, Script([first, second, third + 1]), doubt) == [True]
        assert exponent.accepts(offset, Script([first, second, third - 1, last]), doubt) == [False]


def test_no_noise_is_always_accepted():
    assert RootExponent(Fraction(3), Fraction(2)).accepts(np.zeros((5, 2), dtype=np.int64), SeededWords(1)).all()
