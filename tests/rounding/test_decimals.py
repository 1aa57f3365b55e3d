"""Numbers in words never promise more than was proved."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from sfumato.rounding import (
    about,
    about_percent,
    amount,
    amount_at_least,
    amount_at_most,
    at_least,
    at_least_against,
    at_most,
    at_most_against,
    briefly_at_most,
    factor_at_most,
    gap_at_most,
    percent,
    percent_at_least,
    percent_at_most,
    percent_of_confidence,
)

every = st.floats(allow_nan=False, allow_infinity=False)
digits = st.integers(1, 12)
shares = st.floats(0, 1)


@given(every, digits)
def test_brief_bounds_keep_their_side_in_few_digits(value, places):
    assert float(briefly_at_most(value, places)) >= value


def test_rounding_error_makes_no_brief_bound_long():
    assert (at_most(29.950000001), briefly_at_most(29.950000001)) == ("29.950000001", "29.96")
    assert briefly_at_most(math.inf) == "infinite"


@given(every, digits)
def test_bounds_keep_their_side(value, places):
    low, high = float(at_least(value, places)), float(at_most(value, places))
    assert low <= value <= high
    assert low == high or math.isinf(high - low) or high - low <= abs(value) * 10.0 ** (1 - places) + 1e-323
    assert float(about(value, places)) in (low, high)


@given(every)
def test_the_sides_mirror_each_other(value):
    assert at_most(-value) == (at_least(value)[1:] if value < 0 else "0" if value == 0 else f"-{at_least(value)}")


@given(st.integers(-9999, 9999), st.integers(-300, 300))
def test_what_fits_into_the_digits_is_written_exactly(mantissa, exponent):
    value = float(f"{mantissa}e{exponent}")
    assert float(at_most(value)) == value == float(at_least(value))


@pytest.mark.parametrize(
    ("value", "most", "least"),
    [
        (0.0, "0", "0"),
        (-0.0, "0", "0"),
        (1.0, "1", "1"),
        (0.5, "0.5", "0.5"),
        (0.1, "0.1", "0.1"),
        (2.27051, "2.271", "2.27"),
        (-2.27051, "-2.27", "-2.271"),
        (0.99999, "1", "0.9999"),
        (123456.7, "123457", "123456"),
        (1e-5, "0.00001", "0.00001"),
        (5e-324, "5e-324", "5e-324"),
        (1e308, "1e308", "1e308"),
        (1.7976931348623157e308, "1.798e308", "1.797e308"),
        (math.inf, "infinite", "infinite"),
        (0.5 + 1e-15, "0.50000000001", "0.5"),
        (1.0 - 1e-15, "1", "0.99999999999"),
        (math.nan, "unknown", "unknown"),
    ],
)
def test_bounds_in_words(value, most, least):
    assert at_most(value) == most
    assert at_least(value) == least


def test_as_many_digits_as_tell_a_number_from_its_limit():
    assert at_most_against(0.0499999912345678, 0.05) == "0.05"
    assert at_most_against(0.04999999123456781, 0.049999999999) == "0.04999999123456781"
    assert at_most_against(0.5, 0.5) == "0.5"
    assert at_most_against(0.1994698, 0.2) == "0.1995"
    assert at_most_against(math.inf, 0.5) == "infinite"
    assert at_least_against(0.30001, 0.3) == "0.30001"
    assert at_least_against(0.3123456, 0.3) == "0.3123"


@given(st.floats(0, 19.99))
def test_factors_are_never_below_the_exponential(epsilon):
    with ctx.workprec(300):
        true = arb(epsilon).exp()
        found = Fraction(factor_at_most(epsilon))
        printed = arb(found.numerator) / found.denominator
        assert printed >= true or epsilon == 0
        assert printed <= true * arb("1.0011")


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [
        (0.0, "1"),
        (1.0, "2.719"),
        (20.0, "e^20"),
        (1234.56, "e^1235"),
        (5e-324, "1.0000000001"),
        (math.log(3), "3.0000000001"),
        (math.inf, "infinite"),
    ],
)
def test_factors_in_words(epsilon, text):
    assert factor_at_most(epsilon) == text


@given(shares)
def test_shares_keep_their_side(share):
    high, low = percent_at_most(share), percent_at_least(share)
    assert float(Fraction(low.removesuffix(" %")) / 100) <= share
    assert share <= float(Fraction(high.removesuffix(" %")) / 100)


@pytest.mark.parametrize(
    ("share", "text", "most", "least"),
    [
        (0.0, "0 %", "0 %", "0 %"),
        (0.00001, "under 0.01 %", "0.001 %", "0.001 %"),
        (0.004, "0.4 %", "0.4 %", "0.4 %"),
        (0.12, "12 %", "12 %", "12 %"),
        (0.1234, "12 %", "13 %", "12 %"),
        (0.07213, "7.2 %", "7.3 %", "7.2 %"),
        (0.99335, "99.34 %", "99.34 %", "99.33 %"),
        (0.99, "99 %", "99 %", "99 %"),
        (0.9627, "96 %", "97 %", "96 %"),
        (0.9951, "99.51 %", "99.51 %", "99.51 %"),
        (0.9999, "99.99 %", "99.99 %", "99.99 %"),
        (0.999999, "99.99 %", "100 %", "99.99 %"),
        (1.0, "100 %", "100 %", "100 %"),
    ],
)
def test_percent(share, text, most, least):
    assert percent(share) == text
    assert percent_at_most(share) == most
    assert percent_at_least(share) == least


@given(st.floats(-1e9, 1e9), st.sampled_from(["m", "km", "", "hops"]))
def test_quantities_keep_their_side(value, unit):
    def read(text):
        number, _, found = text.partition(" ")
        scale = {
            ("m", "km"): Fraction(1, 1000),
            ("km", "m"): Fraction(1000),
            ("mm", "m"): Fraction(1, 1000),
            ("mm", "km"): Fraction(1, 10**6),
        }.get((found, unit), Fraction(1))
        return float(Fraction(number) * scale)

    assert read(amount_at_least(value, unit)) <= value <= read(amount_at_most(value, unit))


@pytest.mark.parametrize(
    ("value", "unit", "text", "most", "least"),
    [
        (0.4306, "km", "431 m", "431 m", "430 m"),
        (0.1, "km", "100 m", "100 m", "100 m"),
        (999.4, "m", "999 m", "1 km", "999 m"),
        (1234.5, "m", "1.23 km", "1.24 km", "1.23 km"),
        (0.0, "m", "0 m", "0 m", "0 m"),
        (2.5, "hops", "2.5 hops", "2.5 hops", "2.5 hops"),
        (0.33333, "", "0.333", "0.334", "0.333"),
        (math.inf, "km", "infinite", "infinite", "infinite"),
        (5e-324, "m", "0 m", "1 mm", "0 m"),
        (7e-7, "km", "1 mm", "1 mm", "0 m"),
        (0.001, "m", "0.001 m", "0.001 m", "0.001 m"),
        (-1e-9, "m", "0 m", "0 m", "-1 mm"),
    ],
)
def test_quantities(value, unit, text, most, least):
    assert amount(value, unit) == text
    assert amount_at_most(value, unit) == most
    assert amount_at_least(value, unit) == least


def test_gaps():
    assert gap_at_most(math.inf) == "unknown"
    assert gap_at_most(0.0) == "0 %"
    assert gap_at_most(0.012301) == "1.3 %"


def test_estimates_of_shares_say_about_once():
    assert [about_percent(share) for share in (0.0, 5e-5, 0.12, 1.0)] == [
        "about 0 %",
        "under 0.01 %",
        "about 12 %",
        "about 100 %",
    ]


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (0.05, "95 %"),
        (0.025, "97.5 %"),
        (0.9, "10 %"),
        (0.001, "99.9 %"),
        (0.123456789, "87.6543 %"),
        (1e-9, "99.9999 %"),
        (1e-20, "99.9999 %"),
    ],
)
def test_a_confidence_is_not_rounded_up(failure, text):
    assert percent_of_confidence(1 - failure) == text
