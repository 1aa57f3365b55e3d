"""Audits of samples, and of a black box until its claim is refuted or a limit is reached."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from ..core import Bracket, Metric, Prior, Side
from ..errors import InputError
from ..privacy import DeltaOfDifferentialPrivacy, DifferentialPrivacy, MetricDifferentialPrivacy, Notion
from ..rounding import exactly
from ..statistics import (
    Decision,
    DeltaFinding,
    EpsilonFinding,
    PermutationTest,
    Sample,
    decide,
    delta_lower,
    dependence_test,
    epsilon_lower,
    estimate_guessing,
    estimate_information,
    least_calls,
    zero_leakage_test,
)
from ..statistics.binomial import check_failure
from .findings import Audit, Entry
from .request import slug

_MOST_ORDERS: Final = 20_000

SAMPLE_NAMES: Final = (
    *("differential-privacy", "metric-privacy", "bayes-vulnerability", "mutual-information"),
    *("epsilon", "delta", "probability", "bits"),
)
"""The names in requests about samples."""

_SAMPLE_NOTE: Final = "Samples prove no guarantee: every epsilon and delta here is a lower bound of the true one."
_SERIES: Final = 2000  # calls in a row whose dependence is tested
_LEAST_SERIES: Final = 64  # a shorter series shows nothing
_REPORTS: Final = 6  # reports of an event


def audit_sample(
    sample: Sample,
    *,
    prior: Prior | None = None,
    metric: Metric | None = None,
    deltas: Iterable[float] = (),
    delta_at: Iterable[float] = (0.0,),
    failure: float = 0.05,
    seed: int | None = None,
) -> Audit:
    """Return lower bounds and estimates for a mechanism from samples.

    Every entry's bounds hold with probability 1 - ``failure`` each. Give a prior where the shares of secrets in
    the sample are not it. ``deltas`` are those at which epsilon is measured too, ``delta_at`` the epsilons at
    which delta is. The seed, for studies, makes the random split of the samples the same each time.
    """
    entries = [
        _epsilon_entry(epsilon_lower(sample, ground, failure=failure, delta=delta, seed=seed), ground)
        for ground in ((None,) if metric is None else (metric, None))
        for delta in (0.0, *(delta for delta in deltas if delta > 0))
    ]
    for epsilon in delta_at:
        bound = delta_lower(sample, epsilon, failure=failure, seed=seed)
        entries.append(_bound_entry(bound, DeltaOfDifferentialPrivacy, epsilon=float(epsilon)))
    guess = estimate_guessing(sample, prior, failure=failure, seed=seed)
    bits = estimate_information(sample, failure=failure)
    success, estimate = guess.vulnerability, Bracket(-math.inf, bits.bits.value, math.inf)
    for title, parameter, bracket, side, finding, source in (
        ("Bayes vulnerability", "probability", success, Side.AT_MOST, guess, "Smith, FoSSaCS 2009"),
        ("Mutual information", "bits", estimate, Side.ESTIMATE, bits, "Grassberger, 2003"),
    ):
        key, text = slug(title), str(finding)
        entries.append(Entry(key, title, parameter, bracket, side, failure=failure, sentence=text, source=source))
    notes = [_SAMPLE_NOTE]
    orders = _permutations_for(failure)
    if orders is not None:
        notes.append(str(zero_leakage_test(sample, failure=failure, permutations=orders, seed=seed)))
    return Audit(repr(sample), tuple(entries), tuple(notes))


def _permutations_for(failure: float) -> int | None:
    """Return the number of random orders for a permutation test at a probability of failure; None if too many."""
    count = max(999, math.ceil(2 / failure))
    return count if count <= _MOST_ORDERS else None


def _epsilon_entry(bound: EpsilonFinding, metric: Metric | None) -> Entry:
    kind = DifferentialPrivacy if metric is None else MetricDifferentialPrivacy
    options = {"delta": bound.delta} if bound.delta else {}
    return _bound_entry(bound, kind, "" if metric is None else metric.unit, **options)


def _bound_entry(
    bound: EpsilonFinding | DeltaFinding, kind: type[Notion], unit: str = "", **options: float
) -> Entry:
    events = ", ".join([*map(str, bound.event[:_REPORTS]), *(["..."] if len(bound.event) > _REPORTS else [])])
    return Entry(
        kind.description.key,
        kind.description.heading + "".join(f" ({name} {exactly(value)})" for name, value in options.items()),
        kind.parameter,
        Bracket(bound.value, bound.value, math.inf),
        Side.AT_LEAST,
        unit=unit,
        per=bool(unit),
        options=dict(options),
        failure=bound.failure,
        witness=f"{bound.pair[0]} against {bound.pair[1]}, reports {{{events}}}",
        sentence=str(bound),
        source="Clopper and Pearson, Biometrika 1934",
    )


@dataclass(frozen=True, slots=True, repr=False)
class BlackBoxAudit:
    """Results of calling a function to test its claim.

    Attributes:
        audit: The lower bound of epsilon, with notes.
        decision: Whether the claim is refuted.
        dependence: Whether successive calls depend on each other; None if too few calls were left for it, or the
            failure probability is too small for a permutation test.
        failure: The probability of refuting a true claim.
    """

    audit: Audit
    decision: Decision
    dependence: PermutationTest | None
    failure: float

    def __str__(self) -> str:
        return str(self.audit)

    def __repr__(self) -> str:
        return f"BlackBoxAudit({self.audit!r}, {'refuted' if self.is_refuted else 'not refuted'})"

    @property
    def is_fresh(self) -> bool:
        """Whether nothing contradicts fresh noise at every call."""
        repeats = self.decision.repetition
        memo = repeats is not None and bool(repeats.constant) and (repeats.probability or 0.0) <= self.failure / 3
        return not memo and not (self.dependence is not None and self.dependence.is_rejected)

    @property
    def is_refuted(self) -> bool:
        """Whether the claim is refuted, or the noise is not fresh."""
        return self.decision.is_violated or not self.is_fresh


def audit_black_box(
    black_box: Callable[[Any], Any],
    secrets: Iterable[Hashable],
    epsilon: float | str,
    *,
    metric: Metric | None = None,
    delta: float = 0.0,
    failure: float = 0.05,
    limit: int = 100_000,
    bins: int | None = None,
) -> BlackBoxAudit:
    """Call a mechanism until its claim is refuted or the limit is reached; the arguments are those of `decide`.

    A third of the failure probability goes to each question: whether the claim holds, whether outputs repeat more
    than fresh noise would, and whether successive calls depend on each other. Raises `InputError` if an argument
    is out of range, or fewer than two secrets are given.
    """
    check_failure(failure)
    labels = list(secrets)
    if limit < 1:
        raise InputError(f"a limit of {limit} calls is too small.", "allow at least a few thousand calls.")
    orders = _permutations_for(failure / 3)
    spare = max(0, limit - least_calls(len(labels)))
    series = min(_SERIES, limit // 4, spare) if orders is not None else 0
    third, left = failure / 3, limit - series
    decision = decide(black_box, labels, epsilon, metric, failure=third, delta=delta, limit=left, bins=bins)
    dependence = None
    if series >= _LEAST_SERIES and orders is not None:
        turns = [labels[i % len(labels)] for i in range(series)]
        outputs = [black_box(secret) for secret in turns]
        dependence = dependence_test(outputs, turns, permutations=orders, failure=third)
    notes = str(decision).splitlines()
    if dependence is not None:
        notes.append(f"{series:,} further calls ask whether successive outputs depend on each other. {dependence}")
    notes.append(_SAMPLE_NOTE)
    entries = () if decision.finding is None else (_epsilon_entry(decision.finding, metric),)
    calls = decision.calls + (series if dependence is not None else 0)
    report = Audit(f"a black box called {calls:,} times", entries, tuple(notes))
    return BlackBoxAudit(report, decision, dependence, failure)
