"""Distributions near a given one in total variation, and the extremes of expectations over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...core.arrays import Floats, readonly


@dataclass(frozen=True, slots=True, eq=False)
class Ball:
    """All distributions within total variation tau of a centre.

    Attributes:
        centre: Array (n,).
        radius: tau, from 0 to 1.
    """

    centre: Floats
    radius: float

    def highest(self, scores: Floats) -> Floats:
        """Return the distribution of the ball with the largest expected score, array (n,).

        A fractional knapsack: mass tau leaves the values of least score and goes to one of
        the largest.

        Args:
            scores: Array (n,).
        """
        order = np.argsort(scores, kind="stable")
        mass = self.centre[order]
        left = np.minimum(mass, np.maximum(self.radius - (np.cumsum(mass) - mass), 0.0))
        left[-1] = 0.0
        moved = mass - left
        moved[-1] += left.sum()
        answer = np.empty_like(mass)
        answer[order] = moved
        return readonly(answer)

    def lowest(self, scores: Floats) -> Floats:
        """Return the distribution of the ball with the least expected score, array (n,)."""
        return self.highest(-scores)
