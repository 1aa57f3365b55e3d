"""Coins one at a time: from the same words they fall as those of arrays."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sfumato.sampling import ScalarCoins, SeededWords
from sfumato.sampling.coins import coins, decays, draw_below

FALSE_ALARM = 1e-9


class Given:
    """Words that are given, and then the largest ones."""

    def __init__(self, words):
        self.words = list(words)

    def draw(self, count):
        found, self.words = self.words[:count], self.words[count:]
        return np.array(found + [2**64 - 1] * (count - len(found)), dtype=np.uint64)


words = st.integers(0, 2**64 - 1)
ratios = st.integers(1, 2**80).flatmap(lambda d: st.tuples(st.integers(0, d - 1), st.just(d)))


@given(ratios, st.lists(words, min_size=3, max_size=3))
def test_a_coin_falls_as_in_an_array(ratio, drawn):
    n, d = ratio
    assert ScalarCoins(Given(drawn)).coin(n, d) == coins(np.array([n], dtype=object), d, Given(drawn))[0]


@given(ratios, st.integers(0, 2**64 - 1))
def test_a_coin_on_the_edge_looks_at_more_digits(ratio, rest):
    n, d = ratio
    digit = (n << 64) // d
    assert (
        ScalarCoins(Given([digit, rest])).coin(n, d)
        == coins(np.array([n], dtype=object), d, Given([digit, rest]))[0]
    )


@given(st.integers(1, 2**130), st.integers(0, 2**32 - 1))
def test_integers_below_a_bound_are_those_of_arrays(bound, seed):
    one, many = ScalarCoins(SeededWords(seed)), SeededWords(seed)
    found = one.draw_below(bound)
    assert 0 <= found < bound
    assert found == int(draw_below(bound, 1, many)[0])


@given(st.integers(0, 999), st.integers(0, 2**32 - 1))
def test_decays_are_those_of_arrays(numerator, seed):
    assert (
        ScalarCoins(SeededWords(seed)).decay(numerator, 1000)
        == decays(np.array([numerator]), 1000, SeededWords(seed))[0]
    )


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(41, 3)])
def test_signed_numbers_follow_the_two_sided_geometric_distribution(scale):
    scalar = ScalarCoins(SeededWords(11))
    drawn = np.array([scalar.laplace(scale) for _ in range(20_000)])
    ratio = np.exp(-1 / float(scale))
    reach = int(8 * float(scale)) + 2
    k = np.arange(-reach, reach + 1)
    chances = (1 - ratio) / (1 + ratio) * ratio ** np.abs(k)
    counts = np.array([np.count_nonzero(drawn == each) for each in k])
    common = chances * len(drawn) > 20
    counts = np.append(counts[common], len(drawn) - counts[common].sum())
    wanted = np.append(chances[common], 1 - chances[common].sum()) * len(drawn)
    assert chisquare(counts, wanted).pvalue > FALSE_ALARM
