"""Linear programs in general form, and their solutions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..core.arrays import Floats
from .answer import Status


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
