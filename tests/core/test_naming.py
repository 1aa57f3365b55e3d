"""Names from outside are told apart from the package's own words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato.core.distances import KINDS
from sfumato.core.naming import is_unit, list_names, name_phrase, quote


@pytest.mark.parametrize("kind", [*KINDS, "member", "metric", "euclidean distance of the true point"])
def test_own_names_stand_as_they_are(kind):
    assert name_phrase(kind) == kind
    assert name_phrase(kind, "distance") == f"{kind} distance"


def test_names_that_are_made_of_own_ones_are_own():
    metric = sf.Space.numbers(range(4), unit="km").metric("absolute")
    for each in (metric.threshold("1.5 km"), metric.scale(2.5), metric.to("m").closure()):
        assert name_phrase(each.name) == each.name
    assert name_phrase("loss", "loss") == "loss"


@pytest.mark.parametrize(
    "name",
    ["my way", "Euclidean", "euclidean ", "hamming) is at most 0. (", "hops of at most 1 km, proved", "", "3 x"],
)
def test_other_names_are_in_quotation_marks(name):
    assert name_phrase(name, "distance") == f"distance called {name!r}"


@given(st.text())
def test_a_quotation_is_short_and_ends_where_it_ends(text):
    found = quote(text)
    assert found[0] == found[-1]
    assert found[0] in "'\""
    assert found.isprintable()
    assert len(quote("x" * 1000)) == 42
    inner = found[1:-1].replace("\\\\", "").replace("\\'", "")
    assert found[0] not in inner


@pytest.mark.parametrize("unit", ["", "km", "year", "hops", "m^2", "m²", "°", "%", "€", "euro", "Jahre", "points"])
def test_units(unit):
    assert is_unit(unit)


@pytest.mark.parametrize(
    "unit", ["US dollars", "m, certified", "m.", "-3", "m\n", " m", "a" * 17, "(m)", "m:", "_m", "3m", "m\u202e"]
)
def test_texts_that_are_no_units(unit):
    assert not is_unit(unit)


def test_a_list_of_names_ends_with_the_number_of_those_left_out():
    assert list_names([]) == ""
    assert list_names("abc", 3) == "a, b, c"
    assert list_names(range(1_234), 2) == "0, 1, and 1,232 more"
