import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import units
from sfumato.errors import UnitError

LENGTHS = ["mm", "cm", "m", "km", "ft", "yd", "mi", "nmi"]
TIMES = ["s", "min", "h", "day", "week"]
amounts = st.floats(1e-6, 1e6)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("500 m", "km", 0.5),
        ("500m", "m", 500),
        ("  .5   kilometres ", "m", 500),
        ("1 mi", "m", 1609.344),
        ("1e3 meters", "km", 1),
        ("-2.5e-1 km", "m", -250),
        ("3 ft", "yd", 1),
        ("2 years", "month", 24),
        ("90 minutes", "h", 1.5),
        (7, "km", 7),
        ("7", "", 7),
        ("3 hops", "hops", 3),
        ("3", "", 3),
    ],
)
def test_amounts(text, unit, value):
    assert units.parse(text, unit=unit, subject="x") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("0.6/km", "km", 0.6),
        ("0.6/km", "m", 0.0006),
        ("0.6 per km", "km", 0.6),
        ("0.6 / mile", "km", 0.6 / 1.609344),
        (".1/year", "month", 0.1 / 12),
        (0.5, "km", 0.5),
        ("0.5", "", 0.5),
        ("2/hops", "hops", 2),
    ],
)
def test_rates(text, unit, value):
    assert units.parse(text, per=True, unit=unit, subject="x") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "per", "unit", "says"),
    [
        ("fast", False, "m", "not a number with a unit.\nHint: write it as '500 m'."),
        ("", False, "m", "not a number with a unit"),
        ("1 2 m", False, "m", "not a number with a unit"),
        ("nan m", False, "m", "not a number with a unit"),
        ("1e999 m", False, "m", "finite"),
        (math.nan, False, "m", "finite"),
        (math.inf, True, "m", "finite"),
        ("0.6/km", False, "km", "an amount, not a rate"),
        ("0.6 km", True, "km", "an amount per unit"),
        ("5/", False, "km", "without a unit"),
        ("5", False, "km", "has no unit.\nHint: write '5 m' or '5 km'"),
        ("0.5", True, "km", "has no unit.\nHint: write '0.5/km'."),
        ("3", False, "hops", "has no unit.\nHint: write '3 hops'"),
        ("5 s", False, "km", "'s' does not fit 'km'"),
        ("1 parsec", False, "km", "'parsec' does not fit"),
        ("1/km", True, "", "'km' does not fit 'none'"),
        ("1 month", False, "day", "'month' does not fit 'day'"),
        (None, False, "m", "not a number"),
        ([1.0, 2.0], False, "m", "not a number"),
    ],
)
def test_what_is_no_quantity_is_refused(text, per, unit, says):
    with pytest.raises(UnitError) as error:
        units.parse(text, per=per, unit=unit, subject="the speed")
    assert "the speed" in error.value.problem
    assert says in str(error.value)
    assert error.value.hint


@given(amounts, st.sampled_from(LENGTHS), st.sampled_from(LENGTHS))
def test_there_and_back(value, a, b):
    there = units.parse(f"{value!r} {a}", unit=b, subject="x")
    assert units.parse(f"{there!r} {b}", unit=a, subject="x") == pytest.approx(value, rel=1e-14)


@given(amounts, amounts, st.sampled_from(TIMES), st.sampled_from(TIMES))
def test_rate_times_amount_does_not_depend_on_the_unit(rate, amount, a, b):
    r = units.parse(f"{rate!r}/{a}", per=True, unit=b, subject="x")
    x = units.parse(f"{amount!r} {a}", unit=b, subject="x")
    assert r * x == pytest.approx(rate * amount, rel=1e-13)


def test_units_of_other_dimensions_do_not_convert():
    for a in LENGTHS:
        for b in [*TIMES, "month", "year", "", "hops"]:
            with pytest.raises(UnitError):
                units.factor(a, b)
    assert units.factor("hops", "hops") == 1.0
    assert units.factor("Kilometres", "km") == 1.0


def test_lengths_default_to_metres():
    assert units.length_m("0.5 km", "the cell") == 500
    assert units.length_m(250, "the cell") == 250
    with pytest.raises(UnitError, match="the cell"):
        units.length_m("1 h", "the cell")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.43, "km", "430 m"),
        (430.4, "m", "430 m"),
        (1234, "m", "1.23 km"),
        (999.4, "m", "999 m"),
        (999.6, "m", "1 km"),
        (0, "m", "0 m"),
        (0.25, "", "0.25"),
        (3, "year", "3 year"),
        (-1500, "m", "-1.5 km"),
        (0.00123456, "", "0.00123"),
        (123456, "hops", "123456 hops"),
        (math.inf, "km", "infinite"),
    ],
)
def test_show(value, unit, text):
    assert units.show(value, unit) == text


@given(st.floats(1e-3, 1e7), st.sampled_from(["m", "km", "mi", "year", "points", ""]))
def test_what_is_shown_reads_back_to_three_digits(value, unit):
    shown = units.show(value, unit)
    assert units.parse(shown, unit=unit, subject="x") == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize(("text", "per", "unit"), [("1e308 km", False, "m"), ("1e308/m", True, "km")])
def test_a_quantity_that_is_too_large_in_another_unit(text, per, unit):
    with pytest.raises(UnitError, match=f"too large for a number in {unit}"):
        units.parse(text, per=per, unit=unit, subject="the length")


@given(st.integers(1, 10**7))
def test_a_text_is_the_float_nearest_to_its_decimal(count):
    assert units.parse(f"{count} m", unit="km", subject="x") == float(f"{count}e-3")
    assert units.parse(f"{count}/km", per=True, unit="m", subject="x") == float(f"{count}e-3")
    assert units.parse(f"{count}e-3 km", unit="m", subject="x") == count
