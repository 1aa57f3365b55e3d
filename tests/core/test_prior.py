from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Mechanism, Prior, Space, blind_error
from sfumato.errors import InputError

from .arrays import refused

ABC = Space("abc")
counts = st.lists(st.one_of(st.just(0.0), st.floats(1e-3, 1e3)), min_size=1, max_size=8).filter(any)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Prior([0.5, 0.6]), "sums to 1.1"),
        (lambda: Prior([[0.5, 0.5]]), "shape 1 x 2"),
        (lambda: Prior([]), "at least one label"),
        (lambda: Prior(ABC), "no probabilities"),
        (lambda: Prior("abc", [0.5, 0.25, 0.25]), "of type str"),
        (lambda: Prior(ABC, [0.5, 0.6, -0.1]), "prior of 'c' is negative (-0.1)"),
        (lambda: Prior(ABC, [0.5, 0.5, 1e-6]), "sums to 1.000001, not to 1"),
        (lambda: Prior(ABC, [1, 2, 3]), "sums to 6"),
        (lambda: Prior(ABC, [0.5, np.nan, 0.5]), "nan at position 1"),
        (lambda: Prior(ABC, [0.5, 0.5]), "shape 2, but 3 is needed"),
        (lambda: Prior(ABC, [[0.5, 0.5, 0]]), "shape 1 x 3"),
        (lambda: Prior.from_counts(ABC, [1, -2, 3]), "negative (-2)"),
        (lambda: Prior.from_counts(ABC, [0, 0, 0]), "all counts are zero"),
        (lambda: Prior.from_counts(ABC, [1, 2, 3], smoothing=-1), "smoothing -1"),
        (lambda: Prior.from_counts(ABC, [1, 2, 3], smoothing=np.nan), "smoothing nan"),
        (lambda: Prior.from_counts(ABC, [1, np.inf, 3]), "inf"),
        (lambda: Prior.from_visits(ABC, []), "all counts are zero"),
        (lambda: Prior.uniform(ABC).sharpen(1.5), "1.5 is not between 0 and 1"),
        (lambda: Prior.uniform(ABC).sharpen(np.nan), "not between 0 and 1"),
        (lambda: Prior.uniform(ABC).sharpen(0.5, places=0), "places=0 is not from 1 to 3"),
        (lambda: Prior.uniform(ABC).sharpen(0.5, places=4), "places=4 is not from 1 to 3"),
        (lambda: Prior.uniform(ABC).sharpen(0.5, at=["z"]), "'z'"),
        (lambda: Prior(ABC, [1, 0, 0]).sharpen(0.5, at=["b", "c"]), "all have probability zero"),
    ],
)
def test_what_is_no_prior_is_refused(make, says):
    refused(make, says)


def test_a_row_of_a_matrix_is_no_prior_and_the_hint_says_what_makes_it_one():
    row = np.array([[0.5, 0.25, 0.25]])
    with pytest.raises(InputError, match="shape 1 x 3") as error:
        Prior(ABC, row)
    assert "array.ravel()" in error.value.hint
    np.testing.assert_array_equal(Prior(ABC, row.ravel()).probabilities, [0.5, 0.25, 0.25])


def test_nothing_is_renormalised():
    nearly = [0.5, 0.5, 5e-10]
    np.testing.assert_array_equal(Prior(ABC, nearly).probabilities, nearly)


@given(counts, st.floats(0, 10))
def test_counts_and_smoothing(weights, smoothing):
    prior = Prior.from_counts(Space(range(len(weights))), weights, smoothing=smoothing)
    total = sum(weights) + smoothing * len(weights)
    np.testing.assert_allclose(prior.probabilities, [(w + smoothing) / total for w in weights], rtol=1e-12)
    assert prior.probabilities.sum() == pytest.approx(1, abs=1e-14)


def test_labels_are_counted():
    prior = Prior.from_visits(ABC, list("abacab"))
    np.testing.assert_allclose(prior.probabilities, [1 / 2, 1 / 3, 1 / 6])
    np.testing.assert_allclose(Prior.from_visits(ABC, "b", smoothing=1).probabilities, [1 / 4, 1 / 2, 1 / 4])


