"""Mechanisms side by side on one prior: what each promises and achieves, as rows of one comparison."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, fields
from math import inf

from ...core.frozen import Short
from ...errors import InputError
from ...tables import write_rows
from .shared_time import NOT_REACHED


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonRow(Short):
    """One mechanism of a comparison, and what it achieves.

    Attributes:
        name: The mechanism.
        parameter: The family's parameter, per unit of the metric; None for the optimum.
        epsilon_upper: Proved, per unit of the metric; ``inf`` where two secrets can be told apart.
        loss: The expected loss, in the unit of the metric, rounded up.
        worst_case_loss: The largest expected loss of any secret, rounded up.
        attacker_error: The expected error of the best attack.
        bayes_error: The probability that the best guess of the secret is wrong.
        information_bits: The mutual information of secret and report.
        entropy_bits: The remaining entropy: of the secret, when the report is known.
        loss_lower_bound: Proved: no mechanism of this epsilon loses less; the optimum alone has one.
        spread: The standard error of the attacker's error where the attacker's columns are
            estimated from simulated tuples; None where they are computed.
        problem: Why there is no such member of the family; the numbers are then infinite.
        stopped: Why the optimum is not one, and how far from it at most; "" where it is.
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

    @classmethod
    def missing(cls, name: str, problem: str) -> ComparisonRow:
        """Return the row of a mechanism that could not be made."""
        return cls(name, None, inf, inf, inf, inf, inf, inf, inf, problem=problem)

    @property
    def hit_rate(self) -> float:
        """The probability that the best guess of the secret is right."""
        return 1 - self.bayes_error


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Short):
    """Several mechanisms on one prior.

    Attributes:
        rows: One per mechanism; those that do not exist say why.
        equal: ``epsilon`` or ``loss``: what the mechanisms have in common.
        value: Its value.
        unit: The unit of losses and errors; epsilon counts per it.
        blind_error: The attacker's error without a report: no mechanism can force more.
        blind_hit_rate: How often the likeliest secret is right: every mechanism allows it.
    """

    rows: tuple[ComparisonRow, ...]
    equal: str
    value: float
    unit: str
    blind_error: float
    blind_hit_rate: float

    @property
    def margin(self) -> float | None:
        """Two standard errors of the attackers' errors from simulated tuples; None if there are none."""
        return max((2 * row.spread for row in self.rows if row.spread is not None), default=None)

    @property
    def complete(self) -> bool:
        """Whether there was time for all that was asked for."""
        return not any(row.stopped or row.problem == NOT_REACHED for row in self.rows)

    def row(self, name: str) -> ComparisonRow:
        """Return the row of a mechanism.

        Raises:
            InputError: If it is not in the comparison.
        """
        for row in self.rows:
            if row.name == name:
                return row
        raise InputError(
            f"{name!r} is not in the comparison.", f"there are {', '.join(row.name for row in self.rows)}."
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, whole or not at all.

        Raises:
            FileError: If the file cannot be written.
        """
        names = [field.name for field in fields(ComparisonRow)]
        write_rows(names, (asdict(row).values() for row in self.rows), path)
