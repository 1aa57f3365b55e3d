"""Promises that are too weak to hide anything, or too strong to be of use."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from ..core import Guarantee, MetricPrivacy
from ..core.units import per_unit
from ..rounding import about, amount

_TELLS_ALL: Final = 10.0  # e^10 is 22,026: who sees the report all but knows the secret
_TELLS_NOTHING: Final = 0.01  # no report is more than 1.01 times likelier from one secret than from another


def extremes(guarantee: Guarantee) -> list[str]:
    """Return what to say of a promise of metric privacy that hides nothing, or tells nothing.

    Args:
        guarantee: The promise; of other kinds there is nothing to say.

    Returns:
        Sentences: none where epsilon times the distance between values is moderate.
    """
    if not isinstance(guarantee, MetricPrivacy):
        return []
    epsilon, metric = guarantee.epsilon, guarantee.metric
    apart = metric.array[(metric.array > 0) & np.isfinite(metric.array)]
    if not apart.size:
        return []
    nearest, farthest = float(apart.min()), float(apart.max())
    shown = f"epsilon {about(epsilon)}{per_unit(metric.unit)}"
    if epsilon * nearest >= _TELLS_ALL:
        return [
            f"{shown} hides almost nothing: even of the nearest values, {amount(nearest, metric.unit)} apart, "
            f"reports may differ in likelihood by a factor of {_factor(epsilon * nearest)}. Ask for a smaller one."
        ]
    if epsilon * farthest <= _TELLS_NOTHING:
        return [
            f"{shown} leaves nothing to learn: even for values {amount(farthest, metric.unit)} apart all reports "
            "are almost equally likely. Ask for a larger one."
        ]
    return []


def _factor(exponent: float) -> str:
    return f"{math.exp(exponent):,.0f}" if exponent < 30 else f"e^{exponent:,.0f}"
