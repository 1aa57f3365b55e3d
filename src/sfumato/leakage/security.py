"""Bayes security: how much of the attacker's error a mechanism leaves, whatever the prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Mechanism
from ..core.arguments import checked
from ..core.frozen import Short


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BayesSecurity(Short):
    """The share of the attacker's error that a mechanism leaves under the worst prior.

    Attributes:
        value: From 0, where some two secrets are always told apart, to 1, where reports say nothing.
        pair: The positions of two secrets; the even prior on them attains it. Equal where there is one secret.
    """

    value: float
    pair: tuple[int, int]


@checked
def bayes_security(mechanism: Mechanism) -> BayesSecurity:
    """Return the least ratio of the Bayes error after the report to the error before it, over all priors.

    min over priors of  R(after) / R(before)  =  1 - max over s, s' of TV(p(.|s), p(.|s'))

    It is also one minus the delta of differential privacy at epsilon 0, for all pairs of secrets, and one over
    the multiplicative capacity of the Bayes error.

    Args:
        mechanism: The mechanism.

    Source:
        Chatzikokolakis, Cherubin, Palamidessi and Troncoso, "Bayes security: a not so average metric", CSF 2023.
    """
    matrix = mechanism.matrix
    least, pair = 1.0, (0, 0)
    for s in range(1, len(matrix)):
        common = np.minimum(matrix[:s], matrix[s]).sum(axis=1)
        rival = int(np.argmin(common))
        if common[rival] < least:
            least, pair = float(common[rival]), (rival, s)
    return BayesSecurity(least, pair)
