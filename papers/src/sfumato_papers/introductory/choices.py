"""The exponential mechanism in both conventions: epsilon of tables of utilities, and quality of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from sfumato.mechanisms import ExponentialMechanism, UtilityTable
from sfumato.privacy import BoundedRange, DifferentialPrivacy, Relation

EPSILON: Final = 1.0
BLOG, CLASSIC = "introductory", "mcsherry-talwar"
ANY, MONOTONE, SYMMETRIC, STEEP = "any", "monotone", "symmetric", "steep"
_SIZES: Final = (2, 3, 10, 30, 100, 300, 1000, 3000)


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """The exponential mechanism on a table of utilities at epsilon 1.

    `promised` is the guaranteed epsilon, `kept` that of the table, `measured` the same on integers, rounded up.
    """

    kind: str
    convention: str
    seed: int
    number: int
    answers: int
    promised: float
    kept: float
    measured: float
    range: float
    measured_range: float
    below_best: float
    below_best_bound: float


def choice_rows(seed: int, tables: int) -> list[ChoiceRow]:
    """Return both conventions on random tables of three kinds."""
    return [
        _choice(kind, convention, seed, number, table)
        for number, (kind, table) in enumerate(_tables(seed, tables))
        for convention in (BLOG, CLASSIC)
    ]


def steep_rows() -> list[ChoiceRow]:
    """Return both conventions on tables with one answer against growing numbers of others."""
    found = []
    for number, size in enumerate(_SIZES):
        values = np.zeros((2, size))
        values[0, 0] = 1
        values[1, 1:] = 1
        found += [_choice(STEEP, each, 0, number, UtilityTable(values)) for each in (BLOG, CLASSIC)]
    return found


def _tables(seed: int, count: int) -> Iterator[tuple[str, UtilityTable]]:
    rng = np.random.default_rng(seed)
    for number in range(count):
        n, m = int(rng.integers(2, 5)), int(rng.integers(2, 7))
        kind = (ANY, MONOTONE, SYMMETRIC)[number % 3]
        chain = np.abs(np.arange(n)[:, None] - np.arange(n)) == 1
        if kind == ANY:
            values = rng.integers(0, 4, size=(n, m)) + rng.random((n, m))
            yield kind, UtilityTable(values)
        elif kind == MONOTONE:
            values = np.cumsum(rng.integers(0, 2, size=(n, m)), axis=0).astype(float)
            values[:, 0] = np.arange(n)
            yield kind, UtilityTable(values, neighbours=chain)
        else:
            base = np.sort(rng.random(m) + np.arange(m))
            yield kind, UtilityTable(np.array([np.roll(base, shift) for shift in range(m)]))


def _choice(kind: str, convention: str, seed: int, number: int, table: UtilityTable) -> ChoiceRow:
    family = ExponentialMechanism(table, EPSILON, convention)  # type: ignore[arg-type]
    mechanism = family.mechanism()
    near = Relation(table.neighbours, "neighbours")
    epsilon = DifferentialPrivacy(near).measure(mechanism).upper
    spread = BoundedRange(near).measure(mechanism).upper
    lost = -(mechanism.matrix * table.below_best).sum(axis=1)
    promised = family.promised, family.epsilon, epsilon, family.bounded_range, spread
    size = table.values.shape[1]
    return ChoiceRow(kind, convention, seed, number, size, *promised, float(lost.max()), family.regret_bound)
