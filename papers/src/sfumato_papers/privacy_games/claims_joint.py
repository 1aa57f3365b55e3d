"""Claims of "Privacy Games" about *joint*: its privacy and its cost next to those of *metric* and *distortion*.

Distortion of least cost forces no more than d_m: with a larger error it could be cheaper. So where metric forces
less than d_m, joint forces at least the larger of the two; elsewhere metric is itself an optimal joint mechanism.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeVar

from sfumato.rounding import about, at_least, at_most

from ..reproduction import PaperClaim, RunTables, follows, judged, ours, unchecked
from .apart import APART, Apart, ApartRow, apart_triples
from .games import JOINT, METRIC, Game, GameRow, triples
from .line import LINE, LineRow

OTHERS: Final = "These are other users than the paper's, whose data and plotted values are not available."
"""The difference of a run from the paper's figures."""

_COST: Final = (
    "Their utility cost is also not larger than what either of the differential or distortion mechanisms imposes."
)
_PRIVACY: Final = (
    "the privacy achieved through joint differential-distortion mechanisms against optimal attacks is as large as "
    "the maximum privacy that can be achieved by either of these mechanisms separately"
)

_Row = TypeVar("_Row", GameRow, ApartRow)


def joint_claims(tables: RunTables, games: Sequence[GameRow], tight: Sequence[GameRow]) -> list[PaperClaim]:
    """Return the claims about *joint*, judged.

    Args:
        tables: The tables of the run.
        games: The designs of scenarios 1 and 2.
        tight: Those that were repeated with a smaller gap.
    """
    first, second = triples(games, 1), triples(games, 2)
    apart = apart_triples(tables.rows(APART, ApartRow))
    return [
        _reaches(first, second),
        *_larger_privacy([*first, *second, *apart]),
        *_larger_cost([*first, *second], apart, tables.rows(LINE, LineRow)),
        _vertices(tight),
    ]


def _reaches(first: Sequence[Game], second: Sequence[Game]) -> PaperClaim:
    every = [*first, *second]
    reached = [j for _, _, j in every if j.distortion_lower >= (j.distortion_asked or 0.0)]
    m, _, j = max(second, key=lambda each: (each[2].distortion_asked or 0.0) - each[0].error_best)
    return follows(
        "Figure 5",
        "In scenarios 1 and 2 joint forces the d_m that it is asked for.",
        len(reached) == len(every),
        f"It is proved to force d_m in {len(reached)} of {len(every)} cases. For user {at(j)} in scenario 2 it "
        f"forces {at_least(j.distortion_lower, 4)} km, and metric {about(m.error_best, 4)} km.",
    )


def _larger_privacy(every: Sequence[Game | Apart]) -> list[PaperClaim]:
    forced = [j for _, _, j in every if j.distortion_lower >= (j.distortion_asked or 0.0)]
    itself = [m for m, _, j in every if m.distortion_lower >= (j.distortion_asked or 0.0)]
    above = [j for m, d, j in every if j.distortion_lower > max(m.error_best, d.error_best)]
    apart = [(j.error_best - max(m.error_best, d.error_best), j) for m, d, j in every]
    (low, _), (high, far) = (pick(apart, key=lambda each: each[0]) for pick in (min, max))
    return [
        follows(
            "Abstract",
            "Some mechanism that is optimal with both guarantees forces as much error as the larger of the two.",
            len(forced) == len(every),
            f"Joint is proved to force d_m in {len(forced)} of {len(every)} cases, and distortion of least cost "
            f"forces no more than d_m. In {len(itself)} cases metric forces d_m, too, and is itself optimal with "
            "both guarantees; in the others it forces less.",
            quote=_PRIVACY,
        ),
        unchecked(
            "Figure 7",
            "The privacy of joint is the larger of the two privacies.",
            "Least cost does not determine the error of the attacker, and the paper's users and scenarios are not "
            f"available. In the designs of this run joint is proved to force more than the larger in {len(above)} "
            f"of {len(every)} cases. The difference is from {about(1000 * low, 1)} m to {about(1000 * high, 2)} m "
            f"(user {at(far)}).",
        ),
    ]


def _larger_cost(games: Sequence[Game], apart: Sequence[Apart], line: Sequence[LineRow]) -> list[PaperClaim]:
    five = max(line, key=lambda row: row.joint_lower_bound / max(row.metric, row.distortion))
    more = [each for each in apart if _costs_more(each)]
    also = [each for each in games if _costs_more(each)]
    first = [m for m, d, _ in apart if m.cost_lower_bound > d.cost]
    second = [d for m, d, _ in apart if d.cost_lower_bound > m.cost]
    ties = "; in the others the costs are equal within their gaps" if len(first) + len(second) < len(apart) else ""
    m, d, j = max(apart, key=lambda each: each[2].cost_lower_bound / max(each[0].cost, each[1].cost))
    return [
        judged(
            "Abstract",
            "Joint costs at most as much as the more costly of metric and distortion.",
            five.joint_lower_bound <= max(five.metric, five.distortion),
            f"On five points of a line, at epsilon {five.epsilon:g} and d_m {five.distortion_asked:g}, joint "
            f"costs at least {at_least(five.joint_lower_bound, 6)}, metric at most {at_most(five.metric, 6)} and "
            f"distortion at most {at_most(five.distortion, 6)}. As a sentence about all mechanisms it fails; the "
            "paper's own experiments are not contradicted.",
            quote=_COST,
        ),
        unchecked(
            "Figure 7",
            "In the experiments of the paper, the cost of joint is the larger of the two costs.",
            f"{OTHERS} Here joint is proved to cost more than both in {len(more)} of {len(apart)} cases of "
            f"scenario 3 and in {len(also)} of {len(games)} of scenarios 1 and 2. The most is for user {at(j)} "
            f"with d_m {about(j.distortion_asked or 0.0, 3)} km: at least {at_least(j.cost_lower_bound, 4)} "
            f"against at most {at_most(max(m.cost, d.cost), 4)}.",
        ),
        judged(
            "Figure 7",
            "In all tested experiments, the larger of the two costs is that of metric.",
            not second,
            f"In scenario 3 metric is proved to cost more in {len(first)} of {len(apart)} cases, and distortion "
            f"in {len(second)}{ties}.",
        ),
    ]


def _costs_more(each: tuple[_Row, _Row, _Row]) -> bool:
    return each[2].cost_lower_bound > max(each[0].cost, each[1].cost)


def _vertices(tight: Sequence[GameRow]) -> PaperClaim:
    by = {(row.user, row.epsilon, row.mechanism): row for row in tight}
    both = [(row, by[row.user, row.epsilon, JOINT]) for row in tight if row.mechanism == METRIC]
    m, j = max(both, key=lambda each: abs(each[1].error_best - each[0].error_best))
    low, high = min(m.cost_lower_bound, j.cost_lower_bound), max(m.cost, j.cost)
    return ours(
        "Figures 2 to 7",
        "Mechanisms whose costs are equal within a gap of 0.000001 can leave the best attacker different errors.",
        j.distortion_lower > m.error_best or m.distortion_lower > j.error_best,
        f"Two mechanisms of user {at(m)} with metric privacy both cost between {at_least(low, 7)} and "
        f"{at_most(high, 7)}; the error of the best attacker is {about(m.error_best, 4)} km against one and "
        f"{about(j.error_best, 4)} km against the other.",
    )


def at(row: GameRow | ApartRow) -> str:
    """Return a user, and the epsilon of the design."""
    return f"{row.user} at {row.epsilon:g}/km" if row.epsilon is not None else f"{row.user}"
