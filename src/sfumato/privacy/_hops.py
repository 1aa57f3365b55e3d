"""How far promises about near secrets reach: hops in a relation, ratios of metrics."""

from __future__ import annotations

import math

import numpy as np

from ..core import Metric
from ..core.arrays import Floats
from .relation import Relation


def hops(relation: Relation) -> Floats:
    """Return the fewest steps from each secret to each other, array (n, n); ``inf`` if none lead there."""
    return _shortest(np.where(relation.array, 1.0, np.inf))


def reach(metric: Metric, relation: Relation | None) -> Floats:
    """Return the shortest way from each secret to each other, array (n, n), rounded up.

    Args:
        metric: The length of one step.
        relation: The steps that count; all if None.
    """
    array = metric.array
    if relation is None and metric.triangle:
        return array
    steps = array if relation is None else np.where(relation.array, array, np.inf)
    lengths = _shortest(steps)
    # Each of fewer than n additions errs by at most a relative 2**-53.
    return np.where(lengths == steps, lengths, lengths * (1 + len(lengths) * 2.0**-52))


def largest_ratio(lengths: Floats, units: Floats) -> float:
    """Return the largest length per unit over distinct secrets, rounded up.

    Pairs at infinite units need no protection; ``inf`` means that some pair that needs it has none.
    """
    needed = np.isfinite(units) & ~np.eye(len(units), dtype=np.bool_)
    needed &= ~((lengths == 0) & (units == 0))
    if not needed.any():
        return 0.0
    with np.errstate(divide="ignore"):
        ratio = float((lengths[needed] / units[needed]).max())
    return math.nextafter(ratio, math.inf) if np.isfinite(ratio) and not _exact(lengths, units, needed) else ratio


def largest_over(lengths: Floats, relation: Relation | None) -> float:
    """Return the largest length over the related pairs, or over all."""
    if relation is None:
        return float(lengths.max(initial=0.0))
    return float(lengths[relation.array].max(initial=0.0))


def _exact(lengths: Floats, units: Floats, where: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> bool:
    return bool((units[where] == 1).all() or np.array_equal(lengths, units))


def _shortest(steps: Floats) -> Floats:
    lengths = steps.copy()
    np.fill_diagonal(lengths, 0.0)
    for k in range(len(lengths)):
        np.minimum(lengths, lengths[:, k, None] + lengths[None, k, :], out=lengths)
    return lengths
