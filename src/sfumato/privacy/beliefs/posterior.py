"""The odds of facts before and after a report, under one prior or under any, and the fact that they move most."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from ...core import Prior, Space
from ...core.arrays import Floats, readonly
from ...rounding.errors import log_errors
from ..notion import Finding, Notion, Witness
from ..rows import AnyMechanism, channel
from .attackers import Events, Priors, events_on
from .likelihoods import Likelihoods, blocks, likelihoods, scenarios, terms


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


_LARGEST_EXPONENT = 700.0


class Rated(NamedTuple):
    """A quantity of each fact; arrays (k,).

    Attributes:
        value: As computed.
        upper: Not less than the truth.
        p: The prior probability of the fact at which the value is attained or approached.
        output: The report.
        raised: Whether the report makes the fact more probable (else less).
    """

    value: Floats
    upper: Floats
    p: Floats
    output: NDArray[np.intp]
    raised: NDArray[np.bool_]

    @property
    def opposite(self) -> Rated:
        """The same, said of the facts "not T"."""
        return self._replace(p=1 - self.p, raised=~self.raised)


def gain(chance: Chance, log_ratio: Floats) -> Floats:
    """Return ln(posterior / prior) = -ln(p + q / rho) for ln rho >= 0."""
    with np.errstate(divide="ignore"):
        far = -np.log(chance.p + chance.q * np.exp(-log_ratio))
    near = -np.log1p(chance.q * np.expm1(-np.minimum(log_ratio, 1.0)))
    return np.where(log_ratio < 1, near, far) + 0.0


def lost_doubt(chance: Chance, log_ratio: Floats) -> Floats:
    """Return ln(q / (1 - posterior)) = ln(q + p rho) for ln rho >= 0."""
    near = np.log1p(chance.p * np.expm1(np.minimum(log_ratio, _LARGEST_EXPONENT)))
    return np.where(np.isinf(log_ratio), np.where(chance.p > 0, np.inf, 0.0), near)


def posterior(chance: Chance, log_ratio: Floats) -> Floats:
    """Return p / (p + q / rho); for an infinite ratio the limit 1."""
    with np.errstate(invalid="ignore"):
        finite = chance.p / (chance.p + chance.q * np.exp(-log_ratio))
    return np.where(np.isposinf(log_ratio), 1.0, finite)


def upward(found: Odds) -> Rated:
    """Return max over priors of max(ln(posterior / p), ln((1 - p) / (1 - posterior))).

    The first falls with p, the second grows: the ends of the interval attain them.
    """
    first, second = gain(found.least, found.high), lost_doubt(found.most, found.high)
    value = np.maximum(first, second)
    upper = value + log_errors(found.high, found.terms) + log_errors(value, found.terms)
    p = np.where(first >= second, found.least.p, found.most.p)
    return Rated(value, upper, p, found.high_at, np.ones(len(value), dtype=np.bool_))


def downward(found: Odds) -> Rated:
    """Return the same of the opposite facts: by how much a report makes each less probable."""
    return upward(found.opposite).opposite


def both(found: Odds) -> Rated:
    """Return the larger of both directions."""
    up, down = upward(found), downward(found)
    larger = up.value >= down.value
    chosen = Rated(*(np.where(larger, a, b) for a, b in zip(up, down, strict=True)))
    return chosen._replace(upper=np.maximum(up.upper, down.upper))


def worst(
    notion: Notion,
    mechanism: AnyMechanism,
    priors: Priors,
    events: Events | None,
    rate: Callable[[Odds], Rated],
) -> Finding:
    """Return the largest rate over all priors and facts, at least 0, with who attains it."""
    matrix, secrets, _ = channel(mechanism)
    masks = events_on(events, len(matrix)).masks
    value, upper = 0.0, 0.0
    witness = Witness()
    for found in odds(matrix, priors, masks):
        rated = rate(found)
        upper = float(np.maximum(upper, rated.upper.max()))  # a NaN is not lost
        j = int(rated.value.argmax())
        if rated.value[j] > value:
            value = float(rated.value[j])
            witness = _attained(matrix, secrets, found.prior, masks[j], rated, j)
    return Finding(notion, value, upper - value if value < np.inf else 0.0, witness)


def _attained(
    matrix: Floats, secrets: Space, prior: Prior | None, mask: NDArray[np.bool_], rated: Rated, j: int
) -> Witness:
    p, output = float(rated.p[j]), int(rated.output[j])
    belief = np.zeros(len(mask))
    for part, share, high in ((mask, p, bool(rated.raised[j])), (~mask, 1 - p, not rated.raised[j])):
        members = np.flatnonzero(part)
        if prior is None:
            column = matrix[members, output]
            belief[members[column.argmax() if high else column.argmin()]] = share
        else:
            weights = prior.probabilities[members]
            total = weights.sum()
            belief[members] = share * weights / total if total > 0 else share / len(members)
    return Witness(
        outputs=readonly(np.array([output])),
        prior=Prior(secrets, belief).probabilities,
        event=readonly(np.flatnonzero(mask)),
        note=f"approached as the prior probability of the event tends to {p:g}" if p in (0.0, 1.0) else "",
    )


@dataclass(frozen=True, slots=True)
class OfFacts(Notion):
    """A notion that rates how far a report moves each fact, under any of its priors.

    Attributes:
        priors: The beliefs against which it must hold.
        events: The facts; every single secret if None.
    """

    priors: Priors
    events: Events | None = None

    @final
    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the largest rate, with the fact, the prior and the report that attain it."""
        return worst(self, mechanism, self.priors, self.events, self._rate)

    @staticmethod
    @abstractmethod
    def _rate(found: Odds) -> Rated:
        """Return the rate of each fact."""
