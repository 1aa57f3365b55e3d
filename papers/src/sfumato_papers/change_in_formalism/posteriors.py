"""Posteriors of facts by Bayes' rule, and the check that they stay in the band of a notion."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from sfumato.core.arrays import Floats
from sfumato.privacy import Band, Events, band

from .channels import FormalCase
from .relation import Ask, Check, Measured

DIGITS: Final = 1e-10
"""The precision of logarithms of posteriors."""


def beliefs(case: FormalCase, facts: Events, columns: Floats | None = None) -> tuple[Floats, Floats]:
    """Return the probability of each fact before, array (k,), and after each report, array (k, m), by Bayes' rule.

    Args:
        case: The channel and the prior.
        facts: The k facts.
        columns: Other reports, such as sets of them, array (n, m); by default those of the channel.
    """
    rows = case.rows if columns is None else columns
    joint = case.prior.probabilities[:, None] * rows
    before = facts.masks @ case.prior.probabilities
    total = joint.sum(axis=0)
    used = total > 0
    after: Floats = (facts.masks @ joint[:, used]) / total[used]
    return before, after


def bounded(key: str, notion: Ask, facts: Callable[[FormalCase], Events]) -> Check:
    """Return the check that posteriors lie in a band: shares of what is allowed, above and below.

    Args:
        key: The name of the band.
        notion: The notion whose value the band is of, for a channel.
        facts: The facts whose posteriors are looked at.
    """

    def check(case: FormalCase) -> Measured | None:
        epsilon = notion(case).measure(case.rows).upper
        own = band(key, epsilon) if math.isfinite(epsilon) else Band(key)
        if not math.isfinite(min(own.high, own.rise, own.slope)):
            return None
        before, after = beliefs(case, facts(case))
        high = float((after / own.upper(before)[:, None]).max())
        # Where nothing bounds from below, this is (1 - posterior) / 1.
        low = float(((1 - after) / (1 - own.lower(before))[:, None]).max())
        share = max(high, low if math.isfinite(own.low) or math.isfinite(own.fall) else 0.0)
        return Measured(1.0, share - DIGITS, share)

    return check
