"""Mechanisms side by side on one prior: what each promises and achieves, as rows of a comparison and in words."""

from __future__ import annotations

import math
import os
from dataclasses import asdict, dataclass, fields
from math import inf

from ..core.immutable import CompactRepr
from ..core.units import per_unit
from ..errors import InputError
from ..reports.document import PageTable
from ..rounding import about_percent, amount, amount_at_least, amount_at_most, at_least, at_most, percent_at_most
from ..tables import write_rows
from .shared_time import NOT_REACHED
from .tuples import DRAWS


@dataclass(frozen=True, slots=True, repr=False)
class ComparisonRow(CompactRepr):
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
class Comparison(CompactRepr):
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


def row_tables(found: Comparison, source: str) -> tuple[PageTable, ...]:
    """Return the mechanisms as a table for each epsilon, or one for a loss; those that cannot exist are left out.

    Args:
        found: The comparison.
        source: The prior in words.
    """
    unit = found.unit
    headings = (
        "mechanism",
        f"epsilon{per_unit(found.metric_unit)} (proved)",
        "loss",
        "attacker's error",
        "finds the secret",
        "information (bits)",
        "remaining entropy (bits)",
    )
    tables = []
    for value in found.values:
        common = f"equal loss, {amount_at_most(value, unit)}"
        if found.equal == "epsilon":
            common = f"equal epsilon, {at_most(value, 5)}{per_unit(found.metric_unit)}"
        rows = tuple(
            _cells(row, unit) for row in found.rows if row.epsilon in (None, value) and not row.infeasible
        )
        tables.append(PageTable(f"Mechanisms at {common} ({source})", headings, rows))
    return tuple(tables)


def row_words(found: Comparison) -> tuple[str, ...]:
    """Return what is proved of all mechanisms, what an attacker finds without a report, and what is missing."""
    unit, said = found.unit, []
    for row in found.rows:
        if row.problem or row.loss_lower_bound is None:
            continue
        bound = amount_at_least(row.loss_lower_bound, unit)
        common_epsilon = row.epsilon_upper if row.epsilon is None else row.epsilon
        at = f"{at_least(common_epsilon, 5)}{per_unit(found.metric_unit)}"
        alone = " with one report" if found.margin is not None else ""
        said.append(
            f"Proved: no mechanism of epsilon {at}, with these reports, loses less than {bound} on average{alone}."
        )
    said.append(
        f"Without a report the attacker errs by about {amount(found.blind_error, unit)}, or finds the secret "
        f"{about_percent(found.blind_hit_rate)} of the time."
    )
    if found.margin is not None:
        within = amount_at_most(found.margin, unit)
        said += [
            "With dummies the loss is that of the best answer in a tuple, and epsilon is that of one report.",
            f"The attacker's columns are then estimates from {DRAWS:,} simulated tuples, the error ± {within}.",
        ]
    for row in found.rows:
        name = row.name
        if len(found.values) > 1 and row.epsilon is not None:
            name = f"{row.name} at epsilon {at_most(row.epsilon, 5)}{per_unit(found.metric_unit)}"
        if row.stopped:
            said.append(f"{name} was {row.stopped}.")
        elif row.problem:
            said.append(f"{name} is skipped: {row.problem}{'' if row.problem.endswith('.') else '.'}")
    return tuple(said)


def _cells(row: ComparisonRow, unit: str) -> tuple[str, ...]:
    if row.problem:
        return f"{row.name} ({NOT_REACHED if row.problem == NOT_REACHED else 'failed'})", *["-"] * 6
    return (
        row.name,
        at_most(row.epsilon_upper, 5) if math.isfinite(row.epsilon_upper) else "none",
        amount_at_most(row.loss, unit),
        amount_at_least(row.attacker_error, unit),
        percent_at_most(row.hit_rate),
        at_most(row.information_bits, 3),
        at_least(row.entropy_bits, 3),
    )
