"""Costs of reports at the corners of a mesh, for groups of near places: docs/proofs/coordinate-bound.md."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, KDTree, QhullError

from ...core.arrays import Floats
from ...core.immutable import CompactRepr
from ...intervals import exp_above, exp_below
from ...rounding import UNIT
from ..solver import Stop

Indices = NDArray[np.intp]

_ROUNDS: Final = 30  # of moving the middles of groups
_CANDIDATES: Final = 8  # places, of which the best becomes a middle to begin with
_LOOKED_AT: Final = 4096  # places from which the representatives are chosen
_CHUNK: Final = 512  # places at a time
_ROUNDING: Final = 2.0**-50
_WORTHLESS: Final = 8.0  # epsilon r of places that add nothing to the bound
KINDS: Final = ("euclidean", "squared")
_COSTS_CHUNK: Final = 4_000_000  # numbers of one array
_PAIRS: Final = ((0, 1), (1, 2), (2, 0))
_BITS: Final = 44  # of coordinates, so that sums and middles of corners stay exact
DEEPEST: Final = 14  # how often a triangle is quartered at most
_DOUBLINGS: Final = 7  # of corners, until enough are in the hull
_SLACK: Final = 2.0**-48  # rounding of a product with a unit vector, relative to the coordinates' size


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Mesh(CompactRepr):
    """Triangles that cover the convex hull of the places; small ones may have corners on sides of larger ones."""

    corners: Floats  # array (m, 2), the corners of all triangles, in metres
    triangles: Indices  # array (t, 3), positions in `corners`
    depths: Indices  # array (t,), how often the first triangle was quartered
    directions: Floats  # array (k, 2), unit vectors
    reach: Floats  # array (k,): no place is farther than this in a direction

    @classmethod
    def covering(cls, places: Floats, corners: int) -> Mesh:
        """Return a mesh of equal triangles with about so many corners over places (n, 2), in metres."""
        directions = _directions(places)
        size = float(np.abs(places).max())
        reach = (places @ directions.T).max(axis=0) + _SLACK * 2 * size
        low, extent = places.min(axis=0), np.ptp(places, axis=0)
        wide = max(float(extent.max()), size * 2.0**-20) or 1.0
        quantum = 2.0 ** (math.frexp(max(size, wide))[1] - _BITS)
        # The hull fills some of its box; the border takes a row more than that.
        side = math.sqrt(float(np.prod(np.maximum(extent, 0.05 * wide))) / (0.8 * max(corners, 4)))
        step = 2**DEEPEST * max(1, round(side / (8 * quantum * 2**DEEPEST))) * quantum
        origin = (np.floor(low / quantum) - 1) * quantum
        rows = math.ceil(float(extent[1]) / (7 * step)) + 2
        columns = math.ceil(float(extent[0]) / (8 * step)) + 3
        j, i = (index.ravel() for index in np.mgrid[:rows, :columns])
        # Rows are 7 apart and 8 wide: 7 / 8 is exact, and nearly the height of an equilateral triangle.
        start = np.column_stack([8 * step * i - 4 * step * (j % 2) - 4 * step, 7 * step * j - 3.5 * step]) + origin
        right, up = np.array([8 * step, 0.0]), np.array([4 * step, 7 * step])
        above, below = [start, start + right, start + up], [start + right, start + right + up, start + up]
        triangles = np.stack([np.stack(above, 1), np.stack(below, 1)]).reshape(-1, 3, 2)
        return cls._of(triangles, np.zeros(len(triangles), dtype=np.intp), directions, reach)

    @classmethod
    def _of(cls, triangles: Floats, depths: Indices, directions: Floats, reach: Floats) -> Mesh:
        """Return the mesh of triangles (t, 3, 2), without those that surely miss the hull."""
        slack = _SLACK * 2 * float(np.abs(triangles).max())
        misses = ((triangles @ directions.T).min(axis=1) - slack > reach).any(axis=1)
        near, depths = triangles[~misses], depths[~misses]
        corners, where = np.unique(near.reshape(-1, 2), axis=0, return_inverse=True)
        return cls(corners, where.reshape(-1, 3), depths, directions, reach)

    def __len__(self) -> int:
        return len(self.corners)

    def quarter(self, mask: NDArray[np.bool_]) -> Mesh:
        """Return the mesh with the chosen triangles, a mask (t,), cut into four at the middles of their sides."""
        mask = mask & (self.depths < DEEPEST)
        a, b, c = (self.corners[self.triangles[mask, k]] for k in range(3))
        ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
        quarters = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        parts = [self.corners[self.triangles[~mask]], *(np.stack(quarter, axis=1) for quarter in quarters)]
        deeper = self.depths[mask] + 1
        depths = np.concatenate([self.depths[~mask], *[deeper] * 4])
        return self._of(np.concatenate(parts), depths, self.directions, self.reach)

    def around(self, corners: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the triangles, a mask (t,), that are among the largest at a marked corner, a mask (m,)."""
        flat, depths = self.triangles.ravel(), np.repeat(self.depths, 3)
        coarsest = np.full(len(self), DEEPEST, dtype=np.intp)
        np.minimum.at(coarsest, flat, depths)
        marked = corners[flat] & (depths == coarsest[flat])
        return np.asarray(marked.reshape(-1, 3).any(axis=1))


