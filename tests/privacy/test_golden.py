"""The golden values of the notions: where each is tested, and all of a coin at once as an audit shows them."""

import ast
import math
from pathlib import Path

import pytest

import sfumato as sf

from ..catalogue import randomised_response, unused

TESTS = Path(__file__).parents[1]

WHERE = {
    "mu and total variation of randomised response": [
        "privacy/curves/test_gaussian.py::test_golden_values",
        "privacy/point/test_differential.py::test_randomised_response_and_the_counterexample_have_their_golden_values",
    ],
    "range of randomised response": ["privacy/point/test_bounded_range.py::test_the_coin_has_twice_its_epsilon"],
    "delta of mu 1": [
        "privacy/curves/test_gaussian.py::test_golden_values",
        "divergences/test_profile.py::test_discretised_gaussian_has_the_golden_profile",
    ],
    "counterexample F": [
        "privacy/curves/test_testing_region.py::test_total_error_does_not_give_epsilon",
        "divergences/test_profile.py::test_counterexample_f",
    ],
    "tanh of half of epsilon": ["privacy/point/test_differential.py::test_total_variation_is_at_most_tanh"],
    "adversarial privacy over all priors": [
        "privacy/beliefs/test_adversarial.py::test_golden_values_over_all_priors",
        "privacy/atlas/test_atlas.py::test_adversarial_golden_values_and_their_inverse",
    ],
    "positive membership at one half": [
        "privacy/beliefs/test_membership.py::test_golden_values_at_one_half",
        "privacy/atlas/test_atlas.py::test_membership_at_one_half_golden_values",
    ],
    "semantic privacy over sets": [
        "privacy/beliefs/test_semantic.py::test_golden_example_in_which_only_a_set_tells"
    ],
    "figure 2.8": [
        "privacy/beliefs/test_bands.py::test_published_figure",
        "studies/change_in_formalism/test_figures.py::test_every_value_is_that_of_the_published_curves",
    ],
}


@pytest.mark.parametrize("value", WHERE)
def test_the_table_names_tests_that_exist(value):
    for each in WHERE[value]:
        path, _, name = each.partition("::")
        tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, each


@pytest.fixture(scope="module")
def coin():
    """The audit of randomised response on two values of epsilon 1, with a report that is never made."""
    mechanism = sf.Mechanism(unused(randomised_response(2, 1.0)))
    return sf.audit(mechanism, prior=sf.Prior.uniform(mechanism.secrets), also=["membership(prior=every)"])


@pytest.mark.parametrize(
    ("start", "value", "digits"),
    [
        ("Differential privacy", 1.0, 1e-9),
        ("Gaussian privacy", 1.232035385344901, 1e-9),
        ("Divergence privacy (total variation", 0.462117, 1e-6),
        ("Bounded range", 2.0, 1e-9),
        ("Semantic privacy", 0.2449186624037092, 1e-9),  # tanh(1/4): a default has ratio 1 to itself
        ("Positive membership privacy", math.log((1 + math.e) / 2), 1e-9),
        ("Membership privacy (under every prior)", 1.0, 1e-9),
        ("Noiseless privacy", 1.0, 1e-9),
    ],
)
def test_an_audit_shows_the_golden_values_of_a_coin(coin, start, value, digits):
    """To the 62 bits of the integers, which are all that separates the coin from its formula."""
    entry = next(entry for entry in coin if entry.title.startswith(start))
    assert entry.value == pytest.approx(value, abs=digits)
    assert entry.bracket.lower <= value + digits
    assert value - digits <= entry.bracket.upper <= value + 2 * digits
