"""Goals: what texts mean, and which are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core import units
from sfumato.errors import InputError, SfumatoError, UnitError
from sfumato.optimal import AttackerGoal, LossGoal

VISITS = sf.Visits([48.85, 48.86], [2.35, 2.36])
LENGTHS = {"m": 1.0, "km": 1000.0, "mi": 1609.344, "ft": 0.3048, "metres": 1.0}


@given(
    st.decimals("0.001", "99.999", places=3),
    st.decimals("0.1", "9999", places=1),
    st.sampled_from(sorted(LENGTHS)),
    st.sampled_from(["", " ", "  "]),
    st.sampled_from(["within", "WITHIN", "Within"]),
)
def test_a_percentage_within_a_length_is_read(percent, length, unit, space, word):
    goal = AttackerGoal.parse(f"{space}{percent}{space}% {word} {length}{space}{unit}{space}", VISITS)
    assert goal.share == pytest.approx(float(percent) / 100, rel=1e-15)
    assert units.length_m(goal.within, "it") == pytest.approx(float(length) * LENGTHS[unit], rel=1e-15)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "20 %",
        "20 within 500 m",
        "0.2 within 500 m",
        "20 % 500 m",
        "20 % within",
        "within 500 m",
        "twenty % within 500 m",
        "-5 % within 500 m",
        "20 % within 500",
        "20 % within -500 m",
        "20 % within 0 m",
        "20 % within 5 h",
        "20 % within 500 m or so",
        "20 % within nan m",
        "0 % within 500 m",
        "100 % within 500 m",
        "1e999 % within 500 m",
        "500 m within 20 %",
        "20 % within 500 m\n30 % within 1 km",
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(InputError):
        AttackerGoal.parse(text, VISITS)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    try:
        goal = AttackerGoal.parse(text, VISITS)
    except SfumatoError:
        return
    assert 0 < goal.share < 1


def test_shares_and_lengths_of_python_are_checked():
    for share in (0.0, 1.0, -0.1, float("nan"), 20.0):
        with pytest.raises(InputError, match="not between 0 and 1"):
            AttackerGoal(share, "500 m", VISITS)
    with pytest.raises(UnitError):
        AttackerGoal(0.2, "500", VISITS)
    assert AttackerGoal(0.2, 500, VISITS).radius == "500 m"
    assert repr(AttackerGoal(0.2, "1500 m", VISITS)) == "AttackerGoal(20 % within 1.5 km)"
    assert repr(LossGoal("500 m")) == "LossGoal(500 m)"
    with pytest.raises(InputError, match="most="):
        LossGoal(None)  # type: ignore[arg-type]
