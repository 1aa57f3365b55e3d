"""Designs with linear constraints of one's own, or several attackers: a second solver, hand cases, refusals."""

import math
import pickle
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

import sfumato as sf
from sfumato.errors import InfeasibleError, InputError, SolverError, UnitError
from sfumato.mechanisms.strict_privacy import repair_to_private
from sfumato.optimal import (
    Auto,
    Control,
    LinearConstraint,
    LinearSolver,
    Solution,
    Status,
    Structured,
    equilibrium,
)
from sfumato.optimal.extensions.constrained import _Search, with_most_room
from sfumato.optimal.extensions.demands import Demands
from sfumato.optimal.problem import least_loss
from sfumato.optimal.solver_registry import Highs
from sfumato.proofs import (
    ManyMultipliers,
    Multipliers,
    as_dict,
    distortion_below,
    many_loss_bound,
    prove_constraint,
    prove_optimality,
)

from ..proofs import exact


def line(n, step=1.0):
    """Places on a line and the distance between them."""
    places = step * np.arange(n)
    return sf.Space(range(n)), sf.Metric(np.abs(places[:, None] - places), "km", triangle=True)


def by_highs(prior, loss, exponents, constraints=(), attackers=(), *, worst=False):
    """The least loss with every row written out, by the simplex method; None where there is none."""
    n, m = loss.shape
    size, extra = n * m, len(attackers) * m + worst
    rows, right = [], []

    def add(block, limit):
        rows.append(sparse.hstack([block, sparse.csr_array((block.shape[0], size + extra - block.shape[1]))]))
        right.append(np.full(block.shape[0], limit))

    pairs = [(s, t) for s in range(n) for t in range(n) if s != t and np.isfinite(exponents[s, t])]
    ratio = np.zeros((len(pairs), n))
    for row, (s, t) in enumerate(pairs):
        ratio[row, s], ratio[row, t] = math.exp(-exponents[s, t]), -1.0
    add(sparse.kron(ratio, sparse.eye(m)), 0.0)
    for constraint in constraints:
        add(sparse.csr_array(constraint.coefficients.reshape(1, -1)), constraint.at_most)
    for j, attacker in enumerate(attackers):
        guesses = attacker.distance.array
        own = sparse.csr_array((len(guesses) * m, size + extra)).tolil()
        own[:, :size] = -sparse.kron(prior * guesses, sparse.eye(m))
        own[:, size + j * m : size + (j + 1) * m] = sparse.kron(np.ones((len(guesses), 1)), sparse.eye(m))
        add(own.tocsr(), 0.0)
        total = sparse.lil_array((1, size + extra))
        total[0, size + j * m : size + (j + 1) * m] = -1.0
        add(total.tocsr(), -attacker.minimum)
    cost = np.concatenate([(prior[:, None] * loss).ravel(), np.zeros(extra)])
    if worst:
        each = sparse.lil_array((n, size + extra))
        for s in range(n):
            each[s, s * m : (s + 1) * m] = loss[s]
        each[:, -1] = -1.0
        add(each.tocsr(), 0.0)
        cost = np.append(np.zeros(size + extra - 1), 1.0)
    sums = sparse.hstack([sparse.kron(sparse.eye(n), np.ones((1, m))), sparse.csr_array((n, extra))])
    found = linprog(
        cost,
        A_ub=sparse.vstack(rows).tocsr(),
        b_ub=np.concatenate(right),
        A_eq=sums.tocsr(),
        b_eq=np.ones(n),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status in (0, 2)
    return float(found.fun) if found.status == 0 else None


def random_case(seed):
    """A prior, a loss, a promise, and one to three constraints that some private mechanism keeps."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(2, 5))
    space, metric = line(n, float(rng.uniform(0.3, 2.0)))
    weights = rng.dirichlet(np.ones(n))
    weights[0] = 0.0
    prior = sf.Prior.from_counts(space, weights)
    loss = rng.random((n, m)) if seed % 3 else rng.integers(0, 3, (n, m)).astype(float)
    promise = sf.MetricPrivacy(float(rng.uniform(0.5, 4.0)), metric)
    inside, _ = repair_to_private(rng.dirichlet(np.ones(m), n), promise.epsilon * metric.array)
    constraints = []
    for k in range(int(rng.integers(1, 4))):
        a = rng.normal(size=(n, m)) * 10.0 ** rng.integers(-3, 4)
        constraints.append(
            LinearConstraint(a, float((a * inside).sum()) + 1e-4 * np.abs(a).max(), name=f"row {k}")
        )
    return prior, loss, promise, constraints


class Asleep(LinearSolver):
    """A back-end that is never in time."""

    name = "asleep"

    def solve(self, program, *, time_limit, stop):
        return Solution(Status.TIME_LIMIT, None, None, 0)


def reports(m):
    return sf.Space([f"report {o}" for o in range(m)])


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.booleans())
def test_a_second_solver_finds_the_same(seed, worst):
    prior, loss, promise, constraints = random_case(seed)
    found = sf.design(
        prior,
        loss=loss,
        guarantees=promise,
        constraints=constraints,
        observables=reports(loss.shape[1]),
        objective="worst-case" if worst else "expected",
    )
    exponents = promise.epsilon * promise.metric.array
    reference = by_highs(prior.probabilities, loss, exponents, constraints, worst=worst)
    proof = found.certificate
    assert proof.holds
    assert proof.bound <= reference + 1e-8
    assert proof.value >= reference - 1e-8
    assert proof.value == pytest.approx(reference, rel=1e-5, abs=1e-6)
    assert exact.private(found.mechanism, promise.metric.array, promise.epsilon)
    rows = exact.probabilities(found.mechanism)
    for constraint, kept in zip(constraints, proof.constraints, strict=True):
        total = sum(
            (
                Fraction(float(a)) * p
                for each, row in zip(constraint.coefficients, rows, strict=True)
                for a, p in zip(each, row, strict=True)
            ),
            Fraction(0),
        )
        assert total <= Fraction(kept.upper) <= Fraction(constraint.at_most)
        assert kept.upper == pytest.approx(
            float(total), rel=1e-12, abs=1e-12 * np.abs(constraint.coefficients).max()
        )


def test_a_limit_of_one_report_by_hand():
    # Two secrets, nothing to hide: the truth loses nothing, and a limit on one report costs what it takes from it.
    space = sf.Space("ab")
    prior = sf.Prior(space, [0.5, 0.5])
    half = LinearConstraint([[0, 0], [0, 1]], 0.25, name="b told as b")
    found = sf.design(prior, loss=sf.hamming(space), guarantees=(), constraints=half)
    assert found.certificate.loss == pytest.approx(0.5 * 0.75, abs=1e-6)
    assert found.certificate.loss >= 0.375
    assert found.certificate.bound <= 0.375
    assert found.certificate.constraints[0].upper <= 0.25
    assert "b told as b at most 0.25" in found.certificate.constraints[0].constraint
    assert found.optimality is not None
    assert found.optimality.limits == pytest.approx([0.5], abs=1e-6)
    assert "general program" in found.solver


def test_a_limit_that_does_not_bind_changes_nothing():
    space, metric = line(4)
    prior = sf.Prior(space, [0.1, 0.4, 0.3, 0.2])
    promise = sf.MetricPrivacy(1.0, metric)
    free = sf.design(prior, loss=metric, guarantees=promise)
    limited = sf.design(
        prior, loss=metric, guarantees=promise, constraints=LinearConstraint.expected_loss(prior, metric, "3 km")
    )
    assert limited.certificate.loss == pytest.approx(free.certificate.loss, rel=1e-6)
    assert limited.certificate.bound <= free.certificate.loss
    assert free.certificate.constraints == ()


def test_a_second_loss_is_kept_below_its_limit():
    space, metric = line(5)
    prior = sf.Prior(space, [0.3, 0.1, 0.2, 0.1, 0.3])
    promise = sf.MetricPrivacy(1.0, metric)
    free = sf.design(prior, loss=sf.hamming(space), guarantees=promise)
    before = free.mechanism.expected_loss(prior, metric)
    least = sf.design(prior, loss=metric, guarantees=promise).certificate.loss
    limit = (before + least) / 2
    second = LinearConstraint.expected_loss(prior, metric, f"{1000 * limit!r} m")
    found = sf.design(prior, loss=sf.hamming(space), guarantees=promise, constraints=second)
    assert exact.expected(found.mechanism, prior, metric.array) <= Fraction(second.at_most)
    assert found.certificate.loss >= free.certificate.bound
    reference = by_highs(prior.probabilities, sf.hamming(space).array, metric.array, [second])
    assert found.certificate.loss == pytest.approx(reference, rel=1e-5)


@settings(max_examples=8)
@given(st.integers(0, 2**32))
def test_several_attackers_all_err_as_much_as_asked(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    space, metric = line(n)
    prior = sf.Prior.from_counts(space, rng.dirichlet(np.ones(n)))
    loss = rng.random((n, m))
    attackers = []
    for _ in range(int(rng.integers(2, 4))):
        distance = rng.random((int(rng.integers(2, 5)), n))
        blind = float((distance @ prior.probabilities).min())
        attackers.append(sf.DistortionPrivacy(float(rng.uniform(0.2, 0.98)) * blind, distance))
    promise = [sf.MetricPrivacy(2.0, metric)] if seed % 2 else []
    found = sf.design(prior, loss=loss, guarantees=[*promise, *attackers], observables=reports(m))
    exponents = 2.0 * metric.array if promise else np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    reference = by_highs(prior.probabilities, loss, exponents, attackers=attackers)
    assert found.certificate.holds
    assert len(found.certificate.distortion) == len(attackers)
    assert found.certificate.bound <= reference + 1e-8
    assert found.certificate.loss >= reference - 1e-8
    assert found.certificate.loss == pytest.approx(reference, rel=1e-5, abs=1e-6)
    for attacker in attackers:
        assert exact.distortion(found.mechanism, prior, attacker.distance.array) >= Fraction(attacker.minimum)


def test_several_attackers_cost_at_least_as_much_as_each_alone():
    space, metric = line(5)
    prior = sf.Prior(space, [0.1, 0.2, 0.4, 0.2, 0.1])
    by_place, by_name = sf.DistortionPrivacy("500 m", metric), sf.DistortionPrivacy(0.5, sf.hamming(space))
    both = sf.design(prior, loss=metric, guarantees=[by_place, by_name])
    for alone in (by_place, by_name):
        assert both.certificate.loss >= sf.design(prior, loss=metric, guarantees=alone).certificate.bound
    assert distortion_below(both.mechanism, prior, metric) >= 0.5
    assert distortion_below(both.mechanism, prior, sf.hamming(space)) >= 0.5
    twice = sf.design(prior, loss=metric, guarantees=[by_place, by_place])
    once = sf.design(prior, loss=metric, guarantees=by_place)
    assert twice.certificate.loss == pytest.approx(once.certificate.loss, rel=1e-5)


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_any_prices_bound_any_mechanism_that_keeps_the_demands(seed):
    prior, loss, promise, constraints = random_case(seed)
    rng = np.random.default_rng(seed)
    n, m = loss.shape
    exponents = promise.epsilon * promise.metric.array
    matrix, _ = repair_to_private(rng.dirichlet(np.full(m, 0.5), n), exponents)
    mechanism = sf.Mechanism(matrix, prior.space, reports(m))
    kept = [LinearConstraint(each.coefficients, prove_constraint(mechanism, each).upper) for each in constraints]
    distance = rng.random((3, n))
    attacker = sf.DistortionPrivacy(distortion_below(mechanism, prior, distance), distance)
    masses = rng.dirichlet(np.ones(n), int(rng.integers(1, 4)))
    s, t, o = (rng.integers(0, size, 10) for size in (n, n, m))
    prices = ManyMultipliers(
        Multipliers(s, t, o, rng.normal(size=10) * 0.05, exponents[s, t]),
        rng.normal(size=len(masses)) + 0.5,
        (rng.normal(size=(3, m)) + 0.3,),
        rng.normal(size=len(kept)) * 1e-3,
    )
    bound = many_loss_bound(
        masses, loss, prices, prior=prior.probabilities, attackers=[attacker], constraints=kept
    )
    rows = exact.probabilities(mechanism)
    losses = [
        sum(
            Fraction(float(mass)) * p * Fraction(float(cost))
            for mass, row, costs in zip(each, rows, loss, strict=True)
            for p, cost in zip(row, costs, strict=True)
        )
        for each in masses
    ]
    assert Fraction(bound) <= max(losses)


def test_what_nobody_can_keep_is_refused_with_its_reason():
    space, metric = line(3)
    prior, promise = sf.Prior.uniform(space), sf.MetricPrivacy(1.0, metric)

    def asked(*constraints, **options):
        return sf.design(prior, loss=metric, guarantees=promise, constraints=constraints, **options)

    least = sf.design(prior, loss=metric, guarantees=promise).certificate.loss
    scope = "with this guarantee and these reports satisfies the constraint"
    with pytest.raises(InfeasibleError, match=scope) as error:
        asked(LinearConstraint.expected_loss(prior, metric, 0.9 * least))
    named = float(error.value.problem.split("at least ")[1].split(" m")[0]) / 1000
    assert named == pytest.approx(least, rel=1e-4)
    first = np.zeros((3, 3))
    first[:, 0] = 1.0
    at_most, at_least = LinearConstraint(first, 0.6, name="first"), LinearConstraint(-first, -0.7, name="of first")
    with pytest.raises(InfeasibleError, match=r"all of these: first at most 0\.6; of first at most -0\.7"):
        asked(at_most, at_least)
    with pytest.raises(InfeasibleError, match="room for rounding"):
        asked(at_most, LinearConstraint(-first, -0.6))
    with pytest.raises(InfeasibleError, match="the best guess is"):
        sf.design(
            prior, loss=metric, guarantees=[sf.DistortionPrivacy(0.1, metric), sf.DistortionPrivacy(9, metric)]
        )
    narrow = asked(at_most, LinearConstraint(-first, -0.6 + 2e-8))
    assert narrow.certificate.holds
    assert narrow.certificate.gap < 1e-4


def test_what_does_not_fit_is_refused():
    space, metric = line(3)
    prior, promise = sf.Prior.uniform(space), sf.MetricPrivacy(1.0, metric)
    ones = LinearConstraint(np.ones((3, 3)), 4.0)

    def asked(**options):
        return sf.design(prior, loss=metric, **{"guarantees": promise, "constraints": ones, **options})

    with pytest.raises(InputError, match="for 2 secrets and 3 observables, but there are 3 and 3"):
        asked(constraints=LinearConstraint(np.ones((2, 3)), 1.0))
    with pytest.raises(InputError, match=r"an item of constraints= is of type .* but a LinearConstraint"):
        asked(constraints=[np.ones((3, 3))])
    with pytest.raises(InputError, match="a LinearConstraint or list is needed"):
        asked(constraints=3)
    with pytest.raises(InputError, match="takes no linear constraints"):
        asked(solver="structured")
    with pytest.raises(InputError, match="spanner"):
        asked(pairs="spanner")
    with pytest.raises(InputError, match="cannot move to medians"):
        asked(medians=sf.Visits([48.85], [2.35]))
    with pytest.raises(InputError, match="several attackers or distributions, or has linear constraints"):
        equilibrium(asked())
    with pytest.raises(InputError, match="no guarantee"):
        asked(guarantees=(), constraints=())
    with pytest.raises(UnitError):
        LinearConstraint.expected_loss(prior, metric, "3 h")
    with pytest.raises(InputError, match="holds inf"):
        LinearConstraint([[np.inf]], 1.0)
    with pytest.raises(InputError, match="finite"):
        LinearConstraint([[1.0]], np.inf)
    problem = asked().problem
    control = Control(1e-6, np.inf, lambda: False, None)
    for solver in (Structured(), Auto()):
        with pytest.raises(InputError, match="takes no linear constraints"):
            solver.answer(problem, control)


@pytest.mark.parametrize("solver", ["highs", "simplex", "clarabel"])
def test_every_general_back_end_takes_them(solver):
    prior, loss, promise, constraints = random_case(7)
    found = sf.design(
        prior,
        loss=loss,
        guarantees=promise,
        constraints=constraints,
        observables=reports(loss.shape[1]),
        solver=solver,
    )
    reference = by_highs(prior.probabilities, loss, promise.epsilon * promise.metric.array, constraints)
    assert found.certificate.loss == pytest.approx(reference, rel=1e-5)
    assert found.certificate.gap <= 1e-5


def test_a_solve_that_was_stopped_says_so():
    prior, loss, promise, constraints = random_case(7)
    options = {
        "loss": loss,
        "guarantees": promise,
        "constraints": constraints,
        "observables": reports(loss.shape[1]),
    }
    floor = sf.design(prior, solver=Asleep(), time_limit=1e-9, **options)
    assert floor.status is Status.TIME_LIMIT
    assert "closed form" in floor.solver
    assert floor.certificate.holds
    hurried = sf.design(prior, time_limit=1.0, **options)
    assert hurried.status in (Status.OPTIMAL, Status.TIME_LIMIT)
    assert hurried.certificate.holds
    steps: list[sf.optimal.Progress] = []
    whole = sf.design(prior, progress=steps.append, **options)
    assert whole.status is Status.OPTIMAL
    assert tuple(steps) == whole.log


@pytest.mark.parametrize("objective", ["expected", "worst-case"])
def test_a_stopped_solve_is_no_worse_than_simple_mechanisms_within_the_constraints(objective):
    space, metric = line(6)
    prior = sf.Prior(space, [0.3, 0.05, 0.1, 0.1, 0.2, 0.25])
    p, loss = prior.probabilities, metric.array
    seldom = np.zeros((6, 6))
    seldom[:, 2:4] = p[:, None]
    limit = LinearConstraint(seldom, 0.25, name="middle")
    attackers = [sf.DistortionPrivacy(1.0, metric), sf.DistortionPrivacy(0.5, sf.hamming(space))]
    options = {"loss": metric, "guarantees": [sf.MetricPrivacy(2.0, metric), *attackers], "objective": objective}
    floor = sf.design(prior, stop=lambda: True, constraints=limit, **options)
    best = sf.design(prior, constraints=limit, **options)
    assert floor.status is Status.INTERRUPTED
    assert floor.certificate.holds
    assert best.certificate.bound <= floor.certificate.value
    assert floor.certificate.bound <= best.certificate.value
    assert objective == "worst-case" or floor.certificate.bound >= 1.0 - 1e-9  # guessing the report
    # A second route: every pair of constant reports, in shares of a hundredth.
    simple = [np.tile(row, (6, 1)) for row in np.eye(6)]
    for first in simple:
        for second in simple:
            for share in np.linspace(0, 1, 101):
                matrix = share * first + (1 - share) * second
                errors = [(a.distance.array @ (p[:, None] * matrix)).min(axis=0).sum() for a in attackers]
                inside = (seldom * matrix).sum() <= 0.25 and errors[0] >= 1.0 and errors[1] >= 0.5
                losses = (matrix * loss).sum(axis=1)
                value = losses.max() if objective == "worst-case" else p @ losses
                if inside:
                    assert floor.certificate.value <= value + 1e-6


def test_where_no_simple_mechanism_is_within_the_constraints_a_stopped_solve_says_so():
    space, metric = line(3)
    own = LinearConstraint(-np.eye(3), -1.9, name="true reports")  # more than any simple mechanism makes
    with pytest.raises(SolverError, match="stopped on request"):
        sf.design(
            sf.Prior.uniform(space),
            loss=metric,
            guarantees=sf.MetricPrivacy(1.5, metric),
            constraints=own,
            stop=lambda: True,
        )


@pytest.mark.parametrize("objective", ["expected", "worst-case"])
@pytest.mark.parametrize("seed", range(4))
def test_a_file_keeps_the_constraints_and_the_prices_that_prove_the_bound(tmp_path, seed, objective):
    prior, loss, promise, constraints = random_case(seed)
    rng = np.random.default_rng(seed)
    n, m = loss.shape
    loss = np.abs(loss)
    walks = [sf.Loss(rng.random((2, n)), "km", name=f"walk {k}") for k in range(2)]
    errors = [
        sf.DistortionPrivacy(0.3 * float((walk.array @ prior.probabilities).min()), walk)
        for walk in walks[: seed % 3]
    ]
    found = sf.design(
        prior,
        loss=loss,
        guarantees=[promise, *errors],
        constraints=constraints,
        objective=objective,
        observables=reports(m),
    )
    sf.save(found, tmp_path / "limited.sfm")
    held = sf.files.read_mechanism_file(tmp_path / "limited.sfm")
    assert (held.report_channel.weights == found.mechanism.weights).all()
    assert held.optimality is not None
    assert held.loss is not None
    assert held.claims["certificate"] == as_dict(found.certificate)
    for one, other in zip(held.constraints, constraints, strict=True):
        assert (one.coefficients == other.coefficients).all()
        assert (one.at_most, one.unit, one.name) == (other.at_most, other.unit, other.name)
        assert prove_constraint(held.report_channel, one).holds
    bound = prove_optimality(prior, held.loss, held.guarantees, held.optimality, held.constraints)
    assert bound == pytest.approx(found.certificate.bound, rel=1e-9, abs=1e-12)
    exponents = promise.epsilon * promise.metric.array
    least = by_highs(prior.probabilities, loss, exponents, constraints, errors, worst=objective == "worst-case")
    assert bound <= least + 1e-7
    again = pickle.loads(pickle.dumps(held))
    assert again.constraints[0].name == constraints[0].name


def test_prices_of_other_constraints_are_refused():
    prior, loss, promise, constraints = random_case(7)
    found = sf.design(
        prior, loss=loss, guarantees=promise, constraints=constraints, observables=reports(loss.shape[1])
    )
    kept = found.problem.guarantees
    made = partial(sf.MechanismFile, found.mechanism, prior, found.loss, kept)
    with pytest.raises(InputError, match="2 prices for 0 linear constraints"):
        made(optimality=found.optimality)
    with pytest.raises(InputError, match="2 prices for 1 linear"):
        made(optimality=found.optimality, constraints=constraints[0])
    with pytest.raises(InputError, match="at most 500"):
        made(constraints=[constraints[0]] * 501)
    with pytest.raises(InputError, match=r"an item of constraints= is of type .* but a LinearConstraint"):
        made(constraints=[0.5])  # type: ignore[list-item]
    without = made(constraints=constraints)
    assert str(constraints[0]) in repr(without)


def test_names_are_short_and_units_words():
    long = LinearConstraint([[1.0]], 0.5, name="x" * 100_000)
    assert len(str(long)) < 80
    assert str(LinearConstraint([[1.0]], 0.5, name=" ")) == "linear constraint at most 0.5"
    with pytest.raises(InputError, match="not a short word"):
        LinearConstraint([[1.0]], 0.5, unit="EUR per day")


def test_constraints_without_prices_count_for_nothing():
    prior, loss, promise, constraints = random_case(7)
    found = sf.design(prior, loss=loss, guarantees=promise, observables=reports(loss.shape[1]))
    assert found.optimality is not None
    with_them = prove_optimality(prior, found.loss, found.problem.guarantees, found.optimality, constraints)
    assert with_them == prove_optimality(prior, found.loss, found.problem.guarantees, found.optimality)


def test_words_name_the_constraints_that_a_bound_is_about():
    space = sf.Space("ab")
    prior = sf.Prior(space, [0.5, 0.5])
    half = LinearConstraint([[0, 0], [0, 1]], 0.25, name="b told as b")
    found = sf.design(prior, loss=sf.hamming(space), guarantees=(), constraints=half)
    text = " ".join(sf.reports.summarise(found).markdown().split())
    assert "The linear constraint called 'b told as b' holds: its sum is at most 0.25 (proved: at most 0.2" in text
    assert "No mechanism with this linear constraint and these reports names another value in less than 37" in text
    promised = sf.design(
        prior, loss=sf.hamming(space), guarantees=sf.MetricPrivacy(3, sf.hamming(space)), constraints=[half, half]
    )
    text = " ".join(sf.reports.summarise(promised).markdown().split())
    assert "No mechanism with this guarantee, these linear constraints and these reports names" in text


def test_a_product_below_all_floats_is_rounded_up():
    space = sf.Space("ab")
    prior = sf.Prior(space, [1e-300, 1.0])
    found = LinearConstraint.expected_loss(prior, np.array([[1e-30, 0.0], [0.5, 0.0]]), 0.1)
    assert found.coefficients[0, 0] > 0
    assert found.coefficients[:, 1].tolist() == [0.0, 0.0]
    assert found.coefficients[1, 0] >= 0.5


def test_room_is_mixed_into_an_answer_that_breaks_a_constraint():
    space, metric = line(4)
    prior, promise = sf.Prior(space, [0.1, 0.2, 0.3, 0.4]), sf.MetricPrivacy(2.0, metric)
    often = np.zeros((4, 4))
    often[3, 3] = 1.0  # how often the last reports itself
    problem = least_loss(prior, metric, promise, "expected", None, constraints=(LinearConstraint(often, 0.5),))
    control = Control(1e-6, math.inf, lambda: False, None, "generated", 1.1)
    free = sf.design(prior, loss=metric, guarantees=promise).mechanism.matrix
    found = _Search(Demands.of(problem), control, problem.negligible)
    found.last = free
    assert found.demands.excess(free).max() > 0.1
    roomy, _ = with_most_room(found.demands, control, [Highs()], found.triples)
    assert roomy is not None
    found.make_room([Highs()])
    share = (free[3, 3] - 0.5) / (free[3, 3] - roomy[3, 3])
    own, other = (float(prior.probabilities @ (metric.array * each).sum(axis=1)) for each in (free, roomy))
    assert found.value == pytest.approx((1 - share) * own + share * other, rel=1e-5)
    assert found.value < other


def test_a_constraint_is_named_alone_only_where_it_is_impossible_alone():
    space, metric = line(3)
    prior, promise = sf.Prior.uniform(space), sf.MetricPrivacy(1.0, metric)
    own = np.eye(3)
    few = LinearConstraint(own, 0.01, name="true reports")
    other = LinearConstraint(1 - own, 1.5, name="other reports")
    with pytest.raises(InfeasibleError, match=r"all of these: true reports at most .*; other reports at most"):
        sf.design(prior, loss=metric, guarantees=promise, constraints=[few, other])
    with pytest.raises(InfeasibleError, match=r"satisfies the constraint \(other reports at most"):
        sf.design(
            prior,
            loss=metric,
            guarantees=promise,
            constraints=[LinearConstraint(1 - own, 0.5, name="other reports")],
        )
