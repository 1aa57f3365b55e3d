"""Numbers in words never promise more than was proved."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.report.words import gap, lower, percent, upper

values = st.floats(min_value=1e-9, max_value=1e9)


@given(values)
def test_upper_is_never_below(value):
    assert float(upper(value)) >= value * (1 - 1e-15)
    assert float(upper(value)) <= value * (1 + 1e-5)


@given(values)
def test_lower_is_never_above(value):
    assert float(lower(value)) <= value * (1 + 1e-15)
    assert float(lower(value)) >= value * (1 - 2e-3)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0 %"),
        (0.00001, "under 0.01 %"),
        (0.004, "0.4 %"),
        (0.12, "12 %"),
        (0.072, "7.2 %"),
        (0.9999, "99.99 %"),
        (1.0, "100 %"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text


def test_infinities():
    assert upper(math.inf) == "infinite"
    assert gap(math.inf) == "unknown"
    assert gap(0.0) == "0 %"
