"""Reduced costs of one observable at a time, against the bound from all prices at once."""

from fractions import Fraction

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.proofs import LeastCosts, Multipliers, loss_bound


def case(seed, n=7, m=5):
    """A prior, losses, rows, and prices of every row for every observable."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(n))
    prior[seed % n] = 0.0
    loss = rng.random((n, m)) * 10.0 ** rng.integers(-3, 4)
    s, t = np.array([(a, b) for a in range(n) for b in range(n) if abs(a - b) == 1]).T
    exponents = rng.random(len(s))
    prices = rng.random((m, len(s))) * rng.choice([0.0, 1e-3, 1e-1], (m, len(s))) * loss.max()
    return prior, loss, s, t, exponents, prices


def one_at_a_time(prior, loss, s, t, exponents, prices):
    costs = LeastCosts(prior, loss, s, t, exponents)
    rows = [np.flatnonzero(each) for each in prices]
    least = np.min([costs.of(o, rows[o], each[rows[o]]) for o, each in enumerate(prices)], axis=0)
    return costs.bound(least)


@pytest.mark.parametrize("seed", range(8))
def test_the_bound_is_that_of_all_prices_at_once(seed):
    prior, loss, s, t, exponents, prices = case(seed)
    m = len(prices)
    every = Multipliers(
        np.tile(s, m), np.tile(t, m), np.repeat(np.arange(m), len(s)), prices.ravel(), np.tile(exponents, m)
    )
    found = one_at_a_time(prior, loss, s, t, exponents, prices)
    assert found == pytest.approx(loss_bound(prior, loss, every), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_exact_one(seed):
    prior, loss, s, t, _, prices = case(seed)
    found = one_at_a_time(prior, loss, s, t, np.zeros(len(s)), prices)  # exp(0) is 1, without rounding
    least = []
    for u in range(len(prior)):
        costs = []
        for o, each in enumerate(prices):
            cost = Fraction(prior[u]) * Fraction(loss[u, o])
            cost += sum((Fraction(lam) for lam, a in zip(each, s, strict=True) if a == u), Fraction(0))
            cost -= sum((Fraction(lam) for lam, b in zip(each, t, strict=True) if b == u), Fraction(0))
            costs.append(cost)
        least.append(min(costs))
    truth = sum(Fraction(p) * min(map(Fraction, row)) for p, row in zip(prior, loss, strict=True))
    assert Fraction(found) <= max(sum(least), truth)
    assert found == pytest.approx(float(max(sum(least), truth)), rel=1e-10)


def test_prices_that_are_no_numbers_prove_nothing():
    prior, loss, s, t, exponents, prices = case(1)
    prices[2, :3] = np.inf
    found = one_at_a_time(prior, loss, s, t, exponents, prices)
    assert found <= loss_bound(prior, loss, Multipliers(s[:0], t[:0], s[:0], exponents[:0], exponents[:0]))


def test_rows_are_given_once():
    prior, loss, s, t, exponents, _ = case(1)
    with pytest.raises(InputError, match="not ascending"):
        LeastCosts(prior, loss, s, t, exponents).of(0, np.array([1, 1]), np.ones(2))
