"""Findings as tables of a page in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from sfumato.rounding import about, at_least, at_most

from .games import DISTORTION, METRIC, GameRow, InformedRow
from .pruning import CORRECTED, PairRow
from .slopes import SlopeRow

_HABIT: Final = 0.6  # per km: the epsilon at which attackers who know more are told of


def scenario_table(rows: Sequence[GameRow]) -> str:
    """Return errors (km) and costs of scenario 1 by epsilon, medians over users with the least and the largest."""
    coarse = max(row.gap_asked for row in rows)
    first = [row for row in rows if row.scenario == 1 and row.gap_asked == coarse]
    lines = [
        "| epsilon (per km) | error of the best attacker, *metric* (km) | cost, *metric* | cost, *distortion* "
        "| error of the Bayesian attacker, *metric* (km) | the same, *distortion* (km) |",
        "|--:|---|---|---|---|---|",
    ]
    columns: tuple[tuple[str, Callable[[GameRow], float]], ...] = (
        (METRIC, lambda row: row.error_best),
        (METRIC, lambda row: row.cost),
        (DISTORTION, lambda row: row.cost),
        (METRIC, lambda row: row.error_bayes),
        (DISTORTION, lambda row: row.error_bayes),
    )
    for epsilon in sorted({row.epsilon for row in first}):
        cells = [
            _spread([value(row) for row in first if row.epsilon == epsilon and row.mechanism == name])
            for name, value in columns
        ]
        lines.append(f"| {epsilon:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def informed_table(rows: Sequence[InformedRow]) -> str:
    """Return errors (km) against attackers who know more, by the share that moved, medians over users."""
    lines = [
        "| share moved | *metric*, informed | *metric*, expected | *distortion*, informed "
        "| *distortion*, expected | without a report, informed |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    columns: tuple[tuple[str, Callable[[InformedRow], float]], ...] = (
        (METRIC, lambda row: row.error_informed),
        (METRIC, lambda row: row.error_expected),
        (DISTORTION, lambda row: row.error_informed),
        (DISTORTION, lambda row: row.error_expected),
        (METRIC, lambda row: row.error_blind),
    )
    mine = [row for row in rows if row.epsilon == _HABIT]
    for share in sorted({row.sharper for row in mine}):
        cells = [
            _median([value(row) for row in mine if row.sharper == share and row.mechanism == name])
            for name, value in columns
        ]
        lines.append(f"| {share:g} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def slope_table(rows: Sequence[SlopeRow]) -> str:
    """Return the price of one more metre, its proved slopes, and what both sides force, by user."""
    lines = [
        "| user | mechanism | price of one more metre, percentage points of false cells "
        "| proved slopes of the least cost to both sides | forced at least (km) "
        "| no one can force more than (km) |",
        "|--:|---|--:|--:|--:|--:|",
    ]
    for row in rows:
        name = f"*{row.mechanism}*" + ("" if row.epsilon is None else f", {row.epsilon:g}/km")
        lines.append(
            f"| {row.user} | {name} | {about(row.price / 10, 3)} "
            f"| {at_least(row.slope_below / 10, 3)} to {at_most(row.slope_above / 10, 3)} "
            f"| {at_least(row.error_lower, 7)} | {at_most(row.error_upper, 7)} |"
        )
    return "\n".join(lines) + "\n"


def pair_table(rows: Sequence[PairRow]) -> str:
    """Return what pairs within a threshold keep and cost, for the first user."""
    lines = [
        "| pairs within (km) | ordered pairs | dilation | true epsilon (per km) | cost "
        "| cost with epsilon / dilation, which satisfies epsilon |",
        "|--:|--:|--:|--:|--:|--:|",
    ]
    mine = [row for row in rows if row.user == rows[0].user]
    honest = {row.threshold: row for row in mine if row.kind == CORRECTED}
    for row in mine:
        if row.kind == CORRECTED:
            continue
        within = "all" if row.threshold is None else f"{row.threshold:g}"
        dilation = about(row.dilation, 5) if np.isfinite(row.dilation) else "unconnected"
        other = at_most(honest[row.threshold].cost) if row.threshold in honest else ""
        lines.append(
            f"| {within} | {row.pairs:,} | {dilation} | {at_most(row.epsilon_true)} "
            f"| {at_most(row.cost)} | {other} |"
        )
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[float]) -> str:
    return f"{_median(values)} ({about(min(values), 3)} to {about(max(values), 3)})"


def _median(values: Sequence[float]) -> str:
    return about(float(np.median(values)), 3)
