"""Generated observables where the rows of all pairs count: against a general solver and another method."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import sfumato as sf
from sfumato.optimal import Generating, Status
from sfumato.optimal.column_generation import rounds
from sfumato.optimal.column_generation.price import price
from sfumato.optimal.column_generation.program import (
    first_iterate,
    graph_of,
    let_join,
    merge_vanished,
    near_rows,
    program,
)
from sfumato.optimal.column_generation.rounds import generate
from sfumato.optimal.interior import loop
from sfumato.optimal.interior.lapack import Workers
from sfumato.optimal.solver import Control, Progress
from sfumato.proofs.optimality import prove_optimality

from .towns import check_agreement, check_optimum, optimum

GRID = sf.Grid.covering("3 km x 2 km around 48.85,2.35", "500 m")


def shares(seed, size):
    rng = np.random.default_rng(seed)
    mass = rng.dirichlet(np.full(size, 0.4))
    mass[rng.random(size) < 0.3] = 0.0
    return mass / mass.sum()


def town(seed, epsilon=2.5):
    """Return a program whose edges do not imply all rows: cells, and distances between their centres."""
    prior = shares(seed, len(GRID))
    away = GRID.metric().to("km").array
    exponents = epsilon * away
    found = graph_of(exponents)
    assert found is not None
    pairs, whole = found
    assert not whole
    with Workers(1) as workers:
        return program(prior, prior[:, None] * away, exponents, np.arange(len(GRID)), pairs).strict(workers)


def control(gap=1e-5, **others):
    return Control(gap, math.inf, others.get("stop", lambda: False), others.get("progress"))


def solved(given, chosen=None, **limits):
    with Workers(1) as workers:
        return generate(given, control(**limits), workers, most=200, observables=chosen)


def inside(given, x):
    """Whether columns (k, n) keep the rows of all pairs strictly."""
    limit = np.exp(given.exponents)
    np.fill_diagonal(limit, np.inf)
    return all((column[:, None] < limit * column).all() for column in x)


def check(given, ended, exact, gap=1e-5):
    check_optimum(ended, exact, gap)
    assert inside(given, ended.x)


@pytest.mark.slow
def test_poor_starts_end_at_the_optimum():
    given = town(0)
    exact = optimum(given)
    dear = np.argsort(given.costs.sum(axis=1))
    few = np.random.default_rng(0).permutation(given.shape[1])[:5]
    for chosen in (None, dear[-1:], few):
        check(given, solved(given, chosen), exact)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("epsilon", [0.5, 5.0])
def test_weak_and_strong_promises(epsilon):
    given = town(5, epsilon)
    check(given, solved(given), optimum(given))


@pytest.mark.slow
def test_what_the_edges_alone_allow_is_too_much_and_shows_where_to_begin(monkeypatch):
    """So rows of other pairs must have joined."""
    monkeypatch.setattr(rounds, "_ENOUGH_SECRETS", 12)
    given = town(3)
    lines: list[Progress] = []
    ended = solved(given, progress=lines.append)
    check(given, ended, optimum(given))
    assert any(line.coarse == len(GRID) for line in lines)
    assert any(0 < line.coarse < len(GRID) for line in lines)
    loose = solved(given.loose(), gap=1e-5)
    assert loose.value < ended.best.bound
    assert not inside(given, loose.x)


@pytest.mark.parametrize("after", [0, 3, 15])
def test_it_can_be_stopped_at_any_time(after):
    given = town(2)
    lines: list[Progress] = []
    ended = solved(given, gap=1e-9, stop=lambda: len(lines) > after, progress=lines.append)
    assert ended.status is Status.INTERRUPTED
    assert ended.x.sum(axis=0) == pytest.approx(1)
    assert inside(given, ended.x)
    assert ended.best.bound <= ended.value


@pytest.fixture
def iterate():
    """A town with some observables, and an iterate after rows of some pairs have joined."""
    given = town(4)
    now = first_iterate(given, np.arange(0, len(GRID), 2))
    with Workers(1) as workers:
        course = loop.follow(now.rows, now.point, given.threshold, control(0.05), workers, begin=0.0, most=50)
    assert len({*np.diff(course.rows.pairs._edges)}) > 1
    return given, replace(now, rows=course.rows, point=course.point)


def test_rows_of_observables_that_leave_go_to_those_that_take_their_columns(iterate):
    given, now = iterate
    stay = np.arange(len(now.observables)) % 3 > 0
    then = merge_vanished(given, now, stay)
    assert list(then.observables) == list(now.observables[stay])
    assert then.point.u.sum(axis=0) == pytest.approx(now.point.u.sum(axis=0))
    assert inside(given, then.point.u)
    assert (then.point.lam > 0).all()
    n2 = given.shape[0] ** 2
    assert set(now.rows.pairs.keys % n2) == set(then.rows.pairs.keys % n2)
    # Weighted by the sizes of the columns, what the multipliers account for is the same in all.
    before, after = (each.rows.pairs.adjoint(each.point.lam) for each in (now, then))
    size = now.point.u.max(axis=1)
    near = given.exponents[np.ix_(given.anchors[now.observables], given.anchors[then.observables])].argmin(axis=1)
    near[stay] = np.arange(len(then.observables))
    for k, mean in enumerate(after):
        assert mean == pytest.approx(np.average(before[near == k], axis=0, weights=size[near == k]))


def test_who_joins_has_the_rows_of_the_nearest(iterate):
    given, now = iterate
    then = let_join(given, now, np.array([1, 5]))
    pairs = then.rows.pairs
    assert inside(given, then.point.u)
    assert (np.diff(pairs.keys) > 0).all()
    n2 = given.shape[0] ** 2
    near = given.exponents[given.anchors[1], given.anchors[now.observables]].argmin()
    k = len(now.observables)
    assert list(pairs.keys[pairs.block_slice(k)] % n2) == list(pairs.keys[pairs.block_slice(near)] % n2)
    assert then.point.u[k] == pytest.approx(then.point.u[near])


def test_an_absent_observable_is_priced_by_rows_that_all_hold(iterate):
    """Any part of the rows proves: it can only be too careful."""
    given, now = iterate
    rng = np.random.default_rng(0)
    edges = near_rows(given, now, 3)
    assert len(edges.upper) > len(given.edges.upper)
    w = 0.3 * (given.exponents[3] - 2.0) + 0.01 * rng.normal(size=given.shape[0])
    few, more = (price(rows, w, given.exponents[3], 1e-9, np.inf) for rows in (given.edges, edges))
    assert few.value <= more.value < 0
    for found in (few, more):
        left = np.zeros(len(found.edges.upper))
        left[found.rows] = found.lam
        assert (w + found.short - found.edges.adjoint(left) >= -1e-12).all()
        for _ in range(50):
            x = np.exp(-given.exponents) @ rng.dirichlet(np.full(given.shape[0], 0.1))
            assert (w + found.short) @ x >= -1e-12


def design(seed, **options):
    prior, km = sf.Prior(GRID, shares(seed, len(GRID))), GRID.metric().to("km")
    options = {"method": "table", "tie_break": False, "gap": 1e-5, **options}
    return sf.design(prior, loss=km, guarantees=sf.MetricPrivacy("2.5/km", km), **options)


def test_it_finds_and_proves_what_the_structured_method_does():
    one, other = (design(0, solver=name) for name in ("generating", "structured"))
    assert one.solver == "generated observables and pairs"
    check_agreement(one, other)
    problem = one.problem
    again = prove_optimality(problem.prior, problem.loss, problem.guarantees, one.optimality)
    assert again == pytest.approx(one.certificate.bound, rel=1e-9)
    assert one.mechanism.matrix.shape[1] < len(GRID)


def test_reports_that_are_all_alike():
    """None has more than a fiftieth of the probability, and all are used."""
    grid = sf.Grid.covering("3 km x 3 km around 48.85,2.35", "400 m")
    size, km = len(grid), grid.metric().to("km")
    loss = sf.Loss(1.0 - np.eye(size), "km")
    found = sf.design(
        sf.Prior.uniform(grid),
        loss=loss,
        guarantees=sf.MetricPrivacy("0.01/km", km),
        solver=Generating(threads=1),
        gap=1e-3,
        method="table",
        tie_break=False,
    )
    assert size > 50
    assert found.status is Status.OPTIMAL
    assert found.certificate.holds


@pytest.mark.slow
def test_what_was_harmful_once_stays(monkeypatch):
    """By few rows it may look harmful for ever; as long as it is there, it has rows of its own."""
    given = town(1)
    seen = []

    def few(found):
        seen.append(set(found.observables))
        return [o for o in range(given.shape[1]) if o not in seen[-1]][:2]

    monkeypatch.setattr(rounds.ProvedRound, "harmful", property(few))
    monkeypatch.setattr(rounds, "_PRICED", 0.0)
    ended = solved(given, np.arange(5), gap=1e-9, stop=lambda: len(seen) > 12)  # four rounds
    assert ended.best.bound <= ended.value
    assert len(seen) > 2
    assert all(before <= after for before, after in itertools.pairwise(each - set(range(5)) for each in seen))


def test_a_wide_gap_is_proved_too():
    found = design(4, solver="generating", gap=1e-2)
    assert found.status is Status.OPTIMAL
    assert found.certificate.gap <= 1e-2
    assert found.solver == "generated observables and pairs"


@pytest.mark.slow
def test_a_design_that_was_stopped_goes_on_from_its_folder(tmp_path):
    unbroken = design(2, solver=Generating(threads=1))
    folder = Generating(threads=1, folder=tmp_path)
    lines: list[Progress] = []
    stopped = design(2, solver=folder, stop=lambda: len(lines) > 15, progress=lines.append)
    assert stopped.status is Status.INTERRUPTED
    ended = design(2, solver=folder)
    assert ended.status is Status.OPTIMAL
    assert ended.certificate.value == pytest.approx(unbroken.certificate.value, rel=1e-5)


def test_where_it_is_stopped_before_it_begins_there_is_still_a_mechanism():
    found = design(1, solver="auto", stop=lambda: True)
    assert found.certificate.holds
    assert found.status is Status.INTERRUPTED
