"""Rounding to a known side: of floats in proofs, and of numbers in sentences."""

from .floats import UNIT, down, float_above, float_below, sum_above, sum_error, up
from .words import (
    about,
    amount,
    amount_at_least,
    amount_at_most,
    at_least,
    at_most,
    exactly,
    factor_at_most,
    gap_at_most,
    percent,
    percent_at_least,
    percent_at_most,
)

__all__ = [
    "UNIT",
    "about",
    "amount",
    "amount_at_least",
    "amount_at_most",
    "at_least",
    "at_most",
    "down",
    "exactly",
    "factor_at_most",
    "float_above",
    "float_below",
    "gap_at_most",
    "percent",
    "percent_at_least",
    "percent_at_most",
    "sum_above",
    "sum_error",
    "up",
]
