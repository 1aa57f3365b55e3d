"""Hyper-distributions: what an adversary may come to believe, and how likely each of these beliefs is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from ..core import Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, readonly
from ..core.frozen import Short

_DIGITS: Final = 12  # beliefs that agree to so many decimals are one


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HyperDistribution(Short):
    """A distribution over beliefs.

    Attributes:
        outer: Array (k,), the probability of each belief, from the likeliest.
        inners: Array (k, n), the beliefs; each row sums to one.
    """

    outer: Floats
    inners: Floats


@checked
def hyper_distribution(mechanism: Mechanism, prior: Prior) -> HyperDistribution:
    """Return the beliefs that reports lead to, and their probabilities.

    Reports with the same posterior, to twelve decimals, are one; those that cannot occur are left out. The names
    of reports do not matter to a leakage: it depends on this alone.

    Args:
        mechanism: The mechanism.
        prior: What the adversary believes, and what is true.

    Raises:
        InputError: If the prior does not fit the mechanism.

    Source:
        McIver, Meinicke and Morgan, "Compositional closure for Bayes risk in probabilistic noninterference",
        ICALP 2010; Alvim et al., "The Science of Quantitative Information Flow" (2020), definition 4.5.
    """
    joint = mechanism.joint(prior)
    outer = joint.sum(axis=0)
    possible = outer > 0
    beliefs = (joint[:, possible] / outer[possible]).T
    _, first, which = np.unique(np.round(beliefs, _DIGITS), axis=0, return_index=True, return_inverse=True)
    sums: Floats = np.asarray(np.bincount(which.ravel(), outer[possible]), dtype=np.float64)
    order = np.argsort(-sums, kind="stable")
    return HyperDistribution(readonly(sums[order]), readonly(beliefs[first[order]]))
