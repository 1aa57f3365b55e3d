"""Secrets of the rows of a batch, each by its mechanism, and rows outside.

``chosen`` is the number of the mechanism of each row, array (n,); None for a single one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..core import Words
from ..core.arrays import Floats
from ..errors import DataError, argument
from ..rounding import amount_at_most, counted
from ..sampling import SystemWords
from .reporters import BLOCK, MatrixReporter, Reporter, Secrets

Chosen = NDArray[np.intp] | None
_FAR: Final = 20.0  # times as far as is allowed


def secrets_of(reporters: Sequence[Reporter], columns: Sequence[Any], chosen: Chosen) -> Secrets:
    """Return the secrets in columns of labels or numbers."""
    parts = [each.of(*columns) for each in reporters]
    if chosen is None:
        return parts[0]
    values, inside = (np.stack([getattr(part, what) for part in parts]) for what in ("values", "inside"))
    rows = np.arange(len(chosen))
    return Secrets(values[chosen, rows], inside[chosen, rows])


def secrets_at(
    reporters: Sequence[Reporter], lat: Floats, lon: Floats, chosen: Chosen, words: Words, *, nearest: bool
) -> Secrets:
    """Return the secrets of points (degrees, NaN for none), rounded to vertices with ``words``."""
    if chosen is None:
        return _at(reporters[0], lat, lon, words, nearest)
    groups = grouped(chosen) or [(0, np.arange(0))]
    found = [_at(reporters[number], lat[mine], lon[mine], words, nearest) for number, mine in groups]
    return _join(found, [mine for _, mine in groups], len(lat))


def grouped(numbers: NDArray[np.intp]) -> list[tuple[int, NDArray[np.intp]]]:
    """Return each number that occurs and its positions, in rising order of numbers."""
    order = np.argsort(numbers, kind="stable")
    found, starts = np.unique(numbers[order], return_index=True)
    return list(zip(found.tolist(), np.split(order, starts[1:]), strict=True)) if len(numbers) else []


def _at(each: Reporter, lat: Floats, lon: Floats, words: Words, nearest: bool) -> Secrets:
    blocks = [slice(at, at + BLOCK) for at in range(0, max(1, len(lat)), BLOCK)]
    found = [each.at(lat[block], lon[block], words, nearest=nearest) for block in blocks]
    return _join(found, blocks, len(lat))


def _join(parts: Sequence[Secrets], where: Sequence[Any], size: int) -> Secrets:
    """Return the secrets of all rows, joined from those of groups."""
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


def check_near(
    moved_m: Floats,
    inside: NDArray[np.bool_],
    within_m: float,
    start: int,
    *,
    place: str = "",
    drop_hint: str = "",
) -> None:
    """Refuse rows that were moved too far."""
    too_far = inside & (moved_m > within_m)
    if not too_far.any():
        return
    first = int(np.argmax(too_far))
    farthest = amount_at_most(float(moved_m.max()), "m")
    far = float(moved_m.max()) > _FAR * within_m  # probably no slip at a border
    raise DataError(
        f"{counted(int(too_far.sum()), 'row')} {_are(int(too_far.sum()))} more than "
        f"{amount_at_most(within_m, 'm')} outside{_by(place)} (the first is "
        f"number {start + first + 1}; the farthest up to number {start + len(moved_m):,} is {farthest} away).",
        "check that mechanism and data belong together, and that latitude and longitude are not swapped",
        f"move them anyway with {argument('within', farthest)}" if not far else "",
        drop_hint or f"pass {argument('outside', 'drop')} to leave rows outside out",
        "design the mechanism for a wider region.",
    )


def _by(place: str) -> str:
    return f" by {place}" if place else ""


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _misspelt(reporters: Sequence[Reporter], columns: Sequence[Any]) -> str:
    """Return a hint if a value differs from a label only in capitals, blanks or the form of accents.

    It does not show the value, which may be confidential.
    """
    if len(columns) != 1 or len(reporters) != 1 or not isinstance(reporters[0], MatrixReporter):
        return ""
    labels, values = reporters[0].single.secrets.labels, columns[0].to_pylist()
    known = {_folded(label) for label in labels if isinstance(label, str)}
    if not any(isinstance(value, str) and _folded(value) in known for value in values):
        return ""
    return "correct the label: one differs only in its capitals, blanks or the form of its accents"


def _swapped(reporters: Sequence[Reporter], lat: Floats, lon: Floats, chosen: Chosen) -> str:
    """Return a hint if all points outside would be inside with their coordinates exchanged."""
    known = np.isfinite(lat) & np.isfinite(lon) & (np.abs(lon) <= 90)
    if not known.all():
        return ""
    exchanged = secrets_at(reporters, lon, lat, chosen, SystemWords(), nearest=False).inside.all()
    swapped = "see whether latitude and longitude are swapped: exchanged, these rows are inside"
    return swapped if exchanged else ""


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())


def refuse_outside(
    reporters: Sequence[Reporter],
    inside: NDArray[np.bool_],
    start: int,
    at: tuple[Floats, Floats] | None,
    chosen: Chosen,
    columns: Sequence[Any],
    *,
    nearest: bool,
    place: str = "",
    drop_hint: str = "",
) -> None:
    """Refuse the rows that are not ``inside``, at least one; the `DataError` says what can be done.

    ``at`` are degrees, NaN for none; None where secrets are not places. ``columns`` are the labels of the rows
    outside. ``place`` names the columns of the place, where rows have several. ``nearest`` is whether rows were
    moved already.
    """
    rows, count, first = len(inside), int((~inside).sum()), start + int(np.argmin(inside)) + 1
    of = f"{rows:,} rows" if not start else f"the rows {start + 1:,} to {start + rows:,}"
    where = reporters[0].where if len(reporters) == 1 else "at any of the secrets of their mechanisms"
    drop = drop_hint or f"pass {argument('outside', 'drop')} to leave them out"
    number = f"{f'by {place} ' if place else ''}(the first is number {first})"
    if at is None:
        raise DataError(
            f"{count:,} of {of} {_are(count)} not {where} {number}.",
            _misspelt(reporters, columns) or "correct the label, or give missing answers a label of their own",
            drop,
            "design the mechanism for these labels too.",
        )
    lat, lon = at
    missing = int((~inside & ~(np.isfinite(lat) & np.isfinite(lon))).sum())
    if missing == count:
        raise DataError(
            f"{count:,} of {of} {'has' if count == 1 else 'have'} no position {number}.",
            drop,
            "leave rows without a position out of the source: they cannot be moved.",
        )
    alien = ~inside & np.isfinite(lat) & np.isfinite(lon) & ((np.abs(lat) > 90) | (np.abs(lon) > 360))
    without = f"; {missing:,} of these have no position" if missing else ""
    if alien.any():
        row = int(np.argmax(alien))
        raise DataError(
            f"{count:,} of {of} {_are(count)} not {where} {number}{without}. The latitude and longitude of number "
            f"{start + row + 1} are no degrees.",
            "convert metres or feet of a map to degrees of WGS84 first, as pyproj and geopandas do",
            drop,
        )
    raise DataError(
        f"{count:,} of {of} {_are(count)} not {where} {number}{without}.",
        _swapped(reporters, lat[~inside], lon[~inside], None if chosen is None else chosen[~inside])
        or "check that mechanism and data belong together, and that latitude and longitude are not swapped",
        f"pass {argument('outside', 'nearest')} to move those on the Earth to the nearest place"
        if not nearest and all(each.moves for each in reporters)
        else "",
        drop,
        "design the mechanism for a wider region.",
    )
