"""The blind guess: what an attacker achieves without seeing a report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core import AnyLoss, Mechanism, Prior, Space
from .attack import Attack
from .optimal import optimal


def blind(prior: Prior, distance: AnyLoss) -> Attack:
    """Return the best guess without any report: the baseline of every attack.

    error = min over g of sum over s of prior(s) d(g, s)

    Its error is the largest distortion privacy that any mechanism can give.

    Args:
        prior: What the adversary believes, and what is true.
        distance: d(guess, s), array (guesses, secrets), a `Loss` or a `Metric`.

    Returns:
        The attack on a mechanism with one observable, which tells nothing.

    Raises:
        InputError: If the distance does not fit the prior.
    """
    return replace(optimal(silence(prior), prior, distance), name="blind")


def silence(prior: Prior) -> Mechanism:
    """Return the mechanism on the prior's secrets that always reports the same."""
    return Mechanism(np.ones((len(prior), 1)), prior.space, Space(["nothing"]))
