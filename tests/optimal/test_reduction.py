"""Reduced problems have the optimum of the whole one, and their prices prove the same bound there."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from sfumato.core import DistortionPrivacy, Guarantee, MetricPrivacy, Prior, Space, ThresholdPrivacy, hamming
from sfumato.core.naming import EXPECTED, WORST_CASE
from sfumato.errors import MetricWarning
from sfumato.optimal.problem import Problem, least_loss, most_distortion
from sfumato.optimal.reduction import Reduction, reduce
from sfumato.optimal.row_generation import LinearProgram, Relaxation, Solution, Triples
from sfumato.optimal.solver import Status, objective_of, proved_bound
from sfumato.proofs import Multipliers

from ..reference import Request, requests, solved

pytestmark = pytest.mark.filterwarnings(f"ignore::{MetricWarning.__module__}.{MetricWarning.__name__}")


def problem_of(request: Request) -> Problem:
    """The request as the package sees it."""
    belief, reports = request.belief, request.observables
    if request.max_loss is not None:
        assert request.distance is not None
        return most_distortion(
            belief, request.loss, request.distance, request.max_loss, request.guarantees, reports
        )
    return least_loss(belief, request.loss, request.guarantees, WORST_CASE if request.worst else EXPECTED, reports)


def every_row(reduced: Reduction) -> Triples:
    pairs = np.argwhere(np.isfinite(reduced.exponents) & ~np.eye(len(reduced.exponents), dtype=bool))
    return Triples.of_pairs(pairs, reduced.shape[1])


def by_scipy(program: LinearProgram) -> Solution:
    """The optimum of a linear program, with the prices of its rows."""
    above, below = np.isfinite(program.lower), np.isfinite(program.upper)
    equal = program.lower == program.upper
    above, below = above & ~equal, below & ~equal
    found = linprog(
        program.cost,
        A_ub=sparse.vstack([-program.rows[above], program.rows[below]]),
        b_ub=np.concatenate([-program.lower[above], program.upper[below]]),
        A_eq=program.rows[equal],
        b_eq=program.upper[equal],
        bounds=[(None if np.isinf(low) else low, None) for low in program.floor],
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    duals = np.zeros(len(program.lower))
    duals[equal] = found.eqlin.marginals
    duals[above] = -found.ineqlin.marginals[: above.sum()]
    duals[below] = found.ineqlin.marginals[above.sum() :]
    return Solution(Status.OPTIMAL, found.x, duals, 0)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(requests())
def test_reduced_solved_and_lifted_is_the_optimum_of_the_whole(request):
    optimum = solved(request)
    assert optimum is not None
    problem = problem_of(request)
    reduced = reduce(problem)
    relaxation = Relaxation(reduced, every_row(reduced))
    solution = by_scipy(relaxation.program)
    matrix = reduced.lift(solution.matrix(*reduced.shape))
    assert matrix.shape == problem.shape
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-9)
    n = len(matrix)
    for s in range(n):
        for t in range(n):
            if np.isfinite(request.exponents[s, t]):
                assert (matrix[s] <= np.exp(request.exponents[s, t]) * matrix[t] + 1e-8).all()
    if request.distance is not None:
        errors = ((request.distance * request.prior) @ matrix).min(axis=0).sum()
        assert errors >= request.minimum - 1e-8
    losses = (matrix * request.loss).sum(axis=1)
    if request.max_loss is not None:
        assert request.prior @ losses <= request.max_loss + 1e-8
        value = float(errors)
    else:
        value = float(losses.max() if request.worst else request.prior @ losses)
    assert value == pytest.approx(optimum.value, abs=1e-7)
    assert solution.duals is not None
    bound = proved_bound(problem, reduced.lift_prices(relaxation.prices(solution.duals)))
    assert bound == pytest.approx(optimum.value, abs=1e-7)


def bound_of(reduced: Reduction, prices: Multipliers, game: bool) -> float:
    """The bound that prices prove of the reduced problem, written out: in the game minus the distortion."""
    left = (prices.loss if game else 1.0) * reduced.costs
    price = 1.0
    if reduced.losses is not None:
        assert prices.worst is not None
        left = np.zeros(reduced.shape)
        np.add.at(left, reduced.members, (prices.worst / prices.worst.sum())[:, None] * reduced.losses)
    left = left.copy()
    np.add.at(left, (prices.secrets, prices.observables), prices.local)
    np.add.at(left, (prices.rivals, prices.observables), -prices.local * np.exp(prices.exponents))
    total = 0.0
    if prices.guesses is not None and reduced.weighted is not None:
        left -= reduced.weighted.T @ prices.guesses
        total = float(prices.guesses.sum(axis=0).min()) * (reduced.minimum or 0.0)
    if game:
        assert reduced.max_loss is not None
        total -= price * prices.loss * reduced.max_loss
    return total + float(left.min(axis=1).sum())


@settings(max_examples=25, deadline=None)
@given(requests(), st.integers(0, 2**32), st.floats(0.0, 0.3))
def test_any_prices_prove_the_same_bound_of_both(request, seed, size):
    problem, rng = problem_of(request), np.random.default_rng(seed)
    reduced = reduce(problem)
    t, game = every_row(reduced), request.max_loss is not None
    local = size * rng.random(len(t)) * (rng.random(len(t)) < 0.5)
    guesses = None
    if reduced.weighted is not None:
        guesses = rng.dirichlet(np.ones(len(reduced.weighted)), reduced.shape[1]).T * (
            1.0 if game else rng.random()
        )
    prices = Multipliers(
        t.secrets,
        t.partners,
        t.observables,
        local,
        reduced.exponents[t.secrets, t.partners],
        guesses,
        rng.random(len(request.prior)) if request.worst else None,
        float(rng.random()) if game else 0.0,
    )
    wanted = bound_of(reduced, prices, game)
    found = proved_bound(problem, reduced.lift_prices(prices))
    optimum = solved(request)
    assert optimum is not None
    if game:
        assert found <= -wanted + 1e-9
        assert found >= optimum.value - 1e-9
        trivial = float((reduced.weighted.sum(axis=1)).min()) if reduced.weighted is not None else np.inf
        assert found == pytest.approx(min(-wanted, trivial), abs=1e-9)
    else:
        assert found >= wanted - 1e-9
        assert found <= optimum.value + 1e-9
        best = request.loss.min(axis=1)
        trivial = float(best.max() if request.worst else request.prior @ best)
        assert found == pytest.approx(max(wanted, trivial), abs=1e-9)


def test_secrets_that_are_never_visited_stay_and_their_observables_go():
    space = Space(range(5), [0.0, 1.0, 2.0, 3.0, 4.0], "km")
    prior, steps = Prior(space, [0.3, 0.0, 0.2, 0.5, 0.0]), space.metric("euclidean")
    private = [MetricPrivacy("1/km", steps)]
    found = reduce(least_loss(prior, hamming(space), private, EXPECTED, None))
    assert found.shape == (5, 3)
    assert found.observables.tolist() == [0, 2, 3]
    assert found.columns.tolist() == [0, 0, 1, 2, 0]
    worst = reduce(least_loss(prior, hamming(space), private, WORST_CASE, None))
    assert worst.shape == (5, 5)


def test_of_equal_observables_and_equal_guesses_the_first_is_kept():
    space = Space("abc", [0.0, 1.0, 3.0], "km")
    loss = np.array([[0.0, 1.0, 0.0, 2.0], [1.0, 0.0, 1.0, 2.0], [2.0, 1.0, 2.0, 3.0]])
    distance = np.array([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0], [1.0, 0.0, 2.0]])
    asked: list[Guarantee] = [DistortionPrivacy(0.1, distance), MetricPrivacy("1/km", space.metric("euclidean"))]
    found = reduce(least_loss(Prior.uniform(space), loss, asked, EXPECTED, Space(range(4))))
    assert found.observables.tolist() == [0, 1]
    assert found.columns[2] == 0
    assert sorted(found.guesses.tolist()) == [0, 1]


def test_secrets_beyond_a_threshold_are_free_and_equal_ones_are_one():
    space = Space(range(6), [0.0, 0.0, 1.0, 5.0, 6.0, 6.0], "km")
    steps = space.metric("euclidean")
    near = ThresholdPrivacy(1.0, steps, "2 km")
    every: list[Guarantee] = [near, MetricPrivacy("1/km", steps)]
    found = reduce(least_loss(Prior.uniform(space), steps, [near], EXPECTED, None))
    both = reduce(least_loss(Prior.uniform(space), steps, every, EXPECTED, None))
    assert both.members.tolist() == [0, 0, 1, 2, 3, 3]
    assert np.isfinite(both.exponents).all()
    assert np.isinf(found.exponents[found.members[0], found.members[3]])
    rng = np.random.default_rng(1)
    matrix = rng.dirichlet(np.ones(both.shape[1]), both.shape[0])
    whole = both.lift(matrix)
    np.testing.assert_array_equal(whole[0], whole[1])
    np.testing.assert_array_equal(whole[:, np.setdiff1d(np.arange(6), both.observables)], 0.0)
    assert objective_of(both.problem, whole) == pytest.approx(float((both.costs * matrix).sum()), rel=1e-12)


def test_without_metric_privacy_no_secrets_are_equal():
    space = Space("abc", [0.0, 1.0, 3.0], "km")
    steps = space.metric("euclidean")
    found = reduce(least_loss(Prior.uniform(space), steps, [DistortionPrivacy("0.5 km", steps)], EXPECTED, None))
    assert found.shape == (3, 3)
    assert np.isinf(found.exponents[~np.eye(3, dtype=bool)]).all()
