"""Claims of "Privacy Games" judged from the tables of a run, and the tables of its page.

A cost is more than another only if its proved lower bound is above the other's proved value; errors of the best
attacker have a proved bound and a measured value. They are errors of the designs of the run: mechanisms of equal
cost can have others. The users are not the paper's, so they do not refute what it says of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from sfumato.rounding import about, at_least, at_most, percent

from ..reproduction import PaperClaim, RunTables, abstain, follows, judge, remark
from ..results import distinct, markdown_table, median_range, tally, where
from .games import (
    APART,
    DISTORTION,
    GAMES,
    INFORMED,
    JOINT,
    LINE,
    METRIC,
    NAMES,
    PRICES,
    SLOPES,
    Apart,
    ApartRow,
    Game,
    GameRow,
    InformedRow,
    LineRow,
    PriceRow,
    SlopeRow,
    apart_triples,
    triples,
)
from .pruning_claims import pruning_claims

_NEAR: Final = 1.0  # km, of Figure 2a
_HABIT: Final = 0.6  # per km: the epsilon of the table of attackers who know more
_OTHER_USERS: Final = "These are other users than the paper's, whose data and plotted values are not available."
_ROBUST: Final = "Thus, the obfuscation mechanism is optimal against any inference algorithm."
_COST: Final = (
    "Their utility cost is also not larger than what either of the differential or distortion mechanisms imposes."
)
_PRIVACY: Final = (
    "the privacy achieved through joint differential-distortion mechanisms against optimal attacks is as large as "
    "the maximum privacy that can be achieved by either of these mechanisms separately"
)


def claims(tables: RunTables) -> Sequence[PaperClaim]:
    """Return the claims of the paper, judged."""
    rows = tables.rows(GAMES, GameRow)
    coarse = max(row.gap_asked for row in rows)
    games, tight = where(rows, gap_asked=coarse), [row for row in rows if row.gap_asked < coarse]
    first, second, apart = triples(games, 1), triples(games, 2), apart_triples(tables.rows(APART, ApartRow))
    return [
        *_privacy_against_epsilon(where(games, mechanism=METRIC)),
        *_costs(first),
        *_attackers(games, first),
        _informed_attackers(tables.rows(INFORMED, InformedRow)),
        *_larger_privacy([*first, *second, *apart]),
        *_larger_cost([*first, *second], apart, tables.rows(LINE, LineRow)),
        _vertices(tight),
        *pruning_claims(tables),
        *_equilibrium(tables.rows(PRICES, PriceRow), tables.rows(SLOPES, SlopeRow)),
        abstain(
            "Figures 2 to 8",
            "The plotted values, and the computing times, which grow with the threshold of Figure 8.",
            "They are not available. Times of this run, with other methods, are in pruned-seconds.csv.",
        ),
    ]


def _median(values: Iterable[float]) -> str:
    return about(float(np.median(list(values))), 3)


def _at(row: GameRow | ApartRow) -> str:
    """Return a user, and the epsilon of the design."""
    return f"{row.user} at {row.epsilon:g}/km" if row.epsilon is not None else f"{row.user}"


def _privacy_against_epsilon(metric: Sequence[GameRow]) -> list[PaperClaim]:
    ordered = sorted(metric, key=lambda row: (row.user, row.epsilon))
    users = [where(ordered, user=user) for user in distinct(ordered, "user")]
    steps = [step for designs in users for step in pairwise(designs)]
    rises = sum(high.distortion_lower > low.error_best for low, high in steps)
    falls = [high.error_best < low.distortion_lower for low, high in steps]
    start, end = ([designs[at] for designs in users] for at in (0, -1))
    medians = [_median(row.error_best for row in group) for group in (start, end)]
    near, far = [row.error_best < _NEAR for row in end], max(end, key=lambda row: row.error_best)
    return [
        judge(
            "Figure 2a",
            "The error of the best attacker against metric falls as epsilon grows.",
            not rises,
            f"From one epsilon to the next the error is proved to fall in {tally(falls)} steps, and to "
            f"rise in {rises}. From {start[0].epsilon:g}/km to {end[0].epsilon:g}/km the median over users falls "
            f"from {medians[0]} km to {medians[1]} km.",
        ),
        abstain(
            "Figure 2a",
            "This error falls below 1 km as epsilon grows to 0.9/km.",
            f"At {end[0].epsilon:g}/km it is below 1 km for {tally(near)} users, and for user "
            f"{far.user} {about(far.error_best, 3)} km. {_OTHER_USERS}",
        ),
    ]


def _costs(first: Sequence[Game]) -> list[PaperClaim]:
    cheaper = [d.cost < m.cost_lower_bound for m, d, _ in first]
    shares = [d.cost / m.cost for m, d, _ in first]
    equal = [j.cost_lower_bound <= m.cost and m.cost_lower_bound <= j.cost for m, _, j in first]
    most = max(abs(j.cost / m.cost - 1) for m, _, j in first)
    return [
        judge(
            "Figure 2b",
            "At equal distortion privacy, distortion costs less than metric.",
            all(cheaper),
            f"It is proved to cost less in {tally(cheaper)} cases: {percent(min(shares))} to "
            f"{percent(max(shares))} of what metric costs, {percent(float(np.median(shares)))} in the median. "
            "Our summary of the paper says much less, without a number.",
        ),
        follows(
            "Figure 2b",
            "In scenario 1, joint costs what metric costs.",
            all(equal),
            f"Metric has the d_m that joint is asked for. In {tally(equal)} cases the two costs are "
            f"equal within their proved gaps; they differ by at most {at_most(most, 1)} of themselves.",
        ),
    ]


def _attackers(games: Sequence[GameRow], first: Sequence[Game]) -> list[PaperClaim]:
    ratios = [m.error_bayes / d.error_bayes for m, d, _ in first]
    more = [ratio > 1 for ratio in ratios]
    best = [row.distortion_lower <= row.error_bayes for row in games]
    excess = [[row.error_bayes - row.error_best for row in case] for case in first]
    wider = [min(metric, joint) > distortion for metric, distortion, joint in excess]
    metric, distortion, joint = (
        _median(row.error_bayes / row.error_best for row in where(games, scenario=1, mechanism=name))
        for name in NAMES
    )
    return [
        judge(
            "Figure 3",
            "The error of the Bayesian attacker is larger against metric than against distortion.",
            all(more),
            f"So in {tally(more)} cases: {about(min(ratios), 3)} to {about(max(ratios), 3)} times as "
            f"large, {_median(ratios)} times in the median.",
        ),
        follows(
            "Figure 4",
            "The error of the best attacker is at most the Bayesian one's.",
            all(best),
            f"So in {tally(best)} designs.",
        ),
        judge(
            "Figure 4",
            "The two differ more against metric and joint than against distortion.",
            all(wider),
            f"So in {tally(wider)} cases. In the median the Bayesian attacker's error is {metric} times the best "
            f"one's against metric, {joint} against joint and {distortion} against distortion.",
        ),
    ]


def _informed_attackers(rows: Sequence[InformedRow]) -> PaperClaim:
    by = {(row.user, row.epsilon, row.sharper, row.mechanism): row.error_informed for row in rows}
    cases = [key[:3] for key in by if key[3] == METRIC and key[2] > 0]
    more = [by[*case, METRIC] > by[*case, DISTORTION] for case in cases]
    settings: dict[tuple[float, float], list[tuple[float, float]]] = {}
    for case in cases:
        settings.setdefault(case[1:], []).append((by[*case, METRIC], by[*case, DISTORTION]))
    medians = [np.median(errors, axis=0) for errors in settings.values()]
    ahead = [bool(metric > distortion) for metric, distortion in medians]
    share = max(case[2] for case in cases)
    metric_rest, distortion_rest = (
        percent(
            float(np.median([by[*case, name] / by[*case[:2], 0.0, name] for case in cases if case[2] == share]))
        )
        for name in (METRIC, DISTORTION)
    )
    worst = min(cases, key=lambda case: by[*case, METRIC] - by[*case, DISTORTION])
    return judge(
        "Figure 6",
        "Against attackers who know more than the design assumed, metric leaves a larger error than distortion.",
        all(ahead),
        f"The median over users is larger against metric in {tally(ahead)} cases (epsilons and shares "
        f"moved); the error of a single user is larger in {tally(more)} cases. Our summary of the paper "
        f"says nothing about single users. With a share of {share:g} moved, {metric_rest} of the error "
        f"is left with metric and {distortion_rest} with distortion (medians). The least favourable "
        f"case is user {worst[0]} at {worst[1]:g}/km with a share of {worst[2]:g}: {about(by[*worst, METRIC], 3)} "
        f"km with metric, {about(by[*worst, DISTORTION], 3)} km with distortion. {_OTHER_USERS}",
    )


def _larger_privacy(every: Sequence[Game | Apart]) -> list[PaperClaim]:
    forced = [j.distortion_lower >= (j.distortion_asked or 0.0) for _, _, j in every]
    itself = [m.distortion_lower >= (j.distortion_asked or 0.0) for m, _, j in every]
    above = [j.distortion_lower > max(m.error_best, d.error_best) for m, d, j in every]
    excess = [(j.error_best - max(m.error_best, d.error_best), j) for m, d, j in every]
    (low, _), (high, far) = (pick(excess, key=lambda pair: pair[0]) for pick in (min, max))
    return [
        follows(
            "Abstract",
            "Some mechanism that is optimal with both guarantees forces as much error as the larger of the two.",
            all(forced),
            f"Joint is proved to force d_m in {tally(forced)} cases, and distortion of least cost "
            f"forces no more than d_m. In {sum(itself)} cases metric forces d_m, too, and is itself optimal with "
            "both guarantees; in the others it forces less.",
            quote=_PRIVACY,
        ),
        abstain(
            "Figure 7",
            "The privacy of joint is the larger of the two privacies.",
            "Least cost does not determine the error of the attacker, and the paper's users and scenarios are not "
            "available. In the designs of this run joint is proved to force more than the larger in "
            f"{tally(above)} cases. The difference is from {about(1000 * low, 1)} m to {about(1000 * high, 2)} m "
            f"(user {_at(far)}).",
        ),
    ]


def _larger_cost(games: Sequence[Game], apart: Sequence[Apart], line: Sequence[LineRow]) -> list[PaperClaim]:
    five = max(line, key=lambda row: row.joint_lower_bound / max(row.metric, row.distortion))
    more, also = ([j.cost_lower_bound > max(m.cost, d.cost) for m, d, j in group] for group in (apart, games))
    first = [m.cost_lower_bound > d.cost for m, d, _ in apart]
    second = [d.cost_lower_bound > m.cost for m, d, _ in apart]
    ties = "; in the others the costs are equal within their gaps" if sum(first) + sum(second) < len(apart) else ""
    m, d, j = max(apart, key=lambda triple: triple[2].cost_lower_bound / max(triple[0].cost, triple[1].cost))
    return [
        judge(
            "Abstract",
            "Joint costs at most as much as the more costly of metric and distortion.",
            five.joint_lower_bound <= max(five.metric, five.distortion),
            f"On five points of a line, at epsilon {five.epsilon:g} and d_m {five.distortion_asked:g}, joint "
            f"costs at least {at_least(five.joint_lower_bound, 6)}, metric at most {at_most(five.metric, 6)} and "
            f"distortion at most {at_most(five.distortion, 6)}. As a sentence about all mechanisms it fails; the "
            "paper's own experiments are not contradicted.",
            quote=_COST,
        ),
        abstain(
            "Figure 7",
            "In the experiments of the paper, the cost of joint is the larger of the two costs.",
            f"{_OTHER_USERS} Here joint is proved to cost more than both in {tally(more)} cases of "
            f"scenario 3 and in {tally(also)} of scenarios 1 and 2. The most is for user {_at(j)} "
            f"with d_m {about(j.distortion_asked or 0.0, 3)} km: at least {at_least(j.cost_lower_bound, 4)} "
            f"against at most {at_most(max(m.cost, d.cost), 4)}.",
        ),
        judge(
            "Figure 7",
            "In all tested experiments, the larger of the two costs is that of metric.",
            not any(second),
            f"In scenario 3 metric is proved to cost more in {tally(first)} cases, and distortion "
            f"in {sum(second)}{ties}.",
        ),
    ]


def _vertices(tight: Sequence[GameRow]) -> PaperClaim:
    by = {(row.user, row.epsilon, row.mechanism): row for row in tight}
    both = [(row, by[row.user, row.epsilon, JOINT]) for row in where(tight, mechanism=METRIC)]
    m, j = max(both, key=lambda pair: abs(pair[1].error_best - pair[0].error_best))
    low, high = min(m.cost_lower_bound, j.cost_lower_bound), max(m.cost, j.cost)
    return remark(
        "Figures 2 to 7",
        "Mechanisms whose costs are equal within a gap of 0.000001 can leave the best attacker different errors.",
        j.distortion_lower > m.error_best or m.distortion_lower > j.error_best,
        f"Two mechanisms of user {_at(m)} with metric privacy both cost between {at_least(low, 7)} and "
        f"{at_most(high, 7)}; the error of the best attacker is {about(m.error_best, 4)} km against one and "
        f"{about(j.error_best, 4)} km against the other.",
    )


def _equilibrium(prices: Sequence[PriceRow], slopes: Sequence[SlopeRow]) -> list[PaperClaim]:
    binding = [row.slope_below > 0 for row in slopes]
    bracketed = [row.slope_below <= row.price <= row.slope_above for row in slopes]
    example = max(slopes, key=lambda row: row.price)
    gap = max((row.error_upper - row.error_lower for row in slopes if row.slope_below > 0), default=0.0)
    loose = max((row.error_upper - row.error_lower for row in where(prices, mechanism=DISTORTION)), default=0.0)
    return [
        follows(
            "Abstract, with (19), (21), (24)",
            "The optimal mechanism and the optimal attack are best responses to each other.",
            all(row.error_lower <= row.error_upper for rows in (slopes, prices) for row in rows),
            f"Where d_m has a price ({tally(binding)} designs with a gap of 0.000001), what the "
            "mechanism is proved to force and what no mechanism of its cost can force lie at most "
            f"{at_most(1000 * gap, 2)} m apart; in the distortion designs of scenarios 1 and 2, whose gap is "
            f"larger, at most {at_most(1000 * loose, 2)} m.",
            quote=_ROBUST,
        ),
        remark(
            "(21), (24)",
            "The dual program has the price of d_m: it lies between the proved slopes of the least cost.",
            all(bracketed),
            f"So in {tally(bracketed)} designs. One more metre of error for user {example.user} "
            f"costs {about(0.1 * example.price, 3)} percentage points more false cells ({example.mechanism}, from "
            f"{about(example.distortion_asked, 3)} km).",
        ),
    ]


def _over_users(
    rows: Sequence[GameRow] | Sequence[InformedRow],
    field: str,
    columns: Sequence[tuple[str, str]],
    cell: Callable[[list[float]], str],
) -> Iterator[list[str]]:
    """Yield a line for each value of a field, with a cell for each mechanism and column of its rows."""
    for value in sorted(distinct(rows, field)):
        cells = [
            cell([getattr(row, column) for row in where(rows, **{field: value}, mechanism=name)])
            for name, column in columns
        ]
        yield [f"{value:g}", *cells]


def scenario_table(rows: Sequence[GameRow]) -> str:
    """Return errors (km) and costs of scenario 1 by epsilon, medians over users with the least and the largest."""
    first = where(rows, scenario=1, gap_asked=max(row.gap_asked for row in rows))
    columns = (
        (METRIC, "error_best"),
        (METRIC, "cost"),
        (DISTORTION, "cost"),
        (METRIC, "error_bayes"),
        (DISTORTION, "error_bayes"),
    )
    return markdown_table(
        "| epsilon (per km) | error of the best attacker, *metric* (km) | cost, *metric* | cost, *distortion* "
        "| error of the Bayesian attacker, *metric* (km) | the same, *distortion* (km) |",
        "|--:|---|---|---|---|---|",
        _over_users(
            first,
            "epsilon",
            columns,
            median_range,
        ),
    )


def informed_table(rows: Sequence[InformedRow]) -> str:
    """Return errors (km) against attackers who know more, by the share that moved, medians over users."""
    columns = (
        (METRIC, "error_informed"),
        (METRIC, "error_expected"),
        (DISTORTION, "error_informed"),
        (DISTORTION, "error_expected"),
        (METRIC, "error_blind"),
    )
    return markdown_table(
        "| share moved | *metric*, informed | *metric*, expected | *distortion*, informed "
        "| *distortion*, expected | without a report, informed |",
        "|--:|--:|--:|--:|--:|--:|",
        _over_users(where(rows, epsilon=_HABIT), "sharper", columns, _median),
    )


def slope_table(rows: Sequence[SlopeRow]) -> str:
    """Return the price of one more metre, its proved slopes, and what both sides force, by user."""
    return markdown_table(
        "| user | mechanism | price of one more metre, percentage points of false cells | proved slopes of the "
        "least cost to both sides | forced at least (km) | no one can force more than (km) |",
        "|--:|---|--:|--:|--:|--:|",
        (
            (
                f"{row.user}",
                f"*{row.mechanism}*" + ("" if row.epsilon is None else f", {row.epsilon:g}/km"),
                about(row.price / 10, 3),
                f"{at_least(row.slope_below / 10, 3)} to {at_most(row.slope_above / 10, 3)}",
                at_least(row.error_lower, 7),
                at_most(row.error_upper, 7),
            )
            for row in rows
        ),
    )
