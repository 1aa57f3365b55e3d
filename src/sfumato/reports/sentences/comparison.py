"""Sentences on compared mechanisms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ...core.units import per_unit
from ...rounding import about_percent, amount, amount_at_least, amount_at_most, at_least, at_most, exactly, plural
from .scope import loss_text, way_words

if TYPE_CHECKING:
    from ...optimal import CoordinateBound
    from ..facts import SubjectFacts

COLUMN_WORDS: Final = (
    "The loss is the average distance from the truth to the report.",
    "The attacker's error is the average error of the best guess from one report: larger is more private.",
    "Epsilon limits what a report reveals: smaller is more private. Without an epsilon nothing is guaranteed.",
)
"""What the columns of every comparison mean."""
EXCESS_WORDS: Final = (
    "Above the bound: the share by which the loss exceeds the lower bound for every mechanism with that guarantee."
)
MECHANISM_WORDS: Final = {
    "optimum": "The mechanism of least loss, by linear programming.",
    "exponential": "The nearer a value, the more probable; half of epsilon pays for the normalization.",
    "geometric": "Noise on whole numbers, cut off at both ends.",
    "tight constraints": "Every pair of values uses all of epsilon.",
    "randomised response": "The truth with a fixed chance, otherwise any other value.",
    "least information": "The least mutual information at this loss.",
    "coin": "The truth with a fixed chance, otherwise always the same value.",
    "planar geometric": "Planar noise on the places.",
    "planar Gaussian": "Planar noise of a Gaussian shape.",
    "elastic": "More noise where few people are.",
    "restricted Laplace": "Noise within a radius, which rules out far values.",
    "program, spline": "Optimized for these visits on a square lattice.",
    "program, hat": "Optimized for these visits on a triangular lattice.",
    "planar Laplace": "Planar noise.",
    "cells": "Optimized for cells, with no guarantee across a border.",
    "any mechanism": "A bound for every mechanism with this guarantee.",
}
"""The idea of each compared mechanism, by its name."""
REMAP_WORDS: Final = "Each report is then replaced by the best one."
METRE_WORDS: Final = (
    "The last column is for two people a metre apart: how many times as probable a report may be from one of "
    "them as from the other."
)
PANEL_WORDS: Final = (
    "The table as figures: loss, attacker's error, attacker's success, and information per report."
)
TUPLE_LOSS_WORDS: Final = (
    "With dummies the loss is that of the best answer in a tuple, and epsilon is that of one report."
)


def at_epsilon(epsilon: float, unit: str) -> str:
    """Return an epsilon that mechanisms have in common, ``epsilon 1.2/km``."""
    return f"epsilon {at_most(epsilon, 5)}{per_unit(unit)}"


def compared_words(source: str) -> str:
    """Return on what mechanisms are compared."""
    return f"Mechanisms are compared on {source}."


def common_words(value: float, subject: SubjectFacts, unit: str, visits: int, *, loss: bool) -> str:
    """Return the loss, or the epsilon per unit, that all mechanisms have in common, and what the others mean."""
    on = f", measured on {plural(visits, 'visit')}" if visits else ""
    common, better = at_epsilon(value, unit), "At the same epsilon, a smaller loss costs less."
    if loss:
        common = f"a loss of about {loss_text(value, subject)}{way_words(subject)}"
        better = "At the same loss, a larger error of the attacker protects better."
    return f"All mechanisms are compared at {common}{on}. {better}"


def proved_words(epsilon: float, unit: str, *, places: bool) -> str:
    """Return the proved epsilon of a compared mechanism; infinite for none."""
    if math.isfinite(epsilon):
        return f"Epsilon at most {at_most(epsilon)}{per_unit(unit)}."
    border = " for two points near each other: they may be on two sides of a border" if places else ""
    return f"No guarantee{border}."


def partial_words(*, timed_out: bool) -> str:
    """Return the warning on a comparison without one of its mechanisms."""
    why = "there was not time for everything" if timed_out else "a mechanism could not be made"
    return f"NOT FINISHED: {why}."


def drawn_words(*, unreached: bool, files: bool) -> str:
    """Return the caption of a figure of losses."""
    late = " Mechanisms that were not reached in the time are left out." if unreached else ""
    note = " Mechanism files are in the table only." if files else ""
    return f"Upper bounds of the losses, as in the table.{late}{note}"


def every_mechanism_words(bound: CoordinateBound) -> str:
    """Return the lower bound of the loss of every mechanism with a guarantee for points."""
    return f"Proved: {bound.sentence[0].lower()}{bound.sentence[1:]}"


def needed_epsilon_words(loss: float, epsilon: float, unit: str) -> str:
    """Return the epsilon that every mechanism for points needs for a loss."""
    return (
        f"So a loss of {amount_at_most(loss, unit)} needs an epsilon above {exactly(epsilon)}/{unit}, for every "
        "mechanism."
    )


def table_bound_words(epsilon: float, loss: float, units: tuple[str, str], *, tuples: bool) -> str:
    """Return the lower bound of the loss of mechanisms with the same reports; units of loss and distance."""
    alone = " with one report" if tuples else ""
    return (
        f"Proved: no mechanism of epsilon {at_least(epsilon, 5)}{per_unit(units[1])}, with these reports, loses "
        f"less than {amount_at_least(loss, units[0])} on average{alone}."
    )


def visits_words(visits: int, total: int, blind_error: float, unit: str) -> str:
    """Return over which visits losses and errors are averages, and the error without a report."""
    draws = "" if visits == total else f", drawn at random from {total:,}"
    return (
        "Losses and errors are distances from the true point, on average over the same "
        f"{plural(visits, 'visit')}{draws}. Losses are upper bounds, the attacker's errors lower bounds. Without "
        f"a report the attacker's error is about {amount(blind_error, unit)}."
    )


def no_report_words(error: float, hit_rate: float, unit: str) -> str:
    """Return the error and the success of an attacker who sees no report."""
    return (
        f"Without a report the attacker's error is about {amount(error, unit)}, and they find the secret "
        f"{about_percent(hit_rate)} of the time."
    )


def simulated_words(tuples: int, margin: float, unit: str) -> str:
    """Return that the attacker's numbers are estimates from simulated tuples."""
    return (
        f"The attacker's columns are then estimates from {tuples:,} simulated tuples, the error ± "
        f"{amount_at_most(margin, unit)}."
    )


def slack_words(slacks: Mapping[str, float]) -> str:
    """Return by how much positions are snapped, in metres by the mechanisms' names."""
    parts = [f"{amount_at_most(slack, 'm')} for {name}" for name, slack in slacks.items()]
    return (
        "Positions are snapped before anything is drawn, which treats two points as farther apart than they are, "
        f"by at most {' and '.join(parts)}. Guarantees and the last column include this slack."
    )


def border_words(epsilon: float, factor: float, unit: str) -> str:
    """Return what cells guarantee for two points on two sides of a border."""
    times = "infinitely" if math.isinf(factor) else f"{at_least(factor, 3)} times"
    return (
        f"Cells made for epsilon {at_most(epsilon, 5)}/{unit} guarantee it between their middles only: at the "
        f"worst border a report is {times} as probable from one of two points a metre apart as from the other."
    )


def unmade_words(name: str, *, ending: str = "", problem: str = "") -> str:
    """Return that a mechanism was stopped, or is skipped for a problem (a sentence)."""
    if ending:
        return f"{name} was {ending}."
    return f"{name} is skipped: {problem}"
