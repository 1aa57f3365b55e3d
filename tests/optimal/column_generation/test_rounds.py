"""Rounds against a general solver, from good and from deliberately poor sets of observables."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sfumato.optimal.column_generation import price, rounds
from sfumato.optimal.column_generation.rounds import generate
from sfumato.optimal.interior.lapack import Workers
from sfumato.optimal.solver import Control, Progress, Status

from .towns import check_optimum, optimum, town


def control(gap=1e-5, **others):
    return Control(
        gap, others.get("deadline", math.inf), others.get("stop", lambda: False), others.get("progress")
    )


def solved(given, chosen=None, threads=1, **limits):
    with Workers(threads) as workers:
        return generate(given, control(**limits), workers, most=200, observables=chosen)


def check(given, ended, exact, gap=1e-5):
    check_optimum(ended, exact, gap)
    assert all((given.edges.slack(x) > 0).all() for x in ended.x)
    assert (given.costs[ended.observables] * ended.x).sum() == pytest.approx(ended.value, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "size"), [("triangular", "2 km x 2 km"), ("square", "2 km x 1.5 km")])
def test_poor_starts_end_at_the_optimum(kind, size):
    given = town(0, kind=kind, size=size)
    exact = optimum(given)
    rng = np.random.default_rng(0)
    n = given.shape[0]
    dear = np.argsort(given.costs.sum(axis=1))
    for chosen in (None, dear[-1:], rng.permutation(n)[: n // 5]):
        check(given, solved(given, chosen), exact)


@pytest.mark.slow
@pytest.mark.parametrize(
    "epsilon", [pytest.param(0.1, marks=pytest.mark.slow), 1.0, pytest.param(2.5, marks=pytest.mark.slow)]
)
def test_weak_and_strong_promises(epsilon):
    given = town(7, size="2 km x 2 km", epsilon=epsilon)
    check(given, solved(given), optimum(given))


@pytest.mark.slow
def test_a_stop_returns_the_best_value_and_bound_that_were_reported():
    given = town(5, size="2 km x 2 km")
    whole: list[Progress] = []
    solved(given, progress=whole.append)
    for stopped_at in np.linspace(1, len(whole) - 1, 8).astype(int):
        lines: list[Progress] = []
        ended = solved(given, progress=lines.append, stop=lambda lines=lines, n=stopped_at: len(lines) >= n)
        shown = [line for line in lines if not line.coarse]
        assert ended.value <= min((line.value for line in shown), default=math.inf) * (1 + 1e-6)
        assert ended.best.bound >= max((line.bound for line in shown), default=-math.inf)
        assert all(later.value <= sooner.value for sooner, later in pairwise(shown))


@pytest.mark.slow
def test_a_coarser_problem_shows_where_to_begin(monkeypatch):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 20)
    given = town(11, size="3 km x 2 km")
    found = rounds.coarser(given)
    assert found is not None
    smaller, net, kept = found
    assert 5 < len(net) < 0.5 * given.shape[0]
    assert smaller.prior.sum() == pytest.approx(1)
    near = rounds.neighbours(given, kept)
    assert len(near) == given.shape[1]  # next to the observables of the net are all others
    few = rounds.neighbours(given, kept[:1])
    assert 1 <= len(few) < given.shape[1]
    check(given, solved(given), optimum(given))


@pytest.mark.slow
def test_threads_give_what_one_gives():
    given = town(4, size="2 km x 2 km")
    one, two = solved(given, threads=1), solved(given, threads=2)
    assert one.value == pytest.approx(two.value, rel=1e-5)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("after", [0, 1, 5, 12])
def test_it_can_be_stopped_at_any_time(after):
    given = town(2, size="3 km x 2 km")
    lines: list[Progress] = []
    ended = solved(given, stop=lambda: len(lines) > after, progress=lines.append)
    assert ended.status is Status.INTERRUPTED
    assert ended.x.sum(axis=0) == pytest.approx(1)
    assert all((given.edges.slack(x) > 0).all() for x in ended.x)
    assert ended.best.bound <= ended.value


def test_progress_tells_what_is_proved_of_the_whole_problem():
    given = town(6, size="3 km x 2 km")
    lines: list[Progress] = []
    ended = solved(given, progress=lines.append)
    assert [line.step for line in lines] == list(range(len(lines)))
    bounds = [line.bound for line in lines]
    assert bounds == sorted(bounds)
    assert bounds[0] == -np.inf
    assert bounds[-1] == ended.best.bound
    assert lines[-1].gap <= 1e-5


def test_the_net_begins_where_reports_are(monkeypatch):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 20)
    given = town(4, size="3 km x 2 km")
    found = rounds.coarser(given)
    assert found is not None
    _, _, kept = found
    others = np.setdiff1d(np.arange(given.shape[1]), kept)[::3]
    few = replace(given, costs=given.costs[others], anchors=given.anchors[others])
    again = rounds.coarser(few)
    assert again is not None
    assert len(again[2]) > 0
    check(few, solved(few), optimum(few))


def test_a_coarser_problem_is_told_without_a_value_or_a_bound_of_the_whole(monkeypatch):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 20)
    given = town(4, size="3 km x 2 km")
    lines: list[Progress] = []
    ended = solved(given, gap=1e-3, progress=lines.append)
    first = [line for line in lines if line.coarse]
    rest = [line for line in lines if not line.coarse]
    assert first == lines[: len(first)]
    assert first
    assert rest == list(ended.log)
    assert all(0 < line.coarse < given.shape[0] for line in first)
    assert all((line.value, line.bound, line.gap) == (math.inf, -math.inf, math.inf) for line in first)
    assert all(line.value >= ended.value * (1 - 1e-9) for line in rest)
    assert all(line.bound <= ended.value for line in rest)
    seconds = [line.seconds for line in lines]
    assert seconds == sorted(seconds)


@pytest.mark.slow
def test_a_wide_gap_is_certified_from_scouted_reports(monkeypatch):
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 10)
    monkeypatch.setattr(price, "ALONE", 10)
    given = town(0, size="2.5 km x 2 km")
    lines: list[Progress] = []
    check(given, solved(given, gap=1e-2, progress=lines.append), optimum(given), gap=1e-2)
    assert any(line.coarse for line in lines)
    stopped: list[Progress] = []
    ended = solved(given, gap=1e-2, stop=lambda: len(stopped) > 3, progress=stopped.append)
    assert ended.status is Status.INTERRUPTED
    assert ended.best.bound <= ended.value
