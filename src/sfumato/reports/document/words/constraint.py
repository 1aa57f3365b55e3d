"""Sentences on linear constraints that a mechanism keeps beside its promises."""

from __future__ import annotations

from collections.abc import Sequence

from ....core.naming import quote
from ....rounding import at_most_against, exactly
from ..facts import ConstraintFacts


def constraint_words(constraints: Sequence[ConstraintFacts]) -> tuple[str, ...]:
    """Return what linear constraints are, and whether these were proved."""
    several = len(constraints) > 1
    what = f"{len(constraints)} linear constraints" if several else "a linear constraint"
    kept = all(each.holds for each in constraints)
    proved = f"{'They were' if several else 'It was'} proved anew when this report was written."
    return (
        f"The file states {what}. Each is a table of numbers, one for every pair of a true value and a report: "
        "every number counts as often as this report is made of this value, and the sum has a limit.",
        *((proved,) if kept else ()),
        "What a table means is for its writer to say: its numbers are as the file states them.",
    )


def constraint_item(constraint: ConstraintFacts) -> str:
    """Return a linear constraint, and whether it is proved."""
    claimed, unit = constraint.claimed, constraint.claimed.unit
    limit = f"{exactly(claimed.value)}{unit and f' {unit}'}"
    proved = f"{at_most_against(constraint.proved.value, claimed.value)}{unit and f' {unit}'}"
    name = f"The sum that the file calls {quote(constraint.name)}"
    if constraint.holds:
        return f"{name} is at most {limit}. In fact, at most {proved} is proved."
    return f"NOT PROVED: {name[:1].lower()}{name[1:]} is to be at most {limit}; at most {proved} is proved."
