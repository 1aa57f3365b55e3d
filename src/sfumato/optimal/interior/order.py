"""The order in which a block's secrets are eliminated.

A block couples only the pairs whose rows are present. In a reverse Cuthill-McKee order its
entries lie near the diagonal, and column j of its Cholesky factor ends at row

    reach[j] = max over columns i <= j of the last row that column i touches.

The anchor is left out: an observable's likeliest secret meets most others, and `banded`
eliminates it apart. Its row and column become those of the identity.

Source:
    George and Liu, "Computer Solution of Large Sparse Positive Definite Systems" (1981).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...core.arrays import Floats
from .pair_rows import Bools, Ints

PANEL = 48
WORTHWHILE = 0.8
STALE = 1.2


@dataclass(frozen=True, slots=True)
class Order:
    """Places that a block's entries go to."""

    anchor: int  # the secret left out
    # array (size,), the secret at each position; None for the natural order and a dense factor
    secrets: Ints | None
    position: Ints  # array (size,), the position of each secret
    entries: npt.NDArray[np.int32]  # array (rows,), the entry row * size + column, row < column, of each pair row
    # array (rows,), True where the pair row meets its entry from below. Within one orientation entries are unique
    descending: Bools
    # (start, end, end of the rows that its columns reach) of each panel of columns; empty for a dense factor
    panels: tuple[tuple[int, int, int], ...]
    width: int  # how far the factor reaches below its diagonal
    ordered: int  # how many pair rows there were when the secrets were ordered
    natural: bool  # whether every secret is at its own position

    def clear(self, out: Floats) -> None:
        """Write zeros to what `fill` and the factor write to, array (size, size)."""
        if self.secrets is None:
            out[:] = 0.0
        for start, end, stop in self.panels:
            out[start:end, start:stop] = 0.0

    def fill(self, weights: Floats, diagonal: Floats, out: Floats) -> None:
        """Write G' diag(w) G of the block's pair rows into the upper triangle of ``out``, zero before.

        The diagonal (size,) is in the natural order.
        """
        flat = out.reshape(-1)
        flat[self.entries[self.descending]] = -weights[self.descending]
        ascending = ~self.descending
        flat[self.entries[ascending]] -= weights[ascending]
        flat[:: len(diagonal) + 1] = diagonal if self.secrets is None else diagonal[self.secrets]

    def isolate(self, out: Floats) -> None:
        """Make the anchor's row and column those of the identity, in the upper triangle."""
        k = int(self.position[self.anchor])
        out[:k, k] = 0.0
        out[k, k:] = 0.0
        out[k, k] = 1.0


def arrange(upper: Ints, lower: Ints, anchor: int, size: int, known: Order | None) -> Order:
    """Return a block's order: near the diagonal where that saves work, else the natural one.

    ``upper`` and ``lower`` (rows,) are the secrets of each pair row; the anchor is left out. The secrets of an
    earlier order ``known`` stay in place while few rows have joined.
    """
    free = (upper != anchor) & (lower != anchor)
    one, other = upper[free], lower[free]
    keep = known is not None and known.anchor == anchor and len(upper) <= STALE * known.ordered
    if known is not None and keep:
        secrets, ordered = known.secrets, known.ordered
    else:
        secrets, ordered = cuthill_mckee(one, other, size), len(upper)
    if secrets is not None:
        position = np.empty(size, dtype=np.int64)
        position[secrets] = np.arange(size)
        reach = _reach(position[one], position[other], size)
        panels = _panels(reach)
        if _operations(panels, size) < WORTHWHILE * size**3:
            width = int((reach - np.arange(size)).max())
            return _order(anchor, secrets, position, upper, lower, panels, width, ordered)
    return _order(anchor, None, np.arange(size), upper, lower, (), size - 1, ordered)


def fixed(upper: Ints, lower: Ints, size: int) -> Order:
    """Return the natural order of secrets whose pair rows, the same in each block, lie near the diagonal."""
    secrets = np.arange(size)
    reach = _reach(upper, lower, size)
    width = int((reach - secrets).max())
    return _order(-1, secrets, secrets, upper, lower, _panels(reach), width, len(upper))


def cuthill_mckee(one: Ints, other: Ints, size: int) -> Ints:
    """Return secrets in the reverse Cuthill-McKee order of the graph of some pairs."""
    heads, tails = np.concatenate([one, other]), np.concatenate([other, one])
    shape = (size, size)
    graph = sparse.csr_matrix((np.ones(len(heads)), (heads.astype(np.int32), tails.astype(np.int32))), shape=shape)
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.int64)


def _order(
    anchor: int,
    secrets: Ints | None,
    position: Ints,
    upper: Ints,
    lower: Ints,
    panels: tuple[tuple[int, int, int], ...],
    width: int,
    ordered: int,
) -> Order:
    one, other = position[upper], position[lower]
    entries = np.minimum(one, other) * len(position) + np.maximum(one, other)
    natural = secrets is None or bool((secrets == np.arange(len(secrets))).all())
    return Order(anchor, secrets, position, entries.astype(np.int32), one > other, panels, width, ordered, natural)


def _reach(one: Ints, other: Ints, size: int) -> Ints:
    last = np.arange(size)
    np.maximum.at(last, np.minimum(one, other), np.maximum(one, other))
    return np.maximum.accumulate(last)


def _panels(reach: Ints) -> tuple[tuple[int, int, int], ...]:
    size = len(reach)
    edges = [*range(0, size, PANEL), size]
    return tuple((a, b, max(b, int(reach[b - 1]) + 1)) for a, b in itertools.pairwise(edges))


def _operations(panels: tuple[tuple[int, int, int], ...], size: int) -> int:
    """Return about how many multiplications and additions factor and inverse take; densely it is size ** 3."""
    total = 0
    for start, end, stop in panels:
        columns, below = end - start, stop - end
        total += columns * (columns + below) ** 2 + columns * columns * (columns + below)
        total += 2 * columns * below * (size - start)
    return total
