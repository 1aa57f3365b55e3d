"""The law of one report's term in a tuple's sum, tilted and split onto a lattice: docs/proofs/tupling.md."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from ...core import Bracket
from ...core.arrays import Floats
from ...core.bracket import bisect, double
from ...rounding import UNIT, power

LOG_TAIL: Final = 42.0
"""A window leaves at most exp(-42) outside, on either side."""

_TILTS: Final = np.geomspace(1 / 8, 64, 16)
_HALVINGS: Final = 14
_SHARE: Final = 1e-6  # how many of a tuple's reports may be such dummies, in the mean
_GAP: Final = 1e-6  # by what part the two bounds may differ

LARGEST: Final = 2**21
"""Points of a lattice that are held at once."""

_TAIL: Final = 2 * math.exp(-LOG_TAIL)


class Atoms(NamedTuple):
    """The values g(y) of one draw and their masses nu, arrays (a,), without those that no others could outweigh.

    ``tilt`` is the theta >= 0 where the mean under masses * exp(theta * values) is near 0, and ``log_scale`` is ln
    of the sum of these products.
    """

    values: Floats
    masses: Floats
    tilt: float
    log_scale: float


class Law(NamedTuple):
    """A tilted law on the points of a lattice; arrays (2a,)."""

    points: NDArray[np.int64]  # values in units of the spacing
    masses: Floats  # the law times exp(theta * value - log_scale); they sum to one
    moves: Floats  # the mass that splitting moved there times its distance, times the same factor
    tilt: float  # theta
    log_scale: float  # the logarithm of the divisor of the masses
    spacing: float  # a power of two
    rounding: float  # a bound of the relative error of masses and moves

    @property
    def values(self) -> Floats:
        """The points as values, array (2a,)."""
        return np.asarray(self.spacing * self.points.astype(np.float64))


def atoms(values: Floats, masses: Floats, copies: int) -> Atoms | None:
    """Return the atoms that matter for the positive part of a sum of draws, or None if none is positive."""
    top = float(values.max())
    if top <= 0:
        return None
    relevant = values > -(copies - 1) * top * (1 + 1e-9)
    v, mass = values[relevant], masses[relevant]
    tilt = _saddle(v, mass)
    return Atoms(v, mass, tilt, tilt * top + math.log(float((mass * np.exp(tilt * (v - top))).sum())))


def split(draw: Atoms, spacing: float) -> Law:
    """Return the tilted law with every value split over its two neighbours, which preserves its mean."""
    scaled = draw.values / spacing  # exact: a power of two
    below = np.floor(scaled)
    share = scaled - below
    points = np.concatenate([below, below + 1]).astype(np.int64)
    masses = np.concatenate([draw.masses * (1 - share), draw.masses * share])
    half = draw.masses * share * (1 - share) * spacing
    moves = np.concatenate([-half, half])
    exponents = draw.tilt * spacing * points
    peak = float(exponents.max())
    factors = np.exp(exponents - peak)
    total = float((masses * factors).sum())
    # Factors below the smallest normal float would lose digits.
    mask = (factors > 1e-290) & (masses > 0)
    reach = float(np.abs(exponents[mask]).max()) + abs(peak)
    return Law(
        points=points[mask],
        masses=(masses * factors)[mask] / total,
        moves=(moves * factors)[mask] / total,
        tilt=draw.tilt,
        log_scale=peak + math.log(total),
        spacing=spacing,
        rounding=(40 + 4 * reach) * UNIT,
    )


def window(values: Floats, masses: Floats, copies: int) -> tuple[float, float]:
    """Return (low, high) between which the sum lies, up to exp(-42) on either side.

    Chernoff: the mass beyond b is at most exp(copies K(t) - t b) for every t > 0. Values are (a,), and masses (a,)
    with sum one; ``copies`` independent draws are added.
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
        mask = sums > 0  # a tilt at which only masses that underflowed count bounds nothing
        tilts, growth = tilts[mask], copies * (peaks[mask] + np.log(sums[mask]))
        # Masses may sum to 1 + 1e-13: a millionth more pays for it, and for rounding.
        bounds = (growth + LOG_TAIL + 1e-6 + 1e-12 * np.abs(growth)) / tilts
        end = min(most, float(bounds[tilts * bounds >= 1].min(initial=most)))
        ends.append(end)
    return -ends[1], ends[0]


def tilted_masses(draw: Atoms) -> Floats:
    """Return the tilted masses of atoms, which sum to one."""
    exponents = draw.tilt * draw.values
    weights = draw.masses * np.exp(exponents - exponents.max())
    return np.asarray(weights / weights.sum())


class Rare(NamedTuple):
    """The observables that are not rare, array (m,) of bool, and what tuples with a rare one add to delta."""

    rest: NDArray[np.bool_]
    surplus: Bracket


