"""The exact trade-off function of several mechanisms used on the same secret."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce

import numpy as np

from ...errors import InputError
from .trade_off import TradeOff

_LARGEST = 4_000_000  # products of outputs that are held at once


def product(curves: Iterable[TradeOff]) -> TradeOff:
    """Return the trade-off function of independent draws, one of each pair.

    T(p1, q1) x T(p2, q2) x ... = T(p1 x p2 x ..., q1 x q2 x ...)

    All products of outputs are formed, and those of equal likelihood ratio merged. If
    every curve is kept by a mechanism, the product is kept by their composition, also
    where later mechanisms are chosen after seeing earlier outputs.

    Args:
        curves: Trade-off functions; none gives 1 - a, which hides perfectly.

    Raises:
        InputError: If the product has more than 4 million outputs.

    Source:
        Dong, Roth and Su, definition 3.1 and theorem 3.2.
    """
    return reduce(_times, curves, TradeOff([1.0], [1.0]))


def power(curve: TradeOff, count: int) -> TradeOff:
    """Return the trade-off function of ``count`` independent draws of the same pair.

    Args:
        curve: The trade-off function of one draw.
        count: At least 0.

    Raises:
        InputError: If count is negative, or the product has more than 4 million outputs.

    Example:
        >>> coin = TradeOff([0.75, 0.25], [0.25, 0.75])
        >>> len(power(coin, 10).null)
        11
    """
    if count < 0:
        raise InputError(f"{count} draws were asked for.", "use a count of at least 0.")
    answer, square = TradeOff([1.0], [1.0]), curve
    while count:
        if count & 1:
            answer = _times(answer, square)
        count >>= 1
        if count:
            square = _times(square, square)
    return answer


def _times(first: TradeOff, second: TradeOff) -> TradeOff:
    size = len(first.null) * len(second.null)
    if size > _LARGEST:
        raise InputError(
            f"the product has {size:,} outputs of different likelihood ratio.",
            "use LossDistribution, which bounds the composition of any number on a lattice.",
        )
    return TradeOff(
        np.multiply.outer(first.null, second.null).ravel(),
        np.multiply.outer(first.alternative, second.alternative).ravel(),
    )
