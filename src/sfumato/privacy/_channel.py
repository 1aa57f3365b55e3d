"""A mechanism as the notions see it: checked rows and the names of rows and columns."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from ..core import Mechanism, Space
from ..core.arrays import Floats, floats
from ..core.weights import check_stochastic
from ..errors import InputError

AnyMechanism = Mechanism | ArrayLike
"""A mechanism, or the array (secrets, observables) of its probabilities."""


class Channel(NamedTuple):
    """The rows p(.|s) of a mechanism.

    Attributes:
        matrix: Array (n, m).
        secrets: The n secrets.
        observables: The m observables.
    """

    matrix: Floats
    secrets: Space
    observables: Space


def channel(mechanism: AnyMechanism) -> Channel:
    """Return the rows of a mechanism or array; the array's values are numbered from 0.

    Raises:
        InputError: If an entry is negative or not finite, or a row does not sum to one within 1e-9.
    """
    if isinstance(mechanism, Mechanism):
        return Channel(mechanism.matrix, mechanism.secrets, mechanism.observables)
    array = floats(mechanism, "the matrix", shape=(None, None))
    if array.size == 0:
        raise InputError("the matrix is empty.", "pass one row per secret and one column per observable.")
    check_stochastic(array)
    return Channel(array, Space(range(array.shape[0])), Space(range(array.shape[1])))


def rows_equal(mechanism: AnyMechanism) -> bool:
    """Return whether all secrets have the same row, in the integers of a mechanism."""
    rows = mechanism.weights if isinstance(mechanism, Mechanism) else channel(mechanism).matrix
    return bool((rows == rows[0]).all())
