"""Claims on Figure 8 and appendix C of "Privacy Games", and the tables of thresholds of its page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from sfumato.rounding import about, at_least, at_most

from ..reproduction import PaperClaim, RunTables, follows, remark
from ..results import distinct, markdown_table, median_range, tally, where
from .pruning import ATTACKS, CORRECTED, EXACT, PAIRS, PRUNED, AttackRow, PairRow


def pruning_claims(tables: RunTables) -> list[PaperClaim]:
    """Return the claims on designs without far pairs and without far guesses, judged."""
    pairs, attacks = tables.rows(PAIRS, PairRow), tables.rows(ATTACKS, AttackRow)
    return [_far_pairs(pairs), _far_pairs_cost(pairs), *_far_guesses(attacks)]


def _far_pairs(pairs: Sequence[PairRow]) -> PaperClaim:
    pruned, corrected = where(pairs, kind=PRUNED), where(pairs, kind=CORRECTED)
    failures = [not row.kept for row in pruned]
    within = [row.epsilon_true <= row.epsilon * row.dilation for row in pruned]
    repaired = [row.kept for row in corrected]
    evidence = (
        f"Epsilon is not proved in {tally(failures)} designs, and is at most epsilon times the dilation in "
        f"{sum(within)}. Divided by the dilation first, it is proved in {tally(repaired)}."
    )
    for is_finite in (True, False):
        cases = [row for row in where(pruned, kept=False) if math.isfinite(row.dilation) == is_finite]
        if cases:
            row = max(cases, key=lambda row: row.epsilon_true)
            graph = f"the dilation is {about(row.dilation, 5)}" if is_finite else "they do not connect all cells"
            evidence += (
                f" With pairs within {row.threshold:g} km user {row.user} has epsilon "
                f"{at_most(row.epsilon_true)}/km instead of {row.epsilon:g}/km: {graph}."
            )
    return remark(
        "Appendix C",
        "Without far pairs epsilon can be larger, by the dilation of the graph of near pairs at most.",
        any(failures) and all(within) and all(repaired),
        evidence,
    )


def _far_pairs_cost(pairs: Sequence[PairRow]) -> PaperClaim:
    exact = {row.user: row for row in where(pairs, kind=EXACT)}
    pruned = sorted(where(pairs, kind=PRUNED), key=lambda row: row.threshold or 0.0)
    cheap = [row.cost_lower_bound <= exact[row.user].cost for row in pruned]
    users = [where(pruned, user=user) for user in exact]
    rises = [near.cost_lower_bound <= far.cost for user in users for near, far in pairwise(user)]
    least, most = (pick(pruned, key=lambda row: row.cost / exact[row.user].cost) for pick in (min, max))
    rise = max(row.cost / exact[row.user].cost_lower_bound - 1 for row in where(pairs, kind=CORRECTED))
    return follows(
        "Figure 8",
        "Without far pairs the cost is no more than the least one, and does not fall as the threshold grows.",
        all(cheap) and all(rises),
        f"So in {tally(cheap)} designs and {tally(rises)} steps. With pairs within {least.threshold:g} km "
        f"user {least.user} pays at most {at_most(least.cost, 4)}, within {most.threshold:g} km user {most.user} "
        f"at most {at_most(most.cost, 4)}; with all pairs at least "
        f"{at_least(exact[least.user].cost_lower_bound, 4)} and "
        f"{at_least(exact[most.user].cost_lower_bound, 4)}. With epsilon divided by the dilation the cost is at "
        f"most {at_most(100 * rise, 2)} % above the least one.",
    )


def _far_guesses(attacks: Sequence[AttackRow]) -> list[PaperClaim]:
    exact = {row.user: row for row in where(attacks, kind=EXACT)}
    pruned = sorted(where(attacks, kind=PRUNED), key=lambda row: row.threshold or 0.0)
    short = [row.error_best < row.distortion_asked for row in pruned]
    cheap = [row.cost_lower_bound <= exact[row.user].cost for row in pruned]
    far = where(pruned, threshold=pruned[-1].threshold)
    low, high = (pick(far, key=lambda row: row.error_best / row.distortion_asked) for pick in (min, max))
    gap = max(row.cost - row.cost_lower_bound for row in pruned)
    return [
        remark(
            "Appendix C",
            "Without far guesses, distortion can force less than d_m.",
            any(short),
            f"On {low.cells} cells the best attacker's error is below d_m in {tally(short)} designs. With guesses "
            f"within {low.threshold:g} km of the report, user {low.user} asked for "
            f"{about(low.distortion_asked, 3)} km and gets {about(low.error_best, 2)} km, user {high.user} for "
            f"{about(high.distortion_asked, 3)} km and gets {about(high.error_best, 2)} km: reports go far away, "
            "where no near guess is good.",
        ),
        follows(
            "Figure 8",
            "Without far guesses the cost of distortion is no more than the least one.",
            all(cheap),
            f"So in {tally(cheap)} designs, whose costs are within {at_most(gap, 1)} of proved lower bounds.",
        ),
    ]


def pair_table(rows: Sequence[PairRow]) -> str:
    """Return the guarantee and the cost of pairs within a threshold, medians over users with least and largest."""
    exact = {row.user: row.cost for row in where(rows, kind=EXACT)}

    def costs(threshold: float | None, kind: str) -> str:
        group = where(rows, threshold=threshold, kind=kind)
        return median_range([100 * row.cost / exact[row.user] for row in group], 4) if group else ""

    lines = []
    for threshold in sorted(distinct(where(rows, kind=PRUNED), "threshold")):
        group = where(rows, threshold=threshold, kind=PRUNED)
        lines.append(
            (
                f"{threshold:g}",
                f"{group[0].pairs:,}",
                about(group[0].dilation, 5) if math.isfinite(group[0].dilation) else "unconnected",
                at_most(max(row.epsilon_true for row in group)),
                costs(threshold, PRUNED),
                costs(threshold, CORRECTED),
            )
        )
    return markdown_table(
        "| pairs within (km) | ordered pairs | dilation | largest true epsilon (per km) | cost, % of the least "
        "| cost with epsilon / dilation, which satisfies epsilon, % of the least |",
        "|--:|--:|--:|--:|---|---|",
        lines,
    )


def guess_table(rows: Sequence[AttackRow]) -> str:
    """Return the error and the cost of *distortion* with guesses within a threshold, medians over users."""
    exact = {row.user: row.cost for row in where(rows, kind=EXACT)}
    groups = [where(rows, threshold=km) for km in sorted(distinct(where(rows, kind=PRUNED), "threshold"))]
    return markdown_table(
        "| guesses within (km) | error of the best attacker, % of d_m | cost, % of the least |",
        "|--:|---|---|",
        (
            (
                f"{group[0].threshold:g}",
                median_range([100 * row.error_best / row.distortion_asked for row in group]),
                median_range([100 * row.cost / exact[row.user] for row in group]),
            )
            for group in groups
        ),
    )
