"""Incremental collection: each round's mechanism is made for the last round's estimate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...core import Mechanism, Prior
from ...errors import InputError
from .likelihood import bayesian_updates, maximum_likelihood
from .reports import Reports
from .result import Estimate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CollectionRound:
    """One round of an incremental collection.

    Attributes:
        reports: What was collected, with the mechanism that the users ran.
        estimate: The estimate after this round.
    """

    reports: Reports
    estimate: Estimate

    def __repr__(self) -> str:
        return f"CollectionRound of {len(self.reports):,} reports: {self.estimate!r}"


def incremental(
    collect: Callable[[Mechanism, int], Reports],
    first: Mechanism,
    design: Callable[[Prior], Mechanism],
    rounds: int,
    *,
    iterations: int | None = None,
    pooled: bool = True,
) -> tuple[CollectionRound, ...]:
    """Collect reports in rounds, and design each round's mechanism for the estimate so far.

    Round 1 runs a mechanism that needs no prior. After each round the population is
    estimated, and the next round's users run ``design(estimate)``.

    No user may take part in two rounds: a user who reports in k rounds spends k budgets.
    A mechanism depends on reports alone, so its own guarantee is all that its users need.

    Args:
        collect: Returns the reports of round 1, 2, ... for the mechanism that its users run.
        first: The mechanism of round 1, such as a truncated geometric one.
        design: Returns a mechanism for a prior, such as the rate-distortion optimum.
        rounds: How many rounds, at least 1.
        iterations: How many Bayesian updates from the uniform prior make an estimate; by
            default as many as the maximum of likelihood needs.
        pooled: Whether an estimate uses all reports so far, or those of its round only.

    Returns:
        The rounds, in order.

    Raises:
        InputError: If there is no round, or the reports are not of the round's mechanism.

    Source:
        Biswas and Palamidessi, "PRIVIC: A privacy-preserving method for incremental
        collection of location data", 2023: Blahut-Arimoto mechanisms, ``iterations=10``,
        ``pooled=False``.
    """
    if rounds < 1:
        raise InputError(f"{rounds} rounds collect nothing.", "use at least one round.")
    done: list[CollectionRound] = []
    mechanism = first
    for number in range(1, rounds + 1):
        reports = collect(mechanism, number)
        if reports.mechanism != mechanism:
            raise InputError(
                f"the reports of round {number} are of another mechanism than the round's.",
                "collect them with the mechanism that is passed.",
            )
        used = [*(past.reports for past in done), reports] if pooled else [reports]
        estimate = maximum_likelihood(used) if iterations is None else bayesian_updates(used, iterations)
        done.append(CollectionRound(reports, estimate))
        if number < rounds:
            mechanism = design(estimate.prior)
    return tuple(done)
