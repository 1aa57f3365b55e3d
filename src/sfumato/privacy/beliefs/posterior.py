"""Likelihoods, odds and posteriors of facts, under one prior or any."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from ...core import Prior, Space
from ...core.arrays import Bools, Floats, Positions, numbers, readonly
from ...errors import InputError
from ...rounding import log_error, log_errors
from ..notion import Finding, Witness
from ..rows import AnyMechanism, channel, check_size
from .attackers import AgainstPriors, Events, Priors, events_on

_LEAST = 1e-250  # products below it could lose digits, or vanish, in doubles
_BLOCK = 2**22  # numbers per block
_LARGEST_EXPONENT = 700.0
_MOST_POSITIONS: Final = 6  # positions in a note
_RATIO: Final = frozenset(
    {"differential-privacy", "indistinguishable", "noiseless", "inferential", "identity", "pufferfish"}
)
_FACTORS: Final = {
    **dict.fromkeys(("membership", "aposteriori-noiseless", "information"), ("fall", "rise")),
    "positive-membership": ("rise",),
    "negative-membership": ("fall",),
}


class Likelihoods(NamedTuple):
    """P[o | fact] of k facts between ``low`` and ``high``, arrays (k, m); equal where a prior is given.

    ``mass`` is the prior probability of each fact, NaN under any prior; ``possible`` says which facts the prior
    holds possible.
    """

    low: Floats
    high: Floats
    mass: Floats
    possible: Bools


def scenarios(priors: Priors, matrix: Floats) -> tuple[Prior | None, ...]:
    """Return the priors to compare under, None for any; raise InputError for other sizes or tiny probabilities."""
    smallest = float(matrix[matrix > 0].min())
    for prior in priors.listed:
        check_size("a prior is on", len(prior), len(matrix), "use a prior on the mechanism's secrets.")
        smallest = min(smallest, float(matrix[matrix > 0].min() * prior.probabilities[prior.support].min()))
    if smallest < _LEAST:
        raise InputError(
            f"a secret and a report occur together with probability {smallest:.3g}.",
            f"likelihoods are compared in doubles, which needs at least {_LEAST:g}; set such entries to 0.",
        )
    return priors.listed or (None,)


def terms(prior: Prior | None) -> int:
    """Return the number of roundings in each likelihood: the terms of the sum and of its divisor."""
    return 1 if prior is None else 2 * len(prior.support)


def likelihoods(matrix: Floats, prior: Prior | None, masks: Bools, *, filled: bool = False) -> Likelihoods:
    """Return the likelihoods of each fact, masks (k, n), under a prior; None for any.

    With ``filled``, for an interval of probabilities, a fact of prior probability 0 counts if it is true of one
    secret.
    """
    if prior is None:
        return _free(matrix, masks)
    parts = [_under(matrix, prior, masks[part], filled=filled) for part in blocks(max(1, len(masks)), len(matrix))]
    rows, mass, possible = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Likelihoods(rows, rows, mass, possible)


def _under(matrix: Floats, prior: Prior, masks: Bools, *, filled: bool) -> tuple[Floats, Floats, Bools]:
    """Return the likelihoods of some facts under a prior, their probabilities, and which are possible."""
    weights = np.where(masks, prior.probabilities, 0.0)
    mass = weights.sum(axis=1)
    if filled:
        empty = (mass == 0) & masks.any(axis=1)
        if (masks[empty].sum(axis=1) > 1).any():
            raise InputError(
                "the prior gives probability 0 to a fact that is true of several secrets.",
                "it then does not say how they are distributed; smooth the prior, or leave that fact out.",
            )
        weights[empty] = masks[empty]
    scale = weights.sum(axis=1)
    possible = scale > 0
    np.divide(weights, scale[:, None], out=weights, where=possible[:, None])
    weights[~possible] = 0.0
    return weights @ matrix, mass, possible


def _free(matrix: Floats, masks: Bools) -> Likelihoods:
    """Return the range over all distributions on each fact; point masses attain its ends."""
    k, m = len(masks), matrix.shape[1]
    low, high = np.zeros((k, m)), np.zeros((k, m))
    possible = np.count_nonzero(masks, axis=1) > 0
    for j in np.flatnonzero(possible):
        members = matrix[masks[j]]
        low[j], high[j] = members.min(axis=0), members.max(axis=0)
    return Likelihoods(low, high, np.full(k, np.nan), possible)


def blocks(count: int, width: int) -> Iterator[slice]:
    """Yield slices of ``count`` rows of ``width`` numbers, each of moderate size in memory."""
    step = max(1, _BLOCK // width)
    for start in range(0, count, step):
        yield slice(start, start + step)


def compare_rivals(notion: AgainstPriors, mechanism: AnyMechanism, facts: Bools, rivals: Bools) -> Finding:
    """Return the largest ln(P[o | fact] / P[o | rival]), with the facts, the prior and the report.

    Facts are an array (k, n), and ``rivals`` is symmetric, array (k, k). Facts that a prior holds impossible are
    not compared under it. Under any prior point masses attain the extremes, because rivals share no secret.
    """
    matrix, priors = channel(mechanism).matrix, notion.priors
    filled = priors.interval is not None
    value, upper, witness = 0.0, 0.0, Witness()
    for prior in scenarios(priors, matrix):
        chances = likelihoods(matrix, prior, facts, filled=filled)
        for first in np.flatnonzero(chances.possible):
            targets = np.flatnonzero(rivals[first] & chances.possible)
            if not len(targets):
                continue
            log, at, output = largest_log(chances.high[first], chances.low[targets])
            upper = max(upper, log + log_error(log, terms(prior)))
            if log > value:
                value = log
                witness = _fact_witness(matrix, prior, facts[first], facts[targets[at]], output)
    return Finding(notion, value, upper - value if np.isfinite(value) else 0.0, witness)


def largest_log(row: Floats, rows: Floats) -> tuple[float, int, int]:
    """Return the largest ln of a row (m,) over rows (k, m), and the row and the column with it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = row / rows
        ratios[np.isnan(ratios)] = 0.0
        at, output = np.unravel_index(int(ratios.argmax()), ratios.shape)
        return float(np.log(ratios[at, output])), int(at), int(output)


