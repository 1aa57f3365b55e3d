"""Statements of the sources that are wrong as printed: each is refuted as printed and confirmed as corrected.

Most of these tests stand with the code that gets the statement right; the table says where. The others are here.

H1   the thesis calls missed detections P_FA, as it does false alarms
H2   the sum of both errors bounds total variation; it is no equivalent of epsilon
H3   the errors that tests can have are part of the region of (epsilon, delta), in both orders, not all of it
H4   delta is not multiplied by the number of related pairs when it is lifted or composed
H5   reports about one secret do not compose outside liftings of one relation
H6   the published bound of tupling holds, but says little
H7   joint privacy can cost more than either
H8   the distortion of an optimal mechanism depends on which optimum is taken
H9   promises for near pairs are worth the dilation for all pairs
H10  semantic privacy over sets of reports is more than over single ones
H11  the plug-in Bayes error is too low on average
H12  the introductory exponential mechanism pays up to twice its epsilon
H13  composed concentrated privacy adds the rhos, too
H14  the epsilon of a ratio is its logarithm
"""

import ast
import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from sfumato.divergences import Renyi
from sfumato.privacy import (
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DistributionPrivacy,
    Family,
    ProbabilisticDifferentialPrivacy,
    Relation,
    TestingRegion,
    lifted_differential_privacy,
    product_channel,
    same_input,
)

from ..catalogue import randomised_response, unused

TESTS = Path(__file__).parents[1]

WHERE = {
    "H1": ["privacy/test_errata.py::test_missed_detections_are_no_false_alarms"],
    "H2": ["privacy/curves/test_testing_region.py::test_total_error_does_not_give_epsilon"],
    "H3": [
        "privacy/test_errata.py::test_possible_errors_are_part_of_the_region_only",
        "privacy/curves/test_testing_region.py::test_one_order_is_not_the_other",
    ],
    "H4": [
        "privacy/distributions/test_implied.py::test_the_factor_of_the_published_bound_is_unnecessary",
        "privacy/test_errata.py::test_the_factor_is_unnecessary_in_compositions_too",
    ],
    "H5": ["privacy/distributions/test_composition.py::test_reports_about_one_secret_do_not_add_up_for_any_pairs"],
    "H6": ["mechanisms/tupling/test_accountant.py::test_golden_delta_beside_the_published_bound"],
    "H7": ["optimal/test_golden.py::test_joint_privacy_can_cost_more_than_either"],
    "H8": ["optimal/test_guarantees.py::test_the_tie_break_takes_the_more_private_optimum"],
    "H9": [
        "proofs/test_corpus.py::test_thresholded_pairs_are_not_all_pairs",
        "privacy/atlas/test_atlas.py::test_metric_of_hops_and_dilation_are_attained_on_a_line",
    ],
    "H10": ["privacy/beliefs/test_semantic.py::test_golden_example_in_which_only_a_set_tells"],
    "H11": [
        "statistics/test_guessing.py::test_the_plug_in_is_above_the_truth_on_average_and_the_tested_guess_below"
    ],
    "H12": ["mechanisms/test_utility_table.py::test_the_factor_of_two_is_reached_in_the_limit_only"],
    "H13": ["privacy/test_errata.py::test_composed_concentration_adds_the_rhos"],
    "H14": ["privacy/test_errata.py::test_epsilon_of_a_report_suppressed_with_probability_delta"],
}


@pytest.mark.parametrize("item", WHERE)
def test_the_table_names_tests_that_exist(item):
    for each in WHERE[item]:
        path, _, name = each.partition("::")
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, each


