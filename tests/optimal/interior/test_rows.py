"""The rows of privacy against dense matrices, their search against brute force, and their growth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .parts import Iterate, PairRows, Workers, add_placed, arrange, extend, pairs, prove, search, started
from .programs import Case, drawn, grid, skewed


def some_rows(seed, *, extra=0):
    """Return rows in shuffled blocks, one of them without any, and the dense matrix that they stand for."""
    rng = np.random.default_rng(seed)
    blocks, n = int(rng.integers(2, 6)), int(rng.integers(2, 7))
    ratio = rng.random((n, n)) * 3 + 0.1
    np.fill_diagonal(ratio, 0.0)
    triples = [(o, s, t) for o in range(blocks) for s in range(n) for t in range(n) if s != t and o != 1]
    picked = [k for k in triples if rng.random() < 0.5] or triples[:1]
    keys = np.array([(o * n + s) * n + t for o, s, t in picked], dtype=np.int64)
    size = n + extra
    dense = np.zeros((len(keys), blocks * size))
    for row, (o, s, t) in enumerate(picked):
        dense[row, o * size + t] = np.exp(ratio[s, t] / 2)
        dense[row, o * size + s] = -np.exp(-ratio[s, t] / 2)
    return PairRows(keys, ratio, blocks, size), dense, picked, rng


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), extra=st.integers(0, 1))
def test_products_are_those_of_the_matrix(seed, extra):
    rows, dense, picked, rng = some_rows(seed, extra=extra)
    shape = rows.blocks, rows.size
    point, weights = rng.random(shape), rng.random(rows.count)
    np.testing.assert_allclose(rows.slack(point), dense @ point.ravel(), atol=1e-12)
    np.testing.assert_allclose(rows.adjoint(weights).ravel(), dense.T @ weights, atol=1e-12)
    square = dense.T @ (weights[:, None] * dense)
    diagonals = rows.diagonals(weights)
    np.testing.assert_allclose(diagonals.ravel(), np.diag(square), atol=1e-12)
    share, values = rng.random(rows.blocks), rng.random(rows.count)
    owners = np.array([o for o, _, _ in picked])
    np.testing.assert_array_equal(rows.repeat(share), share[owners])
    np.testing.assert_allclose(rows.sums(values), [values[owners == o].sum() for o in range(rows.blocks)])
    np.testing.assert_array_equal(np.stack(rows.triples(), axis=1), picked)
    out = np.empty((rows.size, rows.size))
    for o in range(rows.blocks):
        rows.fill(o, weights, diagonals, out)
        cut = slice(o * rows.size, (o + 1) * rows.size)
        np.testing.assert_allclose(out, np.triu(square[cut, cut]), atol=1e-12)
        np.testing.assert_array_equal(np.stack(rows.ends(o), axis=1), np.reshape(picked, (-1, 3))[owners == o, 1:])


@pytest.mark.parametrize("chunk", [1, 30, 1 << 15])
@pytest.mark.parametrize("threads", [1, 2])
def test_the_search_finds_every_broken_triple(chunk, threads, monkeypatch):
    monkeypatch.setattr(pairs, "CHUNK", chunk)
    rng = np.random.default_rng(chunk)
    blocks, n = 5, 13
    point = np.exp(rng.normal(size=(blocks, n)))
    bound = np.exp(rng.random((n, n)) * 4)
    bound[rng.random((n, n)) < 0.2] = np.inf
    wanted = [
        (o * n + s) * n + t
        for o in range(blocks)
        for s in range(n)
        for t in range(n)
        if point[o, s] > bound[s, t] * point[o, t]
    ]
    assert len(wanted) > 20
    known = np.array(wanted[::3], dtype=np.int64)
    with Workers(threads) as workers:
        np.testing.assert_array_equal(search(point, bound, np.empty(0, dtype=np.int64), workers), wanted)
        np.testing.assert_array_equal(search(point, bound, known, workers), np.setdiff1d(wanted, known))


def test_rows_that_join_change_neither_the_point_nor_the_proof():
    with Workers(1) as workers:
        rows, point = started(Case(skewed(16, seed=1, unvisited=4), grid(4, 4), 0.7 * grid(4, 4)).reduced, workers)
    proof = prove(rows, point)
    n, old = rows.form.secrets, rows.pairs
    every = np.arange(rows.form.blocks * n * n)
    every = every[(every // n) % n != every % n]
    new = np.setdiff1d(every, old.keys)[::7]
    grown, moved, kept = extend(rows, point, proof, new, 1e-3)
    np.testing.assert_array_equal(grown.pairs.keys, np.union1d(old.keys, new))
    present = np.isin(grown.pairs.keys, old.keys)
    np.testing.assert_array_equal(moved.lam[present], point.lam)
    assert (moved.lam[~present] > 0).all()
    again = prove(grown, Iterate(moved.u, moved.w, moved.v, kept.pairs, moved.mu))
    assert again.bound == pytest.approx(proof.bound, rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), spread=st.floats(0.0, 3.0))
def test_any_multipliers_prove_a_bound(seed, spread):
    case = drawn(seed, "plain")
    with Workers(1) as workers:
        rows, point = started(case.reduced, workers)
    rng = np.random.default_rng(seed)
    # Some are zero, as where the end of a full step would be negative.
    lam = point.lam * np.exp(spread * rng.normal(size=len(point.lam))) * (rng.random(len(point.lam)) < 0.8)
    proof = prove(rows, Iterate(point.u, point.w, point.v, lam, point.mu))
    assert proof.bound <= case.optimum() + 1e-8


def test_a_permuted_matrix_is_added_in_the_natural_order():
    rng = np.random.default_rng(0)
    size = 150
    s = np.arange(size - 1)
    shuffled = rng.permutation(size)
    order = arrange(shuffled[s], shuffled[s + 1], 3, size, None)
    assert order.secrets is not None
    inverse, total = np.triu(rng.random((size, size))), rng.random((size, size))
    wanted = total.copy()
    wanted[np.ix_(order.secrets, order.secrets)] += inverse
    add_placed(total, inverse, order)
    np.testing.assert_allclose(total, wanted, rtol=1e-14)
