"""The lower convex envelope of points whose coordinates are known from both ends."""

from __future__ import annotations

import numpy as np

from ...core.arrays import Floats
from ._errors_of_tests import Errors

_Point = tuple[float, float, float, float]


def envelope(points: Errors) -> Errors:
    """Return the vertices of the lower convex envelope, by rising type I error.

    Args:
        points: Four arrays (k,); the points of at least one whole curve are among them.
    """
    order = np.lexsort((points.betas, -points.confidences, points.alphas))
    hull: list[_Point] = []
    for here in zip(*(values[order].tolist() for values in points), strict=True):
        while hull and _risen(hull[-1], here) <= 0 < _fallen(hull[-1], here):
            hull.pop()
        while len(hull) > 1 and not _turns_up(hull[-2], hull[-1], here):
            hull.pop()
        # A point straight above the last one adds nothing.
        if not hull or _risen(hull[-1], here) > 0:
            hull.append(here)
    return Errors(*(np.array(column, dtype=np.float64) for column in zip(*hull, strict=True)))


def steps(points: Errors) -> tuple[Floats, Floats]:
    """Return the masses (k - 1,) between consecutive points: of the null and of the alternative."""
    null = _differences(points.alphas[:-1], points.alphas[1:], points.confidences[:-1], points.confidences[1:])
    other = _differences(points.powers[:-1], points.powers[1:], points.betas[:-1], points.betas[1:])
    return null, other


def _differences(front: Floats, front_next: Floats, rest: Floats, rest_next: Floats) -> Floats:
    # The smaller sums carry the smaller errors.
    return np.where(front_next <= rest, front_next - front, rest - rest_next)


def _risen(first: _Point, second: _Point) -> float:
    return second[0] - first[0] if second[0] <= first[1] else first[1] - second[1]


def _fallen(first: _Point, second: _Point) -> float:
    return second[3] - first[3] if second[3] <= first[2] else first[2] - second[2]


def _turns_up(first: _Point, middle: _Point, last: _Point) -> bool:
    """Return whether the middle point lies strictly below the line through the others."""
    return _fallen(first, middle) * _risen(middle, last) > _fallen(middle, last) * _risen(first, middle)
