"""The accuracy of noise: against sums of exact laws, OpenDP's closed form, draws, and back again."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sfumato as sf
from sfumato.errors import InputError
from sfumato.mechanisms import DiscreteGaussian, DiscreteLaplace, Staircase

rationals = st.fractions(Fraction(1, 40), 6, max_denominator=40)
failures = st.sampled_from([0.5, 0.2, 0.1, 0.05, 0.01, 1e-6, 0.999])


def far(noise, reach):
    """Return the probability of noise beyond the reach, a plain sum over the law."""
    k = np.arange(reach + 1, reach + 60 + 60 * math.ceil(math.sqrt(noise.variance)))
    return 2 * float(noise.pmf(k).sum())


@given(
    st.one_of(
        st.builds(DiscreteLaplace, rationals, st.integers(1, 9)),
        st.integers(1, 9).flatmap(lambda w: st.builds(Staircase, rationals, st.just(w), st.integers(1, w))),
        st.builds(DiscreteGaussian, st.fractions(Fraction(1, 20), 300, max_denominator=20)),
    ),
    failures,
)
@settings(max_examples=40, deadline=None)
def test_the_least_number_that_is_enough(noise, failure):
    found = sf.noise_accuracy(noise, failure=failure)
    assert far(noise, found.off_by) <= failure * (1 + 1e-9)
    assert found.off_by == 0 or far(noise, found.off_by - 1) > failure * (1 - 1e-9)


@given(rationals, st.integers(1, 20), failures)
@settings(max_examples=25, deadline=None)
def test_it_is_the_closed_form_of_opendp(epsilon, sensitivity, failure):
    r = float(epsilon / sensitivity)
    accuracy = math.log(2 / (failure * (math.exp(r) + 1))) / r + 1
    found = sf.noise_accuracy(epsilon=epsilon, sensitivity=sensitivity, failure=failure).off_by
    assert found in {max(0, math.ceil(accuracy + wobble) - 1) for wobble in (-1e-9, 1e-9)}


@given(st.integers(0, 10**6), st.integers(1, 100), failures)
@settings(max_examples=20, deadline=None)
def test_back_and_forth_give_the_same_number(off_by, sensitivity, failure):
    found = sf.noise_accuracy(off_by=off_by, sensitivity=sensitivity, failure=failure)
    assert found.off_by == off_by
    assert sf.noise_accuracy(found.noise, failure=failure).off_by == off_by
    smaller = math.nextafter(found.epsilon, 0)
    assert sf.noise_accuracy(epsilon=smaller, sensitivity=sensitivity, failure=failure).off_by == off_by + 1


def test_a_failure_is_the_decimal_that_is_written():
    # P(|noise| > 0) = 2 x / (1 + x) for x = exp(-epsilon): at most 0.1 from ln 19 on
    assert Fraction(0.1) > Fraction(1, 10)
    found = sf.noise_accuracy(off_by=0, failure=0.1)
    assert found.failure == Fraction(1, 10)
    assert found.epsilon == pytest.approx(math.log(19), rel=1e-15)
    assert "at least 90 %" in repr(found)


def test_draws_are_off_by_more_as_rarely_as_said():
    noise = DiscreteLaplace("0.3", 2)
    found = sf.noise_accuracy(noise, failure=0.1)
    drawn = np.abs(sf.simulator(noise, seed=1).draw(np.zeros(40_000, dtype=int)))
    share = np.mean(drawn > found.off_by)
    assert far(noise, found.off_by) == pytest.approx(share, abs=5 * math.sqrt(0.1 * 0.9 / 40_000))
    assert np.mean(drawn >= found.off_by) > 0.1 - 0.01


@pytest.mark.parametrize(
    "noise", [DiscreteLaplace("1/1000000000"), Staircase("1e-6", 1000), DiscreteGaussian(10**8)]
)
def test_wide_noise(noise):
    found = sf.noise_accuracy(noise, failure=0.05).off_by
    assert 2 * noise.tail(found + 1) <= 0.05 * (1 + 1e-9)
    assert 2 * noise.tail(found) > 0.05 * (1 - 1e-6)


def test_words():
    laplace = sf.noise_accuracy(epsilon=1, sensitivity=10)
    assert "epsilon 1 for true numbers that differ by at most 10" in laplace.sentences[0]
    assert "off by at most 30. A smaller number would not do." in laplace.sentences[0]
    gaussian = sf.noise_accuracy(DiscreteGaussian(4))
    assert "epsilon" not in gaussian.sentences[0]
    assert "No smaller number is proved to do." in gaussian.sentences[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "0 were given"),
        ({"epsilon": 1, "off_by": 3}, "2 were given"),
        ({"epsilon": 0}, "positive"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": -1}, "positive"),
        ({"epsilon": 1, "sensitivity": 0}, "sensitivity"),
        ({"off_by": -1}, "off_by"),
        ({"off_by": 2.5}, "off_by"),
        ({"off_by": 2**41}, "off_by"),
        ({"off_by": 2**40, "failure": 0.999}, "coarser unit"),
        ({"off_by": 2, "failure": 0.0}, "failure"),
        ({"off_by": 2, "failure": float("nan")}, "failure"),
        ({"noise": DiscreteLaplace(1), "sensitivity": 2}, "has its own"),
    ],
)
def test_what_cannot_be_asked(options, told):
    with pytest.raises(InputError) as caught:
        sf.noise_accuracy(**options)
    assert told in str(caught.value)
