"""Prices of absent observables: against a general solver, and what they prove."""

import numpy as np
import pytest
from scipy.optimize import linprog

from sfumato.optimal.column_generation.price import price, trivial_price

from .towns import town


def lowest(edges, w, exponents):
    """The least <w, x> over the cone with <exp(-E), x> = 1, by HiGHS."""
    rows = np.zeros((len(edges.upper), edges.size))
    every = np.arange(len(rows))
    rows[every, edges.upper] = 1 / edges.root
    rows[every, edges.lower] -= edges.root
    one = np.exp(-exponents)[None]
    return linprog(w, A_ub=rows, b_ub=np.zeros(len(rows)), A_eq=one, b_eq=[1.0], method="highs")


def least(edges, w, exponents):
    """The least <w, x> for a largest entry of 1."""
    found = lowest(edges, w, exponents)
    return found.fun / found.x.max()


def random_costs(given, rng, size):
    """Costs that grow with the distance from an anchor, and are negative near it."""
    anchor = int(rng.integers(given.shape[0]))
    away = given.exponents[anchor]
    return size * (away - 1.0) * rng.random(given.shape[0]) * 2 + 0.02 * rng.normal(size=given.shape[0]), anchor


@pytest.mark.parametrize("kind", ["triangular", "square"])
@pytest.mark.parametrize("seed", range(4))
def test_the_least_value_is_that_of_a_general_solver(seed, kind):
    given = town(seed, kind=kind)
    rng = np.random.default_rng(seed)
    for size in (0.05, 0.3, 1.0):
        w, anchor = random_costs(given, rng, size)
        found = price(given.edges, w, given.exponents[anchor], 1e-9, np.inf)
        exact = least(given.edges, w, given.exponents[anchor])
        if exact > 1e-9:
            assert found.closed
        elif exact < -1e-6:
            assert not found.closed
            assert found.value == pytest.approx(exact, rel=1e-5)
            # Some column gains that much, so no less is paid; at the best multipliers t q is lacking.
            away = given.exponents[anchor]
            lacking = -lowest(given.edges, w, away).fun * np.exp(-away).sum()
            assert -exact * (1 - 1e-5) <= found.short.sum() <= lacking * (1 + 1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_not_near_is_known_to_cost_more(seed):
    given = town(seed)
    rng = np.random.default_rng(50 + seed)
    w, anchor = random_costs(given, rng, 0.3)
    away = given.exponents[anchor]
    weighed = 0.02
    w += (weighed - lowest(given.edges, w, away).fun) * np.exp(-away)
    assert w.min() < 0
    # The least may be that of the secrets near the anchor only, which is lower.
    for near in (0.2 * weighed, 1.01 * weighed, 2 * weighed):
        found = price(given.edges, w, away, 1e-9, np.inf, near)
        assert found.closed
        assert (found.cost <= near) == (near > weighed)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_paid_makes_an_observable_harmless(seed):
    given = town(seed)
    rng = np.random.default_rng(100 + seed)
    w, anchor = random_costs(given, rng, float(rng.choice([0.02, 0.2, 1.0])))
    for found in (
        price(given.edges, w, given.exponents[anchor], 1e-6, 0.01),
        trivial_price(given.edges, w),
    ):
        assert (found.short >= 0).all()
        left = np.zeros(len(given.edges.upper))
        left[found.rows] = found.lam
        assert (left >= 0).all()
        # Reduced costs, with what is paid, are at least what the multipliers of the rows account for.
        assert (w + found.short - given.edges.adjoint(left) >= -1e-12).all()
        for _ in range(50):
            x = np.exp(-given.exponents) @ rng.dirichlet(np.full(given.shape[0], 0.1))
            assert (given.edges.slack(x) >= -1e-12).all()
            assert (w + found.short) @ x >= -1e-12


def test_an_anchor_whose_neighbours_are_far():
    given = town(1, size="2 km x 2 km", epsilon=4.0)
    w = np.full(given.shape[0], 0.5)
    w[7] = -1.0
    found = price(given.edges, w, given.exponents[7], 1e-9, np.inf)
    assert found.value == pytest.approx(least(given.edges, w, given.exponents[7]), rel=1e-5)


def test_costs_that_are_nowhere_negative_need_no_program():
    given = town(3)
    found = price(given.edges, np.full(given.shape[0], 0.1), given.exponents[0], 0.0, 1.0)
    assert found.closed
    assert not found.short.any()
    assert len(found.rows) == 0
