"""The table of properties and the errata: by closed forms, and by tables with another word."""

import dataclasses
import math

import pytest

from sfumato.studies.change_in_formalism import ENTRIES, errata, property_rows
from sfumato.studies.change_in_formalism.claims import _properties
from sfumato.studies.reproduction import Judgement

WORDS = {
    "IndPr": ("yes", "yes", "yes"),
    "f-DP": ("yes", "yes", "yes"),
    "Gaussian DP": ("yes", "yes", "yes"),
    "PMPr": ("yes", "yes", "no"),
    "NMPr": ("yes", "yes", "no"),
    "MPr": ("yes", "yes", "no"),
    "AdvPr": ("yes", "yes", "no"),
    "ANPr": ("yes", "yes", "no"),
    "SemPr": ("no", "no", "no"),
    "RBPr": ("yes", "no", "yes"),
    "InfPr": ("yes", "yes", "yes"),
    "DnPr": ("yes", "yes", "no"),
    "EDnPr": ("yes", "yes", "no"),
}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_what_is_found_agrees_with_the_table_wherever_it_answers(entry):
    rows = property_rows(entry, 3, 25)
    assert tuple(row.here for row in rows) == WORDS[entry.name]
    for row in rows:
        assert row.table in (row.here, "?")
        if row.here == "yes":
            assert row.instances > 10
            assert row.violations == 0
        else:
            assert row.before is not None
            assert row.after is not None
            assert row.after > row.before


def test_counterexamples_by_hand():
    """The parity of two fair bits and the second bit hide the first; together they are the first."""
    for name, after in (("PMPr", math.inf), ("AdvPr", math.log(2)), ("EDnPr", math.inf)):
        (entry,) = (each for each in ENTRIES if each.name == name)
        *_, composed = property_rows(entry, 1, 2)
        assert composed.before == 0
        assert composed.after == pytest.approx(after)


def test_a_table_with_another_word_is_refuted():
    rows = property_rows(ENTRIES[0], 1, 12)
    (right,) = _properties(rows)
    assert right.verdict is Judgement.CONFIRMED
    (wrong,) = _properties([dataclasses.replace(row, table="no") for row in rows])
    assert wrong.verdict is Judgement.REFUTED
    (broken,) = _properties([dataclasses.replace(row, violations=3) for row in rows])
    assert broken.verdict is Judgement.REFUTED
    assert "broken by 3 of" in broken.found


def test_errata_have_the_numbers_of_closed_forms():
    two = errata()
    found = {row.erratum: (row.by_print, row.found) for row in two}
    share = {epsilon: math.exp(epsilon) / (1 + math.exp(epsilon)) for epsilon in (0.5, 1.0)}
    renyi = sum(math.log(p**2 / (1 - p) + (1 - p) ** 2 / p) for p in share.values())
    expected = {
        "P_FA twice": (1.0, 0.0),
        "or equivalently": (math.log(1.02 / 0.98), math.inf),
        "region": (1 - 0.81 / (2 * math.e), 2 * share[1.0] - 1),
        "xi twice": (0.0, renyi),
        "1 / (1 - delta)": (1 / 0.9, math.log(1 / 0.9)),
    }
    assert set(found) == set(expected)
    for name, pair in expected.items():
        assert found[name] == pytest.approx(pair, abs=1e-9), name
