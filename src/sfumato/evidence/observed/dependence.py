"""Whether successive calls depend on each other: noise that is reused, or drifts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from ...core.arrays import Floats
from ...errors import InputError
from .cells import as_points, is_point
from .permutation import PermutationTest, check_permutations, p_value
from .sample import as_label


def dependence_test(
    outputs: Iterable[Any],
    secrets: Iterable[Hashable] | None = None,
    *,
    lags: int = 16,
    permutations: int = 999,
    level: float = 0.05,
    seed: int | None = None,
) -> PermutationTest:
    """Test whether the outputs of successive calls are independent of each other.

    If they are, then every order of the outputs of one secret is equally likely. Numbers
    (and each number of points) are compared by the correlation of their ranks, within each
    secret, with those some calls later; other labels by how often they are equal to those
    some calls later. The statistic is the largest deviation over all lags, in standard deviations of the
    permuted orders; the level is exact, for it counts as many orders as are as extreme.

    Args:
        outputs: The outputs in the order of the calls: floats, tuples of floats, or labels.
        secrets: The secret of each call; by default all were the same.
        lags: How many calls later to look, at most.
        permutations: How many random orders to compare with.
        level: The probability of a false alarm.
        seed: Of the orders; by default a fresh one.

    Raises:
        InputError: If there are too few outputs for the lags.

    Example:
        >>> from sfumato.evidence.observed import dependence_test
        >>> dependence_test(["a", "b", "c"] * 40, seed=1).rejected
        True
    """
    check_permutations(permutations, level)
    values = [as_label(output) for output in outputs]
    strata = _codes(["" for _ in values] if secrets is None else list(secrets))
    if len(strata) != len(values):
        raise InputError(f"there are {len(values)} outputs, but {len(strata)} secrets.", "pass one per call.")
    if lags < 1 or len(values) <= 2 * lags:
        raise InputError(
            f"{len(values)} outputs do not show dependence over {lags} calls.",
            "collect more outputs, or look at fewer lags (at least one).",
        )
    numeric = all(is_point(value) for value in values)
    series = _ranks(as_points(values), strata) if numeric else _codes(values)[:, None].astype(np.float64)
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    found = np.empty((permutations + 1, lags * series.shape[1]))
    found[0] = _agreement(series, lags, numeric)
    for row in range(1, permutations + 1):
        shuffled = series.copy()
        for group in groups:
            shuffled[group] = series[rng.permutation(group)]
        found[row] = _agreement(shuffled, lags, numeric)
    spread = found.std(axis=0)
    usable = spread > 1e-12 * (1 + np.abs(found).max(axis=0))
    scores = np.abs(found - found.mean(axis=0))[:, usable] / spread[usable]
    largest = scores.max(axis=1, initial=0.0)
    return PermutationTest(
        "successive outputs are independent",
        float(largest[0]),
        p_value(float(largest[0]), largest[1:]),
        permutations,
        level,
    )


def _agreement(series: Floats, lags: int, numeric: bool) -> Floats:
    """Return how much outputs agree with those each lag later, for each of their numbers."""
    agree = np.multiply if numeric else np.equal
    return np.concatenate([agree(series[:-lag], series[lag:]).sum(axis=0) for lag in range(1, lags + 1)])


def _ranks(points: Floats, strata: NDArray[np.intp]) -> Floats:
    ranks = np.empty(points.shape)
    for stratum in np.unique(strata):
        group = strata == stratum
        own = rankdata(points[group], axis=0)
        ranks[group] = own - own.mean(axis=0)
    return ranks


def _codes(labels: list[Hashable]) -> NDArray[np.intp]:
    positions: dict[Hashable, int] = {}
    return np.array([positions.setdefault(label, len(positions)) for label in labels], dtype=np.intp)
