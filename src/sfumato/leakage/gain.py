"""Leakage to an adversary with any aim: vulnerability under a gain function."""

from __future__ import annotations

import math
from typing import Final

from numpy.typing import ArrayLike

from ..core import Mechanism, Prior
from ..core.arguments import checked
from ..core.arrays import Floats, floats
from ..errors import InputError

_BLOCK: Final = 2**23  # gains held at once: 64 MiB


def prior_g_vulnerability(prior: Prior, gain: ArrayLike) -> float:
    """Return the expected gain of the best guess without any report.

    V = max over g of sum over s of prior(s) gain(g, s)

    Args:
        prior: What the adversary believes, and what is true.
        gain: Array (guesses, secrets): what guess g is worth when the secret is s; any
            unit, any sign.

    Raises:
        InputError: If the gain does not fit the prior, or has no guess.
    """
    return float((checked_gains(gain, len(prior)) @ prior.probabilities).max())


@checked
def g_vulnerability(mechanism: Mechanism, prior: Prior, gain: ArrayLike) -> float:
    """Return the expected gain of the best guess from the report.

    V = sum over o of max over g of sum over s of prior(s) p(o|s) gain(g, s)

    With the identity as gain it is the Bayes vulnerability; with gain = -d it is minus
    the expected error of the optimal attack for the distance d.

    Args:
        mechanism: The mechanism.
        prior: What the adversary believes, and what is true.
        gain: Array (guesses, secrets): what guess g is worth when the secret is s; any
            unit, any sign.

    Raises:
        InputError: If the prior or the gain does not fit the mechanism.

    Source:
        Alvim, Chatzikokolakis, Palamidessi and Smith, "Measuring information leakage
        using generalized gain functions", CSF 2012.
    """
    joint = mechanism.joint(prior)
    gains = checked_gains(gain, len(joint))
    width = max(1, _BLOCK // len(gains))
    blocks = (joint[:, start : start + width] for start in range(0, joint.shape[1], width))
    return sum(float((gains @ block).max(axis=0).sum()) for block in blocks)


@checked
def g_leakage_bits(mechanism: Mechanism, prior: Prior, gain: ArrayLike) -> float:
    """Return the g-leakage in bits: log2 of V(after) / V(before).

    Args:
        mechanism: The mechanism.
        prior: What the adversary believes, and what is true.
        gain: Array (guesses, secrets) of which some guess is worth more than nothing on
            average before any report.

    Raises:
        InputError: If the prior or the gain does not fit the mechanism, or the gain
            before any report is not positive: then there is no ratio.

    Source:
        Alvim, Chatzikokolakis, Palamidessi and Smith, CSF 2012, definition 4.6.
    """
    before = prior_g_vulnerability(prior, gain)
    if not before > 0:
        raise InputError(
            f"the best guess before any report gains {before:g}, so the leakage has no logarithm.",
            "compare the two vulnerabilities by their difference, or use a gain of at least 0.",
        )
    return math.log2(g_vulnerability(mechanism, prior, gain) / before)


def checked_gains(gain: ArrayLike, secrets: int) -> Floats:
    """Return a gain as an array (guesses, secrets), or refuse what does not fit."""
    array = floats(gain, "the gain (guesses x secrets)", shape=(None, secrets))
    if len(array) == 0:
        raise InputError("the gain has no guess.", "pass one row per guess and one column per secret.")
    return array
