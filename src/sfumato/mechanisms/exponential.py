"""The exponential mechanism: on a metric, and on a table of utilities in both conventions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np

from ..core import Mechanism, Metric, MetricPrivacy, Space, units
from ..core.arguments import checked
from ..core.arrays import Floats
from ..errors import InputError
from .family import MechanismFamily, positive
from .strict import exponents_of, joined, lowered, strictly_private
from .utility_table import UtilityTable

Convention = Literal["mcsherry-talwar", "introductory"]
CONVENTIONS: Final[dict[str, tuple[float, float]]] = {"mcsherry-talwar": (0.5, 1.0), "introductory": (1.0, 2.0)}
"""For each convention: the exponent and the promise, in units of epsilon and epsilon u / Delta."""


@checked
def exponential(space: Space, metric: Metric, epsilon: float | str) -> Mechanism:
    """Return the exponential mechanism, p(o|s) proportional to exp(-epsilon d(s, o) / 2).

    The half pays for the normalisation: the numerators of two secrets differ by at most
    exp(epsilon d / 2), and so do their sums. The true epsilon is usually smaller than
    the one promised (`sfumato.proofs.prove_metric_privacy` finds it).

    Args:
        space: The n secrets, which are also the observables.
        metric: The metric on them; where the triangle inequality fails, its closure.
        epsilon: What is promised, per unit of the metric; a number or text such as
            ``"0.6/km"``.

    Raises:
        InputError: If the metric is not on the space, or epsilon is not positive.
        UnitError: If the unit of epsilon does not fit.

    Source:
        McSherry and Talwar, "Mechanism design via differential privacy", FOCS 2007,
        with the utility -d(s, o).
    """
    guarantee = MetricPrivacy(epsilon, metric)
    return strictly_private(_normalised, exponents_of(space, guarantee), space).promising(guarantee)


def _normalised(exponents: Floats) -> Floats:
    matrix = np.exp(-exponents / 2)
    return joined(matrix / matrix.sum(axis=1, keepdims=True), exponents)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExponentialMechanism(MechanismFamily):
    """The exponential mechanism p(y|s) proportional to exp(rate u(s, y)), in a named convention.

    ==================  =================  ===========================
    convention          rate               promise
    ==================  =================  ===========================
    "mcsherry-talwar"   epsilon/(2 Delta)  epsilon between neighbours
    "introductory"      epsilon/Delta      2 epsilon between neighbours
    ==================  =================  ===========================

    Texts that use the second and call it epsilon-private are wrong by a factor of two.
    The log likelihood ratios of two neighbours range over an interval of length
    `bounded_range`, which is at most 2 rate Delta, and at most rate Delta where the
    utility is monotone; that is a promise as well. With a normaliser that is the same for
    all secrets it is rate Delta. `epsilon` is what this table gives.

    Args:
        table: The utilities.
        epsilon: The convention's epsilon, a pure number.
        convention: ``"mcsherry-talwar"`` or ``"introductory"``; there is no default.

    Attributes:
        parameter: The epsilon that was given.
        rate: What the utility is multiplied with.
        promised: What the convention promises for every table of this sensitivity.

    Raises:
        InputError: If epsilon is not positive or the convention is unknown.

    Source:
        McSherry and Talwar, FOCS 2007; Dong, Durfee and Rogers, "Optimal differential
        privacy composition for exponential mechanisms", 2020 (bounded range).
        Proof: docs/proofs/categories.md.

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
        value = positive(units.parse(epsilon, per=True, unit="", what="epsilon"), "epsilon")
        share, promise = CONVENTIONS[convention]
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "parameter", value)
        object.__setattr__(self, "convention", convention)
        object.__setattr__(self, "rate", share * value / table.sensitivity)
        object.__setattr__(self, "promised", promise * value)

    @property
    def secrets(self) -> Space:
        """The secrets of the table."""
        return self.table.secrets

    @property
    def epsilon(self) -> float:
        """The largest log likelihood ratio of neighbours in this table, computed in floating point."""
        s, t = np.nonzero(self.table.neighbours)
        normal = self._log_normaliser
        ratios = self.rate * self.table.differences - (normal[s] - normal[t])[:, None]
        return float(ratios.max())

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
    def regret_bound(self) -> float:
        """ln(answers) / rate: on average, no secret's answer is further below its best."""
        return math.log(len(self.table.answers)) / self.rate

    @property
    def hamming_loss(self) -> float:
        """The probability that the answer is not one of the best, all secrets being equally likely."""
        return 1 - _share_of_best(self._rows(1.0), self.table)

    def mechanism(self) -> Mechanism:
        """Return the mechanism in integers, which keep `promised` between neighbours."""
        table = self.table
        exponents = self.promised * table.metric.array
        span = self.rate * float(-table.below_best.min())
        found = lowered(self._rows, exponents, table.secrets, table.answers, span=span)
        return found.promising(MetricPrivacy(self.promised, table.metric))

    @property
    def _log_normaliser(self) -> Floats:
        best = self.table.values.max(axis=1)
        normal: Floats = self.rate * best + np.log(np.exp(self.rate * self.table.below_best).sum(axis=1))
        return normal

    def _rows(self, scale: float) -> Floats:
        rows = np.exp(self.rate * scale * self.table.below_best)
        normalised: Floats = rows / rows.sum(axis=1, keepdims=True)
        return normalised


def _share_of_best(rows: Floats, table: UtilityTable) -> float:
    return float((rows * (table.below_best == 0)).sum(axis=1).mean())
