"""Guessing entropy and hyper-distributions, by counting and by what they must keep."""

import itertools

import numpy as np
import pytest
from hypothesis import given

import sfumato as sf
from sfumato.leakage import (
    bayes_vulnerability,
    guessing_entropy,
    hyper_distribution,
    prior_guessing_entropy,
)

from .channels import cases, sparse_case


def fewest(weights):
    """The least expected number of guesses over all orders."""
    return min(sum(k * p for k, p in enumerate(order, 1)) for order in itertools.permutations(weights))


@given(cases(largest=4))
def test_guesses_are_the_fewest_over_all_orders(case):
    mechanism, prior = case
    joint = mechanism.joint(prior)
    assert guessing_entropy(mechanism, prior) == pytest.approx(sum(fewest(column) for column in joint.T.tolist()))
    assert prior_guessing_entropy(prior) == pytest.approx(fewest(prior.probabilities.tolist()))
    assert guessing_entropy(mechanism, prior) <= prior_guessing_entropy(prior) + 1e-12


@given(cases())
def test_beliefs_keep_the_prior_and_the_leakage(case):
    mechanism, prior = case
    found = hyper_distribution(mechanism, prior)
    assert found.outer.sum() == pytest.approx(1)
    assert found.inners.sum(axis=1) == pytest.approx(1)
    assert found.outer @ found.inners == pytest.approx(prior.probabilities)
    assert (np.diff(found.outer) <= 0).all()
    assert found.outer @ found.inners.max(axis=1) == pytest.approx(bayes_vulnerability(mechanism, prior))


def test_reports_that_say_the_same_are_one():
    mechanism, prior = sparse_case()
    split = np.hstack([mechanism.matrix * 0.25, mechanism.matrix * 0.75])
    one = hyper_distribution(mechanism, prior)
    two = hyper_distribution(sf.Mechanism(split, mechanism.secrets), prior)
    assert two.outer == pytest.approx(one.outer)
    assert two.inners == pytest.approx(one.inners)
