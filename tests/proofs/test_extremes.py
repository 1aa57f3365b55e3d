"""Bounds against exact fractions where products vanish, sums overflow and prices come more than once."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior, Space
from sfumato.errors import InputError
from sfumato.intervals import exp_below_exact
from sfumato.proofs import (
    Multipliers,
    class_error_below,
    class_information_above_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
    distortion_below,
    distortion_bound,
    expected_loss_above,
    loss_bound,
    worst_loss_above,
)

from . import exact

TINY = [0.0, 5e-324, 1e-323, 3e-310, 1e-300, 1e-200, 1e-160]
COMMON = [0.125, 0.5, 0.3, 1.0, 2.7]
HUGE = [1e160, 1e300]
NONE = np.zeros(0, dtype=np.intp)


def numbers(*shape, signed=False, huge=True, rng):
    """An array of tiny, common and huge numbers."""
    values = np.array(TINY + COMMON + (HUGE if huge else []))
    found = rng.choice(values, shape) * (1 + rng.random(shape) * 0.3)
    return found * rng.choice([-1.0, 1.0], shape) if signed else found


def channel(n, m, rng):
    """A mechanism with zeros and probabilities down to 2**-126."""
    raw = rng.choice([0.0, 1e-37, 1e-20, 0.3, 1.0], (n, m)) + np.eye(n, m)[rng.permutation(n)]
    raw[raw.sum(axis=1) == 0, 0] = 1.0
    return Mechanism(raw / raw.sum(axis=1, keepdims=True), observables=Space(range(m)))


def distribution(n, rng):
    raw = numbers(n, huge=False, rng=rng)
    raw[rng.integers(n)] = 1.0
    return raw / raw.sum()


sizes = st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 2**32 - 1))


@given(sizes, st.booleans())
@settings(deadline=None)
def test_losses_and_errors_of_a_mechanism(size, signed):
    n, m, seed = size
    rng = np.random.default_rng(seed)
    mechanism, prior = channel(n, m, rng), Prior(Space(range(n)), distribution(n, rng))
    loss, distance = numbers(n, m, signed=signed, rng=rng), numbers(3, n, signed=signed, rng=rng)
    assert Fraction(expected_loss_above(mechanism, prior, loss)) >= exact.expected(mechanism, prior, loss)
    assert Fraction(worst_loss_above(mechanism, loss)) >= exact.worst(mechanism, loss)
    assert Fraction(distortion_below(mechanism, prior, distance)) <= exact.distortion(mechanism, prior, distance)


def test_a_loss_that_vanishes_on_the_way_is_counted():
    one = Mechanism([[1 - 1e-30, 1e-30]] * 2)
    prior = Prior(Space(range(2)), [1.0, 1e-300])
    loss = np.array([[0.0, 0.0], [0.0, 1e300]])
    true = exact.expected(one, prior, loss)
    assert float(true) == pytest.approx(1e-30)
    assert Fraction(expected_loss_above(one, prior, loss)) >= true


def of_prices(rng, n, m, **others):
    """Prices of many rows, some of them more than once."""
    k = int(rng.integers(0, 60))
    s, t, o = (rng.integers(0, size, k) for size in (n, n, m))
    return Multipliers(
        s.astype(np.intp), t.astype(np.intp), o.astype(np.intp),
        numbers(k, huge=False, rng=rng), rng.choice([0.0, 1e-320, 0.5, 3.0], k), **others,
    )  # fmt: skip


def lagrangian(reduced, prices):
    """Return the exact sum over s of min over o of the reduced cost with the priced rows."""
    cost = [list(row) for row in reduced]
    for s, t, o, price, e in zip(
        prices.secrets.tolist(), prices.rivals.tolist(), prices.observables.tolist(),
        prices.local.tolist(), prices.exponents.tolist(), strict=True,
    ):  # fmt: skip
        numerator, bits = exp_below_exact(1.0, e)
        cost[s][o] += Fraction(price)
        cost[t][o] -= Fraction(price) * Fraction(numerator, 2**bits)
    return sum(min(row) for row in cost)


def fractions(array):
    return [[Fraction(x) for x in row] for row in np.atleast_2d(array).tolist()]


@given(sizes, st.booleans(), st.booleans())
@settings(deadline=None, max_examples=50)
def test_the_bound_on_the_loss_is_at_most_its_exact_value(size, signed, guessed):
    n, m, seed = size
    rng = np.random.default_rng(seed)
    prior, loss = distribution(n, rng), numbers(n, m, signed=signed, rng=rng)
    d, y = numbers(3, n, rng=rng), numbers(3, m, huge=False, rng=rng)
    prices = of_prices(rng, n, m, guesses=y if guessed else None)
    minimum = float(rng.choice([0.0, 1e-300, 0.5, 1e200]))
    weights, gains = fractions(prior)[0], Fraction(0)
    reduced = [[w * x for x in row] for w, row in zip(weights, fractions(loss), strict=True)]
    if guessed:
        distance, y = fractions(d), fractions(y)
        for s in range(n):
            for o in range(m):
                reduced[s][o] -= weights[s] * sum(distance[g][s] * y[g][o] for g in range(3))
        gains = min(sum(row[o] for row in y) for o in range(m)) * Fraction(minimum)
    best = sum(w * min(row) for w, row in zip(weights, fractions(loss), strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound = loss_bound(prior, loss, prices, d if guessed else None, minimum)
    assert not math.isnan(bound)
    if math.isfinite(bound):
        assert Fraction(bound) <= max(gains + lagrangian(reduced, prices), best)


@given(sizes)
@settings(deadline=None, max_examples=50)
def test_the_bound_on_the_error_is_at_least_its_exact_value(size):
    n, m, seed = size
    rng = np.random.default_rng(seed)
    prior, loss, d = distribution(n, rng), numbers(n, m, signed=True, rng=rng), numbers(3, n, rng=rng)
    y = rng.choice([0.0, 0.25, 1.0, 3.0], (3, m))
    y[:, y.sum(axis=0) == 0] = 1.0
    prices = of_prices(rng, n, m, guesses=y, loss=float(numbers(1, huge=False, rng=rng)[0]))
    most = float(rng.choice([-2.0, 1e-300, 0.5, 1e200]))
    weights, distance, price = fractions(prior)[0], fractions(d), Fraction(prices.loss)
    strategy = [[Fraction(a) / sum(map(Fraction, column)) for a in column] for column in y.T.tolist()]
    reduced = [
        [
            weights[s]
            * (price * Fraction(float(loss[s, o])) - sum(strategy[o][g] * distance[g][s] for g in range(3)))
            for o in range(m)
        ]
        for s in range(n)
    ]
    blind = min(sum(a * b for a, b in zip(row, weights, strict=True)) for row in distance)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bound = distortion_bound(prior, loss, d, most, prices)
    assert not math.isnan(bound)
    if math.isfinite(bound):
        assert Fraction(bound) >= min(price * Fraction(most) - lagrangian(reduced, prices), blind)


def test_many_copies_of_a_price_prove_no_more_than_one():
    """Two secrets, Hamming loss, uniform prior, epsilon 2: the optimum is 1 / (1 + e^2) = .119."""
    prior, loss, best = np.array([0.5, 0.5]), 1 - np.eye(2), 1 / (1 + math.exp(2.0))
    copies, large, small = 375_000, 2.0**34, 2.0**-20
    # A large price on p(o|1) <= p(o|1), which costs nothing, swallows the small ones added to it.
    secrets = np.repeat([1, 1, 0, 0], [1, 1, copies, copies]).astype(np.intp)
    observables = np.repeat([0, 1, 0, 1], [1, 1, copies, copies]).astype(np.intp)
    local = np.where(secrets == 1, large, small)
    many = Multipliers(secrets, np.ones_like(secrets), observables, local, np.where(secrets == 1, 0.0, 2.0))
    assert loss_bound(prior, loss, many) <= best


def test_prices_that_overflow_prove_what_is_known_without_them():
    prior, loss, d = np.array([0.5, 0.5]), 1 - np.eye(2), 1 - np.eye(2)
    large = Multipliers(NONE, NONE, NONE, np.zeros(0), np.zeros(0), guesses=np.full((2, 2), 1.7e308))
    # The attacker who guesses evenly errs half of the time, whatever the size of the prices.
    assert distortion_bound(prior, loss, d, 1.0, large) == pytest.approx(0.5)
    assert distortion_bound(prior, loss, d, 1.0, large) >= 0.5
    worst = Multipliers(NONE, NONE, NONE, np.zeros(0), np.zeros(0), worst=np.full(2, 1.7e308))
    assert 0 <= loss_bound(prior, loss + 1, worst) <= 1
    one = np.zeros(1, dtype=np.intp)
    huge = Multipliers(one, one + 1, one, np.array([1.7e308]), np.array([800.0]))
    assert loss_bound(prior, loss, huge) == 0.0


def test_what_the_bounds_are_not_for_is_refused():
    none = Multipliers(NONE, NONE, NONE, np.zeros(0), np.zeros(0), guesses=np.ones((2, 2)), worst=np.ones(2))
    prior, loss, d = np.array([0.5, 0.5]), np.eye(2), 1 - np.eye(2)
    with pytest.raises(InputError, match="negative"):
        loss_bound(prior, loss, none, d - 0.5, 0.1)
    with pytest.raises(InputError, match="negative"):
        distortion_bound(prior, loss, d - 0.5, 1.0, none)
    with pytest.raises(InputError, match="at least 0"):
        loss_bound(prior, loss - 1, none)


@given(sizes)
@settings(deadline=None)
def test_what_a_report_tells_of_a_class(size):
    n, m, seed = size
    rng = np.random.default_rng(seed)
    mechanism = channel(n, m, rng)
    joint = distribution(2 * n, rng).reshape(2, n)
    loss = numbers(n, m, signed=True, rng=rng)
    p, q = exact.probabilities(mechanism), fractions(joint)
    reached = [[sum(q[x][w] * p[w][z] for w in range(n)) for z in range(m)] for x in range(2)]
    columns = list(zip(*reached, strict=True))
    assert Fraction(class_vulnerability_above(mechanism, joint)) >= sum(max(c) for c in columns)
    assert Fraction(class_error_below(mechanism, joint)) <= sum(sum(c) - max(c) for c in columns)
    cost = sum((q[0][w] + q[1][w]) * p[w][z] * Fraction(float(loss[w, z])) for w in range(n) for z in range(m))
    assert Fraction(class_loss_above(mechanism, joint, loss)) >= cost
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bits = class_information_above_bits(mechanism, joint)
    assert bits >= float(information(reached)) * (1 - 1e-12)


def information(reached):
    """Return the mutual information in bits of exact masses, to 300 bits of precision."""
    from flint import arb, ctx

    with ctx.workprec(1200):
        value = lambda x: arb(x.numerator) / arb(x.denominator)  # noqa: E731
        total = sum(sum(row) for row in reached)
        rows, columns = [sum(row) for row in reached], [sum(c) for c in zip(*reached, strict=True)]
        found = arb(0)
        for x, row in enumerate(reached):
            for z, mass in enumerate(row):
                if mass:
                    found += value(mass) * (value(total * mass) / value(rows[x] * columns[z])).log()
        return (found / arb(2).log()).mid()


@given(sizes)
@settings(deadline=None)
def test_the_bound_on_the_vulnerability_is_at_most_its_exact_value(size):
    n, m, seed = size
    rng = np.random.default_rng(seed)
    joint, loss = distribution(2 * n, rng).reshape(2, n), numbers(n, m, rng=rng)
    strategy = numbers(2, m, rng=rng)
    price, most = float(numbers(1, huge=False, rng=rng)[0]), float(rng.choice([1e-300, 0.5, 1e200]))
    columns = list(zip(*fractions(strategy), strict=True))
    assume(all(sum(column) > 0 for column in columns))
    q = fractions(joint)
    guess = [[a / sum(column) for a in column] for column in columns]
    dual = sum(
        min(
            sum(q[x][w] * guess[z][x] for x in range(2))
            + Fraction(price) * (q[0][w] + q[1][w]) * Fraction(float(loss[w, z]))
            for z in range(m)
        )
        for w in range(n)
    ) - Fraction(price) * Fraction(most)
    blind = max(sum(row) for row in q)
    assert Fraction(class_vulnerability_bound(joint, loss, most, strategy, price)) <= max(dual, blind)
