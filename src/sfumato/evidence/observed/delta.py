"""How large delta is at least at a given epsilon, from samples."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from ...core import Metric, units
from ...core.arrays import Floats
from ...errors import InputError
from ...escaping import plain
from ...rounding import at_least
from .events import in_words, strongest
from .sample import Sample


@dataclass(frozen=True, slots=True)
class DeltaFinding:
    """A lower bound of delta at a given epsilon that samples show.

    Attributes:
        value: Delta is at least this; 0 if nothing is shown.
        epsilon: The epsilon at which it is meant, per unit of the metric.
        pair: The two secrets (s, s') that show it.
        event: The outputs that s gives more often than s'.
        hits: How often such an output was seen for s and for s'.
        trials: How often s and s' were sampled for this comparison.
        rates: The proved bounds p(event|s) >= rates[0] and p(event|s') <= rates[1].
        failure: The probability with which the value is too large, over all that was tried.
        comparisons: Among how many comparisons the failure probability was shared.
        unit: The unit of the metric.
    """

    value: float
    epsilon: float
    pair: tuple[Hashable, Hashable]
    event: tuple[Hashable, ...]
    hits: tuple[int, int]
    trials: tuple[int, int]
    rates: tuple[float, float]
    failure: float
    comparisons: int
    unit: str

    def __str__(self) -> str:
        """The finding in words."""
        sure = f"with confidence {at_least(1 - self.failure, 6)}"
        per = f"/{plain(self.unit)}" if self.unit else ""
        if self.value == 0:
            return f"The samples show no positive delta at epsilon {at_least(self.epsilon, 6)}{per} ({sure})."
        (s, t), (a, b), (n, m) = self.pair, self.hits, self.trials
        return (
            f"delta is at least {at_least(self.value)} at epsilon {at_least(self.epsilon, 6)}{per}, {sure}: "
            f"{in_words(self.event)} was seen in {a} of {n} reports of {s!r} "
            f"and in {b} of {m} reports of {t!r}."
        )


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
    """Return a lower bound of the true delta at a given epsilon that samples show.

    delta >= L - exp(epsilon d(s, s')) U, for bounds L <= p(E|s) and U >= p(E|s').

    Args:
        sample: The samples; those of one secret must be independent draws.
        epsilon: Per unit of the metric; a number, or text such as ``"0.6/km"``.
        metric: The metric; by default every two secrets are at distance 1.
        failure: The probability with which the answer may exceed the true delta.
        candidates: How many chosen events are judged.
        share: The part of the samples that chooses.
        seed: Of the split; by default a fresh one.

    Raises:
        InputError: If an argument is out of range, or the metric does not fit.
        UnitError: If the unit of epsilon does not fit.
    """
    rate = units.parse(epsilon, per=True, unit="" if metric is None else metric.unit, what="epsilon")
    if rate < 0:
        raise InputError(f"the epsilon {epsilon} is negative.", "use a number of at least 0.")

    def gain(low: Floats, high: Floats, distance: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            value = low - np.exp(rate * distance) * high * (1 + 1e-12)
        return np.where(np.isfinite(distance), value, -np.inf)

    shown = strongest(sample, metric, gain, failure=failure, candidates=candidates, share=share, seed=seed)
    event = shown.event
    return DeltaFinding(
        max(shown.value, 0.0),
        rate,
        (sample.secrets.labels[event.first], sample.secrets.labels[event.second]),
        tuple(sample.outputs.labels[o] for o in sorted(event.outputs.tolist())),
        shown.hits,
        shown.trials,
        shown.rates,
        failure,
        shown.comparisons,
        "" if metric is None else metric.unit,
    )
