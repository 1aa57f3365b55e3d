"""The plain program that a user of a general solver writes: every row, no generation, no repair."""

from __future__ import annotations

import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from scipy import sparse

from sfumato.core.arrays import Floats

from .instances import Built


@dataclass(frozen=True, slots=True, eq=False)
class Plain:
    """Minimise cost @ x over x >= 0 with ``equal @ x == 1`` and ``below @ x <= 0``; x is p(o|s) row by row."""

    cost: Floats
    equal: sparse.csr_array
    below: sparse.csr_array

    @property
    def rows(self) -> int:
        """The number of inequality rows."""
        return int(self.below.shape[0])


def plain(built: Built) -> Plain:
    """Return the program of an instance: rows e^(-epsilon d(s, t)) p(o|s) - p(o|t) <= 0."""
    n = len(built.prior)
    pairs, exponents = built.exponents()
    k, o = len(pairs), np.arange(n)
    columns = np.stack([pairs[:, :1] * n + o, pairs[:, 1:] * n + o], axis=-1).reshape(-1)
    entries = np.empty((k, n, 2))
    entries[..., 0] = np.exp(-exponents)[:, None]
    entries[..., 1] = -1.0
    shape = (k * n, n * n)
    below = sparse.csr_array((entries.reshape(-1), columns, np.arange(k * n + 1) * 2), shape=shape)
    equal = sparse.csr_array(sparse.kron(sparse.identity(n), np.ones((1, n))))
    cost = (built.prior.probabilities[:, None] * built.loss_array).reshape(-1)
    return Plain(cost, equal, below)


@dataclass(slots=True)
class Stopwatch:
    """CPU and wall seconds of what runs inside it, all threads counted."""

    cpu_s: float = 0.0
    wall_s: float = 0.0

    def __enter__(self) -> Self:
        self.cpu_s, self.wall_s = time.process_time(), time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cpu_s, self.wall_s = time.process_time() - self.cpu_s, time.perf_counter() - self.wall_s


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """Outcome of a run.

    Attributes:
        matrix: Array (n, n), p(o|s) as the solver left it; None if it left none.
        finished: Whether it reached its own tolerance.
        status: In its own words.
        watch: The time of the solve alone.
        iterations: Of the last program that it solved.
        rows: Rows of metric privacy.
        gap: Proved relative gap; None where nothing is proved.
        proved_epsilon: Proved over integers; None where nothing is proved.
    """

    matrix: Floats | None
    finished: bool
    status: str
    watch: Stopwatch
    iterations: int | None
    rows: int
    gap: float | None = None
    proved_epsilon: float | None = None


def as_matrix(x: Any, n: int) -> Floats | None:
    """Return a solver's vector as an array (n, n), or None where it has none."""
    found: Floats = np.asarray(x, dtype=np.float64)
    return found.reshape(n, n) if found.size == n * n and np.isfinite(found).all() else None
