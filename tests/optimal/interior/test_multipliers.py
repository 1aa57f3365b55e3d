"""The multipliers prove the bound through `sfumato.proofs`, which knows nothing of the method."""

import numpy as np
import pytest

from sfumato.proofs import distortion_bound, loss_bound

from .programs import KINDS, Case, drawn, grid, limited, skewed


def proved(case, result):
    """The bound on the whole problem, by the lifted prices."""
    prices = result.reduced.lift_prices(result.prices)
    if case.max_loss is not None:
        assert case.distance is not None
        return -distortion_bound(case.prior, case.cost, case.distance, case.max_loss, prices)
    return loss_bound(case.prior, case.cost, prices, case.distance, case.minimum or 0.0)


@pytest.mark.parametrize(("rows", "columns", "order"), [(5, 5, 8), (6, 4, 4), (9, 1, 2)])
def test_expanded_under_symmetry(rows, columns, order):
    d = grid(rows, columns)
    n = len(d)
    case = Case(np.full(n, 1 / n), d, 0.7 * d)
    result = case.solve(gap=1e-7)
    assert result.symmetry == order
    assert proved(case, result) == pytest.approx(result.lower_bound, rel=1e-9)
    plain = case.solve(gap=1e-7, symmetry=False)
    assert plain.symmetry == 1
    assert result.cost == pytest.approx(plain.cost, rel=3e-7)
    assert proved(case, result) <= plain.cost


def test_expanded_under_the_symmetry_of_a_prior_that_is_not_even():
    d = grid(5, 5)
    prior = 1 / (1 + d[12])  # more at the centre
    case = Case(prior / prior.sum(), d, d)
    result = case.solve(gap=1e-7)
    assert result.symmetry == 8
    assert proved(case, result) == pytest.approx(result.lower_bound, rel=1e-9)
    assert result.cost == pytest.approx(case.solve(gap=1e-7, symmetry=False).cost, rel=3e-7)


def test_a_prior_without_symmetry_has_none():
    d = grid(5, 5)
    assert Case(skewed(25, seed=1), d, d).solve(gap=1e-4).symmetry == 1


@pytest.mark.thinned(2)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "game worst"])
@pytest.mark.parametrize("seed", [0, 1])
def test_of_every_kind(seed, kind):
    case = drawn(seed, kind)
    result = case.solve(gap=1e-7, threads=1)
    # Evidence takes each secret's least reduced cost, so it may prove a little more.
    assert result.lower_bound - 1e-9 <= proved(case, result) <= result.cost


def test_of_a_game_on_a_grid():
    d = grid(4, 4)
    case = limited(Case(skewed(16, seed=2, unvisited=4), d, 0.6 * d), d, 0.5)
    result = case.solve(gap=1e-7)
    assert proved(case, result) == pytest.approx(result.lower_bound, rel=1e-9)
