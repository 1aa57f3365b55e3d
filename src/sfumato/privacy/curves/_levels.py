"""Type I errors, as callers give them."""

from __future__ import annotations

from numpy.typing import ArrayLike

from ...core.arrays import Floats, numbers
from ...errors import InputError


def levels(alpha: ArrayLike) -> Floats:
    """Return type I errors as an array.

    Raises:
        InputError: If a number is not between 0 and 1.
    """
    at = numbers(alpha, "alpha")
    if not ((at >= 0) & (at <= 1)).all():
        raise InputError("a type I error is not between 0 and 1.", "pass probabilities.")
    return at
