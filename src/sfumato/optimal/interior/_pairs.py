"""Privacy rows as triples (o, s, t): x_o[s] <= e^{E[s,t]} x_o[t], present only where they matter.

A row is scaled to e^{E/2} x_o[t] - e^{-E/2} x_o[s] > 0, which keeps its two coefficients
within e^{cap/2} of one.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ._arrays import Bools, Floats, Ints
from ._workers import Workers

CHAIN_TOLERANCE = 1e-12


def irreducible(ratio: Floats, workers: Workers) -> Bools:
    """Return the pairs that no third secret implies.

    (s, t) is implied when E[s,u] + E[u,t] <= E[s,t] for some u other than s and t. If every
    pair that is left holds then all pairs hold: chain the two halves; both are shorter.

    Args:
        ratio: Array (n, n) of log ratios, positive off the diagonal.
        workers: The pool.

    Returns:
        A mask (n, n); the diagonal is False.
    """
    n = ratio.shape[0]
    bare = ratio.copy()
    np.fill_diagonal(bare, np.inf)
    limit = bare * (1 + CHAIN_TOLERANCE)
    columns = np.ascontiguousarray(bare.T)

    def part(rows: range) -> Bools:
        keep = np.ones((len(rows), n), dtype=np.bool_)
        for k, s in enumerate(rows):
            detour = (columns + bare[s]).min(axis=1)
            keep[k] = detour > limit[s]
        return keep

    mask = np.concatenate(workers.share(part, n))
    np.fill_diagonal(mask, False)
    return mask


def nearest(ratio: Floats, candidates: Bools, count: int, cap: float) -> Bools:
    """Return a symmetric first set of rows: each secret's nearest candidates, ties kept.

    A secret with no candidate below the cap gets its nearest other secret.

    Args:
        ratio: Array (n, n) of log ratios.
        candidates: Array (n, n), the pairs to choose from.
        count: How many per secret.
        cap: Log ratios from here on are as good as free.
    """
    n = ratio.shape[0]
    score = np.where(candidates, ratio, np.inf)
    np.fill_diagonal(score, np.inf)
    rank = min(count, n - 1)
    kth = np.partition(score, rank - 1, axis=1)[:, rank - 1]
    mask = (score <= kth[:, None] * (1 + 1e-9)) & (score < cap)
    for s in np.flatnonzero(~mask.any(axis=1)):
        bare = ratio[s].copy()
        bare[s] = np.inf
        mask[s, int(np.argmin(bare))] = True
    closed: Bools = mask | mask.T
    return closed


class PairRows:
    """A set of triples with the products that Newton's method needs.

    Args:
        keys: Sorted and unique, o n^2 + s n + t.
        ratio: Array (n, n) of log ratios E.
        blocks: The number of blocks m.
        size: Length of one block's vector: n, or n + 1 with a distortion variable after the
            n probabilities.
    """

    def __init__(self, keys: Ints, ratio: Floats, blocks: int, size: int) -> None:
        n = ratio.shape[0]
        block, rest = np.divmod(keys, n * n)
        upper, lower = np.divmod(rest, n)
        self.keys, self.blocks, self.size, self.count = keys, blocks, size, len(keys)
        self.block, self.upper, self.lower = block, upper, lower
        self.log_ratio = ratio[upper, lower]
        self._edges = np.searchsorted(block, np.arange(blocks + 1))
        index = np.empty((self.count, 2), dtype=np.int32)
        index[:, 0] = block * size + lower
        index[:, 1] = block * size + upper
        value = np.empty((self.count, 2))
        value[:, 0] = np.exp(self.log_ratio / 2)
        value[:, 1] = -np.exp(-self.log_ratio / 2)
        starts = np.arange(0, 2 * self.count + 1, 2, dtype=np.int32)
        shape = (self.count, blocks * size)
        self._matrix = sparse.csr_matrix((value.ravel(), index.ravel(), starts), shape=shape)
        self._transpose = self._matrix.T
        self._squared = sparse.csr_matrix((value.ravel() ** 2, index.ravel(), starts), shape=shape).T

    def slack(self, point: Floats) -> Floats:
        """Return G u, array (rows,), for u of shape (m, size)."""
        return np.asarray(self._matrix @ point.ravel())

    def adjoint(self, weights: Floats) -> Floats:
        """Return G' v, array (m, size)."""
        return np.asarray(self._transpose @ weights).reshape(self.blocks, self.size)

    def diagonals(self, weights: Floats) -> Floats:
        """Return the diagonals of G' diag(w) G, array (m, size)."""
        return np.asarray(self._squared @ weights).reshape(self.blocks, self.size)

    def fill(self, o: int, weights: Floats, diagonals: Floats, out: Floats) -> None:
        """Write block o of G' diag(w) G into the upper triangle of ``out``, array (size, size)."""
        out[:] = 0.0
        flat, share = out.reshape(-1), self.cut(o)
        upper, lower, weight = self.upper[share], self.lower[share], weights[share]
        position, descending = np.minimum(upper, lower) * self.size + np.maximum(upper, lower), upper > lower
        flat[position[descending]] = -weight[descending]
        ascending = ~descending
        # Within one orientation positions are unique, so plain indexed subtraction loses nothing.
        flat[position[ascending]] -= weight[ascending]
        flat[:: self.size + 1] = diagonals[o]

    def cut(self, o: int) -> slice:
        """Return where block o's rows lie."""
        return slice(int(self._edges[o]), int(self._edges[o + 1]))


def search(point: Floats, bound: Floats, known: Ints, workers: Workers) -> Ints:
    """Return the keys of the triples with x_o[s] > bound[s,t] x_o[t] that are not known.

    Args:
        point: Array (m, n) of probabilities.
        bound: Array (n, n), the thresholds; +inf where no row is wanted.
        known: Sorted keys already in the row set.
        workers: The pool.

    Returns:
        Sorted keys.
    """
    blocks, n = point.shape

    def part(share: range) -> Ints:
        product = np.empty((n, n))
        found: list[Ints] = []
        for o in share:
            x = point[o]
            np.multiply(bound, x[None, :], out=product)
            hit = np.flatnonzero(np.less(product, x[:, None]).reshape(-1))
            found.append(hit.astype(np.int64) + o * n * n)
        return np.concatenate(found) if found else np.empty(0, dtype=np.int64)

    near = np.concatenate(workers.share(part, blocks))
    if len(known) == 0:
        return near
    place = np.minimum(np.searchsorted(known, near), len(known) - 1)
    return np.asarray(near[known[place] != near])
