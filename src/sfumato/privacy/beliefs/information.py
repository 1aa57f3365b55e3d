"""Information privacy: no report changes the probability of any secret by much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, final

from ...rounding import at_most, factor_at_most
from ..notion import Description, Finding, Notion
from ..rows import AnyMechanism
from .posterior import both, worst
from .priors import Priors

DESCRIPTION: Final = Description(
    "information",
    "information privacy",
    ("epsilon",),
    question="By which factor does a report change the probability of any secret?",
    promise="no report changes the probability of any secret by more than a factor e^{epsilon}",
    source="du Pin Calmon and Fawaz, Allerton 2012; Desfontaines, definition 41",
    context=("priors",),
)


@final
@dataclass(frozen=True, slots=True)
class InformationPrivacy(Notion):
    """Information privacy: e**-epsilon <= P[s | o] / P[s] <= e**epsilon for all secrets s.

    epsilon = max over s and o of |ln(p(o|s) / p(o))|

    It is a-posteriori noiseless privacy of the secret itself, and so bounds every fact
    about it, not only single values. With a prior that holds every secret possible it
    implies differential privacy of all pairs with twice its epsilon.

    Attributes:
        priors: The beliefs against which it must hold.

    Example:
        >>> import sfumato as sf
        >>> coin = sf.Mechanism([[0.75, 0.25], [0.25, 0.75]])
        >>> InformationPrivacy(Priors.of(sf.Prior.uniform(coin.secrets))).measure(coin)
        Information privacy: epsilon 0.693147

    Source:
        du Pin Calmon and Fawaz, Allerton 2012; Desfontaines, definition 41.
    """

    description: ClassVar[Description] = DESCRIPTION
    parameter: ClassVar[str] = "epsilon"

    priors: Priors

    def _measured(self, mechanism: AnyMechanism) -> Finding:
        """Return the least epsilon, with the secret, the prior and the report that attain it."""
        return worst(self, mechanism, self.priors, None, both)

    def sentence(self, value: float) -> str:
        """Return what the epsilon promises."""
        if math.isinf(value):
            return f"Under {self.priors}, some report decides if a secret is the true one: no epsilon is enough."
        return (
            f"Under {self.priors}, a report multiplies or divides the probability of any fact about the secret by "
            f"at most {factor_at_most(value)} (epsilon {at_most(value)})."
        )
