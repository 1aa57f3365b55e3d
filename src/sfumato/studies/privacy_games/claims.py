"""The claims of "Privacy Games", judged from the tables of a run.

Costs lie between a proved lower bound and a proved value: one is said to be more than another only if its lower
bound is above the other's value. Errors of attackers are those of the designs that were found; mechanisms of equal
cost can have others, which is one of the findings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from ...rounding import about, at_least, at_most
from ..reproduction import PaperClaim, RunTables, judged, unchecked
from .apart import APART, ApartRow
from .claims_pruned import pruned_claims
from .games import DISTORTION, GAMES, INFORMED, JOINT, METRIC, PRICES, GameRow, InformedRow, PriceRow
from .line import LINE, LineRow
from .slopes import SLOPES, SlopeRow

_SAME: Final = 1e-6  # km: errors that differ by less are equal
_MET: Final = 1e-3  # km, within which the two sides' values are said to meet
_NEAR: Final = 1.0  # km, below which the paper saw the error fall

_Pair = tuple[GameRow, GameRow, GameRow]
_Apart = tuple[ApartRow, ApartRow, ApartRow]


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims of the paper, judged."""
    rows = tables.rows(GAMES, GameRow)
    coarse = max(row.gap_asked for row in rows)
    tight = [row for row in rows if row.gap_asked < coarse]
    games = [row for row in rows if row.gap_asked == coarse]
    first, second = triples(games, 1), triples(games, 2)
    apart = apart_triples(tables.rows(APART, ApartRow))
    return [
        *_privacy_against_epsilon(games),
        *_costs(first),
        *_attackers(games, first),
        _joint_reaches(first, second),
        _informed(tables.rows(INFORMED, InformedRow)),
        *_larger_of_two(first + second, apart, tight, tables.rows(LINE, LineRow)),
        *pruned_claims(tables),
        *_equilibrium(tables.rows(PRICES, PriceRow), tables.rows(SLOPES, SlopeRow)),
        unchecked(
            "Figures 2 to 8",
            "The plotted values and the computing times.",
            "The published numbers are not at hand.",
        ),
    ]


def triples(games: Iterable[GameRow], scenario: int) -> list[_Pair]:
    """Return *metric*, *distortion* and *joint* of each user and epsilon in a scenario."""
    by = {(row.scenario, row.user, row.epsilon, row.mechanism): row for row in games}
    return [
        (by[1, user, epsilon, METRIC], by[scenario, user, epsilon, DISTORTION], row)
        for (number, user, epsilon, name), row in by.items()
        if number == scenario and name == JOINT
    ]


def apart_triples(rows: Iterable[ApartRow]) -> list[_Apart]:
    """Return *metric*, *distortion* and *joint* of each user, epsilon and d_m of scenario 3."""
    by = {(row.user, row.epsilon, row.distortion_asked): row for row in rows}
    return [
        (by[user, epsilon, None], by[user, None, minimum], row)
        for (user, epsilon, minimum), row in by.items()
        if row.mechanism == JOINT
    ]


def _privacy_against_epsilon(games: Sequence[GameRow]) -> list[PaperClaim]:
    metric = [row for row in games if row.mechanism == METRIC]
    users: dict[int, list[GameRow]] = {}
    for row in sorted(metric, key=lambda row: (row.user, row.epsilon)):
        users.setdefault(row.user, []).append(row)
    rises = [
        (low, high)
        for mine in users.values()
        for low, high in pairwise(mine)
        if high.error_best > low.error_best + _SAME
    ]
    last = [mine[-1] for mine in users.values()]
    near = [row for row in last if row.error_best < _NEAR]
    ends = [row.error_best for row in last]
    starts = [mine[0].error_best for mine in users.values()]
    fall = (
        f"From {_end(metric, min)} to {_end(metric, max)} the median over users falls from "
        f"{about(float(np.median(starts)), 3)} km to {about(float(np.median(ends)), 3)} km."
    )
    found = fall if not rises else f"It rises for user {_at(rises[0][1])}. {fall}"
    count = f"At {_end(metric, max)} it is below 1 km for {len(near)} of {len(last)} users."
    if len(near) < len(last):
        far = max(last, key=lambda row: row.error_best)
        count += f" Against user {_at(far)} the best attacker errs by {about(far.error_best, 3)} km."
    return [
        judged("Figure 2a", "The best attacker errs less against metric as epsilon grows.", not rises, found),
        judged(
            "Figure 2a",
            "This error falls below 1 km as epsilon grows to 0.9/km.",
            len(near) == len(last),
            count,
        ),
    ]


