"""Sets of reports that move beliefs most: the worst one for a default, and sums over all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats


def worst_set(rows: Floats, possible: NDArray[np.bool_]) -> tuple[float, NDArray[np.intp]]:
    """Return the largest ln p(S|s) / p(S|t) over two rows and a set S of columns that the default can make.

    The best S takes the columns whose ratio p(o|s) / p(o|t) is above a threshold, and
    one that the default makes, if none of them is. All thresholds are tried, by sums of
    numbers that are not negative. The proof is in docs/proofs/bayesian-notions.md.

    Args:
        rows: Array (n, m), no column zero everywhere in the mechanism.
        possible: Which columns the default makes, array (m,).

    Returns:
        The logarithm, at least 0 and ``inf`` if some ratio is, and the columns of S.
    """
    best, chosen = 1.0, np.flatnonzero(possible)[:1]
    for s, row in enumerate(rows):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            ratios = np.nan_to_num(row / rows, nan=0.0, posinf=math.inf)
        for t in np.flatnonzero(ratios.max(axis=1) > best):
            if t == s:
                continue
            found, columns = _of_pair(row, rows[t], ratios[t], possible)
            if found > best:
                best, chosen = found, columns
            if best == math.inf:
                return math.inf, chosen
    return math.log(best), chosen


def _of_pair(
    row: Floats, other: Floats, ratios: Floats, possible: NDArray[np.bool_]
) -> tuple[float, NDArray[np.intp]]:
    """Return the largest p(S|s) / p(S|t) of two rows, and S."""
    order = np.argsort(-ratios, kind="stable")
    above, below = (np.concatenate([[0.0], np.cumsum(each[order])]) for each in (row, other))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    best, chosen = 0.0, order[:0]
    for column in np.flatnonzero(possible):
        # Before its own place the column is added to the prefix; from there on it belongs to it.
        upper = np.concatenate([above[: place[column] + 1] + row[column], above[place[column] + 2 :]])
        lower = np.concatenate([below[: place[column] + 1] + other[column], below[place[column] + 2 :]])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = np.nan_to_num(upper / lower, nan=0.0, posinf=math.inf)
        k = int(values.argmax())
        if values[k] > best:
            size = k if k <= place[column] else k + 1
            best, chosen = float(values[k]), np.union1d(order[:size], [column])
    return best, chosen


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
