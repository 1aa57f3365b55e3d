"""Points that stand for people where no visits are used: spread evenly over a region, or with weights."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..core.arguments import checked
from ..errors import DataError
from .grid import Grid
from .region import Region
from .visits import Visits

POINTS: Final = 2_500  # of a region, about: more change the third digit of a loss
_SHARES: Final = 20_000  # the parts that the weight of all is divided into, at least
_MOST: Final = 200_000  # weighted points
_NAMES: Final = ("weight", "weights", "population", "pop", "people", "persons", "inhabitants", "count")


@checked
def spread_evenly(region: Region, shape: tuple[int, int] = (1, 1)) -> Visits:
    """Return about 2,500 points that are spread evenly over a region.

    They are the centres of a fine grid, with equally many points in each cell of a coarser one.

    Args:
        region: The region.
        shape: The columns and rows of a grid of the region, whose cells are to have equally many.
    """
    wide, high = (
        size * max(1, round(points / size)) for size, points in zip(shape, region.shape_of(POINTS), strict=True)
    )
    degrees = Grid.covering(region, shape=(wide, high)).latlon
    return Visits(degrees[:, 0], degrees[:, 1], polar=True)


def repeat_by_weight(points: Visits, source: str) -> Visits:
    """Return points repeated in proportion to their weights, the column ``weight`` or ``population``.

    The weight of all is divided into at least 20,000 parts, so that a share is off by at most about one part. A
    point of any weight has one at least.

    Args:
        points: The points, with their other columns.
        source: Where they come from, for errors.

    Raises:
        DataError: If there is not one such column, a weight is no number of at least 0, or all are zero.
    """
    names = [name for name in points.attributes if name.strip().lower() in _NAMES]
    if len(names) != 1:
        seen = ", ".join(map(repr, list(points.attributes)[:10])) or "none"
        raise DataError(
            f"{source} has {len(names)} columns of weights; its other columns: {seen}.",
            f"name one of them {_NAMES[0]!r}.",
        )
    weights = _numbers(points.attributes[names[0]], names[0], source)
    if len(weights) > _MOST:
        raise DataError(f"{source} has {len(weights):,} points, more than {_MOST:,}.", "put neighbours together.")
    parts = max(_SHARES, 2 * len(weights))
    quotas = weights / weights.max()
    quotas *= parts / quotas.sum()
    times = np.maximum(np.floor(quotas), quotas > 0).astype(np.int64)
    missing = max(0, parts - int(times.sum()))
    times[np.argsort(times - quotas, kind="stable")[:missing]] += 1
    where = np.repeat(np.arange(len(weights)), times)
    return Visits(points.lat[where], points.lon[where], polar=True)


def _numbers(column: Any, name: str, source: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    try:
        weights = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"the column {name!r} of {source} holds no numbers.", "name another one 'weight'."
        ) from None
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        raise DataError(
            f"{int(wrong.sum()):,} of {len(weights):,} weights in the column {name!r} of {source} are missing, "
            "negative or infinite.",
            "use numbers of at least 0; 0 leaves a point out.",
        )
    if not weights.any():
        raise DataError(f"all weights in the column {name!r} of {source} are zero.", "use positive weights.")
    return weights
