"""The exponential mechanism in both conventions, and permute-and-flip, against brute force and known facts."""

import math
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sfumato.core import MetricPrivacy, Row, Space, hamming
from sfumato.errors import InputError
from sfumato.mechanisms import ExponentialMechanism, PermuteAndFlip, UtilityTable, randomised_response
from sfumato.proofs import prove_metric_privacy

CHAIN = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], dtype=bool)


@st.composite
def tables(draw):
    n, m = draw(st.integers(2, 5)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = rng.integers(0, 4, size=(n, m)) + rng.random((n, m)) * draw(st.booleans())
    values[0, 0] = values[1, 0] + 1
    near = rng.random((n, n)) < 0.5
    near |= near.T
    near[0, 1] = near[1, 0] = True
    return UtilityTable(values, neighbours=near if draw(st.booleans()) else None)


def proved(mechanism, table, epsilon):
    return prove_metric_privacy(mechanism, MetricPrivacy(epsilon, table.metric))


@given(tables(), st.floats(0.05, 5), st.sampled_from(["mcsherry-talwar", "introductory"]))
def test_exponential_keeps_what_the_convention_promises(table, epsilon, convention):
    family = ExponentialMechanism(table, epsilon, convention)
    u, rate = table.values, epsilon / table.sensitivity / (2 if convention == "mcsherry-talwar" else 1)
    mechanism = family.mechanism()
    expected = np.exp(rate * u) / np.exp(rate * u).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mechanism.matrix, expected, rtol=1e-8)
    assert family.promised == epsilon * (1 if convention == "mcsherry-talwar" else 2)
    assert proved(mechanism, table, family.promised).holds

    s, t = np.nonzero(table.neighbours)
    logs = np.log(expected[s] / expected[t])
    assert family.epsilon == pytest.approx(logs.max(), rel=1e-9, abs=1e-12)
    assert family.bounded_range == pytest.approx((logs.max(axis=1) - logs.min(axis=1)).max(), rel=1e-9, abs=1e-12)
    assert family.epsilon <= family.bounded_range + 1e-12 <= 2 * rate * table.sensitivity + 1e-11
    assert proved(mechanism, table, family.promised).upper == pytest.approx(family.epsilon, rel=1e-7, abs=1e-12)
    if family.epsilon > 1e-9:  # it is 0 where one row is the other plus a constant
        assert not proved(mechanism, table, 0.99 * family.epsilon).holds


def test_the_factor_of_two_is_reached_in_the_limit_only():
    # H12, G: the introductory convention at epsilon 1 is private at 2 and at nothing less, for large tables.
    found = []
    for m in (3, 30, 3000):
        values = np.zeros((2, m))
        values[0, 0] = 1
        values[1, 1:] = 1
        family = ExponentialMechanism(UtilityTable(values), 1.0, "introductory")
        found.append(family.epsilon)
        assert family.epsilon < family.bounded_range == 2.0
    assert found == sorted(found)
    assert found[-1] > 1.998
    assert not ExponentialMechanism(UtilityTable(values), 1.0, "introductory").constant_normaliser


@given(st.integers(2, 6), st.floats(0.1, 4))
def test_symmetric_utilities_have_one_normaliser_and_pay_half(n, epsilon):
    table = UtilityTable(np.eye(n))
    family = ExponentialMechanism(table, epsilon, "introductory")
    assert family.constant_normaliser
    assert family.epsilon == pytest.approx(epsilon)
    space = Space(range(n))
    np.testing.assert_allclose(family.mechanism().matrix, randomised_response(space, epsilon).matrix, atol=1e-7)
    # The promise is twice what it gives; its integers prove the smaller one within their rounding.
    found = prove_metric_privacy(family.mechanism(), MetricPrivacy(epsilon, hamming(space)))
    assert found.upper == pytest.approx(epsilon, rel=1e-8)


@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 2**32), st.floats(0.1, 4))
def test_monotone_utilities_pay_half(n, m, seed, epsilon):
    # Counts under add-remove: along a chain each data set holds one record more, which may raise any counts by 1.
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.integers(0, 2, size=(n, m)), axis=0)
    values[1:, 0] = values[0, 0] + np.arange(1, n)
    near = np.abs(np.arange(n)[:, None] - np.arange(n)) == 1
    table = UtilityTable(values, neighbours=near)
    assert table.monotone
    family = ExponentialMechanism(table, epsilon, "introductory")
    assert family.bounded_range <= epsilon * (1 + 1e-12)
    assert proved(family.mechanism(), table, epsilon * (1 + 1e-9)).holds
    flip = PermuteAndFlip(table, epsilon)
    assert flip.rate == pytest.approx(epsilon / table.sensitivity)
    assert proved(flip.mechanism(), table, epsilon).holds


def by_permutations(accept):
    """p(y) in fractions: over all orders, everyone before y is rejected."""
    found = [Fraction(0)] * len(accept)
    orders = list(permutations(range(len(accept))))
    for order in orders:
        left = Fraction(1)
        for y in order:
            found[y] += left * accept[y] / len(orders)
            left *= 1 - accept[y]
    return found


@given(tables(), st.floats(0.05, 5))
@settings(max_examples=15)
def test_permute_and_flip_by_all_orders(table, epsilon):
    family = PermuteAndFlip(table, epsilon)
    rate = epsilon / table.sensitivity / (1 if table.monotone else 2)
    for s, row in enumerate(table.values):
        accept = [Fraction(math.exp(rate * (value - row.max()))) for value in row]
        np.testing.assert_allclose(
            family.mechanism().matrix[s], [float(p) for p in by_permutations(accept)], rtol=1e-7
        )
    assert proved(family.mechanism(), table, epsilon).holds
    assert family.epsilon == pytest.approx(proved(family.mechanism(), table, epsilon).upper, rel=1e-6, abs=1e-12)


