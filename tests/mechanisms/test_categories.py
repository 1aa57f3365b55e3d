"""Categories: epsilon proved on the integers of matrices and recipes, and closed forms against both."""

import math
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.core import MetricPrivacy, Prior, Row, Space, hamming
from sfumato.errors import InputError, UnitError
from sfumato.intervals import exp_below_exact
from sfumato.mechanisms import (
    Bits,
    Hashing,
    LocalHashing,
    RandomisedResponse,
    Subset,
    SubsetSelection,
    UnaryEncoding,
    exponential,
    randomised_response,
    remap_mechanism,
    tight_constraints,
)
from sfumato.proofs import prove_metric_privacy

FIVE = Space("abcde")


def families(space, epsilon):
    k = len(space)
    return [
        RandomisedResponse(space, epsilon),
        UnaryEncoding(space, epsilon, "symmetric"),
        UnaryEncoding(space, epsilon, "optimised"),
        *(LocalHashing(space, epsilon, g) for g in (None, 2, k + 2)),
        *(SubsetSelection(space, epsilon, d) for d in (None, 1, k - 1)),
    ]


def supports(family, recipe, report, label):
    """Whether a report supports a category, told from the report alone."""
    if isinstance(family, RandomisedResponse):
        return report == label
    if isinstance(family, LocalHashing):
        a, b, bucket = report
        return recipe.bucket(a, b, family.space.position(label)) == bucket
    return label in report


def exact_rows(family):
    """The distributions of the report that the recipe draws, in fractions, by walking through all it can do."""
    steps, labels = family.recipe(), family.space.labels
    rows = []
    for s in range(len(labels)):
        row: defaultdict[Any, Fraction] = defaultdict(Fraction)
        if isinstance(steps, Row):
            for o, w in zip(steps.mechanism.observables.labels, steps.mechanism.weights[s].tolist(), strict=True):
                row[o] += Fraction(w, 2**steps.mechanism.bits)
        elif isinstance(steps, Bits):
            w, one = steps.bit.weights.tolist(), 2**steps.bit.bits
            for bits in product((0, 1), repeat=steps.count):
                chance = math.prod(Fraction(w[int(j == s)][bit], one) for j, bit in enumerate(bits))
                row[frozenset(labels[j] for j, bit in enumerate(bits) if bit)] += chance
        elif isinstance(steps, Hashing):
            p, response = steps.prime, steps.response
            for a, b in product(range(1, p), range(p)):
                for z, w in enumerate(response.weights[steps.bucket(a, b, s)].tolist()):
                    row[a, b, z] += Fraction(w, 2**response.bits * p * (p - 1))
        else:
            assert isinstance(steps, Subset)
            others = [label for label in labels if label != labels[s]]
            for inside, w in enumerate(steps.coin.weights[0].tolist()):
                sets = list(combinations(others, steps.size - inside))
                for chosen in sets:
                    row[frozenset(chosen) | ({labels[s]} if inside else set())] += Fraction(
                        w, 2**steps.coin.bits * len(sets)
                    )
        rows.append(row)
    return rows


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("index", range(9))
def test_epsilon_is_kept_and_tight_on_the_integers_of_the_matrix(epsilon, index):
    family = families(FIVE, epsilon)[index]
    mechanism = family.mechanism()
    metric = hamming(FIVE)
    assert family.epsilon == epsilon
    found = prove_metric_privacy(mechanism, MetricPrivacy(epsilon, metric))
    assert found.holds
    assert found.upper == pytest.approx(epsilon, rel=1e-8)
    assert not prove_metric_privacy(mechanism, MetricPrivacy(epsilon - 0.01, metric)).holds


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
@pytest.mark.parametrize("index", range(9))
def test_epsilon_is_kept_and_tight_in_what_the_recipe_draws(epsilon, index):
    family = families(Space("abcd"), epsilon)[index]
    rows = exact_rows(family)
    power, bits = exp_below_exact(epsilon, 1.0)
    limit, less = Fraction(power, 2**bits), Fraction(math.exp(epsilon - 0.01))
    ratios = [p[o] / q[o] for p in rows for q in rows for o in p]
    assert all(sum(row.values()) == 1 for row in rows)
    assert less < max(ratios) <= limit
    matrix, labels = family.mechanism().matrix, family.mechanism().observables.labels
    drawn = [[float(row[label]) for label in labels] for row in rows]
    np.testing.assert_allclose(drawn, matrix, rtol=1e-8)


