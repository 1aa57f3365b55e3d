"""Estimates of a population's distribution, and confidence intervals."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Metric, Prior, Space
from ..core.arrays import Floats, floats
from ..core.units import show
from ..errors import InputError, argument
from ..geo import Places
from ..rounding import amount, counted, percent_at_least, percent_of_confidence
from ..transport import Wasserstein, wasserstein


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConfidenceIntervals:
    """Confidence intervals for several numbers.

    Each misses its own number with the stated probability, unless ``together`` is set: of 20 intervals of 95 % one
    misses on average.

    Attributes:
        lower: Array (k,).
        upper: Array (k,).
        failure: The probability that one interval misses its number.
        method: The method in words, such as ``"profile-likelihood"``.
        exact: Whether the probability is proved for every number of reports. Otherwise it is reached as the
            reports become many, and an interval may miss more often where the true probability is zero or barely
            identified.
        names: The secrets, or one text for each functional.
        together: Whether ``failure`` is the probability that any of them misses.
    """

    lower: Floats
    upper: Floats
    failure: float
    method: str
    exact: bool
    names: tuple[Hashable, ...]
    together: bool = False

    @property
    def confidence(self) -> float:
        """The probability that one interval covers its number, or all do theirs, 1 - ``failure``."""
        return 1 - self.failure

    def __len__(self) -> int:
        return len(self.lower)

    def __repr__(self) -> str:
        return (
            f"{len(self)} {self.method} intervals of {percent_of_confidence(self.confidence)}, "
            f"median width {100 * float(np.median(self.upper - self.lower)):.3g} points"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Districts:
    """Districts with soft borders, whose shares the reports settle where shares of single places are not settled.

    The middles of districts are one side apart, on a square lattice. A place at a middle counts fully for its
    district. Towards the next middle its part falls linearly along each axis, so a place on a border counts half
    for each side. The parts of a place sum to one.

    Attributes:
        places: The places.
        side_m: The side of a district, metres.
        latlon: Their middles, array (districts, 2), degrees.
        parts: Array (districts, places), the part of each place; columns sum to one.
        shares: Array (districts,), the estimated shares; they sum to one.
        intervals: Intervals of the shares, which hold all together, for every number of reports and every
            choice of districts: all come from one set of distributions.
        reports: The number of reports.
    """

    places: Places
    side_m: float
    latlon: Floats
    parts: Floats
    shares: Floats
    intervals: ConfidenceIntervals
    reports: int

    def __len__(self) -> int:
        return len(self.shares)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the districts, row by row from the south-west: ``d1``, ``d2``, ..."""
        return tuple(map(str, self.intervals.names))

    @property
    def membership(self) -> NDArray[np.intp]:
        """The position of the district for which each place counts most, array (places,)."""
        return np.asarray(self.parts.argmax(axis=0), dtype=np.intp)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """The number of places that count most for each district, array (districts,)."""
        return np.asarray(np.bincount(self.membership, minlength=len(self)), dtype=np.intp)

    def __repr__(self) -> str:
        return f"{counted(len(self), 'district')} of about {amount(self.side_m, 'm', 2)}"

    def __str__(self) -> str:
        sure = self.intervals
        return (
            f"The middles of districts are {show(self.side_m, 'm')} apart, and their borders are soft: a place "
            "at a middle counts fully for its district, and one halfway to the next half for each. The intervals "
            f"hold all together with a probability of at least {percent_of_confidence(sure.confidence)}, for any "
            "number of reports, if each report is of another person. Their lower ends place at least "
            f"{percent_at_least(float(sure.lower.sum()))} of the people."
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Estimate:
    """The population's distribution over secrets, estimated from its reports.

    Attributes:
        space: The secrets.
        probabilities: Array (secrets,); they sum to one. Only the unbiased method may give negative ones.
        method: The method in words, such as ``"maximum likelihood"``.
        reports: The number of reports.
        log_likelihood: The sum of ln p(report) in nats; ``-inf`` where the estimate makes a received report
            impossible, NaN where only counts are known.
        gap: An upper bound of the distance of the method's objective from its optimum: for maximum likelihood in
            nats, for least squares in squared frequency. It holds for every estimate, up to the rounding of
            doubles.
        iterations: The number of steps.
        converged: Whether the gap is within the tolerance.
        intervals: Intervals for the probabilities, or None.
        districts: Districts whose shares the reports settle, where shares of single places are not settled.
        effective: Of weighted reports, the number of equal weight that vary as much (Kish); None without weights.
    """

    space: Space
    probabilities: Floats
    method: str
    reports: int
    log_likelihood: float
    gap: float
    iterations: int = 0
    converged: bool = True
    intervals: ConfidenceIntervals | None = None
    districts: Districts | None = None
    effective: float | None = None

    @property
    def prior(self) -> Prior:
        """The estimate as a prior.

        Raises:
            InputError: If a probability is negative, as the unbiased method allows.
        """
        if (self.probabilities < 0).any():
            raise InputError(
                f"{int((self.probabilities < 0).sum())} probabilities are negative: the estimate is not a prior.",
                "estimate by maximum likelihood or least squares instead.",
            )
        return Prior(self.space, self.probabilities)

    def __repr__(self) -> str:
        state = "" if self.converged else ", NOT converged"
        sure = "" if self.intervals is None else f", with {self.intervals!r}"
        sure += "" if self.districts is None else f", with {self.districts!r}"
        return f"Estimate of {len(self.space)} values from {self.reports:,} reports by {self.method}{state}{sure}"

    def with_intervals(self, intervals: ConfidenceIntervals) -> Estimate:
        """Return the estimate with intervals for its probabilities; refuse intervals for anything else."""
        if intervals.names != self.space.labels:
            raise InputError("the intervals are not for these probabilities.", "find them for the same secrets.")
        return replace(self, intervals=intervals)

    def distance_to(self, truth: Prior, metric: Metric) -> Wasserstein:
        """Return the earth mover's distance to a known distribution, in the metric's unit; for studies.

        Raises:
            InputError: If the estimate has negative probabilities, or a size does not fit.
        """
        return wasserstein(self.prior, truth, metric)


def check_failure(failure: float) -> float:
    """Return the probability that an interval misses; refuse one that is not between 0 and 1."""
    if not 0 < failure < 1:
        raise InputError(
            f"the probability {failure} that an interval misses is not between 0 and 1.",
            f"use {argument('failure', 0.05)} for intervals of 95 %.",
        )
    return float(failure)


def rows_of(functionals: ArrayLike | None, space: Space) -> tuple[Floats, tuple[Hashable, ...]]:
    """Return the weights, array (k, secrets), and their names; by default the unit vectors."""
    n = len(space)
    if functionals is None:
        return np.eye(n), space.labels
    weights = floats(np.atleast_2d(np.asarray(functionals)), "the functionals", shape=(None, n))
    return weights, tuple(f"functional {row}" for row in range(len(weights)))