def _end(rows: Sequence[GameRow], pick: Callable[[Iterable[float]], float]) -> str:
    """Return the least or largest epsilon of rows, with its unit."""
    return f"{pick(row.epsilon for row in rows):g}/km"


def _costs(first: Sequence[_Pair]) -> list[PaperClaim]:
    dearer = [(m, d) for m, d, _ in first if not d.cost < m.cost_lower_bound]
    shares = [d.cost / m.cost for m, d, _ in first]
    cheap = (
        f"It costs {_percent(min(shares))} to {_percent(max(shares))} of what metric costs, "
        f"{_percent(float(np.median(shares)))} in the median of {len(first)} cases."
    )
    if dearer:
        cheap += f" It is not proved to cost less for user {_at(dearer[0][0])}."
    differ = [(m, j) for m, _, j in first if j.cost_lower_bound > m.cost or m.cost_lower_bound > j.cost]
    most = max(abs(j.cost / m.cost - 1) for m, _, j in first)
    return [
        judged(
            "Figure 2b", "At equal distortion privacy, distortion costs much less than metric.", not dearer, cheap
        ),
        judged(
            "Figure 2b",
            "In scenario 1, joint costs what metric costs.",
            not differ,
            f"The costs differ by at most {at_most(most, 1)} of themselves in {len(first)} cases"
            + (
                f", and by more than their gaps for user {_at(differ[0][1])}."
                if differ
                else ", less than their gaps."
            )
            + " It must be so: metric keeps what joint is asked for.",
        ),
    ]


def _attackers(games: Sequence[GameRow], first: Sequence[_Pair]) -> list[PaperClaim]:
    less = [(m, d) for m, d, _ in first if not m.error_bayes > d.error_bayes + _SAME]
    ratios = [m.error_bayes / d.error_bayes for m, d, _ in first]
    words = (
        f"The Bayesian attacker errs {about(min(ratios), 3)} to {about(max(ratios), 3)} times as far against "
        f"metric as against distortion, {about(float(np.median(ratios)), 3)} times in the median of "
        f"{len(first)} cases."
    )
    if less:
        words += f" No farther for user {_at(less[0][0])}."
    beaten = [row for row in games if row.error_bayes < row.error_best - _SAME]
    gap = {
        name: float(np.median([row.error_bayes / row.error_best for row in games if _first(row, name)]))
        for name in (METRIC, DISTORTION, JOINT)
    }
    smaller = [
        (m, d, j)
        for m, d, j in first
        if min(m.error_bayes - m.error_best, j.error_bayes - j.error_best) <= d.error_bayes - d.error_best
    ]
    wider = (
        f"In the median the Bayesian attacker errs {about(gap[METRIC], 3)} times as far as the best one against "
        f"metric, {about(gap[JOINT], 3)} against joint and {about(gap[DISTORTION], 3)} against distortion."
    )
    if smaller:
        wider += f" The difference is no larger for user {_at(smaller[0][0])}."
    return [
        judged(
            "Figure 3", "The Bayesian attacker errs more against metric than against distortion.", not less, words
        ),
        judged(
            "Figure 4",
            "The best attacker errs no more than the Bayesian one.",
            not beaten,
            f"So in all {len(games)} designs."
            if not beaten
            else f"Not so for user {_at(beaten[0])} ({beaten[0].mechanism}).",
        ),
        judged(
            "Figure 4", "The two differ more against metric and joint than against distortion.", not smaller, wider
        ),
    ]


def _first(row: GameRow, name: str) -> bool:
    return row.scenario == 1 and row.mechanism == name


