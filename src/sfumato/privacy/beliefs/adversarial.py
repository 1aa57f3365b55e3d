"""Adversarial privacy: the posterior is at most a multiple of the prior, plus delta."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError
from ...rounding import at_most, factor_at_most
from ...rounding.errors import log_error, log_errors
from ..notion import Description, Finding, Notion
from ..rows import AnyMechanism, check_delta
from .attackers import Events, Priors
from .posterior import Chance, Odds, Rated, gain, posterior, worst

_LARGEST = 700.0  # e to this is still a float


DESCRIPTION: Final = Description(
    "adversarial",
    "adversarial privacy",
    ("epsilon", "delta"),
    question="How much more credible can a report make a fact, if delta may be added?",
    promise="after any report a fact is at most e^{epsilon} times as probable as before, plus {delta}",
    source="Rastogi, Hay, Miklau and Suciu, PODS 2009; Desfontaines, definition 38",
    context=("priors", "events"),
    defaults={"delta": 0.0},
)


@final
@dataclass(frozen=True, slots=True)
class AdversarialPrivacy(Notion):
    """Adversarial privacy: the least epsilon, at a given delta.

    P[T | o in S] <= e**epsilon P[T] + delta   for all priors, facts T and sets S of reports

    Single reports suffice. Against all priors, with rho the largest P[o|T] / P[o|not T],
    epsilon = 2 ln(sqrt(rho) - sqrt(delta (rho - 1))) while that is positive.

    Attributes:
        priors: The beliefs against which it must hold.
        delta: What may be added, from 0 to 1.
        events: The facts; every single secret if None.

    Raises:
        InputError: If delta is not between 0 and 1.

    Source:
        Rastogi, Hay, Miklau and Suciu, PODS 2009; Desfontaines, definition 38.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "epsilon"

    priors: Priors
    delta: float = 0.0
    events: Events | None = None

    def __post_init__(self) -> None:
        check_delta(self.delta)

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon, with the fact, the prior and the report that attain it."""
        return worst(self, mechanism, self.priors, self.events, self._rate)

    def _rate(self, found: Odds) -> Rated:
        best = _between(_peak_of_ratio(found.high, self.delta), found)
        after = posterior(best, found.high)
        error = log_errors(found.high, found.terms) + log_error(0.0, found.terms)
        if self.delta == 0:
            value = gain(best, found.high)
            upper = value + error
        else:
            with np.errstate(divide="ignore"):
                logs = np.log(best.p)
            most = np.minimum(after * (1 + error), 1.0)
            value, upper = self._log_ratio(after, logs), self._log_ratio(most, logs) + error + log_errors(logs)
        return Rated(value, upper, best.p, found.high_at, np.ones(len(value), dtype=np.bool_))

    def _log_ratio(self, after: Floats, log_before: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(after > self.delta, np.log(after - self.delta) - log_before, 0.0)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report lifts a fact from almost nothing: no epsilon is enough."
        rest = f" plus {at_most(self.delta)}" if self.delta else ""
        return (
            f"Under {self.priors}, no report makes a fact more probable than {factor_at_most(value)} times what "
            f"it was{rest} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class DeltaOfAdversarialPrivacy(Notion):
    """Adversarial privacy: the least delta, at a given epsilon.

    delta = max over priors, facts T and reports o of P[T | o] - e**epsilon P[T], at least 0

    Against all priors it is (sqrt(rho) - sqrt(e**epsilon))**2 / (rho - 1) where rho, the
    largest P[o|T] / P[o|not T], exceeds e**epsilon.

    Attributes:
        priors: The beliefs against which it must hold.
        epsilon: At least 0.
        events: The facts; every single secret if None.

    Raises:
        InputError: If epsilon is not a number from 0 to 700.

    Example:
        >>> response = [[5 / 6, 1 / 6], [1 / 6, 5 / 6]]
        >>> DeltaOfAdversarialPrivacy(Priors.all(), 0.5).measure(response)
        Adversarial privacy: delta 0.226596

    Source:
        Rastogi, Hay, Miklau and Suciu, PODS 2009; Desfontaines, definition 38.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "delta"
    on_request: ClassVar[bool] = True

    priors: Priors
    epsilon: float
    events: Events | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= _LARGEST:
            raise InputError(
                f"epsilon {self.epsilon} is not a number from 0 to {_LARGEST:g}.", "use one such as 0.5."
            )

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least delta, with the fact, the prior and the report that attain it."""
        return worst(self, mechanism, self.priors, self.events, self._rate)

    def _rate(self, found: Odds) -> Rated:
        best = _between(_peak_of_difference(found.high, self.epsilon), found)
        value = posterior(best, found.high) - math.exp(self.epsilon) * best.p
        error = log_errors(found.high, found.terms) + log_error(self.epsilon, found.terms)
        return Rated(value, value + 2 * error, best.p, found.high_at, np.ones(len(value), dtype=np.bool_))

    def sentence(self, value: float) -> str:
        """Return what the delta promises."""
        return (
            f"Under {self.priors}, no report makes a fact more probable than {factor_at_most(self.epsilon)} times "
            f"what it was plus {at_most(value)} (delta {at_most(value)})."
        )


def _peak_of_ratio(log_ratio: Floats, delta: float) -> Floats:
    """Return the p at which (posterior - delta) / p is largest, which rises before and falls after it.

    p = sqrt(delta) / (sqrt(rho - 1) (sqrt(rho) - sqrt(delta (rho - 1)))), with rho divided out
    """
    odds = -np.expm1(-np.maximum(log_ratio, 0.0))  # (rho - 1) / rho
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = math.sqrt(delta) * np.exp(-log_ratio) / (np.sqrt(odds) * (1 - np.sqrt(delta * odds)))
    return np.where(np.isnan(peak), 1.0, peak)


def _peak_of_difference(log_ratio: Floats, epsilon: float) -> Floats:
    """Return the p at which posterior - e**epsilon p, which is concave, is largest.

    p = (sqrt(rho e**-epsilon) - 1) / (rho - 1)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = np.exp(-(log_ratio + epsilon) / 2) * np.expm1((epsilon - log_ratio) / 2) / np.expm1(-log_ratio)
    return np.where(log_ratio > epsilon, peak, 0.0)


def _between(peak: Floats, found: Odds) -> Chance:
    """Return the chances closest to the peaks within the interval of each fact."""
    p = np.clip(peak, found.least.p, found.most.p)
    q = np.where(p == found.least.p, found.least.q, np.where(p == found.most.p, found.most.q, 1 - p))
    return Chance(p, q)
