"""Estimates of the mutual information, on channels whose information is known."""

import numpy as np
import pytest
from scipy.special import digamma

from sfumato.core import Mechanism, Prior
from sfumato.errors import InputError
from sfumato.leakage import mutual_information_bits
from sfumato.statistics import Sample, estimate_information

from ..catalogue import exponential, geometric, line, randomised_response, unused

CHANNELS = {
    "weak": unused(randomised_response(10, 0.5)),
    "strong": unused(geometric(10, 0.5)),
    "many": unused(randomised_response(20, 1.0)),
    "nothing": np.tile([0.4, 0.3, 0.2, 0.1, 0.0], (6, 1)),
    "exponential": exponential(line(8), 0.5),
}


def truth_of(rows):
    mechanism = Mechanism(rows)
    return mutual_information_bits(mechanism, Prior.uniform(mechanism.secrets))


def estimates(rows, size, repetitions, seed):
    rng = np.random.default_rng(seed)
    joint = rows / rows.sum()
    counts = [rng.multinomial(size, joint.ravel()).reshape(joint.shape) for _ in range(repetitions)]
    return [estimate_information(Sample(table)) for table in counts]


@pytest.mark.parametrize("name", CHANNELS)
def test_the_estimate_has_the_least_bias(name):
    rows, truth = CHANNELS[name], truth_of(CHANNELS[name])
    found = estimates(rows, 8 * rows.size, 100, 41)
    of_each = [(one.plug_in_bits, one.miller_madow_bits, one.bits.value) for one in found]
    plug_in, miller, bits = np.mean(of_each, axis=0) - truth
    noise = 4 * np.std([one.bits.value for one in found]) / 10
    assert plug_in > 3 * noise
    assert abs(miller) < plug_in
    assert abs(bits) < max(noise, 0.1 * plug_in)


@pytest.mark.parametrize("name", CHANNELS)
def test_the_interval_misses_about_as_often_as_it_says(name):
    rows, truth = CHANNELS[name], truth_of(CHANNELS[name])
    found = estimates(rows, 5 * rows.size, 200, 42)
    inside = np.mean([one.bits.lower <= truth <= one.bits.upper for one in found])
    assert inside >= 0.9
    assert not any(one.scarce for one in found)


def test_many_samples_give_the_information_by_every_estimator():
    rows = CHANNELS["strong"]
    counts = np.rint(rows * 1e7).astype(np.int64)
    found = estimate_information(Sample(counts))
    for value in (found.bits.value, found.plug_in_bits, found.miller_madow_bits):
        assert value == pytest.approx(truth_of(rows), abs=1e-5)
    assert found.bits.width < 1e-3


def test_a_table_by_hand():
    # Counts 1 and 2: G(1) = -gamma - ln 2, G(2) = 2 - gamma - ln 2; and G(3) = G(2) by the recurrence.
    gamma = -float(digamma(1))
    one, two = -gamma - np.log(2), 2 - gamma - np.log(2)
    h_secret = np.log(3) - (1 * one + 2 * two) / 3
    h_both = np.log(3) - (3 * one) / 3
    found = estimate_information(Sample([[1, 0], [1, 1]]))
    assert found.bits.value == pytest.approx((2 * h_secret - h_both) / np.log(2))
    assert found.plug_in_bits == pytest.approx(np.log2(3) - 4 / 3)
    assert found.miller_madow_bits == pytest.approx(np.log2(3) - 4 / 3 + (2 + 2 - 3 - 1) / (6 * np.log(2)))
    assert found.scarce
    assert "too few" in str(found)


def test_the_order_of_rows_and_columns_and_empty_ones_mean_nothing():
    counts = np.array([[5, 2, 0], [1, 9, 4], [3, 3, 8]])
    base = estimate_information(Sample(counts))
    wider = estimate_information(Sample(np.pad(counts[::-1, ::-1], 1)))
    assert wider.bits.value == pytest.approx(base.bits.value)
    assert wider.bits.upper == pytest.approx(base.bits.upper)
    assert estimate_information(Sample(counts.T)).bits.value == pytest.approx(base.bits.value)


def test_a_failure_probability_of_zero_is_refused():
    with pytest.raises(InputError, match="between 0 and 1"):
        estimate_information(Sample([[1, 2], [3, 4]]), failure=0.0)
