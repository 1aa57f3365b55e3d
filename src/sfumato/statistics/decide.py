"""Calls of a black box until its claim is refuted, or until the limit of calls is reached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Metric, Space, units
from ..errors import InputError, argument, python
from .binomial import Counts, check_failure
from .independence import RepetitionEstimate, repetition_of
from .lower_bounds import EpsilonFinding, check_protected, choose, distances_of, epsilon_gain, judge
from .sample import Bins, as_label, is_point, quantile_bins

Progress = Callable[[int, float], None]
"""Called now and then with the calls made and the lower bound of epsilon so far."""

_FIRST: Final = 32  # calls per secret before the first choice
_EVENTS: Final = 4  # events judged at each look
_PULSE: Final = 256  # calls between two reports of progress


class Stop(StrEnum):
    """The reason why an audit ended."""

    VIOLATED = "the claim is violated"
    LIMIT = "all calls were made, and the claim was not refuted; this does not prove it"
    INTERRUPTED = "interrupted before the claim was refuted; this does not prove it"


@dataclass(frozen=True, slots=True, repr=False)
class Decision:
    """Results of an audit of a black box.

    Attributes:
        claim: The claimed epsilon, per unit of the metric.
        stop: The reason why the audit ended.
        finding: The largest lower bound of epsilon of all looks; None if it was interrupted before the first.
        repetition: The test for repeated outputs on the first calls, with a probability of its own; None if it was
            interrupted before.
        calls: The number of calls.
        looks: The number of times that bounds were computed; the failure probability covers them all.
        failure: The probability that a true claim is called violated.
    """

    claim: float
    stop: Stop
    finding: EpsilonFinding | None
    repetition: RepetitionEstimate | None
    calls: int
    looks: int
    failure: float

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted: the lower bound is above it."""
        return self.stop is Stop.VIOLATED

    @property
    def epsilon_lower(self) -> float:
        """The largest lower bound of epsilon; 0 without any."""
        return 0.0 if self.finding is None else self.finding.value

    def __repr__(self) -> str:
        return f"Decision({self.stop.name.lower()} after {self.calls:,} calls, claimed epsilon {self.claim:g})"

    def __str__(self) -> str:
        lines = [f"After {self.calls} calls: {self.stop} (claim: epsilon {self.claim:g})."]
        if self.finding is not None:
            lines.append(str(self.finding))
        if self.repetition is not None and self.repetition.constant:
            lines.append(f"These bounds are for fresh noise. {self.repetition}")
        return "\n".join(lines)


def decide(
    black_box: Callable[[Any], Any],
    secrets: Iterable[Hashable],
    epsilon: float | str,
    metric: Metric | None = None,
    *,
    failure: float = 0.05,
    delta: float = 0.0,
    limit: int = 100_000,
    bins: Bins | int | None = None,
    progress: Progress | None = None,
) -> Decision:
    """Call a black box until its claimed epsilon is refuted or the limit of calls is reached.

    Each look chooses the events with the largest gain in all earlier outputs, calls every secret, and those of the
    events more often, and judges the events on these fresh calls alone. Looks double in size, and the last one
    takes all remaining calls. The k-th may fail with probability failure / (k (k + 1)), which sums to ``failure``.
    Ctrl-C ends the audit with the results so far.

    The probability rests on independent calls. A box that repeats itself (a memo, a fixed seed) is reported by
    `Decision.repetition`: its noise is either not fresh or not as claimed.

    Args:
        black_box: Returns one output for a secret: a label, a number or a point.
        secrets: The secrets to call, in the order of the metric.
        epsilon: The claim, per unit of the metric; a number, or text such as ``"0.6/km"``.
        metric: The metric; by default every two secrets are at distance 1.
        failure: The probability with which a true claim may be called violated.
        delta: The delta of the claim.
        limit: The most calls.
        bins: Bins for outputs that are numbers, fixed beforehand; or the number of bins to choose from the first
            calls. By default outputs are labels.
        progress: Called with the number of calls and the lower bound so far.

    Raises:
        InputError: If an argument is out of range, fewer than two secrets are given, or the outputs are continuous
            and no bins are given.
        UnitError: If the unit of epsilon does not fit.

    Example:
        >>> from sfumato.statistics import decide
        >>> decide(lambda secret: secret, ["yes", "no"], epsilon=1.0).violated
        True
    """
    claim = units.parse(epsilon, per=True, unit="" if metric is None else metric.unit, what="epsilon")
    if claim < 0 or not 0 <= delta < 1:
        raise InputError(
            f"a claim of epsilon {epsilon} and delta {delta} cannot be tested.",
            "use an epsilon of at least 0 and a delta from 0 to below 1.",
        )
    audit = _Audit(black_box, Space(secrets), metric, check_failure(failure), delta, limit, bins, progress)
    stop = Stop.LIMIT
    try:
        audit.begin(claim)
        while (size := audit.next_size()) > 0:
            audit.look(size)
            if audit.epsilon_lower > claim:
                stop = Stop.VIOLATED
                break
    except KeyboardInterrupt:
        stop = Stop.INTERRUPTED
    return Decision(claim, stop, audit.finding, audit.repetition, audit.calls, audit.looks, failure)


