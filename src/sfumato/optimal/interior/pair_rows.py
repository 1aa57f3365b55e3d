"""Privacy rows as triples (o, s, t): x_o[s] <= e^{E[s,t]} x_o[t], present only where they matter; symmetries.

A row is scaled to e^{E/2} x_o[t] - e^{-E/2} x_o[s] > 0, so its coefficients are within a factor e^{cap/2} of one.
A row at the cap of log ratios stands for x >= 0, and its multiplier proves nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ...core.arrays import Floats
from ..reduction import Reduction
from .lapack import Workers

CHAIN_TOLERANCE = 1e-12
CHUNK = 1 << 15
CAP = 60.0
_LEAST_ROOM = 1e-2  # of the first mechanism in a row of distributions, as a share of that of equal constants

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.int32]
MAXIMUM = 64
TOLERANCE = 1e-12


def irreducible(ratio: Floats, workers: Workers) -> Bools:
    """Return the pairs without another u such that E[s,u] + E[u,t] <= E[s,t], a mask (n, n); they imply all."""
    n = ratio.shape[0]
    bare = ratio.copy()
    np.fill_diagonal(bare, np.inf)
    limit = bare * (1 + CHAIN_TOLERANCE)
    columns = np.ascontiguousarray(bare.T)

    def part(rows: range) -> Bools:
        keep = np.ones((len(rows), n), dtype=np.bool_)
        for k, s in enumerate(rows):
            workers.check()
            detour = (columns + bare[s]).min(axis=1)
            keep[k] = detour > limit[s]
        return keep

    mask = np.concatenate(workers.share(part, n))
    np.fill_diagonal(mask, False)
    return mask


def nearest(ratio: Floats, candidates: Bools, count: int, cap: float) -> Bools:
    """Return a symmetric mask of each secret's nearest candidates below the cap, or else its nearest secret."""
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
    return np.asarray(mask | mask.T)


class PairRows:
    """A set of triples with the products that Newton's method needs.

    Keys o n^2 + s n + t are sorted and unique; ``size`` is the length of a block's vector, which begins with
    the n probabilities.
    """

    def __init__(self, keys: Ints, ratio: Floats, blocks: int, size: int) -> None:
        n = ratio.shape[0]
        self.keys, self.blocks, self.size, self.count = keys, blocks, size, len(keys)
        self._n, self._edges = n, np.searchsorted(keys, np.arange(blocks + 1) * (n * n))
        # Per row only its two columns and coefficients are kept: there are tens of millions of rows.
        self._index = np.empty((self.count, 2), dtype=np.int32)
        self._value = np.empty((self.count, 2))
        self.lower, self.upper = self._index.T  # arrays (rows,), positions of x_o[t] and of x_o[s] in a flat point
        self.root = self._value[:, 0]  # array (rows,), e^{E/2}
        flat = ratio.reshape(-1)
        for o in range(blocks):
            cut = self.block_slice(o)
            pair = keys[cut] - o * n * n
            upper, lower = np.divmod(pair, n)
            self._index[cut, 0], self._index[cut, 1] = lower + o * size, upper + o * size
            np.exp(flat[pair] / 2, out=self._value[cut, 0])
            np.divide(-1.0, self._value[cut, 0], out=self._value[cut, 1])
        self._starts = np.arange(0, 2 * self.count + 1, 2, dtype=np.int32)
        self._matrix = self._of(self._value)
        self._transpose = self._matrix.T

    def _of(self, value: Floats) -> sparse.csr_matrix:
        shape = (self.count, self.blocks * self.size)
        return sparse.csr_matrix((value.ravel(), self._index.ravel(), self._starts), shape=shape)

    def slack(self, point: Floats) -> Floats:
        """Return G u, array (rows,), for u of shape (m, size)."""
        return np.asarray(self._matrix @ point.ravel())

    def adjoint(self, weights: Floats) -> Floats:
        """Return G' v, array (m, size)."""
        return np.asarray(self._transpose @ weights).reshape(self.blocks, self.size)

    def diagonals(self, weights: Floats) -> Floats:
        """Return the diagonals of G' diag(w) G, array (m, size)."""
        return np.asarray(self._of(self._value**2).T @ weights).reshape(self.blocks, self.size)

    def fill(self, o: int, weights: Floats, diagonals: Floats, out: Floats) -> None:
        """Write block o of G' diag(w) G into the upper triangle of ``out``, array (size, size)."""
        out[:] = 0.0
        flat, weight = out.reshape(-1), weights[self.block_slice(o)]
        upper, lower = self.ends(o)
        position, descending = np.minimum(upper, lower) * self.size + np.maximum(upper, lower), upper > lower
        flat[position[descending]] = -weight[descending]
        ascending = ~descending
        # Within one orientation positions are unique, so plain indexed subtraction loses nothing.
        flat[position[ascending]] -= weight[ascending]
        flat[:: self.size + 1] = diagonals[o]

    def block_slice(self, o: int) -> slice:
        """Return where block o's rows lie."""
        return slice(int(self._edges[o]), int(self._edges[o + 1]))

    def ends(self, o: int) -> tuple[Ints, Ints]:
        """Return s and t of block o's rows."""
        pair = self._index[self.block_slice(o)].astype(np.int64) - o * self.size
        return pair[:, 1], pair[:, 0]

    def triples(self) -> tuple[Ints, Ints, Ints]:
        """Return o, s and t of every row."""
        block, pair = np.divmod(self.keys, self._n * self._n)
        upper, lower = np.divmod(pair, self._n)
        return block, upper, lower

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the rows' values in each block, array (m,)."""
        return np.array([values[self.block_slice(o)].sum() for o in range(self.blocks)])

    def among(self, mask: Bools) -> Ints:
        """Return the rows of the chosen blocks, a mask (blocks,)."""
        return np.flatnonzero(np.repeat(mask, np.diff(self._edges)))

    def repeat(self, share: Floats) -> Floats:
        """Return one number per block, repeated for its rows."""
        return np.repeat(share, np.diff(self._edges))


