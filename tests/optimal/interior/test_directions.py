"""Newton directions, corrections and step lengths against the equations that define them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from .parts import SHARES, System, Workers, best_share, compute, end, factors, length, started
from .programs import Case, grid, skewed

PROGRAMS: dict[str, tuple[bool, float | None]] = {
    "expected": (False, None),
    "worst": (True, None),
    "joint": (False, 0.5),
}


ALONE = Workers(1)


@pytest.fixture(params=PROGRAMS)
def newton(request):
    """A system at the starting point; a fifth of the secrets has prior zero and one observable is never used."""
    worst, minimum = PROGRAMS[request.param]
    distance = grid(5, 4)
    prior = skewed(20, seed=4, unvisited=4)
    cost = np.concatenate([distance, distance[:, :1] + 1.0], axis=1)
    guessed = None if minimum is None else distance
    with Workers(1) as workers:
        rows, point = started(Case(prior, cost, 0.7 * distance, guessed, minimum, worst).reduced, workers)
        z = rows.slack(point.u, point.w)
        yield System(rows, point, z, factors(rows, workers), workers), rows, point, z


def products(point, z, direction):
    """The first-order change of slack times multiplier."""
    return point.lam * direction.z + z * direction.lam


def left(form, direction):
    out = form.total(direction.u)
    out[form.size :] += direction.w
    return out if form.free is None else out + form.free * direction.v


def dual_left(form, rows, direction):
    return form.spread(direction.mu) + rows.adjoint(direction.lam)


def test_a_refined_direction_removes_all_residuals(newton):
    system, rows, point, z = newton
    form = rows.form
    wanted = -point.lam * z
    d = system.refine_direction(system.direction(wanted))
    start = form.total(point.u)
    start[form.size :] += point.w
    if form.free is not None:
        start += form.free * point.v
    np.testing.assert_allclose(start + left(form, d), form.target, atol=1e-12)
    residual = form.objective - form.spread(point.mu) - rows.adjoint(point.lam)
    np.testing.assert_allclose(dual_left(form, rows, d), residual, atol=1e-9 * np.abs(residual).max())
    np.testing.assert_allclose(products(point, z, d), wanted, atol=1e-12 * np.abs(wanted).max())
    np.testing.assert_allclose(d.z, rows.slack(d.u, d.w), atol=1e-9 * np.abs(d.z).max())


def test_a_correction_changes_nothing_but_the_products(newton):
    system, rows, point, z = newton
    form = rows.form
    wanted = np.random.default_rng(1).normal(size=rows.count) * point.lam * z
    d = system.correction(wanted)
    np.testing.assert_allclose(left(form, d), 0, atol=1e-8 * np.abs(d.u).max())
    np.testing.assert_allclose(dual_left(form, rows, d), 0, atol=1e-8 * np.abs(rows.adjoint(np.abs(d.lam))).max())
    np.testing.assert_allclose(products(point, z, d), wanted, atol=1e-10 * np.abs(wanted).max())


def test_directions_and_shares_of_corrections_add_up(newton):
    system, _, point, z = newton
    wanted, extra = -point.lam * z, 0.3 * point.lam * z
    together = system.direction(wanted + 0.5 * extra)
    added = system.direction(wanted).plus(system.correction(extra), 0.5, 0.5, ALONE)
    for name in ("u", "lam", "mu", "z"):
        one, other = getattr(together, name), getattr(added, name)
        np.testing.assert_allclose(one, other, atol=1e-8 * np.abs(one).max())


def test_the_step_stays_inside_and_its_ends_prove_nothing_negative(newton):
    system, rows, point, z = newton
    step = compute(system, point, z, 0.0, 0.5, ALONE)
    assert 0 < step.primal <= 1
    assert 0 < step.dual <= 1
    d = step.direction
    assert (rows.slack(point.u + step.primal * d.u, point.w + step.primal * d.w) > 0).all()
    assert (point.lam + step.dual * d.lam > 0).all()
    for share in (0.0, 0.4, 1.0):
        assert (end(point, step, share).lam >= 0).all()
    np.testing.assert_allclose(end(point, step, 1.0).mu, point.mu + d.mu)
    np.testing.assert_allclose(end(point, step, 0.0).mu, point.mu + step.central.mu)


vectors = st.lists(st.floats(-4, 4), min_size=3, max_size=3)


@given(vectors, vectors, st.lists(st.floats(0.1, 2), min_size=3, max_size=3))
def test_the_best_share_never_shortens_the_step(change, extra, value):
    change, extra, value = np.array(change), np.array(extra), np.array(value)
    plain = length(change, value, ALONE)
    share, reach = best_share(change, extra, value, plain, ALONE)
    assert share in (0.0, *SHARES)
    assert reach >= plain
    assert reach == pytest.approx(length(change + share * extra, value, ALONE), rel=1e-12)
    every = [length(change + k * extra, value, ALONE) for k in (0.0, *SHARES)]
    assert reach == pytest.approx(max(every), rel=1e-9)


@pytest.mark.slow
def test_a_random_prior_needs_few_iterations():
    n = 12
    prior = np.random.default_rng(7).dirichlet(np.ones(n * n))
    distance = grid(n, n)
    result = Case(prior, distance, 0.7 * distance).solve(gap=1e-3, threads=1)
    # 18 when written; without repairs of the tails 21, with full second-order terms and correctors 36.
    assert result.gap <= 1e-3
    assert result.iterations <= 23
