"""Additive capacities against linear programs, enumeration of bets and the gains that attain them."""

import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import InputError
from sfumato.leakage import additive_capacity, additive_leakage, factorise, g_vulnerability, prior_g_vulnerability
from sfumato.leakage.additive import Bounded

from .channels import cases, sparse_case, symmetric

CLASSES = get_args(Bounded)
CLOSE = 1e-12


def leak(mechanism, prior, gain):
    return g_vulnerability(mechanism, prior, gain) - prior_g_vulnerability(prior, gain)


def nothing(mechanism):
    """The mechanism on the same secrets whose report says nothing."""
    return sf.Mechanism(np.ones((len(mechanism.secrets), 1)), mechanism.secrets)


def by_program(joint):
    """The largest leakage under gains in [0, 1], guess o for report o: a linear program over the gains."""
    n, m = joint.shape
    prior = joint.sum(axis=1)
    found = linprog(
        np.append(-joint.T.ravel(), 1.0),
        A_ub=np.hstack([np.kron(np.eye(m), prior), -np.ones((m, 1))]),
        b_ub=np.zeros(m),
        bounds=[(0, 1)] * (n * m) + [(0, None)],
    )
    return -found.fun


@given(cases())
def test_the_gain_attains_it_and_is_of_its_class(case):
    mechanism, prior = case
    found = {bounded: additive_capacity(mechanism, prior, bounded=bounded) for bounded in CLASSES}
    for each in found.values():
        assert leak(mechanism, prior, each.gain) == pytest.approx(each.value.value, abs=CLOSE)
        assert each.value.width <= CLOSE
    assert found["vulnerability"].gain.max() <= 1
    assert prior_g_vulnerability(prior, found["vulnerability"].gain) == pytest.approx(0, abs=CLOSE)
    assert np.ptp(found["guess"].gain, axis=1).max() <= 1 + CLOSE
    assert found["gain"].gain.min() >= 0
    assert found["gain"].gain.max() <= 1
    values = [found[bounded].value.value for bounded in CLASSES]
    assert values[0] >= values[1] - CLOSE
    assert values[1] >= values[2] - CLOSE


@settings(max_examples=15)
@given(cases())
def test_gains_in_the_unit_interval_are_a_program_and_a_deficiency(case):
    mechanism, prior = case
    value = additive_capacity(mechanism, prior, bounded="gain").value.value
    assert value == pytest.approx(by_program(mechanism.joint(prior)), abs=1e-9)
    assert value == pytest.approx(factorise(mechanism, nothing(mechanism), prior).distance.value, abs=1e-9)


@given(cases(largest=4))
def test_bounded_guesses_are_the_best_bets(case):
    # Each report bets on a set of secrets, and each bet is made fair beforehand.
    mechanism, prior = case
    joint, p = mechanism.joint(prior), prior.probabilities
    sets = [np.array(each) for each in itertools.product((0.0, 1.0), repeat=len(p))]
    best = sum(max(float(bet @ column - (bet @ p) * column.sum()) for bet in sets) for column in joint.T)
    assert additive_capacity(mechanism, prior, bounded="guess").value.value == pytest.approx(best, abs=CLOSE)


@given(cases(), st.integers(0, 10_000))
def test_no_gain_of_a_class_exceeds_it(case, seed):
    mechanism, prior = case
    rng = np.random.default_rng(seed)
    gain = rng.random((rng.integers(1, 6), len(prior))) ** rng.choice([0.2, 1.0, 5.0])
    values = [additive_capacity(mechanism, prior, bounded=bounded).value.upper for bounded in CLASSES]
    assert leak(mechanism, prior, gain) <= values[2] + CLOSE
    assert leak(mechanism, prior, gain - rng.random((len(gain), 1))) <= values[1] + CLOSE
    bounded = np.vstack([1 - rng.exponential(5, gain.shape), np.zeros(gain.shape[1])])
    assert leak(mechanism, prior, bounded) <= values[0] + CLOSE


