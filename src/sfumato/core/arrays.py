"""Arrays: checked once where they enter the package, then read-only; and degrees as reports have them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, TypeGuard, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, python, row_value, shell

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Positions = NDArray[np.intp]
AnyArray = TypeVar("AnyArray", bound=NDArray[Any])

_UNITS: Final = 1e7  # per degree


def floats(value: ArrayLike, subject: str, *, shape: Sequence[int | None], infinite: bool = False) -> Floats:
    """Return a read-only float array of ``value``, a copy unless it is one already.

    ``subject`` names it in errors; None in ``shape`` leaves an axis free. Another shape, NaN, or an infinite entry
    (but ``+inf`` with ``infinite``) is an `InputError`.
    """
    array = value if _final(value) else numbers(value, subject)
    if array.ndim != len(shape) or any(w is not None and w != g for w, g in zip(shape, array.shape, strict=True)):
        pattern = " x ".join("any" if size is None else str(size) for size in shape)
        dimensions = " x ".join(map(str, array.shape)) or "a single number"
        flat = len(shape) == 1 < array.ndim and array.size == max(array.shape, default=0)
        advice = "check its rows and columns." if len(shape) > 1 else "pass one number for each."
        hints = (python("pass array.ravel()."), shell(advice)) if flat else (advice,)
        raise InputError(f"{subject} has shape {dimensions}, but {pattern} is needed.", *hints)
    least, most = float(array.min(initial=np.inf)), float(array.max(initial=-np.inf))  # NaN where there is one
    if not (-np.inf < least <= most < np.inf or (infinite and -np.inf < least <= most) or not array.size):
        bad = np.isnan(array) | (np.isneginf(array) if infinite else np.isinf(array))
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = where[0] if len(where) == 1 else where
        raise InputError(
            f"{subject} holds {array[where]} at position {place} ({int(bad.sum())} such entries in all).",
            "remove or replace these entries first.",
        )
    return readonly(array)


def _final(value: object) -> TypeGuard[Floats]:
    """Return whether a value is an array of floats that cannot be written to."""
    return type(value) is np.ndarray and value.dtype == np.float64 and is_frozen(value)


def is_frozen(array: NDArray[Any]) -> bool:
    """Return whether an array cannot be written to, nor the memory that it is a view of."""
    part: object = array
    while isinstance(part, np.ndarray):
        if part.flags.writeable:
            return False
        part = part.base
    return part is None or isinstance(part, bytes)


def numbers(value: ArrayLike, subject: str) -> Floats:
    """Return a float copy of ``value``, of any shape; `InputError` if it holds anything but numbers."""
    try:
        if getattr(getattr(value, "dtype", None), "kind", "") == "c":
            raise TypeError("they are complex")
        return np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        sparse, why = hasattr(value, "toarray"), f" ({error})"
        why = why if "inhomogeneous" in why else row_value(why, "")  # numpy names what it cannot convert
        raise InputError(
            f"{subject} is {'sparse' if sparse else f'not an array of numbers{why}'}.",
            python("pass its .toarray().") if sparse else "pass rows of numbers only.",
        ) from None


def any_array(value: ArrayLike, subject: str) -> NDArray[Any]:
    """Return an array of ``value``, a copy unless it is one already; `InputError` for rows of unequal length."""
    try:
        return np.asarray(value)
    except ValueError as error:
        raise InputError(f"{subject} is not an array ({error}).", "pass rows of equal length.") from None


def integer(value: object) -> int | None:
    """Return a Python or numpy integer as Python's own; None for anything else, including truth values."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return None
    return int(value)


def readonly(array: AnyArray) -> AnyArray:
    """Return the array with writing switched off."""
    array.flags.writeable = False
    return array


def freeze(array: AnyArray) -> AnyArray:
    """Return the array, or a read-only copy of one that can still be written to."""
    return array if is_frozen(array) else readonly(array.copy())


def distinct_points(points: Floats) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Return distinct points in lexical order, each point's number among them, and how often each occurs.

    Equals `numpy.unique` with ``axis=0`` for points (k, 2) without NaN; faster, and releases the interpreter.
    """
    pairs = np.ascontiguousarray(points + 0.0).view(np.complex128).ravel()  # -0.0 + 0.0 is 0.0
    distinct, where, times = np.unique(pairs, return_inverse=True, return_counts=True)
    return distinct.view(np.float64).reshape(-1, 2), where.ravel(), times


def round_degrees(latlon: Floats) -> Floats:
    """Return latitudes and longitudes as reports have them, with seven decimals, array of the same shape.

    Places move by at most 8 mm. Each number is the float nearest to its decimal, and so prints as that.
    """
    return np.asarray(np.rint(np.asarray(latlon) * _UNITS) / _UNITS + 0.0, dtype=np.float64)  # no negative zero


def round_point(lat: float, lon: float) -> tuple[float, float]:
    """Return one latitude and longitude as `round_degrees` does."""
    return round(lat * _UNITS) / _UNITS, round(lon * _UNITS) / _UNITS
