"""Selection of an answer from a table of utilities: exponential mechanism and permute-and-flip."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core import Mechanism, Metric, MetricPrivacy, Space, shortest_paths
from ..core.arrays import Floats, any_array, floats, readonly
from ..core.immutable import assign
from ..errors import InputError
from .family import MechanismFamily, check_listable, pure_epsilon
from .strict_privacy import lower_exponents

Convention = Literal["mcsherry-talwar", "introductory"]
CONVENTIONS: Final[dict[str, tuple[float, float]]] = {"mcsherry-talwar": (0.5, 1.0), "introductory": (1.0, 2.0)}
"""For each convention: the exponent, in units of epsilon u / Delta, and the guarantee, in units of epsilon."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UtilityTable:
    """The utility of each answer for each secret, and the pairs of secrets that are protected.

    ``values`` are u(s, y), array (secrets, answers), more is better. Secrets (or data sets) and answers are
    numbered from 0 if left out. ``neighbours`` are the pairs that are protected, a symmetric boolean array (n, n);
    by default all (local privacy). The sensitivity Delta is the largest |u(s, y) - u(s', y)| of neighbours, and
    the witness has positions (s, s', y) that attain it. Raises `InputError` if sizes differ, the neighbours are
    not symmetric, or no answer's utility differs between neighbours.

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
        near = any_array(np.ones((n, n)) if neighbours is None else neighbours, "neighbours=").astype(bool)
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
        assign(self, values=u, secrets=rows, answers=columns)
        assign(self, neighbours=readonly(near), sensitivity=float(differences[s, t, y]), witness=(s, t, y))

    def __repr__(self) -> str:
        n, m = self.values.shape
        return f"UtilityTable of {n} secrets and {m} answers, sensitivity {self.sensitivity:g}"

    @property
    def metric(self) -> Metric:
        """The number of steps between neighbours from one secret to another."""
        steps = np.where(self.neighbours, 1.0, np.inf)
        np.fill_diagonal(steps, 0.0)
        return Metric(shortest_paths(steps), name="steps between neighbours", triangle=True)

    @property
    def distance(self) -> Metric:
        """The utility distance d(s, s') = max over y of |u(s, y) - u(s', y)|, neighbours or not.

        A pseudometric: secrets with equal utilities are at distance 0.

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
        return np.asarray(self.values[s] - self.values[t])

    @property
    def monotone(self) -> bool:
        """Whether between neighbours no answer gains where another loses, as for counts under add/remove."""
        d = self.differences
        return bool((~((d > 0).any(axis=1) & (d < 0).any(axis=1))).all())

    @property
    def below_best(self) -> Floats:
        """u(s, y) minus the best of the row, array (secrets, answers)."""
        return np.asarray(self.values - self.values.max(axis=1, keepdims=True))


