"""Attackers who see all reports of a day, and those who look for a home: simulations of their errors."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from ..core import Bracket, Randomizer
from ..core.arguments import random_generator
from ..core.arrays import Bools, Floats, numbers
from ..core.immutable import CompactRepr
from ..errors import DataError, InputError, argument
from ..geo import Grid, Places, Visits, geometric_median, medians
from ..mechanisms.planar import CoordinateNoise
from ..rounding import amount, plural
from ..sampling import simulator
from .beliefs import backward_smoother, forward_filter, most_likely_path
from .likelihoods import ReportLikelihoods
from .movement import MovementModel, PrivateMovementModel, day_positions

_CONFIDENCE: Final = 0.95
_MEDIAN_M: Final = 0.1  # excess of a mean distance at which medians are good enough, metres
_HOME: Final = 1e-6  # the same, relative, for homes
_HELD_OUT: Final = 0.3  # of the users
_TRIM: Final = 0.02  # of the visits at each side of the region, which may be far
_PLACES: Final = 130
_DAYS: Final = 500
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
    def table(self) -> list[tuple[str, str]]:
        """Each attacker with what they know, and their mean error with its interval, in words."""
        return [
            (f"{name}: {_ATTACKERS[name]}", f"{amount(error.value, 'm')} ({_range(error)})")
            for name, error in self.errors.items()
        ]

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


def attack_days(
    mechanism: Randomizer,
    visits: Visits,
    slots: Sequence[int],
    zone: str,
    *,
    user: Hashable | None = None,
    seed: int = 1,
) -> SequenceErrors:
    """Return the errors of attackers on simulated reports of real days, with a model of other people.

    The positions are those of ``user``, or of 30 % of the users. The model is made from all other people, on a
    grid of about 130 places. At most 500 days are attacked, chosen at random. Positions outside are moved to the
    nearest place that is served. A remap of noise is left out, because attackers see less after it. For slots and
    zone see `MovementModel`; ``seed`` is that of the simulation. Raises `DataError` if visits have no users or
    times, or all are one user's. Raises `InputError` if the mechanism does not fit (see `Follower`).
    """
    if user is None:
        population, people = visits.held_out(_HELD_OUT, by_user=True, seed=seed)
    else:
        people = visits.of_user(user)
        names, users = people.users(), () if visits.user is None else visits.user.tolist()
        rows = np.array([name not in names for name in users], dtype=np.bool_)
        if not rows.any():
            raise DataError("no one else is among the visits.", "pass visits of other people, too.")
        population = visits.select(rows)
    region = visits.region(_TRIM)
    width, height = region.size_m
    columns = max(2, min(_PLACES // 2, round(math.sqrt(_PLACES * width / height))))
    grid = Grid.covering(region, shape=(columns, max(2, round(_PLACES / columns))))
    model = MovementModel.of_visits(population, grid.latlon, slots, zone)
    positions = day_positions(people, slots, zone)
    order = random_generator(seed).permutation(len(positions))[:_DAYS]
    positions = positions[np.sort(order)]
    plain = mechanism
    if isinstance(mechanism, CoordinateNoise):
        plain = CoordinateNoise(mechanism.epsilon, mechanism.step_m, mechanism.projection, mechanism.reach_m)
    known = np.isfinite(positions[..., 0])
    reports = np.full(positions.shape, np.nan)
    reports[known] = simulator(plain, seed).blur(*positions[known].T, outside="nearest")
    return sequence_errors(positions, reports, model, plain)


def home_error(
    mechanism: Randomizer, reports_per_day: int, days: int, *, homes: int = 400, seed: int = 1
) -> Bracket:
    """Return the mean error in metres of an attacker who finds a home from all reports made there.

    Every report has fresh noise. Of noise the attacker takes the geometric median of all reports, which is the
    most likely home; for many reports k the error is about 1.77 / (epsilon sqrt(k)). Of a table it is the median
    of the belief, where homes are its places, all equally likely. Homes are simulated at random, so the number
    does not depend on anyone's true home. The interval is that of the mean over homes, at a confidence of 95 %.
    These are the strongest attackers that we know without a prior; a failed attack proves nothing. A remap of
    noise is left out, because the attacker sees less after it. Raises `InputError` if a number is below 1, or the
    mechanism is not one of places.

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
    generator, count = random_generator(seed), reports_per_day * days
    if isinstance(mechanism, CoordinateNoise):
        step, plane = float(mechanism.step_m), CoordinateNoise(mechanism.epsilon, mechanism.step_m)
        truth = generator.uniform(-step, step, (homes, 2))
        reports = plane.simulate(np.repeat(truth, count, axis=0), seed).reshape(homes, count, 2)
        guesses = np.array([geometric_median(points, np.ones(count), _HOME).point for points in reports])
        return _interval(np.hypot(*(guesses - truth).T))
    places = mechanism.channel().secrets
    if not isinstance(places, Places):
        raise InputError(
            f"{mechanism!r} is not about places on the ground.", "pass noise, or a mechanism on places."
        )
    points = places.latlon[places.rounding(*places.latlon.T).inside]
    likelihoods, at = ReportLikelihoods(mechanism, points), generator.integers(0, len(points), homes)
    degrees = simulator(mechanism, seed).blur(*np.repeat(points[at], count, axis=0).T)
    with np.errstate(divide="ignore"):
        logs = np.log(likelihoods.rows(degrees)).reshape(homes, count, len(points)).sum(axis=1)
    belief = np.exp(logs - logs.max(axis=1, keepdims=True))
    belief /= belief.sum(axis=1, keepdims=True)
    xy = likelihoods.xy
    return _interval(np.hypot(*(medians(xy, belief, belief @ xy, _MEDIAN_M) - xy[at]).T))


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
