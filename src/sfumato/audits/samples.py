"""The audit of samples: what secrets and their reports show of a mechanism."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import Final

from ..core import Bracket, Metric, Prior, Side
from ..privacy import DeltaOfDifferentialPrivacy, DifferentialPrivacy, MetricDifferentialPrivacy
from ..rounding import exactly
from ..statistics import (
    EpsilonFinding,
    Sample,
    delta_lower,
    epsilon_lower,
    estimate_guessing,
    estimate_information,
    zero_leakage_test,
)
from .findings import Audit, Entry

_MOST_ORDERS: Final = 20_000

SHOWN: Final = (
    *("differential-privacy", "metric-privacy", "bayes-vulnerability", "mutual-information"),
    *("epsilon", "delta", "probability", "bits"),
)
"""What requests about samples may name."""

LIMITED: Final = "Samples prove no promise: every epsilon and delta here is a lower bound of the true one."


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
    """Return what samples show of a mechanism.

    Every entry's bounds hold with probability 1 - ``failure`` each.

    Args:
        sample: Secrets and what was reported for them.
        prior: The prior on the secrets, where their shares in the sample are not it.
        metric: The metric that epsilon counts per, on the sample's secrets.
        deltas: The deltas at which epsilon is wanted too.
        delta_at: The epsilons at which delta is wanted.
        failure: The probability with which each bound may be wrong.
        seed: For studies: makes the random split of the samples the same each time.
    """
    entries = []
    wanted = [0.0, *(delta for delta in deltas if delta > 0)]
    for each in (None,) if metric is None else (metric, None):
        for delta in wanted:
            found = epsilon_lower(sample, each, failure=failure, delta=delta, seed=seed)
            entries.append(epsilon_entry(found, each, delta))
    for epsilon in delta_at:
        spread = delta_lower(sample, epsilon, failure=failure, seed=seed)
        entries.append(
            Entry(
                DeltaOfDifferentialPrivacy.description.key,
                f"{DeltaOfDifferentialPrivacy.description.heading} (epsilon {exactly(epsilon)})",
                DeltaOfDifferentialPrivacy.parameter,
                Bracket(spread.value, spread.value, math.inf),
                Side.AT_LEAST,
                given={"epsilon": float(epsilon)},
                failure=failure,
                witness=f"{spread.pair[0]} against {spread.pair[1]}, {_listed(spread.event)}",
                sentence=str(spread),
                source="Clopper and Pearson, Biometrika 1934",
            )
        )
    guess = estimate_guessing(sample, prior, failure=failure, seed=seed)
    entries.append(
        Entry(
            "bayes-vulnerability",
            "Bayes vulnerability",
            "probability",
            guess.vulnerability,
            failure=failure,
            sentence=str(guess),
            source="Smith, FoSSaCS 2009",
        )
    )
    bits = estimate_information(sample, failure=failure)
    entries.append(
        Entry(
            "mutual-information",
            "Mutual information",
            "bits",
            Bracket(-math.inf, bits.bits.value, math.inf),
            Side.ESTIMATE,
            failure=failure,
            sentence=str(bits),
            source="Grassberger, 2003",
        )
    )
    notes = [LIMITED]
    orders = permutations_for(failure)
    if orders is not None:
        notes.append(str(zero_leakage_test(sample, failure=failure, permutations=orders, seed=seed)))
    return Audit(repr(sample), tuple(entries), tuple(notes))


def permutations_for(failure: float) -> int | None:
    """Return how many random orders a permutation test needs for a probability of failure; None if too many."""
    needed = max(999, math.ceil(2 / failure))
    return needed if needed <= _MOST_ORDERS else None


def epsilon_entry(found: EpsilonFinding, metric: Metric | None, delta: float) -> Entry:
    """Return the entry of an observed lower bound of epsilon."""
    kind = DifferentialPrivacy if metric is None else MetricDifferentialPrivacy
    return Entry(
        kind.description.key,
        kind.description.heading + (f" (delta {exactly(delta)})" if delta else ""),
        kind.parameter,
        Bracket(found.value, found.value, math.inf),
        Side.AT_LEAST,
        unit="" if metric is None else metric.unit,
        per=metric is not None and bool(metric.unit),
        given={"delta": delta} if delta else {},
        failure=found.failure,
        witness=f"{found.pair[0]} against {found.pair[1]}, {_listed(found.event)}",
        sentence=str(found),
        source="Clopper and Pearson, Biometrika 1934",
    )


def _listed(event: tuple[Hashable, ...], most: int = 6) -> str:
    names = ", ".join(map(str, event[:most]))
    return f"reports {{{names}{', ...' if len(event) > most else ''}}}"
