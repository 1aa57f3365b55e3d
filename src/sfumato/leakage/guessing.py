"""Guessing entropy: how many guesses an adversary needs who asks for one secret after another."""

from __future__ import annotations

import numpy as np

from ..core import Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats


@checked
def prior_guessing_entropy(prior: Prior) -> float:
    """Return the expected number of guesses without a report: the likeliest first, until it is right.

    G = sum over i of i p(i),    p sorted from the largest

    Args:
        prior: What the adversary believes, and what is true.

    Source:
        Massey, "Guessing and entropy", ISIT 1994.
    """
    return float(_guesses(prior.probabilities[:, None])[0])


@checked
def guessing_entropy(mechanism: Mechanism, prior: Prior) -> float:
    """Return the expected number of guesses after a report: the likeliest first, until it is right.

    G = sum over o of sum over i of i p(i, o),    p(., o) sorted from the largest

    Args:
        mechanism: The mechanism.
        prior: What the adversary believes, and what is true.

    Raises:
        InputError: If the prior does not fit the mechanism.

    Source:
        Köpf and Basin, "An information-theoretic model for adaptive side-channel attacks", CCS 2007.
    """
    return float(_guesses(mechanism.joint(prior)).sum())


def _guesses(joint: Floats) -> Floats:
    """Return the sum of rank times probability in each column, array (m,)."""
    ranks = np.arange(1, len(joint) + 1)
    found: Floats = ranks @ np.sort(joint, axis=0)[::-1]
    return found
