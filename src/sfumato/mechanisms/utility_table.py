"""Utility tables: how good each answer is for each secret."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Metric, Space
from ..core.arrays import Floats, floats, readonly
from ..core.metric import shortest_paths
from ..errors import InputError
from .family import check_listable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UtilityTable:
    """The value of each answer for each secret, and the secrets that must not be told apart.

    Attributes:
        values: u(s, y), array (secrets, answers); more is better.
        secrets: The n secrets (or data sets).
        answers: The m answers.
        neighbours: Which pairs are protected, array (n, n), symmetric.
        sensitivity: Delta, the largest |u(s, y) - u(s', y)| of neighbours s and s'.
        witness: Positions (s, s', y) that attain it.

    Args:
        values: Array (n, m).
        secrets: The secrets; numbered from 0 if left out.
        answers: The answers; numbered from 0 if left out.
        neighbours: Array (n, n) of booleans; by default all pairs (local privacy).

    Raises:
        InputError: If sizes differ, the neighbours are not symmetric, or no answer's
            utility differs between neighbours.

    Source:
        Kawamoto and Murakami, definitions 4 and 5 (utility distance and sensitivity).
    """

    values: Floats
    secrets: Space
    answers: Space
    neighbours: NDArray[np.bool_]
    sensitivity: float
    witness: tuple[int, int, int]

    def __init__(
        self,
        values: ArrayLike,
        secrets: Space | None = None,
        answers: Space | None = None,
        neighbours: ArrayLike | None = None,
    ) -> None:
        u = floats(values, "the utility table", shape=(None, None))
        n, m = u.shape
        rows, columns = secrets or Space(range(n)), answers or Space(range(m))
        if len(rows) != n or len(columns) != m:
            raise InputError(
                f"the utility table is {n} x {m}, but there are {len(rows)} secrets and {len(columns)} answers.",
                "pass a row per secret and a column per answer.",
            )
        near = np.ones((n, n), dtype=bool) if neighbours is None else np.array(neighbours, dtype=bool)
        if near.shape != (n, n) or not np.array_equal(near, near.T):
            raise InputError("the neighbours are not a symmetric array of secrets x secrets.", f"pass {n} x {n}.")
        np.fill_diagonal(near, val=False)
        check_listable(n, n * m, "the differences of utilities")
        differences = np.abs(u[:, None, :] - u[None, :, :]) * near[:, :, None]
        s, t, y = (int(i) for i in np.unravel_index(int(np.argmax(differences)), differences.shape))
        if not differences[s, t, y] > 0:
            raise InputError(
                "no answer's utility differs between neighbours.", "then the best answer may be given as it is."
            )
        object.__setattr__(self, "values", u)
        object.__setattr__(self, "secrets", rows)
        object.__setattr__(self, "answers", columns)
        object.__setattr__(self, "neighbours", readonly(near))
        object.__setattr__(self, "sensitivity", float(differences[s, t, y]))
        object.__setattr__(self, "witness", (s, t, y))

    def __repr__(self) -> str:
        n, m = self.values.shape
        return f"UtilityTable of {n} secrets and {m} answers, sensitivity {self.sensitivity:g}"

    @property
    def metric(self) -> Metric:
        """The number of neighbours that lead from one secret to another."""
        steps = np.where(self.neighbours, 1.0, np.inf)
        np.fill_diagonal(steps, 0.0)
        return Metric(shortest_paths(steps), name="steps between neighbours", triangle=True)

    @property
    def distance(self) -> Metric:
        """The utility distance d(s, s') = max over y of |u(s, y) - u(s', y)|, neighbours or not.

        A pseudometric: secrets with equal utilities are at distance 0. Its largest value among
        neighbours is `sensitivity`.

        Source:
            Kawamoto and Murakami, definition 4.

        Example:
            >>> UtilityTable([[3, 1], [2, 2], [3, 1]]).distance.array
            array([[0., 1., 0.],
                   [1., 0., 1.],
                   [0., 1., 0.]])
        """
        apart = np.array([np.abs(self.values - row).max(axis=1) for row in self.values])
        return Metric(apart, name="utility distance", triangle=True)

    @property
    def differences(self) -> Floats:
        """u(s, y) - u(s', y) of all ordered pairs of neighbours, array (pairs, answers)."""
        s, t = np.nonzero(self.neighbours)
        rows: Floats = self.values[s] - self.values[t]
        return rows

    @property
    def monotone(self) -> bool:
        """Whether between neighbours no answer gains where another loses, as for counts under add/remove."""
        d = self.differences
        return bool((~((d > 0).any(axis=1) & (d < 0).any(axis=1))).all())

    @property
    def below_best(self) -> Floats:
        """u(s, y) minus the best of the row, array (secrets, answers)."""
        rows: Floats = self.values - self.values.max(axis=1, keepdims=True)
        return rows
