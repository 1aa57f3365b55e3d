"""Comparisons of mechanisms on one prior in words: a table, and what its numbers mean."""

from __future__ import annotations

import math

from ..core.units import per_unit
from ..report.document import PageTable
from ..rounding import (
    about_percent,
    amount,
    amount_at_least,
    amount_at_most,
    at_least,
    at_most,
    percent_at_most,
)
from .comparison_rows import Comparison, ComparisonRow
from .shared_time import NOT_REACHED
from .tuples import DRAWS


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
