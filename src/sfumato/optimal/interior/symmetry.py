"""Exact use of symmetry: permutations that leave prior, loss and log ratios unchanged.

Averaging a feasible mechanism over a group of such permutations of secrets and observables
keeps it feasible and keeps its loss, so an invariant optimum exists. In it the columns of
one orbit of observables are permuted copies of each other: one block per orbit is enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats
from .pairs import Columns, Ints

MAXIMUM = 64
TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True)
class Symmetry:
    """A group and the orbits of observables.

    Attributes:
        secrets: Array (k, n), permutations g of the secrets, the identity first.
        representatives: Array (blocks,), one observable per orbit.
        copies: Array (blocks,), size of each orbit.
        images: Array (k, m), permutations of the observables.
    """

    secrets: Ints
    representatives: Ints
    copies: Floats
    images: Ints

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
            moved = np.empty_like(point)
            moved[:, g] = point
            np.add.at(out, place, moved)
            np.add.at(count, place, 1.0)
        return out / count[:, None]


def trivial(n: int, m: int) -> Symmetry:
    """Return the group of the identity alone."""
    return Symmetry(np.arange(n)[None, :], np.arange(m), np.ones(m), np.arange(m)[None, :])


def detect(columns: Columns) -> Symmetry:
    """Return the symmetries of a plain expected-loss problem.

    They are found by the images of at most three base secrets and then verified. Any other
    problem gets the trivial group.
    """
    n, m = len(columns.prior), len(columns.expected)
    plain = columns.secret_loss is None and columns.weighted is None
    if not plain or n < 4 or not (columns.prior > 0).all():
        return trivial(n, m)
    found = [g for g in _candidates(columns) if _fixes(columns.ratio, g)]
    pairs = [(g, image) for g in found if (image := _observables(columns, g)) is not None]
    if len(pairs) < 2 or not _closed([g for g, _ in pairs]):
        return trivial(n, m)
    secrets, images = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs])
    first = images.min(axis=0)
    representatives, sizes = np.unique(first, return_counts=True)
    return Symmetry(secrets, representatives.astype(np.int64), sizes.astype(np.float64), images)


def _signature(columns: Columns) -> Floats:
    """Return what a symmetry must keep of each secret: prior and sorted log ratios both ways."""
    ratio = columns.ratio
    return np.round(
        np.concatenate([columns.prior[:, None], np.sort(ratio, axis=1), np.sort(ratio.T, axis=1)], axis=1), 10
    )


def _candidates(columns: Columns) -> list[Ints]:
    ratio, n = np.round(columns.ratio, 10), len(columns.prior)
    _, label, sizes = np.unique(_signature(columns), axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(sizes[label], kind="stable")
    base = [int(order[0])]
    profile = np.concatenate([label[:, None].astype(np.float64), ratio[:, base], ratio[base].T], axis=1)
    while len(np.unique(profile, axis=0)) < n:
        if len(base) == 3:
            return []
        groups = (
            [len(np.unique(np.c_[profile, ratio[:, s], ratio[s]], axis=0)) for s in range(n)] if n <= 64 else None
        )
        pick = int(np.argmax(groups)) if groups is not None else int(order[len(base) * 7 % n])
        base.append(pick)
        profile = np.c_[profile, ratio[:, pick], ratio[pick]]
    source = np.lexsort(profile.T)
    out: list[Ints] = []
    stack: list[list[int]] = [[]]
    while stack:
        images = stack.pop()
        depth = len(images)
        if depth == len(base):
            target = np.concatenate([label[:, None].astype(np.float64)], axis=1)
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
    identity = np.arange(n)
    out.sort(key=lambda g: not np.array_equal(g, identity))
    return out


def _closed(group: list[Ints]) -> bool:
    known = {g.tobytes() for g in group}
    return all(g[h].tobytes() in known for g in group for h in group)


def _fixes(ratio: Floats, g: Ints) -> bool:
    return bool(np.allclose(ratio[np.ix_(g, g)], ratio, rtol=TOLERANCE, atol=0))


def _observables(columns: Columns, g: Ints) -> Ints | None:
    """Return the permutation of observables that goes with g, or None."""
    if not np.allclose(columns.prior[g], columns.prior, rtol=TOLERANCE, atol=0):
        return None
    moved = np.empty_like(columns.expected)
    moved[:, g] = columns.expected
    one, other = np.round(moved, 12), np.round(columns.expected, 12)
    here, there = np.lexsort(one.T), np.lexsort(other.T)
    scale = float(np.abs(columns.expected).max())
    if not np.allclose(moved[here], columns.expected[there], rtol=TOLERANCE, atol=TOLERANCE * scale):
        return None
    image = np.empty(len(moved), dtype=np.int64)
    image[here] = there
    return image