def _joint_reaches(first: Sequence[_Pair], second: Sequence[_Pair]) -> PaperClaim:
    every = [*first, *second]
    short = [j for _, _, j in every if j.distortion_asked is None or j.distortion_lower < j.distortion_asked]
    least = min(j.error_best / max(m.error_best, d.error_best) for m, d, j in every)
    m, _, j = max(second, key=lambda each: (each[2].distortion_asked or 0.0) - each[0].error_best)
    return judged(
        "Figure 5",
        "Joint reaches the larger of the two privacies, in scenario 2 the d_m that metric alone does not.",
        not short,
        f"Joint is proved to force d_m in {len(every) - len(short)} of {len(every)} cases; the error against it "
        f"is at least {at_least(least, 6)} times the larger of the two others. "
        f"For user {_at(j)} in scenario 2 it forces "
        f"{at_least(j.distortion_lower, 4)} km, and metric {about(m.error_best, 4)} km.",
    )


def _informed(rows: Sequence[InformedRow]) -> PaperClaim:
    by = {(row.user, row.epsilon, row.sharper, row.mechanism): row for row in rows}
    pairs = [
        (row, by[user, epsilon, share, DISTORTION])
        for (user, epsilon, share, name), row in by.items()
        if name == METRIC and share > 0
    ]
    weaker = [(m, d) for m, d in pairs if not m.error_informed > d.error_informed]
    share = max(m.sharper for m, _ in pairs)
    kept = {
        name: float(
            np.median(
                [
                    row.error_informed / by[row.user, row.epsilon, 0.0, name].error_informed
                    for row in rows
                    if row.mechanism == name and row.sharper == share
                ]
            )
        )
        for name in (METRIC, DISTORTION)
    }
    words = (
        f"The informed attacker errs more against metric in {len(pairs) - len(weaker)} of {len(pairs)} cases "
        f"(users, epsilons and shares moved). With a share of {share:g} moved, metric keeps "
        f"{_percent(kept[METRIC])} of its error and distortion {_percent(kept[DISTORTION])} (medians)."
    )
    if weaker:
        m, d = max(weaker, key=lambda each: each[1].error_informed - each[0].error_informed)
        words += (
            f" Not for user {m.user} at {m.epsilon:g}/km with a share of {m.sharper:g}: "
            f"{about(m.error_informed, 3)} km against metric, {about(d.error_informed, 3)} km against distortion."
        )
    return judged(
        "Figure 6",
        "An attacker who knows more than the design assumed errs more against metric than against distortion.",
        not weaker,
        words,
    )


def _larger_of_two(
    pairs: Sequence[_Pair],
    apart: Sequence[_Apart],
    tight: Sequence[GameRow],
    line: Sequence[LineRow],
) -> list[PaperClaim]:
    more = [(m, d, j) for m, d, j in apart if j.cost_lower_bound > max(m.cost, d.cost)]
    also = sum(j.cost_lower_bound > max(m.cost, d.cost) for m, d, j in pairs)
    five = max(line, key=lambda row: row.joint_lower_bound / max(row.metric, row.distortion))
    dearest = five.joint_lower_bound > max(five.metric, five.distortion)
    words = (
        f"On five points of a line, at epsilon {five.epsilon:g} and d_m {five.distortion_asked:g}, joint costs "
        f"at least {at_least(five.joint_lower_bound, 6)}, metric at most {at_most(five.metric, 6)} and "
        f"distortion at most {at_most(five.distortion, 6)}. Joint is proved to cost more than both in "
        f"{len(more)} of {len(apart)} cases of scenario 3 and in {also} of {len(pairs)} of scenarios 1 and 2."
    )
    if more:
        m, d, j = max(more, key=lambda each: each[2].cost_lower_bound / max(each[0].cost, each[1].cost))
        words += (
            f" The most is for user {_at(j)} with d_m {about(j.distortion_asked or 0.0, 3)} km: at least "
            f"{at_least(j.cost_lower_bound, 4)} against at most {at_most(max(m.cost, d.cost), 4)}."
        )
    every: list[_Pair | _Apart] = [*pairs, *apart]
    differ = [each for each in every if abs(each[2].error_best - _larger(each)) > _SAME]
    far = max(every, key=lambda each: abs(each[2].error_best - _larger(each)))
    equal = (
        f"They differ in {len(differ)} of {len(pairs) + len(apart)} cases, for user {_at(far[2])} most: joint "
        f"{about(far[2].error_best, 4)} km, the larger of the others {about(_larger(far), 4)} km. Where metric "
        "keeps d_m in scenario 3, it is taken for joint."
    )
    dearer = [(m, d) for m, d, _ in apart if d.cost_lower_bound > m.cost]
    metric = (
        f"In {len(apart) - len(dearer)} of {len(apart)} cases metric is the dearer one, or equal within the gaps."
    )
    if dearer:
        m, d = dearer[0]
        metric += (
            f" Not for user {_at(m)} with d_m {about(d.distortion_asked or 0.0, 3)} km: distortion costs at least "
            f"{at_least(d.cost_lower_bound, 4)}, metric at most {at_most(m.cost, 4)}."
        )
    return [
        judged("Figure 7", "The privacy of joint is the larger of the two privacies.", not differ, equal),
        judged("Figure 7", "The cost of joint is the larger of the two costs.", not (more or dearest), words),
        judged("Figure 7", "The larger of the two costs is that of metric.", not dearer, metric),
        _vertices(tight),
    ]