def least_calls(secrets: int) -> int:
    """Return the least number of calls for an audit of so many secrets."""
    return 3 * _FIRST * secrets


class _Audit:
    """The state of an audit: calls, outputs and lower bounds so far."""

    def __init__(
        self,
        black_box: Callable[[Any], Any],
        secrets: Space,
        metric: Metric | None,
        failure: float,
        delta: float,
        limit: int,
        bins: Bins | int | None,
        progress: Progress | None,
    ) -> None:
        self.distances = distances_of(len(secrets), metric)
        check_protected(self.distances, np.ones((len(secrets), 1), dtype=np.int64))
        if limit < least_calls(len(secrets)):
            raise InputError(
                f"{limit} calls of {len(secrets)} secrets are too few.",
                f"use {argument('limit', least_calls(len(secrets)))} or more.",
            )
        self.black_box, self.secrets, self.metric = black_box, secrets, metric
        self.failure, self.delta, self.limit = failure, delta, limit
        self.bins, self.progress = bins, progress
        self.gain = epsilon_gain(delta)
        self.columns: dict[Hashable, int] = {}
        self.seen: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64) for _ in secrets.labels]
        self.calls = self.looks = self.comparisons = 0
        self.finding: EpsilonFinding | None = None
        self.repetition: RepetitionEstimate | None = None

    @property
    def epsilon_lower(self) -> float:
        return 0.0 if self.finding is None else self.finding.value

    def next_size(self) -> int:
        """Return the number of calls of each secret in the next look; 0 if too few calls are left."""
        left = (self.limit - self.calls) // (2 * len(self.secrets))
        size = _FIRST << self.looks
        return size if left >= 3 * size else left  # rather one large last look than a small one after it

    def begin(self, claim: float) -> None:
        """Make the first calls, which only judge whether outputs repeat."""
        outputs = self._call(dict.fromkeys(range(len(self.secrets)), _FIRST))
        labelled = {self.secrets.labels[s]: found for s, found in outputs.items()}
        self.repetition = repetition_of(labelled, epsilon=claim, metric=self.metric)
        self._prepare([output for found in outputs.values() for output in found])
        self._count(outputs)

    def look(self, size: int) -> None:
        """Choose events by earlier outputs, and judge them by fresh ones."""
        failure = self.failure / ((self.looks + 1) * (self.looks + 2))
        events = choose(self._counts(self.seen), self.distances, self.gain, _EVENTS, failure)
        asked = {s for event in events for s in (event.first, event.second)}
        more = size * len(self.secrets) // len(asked)
        fresh = self._call({s: size + more * (s in asked) for s in range(len(self.secrets))})
        tested = self._count(fresh)
        shown = judge(events, self._counts(tested), self.distances, self.gain, failure)
        self.looks += 1
        self.comparisons += len(events)
        unit = "" if self.metric is None else self.metric.unit
        best = max(shown, key=lambda one: one.value)
        labels = tuple(self.columns)
        found = EpsilonFinding.of(best, self.secrets.labels, labels, self.failure, unit, delta=self.delta)
        if self.finding is not None and self.finding.value >= found.value:
            found = self.finding
        self.finding = replace(found, comparisons=self.comparisons)

    def _call(self, sizes: dict[int, int]) -> dict[int, list[Hashable]]:
        """Call the secrets in turn, so that a drift of the box affects all of them alike."""
        outputs: dict[int, list[Hashable]] = {s: [] for s in sizes}
        for turn in range(max(sizes.values())):
            for s, size in sizes.items():
                if turn < size:
                    self.calls += 1
                    outputs[s].append(as_label(self.black_box(self.secrets.labels[s])))
                    if self.progress is not None and self.calls % _PULSE == 0:
                        self.progress(self.calls, self.epsilon_lower)
        return outputs

    def _prepare(self, outputs: list[Hashable]) -> None:
        """Choose bins by the first outputs, which judge nothing."""
        if isinstance(self.bins, int):
            self.bins = quantile_bins(outputs, self.bins)
        if self.bins is None and len(set(outputs)) == len(outputs) and is_point(outputs[0]):
            raise InputError(
                f"the first {len(outputs)} outputs are all distinct numbers, such as {outputs[0]!r}.",
                f"count them in bins: {argument('bins', 32)}",
                python("pass bins of your own."),
            )

    def _count(self, outputs: dict[int, list[Hashable]]) -> list[NDArray[np.int64]]:
        """Store the outputs of some secrets, and return them as columns for each secret."""
        new = [np.zeros(0, dtype=np.int64) for _ in self.secrets.labels]
        for s, found in outputs.items():
            labels = found
            if isinstance(self.bins, Bins):
                names = self.bins.labels
                labels = [names[each] for each in self.bins.place_any(found)]
            columns = [self.columns.setdefault(label, len(self.columns)) for label in labels]
            new[s] = np.array(columns, dtype=np.int64)
            self.seen[s] = np.concatenate([self.seen[s], new[s]])
        return new

    def _counts(self, columns: list[NDArray[np.int64]]) -> Counts:
        return np.array([np.bincount(row, minlength=len(self.columns)) for row in columns], dtype=np.int64)