@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("index", range(9))
def test_support_is_that_of_the_matrix(epsilon, index):
    family = families(FIVE, epsilon)[index]
    mechanism = family.mechanism()
    p, q = family.support
    recipe = family.recipe()
    for y, label in enumerate(FIVE.labels):
        yes = np.array([supports(family, recipe, report, label) for report in mechanism.observables.labels])
        found = mechanism.matrix @ yes
        np.testing.assert_allclose(found, np.where(np.arange(5) == y, p, q), rtol=1e-8)


@pytest.mark.parametrize("size", [2, 4, 7, 8])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
@pytest.mark.parametrize("index", range(9))
def test_hamming_loss_is_the_bayes_error_of_the_matrix(size, epsilon, index):
    space = Space(range(size))
    family = families(space, epsilon)[index]
    mechanism = family.mechanism()
    right = mechanism.matrix.max(axis=0).sum() / size
    assert family.hamming_loss == pytest.approx(1 - right, rel=1e-8, abs=1e-12)
    decoded = remap_mechanism(mechanism, Prior.uniform(space), 1 - np.eye(size), space)
    assert decoded.expected_loss(Prior.uniform(space), 1 - np.eye(size)) == pytest.approx(
        family.hamming_loss, abs=1e-8
    )


def test_variances_of_the_literature():
    # Wang et al. 2017, table 1, for a frequency near 0.
    epsilon, n, k = 1.3, 500, 64
    e = math.exp(epsilon)
    space = Space(range(k))
    response, symmetric, optimised = families(space, epsilon)[:3]
    assert response.estimate_variance(0, n) == pytest.approx((k - 2 + e) / (e - 1) ** 2 / n)
    assert symmetric.estimate_variance(0, n) == pytest.approx(math.sqrt(e) / (math.sqrt(e) - 1) ** 2 / n)
    assert optimised.estimate_variance(0, n) == pytest.approx(4 * e / (e - 1) ** 2 / n)
    assert LocalHashing(space, epsilon).estimate_variance(0, n) < 1.02 * 4 * e / (e - 1) ** 2 / n
    # Near the best size, subset selection is as good as optimised unary encoding, or better.
    subset = SubsetSelection(space, epsilon)
    d = subset.size
    assert subset.estimate_variance(0, n) < optimised.estimate_variance(0, n)
    assert abs(d - k / (e + 1)) <= 1.5


def test_variance_of_an_estimate_by_simulation_of_counts():
    rng = np.random.default_rng(5)
    n, f = 400, 0.25
    for family in families(FIVE, 1.0):
        p, q = family.support
        own, others = rng.binomial(int(n * f), p, 200_000), rng.binomial(n - int(n * f), q, 200_000)
        estimates = ((own + others) / n - q) / (p - q)
        assert estimates.mean() == pytest.approx(f, abs=5e-3)
        assert estimates.var() == pytest.approx(family.estimate_variance(f, n), rel=0.02)


@given(st.integers(2, 40), st.floats(0.05, 6))
@settings(max_examples=15)
def test_the_default_subset_is_the_best(k, epsilon):
    best = min(SubsetSelection(Space(range(k)), epsilon, d).estimate_variance(0, 1) for d in range(1, k))
    assert SubsetSelection(Space(range(k)), epsilon).estimate_variance(0, 1) == pytest.approx(best, rel=1e-12)


