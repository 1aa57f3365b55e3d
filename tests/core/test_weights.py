from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism
from sfumato.core.weights import ONE_WORD, TWO_WORDS, needed_bits, quantise
from sfumato.errors import InputError

from ..catalogue import CASES
from .arrays import refused, stochastic

shapes = st.tuples(st.integers(1, 5), st.integers(1, 6))
matrices = shapes.flatmap(lambda shape: stochastic(*shape))


@given(matrices, st.sampled_from([ONE_WORD, TWO_WORDS]))
def test_rows_sum_to_the_power_of_two(matrix, bits):
    weights = quantise(matrix, bits)
    for row in weights.tolist():
        assert sum(row) == 1 << bits
        assert min(row) >= 0
        assert all(type(entry) is int for entry in row)


@given(matrices, st.sampled_from([ONE_WORD, TWO_WORDS]))
def test_rounding_is_by_less_than_one_but_for_the_largest(matrix, bits):
    weights = quantise(matrix, bits)
    for row, integers in zip(matrix, weights.tolist(), strict=True):
        largest = int(np.argmax(row))
        for o, (p, w) in enumerate(zip(row, integers, strict=True)):
            exact = Fraction(float(p)) * 2**bits
            assert (w > 0) == (p > 0)
            # Rows are divided by their float sum first, which errs by a few 2**-53 and so may they.
            allowed = 1 + exact * Fraction(len(row) + 2, 2**52)
            if o != largest:
                assert abs(w - exact) <= allowed
            else:
                assert abs(w - exact) <= len(row) * (1 + Fraction(2**bits, 2**49))


@given(matrices)
def test_bits_are_chosen_by_the_smallest_probability(matrix):
    mechanism = Mechanism(matrix)
    smallest = matrix[matrix > 0].min()
    assert mechanism.bits == needed_bits(matrix) == (62 if smallest >= 2.0**-26 else 126)
    relative = np.abs(mechanism.matrix - matrix)[matrix > 0] / matrix[matrix > 0]
    assert relative.max() <= (2.0**-30 if mechanism.bits == 62 else max(2.0**-40, 2.0**-125 / smallest))


def test_the_border_between_one_word_and_two():
    for smallest, bits in ((2.0**-26, 62), (np.nextafter(2.0**-26, 0), 126)):
        assert Mechanism([[smallest, 1 - smallest]]).bits == bits


def test_a_tiny_probability_keeps_its_value():
    mechanism = Mechanism([[1e-30, 1.0], [0.0, 1.0]])
    assert mechanism.bits == TWO_WORDS
    assert mechanism.weights[0, 0] == pytest.approx(1e-30 * 2**126, rel=1e-7)
    assert mechanism.matrix[0, 0] == pytest.approx(1e-30, rel=1e-7)
    assert mechanism.weights[1, 0] == 0
    assert Mechanism([[1e-300, 1.0]]).weights[0, 0] == 1


@given(matrices, st.integers(2, 5))
def test_equal_rows_have_equal_integers(matrix, times):
    mechanism = Mechanism(np.repeat(matrix, times, axis=0))
    for s in range(len(matrix)):
        block = mechanism.weights[s * times : (s + 1) * times]
        assert (block == block[0]).all()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mechanism_is_its_integers(case):
    mechanism = case.mechanism
    again = Mechanism.from_weights(mechanism.weights, mechanism.bits, mechanism.secrets, mechanism.observables)
    assert again == mechanism
    assert hash(again) == hash(mechanism)
    for row, integers in zip(mechanism.matrix, mechanism.weights.tolist(), strict=True):
        assert list(row) == [float(Fraction(w, 2**mechanism.bits)) for w in integers]


@pytest.mark.parametrize(
    ("weights", "bits", "says"),
    [
        ([[2**61, 2**61 - 1]], 62, "row 0 sum to"),
        ([[2**62, 0], [2**61, 2**60]], 62, "row 1 sum to"),
        ([[2**62 + 1, -1]], 62, "secret 0, observable 1 is negative"),
        ([[2**62]], 63, "63 bits are unknown"),
        ([2**62], 62, "shape (1,)"),
        (np.zeros((0, 2), dtype=int), 62, "shape (0, 2)"),
        # 2**62 modulo 2**64, so that a sum of int64 would look right:
        ([[2**62, 2**62, 2**62, 2**62, 2**62]], 62, "row 0 sum to"),
        (np.array([[2**63, 2**62]], dtype=object), 62, "sum to"),
        ([[0.5, 0.5]], 62, "integers"),
        ([[float(2**61), float(2**61)]], 62, "integers"),
        ([["a", "b"]], 62, "integers"),
        ([[1.5, 2**126]], 126, "integers"),
        ([[2**126 - 1, 0]], 126, "sum to"),
        ([[2**126 + 1, -1]], 126, "negative"),
        ([[None, 2**126]], 126, "integers"),
        ([[2**61, 2**61], [2**62]], 62, "not an array"),
    ],
)
def test_damaged_weights_are_refused(weights, bits, says):
    refused(lambda: Mechanism.from_weights(weights, bits), says)


def test_weights_may_be_pythons_integers():
    mechanism = Mechanism.from_weights(np.array([[2**61, 2**61], [1, 2**62 - 1]], dtype=object), 62)
    assert mechanism.weights.dtype == np.int64
    wide = Mechanism.from_weights(np.array([[1, 2**126 - 1]], dtype=object), 126)
    assert wide.weights.tolist() == [[1, 2**126 - 1]]
    with pytest.raises(InputError):
        Mechanism.from_weights(np.array([[2**62]], dtype=object), 126)
