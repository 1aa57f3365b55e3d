"""How large epsilon is at least, from samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ...core import Metric
from ...core.arrays import Floats
from ...errors import InputError
from ...escaping import plain
from ...rounding import at_least
from .events import Gain, Shown, in_words, strongest
from .sample import Sample


@dataclass(frozen=True, slots=True)
class EpsilonFinding:
    """A lower bound of epsilon that samples show.

    Attributes:
        value: Epsilon is at least this, per unit of the metric; 0 if nothing is shown, and
            ``inf`` if two secrets at distance zero are shown to differ.
        pair: The two secrets (s, s') that show it.
        event: The outputs that s gives more often than s'.
        hits: How often such an output was seen for s and for s'.
        trials: How often s and s' were sampled for this comparison.
        rates: The proved bounds p(event|s) >= rates[0] and p(event|s') <= rates[1].
        failure: The probability with which the value is too large, over all that was tried.
        delta: The delta at which epsilon is meant.
        comparisons: Among how many comparisons the failure probability was shared.
        unit: The unit of the metric.
    """

    value: float
    pair: tuple[Hashable, Hashable]
    event: tuple[Hashable, ...]
    hits: tuple[int, int]
    trials: tuple[int, int]
    rates: tuple[float, float]
    failure: float
    delta: float
    comparisons: int
    unit: str

    @property
    def unbounded(self) -> bool:
        """Whether the second secret never showed the event, so that no sample bounds epsilon from above."""
        return self.value > 0 and self.hits[1] == 0

    def __str__(self) -> str:
        """The finding in words."""
        sure = f"with confidence {at_least(1 - self.failure, 6)}"
        if self.value == 0:
            return f"The samples show no positive epsilon ({sure}); this does not prove privacy."
        per = f"/{plain(self.unit)}" if self.unit else ""
        at = f" at delta {at_least(self.delta, 6)}" if self.delta else ""
        (s, t), (a, b), (n, m) = self.pair, self.hits, self.trials
        more = "; it may be infinite" if self.unbounded and math.isfinite(self.value) else ""
        return (
            f"epsilon is at least {at_least(self.value)}{per}{at}, {sure}{more}: "
            f"{in_words(self.event)} was seen in {a} of {n} reports of {s!r} "
            f"and in {b} of {m} reports of {t!r}."
        )


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
    """Return a lower bound of the true epsilon that samples show.

    For an event E and secrets s, s', with L <= p(E|s) and U >= p(E|s'),

        epsilon >= ln((L - delta) / U) / d(s, s').

    L and U are Clopper-Pearson bounds. The failure probability is shared (Bonferroni)
    among all events and pairs tried: single outputs, where they were fixed beforehand,
    and unions that one random part of the samples chooses and the other part judges.

    Args:
        sample: The samples; those of one secret must be independent draws.
        metric: The metric; by default every two secrets are at distance 1, and epsilon is
            that of local differential privacy.
        failure: The probability with which the answer may exceed the true epsilon.
        delta: The delta of (epsilon, delta)-privacy.
        candidates: How many chosen events are judged.
        share: The part of the samples that chooses.
        seed: Of the split; by default a fresh one.

    Raises:
        InputError: If an argument is out of range, or the metric does not fit.

    Source:
        Clopper and Pearson, 1934; the choice by likelihood ratio follows Neyman and
        Pearson, 1933.

    Example:
        >>> from sfumato.evidence.observed import Sample, epsilon_lower
        >>> sample = Sample([[900, 100], [100, 900]])
        >>> 1.5 < epsilon_lower(sample, seed=1).value < 2.197
        True
    """
    if not 0 <= delta < 1:
        raise InputError(f"a delta of {delta} is not a probability below 1.", "use a small one, such as 1e-6.")
    shown = strongest(
        sample, metric, epsilon_gain(delta), failure=failure, candidates=candidates, share=share, seed=seed
    )
    unit = "" if metric is None else metric.unit
    return as_finding(shown, sample.secrets.labels, sample.outputs.labels, failure, delta, unit)


def epsilon_gain(delta: float) -> Gain:
    """Return the epsilon that two bounds show: ln((low - delta) / high) / d, rounded down."""

    def gain(low: Floats, high: Floats, distance: Floats) -> Floats:
        excess = low - delta
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(excess > 0, excess / high, 0.0)
            logarithm = np.log(ratio)
            value = np.where(distance > 0, logarithm / distance, np.where(ratio > 1, np.inf, -np.inf))
        value = value - 1e-12 * np.abs(np.where(np.isfinite(value), value, 0.0))
        return np.where(np.isfinite(distance), value, -np.inf)

    return gain


def as_finding(
    shown: Shown,
    secrets: Sequence[Hashable],
    outputs: Sequence[Hashable],
    failure: float,
    delta: float,
    unit: str,
) -> EpsilonFinding:
    """Return what was shown, in the labels of secrets and outputs; a negative bound says no more than 0."""
    event = shown.event
    return EpsilonFinding(
        max(shown.value, 0.0),
        (secrets[event.first], secrets[event.second]),
        tuple(outputs[o] for o in sorted(event.outputs.tolist())),
        shown.hits,
        shown.trials,
        shown.rates,
        failure,
        delta,
        shown.comparisons,
        unit,
    )
