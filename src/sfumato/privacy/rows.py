"""Rows of mechanisms: checks, comparisons over pairs, and excess masses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Mechanism, Randomizer, Space, check_stochastic, matrix_of
from ..core.arrays import Bools, Floats, Positions, floats
from ..errors import InputError

AnyMechanism = Mechanism | ArrayLike
"""A mechanism, or its array (secrets, observables) of probabilities."""


def list_matrix(mechanism: Randomizer | ArrayLike) -> AnyMechanism:
    """Return the matrix of any kind of mechanism, as its `channel` lists it; an array unchanged."""
    return matrix_of(mechanism) if isinstance(mechanism, Randomizer) else mechanism


class Channel(NamedTuple):
    """The rows p(.|s) of a mechanism, array (n, m), of n secrets and m observables."""

    matrix: Floats
    secrets: Space
    observables: Space


def channel(mechanism: AnyMechanism) -> Channel:
    """Return the rows of a mechanism or of a stochastic array, whose values are numbered from 0."""
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


Mask = Bools
"""Whether each ordered pair (s, t) of n rows counts, array (n, n)."""

_BEYOND: Final = 1400.0  # e to this makes any positive probability larger than 1


def check_delta(delta: float) -> None:
    """Raise InputError unless delta is a number from 0 to 1."""
    if not 0 <= delta <= 1:
        raise InputError(f"delta {delta} is not between 0 and 1.", "use a small probability, or 0.")


def check_epsilon(epsilon: float) -> None:
    """Raise InputError unless epsilon is at least 0; it may be infinite."""
    if not epsilon >= 0:
        raise InputError(f"epsilon {epsilon} is not a number of at least 0.", "use a number such as 0.5.")


def check_size(subject: str, size: int, secrets: int, hint: str) -> None:
    """Raise InputError unless the subject (with its verb) and the mechanism have as many secrets."""
    if size != secrets:
        raise InputError(f"{subject} {size} secrets, but the mechanism has {secrets}.", hint)


def span(matrix: Floats) -> float:
    """Return the largest logarithm of 1/p over the positive entries; no log-ratio is larger."""
    return -math.log(float(matrix[matrix > 0].min()))


def scale_by_exp(rows: Floats, epsilon: float | Floats) -> Floats:
    """Return e**epsilon times the rows, where 0 stays 0; epsilon may be infinite, or an array (k, 1)."""
    half = np.exp(np.minimum(epsilon, _BEYOND) / 2)  # in two steps: e**epsilon itself may not be a float
    with np.errstate(over="ignore"):
        return np.asarray(rows * half * half)


def excesses(matrix: Floats, mask: Mask, epsilon: float) -> Floats:
    """Return sum over o of max(0, p(o|s) - e**epsilon p(o|s')), array (n, n), zero outside the mask."""
    answer, ones, limits = np.zeros(mask.shape), np.ones(matrix.shape[1]), scale_by_exp(matrix, epsilon)
    for s in np.flatnonzero(mask.any(axis=1)):
        targets = np.flatnonzero(mask[s])
        gaps = limits[targets]
        np.subtract(matrix[s], gaps, out=gaps)
        answer[s, targets] = np.maximum(gaps, 0.0, out=gaps) @ ones
    return answer


def pair_blocks(
    rows: NDArray[Any], pairs: Positions, entries: int = 1 << 17
) -> Iterator[tuple[Positions, NDArray[Any], NDArray[Any]]]:
    """Yield pairs, array (c, 2), with their rows, two arrays (c, m), in blocks of about so many entries."""
    size = max(1, entries // rows.shape[1])
    for start in range(0, len(pairs), size):
        block = pairs[start : start + size]
        yield block, rows[block[:, 0]], rows[block[:, 1]]


def largest(values: Floats, mask: Mask) -> tuple[float, tuple[int, int] | None]:
    """Return the largest value of the pairs in a mask and its place; 0 and None without pairs."""
    if not mask.any():
        return 0.0, None
    s, t = np.unravel_index(int(np.argmax(np.where(mask, values, -np.inf))), values.shape)
    return float(values[s, t]), (int(s), int(t))


def unequal_pair(mechanism: AnyMechanism, mask: Mask) -> tuple[int, int] | None:
    """Return a pair of the mask whose rows differ, in the integers of a mechanism, or None."""
    rows = mechanism.weights if isinstance(mechanism, Mechanism) else channel(mechanism).matrix
    first: dict[tuple[float, ...], int] = {}
    same = np.array([first.setdefault(tuple(row), s) for s, row in enumerate(rows.tolist())])
    for s in np.flatnonzero(mask.any(axis=1)):
        differing = np.flatnonzero(mask[s] & (same != same[s]))
        if len(differing):
            return int(s), int(differing[0])
    return None
