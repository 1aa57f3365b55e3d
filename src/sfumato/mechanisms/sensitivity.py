"""Sensitivity of queries, and the joint cost of several queries on the same data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..core.arrays import Floats, integer, numbers
from ..core.immutable import CompactRepr, assign
from ..errors import InputError
from ..rounding import sum_above
from .family import positive

Relation = Literal["add-remove", "replace-one"]
Dataset = tuple[Any, ...]
_MOST = 1 << 20

Rule = Literal["equal-noise", "equal-epsilon", "least-variance", "least-error"]
# Of the sensitivity and of the weight, in each query's share of epsilon.
_POWERS = {
    "equal-noise": (1, 0),
    "equal-epsilon": (0, 0),
    "least-variance": (2 / 3, 1 / 3),
    "least-error": (0.5, 0.5),
}


@dataclass(frozen=True, slots=True, repr=False)
class Sensitivity(CompactRepr):
    """The largest distance of the answers to two neighbouring data sets.

    Vectors of answers are compared in the norm 1 or 2. The witness is two neighbours that attain it; None for a
    bound, or without neighbours.
    """

    value: float
    norm: int
    relation: Relation
    witness: tuple[Dataset, Dataset] | None = None


def datasets(universe: Iterable[Hashable], sizes: Iterable[int]) -> list[Dataset]:
    """Return all data sets of the given sizes, each a tuple of records; `InputError` if over a million.

    Example:
        >>> from sfumato.mechanisms import datasets
        >>> datasets("ab", [2])
        [('a', 'a'), ('a', 'b'), ('b', 'b')]
    """
    records, counts = list(dict.fromkeys(universe)), sorted(set(sizes))
    total = sum(math.comb(len(records) + size - 1, size) if records else size == 0 for size in counts)
    if total > _MOST:
        raise InputError(f"there are {total:,} data sets.", "take fewer records or sizes, or a bound instead.")
    return [dataset for size in counts for dataset in combinations_with_replacement(records, size)]


def sensitivity(
    query: Callable[[Dataset], ArrayLike],
    among: Sequence[Dataset],
    relation: Relation = "add-remove",
    norm: Literal[1, 2] = 1,
) -> Sensitivity:
    """Return the exact sensitivity of a query over a finite set of data sets, with its witness.

    It holds for these data sets only. The query takes a data set (a tuple of records) to a number or a vector, and
    data sets that differ in the order of records only are one. For ``"add-remove"`` neighbours differ by one
    record more, for ``"replace-one"`` by one record's value. The norm, 1 or 2, is for vectors. Raises `InputError`
    if there is no data set, an answer is not a finite number or the relation or the norm is unknown.

    Example:
        >>> from sfumato.mechanisms import datasets, sensitivity
        >>> total = sensitivity(sum, datasets([0, 3, 5], [1, 2]), "replace-one")
        >>> total.value, total.witness
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
    for i, neighbours in groups:
        if not neighbours:
            continue
        apart = np.linalg.norm(table[neighbours] - table[i], ord=norm, axis=1)
        j = int(np.argmax(apart))
        if apart[j] > best or witness is None:
            best, witness = float(apart[j]), (distinct[keys[i]], distinct[keys[neighbours[j]]])
    return Sensitivity(best, norm, relation, witness)


def count_sensitivity(relation: Relation = "add-remove") -> Sensitivity:
    """Return the sensitivity of "how many records have a property": 1, for both relations."""
    _check(relation, 1)
    return Sensitivity(1.0, 1, relation)


def histogram_sensitivity(relation: Relation = "add-remove", norm: Literal[1, 2] = 1) -> Sensitivity:
    """Return the sensitivity of the counts of at least two disjoint classes.

    One record more moves one count by 1. A replaced record moves two: 2 in the norm 1, sqrt(2) (rounded up) in the
    norm 2.
    """
    _check(relation, norm)
    replaced = 2.0 if norm == 1 else math.nextafter(math.sqrt(2), math.inf)
    return Sensitivity(1.0 if relation == "add-remove" else replaced, norm, relation)