def points_inside(places: Floats, count: int) -> Floats:
    """Return at least ``count`` points spread in the convex hull of places, array (k, 2); none without an area."""
    points = places[:0]
    for more in range(_DOUBLINGS if count > 0 else 0):
        mesh = Mesh.covering(places, count * 2**more)
        slack = _SLACK * 4 * float(np.abs(mesh.corners).max())
        inside = np.all(mesh.corners @ mesh.directions.T <= mesh.reach - slack, axis=1)
        points = mesh.corners[inside]
        if len(points) >= count:
            break
    return points


def _directions(places: Floats) -> Floats:
    """Return the outward directions of the sides of the hull and of the triangles, array (k, 2)."""
    sides = np.array([[1, 0], [0, 1], [7, 4], [7, -4]]) / np.array([[1], [1], [65**0.5], [65**0.5]])
    directions = [sides, -sides]
    try:
        directions.append(ConvexHull(places).equations[:, :2])
    except (QhullError, ValueError):  # fewer than three places, or all on one line
        far = places - places[0]
        along = far[int(np.argmax(np.hypot(*far.T)))]
        length = float(np.hypot(*along))
        if length > 0:
            normal = np.array([[-along[1], along[0]]]) / length
            directions += [normal, -normal]
    return np.concatenate(directions)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PlaceGroups(CompactRepr):
    """Places, and one of them for each group."""

    places: Floats  # array (n, 2), metres, all distinct
    weights: Floats  # array (n,), their shares
    heads: Indices  # array (k,), positions of the groups' representatives
    member: Indices  # array (n,), to which group (position in `heads`) each place belongs
    away: Floats  # array (n,), how far at most each is from its head, metres

    @classmethod
    def of(cls, places: Floats, weights: Floats, most: int) -> PlaceGroups:
        """Return at most so many groups of near places; each place by itself where that suffices."""
        n = len(places)
        if n <= most:
            every = np.arange(n)
            return cls(places, weights, every, every, np.zeros(n))
        heads = _heads(places, weights, most)
        member = np.asarray(KDTree(places[heads]).query(places)[1], dtype=np.intp)
        apart = places - places[heads[member]]
        return cls(places, weights, heads, member, np.hypot(*apart.T) * (1 + 2.0**-50))

    def extend(self, points: Floats) -> PlaceGroups:
        """Return these groups and one more, of weight zero, for each of some points (k, 2)."""
        n, k, more = len(self.places), len(self.heads), np.arange(len(points))
        return PlaceGroups(
            np.concatenate([self.places, points]),
            np.concatenate([self.weights, np.zeros(len(points))]),
            np.concatenate([self.heads, n + more]),
            np.concatenate([self.member, k + more]),
            np.concatenate([self.away, np.zeros(len(points))]),
        )

    @property
    def shares(self) -> Floats:
        """The weights of the groups, array (k,)."""
        return np.bincount(self.member, self.weights, minlength=len(self.heads)).astype(np.float64)

    @property
    def points(self) -> Floats:
        """The places of the groups' heads, array (k, 2)."""
        return self.places[self.heads]

    @property
    def distances(self) -> Floats:
        """The distances between heads, array (k, k), no less than the exact ones."""
        distances = distances_above(self.points, self.points)
        np.fill_diagonal(distances, 0.0)
        return distances

    def thresholds(self, matrix: Floats, mesh: Mesh, kind: str, epsilon: float, stop: Stop) -> Floats:
        """Return good thresholds m, array (n,), for a mechanism's rows (k, m) at the heads; zeros after a stop."""
        thresholds = np.zeros(len(self.places))
        levels = 1 / (np.exp(np.minimum(epsilon * self.away, 700)) + 1)
        for rows in self._chunks():
            if stop():
                break
            costs = lower_costs(self.places[rows], mesh, kind)
            order = np.argsort(costs, axis=1)
            below = np.cumsum(np.take_along_axis(matrix[self.member[rows]], order, axis=1), axis=1)
            first = np.minimum((below < levels[rows, None]).sum(axis=1), costs.shape[1] - 1)
            thresholds[rows] = np.take_along_axis(costs, order, axis=1)[np.arange(len(costs)), first]
        thresholds[self.heads] = 0.0
        thresholds[epsilon * self.away > _WORTHLESS] = 0.0
        return thresholds

    def costs(
        self, mesh: Mesh, kind: str, epsilon: float, thresholds: Floats, stop: Stop
    ) -> tuple[Floats, float] | None:
        """Return costs per unit of a group's weight, array (k, m), and a constant; None after a stop.

        With the promise, the loss is at least the constant plus the sum over groups of share times expected cost,
        for any thresholds (n,).
        """
        total = np.zeros((len(self.heads), len(mesh)))
        exponents = epsilon * self.away * (1 + _ROUNDING)
        far = exponents > _WORTHLESS  # they lose at least nothing
        exponents = np.where(far, 0.0, exponents)
        less = np.where(far, 0.0, exp_below(-1.0, exponents))
        more = np.where(far, 0.0, exp_above(exponents))
        thresholds = np.where(far, 0.0, thresholds)
        largest = float(np.abs(thresholds).max(initial=0.0))
        for rows in self._chunks():
            if stop():
                return None
            beyond = lower_costs(self.places[rows], mesh, kind) - thresholds[rows, None]
            beyond *= np.where(beyond > 0, less[rows, None], more[rows, None])
            largest = max(largest, float(np.abs(beyond).max()))
            np.add.at(total, self.member[rows], beyond * self.weights[rows, None])
        shares = self.shares[:, None]
        costs = np.divide(total, shares, out=np.zeros_like(total), where=shares > 0)
        # Sums in any order, the quotient, the product with the share in the program, the sum of thresholds.
        margin = (len(self.places) + 64) * _ROUNDING * largest
        return costs - margin, float(self.weights @ thresholds) - margin

    def _chunks(self) -> list[slice]:
        return [slice(begin, begin + _CHUNK) for begin in range(0, len(self.places), _CHUNK)]