def _fact_witness(matrix: Floats, prior: Prior | None, fact: Bools, rival: Bools, output: int) -> Witness:
    event, other = np.flatnonzero(fact), np.flatnonzero(rival)
    if prior is None:
        s, t = event[matrix[event, output].argmax()], other[matrix[other, output].argmin()]
        belief = np.zeros(len(matrix))
        belief[[s, t]] = 0.5
    else:
        belief = prior.probabilities
        s, t = event[0], other[0]
    point = prior is None or (len(event) == 1 and len(other) == 1)
    listing = ", ".join(map(str, other[:_MOST_POSITIONS].tolist()))
    rest = f", ... ({len(other)} in all)" if len(other) > _MOST_POSITIONS else ""
    pair, note = (int(s), int(t)), "" if point else f"compared with the secrets at positions {listing}{rest}"
    return Witness(pair if point else None, readonly(np.array([output])), readonly(belief), readonly(event), note)


class Chance(NamedTuple):
    """Probabilities p with q = 1 - p, both to full relative precision; arrays (k,)."""

    p: Floats
    q: Floats

    @property
    def opposite(self) -> Chance:
        """The probability that the fact is false."""
        return Chance(self.q, self.p)


class Odds(NamedTuple):
    """Extremes of the likelihood ratios rho_o = P[o | T] / P[o | not T] of k facts T, arrays (k,).

    ``high`` and ``low`` are the largest and least ln rho_o, 0 where nothing can be learned, at the reports
    ``high_at`` and ``low_at``. ``least`` and ``most`` bound the prior probability of each fact. Each likelihood
    adds ``terms`` products. ``prior`` is None for any.
    """

    high: Floats
    low: Floats
    high_at: Positions
    low_at: Positions
    least: Chance
    most: Chance
    terms: int
    prior: Prior | None

    @property
    def opposite(self) -> Odds:
        """The odds of the facts "not T"."""
        return self._replace(
            high=-self.low,
            low=-self.high,
            high_at=self.low_at,
            low_at=self.high_at,
            least=self.most.opposite,
            most=self.least.opposite,
        )


def odds(matrix: Floats, priors: Priors, masks: Bools) -> Iterator[Odds]:
    """Yield the odds of all facts for each given prior, or once for any."""
    for prior in scenarios(priors, matrix):
        parts = [_part(matrix, priors, prior, masks[block]) for block in blocks(len(masks), matrix.shape[1])]
        high, low, high_at, low_at, p, q = (np.concatenate(column) for column in zip(*parts, strict=True))
        least = most = Chance(p, q)
        if priors.interval is not None:
            least, most = (Chance(np.full(len(p), end), np.full(len(p), 1 - end)) for end in priors.interval)
        yield Odds(high, low, high_at, low_at, least, most, terms(prior), prior)


def _part(
    matrix: Floats, priors: Priors, prior: Prior | None, masks: Bools
) -> tuple[Floats, Floats, Positions, Positions, Floats, Floats]:
    filled = priors.interval is not None
    true = likelihoods(matrix, prior, masks, filled=filled)
    false = likelihoods(matrix, prior, ~masks, filled=filled)
    possible = true.possible & false.possible
    high, high_at = _extreme(true, false, possible, largest=True)
    low, low_at = _extreme(true, false, possible, largest=False)
    total = true.mass + false.mass
    return high, low, high_at, low_at, true.mass / total, false.mass / total


