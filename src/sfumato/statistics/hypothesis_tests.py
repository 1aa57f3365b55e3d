"""Tests of samples and black boxes: of a claimed epsilon, zero leakage, independence and repetition."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from scipy.stats import random_table, rankdata

from ..core import Mechanism, Metric, Space, units
from ..core.arguments import random_generator
from ..core.arrays import Floats, Positions
from ..core.immutable import CompactRepr
from ..errors import InputError, argument, python
from ..rounding import at_most
from .binomial import Counts, check_failure
from .lower_bounds import EpsilonFinding, check_protected, choose, distances_of, epsilon_gain, judge
from .sample import Bins, Sample, as_label, as_points, is_point, quantile_bins

Progress = Callable[[int, float], None]  # of the calls made and the lower bound of epsilon so far
_FIRST: Final = 32  # calls per secret before the first choice
_EVENTS: Final = 4  # events judged at each look
_PULSE: Final = 256  # calls between two reports of progress


@dataclass(frozen=True, slots=True, repr=False)
class PermutationTest(CompactRepr):
    """A test that is exact for every distribution: its p-value is (1 + #) / (1 + N).

    It is the share of orders, the samples' own included, whose statistic is as large. ``failure`` is the
    probability of rejecting a true hypothesis, which is never proved, only rejected.
    """

    hypothesis: str
    statistic: float
    p_value: float
    permutations: int
    failure: float

    @property
    def is_rejected(self) -> bool:
        """Whether the samples contradict the hypothesis."""
        return self.p_value <= self.failure

    def __str__(self) -> str:
        verdict = "is rejected" if self.is_rejected else "is not rejected (which does not prove it)"
        return f"The hypothesis that {self.hypothesis} {verdict}: p = {self.p_value:.4g}, level {self.failure:g}."


def zero_leakage_test(
    sample: Sample, *, permutations: int = 999, failure: float = 0.05, seed: int | None = None
) -> PermutationTest:
    """Test whether secrets and outputs are independent, by the G statistic.

    G = 2 sum over s, o of n(s, o) ln(n(s, o) n / (n(s) n(o)))

    It is 2 n ln 2 times the plug-in mutual information in bits. Under the hypothesis every order of the outputs
    has the same probability, and random tables with the same margins are random orders, so the level is exact for
    any number of samples. ``failure`` is the probability of rejecting although nothing leaks. Raises `InputError`
    if so few permutations can never reject at the level.

    Source:
        Chatzikokolakis, Chothia and Guha, "Statistical measurement of information leakage", TACAS 2010, test by
        the distribution at zero leakage; here by permutation instead of its asymptotic form.
    """
    _check_permutations(permutations, failure)
    counts = sample.counts[sample.counts.any(axis=1)][:, sample.counts.any(axis=0)]
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    tables = random_table(rows, columns, seed=random_generator(seed))
    statistic = float(xlogy(counts, counts).sum())
    # One table at a time: many of a large one would fill the memory.
    permuted = np.array([float(xlogy(t, t).sum()) for t in (tables.rvs() for _ in range(permutations))])
    margins = float(xlogy(rows, rows).sum() + xlogy(columns, columns).sum() - xlogy(rows.sum(), rows.sum()))
    p_value = _p_value(statistic, permuted)
    hypothesis = "the outputs reveal nothing about the secret"
    return PermutationTest(hypothesis, 2 * (statistic - margins), p_value, permutations, failure)


def dependence_test(
    outputs: Iterable[Any],
    secrets: Iterable[Hashable] | None = None,
    *,
    lags: int = 16,
    permutations: int = 999,
    failure: float = 0.05,
    seed: int | None = None,
) -> PermutationTest:
    """Test whether the outputs of successive calls, in their order, are independent of each other.

    If they are, then every order of the outputs of one secret has the same probability. Numbers (and each
    coordinate of points) are compared with those some calls later by the correlation of their ranks, within each
    secret; other labels by how often they are equal. The statistic is the largest deviation over all lags, in
    standard deviations of the permuted orders; the level is exact. By default all secrets were the same, ``lags``
    is the largest distance of two calls that are compared, and ``failure`` the probability of a false alarm.
    Raises `InputError` if there are too few outputs for the lags.

    Example:
        >>> from sfumato.statistics import dependence_test
        >>> dependence_test(["a", "b", "c"] * 40, seed=1).is_rejected
        True
    """
    _check_permutations(permutations, failure)
    values = [as_label(output) for output in outputs]
    strata = _codes(["" for _ in values] if secrets is None else list(secrets))
    if len(strata) != len(values):
        raise InputError(f"there are {len(values)} outputs, but {len(strata)} secrets.", "pass one per call.")
    if lags < 1 or len(values) <= 2 * lags:
        raise InputError(
            f"{len(values)} outputs do not show dependence over {lags} calls.",
            "collect more outputs, or look at fewer lags (at least one).",
        )
    numeric = all(is_point(value) for value in values)
    series = as_points(values) if numeric else _codes(values)[:, None].astype(np.float64)
    rng = random_generator(seed)
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    if numeric:
        ranks = np.empty(series.shape)
        for group in groups:
            ranked = rankdata(series[group], axis=0)
            ranks[group] = ranked - ranked.mean(axis=0)
        series = ranks
    agreements = np.empty((permutations + 1, lags * series.shape[1]))
    agreements[0] = _agreement(series, lags, numeric)
    for row in range(1, permutations + 1):
        shuffled = series.copy()
        for group in groups:
            shuffled[group] = series[rng.permutation(group)]
        agreements[row] = _agreement(shuffled, lags, numeric)
    spread = agreements.std(axis=0)
    usable = spread > 1e-12 * (1 + np.abs(agreements).max(axis=0))
    scores = np.abs(agreements - agreements.mean(axis=0))[:, usable] / spread[usable]
    largest = scores.max(axis=1, initial=0.0)
    statistic, p_value = float(largest[0]), _p_value(float(largest[0]), largest[1:])
    return PermutationTest("successive outputs are independent", statistic, p_value, permutations, failure)


def _p_value(statistic: float, permuted: Floats) -> float:
    """Return the exact p-value of one statistic among those of random orders; ties count against it."""
    as_large = int(np.count_nonzero(permuted >= statistic - 1e-12 * abs(statistic)))
    return (1 + as_large) / (1 + len(permuted))


def _check_permutations(permutations: int, failure: float) -> None:
    check_failure(failure)
    if permutations < 1 or 1 / (1 + permutations) > failure:
        raise InputError(
            f"{permutations} permutations can never reject at level {failure}.",
            f"use at least {int(np.ceil(1 / failure)) - 1} of them.",
        )


def _agreement(series: Floats, lags: int, numeric: bool) -> Floats:
    """Return the agreement of outputs with those each lag later, for each of their coordinates."""
    agree = np.multiply if numeric else np.equal
    return np.concatenate([agree(series[:-lag], series[lag:]).sum(axis=0) for lag in range(1, lags + 1)])


def _codes(labels: list[Hashable]) -> Positions:
    positions: dict[Hashable, int] = {}
    return np.array([positions.setdefault(label, len(positions)) for label in labels], dtype=np.intp)


@dataclass(frozen=True, slots=True, repr=False)
class RepetitionEstimate(CompactRepr):
    """Outputs of repeated calls at the same secret.

    Attributes:
        calls: The fewest calls at any secret.
        constant: The secrets whose output never changed, each with that output.
        probability: Fresh noise as claimed gives outputs that repeat like this with probability at most this, over
            all secrets called; 1 if nothing repeats, None without a claim to compare with.
        against: The claim in words.
    """

    calls: int
    secrets: int
    constant: tuple[tuple[Hashable, Hashable], ...]
    probability: float | None
    against: str

    def __str__(self) -> str:
        if not self.constant:
            return f"At each of {self.secrets} secrets, {self.calls} calls gave more than one output."
        secret, output = self.constant[0]
        text = (
            f"{len(self.constant)} of {self.secrets} secrets gave one output in all of at least {self.calls} "
            f"calls ({secret!r} always gave {output!r})"
        )
        if self.probability is None:
            return f"{text}: no noise, or not fresh. No probability can be stated without a mechanism or epsilon."
        likely = at_most(self.probability, 3)
        return f"{text}; fresh noise {self.against} would repeat like this with probability at most {likely}."


def repetition(
    black_box: Callable[[Any], Any],
    secrets: Iterable[Hashable],
    calls: int = 32,
    *,
    mechanism: Mechanism | None = None,
    epsilon: float | None = None,
    metric: Metric | None = None,
) -> RepetitionEstimate:
    """Call a black box repeatedly at each secret and bound the probability of so much repetition.

    With the claimed mechanism, k calls at s agree with probability sum over o of p(o|s)^k. With a claimed epsilon
    only, k calls at s that all give o, and k calls at s' that all give another o', happen with probability at most
    (1 + exp(-epsilon d(s, s')))^(-2(k-1)): p(o|s) and p(o'|s') are each at most 1 - exp(-epsilon d) times the
    other, so that their product is at most (1 + exp(-epsilon d))^-2. The longer direction is d. Both are
    multiplied by the number of secrets, or of pairs, from which the most extreme one was selected. Epsilon is per
    unit of the metric on the secrets called, in their order; by default 1 between distinct ones. Raises
    `InputError` if there are fewer than two calls or no secret.
    """
    labels = list(secrets)
    if calls < 2 or not labels:
        raise InputError(f"{calls} calls at {len(labels)} secrets show no repetition.", "call one secret twice.")
    outputs: dict[Hashable, list[Hashable]] = {label: [] for label in labels}
    for _ in range(calls):
        for label in outputs:
            outputs[label].append(as_label(black_box(label)))
    return repetition_of(outputs, mechanism=mechanism, epsilon=epsilon, metric=metric)


def repetition_of(
    outputs: Mapping[Any, Sequence[Hashable]],
    *,
    mechanism: Mechanism | None = None,
    epsilon: float | None = None,
    metric: Metric | None = None,
) -> RepetitionEstimate:
    """Return the same for outputs that were collected already, by secret; see `repetition`."""
    lengths = [len(row) for row in outputs.values()]
    if not lengths or min(lengths) < 2:
        raise InputError("some secret has fewer than two outputs.", "collect at least two for each.")
    space = Space(outputs)
    rows = zip(space.labels, outputs.values(), strict=True)
    constant = {s: row[0] for s, row in rows if all(output == row[0] for output in row)}
    probability, against = None if constant else 1.0, ""
    if constant and mechanism is not None:
        rows_of_constant = mechanism.matrix[mechanism.secrets.positions(constant)]
        calls = np.array([len(outputs[s]) for s in constant])
        agree = (rows_of_constant ** calls[:, None]).sum(axis=1)
        probability = min(1.0, len(outputs) * float(agree.min()) * (1 + 1e-9))
        against = "of the claimed mechanism"
    elif constant and epsilon is not None:
        probability, against = _of_epsilon(constant, outputs, epsilon, metric), f"of epsilon {epsilon:g}"
    return RepetitionEstimate(min(lengths), len(space), tuple(constant.items()), probability, against)


def _of_epsilon(
    constant: Mapping[Hashable, Hashable],
    outputs: Mapping[Any, Sequence[Hashable]],
    epsilon: float,
    metric: Metric | None,
) -> float:
    if not (np.isfinite(epsilon) and epsilon >= 0):
        raise InputError(f"the epsilon {epsilon} is not a number of at least 0.", "pass the claimed epsilon.")
    distances = distances_of(len(outputs), metric)
    distances = np.maximum(distances, distances.T)
    position = {s: i for i, s in enumerate(outputs)}
    pairs = len(outputs) * (len(outputs) - 1) / 2
    least = 1.0
    for s, o in constant.items():
        for t, other in constant.items():
            d = distances[position[s], position[t]]
            if o != other and np.isfinite(d):
                k = min(len(outputs[s]), len(outputs[t]))
                least = min(least, pairs * float((1 + np.exp(-epsilon * d)) ** (-2.0 * (k - 1))) * (1 + 1e-9))
    return least


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
        finding: The largest lower bound of epsilon of all looks; None if it was interrupted before the first.
        repetition: The test for repeated outputs on the first calls, with a probability of its own; None if it was
            interrupted before.
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
    def is_violated(self) -> bool:
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
    `Decision.repetition`: its noise is either not fresh or not as claimed. Raises `InputError` if an argument is
    out of range, fewer than two secrets are given, or the outputs are continuous and no bins are given. Raises
    `UnitError` if the unit of epsilon does not fit.

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

    Example:
        >>> from sfumato.statistics import decide
        >>> decide(lambda secret: secret, ["yes", "no"], epsilon=1.0).is_violated
        True
    """
    claim = units.parse(epsilon, per=True, unit="" if metric is None else metric.unit, subject="epsilon")
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


@dataclass
class _Audit:
    """The state of an audit: calls, outputs and lower bounds so far."""

    black_box: Callable[[Any], Any]
    secrets: Space
    metric: Metric | None
    failure: float
    delta: float
    limit: int
    bins: Bins | int | None
    progress: Progress | None
    calls: int = 0
    looks: int = 0
    comparisons: int = 0
    finding: EpsilonFinding | None = None
    repetition: RepetitionEstimate | None = None
    columns: dict[Hashable, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        count = len(self.secrets)
        self.distances = distances_of(count, self.metric)
        check_protected(self.distances, np.ones((count, 1), dtype=np.int64))
        if self.limit < least_calls(count):
            raise InputError(
                f"{self.limit} calls of {count} secrets are too few.",
                f"use {argument('limit', least_calls(count))} or more.",
            )
        self.gain = epsilon_gain(self.delta)
        self.history: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * count

    @property
    def epsilon_lower(self) -> float:
        return 0.0 if self.finding is None else self.finding.value

    def next_size(self) -> int:
        """Return the number of calls of each secret in the next look; 0 if too few calls are left."""
        left = (self.limit - self.calls) // (2 * len(self.secrets))
        size = _FIRST << self.looks
        return size if left >= 3 * size else left  # rather one large last look than a small one after it

    def begin(self, claim: float) -> None:
        """Make the first calls, which choose the bins, and judge nothing but whether outputs repeat."""
        outputs = self._call(dict.fromkeys(range(len(self.secrets)), _FIRST))
        labelled = {self.secrets.labels[s]: row for s, row in outputs.items()}
        self.repetition = repetition_of(labelled, epsilon=claim, metric=self.metric)
        first = [output for row in outputs.values() for output in row]
        if isinstance(self.bins, int):
            self.bins = quantile_bins(first, self.bins)
        if self.bins is None and len(set(first)) == len(first) and is_point(first[0]):
            raise InputError(
                f"the first {len(first)} outputs are all distinct numbers, such as {first[0]!r}.",
                f"count them in bins: {argument('bins', 32)}",
                python("pass bins of your own."),
            )
        self._count(outputs)

    def look(self, size: int) -> None:
        """Choose events by earlier outputs, and judge them by fresh ones."""
        failure = self.failure / ((self.looks + 1) * (self.looks + 2))
        events = choose(self._counts(self.history), self.distances, self.gain, _EVENTS, failure)
        secrets = {s for event in events for s in (event.first, event.second)}
        more = size * len(self.secrets) // len(secrets)
        fresh = self._call({s: size + more * (s in secrets) for s in range(len(self.secrets))})
        columns = self._count(fresh)
        bounds = judge(events, self._counts(columns), self.distances, self.gain, failure)
        self.looks += 1
        self.comparisons += len(events)
        best, labels = max(bounds, key=lambda bound: bound.value), (self.secrets.labels, tuple(self.columns))
        finding = EpsilonFinding.of(best, *labels, self.failure, self.metric, delta=self.delta)
        if self.finding is not None and self.finding.value >= finding.value:
            finding = self.finding
        self.finding = replace(finding, comparisons=self.comparisons)

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

    def _count(self, outputs: dict[int, list[Hashable]]) -> list[NDArray[np.int64]]:
        new = [np.zeros(0, dtype=np.int64) for _ in self.secrets.labels]
        for s, row in outputs.items():
            labels = row
            if isinstance(self.bins, Bins):
                labels = [self.bins.labels[place] for place in self.bins.place_any(row)]
            columns = [self.columns.setdefault(label, len(self.columns)) for label in labels]
            new[s] = np.array(columns, dtype=np.int64)
            self.history[s] = np.concatenate([self.history[s], new[s]])
        return new

    def _counts(self, columns: list[NDArray[np.int64]]) -> Counts:
        return np.array([np.bincount(row, minlength=len(self.columns)) for row in columns], dtype=np.int64)
