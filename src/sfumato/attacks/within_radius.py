"""Attackers who want to be within a radius of the true point, with guesses anywhere on the plane."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

import numpy as np

from ..core import Bracket, Mechanism
from ..core.arguments import checked
from ..core.arrays import Floats
from ..core.units import length_m
from ..errors import InputError, argument, python
from ..geo import Places, Projection, Visits
from ..geo.projection import LIMIT_KM
from ..geo.true_points import TruePoints
from ..rounding import UNIT, amount, down, up

_CHUNK: Final = 64  # squares at a time: neighbours, with few points around
_MOST: Final = 60_000  # squares in all
_PAD_M: Final = 1e-5  # float arithmetic of projected points errs by less,
_RELATIVE: Final = 1e-12  # and that of distances
_QUARTERS: Final = np.array([(-1, -1), (1, -1), (-1, 1), (1, 1)]) / 2


@checked
def chance_within(
    mechanism: Mechanism,
    visits: Visits,
    radius: float | str,
    *,
    user: Hashable | None = None,
    tolerance: float = 5e-3,
) -> Bracket:
    """Return how often the best attacker's guess is within a radius of the true point.

    V = sum over o of max over g of the mean over visits x of [|x - g| <= radius] sum over s of w_s(x) p(o|s)

    A point x is taken for the secret s with probability w_s(x): for its cell, or for the vertices around it.
    Guesses are any points.

    The upper end is proved: the plane is covered by squares, and a guess in a square of half-diagonal c is
    within the radius of no point that the middle of the square is not within radius + c of. Squares that could
    hold a better guess are quartered. The lower end is what middles of squares achieve. The radius is counted on
    the ground; the stretch of the plane is on the safe side in both ends.

    Args:
        mechanism: A mechanism whose secrets are cells or the vertices of a lattice.
        visits: What the attacker knows of where people are, and what is true: a report is made at one of these
            visits, each equally likely. Those outside are left out.
        radius: A length, such as ``"500 m"`` (a number of Python's own is metres).
        user: Only this user's visits.
        tolerance: The search ends where the answer is known up to this share of it, or after 60,000 squares.

    Raises:
        InputError: If the secrets are not places, or the radius is not positive or too large for a plane.
        DataError: If no visit is inside.

    Source:
        docs/proofs/within-radius.md.

    Example:
        >>> import sfumato as sf
        >>> visits = sf.synthetic_city()
        >>> city = sf.Grid.covering(visits, "2 km", region=visits.region(trim=0.02))
        >>> print(sf.attacks.chance_within(sf.Mechanism(np.eye(len(city)), city, city), visits, "500 m"))
        0.5912 (0.5899 to 0.5926)
    """
    places = mechanism.secrets
    if not isinstance(places, Places):
        raise InputError(
            f"guesses within a radius need places, but the secrets are {places!r}.",
            python("use cells or a lattice, or attacks.optimal, which takes any distance."),
        )
    reach = length_m(radius, "the radius")
    if not reach > 0:
        raise InputError(f"a radius of {radius} is not positive.", "use a length such as '500 m'.")
    if not tolerance > 0:
        raise InputError(f"a tolerance of {tolerance} is not positive.", f"use {argument('tolerance', 0.005)}.")
    return chance_of_points(
        places.true_points(visits, user), mechanism.matrix, reach, places.projection, tolerance=tolerance
    )


def chance_of_points(
    points: TruePoints,
    channel: Floats,
    reach: float,
    plane: Projection,
    *,
    off: float = 0.0,
    tolerance: float = 5e-3,
    squares: int = _MOST,
) -> Bracket:
    """Return how often the best attacker's guess is within a radius of weighted points; see `chance_within`.

    Args:
        points: The true points, and for which secrets they are taken.
        channel: p(o|s), array (secrets, observables).
        reach: The radius in metres, above 0.
        plane: The plane of the points.
        off: How far the probabilities of one secret may be from the true ones, all errors added up, at most.
        tolerance: The search ends where the answer is known up to this share of it,
        squares: or after so many squares.

    Raises:
        InputError: If the radius is too large for a plane.
    """
    farthest = points.reach * (1 + _RELATIVE) + reach
    if not farthest <= 1000 * LIMIT_KM:
        raise InputError(
            f"a radius of {amount(reach, 'm')} reaches beyond {LIMIT_KM:,} km from the middle of the places.",
            "use a length such as '500 m'.",
        )
    least = max(0.0, reach * (1 - _RELATIVE) - _PAD_M)
    most = reach * plane.stretch(farthest) * (1 + _RELATIVE) + _PAD_M
    lower, upper = _covered(points, channel, least, most, tolerance, squares)
    slack = 2 * (len(points.xy) + sum(channel.shape) + channel.shape[1] + 32) * UNIT
    high = min(1.0, up(up(upper * (1 + slack)) + off))
    return Bracket.between(min(max(0.0, down(lower * (1 - slack) - off)), high), high)


def _covered(
    points: TruePoints, matrix: Floats, least: float, most: float, tolerance: float, most_squares: int
) -> tuple[float, float]:
    """Return what guesses achieve within the lesser radius, and a bound of what any achieves within the larger.

    Args:
        points: The true points.
        matrix: p(o|v), array (secrets, observables).
        least: Metres.
        most: Metres.
        tolerance: The relative width at which the search ends.
        most_squares: How many squares it may take.
    """
    low, high = points.xy.min(axis=0), points.xy.max(axis=0)
    # Guesses outside the hull of the points are no better than the nearest inside.
    squares, side = ((low + high) / 2)[None, :], max(float((high - low).max()), least, 1e-3) * (1 + _RELATIVE)
    best, settled = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    seen = 0
    while True:
        away = side * np.sqrt(0.5) * (1 + _RELATIVE)
        still, unsettled = [], settled
        for begin in range(0, len(squares), _CHUNK):
            some = squares[begin : begin + _CHUNK]
            near, far = _masses(points, some, least, most + away)
            best = np.maximum(best, (near @ matrix).max(axis=0))
            could = far @ matrix
            better = (could > best * (1 + tolerance / 2)).any(axis=1)
            settled = np.maximum(settled, could[~better].max(axis=0, initial=0.0))
            unsettled = np.maximum(unsettled, could.max(axis=0))
            still.append(some[better])
        seen += len(squares)
        squares = np.concatenate(still)
        achieved, bound = float(best.sum()), float(np.maximum(best, np.maximum(settled, unsettled)).sum())
        if not len(squares) or bound <= achieved * (1 + tolerance) or seen + 4 * len(squares) > most_squares:
            return achieved, bound
        squares, side = (squares[:, None, :] + side / 2 * _QUARTERS).reshape(-1, 2), side / 2


def _masses(points: TruePoints, squares: Floats, near: float, far: float) -> tuple[Floats, Floats]:
    """Return the probability of each secret with a point within two radii of the middles, arrays (squares, n)."""
    box = (points.xy >= squares.min(axis=0) - far) & (points.xy <= squares.max(axis=0) + far)
    kept = np.flatnonzero(box.all(axis=1))
    xy, joint = points.xy[kept], points.masses[kept]
    apart = (xy[:, :1] - squares[:, 0]) ** 2 + (xy[:, 1:] - squares[:, 1]) ** 2
    within_near, within_far = ((joint.T @ (apart <= radius**2).astype(np.float64)).T for radius in (near, far))
    return within_near, within_far