def _extreme(true: Likelihoods, false: Likelihoods, possible: Bools, *, largest: bool) -> tuple[Floats, Positions]:
    top, bottom = (true.high, false.low) if largest else (true.low, false.high)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = top / bottom
        ratios[np.isnan(ratios)] = 1.0  # a report that is impossible either way changes nothing
        at = ratios.argmax(axis=1) if largest else ratios.argmin(axis=1)
        logs = np.log(ratios[np.arange(len(ratios)), at], where=possible, out=np.zeros(len(ratios)))
    return logs, at


class Ratings(NamedTuple):
    """A quantity of each fact and an upper bound of its true value, arrays (k,).

    ``p`` is the prior probability of the fact at which the value is attained or approached, ``output`` the report,
    and ``raised`` whether the report makes the fact more probable.
    """

    value: Floats
    upper: Floats
    p: Floats
    output: Positions
    raised: Bools

    @property
    def opposite(self) -> Ratings:
        """The same for the facts "not T"."""
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


def upward_change(ratios: Odds) -> Ratings:
    """Return the largest of ln(posterior / p) and ln((1 - p) / (1 - posterior)), at an end of the interval."""
    first, second = gain(ratios.least, ratios.high), lost_doubt(ratios.most, ratios.high)
    value = np.maximum(first, second)
    upper = value + log_errors(ratios.high, ratios.terms) + log_errors(value, ratios.terms)
    p = np.where(first >= second, ratios.least.p, ratios.most.p)
    return Ratings(value, upper, p, ratios.high_at, np.ones(len(value), dtype=np.bool_))


def downward_change(ratios: Odds) -> Ratings:
    """Return `upward_change` for the opposite facts."""
    return upward_change(ratios.opposite).opposite


def larger_change(ratios: Odds) -> Ratings:
    """Return the larger of both directions."""
    up, down = upward_change(ratios), downward_change(ratios)
    larger = up.value >= down.value
    maximum = Ratings(*(np.where(larger, a, b) for a, b in zip(up, down, strict=True)))
    return maximum._replace(upper=np.maximum(up.upper, down.upper))


def rise(ratios: Odds) -> Ratings:
    """Return the largest ln rho, at least 0, at any prior probability."""
    value: Floats = np.maximum(ratios.high, 0.0)
    upper = value + log_errors(value, ratios.terms)
    p = (ratios.least.p + ratios.most.p) / 2
    return Ratings(value, upper, p, ratios.high_at, np.ones(len(value), dtype=np.bool_))


def fall(ratios: Odds) -> Ratings:
    """Return `rise` for the opposite facts."""
    return rise(ratios.opposite).opposite


def worst(
    notion: AgainstPriors, mechanism: AnyMechanism, events: Events | None, rate: Callable[[Odds], Ratings]
) -> Finding:
    """Return the largest rate over all priors and facts, at least 0, with its witness."""
    matrix, secrets, _ = channel(mechanism)
    masks = events_on(events, len(matrix)).masks
    value, upper = 0.0, 0.0
    witness = Witness()
    for ratios in odds(matrix, notion.priors, masks):
        rated = rate(ratios)
        upper = float(np.maximum(upper, rated.upper.max()))  # NaN propagates
        j = int(rated.value.argmax())
        if rated.value[j] > value:
            value = float(rated.value[j])
            witness = _witness(matrix, secrets, ratios.prior, masks[j], rated, j)
    return Finding(notion, value, upper - value if value < np.inf else 0.0, witness)


def _witness(matrix: Floats, secrets: Space, prior: Prior | None, mask: Bools, rated: Ratings, j: int) -> Witness:
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
    event, full = readonly(np.flatnonzero(mask)), Prior(secrets, belief).probabilities
    note = f"approached as the prior probability of the event tends to {p:g}" if p in (0.0, 1.0) else ""
    return Witness(None, readonly(np.array([output])), full, event, note)


@dataclass(frozen=True, slots=True)
class OfFacts(AgainstPriors):
    """A notion that rates how far a report changes each fact, under any of its priors."""

    priors: Priors
    events: Events | None = None

    @final
    def _measure(self, mechanism: AnyMechanism) -> Finding:
        return worst(self, mechanism, self.events, self._rate)

    @staticmethod
    @abstractmethod
    def _rate(ratios: Odds) -> Ratings:
        """Return the rate of each fact."""