def _heads(places: Floats, weights: Floats, most: int) -> Indices:
    """Return places that are near to all others on average: k-means, each middle moved to the nearest place."""
    random = np.random.default_rng(0)  # any choice gives a valid bound
    mass = np.where(weights > 0, weights, weights[weights > 0].min() * 1e-3)
    if len(places) > max(_LOOKED_AT, 4 * most):
        sample = random.choice(len(places), size=max(_LOOKED_AT, 4 * most), replace=False, p=mass / mass.sum())
        # Their weights brought them here: they count the same now.
        return np.asarray(np.sort(sample)[_heads(places[np.sort(sample)], np.ones(len(sample)), most)])
    heads = [int(np.argmax(mass))]
    near = np.hypot(*(places - places[heads[0]]).T)
    while len(heads) < most and near.any():
        pull = mass * near
        candidates = random.choice(len(places), size=_CANDIDATES, p=pull / pull.sum())
        nearer = np.minimum(near, np.hypot(*(places[None] - places[candidates, None]).transpose(2, 0, 1)))
        best = int(np.argmin(nearer @ mass))
        heads.append(int(candidates[best]))
        near = nearer[best]
    middles = places[heads]
    for _ in range(_ROUNDS):
        member = KDTree(middles).query(places)[1]
        total = np.bincount(member, mass, minlength=len(middles))
        sums = np.column_stack([np.bincount(member, mass * places[:, k], minlength=len(middles)) for k in (0, 1)])
        full = total > 0
        means = middles.copy()
        means[full] = sums[full] / total[full, None]
        if np.allclose(means, middles):
            break
        middles = means
    return np.unique(np.asarray(KDTree(places).query(middles)[1], dtype=np.intp))