def sum_sensitivity(
    low: ArrayLike, high: ArrayLike, relation: Relation = "add-remove", norm: Literal[1, 2] = 1
) -> Sensitivity:
    """Return the sensitivity of the sum of records that are clamped to [low, high], rounded up.

    Per coordinate max(|low|, |high|) for add-remove, high - low for replace-one. ``low`` and ``high`` are numbers
    or arrays (coordinates,); the norm, 1 or 2, is for several coordinates. Raises `InputError` if low is above
    high, or an argument is unknown or not finite.

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

    (high - low) / least for replace-one, (high - low) / (least + 1) for add-remove, as one more record in a data
    set of n moves the mean by (record - mean) / n. No data set has fewer than ``least`` records, at least 1; for
    replace-one the number may be public and the same for all. The other arguments are those of `sum_sensitivity`.
    Raises `InputError` if low is above high, ``least`` is below 1, or an argument is unknown or not finite.
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


@dataclass(frozen=True, slots=True, repr=False)
class JointQueries(CompactRepr):
    """Queries with Laplace noise of scale Delta_i / epsilon_i each, released together.

    They are jointly private with the sum of the epsilon_i. It is exact if some two neighbouring data sets move all
    answers by their sensitivities at once; otherwise `sensitivity` of the vector of queries gives less. Raises
    `InputError` if there is no query, the numbers differ, or one is not positive.

    Source:
        Dwork and Roth, "The algorithmic foundations of differential privacy", theorem 3.14.

    Example:
        >>> from sfumato.mechanisms import JointQueries
        >>> both = JointQueries.allocate([1.0, 3.0], 0.5, "equal-noise")
        >>> both.scales  # (1 + 3) / 0.5 on each
        (8.0, 8.0)
    """

    sensitivities: tuple[float, ...]
    epsilons: tuple[float, ...]

    def __init__(self, sensitivities: Sequence[float], epsilons: Sequence[float]) -> None:
        if not sensitivities or len(sensitivities) != len(epsilons):
            raise InputError(
                f"there are {len(sensitivities)} sensitivities and {len(epsilons)} epsilons.",
                "pass one of each per query.",
            )
        assign(self, sensitivities=tuple(positive(number, "a sensitivity") for number in sensitivities))
        assign(self, epsilons=tuple(positive(epsilon, "an epsilon") for epsilon in epsilons))

    @classmethod
    def allocate(
        cls, sensitivities: Sequence[float], epsilon: float, rule: Rule, weights: Sequence[float] | None = None
    ) -> JointQueries:
        """Return the queries with a total epsilon divided between them.

        The shares are proportional to Delta_i (``equal-noise``: the scale (sum of Delta_i) / epsilon on each), the
        same (``equal-epsilon``), to (w_i Delta_i^2)^(1/3) (``least-variance``: of the weighted sum of variances)
        or to (w_i Delta_i)^(1/2) (``least-error``: of the weighted sum of expected errors). ``weights`` w_i are
        the importance of each query, by default 1, for the last two rules only. Raises `InputError` if a number is
        not positive, or the rule is unknown or takes no weights.
        """
        if rule not in get_args(Rule):
            raise InputError(f"the rule {rule!r} is unknown.", f"use one of {', '.join(get_args(Rule))}.")
        of_sensitivity, of_weight = _POWERS[rule]
        if weights is not None and (not of_weight or len(weights) != len(sensitivities)):
            raise InputError("this rule cannot use these weights.", "pass one per query, for a least-... rule.")
        total, importance = positive(epsilon, "epsilon"), weights or [1.0] * len(sensitivities)
        parts = [
            positive(d, "a sensitivity") ** of_sensitivity * positive(w, "a weight") ** of_weight
            for d, w in zip(sensitivities, importance, strict=True)
        ]
        whole = math.fsum(parts)
        shares = [total * part / whole for part in parts]
        # Rounding may have made the sum slightly larger than what all may cost.
        while math.fsum((*shares, -total)) > 0:
            shares = [math.nextafter(share, 0.0) for share in shares]
        return cls(sensitivities, shares)

    @property
    def scales(self) -> tuple[float, ...]:
        """The scale of each query's Laplace noise, Delta_i / epsilon_i."""
        return tuple(d / e for d, e in zip(self.sensitivities, self.epsilons, strict=True))

    @property
    def epsilon(self) -> float:
        """The epsilon of all together: the sum, rounded up."""
        return sum_above(self.epsilons)

    @property
    def variance(self) -> float:
        """The sum of the variances of the noise, 2 scale**2 each."""
        return math.fsum(2 * scale**2 for scale in self.scales)