@given(st.integers(2, 23), st.integers(2, 30))
@settings(max_examples=12)
def test_collisions_are_counted_exactly(k, g):
    family = LocalHashing(Space(range(k)), 1.0, g)
    bucket, p = family.recipe().bucket, family.prime
    seeds = list(product(range(1, p), range(p)))
    for x, y in {(0, 1), (0, k - 1), (k // 2, k // 2 - 1)}:
        together = sum(bucket(a, b, x) == bucket(a, b, y) for a, b in seeds)
        assert Fraction(together, len(seeds)) == family.collision
    assert family.collision < Fraction(1, g)
    used = sum(len({bucket(a, b, x) for x in range(k)}) for a, b in seeds)
    assert g - family._empty() == Fraction(used, len(seeds))


def test_randomised_response_in_four_ways():
    epsilon = 1.1
    metric = hamming(FIVE)
    same = randomised_response(FIVE, epsilon).matrix
    for other in (
        exponential(FIVE, metric, 2 * epsilon),
        tight_constraints(FIVE, metric, epsilon),
        RandomisedResponse(FIVE, epsilon).mechanism(),
    ):
        np.testing.assert_allclose(other.matrix, same, atol=1e-8)
    singles = SubsetSelection(FIVE, epsilon, 1).mechanism()
    assert singles.observables.labels == tuple(frozenset(label) for label in "abcde")
    np.testing.assert_allclose(singles.matrix, same, atol=1e-8)


def test_two_categories_golden():
    # G.1: total variation tanh(1/2) of randomised response at epsilon 1.
    matrix = RandomisedResponse(Space("ab"), 1.0).mechanism().matrix
    assert np.abs(matrix[0] - matrix[1]).sum() / 2 == pytest.approx(0.462117, abs=1e-6)


def test_many_categories_need_no_matrix():
    space = Space(range(1000))
    for family, count in [
        (UnaryEncoding(space, 1.0, "symmetric"), "1,000 x 10"),
        (SubsetSelection(space, 1.0), "1,000 x 10"),
        (LocalHashing(space, 1.0), r"1,000 x 4,068,288"),
    ]:
        with pytest.raises(InputError, match=count):
            family.mechanism()
        family.recipe()
        assert 0 < family.hamming_loss < 1


@pytest.mark.parametrize("epsilon", [1e-6, 40.0, 200.0, 800.0])
def test_extreme_epsilons_stay_private(epsilon):
    power, bits = exp_below_exact(epsilon, 1.0)
    for kind in ("symmetric", "optimised"):
        steps = UnaryEncoding(FIVE, epsilon, kind).recipe()
        (a, b), (c, d) = steps.bit.weights.tolist()
        assert (d * a) << bits <= power * (b * c)
        assert 0 <= UnaryEncoding(FIVE, epsilon, kind).hamming_loss < 0.8
    coin = SubsetSelection(FIVE, epsilon, 2).recipe().coin
    out, own = coin.weights[0].tolist()
    assert (own * 3) << bits <= power * out * 2


def test_bad_arguments():
    with pytest.raises(InputError, match="one category"):
        RandomisedResponse(Space("a"), 1.0)
    with pytest.raises(InputError, match="positive"):
        UnaryEncoding(FIVE, 0, "symmetric")
    with pytest.raises(UnitError):
        LocalHashing(FIVE, "1/km")
    with pytest.raises(InputError, match="kind='rappor'"):
        UnaryEncoding(FIVE, 1.0, "rappor")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="1 buckets"):
        LocalHashing(FIVE, 1.0, 1)
    for d in (0, 5):
        with pytest.raises(InputError, match="1 to 4"):
            SubsetSelection(FIVE, 1.0, d)
    with pytest.raises(InputError, match="not a share"):
        RandomisedResponse(FIVE, 1.0).estimate_variance(1.5, 3)
    with pytest.raises(InputError, match="0 reports"):
        RandomisedResponse(FIVE, 1.0).estimate_variance(0.5, 0)


def test_buckets_that_cannot_be_counted_are_refused():
    family = LocalHashing(Space(range(5000)), 1.0, 4900)
    with pytest.raises(InputError, match="takes too long"):
        _ = family.hamming_loss
