"""Tests whether reports, or points, can come from a mechanism, for some population."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ..core.arrays import Floats, numbers
from ..core.bracket import bisect
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument
from ..mechanisms.planar import CoordinateNoise
from ..rounding import at_most, plural
from .estimators import maximum_likelihood
from .reports import Estimate, Reports

RARE: Final = 1e-6  # reports that fit a mechanism worse than this are taken for those of another one
_LEAST: Final = 1e-300  # no smaller probability is stated
_NEAR_M: Final = 0.01  # degrees of seven decimals move a report by 8 mm at most
_AROUND_M: Final = 18_000_000.0  # farther from the centre the plane is not one to one
_SURE: Final = 60.0  # lengths 1 / epsilon, beyond which no report is expected
_IMAGES: Final = 30  # of the plane's waves in each direction
_DIRECTIONS: Final = 8
_PRIMES: Final = (2, 3, 5, 7)
_ROUNDING: Final = 1e-9


@dataclass(frozen=True, slots=True, repr=False)
class ReportsFit(CompactRepr):
    """The fit of reports to their stated mechanism.

    ``nats`` is a lower bound of the relative entropy of their frequencies from the nearest distribution that any
    population gives under the mechanism, times the number of reports. ``failure`` is an upper bound of the
    probability that independent reports through this mechanism fit as badly.
    """

    nats: float
    failure: float

    @property
    def sentence(self) -> str:
        """The fit, in words."""
        if self.failure >= 1:
            return "The reports fit the mechanism."
        return (
            "For every population, independent reports through this mechanism fit as badly as these "
            f"with a probability of at most {at_most(self.failure, 2)}."
        )

    def check(self) -> None:
        """Raise a `DataError` if the probability of so bad a fit is below `RARE`."""
        if self.failure < RARE:
            raise DataError(
                f"the reports do not fit the mechanism. {self.sentence}",
                "give the mechanism that they were released with",
                f"pass {argument('check_fit', False)} if rows share reports, as those of one place do.",
            )


def reports_fit(reports: Reports, estimate: Estimate | None = None) -> ReportsFit:
    """Return the fit of reports to their mechanism.

    With f the frequencies of n reports over k observables and q the nearest distribution that a population gives,
    n D(f || q) is at most that from the true distribution, which exceeds t > k - 1 with a probability of at most
    e^-t (e t / (k - 1))^(k - 1). It is the statistic of the likelihood-ratio test, half of a chi-square for many
    reports. The estimate is that by maximum likelihood, if there is one.

    Source:
        Agrawal, "Finite-sample concentration of the multinomial in relative entropy", IEEE Transactions on
        Information Theory 66 (2020), theorem 1.2.
    """
    if estimate is None or not math.isfinite(estimate.gap):
        estimate = maximum_likelihood(reports)
    mechanism, total, support = reports.mechanism, int(reports.counts.sum()), reports.counts > 0
    expected = np.maximum(estimate.probabilities, 0.0) @ mechanism.matrix
    counts = reports.counts[support]
    nats = float((counts * np.log(counts / (total * expected[support]))).sum()) - estimate.gap
    free = int(np.count_nonzero(np.asarray(mechanism.weights != 0, dtype=bool).any(axis=0))) - 1
    return ReportsFit(max(0.0, nats), chance_beyond(nats, free))


def chance_beyond(nats: float, free: int) -> float:
    """Return an upper bound of the probability that n D(frequencies || distribution) is at least ``nats``.

    ``free`` is the number of different reports, less one (Agrawal 2020; see `reports_fit`).
    """
    if free == 0 or not nats > free:
        return 1.0
    return min(1.0, max(math.exp(-nats + free * (1 + math.log(nats / free))), _LEAST))


def distance_within(failure: float, free: int) -> float:
    """Return the distance in nats for which `chance_beyond` is at most ``failure``."""
    if free == 0:
        return 0.0
    far = 4 * (free - math.log(failure))
    return bisect(lambda nats: chance_beyond(nats, free) <= failure, float(free), far, relative=1e-9).holds


@dataclass(frozen=True, slots=True, repr=False)
class PointsFit(CompactRepr):
    """The fit of points to their stated noise for coordinates.

    Attributes:
        impossible: The number of points that the noise never reports: off its lattice, or none of its table's
            places.
        first: The number of the first of these, from 0; -1 where there is none.
        excess: The largest excess, over all waves, of a wave's share in the points over what the noise allows.
        failure: An upper bound of the probability that independent reports of this noise fit as badly.
        table: Whether the noise has a table of places, for which waves are not tested.
    """

    impossible: int
    first: int
    excess: float
    failure: float
    table: bool

    @property
    def sentence(self) -> str:
        """The fit, in words."""
        if self.impossible:
            of = "none of its table's places" if self.table else "no point of its lattice"
            return (
                f"{plural(self.impossible, 'report')} (the first is number {self.first + 1:,}) "
                f"{'is' if self.impossible == 1 else 'are'} at {of}."
            )
        if self.failure < 1:
            return (
                "For every distribution of people, independent reports of this noise are as concentrated as these "
                f"with a probability of at most {at_most(self.failure, 2)}."
            )
        if self.table:
            return "Every report is one of the places in the noise's table; nothing else was tested."
        return (
            "The reports are on the noise's lattice, and no more concentrated than it allows. This test cannot "
            "detect wider noise on the same lattice."
        )

    def check(self) -> None:
        """Raise a `DataError` if a point is impossible, or the probability of so bad a fit is below `RARE`."""
        if self.impossible or self.failure < RARE:
            raise DataError(
                f"the reports do not fit the noise. {self.sentence}",
                "give the file of the noise that they were released with",
                f"pass {argument('check_fit', False)} if rows share reports, or their degrees were rounded.",
            )


def points_fit(noise: CoordinateNoise, lat: ArrayLike, lon: ArrayLike) -> PointsFit:
    """Return the fit of points to noise for coordinates.

    A report is a point of the noise's lattice or, with a table, one of its places; another point is impossible.
    Without a table the law of reports is that of the noise, spread by where people are. So its characteristic
    function at a frequency t is at most that of the noise in modulus. That of n independent reports is farther
    from its mean than 1 / sqrt(n) + s with a probability of at most e^(-n s^2 / 2) at each of a fixed set of
    frequencies, by the inequality of bounded differences. Latitudes and longitudes are arrays (n,) in degrees.
    Raises `InputError` if the noise has no projection, or there is no report.

    Source:
        McDiarmid, "On the method of bounded differences", Surveys in Combinatorics, 1989.
    """
    plane = noise.projection
    if plane is None:
        raise InputError("the noise has no plane on the ground.", "use noise with a projection.")
    north, east = numbers(lat, "the latitude"), numbers(lon, "the longitude")
    if not north.size:
        raise InputError("there is no report.", "a test of fit needs at least one.")
    xy = plane.forward(north, east)
    step = float(noise.step_m)
    steps = np.rint(xy / step)
    if noise.remap is None:
        off = np.hypot(*(xy - steps * step).T)
    else:
        places = np.unique(
            np.concatenate([window.targets.reshape(-1, 2) for window in noise.remap.windows]), axis=0
        )
        known = np.asarray(np.isfinite(xy).all(axis=1))
        off = np.where(known, cKDTree(places).query(np.where(known[:, None], xy, 0.0))[0], np.inf)
    # Whether the plane separates all points that are to be expected.
    far = (_AROUND_M - noise.reach_m) * float(noise.noise.rate / noise.step_m) > _SURE
    wrong = np.flatnonzero(~(off <= _NEAR_M) if far or noise.remap is not None else ~np.isfinite(off))
    if wrong.size:
        return PointsFit(int(wrong.size), int(wrong[0]), 0.0, 0.0, noise.remap is not None)
    if noise.remap is not None:
        return PointsFit(0, -1, 0.0, 1.0, table=True)
    rate = float(noise.noise.rate)
    waves = _waves(rate)
    spots, times = np.unique(steps, axis=0, return_counts=True)
    share = times / len(steps)
    moduli = np.array([abs((share * np.exp(1j * (spots @ wave))).sum()) for wave in waves])
    excess = float((moduli - characteristic_most(rate, waves)).max())
    beyond = excess - 1 / math.sqrt(len(steps)) - _ROUNDING
    failure = 1.0
    if beyond > 0:
        failure = min(1.0, max(_LEAST, len(waves) * math.exp(-len(steps) * beyond**2 / 2)))
    return PointsFit(0, -1, max(0.0, excess), failure, table=False)


def characteristic_most(rate: float, waves: Floats) -> Floats:
    """Return upper bounds of the characteristic function of planar geometric noise, array (n,).

    By Poisson's summation it is the sum of 2 pi rate / (rate^2 + |t + 2 pi k|^2)^(3/2) over all whole vectors k,
    divided by the same sum for t = 0. The rate is per step, and the waves t, array (n, 2), are radians a step,
    between -pi and pi.
    """
    k = 2 * math.pi * np.arange(-_IMAGES, _IMAGES + 1)

    def shares(t: Floats) -> Floats:
        along = (t[:, 0, None] + k)[:, :, None] ** 2 + (t[:, 1, None] + k)[:, None, :] ** 2
        return np.asarray(((rate**2 + along) ** -1.5).sum(axis=(1, 2)))

    # beyond: 8 m vectors k of size m, each at least 2 pi (m - 1/2) away
    tail = 8 * (_IMAGES + 1) / (_IMAGES + 0.5) / (2 * math.pi) ** 3 / (_IMAGES - 0.5)
    return np.minimum(1.0, (shares(waves) + tail) / shares(np.zeros((1, 2))) * (1 + _ROUNDING))


def _waves(rate: float) -> Floats:
    """Return the frequencies of the test, array (n, 2): of the noise's own lengths, and of coarser lattices."""
    angles = np.pi * np.arange(_DIRECTIONS) / _DIRECTIONS
    radii = rate * 2.0 ** np.arange(-2, max(-1, math.ceil(math.log2(math.pi / rate)) + 1))
    radii = radii[radii <= math.pi]
    waves = [np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1) for radius in radii]
    for k in _PRIMES:
        whole = [(a, b) for a in range(k) for b in range(k) if (0, 0) < (a, b) <= (-a % k, -b % k)]
        fine: NDArray[np.float64] = 2 * np.pi * np.array(whole) / k
        waves.append(np.where(fine > np.pi, fine - 2 * np.pi, fine))
    return np.concatenate(waves)
