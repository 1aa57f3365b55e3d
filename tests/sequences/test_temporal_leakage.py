"""Temporal leakage: golden numbers, reports of small chains in fractions, closed forms, dense dual programs."""

from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import InputError
from sfumato.sequences import MarkovChain, temporal_leakage
from sfumato.sequences.temporal_leakage import _Cone
from sfumato.transport import wasserstein

LINE = np.abs(np.subtract.outer(range(3), range(3))).astype(float)
WALK = [[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.0, 0.2, 0.8]]
PRIOR = [0.25, 0.5, 0.25]
LN2 = np.log(2)
ALL = np.argwhere(~np.eye(3, dtype=bool))


def geometric_rows(size, epsilon):
    """Exact geometric mechanism on 0..size-1 that satisfies epsilon ln 2 per step."""
    a = Fraction(1, 2**epsilon)
    rows = [[a ** abs(x - o) * (1 - a) / (1 + a) for o in range(size)] for x in range(size)]
    for x in range(size):
        rows[x][0], rows[x][-1] = a**x / (1 + a), a ** (size - 1 - x) / (1 + a)
    return rows


def likelihoods(prior, kernels, columns, tick):
    """p(reports | place at the tick) in fractions, None for impossible places; columns[t][x] = M_t(o_t|x)."""
    n = len(prior)
    ahead, law = [p * c for p, c in zip(prior, columns[0], strict=True)], list(prior)
    for kernel, column in zip(kernels[:tick], columns[1 : tick + 1], strict=True):
        ahead = [sum(ahead[k] * kernel[k][i] for k in range(n)) * column[i] for i in range(n)]
        law = [sum(law[k] * kernel[k][i] for k in range(n)) for i in range(n)]
    after = [Fraction(1)] * n
    for kernel, column in zip(kernels[tick:][::-1], columns[tick + 1 :][::-1], strict=True):
        after = [sum(kernel[i][k] * column[k] * after[k] for k in range(n)) for i in range(n)]
    return [a * b / m if m else None for a, b, m in zip(ahead, after, law, strict=True)]


def random_law(rng, n):
    weights = [int(w) for w in rng.integers(0, 7, n) * (rng.random(n) < 0.7)]
    weights[int(rng.integers(n))] += 1
    return [Fraction(w, sum(weights)) for w in weights]


def test_golden_line():
    leakage = temporal_leakage(PRIOR, WALK, LINE, [LN2] * 3)
    factors: dict[str, Any] = {
        "backward": (
            {(0, 1): [2, Fraction(24, 7), Fraction(206, 41)], (1, 2): [2, Fraction(7, 2), Fraction(82, 15)]}
        ),
        "total": {
            (0, 1): [Fraction(206, 41), Fraction(288, 49), Fraction(206, 41)],
            (0, 2): [Fraction(412, 15), 36, Fraction(412, 15)],
        },
    }
    for name, pairs in factors.items():
        for (i, j), exact in pairs.items():
            np.testing.assert_allclose(np.exp(getattr(leakage, name)[:, i, j]), np.array(exact, float), rtol=1e-11)
    np.testing.assert_allclose(leakage.forward, leakage.backward[::-1], rtol=1e-11)  # the chain is reversible
    assert (leakage.worst_tick, set(leakage.worst_pair)) == (1, {0, 2})
    assert 36 <= leakage.factor <= 36 * (1 + 1e-10)
    assert "stated prior on 3 places" in str(leakage)
    long = temporal_leakage(PRIOR, [WALK] * 31, LINE, [LN2] * 32)
    np.testing.assert_allclose(np.exp(long.backward[3, [0, 1], [1, 2]]), [6920 / 1083, 1083 / 142], rtol=1e-11)
    np.testing.assert_allclose(np.exp(long.backward[31, [0, 1], [1, 2]]), [8.396252, 12.476403], rtol=1e-6)


def test_golden_five_ticks():
    rows = [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]]
    space = sf.Space.numbers(range(3))
    chain = MarkovChain(sf.Prior.uniform(space), sf.Mechanism(rows, space, space))
    leakage = temporal_leakage(chain.initial, chain.transition, space.metric("absolute"), [0.5] * 5)
    golden = [1, 1.289011, 1.363974, 1.382589, 1.387164]
    np.testing.assert_allclose(leakage.backward[:, 0, 2], golden, atol=5e-7)


