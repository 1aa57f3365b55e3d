"""Pairs that a bound leaves out change nothing: each notion against all pairs, on channels with zeros and ties."""

import math
from itertools import combinations, permutations

import numpy as np
import pytest

from sfumato import Mechanism, Metric
from sfumato.core import MetricPrivacy
from sfumato.divergences import (
    CHI_SQUARED,
    HELLINGER,
    KL,
    REVERSE_KL,
    TOTAL_VARIATION,
    HockeyStick,
    MaxDivergence,
    Renyi,
)
from sfumato.privacy import (
    BoundedRange,
    ConcentratedPrivacy,
    DeltaOfDifferentialPrivacy,
    DifferentialPrivacy,
    DivergenceMetricPrivacy,
    DivergencePrivacy,
    GaussianPrivacy,
    MetricDifferentialPrivacy,
    ProbabilisticDifferentialPrivacy,
    Relation,
)
from sfumato.privacy.curves.errors_of_tests import errors
from sfumato.privacy.curves.trade_off_privacy import _shifts
from sfumato.privacy.point.concentrated import Search
from sfumato.privacy.search import (
    Limits,
    affinity_limits,
    divergence_limits,
    range_limits,
    ratio_limits,
    rho_limits,
    search,
)
from sfumato.proofs import prove_metric_privacy, worst_ratios

DIVERGENCES = [TOTAL_VARIATION, CHI_SQUARED, HELLINGER, KL, REVERSE_KL, Renyi(0.5), Renyi(2.0), Renyi(300.0)]
SEEDS = range(12)


def channel(seed, *, zeros=None):
    """A random mechanism that is not square, has equal rows and equal entries, and often zeros."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 12)), int(rng.integers(2, 8))
    grains = rng.multinomial(16, np.ones(m) / m, size=n) + (0 if seed % 2 and zeros is not False else 1)
    grains[-1] = grains[0]
    return Mechanism(grains / grains.sum(axis=1, keepdims=True))


def city(n=150, m=4):
    """A mechanism of many secrets on a line, so that most pairs are left out."""
    spots = np.linspace(0, 10, m)
    rows = np.exp(-0.3 * np.abs(np.linspace(0, 10, n)[:, None] - spots)) * (1 + np.arange(m))
    return Mechanism(rows / rows.sum(axis=1, keepdims=True))


def relation(mechanism, seed):
    n = mechanism.shape[0]
    return None if seed % 3 else Relation(np.random.default_rng(seed).random((n, n)) < 0.6)


def mask(mechanism, given):
    n = mechanism.shape[0]
    return ~np.eye(n, dtype=bool) if given is None else given.array


def metric(mechanism, seed):
    """Distances of points on a line, some of which are at the same place."""
    at = np.random.default_rng(seed).integers(0, 6, size=mechanism.shape[0]).astype(float)
    return Metric(np.abs(at[:, None] - at), "km", triangle=True)


def first(values, where):
    s, t = np.unravel_index(int(np.argmax(np.where(where, values, -np.inf))), values.shape)
    return float(values[s, t]), (int(s), int(t))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("divergence", DIVERGENCES, ids=lambda each: each.name)
def test_the_largest_divergence_is_that_of_all_pairs(divergence, seed):
    mechanism = channel(seed)
    related = relation(mechanism, seed)
    found = DivergencePrivacy(divergence, related).measure(mechanism)
    value, _ = first(divergence.pairwise(mechanism), mask(mechanism, related))
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-12)
    s, t = found.witness.pair or (0, 0)
    assert divergence(mechanism.matrix[s], mechanism.matrix[t]) == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("divergence", [*DIVERGENCES, HockeyStick(0.7)], ids=lambda each: each.name)
def test_the_largest_divergence_for_a_distance_is_that_of_all_pairs(divergence, seed):
    mechanism = channel(seed)
    distances = metric(mechanism, seed)
    found = DivergenceMetricPrivacy(divergence, distances).measure(mechanism)
    values, d = divergence.pairwise(mechanism), distances.array
    apart = d > 0
    same = (d == 0) & ~np.eye(len(d), dtype=bool) & (values > 1e-12)
    rates = np.divide(values, d, out=np.zeros_like(d), where=apart)
    expected = math.inf if same.any() else float(rates[apart].max(initial=0.0))
    assert found.value == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.1, 0.9])
def test_the_least_epsilon_is_that_of_all_pairs(seed, delta):
    mechanism = channel(seed)
    related = relation(mechanism, seed)
    found = DifferentialPrivacy(related, delta).measure(mechanism)
    values = MaxDivergence(delta).pairwise(mechanism)
    value, pair = first(values, mask(mechanism, related))
    assert found.value == pytest.approx(max(0.0, value), rel=1e-12, abs=1e-15)
    assert delta or found.witness.pair == pair
    distances = metric(mechanism, seed)
    per_km = MetricDifferentialPrivacy(distances, delta).measure(mechanism)
    apart = distances.array > 0
    rates = np.divide(values, distances.array, out=np.zeros_like(values), where=apart)
    together = (distances.array == 0) & (TOTAL_VARIATION.pairwise(mechanism) > delta + 1e-12)
    expected = math.inf if together.any() else max(0.0, float(rates[apart].max(initial=0.0)))
    assert per_km.value == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0, 800.0, math.inf])
def test_the_least_delta_is_that_of_all_pairs(seed, epsilon):
    mechanism = channel(seed)
    related = relation(mechanism, seed)
    found = DeltaOfDifferentialPrivacy(epsilon, related).measure(mechanism)
    value, _ = first(HockeyStick(epsilon).pairwise(mechanism), mask(mechanism, related))
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_bounded_range_is_that_of_all_pairs(seed):
    mechanism = channel(seed)
    logs = MaxDivergence().pairwise(mechanism)
    value, pair = first(logs + logs.T, mask(mechanism, None))
    found = BoundedRange().measure(mechanism)
    assert found.value == pytest.approx(value, rel=1e-12, abs=1e-15)
    assert found.witness.pair == pair


def needed(p, q, delta):
    """The least epsilon of one pair, from all thresholds."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sizes = np.abs(np.log(p) - np.log(q))
    sizes[np.isnan(sizes)] = 0.0
    thresholds = sorted({0.0, *sizes.tolist()})
    return next(t for t in thresholds if max(p[sizes > t].sum(), q[sizes > t].sum()) <= delta)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.3])
