"""Numbers as people read them, rounded to the side that promises less."""

from __future__ import annotations

import math

from ..core import units


def percent(share: float) -> str:
    """Write a probability as a percentage: ``12 %``, ``0.4 %``, ``under 0.01 %``."""
    value = 100 * share
    if 0 < value < 0.01:
        return "under 0.01 %"
    if 99.5 <= value < 99.995:
        return f"{math.floor(value * 100) / 100:g} %"
    return f"{value:.0f} %" if value >= 9.95 else f"{value:.1f} %" if value >= 0.095 else f"{value:.2g} %"


def upper(value: float, digits: int = 7) -> str:
    """Write an upper bound with so many digits, never below it."""
    return _rounded(value, digits, math.ceil)


def lower(value: float, digits: int = 4) -> str:
    """Write a lower bound with so many digits, never above it."""
    return _rounded(value, digits, math.floor)


def per(unit: str) -> str:
    """Write the unit of an epsilon: ``/km``, or nothing for a pure number."""
    return f"/{units.canonical(unit)}" if unit else ""


def amount(value: float, unit: str) -> str:
    """Write a loss or an error with its unit, metres below one kilometre."""
    return units.show(value, unit)


def gap(value: float) -> str:
    """Write a relative gap as a percentage, never below it."""
    return f"{upper(100 * value, 2)} %" if math.isfinite(value) else "unknown"


def _rounded(value: float, digits: int, side: object) -> str:
    if value == 0 or not math.isfinite(value):
        return "infinite" if math.isinf(value) else f"{value:g}"
    scale = 10.0 ** (digits - 1 - math.floor(math.log10(abs(value))))
    whole = math.ceil(value * scale) if side is math.ceil else math.floor(value * scale)
    return f"{whole / scale:.{digits}g}"
