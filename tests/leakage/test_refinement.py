"""Refinement by its witnesses: a processing, or a gain that is checked in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError, SolverError
from sfumato.leakage import Refinement, g_vulnerability, refines

from .channels import cases


def random(seed, n, m, zeros=0.3):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(m), n) * (rng.random((n, m)) > zeros)
    rows[rows.sum(axis=1) == 0, 0] = 1.0
    return sf.Mechanism(rows / rows.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(6))
def test_what_is_processed_further_refines(seed):
    rng = np.random.default_rng(seed)
    n, m, k = rng.integers(2, 7, 3)
    other, processing = random(seed, n, m), random(seed + 50, m, k).matrix
    found = refines(sf.Mechanism(other.matrix @ processing), other)
    assert found
    assert found.gain is None
    assert found.processing.sum(axis=1) == pytest.approx(1)
    assert other.matrix @ found.processing == pytest.approx(other.matrix @ processing, abs=1e-9)


@given(cases(), st.integers(0, 1000))
def test_a_gain_separates_what_does_not_refine(case, seed):
    mechanism, _ = case
    n = len(mechanism.secrets)
    other = random(seed, n, 3)
    found = refines(mechanism, other)
    if found.holds is not False:
        assert found.error < 1e-6
        return
    assert found.gain is not None
    even = sf.Prior.uniform(mechanism.secrets)
    assert np.abs(found.gain).max() <= 1
    one = g_vulnerability(mechanism, even, found.gain)
    two = g_vulnerability(sf.Mechanism(other.matrix, mechanism.secrets), even, found.gain)
    assert one - two == pytest.approx(found.advantage, abs=1e-12)
    assert found.advantage > 0
    # The advantage is at least the least error of a processing, up to the scale of the gain: strong duality.
    assert found.advantage * n / np.abs(found.gain).sum() >= found.error * (1 - 1e-5) - 1e-9


def test_the_advantage_is_exact():
    one, other = sf.Mechanism([[1.0, 0.0], [0.0, 1.0]]), sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
    found = refines(one, other)
    assert found.holds is False
    assert found.gain is not None
    gain = [[Fraction(value) for value in row] for row in found.gain.tolist()]
    best = sum(
        max(sum(Fraction(c) * g for c, g in zip(column, row, strict=True)) for row in gain)
        for column in other.matrix.T.tolist()
    )
    own = sum(gain[z][z] for z in range(2))
    assert Fraction(found.advantage) <= (own - best) / 2
    assert found.advantage == pytest.approx(float((own - best) / 2), rel=1e-12)
    assert refines(other, one)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("seed", range(20))
def test_what_single_precision_changes_is_told_from_a_processing(seed):
    other = random(seed, 4, 4)
    rows = (other.matrix @ random(seed + 99, 4, 3).matrix).astype("f4").astype(float)
    mechanism = sf.Mechanism(rows / rows.sum(axis=1, keepdims=True))
    found = refines(mechanism, other)
    least = sf.leakage.factorise(mechanism, other).distance.lower
    assert found.holds is (least == 0)
    if found.gain is not None:
        even = sf.Prior.uniform(mechanism.secrets)
        worth = g_vulnerability(mechanism, even, found.gain) - g_vulnerability(other, even, found.gain)
        assert worth == pytest.approx(found.advantage, abs=1e-14)


def test_an_answer_that_is_not_known_is_no_truth_value():
    unknown = Refinement(None, np.eye(2), 1e-8, None, 0.0)
    with pytest.raises(SolverError, match="not known"):
        bool(unknown)


@pytest.mark.parametrize(
    "compare",
    [
        refines,
        sf.leakage.factorise,
        sf.privacy.product_channel,
        lambda a, b: sf.leakage.refinement_metric(a, b, sf.Prior.uniform(a.secrets)),
    ],
)
def test_secrets_in_another_order_are_refused(compare):
    one, two = sf.Mechanism(np.eye(3), sf.Space("abc")), sf.Mechanism(np.eye(3), sf.Space("cba"))
    with pytest.raises(InputError, match="the same labels in another order: position 0 is 'c' there"):
        compare(one, two)


def test_everything_refines_the_identity_and_a_constant_refines_everything():
    mechanism = random(3, 5, 4)
    assert refines(mechanism, sf.Mechanism(np.eye(5)))
    assert refines(sf.Mechanism(np.ones((5, 1))), mechanism)
    assert refines(mechanism, mechanism)


def test_sizes_must_fit():
    with pytest.raises(InputError, match="4 and 5 secrets"):
        refines(random(1, 4, 3), random(1, 5, 3))
    with pytest.raises(InputError, match="entries"):
        refines(random(1, 200, 200), random(1, 200, 200))