def search(point: Floats, bound: Floats, known: Ints, workers: Workers) -> Ints:
    """Return the sorted keys of triples with x_o[s] > bound[s,t] x_o[t] that are not in ``known`` (sorted)."""
    blocks, n = point.shape
    step = max(1, CHUNK // n)

    def part(share: range) -> Ints:
        product, hits = np.empty((step, n)), np.empty((step, n), dtype=np.bool_)
        keys: list[Ints] = []
        # A few rows of the thresholds at a time, which stay in the cache for all observables.
        for start in range(0, n, step):
            block = bound[start : start + step]
            count = len(block)
            workers.check()
            for o in share:
                np.multiply(block, point[o], out=product[:count])
                np.less(product[:count], point[o, start : start + step, None], out=hits[:count])
                hit = np.flatnonzero(hits[:count])
                if len(hit):
                    keys.append(hit.astype(np.int64) + (o * n * n + start * n))
        return np.sort(np.concatenate(keys)) if keys else np.empty(0, dtype=np.int64)

    near = np.concatenate(workers.share(part, blocks))
    if len(known) == 0:
        return near
    place = np.minimum(np.searchsorted(known, near), len(known) - 1)
    return np.asarray(near[known[place] != near])


@dataclass(frozen=True, slots=True)
class Families:
    """Distribution privacy: sum over o of max(0, -(rows @ p(o|.))) <= deltas, of each pair of distributions."""

    rows: Floats  # array (k, n)
    deltas: Floats  # array (k,)

    @property
    def loose(self) -> Ints:
        """The positions of the pairs with a delta."""
        return np.flatnonzero(self.deltas)

    def excess(self, point: Floats) -> Floats:
        """Return how far each observable of a mechanism (m, n) breaks the row of each pair, array (m, k)."""
        return np.maximum(-(point @ self.rows.T), 0.0)

    def share_inside(self, point: Floats) -> float:
        """Return the share of equal constants whose mixture with a mechanism (m, n) is inside all rows."""
        pure, flat = self.deltas == 0, self.rows.sum(axis=1) / len(point)
        most = np.maximum(_LEAST_ROOM * flat - (point @ self.rows.T).min(axis=0), 0.0)
        mass, room = self.excess(point).sum(axis=0), self.deltas / 2
        shares = np.where(pure, most / (most + flat / 2), 1 - room / np.maximum(mass, room))
        return float(shares.max(initial=0.0))


@dataclass(frozen=True, slots=True)
class Columns:
    """A reduced problem by observable: n distinct secrets, m kept observables, N secrets in all."""

    prior: Floats  # array (n,), mass of each distinct secret
    expected: Floats  # array (m, n), prior-weighted loss of reporting o
    ratio: Floats  # array (n, n) of log ratios, capped
    capped: Bools  # array (n, n), where the true log ratio exceeds the cap (or is infinite)
    members: Ints  # array (N,), distinct secret of each one
    weighted: Floats | None = None  # array (guesses, n) of prior[s] d(g, s), or None
    minimum: float | None = None  # the least expected distortion, or None
    # array (m, N), loss of every secret, for problems that limit or minimise the worst one, or None
    secret_loss: Floats | None = None
    max_loss: float | None = None  # the limit of the loss in the zero-sum game, or None
    # array (k, 2), pairs (s, t) whose rows imply all others, where they are known and few; or None
    edges: Ints | None = None
    families: Families | None = None  # of distribution privacy, or None

    @property
    def game(self) -> bool:
        """Whether distortion is maximised under a limit of the loss."""
        return self.max_loss is not None

    @property
    def sign(self) -> float:
        """The sign of the objective in what is minimised."""
        return -1.0 if self.game else 1.0

    def distortion(self, point: Floats) -> float:
        """Return sum_o min_g sum_s prior[s] d(g,s) x_o[s]."""
        if self.weighted is None:
            return 0.0
        return float((point @ self.weighted.T).min(axis=1).sum())

    def loss(self, point: Floats) -> float:
        """Return the expected loss, or the worst secret's where the problem limits that."""
        if self.secret_loss is None:
            return float((self.expected * point).sum())
        return float(np.einsum("or,or->r", self.secret_loss, point[:, self.members]).max())

    def value(self, point: Floats) -> float:
        """Return what is minimised: the loss, or minus the distortion in the game."""
        return -self.distortion(point) if self.game else self.loss(point)


def columns(reduction: Reduction) -> Columns:
    """Return a reduced problem by observable."""
    prior, ratio, weighted, costs = reduction.prior, reduction.exponents, reduction.weighted, reduction.costs
    families = None if reduction.families is None else Families(*reduction.families)
    if len(prior) == 1:
        # One secret has no pair to keep its probabilities positive; an imaginary companion without mass has.
        prior, costs = np.append(prior, 0.0), np.concatenate([costs, np.zeros_like(costs)])
        ratio = np.where(np.eye(2, dtype=np.bool_), 0.0, np.inf)
        weighted = None if weighted is None else np.concatenate([weighted, np.zeros_like(weighted)], axis=1)
        families = None  # of one secret: all distributions are the same
    return Columns(
        prior=prior,
        expected=np.ascontiguousarray(costs.T),
        ratio=np.minimum(ratio, CAP),
        capped=ratio > CAP,
        members=reduction.members,
        weighted=weighted,
        minimum=reduction.minimum,
        secret_loss=None if reduction.losses is None else np.ascontiguousarray(reduction.losses.T),
        max_loss=reduction.max_loss,
        families=families,
    )


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A group of permutations that leave prior, loss and log ratios unchanged, and the orbits of observables."""

    secrets: Ints  # array (k, n), permutations g of the secrets, the identity first
    representatives: Ints  # array (blocks,), one observable per orbit
    copies: Floats  # array (blocks,), size of each orbit
    images: Ints  # array (k, m), permutations of the observables

    @property
    def order(self) -> int:
        """The size of the group."""
        return len(self.secrets)

    def average_vector(self, vector: Floats) -> Floats:
        """Return the mean over the group of a vector indexed by secrets."""
        if self.order == 1:
            return vector
        return np.asarray(vector[self.secrets].mean(axis=0))

    def average_matrix(self, matrix: Floats) -> Floats:
        """Return the mean over the group of a matrix indexed by secrets twice."""
        if self.order == 1:
            return matrix
        out = np.zeros_like(matrix)
        for g in self.secrets:
            out += matrix[np.ix_(g, g)]
        return out / self.order

    def expand(self, point: Floats) -> Floats:
        """Return all columns (m, n) from one block per orbit."""
        if self.order == 1:
            return point
        m = self.images.shape[1]
        out, count = np.zeros((m, point.shape[1])), np.zeros(m)
        for g, image in zip(self.secrets, self.images, strict=True):
            place = image[self.representatives]
            blocks = np.empty_like(point)
            blocks[:, g] = point
            np.add.at(out, place, blocks)
            np.add.at(count, place, 1.0)
        return out / count[:, None]


def trivial_symmetry(n: int, m: int) -> Symmetry:
    """Return the group of the identity alone."""
    return Symmetry(np.arange(n)[None, :], np.arange(m), np.ones(m), np.arange(m)[None, :])


def detect_symmetry(columns: Columns) -> Symmetry:
    """Return the verified symmetries of a plain expected loss; the trivial group for any other problem."""
    n, m = len(columns.prior), len(columns.expected)
    plain = columns.secret_loss is None and columns.weighted is None and columns.families is None
    if not plain or n < 4 or not (columns.prior > 0).all():
        return trivial_symmetry(n, m)
    ratio = columns.ratio
    fixing = [g for g in _candidates(columns) if np.allclose(ratio[np.ix_(g, g)], ratio, rtol=TOLERANCE, atol=0)]
    pairs = [(g, image) for g in fixing if (image := _observables(columns, g)) is not None]
    if len(pairs) < 2 or not _is_closed([g for g, _ in pairs]):
        return trivial_symmetry(n, m)
    secrets, images = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    first = images.min(axis=0)
    representatives, sizes = np.unique(first, return_counts=True)
    return Symmetry(secrets, representatives.astype(np.int64), sizes.astype(np.float64), images)


def _candidates(columns: Columns) -> list[Ints]:
    ratio, n = np.round(columns.ratio, 10), len(columns.prior)
    # Invariants of each secret under symmetries: prior and sorted log ratios both ways.
    parts = [columns.prior[:, None], np.sort(columns.ratio, axis=1), np.sort(columns.ratio.T, axis=1)]
    signature = np.round(np.concatenate(parts, axis=1), 10)
    _, label, sizes = np.unique(signature, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(sizes[label], kind="stable")
    base = [int(order[0])]
    profile = np.concatenate([label[:, None].astype(np.float64), ratio[:, base], ratio[base].T], axis=1)
    while len(np.unique(profile, axis=0)) < n:
        if len(base) == 3:
            return []
        pick = int(order[len(base) * 7 % n])
        if n <= 64:
            pick = max(range(n), key=lambda s: len(np.unique(np.c_[profile, ratio[:, s], ratio[s]], axis=0)))
        base.append(pick)
        profile = np.c_[profile, ratio[:, pick], ratio[pick]]
    source = np.lexsort(profile.T)
    out: list[Ints] = []
    stack: list[list[int]] = [[]]
    while stack:
        images = stack.pop()
        depth = len(images)
        if depth == len(base):
            target = label[:, None].astype(np.float64)
            for k in images:
                target = np.c_[target, ratio[:, k], ratio[k]]
            sink = np.lexsort(target.T)
            if np.array_equal(profile[source], target[sink]):
                g = np.empty(n, dtype=np.int64)
                g[source] = sink
                out.append(g)
                if len(out) > MAXIMUM:
                    return []
            continue
        b = base[depth]
        fits = label == label[b]
        for k, image in enumerate(images):
            fits &= (ratio[image] == ratio[base[k], b]) & (ratio[:, image] == ratio[b, base[k]])
        stack.extend([*images, int(s)] for s in np.flatnonzero(fits))
    return sorted(out, key=lambda g: not np.array_equal(g, np.arange(n)))


def _is_closed(group: list[Ints]) -> bool:
    known = {g.tobytes() for g in group}
    return all(g[h].tobytes() in known for g in group for h in group)


def _observables(columns: Columns, g: Ints) -> Ints | None:
    """Return the permutation of observables that goes with g, or None."""
    if not np.allclose(columns.prior[g], columns.prior, rtol=TOLERANCE, atol=0):
        return None
    images = np.empty_like(columns.expected)
    images[:, g] = columns.expected
    left, right = np.round(images, 12), np.round(columns.expected, 12)
    here, there = np.lexsort(left.T), np.lexsort(right.T)
    scale = float(np.abs(columns.expected).max())
    if not np.allclose(images[here], columns.expected[there], rtol=TOLERANCE, atol=TOLERANCE * scale):
        return None
    return np.asarray(there[np.argsort(here)])