@given(counts)
def test_support_and_entropy(weights):
    prior = Prior.from_counts(Space(range(len(weights))), weights)
    assert set(prior.support) == {i for i, w in enumerate(weights) if w > 0}
    p = prior.probabilities
    assert prior.entropy_bits == pytest.approx(-sum(x * np.log2(x) for x in p if x > 0), abs=1e-12)
    assert -1e-12 <= prior.entropy_bits <= np.log2(len(weights)) + 1e-12
    assert f"{len(prior.support)} of them possible" in repr(prior)


def test_entropy_of_known_priors():
    assert Prior.uniform(Space(range(8))).entropy_bits == pytest.approx(3)
    assert Prior(ABC, [0, 1, 0]).entropy_bits == 0
    assert Prior(ABC, [0.5, 0.25, 0.25]).entropy_bits == pytest.approx(1.5)


@given(counts, st.floats(0, 1))
def test_sharpening_towards_the_likeliest_keeps_the_total_and_never_raises_entropy(weights, weight):
    prior = Prior.from_counts(Space(range(len(weights))), weights)
    for places in range(1, len(weights) + 1):
        sharper = prior.sharpen(weight, places=places)
        assert sharper.probabilities.sum() == pytest.approx(1, abs=1e-12)
        assert sharper.entropy_bits <= prior.entropy_bits + 1e-9
        top = np.argsort(-prior.probabilities, kind="stable")[:places]
        assert (sharper.probabilities[top] >= prior.probabilities[top] - 1e-15).all()


def test_sharpening_by_hand():
    prior = Prior(ABC, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(prior.sharpen(0.5, places=2).probabilities, [0.5625, 0.3375, 0.1])
    np.testing.assert_allclose(prior.sharpen(1, places=1).probabilities, [1, 0, 0])
    np.testing.assert_allclose(prior.sharpen(0.5, at=["c"]).probabilities, [0.25, 0.15, 0.6])
    np.testing.assert_array_equal(prior.sharpen(0).probabilities, prior.probabilities)


@given(counts, st.integers(1, 4), st.integers(0, 2**32))
def test_the_blind_guess(weights, guesses, seed):
    prior = Prior.from_counts(Space(range(len(weights))), weights)
    d = np.random.default_rng(seed).random((guesses, len(weights)))
    errors = [sum(p * x for p, x in zip(prior.probabilities, row, strict=True)) for row in d]
    assert blind_error(prior.probabilities, d) == pytest.approx(min(errors))


def test_probabilities_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        Prior.uniform(ABC).probabilities[0] = 1


def test_weights_whose_sum_is_larger_than_all_floats():
    prior = Prior.from_counts(Space("abc"), [1.7e308, 0.0, 1.7e308])
    assert prior.probabilities.tolist() == [0.5, 0.0, 0.5]
    assert Prior.from_counts(Space("ab"), [0.0, 0.0], smoothing=1.7e308).probabilities.tolist() == [0.5, 0.5]
    refused(lambda: Prior(Space("ab"), [1.7e308, 1.7e308]), "sums to inf")
    rare = Prior(Space("abc"), [1.0, 5e-324, 0.0])
    assert rare.sharpen(0.3, at=["b"]).probabilities == pytest.approx([0.7, 0.3, 0.0])


def test_a_prior_is_even_but_for_rounding():
    space = Space(range(7))
    assert Prior.uniform(space).even
    assert Prior.from_counts(space, [3.0 * (1 + 1e-12)] + 6 * [3.0]).even
    assert Prior.uniform(Space("a")).even
    assert not Prior.from_counts(space, [3.1] + 6 * [3.0]).even
    assert not Prior(space, [1.0] + 6 * [0.0]).even


def test_how_often_labels_occur_is_not_taken_for_the_labels():
    with pytest.raises(InputError, match=r"of type Counter.*\n.*from_counts"):
        Prior.from_visits(Space("ab"), Counter("aab"))


def test_a_prior_of_numbers_alone_fits_a_mechanism_of_a_matrix_alone():
    prior = Prior([0.25, 0.75])
    assert prior.space == Space(range(2))
    coin = Mechanism([[0.75, 0.25], [0.25, 0.75]])
    assert coin.expected_loss(prior, [[0, 1], [1, 0]]) == pytest.approx(0.25)
    assert coin.secrets == prior.space
