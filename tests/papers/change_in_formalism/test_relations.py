"""Relations of the thesis: which fail and which hold, with known numbers, and checks that notice an error."""

import math

import numpy as np
import pytest

from sfumato.core import Prior, Space
from sfumato.privacy import DifferentialPrivacy
from sfumato_papers.change_in_formalism.channels import case_of, cases, coin
from sfumato_papers.change_in_formalism.relations import (
    DP,
    FORMAL_RELATIONS,
    TOTAL,
    FormalRelation,
    beliefs,
    equivalent,
    implication,
    information,
    known_row,
    relation_row,
)

RELATIONS = {each.name: each for each in FORMAL_RELATIONS}
FALSE = {"(epsilon, delta)-DP to AdvPr", "AdvPr to (epsilon, delta)-DP"}
LOOSE = {"Gaussian DP to DP", "PMPr to AdvPr", "DP to SemPr", "KL to mutual information"}
TV = math.tanh(0.5)
E = math.e
NUMBERS = {
    "DP to total error": (TV, TV),
    "DP and both errors": ((E - math.sqrt(E)) / (1 + E),) * 2,
    "DP and f-DP": ((E - math.sqrt(E)) / (1 + E),) * 2,
    "(epsilon, delta)-DP to AdvPr": (0.05, 1.0),
    "AdvPr to (epsilon, delta)-DP": (
        (math.sqrt(E) - E**0.25) ** 2 / (E - 1),
        (E - math.sqrt(E)) / (1 + E),
    ),
    "ANPr to NPr, twice": (2 * math.log(2), 2 * math.log(2)),
    "InfPr to DP, twice": (2 * math.log(2), 2 * math.log(2)),
    "DP to SemPr": (math.expm1(0.01), math.tanh(0.005)),
    "bounded range to DP": (1.0000017, 1.0),
    "DP to bounded range": (2.0, 2.0),
    "bounded range to concentrated DP": (0.02**2 / 8, 0.01 * math.tanh(0.005)),
    "DP to KL": (5.0, 5 * math.tanh(2.5)),
}
"""What is allowed and found on the known channels, by closed forms."""


@pytest.mark.parametrize("name", RELATIONS)
def test_the_known_channel_attains_or_breaks_it(name):
    row = known_row(RELATIONS[name])
    assert row.known_violated == (name in FALSE)
    assert row.says.endswith(".")
    if name not in FALSE | LOOSE:
        assert row.known_found == pytest.approx(row.known_allowed, rel=0.02)
    if name in NUMBERS:
        assert (row.known_allowed, row.known_found) == pytest.approx(NUMBERS[name], rel=1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize("name", RELATIONS)
def test_random_channels_break_the_false_ones_only(name):
    row = relation_row(RELATIONS[name], 7, list(cases(7, 40)))
    assert row.instances > 10
    if name not in FALSE:
        assert row.violations == 0
        assert 0 <= row.mean_share <= row.tightness <= 1 + 1e-6


def test_a_rule_that_is_one_percent_too_small_is_noticed():
    for name in set(RELATIONS) - FALSE - LOOSE:
        relation = RELATIONS[name]

        def less(case, check=relation.check):
            found = check(case)
            return found._replace(allowed=0.97 * found.allowed)

        assert known_row(FormalRelation("", name, "", less, relation.known)).known_violated, name


def test_channels_are_channels_and_the_same_for_a_seed():
    first, again = list(cases(3, 60)), list(cases(3, 60))
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.rows, other.rows)
        assert one.rows.sum(axis=1) == pytest.approx(1)
        assert one.prior.probabilities.min() > 0
    assert any((case.rows == 0).any() for case in first)
    assert {case.size for case in first} == {2, 3, 4}


def test_maps_exchange_records():
    assert case_of(np.full((3, 2), 0.5)).exchange.tolist() == [[1, 0, -1]]


def test_beliefs_are_those_of_bayes():
    case = case_of([[0.75, 0.25], [0.25, 0.75]], Prior(Space(range(2)), [0.2, 0.8]))
    before, after = beliefs(case, case.first)
    assert before.tolist() == pytest.approx([0.2])
    assert after[0].tolist() == pytest.approx([0.15 / 0.35, 0.05 / 0.65])


def test_information_of_a_coin_is_its_capacity():
    low, high = information(coin(), (0, 1))
    p = 1 / (1 + E)
    entropy = -p * math.log(p) - (1 - p) * math.log(1 - p)
    assert low - 1e-12 <= math.log(2) - entropy <= high + 1e-12 <= low + 1e-6


def test_a_relation_without_a_finite_premise_does_not_apply():
    check = implication(lambda _: DifferentialPrivacy(), lambda _: DifferentialPrivacy(), lambda value: value)
    apart = case_of([[1.0, 0.0], [0.0, 1.0]])
    assert check(apart) is None
    with pytest.raises(ValueError, match="nothing"):
        known_row(FormalRelation("", "nothing", "", check, apart))


def test_an_equivalence_is_checked_in_both_directions():
    """The total variation of a coin is less than its epsilon."""
    assert known_row(FormalRelation("", "one", "", equivalent(DP, TOTAL))).known_violated
    assert known_row(FormalRelation("", "other", "", equivalent(TOTAL, DP))).known_violated
