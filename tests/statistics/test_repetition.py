"""Outputs that never change: how likely fresh noise repeats like that."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Metric, Space
from sfumato.errors import InputError
from sfumato.statistics import repetition, repetition_of

from ..catalogue import geometric, line, randomised_response, unused
from .boxes import channel

MECHANISM = Mechanism(unused(randomised_response(3, 1.0)), Space("abc"), Space("abcz"))


def memo(rng):
    """Noise drawn once per secret."""
    kept: dict[str, str] = {}
    draw = channel(randomised_response(3, 1.0), rng)
    return lambda s: kept.setdefault(s, "abc"[draw("abc".index(s))])


def test_a_memo_is_told_by_the_claimed_mechanism():
    found = repetition(memo(np.random.default_rng(1)), "abc", 40, mechanism=MECHANISM)
    assert len(found.constant) == 3
    p = math.e / (math.e + 2)
    # A secret that kept to its truth would do so by chance with p^40, and there are three.
    assert found.probability == pytest.approx(3 * (p**40 + 2 * ((1 - p) / 2) ** 40), rel=1e-8)
    assert "always gave" in str(found)


def test_a_memo_is_told_by_the_claimed_epsilon_if_two_secrets_keep_to_different_outputs():
    found = repetition(lambda s: s, "abc", 40, epsilon=1.0)
    assert found.probability == pytest.approx(3 * (1 + math.exp(-1)) ** -78, rel=1e-8)
    assert repetition(lambda s: "x", "abc", 40, epsilon=1.0).probability == 1.0


def test_a_fixed_seed_is_told_and_fresh_noise_is_not():
    def seeded(s):
        return s + int(np.random.default_rng(7).geometric(0.5))

    told = repetition(seeded, range(4), 32, epsilon=0.5, metric=Metric(line(4)))
    assert told.probability is not None
    assert told.probability < 1e-6
    fresh = channel(geometric(4, 0.5), np.random.default_rng(2))
    found = repetition(fresh, range(4), 32, epsilon=0.5, metric=Metric(line(4)))
    assert found.probability == 1.0
    assert not found.constant
    assert "more than one output" in str(found)


def test_without_a_claim_no_probability_is_stated():
    found = repetition(lambda s: s, "ab")
    assert found.probability is None
    assert "No probability" in str(found)


@given(
    st.integers(1, 4),
    st.lists(st.lists(st.integers(1, 9), min_size=3, max_size=3), min_size=2, max_size=2),
)
def test_no_pair_of_rows_with_its_epsilon_repeats_more_often_than_the_bound(calls, weights):
    p, q = (np.array(row) / sum(row) for row in weights)
    epsilon = float(np.abs(np.log(p / q)).max())
    truth = sum(
        p[o] ** calls * q[other] ** calls for o, other in itertools.product(range(3), repeat=2) if o != other
    )
    assert truth <= (1 + math.exp(-epsilon)) ** (-2 * (calls - 1)) * (1 + 1e-12)


@given(st.integers(1, 4), st.lists(st.integers(1, 9), min_size=3, max_size=3))
def test_the_probability_of_a_mechanism_is_that_of_all_sequences(calls, weights):
    row = np.array(weights) / sum(weights)
    truth = sum(
        math.prod(row[o] for o in outputs)
        for outputs in itertools.product(range(3), repeat=calls + 1)
        if len(set(outputs)) == 1
    )
    mechanism = Mechanism([row, row])
    outputs = {0: ["x"] * (calls + 1), 1: ["x", "y"] * (calls + 1)}
    found = repetition_of(outputs, mechanism=Mechanism(mechanism.matrix, Space([0, 1]), Space("xyz")))
    assert found.probability == pytest.approx(min(1.0, 2 * truth))
    assert found.constant == ((0, "x"),)


def test_the_longer_direction_of_a_distance_counts():
    outputs = {"a": ["x"] * 4, "b": ["y"] * 4}
    probability = [
        repetition_of(outputs, epsilon=1.0, metric=Metric(array, symmetric=False)).probability
        for array in ([[0, 1], [2, 0]], [[0, 2], [1, 0]], [[0, 2], [2, 0]], [[0, 1], [1, 0]])
    ]
    assert probability[0] == probability[1] == probability[2] != probability[3]
    one_way = Metric(np.array([[0, 1], [np.inf, 0]]), symmetric=False)
    assert repetition_of(outputs, epsilon=1.0, metric=one_way).probability == 1


def test_too_few_calls_are_refused():
    with pytest.raises(InputError, match="1 calls"):
        repetition(lambda s: s, "ab", 1)
    with pytest.raises(InputError, match="0 secrets"):
        repetition(lambda s: s, [])
    with pytest.raises(InputError, match="fewer than two"):
        repetition_of({"a": ["x"]})
    with pytest.raises(InputError, match="epsilon"):
        repetition(lambda s: s, "ab", epsilon=-1.0)
    with pytest.raises(InputError, match="metric"):
        repetition(lambda s: s, "ab", epsilon=1.0, metric=Metric(line(3)))
