"""The claims of "Privacy Games", judged from the tables of a run.

Costs lie between a proved lower bound and a proved value: one is said to be more than another only if its lower
bound is above the other's value. Errors of the best attacker lie between a proved bound and the error measured in
floats. They are those of the designs of the run: mechanisms of equal cost can have others. The users are not the
paper's, so they do not refute what it says of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from sfumato.rounding import about, at_most

from ..reproduction import PaperClaim, RunTables, follows, judged, ours, unchecked
from .claims_joint import OTHERS, joint_claims
from .claims_pruned import pruned_claims
from .games import (
    DISTORTION,
    GAMES,
    INFORMED,
    JOINT,
    METRIC,
    PRICES,
    Game,
    GameRow,
    InformedRow,
    PriceRow,
    triples,
)
from .slopes import SLOPES, SlopeRow

_NEAR: Final = 1.0  # km, of Figure 2a
_ROBUST: Final = "Thus, the obfuscation mechanism is optimal against any inference algorithm."


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims of the paper, judged."""
    rows = tables.rows(GAMES, GameRow)
    coarse = max(row.gap_asked for row in rows)
    tight = [row for row in rows if row.gap_asked < coarse]
    games = [row for row in rows if row.gap_asked == coarse]
    first = triples(games, 1)
    return [
        *_privacy_against_epsilon(games),
        *_costs(first),
        *_attackers(games, first),
        _informed(tables.rows(INFORMED, InformedRow)),
        *joint_claims(tables, games, tight),
        *pruned_claims(tables),
        *_equilibrium(tables.rows(PRICES, PriceRow), tables.rows(SLOPES, SlopeRow)),
        unchecked("Figures 2 to 8", "The plotted values and the computing times.", "They are not available."),
    ]


def _privacy_against_epsilon(games: Sequence[GameRow]) -> list[PaperClaim]:
    users: dict[int, list[GameRow]] = {}
    for row in sorted(games, key=lambda row: (row.user, row.epsilon)):
        if row.mechanism == METRIC:
            users.setdefault(row.user, []).append(row)
    steps = [step for designs in users.values() for step in pairwise(designs)]
    rises = [high for low, high in steps if high.distortion_lower > low.error_best]
    falls = [high for low, high in steps if high.error_best < low.distortion_lower]
    start, end = ([designs[at] for designs in users.values()] for at in (0, -1))
    medians = [about(_median(row.error_best for row in some), 3) for some in (start, end)]
    near, far = [row for row in end if row.error_best < _NEAR], max(end, key=lambda row: row.error_best)
    return [
        judged(
            "Figure 2a",
            "The error of the best attacker against metric falls as epsilon grows.",
            not rises,
            f"From one epsilon to the next the error is proved to fall in {len(falls)} of {len(steps)} steps, "
            f"and to rise in {len(rises)}. From {start[0].epsilon:g}/km to {end[0].epsilon:g}/km the median over "
            f"users falls from {medians[0]} km to {medians[1]} km.",
        ),
        unchecked(
            "Figure 2a",
            "This error falls below 1 km as epsilon grows to 0.9/km.",
            f"At {end[0].epsilon:g}/km it is below 1 km for {len(near)} of {len(end)} users, and for user "
            f"{far.user} {about(far.error_best, 3)} km. {OTHERS}",
        ),
    ]


def _costs(first: Sequence[Game]) -> list[PaperClaim]:
    cheaper = [m for m, d, _ in first if d.cost < m.cost_lower_bound]
    shares = [d.cost / m.cost for m, d, _ in first]
    equal = [j for m, _, j in first if j.cost_lower_bound <= m.cost and m.cost_lower_bound <= j.cost]
    most = max(abs(j.cost / m.cost - 1) for m, _, j in first)
    return [
        judged(
            "Figure 2b",
            "At equal distortion privacy, distortion costs less than metric.",
            len(cheaper) == len(first),
            f"It is proved to cost less in {len(cheaper)} of {len(first)} cases: {_percent(min(shares))} to "
            f"{_percent(max(shares))} of what metric costs, {_percent(_median(shares))} in the median. "
            "Our summary of the paper says much less, without a number.",
        ),
        follows(
            "Figure 2b",
            "In scenario 1, joint costs what metric costs.",
            len(equal) == len(first),
            f"Metric has the d_m that joint is asked for. In {len(equal)} of {len(first)} cases the two costs are "
            f"equal within their proved gaps; they differ by at most {at_most(most, 1)} of themselves.",
        ),
    ]