def rare(values: Floats, masses: Floats, copies: int) -> Rare:
    """Return the rarest observables of large values, as many as leave the bounds close; often none."""
    order = np.argsort(-values, kind="stable")
    few = np.cumsum(masses[order]) * copies <= _SHARE
    few &= values[order] > 0
    count = int(np.argmin(few)) if not few.all() else len(few)
    none = Rare(np.ones(len(values), dtype=bool), Bracket.exact(0.0))
    if count in (0, len(values)):
        return none
    rest = none.rest.copy()
    rest[order[:count]] = False
    surplus = _surplus(values, masses, rest, copies)
    return Rare(rest, surplus) if 0 < surplus.upper <= surplus.lower * (1 + _GAP) else none


def _surplus(values: Floats, masses: Floats, rest: NDArray[np.bool_], n: int) -> Bracket:
    mass, value = masses[~rest], values[~rest]
    plain = float(masses[rest].sum())
    gains = masses[rest] * values[rest]
    mean, positive = float(gains.sum()), float(np.maximum(gains, 0.0).sum())
    union_bound = (n - 1) * float(mass.sum())  # at least 1 - plain**(n - 1)
    alone = value * plain ** (n - 1) + (n - 1) * plain ** (n - 2) * mean
    outweighed = value + (n - 1) * min(0.0, float(values[rest].min())) < 0
    # Where others can outweigh it, (a + b)_+ <= a_+ + b_+.
    most = np.where(outweighed, value + (n - 1) * positive, alone)
    gain = float((mass * value).sum())
    rounding = (64 + 32 * n) * UNIT * (gain + float(mass.sum()) * (n - 1) * (abs(mean) + positive))
    lower = float((mass * np.maximum(alone, 0.0)).sum())
    upper = float((mass * most).sum()) + gain * union_bound + positive * (n * float(mass.sum())) ** 2
    return Bracket.of_bounds(max(0.0, lower - rounding), upper + rounding)


def _saddle(values: Floats, masses: Floats) -> float:
    """Return about the least theta >= 0 with a tilted mean of at least 0; any gives bounds, this one tight."""
    top = float(values.max())

    def mean(theta: float) -> float:
        return float((masses * np.exp(theta * (values - top)) * values).sum())

    if mean(0.0) >= 0:
        return 0.0
    start = 1 / (8 * top * max(1.0, -float(values.min()) / top))

    def enough(theta: float) -> bool:
        return mean(theta) >= 0

    return bisect(enough, *double(enough, fails=0.0, holds=start), steps=_HALVINGS).holds


class Part(NamedTuple):
    """The mean of the positive part of a sum, per draw."""

    value: float  # (1/n) E[(S')_+] of the split law, as computed
    error: float  # a bound of the error of the value
    shift: float  # E[D_1; S' > 0], the most that splitting adds, as computed
    shift_error: float
    points: int  # of the lattice


def positive_part(law: Law, copies: int) -> Part | None:
    """Return the mean positive part of a sum of independent draws, or None if the lattice were too large."""
    h, n = law.spacing, copies
    low, high = window(law.values, law.masses, n)
    last = max(1, math.ceil(high / h))
    size = last - min(0, math.floor(low / h)) + 1
    if size > LARGEST:
        return None
    length = 2 ** max(3, math.ceil(math.log2(size)))
    exponent = n * law.log_scale
    places = law.points % length
    masses = np.asarray(np.bincount(places, law.masses, length), dtype=np.float64)
    moves = np.asarray(np.bincount(places, law.moves, length), dtype=np.float64)
    spectrum = fft.rfft(masses)
    rest = power(spectrum, n - 1)
    sums = fft.irfft(rest * spectrum, length)
    shifts = fft.irfft(rest * fft.rfft(moves), length)

    at = np.arange(1, last + 1) % length
    heights: Floats = h * np.arange(1, last + 1, dtype=np.float64)
    decay: Floats = np.exp(-law.tilt * heights)
    gain: Floats = heights * decay
    # No mass is negative: what rounding made so is nearer to the truth at zero.
    value = float(np.sum(gain * np.maximum(sums[at], 0.0)))
    extra = float(np.sum(decay * shifts[at]))

    level = 16 * UNIT * math.log2(length)
    mass_norm, move_norm, move_sum = _norm(masses), _norm(moves), float(np.abs(moves).sum())
    relative = 1.1 * n * law.rounding + (128 + 2 * law.tilt * h * last) * UNIT
    value_error = (
        1.1 * _norm(gain) * mass_norm * ((n + 1) * level + 8 * n * UNIT) + relative * value + _TAIL * max(high, h)
    )
    extra_error = (
        1.1 * _norm(decay) * (move_norm * (2 * level + 8 * n * UNIT) + n * level * mass_norm * move_sum)
        + relative * move_sum
        + 2 * _TAIL * h
        + 8 * UNIT * h
    )
    scale = math.exp(exponent)
    scaling = (16 + 16 * abs(exponent)) * UNIT
    return Part(
        value=scale * value / n,
        error=scale * (value_error + scaling * value) / n,
        shift=scale * extra,
        shift_error=scale * (extra_error + scaling * abs(extra)),
        points=length,
    )


def _norm(array: Floats) -> float:
    return float(np.linalg.norm(array))
