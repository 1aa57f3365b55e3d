"""The proofs about a sensitive value, against exact arithmetic: never on the wrong side, and close."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import Mechanism
from sfumato.proofs import sensitive
from sfumato.proofs.sensitive import (
    class_error_below,
    class_information_above_bits,
    class_information_bound_bits,
    class_loss_above,
    class_vulnerability_above,
    class_vulnerability_bound,
)

from ..proofs import exact


def case(seed):
    """A joint distribution, a mechanism and a loss; a secret, a class and a report never occur."""
    rng = np.random.default_rng(seed)
    k, n, m = rng.integers(1, 5), rng.integers(1, 7), rng.integers(1, 7)
    joint = np.zeros((k + 1, n + 1))
    joint[:k, :n] = rng.dirichlet(np.full(k * n, 0.3)).reshape(k, n)
    matrix = rng.dirichlet(np.full(m, rng.choice([0.05, 1.0])), n + 1)
    mechanism = Mechanism(np.column_stack([matrix, np.zeros(n + 1)]))
    loss = rng.normal(size=(n + 1, m + 1)) * 10.0 ** rng.integers(-3, 4)
    return rng, joint, mechanism, loss


def reached(joint, mechanism):
    """P(x, z) as fractions."""
    rows = exact.probabilities(mechanism)
    return [
        [
            sum((Fraction(float(p)) * row[z] for p, row in zip(masses, rows, strict=True)), Fraction(0))
            for z in range(mechanism.shape[1])
        ]
        for masses in joint
    ]


def log(value):
    return (arb(value.numerator) / arb(value.denominator)).log()


def information_bits(masses):
    total = [sum(row) for row in masses]
    seen = [sum(column) for column in zip(*masses, strict=True)]
    whole = sum(total)
    found = arb(0)
    for x, row in enumerate(masses):
        for z, mass in enumerate(row):
            if mass > 0:
                found += arb(mass.numerator) / arb(mass.denominator) * log(whole * mass / (total[x] * seen[z]))
    return found / arb(2).log()


def expected_loss(joint, mechanism, loss):
    weights = [sum((Fraction(float(p)) for p in column), Fraction(0)) for column in joint.T]
    return sum(
        (
            weight * p * Fraction(float(x))
            for weight, row, losses in zip(weights, exact.probabilities(mechanism), loss, strict=True)
            for p, x in zip(row, losses, strict=True)
        ),
        Fraction(0),
    )


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_figures_of_a_mechanism_are_on_the_safe_side(seed):
    _, joint, mechanism, loss = case(seed)
    masses = reached(joint, mechanism)
    columns = list(zip(*masses, strict=True))
    vulnerability = sum(max(column) for column in columns)
    error = sum(sum(column) - max(column) for column in columns)
    above, below = class_vulnerability_above(mechanism, joint), class_error_below(mechanism, joint)
    assert Fraction(above) >= vulnerability
    assert above == pytest.approx(float(vulnerability), rel=1e-13)
    assert Fraction(below) <= error
    assert below == pytest.approx(float(error), rel=1e-12, abs=1e-300)
    spent = expected_loss(joint, mechanism, loss)
    paid = class_loss_above(mechanism, joint, loss)
    assert Fraction(paid) >= spent
    assert paid == pytest.approx(float(spent), abs=1e-13 * float(np.abs(loss).max()))
    with ctx.workprec(200):
        bits = information_bits(masses)
        told = class_information_above_bits(mechanism, joint)
        assert not arb(told) < bits
        assert told == pytest.approx(float(bits), abs=1e-12)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.booleans())
def test_any_strategy_and_price_bound_any_mechanism(seed, negative):
    rng, joint, mechanism, loss = case(seed)
    shape = (len(joint), mechanism.shape[1])
    strategy = rng.normal(size=shape) if negative else rng.exponential(size=shape) ** 3
    price = float(rng.normal() if negative else rng.exponential()) / float(np.abs(loss).max())
    bound = class_loss_above(mechanism, joint, loss)  # the mechanism itself is within it
    vulnerability = class_vulnerability_bound(joint, loss, bound, strategy, price)
    assert Fraction(vulnerability) <= sum(max(column) for column in zip(*reached(joint, mechanism), strict=True))
    information = class_information_bound_bits(joint, loss, bound, strategy, price)
    assert information >= 0
    with ctx.workprec(200):
        assert not arb(information) > information_bits(reached(joint, mechanism))


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_bounds_are_those_of_the_formula(seed):
    rng, joint, mechanism, loss = case(seed)
    loss = np.abs(loss)
    k, m = len(joint), mechanism.shape[1]
    strategy = rng.dirichlet(np.ones(k), m).T
    strategy[-1] = 0.0  # the class that never occurs
    strategy /= strategy.sum(axis=0)
    price, bound = 0.3 / float(loss.max()), float(rng.uniform(0, 0.3) * loss.max())
    weights = joint.sum(axis=0)[:, None]
    paid = price * weights * loss
    formula = (joint.T @ strategy + paid).min(axis=1).sum() - price * bound
    blind = joint.sum(axis=1).max()
    found = class_vulnerability_bound(joint, loss, bound, strategy, price)
    assert found == pytest.approx(max(formula, blind), abs=1e-12)
    with ctx.workprec(200):
        gain = np.zeros((k, m))
        before = [sum((Fraction(float(p)) for p in row), Fraction(0)) for row in joint]
        for x in range(k):
            for z in range(m):
                if before[x] > 0:
                    gain[x, z] = float(log(Fraction(float(strategy[x, z])) * sum(before) / before[x]))
    formula = (joint.T @ gain + paid).min(axis=1).sum() - price * bound
    bits = class_information_bound_bits(joint, loss, bound, strategy, price)
    assert bits == pytest.approx(max(formula, 0.0) / np.log(2), abs=1e-11)


@given(
    st.lists(
        st.floats(5e-324, 1.7e308) | st.floats(0.5, 2.0) | st.floats(1 - 1e-9, 1 + 1e-9), min_size=1, max_size=20
    )
)
def test_logarithms_are_within_their_errors(values):
    found, errors = sensitive._logarithm(np.array(values))
    with ctx.workprec(300):
        for value, logarithm, error in zip(values, found, errors, strict=True):
            off = abs(arb(value).log() - arb(float(logarithm)))
            assert off <= arb(float(error))
    assert (errors <= 1e-14 * (np.abs(found) + 1)).all()


def test_no_loss_is_exactly_none():
    joint, identity = np.diag([0.1, 0.2, 0.7]), Mechanism(np.eye(3))
    assert class_loss_above(identity, joint, 1 - np.eye(3)) == 0.0
    assert class_error_below(identity, joint) == 0.0
    assert class_information_bound_bits(joint, 1 - np.eye(3), 0.0, np.zeros((3, 3)), 0.0) == 0.0
