"""Points of trade-off functions: their convex envelope, and the curves through and below them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, numbers
from ...errors import InputError
from .errors_of_tests import Errors

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


_SAME: Final = 2.0**-40  # differences of type II errors that count as rounding


def through(alphas: ArrayLike, betas: ArrayLike) -> Errors:
    """Return the vertices of the polygon through points and the ends (0, 1) and (1, 0).

    Raises:
        InputError: If the points do not lie on one trade-off function.
    """
    x, y = _checked(alphas, betas)
    if x[0] > 0:
        x, y = np.concatenate([[0.0], x]), np.concatenate([[1.0], y])
    if x[-1] < 1:
        x, y = np.concatenate([x, [1.0]]), np.concatenate([y, [0.0]])
    elif y[-1] > _SAME:
        raise InputError(
            f"the type II error at 1 is {y[-1]:g}.", "it is 0: a test that always rejects never misses."
        )
    hull = envelope(Errors(x, 1 - x, y, 1 - y))
    above = y - np.interp(x, hull.alphas, hull.betas)
    worst = int(above.argmax())
    if above[worst] > _SAME:
        raise InputError(
            f"the points are not convex: that at {x[worst]:g} lies {above[worst]:.3g} above a line of others.",
            "use TradeOff.below(alphas, betas) for the curve that is certain to be kept.",
        )
    return hull


def below(alphas: ArrayLike, betas: ArrayLike) -> Errors:
    """Return the vertices of a curve below all trade-off functions that reach the points.

    After a point no such function falls faster than from (0, 1) to it, and before a point
    none is flatter than from it to (1, 0). The proof is in docs/proofs/trade-off.md.

    Raises:
        InputError: If the arrays are not the errors of tests.
    """
    x, y = _checked(alphas, betas)
    with np.errstate(divide="ignore", invalid="ignore"):
        fall = np.where(x > 0, (1 - y) / x, np.inf)
        flat = np.where(x < 1, y / (1 - x), 0.0)
    steep = np.concatenate([[np.inf], np.minimum.accumulate(fall)])
    shallow = np.concatenate([np.maximum.accumulate(flat[::-1])[::-1], [0.0]])
    low, high = np.concatenate([[0.0], x]), np.concatenate([x, [1.0]])
    with np.errstate(divide="ignore", invalid="ignore"):
        crossing = np.where(steep > shallow, (1 - shallow) / (steep - shallow), low)
        corner = np.clip(crossing, low, high)
        lines = np.stack([shallow * (1 - corner), np.where(np.isinf(steep), 0.0, 1 - steep * corner)])
    bound = np.maximum(lines.max(axis=0) - 8 * _SAME, 0.0)
    corner, bound = np.concatenate([corner, [1.0]]), np.concatenate([bound, [0.0]])
    return envelope(Errors(corner, 1 - corner, bound, 1 - bound))


def _checked(alphas: ArrayLike, betas: ArrayLike) -> tuple[Floats, Floats]:
    x, y = numbers(alphas, "alphas"), numbers(betas, "betas")
    if x.ndim != 1 or x.shape != y.shape or not len(x):
        raise InputError(
            f"points of a curve were given as arrays of shapes {x.shape} and {y.shape}.",
            "pass two arrays (k,) of at least one number.",
        )
    if not ((x >= 0) & (x <= 1) & (y >= 0) & (y <= 1)).all() or (np.diff(x) <= 0).any():
        raise InputError(
            "the points of a curve are not probabilities with rising type I errors.",
            "sort them by alpha, each once.",
        )
    over = np.flatnonzero(y > 1 - x + _SAME)
    if len(over):
        raise InputError(
            f"the type II error {y[over[0]]:g} at {x[over[0]]:g} is above 1 - alpha.",
            "a coin that rejects with probability alpha misses with 1 - alpha: no best test is worse.",
        )
    return x, np.minimum(y, 1 - x)
