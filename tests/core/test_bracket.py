"""Brackets: which bounds are known, and numbers written to their side."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.core import Bracket, Side

_POSITIVE = st.floats(min_value=1e-6, max_value=1e6)


@pytest.mark.parametrize(
    ("bracket", "below", "above"),
    [
        (Bracket(0.1, 0.2, 0.3), True, True),
        (Bracket.exact(0.5), True, True),
        (Bracket(0.1, 0.1, math.inf), True, False),
        (Bracket(-math.inf, 0.1, 0.2), False, True),
        (Bracket(-math.inf, 0.1, math.inf), False, False),
        (Bracket.exact(math.inf), True, True),
    ],
)
def test_which_bounds_are_known(bracket: Bracket, below: bool, above: bool) -> None:
    assert bracket.knows(Side.AT_LEAST) == below
    assert bracket.knows(Side.AT_MOST) == above
    assert bracket.knows(Side.ESTIMATE)


def test_the_bound_of_a_side() -> None:
    found = Bracket(1.0, 2.0, 4.0)
    assert [found.at(side) for side in (Side.AT_LEAST, Side.ESTIMATE, Side.AT_MOST)] == [1.0, 2.0, 4.0]


def test_the_middle_of_two_bounds_and_their_width() -> None:
    assert Bracket.of_bounds(1.0, 4.0) == Bracket(1.0, 2.5, 4.0)
    assert Bracket.of_bounds(1.0, 4.0).width == 3.0
    assert Bracket.exact(math.inf).width == 0.0


@given(_POSITIVE)
def test_written_numbers_stay_on_their_side(value: float) -> None:
    assert float(Side.AT_MOST.number(value)) >= value
    assert float(Side.AT_LEAST.number(value)) <= value
    assert float(Side.AT_MOST.amount(value, "s").removesuffix(" s")) >= value
    assert float(Side.AT_LEAST.amount(value, "s").removesuffix(" s")) <= value


@given(st.floats(min_value=1e-4, max_value=0.9))
def test_written_shares_stay_on_their_side(share: float) -> None:
    assert float(Side.AT_MOST.percent(share).removesuffix(" %")) >= 100 * share * (1 - 1e-12)
    assert float(Side.AT_LEAST.percent(share).removesuffix(" %")) <= 100 * share * (1 + 1e-12)


@pytest.mark.parametrize(
    ("bracket", "text"),
    [
        (Bracket(0.49711, 0.5, 0.50289), "0.5 (0.4971 to 0.5029)"),
        (Bracket.exact(2.0), "2"),
        (Bracket.exact(math.inf), "infinite"),
        (Bracket(-math.inf, 1.0, 2.0), "1 (-infinite to 2)"),
    ],
)
def test_brackets_as_text(bracket: Bracket, text: str) -> None:
    assert str(bracket) == text
    assert eval(repr(bracket), {"Bracket": Bracket, "inf": math.inf}) == bracket