@final
@dataclass(frozen=True, slots=True)
class Band:
    """The posteriors P[T | o] to which a prior probability p = P[T] can lead.

    Up to three kinds of bounds define it, each absent where infinite:

    - likelihood ratios: p / (p + q e**-low) <= P[T | o] <= p / (p + q e**-high), q = 1 - p;
    - factors: P[T | o] <= e**rise p and 1 - P[T | o] >= e**-rise q, and
      P[T | o] >= e**-fall p and 1 - P[T | o] <= e**fall q;
    - a line: P[T | o] <= e**slope p + delta.

    Attributes:
        title: The notion or the mechanism, with its numbers.
        low: ln of the least likelihood ratio P[o|T] / P[o|not T].
        high: ln of the largest.
        fall: The epsilon of factors downwards.
        rise: The epsilon of factors upwards.
        slope: The epsilon of the line.
        delta: The constant of the line.

    Source:
        Desfontaines, figures 2.1 and 2.8.
    """

    title: str
    low: float = -math.inf
    high: float = math.inf
    fall: float = math.inf
    rise: float = math.inf
    slope: float = math.inf
    delta: float = 0.0

    def lower(self, priors: ArrayLike) -> Floats:
        """Return the least posterior of each prior probability, same shape."""
        p = _probabilities(priors)
        answer = np.zeros(p.shape)
        if math.isfinite(self.low):
            answer = _posterior(p, self.low)
        if math.isfinite(self.fall):
            answer = np.maximum(answer, math.exp(-self.fall) * p)
            answer = np.maximum(answer, 1 - math.exp(self.fall) * (1 - p))
        return answer

    def upper(self, priors: ArrayLike) -> Floats:
        """Return the largest posterior of each prior probability, same shape."""
        p = _probabilities(priors)
        answer = np.ones(p.shape)
        if math.isfinite(self.high):
            answer = _posterior(p, self.high)
        if math.isfinite(self.rise):
            answer = np.minimum(answer, math.exp(self.rise) * p)
            answer = np.minimum(answer, 1 - math.exp(-self.rise) * (1 - p))
        if math.isfinite(self.slope):
            answer = np.minimum(answer, math.exp(self.slope) * p + self.delta)
        return answer


def band(key: str, epsilon: float, *, delta: float = 0.0) -> Band:
    """Return the band of posteriors that a notion guarantees at an epsilon.

    Notions that bound likelihood ratios (differential privacy between the fact and its opposite, noiseless privacy
    and similar ones) give the narrowest band at the same epsilon. Raises `InputError` if the notion bounds no
    posterior by the prior, or a parameter is out of range.

    Args:
        key: The notion's key: those of likelihood ratios, ``"positive-membership"``, ``"negative-membership"``,
            ``"membership"``, ``"aposteriori-noiseless"``, ``"information"`` or ``"adversarial"``.
        epsilon: From 0 to 700.
        delta: The delta of adversarial privacy; 0 for all others.

    Example:
        >>> from math import log
        >>> float(band("differential-privacy", log(3)).upper(0.5).round(4))
        0.75

    Source:
        Desfontaines, figure 2.8.
    """
    if not 0 <= epsilon <= 700:
        raise InputError(f"epsilon {epsilon} is not a number from 0 to 700.", "use one such as 1.0.")
    if not 0 <= delta <= 1 or (delta and key != "adversarial"):
        raise InputError(f"{key!r} has no delta {delta}.", "only adversarial privacy has one here, from 0 to 1.")
    title = f"{key}, epsilon {epsilon:g}" + (f", delta {delta:g}" if delta else "")
    if key in _RATIO:
        return Band(title, low=-epsilon, high=epsilon)
    if key in _FACTORS:
        return Band(title, **dict.fromkeys(_FACTORS[key], epsilon))
    if key == "adversarial":
        return Band(title, slope=epsilon, delta=delta)
    known = ", ".join(sorted({*_RATIO, *_FACTORS, "adversarial"}))
    raise InputError(f"no band is known of {key!r}.", f"the notions with one are: {known}.")


def attained_band(mechanism: AnyMechanism, priors: Priors, events: Events | None = None) -> Band:
    """Return the band of posteriors under a mechanism, for its most exposed facts of any prior probability.

    It has the extreme likelihood ratios, widened by the possible rounding. Priors give the distributions of the
    secrets where a fact is true and where it is false; facts that a given prior holds impossible are left out, and
    otherwise their probabilities do not count. Without facts every single secret is one.
    """
    matrix, secrets, _ = channel(mechanism)
    for prior in priors.listed:
        secrets.check_order(prior.space, "a prior")
    masks = events_on(events, len(matrix)).masks
    low = high = 0.0
    for ratios in odds(matrix, priors, masks):
        least, most = float(ratios.low.min()), float(ratios.high.max())
        low = min(low, least - log_error(least, ratios.terms))
        high = max(high, most + log_error(most, ratios.terms))
    return Band("the mechanism", low=low, high=high)


def _posterior(p: Floats, log_ratio: float) -> Floats:
    return np.asarray(p / (p + (1 - p) * math.exp(-log_ratio)))


def _probabilities(priors: ArrayLike) -> Floats:
    p = numbers(priors, "the prior probabilities")
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("a prior probability is not between 0 and 1.", "pass probabilities.")
    return p
