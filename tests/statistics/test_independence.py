"""Tests by permutation: exact levels, and power against what they are for."""

import itertools
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sfumato.core import Mechanism, Prior
from sfumato.errors import InputError
from sfumato.leakage import mutual_information_bits
from sfumato.statistics import Sample, dependence_test, zero_leakage_test

from ..catalogue import CASES, randomised_response
from .boxes import counts_of, most_failures, rows_of

REPETITIONS, FAILURE = 200, 0.2


def g_statistic(secrets, outputs):
    n, total = len(secrets), 0.0
    for s in set(secrets):
        for o in set(outputs):
            both = sum(a == s and b == o for a, b in zip(secrets, outputs, strict=True))
            if both:
                total += 2 * both * math.log(both * n / (secrets.count(s) * outputs.count(o)))
    return total


def test_the_p_value_is_the_share_of_all_orders():
    secrets, outputs = list("aaabbbb"), list("xxyxyyz")
    own = g_statistic(secrets, outputs)
    orders = [g_statistic(secrets, list(order)) for order in itertools.permutations(outputs)]
    truth = np.mean([value >= own - 1e-9 for value in orders])
    found = zero_leakage_test(Sample.of(secrets, outputs), permutations=20_000, seed=1)
    assert found.statistic == pytest.approx(own)
    assert found.p_value == pytest.approx(truth, abs=0.02)


def test_the_statistic_is_the_information_of_the_shares():
    case = CASES[0]
    counts = counts_of(rows_of(case.mechanism), 500, np.random.default_rng(2))
    shares = counts / counts.sum(axis=1, keepdims=True)
    mechanism = Mechanism(shares)
    bits = mutual_information_bits(mechanism, Prior.uniform(mechanism.secrets))
    found = zero_leakage_test(Sample(counts), seed=1)
    assert found.statistic == pytest.approx(2 * counts.sum() * math.log(2) * bits, rel=1e-9)


def test_no_leakage_is_rejected_no_more_often_than_the_level():
    rng = np.random.default_rng(3)
    row = np.array([[0.55, 0.3, 0.1, 0.05, 0.0]] * 3)
    rejected = [
        zero_leakage_test(
            Sample(counts_of(row, [10, 15, 20], rng)), permutations=49, failure=FAILURE, seed=i
        ).is_rejected
        for i in range(REPETITIONS)
    ]
    assert sum(rejected) <= most_failures(REPETITIONS, FAILURE)
    assert sum(rejected) > 0.5 * FAILURE * REPETITIONS  # the level is used, not only kept


def test_leakage_is_found():
    counts = counts_of(randomised_response(4, 0.3), 400, np.random.default_rng(4))
    found = zero_leakage_test(Sample(counts), seed=1)
    assert found.is_rejected
    assert found.p_value == 1 / 1000
    assert "is rejected" in str(found)
    assert "does not prove" in str(zero_leakage_test(Sample([[10, 10], [10, 10]]), seed=1))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", ["labels", "numbers", "points", "labels of two secrets", "constant"])
def test_independent_calls_raise_no_more_alarms_than_the_level(kind):
    rng, alarms, count = np.random.default_rng(5), 0, 120
    outputs: list[Any]
    for i in range(count):
        secrets = None
        if kind == "numbers":
            outputs = rng.laplace(size=60).tolist()
        elif kind == "points":
            outputs = list(map(tuple, rng.laplace(size=(60, 2)).tolist()))
        elif kind == "constant":
            outputs = ["x"] * 60
        else:
            outputs = rng.choice(list("abc"), 60, p=[0.5, 0.3, 0.2]).tolist()
        if kind == "labels of two secrets":
            # Blocks of secrets: the outputs of a run agree, which is no dependence.
            secrets = [s for s in range(6) for _ in range(10)]
            outputs = [o if s % 2 else o.upper() for o, s in zip(outputs, secrets, strict=True)]
        alarms += dependence_test(outputs, secrets, lags=4, permutations=39, failure=FAILURE, seed=i).is_rejected
    assert alarms <= most_failures(count, FAILURE)


def test_without_the_secrets_their_blocks_would_be_taken_for_dependence():
    outputs = np.random.default_rng(6).choice(list("ab"), 120).tolist()
    secrets = [s for s in range(4) for _ in range(30)]
    named = [o if s % 2 else o.upper() for o, s in zip(outputs, secrets, strict=True)]
    assert dependence_test(named, failure=0.001, seed=1).is_rejected
    assert not dependence_test(named, secrets, failure=0.001, seed=1).is_rejected


def reused(rng):
    """Every draw is used for two calls."""
    return [o for draw in rng.choice(list("abcd"), 200) for o in (draw, draw)]


def cycle(rng):
    """A pool of eleven draws, used again and again."""
    pool = rng.normal(size=11).tolist()
    return [pool[i % 11] for i in range(300)]


def drift(rng):
    """Noise whose centre moves."""
    return (rng.normal(size=300) + np.linspace(0, 2, 300)).tolist()


def alternating(rng):
    """The second of two calls takes back the first one's noise."""
    noise = rng.normal(size=150)
    return np.column_stack([noise, -noise + 0.1 * rng.normal(size=150)]).ravel().tolist()


def points(rng):
    """Points whose second number keeps half of the noise of the call before."""
    x = rng.normal(size=301)
    return [(float(rng.normal()), float(b) + 0.5 * float(a)) for a, b in pairwise(x)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("series", [reused, cycle, drift, alternating, points])
def test_dependent_calls_are_found(series):
    assert dependence_test(series(np.random.default_rng(7)), failure=0.001, seed=1).is_rejected


def test_what_cannot_be_tested_is_refused():
    with pytest.raises(InputError, match="never reject"):
        zero_leakage_test(Sample([[1, 2], [3, 4]]), permutations=10)
    with pytest.raises(InputError, match="collect more outputs"):
        dependence_test(["a"] * 10)
    with pytest.raises(InputError, match="but 1 secrets"):
        dependence_test(["a"] * 40, ["s"])
    with pytest.raises(InputError, match="not a value"):
        dependence_test([0.5, float("nan")] * 40)
    with pytest.raises(InputError, match="not between"):
        dependence_test(["a"] * 40, failure=1.5)
