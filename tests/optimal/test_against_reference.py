"""Designs of random tiny problems against the plain reference, and against exact arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings

from sfumato.core import DistortionPrivacy, MetricPrivacy
from sfumato.errors import InfeasibleError, SolverError
from sfumato.optimal import SOLVERS, Design, Highs, design, maximise_distortion

from ..proofs import exact
from ..reference import Request, requests, solved

PRIMAL = ("metric", "two metrics", "distortion", "joint", "worst", "worst joint")
GAP = 1e-6
many = settings()
some = settings(max_examples=10)


def designed(request: Request, **options) -> Design:
    options.setdefault("solver", Highs())
    if request.max_loss is not None:
        assert request.distance is not None
        return maximise_distortion(
            request.belief,
            loss=request.loss,
            distance=request.distance,
            max_loss=request.max_loss,
            guarantees=request.guarantees,
            observables=request.observables,
            **options,
        )
    found: Design = design(
        request.belief,
        loss=request.loss,
        guarantees=request.guarantees,
        objective="worst-case" if request.worst else "expected",
        observables=request.observables,
        method="table",
        **options,
    )
    return found


def kept(result: Design, request: Request) -> None:
    """Check every promise on the integers."""
    mechanism = result.mechanism
    assert result.certificate.holds
    for row in exact.weights(mechanism):
        assert sum(row) == 2**mechanism.bits
    for guarantee in request.guarantees:
        if isinstance(guarantee, MetricPrivacy):
            assert exact.private(mechanism, guarantee.metric.array, guarantee.epsilon)
        elif isinstance(guarantee, DistortionPrivacy):
            assert exact.distortion(mechanism, request.belief, guarantee.distance.array) >= guarantee.minimum
    if request.max_loss is not None:
        assert exact.expected(mechanism, request.belief, request.loss) <= request.max_loss


def near_the_optimum(result: Design, request: Request, gap: float) -> None:
    best = solved(request)
    assert best is not None
    slack = 1e-9 * (1 + best.value)
    value, bound = result.certificate.value, result.certificate.bound
    if request.max_loss is not None:
        assert value <= best.value + slack
        assert bound >= best.value - slack
    else:
        assert value >= best.value - slack
        assert bound <= best.value + slack
    # A design keeps a little of its budget for rounding, which costs what the budget is worth there.
    kept_back = 2e-7 * (request.max_loss or 0.0) * best.multipliers.loss
    assert value == pytest.approx(best.value, rel=gap, abs=gap + kept_back)


@many
@given(requests(kinds=PRIMAL))
def test_least_loss(request_):
    result = designed(request_)
    kept(result, request_)
    near_the_optimum(result, request_, 3 * GAP)


@many
@given(requests(kinds=("dual", "dual metric")))
def test_most_distortion(request_):
    result = designed(request_)
    kept(result, request_)
    near_the_optimum(result, request_, 3 * GAP)


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "highs"])
@some
@given(request_=requests())
def test_other_solvers(name, request_):
    solver = SOLVERS[name]()
    result = designed(request_, solver=solver)
    # A closed form wins where the choice is automatic, or where a game leaves a solver no room; what does not suit
    # a solver may go on to another one.
    others = name in ("auto", "generating")
    assert others or request_.max_loss is not None or result.solver == solver.name
    kept(result, request_)
    near_the_optimum(result, request_, 1e-5)


@some
@given(requests(kinds=("metric", "two metrics", "joint", "worst")))
def test_rows_all_at_once_or_generated_agree(request_):
    every, few = designed(request_, pairs="all"), designed(request_, pairs="generated")
    assert every.certificate.value == pytest.approx(few.certificate.value, rel=3 * GAP, abs=3 * GAP)


@some
@given(requests(kinds=("metric", "two metrics", "joint", "worst")))
def test_a_spanner_is_private_for_all_pairs_and_costs_no_less(request_):
    result = designed(request_, pairs="spanner", dilation=1.5)
    kept(result, request_)
    best = solved(request_)
    assert best is not None
    assert result.certificate.value >= best.value - 1e-9
    assert result.certificate.bound <= best.value + 1e-9


@some
@given(requests(kinds=("metric", "joint")))
def test_more_privacy_never_costs_less(request_):
    from dataclasses import replace

    loose = designed(replace(request_, epsilon=request_.epsilon * 1.2))
    strict = designed(request_)
    assert strict.certificate.value >= loose.certificate.bound - 1e-9
    assert loose.certificate.value <= strict.certificate.value + 3 * GAP * (1 + strict.certificate.value)


@some
@given(requests(kinds=("metric", "joint", "distortion")))
def test_a_tie_break_keeps_the_loss_and_gains_distortion(request_):
    with_it, without = designed(request_), designed(request_, tie_break=False)
    kept(with_it, request_)
    assert with_it.certificate.value == pytest.approx(without.certificate.value, rel=3 * GAP, abs=3 * GAP)
    if with_it.tie_gap is not None:
        distance = request_.distance if request_.distance is not None else request_.metrics[0]
        errors = [exact.distortion(result.mechanism, request_.belief, distance) for result in (with_it, without)]
        assert float(errors[0]) >= float(errors[1]) - 1e-3 * (1 + np.nanmax(distance))


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_over_a_hundred_problems(solver):
    """Every promise on the integers, and the value between the bound and the optimum's neighbourhood."""
    reached = []

    @settings(max_examples=100)
    @given(requests(kinds=(*PRIMAL, "dual", "dual metric")))
    def run(request_):
        try:
            result = (
                designed(request_, solver=solver, tie_break=False)
                if request_.max_loss is None
                else designed(request_, solver=solver)
            )
        except (InfeasibleError, SolverError):
            # Only a game at the very edge of its budget may be given up.
            assert request_.max_loss is not None
            return
        kept(result, request_)
        best = solved(request_)
        assert best is not None
        c, slack = result.certificate, 1e-8 * (1 + abs(best.value))
        if request_.max_loss is None:
            assert c.bound - slack <= best.value <= c.value + slack
        else:
            assert c.value - slack <= best.value <= c.bound + slack
        # An optimum that is next to nothing beside the largest loss has no meaningful relative gap.
        of = result.problem.loss if request_.max_loss is None else result.problem.distance
        assert of is not None
        size = max(abs(c.value), 1e-3 * float(np.abs(of.array).max()))
        reached.append(abs(c.value - c.bound) <= 1e-4 * size)

    run()
    assert np.mean(reached) >= 0.99
