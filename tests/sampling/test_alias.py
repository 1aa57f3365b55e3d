"""The tables hold exactly the mechanism's integers."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Mechanism
from sfumato.core import AliasTables
from sfumato.core.weights import as_words, from_words

from .mechanisms import geometric_mechanism, random_mechanism


def thresholds(tables: AliasTables) -> np.ndarray[Any, Any]:
    if tables.low is None:
        return tables.high.astype(object)
    return from_words(tables.high, tables.low, 62)


def recovered(tables: AliasTables) -> np.ndarray[Any, Any]:
    """The weight of each outcome: what its own column gives it and what it is the alias of."""
    exact, capacity = thresholds(tables), 1 << (tables.bits - tables.log_columns)
    weights = np.zeros(exact.shape, dtype=object)
    for row, column in np.ndindex(*exact.shape):
        assert 0 <= exact[row, column] <= capacity
        weights[row, column] += exact[row, column]
        weights[row, tables.alias[row, column]] += capacity - exact[row, column]
    return weights


def assert_exact(mechanism: Mechanism) -> None:
    tables = AliasTables.of(mechanism.weights, mechanism.bits)
    weights, m = recovered(tables), mechanism.shape[1]
    assert np.array_equal(weights[:, :m], mechanism.weights)
    assert not weights[:, m:].any()


@given(st.integers(0, 2**32), st.integers(1, 6), st.integers(1, 20), st.booleans())
def test_the_weights_come_back_exactly(seed: int, secrets: int, observables: int, tiny: bool) -> None:
    mechanism = random_mechanism(seed, secrets, observables, tiny=tiny)
    assert mechanism.bits == (126 if tiny and observables > 1 else 62)
    assert_exact(mechanism)


@pytest.mark.parametrize("bits", [62, 126])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 7, 8, 9])
def test_uniform_and_certain_rows(bits: int, m: int) -> None:
    uniform = [(1 << bits) // m] * m
    uniform[0] += (1 << bits) - sum(uniform)
    rows = [uniform, *([0] * o + [1 << bits] + [0] * (m - 1 - o) for o in range(m))]
    assert_exact(Mechanism.from_weights(np.array(rows, dtype=object), bits))


@pytest.mark.parametrize("bits", [62, 126])
def test_weights_one_beside_their_capacity(bits: int) -> None:
    part = 1 << (bits - 2)
    rows = [[part, part, part, part], [part + 1, part - 1, part, part], [part - 1, part + 1, part + 1, part - 1]]
    rows += [[1, 1, 1, (1 << bits) - 3], [0, 0, 1, (1 << bits) - 1]]
    assert_exact(Mechanism.from_weights(np.array(rows, dtype=object), bits))


class Scripted:
    """Words given in advance, and a count of how often they were asked for."""

    def __init__(self, *calls: list[int]) -> None:
        self.calls = list(calls)

    def draw(self, count: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
        words = self.calls.pop(0)
        assert len(words) == count
        return np.array(words, dtype=np.uint64)


def outcome(tables: AliasTables, bits: int, number: int) -> int:
    """Return what a draw whose random bits are ``number`` gives, by the definition."""
    rest_bits = bits - tables.log_columns
    column, rest = number >> rest_bits, number & ((1 << rest_bits) - 1)
    return column if rest < thresholds(tables)[0, column] else int(tables.alias[0, column])


@given(st.integers(0, 2**32), st.integers(0, 2**126 - 1), st.integers(-2, 2), st.booleans())
def test_each_draw_follows_its_bits(seed: int, number: int, offset: int, near: bool) -> None:
    for tiny, bits in ((False, 62), (True, 126)):
        mechanism = random_mechanism(seed, 1, 5, tiny=tiny)
        tables = AliasTables.of(mechanism.weights, mechanism.bits)
        drawn = number >> (126 - bits)
        if near:  # beside the threshold, where ties are
            rest_bits = bits - tables.log_columns
            column = drawn >> rest_bits
            drawn = (column << rest_bits) + max(0, min(2**rest_bits - 1, thresholds(tables)[0, column] + offset))
        if bits == 62:
            words = Scripted([drawn << 2 | 3])
        else:
            first, second = drawn >> 62, drawn & (2**62 - 1)
            words = Scripted([first], [second << 2 | 3])
        assert tables.draw(np.zeros(1, dtype=np.intp), words)[0] == outcome(tables, bits, drawn)
        if bits == 126:
            column = drawn >> (126 - tables.log_columns)
            tie = first & (2 ** (64 - tables.log_columns) - 1) == thresholds(tables)[0, column] >> 62
            assert len(words.calls) == (0 if tie else 1)


def test_all_words_of_a_small_table_give_the_declared_shares() -> None:
    # Weights that are multiples of 2**56: the first 6 bits of a word settle the draw.
    weights = np.array([[20, 0, 7, 30, 7]], dtype=object) * 2**56
    tables = AliasTables.of(weights, 62)
    every = [number << 58 for number in range(64)]
    drawn = tables.draw(np.zeros(64, dtype=np.intp), Scripted(every))
    assert np.bincount(drawn, minlength=5).tolist() == [20, 0, 7, 30, 7]


def test_large_tables_are_exact_too() -> None:
    for mechanism in (geometric_mechanism(70, 0.7), geometric_mechanism(70, 0.2)):
        assert_exact(mechanism)
    assert (geometric_mechanism(70, 0.7).bits, geometric_mechanism(70, 0.2).bits) == (126, 126)


@given(st.lists(st.integers(0, 2**126 - 1), min_size=1, max_size=5), st.sampled_from([62, 64]))
def test_limbs(numbers: list[int], low_bits: int) -> None:
    array = np.array(numbers, dtype=object)
    high, low = as_words(array, low_bits)
    assert high.dtype == low.dtype == np.uint64
    assert from_words(high, low, low_bits).tolist() == numbers
