"""Text from outside: what each way out must not let through, and what must survive."""

import csv
import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.escaping import csv_cell, figure, from_csv_cell, markdown, plain

TEXTS = st.text(st.characters(codec=None)) | st.text(
    st.sampled_from("\x1b\n\r\t\u202e\u200b=+-@'$_[]<>|`*#\\ab1. ")
)


@given(TEXTS)
def test_plain_is_one_line_of_visible_characters(text):
    shown = plain(text)
    assert len(shown.splitlines()) <= 1
    assert all(c == " " or unicodedata.category(c)[0] not in "CZ" for c in shown)
    assert plain(shown) == shown


@given(
    st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="\u115f\u1160\u2800\u3164\uffa0"))
)
def test_what_is_visible_stays(text):
    assert plain(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("a\nProved: b", r"a\nProved: b"),
        ("a\u2028b\u2029c\x85", r"a\u2028b\u2029c\x85"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("a\u200b\u2060\ufeff\xadb", r"a\u200b\u2060\ufeff\xadb"),
        ("\ue000lat\ue001\ue000", r"\ue000lat\ue001\ue000"),
        ("\udc80", r"\udc80"),
        ("1\xa0km\u3000x", "1 km x"),
        ("Zürich, 東京, 🙂", "Zürich, 東京, 🙂"),
    ],
)
def test_plain_by_example(text, shown):
    assert plain(text) == shown


@given(TEXTS)
def test_markdown_holds_nothing_that_means_something(text):
    line = markdown(text)
    assert "\n" not in line
    assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", line)
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", line)  # without what is escaped
    assert not re.search(r"[`*_\[\]|~$]", bare)
    assert not re.match(r"\s|[#+=-]|\d+[.)]", line)


@given(TEXTS)
def test_markdown_reads_back(text):
    unescaped = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown(text))
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        unescaped = unescaped.replace(entity, character)
    assert unescaped == plain(text).strip()


@given(TEXTS)
def test_a_cell_comes_back_and_starts_no_formula(text):
    cell = csv_cell(text)
    assert from_csv_cell(cell) == text
    if re.match("[=+\\-@\t\r\n＝＋－＠]", cell):
        assert float(cell) == float(text)


@given(TEXTS, TEXTS)
def test_distinct_texts_stay_distinct_cells(one, other):
    assert (csv_cell(one) == csv_cell(other)) == (one == other)


@given(st.text(st.sampled_from("=+-@'\n\",ab1"), max_size=8))
def test_a_cell_survives_a_csv_file(text):
    file = io.StringIO(newline="")
    csv.writer(file).writerow([csv_cell(text), "x"])
    ((cell, _),) = csv.reader(io.StringIO(file.getvalue(), newline=""))
    assert from_csv_cell(cell) == text


@pytest.mark.parametrize("number", ["-3", "+4", "-3.5e-2", "-.5", "3"])
def test_numbers_stay_numbers(number):
    assert csv_cell(number) == number


@pytest.mark.parametrize(
    "text", ["=1+1", "-3+cmd|' /C calc'!A0", "@SUM(A1)", "\t=1", " =1", "\u00a0 =1", "+1 555", "'=1", "＝1"]
)
def test_formulas_get_an_apostrophe(text):
    assert csv_cell(text) == "'" + text


@given(TEXTS)
def test_a_figure_holds_no_formula_and_no_hidden_entry(text):
    shown = figure(text)
    assert shown.count("$") == shown.count(r"\$")  # how matplotlib counts
    assert not shown.startswith("_")
