"""Columns of a released table: the reports, and what is kept beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..core import WGS84, Space
from ..core.arrays import Floats
from ..core.degrees import released
from ..errors import InputError
from ..geo import Places, Projection
from ..sampling import Integers
from ..tables import label_column

DEGREES: Final = ("latitude", "longitude")
"""The columns of places."""


def report_columns(observables: Space, reports: Integers) -> dict[str, Any]:
    """Return the columns of reports, array (rows,), or of tuples of them, array (rows, k + 1)."""
    if reports.ndim == 2:
        return {
            f"{name}_{number}": values
            for number, column in enumerate(reports.T, 1)
            for name, values in report_columns(observables, column).items()
        }
    latlon = _latlon(observables)
    places = {}
    if latlon is not None:
        places = dict(zip(DEGREES, released(latlon)[reports].T, strict=True))
    return {**places, "label": label_column(observables).take(pa.array(reports))}


def _latlon(space: Space) -> Floats | None:
    """Return latitudes and longitudes (n, 2) where the labels have any, such as groups of cells."""
    if isinstance(space, Places) or (space.crs == WGS84 and space.coordinates is not None):
        return space.latlon
    if space.crs is None or space.coordinates is None:
        return None
    try:
        return Projection.from_crs(space.crs).inverse(space.coordinates)
    except InputError:  # a coordinate system of the user's own
        return None


def joined(reported: dict[str, Any], kept: dict[str, Any], inside: NDArray[np.bool_]) -> pa.Table:
    """Return the released table, whose names `check_names` has seen.

    Args:
        reported: The columns of reports, one row for each row inside.
        kept: Columns of all rows that are carried over.
        inside: Which rows are reported, array (n,).
    """
    mask = pa.array(inside)
    return pa.table({**reported, **{name: values.filter(mask) for name, values in kept.items()}})


def check_names(reported: Iterable[str], kept: Iterable[str]) -> None:
    """Check, before anything is drawn, that no column that is kept has the name of a released one.

    Raises:
        InputError: If one has.
    """
    clash = sorted(set(reported) & set(kept))
    if clash:
        raise InputError(
            f"the column {clash[0]!r} cannot be kept: the released column has this name.",
            "rename it in the source first.",
        )