@given(cases())
def test_all_priors(case):
    mechanism, prior = case
    widest = additive_capacity(mechanism)
    assert widest.value.value == pytest.approx(1 - mechanism.matrix.min(axis=0).sum(), abs=CLOSE)
    assert leak(mechanism, widest.prior, widest.gain) == pytest.approx(widest.value.value, abs=CLOSE)
    radius = additive_capacity(mechanism, bounded="gain")
    assert radius.value.width <= 1e-8
    assert leak(mechanism, radius.prior, radius.gain) >= radius.value.lower - CLOSE
    assert additive_capacity(mechanism, prior).value.lower <= widest.value.upper + CLOSE
    assert additive_capacity(mechanism, prior, bounded="gain").value.lower <= radius.value.upper + CLOSE
    assert additive_leakage(mechanism, prior) <= radius.value.upper + CLOSE


@pytest.mark.parametrize(("size", "error"), [(2, 0.25), (4, 0.3), (5, 0.8)])
def test_symmetric_channels_have_closed_forms(size, error):
    mechanism = symmetric(size, error)
    even = sf.Prior.uniform(mechanism.secrets)
    least = min(1 - error, error / (size - 1))
    assert additive_capacity(mechanism).value.value == pytest.approx(1 - size * least, abs=CLOSE)
    # By symmetry the even prior is worst, and the best q is even.
    variation = abs(1 - error - 1 / size)
    for found in (
        additive_capacity(mechanism, even, bounded="guess"),
        additive_capacity(mechanism, even, bounded="gain"),
        additive_capacity(mechanism, bounded="gain"),
    ):
        assert found.value.value == pytest.approx(variation, abs=1e-9)


def test_by_hand_with_zeros():
    mechanism, prior = sparse_case()
    # The impossible secret has no say: of a, b and c nothing is common in the first and third column.
    assert additive_capacity(mechanism, prior).value.value == pytest.approx(1 - 0.125, abs=CLOSE)
    assert additive_capacity(mechanism).value.value == 1.0
    # p = (10, 13, 9) / 32 over the first three reports: 1/2 x 9/32 + 1/4 x 3/32 + 1/4 x 19/32.
    assert additive_capacity(mechanism, prior, bounded="guess").value.value == pytest.approx(10 / 32, abs=CLOSE)


def test_tiny_numbers_keep_their_digits():
    mechanism = sf.Mechanism([[1.0, 0.0], [1.0 - 1e-15, 1e-15]])
    exact = float(mechanism.matrix[1, 1])
    assert additive_capacity(mechanism).value.value == pytest.approx(exact, rel=0.1)
    rare = sf.Prior(mechanism.secrets, [1.0, 5e-324])
    for bounded in CLASSES:
        assert np.isfinite(additive_capacity(mechanism, rare, bounded=bounded).gain).all()


def test_what_is_refused():
    mechanism = symmetric(3, 0.5)
    with pytest.raises(InputError, match="any prior"):
        additive_capacity(mechanism, bounded="guess")
    with pytest.raises(InputError, match="'unit'"):
        additive_capacity(mechanism, bounded="unit")  # type: ignore[arg-type]
    for bounded in CLASSES:
        with pytest.raises(InputError):
            additive_capacity(mechanism, sf.Prior.uniform(sf.Space(range(4))), bounded=bounded)


@settings(max_examples=10)
@given(cases(), st.integers(2, 4))
def test_processing_a_report_adds_nothing(case, seed):
    mechanism, prior = case
    processing = np.random.default_rng(seed).dirichlet(np.ones(3), mechanism.shape[1])
    coarse = sf.Mechanism(mechanism.matrix @ processing, mechanism.secrets)
    for bounded in CLASSES:
        fine = additive_capacity(mechanism, prior, bounded=bounded).value.value
        assert additive_capacity(coarse, prior, bounded=bounded).value.value <= fine + 1e-12
