"""Sums over all subsets of columns, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats

_BLOCK = 2**22  # numbers per block


def subset_sums(columns: Floats) -> Iterator[tuple[int, Floats]]:
    """Yield the sums of every subset of columns.

    A subset is an integer whose bit j says whether column j belongs to it. Every sum is
    built by additions only.

    Args:
        columns: Array (n, m).

    Yields:
        The number of the block's first subset, and the sums of it and the following
        ones, array (subsets, n).
    """
    n, m = columns.shape
    inner = min(m, max(0, (_BLOCK // max(1, n)).bit_length() - 1))
    low = _all_sums(columns[:, :inner])
    for number, base in enumerate(_all_sums(columns[:, inner:])):
        yield number << inner, low + base


def members(subset: int) -> NDArray[np.intp]:
    """Return the columns of a subset."""
    return np.flatnonzero([(subset >> j) & 1 for j in range(subset.bit_length())])


def _all_sums(columns: Floats) -> Floats:
    """Return the sums of all subsets, array (2**m, n)."""
    sums = np.zeros((1, len(columns)))
    for column in columns.T:
        sums = np.concatenate([sums, sums + column])
    return sums
