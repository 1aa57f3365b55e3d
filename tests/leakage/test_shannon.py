import math

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import ArrayLike

from sfumato.core import Mechanism, Prior
from sfumato.leakage import conditional_entropy_bits, joint_information_bits, mutual_information_bits

from .channels import cases, sparse_case, symmetric


def entropy(p: ArrayLike) -> float:
    return float(-sum(x * math.log2(x) for x in np.ravel(p) if x > 0))


def test_the_default_case_by_hand():
    mechanism, prior = sparse_case()
    posterior_entropies = [entropy([0.8, 0.2]), entropy([8 / 13, 4 / 13, 1 / 13]), entropy([2 / 9, 7 / 9])]
    remaining = np.dot([0.3125, 0.40625, 0.28125], posterior_entropies)
    assert conditional_entropy_bits(mechanism, prior) == pytest.approx(remaining, abs=1e-12)
    assert mutual_information_bits(mechanism, prior) == pytest.approx(1.5 - remaining, abs=1e-12)


@given(cases())
def test_chain_rule(case):
    mechanism, prior = case
    told, remains = mutual_information_bits(mechanism, prior), conditional_entropy_bits(mechanism, prior)
    assert told + remains == pytest.approx(prior.entropy_bits, abs=1e-12)
    by_joint = prior.entropy_bits + entropy(mechanism.marginal(prior)) - entropy(mechanism.joint(prior))
    assert told == pytest.approx(by_joint, abs=1e-12)
    assert told >= 0
    assert remains >= 0


def test_a_constant_mechanism_tells_nothing():
    mechanism = Mechanism([[0.3, 0.7, 0.0]] * 4)
    prior = Prior(mechanism.secrets, [0.1, 0.2, 0.7, 0.0])
    assert 0 <= mutual_information_bits(mechanism, prior) < 1e-30
    assert conditional_entropy_bits(mechanism, prior) == pytest.approx(prior.entropy_bits, abs=1e-15)


@pytest.mark.parametrize("bias", [1e-2, 3e-4, 1e-4, 3e-5, 1e-6, 1e-9])
def test_weak_leakage_keeps_its_digits(bias):
    mechanism = Mechanism([[0.5 + bias, 0.5 - bias], [0.5 - bias, 0.5 + bias]])
    exact = sum((2 * bias) ** (2 * k) / (2 * k * (2 * k - 1)) for k in range(1, 9)) / math.log(2)
    told = mutual_information_bits(mechanism, Prior.uniform(mechanism.secrets))
    assert told == pytest.approx(exact, rel=1e-7 if bias < 1e-8 else 1e-9)


def test_tiny_probabilities_keep_their_digits():
    rare = 1e-30
    mechanism = Mechanism([[1 - rare, rare], [1.0, 0.0]])
    told = mutual_information_bits(mechanism, Prior.uniform(mechanism.secrets))
    assert told == pytest.approx(rare / 2, rel=1e-6)

    nearly_true = symmetric(2, rare)
    remains = conditional_entropy_bits(nearly_true, Prior.uniform(nearly_true.secrets))
    assert remains == pytest.approx(rare * math.log2(1 / rare), rel=1e-6)


def test_secrets_that_are_all_but_impossible_tell_nothing():
    mechanism = Mechanism([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    assert 0 <= mutual_information_bits(mechanism, Prior(mechanism.secrets, [1.0, 5e-324])) < 1e-300
    rare = 1e-310
    assert mutual_information_bits(mechanism, Prior(mechanism.secrets, [1.0, rare])) == pytest.approx(
        -rare / 2 * math.log2(rare), rel=1e-2, abs=0
    )


def test_pairs_that_are_all_but_impossible():
    assert joint_information_bits(np.array([[1.0, 0.0], [0.0, 1e-200]])) == pytest.approx(200e-200 * math.log2(10))
    assert 0 <= joint_information_bits(np.array([[1.0, 0.0, 0.0], [0.0, 5e-324, 0.0]])) < 1e-300
