"""The attacker who knows the documented law, and to whom every place is as likely as another."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from sfumato.core.arrays import Floats

from .attack import weighted_median
from .channel import WildChannel

_SIDE: Final = 31  # candidates in each direction of a lattice
_LEVELS: Final = 3  # lattices, each finer than the one before
_REACH: Final = 2.5  # of the distance that a mean of all reports is off
_AROUND: Final = 4.0  # deviations of the belief that the next lattice covers
_LEAST: Final = 1.5  # spacings that it covers at least, since a belief may sit on one candidate
_STEPS: Final = 200  # of the search for a median, at most
_LEAST_M: Final = 1e-9
_SETTLED: Final = 1e-4  # of the spread of the reports: a smaller step ends the search


def least_error(channel: WildChannel, reports_m: Floats) -> Floats:
    """Return the points with the least expected error, on lattices that are refined, array (n, 2), metres.

    Args:
        channel: A channel whose reports are drawn independently.
        reports_m: The reports of each person, array (n, k, 2), metres.
    """
    side = np.linspace(-1, 1, _SIDE)
    square = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    found = np.empty((len(reports_m), 2))
    for row, own in enumerate(reports_m):
        middle = own.mean(axis=0)
        reach = _REACH * channel.mean_m / math.sqrt(len(own))
        for level in range(_LEVELS):
            places = middle + reach * square
            likely = channel.log_likelihood(own, places)
            weights = np.exp(likely - likely.max())
            shares = weights / weights.sum()
            middle = shares @ places
            spread = math.sqrt(float(shares @ ((places - middle) ** 2).sum(axis=1)))
            finer = max(_AROUND * spread, _LEAST * 2 * reach / (_SIDE - 1))
            if finer >= reach or level == _LEVELS - 1:
                break
            reach = finer
        found[row] = weighted_median(places, weights)
    return found


def geometric_medians(reports_m: Floats) -> Floats:
    """Return the geometric median of each person's reports by Weiszfeld's iteration, array (n, 2), metres.

    Under planar Laplace noise it is the most probable place: the likelihood falls with the sum of the distances.

    Args:
        reports_m: Array (n, k, 2), metres.
    """
    found: Floats = reports_m.mean(axis=1)
    spread = np.hypot(*(reports_m - found[:, None]).transpose(2, 0, 1)).mean(axis=1)
    near = np.maximum(_SETTLED * spread, _LEAST_M)[:, None]
    for _ in range(_STEPS):
        away = np.hypot(*(reports_m - found[:, None]).transpose(2, 0, 1))
        pull = 1 / np.maximum(away, near)
        before, found = found, (pull[..., None] * reports_m).sum(axis=1) / pull.sum(axis=1)[:, None]
        if (np.hypot(*(found - before).T) <= near[:, 0]).all():
            break
    return found
