"""The least costs of reports, at the corners of a mesh.

A report y is rounded at random to the corners of its triangle, with its barycentric weights a(y).
The costs c(x, v) here keep  sum over v of a_v(y) c(x, v) <= loss of x at y  for every y of every triangle:
each triangle has a plane below the loss, and a corner the least of its triangles' planes there.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...rounding import UNIT
from .mesh import Mesh

KINDS: Final = ("euclidean", "squared")
_CHUNK: Final = 4_000_000  # numbers of one array
_PAIRS: Final = ((0, 1), (1, 2), (2, 0))


def lower_costs(places: Floats, mesh: Mesh, kind: str) -> Floats:
    """Return costs of reports at the corners that no report anywhere beats on average, array (n, m).

    Args:
        places: Array (n, 2), metres.
        mesh: The mesh.
        kind: ``euclidean`` or ``squared``.

    Returns:
        Metres, or square metres; some may be negative.
    """
    t = len(mesh.triangles)
    order = np.argsort(mesh.triangles.ravel(), kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(mesh.triangles.ravel(), minlength=len(mesh)))[:-1]])
    found = np.empty((len(places), len(mesh)))
    step = max(1, _CHUNK // (6 * t))
    for begin in range(0, len(places), step):
        values = _planes(places[begin : begin + step], mesh, kind)
        found[begin : begin + step] = np.minimum.reduceat(values.reshape(-1, 3 * t)[:, order], starts, axis=1)
    return found


def distances_above(places: Floats, others: Floats) -> Floats:
    """Return distances that are at least the exact ones, array (n, m)."""
    apart = places[:, None, :] - others[None, :, :]
    found: Floats = np.hypot(apart[..., 0], apart[..., 1]) * (1 + 8 * UNIT)
    return found


def true_costs(places: Floats, corners: Floats, kind: str) -> Floats:
    """Return what reports at the corners cost at most, array (n, m), in metres or square metres."""
    found = distances_above(places, corners)
    return found if kind == "euclidean" else found * found * (1 + 4 * UNIT)


def _planes(places: Floats, mesh: Mesh, kind: str) -> Floats:
    """Return each triangle's plane below the loss, at its corners, array (n, t, 3).

    The Euclidean distance |y - x| is at least u (y - x) for every u of length at most one. The squared one is at
    least |q - x|^2 + 2 (q - x) (y - q) for every q, here the middle of the triangle.
    """
    corners = mesh.corners[mesh.triangles]
    away = corners[None] - places[:, None, None, :]
    far = np.hypot(away[..., 0], away[..., 1])
    if kind == "squared":
        middle = corners.mean(axis=1)
        at = middle[None] - places[:, None, :]
        step = corners - middle[:, None, :]
        found = (at * at).sum(axis=2)[..., None] + 2 * (at[:, :, None, :] * step[None]).sum(axis=3)
        most = far.max(axis=2, keepdims=True)
        lower: Floats = found - 64 * UNIT * (most + np.ptp(corners, axis=1).max()) ** 2
        return lower
    towards = np.divide(away, far[..., None], out=np.zeros_like(away), where=far[..., None] > 0)
    pull = towards * np.sqrt(far)[..., None]
    u = np.zeros((*far.shape[:2], 2))
    worst: NDArray[np.float64] = far.max(axis=2)  # the loss of the plane 0
    for j, k in _PAIRS:
        tried = pull[:, :, j] + pull[:, :, k]
        length = np.hypot(tried[..., 0], tried[..., 1])[..., None]
        tried = np.divide(tried, length, out=np.zeros_like(tried), where=length > 0)
        lost = (far - (tried[:, :, None, :] * away).sum(axis=3)).max(axis=2)
        better = lost < worst
        u[better], worst[better] = tried[better], lost[better]
    u *= 1 - 8 * UNIT
    values: Floats = (u[:, :, None, :] * away).sum(axis=3) - 16 * UNIT * far
    return values
