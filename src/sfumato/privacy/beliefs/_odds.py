"""By how much reports can move the odds of each fact, under one prior or under any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core import Prior
from ...core.arrays import Floats
from ._likelihoods import Likelihoods, blocks, likelihoods, scenarios, terms
from .priors import Priors


class Chance(NamedTuple):
    """Probabilities p with q = 1 - p, both to full relative precision; arrays (k,)."""

    p: Floats
    q: Floats

    @property
    def opposite(self) -> Chance:
        """The probability that the fact is false."""
        return Chance(self.q, self.p)


class Odds(NamedTuple):
    """The likelihood ratios rho_o = P[o | T] / P[o | not T] of k facts T, at their extremes.

    Attributes:
        high: Array (k,), the largest ln rho_o over reports; 0 where nothing can be learned.
        low: Array (k,), the least.
        high_at: Array (k,), the report of the largest.
        low_at: Array (k,), the report of the least.
        least: The least prior probability of each fact.
        most: The largest.
        terms: How many products each likelihood adds up.
        prior: The prior; None where any may be held.
    """

    high: Floats
    low: Floats
    high_at: NDArray[np.intp]
    low_at: NDArray[np.intp]
    least: Chance
    most: Chance
    terms: int
    prior: Prior | None

    @property
    def opposite(self) -> Odds:
        """The same of the facts "not T"."""
        return self._replace(
            high=-self.low,
            low=-self.high,
            high_at=self.low_at,
            low_at=self.high_at,
            least=self.most.opposite,
            most=self.least.opposite,
        )


def odds(matrix: Floats, priors: Priors, masks: NDArray[np.bool_]) -> Iterator[Odds]:
    """Yield the odds of all facts for each given prior, or once for any."""
    for prior in scenarios(priors, matrix):
        parts = [_part(matrix, priors, prior, masks[block]) for block in blocks(len(masks), matrix.shape[1])]
        high, low, high_at, low_at, p, q = (np.concatenate(column) for column in zip(*parts, strict=True))
        least = most = Chance(p, q)
        if priors.interval is not None:
            a, b = priors.interval
            least, most = (Chance(np.full(len(p), end), np.full(len(p), 1 - end)) for end in (a, b))
        yield Odds(high, low, high_at, low_at, least, most, terms(prior), prior)


def _part(
    matrix: Floats, priors: Priors, prior: Prior | None, masks: NDArray[np.bool_]
) -> tuple[Floats, Floats, NDArray[np.intp], NDArray[np.intp], Floats, Floats]:
    filled = priors.interval is not None
    true = likelihoods(matrix, prior, masks, filled=filled)
    false = likelihoods(matrix, prior, ~masks, filled=filled)
    possible = true.possible & false.possible
    high, high_at = _extreme(true, false, possible, largest=True)
    low, low_at = _extreme(true, false, possible, largest=False)
    total = true.mass + false.mass
    return high, low, high_at, low_at, true.mass / total, false.mass / total


def _extreme(
    true: Likelihoods, false: Likelihoods, possible: NDArray[np.bool_], *, largest: bool
) -> tuple[Floats, NDArray[np.intp]]:
    top, bottom = (true.high, false.low) if largest else (true.low, false.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = top / bottom
        ratios[np.isnan(ratios)] = 1.0  # a report that is impossible either way moves nothing
        at = ratios.argmax(axis=1) if largest else ratios.argmin(axis=1)
        logs = np.log(ratios[np.arange(len(ratios)), at], where=possible, out=np.zeros(len(ratios)))
    return logs, at
