"""Districts: sums of the shares of neighbouring places, at the finest resolution that reports settle."""

from __future__ import annotations

from itertools import product
from typing import Final

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial import cKDTree
from threadpoolctl import threadpool_limits

from ..core import Mechanism, Prior
from ..core.arrays import Floats, readonly
from ..geo import Places
from ..leakage.likelihood import maximise
from .estimate import ConfidenceIntervals, Districts, check_failure
from .goodness_of_fit import distance_within
from .intervals import LikelihoodSet
from .reports import AnyReports, Pooled, Reports, pooled

MOST_PLACES: Final = 2_000
"""The most places for which districts are looked for: two thousand take half a minute."""

_SIDES: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)  # in distances of neighbouring places
_SETTLED: Final = 0.5  # the part of the population that the lower ends of the intervals must place
_GROUPS: Final = 48  # of similar reports: more are not worth their part of the failure
_FINE: Final = 0.02  # of an interval's half: by how much it may be too wide


def settled_districts(reports: AnyReports, *, failure: float = 0.05) -> Districts | None:
    """Return the smallest districts whose shares reports settle.

    The intervals are { a . p : reports x D(frequencies || p C) <= t }. The true distribution is in this set with
    probability 1 - failure, for every number of reports (see `reports_fit`), so no correction is needed for the
    number of districts or for the choice of their size. C has similar reports merged, as the mechanism alone says.
    Districts count as settled where the lower ends sum to at least 1/2: at least that part of the population is
    then placed for sure. Sides from 2 to 64 distances of neighbouring places are tried.

    Args:
        reports: Reports through one mechanism on places, or batches through several.
        failure: The probability that any interval misses.

    Returns:
        The districts; None where the reports settle not even two, the secrets are not places or more than
        2,000, or the reports are weighted.

    Example:
        >>> import sfumato as sf
        >>> from sfumato.estimation import Reports, settled_districts
        >>> lattice = sf.Lattice.covering("4 km x 4 km around 48.85,2.35", "1 km")
        >>> mechanism = sf.mechanisms.exponential(lattice, lattice.metric("euclidean", "km"), "1.5/km")
        >>> settled_districts(Reports(mechanism, [10_000] * len(lattice)))
        9 districts of about 2 km
    """
    missed = check_failure(failure)
    pool = pooled(reports)
    space = pool.secrets
    if not isinstance(space, Places) or not 1 < len(space) <= MOST_PLACES or pool.weighted:
        return None
    with threadpool_limits(1, user_api="blas"):  # on a busy machine threads wait for each other in small products
        return _search(pool, space, missed)


def expected_districts(mechanism: Mechanism, prior: Prior, reports: int) -> Districts | None:
    """Return the districts that so many reports of a population like the prior settle, before there is any."""
    expected = np.rint(reports * (prior.probabilities @ mechanism.matrix))
    return settled_districts(Reports(mechanism, expected)) if expected.any() else None


def _search(pool: Pooled, space: Places, failure: float) -> Districts | None:
    """Return the smallest districts that are settled."""
    merged, coordinates = _likelihood(pool, failure), space.coordinates
    if merged is None or coordinates is None:
        return None
    likely, best = merged
    spacing = float(np.median(cKDTree(coordinates).query(coordinates, k=2)[0][:, 1]))
    for side in _SIDES:
        middles, parts = _blocks(coordinates, side * spacing)
        if len(parts) < 2:
            return None
        lower = _lower_ends(likely, parts, parts @ best)
        if lower is None:
            continue
        upper = np.array([likely.highest(row) for row in parts])
        names = tuple(f"d{i}" for i in range(1, len(parts) + 1))
        return Districts(
            places=space,
            side_m=side * spacing,
            latlon=readonly(space.projection.inverse(middles)),
            parts=readonly(parts),
            shares=readonly(parts @ best),
            intervals=ConfidenceIntervals(
                readonly(lower), readonly(upper), failure, "relative-entropy", True, names, together=True
            ),
            reports=pool.total,
        )
    return None


def _likelihood(pool: Pooled, failure: float) -> tuple[LikelihoodSet, Floats] | None:
    """Return the distributions near enough to the reports, and the likeliest; None if there are none."""
    possible = pool.matrix.any(axis=0)
    matrix, frequencies = pool.matrix[:, possible], pool.frequencies[possible]
    if matrix.shape[1] > _GROUPS and not pool.batch.any():
        groups = fcluster(linkage(np.sqrt(matrix / matrix.sum(axis=0)).T, "ward"), _GROUPS, "maxclust")
        members = (groups[:, None] == np.unique(groups)).astype(np.float64)
        matrix, frequencies = matrix @ members, frequencies @ members
    distance = distance_within(failure, matrix.shape[1] - 1) / pool.total
    seen = frequencies > 0
    matrix, frequencies = matrix[:, seen], frequencies[seen]
    n = len(matrix)
    best = maximise(matrix, frequencies, np.zeros(n), np.full(n, 1.0 / n), 1e-4 * distance).probabilities
    spent = float(frequencies @ np.log(frequencies / (best @ matrix)))
    return (LikelihoodSet(matrix, frequencies, best, distance - spent, _FINE), best) if spent < distance else None


def _blocks(coordinates: Floats, side: float) -> tuple[Floats, Floats]:
    """Return the middles of districts, array (m, 2), and the part of each place, array (m, places)."""
    low, high = coordinates.min(axis=0), coordinates.max(axis=0)
    count = np.maximum(1.0, np.rint((high - low) / side))
    first = (low + high) / 2 - side * (count - 1) / 2
    within = np.clip(np.round((coordinates - first) / side, 9), 0.0, count - 1)  # in sides; none is met by 1e-16
    base = np.minimum(np.floor(within), np.maximum(count - 2, 0.0))
    part = within - base
    steps = np.array(list(product((0, 1), repeat=2)))  # to the four middles around a place
    shares = np.where(steps[:, None], part, 1 - part).prod(axis=2)
    around, district = np.unique((base + steps[:, None])[..., ::-1].reshape(-1, 2), axis=0, return_inverse=True)
    weights = np.zeros((len(around), len(coordinates)))
    np.add.at(weights, (district.ravel(), np.tile(np.arange(len(coordinates)), len(steps))), shares.ravel())
    used = weights.any(axis=1)
    return first + side * around[used][:, ::-1], weights[used]


def _lower_ends(likely: LikelihoodSet, parts: Floats, shares: Floats) -> Floats | None:
    """Return the lower ends of all shares; None as soon as they cannot place enough of the population."""
    lower, open_share = np.zeros(len(parts)), float(shares.sum())
    for i in np.argsort(-shares, kind="stable"):
        lower[i] = max(0.0, likely.lowest(parts[i]))
        open_share -= float(shares[i] - lower[i])
        if open_share < _SETTLED:
            return None
    return lower
