"""Factors near the diagonal agree with dense ones, whatever a block's graph looks like."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.optimal.interior.blocks import fold

from .parts import (
    BandedBlocks,
    DenseBlocks,
    Workers,
    arrange,
    factor_band,
    invert_band,
    lapack,
    newton,
    pack_band,
    started,
)
from .programs import Case, grid, skewed


def neighbours(size, reach, rng):
    """Return a shuffled path with links up to ``reach``, some of them missing, as ordered pairs."""
    s, t = np.nonzero(np.abs(np.subtract.outer(np.arange(size), np.arange(size))) <= reach)
    keep = (s != t) & (rng.random(len(s)) < 0.7)
    shuffled = rng.permutation(size)
    return shuffled[s[keep]], shuffled[t[keep]]


def block(upper, lower, anchor, size, rng):
    """Return weights, the diagonal, and the block without its anchor as a full matrix."""
    weights = np.exp(rng.normal(size=len(upper)) * 3)
    full = np.diag(rng.random(size) + 1e-3)
    for s, t, w in zip(upper, lower, weights, strict=True):
        full[s, s] += w
        full[t, t] += w
        full[s, t] -= w
        full[t, s] -= w
    diagonal = np.diag(full).copy()
    full[anchor], full[:, anchor] = 0.0, 0.0
    full[anchor, anchor] = 1.0
    return weights, diagonal, full


def compare(upper, lower, anchor, size, rng):
    order = arrange(upper, lower, anchor, size, None)
    assert order.secrets is not None
    weights, diagonal, full = block(upper, lower, anchor, size, rng)
    buffer = np.zeros(2 * size * size)
    matrix = buffer[: size * size].reshape(size, size)
    order.fill(weights, diagonal, matrix)
    order.isolate(matrix)
    assert factor_band(matrix, order)
    packed = np.empty((size, order.width + 1))
    pack_band(matrix, order, packed)
    right = rng.normal(size=size)
    placed = right[order.secrets]
    lapack.sweep_banded(packed, placed, backward=False)
    lapack.sweep_banded(packed, placed, backward=True)
    inverse = np.zeros((size, size))
    invert_band(matrix, order, inverse)
    assert not np.tril(inverse, -1).any()
    whole = (np.triu(inverse) + np.triu(inverse, 1).T)[np.ix_(order.position, order.position)]
    wanted = np.linalg.inv(full)
    np.testing.assert_allclose(whole, wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())
    solved = wanted @ right
    np.testing.assert_allclose(placed[order.position], solved, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())
    return order


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), size=st.integers(160, 230), reach=st.integers(1, 8))
def test_random_sparse_blocks(seed, size, reach):
    rng = np.random.default_rng(seed)
    upper, lower = neighbours(size, reach, rng)
    order = compare(upper, lower, int(rng.integers(size)), size, rng)
    assert order.width <= 6 * reach


def test_a_graph_in_pieces():
    rng = np.random.default_rng(1)
    one, other = neighbours(90, 4, rng), neighbours(70, 3, rng)
    upper, lower = (np.concatenate([a, b + 100]) for a, b in zip(one, other, strict=True))
    compare(upper, lower, 7, 180, rng)


def test_the_anchor_may_meet_everybody():
    rng = np.random.default_rng(2)
    upper, lower = neighbours(200, 4, rng)
    others = np.setdiff1d(np.arange(200), [11])
    wide = np.concatenate([upper, np.full(199, 11)]), np.concatenate([lower, others])
    keep = (upper != 11) & (lower != 11)
    alone = arrange(upper[keep], lower[keep], 11, 200, None)
    pairs = np.unique(np.stack(wide, axis=1), axis=0)
    assert compare(pairs[:, 0], pairs[:, 1], 11, 200, rng).width == alone.width


def test_another_wide_row_makes_the_block_dense():
    rng = np.random.default_rng(3)
    upper, lower = np.nonzero(~np.eye(60, dtype=bool))
    order = arrange(upper, lower, int(rng.integers(60)), 60, None)
    assert order.secrets is None


def test_a_negative_pivot_is_noticed():
    rng = np.random.default_rng(4)
    upper, lower = neighbours(200, 4, rng)
    order = arrange(upper, lower, 0, 200, None)
    weights, diagonal, _ = block(upper, lower, 0, 200, rng)
    matrix = np.zeros((200, 200))
    order.fill(weights, -diagonal, matrix)
    assert not factor_band(matrix, order)


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("size", "worst"), [(6, False), (6, True), (13, True)])
def test_the_newton_system_is_the_same(worst, size):
    distance = grid(size, size)
    n = size * size
    prior = skewed(n, seed=2, unvisited=n // 5)
    rng = np.random.default_rng(5)
    with Workers(2) as workers:
        rows, point = started(Case(prior, distance, 0.7 * distance, worst=worst).reduced, workers)
        form = rows.form
        z = rows.slack(point.u, point.w)
        banded, dense = BandedBlocks(form, workers), DenseBlocks(form, workers)
        # Twice: the second time orders and memory are used again.
        for _ in range(2):
            one, other = banded.factor(rows, point, z), dense.factor(rows, point, z)
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-10 * np.abs(other).max())
        right = rng.normal(size=(form.blocks, form.size))
        rest, share = banded.solve(right)
        wanted_rest, wanted_share = dense.solve(right)
    whole, wanted = rest + share[:, None] * point.u, wanted_rest + wanted_share[:, None] * point.u
    np.testing.assert_allclose(whole, wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())


@pytest.mark.slow
def test_whole_solves_agree(monkeypatch):
    distance = grid(7, 7)
    prior = skewed(49, seed=3, unvisited=9)
    case = Case(prior, distance, 0.7 * distance)
    dense = case.solve(gap=1e-6)
    monkeypatch.setattr(newton, "BANDED_FROM", 0)
    banded = case.solve(gap=1e-6)
    assert max(dense.gap, banded.gap) <= 2e-6
    assert banded.cost >= dense.lower_bound
    assert dense.cost >= banded.lower_bound


@pytest.mark.parametrize("size", [1, 5, 512, 513, 1200])
def test_a_matrix_is_folded_onto_its_transpose(size):
    matrix = np.random.default_rng(size).random((size, size))
    wanted = matrix + matrix.T - np.diag(np.diagonal(matrix))
    fold(matrix)
    assert np.array_equal(matrix, wanted)
