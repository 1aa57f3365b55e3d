"""Time limits and interruptions: a proved answer or an error, never anything else."""

import itertools
from itertools import pairwise

import numpy as np
import pytest

from sfumato.core import MetricPrivacy, Prior, Space, hamming
from sfumato.errors import SolverError
from sfumato.optimal import (
    SOLVERS,
    Highs,
    LinearProgram,
    LinearSolver,
    Progress,
    Solution,
    Status,
    design,
    effort,
    maximise_distortion,
    row_generation,
)

from ..clock import set_clock
from ..proofs import exact

SPACE = Space(range(9), [(x, y) for x in range(3) for y in range(3)])
STEPS = SPACE.metric("euclidean")
PRIOR = Prior.from_counts(SPACE, [5, 0, 3, 1, 4, 2, 2, 9, 3])
PRIVATE = MetricPrivacy(0.8, STEPS)


class Recorded(LinearSolver):
    """A back-end that can be made to fail or to stop from the k-th call on."""

    name = "recorded"

    def __init__(self, status=None, after=1):
        self.status, self.after, self.calls = status, after, 0

    def solve(self, program: LinearProgram, *, time_limit, stop) -> Solution:
        self.calls += 1
        found = Highs().solve(program, time_limit=time_limit, stop=stop)
        if self.status is not None and self.calls > self.after:
            return Solution(self.status, None, None, 0)
        return found


def few_rows(monkeypatch):
    """Let even a tiny problem start from some of its rows."""
    monkeypatch.setattr(row_generation, "ALL_AT_ONCE", 10)
    monkeypatch.setattr(row_generation, "_FIRST_DILATION", 2.0)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("options", [{"time_limit": 1e-9}, {"stop": lambda: True}], ids=["time", "stop"])
def test_every_stop_returns_a_proved_mechanism(solver, options):
    result = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=solver, **options)
    # The others may solve so small a problem before they look at the clock.
    assert result.solver.startswith("closed form") or solver not in ("auto", "structured")
    assert result.certificate.holds
    assert result.certificate.bound <= result.certificate.value
    assert exact.private(result.mechanism, STEPS.array, 0.8)
    blind = maximise_distortion(PRIOR, loss=STEPS, max_loss=1.0, solver=solver, **options)
    assert blind.certificate.loss <= 1.0
    assert blind.certificate.value <= blind.certificate.bound


def test_a_stop_is_noticed_within_an_iteration():
    space = Space(range(64), [(x, y) for x in range(8) for y in range(8)])
    steps = space.metric("euclidean")
    prior = Prior.from_counts(space, np.random.default_rng(1).integers(0, 9, 64))
    calls = []

    def stop():
        calls.append(1)
        return len(calls) > 1_000

    result = design(prior, loss=steps, guarantees=[MetricPrivacy(0.8, steps)], solver="structured", stop=stop)
    assert result.status is Status.INTERRUPTED
    assert len(calls) > 64 * (len(result.log) - 1)  # once a block
    assert len(calls) < 1_010  # and then no more of them
    assert exact.private(result.mechanism, steps.array, 0.8)


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1.0, 3.0])
def test_a_time_limit_is_kept(limit, monkeypatch):
    ticks = itertools.count()
    set_clock(monkeypatch, lambda: next(ticks) / 100)
    monkeypatch.setattr(effort, "proof_seconds", lambda *_: 0.05)  # on every machine
    space = Space(range(400), [(x, y) for x in range(20) for y in range(20)])
    steps = space.metric("euclidean")
    prior = Prior.from_counts(space, np.random.default_rng(1).integers(0, 9, 400))
    result = design(prior, loss=steps, guarantees=[MetricPrivacy(0.8, steps)], time_limit=limit)
    assert result.certificate.holds
    assert result.status is Status.TIME_LIMIT
    assert result.seconds < limit + 0.1  # it looks at the clock ten times more, at most


@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.INTERRUPTED, Status.INACCURATE])
def test_without_any_answer_it_is_an_error_that_says_why(status):
    for make in (
        lambda: design(PRIOR, loss=STEPS, guarantees=[PRIVATE], solver=Recorded(status, after=0)),
        lambda: maximise_distortion(PRIOR, loss=STEPS, max_loss=1, solver=Recorded(status, after=0)),
    ):
        with pytest.raises(SolverError, match="recorded gave no answer") as error:
            make()
        assert status.value in error.value.problem


@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.INTERRUPTED])
def test_the_best_proved_answer_so_far_is_returned(status, monkeypatch):
    few_rows(monkeypatch)
    whole = Recorded()
    complete = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=whole, tie_break=False)
    assert complete.status is Status.OPTIMAL
    assert len(complete.log) > 1
    solver = Recorded(status)
    partial = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=solver)
    assert partial.status is status
    assert partial.tie_gap is None
    assert partial.certificate.holds
    assert exact.private(partial.mechanism, STEPS.array, 0.8)
    assert partial.certificate.value >= complete.certificate.bound
    assert partial.certificate.bound <= complete.certificate.value


def test_an_interrupted_tie_break_keeps_the_first_answer():
    first = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=Highs(), tie_break=False)
    solver = Recorded(Status.TIME_LIMIT, after=len(first.log))
    result = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=solver)
    assert solver.calls > len(first.log)
    assert result.tie_gap is None
    assert result.certificate.value == pytest.approx(first.certificate.value, rel=1e-6)


def test_progress_is_reported_and_monotone(monkeypatch):
    few_rows(monkeypatch)
    seen: list[Progress] = []
    result = design(
        PRIOR,
        loss=hamming(SPACE),
        guarantees=[PRIVATE],
        solver=Highs(),
        progress=seen.append,
        tie_break=False,
        gap=1e-7,
    )
    assert tuple(seen) == result.log
    assert [progress.step for progress in seen] == list(range(1, len(seen) + 1))
    assert len(seen) > 1
    for before, after in pairwise(seen):
        assert after.bound >= before.bound
        assert after.rows > before.rows
        assert after.seconds >= before.seconds
    for progress in seen:
        assert progress.bound <= result.certificate.value
        assert progress.gap >= 0


def test_few_rows_lead_to_the_same_optimum(monkeypatch):
    every = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=Highs(), pairs="all").certificate.value
    few_rows(monkeypatch)
    few = design(PRIOR, loss=hamming(SPACE), guarantees=[PRIVATE], solver=Highs())
    assert few.certificate.value == pytest.approx(every, rel=3e-6)
    assert max(progress.rows for progress in few.log) > 10


class Drunk(LinearSolver):
    """A back-end whose answers are garbage of the right size, as are its prices."""

    name = "drunk"

    def solve(self, program: LinearProgram, *, time_limit, stop) -> Solution:
        rng = np.random.default_rng(3)
        rows, columns = program.rows.shape
        return Solution(Status.OPTIMAL, rng.random(columns), rng.normal(size=rows), 1)


@pytest.mark.parametrize("objective", ["expected", "worst-case"])
def test_a_back_end_is_never_trusted(objective):
    result = design(PRIOR, loss=STEPS, guarantees=[PRIVATE], solver=Drunk(), objective=objective)
    honest = design(PRIOR, loss=STEPS, guarantees=[PRIVATE], objective=objective)
    assert result.status is Status.INACCURATE
    assert result.certificate.holds
    assert exact.private(result.mechanism, STEPS.array, 0.8)
    assert result.certificate.bound <= honest.certificate.value <= result.certificate.value
