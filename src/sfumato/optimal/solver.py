"""What every linear-programming back-end takes and gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..core.arrays import Floats

Stop = Callable[[], bool]


class Status(Enum):
    """How a solve ended; the value says what to try next."""

    OPTIMAL = "solved to the wanted gap"
    TIME_LIMIT = "stopped at the time limit: allow more time for a smaller gap"
    INTERRUPTED = "stopped on request: run again for a smaller gap"
    INACCURATE = "the solver stopped short of the wanted gap: try another solver"
    INFEASIBLE = "no mechanism satisfies the constraints"


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    """Minimise cost @ x subject to lower <= rows @ x <= upper and floor <= x.

    Attributes:
        cost: Array (k,).
        rows: Sparse matrix (r, k) in compressed rows.
        lower: Array (r,), ``-inf`` where free.
        upper: Array (r,), ``inf`` where free.
        floor: Array (k,), ``-inf`` where free.
    """

    cost: Floats
    rows: Any
    lower: Floats
    upper: Floats
    floor: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The answer of a back-end.

    Attributes:
        status: How the solve ended.
        x: Array (k,), or None where there is no answer.
        duals: Array (r,): the change of the optimum per unit of each row's bound.
        iterations: Iterations of the method.
    """

    status: Status
    x: Floats | None
    duals: Floats | None
    iterations: int


class Solver(ABC):
    """A back-end for general linear programs."""

    name: str

    @abstractmethod
    def solve(self, program: LinearProgram, *, time_limit: float, stop: Stop) -> Solution:
        """Solve a program within ``time_limit`` seconds, asking ``stop`` whether to go on."""
