"""The published bound: golden values, its validity on listed multisets, the best alpha."""

import math

import numpy as np
import pytest

from sfumato.core import Mechanism
from sfumato.errors import InputError
from sfumato.mechanisms.tupling import (
    PairAccountant,
    PublishedBound,
    mass_above,
    published_for_delta,
    published_for_epsilon,
)

from . import exact


def test_golden_values():
    first, second = PublishedBound(20, 4, 0.4, 1.5), PublishedBound(20, 4, 0.4, 3.0)
    assert (round(first.epsilon, 3), round(first.delta, 4)) == (0.679, 0.4901)
    assert (round(second.epsilon, 3), round(second.delta, 6)) == (1.435, 0.007213)
    exactly = PairAccountant([0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25] * 4, 20).delta(first.epsilon)
    assert exactly.upper < first.delta / 20_000


@pytest.mark.parametrize("seed", range(20))
def test_the_bound_holds(seed):
    rng = np.random.default_rng(seed)
    m, k = int(rng.integers(2, 5)), int(rng.integers(1, 9))
    p, q = rng.dirichlet([2.0] * m, 2)
    beta = float(max(p.max(), q.max()))
    bound = PublishedBound(k, m, beta, float(rng.uniform(0.01, 0.99)) * k / m)
    assert exact.delta(p, q, [1 / m] * m, k, bound.epsilon) <= bound.delta + 1e-14


@pytest.mark.thinned(2)
@pytest.mark.parametrize("seed", range(8))
def test_the_bound_holds_for_reports_above_beta(seed):
    """Ten random pairs each, with heavy reports, against the law of all multisets."""
    rng = np.random.default_rng(seed)
    checked = 0
    for _ in range(10):
        m, k = int(rng.integers(2, 6)), int(rng.integers(1, 9))
        p, q = rng.dirichlet([rng.uniform(0.1, 2.0)] * m, 2)
        inner = Mechanism([p, q])
        beta = float(rng.choice([*inner.matrix.ravel(), rng.uniform(0.01, 1)]))
        kappa = mass_above(inner, np.eye(2), beta)
        if kappa >= 1 or beta < (1 - kappa) / m:
            continue
        bound = PublishedBound(k, m, beta, float(rng.uniform(0.01, 0.99)) * k * (1 - kappa) / m, kappa)
        for first, second in (inner.matrix, inner.matrix[::-1]):
            assert exact.delta(first, second, [1 / m] * m, k, bound.epsilon) <= bound.delta + 1e-14
            checked += 1
    assert checked >= 4


@pytest.mark.parametrize(("m", "k"), [(2, 1), (10, 1), (6, 3), (4, 8)])
def test_reports_at_two_points_refute_the_published_theorem_with_eta(m, k):
    p, q = np.eye(m)[:2]
    alpha, beta, eta = k / m**2, 1e-3 * k / m**2, 1 / m
    epsilon = math.log((k + (alpha + beta) * m) / (k - alpha * m))
    published = 2 * math.exp(-2 * alpha**2 / (k * beta**2)) + eta
    found = exact.delta(p, q, [1 / m] * m, k, epsilon)
    if k == 1:
        assert found == pytest.approx(1 - 1 / m)
    assert (found > published) == ((m, k) != (2, 1) and (m, k) != (4, 8))
    assert mass_above(Mechanism([p, q]), np.eye(2), beta) == 1  # the corrected bound claims nothing here


def test_the_published_theorem_fails_for_reports_that_are_not_certain():
    p, q = np.array([0.966, 0.032, 0.002, 0, 0, 0]), np.array([0.057, 0.0, 0.002, 0.905, 0.036, 0])
    beta, alpha, k, m = 0.0571, 0.0909, 1, 6
    epsilon = math.log((k + (alpha + beta) * m) / (k - alpha * m))
    published = 2 * math.exp(-2 * alpha**2 / (k * beta**2)) + 1 / m
    assert exact.delta(p, q, [1 / m] * m, k, epsilon) > 3 * published
    corrected = mass_above(Mechanism([p, q]), np.eye(2), beta)
    assert corrected == pytest.approx(0.966)


