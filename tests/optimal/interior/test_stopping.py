"""At every stop, the mechanism is private and its gap is proved."""

from itertools import count

import pytest

from sfumato.optimal import Status
from sfumato.optimal.interior.lapack import StoppedError

from ...clock import set_clock
from .programs import Case, check, check_kept, grid, skewed

D = grid(5, 5)
CASE = Case(skewed(25, seed=1, unvisited=3), D, D)


@pytest.fixture(scope="module")
def best():
    result = CASE.solve(gap=1e-8)
    assert result.gap < 1e-5
    return result.lower_bound  # right to 1e-8, where the last mechanism's value is not


@pytest.mark.parametrize("after", [0, 4, 12])
def test_on_request(best, after):
    told: list[object] = []
    early = CASE.solve(gap=1e-8, stop=lambda: len(told) > after, progress=told.append)
    assert early.status is Status.INTERRUPTED
    assert early.iterations == after
    check(CASE, early, best, tolerance=10.0)


@pytest.mark.parametrize("blocks", [1, 40, 100, 200])
def test_between_blocks(best, blocks):
    told: list[object] = []
    calls: list[int] = []

    def stop():
        if told:
            calls.append(1)
        return len(calls) > blocks

    early = CASE.solve(gap=1e-8, stop=stop, progress=told.append)
    assert early.status is Status.INTERRUPTED
    assert early.iterations == len(told) - 1
    assert blocks < len(calls) < blocks + 8
    check(CASE, early, best, tolerance=10.0)


def test_before_there_is_an_iterate():
    with pytest.raises(StoppedError):
        CASE.solve(gap=1e-8, time_limit=0.0)
    with pytest.raises(StoppedError):
        CASE.solve(gap=1e-8, stop=lambda: True)


def test_at_the_time_limit(monkeypatch):
    d = grid(10, 10)
    case = Case(skewed(100, seed=3), d, d)
    ticks = count()
    set_clock(monkeypatch, lambda: next(ticks) / 1000)
    early = case.solve(gap=1e-12, time_limit=1.0)
    assert early.status is Status.TIME_LIMIT
    assert 1.0 <= next(ticks) / 1000 < 1.02
    assert early.lower_bound <= early.cost
    check_kept(case, early)


def test_at_the_iteration_limit(best):
    early = CASE.solve(gap=1e-8, iteration_limit=5)
    assert early.status is Status.INACCURATE
    assert early.iterations == 5
    check(CASE, early, best, tolerance=10.0)


def test_where_floating_point_ends(best):
    result = CASE.solve(gap=1e-17)
    assert result.status is Status.INACCURATE
    check(CASE, result, best, tolerance=1e-3)


def test_progress_is_the_log(best):
    told: list[object] = []
    result = CASE.solve(gap=1e-6, progress=told.append)
    assert told == list(result.log)
    assert [entry.step for entry in result.log] == list(range(len(told)))
    bounds = [entry.bound for entry in result.log]
    assert bounds == sorted(bounds)
    assert all(entry.bound <= best + 1e-7 <= entry.value + 2e-7 for entry in result.log)


@pytest.mark.slow
def test_threads_do_not_change_the_optimum(best):
    for threads in (1, 2, 3):
        result = CASE.solve(gap=1e-6, threads=threads)
        assert result.status is Status.OPTIMAL
        check(CASE, result, best, tolerance=1.1e-6)
