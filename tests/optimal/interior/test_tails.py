"""Repairs far out: costs carried inward, entries raised to their bounds, and what both gain."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .parts import Flow, PairRows, loop, tails
from .programs import Case, grid, skewed


def flows(seed):
    """Return rows, a point, multipliers of which some are zero, reduced costs of both signs, and some blocks."""
    rng = np.random.default_rng(seed)
    blocks, n = int(rng.integers(1, 5)), int(rng.integers(2, 9))
    ratio = rng.random((n, n)) * 2 + 0.1
    np.fill_diagonal(ratio, 0.0)
    chosen = rng.random((blocks, n, n)) < 0.6
    chosen[:, np.arange(n), np.arange(n)] = False
    chosen[0, 0, 1] = True
    keys = np.flatnonzero(chosen.reshape(-1)).astype(np.int64)
    pairs = PairRows(keys, ratio, blocks, n + int(rng.integers(0, 2)))
    lam = rng.random(len(keys)) * (rng.random(len(keys)) < 0.8)
    some = np.flatnonzero(rng.random(blocks) < 0.7)
    some = some if len(some) else np.array([0])
    return pairs, rng.random((blocks, n)) ** 8, lam, rng.normal(size=(blocks, n)), some


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), way=st.sampled_from(["inward", "divert"]))
def test_what_is_left_changes_as_the_multipliers_say(seed, way):
    pairs, x, lam, left, some = flows(seed)
    n = x.shape[1]
    flow = Flow(pairs, x, some)
    weights, there = lam[flow.rows], left[some]
    getattr(flow, way)(weights, there)
    after = lam.copy()
    after[flow.rows] = weights
    taken = pairs.adjoint(after - lam)[:, :n]
    np.testing.assert_allclose(there, (left - taken)[some], atol=1e-12)
    assert (weights >= 0).all()
    np.testing.assert_array_equal(flow.block, np.searchsorted(some, pairs.triples()[0][flow.rows]))


def test_one_lack_travels_inward_and_shrinks():
    # Three secrets on a line, the middle of the three between: what the outermost lacks passes through it.
    ratio = np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    keys = np.array([0 * 3 + 1, 1 * 3 + 2])  # x_0 <= e x_1, x_1 <= e x_2
    pairs = PairRows(keys, ratio, 1, 3)
    lam, left = np.array([1.0, 1.0]), np.array([[0.0, 0.0, -0.5]])
    Flow(pairs, np.array([[0.9, 0.3, 0.1]]), np.array([0])).inward(lam, left)
    np.testing.assert_allclose(left, [[-0.5 * np.exp(-2), 0.0, 0.0]], atol=1e-15)


def test_a_neighbour_diverts_at_most_half_of_what_it_carries():
    # Secret 2 carries 1 to secret 0, secret 1 lacks much: half of it is diverted there.
    ratio = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    pairs = PairRows(np.array([0 * 3 + 2, 1 * 3 + 2]), ratio, 1, 3)
    root = np.exp(0.5)
    lam, left = np.array([1 / root, 0.0]), np.array([[0.2, -5.0, 0.0]])
    Flow(pairs, np.array([[0.9, 0.3, 0.1]]), np.array([0])).divert(lam, left)
    np.testing.assert_allclose(lam * root, [tails.DIVERTED, 1 - tails.DIVERTED])
    np.testing.assert_allclose(left, [[0.2 - 0.5 / np.e, -5 + 0.5 / np.e, 0.0]])


@pytest.fixture
def recorded(monkeypatch):
    """Every repair of the solves in a test: what was given and what came out."""
    seen: dict[str, list[tuple[object, ...]]] = {"carry": [], "lift": []}

    class Recorded(tails.Tails):
        def __init__(self, rows, point, z, *rest):
            super().__init__(rows, point, z, *rest)
            self.given = rows, point, z

        def carry(self, lam, reduced, mu):
            out = super().carry(lam, reduced, mu)
            seen["carry"].append((*self.given, lam.copy(), reduced.copy(), mu, out))
            return out

        def lift(self, direction, primal):
            out = super().lift(direction, primal)
            seen["lift"].append((*self.given, primal, out))
            return out

    monkeypatch.setattr(loop, "Tails", Recorded)
    return seen


def lacking(reduced, mu):
    return float(np.maximum(mu - reduced, 0.0).max(axis=0).sum())


def test_repairs_in_a_solve(recorded):
    distance = grid(8, 8)
    Case(skewed(64, seed=3, unvisited=6), distance, 0.7 * distance).solve(gap=1e-5, symmetry=False, threads=1)
    assert len(recorded["carry"]) > 3
    mended = 0.0
    for rows, _, _, lam, reduced, mu, (after, left) in recorded["carry"]:
        n = rows.form.secrets
        assert (after >= 0).all()
        np.testing.assert_allclose(left, reduced - rows.pairs.adjoint(after - lam)[:, :n], atol=1e-11)
        assert lacking(left, mu) <= lacking(reduced, mu)
        mended += np.log10(max(lacking(left, mu), 1e-12) / max(lacking(reduced, mu), 1e-12))
    # Most of what setting multipliers to zero spoils is mended.
    assert mended / len(recorded["carry"]) < -1
    lifted = [(rows, point, z, primal, out) for rows, point, z, primal, out in recorded["lift"] if out is not None]
    assert len(lifted) > 3
    for rows, point, z, primal, (end, reached) in lifted:
        assert reached > primal
        np.testing.assert_allclose(rows.form.total(end), rows.form.total(point.u), atol=1e-12)
        least = tails.LEAST_SLACK * (1 - tails.TOLERANCE) * (1 - tails.MOST_DRAWN)
        assert (rows.slack(end, point.w) >= least * z * (1 - 1e-9)).all()


@pytest.mark.slow
def test_repairs_save_iterations(monkeypatch):
    distance = grid(9, 9)
    prior = np.random.default_rng(7).dirichlet(np.ones(81))

    def iterations():
        return Case(prior, distance, 0.7 * distance).solve(gap=1e-4, symmetry=False, threads=1).iterations

    with_repairs = iterations()
    monkeypatch.setattr(loop, "SHORT", 0.0)
    monkeypatch.setattr(loop, "LAG", np.inf)
    assert with_repairs <= iterations() - 4


def test_blocks_that_lack_nothing_are_left_alone(recorded):
    # An even prior on a line: the bound does not lag, so hardly anything is repaired.
    distance = np.abs(np.subtract.outer(np.arange(12.0), np.arange(12.0)))
    result = Case(np.full(12, 1 / 12), distance, 0.7 * distance).solve(gap=1e-6, symmetry=False, threads=1)
    assert len(recorded["lift"]) + len(recorded["carry"]) < result.iterations
