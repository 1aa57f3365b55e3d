"""Mechanisms that other packages sell as private, and honest ones: the proof must tell them apart."""

import math

import numpy as np
import pytest

from sfumato.core import Mechanism, Metric, MetricPrivacy, Space
from sfumato.core.metric import shortest_paths
from sfumato.proofs import prove_metric_privacy

from ..catalogue import CASES, discrete, exponential, geometric, line, randomised_response, unused
from . import exact

EPSILON = 1.0
SIDE = 3
_XY = np.array([(x, y) for x in range(SIDE) for y in range(SIDE)], dtype=float)
GRID = np.sqrt(((_XY[:, None] - _XY[None]) ** 2).sum(axis=2))


def off_by_one():
    """Randomised response that counts the truth among the other values."""
    n = 4
    matrix = np.full((n, n), 1 / (math.e + n))
    np.fill_diagonal(matrix, (math.e + 1) / (math.e + n))
    return matrix


def vertex():
    """An answer of the simplex method, with noise of the solver cut to zero."""
    matrix = geometric(5, EPSILON)
    matrix[0, 4] += matrix[4, 0]
    matrix[0, 4] = 0.0
    matrix[0] /= matrix[0].sum()
    return matrix


def unary():
    """Two bits per value, each flipped with odds e^epsilon: 2 epsilon in truth."""
    flip = 1 / (1 + math.e)
    bits = np.array([[(o >> k) & 1 for k in range(2)] for o in range(4)])
    truth = np.array([[1, 0], [0, 1]])
    return np.where(bits[None] == truth[:, None], 1 - flip, flip).prod(axis=2)


BAD = {
    "arg-max": (np.eye(9)[[0, 0, 0, 3, 3, 3, 6, 6, 6]], GRID, math.inf),
    "epsilon ignored": (0.999 * np.eye(9) + 0.001 / 9, GRID, math.log(9 * 0.999 / 0.001 + 1)),
    "off by one": (off_by_one(), discrete(4), math.log(math.e + 1)),
    "a vertex with a zero": (vertex(), line(5), math.inf),
    "unary encoding": (unary(), discrete(2), 2.0),
    "rows normalised one by one": (exponential(line(3), EPSILON), line(3), None),
    "factor 2 forgotten": (exponential(GRID, EPSILON), GRID, None),
    "half of the pairs": (np.kron(randomised_response(2, 1.0), np.eye(2)), discrete(4), math.inf),
    "a step too many": (geometric(5, 1.01 * EPSILON), line(5), 1.01),
}


@pytest.mark.parametrize("name", BAD)
def test_known_bad_is_flagged(name):
    matrix, distances, true = BAD[name]
    mechanism = Mechanism(unused(matrix))
    proof = prove_metric_privacy(mechanism, MetricPrivacy(EPSILON, Metric(distances)))
    assert not proof.holds
    assert proof.upper > EPSILON
    if true is not None:
        assert proof.upper == pytest.approx(true, rel=1e-7)
    assert proof.upper == pytest.approx(exact.epsilon(mechanism, distances), rel=1e-12)
    # The witness breaks the promise by itself.
    (s, t), o = proof.worst_pair, proof.worst_observable
    a, b = mechanism.matrix[s, o], mechanism.matrix[t, o]
    assert a > math.exp(EPSILON * distances[s, t]) * b
    assert (math.inf if b == 0 else math.log(a / b) / distances[s, t]) == pytest.approx(proof.upper)


def test_the_witness_of_a_single_flaw_is_that_flaw():
    proof = prove_metric_privacy(Mechanism(vertex()), MetricPrivacy(EPSILON, Metric(line(5))))
    assert proof.worst_pair[1] == 0
    assert proof.worst_observable == 4


def test_rows_normalised_one_by_one_reach_almost_twice_epsilon():
    for epsilon in (0.5, 1.0, 2.0):
        sold = prove_metric_privacy(
            Mechanism(exponential(line(9), epsilon)), MetricPrivacy(epsilon, Metric(line(9)))
        )
        assert not sold.holds
        assert epsilon < sold.upper <= 2 * epsilon
        honest = prove_metric_privacy(
            Mechanism(exponential(line(9), epsilon / 2)), MetricPrivacy(epsilon, Metric(line(9)))
        )
        assert honest.holds


