"""Families of distributions against all their pairs, one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as options
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import FamilyAccountant, PairAccountant, Tupling
from tests.catalogue import cases

from . import exact


def setting(seed, dummies):
    rng = np.random.default_rng(seed)
    matrix = np.column_stack([rng.dirichlet([0.5] * 5, 4), np.zeros(4)])  # an unused observable
    family = np.array([[0.5, 0.5, 0, 0], [0, 0.25, 0.75, 0], [0, 0, 1, 0], [0.25, 0.25, 0.5, 0]])
    return Tupling(Mechanism(matrix), dummies, np.full(6, 1 / 6)), family


@pytest.mark.slow
@options(max_examples=5)
@given(st.integers(0, 1000), st.integers(0, 12))
def test_the_worst_pair_is_found(seed, dummies):
    tupling, family = setting(seed, dummies)
    account = FamilyAccountant(tupling, family)
    single = {
        (i, j): PairAccountant.of(tupling, family[i], family[j]) for i in range(4) for j in range(4) if i != j
    }
    worst = account.delta(0.3)
    found = {pair: one.delta(0.3) for pair, one in single.items()}
    assert worst.bounds.upper >= max(b.lower for b in found.values())
    assert worst.bounds.lower <= max(b.upper for b in found.values())
    assert worst.bounds.upper - worst.bounds.lower <= 1.01e-4 * worst.bounds.upper + 1e-11
    assert found[worst.pair].upper >= max(b.lower for b in found.values()) * (1 - 2e-4)
    wanted = account.epsilon(0.01, 1e-5)
    epsilons = {pair: one.epsilon(0.01, 1e-5) for pair, one in single.items()}
    assert wanted.bounds.lower <= max(b.upper for b in epsilons.values())
    assert wanted.bounds.upper >= max(b.lower for b in epsilons.values())
    assert wanted.bounds.upper - wanted.bounds.lower <= 1e-4


@given(exact.settings(), st.integers(0, 5), st.floats(0, 3))
def test_the_cheap_bound_is_a_bound(setting, dummies, epsilon):
    p, q, nu = setting
    account = FamilyAccountant(Tupling(Mechanism([p, q]), dummies, nu), np.eye(2))
    bounds = account.cheap_delta(epsilon)
    pairs = [(p, q), (q, p)]
    assert account.pairs.tolist() == [[0, 1], [1, 0]]
    for bound, (first, second) in zip(bounds, pairs, strict=True):
        assert exact.delta(first, second, nu, dummies, epsilon) <= bound + 1e-12


@pytest.mark.parametrize("case", cases(), ids=str)
def test_points_of_the_catalogue(case):
    mechanism = case.mechanism
    if mechanism.shape[0] == 1:
        with pytest.raises(InputError, match="no pair"):
            FamilyAccountant.of_points(Tupling(mechanism, 2, Prior.uniform(mechanism.observables)))
        return
    tupling = Tupling(mechanism, 2, Prior.uniform(mechanism.observables))
    account = FamilyAccountant.of_points(tupling)
    worst = account.delta(0.5)
    rows = mechanism.matrix
    truth = max(exact.delta(rows[a], rows[b], tupling.distribution, 2, 0.5) for a, b in account.pairs)
    assert worst.bounds.lower - 1e-13 <= truth <= worst.bounds.upper + 1e-13
    finite = case.metric.array[np.isfinite(case.metric.array)].max()
    assert account.pure_epsilon <= case.epsilon * finite + 1e-6 or not np.isfinite(case.metric.array).all()


def test_given_pairs_and_other_dummies():
    tupling, family = setting(2, 3)
    one = FamilyAccountant(tupling, family, [(2, 0)])
    direct = PairAccountant.of(tupling, family[2], family[0])
    assert one.delta(0.2).bounds == direct.delta(0.2)
    assert one.delta(0.2).pair == (2, 0)
    assert not one.exceeds(0.2, one.delta(0.2).bounds.upper * 1.01)
    assert one.exceeds(0.2, one.delta(0.2).bounds.lower * 0.99)
    more = one.with_dummies(30)
    assert more.tupling.dummies == 30
    assert more.delta(0.2).bounds.upper < one.delta(0.2).bounds.lower
    points = FamilyAccountant.of_points(tupling, [(0, 1), (1, 0)])
    assert "2 pairs" in repr(points)


@pytest.mark.parametrize("pairs", [[(0, 4)], [(-1, 0)], [(0.5, 1)], [0, 1], np.empty((0, 2), dtype=int)])
def test_wrong_pairs(pairs):
    tupling, family = setting(2, 3)
    with pytest.raises(InputError, match="pair"):
        FamilyAccountant(tupling, family, pairs)


def test_wrong_families():
    tupling, family = setting(2, 3)
    with pytest.raises(InputError, match="sum to 1"):
        FamilyAccountant(tupling, family * 0.9)
    with pytest.raises(InputError, match="shape"):
        FamilyAccountant(tupling, family[:, :2])


def test_questions_out_of_range():
    account = FamilyAccountant(*setting(1, 3))
    for number in (-0.1, 701.0, float("nan")):
        with pytest.raises(InputError, match="delta"):
            account.epsilon(number)
        with pytest.raises(InputError, match="delta"):
            account.exceeds(0.1, number)
        with pytest.raises(InputError, match="epsilon"):
            account.exceeds(number, 0.1)
