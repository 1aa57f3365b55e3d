"""The secrets of a batch's rows, each by its own mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core import Words
from ...core.arrays import Floats
from ..reporters import BLOCK, Reporter, Secrets

Chosen = NDArray[np.intp] | None


def secrets_of(reporters: Sequence[Reporter], columns: Sequence[Any], chosen: Chosen) -> Secrets:
    """Return the secrets in columns of labels or numbers.

    Args:
        reporters: The mechanisms.
        columns: Arrow arrays (n,).
        chosen: The number of the mechanism of each row, array (n,); None where there is one.

    Raises:
        DataError: If a column holds neither.
    """
    parts = [each.of(*columns) for each in reporters]
    if chosen is None:
        return parts[0]
    values, inside = (np.stack([getattr(part, what) for part in parts]) for what in ("values", "inside"))
    rows = np.arange(len(chosen))
    return Secrets(values[chosen, rows], inside[chosen, rows])


def secrets_at(
    reporters: Sequence[Reporter], lat: Floats, lon: Floats, chosen: Chosen, words: Words, *, nearest: bool
) -> Secrets:
    """Return the secrets of points on the ground.

    Args:
        reporters: The mechanisms.
        lat: Degrees, array (n,); NaN where a row has no position.
        lon: Likewise.
        chosen: The number of the mechanism of each row, array (n,); None where there is one.
        words: Where the randomness comes from that rounds points to vertices.
        nearest: Whether points outside are moved first.
    """
    if chosen is None:
        return _at(reporters[0], lat, lon, words, nearest)
    groups = grouped(chosen) or [(0, np.arange(0))]
    found = [_at(reporters[number], lat[mine], lon[mine], words, nearest) for number, mine in groups]
    return _joined(found, [mine for _, mine in groups], len(lat))


def grouped(numbers: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return each number that occurs and where, in rising order."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    return list(zip(found.tolist(), np.split(order, starts[1:]), strict=True)) if len(numbers) else []


def _at(each: Reporter, lat: Floats, lon: Floats, words: Words, nearest: bool) -> Secrets:
    blocks = [slice(at, at + BLOCK) for at in range(0, max(1, len(lat)), BLOCK)]
    found = [each.at(lat[block], lon[block], words, nearest=nearest) for block in blocks]
    return _joined(found, blocks, len(lat))


def _joined(parts: Sequence[Secrets], where: Sequence[Any], size: int) -> Secrets:
    """Return the secrets of all rows, of parts of them."""
    if len(parts) == 1 and len(parts[0].inside) == size:
        return parts[0]
    pairs = any(part.values.ndim == 2 for part in parts)  # noise has points, lattices have positions
    kind = np.result_type(*(part.values.dtype for part in parts))
    values, inside = np.zeros((size, 2) if pairs else size, dtype=kind), np.zeros(size, dtype=bool)
    moved_m = np.zeros(size) if any(part.moved_m is not None for part in parts) else None
    for part, rows in zip(parts, where, strict=True):
        if pairs and part.values.ndim == 1:
            values[rows, 0] = part.values
        else:
            values[rows] = part.values
        inside[rows] = part.inside
        if moved_m is not None and part.moved_m is not None:
            moved_m[rows] = part.moved_m
    return Secrets(values, inside, moved_m)
