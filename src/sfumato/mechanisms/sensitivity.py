"""The sensitivity of queries: how far one record can move an answer."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, integer, numbers
from ..core.immutable import CompactRepr
from ..errors import InputError
from ..rounding import sum_above

Relation = Literal["add-remove", "replace-one"]
Dataset = tuple[Any, ...]
_MOST = 1 << 20


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity(CompactRepr):
    """The largest distance of the answers to two neighbouring data sets.

    Attributes:
        value: The distance.
        norm: 1 or 2, the norm in which vectors of answers are compared.
        relation: Which data sets are neighbours.
        witness: Two neighbours that attain it; None where a bound gives it, or no
            two of the data sets are neighbours.
    """

    value: float
    norm: int
    relation: Relation
    witness: tuple[Dataset, Dataset] | None = None


def datasets(universe: Iterable[Hashable], sizes: Iterable[int]) -> list[Dataset]:
    """Return all data sets of the given sizes, each a tuple of records in any order.

    Raises:
        InputError: If there are more than a million.

    Example:
        >>> from sfumato.mechanisms import datasets
        >>> datasets("ab", [2])
        [('a', 'a'), ('a', 'b'), ('b', 'b')]
    """
    records, counts = list(dict.fromkeys(universe)), sorted(set(sizes))
    total = sum(math.comb(len(records) + size - 1, size) if records else size == 0 for size in counts)
    if total > _MOST:
        raise InputError(f"there are {total:,} data sets.", "take fewer records or sizes, or a bound instead.")
    return [found for size in counts for found in combinations_with_replacement(records, size)]


def sensitivity(
    query: Callable[[Dataset], ArrayLike],
    among: Sequence[Dataset],
    relation: Relation = "add-remove",
    norm: Literal[1, 2] = 1,
) -> Sensitivity:
    """Return the exact sensitivity of a query over a finite set of data sets, with its witness.

    It holds for these data sets only: it says nothing about others.

    Args:
        query: From a data set (a tuple of records) to a number or a vector.
        among: The data sets; those that differ in the order of records only are one.
        relation: ``"add-remove"``: neighbours differ by one record more; ``"replace-one"``:
            by one record's value.
        norm: 1 or 2, for queries that return vectors.

    Raises:
        InputError: If there is no data set, an answer is not a finite number or the relation
            or the norm is unknown.

    Example:
        >>> from sfumato.mechanisms import datasets, sensitivity
        >>> found = sensitivity(sum, datasets([0, 3, 5], [1, 2]), "replace-one")
        >>> found.value, found.witness
        (5.0, ((0,), (5,)))
    """
    _check(relation, norm)
    if not among:
        raise InputError("there is no data set.", "pass the possible data sets.")
    try:
        distinct = {frozenset(Counter(data).items()): tuple(data) for data in reversed(among)}
    except TypeError as error:
        raise InputError(f"a record cannot be counted ({error}).", "use strings, numbers or tuples.") from None
    keys = list(reversed(distinct))
    answers = [_answer(query(distinct[key]), distinct[key]) for key in keys]
    if len({answer.shape for answer in answers}) != 1:
        raise InputError("the query's answers have several sizes.", "let it return vectors of one length.")
    position = {key: i for i, key in enumerate(keys)}
    without: dict[frozenset[tuple[Hashable, int]], list[int]] = {}
    for i, key in enumerate(keys):
        for record in dict(key):
            without.setdefault(_one_less(key, record), []).append(i)
    groups = (
        [(position[less], members) for less, members in without.items() if less in position]
        if relation == "add-remove"
        else [(i, members[j + 1 :]) for members in without.values() for j, i in enumerate(members)]
    )
    table = np.array(answers)
    best, witness = 0.0, None
    for i, others in groups:
        if not others:
            continue
        apart = np.linalg.norm(table[others] - table[i], ord=norm, axis=1)
        j = int(np.argmax(apart))
        if apart[j] > best or witness is None:
            best, witness = float(apart[j]), (distinct[keys[i]], distinct[keys[others[j]]])
    return Sensitivity(best, norm, relation, witness)


def count_sensitivity(relation: Relation = "add-remove") -> Sensitivity:
    """Return the sensitivity of "how many records have a property": 1, for both relations."""
    _check(relation, 1)
    return Sensitivity(1.0, 1, relation)


def histogram_sensitivity(relation: Relation = "add-remove", norm: Literal[1, 2] = 1) -> Sensitivity:
    """Return the sensitivity of the counts of at least two disjoint classes.

    One record more moves one count by 1; a replaced record moves two: 2 in the norm 1,
    sqrt(2) (rounded up) in the norm 2.
    """
    _check(relation, norm)
    replaced = 2.0 if norm == 1 else math.nextafter(math.sqrt(2), math.inf)
    return Sensitivity(1.0 if relation == "add-remove" else replaced, norm, relation)


def sum_sensitivity(
    low: ArrayLike, high: ArrayLike, relation: Relation = "add-remove", norm: Literal[1, 2] = 1
) -> Sensitivity:
    """Return the sensitivity of the sum of records that are clamped to [low, high], rounded up.

    Per coordinate max(|low|, |high|) for add-remove, high - low for replace-one.

    Args:
        low: The least value, a number or an array (coordinates,).
        high: The largest value, likewise.
        relation: Which data sets are neighbours.
        norm: 1 or 2, for several coordinates.

    Raises:
        InputError: If low is above high, or an argument is unknown or not finite.

    Example:
        >>> from sfumato.mechanisms import sum_sensitivity
        >>> sum_sensitivity(-2, 5).value, sum_sensitivity(-2, 5, "replace-one").value
        (5.0, 7.0)
    """
    _check(relation, norm)
    a, b = _range(low, high)
    if relation == "add-remove":
        return Sensitivity(_norm(np.maximum(np.abs(a), np.abs(b)), norm), norm, relation)
    apart = np.array([sum_above((y, -x)) for x, y in zip(a.tolist(), b.tolist(), strict=True)])
    return Sensitivity(_norm(apart, norm), norm, relation)


def mean_sensitivity(
    low: ArrayLike, high: ArrayLike, least: int, relation: Relation = "add-remove", norm: Literal[1, 2] = 1
) -> Sensitivity:
    """Return the sensitivity of the mean of records that are clamped to [low, high], rounded up.

    (high - low) / least for replace-one, (high - low) / (least + 1) for add-remove: the
    record that a data set of n has in addition moves the mean by (record - mean) / n.

    Args:
        low: The least value, a number or an array (coordinates,).
        high: The largest value, likewise.
        least: The least number of records of any data set, at least 1; for replace-one
            the number may be public and the same for all.
        relation: Which data sets are neighbours.
        norm: 1 or 2, for several coordinates.

    Raises:
        InputError: If low is above high, ``least`` is below 1, or an argument is unknown or not finite.
    """
    if integer(least) is None or least < 1:
        raise InputError(f"data sets of {least!r} records have no mean.", "use a least number of 1 or more.")
    whole = sum_sensitivity(low, high, "replace-one", norm).value
    _check(relation, norm)
    return Sensitivity(math.nextafter(whole / (least + (relation == "add-remove")), math.inf), norm, relation)


def _check(relation: str, norm: int) -> None:
    if relation not in ("add-remove", "replace-one"):
        raise InputError(f"the relation {relation!r} is unknown.", "use 'add-remove' or 'replace-one'.")
    if norm not in (1, 2):
        raise InputError(f"the norm {norm!r} is unknown.", "use 1 (for Laplace noise) or 2 (for Gaussian).")


def _answer(value: Any, data: Dataset) -> Floats:
    array = np.atleast_1d(numbers(value, f"the answer to {data!r}"))
    if array.ndim != 1 or not np.isfinite(array).all():
        raise InputError(f"the answer to {data!r} is {value!r}.", "a query returns a finite number or a vector.")
    return array


def _one_less(key: frozenset[tuple[Hashable, int]], record: Hashable) -> frozenset[tuple[Hashable, int]]:
    counts = Counter(dict(key))
    counts[record] -= 1
    return frozenset((+counts).items())


def _range(low: ArrayLike, high: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.atleast_1d(numbers(low, "low")), np.atleast_1d(numbers(high, "high"))
    if a.shape != b.shape or a.ndim != 1 or not (np.isfinite(a) & np.isfinite(b)).all() or (a > b).any():
        raise InputError(
            f"records cannot be clamped to {a.tolist()} ... {b.tolist()}.",
            "use finite bounds, the lower one first.",
        )
    return a, b


def _norm(parts: Floats, norm: int) -> float:
    if len(parts) == 1:
        return float(parts[0])
    if norm == 1:
        return sum_above(parts.tolist())
    return math.nextafter(math.hypot(*parts.tolist()) * (1 + 4e-16), math.inf)
