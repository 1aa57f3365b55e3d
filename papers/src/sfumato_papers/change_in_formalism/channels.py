"""Channels for relations between notions: small random ones, and known ones that attain or break a relation."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core import Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import Events, Priors

_KINDS: Final = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormalCase(CompactRepr):
    """A channel with what notions of beliefs need: a prior, facts, and a map that exchanges records."""

    rows: Floats  # p(o|s), array (n, m)
    prior: Prior  # every secret is possible
    epsilon: float  # at which a delta is measured

    @property
    def size(self) -> int:
        """The number of secrets."""
        return len(self.rows)

    @property
    def given(self) -> Priors:
        """The prior as the only one."""
        return Priors.of(self.prior)

    @property
    def first(self) -> Events:
        """The one fact that the secret is the first."""
        return Events(np.arange(self.size)[None, :] == 0)

    @property
    def halves(self) -> Events:
        """An attribute of two values: whether the secret is in the first half."""
        half = np.arange(self.size) < (self.size + 1) // 2
        return Events(np.array([half, ~half]), attribute=True)

    @property
    def exchange(self) -> NDArray[np.intp]:
        """The map that exchanges secrets two by two, and leaves out a last one that is alone; array (1, n)."""
        place = np.arange(self.size)
        other = place ^ 1
        images: NDArray[np.intp] = np.where(other < self.size, other, -1)[None, :]
        return images


def case_of(rows: ArrayLike, prior: Prior | None = None, *, epsilon: float = 0.5) -> FormalCase:
    """Return a case of a known channel, with the uniform prior where none is given."""
    matrix = np.asarray(rows, dtype=float)
    return FormalCase(matrix, prior or Prior.uniform(Space(range(len(matrix)))), epsilon)


def coin(epsilon: float = 1.0) -> FormalCase:
    """Return randomised response between two secrets."""
    truth = 1 / (1 + math.exp(-epsilon))
    return case_of([[truth, 1 - truth], [1 - truth, truth]])


COIN: Final = coin()
RARE: Final = case_of([[0.98, 0.02, 0.0], [0.98, 0.0, 0.02]])
"""A channel that almost always says nothing, and otherwise everything: small total error, and no epsilon."""
LEAKY: Final = case_of([[0.05, 0.0, 0.95], [0.0, 0.05, 0.95]], epsilon=0.0)
"""A channel that gives the secret away with probability .05, and else says nothing: (0, .05)-DP."""
ODD: Final = case_of([[1e-6, 1 - 1e-6], [1e-6 * math.e, 1 - 1e-6 * math.e]])
"""A rare report that is e times as likely for one secret, and another that says next to nothing."""
TWO_RARE: Final = case_of(
    [[0.5, 0.5], [0.125, 0.875], [0.25, 0.75]], Prior(Space(range(3)), [1e-6, 1e-6, 1 - 2e-6])
)
"""Two secrets of small probability: one makes the first report more often than the rest, one less often."""
RARE_VALUE: Final = case_of([[0.8, 0.2], [0.2, 0.8]], Prior(Space(range(2)), [1e-6, 1 - 1e-6]))
"""A value of small probability, and randomised response."""


def cases(seed: int, count: int) -> Iterator[FormalCase]:
    """Yield random channels of two to four secrets and reports.

    A fifth each is even, uneven, near one common row, made of factors e**(+-epsilon), and with zeros.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        n, m = (int(size) for size in rng.integers(2, 5, size=2))
        rows = _rows(number % _KINDS, n, m, rng)
        weights = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0]))) + 1e-6
        prior = Prior(Space(range(n)), weights / weights.sum())
        *_, epsilon = rng.uniform(0.05, 1.0, size=3)  # of three draws: the published tables are of these channels
        yield FormalCase(rows, prior, float(epsilon))


def _rows(kind: int, n: int, m: int, rng: np.random.Generator) -> Floats:
    if kind == 0:
        rows = rng.dirichlet(np.full(m, 5.0), n)
    elif kind == 1:
        rows = rng.dirichlet(np.full(m, 0.5), n) + 1e-4
    elif kind == 2:
        rows = rng.dirichlet(np.full(m, 2.0))[None, :] * np.exp(rng.uniform(-0.2, 0.2, size=(n, m)))
    elif kind == 3:
        epsilon = rng.uniform(0.1, 2.5)
        rows = rng.dirichlet(np.full(m, 2.0))[None, :] * np.exp(epsilon * rng.integers(0, 2, size=(n, m)))
    else:
        rows = rng.dirichlet(np.full(m, 1.0), n) * (rng.random((n, m)) < 0.7)
        rows[rows.sum(axis=1) == 0] = 1.0
    channel: Floats = rows / rows.sum(axis=1, keepdims=True)
    return channel
