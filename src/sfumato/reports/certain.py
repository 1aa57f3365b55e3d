"""Mechanisms that give the truth away: whether the best attacker finds it every time."""

from __future__ import annotations

from ..core import Mechanism, Prior


def always_found(mechanism: Mechanism, prior: Prior) -> bool:
    """Return whether each report is made from one secret alone, of those that the prior counts as possible.

    Then the best attacker finds the secret every time. It is read off the integers that are sampled.
    """
    return bool(((mechanism.weights[prior.support] != 0).sum(axis=0) <= 1).all())
