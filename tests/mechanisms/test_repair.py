"""From garbage to a matrix that keeps its promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism
from sfumato.core.metric import shortest_paths
from sfumato.errors import InputError
from sfumato.mechanisms import repair_to_private

from ..catalogue import exponential, geometric, line
from ..core.arrays import distances, stochastic
from ..proofs import exact

EPSILON = 0.9


@st.composite
def garbage(draw):
    d = draw(distances(smallest=2, largest=5))
    matrix = draw(stochastic(len(d), draw(st.integers(1, 5))))
    noise = draw(st.sampled_from([0.0, 1e-9, 1e-3]))
    return matrix + noise * np.random.default_rng(draw(st.integers(0, 99))).normal(size=matrix.shape), d


@given(garbage())
def test_anything_becomes_private(case):
    matrix, d = case
    mended, share = repair_to_private(matrix, EPSILON * d)
    assert 0 <= share <= 1
    np.testing.assert_allclose(mended.sum(axis=1), 1, atol=1e-12)
    assert (mended >= 0).all()
    assert exact.private(Mechanism(mended), d, EPSILON)


@given(garbage())
def test_repairing_twice_changes_nothing_more(case):
    matrix, d = case
    once, _ = repair_to_private(matrix, EPSILON * d)
    twice, share = repair_to_private(once, EPSILON * d)
    np.testing.assert_allclose(twice, once, atol=1e-9)
    assert share < 1e-6 or np.allclose(once, once[0])


@given(distances(smallest=2, largest=5, infinite=False), st.integers(0, 2**32))
def test_a_sound_matrix_is_left_as_it_is(d, seed):
    rng = np.random.default_rng(seed)
    weights = np.exp(-0.4 * EPSILON * d)[:, rng.permutation(len(d))]
    matrix = weights / weights.sum(axis=1, keepdims=True)
    mended, share = repair_to_private(matrix, EPSILON * d)
    assert share == 0
    np.testing.assert_allclose(mended, matrix, atol=1e-9)


@pytest.mark.parametrize(("digits", "most"), [(4, 1e-3), (6, 1e-5), (9, 1e-7)])
def test_rounding_to_some_digits_costs_little(digits, most):
    matrix = np.round(geometric(6, EPSILON), digits)
    matrix /= matrix.sum(axis=1, keepdims=True)
    assert not exact.private(Mechanism(matrix), line(6), EPSILON)
    mended, share = repair_to_private(matrix, EPSILON * line(6))
    assert 0 <= share <= most
    np.testing.assert_allclose(mended, matrix, atol=20 * 10.0**-digits)
    assert exact.private(Mechanism(mended), line(6), EPSILON)


def test_a_vertex_with_zeros():
    matrix = geometric(4, EPSILON)
    matrix[0, 2:] = 0.0
    matrix[0] /= matrix[0].sum()
    mended, _ = repair_to_private(matrix, EPSILON * line(4))
    assert exact.epsilon(Mechanism(matrix), line(4)) == np.inf
    assert exact.private(Mechanism(mended), line(4), EPSILON)
    assert (mended > 0).all()


def test_the_noise_of_a_solver_makes_no_observable():
    matrix = np.array([[0.5, 0.5, 1e-13], [0.5, 0.5, -1e-13]])
    mended, _ = repair_to_private(matrix, np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert not mended[:, 2].any()


@pytest.mark.parametrize("gap", [0.0, 1e-14, 1e-12, 1e-11])
def test_secrets_that_floats_cannot_keep_apart_become_equal(gap):
    x = np.array([0.0, gap, 1.0, 1.3])
    d = np.abs(x[:, None] - x)
    d[0, 2] = d[2, 0] = 1.0 + 1e-13  # not quite the same as from the other
    mended, _ = repair_to_private(exponential(np.minimum(d, 1.2), 0.5), EPSILON * d)
    np.testing.assert_array_equal(mended[0], mended[1])
    assert exact.private(Mechanism(mended), d, EPSILON)


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_one_order_may_ask_for_more_than_those_of_the_other(seed):
    rng = np.random.default_rng(seed)
    n = 2 + seed % 4
    d = rng.uniform(0, 3, (n, n))
    d[rng.random((n, n)) < 0.2] = 0.0
    d[rng.random((n, n)) < 0.2] = np.inf
    np.fill_diagonal(d, 0.0)
    d = shortest_paths(d)
    matrix = rng.dirichlet(np.full(4, 0.3), size=n)
    mended, share = repair_to_private(matrix, d)
    assert exact.private(Mechanism(mended), d, 1.0)
    twice, more = repair_to_private(mended, d)
    assert more < 1e-6 or share == 1
    np.testing.assert_allclose(twice, mended, atol=1e-6)


@pytest.mark.parametrize("exponent", [3e-10, 1e-7, 1e-5, 1e-3])
def test_small_exponents_leave_room_for_rounding_to_integers(exponent):
    d = np.array([[0.0, exponent], [exponent, 0.0]])
    for seed in range(30):
        rng = np.random.default_rng(seed)
        row = np.exp(-rng.uniform(0, 18, 4))  # down to 2**-26
        matrix = np.array([row, row * np.exp(2 * exponent * rng.uniform(-1, 1, 4))])
        mended, _ = repair_to_private(matrix / matrix.sum(axis=1, keepdims=True), d)
        assert exact.private(Mechanism(mended), d, 1.0)


@pytest.mark.parametrize("exponent", [1e-9, 1e-7, 1e-6])
def test_what_the_constant_lifts_to_one_word_keeps_its_room(exponent):
    d = np.full((3, 3), np.inf)
    np.fill_diagonal(d, 0.0)
    d[0, 1] = d[1, 0] = exponent
    grown = np.exp(exponent)
    for x in np.linspace(1.4e-8, 1.49e-8, 20):  # below 2**-26, and above it with its share of the constant
        rest = 0.5 - x / 2
        rows = [[x, rest, rest], [x / grown, rest * grown, rest * grown], [1.6e-8, 0.5, 0.5 - 1.6e-8]]
        mended, _ = repair_to_private(np.array(rows), d)
        assert exact.private(Mechanism(mended), d, 1.0)


def test_distances_beyond_the_smallest_integer():
    # Two towns so far apart that e^(-epsilon d) is a few units of 2**-126: rounding must not break neighbours.
    x = np.array([0.0, 0.3, 86.0, 86.3, 87.1, 87.5, 88.0])
    d = np.abs(x[:, None] - x)
    decay = np.exp(-0.999 * d)
    matrix = decay * np.linalg.solve(decay, np.ones(len(d)))  # the geometric mechanism: private at 0.999
    mended, share = repair_to_private(matrix, d)
    mechanism = Mechanism(mended)
    assert exact.private(mechanism, d, 1.0)
    assert share < 1e-6


@given(garbage(), st.floats(0.05, 0.95), st.integers(0, 2**32))
def test_distortion_is_restored(case, share_of_most, seed):
    matrix, d = case
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(len(d)))
    distance = rng.random((3, len(d))) + 0.1
    minimum = share_of_most * float((distance @ prior).min())
    for exponents in (None, EPSILON * d):
        mended, _ = repair_to_private(matrix, exponents, prior=prior, distance=distance, minimum=minimum)
        reached = float(((distance * prior) @ mended).min(axis=0).sum())
        assert reached >= minimum
        if exponents is not None:
            assert exact.private(Mechanism(mended), d, EPSILON)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 2)), "no positive entry"),
        ([[0.5, 0.5], [-1.0, 0.0]], "no positive entry"),
        ([[np.nan, 1.0], [0.5, 0.5]], "holds nan at position"),
    ],
)
def test_no_distribution_at_all(matrix, message):
    with pytest.raises(InputError, match=message):
        repair_to_private(np.array(matrix), np.array([[0.0, 1.0], [1.0, 0.0]]))
