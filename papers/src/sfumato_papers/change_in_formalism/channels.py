"""Small channels, random ones and known ones, and the notions of privacy that are measured on them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.core import Prior, Space
from sfumato.core.arrays import Floats
from sfumato.core.immutable import CompactRepr
from sfumato.privacy import (
    AposterioriNoiselessPrivacy,
    BoundedRange,
    Events,
    GaussianPrivacy,
    IndistinguishablePrivacy,
    InformationPrivacy,
    MembershipPrivacy,
    NegativeMembershipPrivacy,
    Notion,
    PositiveMembershipPrivacy,
    Priors,
    SemanticPrivacy,
)

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
    def priors(self) -> Priors:
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


Ask = Callable[[FormalCase], Notion]
"""The notion of a channel's prior and facts."""


def constant(notion: Notion) -> Ask:
    """Return a notion that is the same for every channel."""
    return lambda _: notion


def of_prior(kind: Callable[[Priors], Notion]) -> Ask:
    """Return a notion of the prior, about every single secret."""
    return lambda case: kind(case.priors)


def of_first(kind: Callable[[Priors, Events], Notion]) -> Ask:
    """Return a notion about one fact, of one prior."""
    return lambda case: kind(case.priors, case.first)


GAUSSIAN: Final = constant(GaussianPrivacy())
INDISTINGUISHABLE: Final = constant(IndistinguishablePrivacy())
RANGE: Final = constant(BoundedRange())
AFTERWARDS: Final = of_prior(AposterioriNoiselessPrivacy)
INFORMATION: Final = of_prior(InformationPrivacy)
POSITIVE: Final = of_first(PositiveMembershipPrivacy)
NEGATIVE: Final = of_first(NegativeMembershipPrivacy)
MEMBERSHIP: Final = of_first(MembershipPrivacy)


def exchange(case: FormalCase) -> Notion:
    """Return semantic privacy where secrets are exchanged two by two."""
    return SemanticPrivacy(case.exchange)
