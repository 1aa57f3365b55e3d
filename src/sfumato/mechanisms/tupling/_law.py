"""The value that one report adds to a tuple's sum: its law, tilted and split onto a lattice.

docs/proofs/tupling.md proves what is used here.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...rounding import UNIT

LOG_TAIL: Final = 42.0
"""A window leaves at most exp(-42) outside, on either side."""

_TILTS: Final = np.geomspace(1 / 8, 64, 16)
_HALVINGS: Final = 14


class Atoms(NamedTuple):
    """The values g(y) of one draw, without those that no other draws could outweigh.

    Attributes:
        values: Array (a,), (p - e**epsilon q) / nu.
        masses: Array (a,), nu.
        tilt: theta of at least 0, where the mean under masses * exp(theta * values) is near 0.
        log_scale: ln of the sum of masses * exp(theta * values).
    """

    values: Floats
    masses: Floats
    tilt: float
    log_scale: float


class Law(NamedTuple):
    """A tilted law on the points of a lattice.

    Attributes:
        points: Array (2a,), whole numbers: values in units of the spacing.
        masses: Array (2a,), the law times exp(theta * value - log_scale); they sum to one.
        moves: Array (2a,), by how much splitting moved mass there, times the same factor.
        tilt: theta.
        log_scale: The logarithm of what the masses were divided by.
        spacing: A power of two.
        rounding: A bound of the relative error of masses and moves.
    """

    points: NDArray[np.int64]
    masses: Floats
    moves: Floats
    tilt: float
    log_scale: float
    spacing: float
    rounding: float

    @property
    def values(self) -> Floats:
        """The points as values, array (2a,)."""
        return np.asarray(self.spacing * self.points.astype(np.float64))


def atoms(values: Floats, masses: Floats, copies: int) -> Atoms | None:
    """Return the atoms that matter for the positive part of a sum, or None if none is positive.

    Args:
        values: Array (m,).
        masses: Array (m,), positive.
        copies: How many draws are added, at least 2.
    """
    top = float(values.max())
    if top <= 0:
        return None
    kept = values > -(copies - 1) * top * (1 + 1e-9)
    v, mass = values[kept], masses[kept]
    tilt = _saddle(v, mass)
    return Atoms(v, mass, tilt, tilt * top + math.log(float((mass * np.exp(tilt * (v - top))).sum())))


def split(given: Atoms, spacing: float) -> Law:
    """Return the tilted law with every value split over its two neighbours so that its mean is kept.

    Args:
        given: The atoms.
        spacing: A power of two.
    """
    scaled = given.values / spacing  # exact: a power of two
    below = np.floor(scaled)
    share = scaled - below
    points = np.concatenate([below, below + 1]).astype(np.int64)
    masses = np.concatenate([given.masses * (1 - share), given.masses * share])
    half = given.masses * share * (1 - share) * spacing
    moves = np.concatenate([-half, half])
    exponents = given.tilt * spacing * points
    peak = float(exponents.max())
    factors = np.exp(exponents - peak)
    total = float((masses * factors).sum())
    # Factors below the smallest normal float would lose digits.
    seen = (factors > 1e-290) & (masses > 0)
    reach = float(np.abs(exponents[seen]).max()) + abs(peak)
    return Law(
        points=points[seen],
        masses=(masses * factors)[seen] / total,
        moves=(moves * factors)[seen] / total,
        tilt=given.tilt,
        log_scale=peak + math.log(total),
        spacing=spacing,
        rounding=(40 + 4 * reach) * UNIT,
    )


def window(values: Floats, masses: Floats, copies: int) -> tuple[float, float]:
    """Return (low, high) between which the sum lies, up to exp(-42) on either side.

    Chernoff: the mass beyond b is at most exp(copies K(t) - t b) for every t > 0.

    Args:
        values: Array (a,).
        masses: Array (a,), which sum to one.
        copies: How many independent draws are added.
    """
    ends = []
    for sign in (1.0, -1.0):
        v = sign * values
        most = copies * float(v.max())
        mean = float((masses * v).sum())
        width = math.sqrt(copies * float((masses * (v - mean) ** 2).sum()))
        span = max(float(np.abs(v).max()), width, 1e-300)
        tilts = np.concatenate([_TILTS / span, _TILTS / max(width, 1e-300)])
        tilts = tilts[tilts * np.abs(v).max() < 1e300]
        exponents = tilts[:, None] * v
        peaks = exponents.max(axis=1)
        sums = np.exp(exponents - peaks[:, None]) @ masses
        seen = sums > 0  # a tilt at which only masses that underflowed count bounds nothing
        tilts, growth = tilts[seen], copies * (peaks[seen] + np.log(sums[seen]))
        # Masses may sum to 1 + 1e-13: a millionth more pays for it, and for rounding.
        bounds = (growth + LOG_TAIL + 1e-6 + 1e-12 * np.abs(growth)) / tilts
        end = min(most, float(bounds[tilts * bounds >= 1].min(initial=most)))
        ends.append(end)
    return -ends[1], ends[0]


def tilted(given: Atoms) -> Floats:
    """Return the tilted masses of atoms, which sum to one."""
    exponents = given.tilt * given.values
    weights = given.masses * np.exp(exponents - exponents.max())
    answer: Floats = weights / weights.sum()
    return answer


def _saddle(values: Floats, masses: Floats) -> float:
    """Return about the least theta of at least 0 at which the tilted mean is not negative.

    Any theta gives valid bounds; this one makes them tight where delta is small.
    """
    top = float(values.max())

    def mean(theta: float) -> float:
        return float((masses * np.exp(theta * (values - top)) * values).sum())

    if mean(0.0) >= 0:
        return 0.0
    high = 1 / (8 * top * max(1.0, -float(values.min()) / top))
    while mean(high) < 0:
        high *= 2
    low = high / 2 if mean(high / 2) < 0 else 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < 0 else (low, middle)
    return high
