"""The least vulnerability under metric privacy: a second solver, hand cases, proofs, and what is refused."""

import math
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from sfumato.core import (
    CoordinatePrivacy,
    DistortionPrivacy,
    Mechanism,
    Metric,
    MetricPrivacy,
    Space,
    ThresholdPrivacy,
    hamming,
)
from sfumato.errors import InfeasibleError, InputError
from sfumato.geo import Lattice
from sfumato.mechanisms.strict_privacy import repair_to_private
from sfumato.optimal import Progress, SensitiveProblem, Status, least_vulnerability
from sfumato.proofs import Multipliers, class_loss_above, class_vulnerability_above, class_vulnerability_bound

from ..proofs import exact


def case(seed):
    """Classes behind places on a line, a limit of the loss between the least and that of a constant."""
    rng = np.random.default_rng(seed)
    k, n = int(rng.integers(1, 4)), int(rng.integers(2, 7))
    m = int(rng.integers(2, 6))
    places = np.sort(rng.random(n)) * 3
    joint = rng.dirichlet(np.full(k * n, 1.0)).reshape(k, n)
    joint[:, 0] = 0.0  # a place where nobody ever is
    joint /= joint.sum()
    loss = np.abs(places[:, None] - np.linspace(0, 3, m)) * 1.5
    metric = Metric(np.abs(places[:, None] - places), "km", triangle=True)
    return joint, loss, MetricPrivacy(float(rng.uniform(1.0, 6.0)), metric), float(rng.uniform(0.05, 0.9))


