"""The radius of an estimated distribution, against enumeration of all samples and against drawn users."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from sfumato.errors import InputError
from sfumato.statistics import total_variation_radius


def chance_beyond(truth, n, radius):
    """Return the exact probability that n samples give a distribution farther from the truth than a radius."""
    found = 0.0
    for counts in itertools.product(range(n + 1), repeat=len(truth)):
        if sum(counts) == n and sum(abs(c / n - p) for c, p in zip(counts, truth, strict=True)) / 2 > radius:
            ways = math.factorial(n) / math.prod(math.factorial(c) for c in counts)
            found += ways * math.prod(p**c for c, p in zip(counts, truth, strict=True))
    return found


@pytest.mark.parametrize("truth", [(0.5, 0.5), (0.2, 0.8), (0.25, 0.25, 0.25, 0.25), (0.7, 0.1, 0.1, 0.1)])
@pytest.mark.parametrize("failure", [0.05, 0.5])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_it_fails_no_oftener_than_it_says(truth, failure, n):
    assert chance_beyond(truth, n, total_variation_radius(n, len(truth), failure)) <= failure


def test_each_of_the_two_inequalities_is_the_smaller_one_somewhere():
    few, many = total_variation_radius(100, 2, 0.05), total_variation_radius(1000, 401, 0.05)
    assert few == pytest.approx(math.sqrt(math.log(2 / 0.05) / 200), rel=1e-9)
    assert many == pytest.approx(math.sqrt(400 / 1000) / 2 + math.sqrt(math.log(20) / 2000), rel=1e-9)
    assert total_variation_radius(10**6, 2000, 0.05) < total_variation_radius(10**4, 2000, 0.05)
    assert total_variation_radius(1, 400) == 1.0
    assert total_variation_radius(3, 1) == 0.0


def test_users_with_habits_of_their_own_are_samples_too():
    """Means of users' distributions, drawn from a population of two kinds of users."""
    random = np.random.default_rng(5)
    kinds = random.dirichlet(np.full(6, 0.3), 2)
    truth, failure = kinds.mean(axis=0), 0.2
    radius = total_variation_radius(30, 6, failure)
    beyond = Counter(
        bool(np.abs(kinds[random.integers(0, 2, 30)].mean(axis=0) - truth).sum() / 2 > radius) for _ in range(2000)
    )
    assert beyond[True] / 2000 <= failure


@pytest.mark.parametrize(("n", "m", "failure"), [(0, 2, 0.1), (2, 0, 0.1), (2, 2, 0.0), (2, 2, 1.0)])
def test_numbers_out_of_range_are_refused(n, m, failure):
    with pytest.raises(InputError):
        total_variation_radius(n, m, failure)
