"""Attackers who see all reports of a day, and those who look for a home: simulations of their errors."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from ..core import Bracket, Randomizer
from ..core.arguments import random_generator
from ..core.arrays import Bools, Floats, numbers
from ..core.immutable import CompactRepr
from ..errors import InputError, argument
from ..geo import geometric_median, medians
from ..mechanisms.planar import CoordinateNoise
from ..rounding import amount, plural
from .beliefs import backward_smoother, forward_filter, most_likely_path
from .likelihoods import ReportLikelihoods
from .movement import MovementModel, PrivateMovementModel

_CONFIDENCE: Final = 0.95
_MEDIAN_M: Final = 0.1  # excess of a mean distance at which medians are good enough, metres
_HOME: Final = 1e-6  # the same, relative, for homes
_ATTACKERS: Final = {
    "reports": "takes each report for the position",
    "memoryless": "knows one report and the marginal of its slot",
    "filter": "knows the reports so far",
    "smoother": "knows all reports of the day",
    "Viterbi": "takes the most likely path given all reports",
}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SequenceErrors(CompactRepr):
    """Errors of attackers on days, of which some may be held out: a simulation, never a bound.

    Attributes:
        errors: Mean distance from the guess to the true position of each attacker, metres, with an interval for
            the mean over days at a confidence of 95 %. The attackers are ``reports``, ``memoryless``, ``filter``,
            ``smoother`` and ``Viterbi``.
        days: The number of days.
        ticks: The number of positions guessed.
    """

    errors: Mapping[str, Bracket]
    days: int
    ticks: int

    @property
    def strongest(self) -> str:
        """The attacker with the least mean error."""
        return min(self.errors, key=lambda name: self.errors[name].value)

    @property
    def sentence(self) -> str:
        """The error of the strongest attacker, in words."""
        error = self.errors[self.strongest]
        interval = "" if error.upper == math.inf else f" ({_range(error)} with confidence 95 %)"
        return (
            f"The strongest attacker that we know ({self.strongest}: {_ATTACKERS[self.strongest]}) is wrong by "
            f"{amount(error.value, 'm')} on average over {plural(self.days, 'day')}{interval}. "
            "Another attacker may be stronger: a failed attack proves nothing."
        )


def sequence_errors(
    positions: ArrayLike,
    reports: ArrayLike,
    model: MovementModel | PrivateMovementModel,
    mechanism: Randomizer,
) -> SequenceErrors:
    """Return the errors of attackers who know the mechanism and a movement model, on days with true positions.

    Guesses are posterior medians, and for the most likely path its places. Use days that the model was not
    learned from, or errors are too small. Silent ticks repeat the last report for the attacker who takes reports
    for positions. Ticks without a true position, or before the first report of the day, are left out.

    Args:
        positions: True latitudes and longitudes in degrees, array (days, T, 2), as from `day_positions`; NaN where
            there is none.
        reports: Those of the reports, array (days, T, 2); NaN where a tick had none.
        model: What the attackers know of movement; with a `PrivateMovementModel` they know the person's own days.
        mechanism: What made each report, as for a `Follower`.

    Raises:
        InputError: If shapes differ, no tick has both a position and a report, or the mechanism does not fit.

    Source:
        Shokri, Theodorakopoulos, Le Boudec and Hubaux, "Quantifying location privacy", S&P 2011.
    """
    steps, n = model.marginals.shape
    truth, degrees = numbers(positions, "the positions"), numbers(reports, "the reports")
    if truth.ndim != 3 or truth.shape != degrees.shape or truth.shape[1:] != (steps, 2):
        raise InputError(
            f"positions of shape {' x '.join(map(str, truth.shape))} and reports of shape "
            f"{' x '.join(map(str, degrees.shape))} are not any x {steps} x 2 both.",
            "pass a latitude and a longitude for each slot of each day.",
        )
    likelihoods = ReportLikelihoods(mechanism, model.places)
    plane, flat = likelihoods.projection, truth.reshape(-1, 2)
    rows = likelihoods.rows(degrees.reshape(-1, 2)).reshape(-1, steps, n)
    points = _last_points(likelihoods.points(degrees.reshape(-1, 2)).reshape(truth.shape))
    there = plane.forward(*flat.T).reshape(truth.shape)
    counts: Bools = np.isfinite(there[..., 0] + points[..., 0])
    if not counts.any():
        raise InputError("no tick has both a position and a report.", "pass days that have both.")
    kernels = list(model.kernels[:, -1])
    joint = model.marginals * rows
    parts = [(model.marginals[0], kernels, row) for row in rows]
    beliefs = {
        "memoryless": joint / joint.sum(axis=2, keepdims=True),
        "filter": np.array([forward_filter(*part) for part in parts]),
        "smoother": np.array([backward_smoother(*part) for part in parts]),
    }
    xy = likelihoods.xy
    guesses = {"reports": points}
    for name, belief in beliefs.items():
        weights = belief.reshape(-1, n)
        guesses[name] = medians(xy, weights, weights @ xy, _MEDIAN_M).reshape(truth.shape)
    guesses["Viterbi"] = np.array([xy[most_likely_path(*part)] for part in parts])
    errors = {name: _mean_over_days(np.hypot(*(guess - there).T).T, counts) for name, guess in guesses.items()}
    return SequenceErrors(errors, int(counts.any(axis=1).sum()), int(counts.sum()))


def home_error(
    noise: CoordinateNoise, reports_per_day: int, days: int, *, homes: int = 400, seed: int = 1
) -> Bracket:
    """Return the mean error in metres of an attacker who finds a home from all reports made there.

    Every report has fresh noise, and the attacker takes the geometric median of all of them, which is the most
    likely home. For many reports k the error is about 1.77 / (epsilon sqrt(k)). Homes are simulated at random, so
    the number does not depend on anyone's true home. The interval is that of the mean over homes, at a confidence
    of 95 %. It is the strongest attacker that we know without a prior; a failed attack proves nothing. A remap of
    the noise is left out, because the attacker sees less after it. Raises `InputError` if a number is below 1.

    Example:
        >>> from sfumato.mechanisms.planar import CoordinateNoise
        >>> from sfumato.sequences import home_error
        >>> week = home_error(CoordinateNoise("1/km"), 2, 7)
        >>> 450 < week.value < 550
        True
    """
    for name, number in (("reports_per_day", reports_per_day), ("days", days), ("homes", homes)):
        if number < 1:
            raise InputError(f"{argument(name, number)} is not at least 1.", "use a whole number such as 7.")
    generator, step = random_generator(seed), float(noise.step_m)
    plane = CoordinateNoise(noise.epsilon, noise.step_m)
    truth = generator.uniform(-step, step, (homes, 2))
    count = reports_per_day * days
    reports = plane.simulate(np.repeat(truth, count, axis=0), seed).reshape(homes, count, 2)
    guesses = [geometric_median(points, np.ones(count), _HOME).point for points in reports]
    return _interval(np.hypot(*(np.array(guesses) - truth).T))


def _last_points(points: Floats) -> Floats:
    """Return points (days, T, 2) with the last one before in place of NaN, within a day."""
    filled = points.copy()
    for t in range(1, points.shape[1]):
        silent = np.isnan(filled[:, t, 0])
        filled[silent, t] = filled[silent, t - 1]
    return filled


def _mean_over_days(errors: Floats, counts: Bools) -> Bracket:
    """Return the interval of the mean over days of each day's mean error over its ticks, arrays (days, T)."""
    used = counts.any(axis=1)
    sums = np.where(counts, errors, 0.0).sum(axis=1)[used]
    return _interval(sums / counts.sum(axis=1)[used])


def _interval(values: Floats) -> Bracket:
    """Return the mean of values, with Student's interval."""
    mean, k = float(values.mean()), len(values)
    if k < 2:
        return Bracket(0.0, mean, math.inf)
    half = float(stdtrit(k - 1, (1 + _CONFIDENCE) / 2)) * float(values.std(ddof=1)) / math.sqrt(k)
    return Bracket(max(0.0, mean - half), mean, mean + half)


def _range(bracket: Bracket) -> str:
    return f"{amount(bracket.lower, 'm')} to {amount(bracket.upper, 'm')}"
