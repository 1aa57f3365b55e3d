"""Lower bounds of epsilon and of delta that samples show."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from ..core import Metric, units
from ..core.arrays import Floats
from ..errors import InputError
from ..escaping import plain
from ..rounding import at_least
from .events import Gain, Shown, in_words, strongest
from .sample import Sample

_MOST: Final = float(np.finfo(np.float64).max)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _ObservedBound:
    """A lower bound that samples show, with the event that shows it.

    Attributes:
        value: The true number is at least this; 0 if nothing is shown.
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
    pair: tuple[Hashable, Hashable]
    event: tuple[Hashable, ...]
    hits: tuple[int, int]
    trials: tuple[int, int]
    rates: tuple[float, float]
    failure: float
    comparisons: int
    unit: str

    @classmethod
    def of(
        cls,
        shown: Shown,
        secrets: Sequence[Hashable],
        outputs: Sequence[Hashable],
        failure: float,
        unit: str,
        **given: Any,
    ) -> Self:
        """Return what was shown, in the labels of secrets and outputs; a negative bound says no more than 0."""
        event = shown.event
        return cls(
            value=max(shown.value, 0.0),
            pair=(secrets[event.first], secrets[event.second]),
            event=tuple(outputs[o] for o in sorted(event.outputs.tolist())),
            hits=shown.hits,
            trials=shown.trials,
            rates=shown.rates,
            failure=failure,
            comparisons=shown.comparisons,
            unit=unit,
            **given,
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}(at least {at_least(self.value)}{self._per}, {self._sure})"

    @property
    def _sure(self) -> str:
        return f"with confidence {at_least(1 - self.failure, 6)}"

    @property
    def _per(self) -> str:
        return f"/{plain(self.unit)}" if self.unit else ""

    @property
    def _seen(self) -> str:
        (s, t), (a, b), (n, m) = self.pair, self.hits, self.trials
        return (
            f"{in_words(self.event)} was seen in {a} of {n} reports of {s!r} and in {b} of {m} reports of {t!r}."
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class EpsilonFinding(_ObservedBound):
    """A lower bound of epsilon that samples show, per unit of the metric.

    The value is ``inf`` if two secrets at distance zero are shown to differ.

    Attributes:
        delta: The delta at which epsilon is meant.
    """

    delta: float

    @property
    def unbounded(self) -> bool:
        """Whether the second secret never showed the event, so that no sample bounds epsilon from above."""
        return self.value > 0 and self.hits[1] == 0

    def __str__(self) -> str:
        """The finding in words."""
        if self.value == 0:
            return f"The samples show no positive epsilon ({self._sure}); this does not prove privacy."
        at = f" at delta {at_least(self.delta, 6)}" if self.delta else ""
        more = "; it may be infinite" if self.unbounded and math.isfinite(self.value) else ""
        return f"epsilon is at least {at_least(self.value)}{self._per}{at}, {self._sure}{more}: {self._seen}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class DeltaFinding(_ObservedBound):
    """A lower bound of delta at a given epsilon that samples show.

    Attributes:
        epsilon: The epsilon at which it is meant, per unit of the metric.
    """

    epsilon: float

    def __str__(self) -> str:
        """The finding in words."""
        at = f"at epsilon {at_least(self.epsilon, 6)}{self._per}"
        if self.value == 0:
            return f"The samples show no positive delta {at} ({self._sure})."
        return f"delta is at least {at_least(self.value)} {at}, {self._sure}: {self._seen}"


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
        >>> from sfumato.statistics import Sample, epsilon_lower
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
    return EpsilonFinding.of(shown, sample.secrets.labels, sample.outputs.labels, failure, unit, delta=delta)


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
    unit = "" if metric is None else metric.unit
    return DeltaFinding.of(shown, sample.secrets.labels, sample.outputs.labels, failure, unit, epsilon=rate)


def epsilon_gain(delta: float) -> Gain:
    """Return the epsilon that two bounds show: ln((low - delta) / high) / d, rounded down."""

    def gain(low: Floats, high: Floats, distance: Floats) -> Floats:
        excess = low - delta
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratio = np.where(excess > 0, excess / high, 0.0)
            logarithm = np.log(ratio)
            quotient = np.minimum(logarithm / distance, _MOST)  # where it is above all floats
            value = np.where(distance > 0, quotient, np.where(ratio > 1, np.inf, -np.inf))
        value = value - 1e-12 * np.abs(np.where(np.isfinite(value), value, 0.0))
        return np.where(np.isfinite(distance), value, -np.inf)

    return gain
