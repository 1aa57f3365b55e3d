"""Inputs of transport: two distributions, distances between them and a relation, checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Metric, Prior
from ..core.arrays import Floats, floats, readonly
from ..core.prior import SUM_TOLERANCE
from ..errors import InputError

Distribution = Prior | ArrayLike
Distances = Metric | ArrayLike


def distribution(value: Distribution, what: str) -> Floats:
    """Return a checked distribution, array (n,); nothing is renormalised."""
    if isinstance(value, Prior):
        return value.probabilities
    array = floats(value, what, shape=(None,))
    if (array < 0).any():
        i = int(np.argmin(array))
        raise InputError(f"{what} is negative at {i} ({array[i]:g}).", "use probabilities of at least 0.")
    total = float(array.sum())
    if abs(total - 1.0) > SUM_TOLERANCE:
        raise InputError(
            f"{what} sums to {total:.12g}, not to 1.", "pass a distribution; nothing is renormalised."
        )
    return array


def distances_between(value: Distances, shape: tuple[int, ...], p: float = 1.0) -> Floats:
    """Return checked distances, array of the given shape; ``inf`` is allowed."""
    if not p >= 1:
        raise InputError(f"p is {p}.", "use 1 for the earth mover's distance, at most inf.")
    array = (
        value.array if isinstance(value, Metric) else floats(value, "the distances", shape=shape, infinite=True)
    )
    if array.shape != shape:
        raise InputError(
            f"the metric is on {len(array)} values, but the distributions are on {shape[0]} and {shape[1]}.",
            "use a metric on the values of the distributions.",
        )
    if (array < 0).any():
        i, j = np.argwhere(array < 0)[0]
        raise InputError(f"the distance at ({i}, {j}) is negative: {array[i, j]:g}.", "distances are at least 0.")
    return array


def relation_between(value: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return a checked relation, array of truths of the given shape."""
    array = np.array(value)
    if array.shape != shape or array.dtype != np.bool_:
        raise InputError(
            f"the relation is an array of {array.dtype} of shape {array.shape}, but truths of shape {shape} are "
            "needed.",
            "pass True for the pairs in the relation, as in metric.array <= 1.",
        )
    return readonly(array)


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that is not a mass."""
    if not 0 <= tolerance < 1:
        raise InputError(f"the tolerance {tolerance} is not a mass from 0 to below 1.", "use 0 to ignore nothing.")