def test_permute_and_flip_is_the_noisy_maximum_with_exponential_noise():
    # Ding et al. 2021: argmax of u + Exp(rate) noise.
    u, rate = np.array([0.0, 0.7, 2.0, 1.1]), 0.8
    table = UtilityTable([u, u - [1.25, 0, 0, -1.25]])
    found = PermuteAndFlip(table, rate * 2 * 1.25).mechanism().matrix[0]
    for y in range(4):

        def density(x, y=y):
            others = [1 - math.exp(-rate * (x - v)) if x > v else 0.0 for j, v in enumerate(u) if j != y]
            return rate * math.exp(-rate * (x - u[y])) * math.prod(others)

        assert quad(density, 2.0, 60.0, epsabs=1e-12)[0] == pytest.approx(found[y], abs=1e-9)


def test_permute_and_flip_with_many_answers():
    rng = np.random.default_rng(1)
    values = rng.random((2, 120)) * 30
    family = PermuteAndFlip(UtilityTable(values), 2.0)
    rows = family.mechanism().matrix
    accept = [Fraction(a) for a in np.exp(family.rate * (values[0] - values[0].max()))]
    # The integral exactly: the coefficients of the product over z of (1 - t a(z)), divided by (1 - t a(y)).
    whole = [Fraction(1)]
    for a in accept:
        zero = Fraction(0)
        whole = [x - a * y for x, y in zip([*whole, zero], [zero, *whole], strict=True)]
    for y in (0, 50, int(values[0].argmax())):
        part, quotient = Fraction(0), []
        for coefficient in whole[:-1]:
            part = coefficient + accept[y] * part
            quotient.append(part)
        exact = accept[y] * sum(c / (i + 1) for i, c in enumerate(quotient))
        assert rows[0, y] == pytest.approx(float(exact), rel=1e-8)


@given(tables(), st.floats(0.05, 5))
def test_regret(table, epsilon):
    exponential = ExponentialMechanism(table, epsilon, "mcsherry-talwar")
    flip = PermuteAndFlip(table, epsilon)
    bound = 2 * table.sensitivity / epsilon * math.log(table.values.shape[1])
    assert exponential.regret_bound == pytest.approx(bound)
    regrets = [
        (family.mechanism().matrix * -table.below_best).sum(axis=1)
        for family in (
            flip,
            ExponentialMechanism(table, epsilon * (2 if table.monotone else 1), "mcsherry-talwar"),
        )
    ]
    assert (regrets[0] <= regrets[1] + 1e-9).all()
    assert (regrets[0] <= flip.regret_bound + 1e-9).all()
    assert (regrets[1] <= bound + 1e-9).all()


def test_hamming_loss_counts_all_best_answers():
    table = UtilityTable([[2, 2, 0], [0, 1, 0]])
    for family in (ExponentialMechanism(table, 1.0, "mcsherry-talwar"), PermuteAndFlip(table, 1.0)):
        matrix = family.mechanism().matrix
        assert family.hamming_loss == pytest.approx(1 - (matrix[0, :2].sum() + matrix[1, 1]) / 2, abs=1e-8)
        assert family.recipe() == Row(family.mechanism())


def test_the_table_finds_its_witness():
    table = UtilityTable([[0, 5, 1], [0, 4, 1], [9, 4, 1]], Space("xyz"), Space("abc"), CHAIN)
    assert (table.sensitivity, table.witness) == (9, (1, 2, 0))
    assert table.metric.array.tolist() == [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    assert not UtilityTable([[0, 1], [1, 0]]).monotone


@given(tables(), st.floats(0.05, 3))
def test_the_utility_distance_bounds_what_the_exponential_mechanism_tells(table, epsilon):
    d, u = table.distance, table.values
    n, m = u.shape
    slow = [[max(abs(u[s, y] - u[t, y]) for y in range(m)) for t in range(n)] for s in range(n)]
    assert d.array.tolist() == slow
    assert d.array[table.neighbours].max() == table.sensitivity
    assert (d.array[:, :, None] <= d.array[:, None, :] + d.array.T[None, :, :] + 1e-12).all()
    family = ExponentialMechanism(table, epsilon, "introductory")
    logs = np.log(family.mechanism().matrix)
    ratios = np.abs(logs[:, None, :] - logs[None, :, :]).max(axis=2)
    assert (ratios <= 2 * family.rate * d.array + 1e-6).all()


def test_secrets_of_equal_utility_are_at_no_distance():
    table = UtilityTable([[3.0, 1.0], [2.0, 2.0], [3.0, 1.0]])
    assert table.distance.array[0, 2] == 0
    assert table.distance.name == "utility distance"


def test_bad_tables():
    with pytest.raises(InputError, match="convention 'blog' is unknown"):
        ExponentialMechanism(UtilityTable(np.eye(2)), 1.0, "blog")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no answer's utility differs"):
        UtilityTable([[1, 2], [1, 2]])
    with pytest.raises(InputError, match="symmetric"):
        UtilityTable(np.eye(2), neighbours=[[0, 1], [0, 0]])
    with pytest.raises(InputError, match="2 x 2, but there are 3 secrets"):
        UtilityTable(np.eye(2), Space("abc"))
    with pytest.raises(InputError, match="positive"):
        PermuteAndFlip(UtilityTable(np.eye(2)), -1)