def all_tests(p, q):
    """False alarms and missed detections of every set of reports that is taken for the second secret."""
    m = len(p)
    for size in range(m + 1):
        for S in itertools.combinations(range(m), size):
            rest = [o for o in range(m) if o not in S]
            yield p[list(S)].sum(), q[rest].sum()


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_missed_detections_are_no_false_alarms(epsilon):
    """H1: P_FA = P[M(D1) in S] and P_MD = P[M(D2) not in S]; printed is P_FA for both.

    With one name for both, epsilon-DP would read (1 + e**epsilon) P_FA >= 1, which the test
    that never rejects breaks for the first meaning, and the one that always does for the second.
    """
    p, q = unused(randomised_response(2, epsilon))
    assert DifferentialPrivacy().measure([p, q]).value == pytest.approx(epsilon)
    errors = list(all_tests(p, q))
    grown = math.exp(epsilon)
    sums = (
        [alarm + grown * missed for alarm, missed in errors],
        [grown * alarm + missed for alarm, missed in errors],
    )
    for each in sums:
        assert min(each) == pytest.approx(1)  # the corrected statement, and it is attained
    for meaning in (0, 1):
        assert min((1 + grown) * pair[meaning] for pair in errors) == 0


def test_possible_errors_are_part_of_the_region_only():
    """H3: printed is that the errors of all tests of an (epsilon, delta)-DP mechanism are the whole region."""
    epsilon, delta = 1.0, 0.1
    whole = TestingRegion.of_epsilon(epsilon, delta)
    for rows in (unused(np.tile([0.3, 0.7], (2, 1))), unused(randomised_response(2, epsilon))):
        assert DeltaOfDifferentialPrivacy(epsilon).measure(rows).upper <= delta
        found = TestingRegion.of(rows)
        assert found.is_within(whole)
        assert not whole.is_within(found)
        assert found.area < whole.area - 0.1


def test_the_factor_is_unnecessary_in_compositions_too():
    """H4: two reports about one of six secrets; printed is a delta times |Phi| = 30, which promises nothing."""
    matrix, relation, epsilon = unused(randomised_response(6, 2.0)), Relation.all(6), 1.5
    delta = DeltaOfDifferentialPrivacy(epsilon).measure(matrix).upper
    beliefs = np.random.default_rng(3).dirichlet(np.ones(6), 4)
    beliefs[:, 5] = 0.0
    family = Family.lift(beliefs / beliefs.sum(axis=1, keepdims=True), relation)
    together = same_input(*[lifted_differential_privacy(epsilon, family, delta)] * 2)
    assert together.value == pytest.approx(2 * epsilon)
    assert isinstance(together.notion, DistributionPrivacy)
    assert together.notion.delta == pytest.approx(2 * delta, abs=1e-9)
    assert 2 * delta * len(relation) > 1
    joint = family.distributions @ product_channel(matrix, matrix).matrix
    for p, q in itertools.permutations(joint, 2):
        assert np.maximum(p - math.exp(2 * epsilon) * q, 0).sum() <= 2 * delta


def test_composed_concentration_adds_the_rhos():
    """H13: (xi, rho) means Renyi divergence of order a at most xi + rho a; both parts add up.

    Printed is (xi1 + xi2, xi1 + xi2). Randomised response has xi = 0 and rho = epsilon**2 / 2,
    so the print would promise that two answers together reveal nothing at all.
    """
    rows, rhos = [], []
    for epsilon in (0.5, 1.0):
        rows.append(randomised_response(2, epsilon))
        rhos.append(epsilon**2 / 2)
    together = [np.kron(rows[0][s], rows[1][s]) for s in (0, 1)]
    for order in (1.5, 2.0, 8.0):
        single = [Renyi(order)(row[0], row[1]) for row in rows]
        composed = Renyi(order)(*together)
        assert composed == pytest.approx(sum(single))
        assert all(value <= rho * order for value, rho in zip(single, rhos, strict=True))
        assert composed <= sum(rhos) * order
        printed = 0.0 + 0.0 * order
        assert composed > printed + 0.1


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5])
def test_epsilon_of_a_report_suppressed_with_probability_delta(delta):
    """H14: where the ratio of probabilities is 1 / (1 - delta), epsilon is its logarithm."""
    matrix = [[1.0, 0.0], [1.0 - delta, delta]]
    found = ProbabilisticDifferentialPrivacy(delta=delta + 1e-9).measure(matrix)
    assert found.value == pytest.approx(math.log(1 / (1 - delta)), abs=1e-12)
    printed = 1 / (1 - delta)
    assert found.upper < printed
    assert matrix[0][0] == pytest.approx(math.exp(found.value) * matrix[1][0])
