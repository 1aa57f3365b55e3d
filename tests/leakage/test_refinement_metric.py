"""The refinement metric by its gain, by the capacity it generalises, and against refinement."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.leakage import additive_capacity, factorise, g_vulnerability, refinement_metric, refines

from .channels import cases
from .test_factorisation import random


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000))
def test_the_gain_attains_it(case, seed):
    mechanism, prior = case
    other = random(seed, len(prior), 3)
    found = refinement_metric(mechanism, other, prior)
    assert found.value.width <= 1e-7
    assert found.gain.max() <= 1
    assert not found.gain[-1].any()
    rival = sf.Mechanism(other.matrix, mechanism.secrets)
    more = g_vulnerability(mechanism, prior, found.gain) - g_vulnerability(rival, prior, found.gain)
    assert more == pytest.approx(found.value.lower, abs=1e-9)
    # The class holds the gains in [0, 1].
    assert factorise(mechanism, other, prior).distance.lower <= found.value.upper + 1e-9


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000))
def test_no_gain_of_the_class_exceeds_it(case, seed):
    mechanism, prior = case
    rng = np.random.default_rng(seed)
    other = random(seed, len(prior), 3)
    gain = np.vstack([1 - rng.exponential(3, (4, len(prior))), np.zeros(len(prior))])
    rival = sf.Mechanism(other.matrix, mechanism.secrets)
    more = g_vulnerability(mechanism, prior, gain) - g_vulnerability(rival, prior, gain)
    assert more <= refinement_metric(mechanism, other, prior).value.upper + 1e-12


@settings(max_examples=15)
@given(cases())
def test_from_nothing_it_is_the_additive_capacity(case):
    mechanism, prior = case
    nothing = sf.Mechanism(np.ones((len(prior), 1)))
    found = refinement_metric(mechanism, nothing, prior).value
    assert found.value == pytest.approx(additive_capacity(mechanism, prior).value.value, abs=1e-8)


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000))
def test_it_is_zero_where_the_mechanism_refines(case, seed):
    mechanism, _ = case
    even = sf.Prior.uniform(mechanism.secrets)
    other = random(seed, len(even), 3)
    found, asked = refinement_metric(mechanism, other, even).value, refines(mechanism, other)
    if asked:
        assert found.lower <= 1e-7
    elif asked.error > 1e-6:
        assert found.upper > 0
    processed = sf.Mechanism(mechanism.matrix @ np.full((mechanism.shape[1], 2), 0.5), mechanism.secrets)
    assert refinement_metric(processed, mechanism, even).value.lower <= 1e-9


def test_sizes_must_fit():
    with pytest.raises(InputError, match="4 and 5 secrets"):
        refinement_metric(random(1, 4, 3), random(1, 5, 3), sf.Prior.uniform(sf.Space(range(4))))
    with pytest.raises(InputError, match="entries"):
        refinement_metric(random(1, 200, 200), random(1, 200, 200), sf.Prior.uniform(sf.Space(range(200))))