def spanner_and_dilation():
    """The steps of a 3 x 3 grid as a spanner of the Euclidean distance: dilation sqrt(2)."""
    steps = np.where(GRID == 1, 1.0, np.inf)
    np.fill_diagonal(steps, 0.0)
    paths = shortest_paths(steps)
    return paths, float((paths / np.where(GRID > 0, GRID, np.inf)).max())


def test_a_spanner_needs_its_dilation_taken_out_of_epsilon():
    paths, dilation = spanner_and_dilation()
    assert dilation == pytest.approx(math.sqrt(2))
    euclidean = MetricPrivacy(EPSILON, Metric(GRID))
    for epsilon, holds in ((EPSILON, False), (EPSILON / dilation * (1 - 1e-9), True)):
        # Two observables whose odds lose epsilon per step away from a corner: every step of the spanner is tight.
        share = np.exp(-epsilon * paths[:, 0]) / 2
        mechanism = Mechanism(np.column_stack([share, 1 - share]))
        assert prove_metric_privacy(mechanism, MetricPrivacy(epsilon * (1 + 1e-7), Metric(paths))).holds
        proof = prove_metric_privacy(mechanism, euclidean)
        assert proof.holds is holds
        assert proof.upper == pytest.approx(epsilon * dilation, rel=1e-6)
        assert GRID[proof.worst_pair] in (math.sqrt(2), math.sqrt(8))


def test_thresholded_pairs_are_not_all_pairs():
    # Privacy Games, appendix C: only pairs within one step were asked for.
    paths, _ = spanner_and_dilation()
    share = np.exp(-EPSILON * paths[:, 0]) / 2
    mechanism = Mechanism(np.column_stack([share, 1 - share]))
    near = Metric(GRID).threshold(1.0)
    assert prove_metric_privacy(mechanism, MetricPrivacy(EPSILON * (1 + 1e-7), near)).holds
    assert not prove_metric_privacy(mechanism, MetricPrivacy(EPSILON * 1.4, Metric(GRID))).holds


def test_two_bits_of_which_each_half_is_private_and_the_pair_is_not():
    # Both halves are reported through the same coin: either alone is fair, the two together tell their parity.
    matrix = np.zeros((4, 4))
    for secret in range(4):
        for coin in (0, 3):
            matrix[secret, secret ^ coin] += 0.5
    first = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    second = np.array([[1.0, 0], [0, 1], [1, 0], [0, 1]])
    claim = MetricPrivacy(0.01, Metric(discrete(4)))
    for half in (first, second):
        assert prove_metric_privacy(Mechanism(matrix @ half), claim).holds
    assert prove_metric_privacy(Mechanism(matrix), claim).upper == math.inf


GOOD = {
    "geometric": (geometric(6, EPSILON * (1 - 1e-8)), line(6)),
    "randomised response": (randomised_response(5, EPSILON * (1 - 1e-8)), discrete(5)),
    "exponential at half": (exponential(GRID, EPSILON / 2), GRID),
    "constant": (np.tile([0.2, 0.3, 0.5], (9, 1)), GRID),
    "constant, one answer": (np.tile([1.0, 0.0], (9, 1)), GRID),
    "mixture": (0.5 * exponential(GRID, EPSILON / 2) + 0.5 / 9, GRID),
    "remapped": (exponential(GRID, EPSILON / 2) @ np.eye(9)[[0, 0, 0, 3, 3, 3, 6, 6, 6]], GRID),
}


@pytest.mark.parametrize("name", GOOD)
def test_known_good_never_is(name):
    matrix, distances = GOOD[name]
    proof = prove_metric_privacy(Mechanism(unused(matrix)), MetricPrivacy(EPSILON, Metric(distances)))
    assert proof.holds
    assert proof.upper <= EPSILON


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_deterministic_second_step_never_hurts(case):
    m = case.mechanism.shape[1]
    merged = {label: o // 2 for o, label in enumerate(case.mechanism.observables.labels)}
    remap = Mechanism.deterministic(merged, case.mechanism.observables, Space(range((m + 1) // 2)))
    claim = MetricPrivacy(1.0, case.metric)
    before = prove_metric_privacy(case.mechanism, claim).upper
    after = prove_metric_privacy(case.mechanism.then(remap), claim).upper
    assert after <= before * (1 + 1e-9) + 1e-12