def by_highs(joint, loss, exponents, limit=None):
    """The least vulnerability within the loss, or without a limit the least loss, with every row written out."""
    k, n = joint.shape
    m = loss.shape[1]
    weighted = (joint.sum(axis=0)[:, None] * loss).reshape(1, -1)
    pairs = [(s, t) for s in range(n) for t in range(n) if s != t and np.isfinite(exponents[s, t])]
    ratio = np.zeros((len(pairs), n))
    for row, (s, t) in enumerate(pairs):
        ratio[row, s], ratio[row, t] = math.exp(-exponents[s, t]), -1.0
    blocks = [sparse.hstack([sparse.kron(ratio, sparse.eye(m)), np.zeros((len(pairs) * m, m))])]
    right = [np.zeros(len(pairs) * m)]
    cost = np.append(weighted, np.zeros(m))
    if limit is not None:
        cost = np.append(np.zeros(n * m), np.ones(m))
        masses = sparse.hstack([sparse.kron(joint, sparse.eye(m)), -sparse.kron(np.ones((k, 1)), sparse.eye(m))])
        blocks += [masses, sparse.hstack([sparse.csr_array(weighted), np.zeros((1, m))])]
        right += [np.zeros(k * m), np.array([limit])]
    sums = sparse.hstack([sparse.kron(sparse.eye(n), np.ones((1, m))), np.zeros((n, m))])
    found = linprog(
        cost,
        A_ub=sparse.vstack(blocks).tocsr(),
        b_ub=np.concatenate(right),
        A_eq=sums.tocsr(),
        b_eq=np.ones(n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0
    return float(found.fun)


def solved(joint, loss, limit, guarantees, **options):
    n, m = loss.shape
    return least_vulnerability(
        joint, Space(range(n)), loss, limit, observables=Space(range(m)), guarantees=guarantees, **options
    )


@settings(max_examples=6)
@given(st.integers(0, 2**32))
def test_a_second_solver_finds_the_same(seed):
    joint, loss, promise, share = case(seed)
    exponents = promise.epsilon * promise.metric.array
    low, high = by_highs(joint, loss, exponents), float((joint.sum(axis=0) @ loss).min())
    limit = low + share * (high - low) + 1e-4
    found, reference = solved(joint, loss, limit, promise), by_highs(joint, loss, exponents, limit)
    assert found.lower_bound <= reference + 1e-8
    assert found.value >= reference - 1e-8
    assert found.value == pytest.approx(reference, rel=3e-6)
    assert found.loss <= limit
    assert exact.private(found.mechanism, promise.metric.array, promise.epsilon)
    assert found.metric_privacy[0].holds
    assert found.epsilon_upper <= promise.epsilon
    assert found.mechanism.guarantees == (promise,)


def test_two_places_by_hand():
    # Randomised response: whoever sees its report guesses right with probability e / (1 + e); a limit of the loss
    # that is exactly its own leaves no other mechanism, and a larger one is all spent on hiding.
    bit, promise = Space([0, 1]), MetricPrivacy(1.0, hamming(Space([0, 1])))
    wrong = 1 / (1 + math.e)
    found = least_vulnerability(np.eye(2) / 2, bit, hamming(bit), 0.4, guarantees=promise)
    assert found.bayes_error == pytest.approx(0.4, abs=1e-6)
    assert found.epsilon_upper == pytest.approx(math.log(0.6 / 0.4), abs=1e-5)
    tight = least_vulnerability(np.eye(2) / 2, bit, hamming(bit), wrong + 1e-7, guarantees=promise)
    assert tight.bayes_error == pytest.approx(wrong, abs=1e-6)
    with pytest.raises(InfeasibleError, match=r"least possible with them is 0\.26"):
        least_vulnerability(np.eye(2) / 2, bit, hamming(bit), 0.26, guarantees=promise)


def test_the_guarantee_costs_what_it_must():
    # Two people at the ends of a street and a third place between them: only the ends' own noise hides who it is,
    # and without a promise the middle may be told as it is.
    joint = np.array([[0.4, 0.1, 0.0], [0.0, 0.1, 0.4]])
    loss = np.abs(np.arange(3)[:, None] - np.arange(3)).astype(float)
    street = Metric(loss, "km", triangle=True)
    limit = 0.49
    free = solved(joint, loss, limit, ())
    bound = solved(joint, loss, limit, MetricPrivacy(0.8, street))
    assert free.metric_privacy == ()
    assert free.rows is None
    assert free.epsilon_upper == math.inf
    assert bound.lower_bound >= free.lower_bound - 1e-12
    assert bound.value == pytest.approx(by_highs(joint, loss, 0.8 * loss, limit), abs=1e-6)
    assert "epsilon at most 0.8/km" in repr(bound)


def test_a_constant_and_a_single_class_keep_every_promise():
    joint, loss, promise, _ = case(0)
    silent = solved(joint, loss, 100.0, promise)
    assert silent.status is Status.OPTIMAL
    assert silent.epsilon_upper < 1e-9
    low = by_highs(joint, loss, promise.epsilon * promise.metric.array)
    limit = (low + float((joint.sum(axis=0) @ loss).min())) / 2
    alone = solved(joint.sum(axis=0, keepdims=True), loss, limit, promise)
    assert alone.value == pytest.approx(1.0)
    assert alone.gap <= 1e-6
    assert exact.private(alone.mechanism, promise.metric.array, promise.epsilon)


def test_secrets_that_no_hops_connect_need_not_be_alike():
    joint = np.array([[0.3, 0.2, 0.0, 0.0], [0.0, 0.0, 0.2, 0.3]])
    places = np.array([0.0, 1.0, 5.0, 6.0])
    distance = np.abs(places[:, None] - places)
    near = ThresholdPrivacy(1.0, Metric(distance, "km", triangle=True), "2 km")
    limit = 0.8
    found = solved(joint, distance, limit, near)
    assert found.value == pytest.approx(
        by_highs(joint, distance, near.epsilon * near.metric.array, limit), abs=1e-6
    )
    both = solved(joint, distance, limit, [near, MetricPrivacy(0.7, near.distance)])
    assert len(both.metric_privacy) == 2
    assert all(proof.holds for proof in both.metric_privacy)
    assert both.lower_bound >= found.lower_bound - 1e-9


def test_vertices_of_a_lattice_keep_the_promise_for_points():
    lattice = Lattice.covering("48.84,2.33,48.86,2.36", "1 km")
    n = len(lattice)
    rng = np.random.default_rng(1)
    joint = rng.dirichlet(np.ones(2 * n)).reshape(2, n)
    loss = lattice.metric("euclidean", unit="km")
    limit = 0.9 * float((joint.sum(axis=0) @ loss.array).min())
    found = least_vulnerability(joint, lattice, loss, limit, guarantees=CoordinatePrivacy("3/km"))
    assert found.metric_privacy[0].holds
    assert found.gap <= 1e-5


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_any_prices_bound_any_private_mechanism(seed):
    joint, loss, promise, _ = case(seed)
    rng = np.random.default_rng(seed)
    exponents = promise.epsilon * promise.metric.array
    n, m = loss.shape
    matrix, _ = repair_to_private(rng.dirichlet(np.full(m, 0.3), n), exponents)
    mechanism = Mechanism(matrix, Space(range(n)), Space(range(m)))
    count = int(rng.integers(0, 30))
    s, t, o = (rng.integers(0, size, count) for size in (n, n, m))
    scale = 10.0 ** rng.uniform(-4, 1)
    prices = Multipliers(s, t, o, scale * rng.exponential(size=count), exponents[s, t])
    strategy, price = rng.exponential(size=(len(joint), m)), float(rng.exponential())
    limit = class_loss_above(mechanism, joint, loss)
    bound = class_vulnerability_bound(joint, loss, limit, strategy, price, prices)
    rows = exact.probabilities(mechanism)
    reached = [
        max(sum(Fraction(float(p)) * row[z] for p, row in zip(masses, rows, strict=True)) for masses in joint)
        for z in range(m)
    ]
    assert Fraction(bound) <= sum(reached)
    # The formula, in floats.
    guess = strategy / strategy.sum(axis=0)
    costs = joint.T @ guess + price * joint.sum(axis=0)[:, None] * loss
    np.add.at(costs, (s, o), prices.local)
    np.add.at(costs, (t, o), -prices.local * np.exp(prices.exponents))
    formula = costs.min(axis=1).sum() - price * limit
    assert bound == pytest.approx(max(formula, joint.sum(axis=1).max()), abs=1e-9)


def test_prices_of_a_design_prove_its_bound_again():
    joint, loss, promise, _ = case(4)
    exponents = promise.epsilon * promise.metric.array
    low, high = by_highs(joint, loss, exponents), float((joint.sum(axis=0) @ loss).min())
    found = solved(joint, loss, (low + high) / 2, promise)
    args = joint, loss, found.problem.max_loss, found.strategy, found.price
    assert class_vulnerability_bound(*args, found.rows) == found.lower_bound
    assert class_vulnerability_bound(*args) <= found.lower_bound  # the rows' prices can only help here
    assert class_vulnerability_above(found.mechanism, joint) == found.value


def test_time_limit_stop_and_progress():
    rng = np.random.default_rng(0)
    places = rng.random((12, 2))
    distance = np.linalg.norm(places[:, None] - places, axis=2)
    joint = rng.dirichlet(np.full(36, 0.3)).reshape(3, 12)
    promise = MetricPrivacy(6.0, Metric(distance, triangle=True))
    steps: list[Progress] = []
    whole = solved(joint, distance, 0.2, promise, progress=steps.append)
    assert tuple(steps) == whole.log
    assert all(step.value >= whole.lower_bound - 1e-9 for step in steps)
    assert all(step.bound <= whole.value + 1e-9 for step in steps)
    stopped = solved(joint, distance, 0.3, promise, stop=lambda: True)
    assert stopped.status is Status.OPTIMAL  # a closed form hides the class completely
    assert stopped.loss <= 0.3
    assert stopped.metric_privacy[0].holds
    assert stopped.lower_bound <= stopped.value


def test_what_cannot_be_asked_together_is_refused():
    bit = Space([0, 1])
    loss, joint = hamming(bit), np.eye(2) / 2
    with pytest.raises(InputError, match="guesses the sensitive value"):
        least_vulnerability(joint, bit, loss, 0.4, guarantees=DistortionPrivacy(0.1, loss))
    with pytest.raises(InputError, match="for 3 secrets, but there are 2"):
        least_vulnerability(joint, bit, loss, 0.4, guarantees=MetricPrivacy(1.0, hamming(Space("abc"))))
    with pytest.raises(InputError, match="is not a guarantee"):
        least_vulnerability(joint, bit, loss, 0.4, guarantees=cast(Any, [1.0]))
    with pytest.raises(InputError, match="objective 'information'"):
        SensitiveProblem(joint, bit, loss, 0.4, "information", guarantees=MetricPrivacy(1.0, loss))
    assert "epsilon 1" in repr(
        SensitiveProblem(joint, bit, loss, 0.4, "vulnerability", None, MetricPrivacy(1, loss))
    )


def test_a_usual_gap_is_enough_where_the_attacker_succeeds_almost_surely_without_a_report():
    bit = Space([0, 1])
    promise = MetricPrivacy(1.0, hamming(bit))
    found = least_vulnerability([[0.5, 0.497], [0, 0.003]], bit, hamming(bit), 0.3, guarantees=promise, gap=0.01)
    assert found.status is Status.OPTIMAL
    assert found.lower_bound <= found.value <= found.lower_bound * 1.011
    assert found.value == pytest.approx(0.997, abs=1e-6)  # no report makes the rare class the likelier one