def test_the_probabilistic_epsilon_is_that_of_all_pairs(seed, delta):
    rows = channel(seed).matrix
    found = ProbabilisticDifferentialPrivacy(delta).measure(channel(seed))
    assert found.value == pytest.approx(max(needed(p, q, delta) for p, q in combinations(rows, 2)), abs=1e-12)


@pytest.mark.parametrize("mechanism", [*(channel(seed, zeros=False) for seed in SEEDS), city()])
def test_mu_and_rho_are_those_of_all_pairs(mechanism):
    pairs = np.array(list(combinations(range(mechanism.shape[0]), 2)))
    p, q = mechanism.matrix[pairs[:, 0]], mechanism.matrix[pairs[:, 1]]
    mu = max(0.0, float(_shifts(errors(p, q)).max()))
    assert GaussianPrivacy().measure(mechanism).value == pytest.approx(mu, rel=1e-12, abs=1e-15)
    everything = Search()
    everything.improve(np.concatenate([p, q]), np.concatenate([q, p]))
    found = ConcentratedPrivacy().measure(mechanism)
    assert found.lower <= everything.upper
    assert everything.value <= found.upper
    assert found.value == pytest.approx(everything.value, rel=2e-9, abs=1e-15)


def test_gaussian_privacy_of_related_rows_whose_outputs_others_do_not_have():
    c = np.random.default_rng(0).uniform(0.3, 0.7, 92)
    rows = np.zeros((94, 4))
    rows[:92, 0], rows[:92, 1] = c, 1 - c
    rows[92:, 2] = 1e-30, 1e-8
    rows[92:, :2] = rows[0, :2] * (1 - rows[92:, 2:3])
    related = np.zeros((94, 94), dtype=bool)
    related[:92, :92] = ~np.eye(92, dtype=bool)
    related[92, 93] = related[93, 92] = True  # more pairs than are looked at together
    found = GaussianPrivacy(Relation(related)).measure(rows)
    pair = GaussianPrivacy().measure(rows[92:])
    assert found.value == pytest.approx(pair.value, rel=1e-12)
    assert found.value > 5
    assert found.witness.pair == (92, 93)


