"""Sparse vector technique for positions: a new report only where a noisy test finds that the last one is far."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from ..core import units
from ..core.arguments import check_arguments
from ..core.immutable import CompactRepr, Immutable, assign
from ..errors import InputError, argument
from ..geo import pulled_in
from ..mechanisms.planar import CoordinateNoise
from ..rounding import amount_at_most, at_most, exactly, float_above, plural, up
from ..sampling import ScalarCoins, SystemWords

_PLACED_M: Final = 1e-5  # metres: more than rounding of projections adds to the difference of two distances


@dataclass(frozen=True, slots=True)
class SparseVectorState(Immutable):
    """State of a day that an app stores between ticks; `dataclasses.asdict` makes plain numbers of it.

    Only ``report`` may be shown: the guarantee is lost for anyone who knows ``threshold``.

    Attributes:
        threshold: The day's threshold with its noise, in steps of the noise's lattice: secret.
        triggers: How many new reports are left.
        report: The last report, latitude and longitude in degrees.
    """

    threshold: int
    triggers: int
    report: tuple[float, float]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseVector(CompactRepr):
    """One report at the start of a day, and a new one at each of the first c ticks that test far from the last.

    At a tick the distance |x - z| of the position x from the last report z is rounded to whole steps. It is tested
    against a threshold: a new report is drawn if distance + Lap(2 c / e2) >= threshold + Lap(1 / e1). The first
    noise is fresh, the second is drawn once a day, and both are exact discrete Laplace noise in steps. After c new
    reports nothing is drawn. Reports and their epsilon e3 are those of ``noise``.

    Two days are sequences of the positions that the device holds at the same public ticks. If these are at most r
    apart at every tick, all that is shown, with its times and with silence, is at most exp((e1 + e2 + (c + 1) e3)
    (r + slack)) times as likely for one day as for the other. `exponent` is the smaller bound for days that differ
    at few ticks. Every tick must be answered, with the last known position where there is no new one.

    Args:
        noise: Noise of reports, with a projection; positions beyond its reach are moved to it.
        threshold: A length such as ``"4 km"``.
        triggers: c, how many new reports there may be after the first.
        threshold_epsilon: e1, a number per kilometre, or text such as ``"0.5/km"``.
        test_epsilon: e2, likewise, for all tests together.

    Raises:
        InputError: If a number is not positive, or the noise has no projection.

    Source:
        Dwork and Roth, "The algorithmic foundations of differential privacy", 2014, section 3.6; Lyu, Su and Li,
        "Understanding the sparse vector technique for differential privacy", PVLDB 10, 2017.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.sequences import SparseVector
        >>> noise = sf.mechanisms.planar.CoordinateNoise("1/km", "2 m", sf.geo.Projection(48.85, 2.35), "30 km")
        >>> day = SparseVector(noise, "4 km", triggers=2, threshold_epsilon="1/km", test_epsilon="2/km")
        >>> day.epsilon
        6.0
        >>> state = day.start(48.86, 2.34)
        >>> day.step(state, 48.92, 2.41).triggers in (1, 2)
        True
    """

    noise: CoordinateNoise
    threshold_m: float
    triggers: int
    threshold_epsilon: float
    test_epsilon: float

    def __init__(
        self,
        noise: CoordinateNoise,
        threshold: float | str,
        triggers: int,
        threshold_epsilon: float | str,
        test_epsilon: float | str,
    ) -> None:
        if noise.projection is None:
            raise InputError("the noise is for points of a plane.", "make it with a Projection.")
        length = units.length_m(threshold, "the threshold")
        epsilons = [
            units.parse(threshold_epsilon, per=True, unit="km", subject="the epsilon of the threshold"),
            units.parse(test_epsilon, per=True, unit="km", subject="the epsilon of the tests"),
        ]
        names = ("threshold", "triggers", "threshold_epsilon", "test_epsilon")
        for name, value in zip(names, (length, triggers, *epsilons), strict=True):
            if not 0 < value < math.inf:
                raise InputError(f"{argument(name, value)} is not positive.", f"use {argument(name, 1)}.")
        assign(self, noise=noise, threshold_m=length, triggers=triggers)
        assign(self, threshold_epsilon=epsilons[0], test_epsilon=epsilons[1])

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the threshold's noise, in steps of the noise's lattice."""
        return 1 / self._rate(self.threshold_epsilon)

    @property
    def test_scale(self) -> Fraction:
        """The scale of the noise of each test, in steps of the noise's lattice."""
        return 2 * self.triggers / self._rate(self.test_epsilon)

    @property
    def epsilon(self) -> float:
        """The epsilon of a day per kilometre, e1 + e2 + (c + 1) e3, rounded up."""
        return float_above(sum(self._shares(None), Fraction(0)))

    @property
    def slack_m(self) -> float:
        """A bound in metres on what rounding of positions and distances adds to a distance."""
        return max(self.noise.promise.slack_m, up(float(self.noise.step_m) * (1 + 2.0**-50) + _PLACED_M))

    @check_arguments
    def exponent(self, distance_km: float, ticks: int | None = None) -> float:
        """Return a bound on ln of the ratio for days whose positions are at most a distance apart, rounded up.

        min(e1 + e2, k e2 / (2 c)) + min(c + 1, k) e3, times the distance and the slack, if the positions differ at
        k ticks at most: ``ticks``, by default all. Raises `InputError` if a number is negative.
        """
        if not distance_km >= 0 or (ticks is not None and ticks < 0):
            raise InputError("the distance or the number of ticks is negative.", "use numbers of at least 0.")
        if not distance_km < math.inf:
            return math.inf
        reach = Fraction(distance_km) + Fraction(self.slack_m) / 1000
        return float_above(sum(self._shares(ticks), Fraction(0)) * reach)

    @check_arguments
    def start(self, lat: float, lon: float) -> SparseVectorState:
        """Return the state after the first report of a day, from the device's position in degrees.

        Noise is drawn from the system's cryptographic generator, here and in `step`. Raises `InputError` if the
        position is not on the Earth.
        """
        words = SystemWords()
        threshold = round(Fraction(self.threshold_m) / self.noise.step_m)
        noisy = threshold + ScalarCoins(words).laplace(self.threshold_scale)
        return SparseVectorState(noisy, self.triggers, self.noise.blur_point(lat, lon, words, nearest=True))

    @check_arguments
    def step(self, state: SparseVectorState, lat: float, lon: float) -> SparseVectorState:
        """Return the state after the next tick, the same object where there is no new report; see `start`.

        Store it before its report is shown: a tick that is answered twice is tested twice.
        """
        if state.triggers <= 0:
            return state
        words = SystemWords()
        if self._distance(state.report, lat, lon) + ScalarCoins(words).laplace(self.test_scale) < state.threshold:
            return state
        report = self.noise.blur_point(lat, lon, words, nearest=True)
        return replace(state, triggers=state.triggers - 1, report=report)

    def _distance(self, report: tuple[float, float], lat: float, lon: float) -> int:
        """Return the distance of a position from a report in whole steps of the plane."""
        points = self.noise.projection.forward(np.array([report[0], lat]), np.array([report[1], lon]))  # type: ignore[union-attr]
        if not np.isfinite(points).all():
            raise InputError(f"{lat:g}, {lon:g} is not a latitude and a longitude.", "pass degrees.")
        apart = points[0] - pulled_in(points[1:], self.noise.reach_m)[0]
        return math.floor(math.hypot(*apart) / float(self.noise.step_m))

    def _rate(self, epsilon: float) -> Fraction:
        """Return the rate per step of an epsilon per kilometre, for the plane that reports have."""
        return Fraction(epsilon) / Fraction(self.noise.epsilon) * self.noise.noise.rate

    def _shares(self, ticks: int | None) -> tuple[Fraction, Fraction]:
        """Return the epsilons of tests and of reports, per kilometre, for days that differ at some ticks."""
        tests, reports = Fraction(self.threshold_epsilon) + Fraction(self.test_epsilon), self.triggers + 1
        if ticks is not None:
            tests = min(tests, ticks * Fraction(self.test_epsilon) / (2 * self.triggers))
            reports = min(reports, ticks)
        return tests, reports * Fraction(self.noise.epsilon)

    def __str__(self) -> str:
        power = f"{at_most(self.epsilon, 6)}/km x (r + {amount_at_most(self.slack_m, 'm')})"
        return (
            "For any two days on which the positions that the device holds at the ticks are at most r apart: all "
            f"that is shown, silence and times included, is at most e^({power}) times as likely for one as for "
            f"the other. There are at most {plural(self.triggers + 1, 'report')} a day, of epsilon "
            f"{exactly(self.noise.epsilon)}/km each."
        )