def test_golden_ratios_are_at_most_both_simple_bounds():
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    apart = np.hypot(*(points[:, None] - points).T)
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    for scale, golden in ((0.7, 0.2254278165), (2.0, 0.6105658399)):
        ratio = _Cone(scale * apart, ALL).log_ratio(p, q)
        assert ratio == pytest.approx(golden, abs=5e-11)
        assert ratio <= min(0.9162907, wasserstein(p, q, scale * apart, np.inf).distance.value)


@pytest.mark.parametrize("seed", range(6))
def test_no_report_of_adaptive_private_mechanisms_exceeds_the_bound(seed):
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(5, 3, replace=False))
    prior, kernels = random_law(rng, 3), [[random_law(rng, 3) for _ in range(3)] for _ in range(2)]
    sides = [rng.integers(0, 3, 5) for _ in range(3)]  # reports are merged into three, by a map for each tick
    paths: Any = defaultdict(list)
    for reports in product(range(3), repeat=3):
        steps_of_path, columns = [], []
        for t, o in enumerate(reports):
            steps_of_path.append(1 if t == 0 else 1 + (reports[t - 1] == 0))
            rows = geometric_rows(5, steps_of_path[-1])
            columns.append([sum((rows[x][k] for k in np.flatnonzero(sides[t] == o)), Fraction(0)) for x in places])
        if all(map(any, columns)):
            paths[tuple(steps_of_path)].append(columns)
    distances = np.abs(np.subtract.outer(places, places)).astype(float)
    start, *rest = (np.array(array, dtype=float) for array in (prior, *kernels))
    compared = 0
    for epsilons, days in paths.items():
        leakage = temporal_leakage(start, rest, distances, np.array(epsilons) * LN2)
        steps = np.array(epsilons)[:, None, None] * LN2 * distances
        assert not (leakage.total > leakage.backward + leakage.forward - steps + 1e-12).any()
        for columns, tick in product(days, range(3)):
            likelihood = likelihoods(prior, kernels, columns, tick)
            for i, j in ALL:
                if likelihood[i] is None or likelihood[j] is None:
                    assert np.isnan(leakage.total[tick, i, j])
                elif likelihood[i]:
                    compared += 1
                    assert np.log(float(likelihood[i] / likelihood[j])) <= leakage.total[tick, i, j] + 1e-13
    assert compared > 50


def test_two_places_have_the_closed_form_for_the_discrete_metric():
    stay, leave, epsilon = 0.8, 0.3, 0.7
    leakage = temporal_leakage([0.5, 0.5], [[stay, 1 - stay], [leave, 1 - leave]], 1 - np.eye(2), [epsilon] * 4)
    forward = epsilon
    for t in (2, 1, 0):  # Cao et al.: ln (q (e^a - 1) + 1) / (d (e^a - 1) + 1)
        grown = np.expm1(forward)
        forward = epsilon + np.log((stay * grown + 1) / (leave * grown + 1))
        bound = leakage.forward[t, 0, 1]
        other = leakage.forward[t + 1, 1, 0]
        back = epsilon + np.log(((1 - leave) * np.expm1(other) + 1) / ((1 - stay) * np.expm1(other) + 1))
        assert (bound, leakage.forward[t, 1, 0]) == pytest.approx((forward, back), rel=1e-11)


def test_permutations_sum_along_paths_and_slacks_are_added():
    turn = np.roll(np.eye(3), 1, axis=1)
    epsilons, slacks = np.array([1.0, 20.0, 2.0]), np.array([0.1, 0.0, 0.2])
    leakage = temporal_leakage([0.2, 0.3, 0.5], turn, LINE, epsilons, slacks)
    steps = epsilons[:, None, None] * (LINE + slacks[:, None, None] * (1 - np.eye(3)))
    order = np.arange(3)
    for t in range(3):
        exact = sum(steps[s][np.ix_((order + s - t) % 3, (order + s - t) % 3)] for s in range(3))
        np.testing.assert_allclose(leakage.total[t], exact, rtol=1e-10)
    stay = temporal_leakage([0.2, 0.3, 0.5], np.eye(3), LINE, epsilons)
    np.testing.assert_allclose(stay.total, np.broadcast_to(23 * LINE, (3, 3, 3)), rtol=1e-10)


