"""Clopper-Pearson bounds against exact binomial sums."""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.errors import InputError
from sfumato.statistics import binomial


def at_least(k: int, n: int, p: Fraction) -> Fraction:
    return sum((comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(k, n + 1)), Fraction(0))


@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from([0.3, 0.05, 1e-3, 1e-9]))
def test_the_bounds_are_where_the_exact_tails_are_the_failure_probability(k, more, failure):
    n = k + more
    low = float(binomial.lower(np.array([k]), np.array([n]), failure)[0])
    high = float(binomial.upper(np.array([k]), np.array([n]), failure)[0])
    assert 0 <= low < high <= 1
    # Each bound is rounded outward, by less than the step of 1e-8 that crosses the exact place.
    if k:
        assert at_least(k, n, Fraction(low)) <= failure < at_least(k, n, Fraction(low * (1 + 1e-8)))
    else:
        assert low == 0
    if more:
        inner = Fraction(high * (1 - 1e-8))
        assert 1 - at_least(k + 1, n, Fraction(high)) <= failure < 1 - at_least(k + 1, n, inner)
    else:
        assert high == 1


@pytest.mark.parametrize("p", [0.0, 0.01, 0.2, 0.5, 0.93, 1.0])
@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_true_probability_is_missed_as_rarely_as_stated_whatever_it_is(n, p):
    k, failure = np.arange(n + 1), 0.05
    chances = np.array([comb(n, int(i)) * p ** int(i) * (1 - p) ** int(n - i) for i in k])
    assert chances[binomial.lower(k, np.array([n]), failure) > p].sum() <= failure
    assert chances[binomial.upper(k, np.array([n]), failure) < p].sum() <= failure


def test_nothing_is_known_without_trials_and_shapes_broadcast():
    hits, trials = np.array([[0, 3], [0, 5]]), np.array([[0], [5]])
    with np.errstate(all="raise"):
        low, high = binomial.lower(hits[:, :1], trials, 0.1), binomial.upper(hits[:, :1], trials, 0.1)
    assert low[0, 0] == 0
    assert high[0, 0] == 1
    assert binomial.lower(np.array([[1, 2, 1]]), np.array([[9], [4]]), 0.1).shape == (2, 3)


@pytest.mark.parametrize("failure", [0.0, 1.0, -0.1, float("nan")])
def test_a_failure_probability_that_is_none_is_refused(failure):
    with pytest.raises(InputError, match="not between 0 and 1"):
        binomial.check_failure(failure)
