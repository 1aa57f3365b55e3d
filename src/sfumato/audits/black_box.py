"""The audit of a black box: called until its claim is refuted, or the limit of calls is reached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Any, Final, final

from ..core import Metric
from ..errors import InputError
from ..statistics import Decision, PermutationTest, decide, dependence_test
from ..statistics.binomial import check_failure
from ..statistics.decide import least_calls
from .findings import Audit
from .samples import LIMITED, epsilon_entry, permutations_for

_SERIES: Final = 2000  # calls in a row whose dependence is tested
_LEAST: Final = 64  # a shorter series shows nothing


@final
@dataclass(frozen=True, slots=True, repr=False)
class BlackBoxAudit:
    """Results of calling a function to test its claim.

    Attributes:
        audit: The lower bound of epsilon, with notes.
        decision: Whether the claim is refuted.
        dependence: Whether successive calls depend on each other; None if too few calls were
            left for it, or the failure probability is too small for a permutation test.
        failure: The probability of refuting a true claim.
    """

    audit: Audit
    decision: Decision
    dependence: PermutationTest | None
    failure: float

    def __str__(self) -> str:
        return str(self.audit)

    def __repr__(self) -> str:
        return f"BlackBoxAudit({self.audit!r}, {'refuted' if self.refuted else 'not refuted'})"

    @property
    def fresh(self) -> bool:
        """Whether nothing contradicts fresh noise at every call."""
        seen = self.decision.repetition
        memo = seen is not None and bool(seen.constant) and (seen.probability or 0.0) <= self.failure / 3
        return not memo and not (self.dependence is not None and self.dependence.rejected)

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted, or the noise is not fresh."""
        return self.decision.violated or not self.fresh


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
    """Call a mechanism until its claim is refuted or the limit is reached.

    A third of the failure probability goes to each question: whether the claim holds,
    whether outputs repeat more than fresh noise would, and whether successive calls
    depend on each other.

    Args:
        black_box: Takes a secret, returns a report.
        secrets: The secrets to try, in the order of the metric.
        epsilon: The claim; per unit of the metric where one is given.
        metric: The metric that epsilon counts per.
        delta: The claimed delta.
        failure: The probability with which a true claim may be called refuted.
        limit: The most calls.
        bins: How many bins to count reports in that are numbers; None for labels.

    Raises:
        InputError: If an argument is out of range, or fewer than two secrets are given.
    """
    check_failure(failure)
    labels = list(secrets)
    if limit < 1:
        raise InputError(f"a limit of {limit} calls is too small.", "allow at least a few thousand calls.")
    orders = permutations_for(failure / 3)
    spare = max(0, limit - least_calls(len(labels)))
    series = min(_SERIES, limit // 4, spare) if orders is not None else 0
    decision = decide(
        black_box,
        labels,
        epsilon,
        metric,
        failure=failure / 3,
        delta=delta,
        limit=limit - series,
        bins=bins,
    )
    dependence = None
    if series >= _LEAST and orders is not None:
        asked = [labels[i % len(labels)] for i in range(series)]
        dependence = dependence_test(
            [black_box(secret) for secret in asked], asked, permutations=orders, failure=failure / 3
        )
    notes = str(decision).splitlines()
    if dependence is not None:
        notes.append(f"{series:,} further calls ask whether successive outputs depend on each other. {dependence}")
    notes.append(LIMITED)
    entries = () if decision.finding is None else (epsilon_entry(decision.finding, metric, delta),)
    calls = decision.calls + (series if dependence is not None else 0)
    return BlackBoxAudit(
        Audit(f"a black box called {calls:,} times", entries, tuple(notes)), decision, dependence, failure
    )
