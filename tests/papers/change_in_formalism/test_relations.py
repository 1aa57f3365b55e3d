"""Relations of the thesis: which fail and which hold, with known numbers, and checks that notice an error."""

import math

import numpy as np
import pytest

from sfumato.core import Prior, Space
from sfumato.privacy import DifferentialPrivacy
from sfumato_papers.change_in_formalism import GROUPS, case_of, cases, coin, implied, known, tried
from sfumato_papers.change_in_formalism.checks import beliefs, information
from sfumato_papers.change_in_formalism.relations import FormalRelation

RELATIONS = {each.name: each for group in GROUPS.values() for each in group}
FALSE = {
    "total error to DP",
    "PMPr to NMPr",
    "AdvPr to PMPr",
    "(epsilon, delta)-DP to AdvPr",
    "AdvPr to (epsilon, delta)-DP",
    "ANPr to NPr, the same",
    "InfPr to DP, the same",
    "DP of neighbours to InfPr",
    "SemPr to DP, any default",
    "SemPr by single reports",
}
LOOSE = {
    "Gaussian DP to DP",
    "PMPr to AdvPr",
    "DP to SemPr",
    "SemPr to DP, up to 1.35",
    "KL to mutual information",
}
TV = math.tanh(0.5)
E = math.e
NUMBERS = {
    "DP to total error": (TV, TV),
    "total error to DP": (2 * math.atanh(0.02), math.inf),
    "DP to both errors": ((E - math.sqrt(E)) / (1 + E),) * 2,
    "f-DP to DP": ((E - math.sqrt(E)) / (1 + E),) * 2,
    "DP to Gaussian DP": (1.232035385344901, 1.232035385344901),
    "PMPr by single reports": (math.log((1 + E) / 2), math.log((1 + E) / 2)),
    "PMPr to NMPr": (math.log(1.5), math.inf),
    "(epsilon, delta)-DP to AdvPr": (0.05, 1.0),
    "AdvPr to (epsilon, delta)-DP": (
        (math.sqrt(E) - E**0.25) ** 2 / (E - 1),
        (E - math.sqrt(E)) / (1 + E),
    ),
    "ANPr to NPr, twice": (2 * math.log(2), 2 * math.log(2)),
    "InfPr to DP, the same": (math.log(2), 2 * math.log(2)),
    "DP to SemPr": (math.expm1(0.01), math.tanh(0.005)),
    "DP to SemPr, sharp": (TV, TV),
    "DP to SemPr of defaults": (math.tanh(0.25), math.tanh(0.25)),
    "SemPr to DP, up to 1.35": (6 * math.tanh(0.0025), 0.01),
    "SemPr by single reports": ((math.sqrt(1.1875) - 1) / (math.sqrt(1.1875) + 1), 1 / 15),
    "bounded range to DP": (1.0000017, 1.0),
    "DP to bounded range": (2.0, 2.0),
    "bounded range to concentrated DP": (0.02**2 / 8, 0.01 * math.tanh(0.005)),
    "DP to KL": (5.0, 5 * math.tanh(2.5)),
    "DP to KL, sharp": (TV, TV),
    "KL to total error, sharp": (math.sqrt(0.1 * math.tanh(0.05) / 2), math.tanh(0.05)),
}
"""What is allowed and found on the known channels, by closed forms."""


@pytest.mark.parametrize("name", RELATIONS)
def test_the_known_channel_attains_or_breaks_it(name):
    row = known(RELATIONS[name])
    assert row.violated == (name in FALSE)
    assert row.says.endswith(".")
    if name not in FALSE | LOOSE:
        assert row.found == pytest.approx(row.allowed, rel=0.02)
    if name in NUMBERS:
        assert (row.allowed, row.found) == pytest.approx(NUMBERS[name], rel=1e-5), name


@pytest.mark.slow
@pytest.mark.parametrize("name", RELATIONS)
def test_random_channels_break_the_false_ones_only(name):
    row = tried(RELATIONS[name], 7, list(cases(7, 40)))
    assert row.instances > 10
    if name not in FALSE:
        assert row.violations == 0, row.witness
        assert 0 <= row.mean_share <= row.tightness <= 1 + 1e-6


def test_a_rule_that_is_one_percent_too_small_is_noticed():
    for name in set(RELATIONS) - FALSE - LOOSE:
        relation = RELATIONS[name]

        def less(case, check=relation.check):
            found = check(case)
            return found._replace(allowed=0.97 * found.allowed)

        assert known(FormalRelation(name, "", "", less, relation.known)).violated, name


def test_channels_are_channels_and_the_same_for_a_seed():
    first, again = list(cases(3, 60)), list(cases(3, 60))
    for one, other in zip(first, again, strict=True):
        assert np.array_equal(one.rows, other.rows)
        assert one.rows.sum(axis=1) == pytest.approx(1)
        assert one.prior.probabilities.min() > 0
        assert 0 < one.interval[0] <= one.interval[1] < 1
    assert any((case.rows == 0).any() for case in first)
    assert {case.size for case in first} == {2, 3, 4}


def test_maps_take_records_out_or_exchange_them():
    case = case_of(np.full((3, 2), 0.5))
    assert case.exchange.tolist() == [[1, 0, -1]]
    assert case.taken_out.tolist() == [[1, -1, -1]]


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
    check = implied(lambda _: DifferentialPrivacy(), lambda _: DifferentialPrivacy(), lambda value: value)
    apart = case_of([[1.0, 0.0], [0.0, 1.0]])
    assert check(apart) is None
    with pytest.raises(ValueError, match="nothing"):
        known(FormalRelation("nothing", "", "", check, apart))
