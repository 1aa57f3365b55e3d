"""Columns to keep that tell the position: refused by their values, whatever they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ...core.arrays import Floats
from ...errors import InputError, argument

_LOOKED_AT: Final = 1_000  # rows that are looked at
_FEW: Final = 10  # rows below which a line fits anything
_EQUAL: Final = 1e-5  # degrees, about a metre
_UNEXPLAINED: Final = 1e-4  # share of the variance that a position leaves open in its own coordinates
_SHAPE: Final = re.compile(r"\s*(?:SRID=\d+;)?\s*(?:MULTI)?POINT\s*(?:ZM|Z|M)?\s*\(", re.IGNORECASE)
_PAIR: Final = re.compile(r"\s*\(?\s*(-?\d+\.\d+)\s*[,; ]\s*(-?\d+\.\d+)\s*\)?\s*")


def check_kept(kept: Mapping[str, Any], lat: Floats, lon: Floats) -> None:
    """Refuse columns that hold the position in another form: coordinates of any projection, or a shape as text.

    Args:
        kept: The columns to keep, Arrow arrays by name.
        lat: The true latitudes, degrees, array (n,).
        lon: The true longitudes, degrees, array (n,).

    Raises:
        InputError: If one does, in the first thousand rows.
    """
    lat, lon = lat[:_LOOKED_AT], lon[:_LOOKED_AT]
    for name, column in kept.items():
        values = column.slice(0, _LOOKED_AT).to_pylist()
        if _tells(values, lat, lon):
            raise InputError(
                f"the column {name!r} holds positions in another form, so it is never kept.",
                f"leave it out of {argument('keep')}.",
            )


def _tells(values: list[Any], lat: Floats, lon: Floats) -> bool:
    texts = [value for value in values if isinstance(value, str)]
    if texts and all(_SHAPE.match(text) for text in texts):
        return True
    pairs = [_PAIR.fullmatch(value) if isinstance(value, str) else None for value in values]
    if texts and all(pair is not None for pair in pairs):
        one, two = (np.array([float(pair[k]) for pair in pairs if pair is not None]) for k in (1, 2))
        return (_equal(one, lat) and _equal(two, lon)) or (_equal(one, lon) and _equal(two, lat))
    return _follows(np.array([_number(value) for value in values]), lat, lon)


def _number(value: Any) -> float:
    try:
        return np.nan if value is None or isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _equal(one: Floats, other: Floats) -> bool:
    return bool((np.abs(one - other) <= _EQUAL).all())


def _follows(values: Floats, lat: Floats, lon: Floats) -> bool:
    """Return whether numbers are the coordinates, or a plane over them, as those of a projection nearly are."""
    known = np.isfinite(values) & np.isfinite(lat) & np.isfinite(lon)
    if known.sum() < max(1, len(values) // 2):
        return False
    values, lat, lon = values[known], lat[known], lon[known]
    if _equal(values, lat) or _equal(values, lon):
        return True
    spread, steps = values - values.mean(), np.diff(values)
    if len(values) < _FEW or np.allclose(
        steps, steps[0], rtol=1e-9
    ):  # the numbers of the rows, or always the same
        return False
    plane = np.column_stack([lat - lat.mean(), lon - lon.mean()])
    fitted = plane @ np.linalg.lstsq(plane, spread, rcond=None)[0]
    return bool(((spread - fitted) ** 2).sum() <= _UNEXPLAINED * (spread**2).sum())
