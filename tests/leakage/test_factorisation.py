"""Factorisation by its witnesses, in exact arithmetic, and by other programs."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.leakage import bayes_security, factorise, g_vulnerability, left_factorise, refines

from .channels import cases

EXACT = 1e-12


def random(seed, n, m, zeros=0.3):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(m), n) * (rng.random((n, m)) > zeros)
    rows[rows.sum(axis=1) == 0, 0] = 1.0
    return sf.Mechanism(rows / rows.sum(axis=1, keepdims=True))


def fractions(mechanism):
    return [[Fraction(int(w), 2**mechanism.bits) for w in row] for row in mechanism.weights]


def variations(mechanism, first, second):
    """The total variation of each row of a mechanism from the product of two, as fractions."""
    one, two = fractions(first), fractions(second)
    made = [
        [sum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*two, strict=True)] for row in one
    ]
    rows = zip(fractions(mechanism), made, strict=True)
    return [sum((max(a - b, Fraction(0)) for a, b in zip(*pair, strict=True)), Fraction(0)) for pair in rows]


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000), st.booleans())
def test_both_bounds_are_proved(case, seed, weighed):
    mechanism, prior = case
    other = random(seed, len(prior), 1 + seed % 4)
    found = factorise(mechanism, other, prior if weighed else None)
    left = variations(mechanism, other, found.processing)
    parts = (Fraction(p) * each for p, each in zip(prior.probabilities.tolist(), left, strict=True))
    exact = sum(parts, Fraction(0)) if weighed else max(left)
    assert Fraction(found.distance.upper) >= exact
    assert found.distance.upper == pytest.approx(float(exact), abs=1e-15)
    rival = sf.Mechanism(other.matrix, mechanism.secrets)
    more = g_vulnerability(mechanism, found.prior, found.gain) - g_vulnerability(rival, found.prior, found.gain)
    assert found.gain.min() >= 0
    assert found.gain.max() <= 1
    assert more >= found.distance.lower - EXACT
    assert found.distance.width <= 1e-7
    if weighed:
        assert found.prior is prior


@pytest.mark.parametrize("seed", range(8))
def test_what_is_processed_is_found(seed):
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 7, 3)
    other = random(seed, n, m)
    found = factorise(sf.Mechanism(other.matrix @ random(seed + 50, m, k).matrix), other)
    assert found
    assert found.distance.upper <= 1e-9
    assert found.processing.secrets == other.observables


@pytest.mark.parametrize("seed", range(8))
def test_merging_is_found_exactly(seed):
    rng = np.random.default_rng(seed)
    other = random(seed, *rng.integers(2, 7, 2))
    groups = rng.integers(0, 3, other.shape[1])
    merged = np.stack([np.where(groups == g, other.weights, 0).sum(axis=1) for g in range(3)], axis=1)
    mechanism = sf.Mechanism.from_weights(merged.astype(other.weights.dtype), other.bits, other.secrets)
    found = factorise(mechanism, other)
    assert found.exact
    assert found.distance.lower == found.distance.upper == 0
    assert not found.gain.any()


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000))
def test_it_agrees_with_refinement(case, seed):
    mechanism, _ = case
    other = random(seed, len(mechanism.secrets), 3)
    found, asked = factorise(mechanism, other), refines(mechanism, other)
    if asked.holds is not None and asked.error > 1e-7:
        assert not found
        assert found.distance.lower > 0
    if asked:
        assert found.distance.upper <= 1e-7
    # The largest entry that is missed is no more than the total variation, at the optimum of either.
    assert asked.error <= found.distance.upper + 1e-9


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000))
def test_no_processing_comes_nearer(case, seed):
    mechanism, prior = case
    other = random(seed, len(prior), 3)
    processing = random(seed + 1, 3, mechanism.shape[1]).matrix
    each = np.abs(other.matrix @ processing - mechanism.matrix).sum(axis=1) / 2
    assert factorise(mechanism, other).distance.lower <= each.max() + EXACT
    assert factorise(mechanism, other, prior).distance.lower <= prior.probabilities @ each + EXACT


def test_two_secrets_have_a_closed_form():
    # The identity made from a coin: the error of its best test, which the worst prior halves.
    coin, identity = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]]), sf.Mechanism(np.eye(2))
    found = factorise(identity, coin)
    assert found.distance.value == pytest.approx(0.25, abs=1e-12)
    assert not found
    assert factorise(coin, identity).exact
    # From a report that says nothing: half of what the two rows differ in.
    found = factorise(coin, sf.Mechanism([[1.0], [1.0]]))
    assert found.distance.value == pytest.approx((1 - bayes_security(coin).value) / 2, abs=1e-12)


@settings(max_examples=15)
@given(cases(), st.integers(0, 1000))
def test_mixing_is_proved_on_both_sides(case, seed):
    mechanism, _ = case
    other = random(seed, 1 + seed % 4, mechanism.shape[1])
    found = left_factorise(mechanism, other)
    left = variations(mechanism, found.mixing, other)
    assert Fraction(found.distance.upper) >= max(left)
    assert found.distance.upper == pytest.approx(float(max(left)), abs=1e-15)
    assert 0 <= found.score.min() <= found.score.max() <= 1
    proved = mechanism.matrix[found.secret] @ found.score - (other.matrix @ found.score).max()
    assert proved >= found.distance.lower - EXACT
    assert found.distance.width <= 1e-7


@pytest.mark.parametrize("seed", range(6))
def test_what_is_mixed_is_found(seed):
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 7, 3)
    other, mixing = random(seed, m, k), random(seed + 50, n, m)
    found = left_factorise(sf.Mechanism(mixing.matrix @ other.matrix), other)
    assert found
    assert found.mixing.observables == other.secrets
    corners = sf.Mechanism(np.eye(k))
    picked = left_factorise(sf.Mechanism(np.eye(k)[rng.integers(0, k, n)]), corners)
    assert picked.exact
    assert picked.distance.lower == 0


def test_sizes_must_fit():
    with pytest.raises(InputError, match="4 and 5 secrets"):
        factorise(random(1, 4, 3), random(1, 5, 3))
    with pytest.raises(InputError, match="3 and 4 observables"):
        left_factorise(random(1, 4, 3), random(1, 4, 4))
    with pytest.raises(InputError, match="entries"):
        factorise(random(1, 200, 200), random(1, 200, 200))
    with pytest.raises(InputError, match="entries"):
        left_factorise(random(1, 200, 200), random(1, 200, 200))
    with pytest.raises(InputError):
        factorise(random(1, 4, 3), random(1, 4, 3), sf.Prior.uniform(sf.Space(range(5))))


def test_the_repr_is_one_line():
    assert "\n" not in repr(factorise(random(1, 4, 3), random(1, 4, 3)))
    assert "\n" not in repr(left_factorise(random(1, 4, 3), random(1, 4, 3)))