def dense_dual(p, q, exponents):
    """min of max over l of sum_k e^B_kl gamma_kl / q_l, over gamma >= 0 of row sums p."""
    n = len(p)
    costs = np.hstack([np.kron(np.ones((1, n)), np.eye(n)) * np.exp(exponents).ravel(), -q[:, None]])
    rows = np.hstack([np.kron(np.eye(n), np.ones((1, n))), np.zeros((n, 1))])
    return linprog(np.eye(n * n + 1)[-1], A_ub=costs, b_ub=np.zeros(n), A_eq=rows, b_eq=p).fun


def test_bounds_are_above_the_dual_program_and_near_it_whatever_the_multipliers():
    rng = np.random.default_rng(4)
    for _ in range(60):
        n = int(rng.integers(2, 6))
        exponents = sf.core.shortest_paths(rng.uniform(0.1, 3, (n, n)))  # not symmetric
        p, q = (rng.dirichlet(np.ones(n)) * (rng.random(n) < 0.7) + 1e-3 * np.eye(n)[0] for _ in range(2))
        p, q = p / p.sum(), q / q.sum()
        cone = _Cone(exponents, np.argwhere(~np.eye(n, dtype=bool)))
        exact = dense_dual(p, q, exponents)
        assert exact * (1 - 1e-9) <= np.exp(cone.log_ratio(p, q)) <= exact * (1 + 1e-9)
        for scale in (0.0, 0.01, 0.3):
            assert cone.ratio(p, q, scale * rng.random(len(cone.factors))) >= exact * (1 - 1e-9)


def test_bounds_along_a_spanner_are_above_those_of_all_pairs():
    rng = np.random.default_rng(6)
    points = rng.uniform(0, 3, (18, 2))
    distances = np.hypot(*(points[:, None] - points).T)
    kernel = rng.dirichlet(np.ones(18), 18) + np.exp(-4 * distances)
    kernel /= kernel.sum(axis=1, keepdims=True)
    spanner, pairs = (temporal_leakage(np.ones(18) / 18, kernel, distances, [1, 2], dilation=q) for q in (2, 1))
    assert (spanner.total >= pairs.total - 1e-9).all()
    near = (slice(None), np.arange(18), np.argmin(distances + 9 * np.eye(18), axis=1))
    assert (spanner.total[near] <= 1.1 * pairs.total[near]).all()
    assert (spanner.total <= 2.5 * pairs.total + 1e-9).all()


def test_total_is_at_most_the_distance_of_whole_days():
    smaller = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        prior, kernels = random_law(rng, 3), [[random_law(rng, 3) for _ in range(3)] for _ in range(2)]
        start, *rest = (np.array(array, dtype=float) for array in (prior, *kernels))
        leakage = temporal_leakage(start, rest, LINE, [1, 2, 1])
        days = np.array(list(product(range(3), repeat=3)))
        law = start[days[:, 0]] * rest[0][days[:, 0], days[:, 1]] * rest[1][days[:, 1], days[:, 2]]
        apart = np.abs(days[:, None] - days) @ [1, 2, 1]
        chain = leakage.backward + leakage.forward - np.array([1, 2, 1])[:, None, None] * LINE
        for tick in range(3):
            for i, j in ALL[~np.isnan(leakage.total[tick][tuple(ALL.T)])]:
                p, q = (law * (days[:, tick] == place) for place in (i, j))
                distance = wasserstein(p / p.sum(), q / q.sum(), apart, np.inf).distance.value
                assert leakage.total[tick, i, j] <= distance + 1e-9
                smaller += leakage.total[tick, i, j] < chain[tick, i, j] - 1e-6
    assert smaller > 10


def test_wrong_models_are_refused():
    wrong: list[dict[str, Any]] = [
        {"prior": [0.5, 0.5]},
        {"prior": [0.5, 0.5, 0.5]},
        {"kernels": [WALK, WALK, WALK]},
        {"kernels": np.ones((3, 3))},
        {"epsilons": []},
        {"epsilons": [1, -1, 1]},
        {"slacks": [1, 1]},
        {"slacks": -1},
        {"dilation": 0.9},
        {"kernels": [[1e-300, 1, 0], [0, 1, 0], [0, 0, 1]]},
    ]
    good: dict[str, Any] = {"prior": PRIOR, "kernels": WALK, "distances": LINE, "epsilons": [1, 1, 1]}
    for arguments in wrong:
        with pytest.raises(InputError):
            temporal_leakage(**{**good, **arguments})
