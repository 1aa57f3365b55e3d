"""Lower bounds of epsilon and of delta from samples, by events that distinguish two secrets."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..core import Metric, units
from ..core.arguments import random_generator
from ..core.arrays import Floats
from ..errors import InputError
from ..escaping import plain
from ..rounding import at_least, plural
from . import binomial
from .binomial import Counts
from .sample import Sample, split

_LARGEST_FLOAT: Final = float(np.finfo(np.float64).max)
Gain = Callable[[Floats, Floats, Floats], Floats]
"""What is shown by p(E|s) >= low and p(E|s') <= high at distance d: gain(low, high, d)."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _ObservedBound:
    """A lower bound from samples, with its event."""

    value: float  # the true number is at least this; 0 if nothing is shown
    pair: tuple[Hashable, Hashable]  # the two secrets (s, s') that show it
    event: tuple[Hashable, ...]  # the outputs that s gives more often than s'
    hits: tuple[int, int]  # how often such an output was seen for s and for s'
    trials: tuple[int, int]  # how often s and s' were sampled for this comparison
    rates: tuple[float, float]  # the proved bounds p(event|s) >= rates[0] and p(event|s') <= rates[1]
    failure: float  # the probability with which the value is too large, over all that was tried
    comparisons: int  # among how many comparisons the failure probability was shared
    unit: str  # the unit of the metric

    @classmethod
    def of(
        cls,
        bound: EventResult,
        secrets: Sequence[Hashable],
        outputs: Sequence[Hashable],
        failure: float,
        metric: Metric | None,
        **options: Any,
    ) -> Self:
        """Return the finding in the labels of secrets and outputs; a negative bound says no more than 0."""
        event = bound.event
        return cls(
            value=max(bound.value, 0.0),
            pair=(secrets[event.first], secrets[event.second]),
            event=tuple(outputs[o] for o in sorted(event.outputs.tolist())),
            hits=bound.hits,
            trials=bound.trials,
            rates=bound.rates,
            failure=failure,
            comparisons=bound.comparisons,
            unit="" if metric is None else metric.unit,
            **options,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at least {at_least(self.value)}{self._rate}, {self._level})"

    @property
    def _level(self) -> str:
        return f"with confidence {at_least(1 - self.failure, 6)}"

    @property
    def _rate(self) -> str:
        return f"/{plain(self.unit)}" if self.unit else ""

    @property
    def _tally(self) -> str:
        (s, t), (a, b), (n, m) = self.pair, self.hits, self.trials
        event = f"the output {self.event[0]!r}" if len(self.event) == 1 else f"one of {len(self.event)} outputs"
        return f"{event} was seen in {a} of {n} reports of {s!r} and in {b} of {m} reports of {t!r}."


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EpsilonFinding(_ObservedBound):
    """A lower bound of epsilon from samples, per unit of the metric, at the ``delta`` of (epsilon, delta)-privacy.

    The value is ``inf`` if two secrets at distance zero are shown to differ.
    """

    delta: float

    @property
    def is_unbounded(self) -> bool:
        """Whether the event never occurred for the second secret, so that no sample bounds epsilon from above."""
        return self.value > 0 and self.hits[1] == 0

    def __str__(self) -> str:
        if self.value == 0:
            return f"The samples show no positive epsilon ({self._level}); this does not prove privacy."
        at = f" at delta {at_least(self.delta, 6)}" if self.delta else ""
        more = "; it may be infinite" if self.is_unbounded and math.isfinite(self.value) else ""
        return f"epsilon is at least {at_least(self.value)}{self._rate}{at}, {self._level}{more}: {self._tally}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeltaFinding(_ObservedBound):
    """A lower bound of delta at a given ``epsilon``, per unit of the metric, from samples."""

    epsilon: float

    def __str__(self) -> str:
        at = f"at epsilon {at_least(self.epsilon, 6)}{self._rate}"
        if self.value == 0:
            return f"The samples show no positive delta {at} ({self._level})."
        return f"delta is at least {at_least(self.value)} {at}, {self._level}: {self._tally}"


def epsilon_lower(
    sample: Sample,
    metric: Metric | None = None,
    *,
    failure: float = 0.05,
    delta: float = 0.0,
    candidates: int = 4,
    share: float = 0.3,
    seed: int | None = None,
) -> EpsilonFinding:
    """Return a lower bound of the true epsilon from samples.

    For an event E and secrets s, s', with L <= p(E|s) and U >= p(E|s'),

        epsilon >= ln((L - delta) / U) / d(s, s').

    L and U are Clopper-Pearson bounds. The probability that the answer exceeds the true epsilon, ``failure``, is
    shared (Bonferroni) among all events and pairs tried: single outputs, where they were fixed beforehand, and
    unions that one random part of the samples, ``share``, chooses and the other part judges, as many as
    ``candidates``. The samples of one secret must be independent draws. By default every two secrets are at
    distance 1, and epsilon is that of local differential privacy; ``delta`` is that of (epsilon, delta)-privacy.
    Raises `InputError` if an argument is out of range, or the metric does not fit.

    Source:
        Clopper and Pearson, 1934; the choice by likelihood ratio follows Neyman and Pearson, 1933.

    Example:
        >>> from sfumato.statistics import Sample, epsilon_lower
        >>> sample = Sample([[900, 100], [100, 900]])
        >>> 1.5 < epsilon_lower(sample, seed=1).value < 2.197
        True
    """
    if not 0 <= delta < 1:
        raise InputError(f"a delta of {delta} is not a probability below 1.", "use a small one, such as 1e-6.")
    gain = epsilon_gain(delta)
    best = strongest(sample, metric, gain, failure=failure, candidates=candidates, share=share, seed=seed)
    return EpsilonFinding.of(best, sample.secrets.labels, sample.outputs.labels, failure, metric, delta=delta)


def delta_lower(
    sample: Sample,
    epsilon: float | str,
    metric: Metric | None = None,
    *,
    failure: float = 0.05,
    candidates: int = 4,
    share: float = 0.3,
    seed: int | None = None,
) -> DeltaFinding:
    """Return a lower bound of the true delta at a given epsilon from samples.

    delta >= L - exp(epsilon d(s, s')) U, for bounds L <= p(E|s) and U >= p(E|s').

    Epsilon is per unit of the metric: a number, or text such as ``"0.6/km"``. The answer exceeds the true delta
    with probability at most ``failure``. All other arguments are those of `epsilon_lower`. Raises `InputError` if
    an argument is out of range, or the metric does not fit. Raises `UnitError` if the unit of epsilon does not
    fit.
    """
    rate = units.parse(epsilon, per=True, unit="" if metric is None else metric.unit, subject="epsilon")
    if rate < 0:
        raise InputError(f"the epsilon {epsilon} is negative.", "use a number of at least 0.")

    def gain(low: Floats, high: Floats, distance: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            value = low - np.exp(rate * distance) * high * (1 + 1e-12)
        return np.where(np.isfinite(distance), value, -np.inf)

    best = strongest(sample, metric, gain, failure=failure, candidates=candidates, share=share, seed=seed)
    return DeltaFinding.of(best, sample.secrets.labels, sample.outputs.labels, failure, metric, epsilon=rate)


def epsilon_gain(delta: float) -> Gain:
    """Return the gain ln((low - delta) / high) / d, rounded down."""

    def gain(low: Floats, high: Floats, distance: Floats) -> Floats:
        excess = low - delta
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(excess > 0, excess / high, 0.0)
            logarithm = np.log(ratio)
            quotient = np.minimum(logarithm / distance, _LARGEST_FLOAT)  # where it is above all floats
            value = np.where(distance > 0, quotient, np.where(ratio > 1, np.inf, -np.inf))
        value = value - 1e-12 * np.abs(np.where(np.isfinite(value), value, 0.0))
        return np.where(np.isfinite(distance), value, -np.inf)

    return gain


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A pair of secrets and outputs that the first gives more often than the second."""

    first: int
    second: int
    outputs: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class EventResult:
    """The result of one event on the samples that judge it."""

    value: float  # the gain that is shown; it holds with the stated probability
    event: Event
    hits: tuple[int, int]  # how often it was seen for the first and the second secret
    trials: tuple[int, int]  # how often each was sampled
    rates: tuple[float, float]  # lower bound of the first probability, upper bound of the second
    comparisons: int  # among how many comparisons the failure probability was shared


def distances_of(size: int, metric: Metric | None) -> Floats:
    """Return the distances of all pairs: the metric's, or 1 between distinct secrets."""
    if metric is None:
        return 1.0 - np.eye(size)
    if len(metric) != size:
        raise InputError(
            f"the metric is on {len(metric)} values, but there are {size} secrets.",
            "use a metric on the sampled secrets, in their order.",
        )
    return metric.array


def strongest(
    sample: Sample,
    metric: Metric | None,
    gain: Gain,
    *,
    failure: float,
    candidates: int,
    share: float,
    seed: int | None,
) -> EventResult:
    """Return the strongest of all events tried on a sample.

    Where the outputs were fixed beforehand, half of the failure probability goes to all single outputs on all
    samples; the rest goes to the events that a random part of the samples proposes, on the other part.
    """
    left = binomial.check_failure(failure)
    if metric is not None and not sample.secrets_named:
        raise InputError(
            "the sample does not say in which order its secrets are, so the metric cannot be matched to them.",
            "pass space= with all secrets when making the sample.",
        )
    distances = distances_of(len(sample.secrets), metric)
    check_protected(distances, sample.counts)
    results: list[EventResult] = []
    if sample.outputs_fixed:
        left /= 2
        results.append(_single_outputs(sample.counts, distances, gain, left))
    choosing, judging = split(sample.counts, share, random_generator(seed))
    events = choose(choosing, distances, gain, candidates, left)
    results += judge(events, judging, distances, gain, left)
    if not results:
        raise InputError(
            f"no event can be chosen from {plural(int(sample.counts.sum()), 'sample')}.",
            "collect more samples of each secret.",
        )
    comparisons = len(events) + (sample.counts.size if sample.outputs_fixed else 0)
    return replace(max(results, key=lambda bound: bound.value), comparisons=comparisons)


def check_protected(distances: Floats, counts: Counts) -> None:
    """Refuse a metric without two sampled secrets at a finite distance."""
    sampled = np.flatnonzero(counts.sum(axis=1))
    if np.isfinite(distances[np.ix_(sampled, sampled)]).sum() <= len(sampled):
        raise InputError("no two sampled secrets are at a finite distance.", "use a metric that covers a pair.")


def choose(counts: Counts, distances: Floats, gain: Gain, how_many: int, failure: float) -> list[Event]:
    """Return the events of largest gain in counts, one per ordered pair of secrets, to share ``failure``.

    They are unions of outputs by falling likelihood ratio, as the optimal test uses them, and single outputs. Any
    rule may choose them, because other samples judge them.
    """
    if how_many < 1:
        raise InputError(f"{how_many} events show nothing.", "use at least one.")
    z = -float(ndtri(failure / (2 * how_many)))
    totals = counts.sum(axis=1)
    shares = (counts + 0.5) / (totals[:, None] + 0.5 * counts.shape[1])
    proposals: list[tuple[float, Event]] = []
    for s in np.flatnonzero(totals):
        rivals = np.flatnonzero((totals > 0) & np.isfinite(distances[s]) & (np.arange(len(totals)) != s))
        if not len(rivals):
            continue
        order = np.argsort(-(shares[s] / shares[rivals]), axis=1, kind="stable")
        hits = np.concatenate([np.cumsum(counts[s][order], axis=1), np.tile(counts[s], (len(rivals), 1))], axis=1)
        unions = np.cumsum(np.take_along_axis(counts[rivals], order, axis=1), axis=1)
        misses = np.concatenate([unions, counts[rivals]], axis=1)
        low, high = _wilson_bound(hits, totals[s], -z), _wilson_bound(misses, totals[rivals, None], z)
        gains = gain(low, high, distances[s, rivals, None])
        best = gains.argmax(axis=1)
        width = counts.shape[1]
        for row, (t, k) in enumerate(zip(rivals, best, strict=True)):
            outputs = order[row, : k + 1] if k < width else np.array([k - width])
            proposals.append((float(gains[row, k]), Event(int(s), int(t), outputs)))
    proposals.sort(key=lambda proposal: -proposal[0])
    return [event for _, event in proposals[:how_many]]


def _wilson_bound(hits: Counts, trials: Counts, z: float) -> Floats:
    """Return Wilson's bound of a probability: fast, and good enough to choose by."""
    share = hits / trials
    middle = share + z * z / (2 * trials)
    width = z * np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    return np.asarray((middle + width) / (1 + z * z / trials))


def judge(events: list[Event], counts: Counts, distances: Floats, gain: Gain, failure: float) -> list[EventResult]:
    """Return the result of each event, chosen without these counts; with probability 1 - failure all hold."""
    totals = counts.sum(axis=1)
    bounds = []
    for event in events:
        pair = np.array([event.first, event.second])
        hits, trials = counts[pair][:, event.outputs].sum(axis=1), totals[pair]
        level = failure / (2 * len(events))
        low, high = binomial.lower(hits[:1], trials[:1], level), binomial.upper(hits[1:], trials[1:], level)
        value = float(gain(low, high, distances[pair[:1], pair[1:]])[0])
        (a, b), (n, m) = hits.tolist(), trials.tolist()
        bounds.append(EventResult(value, event, (a, b), (n, m), (float(low[0]), float(high[0])), len(events)))
    return bounds


def _single_outputs(counts: Counts, distances: Floats, gain: Gain, failure: float) -> EventResult:
    """Bound every probability of the channel from both sides, and compare all pairs."""
    totals = counts.sum(axis=1)
    level = failure / (2 * counts.size)
    low = binomial.lower(counts, totals[:, None], level)
    high = binomial.upper(counts, totals[:, None], level)
    value, s, t, o = -np.inf, 0, 1, 0
    for first in range(len(counts)):
        values = gain(low[first][None], high, distances[first][:, None])
        values[first] = -np.inf
        second, output = divmod(int(values.argmax()), counts.shape[1])
        if values[second, output] > value:
            value, s, t, o = float(values[second, output]), first, second, output
    hits, trials = (int(counts[s, o]), int(counts[t, o])), (int(totals[s]), int(totals[t]))
    rates = float(low[s, o]), float(high[t, o])
    return EventResult(value, Event(s, t, np.array([o])), hits, trials, rates, counts.size)
