"""Inferential and identity privacy: noiseless privacy, said of posterior odds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

from ...rounding import at_most, factor_at_most
from ..description import Description
from .noiseless import NoiselessPrivacy

INFERENTIAL: Final = Description(
    "inferential",
    "inferential privacy",
    ("epsilon",),
    question="By which factor does it change the odds of two values? (The epsilon of noiseless privacy.)",
    promise="no report changes the odds between two values of the attribute by more than a factor e^{epsilon}",
    source="Ghosh and Kleinberg, ITCS 2017",
    context=("priors", "events"),
)


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

    description: ClassVar[Description] = INFERENTIAL
    on_request: ClassVar[bool] = True

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report rules out a value of the secret: no epsilon is enough."
        return (
            f"Under {self.priors}, no report multiplies the odds between two values of what is hidden by more "
            f"than {factor_at_most(value)} (epsilon {at_most(value)})."
        )


IDENTITY: Final = Description(
    "identity",
    "identity privacy",
    ("epsilon",),
    question="The same for whose value it is. (The epsilon of noiseless privacy.)",
    promise="no report tells more than a factor e^{epsilon} about whose value the attribute is",
    source="Desfontaines, 2.2.6",
    context=("priors", "events"),
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

    description: ClassVar[Description] = IDENTITY
    on_request: ClassVar[bool] = True

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report identifies a value against another: no epsilon is enough."
        return (
            f"Under {self.priors}, someone unsure between two values of what is hidden has odds, after any "
            f"report, of at most {factor_at_most(value)} times what they were (epsilon {at_most(value)})."
        )