def _attackers(games: Sequence[GameRow], first: Sequence[Game]) -> list[PaperClaim]:
    more = [m for m, d, _ in first if m.error_bayes > d.error_bayes]
    ratios = [m.error_bayes / d.error_bayes for m, d, _ in first]
    best = [row for row in games if row.distortion_lower <= row.error_bayes]
    wider = [each for each in first if min(map(_excess, (each[0], each[2]))) > _excess(each[1])]
    gap = {
        name: about(_median(row.error_bayes / row.error_best for row in _first(games, name)), 3)
        for name in (METRIC, DISTORTION, JOINT)
    }
    return [
        judged(
            "Figure 3",
            "The error of the Bayesian attacker is larger against metric than against distortion.",
            len(more) == len(first),
            f"So in {len(more)} of {len(first)} cases: {about(min(ratios), 3)} to {about(max(ratios), 3)} times "
            f"as large, {about(_median(ratios), 3)} times in the median.",
        ),
        follows(
            "Figure 4",
            "The error of the best attacker is at most the Bayesian one's.",
            len(best) == len(games),
            f"So in {len(best)} of {len(games)} designs.",
        ),
        judged(
            "Figure 4",
            "The two differ more against metric and joint than against distortion.",
            len(wider) == len(first),
            f"So in {len(wider)} of {len(first)} cases. In the median the Bayesian attacker's error is "
            f"{gap[METRIC]} times the best one's against metric, {gap[JOINT]} against joint and {gap[DISTORTION]} "
            "against distortion.",
        ),
    ]


def _first(games: Sequence[GameRow], name: str) -> list[GameRow]:
    return [row for row in games if row.scenario == 1 and row.mechanism == name]


def _excess(row: GameRow) -> float:
    return row.error_bayes - row.error_best


def _informed(rows: Sequence[InformedRow]) -> PaperClaim:
    by = {(row.user, row.epsilon, row.sharper, row.mechanism): row for row in rows}
    pairs = [
        (row, by[user, epsilon, share, DISTORTION])
        for (user, epsilon, share, name), row in by.items()
        if name == METRIC and share > 0
    ]
    more = [m for m, d in pairs if m.error_informed > d.error_informed]
    settings = sorted({(m.epsilon, m.sharper) for m, _ in pairs})
    ahead = [at for at in settings if _middle(rows, METRIC, *at) > _middle(rows, DISTORTION, *at)]
    share = max(m.sharper for m, _ in pairs)
    rest = {
        name: _median(
            row.error_informed / by[row.user, row.epsilon, 0.0, name].error_informed
            for row in rows
            if row.mechanism == name and row.sharper == share
        )
        for name in (METRIC, DISTORTION)
    }
    m, d = min(pairs, key=lambda each: each[0].error_informed - each[1].error_informed)
    return judged(
        "Figure 6",
        "Against attackers who know more than the design assumed, metric leaves a larger error than distortion.",
        len(ahead) == len(settings),
        f"The median over users is larger against metric in {len(ahead)} of {len(settings)} cases (epsilons and "
        f"shares moved); the error of a single user is larger in {len(more)} of {len(pairs)} cases. Our summary "
        f"of the paper says nothing about single users. With a share of {share:g} moved, "
        f"{_percent(rest[METRIC])} of the error is left with metric and {_percent(rest[DISTORTION])} with "
        f"distortion (medians). The least favourable case is user {m.user} at {m.epsilon:g}/km with a share of "
        f"{m.sharper:g}: {about(m.error_informed, 3)} km with metric, {about(d.error_informed, 3)} km with "
        f"distortion. {OTHERS}",
    )


def _middle(rows: Sequence[InformedRow], name: str, epsilon: float, share: float) -> float:
    """Return the median error over users of an informed attacker against a mechanism, in km."""
    return _median(
        row.error_informed for row in rows if (row.mechanism, row.epsilon, row.sharper) == (name, epsilon, share)
    )


def _equilibrium(prices: Sequence[PriceRow], slopes: Sequence[SlopeRow]) -> list[PaperClaim]:
    binding = [row for row in slopes if row.slope_below > 0]
    bracketed = [row for row in slopes if row.slope_below <= row.price <= row.slope_above]
    brackets = [(row.error_lower, row.error_upper) for rows in (slopes, prices) for row in rows]
    met = [low for low, high in brackets if low <= high]
    shown = max(slopes, key=lambda row: row.price)
    gap = max((row.error_upper - row.error_lower for row in binding), default=0.0)
    loose = max((row.error_upper - row.error_lower for row in prices if row.mechanism == DISTORTION), default=0.0)
    return [
        follows(
            "Abstract, with (19), (21), (24)",
            "The optimal mechanism and the optimal attack are best responses to each other.",
            len(met) == len(brackets),
            f"Where d_m has a price ({len(binding)} of {len(slopes)} designs with a gap of 0.000001), what the "
            "mechanism is proved to force and what no mechanism of its cost can force lie at most "
            f"{at_most(1000 * gap, 2)} m apart; in the distortion designs of scenarios 1 and 2, whose gap is "
            f"larger, at most {at_most(1000 * loose, 2)} m.",
            quote=_ROBUST,
        ),
        ours(
            "(21), (24)",
            "The dual program has the price of d_m: it lies between the proved slopes of the least cost.",
            len(bracketed) == len(slopes),
            f"So in {len(bracketed)} of {len(slopes)} designs. One more metre of error for user {shown.user} "
            f"costs {about(0.1 * shown.price, 3)} percentage points more false cells ({shown.mechanism}, from "
            f"{about(shown.distortion_asked, 3)} km).",
        ),
    ]


def _median(values: Iterable[float]) -> float:
    return float(np.median(list(values)))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