def lower_costs(places: Floats, mesh: Mesh, kind: str) -> Floats:
    """Return costs of reports at the corners that no report beats on average, array (n, m), metres or m^2.

    For every report y, with barycentric weights a(y),  sum over v of a_v(y) c(x, v) <= loss of x at y.
    """
    t = len(mesh.triangles)
    order = np.argsort(mesh.triangles.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(mesh.triangles.ravel(), minlength=len(mesh)))[:-1]])
    costs = np.empty((len(places), len(mesh)))
    step = max(1, _COSTS_CHUNK // (6 * t))
    for begin in range(0, len(places), step):
        values = _planes(places[begin : begin + step], mesh, kind)
        costs[begin : begin + step] = np.minimum.reduceat(values.reshape(-1, 3 * t)[:, order], starts, axis=1)
    return costs


def distances_above(places: Floats, targets: Floats) -> Floats:
    """Return distances that are at least the exact ones, array (n, m)."""
    apart = places[:, None, :] - targets[None, :, :]
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]) * (1 + 8 * UNIT))


def true_costs(places: Floats, corners: Floats, kind: str) -> Floats:
    """Return upper bounds of the costs of reports at the corners, array (n, m), in metres or square metres."""
    distances = distances_above(places, corners)
    return distances if kind == "euclidean" else distances * distances * (1 + 4 * UNIT)


def _planes(places: Floats, mesh: Mesh, kind: str) -> Floats:
    """Return each triangle's plane below the loss, at its corners, array (n, t, 3)."""
    corners = mesh.corners[mesh.triangles]
    away = corners[None] - places[:, None, None, :]
    far = np.hypot(away[..., 0], away[..., 1])
    if kind == "squared":
        middle = corners.mean(axis=1)
        at = middle[None] - places[:, None, :]
        step = corners - middle[:, None, :]
        tangents = (at * at).sum(axis=2)[..., None] + 2 * (at[:, :, None, :] * step[None]).sum(axis=3)
        most = far.max(axis=2, keepdims=True)
        return np.asarray(tangents - 64 * UNIT * (most + np.ptp(corners, axis=1).max()) ** 2)
    towards = np.divide(away, far[..., None], out=np.zeros_like(away), where=far[..., None] > 0)
    pull = towards * np.sqrt(far)[..., None]
    u = np.zeros((*far.shape[:2], 2))
    worst: NDArray[np.float64] = far.max(axis=2)  # the loss of the plane 0
    for j, k in _PAIRS:
        direction = pull[:, :, j] + pull[:, :, k]
        length = np.hypot(direction[..., 0], direction[..., 1])[..., None]
        direction = np.divide(direction, length, out=np.zeros_like(direction), where=length > 0)
        error = (far - (direction[:, :, None, :] * away).sum(axis=3)).max(axis=2)
        better = error < worst
        u[better], worst[better] = direction[better], error[better]
    u *= 1 - 8 * UNIT
    return np.asarray((u[:, :, None, :] * away).sum(axis=3) - 16 * UNIT * far)
