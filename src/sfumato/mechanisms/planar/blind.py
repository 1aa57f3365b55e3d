"""The error of whoever guesses a place without any report, between bounds."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Bracket
from ...geo.medians import medians
from ...rounding import down, up
from .remap import weighted

_TOLERANCE: Final = 1e-4  # of the places' spread
_ROUNDING: Final = 1e-9  # of sums and roots


def blind_error(points_m: ArrayLike, weights: ArrayLike) -> Bracket:
    """Return the least mean distance of one guess to weighted places, metres.

    The guess is nearly the geometric median y. The mean distance is convex with a subgradient at y no longer than
    what the places elsewhere pull less the weight at y, so no point, at most as far from y as the farthest place,
    is better by more than their product.

    Args:
        points_m: Where people are, metres east and north, array (n, 2).
        weights: How often, array (n,), at least 0 and not all 0.

    Raises:
        InputError: If an array is not as described.
    """
    x, w = weighted(points_m, weights)
    centre = w @ x
    spread = float(w @ np.hypot(*(x - centre).T))
    if spread <= 0:
        return Bracket.exact(0.0)
    y = medians(x, w[None, :], centre[None, :], _TOLERANCE * spread)[0]
    away = np.hypot(*(x - y).T)
    value = float(w @ away)
    there = away == 0
    pull = np.divide(x - y, away[:, None], out=np.zeros_like(x), where=~there[:, None])
    force = float(np.hypot(*(w @ pull))) - float(w[there].sum())
    gain = max(0.0, force + _ROUNDING) * float(away.max())
    return Bracket(max(0.0, down((value - gain) * (1 - _ROUNDING))), value, up(value * (1 + _ROUNDING)))
