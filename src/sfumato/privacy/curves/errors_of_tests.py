"""The error rates of the best tests between two rows, for many pairs of rows at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...core.arrays import Floats
from ...divergences import log_ratios
from ..notion import Witness
from ..witness import Witness

_BLOCK = 2**17  # entries of a block of pairs: its arrays stay in the cache
_SAFE = 1e-290  # a quotient of larger probabilities neither overflows nor vanishes


class Errors(NamedTuple):
    """Error rates of the likelihood-ratio tests, arrays (..., m + 1), by rising type I error.

    Each rate and its complement are sums of their own from their own end: neither is one
    minus the other, so that small ones keep their digits.

    Attributes:
        alphas: Type I errors: the mass of p where the test rejects p.
        confidences: Their complements: the mass of p where it does not.
        betas: Type II errors: the mass of q where it does not reject p.
        powers: Their complements: the mass of q where it does.
    """

    alphas: Floats
    confidences: Floats
    betas: Floats
    powers: Floats


def errors(p: Floats, q: Floats) -> Errors:
    """Return the error rates of the tests that reject p on the outputs of largest q/p.

    Args:
        p: Array (..., m), the distributions of the null hypothesis.
        q: Array (..., m), those of the alternative.
    """
    order = np.argsort(_keys(p, q), axis=-1)
    null = np.take_along_axis(p, order, axis=-1)
    alternative = np.take_along_axis(q, order, axis=-1)
    return in_order(null, alternative)


def in_order(null: Floats, alternative: Floats) -> Errors:
    """Return the error rates where the outputs already stand in falling order of q/p."""
    return Errors(_front(null), _rest(null), _rest(alternative), _front(alternative))


def blocks(matrix: Floats, pairs: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Yield the pairs, array (c, 2), with their rows, two arrays (c, m), in blocks.

    Args:
        matrix: Array (n, m).
        pairs: Array (k, 2) of positions of rows.
    """
    size = max(1, _BLOCK // matrix.shape[1])
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        yield block, matrix[block[:, 0]], matrix[block[:, 1]]


def rejected(p: Floats, q: Floats, count: int) -> NDArray[np.intp]:
    """Return the positions of the first ``count`` outputs in the order of ``errors``, rising."""
    order = np.argsort(_keys(p, q), axis=-1)[:count]
    return np.sort(order[(p[order] > 0) | (q[order] > 0)])


def tested(rows: Floats, pair: NDArray[np.intp], found: Errors, vertex: int) -> Witness:
    """Return the witness of a test between two rows.

    Args:
        rows: Array (n, m).
        pair: The positions of the two rows.
        found: The error rates of their tests, arrays (m + 1,).
        vertex: Which test.
    """
    first, second = (int(position) for position in pair)
    return Witness(
        (first, second),
        rejected(rows[first], rows[second], vertex),
        note=f"a test with errors {found.alphas[vertex]:.4g} and {found.betas[vertex]:.4g}",
    )


def _keys(p: Floats, q: Floats) -> Floats:
    """Return what rises where q/p falls; where both are zero any place will do."""
    if min(np.min(p, initial=1.0, where=p > 0), np.min(q, initial=1.0, where=q > 0)) < _SAFE:
        return log_ratios(p, q)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(p / q)


def _front(masses: Floats) -> Floats:
    sums = np.zeros((*masses.shape[:-1], masses.shape[-1] + 1))
    np.cumsum(masses, axis=-1, out=sums[..., 1:])
    return sums


def _rest(masses: Floats) -> Floats:
    sums = np.zeros((*masses.shape[:-1], masses.shape[-1] + 1))
    sums[..., :-1] = np.cumsum(masses[..., ::-1], axis=-1)[..., ::-1]
    return sums
