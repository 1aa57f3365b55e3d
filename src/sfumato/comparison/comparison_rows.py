"""Mechanisms side by side on one prior: what each promises and achieves, as rows of one comparison."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from math import inf

from ..core.frozen import Short
from ..errors import InputError
from ..tables import write_rows
from .shared_time import NOT_REACHED


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonRow(Short):
    """One mechanism of a comparison, and what it achieves.

    Attributes:
        name: The mechanism.
        parameter: The family's parameter, per unit of the metric; None for the optimum.
        epsilon_upper: Proved, per unit of the metric; ``inf`` where two secrets can be told apart.
        loss: The expected loss, rounded up.
        worst_case_loss: The largest expected loss of any secret, rounded up.
        attacker_error: The expected error of the best attack.
        bayes_error: The probability that the best guess of the secret is wrong.
        information_bits: The mutual information of secret and report.
        entropy_bits: The remaining entropy: of the secret, when the report is known.
        loss_lower_bound: Proved: no mechanism of this epsilon loses less; the optimum alone has one.
        spread: The standard error of the attacker's error where the attacker's columns are
            estimated from simulated tuples; None where they are computed.
        problem: Why there is no such row; the numbers are then infinite, and empty in a saved table.
        stopped: Why the optimum is not one, and how far from it at most; "" where it is.
        epsilon: Per unit of the metric: what the mechanism was made for; None at equal loss.
        infeasible: Whether the problem is that the family has no such member, so that nothing is missing.
    """

    name: str
    parameter: float | None
    epsilon_upper: float
    loss: float
    worst_case_loss: float
    attacker_error: float
    bayes_error: float
    information_bits: float
    entropy_bits: float
    loss_lower_bound: float | None = None
    spread: float | None = None
    problem: str = ""
    stopped: str = ""
    epsilon: float | None = None
    infeasible: bool = False

    @classmethod
    def missing(cls, name: str, problem: str, *, infeasible: bool = False) -> ComparisonRow:
        """Return the row of a mechanism that does not exist or could not be made."""
        return cls(name, None, inf, inf, inf, inf, inf, inf, inf, problem=problem, infeasible=infeasible)

    def cells(self) -> dict[str, object]:
        """Return the columns of a table; without a mechanism there are no numbers."""
        return {
            name: None if self.problem and name != "epsilon" and isinstance(value, float) else value
            for name, value in asdict(self).items()
        }

    @property
    def hit_rate(self) -> float:
        """The probability that the best guess of the secret is right."""
        return 1 - self.bayes_error


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Short):
    """Several mechanisms on one prior.

    Attributes:
        rows: One for each mechanism and epsilon; those that do not exist say why.
        equal: ``epsilon`` or ``loss``: what the mechanisms have in common.
        values: Its values; several of epsilon, or one loss.
        unit: The unit of losses and errors.
        metric_unit: The unit that epsilon counts per.
        blind_error: The attacker's error without a report: no mechanism can force more.
        blind_hit_rate: How often the likeliest secret is right: every mechanism allows it.
    """

    rows: tuple[ComparisonRow, ...]
    equal: str
    values: tuple[float, ...]
    unit: str
    metric_unit: str
    blind_error: float
    blind_hit_rate: float

    @property
    def margin(self) -> float | None:
        """Two standard errors of the attackers' errors from simulated tuples; None if there are none."""
        return max((2 * row.spread for row in self.rows if row.spread is not None), default=None)

    @property
    def complete(self) -> bool:
        """Whether every mechanism that exists was made, in the time."""
        return not any(row.stopped or (row.problem and not row.infeasible) for row in self.rows)

    @property
    def timed_out(self) -> bool:
        """Whether there was not time for all."""
        return any(row.stopped or row.problem == NOT_REACHED for row in self.rows)

    def row(self, name: str, epsilon: float | None = None) -> ComparisonRow:
        """Return the row of a mechanism.

        Args:
            name: The mechanism.
            epsilon: Where it was made for several, which.

        Raises:
            InputError: If it is not in the comparison.
        """
        for row in self.rows:
            if row.name == name and epsilon in (None, row.epsilon):
                return row
        names = dict.fromkeys(row.name for row in self.rows)
        raise InputError(f"{name!r} is not in the comparison.", f"there are {', '.join(names)}.")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all.

        Raises:
            FileError: If the file cannot be written.
        """
        names = [field.name for field in fields(ComparisonRow)]
        write_rows(names, (row.cells().values() for row in self.rows), path)
