"""Shortest paths: between all values by the lengths of steps, along few edges, and counted in hops."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .arrays import Floats


def shortest_paths(steps: Floats) -> Floats:
    """Return the lengths of shortest paths between all values, array (n, n); ``inf`` where none leads.

    Takes n**3 steps, whatever the array.

    Args:
        steps: The length of one step from each value to each other, array (n, n), of at least 0; ``inf``
            where there is no step. A value is at 0 from itself.
    """
    lengths = steps.copy()
    np.fill_diagonal(lengths, 0.0)
    for k in range(len(lengths)):
        with np.errstate(over="ignore"):  # a sum beyond all floats is longer than any length
            detour = lengths[:, k, None] + lengths[None, k, :]
        np.minimum(lengths, detour, out=lengths)
    return lengths


def paths_along(edges: NDArray[np.intp], lengths: Floats, size: int) -> Floats:
    """Return the lengths of shortest paths along few edges, array (size, size); ``inf`` where none leads.

    Args:
        edges: Pairs of values, each walked in both directions, array (k, 2).
        lengths: Their lengths, array (k,); 0 is a length.
        size: The number of values.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    i, j = np.vstack([edges, edges[:, ::-1]]).T
    graph = csr_array((np.concatenate([lengths, lengths]), (i, j)), shape=(size, size))
    return np.asarray(shortest_path(graph, method="D"))


def hops(near: NDArray[np.bool_]) -> Floats:
    """Return the fewest steps from each value to each other, array (n, n); ``inf`` where none lead.

    Args:
        near: Whether a step leads from one value to another, array (n, n).
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    return np.asarray(shortest_path(csr_array(near.astype(np.float64)), unweighted=True))
