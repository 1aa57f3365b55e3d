"""Bands of posteriors: the limits of the belief in a fact, by prior, under a notion or a mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, final

import numpy as np
from numpy.typing import ArrayLike

from ...core.arrays import Floats, numbers
from ...errors import InputError
from ...rounding import log_error
from ..rows import AnyMechanism, channel
from .attackers import Events, Priors, events_on
from .posterior import odds

_RATIO: Final = frozenset(
    {"differential-privacy", "indistinguishable", "noiseless", "inferential", "identity", "pufferfish"}
)
_BOTH: Final = frozenset({"membership", "aposteriori-noiseless", "information"})


@final
@dataclass(frozen=True, slots=True)
class Band:
    """The posteriors P[T | o] to which a prior probability p = P[T] can lead.

    Up to three kinds of bounds define it, each absent where infinite:

    - likelihood ratios: p / (p + q e**-low) <= P[T | o] <= p / (p + q e**-high), q = 1 - p;
    - factors: P[T | o] <= e**rise p and 1 - P[T | o] >= e**-rise q, and
      P[T | o] >= e**-fall p and 1 - P[T | o] <= e**fall q;
    - a line: P[T | o] <= e**slope p + delta.

    Attributes:
        title: The notion or the mechanism, with its numbers.
        low: ln of the least likelihood ratio P[o|T] / P[o|not T].
        high: ln of the largest.
        fall: The epsilon of factors downwards.
        rise: The epsilon of factors upwards.
        slope: The epsilon of the line.
        delta: The constant of the line.

    Source:
        Desfontaines, figures 2.1 and 2.8.
    """

    title: str
    low: float = -math.inf
    high: float = math.inf
    fall: float = math.inf
    rise: float = math.inf
    slope: float = math.inf
    delta: float = 0.0

    def lower(self, priors: ArrayLike) -> Floats:
        """Return the least posterior of each prior probability, same shape."""
        p = _probabilities(priors)
        answer = np.zeros(p.shape)
        if math.isfinite(self.low):
            answer = _posterior(p, self.low)
        if math.isfinite(self.fall):
            answer = np.maximum(answer, math.exp(-self.fall) * p)
            answer = np.maximum(answer, 1 - math.exp(self.fall) * (1 - p))
        return answer

    def upper(self, priors: ArrayLike) -> Floats:
        """Return the largest posterior of each prior probability, same shape."""
        p = _probabilities(priors)
        answer = np.ones(p.shape)
        if math.isfinite(self.high):
            answer = _posterior(p, self.high)
        if math.isfinite(self.rise):
            answer = np.minimum(answer, math.exp(self.rise) * p)
            answer = np.minimum(answer, 1 - math.exp(-self.rise) * (1 - p))
        if math.isfinite(self.slope):
            answer = np.minimum(answer, math.exp(self.slope) * p + self.delta)
        return answer


def band(key: str, epsilon: float, *, delta: float = 0.0) -> Band:
    """Return the band of posteriors that a notion guarantees at an epsilon.

    Notions that bound likelihood ratios (differential privacy between the fact and its opposite, noiseless privacy
    and similar ones) give the narrowest band at the same epsilon.

    Args:
        key: The notion's key: those of likelihood ratios, ``"positive-membership"``, ``"negative-membership"``,
            ``"membership"``, ``"aposteriori-noiseless"``, ``"information"`` or ``"adversarial"``.
        epsilon: From 0 to 700.
        delta: The delta of adversarial privacy; 0 for all others.

    Raises:
        InputError: If the notion bounds no posterior by the prior, or a parameter is out of range.

    Example:
        >>> from math import log
        >>> float(band("differential-privacy", log(3)).upper(0.5).round(4))
        0.75

    Source:
        Desfontaines, figure 2.8.
    """
    if not 0 <= epsilon <= 700:
        raise InputError(f"epsilon {epsilon} is not a number from 0 to 700.", "use one such as 1.0.")
    if not 0 <= delta <= 1 or (delta and key != "adversarial"):
        raise InputError(
            f"delta {delta} was given for {key!r}.", "only adversarial privacy has a delta here, from 0 to 1."
        )
    title = f"{key}, epsilon {epsilon:g}" + (f", delta {delta:g}" if delta else "")
    if key in _RATIO:
        return Band(title, low=-epsilon, high=epsilon)
    if key in _BOTH:
        return Band(title, fall=epsilon, rise=epsilon)
    if key == "positive-membership":
        return Band(title, rise=epsilon)
    if key == "negative-membership":
        return Band(title, fall=epsilon)
    if key == "adversarial":
        return Band(title, slope=epsilon, delta=delta)
    known = ", ".join(sorted(_RATIO | _BOTH | {"positive-membership", "negative-membership", "adversarial"}))
    raise InputError(f"no band is known of {key!r}.", f"the notions with one are: {known}.")


def attained_band(mechanism: AnyMechanism, priors: Priors, events: Events | None = None) -> Band:
    """Return the band of posteriors under a mechanism, for its most exposed facts of any prior probability.

    It has the extreme likelihood ratios, widened by the possible rounding.

    Args:
        mechanism: A mechanism, or its array (secrets, observables).
        priors: The distributions of the secrets where a fact is true and where it is false. Facts that a given
            prior holds impossible are left out; otherwise their probabilities do not count.
        events: The facts; every single secret if None.
    """
    matrix, secrets, _ = channel(mechanism)
    for prior in priors.listed:
        secrets.check_order(prior.space, "a prior")
    masks = events_on(events, len(matrix)).masks
    low = high = 0.0
    for found in odds(matrix, priors, masks):
        least, most = float(found.low.min()), float(found.high.max())
        low = min(low, least - log_error(least, found.terms))
        high = max(high, most + log_error(most, found.terms))
    return Band("the mechanism", low=low, high=high)


def _posterior(p: Floats, log_ratio: float) -> Floats:
    return np.asarray(p / (p + (1 - p) * math.exp(-log_ratio)))


def _probabilities(priors: ArrayLike) -> Floats:
    p = numbers(priors, "the prior probabilities")
    if not ((p >= 0) & (p <= 1)).all():
        raise InputError("a prior probability is not between 0 and 1.", "pass probabilities.")
    return p
