"""Queries, their sensitivities and their joint cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Final

import numpy as np

from sfumato.core import Mechanism, Space
from sfumato.core.immutable import CompactRepr
from sfumato.mechanisms import DiscreteLaplace, JointQueries, datasets, sensitivity
from sfumato.privacy import DifferentialPrivacy, Relation

_AGES: Final = (0, 1, 2)
_MOST: Final = 3  # records
_REACH: Final = 6  # of the range of reports beyond the answers

Query = Callable[[tuple[Any, ...]], int]


def _adults(data: tuple[Any, ...]) -> int:
    return sum(age > 0 for age in data)


def _rest(data: tuple[Any, ...]) -> int:
    return sum(age == 0 for age in data)


QUERIES: Final[dict[str, Query]] = {
    "records": len,
    "sum, from 0 to 2 each": sum,
    "records above 0": _adults,
    "records of 0": _rest,
}


@dataclass(frozen=True, slots=True, repr=False)
class SensitivityRow(CompactRepr):
    """The sensitivity of a query over all data sets of up to three records.

    Attributes:
        query: The query.
        datasets: The number of data sets.
        sensitivity: The largest difference between two data sets that differ by one record more.
        witness: Two that attain it.
    """

    query: str
    datasets: int
    sensitivity: float
    witness: str


@dataclass(frozen=True, slots=True, repr=False)
class JointRow(CompactRepr):
    """Several queries with integer Laplace noise, released together.

    Attributes:
        queries: The queries, joined by " and ".
        rule: How epsilon is shared: the same noise on each, or as given.
        epsilons: The epsilon of each, joined by blanks.
        allowed: Their sum, the limit of the joint cost.
        kept: The joint cost, measured on the integers of the joint mechanism, rounded up.
        vector: The sum of |change of query i| epsilon_i / Delta_i, at its largest over neighbours: the cost by
            the sensitivity of the vector of answers.
    """

    queries: str
    rule: str
    epsilons: str
    allowed: float
    kept: float
    vector: float


def sensitivity_rows() -> list[SensitivityRow]:
    """Return the sensitivities of the queries."""
    among = datasets(_AGES, range(_MOST + 1))
    found = []
    for name, query in QUERIES.items():
        own = sensitivity(query, among)
        first, second = own.witness or ((), ())
        found.append(SensitivityRow(name, len(among), own.value, f"{list(first)} and {list(second)}"))
    return found


def joint_rows() -> list[JointRow]:
    """Return the joint cost of several queries, with equal noise and with given shares."""
    names = list(QUERIES)
    return [
        _joint(names[:2], Fraction(1), "the same noise"),
        _joint(names[:2], Fraction(1, 2), "the same noise"),
        _joint(names[2:], Fraction(1), "the same noise"),
        _joint(names[:3], Fraction(3, 2), "the same noise"),
        _joint(names[:2], (Fraction(1, 4), Fraction(1)), "as given"),
        _joint(names[1:], (Fraction(1, 8), Fraction(1, 2), Fraction(1, 4)), "as given"),
    ]


def _joint(names: Sequence[str], epsilon: Fraction | Sequence[Fraction], rule: str) -> JointRow:
    among = datasets(_AGES, range(_MOST + 1))
    near = np.array([[abs(len(a) - len(b)) == 1 and _one_more(a, b) for b in among] for a in among])
    answers = np.array([[QUERIES[name](data) for name in names] for data in among])
    deltas = [int(sensitivity(QUERIES[name], among).value) for name in names]
    if isinstance(epsilon, Fraction):
        total = sum(deltas)
        shares = [epsilon * delta / total for delta in deltas]
    else:
        shares = list(epsilon)
    parts = []
    for column, delta, share in zip(answers.T, deltas, shares, strict=True):
        low, high = int(column.min()) - _REACH, int(column.max()) + _REACH
        noise = DiscreteLaplace(share, delta).clamped(low, high).mechanism()
        parts.append(noise.matrix[column - low])
    rows = reduce(lambda first, second: (first[:, :, None] * second[:, None, :]).reshape(len(among), -1), parts)
    joint = Mechanism(rows, Space(range(len(among))), Space(range(rows.shape[1])))
    moved = np.abs(answers[:, None, :] - answers[None, :, :]) * np.array(
        [float(share / delta) for share, delta in zip(shares, deltas, strict=True)]
    )
    return JointRow(
        " and ".join(names),
        rule,
        " ".join(str(share) for share in shares),
        JointQueries([float(delta) for delta in deltas], [float(share) for share in shares]).epsilon,
        DifferentialPrivacy(Relation(near, "data sets that differ by one record")).measure(joint).upper,
        float(moved.sum(axis=2)[near].max()),
    )


def _one_more(first: Sequence[int], second: Sequence[int]) -> bool:
    """Return whether one data set is the other and one record more."""
    small, large = sorted((list(first), list(second)), key=len)
    for record in small:
        if record not in large:
            return False
        large.remove(record)
    return True
