"""Tests whether reports can come from a mechanism at all, whatever the population is: a bound for any number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...core.bisection import bisect
from ...core.frozen import Short
from ...errors import DataError, argument
from ...rounding import at_most
from .likelihood import maximum_likelihood
from .reports import Reports
from .result import Estimate

RARE: Final = 1e-6
"""Reports that fit a mechanism worse than this are taken for those of another one."""

_LEAST: Final = 1e-300  # no smaller probability is stated


@dataclass(frozen=True, slots=True, repr=False)
class ReportsFit(Short):
    """The fit of reports to the mechanism that they are said to come from.

    Attributes:
        nats: The relative entropy of the frequencies of the reports from the nearest distribution that any
            population gives under the mechanism, times the number of reports; a lower bound.
        failure: The probability that independent reports through this mechanism are as far off, at most.
    """

    nats: float
    failure: float

    @property
    def sentence(self) -> str:
        """The finding, in words."""
        if self.failure >= 1:
            return "The reports fit the mechanism: nothing speaks against it."
        return (
            "Whatever the population is, independent reports through this mechanism are as far off as these "
            "with a "
            f"probability of at most {at_most(self.failure, 2)}."
        )

    def check(self) -> None:
        """Refuse reports that hardly come from the mechanism.

        Raises:
            DataError: If the probability is below `RARE`.
        """
        if self.failure < RARE:
            raise DataError(
                f"the reports do not fit the mechanism. {self.sentence}",
                "give the mechanism that they were released with",
                f"pass {argument('check_fit', False)} if rows share reports, as those of one place do.",
            )


def reports_fit(reports: Reports, estimate: Estimate | None = None) -> ReportsFit:
    """Return how well reports fit their mechanism.

    With f the frequencies of n reports over k observables and q the nearest distribution that a population gives,
    n D(f || q) is at most that from the true distribution, which exceeds t > k - 1 with a probability of at most
    e^-t (e t / (k - 1))^(k - 1). It is the statistic of the likelihood-ratio test, half of a chi-square for many
    reports.

    Args:
        reports: The reports, taken to be independent.
        estimate: Their estimate by maximum likelihood, where it is at hand.

    Source:
        Agrawal, "Finite-sample concentration of the multinomial in relative entropy", IEEE Transactions on
        Information Theory 66 (2020), theorem 1.2.
    """
    found = estimate if estimate is not None and math.isfinite(estimate.gap) else maximum_likelihood(reports)
    mechanism = reports.mechanism
    total = int(reports.counts.sum())
    seen = reports.counts > 0
    expected = np.maximum(found.probabilities, 0.0) @ mechanism.matrix
    counts = reports.counts[seen]
    nats = float((counts * np.log(counts / (total * expected[seen]))).sum()) - found.gap
    free = int(np.count_nonzero(np.asarray(mechanism.weights != 0, dtype=bool).any(axis=0))) - 1
    return ReportsFit(max(0.0, nats), chance_beyond(nats, free))


def chance_beyond(nats: float, free: int) -> float:
    """Return how likely frequencies of independent reports are so far from their distribution, at most.

    Args:
        nats: The relative entropy of the frequencies from the distribution, times the number of reports.
        free: The number of different reports, less one.

    Source:
        Agrawal 2020; see `reports_fit`.
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