@pytest.mark.parametrize("mechanism", [*(channel(seed) for seed in SEEDS), city()])
def test_limits_are_above_what_they_limit(mechanism):
    matrix = mechanism.matrix
    rows = np.arange(len(matrix))
    logs = MaxDivergence().pairwise(matrix)
    known = [(divergence_limits(each, matrix), each.pairwise(matrix)) for each in (*DIVERGENCES, HockeyStick(0.7))]
    for limits, values in (*known, (ratio_limits(matrix), logs), (range_limits(matrix), logs + logs.T)):
        assert limits is not None
        values[rows, rows] = -np.inf
        assert (limits.of(rows) >= values).all()
        assert limits.of_rows is None or (limits.of_rows >= values.max(axis=1)).all()
    if (matrix > 0).all():
        rho = np.zeros((len(matrix), len(matrix)))
        for order in np.concatenate([1 + np.geomspace(1e-6, 60, 60), [1.0]]):
            rho = np.maximum(rho, Renyi(order).pairwise(matrix) / order)
        rho[rows, rows] = 0.0
        assert (rho_limits(matrix).of(rows) >= rho).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_search_finds_the_first_of_the_largest_and_all_that_are_close(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    values = rng.integers(0, 3, size=(n, n)).astype(float)
    if seed % 4 == 0:
        values[rng.random((n, n)) < 0.1] = np.inf
    where = rng.random((n, n)) < 0.7
    loose = values + 0.25 + rng.random((n, n))
    for limits in (None, Limits(lambda rows: loose[rows]), Limits(lambda rows: loose[rows], loose.max(axis=1))):
        top = search(where, lambda s, t: values[s, t], limits, lambda found, _s, _t: 0.25 + 0 * found)
        if not where.any():
            assert top.pair is None
            continue
        value, pair = first(values, where)
        assert (top.value, top.pair) == (value, pair)
        if np.isfinite(value):
            assert top.above == value + 0.25
            assert top.close is not None
            assert top.close.tolist() == np.argwhere(where & (values + 0.25 >= value - 0.25)).tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_proof_of_metric_privacy_is_that_of_all_ratios(seed):
    mechanism = channel(seed)
    distances = metric(mechanism, seed)
    ratios, where = worst_ratios(mechanism)
    together = [(s, t) for s, t in permutations(range(len(ratios)), 2) if distances.array[s, t] == 0]
    proof = prove_metric_privacy(mechanism, MetricPrivacy(1.0, distances))
    if any((mechanism.weights[s] != mechanism.weights[t]).any() for s, t in together):
        assert proof.upper == math.inf
        return
    apart = distances.array > 0
    with np.errstate(divide="ignore"):
        rates = np.divide(np.log(ratios), distances.array, out=np.zeros_like(ratios), where=apart)
    value, pair = first(rates, apart)
    assert proof.upper == pytest.approx(value, rel=1e-12, abs=1e-12)
    assert proof.upper >= value * (1 - 1e-15)
    assert proof.holds == (value <= 1.0)
    if value > 0:
        assert proof.worst_pair == pair
        assert proof.worst_observable == where[pair]


def test_limits_of_rho_where_reports_are_impossible():
    matrix = np.array([[0.5, 0.5, 0.0], [0.4, 0.6, 0.0], [0.2, 0.3, 0.5]])
    with np.errstate(invalid="raise"):
        limits = rho_limits(matrix).of(np.arange(3))
    alone = ((matrix[:, None] > 0) & (matrix[None] == 0)).any(axis=2)
    assert np.array_equal(np.isinf(limits), alone)
    assert not np.isnan(limits).any()


@pytest.mark.parametrize("epsilon", [300.0, 354.0, 400.0, 599.0, 699.0, 750.0])
def test_a_large_epsilon_leaves_what_only_one_can_report(epsilon):
    rows = np.array([[0.5, 0.5], [1e-200, 1.0], [0.5, 0.5]])
    wanted = max(0.0, 0.5 - math.exp(epsilon + math.log(1e-200))) if epsilon < 460 else 0.0
    assert DeltaOfDifferentialPrivacy(epsilon).measure(rows).value == pytest.approx(wanted, abs=1e-12)
    assert (affinity_limits(rows, math.exp(min(epsilon, 700.0))).of(np.arange(3)) >= 0).all()
