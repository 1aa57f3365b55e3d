"""Random channels for relations between notions: small, some with zeros, some near the extreme ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core import Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import Events, Priors, Relation

_KINDS: Final = 5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FormalCase(CompactRepr):
    """A channel with what notions of beliefs need: a prior, facts, and a map that takes a record out.

    Attributes:
        rows: The channel p(o|s), array (n, m).
        prior: A prior that holds every secret possible.
        interval: The least and the largest probability of a fact, of an attacker who knows little.
        epsilon: An epsilon at which a delta is asked for.
    """

    rows: Floats
    prior: Prior
    interval: tuple[float, float]
    epsilon: float

    @property
    def size(self) -> int:
        """The number of secrets."""
        return len(self.rows)

    @property
    def given(self) -> Priors:
        """The prior as the only one."""
        return Priors.of(self.prior)

    @property
    def between(self) -> Priors:
        """All priors whose facts have a probability in the interval."""
        return Priors.between(*self.interval)

    @property
    def first(self) -> Events:
        """The one fact that the secret is the first, of an attacker who is interested in nothing else."""
        return Events(np.arange(self.size)[None, :] == 0)

    @property
    def halves(self) -> Events:
        """An attribute of two values: whether the secret is in the first half."""
        half = np.arange(self.size) < (self.size + 1) // 2
        return Events(np.array([half, ~half]), attribute=True)

    @property
    def chain(self) -> Relation:
        """Neighbours on a line of secrets."""
        place = np.arange(self.size)
        return Relation(np.abs(place[:, None] - place) == 1, "neighbours on a line")

    @property
    def taken_out(self) -> NDArray[np.intp]:
        """The map that takes a record out of every other secret; the rest have none. Array (1, n)."""
        images = self.exchange.copy()
        images[:, 1::2] = -1
        return images

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
    found = prior or Prior.uniform(Space(range(len(matrix))))
    return FormalCase(matrix, found, (0.2, 0.6), epsilon)


def cases(seed: int, count: int) -> Iterator[FormalCase]:
    """Yield random channels of two to four secrets and reports.

    A fifth each is even, uneven, near one common row, made of factors e**(+-epsilon), and with zeros.

    Args:
        seed: Makes the channels.
        count: How many.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        n, m = (int(size) for size in rng.integers(2, 5, size=2))
        rows = _rows(number % _KINDS, n, m, rng)
        weights = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0]))) + 1e-6
        prior = Prior(Space(range(n)), weights / weights.sum())
        low, high = np.sort(rng.uniform(0.02, 0.98, size=2))
        yield FormalCase(rows, prior, (float(low), float(high)), float(rng.uniform(0.05, 1.0)))


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
    found: Floats = rows / rows.sum(axis=1, keepdims=True)
    return found
