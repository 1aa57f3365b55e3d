import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior
from sfumato.errors import InputError
from sfumato.leakage import (
    min_entropy_capacity_bits,
    min_entropy_leakage_bits,
    mutual_information_bits,
    shannon_capacity,
)

from .channels import cases, exponential_on_line, symmetric


def h(p: float) -> float:
    return -sum(x * math.log2(x) for x in (p, 1 - p) if x > 0)


@pytest.mark.parametrize("error", [0.0, 1e-30, 1e-6, 0.11, 0.5, 0.9])
def test_binary_symmetric_channel(error):
    found = shannon_capacity(symmetric(2, error))
    assert found.bits.lower == pytest.approx(1 - h(error), abs=1e-12)
    assert found.bits.upper == pytest.approx(1 - h(error), abs=1e-12)


@pytest.mark.parametrize(("size", "lost"), [(2, 0.25), (5, 0.7), (3, 1.0), (3, 0.0)])
def test_erasure_channel(size, lost):
    found = shannon_capacity(Mechanism(np.hstack([(1 - lost) * np.eye(size), np.full((size, 1), lost)])))
    assert found.bits.lower == pytest.approx((1 - lost) * math.log2(size), abs=1e-12)
    assert found.converged


@pytest.mark.parametrize(("size", "epsilon"), [(2, 1.0), (10, 1.0), (10, 0.01), (50, 4.0)])
def test_randomised_response(size, epsilon):
    error = (size - 1) / (math.exp(epsilon) + size - 1)
    mechanism = symmetric(size, error)
    closed = math.log2(size) - h(error) - error * math.log2(size - 1)
    assert shannon_capacity(mechanism).bits.lower == pytest.approx(closed, abs=1e-9)
    assert min_entropy_capacity_bits(mechanism) == pytest.approx(math.log2(size * (1 - error)), abs=1e-12)


@pytest.mark.parametrize("flip", [0.5, 0.1, 0.9])
def test_z_channel(flip):
    found = shannon_capacity(Mechanism([[1.0, 0.0], [flip, 1 - flip]]))
    closed = math.log2(1 + (1 - flip) * flip ** (flip / (1 - flip)))
    assert found.bits.lower <= closed + 1e-12
    assert found.bits.upper >= closed - 1e-12
    assert found.bits.width <= 1e-9


@settings(max_examples=15)
@given(cases(), st.data())
def test_the_bracket_holds_for_every_prior(case, data):
    mechanism, prior = case
    found = shannon_capacity(mechanism, tolerance_bits=1e-4, max_iterations=data.draw(st.integers(1, 500)))
    assert mutual_information_bits(mechanism, prior) <= found.bits.upper + 1e-12
    assert mutual_information_bits(mechanism, found.prior) == found.bits.lower
    assert found.bits.lower <= found.bits.upper + 1e-12
    assert found.converged == (found.bits.width <= 1e-4)
    assert found.bits.upper <= min_entropy_capacity_bits(mechanism) + found.bits.width + 1e-12


@given(cases())
def test_min_entropy_capacity_is_attained_by_the_uniform_prior(case):
    mechanism, prior = case
    capacity = min_entropy_capacity_bits(mechanism)
    assert min_entropy_leakage_bits(mechanism, prior) <= capacity + 1e-12
    uniform = Prior.uniform(mechanism.secrets)
    assert min_entropy_leakage_bits(mechanism, uniform) == pytest.approx(capacity, abs=1e-12)


def test_stopped_early_it_says_so():
    mechanism = exponential_on_line()
    early = shannon_capacity(mechanism, max_iterations=3)
    full = shannon_capacity(mechanism)
    assert (early.iterations, early.converged) == (3, False)
    assert early.bits.lower < full.bits.lower <= full.bits.upper < early.bits.upper
    assert "NOT converged" in repr(early)
    assert "NOT" not in repr(full)


def test_a_secret_without_use_does_not_break_the_iteration():
    # The middle secret is a mixture of the others, but for an observable of its own that is nearly never seen.
    rare = 1e-30
    mechanism = Mechanism([[1.0, 0.0, 0.0], [0.5, 0.5, rare], [0.0, 1.0, 0.0]])
    found = shannon_capacity(mechanism)
    assert found.converged
    assert found.bits.lower == pytest.approx(1.0, abs=1e-8)


@pytest.mark.parametrize("options", [{"tolerance_bits": 0.0}, {"tolerance_bits": math.nan}, {"max_iterations": 0}])
def test_options_that_mean_nothing(options):
    with pytest.raises(InputError, match="give no capacity"):
        shannon_capacity(symmetric(2, 0.1), **options)
