"""Permute-and-flip: selection with less expected regret than the exponential mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..core import Mechanism, MetricPrivacy, Space, units
from ..core.arrays import Floats
from .family import MechanismFamily, positive
from .strict import lowered
from .utility_table import UtilityTable


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PermuteAndFlip(MechanismFamily):
    """Looks at the answers in random order and takes y with probability a(y) = exp(rate (u(s, y) - best)).

    With rate = epsilon / (2 Delta) it is epsilon-private between neighbours; where the
    utility is monotone, rate = epsilon / Delta suffices and is taken. Its expected
    regret is never above that of the exponential mechanism of the same rate. An answer's
    place in the order is the rank of a uniform number t, so

        p(y|s) = a(y) * integral over t from 0 to 1 of the product over z != y of (1 - t a(z)).

    Args:
        table: The utilities.
        epsilon: A pure number.

    Attributes:
        promised: The epsilon that was given.
        rate: What the utility is multiplied with.

    Raises:
        InputError: If epsilon is not positive.

    Source:
        McKenna and Sheldon, "Permute-and-flip: a new mechanism for differentially
        private selection", 2020. Proof: docs/proofs/categories.md.

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
        value = positive(units.parse(epsilon, per=True, unit="", what="epsilon"), "epsilon")
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "promised", value)
        object.__setattr__(self, "rate", value / table.sensitivity / (1 if table.monotone else 2))

    @property
    def secrets(self) -> Space:
        """The secrets of the table."""
        return self.table.secrets

    @property
    def epsilon(self) -> float:
        """The largest log likelihood ratio of neighbours in this table, computed in floating point."""
        s, t = np.nonzero(self.table.neighbours)
        logs = self._logs(1.0)
        return float((logs[s] - logs[t]).max())

    @property
    def regret_bound(self) -> float:
        """ln(answers) / rate: on average, no secret's answer is further below its best."""
        return math.log(len(self.table.answers)) / self.rate

    @property
    def hamming_loss(self) -> float:
        """The probability that the answer is not one of the best, all secrets being equally likely."""
        best = self.table.below_best == 0
        return 1 - float((np.exp(self._logs(1.0)) * best).sum(axis=1).mean())

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers, which keep `promised` between neighbours."""
        table = self.table
        exponents = self.promised * table.metric.array
        span = self.rate * float(-table.below_best.min()) + len(table.answers)
        rows = lowered(lambda scale: np.exp(self._logs(scale)), exponents, table.secrets, table.answers, span=span)
        return rows.promising(MetricPrivacy(self.promised, table.metric))

    def _logs(self, scale: float) -> Floats:
        """Return ln p(y|s); Gauss's quadrature is exact for these polynomials, and all terms are positive."""
        exponents = self.rate * scale * self.table.below_best
        count = exponents.shape[1]
        nodes, weights = np.polynomial.legendre.leggauss(count // 2 + 1)
        t, w = (nodes + 1) / 2, weights / 2
        rejected = np.log1p(-t[:, None, None] * np.exp(exponents))  # (nodes, secrets, answers)
        others = rejected.sum(axis=2, keepdims=True) - rejected
        logs: Floats = exponents + np.log((w[:, None, None] * np.exp(others)).sum(axis=0))
        return logs
