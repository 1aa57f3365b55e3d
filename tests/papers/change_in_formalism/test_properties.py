"""The table of properties and the errata: by closed forms, and by tables with another word."""

import dataclasses
import math

import numpy as np
import pytest

from sfumato_papers.change_in_formalism import errata
from sfumato_papers.change_in_formalism.claims import _erratum, _properties
from sfumato_papers.change_in_formalism.properties import ENTRIES, property_rows
from sfumato_papers.reproduction import Judgement

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


def test_a_table_with_another_word_is_not_confirmed():
    rows = property_rows(ENTRIES[0], 1, 12)
    (right,) = _properties(rows)
    assert right.verdict is Judgement.CONFIRMED
    (wrong,) = _properties([dataclasses.replace(row, table="no") for row in rows])
    assert wrong.verdict is Judgement.UNCONFIRMED  # the table's marks are no words
    (broken,) = _properties([dataclasses.replace(row, violations=3) for row in rows])
    assert broken.verdict is Judgement.UNCONFIRMED
    assert "broken by 3 of" in broken.found


def test_errata_have_the_numbers_of_closed_forms():
    two = errata()
    found = {(row.where, row.what): (row.by_print, row.found) for row in two}
    share = {epsilon: math.exp(epsilon) / (1 + math.exp(epsilon)) for epsilon in (0.5, 1.0)}
    renyi = sum(math.log(p**2 / (1 - p) + (1 - p) ** 2 / p) for p in share.values())
    expected = {
        ("2.2.6, hypothesis testing", "P_FA"): (1.0, 0.0),
        ("2.2.6, hypothesis testing", "the least epsilon"): (math.log(1.02 / 0.98), math.inf),
        ("2.2.6, hypothesis testing", "the area of the possible errors"): (
            1 - 0.81 / (2 * math.e),
            2 * share[1.0] - 1,
        ),
        ("2.2.9, proposition 18, item 8", "the Renyi divergence of order 2, at most xi + 2 rho,"): (0.0, renyi),
        ("2.2.9, proof of proposition 13", "the least epsilon at delta .1"): (1 / 0.9, math.log(1.4)),
        ("3.1.2, proposition 21", "the least epsilon of causal DP"): (2 * math.log(1.5), math.inf),
    }
    assert set(found) == set(expected)
    for name, pair in expected.items():
        assert found[name] == pytest.approx(pair, abs=1e-9), name


def test_the_mixture_of_proposition_13_satisfies_what_the_proof_denies():
    """By sums over reports: at the printed epsilon nothing is left out, at its logarithm too much is."""
    delta = 0.1
    one, other = np.array([1 - 2 * delta, 2 * delta]), np.array([0.72, 0.28])

    def left_out(epsilon):
        """The probability of reports beyond the factor, from either input."""
        beyond = (one > math.exp(epsilon) * other) | (other > math.exp(epsilon) * one)
        return max(one[beyond].sum(), other[beyond].sum())

    assert left_out(1 / (1 - delta)) == 0
    assert left_out(math.log(1 / (1 - delta))) > delta
    assert math.log(1 / (1 - delta)) < 1 / (1 - delta)  # so the parts satisfy the printed number, too


def test_errata_are_refuted_by_their_words():
    for row in errata():
        claim = _erratum(row)
        assert claim.verdict is Judgement.REFUTED
        assert claim.quote == row.quote
        assert row.quote