class _Selection(MechanismFamily):
    """A mechanism that selects answers by their utility times a rate."""

    __slots__ = ()
    table: UtilityTable
    promised: float
    rate: float

    @property
    def secrets(self) -> Space:
        """The secrets of the table."""
        return self.table.secrets

    @property
    def regret_bound(self) -> float:
        """ln(answers) / rate, which bounds each secret's mean distance from its best utility."""
        return math.log(len(self.table.answers)) / self.rate

    @property
    def hamming_loss(self) -> float:
        """The probability that the answer is not one of the best, for uniform secrets."""
        return 1 - float((self._rows(1.0) * (self.table.below_best == 0)).sum(axis=1).mean())

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers, which is `promised`-private between neighbours."""
        table = self.table
        exponents = self.promised * table.metric.array
        matrix = lower_exponents(self._rows, exponents, table.secrets, table.answers, span=self._span)
        return matrix.promising(MetricPrivacy(self.promised, table.metric))

    @property
    @abstractmethod
    def _span(self) -> float:
        """The largest exponent of `_rows`."""

    @abstractmethod
    def _rows(self, scale: float) -> Floats:
        """Return the matrix for a scale of epsilon, array (secrets, answers)."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermuteAndFlip(_Selection):
    """Looks at the answers in random order and takes y with probability a(y) = exp(rate (u(s, y) - best)).

    With rate = epsilon / (2 Delta) it is epsilon-private between neighbours; for monotone utilities rate = epsilon
    / Delta suffices and is used. Its expected regret never exceeds that of the exponential mechanism of the same
    rate. As an answer's place in the order is the rank of a uniform number t,

        p(y|s) = a(y) * integral over t from 0 to 1 of the product over z != y of (1 - t a(z)).

    Epsilon is a pure number. Raises `InputError` if epsilon is not positive.

    Source:
        McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially private selection", 2020. Proof:
        docs/proofs/categories.md.

    Example:
        >>> from sfumato.mechanisms import PermuteAndFlip, UtilityTable
        >>> PermuteAndFlip(UtilityTable([[1, 0], [0, 1]]), 1.0).mechanism().matrix[0].round(4)
        array([0.6967, 0.3033])
    """

    name: ClassVar[str] = "permute-and-flip"
    table: UtilityTable
    promised: float
    rate: float

    def __init__(self, table: UtilityTable, epsilon: float | str) -> None:
        value = pure_epsilon(epsilon)
        assign(self, table=table, promised=value, rate=value / table.sensitivity / (1 if table.monotone else 2))

    @property
    def epsilon(self) -> float:
        """The largest log likelihood ratio of neighbours in this table, in floating point."""
        s, t = np.nonzero(self.table.neighbours)
        logs = self._logs(1.0)
        return float((logs[s] - logs[t]).max())

    @property
    def _span(self) -> float:
        return self.rate * float(-self.table.below_best.min()) + len(self.table.answers)

    def _rows(self, scale: float) -> Floats:
        return np.asarray(np.exp(self._logs(scale)))

    def _logs(self, scale: float) -> Floats:
        """Return ln p(y|s); Gauss's quadrature is exact for these polynomials, and all terms are positive."""
        exponents = self.rate * scale * self.table.below_best
        count = exponents.shape[1]
        nodes, weights = np.polynomial.legendre.leggauss(count // 2 + 1)
        t, w = (nodes + 1) / 2, weights / 2
        rejected = np.log1p(-t[:, None, None] * np.exp(exponents))  # (nodes, secrets, answers)
        rivals = rejected.sum(axis=2, keepdims=True) - rejected
        return np.asarray(exponents + np.log((w[:, None, None] * np.exp(rivals)).sum(axis=0)))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExponentialMechanism(_Selection):
    """The exponential mechanism p(y|s) proportional to exp(rate u(s, y)), in a named convention.

    In the convention "mcsherry-talwar" the rate is epsilon / (2 Delta), and the guarantee is epsilon between
    neighbours. In "introductory" the rate is epsilon / Delta, and the guarantee 2 epsilon between neighbours.
    Texts that use the second and call it epsilon-private are wrong by a factor of two. The log likelihood ratios
    of two neighbours range over an interval of length `bounded_range`: at most 2 rate Delta, and at most rate
    Delta for monotone utilities or a normaliser that is the same for all secrets. `epsilon` is that of this table,
    and ``promised`` that guaranteed for every table of this sensitivity. The argument is the epsilon of the
    convention, a pure number. Raises `InputError` if it is not positive or the convention is unknown.

    Source:
        McSherry and Talwar, FOCS 2007; Dong, Durfee and Rogers, "Optimal differential privacy composition for
        exponential mechanisms", 2020 (bounded range). Proof: docs/proofs/categories.md.

    Example:
        >>> from sfumato.mechanisms import ExponentialMechanism, UtilityTable
        >>> votes = UtilityTable([[3, 1], [2, 2]])
        >>> choice = ExponentialMechanism(votes, 1.0, "introductory")
        >>> choice.promised, choice.rate
        (2.0, 1.0)
    """

    name: ClassVar[str] = "exponential mechanism"
    table: UtilityTable
    parameter: float
    convention: Convention
    rate: float
    promised: float

    def __init__(self, table: UtilityTable, epsilon: float | str, convention: Convention) -> None:
        if convention not in CONVENTIONS:
            raise InputError(f"the convention {convention!r} is unknown.", f"use one of {', '.join(CONVENTIONS)}.")
        value = pure_epsilon(epsilon)
        share, promise = CONVENTIONS[convention]
        assign(self, table=table, parameter=value, convention=convention)
        assign(self, rate=share * value / table.sensitivity, promised=promise * value)

    @property
    def epsilon(self) -> float:
        """The largest log likelihood ratio of neighbours in this table, in floating point."""
        s, t = np.nonzero(self.table.neighbours)
        normal = self._log_normaliser
        return float((self.rate * self.table.differences - (normal[s] - normal[t])[:, None]).max())

    @property
    def bounded_range(self) -> float:
        """The largest spread of the log likelihood ratios of two neighbours; no epsilon is larger."""
        d = self.table.differences
        return self.rate * float((d.max(axis=1) - d.min(axis=1)).max())

    @property
    def constant_normaliser(self) -> bool:
        """Whether all neighbours have the same normaliser, to 1e-12: epsilon is then at most rate Delta."""
        s, t = np.nonzero(self.table.neighbours)
        normal = self._log_normaliser
        return bool((np.abs(normal[s] - normal[t]) <= 1e-12 * (1 + np.abs(normal[s]))).all())

    @property
    def _span(self) -> float:
        return self.rate * float(-self.table.below_best.min())

    @property
    def _log_normaliser(self) -> Floats:
        best = self.table.values.max(axis=1)
        return np.asarray(self.rate * best + np.log(np.exp(self.rate * self.table.below_best).sum(axis=1)))

    def _rows(self, scale: float) -> Floats:
        rows = np.exp(self.rate * scale * self.table.below_best)
        return np.asarray(rows / rows.sum(axis=1, keepdims=True))
