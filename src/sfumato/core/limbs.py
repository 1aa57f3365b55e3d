"""Large integers as two 64-bit words, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Uints = NDArray[np.uint64]


def split(integers: NDArray[Any], low_bits: int = 64) -> tuple[Uints, Uints]:
    """Return (high, low) with integers = high * 2**low_bits + low.

    Args:
        integers: Python integers (dtype object) from 0 to below 2**(64 + low_bits).
        low_bits: How many bits the low word takes, at most 64.
    """
    return (integers >> low_bits).astype(np.uint64), (integers & ((1 << low_bits) - 1)).astype(np.uint64)


def joined(high: Uints, low: Uints, low_bits: int = 64) -> NDArray[Any]:
    """Return the Python integers high * 2**low_bits + low (dtype object)."""
    integers: NDArray[Any] = (high.astype(object) << low_bits) + low.astype(object)
    return integers