def _larger(each: _Pair | _Apart) -> float:
    return max(each[0].error_best, each[1].error_best)


def _vertices(tight: Sequence[GameRow]) -> PaperClaim:
    by = {(row.user, row.epsilon, row.mechanism): row for row in tight}
    found = [(row, by[row.user, row.epsilon, JOINT]) for row in tight if row.mechanism == METRIC]
    m, j = max(found, key=lambda each: abs(each[1].error_best - each[0].error_best))
    low, high = min(m.cost_lower_bound, j.cost_lower_bound), max(m.cost, j.cost)
    return judged(
        "Figures 2 to 7",
        "The least cost determines the privacy of a mechanism, as plots of it against epsilon suppose.",
        abs(j.error_best - m.error_best) <= _SAME,
        f"Two mechanisms of user {_at(m)} with metric privacy both cost between {at_least(low, 7)} and "
        f"{at_most(high, 7)}; the best attacker errs by {about(m.error_best, 4)} km against one and by "
        f"{about(j.error_best, 4)} km against the other.",
    )


def _equilibrium(prices: Sequence[PriceRow], slopes: Sequence[SlopeRow]) -> list[PaperClaim]:
    binding = [row for row in slopes if row.price > 1e-3]
    wide = [row for row in slopes if not row.slope_below - 1e-9 <= row.price <= row.slope_above + 1e-9]
    shown = max(binding or slopes, key=lambda row: row.price)
    named = "distortion" if shown.epsilon is None else f"joint at {shown.epsilon:g}/km"
    gap = max((row.error_upper - row.error_lower for row in binding), default=0.0)
    loose = max((row.error_upper - row.error_lower for row in prices if row.mechanism == DISTORTION), default=0.0)
    return [
        judged(
            "(19), (21), (24)",
            "The optimal mechanism and the optimal attack are best responses to each other.",
            gap < _MET,
            f"Where d_m has a price ({len(binding)} of {len(slopes)} designs with a gap of 0.000001), what the "
            "mechanism is proved to force and what no mechanism of its cost can force lie at most "
            f"{at_most(1000 * gap, 2)} m apart; in the distortion designs of scenarios 1 and 2, whose gap is "
            f"larger, at most {at_most(1000 * loose, 2)} m.",
        ),
        judged(
            "(21), (24)",
            "More privacy costs more, at a price that the dual program tells.",
            not wide,
            f"One more metre of error for user {shown.user} costs {about(0.1 * shown.price, 3)} percentage "
            f"points more false cells ({named}, from {about(shown.distortion_asked, 3)} km). The proved slopes "
            f"to both sides hold the price in {len(slopes) - len(wide)} of {len(slopes)} designs.",
        ),
    ]


def _at(row: GameRow | ApartRow) -> str:
    return f"{row.user} at {row.epsilon:g}/km" if row.epsilon is not None else f"{row.user}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
