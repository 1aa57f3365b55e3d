"""Shares of each column by itself, from the estimated shares of their combinations."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core import JointSpace
from ...core.arrays import Floats, readonly
from .bootstrap import bootstrap_intervals
from .population import Kind
from .profile import profile_intervals
from .reports import AnyReports
from .result import ConfidenceIntervals, Estimate
from .unbiased import unbiased


def estimated_margins(
    found: Estimate,
    reports: AnyReports,
    *,
    intervals: Kind | None = None,
    failure: float = 0.05,
    seed: int | None = None,
) -> dict[str, Estimate]:
    """Return the shares of each column's values: sums of the estimated shares of combinations.

    Args:
        found: The estimate on a `JointSpace`; on another space there are no margins.
        reports: The reports that it was made from.
        intervals: As for `estimate_population`: intervals of the sums themselves, not sums of intervals.
        failure: The probability that an interval misses.
        seed: For the bootstrap.

    Returns:
        An estimate for each column, by its name.
    """
    space = found.space
    if not isinstance(space, JointSpace):
        return {}
    rows = {name: space.margin(name) for name in space.names}
    sure = (
        None
        if intervals is None
        else _intervals(found, reports, np.vstack(list(rows.values())), intervals, failure, seed)
    )
    margins = {}
    start = 0
    for name, part in zip(space.names, space.parts, strict=True):
        stop = start + len(part)
        mine = None
        if sure is not None:
            mine = replace(
                sure,
                lower=readonly(sure.lower[start:stop].copy()),
                upper=readonly(sure.upper[start:stop].copy()),
                names=part.labels,
            )
        shares = readonly(rows[name] @ found.probabilities)
        margins[name] = replace(found, space=part, probabilities=shares, intervals=mine)
        start = stop
    return margins


def _intervals(
    found: Estimate, reports: AnyReports, rows: Floats, kind: Kind, failure: float, seed: int | None
) -> ConfidenceIntervals:
    if kind == "normal":
        return unbiased(reports).intervals(rows, failure)
    if kind == "profile":
        return profile_intervals(reports, rows, failure=failure)
    if found.method == "least squares":
        return bootstrap_intervals(reports, rows, method="least-squares", failure=failure, seed=seed or 0)
    return bootstrap_intervals(reports, rows, failure=failure, seed=seed or 0)
