"""Interval arithmetic: formulas and exponentials with a proved side (FLINT)."""

from .exponentials import exp_above, exp_below, exp_below_exact
from .interval import Interval, above, below, exact, least, negative, normal, rational_interval

__all__ = [
    "Interval",
    "above",
    "below",
    "exact",
    "exp_above",
    "exp_below",
    "exp_below_exact",
    "least",
    "negative",
    "normal",
    "rational_interval",
]
