"""Distances that their name and unit determine: built again, to hold a statement of them against."""

from __future__ import annotations

import numpy as np

from ..errors import InputError
from . import units
from .arrays import Floats
from .distances import KINDS, between
from .loss import Loss, member
from .metric import Metric
from .space import Space

_RELATIVE = 1e-9  # of each distance: another machine or projection library may round otherwise
_ABSOLUTE = 1e-12  # of the largest: what the rounding of coordinates leaves of a small distance,
_MOST = 1e-6  # but no more of any: a place far away is no excuse for those nearby


def as_named(given: Metric | Loss, rows: Space, columns: Space) -> bool:
    """Return whether distances are those that their name and unit stand for between two spaces.

    Args:
        given: The distances, array (rows, columns).
        rows: The values that the rows are of.
        columns: The values that the columns are of.

    Returns:
        False where the name is not one of a distance of the package (`Space.metric`,
        ``member``) or the spaces lack what it needs: then nothing can be compared.

    Raises:
        InputError: If the name determines other distances, or distances in another unit.
    """
    expected = _rebuilt(given.name, given.unit, rows, columns)
    if expected is None:
        return False
    if expected.shape != given.array.shape:
        n, m = given.array.shape
        raise InputError(
            f"the {given.name} distances are for {n} x {m} values, but there are {len(rows)} x {len(columns)}.",
            "use distances between the mechanism's own secrets and observables.",
        )
    slack = _RELATIVE * expected + np.minimum(_ABSOLUTE * expected.max(initial=0.0), _MOST * expected)
    near = np.abs(given.array - expected) <= slack
    if near.all():
        return True
    i, j = np.argwhere(~near)[0]
    unit = f" {given.unit}" if given.unit else ""
    raise InputError(
        f"the distances are called {given.name!r}, but between {rows.labels[i]!r} and {columns.labels[j]!r} they "
        f"give {given.array[i, j]:.6g}{unit} where the coordinates and labels give {expected[i, j]:.6g}{unit}.",
        "call distances of your own by a name of their own.",
    )


def _rebuilt(name: str, unit: str, rows: Space, columns: Space) -> Floats | None:
    if name == "member":
        array, found = member(rows, columns), ""
    elif name not in KINDS:
        return None
    else:
        try:
            array, found = between(rows, columns, name)
        except InputError:  # no coordinates, labels that are not sets, categories that nobody kept
            return None
    return array * units.factor(found, unit)