def test_a_few_reports_above_beta_cost_what_they_weigh():
    m, k = 1000, 100_000
    row = np.full(m, (1 - 1e-4) / (m - 1))
    row[0] = 1e-4
    light = float(row[1])
    plain = published_for_delta(k, m, light, 1e-3)
    assert plain is not None
    heavy = np.full(m, (1 - 0.01) / (m - 1))
    heavy[0] = 0.01
    inner = Mechanism([heavy, heavy[::-1].copy()])
    beta = float(heavy[1]) * (1 + 1e-12)
    kappa = mass_above(inner, np.eye(2), beta)
    assert kappa == pytest.approx(0.01)
    one = published_for_delta(k, m, beta, 0.011, kappa)
    whole = published_for_delta(k, m, 0.01, 0.011)
    assert one is not None
    assert whole is None or one.epsilon < whole.epsilon
    assert published_for_delta(k, m, beta, 0.0099, kappa) is None
    back = published_for_epsilon(k, m, beta, one.epsilon * (1 + 1e-9), kappa)
    assert back is not None
    assert back.delta == pytest.approx(one.delta, rel=1e-5)


def test_values_are_rounded_up():
    bound = PublishedBound(20, 4, 0.4, 1.5)
    assert math.log(27.6 / 14) <= bound.epsilon <= math.log(27.6 / 14) * (1 + 1e-13)
    assert 2 * math.exp(-1.40625) <= bound.delta <= 2 * math.exp(-1.40625) * (1 + 1e-13)


@pytest.mark.parametrize(("k", "m", "beta"), [(20, 4, 0.4), (1000, 10, 0.3), (100_000, 400, 0.05)])
def test_the_best_alpha_is_the_best_of_a_grid(k, m, beta):
    grid = [PublishedBound(k, m, beta, a) for a in np.linspace(0, k / m, 2002)[1:-1]]
    for delta in (0.1, 0.3):
        best = published_for_delta(k, m, beta, delta)
        fitting = [b.epsilon for b in grid if b.delta <= delta]
        assert (best is None) == (not fitting)
        if best is not None:
            assert best.delta <= delta
            assert best.epsilon <= min(fitting)
    for epsilon in (0.5, 2.0):
        best = published_for_epsilon(k, m, beta, epsilon)
        fitting = [b.delta for b in grid if b.epsilon <= epsilon]
        assert (best is None) == (not fitting)
        if best is not None:
            assert best.epsilon <= epsilon
            assert best.delta <= min(fitting)


def test_it_is_vacuous_where_the_exact_value_is_small():
    p, q = np.random.default_rng(7).dirichlet([0.2] * 400, 2)
    beta = float(max(p.max(), q.max()))
    for dummies in (100, 1000):
        assert published_for_delta(dummies, 400, beta, 1e-3) is None
        assert PairAccountant(p, q, np.full(400, 1 / 400), dummies).epsilon(1e-3).upper < 1
    assert published_for_epsilon(10, 400, beta, 0.1) is None


def test_refusals():
    for alpha in (0.0, 5.0, math.nan):
        with pytest.raises(InputError, match="alpha"):
            PublishedBound(20, 4, 0.4, alpha)
    with pytest.raises(InputError, match="at least one dummy"):
        PublishedBound(0, 4, 0.4, 0.1)
    for beta in (0.2, 1.1):
        with pytest.raises(InputError, match="beta"):
            PublishedBound(20, 4, beta, 1.0)
    for kappa in (-0.1, 1.0, math.nan):
        with pytest.raises(InputError, match="kappa"):
            PublishedBound(20, 4, 0.4, 1.0, kappa)
    with pytest.raises(InputError, match="beta"):
        mass_above(Mechanism([[1.0]]), [[1.0]], 1.5)
    for delta in (0.0, 1.0):
        with pytest.raises(InputError, match="delta"):
            published_for_delta(20, 4, 0.4, delta)
    with pytest.raises(InputError, match="epsilon"):
        published_for_epsilon(20, 4, 0.4, 0.0)
