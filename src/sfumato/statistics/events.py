"""Events that tell two secrets apart: chosen on some samples, judged on others.

Choosing may use any rule, because the judging samples were not looked at. The events are
unions of outputs by falling likelihood ratio (which the optimal test of one secret
against another uses), and single outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from ..core import Metric
from ..core.arrays import Floats
from ..errors import InputError
from ..rounding import counted
from . import binomial
from .binomial import Counts
from .sample import Sample, split

Gain = Callable[[Floats, Floats, Floats], Floats]
"""What is shown by p(E|s) >= low and p(E|s') <= high at distance d: gain(low, high, d)."""


def in_words(outputs: tuple[Hashable, ...]) -> str:
    """Return the outputs of an event as the subject of a sentence."""
    return f"the output {outputs[0]!r}" if len(outputs) == 1 else f"one of {len(outputs)} outputs"


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A pair of secrets and outputs that the first gives more often than the second."""

    first: int
    second: int
    outputs: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Shown:
    """Findings of one event on the samples that judge it.

    Attributes:
        value: The gain that is shown; it holds with the stated probability.
        event: The event.
        hits: How often it was seen for the first and the second secret.
        trials: How often each was sampled.
        rates: Lower bound of the first probability, upper bound of the second.
        comparisons: Among how many comparisons the failure probability was shared.
    """

    value: float
    event: Event
    hits: tuple[int, int]
    trials: tuple[int, int]
    rates: tuple[float, float]
    comparisons: int


def distances_of(size: int, metric: Metric | None) -> Floats:
    """Return the distances of all pairs: those of the metric, or 1 between distinct secrets."""
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
) -> Shown:
    """Return the strongest of all events tried on a sample.

    Where the outputs were fixed beforehand, half of the failure probability goes to all
    single outputs on all samples; the rest goes to the events that a random part of the
    samples proposes, on the other part.
    """
    left = binomial.check_failure(failure)
    if metric is not None and not sample.secrets_named:
        raise InputError(
            "the sample does not say in which order its secrets are, so the metric cannot be matched to them.",
            "pass space= with all secrets when making the sample.",
        )
    distances = distances_of(len(sample.secrets), metric)
    check_protected(distances, sample.counts)
    found: list[Shown] = []
    if sample.outputs_fixed:
        left /= 2
        found.append(_single_outputs(sample.counts, distances, gain, left))
    choosing, judging = split(sample.counts, share, np.random.default_rng(seed))
    events = choose(choosing, distances, gain, candidates, left)
    found += judge(events, judging, distances, gain, left)
    if not found:
        raise InputError(
            f"no event can be chosen from {counted(int(sample.counts.sum()), 'sample')}.",
            "collect more samples of each secret.",
        )
    comparisons = len(events) + (sample.counts.size if sample.outputs_fixed else 0)
    return replace(max(found, key=lambda shown: shown.value), comparisons=comparisons)


def check_protected(distances: Floats, counts: Counts) -> None:
    """Refuse to compare secrets of which no two that were sampled are at a finite distance."""
    sampled = np.flatnonzero(counts.sum(axis=1))
    if np.isfinite(distances[np.ix_(sampled, sampled)]).sum() <= len(sampled):
        raise InputError(
            "no two sampled secrets are at a finite distance.", "audit them with a metric that protects some pair."
        )


def choose(counts: Counts, distances: Floats, gain: Gain, how_many: int, failure: float) -> list[Event]:
    """Return the events that promise most, at most one per ordered pair of secrets.

    Args:
        counts: Array (secrets, outputs): the samples that choose.
        distances: Array (secrets, secrets).
        gain: What is to be shown.
        how_many: How many events to return at most.
        failure: The failure probability that they will share.
    """
    if how_many < 1:
        raise InputError(f"{how_many} events show nothing.", "use at least one.")
    z = -float(ndtri(failure / (2 * how_many)))
    totals = counts.sum(axis=1)
    shares = (counts + 0.5) / (totals[:, None] + 0.5 * counts.shape[1])
    proposals: list[tuple[float, Event]] = []
    for s in np.flatnonzero(totals):
        others = np.flatnonzero((totals > 0) & np.isfinite(distances[s]) & (np.arange(len(totals)) != s))
        if not len(others):
            continue
        order = np.argsort(-(shares[s] / shares[others]), axis=1, kind="stable")
        hits = np.concatenate([np.cumsum(counts[s][order], axis=1), np.tile(counts[s], (len(others), 1))], axis=1)
        unions = np.cumsum(np.take_along_axis(counts[others], order, axis=1), axis=1)
        misses = np.concatenate([unions, counts[others]], axis=1)
        low, high = _roughly(hits, totals[s], -z), _roughly(misses, totals[others, None], z)
        promised = gain(low, high, distances[s, others, None])
        best = promised.argmax(axis=1)
        width = counts.shape[1]
        for row, (t, k) in enumerate(zip(others, best, strict=True)):
            outputs = order[row, : k + 1] if k < width else np.array([k - width])
            proposals.append((float(promised[row, k]), Event(int(s), int(t), outputs)))
    proposals.sort(key=lambda proposal: -proposal[0])
    return [event for _, event in proposals[:how_many]]


def _roughly(hits: Counts, trials: Counts, z: float) -> Floats:
    """Return Wilson's bound of a probability: fast, and good enough to choose by."""
    share = hits / trials
    middle = share + z * z / (2 * trials)
    width = z * np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    bound: Floats = (middle + width) / (1 + z * z / trials)
    return bound


def judge(events: list[Event], counts: Counts, distances: Floats, gain: Gain, failure: float) -> list[Shown]:
    """Return what each event shows; all hold together with probability 1 - failure.

    Args:
        events: Chosen without these counts.
        counts: Array (secrets, outputs): the samples that judge.
        distances: Array (secrets, secrets).
        gain: What is to be shown.
        failure: Shared equally among two bounds per event.
    """
    totals = counts.sum(axis=1)
    shown = []
    for event in events:
        pair = np.array([event.first, event.second])
        hits, trials = counts[pair][:, event.outputs].sum(axis=1), totals[pair]
        each = failure / (2 * len(events))
        low, high = binomial.lower(hits[:1], trials[:1], each), binomial.upper(hits[1:], trials[1:], each)
        value = float(gain(low, high, distances[pair[:1], pair[1:]])[0])
        shown.append(
            Shown(
                value,
                event,
                (int(hits[0]), int(hits[1])),
                (int(trials[0]), int(trials[1])),
                (float(low[0]), float(high[0])),
                len(events),
            )
        )
    return shown


def _single_outputs(counts: Counts, distances: Floats, gain: Gain, failure: float) -> Shown:
    """Bound every probability of the channel from both sides, and compare all pairs."""
    totals = counts.sum(axis=1)
    each = failure / (2 * counts.size)
    low = binomial.lower(counts, totals[:, None], each)
    high = binomial.upper(counts, totals[:, None], each)
    value, s, t, o = -np.inf, 0, 1, 0
    for first in range(len(counts)):
        values = gain(low[first][None], high, distances[first][:, None])
        values[first] = -np.inf
        second, output = divmod(int(values.argmax()), counts.shape[1])
        if values[second, output] > value:
            value, s, t, o = float(values[second, output]), first, second, output
    return Shown(
        value,
        Event(s, t, np.array([o])),
        (int(counts[s, o]), int(counts[t, o])),
        (int(totals[s]), int(totals[t])),
        (float(low[s, o]), float(high[t, o])),
        counts.size,
    )
