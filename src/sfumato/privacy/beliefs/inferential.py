"""Inferential and identity privacy: noiseless privacy, said of posterior odds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

from ...rounding import at_most, factor_at_most
from .noiseless import NoiselessPrivacy


@final
@dataclass(frozen=True, slots=True)
class InferentialPrivacy(NoiselessPrivacy):
    """Inferential privacy: a report changes the odds of any two values by at most e**epsilon.

    P[a | o] / P[a' | o] <= e**epsilon P[a] / P[a']

    By Bayes' rule the quotient of the odds is p(o | a) / p(o | a'), so this is noiseless
    privacy in other words and the same number.

    Source:
        Ghosh and Kleinberg, ITCS 2017; Desfontaines, 2.2.6.
    """

    key: ClassVar[str] = "inferential"
    title: ClassVar[str] = "Inferential privacy"
    source: ClassVar[str] = "Ghosh and Kleinberg, ITCS 2017"

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report rules out a value of the secret: no epsilon is enough."
        return (
            f"Under {self.priors}, no report multiplies the odds between two values of what is hidden by more "
            f"than {factor_at_most(value)} (epsilon {at_most(value)})."
        )


@final
@dataclass(frozen=True, slots=True)
class IdentityPrivacy(NoiselessPrivacy):
    """Identity privacy: nobody learns much about which of two values is the true one.

    It is known as a Bayesian form of noiseless privacy, and is measured as such: the
    quotient of posterior and prior odds of two values is at most e**epsilon.

    Source:
        Desfontaines, 2.2.6 (identity DP).
    """

    key: ClassVar[str] = "identity"
    title: ClassVar[str] = "Identity privacy"
    source: ClassVar[str] = "Desfontaines, 2.2.6"

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report identifies a value against another: no epsilon is enough."
        return (
            f"Under {self.priors}, whoever wavers between two values of what is hidden has odds, after any "
            f"report, of at most {factor_at_most(value)} times what they were (epsilon {at_most(value)})."
        )
